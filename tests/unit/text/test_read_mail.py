"""Mail, saved pages and notebooks; and files of other kinds that people have, with what to do about them (T1)."""

from __future__ import annotations

import json
import pathlib
import sys
import time
from email.message import EmailMessage

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "integration"))
from formats_hostile import docx, epub, paragraph, zipped

from doublet.errors import Broken, UnknownKind
from doublet.text.kind import tell
from doublet.text.read import read_document

pytestmark = pytest.mark.covers("T1")
SNOW = "Снег в городе занимает место, которое летом принадлежит людям."


def letter(*, html: str = "", attached: str = "", charset: str = "utf-8") -> bytes:
    message = EmailMessage()
    message["Subject"] = "Снег в городе"
    message["From"] = "Иванов <a@b.example>"
    message["Date"] = "Fri, 02 Jan 2026 03:04:05 +0300"
    message.set_content(f"{SNOW}\n\nВторой абзац.\n", charset=charset)
    if html:
        message.add_alternative(html, subtype="html")
    if attached:
        message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename=attached)
    return message.as_bytes()


@pytest.mark.parametrize("charset", ["utf-8", "windows-1251", "koi8-r"])
def test_a_message(charset: str) -> None:
    found = read_document(letter(html=f"<p>{SNOW} И меню.</p>", attached="работа.pdf", charset=charset))
    assert (found.kind, found.title, found.text) == ("mail", "Снег в городе", f"{SNOW}\n\nВторой абзац.")
    assert found.places[1].label() == "paragraph 2"
    (note,) = found.notes
    assert "работа.pdf" in str(note)


def test_a_message_that_is_a_page_alone() -> None:
    head = b"From: a@b.example\r\nSubject: S\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=cp1251\r\n\r\n"
    assert read_document(head + f"<p>{SNOW}</p>".encode("cp1251")).text == SNOW


def test_a_mailbox() -> None:
    head = b"From: a@b.example\nDate: today\nSubject: S\n\n"
    box = b"From a@b Fri Jan  2 03:04:05 2026\n" + head + b"First.\n\n>From here on\n"
    found = read_document(box + b"\nFrom c@d Fri Jan  2 03:05:05 2026\n" + letter())
    assert found.text == f"First.\n\nFrom here on\n\n{SNOW}\n\nВторой абзац."
    assert [place.element for place in found.places] == ["message 1"] * 2 + ["message 2"] * 2
    assert (found.kind, found.title) == ("mail", "")
    assert read_document(box).title == ""  # "S" says nothing


def test_a_damaged_part_costs_itself_only() -> None:
    parts = letter(html=f"<p>{SNOW}</p>").replace(b"\n\n", b"\n\n////", 2)
    assert read_document(parts).kind == "mail"
    with pytest.raises(Broken):
        read_document(b"", as_kind="mail")


def test_a_page_saved_with_everything() -> None:
    menu = "<div class=menu><a href=/>Home</a> <a href=/n>News</a></div>"
    words = (
        "Snow takes up the room that belongs to people in summer, and by February grey ridges stand there. "
    )
    page = (
        "From: <Saved by Blink>\r\nSubject: Snow\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/related; type="text/html"; boundary="B"\r\n\r\n--B\r\nContent-Type: text/html\r\n\r\n'
        f"<html><body>{menu}<p>{words * 3}</p></body></html>\r\n--B\r\nContent-Type: text/css\r\n\r\np {{}}"
        "\r\n--B--\r\n"
    )
    found = read_document(page.encode())
    assert (found.kind, found.title, found.text) == ("mail", "Snow", (words * 3).strip())


@pytest.mark.parametrize(
    "text",
    [
        "From: the author\nTo: the reader\n\nA letter in a novel.",
        "Title: Snow\nAuthor: A\nDate: 2026\n\nText with a head of its own.",
        "From the first page to the last\nnothing happened: really.",
        "From: x\n" + " " * 60_000,
        "a: b\n" * 3 + " " * 60_000,
    ],
)
def test_what_only_looks_like_mail(text: str) -> None:
    began = time.process_time()
    assert tell(text.encode()) == "plain"
    assert time.process_time() - began < 2


def test_a_notebook() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Снег в *городе*\n", "\n", SNOW]},
        {"cell_type": "code", "source": "x = 1", "outputs": [{"text": "много вывода"}]},
        {"cell_type": "raw", "source": "как есть"},
        "no cell",
    ]
    data = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}, ensure_ascii=False).encode()
    found = read_document(data, name="work.ipynb")
    assert (found.kind, found.title) == ("notebook", "Снег в городе")
    assert found.text == f"Снег в городе\n\n{SNOW}\n\nx = 1\n\nкак есть"
    assert [place.label() for place in found.places][2] == "paragraph 2, code"
    for broken in (b'{"cells": [', b'{"cells": 1}', b"[]"):
        with pytest.raises(Broken):
            read_document(broken, as_kind="notebook")


OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@pytest.mark.parametrize(
    ("data", "name", "advice"),
    [
        (b"AT&TFORM\x00\x00\x10\x00DJVUINFO", "a.djvu", "ddjvu"),
        (OLD + b"\0" * 600, "a.doc", "save it as .docx"),
        (OLD + b"\0" * 600 + "WordDocument".encode("utf-16-le"), "a", "save it as .docx"),
        (OLD + b"\0" * 600 + "PowerPoint Document".encode("utf-16-le"), "a.doc", "save it as .pptx"),
        (OLD + b"\0" * 600, "a", "save it in a new format"),
        (b"7z\xbc\xaf\x27\x1c" + b"\0" * 50, "a.7z", "as zip"),
        (b"Rar!\x1a\x07" + b"\0" * 50, "a.rar", "as zip"),
        (b"b" * 60 + b"BOOKMOBI" + b"\0" * 50, "a.mobi", "EPUB"),
        (zipped({"Index/Document.iwa": b"x"}), "a.pages", "export it"),
    ],
)
def test_other_kinds_are_told_with_what_to_do(data: bytes, name: str, advice: str) -> None:
    with pytest.raises(UnknownKind) as caught:
        read_document(data, name=name)
    assert advice in caught.value.message and caught.value.message.startswith("is a")


def test_the_mark_of_a_note_is_no_word() -> None:
    page = (
        '<html xmlns:epub="http://www.idpf.org/2007/ops"><body>'
        '<p>Слово<a epub:type="noteref" href="#n">1</a> дальше.</p>'
        '<aside epub:type="footnote" id="n"><p>Примечание.</p></aside></body></html>'
    )
    assert read_document(epub({"one.xhtml": page})).text == "Слово дальше.\n\nПримечание."


def test_a_note_has_the_number_of_its_paragraph() -> None:
    word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    parts = {
        "word/footnotes.xml": f'<w:footnotes {word}><w:footnote w:id="2">{paragraph("Сноска.")}'
        "</w:footnote></w:footnotes>",
        "word/_rels/document.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r" Type="{relation}" Target="footnotes.xml"/></Relationships>',
    }
    referring = '<w:p><w:r><w:t>Раз</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    found = read_document(docx(referring + paragraph("Два."), **parts))
    assert [place.label() for place in found.places] == [
        "paragraph 1",
        "paragraph 1, footnote 2",
        "paragraph 2",
    ]
