"""Borrowed passages of a long work are found. The floors hold exactly; lowering one is a decision, not a repair.

`benchmarks/store.py` shows the same by length, on a hundred thousand documents.
"""

from __future__ import annotations

import pathlib
import random
from collections.abc import Iterator

import pytest

from doublet.jobs.check_library import check_library
from doublet.model import Document
from doublet.store.database import Store

WORK_WORDS = 10_000
DOCUMENTS = 200


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, dict[str, list[str]]]]:
    """Texts of 400 words each: some words are frequent, most are rare, as in prose."""
    luck = random.Random(21)
    vocabulary = [
        f"{a}{b}{c}" for a in "ко ми ра ту ве".split() for b in "лан дер сиг пот".split() for c in range(300)
    ]
    weights = [1 / rank for rank in range(3, len(vocabulary) + 3)]
    texts = {f"d{n}": luck.choices(vocabulary, weights, k=400) for n in range(DOCUMENTS)}
    place: pathlib.Path = tmp_path_factory.mktemp("recall") / "library.db"
    with Store(str(place)) as store:
        store.libraries.create("x")
        store.documents.add("x", [Document(id, " ".join(words)) for id, words in texts.items()])
        yield store, texts


def found_in(store: Store, texts: dict[str, list[str]], length: int, trials: int) -> int:
    """How often a passage of so many words, verbatim inside a work of 10 thousand, is found with its source."""
    luck = random.Random(length)
    own = [f"own{number}" for number in range(5_000)]
    found = 0
    for _ in range(trials):
        id = luck.choice(sorted(texts))
        start = luck.randrange(len(texts[id]) - length + 1)
        words = luck.choices(own, k=WORK_WORDS - length)
        place = luck.randrange(len(words))
        words[place:place] = texts[id][start : start + length]
        result = check_library(store, " ".join(words))
        found += any(
            source.id == id and sum(fragment.words for fragment in source.fragments) >= 0.8 * length
            for source in result.sources
        )
    return found


@pytest.mark.covers("K1")
def test_sixty_words_are_always_found(library: tuple[Store, dict[str, list[str]]]) -> None:
    assert found_in(*library, length=60, trials=40) == 40


@pytest.mark.covers("K1")
def test_thirty_words_are_found_97_times_of_100(library: tuple[Store, dict[str, list[str]]]) -> None:
    assert found_in(*library, length=30, trials=100) >= 97


@pytest.mark.covers("K2")
def test_stored_documents_find_themselves(library: tuple[Store, dict[str, list[str]]]) -> None:
    store, texts = library
    for id, words in sorted(texts.items())[:40]:
        result = check_library(store, " ".join(words))
        assert (result.share, result.sources[0].id, result.sources[0].resemblance) == (1.0, id, 1.0)
