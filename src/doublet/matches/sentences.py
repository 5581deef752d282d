"""Passages, sentence by sentence: what inside them is the author's own, and which single sentences were reworded.

A passage is found as a whole and may swallow own sentences that stand between borrowed ones. `cut_own` looks for each
of its sentences in the other side; where nearly nothing of a sentence is there, the passage is cut and goes on behind
it. `link_sentences` looks for the sentences of which no passage tells, each in the whole other text, and
`link_neighbours` for those that are left, near the places of the sentences around them. Explained in
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
from doublet.matches.align import REWORDED_BELOW, SUMMARIES, Passage
from doublet.matches.stems import StemmedTexts

# Chosen on "tune" of the question "own sentences" (benchmarks/unseen.py), and held against PAN's passages, where each
# needless cut costs. Own sentences flagged (ru, en) and plagdet of all that counts: as it is .045, .044 and .952; OWN
# halved .116, .150 and .953, doubled .031, .035 and .945; OWN_WEIGHT halved .040, .035 and .947, doubled .144, .147
# and .954.
OWN = 0.35  #: times the square of what the other side holds of the passage: a sentence of which it holds less is own …
OWN_WEIGHT = 20.0  #: … when what it does not hold weighs so much: a few words say too little
# Chosen on "tune" and "choose" of "reworded sentences" and of PAN's passages, where each needless sentence costs.
# Heaviest sentences found (ru, en), own ones flagged beside them (ru) and plagdet of all that counts, on "tune": as it
# is .52, .48, .078 and .952; LEAST_WORTH halved .57, .52, .103 and .950, doubled .39, .32, .043 and .953; LEAST_CLOSE
# halved .60, .53, .107 and .921, doubled .23, .17, .028 and .953; ENOUGH halved .60, .62, .093 and .936, doubled .29,
# .22, .036 and .952; AROUND halved .45, .32, .068 and .952, doubled .56, .56, .096 and .951. FEW matters for texts of a
# few sentences alone: without it and at twice the value .53 and .51, the rest is the same.
LEAST_WORTH = 5.0  #: of a sentence and its place that may have something to do with each other …
LEAST_CLOSE = 0.35  #: … and how close they are
#: times ln(sentences of the text), as chance finds more in more: what sentences that count are worth together, …
ENOUGH = 10.0
AROUND = 20  #: … so many sentences before and after
FEW = 10  #: sentences that are added, so that a text of one or two needs some evidence, too
# Chosen on "tune" of the same questions and of "essays by hand". Heaviest sentences found (made essays ru; by hand, of
# 15), own ones flagged (ru) and plagdet of all that counts: as it is .52, 7, .078 and .952; without the step .48, 4,
# .050 and .954; NEIGHBOUR at .25 .53, 11, .085 and .951, at .9 .47, 4, .057 and .953. Heavy ones by hand, of 31: as it
# is 25, NEAR or STRIDE halved 21, doubled no more than that.
NEIGHBOUR = 0.4  #: times LEAST_WORTH and LEAST_CLOSE is enough near the places of neighbours
NEAR = 5  #: sentences to a neighbour whose place is known, before and after, …
STRIDE = 3  #: … and sentences of the other text between the two places for each sentence between the two

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
            if p.origin in SUMMARIES or (p.origin == "runs" and p.score == 1.0):
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
            p, rows_of_it = out[number][row], places.rows(part)
            for i in np.flatnonzero(own).tolist():
                copy = _copy(texts, pairs[number], here[i], p, rows_of_it[i].whole)
                if copy is not None:
                    own[i], rows_of_it[i] = False, copy
        if own.any():
            some = list(zip(map(tuple, here.tolist()), rows_of_it, strict=True))
            out[number][row : row + 1] = _pieces(p, some, own.tolist())
    return out


def _copy(
    texts: StemmedTexts, pair: tuple[int, int], here: Numbers, p: Passage, whole: float
) -> Place | None:
    """Where a sentence is in the other side of a passage as it is. What is said many times weighs so little that the
    search for its place has nothing to go by."""
    (a, _), (b, _) = (texts.words.offsets[text : text + 2].tolist() for text in pair)
    wanted = texts.stems[a + here[0] : a + here[1]].tobytes()
    among = texts.stems[b + p.b_start : b + p.b_end].tobytes()
    size = texts.stems.itemsize
    at = among.find(wanted)
    while at >= 0 and at % size:
        at = among.find(wanted, at + 1)
    if at < 0:
        return None
    start = p.b_start + at // size
    return Place(start, start + int(here[1] - here[0]), whole, whole, whole, whole)


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
    for pair, passages in zip(pairs, found, strict=True):
        asked, left = _not_told(sentences, pair, passages)
        numbers.append(asked)
        ranges.append(left)
    among = [(0, int(sentences.of(y)[-1])) for _, y in pairs]
    places = find_places(texts, pairs, ranges, among, threads=threads)
    close = places.close
    worth = places.mass * close
    linked = (worth >= LEAST_WORTH) & (close >= LEAST_CLOSE)
    out = []
    first = 0
    for (x, _), passages, some, borders in zip(pairs, found, numbers, ranges, strict=True):
        rows = np.flatnonzero(linked[first : first + len(some)])
        at = rows + first
        first += len(some)
        sure = _supported(some[rows], worth[at], _evidence(passages, x, sentences), len(sentences.of(x)) - 1)
        there = [
            _passage(one) for one in zip(map(tuple, borders[rows].tolist()), places.rows(at), strict=True)
        ]
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


Evidence = tuple[Numbers, NDArray[np.float64]]  #: numbers of sentences, and what each is worth


def _evidence(passages: Sequence[Passage], text: int, sentences: Sentences) -> Evidence:
    """What the passages that were reworded say about the sentences around them. Those that were copied say nothing:
    who copies has no need to reword the next sentence beyond recognition."""
    numbers, worth = [np.empty(0, np.int64)], [np.empty(0)]
    for p in passages:
        if p.origin not in SUMMARIES and p.score < REWORDED_BELOW:
            some = np.arange(sentences.number(text, p.a_start), sentences.number(text, p.a_end - 1) + 1)
            numbers.append(some)
            worth.append(np.full(len(some), p.mass * p.score / len(some)))
    return np.concatenate(numbers), np.concatenate(worth)


def _supported(
    numbers: Numbers, worth: NDArray[np.float64], evidence: Evidence, sentences: int
) -> list[bool]:
    """Which of the sentences count: each is supported by those around it, and by *evidence* from elsewhere. They come
    with their numbers in the text, which has so many *sentences*, and what they are worth."""
    every = np.concatenate([numbers, evidence[0]])
    order = np.argsort(every, kind="stable")
    every, total = every[order], np.append(0.0, np.cumsum(np.concatenate([worth, evidence[1]])[order]))
    around = (
        total[every.searchsorted(numbers + AROUND, "right")]
        - total[every.searchsorted(numbers - AROUND, "left")]
    )
    supported: list[bool] = (around >= ENOUGH * math.log(sentences + FEW)).tolist()
    return supported


def link_neighbours(
    texts: StemmedTexts,
    pairs: Sequence[tuple[int, int]],
    found: Sequence[list[Passage]],
    linked: Sequence[Linked],
    sentences: Sentences,
    *,
    threads: int = 1,
) -> list[Linked]:
    """The same sentences, and those that were reworded beyond recognition but stand where they should.

    Whoever rewords a text goes through it in order. So between two sentences whose places are known, and right beside
    a reworded one, there are few places to look at: chance finds little there, and less evidence is enough.
    """
    rows: list[int] = []
    numbers: list[Numbers] = []
    ranges: list[Numbers] = []
    among: list[Numbers] = []
    for row, (pair, passages, known) in enumerate(zip(pairs, found, linked, strict=True)):
        told = [p for p in passages if p.origin not in SUMMARIES] + known.counted
        if told:
            asked, left = _not_told(sentences, pair, told)
            some, there = _windows(sentences, pair, told, known.counted, asked)
            if len(some):
                rows.append(row)
                numbers.append(asked[some])
                ranges.append(left[some])
                among.append(there)
    out = list(linked)
    if not rows:
        return out
    places = find_places(texts, [pairs[row] for row in rows], ranges, among, threads=threads)
    close = places.close
    worth = places.mass * close
    good = (worth >= NEIGHBOUR * LEAST_WORTH) & (close >= NEIGHBOUR * LEAST_CLOSE)
    first = 0
    for row, some, borders in zip(rows, numbers, ranges, strict=True):
        best: dict[int, int] = {}  # sentence → its place that is worth most
        for i, number in enumerate(some.tolist()):
            at = first + i
            if good[at] and (number not in best or worth[at] > worth[best[number]]):
                best[number] = at
        at_all = np.array([best[number] for number in sorted(best)], np.int64)
        new = zip(map(tuple, borders[at_all - first].tolist()), places.rows(at_all), strict=True)
        first += len(some)
        more = sorted([*out[row].counted, *map(_passage, new)], key=lambda p: (p.a_start, p.a_end))
        out[row] = Linked(_joined(more), out[row].possible)
    return out


def _windows(
    sentences: Sentences,
    pair: tuple[int, int],
    told: Sequence[Passage],
    links: Sequence[Passage],
    asked: Numbers,
) -> tuple[Numbers, Numbers]:
    """For sentences of the first text, *asked* by number, where to look for them in the second, as ranges of words.
    A sentence may have none, or several."""
    x, y = pair
    starts = sentences.of(y)

    def borders(passages: Sequence[Passage]) -> tuple[dict[int, int], dict[int, int]]:
        """First sentences with those of the other text where they are, and last ones."""
        begins: dict[int, int] = {}
        ends: dict[int, int] = {}
        for p in sorted(passages, key=lambda p: (p.a_start, p.a_end, p.b_start)):
            begins.setdefault(sentences.number(x, p.a_start), sentences.number(y, p.b_start))
            ends[sentences.number(x, p.a_end - 1)] = sentences.number(y, p.b_end - 1)
        return begins, ends

    begins, ends = borders(told)
    link_begins, link_ends = borders(links)
    some: list[int] = []
    there: list[Range] = []
    for i, number in enumerate(asked.tolist()):
        windows: list[Range] = []
        before = next((number - d for d in range(1, NEAR + 1) if number - d in ends), None)
        after = next((number + d for d in range(1, NEAR + 1) if number + d in begins), None)
        if before is not None and after is not None:
            low, high = ends[before], begins[after]
            if 0 <= high - low <= STRIDE * (after - before):
                windows.append((low, high))
        if number - 1 in link_ends:
            windows.append((link_ends[number - 1], link_ends[number - 1] + 1))
        if number + 1 in link_begins:
            windows.append((link_begins[number + 1] - 1, link_begins[number + 1]))
        for low, high in windows:
            some.append(i)
            there.append((int(starts[max(0, low)]), int(starts[min(high + 1, len(starts) - 1)])))
    return np.array(some, np.int64), np.array(there, np.int64).reshape(-1, 2)


def _not_told(
    sentences: Sentences, pair: tuple[int, int], passages: Sequence[Passage]
) -> tuple[Numbers, Numbers]:
    """Numbers of the sentences of the first text of which no passage tells, or only of the smaller part, and what is
    left of each."""
    x, y = pair
    starts = sentences.of(x) if sentences.of(y)[-1] else sentences.of(y)[:1]
    here = np.stack([starts[:-1], starts[1:]], axis=1)
    left = _left(here, sorted((p.a_start, p.a_end) for p in passages if p.origin != "summed"))
    numbers = np.flatnonzero(2 * (left[:, 1] - left[:, 0]) > here[:, 1] - here[:, 0])
    return numbers, left[numbers]


def goes_on(one: Passage, p: Passage) -> bool:
    """Whether a sentence stands right beside a passage, or in part inside it, in both texts."""
    return (
        p.origin not in SUMMARIES
        and max(one.a_start, p.a_start) <= min(one.a_end, p.a_end)
        and max(one.b_start, p.b_start) <= min(one.b_end, p.b_end)
    )


def _passage(found: Found) -> Passage:
    (start, end), place = found
    return Passage(start, end, place.start, place.end, 0, "reworded", "weak", "words", place.mass)


def _joined(some: Sequence[Passage]) -> list[Passage]:
    """Passages of linked sentences, in their order; those that follow each other here and there are one."""
    out: list[Passage] = []
    for one in some:
        last = out[-1] if out else None
        if last and one.a_start == last.a_end and one.b_start <= last.b_end <= one.b_end:
            last.a_end, last.b_end = one.a_end, one.b_end
            last.mass += one.mass
        else:
            out.append(one)
    return out
