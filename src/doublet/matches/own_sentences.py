"""Sentences inside a passage that are the author's own.

A passage is found as a whole and may swallow own sentences that stand between borrowed ones. `cut_own` looks for each
of its sentences in the other side; where nearly nothing of a sentence is there, the passage is cut and goes on behind
it. Explained in docs/explanation/passages.md, with figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from doublet.matches.align import SUMMARIES, Passage
from doublet.matches.places import Found, Numbers, Place, Range, Sentences, find_places
from doublet.matches.stems import StemmedTexts

# Chosen on "tune" of the question "own sentences" (benchmarks/unseen.py), and held against PAN's passages, where each
# needless cut costs. Own sentences flagged (ru, en) and plagdet of all that counts: as it is .045, .044 and .952; OWN
# halved .116, .150 and .953, doubled .031, .035 and .945; OWN_WEIGHT halved .040, .035 and .947, doubled .144, .147
# and .954.
OWN = 0.35  #: times the square of what the other side holds of the passage: a sentence of which it holds less is own …
OWN_WEIGHT = 20.0  #: … when what it does not hold weighs so much: a few words say too little
# Chosen on "tune" of made essays in checks and of written ones (hands e and h), looked at on "choose". Own sentences
# flagged among verbatim and light ones (made ru, en) and in written essays (of 90), heavily reworded ones found there
# (of 139): as it is .045, .029, 9 and 125; halved .056, .035, 19 and 127; at .8 .048, .023, 7 and 115; by OWN and
# OWN_WEIGHT as in `compare` .077, .047, 22 and 127. With PAN's texts even .4 would cost `compare` .003 of plagdet.
COMPOSED = 0.6  #: where a text was put together (`is_composed`): times what is held, and times OWN_WEIGHT


def cut_own(
    texts: StemmedTexts,
    pairs: Sequence[tuple[int, int]],
    found: Sequence[list[Passage]],
    sentences: Sentences,
    *,
    composed: bool = False,
    threads: int = 1,
) -> list[list[Passage]]:
    """The passages of each pair without the sentences that only the first text has. One passage may become several.
    *composed*: the first text was put together from passages of several documents, and more of what is in between is
    its author's. What is rare in general has a say in what words weigh then: short own sentences have little more in
    common with a passage than small words."""
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
        rare=composed,
        threads=threads,
    )
    end = len(places.start)
    for (number, row), here in zip(reversed(rows), reversed(ranges), strict=True):
        part = slice(end - len(here), end)
        end = part.start
        own = _own(places.whole[part], places.heaviest[part], composed=composed)
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


def is_composed(found: Sequence[list[Passage]]) -> bool:
    """Whether a text was put together from several documents, by its passages in each: one has a strong passage where
    the one that was used most has nothing. Copies of one document tell of the same places."""
    told = [[p for p in passages if p.origin not in SUMMARIES] for passages in found]
    most = max(told, key=lambda some: sum(p.a_end - p.a_start for p in some), default=[])
    return any(
        p.strength == "strong" and not any(p.a_start < q.a_end and q.a_start < p.a_end for q in most)
        for some in told
        for p in some
    )


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
    turned = [p.turned() for p in passages if p.origin != "summary"]
    (pieces,) = cut_own(texts, [pair[::-1]], [turned], Sentences(texts))
    return [(p.a_start, p.a_end) for p in pieces]


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


def _own(
    whole: NDArray[np.float64], heaviest: NDArray[np.float64], *, composed: bool = False
) -> NDArray[np.bool_]:
    """Of each sentence of a passage whether the other side has nearly nothing of it. How much that is depends on the
    passage: sentences of a heavily reworded one are hardly there, though they were borrowed."""
    borrowed = heaviest >= OWN / 2 * whole
    all_borrowed = float(whole[borrowed].sum())
    held = float(heaviest[borrowed].sum()) / all_borrowed if all_borrowed else 1.0
    least, weight = (COMPOSED * held, COMPOSED * OWN_WEIGHT) if composed else (OWN * held * held, OWN_WEIGHT)
    own: NDArray[np.bool_] = (heaviest < least * whole) & (whole - heaviest >= weight)
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
