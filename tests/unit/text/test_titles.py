"""What documents call themselves, and what is worse than no title (T1)."""

from __future__ import annotations

import pathlib
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "integration"))
from formats_hostile import docx, epub, lines_of, paragraph, pdf, zipped

from doublet.text.read import read_document
from doublet.text.titles import LONGEST, sensible

GOOD = """
Снег в городе|On Liberty|Документ как источник|Document image analysis|Слайды о главном|Война и мир. Том 2
Что делать?|Who? What? Where?|PDF and its history|Page One: a memoir|Главная улица|Методы анализа .NET
Untitled poems of 1920|Ångström and Röntgen|Ёж
"""
BAD = """
Microsoft Word - doc1.doc|Microsoft Word - Диплом.docx|Microsoft PowerPoint - Slides.ppt|untitled|Untitled-1
Untitled Document|Untitled 3|Document1|Документ1|Документ Microsoft Word|Презентация PowerPoint|Слайд 1|Slide 1
PowerPoint Presentation|Без имени 1|Без названия|Безымянный|Заголовок слайда|title|Title|Новый документ|doc|index
index.html|Home|Главная|Главная страница|thesis.tex|final_v3.dvi|C:\\Users\\a\\b.doc|/srv/a/b|http://example.org/x
file:///x|PII: S0140-6736(05)12345-6|doi:10.1000/182|12345|---|????????? ????|\ufffd\ufffd\ufffd\ufffd
3f2504e0-4f89-11d3-9a0c-0305e82c3301|Layout 1|Макет 1|a|Scan0001|IMG_2041|LaTeX with hyperref|УДК 519.6|Unknown Title
"""


def listed(titles: str) -> list[str]:
    return titles.strip().replace("\n", "|").split("|")


@pytest.mark.parametrize("title", listed(GOOD))
def test_a_title_stays(title: str) -> None:
    assert sensible(title) == title


@pytest.mark.parametrize("title", ["", *listed(BAD)])
def test_what_says_nothing_is_no_title(title: str) -> None:
    assert sensible(title) == ""


def test_letters_of_windows_1251_that_were_taken_for_western_ones() -> None:
    assert sensible("Ìåòîäû àíàëèçà") == "Методы анализа"
    assert sensible("Röntgen à Ålborg") == "Röntgen à Ålborg"


def test_it_is_one_line_and_not_a_paragraph() -> None:
    assert sensible("  Снег\n в\x00 городе\u200b ") == "Снег в городе"
    assert sensible("слово " * LONGEST) == ""
    assert sensible("сл" * (LONGEST // 2)) and not sensible("сл" * (LONGEST // 2) + "с")


@pytest.mark.parametrize(
    "title", ["Содержание", "Введение", "ГЛАВА 1. О снеге", "Introduction", "Chapter 2", "Приложение А"]
)
def test_parts_that_every_document_has_are_no_title_of_it(title: str) -> None:
    assert sensible(title, heading=True) == ""
    assert sensible(title) == title


@given(st.text(max_size=400))
def test_any_text_gives_one_short_line(text: str) -> None:
    title = sensible(text)
    assert len(title) <= LONGEST and "\n" not in title
    assert not title or sensible(title) in (title, "")  # what a program wrote before it may hide a second one


CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{}</dc:title></cp:coreProperties>'
)
STYLES = (
    '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:styleId="a3">'
    '<w:name w:val="Title"/></w:style><w:style w:styleId="1"><w:name w:val="heading 1"/></w:style></w:styles>'
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>'
    "</Relationships>"
)


def word(core: str, *paragraphs: tuple[str, str]) -> bytes:
    body = "".join(
        paragraph(text).replace("<w:p>", f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>')
        for text, style in paragraphs
    )
    parts = {
        "docProps/core.xml": CORE.format(core),
        "word/styles.xml": STYLES,
        "word/_rels/document.xml.rels": RELATIONS,
    }
    return docx(body, **parts)


def title_of(data: str | bytes, kind: str = "") -> str:
    return read_document(data.encode() if isinstance(data, str) else data, as_kind=kind).title


def test_word() -> None:
    assert title_of(word("Снег в городе", ("Другое", "a3"))) == "Снег в городе"
    assert title_of(word("Microsoft Word - 1.doc", ("МГУ", "x"), ("Снег в городе", "a3"))) == "Снег в городе"
    assert title_of(word("", ("", "x"), ("Снег в городе", "1"), ("Глава", "1"))) == "Снег в городе"
    assert title_of(word("", ("Первые слова текста", "x"), ("Как убирают", "1"))) == ""
    assert title_of(word("Документ1", ("Содержание", "1"))) == ""
    damaged = docx(paragraph("Слова"), **{"docProps/core.xml": "<no"})
    assert title_of(damaged) == ""


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title>Снег — Город</title><meta property='og:title' content='Снег'>", "Снег"),
        ("<title>Снег — Город</title><meta property='og:title' content='Городской портал'>", "Снег — Город"),
        ("<title>Untitled Document</title><body><h1>Снег в городе</h1>", "Снег в городе"),
        ("<title>Главная</title><meta name='citation_title' content='Снег'>", "Снег"),
        ("<body><svg><title>Стрелка</title></svg><h1>Снег <b>в</b> городе</h1>", "Снег в городе"),
        ("<title> \n </title><p>Слова", ""),
    ],
)
def test_pages(page: str, title: str) -> None:
    words = "<p>Снег в городе занимает место, которое летом принадлежит людям.</p>"
    assert title_of(f"<html><meta charset=utf-8>{page}{words * 5}</html>", "html") == title


@pytest.mark.parametrize(
    ("kind", "source", "title"),
    [
        ("markdown", "---\nlang: ru\ntitle: 'Снег'\n---\n\n# Другое\n", "Снег"),
        ("markdown", "# Снег в *городе*\n\nтекст", "Снег в городе"),
        ("markdown", "слова\n\n## Раздел о снеге\n\n# Снег\n", "Снег"),
        ("markdown", "слова\n\n## Раздел о снеге\n", ""),
        ("restructuredtext", "=====\nСнег\n=====\n\nтекст", "Снег"),
        ("restructuredtext", "слова\n\nСнег\n====\n\nтекст", ""),
        ("latex", "\\documentclass{a}\\title[к]{Снег\\thanks{x} в \\emph{городе}}\\begin{document}x\\end{document}",
         "Снег в городе"),
        ("wikitext", "{{Карточка}}\n'''Снег''' — это осадки.\n\n== Виды ==", "Снег"),
        ("wikitext", "{{DISPLAYTITLE:Снег и лёд}}\n'''Снег''' — осадки.", "Снег и лёд"),
        ("wikitext", "= Снег =\nслова", "Снег"),
        ("wikitext", "слова\n== Виды ==\nслова", ""),
        ("docbook", "<book><info><author>А</author><title>Снег <emphasis>в</emphasis> городе</title></info><chapter>"
         "<title>Глава</title><para>x</para></chapter></book>", "Снег в городе"),
        ("docbook", "<article><sect1><title>Раздел о снеге</title><para>x</para></sect1></article>", "Раздел о снеге"),
        ("dita", "<topic><title>Снег</title><body><p>x</p></body></topic>", "Снег"),
        ("xml", "<article><front><article-meta><title-group><article-title>Снег</article-title></title-group>"
         "</article-meta></front><body><p>x</p></body></article>", "Снег"),
        ("fb2", "<FictionBook><description><title-info><book-title>Снег</book-title></title-info></description>"
         "<body><p>x</p></body></FictionBook>", "Снег"),
        ("rtf", "{\\rtf1\\ansi\\ansicpg1251{\\fonttbl{\\f0 A;}}{\\info{\\title \\'d1\\'ed\\'e5\\'e3}}x\\par}", "Снег"),
        ("rtf", "{\\rtf1{\\info{\\upr{\\title ????}{\\*\\ud{\\title \\u1057?\\u1085?\\u1077?\\u1075?}}}}x\\par}",
         "Снег"),
        ("plain", "Снег\n\nв городе", ""),
    ],
)  # fmt: skip
def test_markup(kind: str, source: str, title: str) -> None:
    assert title_of(source, kind) == title


def test_books_slides_and_pdf() -> None:
    opf = (
        '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Снег</dc:title></metadata><manifest>'
        '<item id="one" href="one.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="one"/></spine></package>'
    )
    page = "<html><head><title>Глава</title></head><body><p>x</p></body></html>"
    assert title_of(epub({"one.xhtml": page, "book.opf": opf})) == "Снег"
    assert title_of(epub({"one.xhtml": page})) == ""
    for written, title in (
        (b"(On Snow)", "On Snow"),
        (b"(Microsoft Word - a.doc)", ""),
        (b"<FEFF0421043D04350433>", "Снег"),
    ):
        info = {6: b"<< /Title " + written + b" >>"}
        assert title_of(pdf(lines_of("words of a page"), extra=info, trailer=b"/Info 6 0 R")) == title
    western = {6: b"<< /Title (" + "Методы анализа".encode("cp1251") + b") >>"}
    assert title_of(pdf(lines_of("words"), extra=western, trailer=b"/Info 6 0 R")) == "Методы анализа"
    meta = (
        '<office:document-meta xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/">'
    )
    content = (
        '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text>'
        '<text:h text:outline-level="1">Снег</text:h><text:p>x</text:p></office:text></office:body>'
        "</office:document-content>"
    )
    parts = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content}
    assert title_of(zipped(parts)) == "Снег"
    named = f"{meta}<office:meta><dc:title>Лёд</dc:title></office:meta></office:document-meta>"
    assert title_of(zipped({**parts, "meta.xml": named})) == "Лёд"
