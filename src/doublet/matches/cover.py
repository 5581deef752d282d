"""Shares: how many words are covered, no word counted twice (K3)."""

from __future__ import annotations

from collections.abc import Iterable


def union_length(ranges: Iterable[tuple[int, int]]) -> int:
    """Length of the union of half-open ranges."""
    total = 0
    reached = 0
    for start, end in sorted(ranges):
        if end > reached:
            total += end - max(start, reached)
            reached = end
    return total


def share(ranges: Iterable[tuple[int, int]], words: int) -> float:
    """Share of *words* words that the ranges cover; 0.0 for a text without words."""
    return union_length(ranges) / words if words else 0.0


class Cover:
    """Words of one text that are accounted for. Sources are added one by one; each word belongs to the first."""

    def __init__(self, words: int) -> None:
        self.words = words
        self._taken = bytearray(words)

    def new(self, ranges: Iterable[tuple[int, int]]) -> int:
        """How many words of the ranges nobody has covered yet."""
        taken = self._taken
        seen = bytearray(self.words)
        count = 0
        for start, end in ranges:
            part = end - start - taken.count(1, start, end)
            if part and not seen.count(1, start, end):
                count += part
            else:
                count += sum(1 for i in range(start, end) if not taken[i] and not seen[i])
            seen[start:end] = b"\x01" * (end - start)
        return count

    def add(self, ranges: Iterable[tuple[int, int]]) -> int:
        """Take the ranges; gives the number of words that were new."""
        ranges = list(ranges)
        count = self.new(ranges)
        for start, end in ranges:
            self._taken[start:end] = b"\x01" * (end - start)
        return count

    @property
    def share(self) -> float:
        return self._taken.count(1) / self.words if self.words else 0.0
