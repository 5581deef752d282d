"""Letters set apart, the gaps between words too → the words again: «э т о т е к с т» is read as *это текст*.

The tokeniser joins single letters with one blank between them. Where the gap between words is the same blank, it joins
all of them up to the next comma, and nobody can say for sure where a word ends. Here such a run is cut into the
likeliest words: stems that are common in Russian or English (`text.background`), and what is left between them. A run
that does not read like words, as an alphabet or the letters of a table, stays as it was. Explained in
docs/explanation/canonical-form.md.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.kernels.data import FLAG_SPACED
from doublet.text.background import general
from doublet.text.reduce import Reducer, reducer

LEAST_LETTERS = 12  #: of a run that is looked at: it may be two words
MOST_LETTERS = 200_000  #: of all runs of a text that are cut; it takes a second for some twenty thousand
LONGEST_WORD = 24
_PART = 1000  # letters that are cut at once
# Costs are -ln of a likelihood. Chosen on the part "tune" of the prose that essays are made of (benchmarks/unseen.py):
# of its words without blanks .885 (Russian) and .827 (English) come out as they were; with NEW twice as large .88 and
# .81, with LETTER at 3.0 .87 and .81, without SHORT .87 and .82.
NEW, LETTER = 5.0, 3.5  #: of a word that the table does not know, and of each of its letters
ENDING = 0.6  #: of each letter after the stem of a known word
SHORT = (
    0.0,
    7.0,
    6.5,
    8.0,
)  #: the rarest of one, two and three letters: many are pieces of others
#: the most that a letter may cost where letters read like words: prose costs 1.3 to 2.6, lists of unusual words 3, and
#: random letters, alphabets, keys of a keyboard, genes and tables of marks 3.2 to 3.9
COST = 3.0

_LETTER = re.compile(r"\S+")
_ALPHABET = re.compile(r"[a-z]+|[^a-z]+")  # a word is of one alphabet

Columns = tuple[
    NDArray[np.uint64],
    NDArray[np.uint32],
    NDArray[np.uint32],
    NDArray[np.uint8],
    NDArray[np.uint64],
    NDArray[np.uint32],
]


def has_runs(columns: Columns) -> bool:
    """Whether words of `kernels.tokenize` may be several with their letters set apart."""
    return len(_runs(columns)) > 0


def with_runs(texts: Sequence[str], disguised: NDArray[np.uint32], threads: int = 1) -> NDArray[np.int64]:
    """The places of texts that may have such words. *disguised* has the number of disguised words of each, which is 0
    for nearly all texts: only the others are looked at. A text is not seen when each of its runs has words of two
    alphabets and no comma between them, so that the tokeniser joined none of their letters."""
    some = np.flatnonzero(disguised)
    if not len(some):
        return some
    columns = kernels.tokenize([texts[i] for i in some.tolist()], None, None, threads)
    firsts = [first for first, _ in _runs(columns)]
    return some[np.unique(np.searchsorted(columns[4], firsts, side="right") - 1).astype(np.int64)]


def _runs(columns: Columns) -> list[tuple[int, int]]:
    """First word and end of the runs: words that were set apart, and single letters of two alphabets, which are not
    joined; one blank between them."""
    _, starts, ends, flags, offsets, _ = columns
    firsts, lasts = kernels.apart_runs(starts, ends, flags, offsets, 2 * LEAST_LETTERS - 1)
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def cut_runs(
    texts: Sequence[str],
    columns: Columns,
    spelled: Sequence[str],
    tokenize: Callable[[Sequence[str]], Columns],
) -> Columns:
    """The words of *texts* as *tokenize* gave them, with runs cut into words where those of a text read like words.
    *spelled* are words by their numbers."""
    hashes, starts, ends, flags, offsets, ids = columns
    found: dict[int, list[_Run]] = {}
    left: dict[int, int] = {}  # letters of a text that may still be cut
    for first, end in _runs(columns):
        text = int(np.searchsorted(offsets, first, side="right")) - 1
        inside = list(_LETTER.finditer(texts[text], int(starts[first]), int(ends[end - 1])))
        letters = spelled[int(ids[first])]
        if end - first > 1:  # single letters of two alphabets were read without a word around them
            letters = "".join(one[0][0] for one in inside).lower().replace("ё", "е")
            if not any(map(str.isalpha, letters)):
                continue  # a table of digits is not a text
        left[text] = left.get(text, MOST_LETTERS) - len(letters)
        if len(inside) == len(letters) and left[text] >= 0:
            found.setdefault(text, []).append(_Run(first, end, letters, [one.span() for one in inside]))
    runs = [run for some in found.values() if _read_like_words(some) for run in some]
    # After a longer word one of twins alone («оса») is read in its alphabet; commas keep single letters apart.
    made = tokenize([", ".join([run.longest, *run.words]) for run in runs])
    as_cut = np.diff(made[4]) == [1 + len(run.words) for run in runs]
    runs = [run for run, is_right in zip(runs, as_cut.tolist(), strict=True) if is_right]
    if not runs:
        return columns
    kept = np.repeat(as_cut, np.diff(made[4]).astype(np.int64))
    kept[made[4][:-1].astype(np.int64)] = False  # the longer word before them
    times = np.ones(len(hashes), np.int64)
    flags = flags.copy()
    for run in runs:
        times[run.first : run.end] = 0
        times[run.first] = len(run.words)
        flags[run.first] = np.bitwise_or.reduce(flags[run.first : run.end]) | np.uint8(FLAG_SPACED)
    new = np.repeat(np.isin(np.arange(len(hashes)), [run.first for run in runs]), times)
    spans = np.array([span for run in runs for span in run.spans()], np.uint32)
    hashes, ids = np.repeat(hashes, times), np.repeat(ids, times)
    starts, ends = np.repeat(starts, times), np.repeat(ends, times)
    hashes[new], ids[new] = made[0][kept], made[5][kept]
    starts[new], ends[new] = spans[:, 0], spans[:, 1]
    before = np.append(0, np.cumsum(times))
    return (
        hashes,
        starts,
        ends,
        np.repeat(flags, times),
        before[offsets.astype(np.int64)].astype(np.uint64),
        ids,
    )


class _Run:
    """Letters set apart, from one word of the tokeniser to another, and the words that they are."""

    def __init__(self, first: int, end: int, letters: str, places: list[tuple[int, int]]) -> None:
        self.first, self.end, self.letters, self.places = first, end, letters, places
        self.words: list[str] = []
        self.cost = 0.0
        for piece in _ALPHABET.findall(letters):
            for at in range(0, len(piece), _PART):
                words, cost = _likeliest(piece[at : at + _PART])
                self.words += words
                self.cost += cost

    @property
    def longest(self) -> str:
        """The longest word in the alphabet of the first."""
        return max((word for word in self.words if word.isascii() == self.words[0].isascii()), key=len)

    def spans(self) -> list[tuple[int, int]]:
        at = np.cumsum([0, *map(len, self.words)]).tolist()
        return [(self.places[x][0], self.places[y - 1][1]) for x, y in pairwise(at)]


def _read_like_words(runs: Sequence[_Run]) -> bool:
    return sum(run.cost for run in runs) <= COST * sum(len(run.letters) for run in runs)


def _likeliest(letters: str) -> tuple[list[str], float]:
    """The cheapest way to cut letters into words, and what it costs."""
    size = len(letters)
    costs = _costs({letters[i:j] for i in range(size) for j in range(i + 1, min(size, i + LONGEST_WORD) + 1)})
    best = [0.0] * (size + 1)
    back = [0] * (size + 1)
    for end in range(1, size + 1):
        low = max(0, end - LONGEST_WORD)
        best[end], back[end] = min(
            (best[i] + costs.get(letters[i:end], NEW + LETTER * (end - i)), i) for i in range(low, end)
        )
    words: list[str] = []
    at = size
    while at:
        words.append(letters[back[at] : at])
        at = back[at]
    return words[::-1], best[size]


def _costs(words: set[str]) -> dict[str, float]:
    """Of the words whose stems are common, what each costs."""
    spelled = sorted(words)
    stems = _stems()(spelled)
    distinct = sorted(set(stems))
    hashes, _, _, _, offsets, _ = kernels.tokenize(distinct, None, None, 1)
    if len(hashes) != len(distinct):  # a stem is one word, unless its letters are no letters
        single = np.flatnonzero(np.diff(offsets) == 1)
        distinct = [distinct[i] for i in single.tolist()]
        hashes = hashes[offsets[single].astype(np.int64)]
    known, rarity, _ = general(hashes)
    rare = {
        stem: cost
        for stem, cost, is_known in zip(distinct, rarity.tolist(), known.tolist(), strict=True)
        if is_known
    }
    out = {}
    for word, stem in zip(spelled, stems, strict=True):
        cost = rare.get(stem)
        if cost is not None:
            cost += ENDING * max(0, len(word) - len(stem))
            if len(word) >= len(SHORT) or cost <= SHORT[len(word)]:
                out[word] = cost
    return out


@functools.cache
def _stems() -> Reducer:
    return reducer("stem")
