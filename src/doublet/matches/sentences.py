"""Passages, sentence by sentence: what inside them is the author's own, and which single sentences were reworded.

A passage is found as a whole and may swallow own sentences that stand between borrowed ones. `cut_own` looks for each
of its sentences in the other side; where nearly nothing of a sentence is there, the passage is cut and goes on behind
it. `link_sentences` looks for the sentences of which no passage tells, each in the whole other text. Explained in
docs/explanation/passages.md, with figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.matches.align import Passage
from doublet.matches.stems import StemmedTexts

# Chosen on "tune" of the question "own sentences" (benchmarks/unseen.py), and held against PAN's passages, where each
# needless cut costs. Own sentences flagged (ru, of 395) and plagdet of all that counts: as it is 24 and .953; OWN
# halved 55 and .954, doubled 18 and .944; OWN_WEIGHT halved 20 and .947, doubled 72 and .955.
OWN = 0.35  #: times the square of what the other side holds of the passage: a sentence of which it holds less is own …
OWN_WEIGHT = 20.0  #: … when what it does not hold weighs so much: a few words say too little
# Chosen on "tune" and "choose" of "reworded sentences" and of PAN's passages, where each needless sentence costs.
# Heaviest sentences found (ru) and plagdet of all that counts: as it is .45 and .953; LEAST_WORTH halved .50 and .953,
# doubled .28; LEAST_CLOSE halved .53 and .926, doubled .18; ENOUGH halved .53 and .937, doubled .24; AROUND halved .33.
LEAST_WORTH = 5.0  #: of a sentence and its place that may have something to do with each other …
LEAST_CLOSE = 0.35  #: … and how close they are
#: times ln(sentences of the text), as chance finds more in more: what sentences that count are worth together, …
ENOUGH = 10.0
AROUND = 20  #: … so many sentences before and after
FEW = 10  #: sentences that are added, so that a text of one or two needs some evidence, too
NEXT = 3  #: words between a sentence and a passage that goes on with it, in both texts

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


def cut_own(
    texts: StemmedTexts,
    pairs: Sequence[tuple[int, int]],
    found: Sequence[list[Passage]],
    sentences: Sentences,
    *,
    threads: int = 1,
) -> list[list[Passage]]:
    """The passages of each pair without the sentences that only the first text has. One passage may become several."""
    rows: list[tuple[int, int]] = []  # numbers of the pair and of its passage
    asked: list[tuple[int, int]] = []
    ranges: list[Numbers] = []
    among: list[Range] = []
    for number, ((x, y), passages) in enumerate(zip(pairs, found, strict=True)):
        for row, p in enumerate(passages):
            if p.origin == "summary" or (p.origin == "runs" and p.score == 1.0):
                continue
            here = sentences.within(x, p.a_start, p.a_end)
            if len(here) > 1:
                rows.append((number, row))
                asked.append((x, y))
                ranges.append(here)
                among.append(sentences.around(y, p.b_start, p.b_end))
    out = [list(passages) for passages in found]
    if not rows:
        return out
    # Passages of one pair are asked about together: the pair is weighed once.
    starts = [i for i, (number, _) in enumerate(rows) if not i or rows[i - 1][0] != number]
    together = list(pairwise([*starts, len(rows)]))
    places = find_places(
        texts,
        [asked[first] for first, _ in together],
        [np.concatenate(ranges[first:last]) for first, last in together],
        [
            np.repeat(np.array(among[first:last], np.int64), [len(r) for r in ranges[first:last]], axis=0)
            for first, last in together
        ],
        threads=threads,
    )
    end = len(places.start)
    for (number, row), here in zip(reversed(rows), reversed(ranges), strict=True):
        part = slice(end - len(here), end)
        end = part.start
        own = _own(places.whole[part], places.heaviest[part])
        if own.any():
            some = list(zip(map(tuple, here.tolist()), places.rows(part), strict=True))
            out[number][row : row + 1] = _pieces(out[number][row], some, own.tolist())
    return out


def told_in_second(texts: StemmedTexts, pair: tuple[int, int], passages: Sequence[Passage]) -> list[Range]:
    """The ranges of words of the second text that the passages of a pair tell of, without its own sentences. What a
    summary was drawn from is a place to look at, not words that were taken."""
    turned = [
        replace(p, a_start=p.b_start, a_end=p.b_end, b_start=p.a_start, b_end=p.a_end)
        for p in passages
        if p.origin != "summary"
    ]
    (pieces,) = cut_own(texts, [pair[::-1]], [turned], Sentences(texts))
    return [(p.a_start, p.a_end) for p in pieces]


Found = tuple[Range, Place]


def _pieces(p: Passage, sentences: list[Found], own: Sequence[bool]) -> list[Passage]:
    """What is left of a passage whose sentences were looked for in the other side, some of which are *own*."""
    pieces = list(_runs(sentences, own))
    if not pieces:
        return [p]
    out = []
    for piece in pieces:
        low = min(min(max(place.start, p.b_start), p.b_end - 1) for _, place in piece if place.mass)
        high = max(max(min(place.end, p.b_end), p.b_start + 1) for _, place in piece if place.mass)
        out.append(replace(p, a_start=piece[0][0][0], a_end=piece[-1][0][1], b_start=low, b_end=high))
    return out


def _own(whole: NDArray[np.float64], heaviest: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Of each sentence of a passage whether the other side has nearly nothing of it. How much that is depends on the
    passage: sentences of a heavily reworded one are hardly there, though they were borrowed."""
    borrowed = heaviest >= OWN / 2 * whole
    all_borrowed = float(whole[borrowed].sum())
    held = float(heaviest[borrowed].sum()) / all_borrowed if all_borrowed else 1.0
    own: NDArray[np.bool_] = (heaviest < OWN * held * held * whole) & (whole - heaviest >= OWN_WEIGHT)
    return own


def _runs(some: Sequence[Found], own: Sequence[bool]) -> Iterator[list[Found]]:
    """Neighbouring sentences that are not own. Those of which nothing is found begin and end no run."""
    run: list[Found] = []
    for one, is_own in zip([*some, None], [*own, True], strict=True):
        if one is not None and not is_own:
            run.append(one)
            continue
        while run and not run[0][1].mass:
            run.pop(0)
        while run and not run[-1][1].mass:
            run.pop()
        if run:
            yield run
        run = []


@dataclass(frozen=True, slots=True)
class Linked:
    """Sentences of which no passage tells, with their places: those that *count*, and those that are *possible*."""

    counted: list[Passage]
    possible: list[Passage]


def link_sentences(
    texts: StemmedTexts,
    pairs: Sequence[tuple[int, int]],
    found: Sequence[list[Passage]],
    sentences: Sentences,
    *,
    threads: int = 1,
) -> list[Linked]:
    """Of each pair the sentences of the first text that were reworded from one of the second, apart from what the
    passages *found* tell."""
    numbers: list[Numbers] = []  # of the sentences in their text
    ranges: list[Numbers] = []
    for (x, y), passages in zip(pairs, found, strict=True):
        starts = sentences.of(x) if sentences.of(y)[-1] else sentences.of(y)[:1]
        here = np.stack([starts[:-1], starts[1:]], axis=1)
        left = _left(here, sorted((p.a_start, p.a_end) for p in passages))
        asked = np.flatnonzero(2 * (left[:, 1] - left[:, 0]) > here[:, 1] - here[:, 0])
        numbers.append(asked)
        ranges.append(left[asked])
    among = [(0, int(sentences.of(y)[-1])) for _, y in pairs]
    places = find_places(texts, pairs, ranges, among, threads=threads)
    close = places.close
    worth = places.mass * close
    linked = (worth >= LEAST_WORTH) & (close >= LEAST_CLOSE)
    out = []
    first = 0
    for (x, _), some, borders in zip(pairs, numbers, ranges, strict=True):
        rows = np.flatnonzero(linked[first : first + len(some)])
        at = rows + first
        first += len(some)
        sure = _supported(some[rows], worth[at], len(sentences.of(x)) - 1)
        there = list(zip(map(tuple, borders[rows].tolist()), places.rows(at), strict=True))
        out.append(
            Linked(
                _joined([one for one, counts in zip(there, sure, strict=True) if counts]),
                _joined([one for one, counts in zip(there, sure, strict=True) if not counts]),
            )
        )
    return out


def _left(here: Numbers, told: Sequence[Range]) -> Numbers:
    """Of each sentence the longest part of which no passage tells, of equals the first."""
    left = here.copy()
    if not told:
        return left
    touched = np.zeros(len(here), np.bool_)
    for start, end in told:
        touched |= (here[:, 0] < end) & (start < here[:, 1])
        inside = (start <= here[:, 0]) & (here[:, 1] <= end)
        left[inside, 1] = left[inside, 0]
    for i in np.flatnonzero(touched & (left[:, 0] < left[:, 1])).tolist():
        left[i] = _longest_free(int(here[i, 0]), int(here[i, 1]), told)
    return left


def _longest_free(start: int, end: int, told: Sequence[Range]) -> Range:
    best, at = (start, start), start
    for low, high in (*told, (end, end)):
        if high > at:
            if min(low, end) - at > best[1] - best[0]:
                best = at, min(low, end)
            at = high
        if at >= end:
            break
    return best


def _supported(numbers: Numbers, worth: NDArray[np.float64], sentences: int) -> list[bool]:
    """Which of the sentences count: each is supported by those around it. They come with their numbers in the text,
    which has so many *sentences*, and what they are worth."""
    total = np.append(0.0, np.cumsum(worth))
    around = (
        total[numbers.searchsorted(numbers + AROUND, "right")]
        - total[numbers.searchsorted(numbers - AROUND, "left")]
    )
    supported: list[bool] = (around >= ENOUGH * math.log(sentences + FEW)).tolist()
    return supported


def goes_on(one: Passage, p: Passage) -> bool:
    """Whether a sentence stands right beside a passage, or in part inside it, in both texts."""
    return (
        p.origin != "summary"
        and max(one.a_start, p.a_start) - min(one.a_end, p.a_end) <= NEXT
        and max(one.b_start, p.b_start) - min(one.b_end, p.b_end) <= NEXT
    )


def _joined(some: Sequence[Found]) -> list[Passage]:
    """Passages of linked sentences; those that follow each other here and there are one."""
    out: list[Passage] = []
    for (start, end), place in some:
        last = out[-1] if out else None
        if last and start == last.a_end and place.start <= last.b_end <= place.end:
            last.a_end, last.b_end = end, place.end
            last.mass += place.mass
        else:
            out.append(
                Passage(start, end, place.start, place.end, 0, "reworded", "weak", "words", place.mass)
            )
    return out
