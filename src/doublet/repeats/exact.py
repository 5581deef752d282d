"""Exact repeats (P2): suffix array and common prefixes over token numbers, in linear time and memory.

Which repeats become groups is said in `doublet.kernels.reference.exact_groups`; why, in docs/explanation/repeats.md.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.model import Note
from doublet.repeats.balance import TokenGroups
from doublet.repeats.model import RepeatOptions
from doublet.repeats.tokenise import TokenSequence

U32 = NDArray[np.uint32]

BUDGET = (
    64  #: steps a token; real texts need under 5, "la la la" under 10: only texts made to be slow reach it
)
ROUNDS = 32  #: real texts need two or three
SIEVE_FROM, SIEVE_MOST = 4, 16  #: tokens of the runs by which it is told what cannot repeat


def find_exact(sequence: TokenSequence, options: RepeatOptions) -> tuple[TokenGroups, list[Note]]:
    """Groups of equal passages of at least `options.least` tokens, no token in two; and notes for the user.

    A repeat that lost its beginning to a better one may still have an end that is long enough: what no group has taken
    is searched again, until nothing is found.
    """
    if not len(sequence):
        return [], []
    ids, borders = sequence.apart()
    rest = _Rest(ids, int(ids.max()) + 1)
    groups: TokenGroups = []
    whole = True
    for _ in range(ROUNDS):
        if not rest.sieve(options.least, sequence.threads):
            break
        offsets, starts, lengths, all_seen = _search(rest, options.least)
        whole = whole and all_seen
        if not len(lengths):
            break
        groups += _passages(offsets, rest.in_text(starts), lengths, borders)
        rest.take(offsets, starts, lengths)
    else:
        whole = False
    notes = [] if whole else [Note("repeats_cut_short")]
    return groups, notes


def equal_pairs(sequence: TokenSequence, least: int) -> tuple[NDArray[np.int64], ...]:
    """Pairs of equal passages of at least *least* tokens that could be longer on neither side: the tokens with which
    the later and the earlier begin, and how many they are. Neighbours in the order of suffixes, so each passage has
    its best partner; passages that overlap themselves are left out."""
    none = np.zeros(0, np.int64)
    if len(sequence) < 2 * least:
        return none, none, none
    ids, borders = sequence.apart()
    rest = _Rest(ids, int(ids.max()) + 1)
    if not rest.sieve(least, sequence.threads):
        return none, none, none
    order = kernels.suffix_array(rest.ids)
    lengths = kernels.common_prefixes(rest.ids, order)[order[1:]].astype(np.int64)
    long = np.flatnonzero(lengths >= least)
    one, two, lengths = order[long + 1].astype(np.int64), order[long].astype(np.int64), lengths[long]
    whole = (one == 0) | (two == 0) | (rest.ids[one - 1] != rest.ids[two - 1])
    one, two, lengths = one[whole], two[whole], lengths[whole]
    later, earlier = np.maximum(one, two), np.minimum(one, two)
    # A passage that is said several times in a row overlaps its copy: cut into whole periods.
    period = later - earlier
    times = np.where(period < lengths, lengths // period, 1)
    times[period < least] = 0
    nth = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    later, earlier, period = (np.repeat(column, times) for column in (later, earlier, period))
    lengths = np.minimum(np.repeat(lengths, times), period)
    later, earlier = later + nth * period, earlier + nth * period
    places = [rest.in_text(start.astype(np.uint32)).astype(np.int64) for start in (later, earlier)]
    later, earlier = (start - np.searchsorted(borders, start) for start in places)
    return later, earlier, lengths


def _search(rest: _Rest, least: int) -> tuple[NDArray[np.uint64], U32, U32, bool]:
    order = kernels.suffix_array(rest.ids)
    prefixes = kernels.common_prefixes(rest.ids, order)
    budget = BUDGET * rest.length + 1024
    return kernels.exact_groups(rest.ids, order, prefixes, least, budget, rest.places)


def _passages(
    offsets: NDArray[np.uint64], starts: U32, lengths: U32, borders: NDArray[np.int64]
) -> TokenGroups:
    """The groups by numbers of tokens: without the marks between parts."""
    real = starts.astype(np.int64) - np.searchsorted(borders, starts)
    sizes = _each(lengths, offsets).astype(np.int64)
    flat = list(zip(real.tolist(), (real + sizes).tolist(), strict=True))
    return [flat[one:two] for one, two in itertools.pairwise(offsets.tolist())]


def _each(lengths: U32, offsets: NDArray[np.uint64]) -> U32:
    """The length of every passage."""
    return np.repeat(lengths, (offsets[1:] - offsets[:-1]).astype(np.int64))


class _Rest:
    """Tokens that can still stand in a repeat, one number of its own in place of each gap; and where they stand."""

    def __init__(self, ids: U32, marks: int) -> None:
        self.ids = ids
        self.places: U32 | None = None  #: None: no token was left out
        self.length = len(ids)  #: of the text
        self._marks = marks  #: numbers from here on stand for gaps

    def in_text(self, starts: U32) -> U32:
        return starts if self.places is None else self.places[starts]

    def sieve(self, least: int, threads: int) -> bool:
        """Leave out what stands in no run of *least* tokens (or `SIEVE_MOST`) that occurs again; False: that is all.

        The groups are the same as without it: two passages that have *least* tokens in common keep all of these, and
        what is left out is beside no such passage that goes on. Nothing is done where little could be left out.
        """
        if least < SIEVE_FROM:
            return len(self.ids) > least
        kept = kernels.repeated(self.ids, min(least, SIEVE_MOST), threads).view(np.bool_)
        count = np.count_nonzero(kept)
        if count * 2 <= len(kept):
            self._keep(kept)
        return bool(count)

    def take(self, offsets: NDArray[np.uint64], starts: U32, lengths: U32) -> None:
        """Leave out the passages of these groups."""
        step = np.zeros(len(self.ids) + 1, np.int8)
        step[starts] += 1
        step[starts + _each(lengths, offsets)] -= 1
        self._keep(np.cumsum(step[:-1], dtype=np.int8) == 0)

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        kept = kept & (self.ids < self._marks)
        first = kept.copy()  # kept, and the first token of each gap
        first[1:] |= kept[:-1]
        first[0] = True
        chosen = np.flatnonzero(first).astype(np.uint32)
        self.ids = self.ids[chosen]
        holes = np.flatnonzero(~kept[chosen])
        self.ids[holes] = np.arange(self._marks, self._marks + len(holes), dtype=np.uint32)
        self.places = self.in_text(chosen)
