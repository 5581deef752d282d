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
from doublet.matches.places import Found, Numbers, Place, Places, Range, Sentences, find_places
from doublet.matches.stems import StemmedTexts

# Chosen on "tune" (benchmarks/unseen.py), each with half and twice its value: plagdet of all that counts with PAN's
# texts, where each needless cut costs; own sentences flagged by `compare` in written essays (of 488, with "choose");
# and short ones between sentences retold lightly and heavily, in Russian. As it is .955, 24 and .217, .388.
# KEEPS .944, 20, .190, .156 and .955, 24, .369, .388. With .7 it would be .190 and .380, but one strong passage in 230
# that was reworded at random is lost. The others were measured with .7 (.955, 24 and .190, .380 as they are):
# OWN .955, 25, .195, .383 and .950, 16, .155, .349 (then 27 of 448 heavily reworded sentences are lost).
# OWN_WORDS .943, 20, .167, .151 and .955, 43, .369, .856. APART .955, 75, .259, .493 and .915, 8, .150, .276.
# SHOWN .943, 14, .157, .198 and .955, 38, .489, .741.
OWN = 0.35  #: times the square of what the other side holds of the passage: a sentence of which it holds less is own …
OWN_WORDS = 6.0  #: … when what it does not hold weighs as much as so many words do there: a few words say too little. …
KEEPS = 0.8  #: … Where that is held of a passage, half as many words are enough
APART = 0.2  #: a sentence that is less close than this to its best place may be own, …
SHOWN = 2  #: … and is where so many sentences inside the passages of the text may be
# Where room has no say: .955, 24 and .217, .388, as above. As it is .955, 24, .192, .227, and on "choose" .117 and .209
# instead of .123 and .400. With two .954, 24, .177, .178, but the floor of words replaced at random is missed; with six
# .955, 24, .217, .315.
SPARE = 3  #: so many show it, too, that are less close than that, and for which the other side has no room
# With 6 .953, 23, .182, .341, and with 24 .955, 25 and the same.
LONE = 12  #: words: a shorter sentence by itself is own only where so many may be, too


def cut_own(
    texts: StemmedTexts,
    pairs: Sequence[tuple[int, int]],
    found: Sequence[list[Passage]],
    sentences: Sentences,
    *,
    together: bool = False,
    threads: int = 1,
) -> list[list[Passage]]:
    """The passages of each pair without the sentences that only the first text has. One passage may become several.
    *together*: pairs with the same first text have a say in each other, as in a check: own sentences between passages
    of one document make others more likely between those of the next."""
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
    asked_at_once = list(pairwise([*starts, len(rows)]))
    places = find_places(
        texts,
        [asked[first] for first, _ in asked_at_once],
        [np.concatenate(ranges[first:last]) for first, last in asked_at_once],
        [
            np.repeat(np.array(among[first:last], np.int64), [len(r) for r in ranges[first:last]], axis=0)
            for first, last in asked_at_once
        ],
        rare=False,
        threads=threads,
    )
    ends = np.cumsum([len(here) for here in ranges]).tolist()
    parts = [slice(end - len(here), end) for end, here in zip(ends, ranges, strict=True)]
    texts_of = [pairs[number][0] if together else number for number, _ in rows]
    numbers = [
        np.array([sentences.number(x, start) for start in here[:, 0].tolist()])
        for (x, _), here in zip(asked, ranges, strict=True)
    ]
    words = [here[:, 1] - here[:, 0] for here in ranges]
    spare = [
        _without_room(sentences, pairs[number][1], here, places, part)
        for (number, _), here, part in zip(rows, ranges, parts, strict=True)
    ]
    every = _own(places, parts, numbers, words, texts_of, spare)
    for (number, row), here, part in zip(reversed(rows), reversed(ranges), reversed(parts), strict=True):
        own = every[part]
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
    places: Places,
    parts: Sequence[slice],
    numbers: Sequence[Numbers],
    words: Sequence[Numbers],
    texts: Sequence[int],
    spare: Sequence[NDArray[np.bool_]],
) -> NDArray[np.bool_]:
    """Of each sentence of some passages, whose places are these *parts*, whether the other side has nearly nothing of
    it. The passages are parts of these *texts*, and their sentences have these *numbers* and so many *words*. For those
    that are *spare* the other side has no room.

    How much that is depends on the passage: sentences of a heavily reworded one are hardly there, though they were
    borrowed. What tells own ones there is that nothing is like them as a whole. One such sentence may be borrowed all
    the same, and so may a short one of which nothing is left; whoever puts own sentences between borrowed ones does so
    again.
    """
    missing, apart = places.whole - places.heaviest, _apart(places)
    own, short = np.zeros(len(apart), np.bool_), np.zeros(len(apart), np.bool_)
    shown: dict[int, set[int]] = {text: set() for text in texts}
    left_over: dict[int, set[int]] = {text: set() for text in texts}
    for part, here, sizes, text, no_room in zip(parts, numbers, words, texts, spare, strict=True):
        whole, heaviest = places.whole[part], places.heaviest[part]
        borrowed = heaviest >= OWN / 2 * whole
        all_borrowed = float(whole[borrowed].sum())
        held = float(heaviest[borrowed].sum()) / all_borrowed if all_borrowed else 1.0
        wanted = OWN_WORDS * float(whole.sum()) / max(1, int(sizes.sum())) / (2 if held >= KEEPS else 1)
        enough, short[part] = missing[part] >= wanted, no_room | (missing[part] >= wanted / 2)
        own[part] = (heaviest < OWN * held * held * whole) & enough
        shown[text].update(here[own[part] | (apart[part] & enough)].tolist())
        left_over[text].update(here[apart[part] & no_room].tolist())
    for part, sizes, text in zip(parts, words, texts, strict=True):
        if len(shown[text]) >= SHOWN or len(shown[text] | left_over[text]) >= SPARE:
            own[part] |= apart[part] & short[part]
        else:
            beside = np.pad(own[part], 1)
            own[part] &= (sizes >= LONE) | beside[:-2] | beside[2:]
    return own


def _apart(places: Places) -> NDArray[np.bool_]:
    """Which sentences are like nothing in the other side."""
    apart: NDArray[np.bool_] = places.close < APART
    return apart


def _without_room(
    sentences: Sentences,
    other: int,
    here: Numbers,
    places: Places,
    part: slice,
) -> NDArray[np.bool_]:
    """Which of the sentences of a passage have no room in the *other* text: from the place of the sentence before them
    to that of the one after them it has fewer words than the passage has. So there is nothing that they could have been
    made from. A sentence that was reworded beyond recognition has left one behind, which lies between those places."""
    out = np.zeros(len(here), np.bool_)
    starts = sentences.listed(other)
    known = np.flatnonzero(~_apart(places)[part]).tolist()
    for before, after in pairwise(known):
        if after - before == 1:
            continue
        first, second, last = (
            sentences.number(other, word)
            for word in (
                int(places.start[part][before]),
                int(places.start[part][after]),
                int(places.end[part][after]) - 1,
            )
        )
        if first <= second and starts[last + 1] - starts[first] < here[after, 1] - here[before, 0]:
            out[before + 1 : after] = True
    return out


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
