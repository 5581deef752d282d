"""Numbers of jobs that were tuned: what lies well above one and well below it ends differently."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import doublet
from doublet.config import Settings
from doublet.index import stem_chunks
from doublet.jobs.add_source import Filling
from doublet.jobs.check import with_hidden
from doublet.jobs.crawl import Crawling
from doublet.jobs.dedupe.joining import joins_exactly

DOCUMENTS = [("a", "Other words about other things, and nothing that anybody has said before.")]


def notes(check: doublet.Check) -> set[str]:
    return {note.code for note in check.notes}


@pytest.mark.parametrize(
    ("letters", "damaged", "hardly"), [(35, 0, True), (65, 0, False), (98, 1, False), (97, 3, True)]
)
def test_a_text_of_few_letters_or_with_lost_characters_is_hardly_readable(
    letters: int, damaged: int, hardly: bool
) -> None:
    """Of a hundred characters each."""
    line = "a" * letters + "\ufffd" * damaged + "#" * (100 - letters - damaged)
    found = doublet.check("\n".join([line] * 30), DOCUMENTS)
    assert ("hardly_readable" in notes(found)) is hardly


@pytest.mark.parametrize(("words", "told"), [(14, True), (30, False)])
def test_pages_of_few_words_are_pictures(words: int, told: bool) -> None:
    check = doublet.check(" ".join(f"word{n}" for n in range(words)), DOCUMENTS)
    read = SimpleNamespace(places=[SimpleNamespace(page=1), SimpleNamespace(page=2)])
    given: Any = SimpleNamespace(read=read, hidden=())
    assert ("hardly_readable_pages" in notes(with_hidden(check, given))) is told


def test_two_hundred_documents_are_laid_beside_a_text() -> None:
    assert doublet.check("some words", DOCUMENTS).parameters["candidates"] == 200


def test_a_library_has_a_chunk_for_every_three_hundred_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(stem_chunks, "choose", lambda _windows, _hits, chunks: asked.append(chunks) or [])
    with doublet.open_library(tmp_path / "one.db") as library:
        library.add([("long", " ".join(f"слово{n}" for n in range(3_000)))])
        library.check("Совсем другие редкостные слова про маяки, корабли и лоцманов.")
    assert asked == [10]


def test_what_is_too_short_to_be_stored_is_the_same_for_all() -> None:
    assert Filling().min_words == Crawling().min_words == Settings().min_words == 10


def test_a_million_documents_are_joined_exactly() -> None:
    assert joins_exactly("auto", 1_000_000)
    assert not joins_exactly("auto", 1_000_001)
