"""Exact repeats (P2): suffix array and common prefixes over token numbers, in linear time and memory.

Which repeats become groups is said in `doublet.kernels.reference.exact_groups`; why, in docs/explanation/repeats.md.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.repeats.balance import TokenGroups
from doublet.repeats.model import RepeatOptions
from doublet.repeats.tokenise import TokenSequence

BUDGET = (
    64  #: steps a token; real texts need under 5, "la la la" under 10: only texts made to be slow reach it
)


SIEVE_FROM, SIEVE_MOST = 4, 16  #: tokens of the runs by which it is told what cannot repeat


def find_exact(sequence: TokenSequence, options: RepeatOptions) -> tuple[TokenGroups, list[str]]:
    """Groups of equal passages of at least `options.least` tokens, no token in two; and notes for the user."""
    if not len(sequence):
        return [], []
    ids, borders = sequence.apart()
    budget = BUDGET * len(ids) + 1024
    ids, places = _sieved(ids, options.least, sequence.threads)
    order = kernels.suffix_array(ids)
    prefixes = kernels.common_prefixes(ids, order)
    offsets, starts, lengths, whole = kernels.exact_groups(
        ids, order, prefixes, options.least, budget, places
    )
    del order, prefixes
    if places is not None:
        starts = places[starts]
    # Back to numbers of tokens: without the marks between parts.
    real = starts.astype(np.int64) - np.searchsorted(borders, starts)
    times = offsets[1:].astype(np.int64) - offsets[:-1].astype(np.int64)
    sizes = np.repeat(lengths.astype(np.int64), times)
    flat = list(zip(real.tolist(), (real + sizes).tolist(), strict=True))
    bounds = offsets.tolist()
    groups = [flat[one:two] for one, two in itertools.pairwise(bounds)]
    notes = (
        []
        if whole
        else ["the text repeats itself in so many ways that only the most significant repeats were looked at"]
    )
    return groups, notes


def _sieved(
    ids: NDArray[np.uint32], least: int, threads: int = 1
) -> tuple[NDArray[np.uint32], NDArray[np.uint32] | None]:
    """Only the tokens that can stand in a repeat, with a number of its own for each gap; and where they stood.

    The groups are the same as without it: two passages that have *least* tokens in common keep all of these, and
    what is left out is beside no such passage that goes on. All tokens (and no places) where little could be left out.
    """
    if least < SIEVE_FROM:
        return ids, None
    kept = kernels.repeated(ids, min(least, SIEVE_MOST), threads).view(np.bool_)
    if np.count_nonzero(kept) * 2 > len(ids):
        return ids, None
    first = kept.copy()  # kept, and the first token of each gap
    first[1:] |= kept[:-1]
    first[0] = True
    places = np.flatnonzero(first).astype(np.uint32)
    fewer = ids[places]
    holes = np.flatnonzero(~kept[places])
    top = int(ids.max()) + 1
    fewer[holes] = np.arange(top, top + len(holes), dtype=np.uint32)
    return fewer, places
