"""Measures against counts by hand and slow obvious twins."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.evaluation.metrics import (
    Passage,
    adjusted_rand_index,
    best_threshold,
    clusters,
    count_pair,
    exact_interval,
    passage_score,
    plagdet,
    roc_auc,
    score,
)
from doublet.model import Span

pytestmark = pytest.mark.covers("E2")


def passage(a: int, b: int, c: int, d: int) -> Passage:
    return Passage(Span(a, b), Span(c, d))


def test_it_works() -> None:
    found = score([(1, 0, 0), (1, 1, 0), (0, 0, 1), (0, 2, 1)])
    assert (found.right, found.wrong, found.missed) == (2, 3, 2)
    assert found.precision == pytest.approx(2 / 5)
    assert found.recall == pytest.approx(2 / 4)
    assert found.f1 == pytest.approx(4 / 9)
    low, high = found.recall_interval or (9, 9)
    assert low <= 0.5 <= high


def test_nothing_found_has_no_precision_and_nothing_asked_no_recall() -> None:
    assert score([(0, 0, 1)] * 3).precision is None
    assert score([(0, 0, 1)] * 3).recall == 0
    assert score([(0, 1, 0)]).recall is None
    assert score([]).f1 == 0


def test_a_hundred_of_a_hundred_does_not_prove_one() -> None:
    found = score([(1, 0, 0)] * 100)
    assert found.recall == 1
    assert found.recall_interval == pytest.approx((0.025 ** (1 / 100), 1.0), abs=1e-6)
    assert found.f1_interval is not None
    assert found.f1_interval[0] < 0.97


@pytest.mark.parametrize(("hits", "tries"), [(0, 10), (10, 10), (5, 10), (1, 400), (37, 120)])
def test_exact_interval_against_the_definition(hits: int, tries: int) -> None:
    low, high = exact_interval(hits, tries) or (9, 9)

    def at_most(k: int, p: float) -> float:
        return sum(math.comb(tries, i) * p**i * (1 - p) ** (tries - i) for i in range(k + 1))

    assert low == 0 if hits == 0 else 1 - at_most(hits - 1, low) == pytest.approx(0.025, abs=1e-6)
    assert high == 1 if hits == tries else at_most(hits, high) == pytest.approx(0.025, abs=1e-6)


def test_pan_measures_counted_by_hand() -> None:
    """A case of 100 + 200 characters: one detection covers half of it, one lies elsewhere in the source."""
    case = passage(0, 100, 1000, 1200)
    half = passage(50, 150, 1000, 1100)  # 50 + 100 of the case; 50 + 100 of its own 100 + 100
    stray = passage(0, 20, 5000, 5020)
    found = passage_score([count_pair([case], [half, stray])])
    assert found.recall == pytest.approx(150 / 300)
    assert found.precision == pytest.approx((150 / 200 + 0) / 2)
    assert found.granularity == 1
    assert found.detected == 1
    twice = passage_score([count_pair([case], [passage(0, 50, 1000, 1100), passage(50, 100, 1100, 1200)])])
    assert (twice.precision, twice.recall, twice.granularity) == (1, 1, 2)
    assert twice.plagdet == pytest.approx(1 / math.log2(3))


def test_pan_measures_at_the_edges() -> None:
    assert passage_score([]).plagdet == 0
    nothing = passage_score([count_pair([passage(0, 9, 0, 9)], [])])
    assert (nothing.plagdet, nothing.granularity) == (0, 1)
    false_alarm = passage_score([count_pair([], [passage(0, 9, 0, 9)])])
    assert (false_alarm.precision, false_alarm.recall) == (0, 0)
    assert plagdet(1, 1, 1) == 1


PASSAGES = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 12), st.integers(0, 30), st.integers(1, 12)).map(
        lambda t: passage(t[0], t[0] + t[1], t[2], t[2] + t[3])
    ),
    max_size=5,
)


@given(PASSAGES, PASSAGES)
def test_pan_measures_against_sets_of_characters(truth: list[Passage], found: list[Passage]) -> None:
    def characters(p: Passage) -> tuple[set[int], set[int]]:
        return set(range(*p.span)), set(range(*p.source_span))

    def touch(a: Passage, b: Passage) -> bool:
        (a1, a2), (b1, b2) = characters(a), characters(b)
        return bool(a1 & b1) and bool(a2 & b2)

    def covered(p: Passage, others: list[Passage]) -> float:
        first, second = characters(p)
        near = [characters(o) for o in others if touch(p, o)]
        inside = len(first & set().union(*(o[0] for o in near))) + len(
            second & set().union(*(o[1] for o in near))
        )
        return inside / (len(first) + len(second))

    counts = count_pair(truth, found)
    assert counts.recall == pytest.approx(sum(covered(c, found) for c in truth))
    assert counts.precision == pytest.approx(sum(covered(d, truth) for d in found))
    assert counts.detecting == sum(touch(c, d) for c in truth for d in found)
    assert counts.detected == sum(any(touch(c, d) for d in found) for c in truth)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=12))
def test_adjusted_rand_index_against_all_pairs(labels: list[tuple[int, int]]) -> None:
    truth = {str(i): a for i, (a, _) in enumerate(labels)}
    found = {str(i): b for i, (_, b) in enumerate(labels)}
    both = in_truth = in_found = total = 0
    for x, y in itertools.combinations(truth, 2):
        total += 1
        same, made = truth[x] == truth[y], found[x] == found[y]
        both += same and made
        in_truth += same
        in_found += made
    expected = in_truth * in_found / total
    most = (in_truth + in_found) / 2
    value = adjusted_rand_index(truth, found)
    assert value == pytest.approx(1.0 if most == expected else (both - expected) / (most - expected))


def test_adjusted_rand_index_of_the_same_and_of_chance() -> None:
    rng = random.Random(1)
    truth = {str(i): i // 10 for i in range(500)}
    assert adjusted_rand_index(truth, truth) == 1
    mixed = dict(zip(truth, rng.sample(list(truth.values()), len(truth)), strict=True))
    assert abs(adjusted_rand_index(truth, mixed)) < 0.02


def test_clusters_join_what_is_linked() -> None:
    made = clusters("abcde", [("a", "b"), ("d", "c"), ("b", "c")])
    assert made == {"a": "a", "b": "a", "c": "a", "d": "a", "e": "e"}


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=20))
def test_roc_auc_against_all_pairs(rows: list[tuple[int, bool]]) -> None:
    scores, labels = [s / 4 for s, _ in rows], [label for _, label in rows]
    pairs = [
        (a, b)
        for a, x in zip(scores, labels, strict=True)
        if x
        for b, y in zip(scores, labels, strict=True)
        if not y
    ]
    expected = sum(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs) if pairs else None
    assert roc_auc(scores, labels) == (None if expected is None else pytest.approx(expected))


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=20))
def test_best_threshold_against_every_threshold(rows: list[tuple[int, bool]]) -> None:
    scores, labels = [s / 6 for s, _ in rows], [label for _, label in rows]

    def f1(threshold: float) -> float:
        right = sum(s >= threshold and x for s, x in zip(scores, labels, strict=True))
        found = sum(s >= threshold for s in scores)
        return 2 * right / (found + sum(labels)) if found + sum(labels) else 0.0

    threshold, best = best_threshold(scores, labels)
    every = [f1(t) for t in {s for s in scores if s > 0}]
    if any(s > 0 for s in scores):
        assert best == pytest.approx(max(every))
        assert f1(threshold) == pytest.approx(best)
        assert threshold > 0
