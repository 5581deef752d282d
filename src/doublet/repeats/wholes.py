"""Members have an element whole, lie inside it, or have nothing of it: items of lists, tables, their rows and cells,
sections, listings.

What matches goes on from the end of one item into the next, or from the last cell of a row over the border into a part
of the row below. Readers of markup say where such elements begin and end (`MarkedText.wholes`). A member that holds
only a piece of one and goes on outside of it is cut there.
"""

from __future__ import annotations

from bisect import bisect_right
from copy import copy

import numpy as np
from numpy.typing import NDArray

from doublet.model import Span
from doublet.repeats.blocks import PIECE
from doublet.repeats.headings import LABEL_WORDS
from doublet.repeats.tokenise import BLOCK, SENTENCE, Edges, Stretch, TokenSequence
from doublet.repeats.told import Members, Scored
from doublet.text.markup import MarkedText


class Wholes:
    """Elements in a sequence of tokens: of two of them, one lies inside the other or they have nothing in common."""

    def __init__(self, sequence: TokenSequence) -> None:
        elements = sequence.places(lambda marked: marked.wholes, 2) + sequence.code()[0]
        undivided = {*sequence.places(lambda marked: marked.tables, 2), *sequence.code()[0]}
        cells = set(sequence.places(lambda marked: marked.cells, 2))
        headings = [
            start for start, _ in sequence.places(lambda marked: [one.span for one in marked.headings])
        ]
        self._build(len(sequence), _without(elements, headings), undivided, cells)
        self.in_sections = copy(self)  #: the same where nothing that a heading is in is an element
        self._build(len(sequence), elements, undivided, cells)
        sections = [span for span in sequence.places(_sections, 2) if not self.cuts(*span)]
        if sections:
            self._build(len(sequence), elements + sections, {*undivided, *sections}, cells)

    def _build(self, size: int, spans: list[Stretch], undivided: set[Stretch], cells: set[Stretch]) -> None:
        self._spans: list[Stretch] = []
        self._outer: list[int] = []  # number of the element around each; -1 for none
        open_: list[tuple[int, int]] = []  # end and number
        at, runs = 0, [(0, -1)]  # from which token on which element is the smallest
        for start, end in _outer_first(spans):
            while open_ and open_[-1][0] <= start:
                at, _ = open_.pop()
                runs.append((at, open_[-1][1] if open_ else -1))
            if open_ and open_[-1][0] < end:
                continue  # broken markup
            self._outer.append(open_[-1][1] if open_ else -1)
            runs.append((start + 1, len(self._spans)))
            open_.append((end, len(self._spans)))
            self._spans.append((start, end))
        while open_:
            at, _ = open_.pop()
            runs.append((at, open_[-1][1] if open_ else -1))
        starts, numbers = np.array(runs, np.int64).T
        # Of each edge the smallest element that it cuts in two.
        self._inner: NDArray[np.int64] = np.repeat(numbers, np.diff(np.append(starts, size + 1)))
        self._item_edges = {
            (edge, outer)
            for span, outer in zip(self._spans, self._outer, strict=True)
            for edge in span
            if outer >= 0 and span not in cells and self._spans[outer] not in undivided
        }  #: with the number of the list

    def cuts(self, start: int, end: int) -> bool:
        """Whether a stretch has a piece of an element and goes on outside of it."""
        return self._border(start, end) is not None

    def parts(self, start: int, end: int) -> bool:
        """The same, but the first items of a list may stand with what is said before it, and the last ones with what is
        said behind it."""
        if not self._spans:
            return False
        at = int(self._inner[start])
        if at >= 0 and self._spans[at][1] < end:
            outer = self._outer[at]
            if (start, at) not in self._item_edges or (outer >= 0 and self._spans[outer][1] < end):
                return True
        at = int(self._inner[end])
        if at < 0 or self._spans[at][0] <= start:
            return False
        outer = self._outer[at]
        return (end, at) not in self._item_edges or (outer >= 0 and self._spans[outer][0] > start)

    def fitted(self, start: int, end: int) -> Stretch:
        """The stretch without pieces of elements: where it goes over the border of one, the larger part stays."""
        while (border := self._border(start, end)) is not None:
            start, end = (start, border) if border - start > end - border else (border, end)
        return start, end

    def fit(self, groups: list[Scored], least: int, *, rests: bool = False) -> list[Scored]:
        """*groups* whose members hold no pieces of elements; those that are word for word the same stay so. Members of
        less than *least* tokens go. What is cut off is a group too where that is asked for (*rests*) and it is long
        enough. What became shorter has a lower score."""
        if not self._spans:
            return groups
        out = []
        for group in groups:
            parts = self._equal(group.members) if group.equal else self._varied(group.members)
            if parts == [group.members]:
                out.append(group)
                continue
            for number, part in enumerate(parts):
                limit = least if not number else max(least, PIECE)
                members = [(start, end) for start, end in part if end - start >= limit]
                if len(members) > 1 and (rests or not number):
                    matched = min(group.matched, sum(end - start for start, end in members) / len(members))
                    score = group.score * matched / max(group.matched, 1.0)
                    out.append(Scored(score, members, matched, group.equal))
        return out

    def _varied(self, members: Members) -> list[Members]:
        """What is left of *members*, then what was cut off before and behind."""
        left = [self.fitted(*member) for member in members]
        if left == members:
            return [members]
        before = [self.fitted(old, new) for (old, _), (new, _) in zip(members, left, strict=True)]
        behind = [self.fitted(new, old) for (_, old), (_, new) in zip(members, left, strict=True)]
        return [left, before, behind]

    def _equal(self, members: Members) -> list[Members]:
        """The same where all *members* are cut in the same places: the longest part comes first."""
        todo, out = [members], []
        while todo:
            part = todo.pop()
            borders = ((self._border(start, end), start) for start, end in part)
            at = next((border - start for border, start in borders if border is not None), 0)
            if at:
                todo.append([(start, start + at) for start, _ in part])
                todo.append([(start + at, end) for start, end in part])
            else:
                out.append(part)
        return sorted(out, key=lambda part: (part[0][0] - part[0][1], part))

    def _border(self, start: int, end: int) -> int | None:
        """Where a stretch goes over the border of the largest element of which it has only a piece."""
        if not self._spans:
            return None
        found, at = None, int(self._inner[start])
        while at >= 0 and self._spans[at][1] < end:
            found, at = self._spans[at][1], self._outer[at]
        if found is not None:
            return found
        at = int(self._inner[end])
        while at >= 0 and self._spans[at][0] > start:
            found, at = self._spans[at][0], self._outer[at]
        return found


def _without(spans: list[Stretch], places: list[int]) -> list[Stretch]:
    """*spans* in which none of the *places* is."""
    if not spans or not places:
        return spans
    first, last = np.searchsorted(np.sort(places), np.array(spans, np.int64)).T
    return [spans[number] for number in np.flatnonzero(first == last).tolist()]


def _outer_first(spans: list[Stretch]) -> list[Stretch]:
    """Each of *spans* once, in order; of those that begin together the largest first."""
    if not spans:
        return []
    start, end = np.unique(np.array(spans, np.int64), axis=0).T
    order = np.lexsort((-end, start))
    return list(zip(start[order].tolist(), end[order].tolist(), strict=True))


def _sections(marked: MarkedText) -> list[Span]:
    """From a heading to the next one that is not below it."""
    out: list[Span] = []
    open_: list[tuple[int, int]] = []  # start and level
    for heading in marked.headings:
        while open_ and open_[-1][1] >= heading.level:
            out.append(Span(open_.pop()[0], heading.span.start))
        open_.append((heading.span.start, heading.level))
    return out + [Span(start, len(marked.text)) for start, _ in open_]


class Listings:
    """A listing is repeated as a whole or not at all."""

    def __init__(self, sequence: TokenSequence) -> None:
        self._spans = sorted(set(sequence.code()[0]))
        self._starts = [start for start, _ in self._spans]

    def whole(self, members: Members) -> Members:
        """*members*, those that are more than half of a listing with all of it, without those that are less."""
        out = []
        for start, end in members:
            at = bisect_right(self._starts, start) - 1
            if at < 0 or self._spans[at][1] < end:
                out.append((start, end))
            elif 2 * (end - start) > self._spans[at][1] - self._spans[at][0]:
                out.append(self._spans[at])
        return out


class Cells:
    """Cells of tables, whose rows are alike by nature; and data: labels and values that are no sentences."""

    def __init__(self, sequence: TokenSequence, edges: Edges) -> None:
        self._size = len(sequence)
        cells = sequence.places(lambda marked: [*marked.cells, *marked.labels])
        self._tables = sorted(sequence.places(lambda marked: marked.tables))
        self.edges = sorted(
            {edge for span in cells for edge in span}
        )  #: where cells and labels begin and end
        cells = [(start, end) for start, end in cells if end - start <= PIECE]  # longer ones are paragraphs
        self._borders = sorted({edge for span in cells for edge in span})
        self._inside = self._before(cells)
        starts = np.flatnonzero((edges.kinds & BLOCK) != 0)
        last = np.diff(starts) <= LABEL_WORDS
        last &= (edges.kinds[starts[1:]] & SENTENCE) == 0
        blocks = zip(starts[:-1][last].tolist(), starts[1:][last].tolist(), strict=True)
        self._data = self._before([*blocks, *(span for span in cells if span[1] - span[0] <= LABEL_WORDS)])

    def _before(self, spans: list[Stretch]) -> NDArray[np.int64]:
        """How many tokens before each one stand in *spans*."""
        inside = np.zeros(self._size + 1 if spans else 0, np.int64)
        for start, end in spans:
            inside[start + 1 : end + 1] = 1
        return np.cumsum(inside)

    def are_rows(self, start: int, end: int) -> bool:
        """Whether most of a stretch stands in several cells."""
        at = bisect_right(self._borders, start)
        if at >= len(self._borders) or self._borders[at] >= end:
            return False
        return self.in_cells(start, end)

    def in_cells(self, start: int, end: int) -> bool:
        """Whether more than half of a stretch is inside of cells."""
        return len(self._inside) > 0 and 2 * int(self._inside[end] - self._inside[start]) > end - start

    def _in_one_table(self, members: Members) -> bool:
        """Whether *members* are rows or cells of one table: these are made alike."""
        at = bisect_right(self._tables, members[0][0], key=lambda table: table[0]) - 1
        return (
            at >= 0
            and all(self._tables[at][0] <= start and end <= self._tables[at][1] for start, end in members)
            and all(map(self.in_cells, *zip(*members, strict=True)))
        )

    def left_out(self, groups: list[Scored]) -> list[Scored]:
        """*groups* without those that are mostly data, or rows of one table."""
        if self._tables:
            groups = [group for group in groups if not self._in_one_table(group.members)]
        if not len(self._data):
            return groups
        return [
            group
            for group in groups
            if 2 * sum(int(self._data[end] - self._data[start]) for start, end in group.members)
            <= sum(end - start for start, end in group.members)
        ]
