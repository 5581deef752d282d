"""Where the sentences of one text are in another: the best place of each, as columns (kernel `best_places`)."""

from __future__ import annotations

import functools
import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.matches.stems import StemmedTexts

Range = tuple[int, int]
Numbers = NDArray[np.int64]
Ranges = NDArray[np.int64] | NDArray[np.uint32]  #: of words, a row each


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a range of words stands in the other text, and what the two weigh: together, and each alone."""

    start: int
    end: int
    mass: float
    whole: float
    there: float
    heaviest: float  #: what the range and any one place have in common, at most


Found = tuple[Range, Place]  #: a range of words, and its place


@dataclass(frozen=True, slots=True)
class Places:
    """The best place of each range that was asked about, as columns."""

    start: NDArray[np.uint32]
    end: NDArray[np.uint32]
    mass: NDArray[np.float64]
    whole: NDArray[np.float64]
    there: NDArray[np.float64]
    heaviest: NDArray[np.float64]
    second: NDArray[np.float64]  #: what the best place is worth that lies apart from this one

    @property
    def close(self) -> NDArray[np.float64]:
        """0 to 1: how much of both is common."""
        both = np.sqrt(self.whole * self.there)
        return np.divide(self.mass, both, out=np.zeros_like(self.mass), where=self.mass > 0)

    def rows(self, numbers: Numbers | slice) -> list[Place]:
        columns = (self.start, self.end, self.mass, self.whole, self.there, self.heaviest)
        return [Place(*row) for row in zip(*(column[numbers].tolist() for column in columns), strict=True)]


class Sentences:
    """Where the sentences of some texts begin."""

    def __init__(self, texts: StemmedTexts) -> None:
        self._texts = texts
        self._lists: dict[int, list[int]] = {}

    @functools.cached_property
    def _all(self) -> tuple[NDArray[np.uint32], list[int]]:
        starts, firsts = kernels.sentence_starts(self._texts.marks, self._texts.words.offsets)
        return starts, firsts.tolist()

    def of(self, text: int) -> NDArray[np.uint32]:
        """First words of the sentences of a text, and its end."""
        starts, firsts = self._all
        return starts[firsts[text] : firsts[text + 1]]

    def listed(self, text: int) -> list[int]:
        """The same as a list."""
        found = self._lists.get(text)
        if found is None:
            found = self._lists[text] = self.of(text).tolist()
        return found

    def number(self, text: int, word: int) -> int:
        """Number of the sentence that holds a word."""
        starts = self.listed(text)
        return bisect_right(starts, word, 0, len(starts) - 1) - 1

    def within(self, text: int, low: int, high: int) -> Numbers:
        """The sentences inside a range of words, one row each, the first and the last cut to it."""
        starts = self.listed(text)
        first = max(0, bisect_right(starts, low) - 1)
        last = bisect_left(starts, high, 0, len(starts) - 1)
        some = np.array(starts[first : last + 1], np.int64)
        return np.stack([some[:-1], some[1:]], axis=1).clip(low, high)

    def around(self, text: int, low: int, high: int) -> Range:
        """A range of words with the sentences before and after it: where a passage ends is a guess."""
        starts = self.listed(text)
        first = max(0, bisect_right(starts, low) - 2)
        last = min(len(starts) - 1, bisect_left(starts, high) + 1)
        return starts[first], starts[last]


def find_places(
    texts: StemmedTexts,
    pairs: Sequence[tuple[int, int]],
    ranges: Sequence[Ranges],
    among: Sequence[Ranges | Range],
    *,
    rare: bool = True,
    threads: int = 1,
) -> Places:
    """The best place of each range of words of the first text of a pair (*ranges* of each, a row is one) *among* the
    sentences of a range of the second: one for all of a pair, or one for each. Unless told not to, what is *rare* in
    general has a say in what words weigh."""
    sizes = [len(some) for some in ranges]
    a0, a1 = _borders(ranges)
    b0, b1 = _borders(
        [
            np.full((size, 2), one, np.uint32) if isinstance(one, tuple) else one
            for one, size in zip(among, sizes, strict=True)
        ]
    )
    left, right = (np.array([pair[side] for pair in pairs], np.uint32) for side in (0, 1))
    return Places(
        *kernels.best_places(
            texts.concepts,
            texts.roots,
            texts.rarity if rare else None,
            texts.marks,
            texts.words.offsets,
            left,
            right,
            np.array([0, *itertools.accumulate(sizes)], np.uint64),
            a0,
            a1,
            b0,
            b1,
            threads,
        )
    )


def _borders(ranges: Sequence[Ranges]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    rows = ranges[0] if len(ranges) == 1 else np.concatenate([np.empty((0, 2), np.uint32), *ranges])
    return rows[:, 0].astype(np.uint32), rows[:, 1].astype(np.uint32)
