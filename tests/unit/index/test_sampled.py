"""Pairs by rare fingerprints: the same for any order, and nothing through what many documents share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublet.index import sampled
from doublet.index.sampled import NearPairs, SampledKeys, best_of_all, best_of_each
from doublet.signatures.protocol import Limit

ALWAYS = np.uint64(0xFFFF_FFFF_FFFF_00FF)  # clears the byte that chooses: every fingerprint is in the sample


def fill(
    sets: list[np.ndarray], step: int = 2, most: int = 1 << 20, within: Limit | None = None
) -> SampledKeys:
    keys = SampledKeys(within, most)
    for first in range(0, len(sets), step):
        some = sets[first : first + step]
        offsets = np.concatenate([[0], np.cumsum([len(one) for one in some])]).astype(np.uint64)
        keys.add(np.concatenate(some), offsets, first)
    return keys


def numbers(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 63, count, dtype=np.uint64) & ALWAYS


def test_it_works() -> None:
    a, b = numbers(1, 40), numbers(2, 40)
    c = np.concatenate([a[:10], numbers(3, 30)])
    found, whole = fill([a, b, c]).pairs(np.ones(3, np.bool_))
    assert whole
    assert (found.left.tolist(), found.right.tolist()) == ([0], [2])
    assert found.score.tolist() == [0.25]


def test_nothing() -> None:
    assert len(SampledKeys().pairs(np.zeros(0, np.bool_))[0]) == 0
    assert len(fill([numbers(1, 5), numbers(2, 5)]).pairs(np.ones(2, np.bool_))[0]) == 0


def test_removed_documents_take_no_part() -> None:
    a = numbers(1, 40)
    assert len(fill([a, a, numbers(2, 9)]).pairs(np.array([True, False, True]))[0]) == 0


def test_what_many_documents_share_leads_nowhere() -> None:
    common = numbers(1, 20)
    sets = [np.concatenate([common, numbers(10 + i, 20)]) for i in range(9)]
    assert len(fill(sets).pairs(np.ones(9, np.bool_))[0]) == 0
    assert len(fill(sets[:8]).pairs(np.ones(8, np.bool_))[0]) == 28


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([60, 200, 1 << 20]))
@pytest.mark.covers("M15")
def test_the_order_of_documents_makes_no_difference(chance, most: int) -> None:
    base = [numbers(i, 30) for i in range(6)]
    mixed = [np.random.default_rng(7).integers(0, 1 << 63, 60, dtype=np.uint64) for _ in range(3)]
    sets = [
        *base,
        np.concatenate([base[0][:9], base[1][:9]]),
        np.concatenate([base[2][:6], mixed[0]]),
        *mixed,
    ]
    order = list(range(len(sets)))
    chance.shuffle(order)

    def told(where: list[int]) -> set[tuple[int, int, float]]:
        found, _ = fill([sets[i] for i in where], most=most).pairs(np.ones(len(sets), np.bool_), 1)
        rows = zip(found.left.tolist(), found.right.tolist(), found.score.tolist(), strict=True)
        return {(min(where[a], where[b]), max(where[a], where[b]), score) for a, b, score in rows}

    assert told(order) == told(list(range(len(sets))))


def related_sets(seed: int) -> list[np.ndarray]:
    """Documents of which many share some fingerprints with a few others."""
    chance = np.random.default_rng(seed)
    pool = chance.integers(0, 1 << 64, 6_000, dtype=np.uint64)
    sets = []
    for _ in range(400):
        at = chance.integers(0, len(pool) - 40)
        own = chance.integers(0, 1 << 64, 20, dtype=np.uint64)
        sets.append(np.unique(np.concatenate([pool[at : at + chance.integers(0, 40)], own])))
    return sets


@pytest.mark.covers("M15", "K7")
@pytest.mark.parametrize("each", [None, 1, 2])
@pytest.mark.parametrize("most", [9_000, 1 << 20])
def test_a_small_memory_makes_no_difference(each: int | None, most: int, monkeypatch) -> None:
    alive = np.ones(400, np.bool_)
    alive[::7] = False
    sets = related_sets(5)
    expected, _ = fill(sets, most=most).pairs(alive, each)
    assert len(expected) > 50
    monkeypatch.setattr(sampled, "LEAST_AT_ONCE", 60)
    monkeypatch.setattr(sampled, "STEP", 100)
    monkeypatch.setattr(sampled, "BYTES_PER_PAIR", 0.01)
    keys = fill(sets, most=most, within=Limit(4_000))
    assert not keys._keys.in_memory  # it would be the same path otherwise
    found, whole = keys.pairs(alive, each)
    assert whole
    for column in ("left", "right", "score"):
        assert getattr(found, column).tolist() == getattr(expected, column).tolist()


@pytest.mark.parametrize("each", [None, 1])
def test_only_the_best_stay_when_even_pairs_are_too_many(each: int | None, monkeypatch) -> None:
    alive = np.ones(400, np.bool_)
    sets = related_sets(6)
    every, _ = fill(sets).pairs(alive, each)
    monkeypatch.setattr(sampled, "LEAST_AT_ONCE", 60)

    def told(where: list[int]) -> set[tuple[int, int, float]]:
        found, whole = fill([sets[i] for i in where], within=Limit(4_000)).pairs(alive, each)
        assert not whole
        rows = zip(found.left.tolist(), found.right.tolist(), found.score.tolist(), strict=True)
        return {(min(where[a], where[b]), max(where[a], where[b]), score) for a, b, score in rows}

    best = every.only(best_of_all(every.score, 60))
    expected = set(zip(best.left.tolist(), best.right.tolist(), best.score.tolist(), strict=True))
    assert expected and told(list(range(400))) == expected
    assert told(np.random.default_rng(1).permutation(400).tolist()) == expected  # in any order


def test_ties() -> None:
    pairs = NearPairs(np.array([0, 0, 0, 1]), np.array([1, 2, 3, 2]), np.array([0.5, 0.5, 0.2, 0.1]))
    assert best_of_each(pairs, 1).score.tolist() == [0.5, 0.5, 0.2]  # the third is the best of document 3
    assert best_of_all(pairs.score, 2).tolist() == [0, 1]
    assert best_of_all(pairs.score, 1).tolist() == []  # two tie for one place: neither
    assert best_of_all(pairs.score, 9).tolist() == [0, 1, 2, 3]


def pairs_found(size: int, shared: int) -> int:
    a = numbers(1, size)
    b = np.concatenate([a[:shared], numbers(2, size - shared)])
    return len(fill([a, b]).pairs(np.ones(2, np.bool_))[0])


def test_how_many_fingerprints_make_a_pair() -> None:
    assert [pairs_found(40, shared) for shared in (2, 3)] == [0, 1]
    assert [pairs_found(200, shared) for shared in (5, 7)] == [0, 1]  # a share of the document
