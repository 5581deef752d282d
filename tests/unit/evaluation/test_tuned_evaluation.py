"""Tuned numbers of advice and evaluation, from both sides: one that is halved or doubled changes an answer here."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from doublet.evaluation import advisor
from doublet.evaluation.advisor import Candidate, advise
from doublet.evaluation.metrics import Score

Pairs = Sequence[tuple[str, str]]


def marked(duplicates: int, others: int) -> list[tuple[str, str, bool]]:
    return [(f"text {n}", f"its fellow {n}", n < duplicates) for n in range(duplicates + others)]


def scored_by(monkeypatch: pytest.MonkeyPatch, score: Callable[[Any, int], float]) -> None:
    """Every marked pair has the score that a function gives to its number, texts of different pairs have none."""

    def scores(spec: Any, pairs: Pairs) -> list[tuple[float, bool]]:
        out = []
        for first, second in pairs:
            number = int(first.split()[-1])
            found = score(spec, number) if second == f"its fellow {number}" else 0.0
            out.append((found, found >= 0.5))
        return out

    monkeypatch.setattr(advisor, "score_pairs", scores)


def warned(pairs: int, duplicates: int) -> list[str]:
    good = Candidate("shingles", {}, "resemblance", 0.5, Score(10, 0, 0, 10))
    return [note.code for note in advisor._warnings(pairs, duplicates, good, good, first=True)]


@pytest.mark.covers("C5")
def test_twenty_pairs_are_enough_with_eight_of_a_kind() -> None:
    assert warned(19, 9) == ["few_pairs_marked"]
    assert warned(20, 10) == []
    assert warned(30, 7) == ["of_one_kind_duplicates"]
    assert warned(30, 23) == ["of_one_kind_others"]
    assert warned(30, 8) == warned(30, 22) == []


@pytest.mark.covers("C5")
@pytest.mark.parametrize(("gap", "easy"), [(0.25, False), (0.35, True)])
def test_pairs_far_apart_are_too_easy(monkeypatch: pytest.MonkeyPatch, gap: float, easy: bool) -> None:
    scored_by(monkeypatch, lambda _spec, number: 0.4 + gap * (number < 10))
    found = advise(marked(10, 10), methods=["shingles"])
    assert any(note.code == "pairs_too_easy" for note in found.warnings) is easy


@pytest.mark.covers("C5")
def test_seven_pairs_won_and_none_lost_are_clearly_better() -> None:
    labels, first = [True] * 10, [False] * 10
    for won, better in ((6, False), (7, True)):
        assert advisor._clearly_better([n < won for n in range(10)], first, labels) is better


@pytest.mark.covers("C5")
@pytest.mark.parametrize(("missed", "chosen"), [(1, "longsent"), (3, "imatch")])
def test_candidates_that_differ_by_two_hundredths_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, missed: int, chosen: str
) -> None:
    """The first candidate finds nothing, the second misses one or three of fifty, the third misses nothing."""
    misses = {"tf": 50, "longsent": missed, "imatch": 0}
    scored_by(monkeypatch, lambda spec, number: float(misses[spec.method] <= number < 50))
    assert advise(marked(50, 5), methods=list(misses)).best.method == chosen


@pytest.mark.covers("C5")
def test_thresholds_are_judged_ten_times_on_a_fifth_of_the_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Sequence[Sequence[int]]] = []
    judge = advisor._validated

    def validated(scores: Any, labels: Any, rounds: Any, others: Any) -> Any:
        seen.append(rounds)
        return judge(scores, labels, rounds, others)

    monkeypatch.setattr(advisor, "_validated", validated)
    scored_by(monkeypatch, lambda _spec, number: 0.4 + 0.2 * (number < 10))
    advise(marked(10, 10), methods=["shingles"])
    [rounds] = seen
    assert len(rounds) == 10
    assert all(sorted(folds) == sorted([0, 1, 2, 3, 4] * 4) for folds in rounds)


@pytest.mark.covers("C5")
def test_a_hundred_pairs_are_mixed() -> None:
    texts = [(first, second) for first, second, _ in marked(10, 10)]
    assert len(advisor._mixed(texts, random.Random(1))) == 100
