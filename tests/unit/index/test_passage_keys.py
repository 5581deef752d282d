"""Keys of passages: what they promise, and the numbers that were tuned, each tried well above and well below."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import doublet
from doublet.index.passage_keys import Hits, PassageKeys, candidates_for, make_keys
from doublet.jobs.dedupe.joining import joins_exactly
from doublet.matches.align import AlignOptions
from doublet.matches.left_out import common_runs, common_wording
from doublet.text.tokens import read_words

pytestmark = [pytest.mark.covers("K1")]


def words(count: int, seed: int) -> list[str]:
    dice = random.Random(seed)
    return [f"w{dice.randrange(10**9)}" for _ in range(count)]


def test_a_key_of_every_nineteen_fingerprints() -> None:
    keys = make_keys([" ".join(words(20_000, 1))])
    assert 1_800 < len(keys.values) < 2_200  # one in ten: two of WINDOW + 1
    assert 2**39 < int(keys.values.max()) < 2**40
    assert len(make_keys([" ".join(words(500, 1))], every=True).values) == 497


@pytest.mark.parametrize(("shared", "met"), [(3, False), (4, True)])
def test_four_words_in_a_row_make_a_fingerprint(shared: int, met: bool) -> None:
    run = words(shared, 2)
    texts = [" ".join([*words(40, seed), *run, *words(40, seed + 1)]) for seed in (3, 5)]
    one, other = (set(make_keys([text], every=True).values.tolist()) for text in texts)
    assert bool(one & other) is met


def test_a_run_of_22_words_shares_a_key() -> None:
    run = words(22, 7)
    for seed in range(40):
        texts = [" ".join([*words(60, 100 + seed), *run, *words(60, 300 + seed)]), " ".join(run)]
        keys = make_keys(texts)
        first, second = (
            set(keys.values[int(keys.offsets[i]) : int(keys.offsets[i + 1])].tolist()) for i in (0, 1)
        )
        assert first & second


@pytest.mark.parametrize(("keys", "candidates"), [(10, 50), (150, 50), (1_000, 250)])
def test_how_many_documents_are_verified(keys: int, candidates: int) -> None:
    assert candidates_for(keys) == candidates


# Wording of many documents


def spread(frequency: int, documents: int) -> Any:
    keys = PassageKeys(
        *(np.zeros(1, kind) for kind in (np.uint64, np.uint64, np.uint32, np.uint64, np.int64))
    )
    hits = Hits(np.zeros(frequency, np.int64), np.arange(frequency), np.array([frequency]))
    return common_runs(keys, hits, documents)


@pytest.mark.parametrize(
    ("frequency", "documents", "common"),
    [
        *((4, 10, False), (6, 10, True)),
        *((15, 1_000, False), (30, 1_000, True)),
        *((800, 100_000, False), (1_001, 100_000, True)),
    ],
)
def test_wording_is_common_from_some_documents_on(frequency: int, documents: int, common: bool) -> None:
    assert bool(spread(frequency, documents).runs) is common


def test_some_of_the_documents_are_laid_beside() -> None:
    assert len(spread(80, 1_000).samples[0]) == 8


@pytest.mark.parametrize(("agreeing", "reached"), [(4, False), (6, True)])
def test_common_wording_goes_as_far_as_most_agree(agreeing: int, reached: bool) -> None:
    text = words(60, 11)
    own = read_words([" ".join(text)])
    keys = make_keys([" ".join(text)], own)
    place = int(keys.places.min())
    texts = [" ".join(text if i < agreeing else text[place : place + 12]) for i in range(8)]
    others = {i: read_words([one], own.spelling) for i, one in enumerate(texts)}
    frequency = np.where(keys.places == place, 8, 1)
    first = int(np.flatnonzero(keys.places == place)[0])
    hits = Hits(np.full(8, first), np.arange(8), frequency)
    found = common_runs(keys, hits, 20)
    assert found.samples == [list(range(8))]
    (one,) = common_wording(own, keys, hits, found, others, AlignOptions())
    assert (one.span.end == len(" ".join(text))) is reached


# How closely a library is asked


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with doublet.open_library(tmp_path_factory.mktemp("library") / "library.db") as opened:
        opened.add([("a", " ".join(words(2_000, 21)))])
        yield opened


def asked(library: Any, text: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many keys were looked up, each time."""
    counts: list[int] = []
    real = library.store.documents.look_up

    def spy(keys: Any, libraries: Any) -> Any:
        counts.append(len(keys))
        return real(keys, libraries)

    monkeypatch.setattr(library.store.documents, "look_up", spy)
    library.check(text)
    return counts


def test_of_a_short_text_every_key_is_looked_up(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(library, " ".join(words(250, 31)), monkeypatch) == [247]
    assert asked(library, " ".join(words(400, 31)), monkeypatch)[0] < 80


def test_two_hundred_documents_of_files_are_laid_beside_a_text() -> None:
    text = " ".join(words(12, 41))
    assert len(doublet.check(text, [(f"d{i:03}", text) for i in range(420)]).sources) == 200


@pytest.mark.parametrize(("documents", "exact"), [(900_000, True), (1_500_000, False)])
def test_all_are_compared_up_to_a_million(documents: int, exact: bool) -> None:
    assert joins_exactly("auto", documents) is exact
    assert joins_exactly("exact", documents) and not joins_exactly("sketches", documents)
