"""Passages end before the heading of what follows them, also where two copies are followed by the same heading. Titles
that are said again in a list of contents or a link to the next page are no repeats at all. The same holds for labels:
what is said after "Default:" belongs to it.

Markup says where headings are. A short line without a full stop, between the end of a sentence and the beginning of
another, is taken for one too; and where a passage ends inside such a line, it shares no more than its beginning.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import NDArray

from doublet.kernels.blanks import QUIET
from doublet.repeats.balance import TokenGroups
from doublet.repeats.tokenise import BLOCK, Edges, TokenSequence
from doublet.repeats.told import Scored, rescored

TITLE_SHARE = 0.8  #: of the words of a place that are titles when it is not reported
LABEL_WORDS = 3  #: of a label before a colon
CLOSING = f" {QUIET}»”\"')]"  #: what may stand between a label and its colon
MOST_WORDS = 8  #: of a line that is taken for a heading
_LAST_LINE = re.compile(
    r"[.!?…][»”\"')\]]*[ \t]*\n\s*(?P<line>(?:[^\w\s]{1,3}\s*|\d[\d.]*\s+)?[^\W\d_][^\n]*)$"
)
_BEHIND = re.compile(r"(?P<closing>[^\w\s]*)(?P<gap>\s*)(?P<next>\S?)")


class Titles:
    """Which tokens are a title: that of a section, or the same words by themselves elsewhere."""

    def __init__(self, marked: NDArray[np.bool_]) -> None:
        self._before = np.concatenate([[0], np.cumsum(marked)])

    def left_out(self, groups: list[Scored]) -> list[Scored]:
        """*groups* without the members that are hardly more than titles; and without those of which less than two are
        left."""
        if not groups or not self._before[-1]:
            return groups
        sizes = np.array([len(group.members) for group in groups])
        first = np.cumsum(sizes) - sizes
        start, end = np.array([span for group in groups for span in group.members], np.int64).T
        more = self._before[end] - self._before[start] < TITLE_SHARE * (end - start)
        left = np.add.reduceat(more, first, dtype=np.int64)
        out: list[Scored] = []
        for number in np.flatnonzero(left > 1).tolist():
            group, at = groups[number], int(first[number])
            if left[number] < sizes[number]:
                stay = more[at : at + len(group.members)].tolist()
                members = list(itertools.compress(group.members, stay))
                group = group._replace(members=members) if group.equal else rescored(group, members)
            out.append(group)
        return out


class Headings:
    """Where headings are in a sequence of tokens."""

    def __init__(self, sequence: TokenSequence, edges: Edges | None = None) -> None:
        self._sequence = sequence
        self._edges = edges or sequence.edges()
        first: list[NDArray[np.int64]] = []
        last: list[NDArray[np.int64]] = []
        for number, marked in enumerate(sequence.marked_texts):
            if marked.headings:
                base, stop = int(sequence.offsets[number]), int(sequence.offsets[number + 1])
                starts = sequence.starts[base:stop]
                first.append(base + np.searchsorted(starts, [h.span.start for h in marked.headings]))
                last.append(base + np.searchsorted(starts, [h.span.end for h in marked.headings]))
        self._first = np.concatenate(first) if first else np.zeros(0, np.int64)
        self._last = np.concatenate(last) if last else np.zeros(0, np.int64)
        self._starts: list[int] = self._first.tolist()
        self._ends: list[int] = self._last.tolist()
        self._words: bytes | None = None  # made when it is first asked for

    def begins(self, token: int) -> bool:
        """Whether a section begins or its heading ends before *token*."""
        at = bisect_left(self._starts, token)
        return token in self._starts[at : at + 1] or (at > 0 and self._ends[at - 1] >= token)

    def holds(self, token: int) -> bool:
        """Whether *token* is a word of a heading."""
        if self._words is None:
            words = np.zeros(len(self._sequence) + 1, bool)
            for start, end in zip(self._starts, self._ends, strict=True):
                words[start:end] = True
            self._words = words.tobytes()
        return self._words[token] != 0

    def between(self, start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which stretches have a heading behind their first token."""
        out: NDArray[np.bool_] = np.searchsorted(self._first, start, "right") < np.searchsorted(
            self._first, end
        )
        return out

    def inside(self, start: int, end: int) -> list[int]:
        """Where the headings behind the first token of a stretch begin."""
        one = bisect_right(self._starts, start)
        return self._starts[one : bisect_left(self._starts, end, one)]

    def titles(self, edges: NDArray[np.int64], units: NDArray[np.uint64]) -> Titles:
        """Titles in a text of *units* (numbers that stand for their words) between *edges*."""
        marked = np.zeros(len(self._sequence) + 1, bool)
        links, ends = self._links()
        if len(self._first) or len(links):
            sizes = np.zeros(len(units) + 1, np.int64)
            first, last = (
                np.minimum(np.searchsorted(edges, at), len(units)) for at in (self._first, self._last)
            )
            np.add.at(sizes, first, 1)
            np.add.at(sizes, last, -1)
            first, last = np.searchsorted(edges, links), np.searchsorted(edges, ends, "right") - 1
            whole = first < last  # not a word in a sentence
            np.add.at(sizes, first[whole], 1)
            np.add.at(sizes, last[whole], -1)
            said = np.isin(units, units[np.cumsum(sizes[:-1]) > 0])
            marked[:-1] = np.repeat(said, np.diff(edges))
        if len(links):
            linked = np.zeros(len(self._sequence) + 1, bool)
            for start, end in zip(links.tolist(), ends.tolist(), strict=True):
                linked[start:end] = True
            marked |= linked
            for start, end in self._rows_of_links(links, linked):
                marked[start:end] = True
        return Titles(marked)

    def _rows_of_links(self, links: NDArray[np.int64], linked: NDArray[np.bool_]) -> list[tuple[int, int]]:
        """Paragraphs and items with two *links* or more, if most of their words are *linked* ("Next: …, Up: …")."""
        blocks = np.union1d([0], np.flatnonzero(self._edges.kinds & BLOCK))  # the end of the text is one, too
        several = np.diff(np.searchsorted(np.sort(links), blocks)) > 1
        words = np.add.reduceat(linked, blocks, dtype=np.int64)[:-1]
        rows = np.flatnonzero(several & (2 * words > np.diff(blocks)))
        return list(zip(blocks[rows].tolist(), blocks[rows + 1].tolist(), strict=True))

    def _links(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where links begin and end; those that follow each other without a word between them are one."""
        first: list[NDArray[np.int64]] = []
        last: list[NDArray[np.int64]] = []
        for number, marked in enumerate(self._sequence.marked_texts):
            if marked.links:
                base, stop = (int(self._sequence.offsets[at]) for at in (number, number + 1))
                spans = np.array([edge for span in marked.links for edge in span], np.uint32)
                places = base + np.searchsorted(self._sequence.starts[base:stop], spans)
                places = places[: 2 * (len(places) // 2)].reshape(-1, 2)
                places = places[places[:, 1] > places[:, 0]]
                apart = places[1:, 0] > places[:-1, 1]
                first.append(places[np.concatenate([[True], apart]), 0] if len(places) else places[:, 0])
                last.append(places[np.concatenate([apart, [True]]), 1] if len(places) else places[:, 1])
        none = np.zeros(0, np.int64)
        return np.concatenate([none, *first]), np.concatenate([none, *last])

    def cut(self, groups: TokenGroups, least: int) -> TokenGroups:
        """*groups* without headings at the ends of passages; and without those of which less than *least* tokens are
        left."""
        return [
            [(start, self._end(start, end, least)) for start, end in group]
            if self._cuts(group, least)
            else group
            for group in groups
            if not self._only_begins(group, least)
        ]

    def _only_begins(self, group: list[tuple[int, int]], least: int) -> bool:
        """Whether most members are a few words and the heading behind them."""
        some = group[:16]
        return 2 * sum(self._heading(end) - start < min(least, end - start) for start, end in some) > len(
            some
        )

    def _cuts(self, group: list[tuple[int, int]], least: int) -> bool:
        """Most of its members decide for a group: of a few first ones, so that headers of pages cost little."""
        some = group[:16]
        return 2 * sum(self._end(start, end, least) < end for start, end in some) > len(some)

    def _end(self, start: int, end: int, least: int) -> int:
        number = self._sequence.file_of(start)
        at = self._heading(end)
        at = at if at < end else self._line(number, start, end)
        at = self._label(number, at)
        return at if at - start >= least else end

    def _label(self, number: int, end: int) -> int:
        """Where the label begins with which a passage ends ("Default:"): it belongs to what follows. Else its end."""
        marks, sequence = self._edges.marks, self._sequence
        begins = np.flatnonzero(marks[max(0, end - LABEL_WORDS) : end])
        if end >= int(sequence.offsets[number + 1]) or not len(begins):
            return end
        text = sequence.marked_texts[number].masked
        if not text[int(sequence.ends(end - 1)) : int(sequence.starts[end])].lstrip(CLOSING).startswith(":"):
            return end
        return max(0, end - LABEL_WORDS) + int(begins[-1])

    def _heading(self, end: int) -> int:
        """Where the heading begins in which a passage ends; else its end. Of several in a row, the first."""
        at = bisect_left(self._starts, end) - 1
        while at >= 0 and self._ends[at] >= end > self._starts[at]:
            end = self._starts[at]
            at -= 1
        return end

    def _line(self, number: int, start: int, end: int) -> int:
        text = self._sequence.marked_texts[number].masked
        one, two = int(self._sequence.starts[start]), int(self._sequence.ends(end - 1))
        line = _LAST_LINE.search(text, max(one, two - 120), two)
        if line is None or len(line["line"].split()) > MOST_WORDS:
            return end
        behind = _BEHIND.match(text, two)
        if behind is None or any(sign in ".!?…:;" for sign in behind["closing"]) or not behind["next"]:
            return end
        if behind["next"] in ".!?…:;":  # behind the marks of a link
            return end
        if "\n" in behind["gap"] and behind["next"].islower():  # the line was wrapped there
            return end
        base = int(self._sequence.offsets[number])
        starts = self._sequence.starts[base : self._sequence.offsets[number + 1]]
        return base + int(
            starts.searchsorted(np.uint32(line.start("line")))
        )  # an int would have them all cast
