"""Each format gives its words without its markup, and what tears no sentence apart (T1, T3)."""

from __future__ import annotations

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "integration"))
from formats_hostile import TYPES, WORDS, docx, epub, paragraph, pdf, zipped

from doublet.text.read import ReadDocument, read_document


def text_of(data: str | bytes, kind: str, **options: bool) -> str:
    raw = data.encode() if isinstance(data, str) else data
    return read_document(raw, as_kind=kind, **options).text


@pytest.mark.covers("T3")
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("'''Невá''' — [[река]] в [[Россия|России]].", "Невá — река в России."),
        ("Текст{{нет АИ|2020}} дальше.", "Текст дальше."),
        ("a {{b|{{c|d}}|e={{f}}}} g", "a  g"),
        ("{{nobr|десять лет}} спустя", "десять лет спустя"),
        ("См. [http://a.example сайт] и http://b.example/x конец", "См. сайт и  конец"),
        ("[[Файл:a.jpg|мини|200px|Вид на город]]", "Вид на город"),
        ("Город[[Категория:Города]][[en:City]]", "Город"),
        ("Раз<ref name=x>{{книга|a}} Иванов И.</ref> два.", "Раз два.\n\nИванов И."),
        ("Раз<ref name=\"x\" /> два.", "Раз два."),
        ("== Заголовок ==\n* пункт\n# второй", "Заголовок\n\nпункт\n\nвторой"),
        ("{| class=\"wikitable\"\n! a !! b\n|-\n| align=right | 1 || 2\n|}", "a\tb\n\n1\t2"),
        ("a<br/>b&nbsp;c <!-- no -->d __NOTOC__", "a\nb\xa0c d"),
        ("<nowiki>[[x]]</nowiki>", "[[x]]"),
        ("#REDIRECT [[Город]]\nпереехал", "переехал"),
        ("<math>x^2</math> и <code>код</code>", "и код"),
    ],
)  # fmt: skip
def test_wiki_markup_leaves_no_remains(source: str, words: str) -> None:
    assert text_of(source, "wikitext") == words


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("# T\n\na *b* **c** `d` ~~e~~ [f](http://x) ![g](h.png)", "T\n\na b c d e f g"),
        ("---\ntitle: x\n---\ntext", "text"),
        ("- a\n- b\n\n1. c", "a\n\nb\n\nc"),
        ("| a | b |\n|---|---|\n| c | d |", "a\tb\n\nc\td"),
        ("word[^1].\n\n[^1]: Note.", "word.\n\nNote."),
        ("```py\nx = 1\n```", "x = 1"),
        ("a <b>c</b> &amp; d\\*", "a c & d*"),
        ("<div>\n\ninside\n\n</div>", "inside"),
        ("> quoted\n> more", "quoted\nmore"),
        ("Title {#id .x}\n=====", "Title"),
    ],
)
def test_markdown(source: str, words: str) -> None:
    assert text_of(source, "markdown") == words


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("Title\n=====\n\nSome *words* and ``code``.", "Title\n\nSome words and code."),
        ("See :ref:`the page <x>` and :class:`~a.B`.", "See the page and a.B."),
        ("A `link <http://x>`__ and name_.", "A link and name."),
        (".. image:: x.png\n   :alt: no\n\ntext", "text"),
        (".. note:: Mind this.\n   And that.\n\ntext", "Mind this.\n\nAnd that.\n\ntext"),
        (".. a comment\n   of two lines\n\ntext", "text"),
        (".. _target:\n\ntext", "text"),
        ("Word [1]_ here.\n\n.. [1] The note.", "Word here.\n\nThe note."),
        ("Like this::\n\n    x *= 1\n\nend", "Like this:\n\nx *= 1\n\nend"),
        (".. code-block:: python\n\n   a_b = `c`\n\nend", "a_b = `c`\n\nend"),
        ("- one\n- two", "one\n\ntwo"),
        ("=== ===\na   b\n=== ===\nc   d\n=== ===", "a   b\n\nc   d"),
        (":Author: Somebody", "Author: Somebody"),
    ],
)
def test_restructuredtext(source: str, words: str) -> None:
    assert text_of(source, "restructuredtext") == words


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (r"\section{One} Two \emph{three} \textbf{four}.", "One\n\nTwo three four."),
        (r"A\footnote{Note with \emph{care}.} b.", "A b.\n\nNote with care."),
        ("a % comment\nb", "a \nb"),
        (r"50\% of \$5 \& more\_x", "50% of $5 & more_x"),
        (r"``quoted'' --- <<да>> --- 1--2", "“quoted” — «да» — 1–2"),
        (r"caf\'e na\"{\i}ve \v{c}", "café naïve č"),
        (r"see \ref{x} \cite[p. 3]{y}\label{z} end", "see   end"),
        (r"\href{http://x}{shown} \url{http://y}", "shown"),
        (r"\begin{tabular}{ll} a & b \\ c & d \end{tabular}", "a \t b \n c \t d"),
        (r"\begin{itemize}\item a \item b\end{itemize}", "a\n\nb"),
        (r"x $a+b$ y \[ c \]", "x a+b y   c"),
        (r"\begin{verbatim}a % b \c{d}\end{verbatim}", r"a % b \c{d}"),
        (r"\newcommand{\x}{y} text \verb|a_b|", "text a_b"),
        (r"Иванов~И."'"~И. по"=русски', "Иванов\xa0И.-И. по-русски"),
        (r"\documentclass{a}\title{T}\begin{document}\maketitle x\end{document} after", "T\n\nx"),
    ],
)  # fmt: skip
def test_latex(source: str, words: str) -> None:
    found = text_of(source, "latex")
    assert [line.split() for line in found.split("\n") if line.strip()] == [
        line.split() for line in words.split("\n") if line.strip()
    ]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("<book><title>T</title><para>a <emphasis>b</emphasis><footnote><para>note</para></footnote> c</para></book>", "T\n\na b c\n\nnote"),
        ("<article><indexterm><primary>no</primary></indexterm><para>x<indexterm><primary>no</primary></indexterm>y</para></article>", "xy"),
        ("<article><programlisting>a\n  b</programlisting></article>", "a\n  b"),
        ("<table><row><entry>a</entry><entry>b</entry></row></table>", "a\tb"),
        ("<article><para>caf&eacute;&nbsp;x</para></article>", "café x"),
    ],
)  # fmt: skip
def test_docbook(source: str, words: str) -> None:
    assert text_of(source, "docbook") == words


def test_other_xml_takes_elements_beside_text_for_parts_of_a_sentence() -> None:
    source = "<a><b>one</b><c>two <d>three</d> four</c></a>"
    assert text_of(source, "xml") == "one\n\ntwo three four"


def test_fb2() -> None:
    source = (
        '<?xml version="1.0" encoding="windows-1251"?><FictionBook xmlns="x" xmlns:l="l"><description>нет</description>'
        '<body><section><title><p>Глава</p></title><p>Слово<a l:href="#1" type="note">1</a> здесь.</p></section></body>'
        '<body name="notes"><section><title><p>1</p></title><p>Сноска.</p></section></body></FictionBook>'
    )
    found = read_document(source.encode("windows-1251"))
    assert found.kind == "fb2"
    assert found.text == "Глава\n\nСлово здесь.\n\nСноска."
    assert read_document(zipped({"book.fb2": source.encode("windows-1251")})).text == found.text


def test_epub_reads_the_spine_and_not_the_rest() -> None:
    page = "<html><body><h1>One</h1><p>Words of the chapter.</p></body></html>"
    found = read_document(epub({"one.xhtml": page, "other.xhtml": "<p>never</p>"}))
    assert found.text == "One\n\nWords of the chapter."
    assert found.places[0].element == "chapter 1, heading"


def test_docx_tables_breaks_and_changes() -> None:
    cells = "".join(f"<w:tc>{paragraph(word)}</w:tc>" for word in ("a", "b"))
    body = (
        f"{paragraph('one')}<w:tbl><w:tr>{cells}</w:tr></w:tbl>"
        "<w:p><w:r><w:t>x</w:t><w:br/><w:t>y</w:t><w:tab/><w:t>z</w:t></w:r>"
        "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>!</w:t></w:r></w:ins></w:p>"
    )
    found = read_document(docx(body))
    assert found.text == "one\n\na\tb\n\nx\ny\tz!"
    assert [place.paragraph for place in found.places] == [1, 2, 4]


def test_docx_pages_where_word_has_noted_them() -> None:
    second = "<w:p><w:r><w:lastRenderedPageBreak/><w:t>second page</w:t></w:r></w:p>"
    found = read_document(docx(paragraph("first page") + second + paragraph("still second")))
    assert [place.page for place in found.places] == [1, 1, 2]


def test_pptx_without_its_frame() -> None:
    a = "http://schemas.openxmlformats.org/drawingml/2006/main"
    p = "http://schemas.openxmlformats.org/presentationml/2006/main"
    shape = "<p:sp><p:nvSpPr><p:nvPr>{}</p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:txBody></p:sp>"
    shapes = shape.format("", "Title") + shape.format('<p:ph type="sldNum"/>', "7")
    slide = f'<p:sld xmlns:a="{a}" xmlns:p="{p}">{shapes}</p:sld>'
    found = read_document(zipped({"[Content_Types].xml": TYPES, "ppt/slides/slide1.xml": slide}))
    assert found.text == "Title"
    assert found.places[0].label() == "page 1, paragraph 1, slide 1"


def pages(*contents: str) -> bytes:
    """A PDF of several pages, each from its content stream."""
    import zlib

    from formats_hostile import pdf_of

    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        5: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    }
    kids = []
    for index, content in enumerate(contents):
        number = 10 + 2 * index
        packed = zlib.compress(content.encode("latin-1"))
        kids.append(b"%d 0 R" % number)
        objects[number] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 5 0 R >> >> >>" % (number + 1)
        )
        objects[number + 1] = (
            b"<< /Length %d /Filter /FlateDecode >> stream\n" % len(packed) + packed + b"\nendstream"
        )
    objects[2] = b"<< /Type /Pages /Kids [" + b" ".join(kids) + b"] /Count %d >>" % len(kids)
    return pdf_of(objects)


def column(lines: list[str], *, head: str = "", foot: str = "") -> str:
    out = [f"BT /F1 12 Tf 60 760 Td ({lines[0]}) Tj"]
    out += [f"0 -16 Td ({line}) Tj" for line in lines[1:]]
    out.append("ET")
    for text, height in ((head, 810), (foot, 30)):
        if text:
            out.append(f"BT /F1 10 Tf 250 {height} Td ({text}) Tj ET")
    return " ".join(out)


def test_pdf_sentences_go_on_overleaf_and_heads_and_numbers_are_left_out() -> None:
    body = [
        ["The first line of a paragraph that is set across the page", "and goes on to the foot of the first page where the"],
        ["sentence does not end but goes on overleaf as they do, for", "the printer had no other place to put the rest of it and"],
        ["so at last it comes to a stop on the third page of them.", "END"],
    ]  # fmt: skip
    data = pages(*(column(lines, head="A Running Head", foot=str(n)) for n, lines in enumerate(body, 1)))
    found = read_document(data)
    assert "Running" not in found.text
    assert "page where the sentence does not end" in found.text
    assert found.text.count("\n\n") == 0
    at = found.text.index("overleaf")
    place = found.place_of(at)
    assert place is not None
    assert place.page == 2


def test_pdf_words_cut_at_line_ends_are_joined_as_the_document_spells_them() -> None:
    lines = [
        "This well-known house stands on a hill and is called con-",
        "tinental by those who live there; it is a well-",
        "known house to all of us who have been in it often enough.",
    ]
    found = read_document(pages(column(lines)))
    assert "called continental by" in found.text
    assert "is a well-known house to" in found.text


PAGE = """<html><head><title>T</title></head><body>
<div id="menu"><ul><li><a href="/">Home</a></li><li><a href="/a">About us</a></li></ul></div>
<div class="breadcrumbs"><a href="/">Home</a> / Story</div>
<article><h1>A story about boats</h1><p>{0}</p><p>{0} <a href="/x">a link</a></p><p>Short line.</p>
<ul><li>one thing to remember</li><li>another thing to remember</li></ul><p>{0}</p></article>
<div class="comments"><p>First! What a story this is, I liked every word of it and will come again soon, thanks.</p></div>
<aside><p>Read also: <a href="/1">Ten ways to build a boat</a></p></aside>
<footer><p>© 2020 The Boat Company. All rights reserved.</p></footer></body></html>"""


@pytest.mark.covers("T3")
def test_the_useful_content_of_a_page() -> None:
    found = read_document(PAGE.format(WORDS * 2).encode())
    assert found.text.startswith("A story about boats")
    assert found.text.count("minded it much") == 6
    for inside in ("Short line.", "one thing to remember", "a link"):
        assert inside in found.text
    for outside in ("About us", "Home", "First!", "Read also", "rights reserved"):
        assert outside not in found.text
    whole = read_document(PAGE.format(WORDS * 2).encode(), frame=False)
    assert all(word in whole.text for word in ("About us", "First!", "rights reserved"))


def test_a_short_page_is_taken_as_it_is() -> None:
    assert read_document(b"<html><body><p>Just a few words.</p></body></html>").text == "Just a few words."


def test_places_lead_back_to_lines() -> None:
    found: ReadDocument = read_document(b"# One\n\ntext\nmore\n\n## Two\n\nend\n", name="a.md")
    assert [(place.line, place.element) for place in found.places] == [
        (1, "heading"),
        (3, ""),
        (6, "heading"),
        (8, ""),
    ]
    plain = read_document(b"one\ntwo\n\nthree\n")
    assert [(place.line, place.span) for place in plain.places] == [(1, (0, 7)), (4, (9, 14))]


def test_pdf_is_read() -> None:
    assert read_document(pdf(b"BT /F1 12 Tf 60 700 Td (Hello there) Tj ET")).text == "Hello there"


LEFT = ["The left column begins here and", "goes on with more words about", "snow in the city, which ends with",
        "a full stop and then once more"] * 4  # fmt: skip
RIGHT = ["The right column is the second", "part of the article and must not", "be mixed with the left one, line",
         "by line, when it is read by a"] * 4  # fmt: skip


def drawn(x: int, y: int, text: str, size: int = 10) -> bytes:
    return b"BT /F1 %d Tf %d %d Td (%s) Tj ET\n" % (size, x, y, text.encode())


@pytest.mark.covers("T1")
@pytest.mark.parametrize("title", ["", "A title that goes over both of the columns of this page, to the end"])
def test_two_columns_drawn_across_the_page(title: str) -> None:
    """Whether the file draws column by column or line by line, the text is the same."""
    head = drawn(60, 740, title, 16) if title else b""
    pairs = [(700 - 14 * n, left, right) for n, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True))]
    across = b"".join(drawn(60, y, left) + drawn(320, y, right) for y, left, right in pairs)
    down = b"".join(drawn(60, y, left) for y, left, _ in pairs)
    down += b"".join(drawn(320, y, right) for y, _, right in pairs)
    texts = [" ".join(read_document(pdf(head + body)).text.split()) for body in (across, down)]
    assert texts[0] == texts[1] == " ".join([*([title] if title else []), *LEFT, *RIGHT])


def even(word: str) -> str:
    """A line of seven words whose letters and digits are all 0.556 of the size wide: 211.3 points at size 10."""
    return " ".join(f"{word}{n}" for n in range(7))


def test_the_blank_between_columns_is_wider_than_between_words() -> None:
    """Columns lie one letter's height apart. The words of the title part over the same place, by half of that."""
    end = 60 + 7 * 5 * 5.56 + 6 * 2.78
    lines = [(700 - 14 * n, even(f"{a}and"), even(f"{a}nod")) for n, a in enumerate("abdeghnopqu")]
    body = drawn(60, 740, even("head")) + drawn(round(end + 6), 740, even("page"))
    body += b"".join(drawn(60, y, left) + drawn(round(end + 10), y, right) for y, left, right in lines)
    columns = [line[1] for line in lines] + [line[2] for line in lines]
    found = " ".join(read_document(pdf(body)).text.split())
    assert found == " ".join([even("head"), even("page"), *columns])


def test_a_table_of_two_columns_stays_in_rows() -> None:
    rows = b"".join(
        drawn(60, 700 - 14 * n, f"Name of item {n}") + drawn(420, 700 - 14 * n, f"Value {n}")
        for n in range(20)
    )
    assert " ".join(read_document(pdf(rows)).text.split()).startswith("Name of item 0 Value 0 Name of item 1")


def test_running_text_of_one_column_is_not_cut() -> None:
    lines = [
        f"Line {n} of running text goes from the left margin to the right one without a gap in it"
        for n in range(20)
    ]
    body = b"".join(drawn(60, 700 - 14 * n, line) for n, line in enumerate(lines))
    assert " ".join(read_document(pdf(body)).text.split()) == " ".join(lines)


@pytest.mark.covers("T3")
@pytest.mark.parametrize(
    "section", ["handling-security-related-bugs", "sponsoring-packages", "tags-and-comments-in-files"]
)
def test_a_section_called_by_its_heading_is_no_frame(section: str) -> None:
    """Ids made of headings hold words that frames are called by."""
    words = "The maintainer answers within a few days and says what became of the package and why it was so. "
    page = (
        f"<html><body><section id=start><h1>Start</h1><p>{words * 6}</p></section>"
        f'<section id="{section}"><h2>More</h2><p>A second part of the text. {words * 3}</p></section></body></html>'
    )
    assert "A second part" in text_of(page, "html")


@pytest.mark.covers("T3")
def test_notes_in_asides_are_text_and_other_asides_are_not() -> None:
    words = "The maintainer answers within a few days and says what became of the package and why it was so. "
    note = f'<aside class="footnote brackets" role="doc-footnote"><p>The note says more. {words}</p></aside>'
    page = f"<html><body><main><p>{words * 8}</p>{note}</main><aside><p>Buy our book. {words}</p></aside></body></html>"
    found = text_of(page, "html")
    assert "The note says more." in found
    assert "Buy our book" not in found


ARTICLE = (
    "The maintainer answers within a few days and says what became of the package and why it was so. " * 6
)
CHATTER = (
    "<p>I do not agree with any of that, and I have said so many times before in this very place.</p>" * 20
)


@pytest.mark.covers("T3")
def test_no_prose_is_dropped_for_the_name_of_what_holds_it() -> None:
    page = f"<html><body><article><p>{ARTICLE}</p><div class=widget><p>{ARTICLE[:290]}</p></div></article></body></html>"
    assert text_of(page, "html").count("The maintainer answers") == 9


@pytest.mark.covers("T3")
@pytest.mark.parametrize(
    "frame",
    [
        f'<div id="comments">{CHATTER}</div>',
        f'<footer class="entry-footer"><div class="comments-area"><ol class="comment-list">{CHATTER}</ol></div></footer>',
        f'<div class="footer-text">{CHATTER[:300]}</div>',
        "<div class=notice><p>This website uses cookies to do so many agreeable things not in this very place.</p></div>",
    ],
)
def test_frame_of_pages_of_today(frame: str) -> None:
    """Comments are no part of an article though they be longer than it; a footer is one whatever else it is called."""
    found = text_of(f"<html><body><article><p>{ARTICLE}</p>{frame}</article></body></html>", "html")
    assert found == ARTICLE.strip()


@pytest.mark.covers("T3")
@pytest.mark.parametrize(
    "name", ["post has-sidebar", "content-with-comments", "main-nav-open article", "post hidden"]
)
def test_content_is_content_whatever_it_has_beside_it(name: str) -> None:
    page = f'<html><body><div class="{name}"><p>{ARTICLE}</p></div><p>{ARTICLE}{ARTICLE}{ARTICLE}</p></body></html>'
    assert text_of(page, "html").count(ARTICLE.strip()) == 4


@pytest.mark.covers("T3")
def test_a_thread_that_is_nothing_but_comments_is_the_page() -> None:
    assert (
        text_of(f'<html><body><h1>Thread</h1><div id="comments">{CHATTER}</div></body></html>', "html").count(
            "agree"
        )
        == 20
    )
