"""Two texts → the passages they share, rewording seen through (K2, M15).

`matches.align` finds runs of equal words to the letter; the kernel `passages` finds what was reworded, shuffled,
translated there and back, or summed up. Here the two become one list: an exact passage keeps its borders, a reworded
one takes in the short runs inside it, and every passage is told once. What is too little to be sure of comes apart,
as *possible*. Explained in docs/explanation/passages.md, with figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from doublet import kernels
from doublet.kernels.reference.passages import SUMMARY, SUMMED, WEAK
from doublet.kernels.settings import PassageOptions
from doublet.matches.align import (
    REWORDED_BELOW,
    SUMMARIES,
    AlignOptions,
    Passage,
    exact_passages,
    name_passages,
)
from doublet.matches.cover import union_length
from doublet.matches.own_sentences import cut_own
from doublet.matches.places import Sentences
from doublet.matches.sentences import Linked, goes_on, link_neighbours, link_sentences
from doublet.matches.stems import StemmedTexts
from doublet.text.tokens import TokenBatch

SOLID_SCORE = 0.97  #: share of equal words from which an exact passage is not a part of a reworded one …
SOLID_LENGTH = 256  #: … when it has so many characters
PIECE_WORDS = 25  #: the least that may be left of a reworded passage beside a solid one
PIECE_SCORE = 0.35
SAME = 0.95  #: share of a reworded passage that makes an exact one the same
MOVED = 0.9  #: share of its words in the checked text that are equal runs, in whatever order: these are told
ELSEWHERE = 0.25  #: share of a reworded passage in equal runs that stand in another place of the source: these are told
HELD = 0.65  #: share of a reworded passage in equal runs from which they hold its borders …
LEFT_OUT_WORDS = 25  #: … when so many words of the source stand between two of them
PARTS_LENGTH = 2000  #: characters, about a page: longer stretches in another order are shown part by part
PARTS_GAP = 12  #: words between two parts of a passage whose sentences were moved about
PARTS_SHARE = 0.8  #: of its words, on both sides, that stand in the parts
PARTS_LONGEST = 400  #: characters from which a part is shown for itself
# Chosen on the part "tune" of benchmarks/unseen.py, where all that counts has plagdet .953 (.897 when every run of six
# words did). A shorter run that is a sentence counts as one (`matches.sentences`).
RUN_WORDS, RUN_LENGTH = 15, 80  #: words and characters from which an equal run counts by itself, …
RUN_SHARE = 0.1  #: … or this share of the words of the shorter text, …
RUN_DISTANCE = (
    12  #: … or when at most so many words lie between it and another passage that counts, in both texts
)
COVERED = 0.98  #: share of both texts from which there is nothing left to look for


@dataclass(slots=True)
class SharedPassages:
    """What two texts share: *passages* count, *possible* ones are too little to be sure of. Both in order of a."""

    passages: list[Passage]
    possible: list[Passage]


def find_reworded(
    texts: StemmedTexts,
    pairs: Sequence[tuple[int, int]],
    options: PassageOptions | None = None,
    *,
    threads: int = 1,
) -> list[list[Passage]]:
    """Of each pair (numbers of texts) what the kernel finds, in order of the first text."""
    options = options or PassageOptions()
    left, right = (np.array([pair[i] for pair in pairs], np.uint32) for i in (0, 1))
    words = texts.words
    columns = kernels.passages(
        texts.stems,
        texts.marks,
        words.starts,
        words.ends,
        words.offsets,
        left,
        right,
        options,
        threads,
    )
    ends = columns[0].tolist()
    rows = [_passage(row) for row in zip(*(column.tolist() for column in columns[1:]), strict=True)]
    return [rows[ends[i] : ends[i + 1]] for i in range(len(pairs))]


def find_all(
    texts: StemmedTexts,
    pairs: Sequence[tuple[int, int]],
    align: AlignOptions | None = None,
    options: PassageOptions | None = None,
    *,
    exact: Sequence[list[Passage]] | None = None,
    threads: int = 1,
) -> list[SharedPassages]:
    """Of each pair all that the two texts share. *exact* are the passages of equal words, if they were found before.

    Where those cover both texts there is nothing left to look for, and the rest is not done.
    """
    options = options or PassageOptions()
    words = texts.words
    alone = [words.one(i) for i in range(len(words))] if exact is None else []
    if exact is None:
        exact = [exact_passages(alone[x].hashes, alone[y].hashes, align) for x, y in pairs]
    sizes = np.diff(words.offsets).astype(np.int64).tolist()
    open_pairs = [
        i
        for i, (x, y) in enumerate(pairs)
        if not (_covers(exact[i], sizes[x], 0) and _covers(exact[i], sizes[y], 1))
    ]
    reworded: list[list[Passage]] = [[] for _ in pairs]
    for i, rows in zip(
        open_pairs,
        find_reworded(texts, [pairs[i] for i in open_pairs], options, threads=threads),
        strict=True,
    ):
        reworded[i] = rows
    both = [_Pair(texts, x, y, options) for x, y in pairs]
    out = [join(exact[i], reworded[i], one) for i, one in enumerate(both)]
    sentences = Sentences(texts)
    cut = cut_own(texts, pairs, [one.passages for one in out], sentences, threads=threads)
    for one, pair, pieces in zip(out, both, cut, strict=True):
        whole = set(map(id, one.passages))
        for piece in pieces:
            if id(piece) not in whole:
                before, piece.equal = piece.equal, pair.equal(piece)
                piece.mass *= piece.equal / before if before else 0.0
        one.passages = pieces
    links = link_sentences(texts, pairs, cut, sentences, threads=threads)
    links = link_neighbours(texts, pairs, cut, links, sentences, threads=threads)
    return [_with_sentences(*row) for row in zip(out, links, both, strict=True)]


def _with_sentences(found: SharedPassages, linked: Linked, pair: _Pair) -> SharedPassages:
    """The passages of two texts and their single sentences, each place told once.

    A sentence that goes on with a passage in both texts was looked at when the passage got its borders. It is taken in
    when it is nearly the same; otherwise it is only possible.
    """
    summed = [p for p in found.passages if p.origin == "summed"]
    linked = Linked(
        *(
            [p for p in some if not any(_sums_up(other, p) for other in summed)]
            for some in (linked.counted, linked.possible)
        )
    )
    for p in (*linked.counted, *linked.possible):
        p.equal = pair.equal(p)
        p.kind = "edited" if p.score >= REWORDED_BELOW else "reworded"
    passages, possible = list(found.passages), [*found.possible]
    for one in linked.counted:
        whole = next((p for p in found.passages if goes_on(one, p)), None)
        if whole is None:
            passages.append(one)
        elif one.score < REWORDED_BELOW:
            possible.append(one)
        else:
            whole.a_start, whole.a_end = min(whole.a_start, one.a_start), max(whole.a_end, one.a_end)
            whole.b_start, whole.b_end = min(whole.b_start, one.b_start), max(whole.b_end, one.b_end)
            whole.mass += one.mass
            whole.equal = pair.equal(whole)
    possible += [p for p in linked.possible if not any(_covered(p, other) for other in possible)]
    free = [p for p in possible if not any(_covered(p, other) for other in passages)]
    return SharedPassages(sorted(passages, key=_order), sorted(free, key=_order))


class _Pair:
    """Two texts of a batch: lengths in characters, and stems."""

    def __init__(self, texts: StemmedTexts, a: int, b: int, options: PassageOptions) -> None:
        self.options = options
        self._texts = texts
        offsets = texts.words.offsets
        self._at = int(offsets[a]), int(offsets[b])
        self.sizes = int(offsets[a + 1]) - self._at[0], int(offsets[b + 1]) - self._at[1]

    def length(self, side: int, start: int, end: int) -> int:
        words, at = self._texts.words, self._at[side]
        return int(words.ends[at + end - 1]) - int(words.starts[at + start])

    def lengths(self, p: Passage) -> tuple[int, int]:
        return self.length(0, p.a_start, p.a_end), self.length(1, p.b_start, p.b_end)

    def equal(self, p: Passage) -> int:
        """Stems that both sides hold."""
        stems, (a, b) = self._texts.stems, self._at
        left, right = stems[a + p.a_start : a + p.a_end], stems[b + p.b_start : b + p.b_end]
        numbers = np.unique(np.concatenate([left, right]), return_inverse=True)[1]
        counts = (np.bincount(part, minlength=len(numbers)) for part in np.split(numbers, [len(left)]))
        return int(np.minimum(*counts).sum())

    def sentences(self, start: int, end: int) -> tuple[int, int]:
        """The range of words of a, stretched to the beginning of its first sentence and the end of its last."""
        at, marks = self._at[0], self._texts.marks
        while start > 0 and not marks[at + start]:
            start -= 1
        while end < self.sizes[0] and not marks[at + end]:
            end += 1
        return start, end

    def long(self, p: Passage) -> bool:
        shorter, longer = sorted(self.lengths(p))
        return shorter >= self.options.strong_length and longer >= self.options.strong_longer


def join(exact: Sequence[Passage], reworded: Sequence[Passage], pair: _Pair) -> SharedPassages:
    """One list of passages, each told once.

    A solid exact passage is cut out of the reworded one around it; shorter runs become a part of it. A passage whose
    sentences stand in another order is one passage, *moved*.
    """
    kept = list(exact)
    solid = [p for p in kept if p.score >= SOLID_SCORE and min(pair.lengths(p)) >= SOLID_LENGTH]
    is_solid = set(map(id, solid))
    counted: list[Passage] = []
    possible: list[Passage] = []
    for found in reworded:
        if found.strength == "weak":
            possible.append(found)
            continue
        if found.origin == "summed":
            counted.append(found)
            continue
        for piece in _cut(found, solid, pair):
            part = [p for p in kept if _inside(p, piece) and id(p) not in is_solid]
            if _tell(part, piece) or _elsewhere(part, piece):
                continue
            plain = [p for p in part if p.score >= SOLID_SCORE] if piece.origin == "words" else []
            if union_length((p.a_start, p.a_end) for p in plain) >= MOVED * (piece.a_end - piece.a_start):
                if not _moved_about(plain, piece, pair):
                    continue
                piece.origin, piece.kind, piece.parts = "parts", "moved", len(plain)
            gone = set(map(id, part))
            kept = [p for p in kept if id(p) not in gone]
            if piece.origin == "words":
                _hold(piece, part, pair)
            if piece.origin not in SUMMARIES:
                for p in part:
                    if _overlap(p.b_start, p.b_end, piece.b_start, piece.b_end):
                        piece.a_start, piece.a_end = min(piece.a_start, p.a_start), max(piece.a_end, p.a_end)
                        piece.b_start, piece.b_end = min(piece.b_start, p.b_start), max(piece.b_end, p.b_end)
                piece.equal = pair.equal(piece)
            if piece.origin == "words":
                piece.kind = "edited" if piece.score >= REWORDED_BELOW else "reworded"
            kept += [p for p in part if not _inside(p, piece)]  # runs beyond the borders that it has now
            counted.append(piece)
    moved = [p for p in counted if p.origin == "parts"]
    passages = sorted(
        [*_parts([*kept, *moved], pair), *(p for p in counted if p.origin != "parts")], key=_order
    )
    name_passages(passages)
    passages, short = _counted(passages, *pair.sizes, pair.length)
    free = [p for p in possible if not any(_covered(p, other) for other in passages)]
    return SharedPassages(passages, sorted([*short, *free], key=_order))


def count_runs(passages: Sequence[Passage], a: TokenBatch, b: TokenBatch) -> SharedPassages:
    """Passages of equal words of two texts: those that count, and those of a few words, which are only possible."""

    def length(side: int, start: int, end: int) -> int:
        words = (a, b)[side]
        return int(words.ends[end - 1]) - int(words.starts[start])

    return SharedPassages(*_counted(passages, len(a.hashes), len(b.hashes), length))


def _counted(
    passages: Sequence[Passage], size_a: int, size_b: int, length: Callable[[int, int, int], int]
) -> tuple[list[Passage], list[Passage]]:
    """A few equal words are no borrowing: a name with its title, a stock phrase. They count where they are a good part
    of a text, or where they stand beside what counts."""
    least = RUN_SHARE * min(size_a, size_b)

    def enough(p: Passage) -> bool:
        words = p.a_end - p.a_start
        return (
            p.origin != "runs"
            or words >= least
            or (words >= RUN_WORDS and length(0, p.a_start, p.a_end) >= RUN_LENGTH)
        )

    long = [p for p in passages if enough(p)]
    if len(long) == len(passages):
        return list(passages), []
    sure = set(map(id, long))
    counted, possible = [], []
    for p in passages:
        near = id(p) in sure or any(
            max(p.a_start, other.a_start) - min(p.a_end, other.a_end) <= RUN_DISTANCE
            and max(p.b_start, other.b_start) - min(p.b_end, other.b_end) <= RUN_DISTANCE
            for other in long
        )
        if near:
            counted.append(p)
        else:
            p.strength = "weak"
            possible.append(p)
    return counted, possible


def _parts(exact: Sequence[Passage], pair: _Pair) -> list[Passage]:
    """Neighbouring runs that are one passage, its sentences in another order, as one: *moved*.

    Together they must fill a place of both texts, each word of it once; runs that follow each other, and blocks that
    are long by themselves, stay as they are.
    """
    runs = sorted(exact, key=_order)
    out: list[Passage] = []
    first = 0
    while first < len(runs):
        whole, last = _rearranged(runs, first, pair)
        out.append(whole or runs[first])
        first = last + 1
    return out


def _rearranged(runs: Sequence[Passage], first: int, pair: _Pair) -> tuple[Passage | None, int]:
    """The longest passage of runs in another order that begins with the run *first*, and its last run."""
    found: Passage | None = None
    last = first
    start = runs[first].a_start
    low, high = runs[first].b_start, runs[first].b_end
    in_a = in_b = equal = parts = 0
    rising = True
    there: set[int] = set()  # words of b that the runs so far fill
    for i in range(first, len(runs)):
        r, before = runs[i], runs[max(first, i - 1)]
        if (
            r.a_start - before.a_end > PARTS_GAP
            or (r.origin == "runs" and pair.length(0, r.a_start, r.a_end) >= PARTS_LONGEST)
            or pair.length(0, start, r.a_end) > PARTS_LENGTH
        ):
            break
        rising = rising and r.origin == "runs" and (i == first or r.b_start >= before.b_end)
        low, high = min(low, r.b_start), max(high, r.b_end)
        in_a, in_b = in_a + r.a_end - r.a_start, in_b + r.b_end - r.b_start
        equal, parts = equal + r.equal, parts + r.parts
        there.update(range(r.b_start, r.b_end))
        if (
            rising
            or i == first
            or in_a < PARTS_SHARE * (r.a_end - start)
            or in_b < PARTS_SHARE * (high - low)
        ):
            continue
        if len(there) >= PARTS_SHARE * max(in_b, high - low):  # less than *in_b* where a place was used twice
            found = Passage(start, r.a_end, low, high, equal, "moved", origin="parts", parts=parts)
            last = i
    if found is not None:  # words of b that two runs have are equal once
        found.equal = min(found.equal, pair.equal(found))
    return found, last


def _order(p: Passage) -> tuple[int, int, int, int]:
    return p.a_start, p.a_end, p.b_start, p.b_end


def _overlap(start: int, end: int, other_start: int, other_end: int) -> bool:
    return start < other_end and other_start < end


def _inside(p: Passage, piece: Passage) -> bool:
    """Whether *p* is a part of what *piece* tells: it overlaps in both texts, or half of it lies there in a."""
    common = min(p.a_end, piece.a_end) - max(p.a_start, piece.a_start)
    if common <= 0:
        return False
    both = _overlap(p.b_start, p.b_end, piece.b_start, piece.b_end)
    return both or 2 * common >= p.a_end - p.a_start


def _covered(p: Passage, other: Passage) -> bool:
    """Whether *other* tells half of *p* already, or the same place of both texts."""
    if other.origin == "summed":
        return False  # a long place, of which b has only a summary
    common = min(p.a_end, other.a_end) - max(p.a_start, other.a_start)
    return 2 * common >= p.a_end - p.a_start


def _sums_up(summed: Passage, p: Passage) -> bool:
    """Whether the summary of a place tells of *p*: a sentence there and the part of the summary that it became."""
    return (
        _overlap(p.a_start, p.a_end, summed.a_start, summed.a_end)
        and summed.b_start <= p.b_start
        and p.b_end <= summed.b_end
    )


def _tell(part: Sequence[Passage], piece: Passage) -> bool:
    """Whether one exact passage tells all but all of what the reworded one says, with sharper borders."""
    words_a, words_b = piece.a_end - piece.a_start, piece.b_end - piece.b_start
    return piece.origin == "words" and any(
        min(p.a_end, piece.a_end) - max(p.a_start, piece.a_start) >= SAME * words_a
        and min(p.b_end, piece.b_end) - max(p.b_start, piece.b_start) >= SAME * words_b
        for p in part
    )


def _elsewhere(part: Sequence[Passage], piece: Passage) -> bool:
    """Whether much of a reworded passage stands in other places of the source than it says, as equal runs show. Its
    place is then a guess, as of what is left beside a solid run in a text whose sentences were shuffled."""
    runs = [
        p
        for p in part
        if p.score >= SOLID_SCORE and not _overlap(p.b_start, p.b_end, piece.b_start, piece.b_end)
    ]
    elsewhere = union_length((p.a_start, p.a_end) for p in runs)
    return piece.origin == "words" and elsewhere >= ELSEWHERE * (piece.a_end - piece.a_start)


def _moved_about(runs: Sequence[Passage], piece: Passage, pair: _Pair) -> bool:
    """Whether a passage that is nearly all equal runs has its sentences in another order, and is short enough to be
    read as one."""
    return (
        any(y.b_start < x.b_end for x, y in pairwise(sorted(runs, key=_order)))
        and max(pair.lengths(piece)) <= PARTS_LENGTH
        and max(pair.lengths(p)[0] for p in runs) < PARTS_LONGEST
    )


def _hold(piece: Passage, part: Sequence[Passage], pair: _Pair) -> None:
    """Where equal runs are most of a reworded passage and leave out a part of the source, it goes no further than the
    sentences in which they stand: words of what was left out would seem to stand in the sentences around."""
    runs = [p for p in part if _overlap(p.b_start, p.b_end, piece.b_start, piece.b_end)]
    if union_length((p.a_start, p.a_end) for p in runs) < HELD * (piece.a_end - piece.a_start):
        return
    places = sorted((p.b_start, p.b_end) for p in runs)
    if max((y[0] - x[1] for x, y in pairwise(places)), default=0) < LEFT_OUT_WORDS:
        return
    low, high = pair.sentences(min(p.a_start for p in runs), max(p.a_end for p in runs))
    piece.a_start, piece.a_end = max(piece.a_start, low), min(piece.a_end, high)


def _covers(passages: Sequence[Passage], words: int, side: int) -> bool:
    return (
        union_length(((p.a_start, p.a_end), (p.b_start, p.b_end))[side] for p in passages) >= COVERED * words
    )


def _cut(found: Passage, solid: Sequence[Passage], pair: _Pair) -> list[Passage]:
    """What is left of a reworded passage beside the solid ones: itself, or pieces that say enough on their own."""
    inside = [p for p in solid if _overlap(p.a_start, p.a_end, found.a_start, found.a_end)]
    if not inside:
        return [found]
    out = []
    a_from, b_from = found.a_start, found.b_start
    borders = [(p.a_start, p.a_end, p.b_start, p.b_end) for p in inside]
    borders.append((found.a_end, found.a_end, found.b_end, found.b_end))
    for a_start, a_end, b_start, b_end in borders:
        if a_start - a_from >= PIECE_WORDS and b_start - b_from >= PIECE_WORDS:
            piece = Passage(
                a_from, a_start, b_from, min(b_start, found.b_end), 0, "reworded", origin=found.origin
            )
            piece.equal = pair.equal(piece) if piece.b_end > piece.b_start else 0
            if piece.score >= PIECE_SCORE and pair.long(piece):
                out.append(piece)
        a_from, b_from = max(a_from, a_end), max(b_from, min(b_end, found.b_end))
    return out


def _passage(row: tuple[Any, ...]) -> Passage:
    a_start, a_end, b_start, b_end, equal, mass, _, _, kind = row
    strength = "weak" if kind == WEAK else "strong"
    origin = {SUMMARY: "summary", SUMMED: "summed"}.get(kind, "words")
    place = (a_start, a_end, b_start, b_end)
    return Passage(*place, equal, "reworded", strength=strength, origin=origin, mass=mass)
