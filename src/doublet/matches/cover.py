"""Ranges of words: how many words they cover, no word counted twice (K3), and which of many meet another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

Range = tuple[int, int]  #: half-open
_NOWHERE: tuple[int, int] = (1 << 62, -1)


def union_length(ranges: Iterable[Range]) -> int:
    """Length of the union of half-open ranges."""
    total = 0
    reached = 0
    for start, end in sorted(ranges):
        if end > reached:
            total += end - max(start, reached)
            reached = end
    return total


def share(ranges: Iterable[Range], words: int) -> float:
    """Share of *words* words that the ranges cover; 0.0 for a text without words."""
    return union_length(ranges) / words if words else 0.0


class Cover:
    """Words of one text that are accounted for. Sources are added one by one; each word belongs to the first."""

    def __init__(self, words: int) -> None:
        self.words = words
        self._taken = bytearray(words)

    def new(self, ranges: Iterable[Range]) -> int:
        """How many words of the ranges nobody has covered yet."""
        taken = self._taken
        ranges = list(ranges)
        if len(ranges) == 1:
            return ranges[0][1] - ranges[0][0] - self.within(*ranges[0])
        seen = bytearray(self.words)
        count = 0
        for start, end in ranges:
            part = end - start - self.within(start, end)
            if part and not seen.count(1, start, end):
                count += part
            else:
                count += sum(1 for i in range(start, end) if not taken[i] and not seen[i])
            seen[start:end] = b"\x01" * (end - start)
        return count

    def add(self, ranges: Iterable[Range]) -> int:
        """Take the ranges; gives the number of words that were new."""
        ranges = list(ranges)
        count = self.new(ranges)
        for start, end in ranges:
            self._taken[start:end] = b"\x01" * (end - start)
        return count

    def within(self, start: int, end: int) -> int:
        """How many words of a range are covered."""
        return self._taken.count(1, start, end)

    @property
    def share(self) -> float:
        return self._taken.count(1) / self.words if self.words else 0.0


class RangeIndex:
    """Many ranges by place: those that another one meets are found without a look at all of them.

    A binary tree over the ranges, in order of where they begin at first; each node knows how far those below it reach.
    A range is known by its number in the sequence. It may be put elsewhere, or be taken out and put back.
    """

    def __init__(self, ranges: Sequence[Range], *, empty: bool = False) -> None:
        self._order = sorted(range(len(ranges)), key=lambda i: ranges[i])
        self._leaves = 1
        while self._leaves < len(ranges):
            self._leaves *= 2
        self._leaf = [0] * len(ranges)
        self._low, self._high = ([end] * (2 * self._leaves) for end in _NOWHERE)
        for at, number in enumerate(self._order, self._leaves):
            self._leaf[number] = at
            if not empty:
                self._low[at], self._high[at] = ranges[number]
        if not empty:
            for node in range(self._leaves - 1, 0, -1):
                self._join(node)

    def put(self, number: int, place: Range) -> None:
        """From now on the range of this number is here."""
        node = self._leaf[number]
        self._low[node], self._high[node] = place
        while node > 1:
            node //= 2
            self._join(node)

    def take(self, number: int) -> None:
        """The range of this number is nowhere, until it is put somewhere."""
        self.put(number, _NOWHERE)

    def meeting(self, start: int, end: int) -> Iterator[int]:
        """Numbers of the ranges that overlap this one or stand right beside it."""
        nodes = [1]
        while nodes:
            node = nodes.pop()
            if self._low[node] > end or self._high[node] < start:
                continue
            if node < self._leaves:
                nodes += (2 * node + 1, 2 * node)
            else:
                yield self._order[node - self._leaves]

    def _join(self, node: int) -> None:
        self._low[node] = min(self._low[2 * node], self._low[2 * node + 1])
        self._high[node] = max(self._high[2 * node], self._high[2 * node + 1])
