"""One text through every format and back: the words are the same (T1). Documents are made by pandoc and LibreOffice."""

from __future__ import annotations

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from formats_made import (
    BEGIN,
    END,
    KINDS,
    LANGUAGES,
    MAKERS,
    PAGE,
    Made,
    agreement,
    best_agreement,
    make,
    programs,
)

from doublet.text.read import ReadDocument, read_document

LEAST = 0.995
#: formats in which it can be seen that the text begins with its heading
HEADED = {
    *("html", "markdown", "commonmark", "restructuredtext", "docx", "odt", "pptx", "epub", "epub 2"),
    *("office docx", "office odt", "office flat odt", "office html", "office docbook"),
}
MISSING = sorted({"pandoc", "soffice"} - set(programs()))
pytestmark = [
    pytest.mark.covers("T1"),
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)} (make system)"),
]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], tuple[Made, ReadDocument]]:
    made = make(tmp_path_factory.mktemp("made"))
    return {
        (item.format, item.language): (item, read_document(item.path.read_bytes(), name=item.path.name))
        for item in made
    }


def test_it_works() -> None:
    assert agreement(["a", "b", "c"], ["a", "c"]) == 0.8
    assert agreement(["a"], ["b"]) == 0


def test_the_words_come_back(read: dict[tuple[str, str], tuple[Made, ReadDocument]]) -> None:
    """One test, not one for each: the documents are made once, by whichever process runs this."""
    assert len(read) == len(MAKERS) * len(LANGUAGES)
    wrong = {}
    for (name, language), (made, found) in read.items():
        share = best_agreement(made, found.text)
        if found.kind != KINDS.get(name, name) or share < LEAST or found.hidden or not _covered(found):
            wrong[name, language] = (found.kind, share, found.hidden, _covered(found))
    assert not wrong
    _knows_its_pages(read["office pdf", "ru"][1])
    # The text has a heading and no title; what the programs put there for want of one ("x", "UNTITLED") is none.
    titles = {name: found.title for (name, language), (_, found) in read.items() if language == "ru"}
    assert {name for name, title in titles.items() if title} == HEADED
    assert set(titles.values()) == {"", "Снег в городе"}


def _covered(found: ReadDocument) -> bool:
    """Every word stands in a place, and places are in order and do not overlap."""
    end = 0
    between = []
    for place in found.places:
        if not end <= place.span.start < place.span.end <= len(found.text) or not place.label():
            return False
        between.append(found.text[end : place.span.start])
        end = place.span.end
    return not "".join([*between, found.text[end:]]).strip()


def _knows_its_pages(found: ReadDocument) -> None:
    pages = {place.page for place in found.places}
    assert pages == set(range(1, len(pages) + 1))
    place = found.place_of(found.text.index("зима будет долгой"))
    assert place is not None
    assert place.page == max(page for page in pages if page)


def test_the_table_of_the_page_is_of_these_formats() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = page[page.index(BEGIN) : page.index(END)].splitlines()[3:]
    assert len(rows) == len(MAKERS)
    for row in rows:
        assert all(float(cell.strip(" %")) >= 100 * LEAST for cell in row.split("|")[3:5])
