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


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", MAKERS)
def test_the_words_come_back(
    name: str, language: str, read: dict[tuple[str, str], tuple[Made, ReadDocument]]
) -> None:
    made, found = read[name, language]
    assert found.kind == KINDS.get(name, name)
    assert best_agreement(made, found.text) >= LEAST
    assert not found.hidden


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", MAKERS)
def test_places_cover_the_words(
    name: str, language: str, read: dict[tuple[str, str], tuple[Made, ReadDocument]]
) -> None:
    """Every word stands in a place, places are in order and do not overlap."""
    _, found = read[name, language]
    end = 0
    left = found.text
    for place in found.places:
        assert end <= place.span.start < place.span.end <= len(found.text)
        assert place.label()
        left = left[: place.span.start] + " " * (place.span.end - place.span.start) + left[place.span.end :]
        end = place.span.end
    assert not left.strip()


def test_a_pdf_knows_its_pages(read: dict[tuple[str, str], tuple[Made, ReadDocument]]) -> None:
    _, found = read["office pdf", "ru"]
    pages = {place.page for place in found.places}
    assert pages == set(range(1, len(pages) + 1))
    at = found.text.index("зима будет долгой")
    place = found.place_of(at)
    assert place is not None
    assert place.page == max(page for page in pages if page)


def test_the_table_of_the_page_is_of_these_formats() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = page[page.index(BEGIN) : page.index(END)].splitlines()[3:]
    assert len(rows) == len(MAKERS)
    for row in rows:
        assert all(float(cell.strip(" %")) >= 100 * LEAST for cell in row.split("|")[3:5])
