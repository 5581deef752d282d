"""Documents and repeats see the same words: XML and HTML, which have two readers, and Markdown, which is read in two
ways."""

from __future__ import annotations

import pytest

from doublet.text.markup import READERS
from doublet.text.read import read_document
from doublet.text.tokens import Canon

BOOK = (
    '<?xml version="1.0"?><book><title>Snow</title><chapter><title>Town and snow</title>'
    "<para>Snow lies <emphasis>long</emphasis> in the town &amp; melts.</para><!-- nobody reads this -->"
    "<itemizedlist><listitem><para>first item</para></listitem><listitem><para>second item</para></listitem>"
    "</itemizedlist><para>The end.</para></chapter></book>"
)
PAGE = (
    "<!doctype html><html><head><style>p { color: red }</style></head><body>"
    "<h1>Snow in the town</h1><p>Snow lies <b>long</b> in the town, and it is brought away at night to fields.</p>"
    "<ul><li>The first item of a list of things.</li><li>The second item of the same list.</li></ul>"
    "<table><tr><td>One cell of a table</td><td>another cell of it</td></tr></table>"
    "<p>At the end there is one more sentence, which is long enough.</p></body></html>"
)


def words(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in text).split()


@pytest.mark.covers("T1")
@pytest.mark.parametrize(("kind", "name", "source"), [("xml", "a.xml", BOOK), ("html", "a.html", PAGE)])
def test_both_see_the_same_words(kind: str, name: str, source: str) -> None:
    document = words(read_document(source.encode(), name=name).text)
    assert len(document) > 15
    assert words(READERS[kind](source).masked.replace("&amp;", " ")) == document


MARKDOWN = (
    "Two *words* and **strong** ones, ***both*** and __strong__ too, ___all___ and _one_.",
    "snake_case and a__b and __init__ and _private and un*believ*able and 2*3 and 2 * 3.",
    "A note[^1] here and another[^long-name].\n\n[^1]: The words of the note, with *emphasis*.\n[^long-name]: More.\n",
    '[name]: https://example.org/hidden\n\nSee [name] and [words][name] and [more](https://x.example/y_z "title").',
    "Fish &amp; chips, caf&eacute;s, it&#39;s&nbsp;so, &lt;tag&gt; &unknown; and co&shy;operate.",
    "Open <https://example.org/a_b*c*> or write to <me@example.org>.",
    "Escaped \\*stars\\* and snake\\_case and \\[brackets\\](kept) and \\<b> and \\`ticks\\`.",
    "Code `a < b` and `<pre>` and ``two `ticks` here`` and `<!-- kept -->` and `[x](y)`.",
    'a < b and c > d, <b>bold</b>face, <unclosed and <a, b> and <span class="x">inside</span>.',
    "[Link](http://x)s and `Link`s and **Li**nk and ![picture](a.png) here.",
    "[one](a)[two](b) and a[0] and f[1][2] and [see also].",
    "# Title {#id .class}\n\nWords {.note} here\n\nUnder {#u}\n=====\n",
    "::: warning\nInside a box.\n:::\n\nOutside.",
    "***\n\n- - -\n\n___\n\nName: ______\n",
    "- item *one*\n- item two\n  goes on\n\n1. first\n2. second\n",
    "> quoted _words_\n> go on\n\n| a | b_c |\n|---|:--:|\n| *d* | `e|f` |\n",
    "```py\nx = a_b * _c_ &amp; [^1]\n```\nText *after* [link](u).\n```\nmore\n```\n",
    "    indented &amp; code _x_\n\nText &amp; words.",
    "---\ntitle: hidden\n---\nText.",
    "A line with two blanks  \nand one with a backslash\\\nand the end.",
    "Слова *с выделением* и __жирные__ слова[^1], снежно_белый.\n\n[^1]: Сноска.\n",
    "~~struck~~ and a~~b and ~~~x.",
    "__bold _and_ more__ *a **b** c* **a*b*c** _a_.",
    "Line<br>break and <div>block</div> and <my-tag>x</my-tag>y.",
)


def canonical(text: str) -> list[str]:
    return Canon().tokens([text], words=True).words(0)


@pytest.mark.covers("T1")
@pytest.mark.parametrize("source", MARKDOWN)
def test_markdown_has_the_same_words_for_both(source: str) -> None:
    document = canonical(read_document(source.encode(), as_kind="markdown").text)
    assert document
    assert canonical(READERS["markdown"](source).masked) == document


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("__strong__ ___all___ **b** ***c*** _d_", "strong all b c d"),
        ("snake_case a__b x_y_z _private", "snake_case a__b x_y_z _private"),
        ("__bold _and_ more__ **a*b*c**", "bold and more abc"),
        ("2*3 and 2 * 3", "2*3 and 2 * 3"),
        ("See <https://example.org/a_b>.", "See https://example.org/a_b."),
        ("Fish &amp; chips[^1].", "Fish & chips."),
    ],
)
def test_marks_of_markdown_go_and_names_stay(source: str, shown: str) -> None:
    assert read_document(source.encode(), as_kind="markdown").text == shown


def test_words_stay_in_their_places() -> None:
    source = "Fish &amp; un**believ**able caf&eacute;s[^1] at <https://example.org>.\n\n[^1]: A note.\n"
    masked = READERS["markdown"](source).masked
    assert len(masked) == len(source)
    batch = Canon().tokens([masked], words=True)
    places = [
        source[span.start : span.end] for span in (batch.span(i, i) for i in range(len(batch.words(0))))
    ]
    assert places == [
        "Fish",
        "un**believ**able",
        "caf&eacute;s",
        "at",
        "https",
        "example",
        "org",
        "A",
        "note",
    ]
