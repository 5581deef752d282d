"""Measures (E2): precision, recall and F1 with intervals; PAN's measures of passages; the adjusted Rand index.

*Precision* is the share of what was found that is right, *recall* the share of what is right that was found. PAN's
definitions are those of the plagiarism competitions (Potthast et al. 2010): every passage and every detection weighs
the same, and both texts count. Intervals are 95 %: by bootstrap over queries or pairs, and by the exact binomial bound
where nothing varies, because a hundred hits of a hundred do not prove 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from doublet.model import Span

RESAMPLES = 1000
LEVEL = 0.95

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of right finds, wrong finds and misses, with what follows from them.

    Precision is None when nothing was found: there is nothing to be right or wrong about.
    """

    right: int
    wrong: int
    missed: int
    queries: int
    precision_interval: Interval | None = None
    recall_interval: Interval | None = None
    f1_interval: Interval | None = None

    @property
    def precision(self) -> float | None:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else None

    @property
    def recall(self) -> float | None:
        return self.right / (self.right + self.missed) if self.right + self.missed else None

    @property
    def f1(self) -> float:
        total = 2 * self.right + self.wrong + self.missed
        return 2 * self.right / total if total else 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "right": self.right,
            "wrong": self.wrong,
            "missed": self.missed,
            "queries": self.queries,
            "precision": _rounded(self.precision),
            "recall": _rounded(self.recall),
            "f1": _rounded(self.f1),
            "precision_interval": _pair(self.precision_interval),
            "recall_interval": _pair(self.recall_interval),
            "f1_interval": _pair(self.f1_interval),
        }


def score(rows: Sequence[tuple[int, int, int]], *, seed: int = 0, resamples: int = RESAMPLES) -> Score:
    """From (right, wrong, missed) of each query; the intervals come from drawing queries again and again."""
    table = np.array(rows, np.int64).reshape(-1, 3)
    right, wrong, missed = (int(x) for x in table.sum(axis=0))
    total = Score(right, wrong, missed, len(table))
    if not len(table):
        return total
    sums = _resampled(table, seed, resamples)
    r, w, m = sums[:, 0], sums[:, 1], sums[:, 2]
    precision = _quantiles(r, r + w)
    recall = _quantiles(r, r + m)
    f1 = _quantiles(2 * r, 2 * r + w + m)
    if total.precision in (0.0, 1.0):
        precision = exact_interval(right, right + wrong)
    if total.recall in (0.0, 1.0):
        recall = exact_interval(right, right + missed)
    if f1 is not None and precision is not None and recall is not None and f1[0] == f1[1]:
        f1 = (_harmonic(precision[0], recall[0]), _harmonic(precision[1], recall[1]))
    return Score(right, wrong, missed, len(table), precision, recall, f1)


def exact_interval(hits: int, tries: int) -> Interval | None:
    """The Clopper–Pearson interval of a share; None without tries."""
    if not tries:
        return None
    tail = (1 - LEVEL) / 2
    low = 0.0 if hits == 0 else _solve(lambda p: 1 - _below(hits - 1, tries, p), tail, rising=True)
    high = 1.0 if hits == tries else _solve(lambda p: _below(hits, tries, p), tail, rising=False)
    return low, high


def _below(hits: int, tries: int, p: float) -> float:
    """Chance of at most *hits* of *tries*."""
    if p <= 0:
        return 1.0
    if p >= 1:
        return 1.0 if hits >= tries else 0.0
    logs = (math.lgamma(tries + 1) - math.lgamma(k + 1) - math.lgamma(tries - k + 1) for k in range(hits + 1))
    return min(
        1.0,
        sum(math.exp(c + k * math.log(p) + (tries - k) * math.log1p(-p)) for k, c in enumerate(logs)),
    )


def _solve(function: Any, value: float, *, rising: bool) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if (function(middle) < value) == rising:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _resampled(table: NDArray[Any], seed: int, resamples: int) -> NDArray[Any]:
    """Sums over rows drawn with replacement, *resamples* times."""
    rng = np.random.Generator(np.random.PCG64(seed))
    draws = rng.multinomial(len(table), np.full(len(table), 1 / len(table)), size=resamples)
    out: NDArray[Any] = draws @ table
    return out


def _quantiles(top: NDArray[Any], bottom: NDArray[Any]) -> Interval | None:
    good = bottom > 0
    if not good.any():
        return None
    low, high = np.quantile(top[good] / bottom[good], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _harmonic(a: float, b: float) -> float:
    return 2 * a * b / (a + b) if a + b else 0.0


# --- passages -------------------------------------------------------------------------------------------------------


class Passage(NamedTuple):
    """A place in the checked text and a place in the source: a case (the truth) or a detection."""

    span: Span
    source_span: Span


@dataclass(frozen=True, slots=True)
class PassageScore:
    """PAN's measures over many pairs of texts."""

    precision: float
    recall: float
    granularity: float
    cases: int
    detections: int
    detected: int  #: cases that were touched at all
    interval: Interval | None = None  #: of plagdet

    @property
    def plagdet(self) -> float:
        return plagdet(self.precision, self.recall, self.granularity)

    def to_dict(self) -> dict[str, Any]:
        return {
            "precision": _rounded(self.precision),
            "recall": _rounded(self.recall),
            "granularity": _rounded(self.granularity),
            "plagdet": _rounded(self.plagdet),
            "plagdet_interval": _pair(self.interval),
            "cases": self.cases,
            "detections": self.detections,
            "detected": self.detected,
        }


def plagdet(precision: float, recall: float, granularity: float) -> float:
    """F1 of precision and recall, divided by log₂(1 + granularity)."""
    if precision + recall == 0:
        return 0.0
    return _harmonic(precision, recall) / math.log2(1 + granularity)


class PairCounts(NamedTuple):
    """What one pair of texts adds to the sums: see `count_pair`."""

    recall: float
    cases: int
    precision: float
    detections: int
    detecting: int  #: detections of cases, counted once for every case
    detected: int


def count_pair(cases: Sequence[Passage], detections: Sequence[Passage]) -> PairCounts:
    """Sums for one pair of texts. A detection finds a case when it overlaps it in both texts."""
    recall = precision = 0.0
    detecting = detected = 0
    for case in cases:
        found = [d for d in detections if _touch(case, d)]
        detected += bool(found)
        detecting += len(found)
        recall += _covered(case, found)
    for detection in detections:
        precision += _covered(detection, [case for case in cases if _touch(case, detection)])
    return PairCounts(recall, len(cases), precision, len(detections), detecting, detected)


def passage_score(rows: Sequence[PairCounts], *, seed: int = 0, resamples: int = RESAMPLES) -> PassageScore:
    """Macro precision and recall and granularity over all cases and detections; interval by bootstrap over pairs."""
    table = np.array(rows, np.float64).reshape(-1, 6)
    total = table.sum(axis=0)
    precision, recall, granularity = (float(x) for x in _pan(total))
    interval = None
    if len(table) > 1:
        sums = _resampled(table, seed, resamples)
        values = [plagdet(*(float(x) for x in _pan(row))) for row in sums]
        low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        interval = (float(low), float(high))
    return PassageScore(precision, recall, granularity, int(total[1]), int(total[3]), int(total[5]), interval)


def _pan(sums: NDArray[np.float64]) -> tuple[float, float, float]:
    recall, cases, precision, detections, detecting, detected = (float(x) for x in sums)
    return (
        precision / detections if detections else 0.0,
        recall / cases if cases else 0.0,
        detecting / detected if detected else 1.0,
    )


def _touch(a: Passage, b: Passage) -> bool:
    return (
        a.span.start < b.span.end
        and b.span.start < a.span.end
        and a.source_span.start < b.source_span.end
        and b.source_span.start < a.source_span.end
    )


def _covered(passage: Passage, by: Sequence[Passage]) -> float:
    """Share of the characters of *passage*, in both texts together, that *by* cover."""
    length = passage.span.end - passage.span.start + passage.source_span.end - passage.source_span.start
    if not length:
        return 0.0
    inside = _union(passage.span, (p.span for p in by)) + _union(
        passage.source_span, (p.source_span for p in by)
    )
    return inside / length


def _union(window: Span, spans: Iterable[Span]) -> int:
    """Characters of *window* inside any of *spans*."""
    total, reached = 0, window.start
    for start, end in sorted(spans):
        low, high = max(start, reached), min(end, window.end)
        if high > low:
            total += high - low
            reached = high
    return total


# --- clusters and scores --------------------------------------------------------------------------------------------


def adjusted_rand_index(truth: Mapping[str, Hashable], found: Mapping[str, Hashable]) -> float:
    """How well two partitions of the same documents agree: 1 the same, 0 what chance gives, below it worse."""
    both: Counter[tuple[Hashable, Hashable]] = Counter((truth[name], found[name]) for name in truth)
    pairs = sum(math.comb(n, 2) for n in both.values())
    in_truth = sum(math.comb(n, 2) for n in Counter(truth.values()).values())
    in_found = sum(math.comb(n, 2) for n in Counter(found[name] for name in truth).values())
    total = math.comb(len(truth), 2)
    if not total:
        return 1.0
    expected = in_truth * in_found / total
    most = (in_truth + in_found) / 2
    return 1.0 if most == expected else (pairs - expected) / (most - expected)


def clusters(names: Iterable[str], pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Connected components: each name → the smallest name of its component."""
    parent = {name: name for name in names}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for a, b in pairs:
        x, y = sorted((root(a), root(b)))
        parent[y] = x
    return {name: root(name) for name in parent}


def roc_auc(scores: Sequence[float], labels: Sequence[bool]) -> float | None:
    """Chance that a pair that is the same gets a higher score than one that is not; ties count half."""
    values = np.array(scores, np.float64)
    good = np.array(labels, np.bool_)
    positive, negative = int(good.sum()), int((~good).sum())
    if not positive or not negative:
        return None
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values))
    ranks[order] = np.arange(1, len(values) + 1)
    unique, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    mean = np.zeros(len(unique))
    np.add.at(mean, inverse, ranks)
    ranks = (mean / counts)[inverse]
    return float((ranks[good].sum() - positive * (positive + 1) / 2) / (positive * negative))


def best_threshold(scores: Sequence[float], labels: Sequence[bool]) -> tuple[float, float]:
    """Threshold with the best F1 and that F1; half-way between two scores, so that neighbours do not flip it."""
    values = np.array(scores, np.float64)
    good = np.array(labels, np.bool_)
    order = np.argsort(-values, kind="stable")
    ranked, right = values[order], np.cumsum(good[order])
    total = int(good.sum())
    found = np.arange(1, len(ranked) + 1)
    f1 = 2 * right / np.maximum(found + total, 1)
    last = np.append(ranked[1:] != ranked[:-1], True)  # a threshold lies between different scores
    f1 = np.where(
        last & (ranked > 0), f1, -1.0
    )  # texts with nothing in common are not alike at any threshold
    at = int(np.argmax(f1))
    if f1[at] < 0:
        return 1.0, 0.0
    below = float(ranked[at + 1]) if at + 1 < len(ranked) else 0.0
    return (float(ranked[at]) + below) / 2, float(f1[at])


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _pair(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [round(x, 6) for x in interval]
