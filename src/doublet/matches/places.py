"""Where the sentences of one text are in another: the best place of each, as columns (kernel `best_places`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.matches.stems import StemmedTexts

Range = tuple[int, int]
Numbers = NDArray[np.int64]


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
        starts, firsts = kernels.sentence_starts(texts.marks, texts.words.offsets)
        self._starts = starts.astype(np.int64)
        self._firsts = firsts.tolist()

    def of(self, text: int) -> Numbers:
        """First words of the sentences of a text, and its end."""
        return self._starts[self._firsts[text] : self._firsts[text + 1]]

    def number(self, text: int, word: int) -> int:
        """Number of the sentence that holds a word."""
        return int(self.of(text)[:-1].searchsorted(word, "right")) - 1

    def within(self, text: int, low: int, high: int) -> Numbers:
        """The sentences inside a range of words, one row each, the first and the last cut to it."""
        starts = self.of(text)
        first = max(0, int(starts.searchsorted(low, "right")) - 1)
        last = int(starts[:-1].searchsorted(high, "left"))
        return np.stack([starts[first:last], starts[first + 1 : last + 1]], axis=1).clip(low, high)

    def around(self, text: int, low: int, high: int) -> Range:
        """A range of words with the sentences before and after it: where a passage ends is a guess."""
        starts = self.of(text)
        first = max(0, int(starts.searchsorted(low, "right")) - 2)
        last = min(len(starts) - 1, int(starts.searchsorted(high, "left")) + 1)
        return int(starts[first]), int(starts[last])


def find_places(
    texts: StemmedTexts,
    pairs: Sequence[tuple[int, int]],
    ranges: Sequence[Numbers],
    among: Sequence[Numbers | Range],
    *,
    threads: int = 1,
) -> Places:
    """The best place of each range of words of the first text of a pair (*ranges* of each, a row is one) *among* the
    sentences of a range of the second: one for all of a pair, or one for each."""
    sizes = [len(some) for some in ranges]
    there = [
        np.broadcast_to(np.asarray(one, np.int64), (size, 2)) for one, size in zip(among, sizes, strict=True)
    ]
    a0, a1 = _borders(ranges)
    b0, b1 = _borders(there)
    left, right = (np.array([pair[side] for pair in pairs], np.uint32) for side in (0, 1))
    return Places(
        *kernels.best_places(
            texts.stems,
            texts.roots,
            texts.marks,
            texts.words.offsets,
            left,
            right,
            np.cumsum([0, *sizes]).astype(np.uint64),
            a0,
            a1,
            b0,
            b1,
            threads,
        )
    )


def _borders(ranges: Sequence[Numbers]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    rows = np.concatenate([np.empty((0, 2), np.int64), *ranges]).astype(np.uint32)
    return np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1])
