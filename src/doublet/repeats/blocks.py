"""Members that go over several paragraphs or items begin and end with one of them, or with a sentence of one.

Lists and references are alike from item to item, so what matches goes on into the next item, up to where it differs:
its name, or the first words after a colon. And it goes on over a heading into a section that has little in common with
the one that it is compared with.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import NDArray

from doublet.repeats.headings import LABEL_WORDS, Headings
from doublet.repeats.tokenise import BLOCK, LINE, SENTENCE, Edges, TokenSequence

I64 = NDArray[np.int64]

NEAR = 8  #: tokens by which a member may grow to begin or end with the sentence or the item that it begins or ends in
SAID = ".!?…:;"  #: signs with which a statement or what announces a listing ends
PIECE = 20  #: tokens below which a piece of another section is not worth telling


class Blocks:
    """Where sentences, paragraphs, items and sections begin in a sequence of tokens."""

    def __init__(self, sequence: TokenSequence, edges: Edges, headings: Headings) -> None:
        self.sequence, self.edges, self._headings = sequence, edges, headings
        self._blocks = (edges.kinds & BLOCK) != 0
        self._in_code: I64 | None = None  # made when it is first asked for
        self._offsets: list[int] = sequence.offsets.tolist()
        self._before = np.concatenate([[0], np.cumsum(self._blocks, dtype=np.int32)])
        self.starts: list[int] = np.flatnonzero(self._blocks).tolist()  #: where paragraphs and items begin
        self._borders: list[int] = np.flatnonzero(edges.marks).tolist()
        full = self.edges.marks & ((edges.kinds & (SENTENCE | LINE | BLOCK)) != 0) | self._blocks
        self.full: list[int] = np.flatnonzero(full).tolist()  #: where a sentence, a line or an element ends
        self._listings = {start for start, _ in sequence.code()[0]}
        self.items = self._items()  #: where terms of lists begin
        self._kinds, self._marks = edges.kinds.tobytes(), edges.marks.tobytes()  # quick to look at one by one

    def _items(self) -> list[int]:
        sequence, out = self.sequence, []
        for number, marked in enumerate(sequence.marked_texts):
            if marked.labels:
                base, stop = (int(sequence.offsets[at]) for at in (number, number + 1))
                places = np.array([span.start for span in marked.labels], np.uint32)
                out += (base + np.searchsorted(sequence.starts[base:stop], places)).tolist()
        return out

    def inside(self, start: int, end: int) -> bool:
        """Whether a member begins inside a paragraph or an item and goes on into others."""
        for starts in (self.starts, self.items):
            at = bisect_left(starts, start)
            if at < len(starts) and start < starts[at] < end:
                return True
        return False

    def doubtful(self, start: I64, end: I64) -> I64:
        """Which stretches go over the border of a block and begin or end inside one, or go over a heading, or begin or
        end at no border."""
        blocks, marks = self._blocks, self.edges.marks
        several = self._before[end] - self._before[start + 1] > 0
        whole = blocks[start] & blocks[end] & ~self._headings.between(start, end)
        return np.flatnonzero((several & ~whole) | ~(marks[start] & marks[end]))

    def introduces(self, token: int) -> bool:
        """Whether what ends before *token* belongs to what follows: a term of a list, words without a full stop before
        a listing, or a line without one before a line that stands further in."""
        number = bisect_right(self._offsets, token - 1) - 1
        marked = self.sequence.marked_texts[number]
        if token in self._listings and not self._said(marked.masked, token):
            return True
        if marked.labels:
            place = int(self.sequence.starts[token - 1])
            at = bisect_right(marked.labels, place, key=lambda span: span.start) - 1
            return at >= 0 and place < marked.labels[at].end
        if self._kinds[token] & SENTENCE or marked.kind not in ("text", "rst"):
            return False
        if token >= self._offsets[number + 1]:
            return False
        text = marked.masked
        end, start = int(self.sequence.ends(token - 1)), int(self.sequence.starts[token])
        gap = text[end:start]
        last = gap.rfind("\n") + 1
        own = text[text.rfind("\n", 0, end) + 1 : end]
        deeper = len(gap) - last - len(gap[last:].lstrip()) > len(own) - len(own.lstrip())
        return last > 0 and deeper and len(own.split()) <= LABEL_WORDS

    def begins_section(self, token: int) -> bool:
        """Whether a heading begins at *token*, or goes on there."""
        return self._headings.holds(token)

    def _said(self, text: str, token: int) -> bool:
        """Whether the line before a listing ends with a full stop, a colon or the like. What the listing begins with
        does not matter, be it a small letter or a blank."""
        gap = text[int(self.sequence.ends(token - 1)) : int(self.sequence.starts[token])]
        return any(sign in SAID for sign in gap.partition("\n")[0])

    def in_code(self, start: int, end: int) -> bool:
        """Whether most of a stretch is code."""
        if self._in_code is None:
            self._in_code = self.sequence.code_before(np.arange(len(self.sequence) + 1))
        return 2 * int(self._in_code[end] - self._in_code[start]) > end - start

    def closed(self, token: int) -> bool:
        """Whether a sentence or a paragraph ends before *token*."""
        return self._kinds[token] & (SENTENCE | BLOCK) != 0

    def cut(self, member: tuple[int, int], least: int) -> tuple[int, int]:
        """A *member* of at least *least* tokens that begins and ends with a block or a sentence, in one section if only
        a piece is in another."""
        start, end = member
        first, last = self._at_borders(*self._in_section(start, end), (end - start) // 2)
        first, last = self._begin(first, last), self._end(first, last)
        return (first, last) if last - first >= least else member

    def widened(self, member: tuple[int, int]) -> tuple[int, int]:
        """A *member* with the rest of the sentences in which it begins and ends, where little is missing."""
        start, end = member
        first, last = self._at_borders(start, end, 0)
        return first if self.closed(first) else start, last if self.closed(last) else end

    def _in_section(self, start: int, end: int) -> tuple[int, int]:
        inside = self._headings.inside(start, end)
        if inside:
            head, tail = inside[0], inside[-1]
            if head - start < min(PIECE, end - head) and not self._headings.begins(start):
                start = head
            if end - tail < min(PIECE, tail - start) and not self._headings.begins(end):
                end = tail
        return start, end

    def _at_borders(self, start: int, end: int, most: int) -> tuple[int, int]:
        """Edges inside a sentence moved to where it begins or ends: outwards when that is near, else inwards by up to
        *most* tokens; to the end of a line only where there is no end of a sentence."""
        borders, marks = self._borders, self._marks
        if not marks[start]:
            at = bisect_left(borders, start)
            outwards = borders[bisect_left(borders, start - NEAR, 0, at) : at][::-1]
            start = self._nearest(start, outwards, borders[at : bisect_left(borders, start + most, at)])
        if not marks[end]:
            at = bisect_left(borders, end)
            inwards = borders[bisect_left(borders, end - most, 0, at) : at][::-1]
            end = self._nearest(end, borders[at : bisect_right(borders, end + NEAR, at)], inwards)
        return start, end

    def _nearest(self, edge: int, outwards: list[int], inwards: list[int]) -> int:
        places = [*outwards, *inwards]
        return next((at for at in places if self.closed(at)), places[0] if places else edge)

    def _begin(self, start: int, end: int) -> int:
        """Where a block or a sentence begins; a block that was begun shortly before is taken whole."""
        at = bisect_right(self.starts, start)
        if at >= len(self.starts) or self.starts[at] >= end or self._finished(start):
            return start
        own, following = self.starts[at - 1] if at else 0, self.starts[at]
        if start - own <= NEAR:
            return own
        first = bisect_left(self._borders, start)
        inside = self._borders[first : bisect_left(self._borders, following, first)]
        return next((border for border in inside if self._finished(border)), following)

    def _end(self, start: int, end: int) -> int:
        """Where a block or a sentence ends; a block of which only an unfinished sentence is there is left out."""
        at = bisect_left(self.starts, end) - 1
        if at < 0 or self.starts[at] <= start or self._finished(end):
            return end
        last = self.starts[at]
        stop = bisect_left(self._borders, end)
        inside = self._borders[bisect_right(self._borders, last, 0, stop) : stop]
        return next((border for border in reversed(inside) if self._finished(border)), last)

    def _finished(self, token: int) -> bool:
        """Whether a sentence, a line or an element ends before *token*."""
        return self._kinds[token] & (SENTENCE | LINE | BLOCK) != 0
