"""Exact repeats (P2): suffix array and common prefixes over token numbers, in linear time and memory.

Which repeats become groups is said in `doublet.kernels.reference.exact_groups`; why, in docs/explanation/repeats.md.
"""

from __future__ import annotations

import itertools

import numpy as np

from doublet import kernels
from doublet.repeats.balance import TokenGroups
from doublet.repeats.model import RepeatOptions
from doublet.repeats.tokenise import TokenSequence

BUDGET = (
    64  #: steps a token; real texts need under 5, "la la la" under 10: only texts made to be slow reach it
)


def find_exact(sequence: TokenSequence, options: RepeatOptions) -> tuple[TokenGroups, list[str]]:
    """Groups of equal passages of at least `options.least` tokens, no token in two; and notes for the user."""
    if not len(sequence):
        return [], []
    ids, borders = sequence.apart()
    order = kernels.suffix_array(ids)
    prefixes = kernels.common_prefixes(ids, order)
    offsets, starts, lengths, whole = kernels.exact_groups(
        ids, order, prefixes, options.least, BUDGET * len(ids) + 1024
    )
    del order, prefixes
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
