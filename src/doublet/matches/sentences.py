"""Single sentences that were reworded, and of which no passage tells.

`link_sentences` looks for each of them in the whole other text, and `link_neighbours` for those that are left, near the
places of the sentences around them. Explained in docs/explanation/passages.md, with figures.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.matches.align import REWORDED_BELOW, SUMMARIES, Passage
from doublet.matches.places import Found, Numbers, Places, Range, Ranges, Sentences, find_places
from doublet.matches.stems import StemmedTexts

# Chosen on "tune" and "choose" of "reworded sentences" and of PAN's passages, where each needless sentence costs.
# LEAST_WORTH was chosen again with "essays in checks" and written essays ("tune"): heavily reworded sentences found
# (made ru, en, written) and own ones flagged (made, ru) are .952, .928, .835 and .072; halved .965, .947, .875 and
# .138, doubled .873, .841, .699 and .046. The others: heaviest sentences found (ru, en), own ones flagged beside them
# (ru) and plagdet of all that counts, on "tune": as it is .52, .48, .078 and .952; LEAST_CLOSE
# halved .60, .53, .107 and .921, doubled .23, .17, .028 and .953; ENOUGH halved .60, .62, .093 and .936, doubled .29,
# .22, .036 and .952; AROUND halved .45, .32, .068 and .952, doubled .56, .56, .096 and .951. FEW matters for texts of a
# few sentences alone: without it and at twice the value .53 and .51, the rest is the same.
LEAST_WORTH = 5.0  #: of a sentence and its place that may have something to do with each other …
LEAST_CLOSE = 0.35  #: … and how close they are
#: times ln(sentences of the text), as chance finds more in more: what sentences that count are worth together, …
ENOUGH = 10.0
AROUND = 20  #: … so many sentences before and after
#: of that, enough for one sentence by itself: chance finds much in one place less often than a little in many.
#: Of single sentences with two words dropped ("tune", ru, en) .95 and .93 are found, plagdet is .955; halved .96, .99
#: and .951 (on "choose" .954 becomes .943), doubled .81, .76 and .955
ALONE = 0.7
# Three essays of another hand ("choose", sources as one text) and PAN's part "choose": as it is 24 of 36 heavily
# reworded sentences are found, 2 of 24 of the heaviest, and plagdet is .954; without faint ones 20, 1 and .954; SURELY
# halved 24, 2 and .951, doubled 24, 2 and .954 (with a thesaurus 23 instead of 26); FAINT at .2 25, 3 and .953. Of 31
# own sentences none is flagged in any case.
FAINT = 0.25  #: close enough where those around a sentence leave no doubt: …
SURELY = 2.0  #: … they are worth so many times what is enough
# Chosen on "tune" of "essays in checks" and looked at on "choose". Heavily and most heavily reworded sentences found
# (ru, en) and own ones flagged (ru): as it is .948, .935, .70, .71 and .085; FURTHER halved .948, .935, .70, .72 and
# .089, doubled .943, .905, .70, .68 and .075; RIVAL at 1 .948, .935, .70, .72 and .092, doubled .939, .925, .66, .67
# and .072; where only one document may show that the text was reworded (no `_patchwork`) .943, .935, .66, .69 and .079.
# ALIKE matters where a library holds copies, which these essays lack. Since SLIGHT is there and rivals in the same
# document count, chosen on "tune" with written essays and looked at on "choose". Heavily reworded sentences found (made
# ru, en; written, of 176) and own ones flagged (made ru; written, of 113): as it is .952, .928, 147, .072 and 4; SLIGHT
# halved .952, .938, 150, .089 and 9, at 1 .943, .918, 139, .062 and 3; RIVAL at 1 .948, .952, 150, .167 and 4, doubled
# .908, .894, 140, .046 and 3. On "choose" 99 of 118 with 4 of 90 own ones, with SLIGHT halved 105 and 9, at 1 81 and 3.
FURTHER = 0.3  #: of what is enough, from one document, where others show that the text was reworded; then …
RIVAL = 2.0  #: … the place is worth so many times as much as any other, there or elsewhere. It is the best in any case
SLIGHT = 0.55  #: times LEAST_WORTH and LEAST_CLOSE is enough where others leave no doubt of it (`SURELY`)
ALIKE = 0.8  #: share of two places in copies of one text, which say the same
FEW = 10  #: sentences that are added, so that a text of one or two needs some evidence, too
# Chosen on "tune" of the same questions and of "essays by hand". Heaviest sentences found (made essays ru; by hand, of
# 15), own ones flagged (ru, en) and plagdet of all that counts: as it is .55, 10, .081, .035 and .952; without the step
# .48, 3, .049, .028 and .954; BETWEEN halved .55, 13, .098, .046 and .951, doubled .55, 6, .074, .028 and .954; BESIDE
# halved .56, 11, .095, .046 and .952, doubled .50, 9, .063, .035 and .952. Of 31 heavy ones by hand 27 are found; with
# NEAR or STRIDE halved it was four fewer, doubled no more.
BETWEEN = 0.3  #: times LEAST_WORTH and LEAST_CLOSE is enough between the places of two neighbours, …
BESIDE = 0.4  #: … and beside that of one
NEAR = 5  #: sentences to a neighbour whose place is known, before and after, …
STRIDE = 3  #: … and sentences of the other text between the two places for each sentence between the two
# Chosen on "tune" and "choose" of the same questions, six essays by hand as one text. As it is 59 of 72 heavily
# reworded sentences are found, 14 of 43 of the heaviest, 3 of 50 own ones are flagged, and plagdet is .954 and .954.
# Without the step it is 56, 12, 3, .955 and .954; halved 59, 14, 3, .952 and .951; doubled it is as without the step.
FARTHER = 0.8  #: times ln(sentences to look at) / ln(all of the other text) is enough where neighbours are farther away


@dataclass(frozen=True, slots=True)
class Linked:
    """Sentences of which no passage tells, with their places: those that *count*, and those that are *possible*.
    *support* is what the sentences around each one of the text are worth, by what is enough; empty for none."""

    counted: list[Passage]
    possible: list[Passage]
    support: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))


def link_sentences(
    texts: StemmedTexts,
    pairs: Sequence[tuple[int, int]],
    found: Sequence[list[Passage]],
    sentences: Sentences,
    *,
    together: bool = False,
    threads: int = 1,
) -> list[Linked]:
    """Of each pair the sentences of the first text that were reworded from one of the second, apart from what the
    passages *found* tell. *together*: pairs with the same first text have a say in each other, as in a check, and
    what is rare in general has a say in what words weigh: of many documents some have plain words in common with any
    sentence."""
    numbers: list[Numbers] = []  # of the sentences in their text
    ranges: list[Ranges] = []
    for pair, passages in zip(pairs, found, strict=True):
        asked, left = _not_told(sentences, pair, passages)
        numbers.append(asked)
        ranges.append(left)
    among = [(0, sentences.listed(y)[-1]) for _, y in pairs]
    places = find_places(texts, pairs, ranges, among, rare=together and len(pairs) > 1, threads=threads)
    close = places.close
    worth = places.mass * close
    linked = (worth >= LEAST_WORTH) & (close >= FAINT)
    if not linked.any():
        return [Linked([], []) for _ in pairs]
    plain = linked & (close >= LEAST_CLOSE)
    slight = ~linked & (worth >= SLIGHT * LEAST_WORTH) & (close >= SLIGHT * LEAST_CLOSE)
    every: list[_Asked] = []
    first = 0
    for (x, y), passages, some in zip(pairs, found, numbers, strict=True):
        of_pair = slice(first, first + len(some))
        certain = plain[of_pair]
        evidence = _evidence(passages, x, sentences)
        support = _support(some[certain], worth[of_pair][certain], evidence, len(sentences.of(x)) - 1)
        source = any(p.origin not in SUMMARIES for p in passages)
        every.append(_Asked(x, y, first, some, worth[of_pair], support, source))
        first += len(some)
    out = []
    patched: dict[int, NDArray[np.float64]] = {}
    for one, borders in zip(every, ranges, strict=True):
        others = [other for other in every if together and other.text == one.text and other is not one]
        if others and one.text not in patched:
            patched[one.text] = _patchwork([one, *others], plain)
        elsewhere = _elsewhere(others, patched.get(one.text), len(one.support))[one.numbers]
        of_pair = slice(one.first, one.first + len(one.numbers))
        rows = np.flatnonzero(linked[of_pair] | (slight[of_pair] & (elsewhere >= SURELY)))
        if not len(rows):
            out.append(Linked([], []))
            continue
        at = rows + one.first
        fully, less = _supported(one, rows, plain[at], slight[at], elsewhere[rows])
        sure = fully | less
        for i in np.flatnonzero(sure).tolist():
            times = 1.0 if fully[i] else RIVAL
            sure[i] = not _has_rival(one, int(rows[i]), others, times, places, texts)
        there = [
            _passage(row) for row in zip(map(tuple, borders[rows].tolist()), places.rows(at), strict=True)
        ]
        out.append(
            Linked(
                _joined([there[i] for i in np.flatnonzero(sure).tolist()]),
                _joined([there[i] for i in np.flatnonzero(plain[at] & ~sure).tolist()]),
                one.support,
            )
        )
    return out


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """The sentences of a pair of texts that are asked about, as columns."""

    text: int
    other: int
    first: int  #: row of the first of them among all places
    numbers: Numbers  #: of the sentences in their text
    worth: NDArray[np.float64]
    support: NDArray[np.float64]  #: of every sentence of the text, by what is enough
    source: bool = False  #: passages were taken from the other text, whatever became of their words


Evidence = tuple[Numbers, NDArray[np.float64]]  #: numbers of sentences, and what each is worth
_NO_EVIDENCE: Evidence = (np.empty(0, np.int64), np.empty(0))


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


def _support(
    numbers: Numbers, worth: NDArray[np.float64], evidence: Evidence, sentences: int
) -> NDArray[np.float64]:
    """What the sentences around each of a text are worth, by what is enough: those with these *numbers*, and *evidence*
    from elsewhere."""
    every = np.zeros(sentences)
    for places, some in ((numbers, worth), evidence):
        np.add.at(every, places, some)
    total = np.append(0.0, np.cumsum(every))
    number = np.arange(sentences)
    around = total[np.minimum(number + AROUND + 1, sentences)] - total[np.maximum(number - AROUND, 0)]
    support: NDArray[np.float64] = around / _needed(sentences)
    return support


def _needed(sentences: int) -> float:
    """What sentences that count are worth together, in a text of so many."""
    return ENOUGH * math.log(sentences + FEW)


def _elsewhere(
    others: Sequence[_Asked], patched: NDArray[np.float64] | None, sentences: int
) -> NDArray[np.float64]:
    """How much speaks for it, by what is enough, that a text was reworded around each of its sentences from one of the
    *others*, or from all of them taken together (*patched*)."""
    found = np.zeros(sentences)
    for support in [*(other.support for other in others), *([] if patched is None else [patched])]:
        np.maximum(found, support, out=found)
    return found


def _supported(
    one: _Asked,
    rows: Numbers,
    plain: NDArray[np.bool_],
    slight: NDArray[np.bool_],
    elsewhere: NDArray[np.float64],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which of the sentences in these *rows* are supported by those around them, or worth enough by themselves; and
    which have less support, enough where the text was reworded from other documents, too (*elsewhere*): some, or
    passages that show where the text was taken from. Where that leaves no doubt it is enough for *slight* likeness."""
    numbers = one.numbers[rows]
    support = one.support[numbers]
    enough = (support >= 1) | (one.worth[rows] >= ALONE * _needed(len(one.support)))
    fully = ~slight & np.where(plain, enough, support >= SURELY)
    shown = elsewhere >= np.where(slight, SURELY, 1.0)
    return fully, ~fully & shown & (one.source | (support >= FURTHER))


def _patchwork(every: Sequence[_Asked], plain: NDArray[np.bool_]) -> NDArray[np.float64]:
    """What the sentences around each one of a text are worth that stand in one document by far best: of a text that
    was put together from several documents, none of these may show much."""
    sentences = len(every[0].support)
    worth = np.zeros((len(every), sentences))
    linked = np.zeros((len(every), sentences), np.bool_)
    for row, one in enumerate(every):
        worth[row, one.numbers] = one.worth
        linked[row, one.numbers] = plain[one.first : one.first + len(one.numbers)]
    best = worth.argmax(axis=0)
    first, second = np.sort(worth, axis=0)[:-3:-1]
    there = linked[best, np.arange(sentences)]
    clear = np.flatnonzero(there & (first >= RIVAL * second))
    return _support(clear, first[clear], _NO_EVIDENCE, sentences)


def _has_rival(
    one: _Asked, row: int, others: Sequence[_Asked], times: float, places: Places, texts: StemmedTexts
) -> bool:
    """Whether something else, there or in another document, is worth more than the place of a sentence, so many
    *times*: then the sentence says what many say. The same place in a copy of the document is not something else."""
    if times * places.second[one.first + row] > one.worth[row]:
        return True
    number = int(one.numbers[row])
    for other in others:
        at = int(np.searchsorted(other.numbers, number))
        if at == len(other.numbers) or other.numbers[at] != number:
            continue
        if times * other.worth[at] > one.worth[row]:
            mine, theirs = (
                set(texts.concepts[first + places.start[i] : first + places.end[i]].tolist())
                for first, i in (
                    (int(texts.words.offsets[one.other]), one.first + row),
                    (int(texts.words.offsets[other.other]), other.first + at),
                )
            )
            if 2 * len(mine & theirs) < ALIKE * (len(mine) + len(theirs)):
                return True
    return False


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
    a reworded one, there are few places to look at: chance finds little there, and less evidence is enough. Where many
    sentences around it count, the two may be far away, and more places are looked at, for which more is asked.
    """
    rows: list[int] = []
    numbers: list[Numbers] = []
    ranges: list[Ranges] = []
    among: list[Numbers] = []
    enough: list[NDArray[np.float64]] = []
    for row, (pair, passages, known) in enumerate(zip(pairs, found, linked, strict=True)):
        told = [p for p in passages if p.origin not in SUMMARIES] + known.counted
        if told:
            asked, left = _not_told(sentences, pair, told)
            some, there, least = _windows(sentences, pair, told, known, asked)
            if len(some):
                rows.append(row)
                numbers.append(asked[some])
                ranges.append(left[some])
                among.append(there)
                enough.append(least)
    out = list(linked)
    if not rows:
        return out
    places = find_places(texts, [pairs[row] for row in rows], ranges, among, rare=False, threads=threads)
    close = places.close
    worth = places.mass * close
    needed = np.concatenate(enough)
    good = (worth >= needed * LEAST_WORTH) & (close >= needed * LEAST_CLOSE)
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
        out[row] = Linked(_joined(more), out[row].possible, out[row].support)
    return out


def _windows(
    sentences: Sentences,
    pair: tuple[int, int],
    told: Sequence[Passage],
    known: Linked,
    asked: Numbers,
) -> tuple[Numbers, Numbers, NDArray[np.float64]]:
    """For sentences of the first text, *asked* by number, where to look for them in the second, as ranges of words, and
    what share of the usual evidence is enough there. A sentence may have none, or several."""
    x, y = pair
    starts = sentences.listed(y)

    def borders(passages: Sequence[Passage]) -> tuple[dict[int, int], dict[int, int]]:
        """First sentences with those of the other text where they are, and last ones."""
        begins: dict[int, int] = {}
        ends: dict[int, int] = {}
        for p in sorted(passages, key=lambda p: (p.a_start, p.a_end, p.b_start)):
            begins.setdefault(sentences.number(x, p.a_start), sentences.number(y, p.b_start))
            ends[sentences.number(x, p.a_end - 1)] = sentences.number(y, p.b_end - 1)
        return begins, ends

    begins, ends = borders(told)
    link_begins, link_ends = borders(known.counted)
    befores, afters = sorted(ends.items()), sorted(begins.items())
    last = len(starts) - 2
    some: list[int] = []
    there: list[Range] = []
    enough: list[float] = []
    for i, number in enumerate(asked.tolist()):
        windows: list[tuple[int, int, float]] = []
        place = bisect_left(befores, (number, 0))
        before = befores[place - 1] if place else None
        place = bisect_left(afters, (number + 1, 0))
        after = afters[place] if place < len(afters) else None
        near = all(one is not None and abs(number - one[0]) <= NEAR for one in (before, after))
        if near or (len(known.support) and known.support[number] >= SURELY):
            low, high = _between(number, before, after, last)
            if low <= high:
                least = FARTHER * math.log(high - low + 2) / math.log(last + 2)
                windows.append((low, high, BETWEEN if near else max(BETWEEN, least)))
        if number - 1 in link_ends:
            windows.append((link_ends[number - 1], link_ends[number - 1] + 1, BESIDE))
        if number + 1 in link_begins:
            windows.append((link_begins[number + 1] - 1, link_begins[number + 1], BESIDE))
        for low, high, least in windows:
            some.append(i)
            enough.append(least)
            there.append((starts[max(0, low)], starts[min(high, last) + 1]))
    return np.array(some, np.int64), np.array(there, np.int64).reshape(-1, 2), np.array(enough)


def _between(number: int, before: Range | None, after: Range | None, last: int) -> Range:
    """The first and the last sentence of the other text between the places of two neighbours of a sentence, each a
    number and its place, or up to as far as its distance from one allows. The last comes first where there is none."""
    if before is not None and after is not None:
        few = after[1] - before[1] <= STRIDE * (after[0] - before[0])
        return (before[1], after[1]) if few else (0, -1)
    if before is not None:
        return before[1], min(last, before[1] + STRIDE * (number - before[0] + 1))
    if after is not None:
        return max(0, after[1] - STRIDE * (after[0] - number + 1)), after[1]
    return 0, -1


def _not_told(
    sentences: Sentences, pair: tuple[int, int], passages: Sequence[Passage]
) -> tuple[Numbers, Ranges]:
    """Numbers of the sentences of the first text of which no passage tells, or only of the smaller part, and what is
    left of each."""
    x, y = pair
    borders = sentences.of(x) if sentences.listed(y)[-1] else sentences.of(y)[:1]
    told = sorted((p.a_start, p.a_end) for p in passages if p.origin != "summed")
    starts, ends = (np.array([one[side] for one in told], np.uint32) for side in (0, 1))
    numbers, parts = kernels.untold_parts(borders, starts, ends)
    # Where a reworded passage ends inside a sentence is a guess: the sentence is asked about as a whole.
    for p in passages:
        if p.origin not in SUMMARIES and p.score < REWORDED_BELOW:
            for word in (p.a_start, p.a_end - 1):
                number = sentences.number(x, word)
                at = int(np.searchsorted(numbers, number))
                if at < len(numbers) and numbers[at] == number:
                    parts[at] = borders[number], borders[number + 1]
    return numbers, parts


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
