"""Readers of markup: places stay, markup goes, headings, code and tables are known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet import find_repeats
from doublet.text.markup import READERS, read_markup, tell_markup
from doublet.text.tokens import Canon
from repeat_texts import sequence_of

MARKDOWN = """---
title: hidden
---
# Guide *to* nothing

Some [linked words](https://example.org/hidden) and `code`.

## Install

- first **item**
- second item

```sh
pip install hidden_code
```

| a | b |
|---|---|
| cell | other |

    indented code

Underlined
----------
"""

RST = """\
Guide
=====

Some :ref:`linked words <hidden>` and ``literal``.

Install
-------

.. note:: Mind the gap.

.. code-block:: sh
   :linenos:

   pip install code

Like this::

    literal block

.. a comment that nobody
   reads

=====  =====
one    two
=====  =====
cell   other
=====  =====
"""

DOCBOOK = """<?xml version="1.0"?>
<!DOCTYPE book [<!ENTITY hidden "x">]>
<book><title>Guide</title><!-- hidden -->
<chapter id="hidden"><title>First &amp; <emphasis>last</emphasis></title>
<para>Caf&eacute;s are &lt;open&gt;. <ulink url="hidden">Linked words</ulink>.</para>
<section><title>Deep</title><programlisting><![CDATA[ if (a < b) code(); ]]></programlisting>
<informaltable><tgroup><tbody><row><entry>cell</entry></row></tbody></tgroup></informaltable></section>
</chapter></book>
"""

HTML = """<html><head><style>hidden</style><script>hidden()</script></head><body><h1>Guide</h1>
<p>Some <a href="hidden">linked words</a>.</p><h2>Install</h2><pre>code</pre><table><tr><td>cell</td></tr></table>"""

LATEX = r"""
\documentclass{hidden}
\section{Guide} Some \emph{linked words} and $x_{hidden}$. % hidden
\subsection*{Install}
\begin{verbatim}
code
\end{verbatim}
\begin{tabular}{l} cell \end{tabular}
"""


def words(text: str) -> list[str]:
    return Canon().tokens([text], words=True).words(0)


CASES = [
    ("markdown", MARKDOWN, ["1 Guide to nothing", "1.1 Install", "1.2 Underlined"]),
    ("rst", RST, ["1 Guide", "1.1 Install"]),
    ("xml", DOCBOOK, ["1 Guide", "1.1 First & last", "1.1.1 Deep"]),
    ("html", HTML, ["1 Guide", "1.1 Install"]),
    ("latex", LATEX, ["1 Guide", "1.1 Install"]),
]


@pytest.mark.covers("P6")
@pytest.mark.parametrize(("kind", "source", "headings"), CASES, ids=[case[0] for case in CASES])
def test_it_works(kind, source, headings):
    marked = read_markup(source, kind=kind)
    assert len(marked.masked) == len(source)
    assert marked.masked.count("\n") >= source.count("\n")
    assert [f"{h.number} {h.title}" for h in marked.headings] == headings
    said = words(marked.masked)
    assert "hidden" not in said
    assert "linked" in said
    assert any("code" in source[span.start : span.end] for span in marked.code)
    assert any("cell" in source[span.start : span.end] for span in marked.tables)


def test_a_word_that_an_entity_stands_for_is_its_name():
    own = [" ".join(f"{letter}{number}" for number in range(30)).capitalize() for letter in "xy"]
    said = "Sorted by type in &app; (stocks, funds, &etc;)"
    text = "".join(f"<para>{one}.</para><listitem><para>{said}</para></listitem>" for one in own)
    marked = read_markup(f"<book>{text}</book>", name="a.xml")
    assert len(marked.masked) == len(marked.text)
    [group] = find_repeats({"a.xml": f"<book>{text}</book>"}).groups
    assert {fragment.text for fragment in group.fragments} == {said}


@pytest.mark.parametrize("begin", ["&app;", "App"])
def test_a_word_that_an_entity_stands_for_begins_a_sentence(begin: str):
    """Its name may be in small letters; what it stands for begins with a capital one there."""
    text = f"<book><para>Sorted by type. {begin} keeps the order.</para></book>"
    assert sequence_of(text, "a.xml").edges().marks.tolist() == [*[True, False, False] * 2, False, True]


REDIRECT = '<meta http-equiv="refresh" content="0; url=b.html">'


@pytest.mark.parametrize(
    ("head", "there"),
    [
        (REDIRECT, False),
        ("<META content='0;URL=b.html' HTTP-EQUIV=Refresh>", False),
        ("<!-- here --><script>let a</script>" + REDIRECT, False),
        ('<meta http-equiv="refresh" content="5">', True),  # the same page again
        ('<meta http-equiv="refresh" content="60; url=a.html">', True),
        (f"<!-- {REDIRECT} -->", True),
        (f"<noscript>{REDIRECT}</noscript>", True),  # for those who read without scripts
        (f"</head><body><p>{REDIRECT}</p>", True),
    ],
)
def test_a_page_that_leads_to_another_one_has_no_text(head: str, there: bool):
    text = f"<html><head>{head}\n<title>Moved</title></head><p>This page is elsewhere now.</p></html>"
    marked = read_markup(text, name="a.html")
    assert len(marked.masked) == len(text)
    assert ("elsewhere" in marked.masked) is there
    assert bool(marked.headings or marked.links or marked.masked.strip()) is there


@pytest.mark.parametrize("open_", ["<!--", "<script>"])
def test_what_is_not_closed_before_a_redirect_takes_no_time(open_: str):
    assert read_markup(f"{open_ * 200_000}{REDIRECT}", name="a.html").kind == "html"


def test_an_entity_that_is_no_word_is_blank():
    """Only what a document has defined itself is a word: the others are known, or not well formed."""
    for entity in ("&nbsp;", "&NotEqualTilde;", "&#1;", "&#xzz;"):
        assert not read_markup(f"<book><para>{entity}</para></book>", name="a.xml").masked.strip(), entity


def test_a_picture_inside_a_sentence_is_no_border():
    picture = '<imageobject><imagedata fileref="a.png"/></imageobject>'
    icon = f"<guiicon><inlinemediaobject>{picture}</inlinemediaobject></guiicon>"
    marked = read_markup(f"<book><para>Click on the {icon} new icon.</para></book>", name="a.xml")
    assert "\n" not in marked.masked.strip()
    block = f"<mediaobject>{icon}</mediaobject>"
    marked = read_markup(f"<book><para>Click on it. {block} Then go on.</para></book>", name="a.xml")
    assert "\n" in marked.masked.strip()


def test_entities_stay_in_words():
    assert words(read_markup("caf&eacute;s &amp; bars&nbsp;x", kind="xml").masked) == ["cafes", "bars", "x"]


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.md", "", "markdown"),
        ("a.RST", "", "rst"),
        ("topic.dita", "", "xml"),
        ("a.htm", "", "html"),
        ("a.tex", "", "latex"),
        ("notes", "plain", "text"),
        ("book", '<?xml version="1.0"?><book/>', "xml"),
        ("page", "\n<!DOCTYPE html><p>", "html"),
    ],
)
def test_kind_is_told(name, text, kind):
    assert tell_markup(name, text) == kind


PIECES = """< > <a> </a> <!-- --> &amp; & <![CDATA[ ]]> # ` * ** [x](y) [ ] $ % { } \\ é
\\begin{verbatim} \\end{verbatim} \\section{x}"""
LINES = ["# x", "```", "|a|b|", "    x", "", "::", ".. code::", ".. x", "====", "----", "- x"]
pieces = st.sampled_from([*PIECES.split(), *(f"{line}\n" for line in LINES), "word ", "слово "])


@given(st.lists(pieces, max_size=40).map("".join), st.sampled_from(sorted(READERS)))
@pytest.mark.covers("P6")
def test_no_reader_moves_a_character(text, kind):
    marked = READERS[kind](text)
    assert len(marked.masked) == len(text)
    assert all(
        new == old or new.isspace() or not old.isspace() for new, old in zip(marked.masked, text, strict=True)
    )
    for span in [*marked.code, *marked.tables, *(h.span for h in marked.headings)]:
        assert 0 <= span.start <= span.end <= len(text)
    assert marked.code == sorted(marked.code)


@pytest.mark.parametrize("kind", sorted(READERS))
@pytest.mark.parametrize(
    "piece", ["<", "<a ", "<!--", "[x](", "`", "```\n", "$", "\\[", "{", "&amp", "|", "::\n", "<!["]
)
def test_hostile_markup_is_linear(kind, piece):
    text = piece * 60_000
    assert len(READERS[kind](text).masked) == len(text)


NOTE = "the harbour master writes down every boat that leaves before dawn and asks where it goes and why"


@pytest.mark.covers("P6")
def test_footnotes_of_markdown_can_be_repeated():
    texts = {
        "a.md": f"Boats leave early[^1].\n\n[^1]: As is known, {NOTE}.\n",
        "b.md": f"Nobody is at sea here[^note].\n\n[^note]: Of old {NOTE}.\n",
    }
    result = find_repeats(texts, algorithm="exact")
    assert [[fragment.text for fragment in group.fragments] for group in result.groups] == [[f"{NOTE}."] * 2]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("salt &amp; bread", ["salt", "bread"]),
        ("a word[^1] here", ["word", "here"]),
        ("open <http://town.example/map> now", ["open", "http", "town", "example", "map", "now"]),
        ("say __strong__ words of snake_case", ["strong", "words", "snake_case"]),
        ("[^1]: words of notes", ["words", "notes"]),
        ("[name]: http://town.example", []),
        ("`Link`s and un*believ*able", ["links", "unbelievable"]),
        ("use `<pre>` there", ["pre"]),
        ("::: warning\nMind the step\n:::", ["step"]),
    ],
)
def test_marks_of_markdown_are_no_words(source, said):
    found = words(read_markup(source, kind="markdown").masked)
    assert [word for word in found if word in said] == said
    assert not {"amp", "1", "name", "warning", "believ", "__strong__"} & set(found)


def test_lines_that_import_components_are_code():
    imports = "import Tabs from '~/components/Tabs.astro';\nimport { Steps } from \"@astrojs/starlight\";\n"
    text = f"---\ntitle: One\n---\n{imports}\nImport duties are paid 'from' here.\n\n```\nimport os from 'a'\n```\n"
    marked = read_markup(text, name="page.mdx")
    assert [text[span.start : span.end] for span in marked.code] == [imports, "import os from 'a'\n"]
    assert marked.code == sorted(marked.code)


def test_items_that_are_links_are_titles():
    text = "- [One page](a.md)\n- see [another](b.md)\n2. [The third](c.md) \n\n[Alone](d.md)\n"
    marked = read_markup(text, name="page.md")
    assert [text[span.start : span.end] for span in marked.links] == ["One page", "The third"]
    said = "".join(f"- [{' '.join(f'w{n}{m}' for m in range(4))}](x.md)\n" for n in range(8))
    page = f"{said}\n{' '.join(f'o{n}' for n in range(40))}.\n\n{said}"
    assert find_repeats({"page.md": page}).groups == ()
    assert find_repeats({"page.md": page.replace("[", "").replace("](x.md)", "")}).groups


@pytest.mark.parametrize(
    ("kind", "line", "title"),
    [
        ("markdown", "## Checks {#prop-validation}", "Checks"),
        ("markdown", "## `onMounted()` <sup class='vt-badge' /> {#onmounted .x}", "onMounted()"),
        ("markdown", "## List<String> and {braces}", "List<String> and {braces}"),
        ("markdown", "## See [the *guide*](guide.md) or [that][ref]", "See the guide or that"),
        ("html", '<h2>Functions<a href="#f">¶</a></h2>', "Functions"),
    ],
)
def test_titles_of_sections_are_told_without_markup(kind: str, line: str, title: str):
    (heading,) = READERS[kind](f"{line}\n\nSome words below it.\n").headings
    assert heading.title == title
