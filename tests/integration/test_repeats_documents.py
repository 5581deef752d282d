"""Repeats in documents that are no texts: places of the text as read, with page and paragraph; mixed trees."""

from __future__ import annotations

from pathlib import Path

import formats_hostile as make
import pytest
from jsonschema import Draft202012Validator

import doublet
from doublet.reports.repeats_tables import SCHEMA, sarif
from doublet.reports.repeats_terminal import repeats_report

REPEAT = (
    "Press the green button on the left side of the panel and wait until the lamp above the door goes out"
)
HEAD = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body>'


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    (folder / "a.pdf").write_bytes(make.pdf(make.lines_of(f"A page of a manual. {REPEAT}.")))
    body = make.paragraph("What comes first.") + make.paragraph(f"{REPEAT}.")
    (folder / "b.docx").write_bytes(make.docx(body))
    office = f"<office:body><office:text><text:p>{REPEAT}.</text:p></office:text></office:body>"
    (folder / "c.odt").write_bytes(
        make.odt(f"<office:document-content {make.ODF}>{office}</office:document-content>")
    )
    (folder / "d.epub").write_bytes(make.epub({"one.xhtml": f"{HEAD}<p>{REPEAT}.</p></body></html>"}))
    (folder / "e.rtf").write_bytes(rb"{\rtf1\ansi " + REPEAT.encode() + rb".\par}")
    (folder / "f.md").write_text(f"# Panel\n\nFirst. **{REPEAT}.**\n")
    (folder / "g.tex").write_text(f"\\section{{Panel}}\n{REPEAT}.\n")
    (folder / "h.dita").write_text(f"<topic id='h'><title>Panel</title><body><p>{REPEAT}.</p></body></topic>")
    (folder / "i.xml").write_text(f"<article><title>Panel</title><para>{REPEAT}.</para></article>")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4\nnothing")
    return folder


@pytest.fixture(scope="module")
def found(tree: Path) -> doublet.Repeats:
    return doublet.find_repeats(tree, algorithm="exact")


@pytest.mark.covers("P6")
def test_it_works_on_a_mixed_tree(found: doublet.Repeats, tree: Path) -> None:
    assert [Path(file.file).name for file in found.files] == [
        *("a.pdf", "b.docx", "c.odt", "d.epub", "e.rtf", "f.md", "g.tex", "h.dita", "i.xml")
    ]
    (group,) = found.groups
    assert group.equal
    assert len(group.fragments) == 9
    assert {" ".join(f.text.split()).strip("*.") for f in group.fragments} == {REPEAT}
    (bold,) = [f.text for f in group.fragments if f.file.endswith("f.md")]
    assert bold == f"**{REPEAT}.**", "marks come along on both sides or on none"
    assert [(o.id, o.state) for o in found.outcomes] == [((tree / "broken.pdf").as_posix(), "broken")]


def test_documents_have_pages_and_paragraphs(found: doublet.Repeats) -> None:
    places = {Path(f.file).name: f for f in found.groups[0].fragments}
    assert places["a.pdf"].place == "page 1, paragraph 1"
    assert places["b.docx"].place == "paragraph 2"
    assert places["a.pdf"].where.endswith("a.pdf, page 1, paragraph 1")
    assert places["d.epub"].place.startswith("paragraph 1")


def test_texts_keep_the_places_of_their_source(found: doublet.Repeats, tree: Path) -> None:
    for name, line in (("f.md", 3), ("g.tex", 2), ("h.dita", 1), ("i.xml", 1)):
        (f,) = [f for f in found.groups[0].fragments if f.file.endswith(name)]
        assert (f.line, f.place, f.section) == (line, "", "1 Panel"), name
        source = (tree / name).read_text()
        assert source[f.start : f.end] == f.text
        assert source.split("\n")[f.line - 1][f.column - 1 :].removeprefix("**").startswith(REPEAT)


@pytest.mark.covers("P7")
def test_reports_say_pages_not_lines(found: doublet.Repeats) -> None:
    Draft202012Validator(SCHEMA).validate(found.to_dict())
    assert "a.pdf, page 1" in repeats_report(found)
    locations = [*sarif(found, version="1")["runs"][0]["results"][0]["locations"]]
    locations += sarif(found, version="1")["runs"][0]["results"][0]["relatedLocations"]
    for location in locations:
        paged = location["physicalLocation"]["artifactLocation"]["uri"].endswith(
            (".pdf", ".docx", ".odt", ".epub", ".rtf")
        )
        assert paged == ("logicalLocations" in location) == ("region" not in location["physicalLocation"])


def test_a_document_with_a_strange_name_is_read(tmp_path: Path) -> None:
    strange = tmp_path / "manual.txt"
    strange.write_bytes(make.docx(make.paragraph(f"{REPEAT}.") + make.paragraph(f"Then: {REPEAT}.")))
    result = doublet.find_repeats([strange], algorithm="exact")
    assert result.files[0].kind == "docx"
    assert [f.place for f in result.groups[0].fragments] == ["paragraph 1", "paragraph 2"]


def test_tables_of_documents_can_be_left_out(tmp_path: Path) -> None:
    cell = f"<w:tbl><w:tr><w:tc>{make.paragraph(REPEAT)}</w:tc></w:tr></w:tbl>"
    (tmp_path / "a.docx").write_bytes(make.docx(cell + make.paragraph("Between them.") + cell))
    assert len(doublet.find_repeats(tmp_path, algorithm="exact").groups) == 1
    assert doublet.find_repeats(tmp_path, algorithm="exact", tables=False).groups == ()
