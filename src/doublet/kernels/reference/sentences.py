"""Where the words of a sentence stand in another text: the plain twin of native/sentences.cpp, and its explanation.

A text is its stems and roots as hashes (the root of a stem is what derived words share: решить, решение), and marks of
where sentences begin. For a range of words of one text, a sentence as a rule, the one sentence of the other that holds
most of it is looked for, or the two neighbours that do:

1. *Weights.* As in `passages`: ln(sentences of both texts / those that hold the stem), at most `CAP`; a root weighs the
   same way. Where it is told how rare words are in general, the weight is the geometric mean of both, at most `RAISED`
   halves of what it was: the names of a theme stay light. A root is as rare as its commonest stem in the two texts.
   Weights are whole numbers (`UNIT` is 1.0).
2. *Candidates.* The `NEAREST` sentences of the other text with the heaviest common roots.
3. *Measure.* Of each candidate, and of it with either neighbour: a stem of the range that stands there pays its weight,
   one of which only the root does pays `DERIVED` tenths of the lighter of the two. Each stem counts once. The best has
   the highest worth, mass² / √(weight of the range · weight of the place): much that is common, and little else. What
   the place with the highest mass holds is told as well: where that is nearly nothing, the range is new. So is what the
   best place is worth that has no sentence in common with this one: where that is nearly as much, chance may have found
   both.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from doublet.kernels.reference.arguments import F64, U8, U32, U64, documents
from doublet.kernels.reference.passages import (
    HEAVY,
    LEAST_SENTENCES,
    SENTENCE,
    UNIT,
    cut_sentences,
    whole_number,
)

NEAREST = 6  #: sentences that are measured for one range
COMMON = 3 * UNIT // 2  #: a root that weighs less stands in every fifth sentence and leads to no candidates
CAP = 6 * UNIT  #: the most that one word may weigh
DERIVED = 6  #: tenths of its weight that a word pays of which only the root is there
#: halves of its weight that a word may weigh for being rare in general. Chosen like `matches.stems.COMMON`: heavily
#: reworded sentences of written essays ("tune") found .740, own ones of the shared essays flagged 0 of 6; 2, at which
#: nothing is raised, .688 and 2; 6 .771 and 1
RAISED = 3
RAREST = 100  #: the most that a rarity may be: far more than any word has

Columns = tuple[U32, U32, F64, F64, F64, F64, F64]


class _Text:
    def __init__(self, stems: list[int], roots: list[int], rarity: list[float], marks: list[int]) -> None:
        self.stems, self.roots, self.rarity = stems, roots, rarity
        self.firsts = cut_sentences([i for i, mark in enumerate(marks) if mark & SENTENCE], len(stems))
        self.sentences = [sorted(set(stems[first:end])) for first, end in pairwise(self.firsts)]


class _Pair:
    def __init__(self, a: _Text, b: _Text) -> None:
        self.a, self.b = a, b
        self.root = dict(zip(reversed([*a.stems, *b.stems]), reversed([*a.roots, *b.roots]), strict=True))
        held: dict[int, int] = {}
        in_a: dict[int, int] = {}
        self.lists: dict[int, list[int]] = {}
        for text in (a, b):
            for number, sentence in enumerate(text.sentences):
                for stem in sentence:
                    held[stem] = held.get(stem, 0) + 1
                for root in {self.root[stem] for stem in sentence}:
                    if text is a:
                        in_a[root] = in_a.get(root, 0) + 1
                    else:
                        self.lists.setdefault(root, []).append(number)
        every = max(LEAST_SENTENCES, float(len(a.sentences) + len(b.sentences)))

        def weigh(times: int) -> int:
            return min(CAP, whole_number(math.log(every / times) * UNIT))

        self.weights = {stem: weigh(times) for stem, times in held.items()}
        self.light = {
            root: weigh(in_a.get(root, 0) + len(self.lists.get(root, ()))) for root in {*in_a, *self.lists}
        }
        if a.rarity or b.rarity:
            self._rarity(dict(zip([*a.stems, *b.stems], [*a.rarity, *b.rarity], strict=True)))
        self.heavy = {root for root, some in self.lists.items() if in_a.get(root, 0) * len(some) > HEAVY}

    def _rarity(self, rarity: dict[int, float]) -> None:
        """Let what is rare in general have a say in the weights."""

        def between(weight: int, rare: float) -> int:
            return min(whole_number(math.sqrt(weight / UNIT * rare) * UNIT), weight * RAISED // 2)

        roots: dict[int, float] = {}
        for stem, rare in rarity.items():
            root = self.root[stem]
            roots[root] = min(rare, roots.get(root, math.inf))
        self.weights = {stem: between(weight, rarity[stem]) for stem, weight in self.weights.items()}
        self.light = {root: between(weight, roots[root]) for root, weight in self.light.items()}

    def best(self, a0: int, a1: int, b0: int, b1: int) -> tuple[int, int, int, int, int, int, float]:
        """First word and end of the best place in b, its mass, the weights of the range and of the place, the highest
        mass of any place, and what the best place is worth that lies apart from this one."""
        wanted = sorted(set(self.a.stems[a0:a1]))
        whole = sum(self.weights[stem] for stem in wanted)
        firsts = self.b.firsts
        low, high = bisect_right(firsts, b0) - 1, bisect_left(firsts, b1)
        high = min(high, len(self.b.sentences))
        dots: dict[int, int] = {}
        for root in {self.root[stem] for stem in wanted}:
            if root in self.heavy or self.light[root] < COMMON:
                continue
            for t in self.lists.get(root, ()):
                if low <= t < high:
                    dots[t] = dots.get(t, 0) + self.light[root]
        measured: list[tuple[float, int, int, int, int]] = []
        heaviest = 0
        for t in sorted(dots, key=lambda t: (-dots[t], t))[:NEAREST]:
            for first, end in ((t, t + 1), (t - 1, t + 1), (t, t + 2)):
                if first < low or end > high:
                    continue
                mass, there = self._measure(wanted, first, end)
                heaviest = max(heaviest, mass)
                if mass:
                    worth = float(mass) * float(mass) / math.sqrt(float(whole) * float(there))
                    measured.append((worth, first, end, mass, there))
        if not measured:
            return 0, 0, 0, whole, 0, heaviest, 0.0
        _, start, stop, mass, there = max(measured, key=lambda place: place[0])  # of equals the first
        apart = [worth for worth, first, end, _, _ in measured if end <= start or first >= stop]
        return firsts[start], firsts[stop], mass, whole, there, heaviest, max(apart, default=0.0)

    def _measure(self, wanted: Sequence[int], first: int, end: int) -> tuple[int, int]:
        place = {stem for t in range(first, end) for stem in self.b.sentences[t]}
        roots = {self.root[stem] for stem in place}
        mass = 0
        for stem in wanted:
            if stem in place:
                mass += self.weights[stem]
            elif self.root[stem] in roots:
                mass += min(self.weights[stem], self.light[self.root[stem]]) * DERIVED // 10
        return mass, sum(self.weights[stem] for stem in place)


def sentence_starts(marks: U8, offsets: U64) -> tuple[U32, U64]:
    """First words of the sentences of each text and its end, numbered from its beginning, and where the texts begin
    in this list."""
    starts: list[int] = []
    firsts = [0]
    for start, end in documents(offsets, len(marks)):
        begins = np.flatnonzero(marks[start:end] & np.uint8(SENTENCE)).tolist()
        starts += cut_sentences(begins, end - start)
        firsts.append(len(starts))
    return np.array(starts, np.uint32), np.array(firsts, np.uint64)


def untold_parts(borders: U32, starts: U32, ends: U32) -> tuple[NDArray[np.int64], U32]:
    """Of the sentences between *borders* those of which the ranges from *starts* to *ends* leave more than half in one
    piece: their numbers, and of each the longest piece, of equals the first. The ranges come in order of their
    starts."""
    if len(starts) != len(ends):
        raise ValueError("starts and ends must be of one length")
    for name, some in (("borders", borders), ("starts", starts)):
        if any(after < before for before, after in pairwise(some.tolist())):
            raise ValueError(f"{name} must not fall")
    told = list(zip(starts.tolist(), ends.tolist(), strict=True))
    numbers, parts = [], []
    for number, (low, high) in enumerate(pairwise(borders.tolist())):
        best, at = (low, low), low
        for start, end in (*told, (high, high)):
            if at >= high:
                break
            if end > at:
                if min(start, high) - at > best[1] - best[0]:
                    best = at, min(start, high)
                at = end
        if 2 * (best[1] - best[0]) > high - low:
            numbers.append(number)
            parts.append(best)
    return np.array(numbers, np.int64), np.array(parts, np.uint32).reshape(-1, 2)


def best_places(
    stems: U64,
    roots: U64,
    rarity: F64 | None,
    marks: U8,
    offsets: U64,
    left: U32,
    right: U32,
    firsts: U64,
    a0: U32,
    a1: U32,
    b0: U32,
    b1: U32,
    threads: int = 1,
) -> Columns:
    """Of each range of words [a0, a1) of a left text the best place in the right one, among the sentences that overlap
    [b0, b1): first word and end, the weight of the common words, of the range, and of the place, the highest weight of
    common words of any place, and the worth of the best place that has no sentence in common with this one.

    The ranges of pair i are ``firsts[i]`` to ``firsts[i + 1]``. Words are numbered from the beginning of their text.
    Where nothing is common, first word, end and weights of the place are 0. Equal stems must have equal roots and be
    equally rare (0 to `RAREST`; None: only the two texts say what a word weighs).
    """
    if not len(stems) == len(roots) == len(marks):
        raise ValueError("stems, roots and marks must be of one length")
    if rarity is not None:
        if len(rarity) != len(stems):
            raise ValueError("stems and rarity must be of one length")
        if any(not 0 <= rare <= RAREST for rare in rarity.tolist()):
            raise ValueError("rarity must be from 0 to 100")
    if len(left) != len(right) or len(firsts) != len(left) + 1:
        raise ValueError("left and right must be of one length, and firsts one longer")
    if not len(a0) == len(a1) == len(b0) == len(b1):
        raise ValueError("the borders must be of one length")
    bounds = documents(offsets, len(stems))
    asked = documents(firsts, len(a0))
    if any(text >= len(bounds) for text in (*left.tolist(), *right.tolist())):
        raise ValueError("there is no text of this number")
    for x, y, (start, end) in zip(left.tolist(), right.tolist(), asked, strict=True):
        for first, last, text in ((a0, a1, x), (b0, b1, y)):
            size = bounds[text][1] - bounds[text][0]
            some = zip(first[start:end].tolist(), last[start:end].tolist(), strict=True)
            if any(not low < high <= size for low, high in some):
                raise ValueError("a range must have a word or more, and lie in its text")

    def read(number: int) -> _Text:
        part = slice(*bounds[number])
        rare = rarity[part].tolist() if rarity is not None else []
        return _Text(stems[part].tolist(), roots[part].tolist(), rare, marks[part].tolist())

    rows = []
    for x, y, (start, end) in zip(left.tolist(), right.tolist(), asked, strict=True):
        if start == end:
            continue
        pair = _Pair(read(x), read(y))
        for i in range(start, end):
            rows.append(pair.best(int(a0[i]), int(a1[i]), int(b0[i]), int(b1[i])))

    def whole(column: int) -> U32:
        return np.array([row[column] for row in rows], np.uint32)

    def real(column: int) -> F64:
        return np.array([row[column] / UNIT for row in rows], np.float64)

    return whole(0), whole(1), real(2), real(3), real(4), real(5), real(6)
