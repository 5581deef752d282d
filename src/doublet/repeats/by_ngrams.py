"""Repeats by n-grams (P4): each sentence joins the group with which it shares the most n-grams.

A group keeps the n-grams that all its sentences have. The source compares each sentence with every group; here an
inverted index leads to the groups that can share enough. It is enough to look under the rarest n-grams of a sentence:
when *t* must be shared, one of all but t - 1 of them is among those. The result is the same as with all groups.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.model import Note
from doublet.repeats.balance import TokenGroups
from doublet.repeats.model import RepeatOptions
from doublet.repeats.runs import find_runs
from doublet.repeats.tokenise import TokenSequence
from doublet.text.sentences import sentences

LISTED = 256  #: groups that are looked at under one n-gram, the oldest; a phrase that more groups share tells nothing


def find_by_ngrams(sequence: TokenSequence, options: RepeatOptions) -> tuple[TokenGroups, list[Note]]:
    """Groups of sentences, and of long runs of a few words, which are no sentences; and notes."""
    bounds = sentence_bounds(sequence)
    spans = [pair for pair in itertools.pairwise(bounds.tolist()) if pair[1] - pair[0] >= options.least]
    marks = np.zeros(len(sequence) + 1, bool)
    marks[bounds] = True
    runs = find_runs(sequence, marks, options.least)
    if runs:
        spans = _outside(spans, runs)
    if not spans:
        return runs, []
    values = (sequence.ids.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    sets = _gram_sets(values, spans, options.ngram)
    groups = group_sentences(sets, options)
    return [[spans[i] for i in group] for group in groups if len(group) > 1] + runs, []


def _outside(spans: list[tuple[int, int]], runs: TokenGroups) -> list[tuple[int, int]]:
    """The sentences that do not overlap a run."""
    flat = np.array(sorted(stretch for group in runs for stretch in group), np.int64)
    before = np.searchsorted(flat[:, 0], np.array([end for _, end in spans], np.int64))
    reach = np.concatenate([[0], np.maximum.accumulate(flat[:, 1])])
    return [span for span, last in zip(spans, reach[before].tolist(), strict=True) if last <= span[0]]


def sentence_bounds(sequence: TokenSequence) -> NDArray[np.int64]:
    """Tokens with which sentences begin, and the end; lines or sentences as tokens stay alone."""
    out: list[NDArray[np.int64]] = [sequence.cuts, np.array([0, len(sequence)], np.int64)]
    for number, marked in enumerate(sequence.marked_texts):
        base, stop = int(sequence.offsets[number]), int(sequence.offsets[number + 1])
        edges = np.array([span.start for span in sentences(marked.masked)] if stop > base else [], np.int64)
        out.append(base + np.searchsorted(sequence.starts[base:stop], edges))
    return np.unique(np.concatenate(out))


def _gram_sets(values: np.ndarray, spans: list[tuple[int, int]], size: int) -> list[list[int]]:
    """The n-grams of each sentence without repeats, the rarest of the text first; those met once are left out."""
    starts = np.array([span[0] for span in spans])
    lengths = np.array([span[1] - span[0] for span in spans])
    ends = np.cumsum(lengths)
    picked = values[np.repeat(starts - ends + lengths, lengths) + np.arange(int(ends[-1]))]
    offsets = np.concatenate([[0], ends]).astype(np.uint64)
    grams, bounds = kernels.distinct(*kernels.shingle(picked, offsets, size))
    _, which, counts = np.unique(grams, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    sizes = bounds[1:].astype(np.int64) - bounds[:-1].astype(np.int64)
    owner = np.repeat(np.arange(len(spans)), sizes)
    order = np.lexsort((which, counts[which], owner))
    ranked = which[order].tolist()
    edges = bounds.tolist()
    return [ranked[one:two] for one, two in itertools.pairwise(edges)]


def group_sentences(sets: list[list[int]], options: RepeatOptions) -> list[list[int]]:
    """Groups of numbers of sentences, from their n-grams (the rarest first)."""
    groups: list[list[int]] = []
    shared: list[set[int]] = []  # the n-grams that all sentences of a group have
    under: dict[int, list[int]] = defaultdict(list)  # n-gram → groups that had it when they were made
    for number, ranked in enumerate(sets):
        need = max(options.min_common, math.ceil(options.min_common_share * len(ranked)), 1)
        own = set(ranked)
        best, most = -1, need - 1
        seen: set[int] = set()
        for gram in ranked[: max(0, len(ranked) - need + 1)]:
            for candidate in under.get(gram, ())[:LISTED]:
                if candidate in seen:
                    continue
                seen.add(candidate)
                common = len(own & shared[candidate])
                if common > most or (common == most and best >= 0 and candidate < best):
                    best, most = candidate, common
        if best >= 0:
            groups[best].append(number)
            shared[best] &= own
        elif len(ranked) >= need:
            for gram in ranked:
                under[gram].append(len(groups))
            groups.append([number])
            shared.append(own)
    return groups
