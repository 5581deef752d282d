"""Passages, sentence by sentence: what inside them is the author's own, and which single sentences were reworded.

A passage is found as a whole and may swallow own sentences that stand between borrowed ones. `cut_own` looks for each
of its sentences in the other side; where nearly nothing of a sentence is there, the passage is cut and goes on behind
it. `link_sentences` looks for the sentences of which no passage tells, each in the whole other text. Explained in
docs/explanation/passages.md, with figures.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from doublet import kernels
from doublet.kernels.reference.passages import SENTENCE, cut_sentences
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


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a range of words stands in the other text, and what the two weigh: together, and each alone."""

    start: int
    end: int
    mass: float
    whole: float
    there: float
    heaviest: float  #: what the range and any one place have in common, at most

    @property
    def close(self) -> float:
        """0 to 1: how much of both is common."""
        return self.mass / (self.whole * self.there) ** 0.5 if self.mass else 0.0

    @property
    def worth(self) -> float:
        return self.mass * self.close


@dataclass(frozen=True, slots=True)
class Asked:
    """A range of words of text *a*, to be looked for in a range of text *b* (numbers of texts)."""

    a: int
    b: int
    range: Range
    among: Range


def find_places(texts: StemmedTexts, asked: Sequence[Asked], *, threads: int = 1) -> list[Place]:
    """The best place of each."""
    if not asked:
        return []
    order = sorted(range(len(asked)), key=lambda i: (asked[i].a, asked[i].b))
    pairs: list[tuple[int, int]] = []
    firsts: list[int] = []
    for row, i in enumerate(order):
        pair = (asked[i].a, asked[i].b)
        if not pairs or pairs[-1] != pair:
            pairs.append(pair)
            firsts.append(row)
    borders = np.array([(*asked[i].range, *asked[i].among) for i in order], np.uint32)
    left, right = (np.array([pair[side] for pair in pairs], np.uint32) for side in (0, 1))
    a0, a1, b0, b1 = (np.ascontiguousarray(borders[:, i]) for i in range(4))
    columns = kernels.best_places(
        texts.stems,
        texts.roots,
        texts.marks,
        texts.words.offsets,
        left,
        right,
        np.array([*firsts, len(asked)], np.uint64),
        a0,
        a1,
        b0,
        b1,
        threads,
    )
    out: list[Place | None] = [None] * len(asked)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for i, measures in zip(order, rows, strict=True):
        out[i] = Place(*measures)
    return [one for one in out if one is not None]


def sentence_starts(texts: StemmedTexts, text: int) -> list[int]:
    """First words of the sentences of a text, and its end."""
    marks = texts.marks[texts.words.slice(text)]
    return cut_sentences(np.flatnonzero(marks & SENTENCE).tolist(), len(marks))


def _within(starts: Sequence[int], low: int, high: int) -> list[Range]:
    """The sentences inside a range of words, the first and the last cut to it."""
    return [
        (max(first, low), min(end, high)) for first, end in pairwise(starts) if first < high and low < end
    ]


def _around(starts: Sequence[int], low: int, high: int) -> Range:
    """A range of words with the sentences before and after it: where a passage ends is a guess."""
    first = max(0, bisect_right(starts, low) - 2)
    last = min(len(starts) - 1, bisect_left(starts, high) + 1)
    return starts[first], starts[last]


def cut_own(
    texts: StemmedTexts,
    pairs: Sequence[tuple[int, int]],
    found: Sequence[list[Passage]],
    *,
    threads: int = 1,
) -> list[list[Passage]]:
    """The passages of each pair without the sentences that only the first text has. One passage may become several."""
    starts = {text: sentence_starts(texts, text) for text in {text for pair in pairs for text in pair}}
    asked: list[Asked] = []
    work: dict[tuple[int, int], list[Range]] = {}
    for number, ((x, y), passages) in enumerate(zip(pairs, found, strict=True)):
        for row, p in enumerate(passages):
            if p.origin == "summary" or (p.origin == "runs" and p.score == 1.0):
                continue
            here = _within(starts[x], p.a_start, p.a_end)
            if len(here) > 1:
                work[number, row] = here
                asked += [Asked(x, y, one, _around(starts[y], p.b_start, p.b_end)) for one in here]
    places = iter(find_places(texts, asked, threads=threads))
    out: list[list[Passage]] = []
    for number, passages in enumerate(found):
        kept: list[Passage] = []
        for row, p in enumerate(passages):
            here = work.get((number, row), [])
            kept += _pieces(p, [(one, next(places)) for one in here]) if here else [p]
        out.append(kept)
    return out


Found = tuple[Range, Place]


def _pieces(p: Passage, sentences: list[Found]) -> list[Passage]:
    """What is left of a passage whose sentences were looked for in the other side."""
    own = _own(sentences)
    pieces = list(_runs(sentences, own)) if any(own) else []
    if not pieces:
        return [p]
    out = []
    for piece in pieces:
        low = min(min(max(place.start, p.b_start), p.b_end - 1) for _, place in piece if place.mass)
        high = max(max(min(place.end, p.b_end), p.b_start + 1) for _, place in piece if place.mass)
        out.append(replace(p, a_start=piece[0][0][0], a_end=piece[-1][0][1], b_start=low, b_end=high))
    return out


def _own(some: Sequence[Found]) -> list[bool]:
    """Of each sentence of a passage whether the other side has nearly nothing of it. How much that is depends on the
    passage: sentences of a heavily reworded one are hardly there, though they were borrowed."""
    borrowed = [place for _, place in some if place.heaviest >= OWN / 2 * place.whole]
    whole = sum(place.whole for place in borrowed)
    held = sum(place.heaviest for place in borrowed) / whole if whole else 1.0
    return [
        place.heaviest < OWN * held * held * place.whole and place.whole - place.heaviest >= OWN_WEIGHT
        for _, place in some
    ]


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
    *,
    threads: int = 1,
) -> list[Linked]:
    """Of each pair the sentences of the first text that were reworded from one of the second, apart from what the
    passages *found* tell."""
    starts = {text: sentence_starts(texts, text) for text in {text for pair in pairs for text in pair}}
    asked: list[Asked] = []
    numbers: list[tuple[int, int]] = []  # of the pair, and of the sentence in its text
    for row, ((x, y), passages) in enumerate(zip(pairs, found, strict=True)):
        told = sorted((p.a_start, p.a_end) for p in passages)
        for number, one in enumerate(pairwise(starts[x]) if starts[y][-1] else ()):
            left = _left(one, told)
            if 2 * (left[1] - left[0]) > one[1] - one[0]:
                asked.append(Asked(x, y, left, (0, starts[y][-1])))
                numbers.append((row, number))
    places = find_places(texts, asked, threads=threads)
    linked: list[list[tuple[int, Found]]] = [[] for _ in pairs]
    for wanted, (row, number), place in zip(asked, numbers, places, strict=True):
        if place.worth >= LEAST_WORTH and place.close >= LEAST_CLOSE:
            linked[row].append((number, (wanted.range, place)))
    return [_settle(some, len(starts[x]) - 1) for some, (x, _) in zip(linked, pairs, strict=True)]


def _left(sentence: Range, told: Sequence[Range]) -> Range:
    """The longest part of a sentence of which no passage tells."""
    best, at = (sentence[0], sentence[0]), sentence[0]
    for start, end in (*told, (sentence[1], sentence[1])):
        if end > at:
            free = (at, min(start, sentence[1]))
            best = max(best, free, key=lambda part: (part[1] - part[0], -part[0]))
            at = max(at, end)
        if at >= sentence[1]:
            break
    return best


def _settle(some: list[tuple[int, Found]], sentences: int) -> Linked:
    """Which of the sentences count: each is supported by those around it. They come with their numbers in the text,
    which has so many *sentences*."""
    counted: list[Found] = []
    possible: list[Found] = []
    enough = ENOUGH * math.log(sentences + FEW)
    for number, one in some:
        around = sum(other.worth for at, (_, other) in some if abs(at - number) <= AROUND)
        (counted if around >= enough else possible).append(one)
    return Linked(_joined(counted), _joined(possible))


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
