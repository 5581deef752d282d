"""The kind comes from the content, then from what was declared, then from the name (T1).

Encodings are told as browsers do (T2).
"""

from __future__ import annotations

import pathlib
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "integration"))
from formats_hostile import STRANGER, WORDS, docx, epub, paragraph, pdf

from doublet.errors import UnknownKind, Unreadable
from doublet.model import LANGUAGES, Span
from doublet.reports.wording import wording
from doublet.text.encoding import DAMAGED, declared_encoding, decode_page, known_encoding
from doublet.text.formats import READERS, reader
from doublet.text.formats.protocol import Place
from doublet.text.kind import tell
from doublet.text.read import read_document

WIKI = (
    "== История ==\n'''Город''' стоит на [[Нева|Неве]].\n\n{{Карточка|имя=x}}\n\n== Ссылки ==\n* [[Мост]]\n"
)
MARKDOWN = "# Title\n\nSome [link](http://a.example/) and **bold** words.\n\n## More\n\n```\ncode\n```\n"
RST = (
    "Title\n=====\n\n.. note:: Mind this.\n\nSee :ref:`x` and `text <http://a.example>`_.\n\n"
    "More\n----\n\nEnd::\n\n  x\n"
)
LATEX = "\\documentclass{article}\\begin{document}\\section{One} Words.\\end{document}"


@pytest.mark.covers("T1")
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"plain words, nothing else", "plain"),
        (b"", "plain"),
        (pdf(b""), "pdf"),
        (b"\n junk before %PDF-1.4", "pdf"),
        (docx(paragraph("x")), "docx"),
        (epub({}), "epub"),
        (rb"{\rtf1 x}", "rtf"),
        (b"<!DOCTYPE html><p>x", "html"),
        (b"<HTML><body>x", "html"),
        (b'<?xml version="1.0"?><html xmlns="x"/>', "html"),
        (b'<?xml version="1.0"?><FictionBook/>', "fb2"),
        (b'<?xml version="1.0"?><book><para/></book>', "docbook"),
        (b'<article xmlns="http://docbook.org/ns/docbook"/>', "docbook"),
        (b'<!DOCTYPE concept PUBLIC "-//OASIS//DTD DITA Concept//EN" "c.dtd"><concept/>', "dita"),
        (b'<?xml version="1.0"?><data/>', "xml"),
        (WIKI.encode(), "wikitext"),
        (MARKDOWN.encode(), "markdown"),
        (RST.encode(), "restructuredtext"),
        (LATEX.encode(), "latex"),
        (b"WARC/1.0\r\n", "warc"),
    ],
)
@pytest.mark.parametrize("name", ["", "wrong.txt", "wrong.docx", "folder.pdf/file"])
def test_content_decides(data: bytes, kind: str, name: str) -> None:
    assert tell(data, name=name) == kind


@pytest.mark.parametrize(
    ("name", "declared", "kind"),
    [
        ("a.md", "", "markdown"),
        ("a.rst", "", "restructuredtext"),
        ("a.tex", "", "latex"),
        ("a.wiki", "", "wikitext"),
        ("a.txt", "text/markdown; charset=utf-8", "markdown"),
        ("a.md", "text/x-rst", "restructuredtext"),
        ("a.md", "text/plain", "markdown"),
        ("http://a.example/a.md?x=1", "", "markdown"),
    ],
)
def test_what_was_declared_and_then_the_name_decide_where_content_does_not(
    name: str, declared: str, kind: str
) -> None:
    assert tell(b"words without any markup", name=name, declared_type=declared) == kind


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n", b"\x7fELF\x00", b"7z\xbc\xaf\x27\x1c", b"\x00" * 9])
def test_what_is_no_document(data: bytes) -> None:
    with pytest.raises(UnknownKind, match="is a"):
        tell(data)


def test_every_reader_is_there_and_has_a_name() -> None:
    for kind in READERS:
        assert callable(reader(kind).read)
        assert all(kind in wording(language).tables.NAMES["file"] for language in LANGUAGES)


def test_a_kind_can_be_forced() -> None:
    assert read_document(MARKDOWN.encode(), as_kind="plain").text == MARKDOWN
    with pytest.raises(UnknownKind, match="known"):
        read_document(b"x", as_kind="no-such-kind")
    with pytest.raises(UnknownKind, match="archive"):
        read_document(b"WARC/1.0\r\n")


@given(st.binary(max_size=400), st.sampled_from([*READERS, "", "", ""]))
def test_any_bytes_end_in_a_text_or_in_a_reason(data: bytes, kind: str) -> None:
    try:
        found = read_document(data, as_kind=kind)
    except Unreadable as error:
        assert error.message
    else:
        assert isinstance(found.text, str)
        for place in found.places:
            assert 0 <= place.span.start < place.span.end <= len(found.text)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00\r\ufeff"), max_size=300))
def test_plain_text_stays_as_it_is(text: str) -> None:
    try:
        found = read_document(text.encode(), as_kind="plain")
    except Unreadable:
        return  # control characters: no text
    assert found.text == text


RUSSIAN_PAGE = "<html><head>{}</head><body><p>" + STRANGER * 3 + "</p></body></html>"


@pytest.mark.covers("T2")
@pytest.mark.parametrize("encoding", ["windows-1251", "koi8-r", "cp866", "utf-8"])
@pytest.mark.parametrize("way", ["header", "meta", "http-equiv", "detection"])
def test_encodings_of_pages(encoding: str, way: str) -> None:
    head = {
        "meta": f'<meta charset="{encoding}">',
        "http-equiv": f'<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset={encoding}">',
    }.get(way, "")
    data = RUSSIAN_PAGE.format(head).encode(encoding)
    declared = f"text/html; charset={encoding}" if way == "header" else "text/html"
    found = read_document(data, declared_type=declared)
    assert found.text.startswith("Снег в городе")
    assert found.encoding in (encoding, encoding.replace("windows-", "cp"))


@pytest.mark.covers("T2")
def test_the_header_stands_above_the_page_and_the_first_declaration_above_the_second() -> None:
    data = RUSSIAN_PAGE.format('<meta charset="utf-8">').encode("koi8-r")
    assert decode_page(data, header="KOI8-R")[0].count("Снег") == 3
    two = RUSSIAN_PAGE.format('<meta charset="windows-1251"><meta charset="koi8-r">').encode("windows-1251")
    assert decode_page(two)[0].count("Снег") == 3
    assert declared_encoding(b'<!-- <meta charset="koi8-r"> --><meta charset=cp866>') == "cp866"
    assert declared_encoding(b'<?xml version="1.0" encoding="windows-1251"?><a/>') == "windows-1251"


def test_a_byte_order_mark_stands_above_all() -> None:
    data = b"\xef\xbb\xbf" + RUSSIAN_PAGE.format('<meta charset="koi8-r">').encode()
    assert decode_page(data, header="windows-1251")[1].startswith("utf-8")


def test_a_declaration_that_cannot_be_true_is_not_believed() -> None:
    text, encoding = decode_page(RUSSIAN_PAGE.format('<meta charset="utf-8">').encode("windows-1251"))
    assert encoding == "windows-1251"
    assert "Снег" in text


@pytest.mark.covers("T2")
@pytest.mark.parametrize("label", ["windows-1251", "iso-8859-1", "gb2312", "euc-kr"])
def test_a_page_that_was_saved_as_utf8_may_still_name_the_encoding_it_had(label: str) -> None:
    data = RUSSIAN_PAGE.format(f'<meta charset="{label}">').encode()
    for header in ("", label):
        text, encoding = decode_page(data, header=header)
        assert encoding == "utf-8"
        assert text.count("Снег") == 3


@pytest.mark.parametrize(("count", "saved"), [(6, False), (10, True)])
def test_a_few_characters_may_read_like_utf8_by_chance(count: int, saved: bool) -> None:
    """«В«» is the same two bytes in windows-1251 as one quotation mark is in UTF-8."""
    data = b'<meta charset="windows-1251">' + "В«a ".encode("windows-1251") * count
    text, _ = decode_page(data)
    assert ("В«" not in text) is saved
    assert decode_page(data + "снег".encode("windows-1251"))[0].count("В«") == count


def test_a_few_damaged_bytes_are() -> None:
    data = RUSSIAN_PAGE.format('<meta charset="utf-8">').encode()
    text, encoding = decode_page(data[:120] + b"\xff" + data[121:])
    assert encoding == DAMAGED
    assert "городе" in text


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Win-1251", "cp1251"),
        ("ISO-8859-1", "cp1252"),
        ("utf8", "utf-8"),
        ("UTF-16", "utf-8"),
        ("rot13", None),
        ("x-no", None),
    ],
)
def test_labels_as_browsers_read_them(label: str, name: str | None) -> None:
    assert known_encoding(label) == name


def test_words_of_the_test_are_read() -> None:
    assert read_document((WORDS * 2).encode()).kind == "plain"


def test_a_text_may_quote_the_signature_of_a_pdf() -> None:
    text = b"# Broken files\n\necho '%PDF-1.7 and nothing after it' > broken.pdf\n"
    assert tell(text, name="broken.md") == "markdown"
    assert tell(b"\xef\xbb\xbf\n%PDF-1.7\n", name="scan.txt") == "pdf"
    assert tell(b"HTTP header\n\n%PDF-1.7\n", name="scan.pdf") == "pdf"
    assert tell(b"HTTP header\n\n%PDF-1.7\n") == "pdf"


@pytest.mark.parametrize(
    ("place", "russian"),
    [
        (Place(Span(0, 1), 12, 40), "страница 12, абзац 40"),
        (
            Place(Span(0, 1), 3, 2, None, "slide 3, speaker notes"),
            "страница 3, абзац 2, слайд 3, заметки к слайду",
        ),
        (Place(Span(0, 1), None, 1, 7, "table"), "абзац 1, строка 7, таблица"),
        (Place(Span(0, 1), element="chapter 2, table"), "глава 2, таблица"),
        (Place(Span(0, 1), element="footnote *"), "сноска *"),
        (Place(Span(0, 1), element="text box"), "надпись"),
        (Place(Span(0, 1), element="para"), "para"),
        (Place(Span(0, 1)), "–"),
    ],
)
def test_a_place_is_said_in_the_language_of_the_reader(place: Place, russian: str) -> None:
    assert wording("ru").listed(place.notes()) == russian
    assert wording("en").listed(place.notes()) == (place.label() or "–")


@pytest.mark.covers("T1")
def test_documentation_may_speak_of_latex() -> None:
    quoting = f"{MARKDOWN}\nA file begins with `\\documentclass{{article}}`.\n"
    assert tell(quoting.encode(), name="a.md") == "markdown"
    assert tell(f"{RST}\n{LATEX}".encode(), name="a.rst") == "restructuredtext"
    for name in ("a.md", "a.rst", "a.html", "a.tex", ""):
        assert tell(LATEX.encode(), name=name) == "latex"
