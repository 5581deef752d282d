"""Two texts → the passages they share, rewording seen through (K2, M15).

`matches.align` finds runs of equal words to the letter; the kernel `passages` finds what was reworded, shuffled,
translated there and back, or summed up. Here the two become one list: an exact passage keeps its borders, a reworded
one takes in the short runs inside it, and every passage is told once. What is too little to be sure of comes apart,
as *possible*. Explained in docs/explanation/passages.md, with figures.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.kernels.reference.passages import SUMMARY, SUMMED, WEAK
from doublet.kernels.settings import PassageOptions
from doublet.matches.align import (
    REWORDED_BELOW,
    SUMMARIES,
    AlignOptions,
    Passage,
    exact_passages,
    is_strong,
    name_by_words,
    name_passages,
)
from doublet.matches.cover import Cover, RangeIndex, union_length
from doublet.matches.own_sentences import cut_own
from doublet.matches.places import Sentences
from doublet.matches.sentences import Linked, goes_on, link_neighbours, link_sentences
from doublet.matches.stems import StemmedTexts
from doublet.text.tokens import TokenBatch

U64 = NDArray[np.uint64]

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
# Chosen on the part "tune" of benchmarks/unseen.py, where all that counts has plagdet .955 (.897 when every run of six
# words did). A shorter run that is a sentence counts as one (`matches.sentences`). CHANGED_WORDS halved gives .953;
# doubled it is the same, but strong passages alone lose recall (.950, then .948; on "choose" .957 and .955).
# RUN_LENGTH changes nothing there. It is for tables and the axes of plots: twenty numbers in a row are no borrowing.
RUN_WORDS, RUN_LENGTH = 15, 80  #: words and characters from which an equal run counts by itself, …
CHANGED_WORDS = 30  #: … and words from which one does in which some were changed, …
RUN_SHARE = 0.1  #: … or this share of the words of the shorter text, …
RUN_DISTANCE = (
    12  #: … or when at most so many words lie between it and another passage that counts, in both texts
)
# Lightly reworded sentences found in made essays ("choose", ru and en) and plagdet of all that counts on "tune": as it
# is .965, .953 and .955; with .95 .957, .947 and .955, with .8 .965, .953 and .951. Where such runs count before single
# sentences are looked for, fewer of these are found (.957, .933): who copies says nothing about the next sentence.
NEARLY = 0.9  #: share of equal words from which a run of RUN_WORDS counts where no passage and no sentence tells it
SUMMARY_SCORE = (
    0.8  #: share of its words in the place from which a summary is one, taken sentence by sentence or not
)
TOLD = 0.8  #: share of an equal run in passages from which it need not be told again
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
    columns = kernels.passages(
        texts.stems,
        texts.marks,
        texts.starts,
        texts.ends,
        texts.words.offsets,
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
    symmetric: bool = False,
    together: bool = False,
    threads: int = 1,
) -> list[SharedPassages]:
    """Of each pair all that the two texts share. *exact* are the passages of equal words, if they were found before.

    Where those cover both texts there is nothing left to look for, and the rest is not done.

    *symmetric*: which text of a pair is named first has no say in what is strong. Otherwise each word of the first text
    belongs to one passage, as a check wants it.

    *together*: the pairs are one text beside the documents that it is checked with, and what one of these tells of the
    text has a say in what its single sentences are in another.
    """
    asked = pairs
    if symmetric:
        if exact is not None:
            raise ValueError("passages that were found before have their first text")
        pairs = [_longer_first(texts, pair) for pair in asked]
    options = options or PassageOptions()
    words = texts.words
    if exact is None:
        exact = [
            exact_passages(words.hashes[words.slice(x)], words.hashes[words.slice(y)], align)
            for x, y in pairs
        ]
    sizes = [end - start for start, end in pairwise(words.offsets.tolist())]
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
    if symmetric:
        both = [_Pair(texts, x, y, options) for x, y in asked]
        for one, found_in, wanted, pair in zip(out, pairs, asked, both, strict=True):
            _weaken_repeats(one.passages, pair if found_in == wanted else pair.turned())
            if found_in != wanted:
                _turn(one, pair, align)
        pairs = asked
    told = [one.passages for one in out]
    for pair, passages in zip(both, told, strict=True):
        for p in passages:
            p.strength = "strong" if pair.strong(p) else "weak"
    cut = cut_own(texts, pairs, told, sentences, together=together, threads=threads)
    strong = [[p for p in passages if p.strength == "strong"] for passages in told]
    if symmetric and any(len(some) < len(passages) for some, passages in zip(strong, told, strict=True)):
        # Weak ones depend on the order of the texts, so they have no say in what is cut out of strong ones.
        alone = cut_own(texts, pairs, strong, sentences, threads=threads)
        cut = [
            sorted([*some, *(p for p in pieces if p.strength != "strong")], key=_order)
            for some, pieces in zip(alone, cut, strict=True)
        ]
    doubtful = _cut_in_either(texts, pairs, strong, cut, sentences, threads=threads)
    for one, pair, pieces in zip(out, both, cut, strict=True):
        whole = set(map(id, one.passages))
        for piece in pieces:
            if id(piece) not in whole:
                before, piece.equal = piece.equal, pair.equal(piece)
                piece.mass *= piece.equal / before if before else 0.0
        one.passages = pieces
    links = link_sentences(texts, pairs, cut, sentences, together=together, threads=threads)
    links = link_neighbours(texts, pairs, cut, links, sentences, threads=threads)
    out = [_with_sentences(*row, symmetric=symmetric) for row in zip(out, links, both, strict=True)]
    for one, pair in zip(out, both, strict=True):
        for p in one.passages:
            p.strength = "weak" if id(p) in doubtful else p.strength
        for p in (*one.passages, *one.possible):
            name_by_words(p, pair.words(0), pair.words(1))
    return out


def _cut_in_either(
    texts: StemmedTexts,
    pairs: Sequence[tuple[int, int]],
    strong: Sequence[list[Passage]],
    cut: Sequence[list[Passage]],
    sentences: Sentences,
    *,
    threads: int,
) -> set[int]:
    """The *strong* passages (by `id`) out of which own sentences of either text are cut: those that are still whole
    here, and the pieces of the others. *cut* are all passages without the own sentences of the first texts."""
    turned = [[p.turned() for p in passages] for passages in strong]
    there = cut_own(texts, [pair[::-1] for pair in pairs], turned, sentences, threads=threads)
    whole = set(map(id, chain(*strong)))
    whole_there = set(map(id, chain(*there)))
    found = {id(piece) for piece in chain(*cut) if piece.strength == "strong" and id(piece) not in whole}
    for one, other in zip(chain(*strong), chain(*turned), strict=True):
        if id(other) not in whole_there:
            found.add(id(one))
    return found


def _longer_first(texts: StemmedTexts, pair: tuple[int, int]) -> tuple[int, int]:
    """Two texts in an order that follows from their words: what the longer one has several times is told each time."""
    x, y = (
        (len(words), words.tobytes()) for words in (texts.words.hashes[texts.words.slice(i)] for i in pair)
    )
    return pair if x >= y else pair[::-1]


def _weaken_repeats(passages: Sequence[Passage], pair: _Pair) -> None:
    """Of what the first text has several times, and the second once, the best place is strong."""
    strong = [p for p in passages if p.origin not in SUMMARIES and pair.strong(p)]
    if len(strong) < 2:
        return
    strong.sort(key=lambda p: (-p.equal, _order(p)))
    turned = [p.turned() for p in strong]
    told = _Tellers(turned, empty=True)
    for number, p in enumerate(strong):
        if told.tells(turned[number]):
            p.strength = "weak"
        else:
            told.add(number)


def _turn(found: SharedPassages, pair: _Pair, align: AlignOptions | None) -> None:
    """The passages of two texts, for the texts in the other order, which *pair* has.

    Strong ones stay as they are. Of weak ones that tell of the same words of the text that is the first now the best is
    kept, and what it has several times is told each time.
    """
    turned = [p.turned() for p in found.passages]
    kept = [p for p in turned if pair.strong(p)]
    weak = [p for p in turned if not pair.strong(p)]
    kept += _once(sorted(weak, key=lambda p: (-p.equal, _order(p))), kept)
    possible = [p.turned() for p in found.possible]
    if kept and not _covers(kept, pair.sizes[0], 0):
        runs = exact_passages(pair.words(0), pair.words(1), align)
        told = Cover(pair.sizes[0])
        told.add((p.a_start, p.a_end) for p in (*kept, *possible) if p.origin != "summed")
        again = [p for p in runs if told.within(p.a_start, p.a_end) < TOLD * (p.a_end - p.a_start)]
        name_passages(again)
        for p in again:
            p.strength = "weak"
        counted, short = _counted(again, *pair.sizes, pair.length)
        kept, possible = [*kept, *counted], [*possible, *short]
    found.passages, found.possible = sorted(kept, key=_order), sorted(possible, key=_order)


def _with_sentences(found: SharedPassages, linked: Linked, pair: _Pair, *, symmetric: bool) -> SharedPassages:
    """The passages of two texts and their single sentences, each place told once: of possible ones the longest.

    A sentence that goes on with a passage in both texts was looked at when the passage got its borders. It is taken in
    when it is nearly the same; otherwise it is only possible. Sentences are looked for in the first text alone, so
    where strong passages are *symmetric* they stay as they are, and the sentence is told beside them.
    """
    for p in (*linked.counted, *linked.possible):
        p.equal = pair.equal(p)
    told = [*found.passages, *linked.counted]
    found = SharedPassages([p for p in found.passages if not taken_one_by_one(p, told)], found.possible)
    summed = [p for p in found.passages if p.origin == "summed"]
    counted, perhaps = (
        [p for p in some if not any(_sums_up(other, p) for other in summed)]
        for some in (linked.counted, linked.possible)
    )
    passages, possible = list(found.passages), [*found.possible]
    index = _index(found.passages)
    for one in counted:
        beside = [i for i in index.meeting(one.a_start, one.a_end) if goes_on(one, found.passages[i])]
        whole = found.passages[min(beside)] if beside else None
        if whole is None:
            passages.append(one)
        elif one.score < REWORDED_BELOW and (symmetric or whole.score >= REWORDED_BELOW):
            possible.append(one)
        elif symmetric and pair.strong(whole):
            passages.append(one)
        else:
            whole.a_start, whole.a_end = min(whole.a_start, one.a_start), max(whole.a_end, one.a_end)
            whole.b_start, whole.b_end = min(whole.b_start, one.b_start), max(whole.b_end, one.b_end)
            index.put(min(beside), (whole.a_start, whole.a_end))
            whole.mass += one.mass
            whole.equal = pair.equal(whole)
    passages, again = _said_again(passages, pair)
    free = _free([*possible, *again, *perhaps], passages)
    # Of a run with a word changed a sentence tells more, and speaks for those around it; failing that, it counts.
    nearly = [p for p in free if p.origin == "runs" and p.score >= NEARLY and _long_enough(p, pair.length)]
    passages += nearly
    free = _once(sorted(free, key=lambda p: (p.a_start - p.a_end, -p.equal, _order(p))), nearly)
    return SharedPassages(sorted(passages, key=_order), sorted(free, key=_order))


def _said_again(passages: Sequence[Passage], pair: _Pair) -> tuple[list[Passage], list[Passage]]:
    """The passages, and apart from them those that only repeat in other words what was taken already: weak ones whose
    place in the second text strong ones tell. Whoever took a passage speaks of the same things elsewhere, too. What is
    nearly the same to the letter was taken again."""
    taken = Cover(pair.sizes[1])
    taken.add((p.b_start, p.b_end) for p in passages if p.origin not in SUMMARIES and pair.strong(p))

    def again(p: Passage) -> bool:
        if p.origin == "summed" or p.score >= NEARLY or pair.strong(p):
            return False
        return 2 * taken.within(p.b_start, p.b_end) >= p.b_end - p.b_start

    repeated = [p for p in passages if again(p)]
    gone = set(map(id, repeated))
    return [p for p in passages if id(p) not in gone], repeated


class _Pair:
    """Two texts of a batch: lengths in characters, and stems."""

    def __init__(self, texts: StemmedTexts, a: int, b: int, options: PassageOptions) -> None:
        self.options = options
        self._numbers = a, b
        self._texts = texts
        offsets = texts.words.offsets
        self._at = int(offsets[a]), int(offsets[b])
        self.sizes = int(offsets[a + 1]) - self._at[0], int(offsets[b + 1]) - self._at[1]

    def turned(self) -> _Pair:
        """The same with the texts in the other order."""
        return _Pair(self._texts, *self._numbers[::-1], self.options)

    def length(self, side: int, start: int, end: int) -> int:
        texts, at = self._texts, self._at[side]
        return int(texts.ends[at + end - 1]) - int(texts.starts[at + start])

    def lengths(self, p: Passage) -> tuple[int, int]:
        return self.length(0, p.a_start, p.a_end), self.length(1, p.b_start, p.b_end)

    def words(self, side: int) -> U64:
        at = self._at[side]
        return self._texts.words.hashes[at : at + self.sizes[side]]

    def strong(self, p: Passage) -> bool:
        return is_strong(p, self.lengths(p))

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
    solid = [p for p in exact if p.score >= SOLID_SCORE and min(pair.lengths(p)) >= SOLID_LENGTH]
    is_solid = set(map(id, solid))
    kept = dict(enumerate(exact))
    index = _index(exact)
    counted: list[Passage] = []
    possible: list[Passage] = []
    for found in reworded:
        if found.strength == "weak":
            possible.append(found)
            continue
        if found.origin == "summed":  # as a summary, from the other side
            for piece in _cut(found.turned(), [p.turned() for p in solid], pair.turned()):
                for i in [i for i, p in kept.items() if id(p) not in is_solid and _inside(p.turned(), piece)]:
                    del kept[i]
                    index.take(i)
                counted.append(piece.turned())
            continue
        near = sorted(index.meeting(found.a_start, found.a_end))
        for piece in _cut(found, [kept[i] for i in near if id(kept[i]) in is_solid], pair):
            numbers = [
                i for i in near if i in kept and id(kept[i]) not in is_solid and _inside(kept[i], piece)
            ]
            part = [kept[i] for i in numbers]
            if _tell(part, piece) or _elsewhere(part, piece):
                continue
            plain = [p for p in part if p.score >= SOLID_SCORE] if piece.origin == "words" else []
            if union_length((p.a_start, p.a_end) for p in plain) >= MOVED * (piece.a_end - piece.a_start):
                if not _moved_about(plain, piece, pair):
                    continue
                piece.origin, piece.kind, piece.parts = "parts", "moved", len(plain)
            if piece.origin == "words":
                _hold(piece, part, pair)
            if piece.origin not in SUMMARIES:
                for p in part:
                    if _overlap(p.b_start, p.b_end, piece.b_start, piece.b_end):
                        piece.a_start, piece.a_end = min(piece.a_start, p.a_start), max(piece.a_end, p.a_end)
                        piece.b_start, piece.b_end = min(piece.b_start, p.b_start), max(piece.b_end, p.b_end)
                piece.equal = pair.equal(piece)
            for i in numbers:
                if _inside(kept[i], piece):  # not beyond the borders that it has now
                    del kept[i]
                    index.take(i)
            counted.append(piece)
    moved = [p for p in counted if p.origin == "parts"]
    passages = sorted(
        [*_parts([*kept.values(), *moved], pair), *(p for p in counted if p.origin != "parts")], key=_order
    )
    name_passages(passages)
    passages, short = _counted(passages, *pair.sizes, pair.length)
    return SharedPassages(passages, sorted([*short, *_free(possible, passages)], key=_order))


def count_runs(passages: Sequence[Passage], a: TokenBatch, b: TokenBatch) -> SharedPassages:
    """Passages of equal words of two texts: those that count, and those of a few words, which are only possible."""

    def length(side: int, start: int, end: int) -> int:
        words = (a, b)[side]
        return int(words.ends[end - 1]) - int(words.starts[start])

    return SharedPassages(*_counted(passages, len(a.hashes), len(b.hashes), length, same=NEARLY))


Length = Callable[[int, int, int], int]  #: in characters, of a range of words of a side


def _long_enough(p: Passage, length: Length, words: int = RUN_WORDS) -> bool:
    return p.a_end - p.a_start >= words and length(0, p.a_start, p.a_end) >= RUN_LENGTH


def _counted(
    passages: Sequence[Passage], size_a: int, size_b: int, length: Length, *, same: float = SOLID_SCORE
) -> tuple[list[Passage], list[Passage]]:
    """A few equal words are no borrowing: a name with its title, a stock phrase. They count where they are a good part
    of a text, or where they stand beside what counts. From the score *same* on a run needs no more than `RUN_WORDS`."""
    least = RUN_SHARE * min(size_a, size_b)

    def enough(p: Passage) -> bool:
        wanted = RUN_WORDS if p.score >= same else CHANGED_WORDS
        return p.origin != "runs" or p.a_end - p.a_start >= least or _long_enough(p, length, wanted)

    long = [p for p in passages if enough(p)]
    if len(long) == len(passages):
        return list(passages), []
    sure = set(map(id, long))
    index = _index(long)
    counted, possible = [], []
    for p in passages:
        near = index.meeting(p.a_start - RUN_DISTANCE, p.a_end + RUN_DISTANCE)
        if id(p) in sure or any(
            max(p.b_start, long[i].b_start) - min(p.b_end, long[i].b_end) <= RUN_DISTANCE for i in near
        ):
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


def _index(passages: Sequence[Passage]) -> RangeIndex:
    """The passages by place in the first text, under their numbers."""
    return RangeIndex([(p.a_start, p.a_end) for p in passages])


class _Tellers:
    """Passages by place, to see what they tell already."""

    def __init__(self, passages: Sequence[Passage], *, empty: bool = False) -> None:
        self._passages = passages
        self._index = RangeIndex([(p.a_start, p.a_end) for p in passages], empty=empty)

    def add(self, number: int) -> None:
        """One of the passages, of those that were *empty* at first."""
        p = self._passages[number]
        self._index.put(number, (p.a_start, p.a_end))

    def tells(self, p: Passage) -> bool:
        near = self._index.meeting(p.a_start, p.a_end)
        return any(_covered(p, self._passages[i]) for i in near)


def _free(some: Sequence[Passage], told: Sequence[Passage]) -> list[Passage]:
    """Those of which the others do not tell."""
    known = _Tellers(told)
    return [p for p in some if not known.tells(p)]


def _once(some: Sequence[Passage], told: Sequence[Passage] = ()) -> list[Passage]:
    """Those of which neither the others tell nor one that comes before."""
    every = [*told, *some]
    known = _Tellers(every, empty=True)
    for number in range(len(told)):
        known.add(number)
    out = []
    for number, p in enumerate(some, len(told)):
        if not known.tells(p):
            known.add(number)
            out.append(p)
    return out


def taken_one_by_one(p: Passage, told: Sequence[Passage]) -> bool:
    """Whether what seems to sum up a place is mostly sentences that were taken from it, or into it, one by one. A
    summary says hardly more than is in its place."""
    if p.origin != "summed" or p.score >= SUMMARY_SCORE:
        return False
    inside = union_length(
        (one.b_start, one.b_end)
        for one in told
        if one.origin not in SUMMARIES and one.score >= REWORDED_BELOW and _sums_up(p, one)
    )
    return 2 * inside >= p.b_end - p.b_start


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
    gaps = _gaps(inside, found.b_end)
    a_from, b_from = found.a_start, found.b_start
    borders = [(p.a_start, p.a_end, p.b_start, p.b_end) for p in inside]
    borders.append((found.a_end, found.a_end, found.b_end, found.b_end))
    for a_start, a_end, b_start, b_end in borders:
        b_low, b_high = _longest_free(b_from, min(b_start, found.b_end), gaps)
        if a_start - a_from >= PIECE_WORDS and b_high - b_low >= PIECE_WORDS:
            piece = Passage(a_from, a_start, b_low, b_high, 0, "reworded", origin=found.origin)
            piece.equal = pair.equal(piece)
            if piece.score >= PIECE_SCORE and pair.long(piece):
                out.append(piece)
        a_from, b_from = max(a_from, a_end), max(b_from, min(b_end, found.b_end))
    return out


def _gaps(solid: Sequence[Passage], end: int) -> list[tuple[int, int]]:
    """The stretches of b, up to a word, that none of some passages tells."""
    out, at = [], 0
    for low, high in (*sorted((p.b_start, p.b_end) for p in solid), (end, end)):
        if low > at:
            out.append((at, low))
        at = max(at, high)
    return out


def _longest_free(start: int, end: int, gaps: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The longest stretch of a range of b in one of the *gaps*: passages may stand in another order there."""
    best = start, start
    first = bisect_right(gaps, start, key=lambda gap: gap[1])
    last = bisect_left(gaps, end, key=lambda gap: gap[0])
    for low, high in gaps[first:last]:
        if min(high, end) - max(low, start) > best[1] - best[0]:
            best = max(low, start), min(high, end)
    return best


def _passage(row: tuple[Any, ...]) -> Passage:
    a_start, a_end, b_start, b_end, equal, mass, _, _, kind = row
    strength = "weak" if kind == WEAK else "strong"
    origin = {SUMMARY: "summary", SUMMED: "summed"}.get(kind, "words")
    place = (a_start, a_end, b_start, b_end)
    return Passage(*place, equal, "reworded", strength=strength, origin=origin, mass=mass)
