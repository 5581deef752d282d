"""Numbers of jobs that were tuned: what lies well above one and well below it ends differently."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import doublet
from doublet.config import Settings
from doublet.crawl.patterns import Pattern
from doublet.index import stem_chunks
from doublet.jobs.add_source import Filling
from doublet.jobs.check import with_hidden
from doublet.jobs.crawl import Crawling
from doublet.jobs.crawl.look import Looker
from doublet.jobs.crawl.plan import Plan
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


# What a robot takes for documents


def looker(**own: Any) -> Any:
    made: Any = object.__new__(Looker)
    for name, value in own.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("words", "linked", "why"), [(20, 0.1, "short"), (45, 0.1, ""), (200, 0.5, ""), (200, 0.9, "list")]
)
def test_pages_of_few_words_and_lists_are_no_documents(words: int, linked: float, why: str) -> None:
    page = {"title": "", "text": "word " * words, "password": False, "linked": linked}
    site = looker(get=lambda _address: SimpleNamespace(page=page))
    links = [f"http://x.org/post/{n}" for n in range(1, 9)]
    assert site._verdict(Pattern("/post/{number}"), links) == why


@pytest.mark.parametrize(("documents", "kept"), [(35, 0), (70, 1)])
def test_patterns_that_nobody_named_fit_half_of_the_links(documents: int, kept: int) -> None:
    links = [f"http://x.org/post/{n}" for n in range(1, documents + 1)]
    links += [f"http://x.org/tag/x/{n}" for n in range(1, 101 - documents)]
    site = looker(_verdict=lambda pattern, _own: "" if "post" in pattern.text else "short")
    made = Plan("http://x.org/")
    site._choose(made, links)
    assert len(made.patterns) == kept


@pytest.mark.parametrize(("there", "counted"), [(24, [0]), (1, [])])
def test_a_range_of_holes_is_not_counted_out(there: int, counted: list[int]) -> None:
    """Of sixty numbers."""
    found = [True] * there + [False] * (60 - there)
    answer = SimpleNamespace(answer=SimpleNamespace(address="http://x.org/"))

    class Everywhere(dict[str, Any]):
        def __missing__(self, _key: str) -> Any:
            return answer

    site = looker(listed=[], seen=Everywhere(), signals={}, _sample_numbers=lambda *_: found)
    made = Plan("http://x.org/", patterns=[Pattern("/p/{number}", (), 9, 1, 900)])
    site._estimate(made, None)
    assert made.counted == counted


def test_three_addresses_that_cannot_exist_are_asked_for_of_each_pattern() -> None:
    asked: list[str] = []
    front = SimpleNamespace(answer=SimpleNamespace(address="http://x.org/"))

    class Everywhere(dict[str, Any]):
        def __missing__(self, _key: str) -> Any:
            return front

    site = looker(seen=Everywhere(), signals={}, get=lambda address, **_: asked.append(address))
    site._probe(Plan("http://x.org/", patterns=[Pattern("/p/{number}", (), 9, 1, 900)]))
    assert len(set(asked)) == 3


def test_a_million_documents_are_joined_exactly() -> None:
    assert joins_exactly("auto", 1_000_000)
    assert not joins_exactly("auto", 1_000_001)
