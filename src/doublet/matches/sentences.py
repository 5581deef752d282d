"""Single sentences that were reworded, and of which no passage tells.

`link_sentences` looks for each of them in the whole other text, and `link_neighbours` for those that are left, near the
places of the sentences around them. Explained in docs/explanation/passages.md, with figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet.matches.align import REWORDED_BELOW, SUMMARIES, Passage
from doublet.matches.places import Found, Numbers, Range, Sentences, find_places
from doublet.matches.stems import StemmedTexts

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
