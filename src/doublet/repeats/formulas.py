"""Formulas: a few words that begin many sentences or lines, "Reference / Mode: Edit Mode / Menu: …".

They are too short for the search of passages, and what follows them differs. Told apart from other repeats: a writer
makes a template of them, or leaves them alone.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from doublet.repeats.balance import TokenGroups
from doublet.repeats.model import FORMULA_MEMBERS, FORMULA_TOKENS
from doublet.repeats.tokenise import BLOCK, Edges, TokenSequence
from doublet.repeats.told import Over, enter, holders_of
from doublet.text.stopwords import stop_words

OPENING = 5  #: words that all members of a formula begin with
THINGS = 3  #: different words of the opening that are neither numbers nor stop words
GO_ON = 0.6  #: share of the members whose next unit must begin alike for it to belong to the formula


def find_formulas(
    sequence: TokenSequence, edges: Edges, told: NDArray[np.bool_], least: float = FORMULA_MEMBERS
) -> TokenGroups:
    """Groups of at least *least* stretches between borders that begin with the same words, in one paragraph or item;
    without those of which most is *told* already."""
    ids = sequence.ids
    borders = np.flatnonzero(edges.marks)
    starts = borders[borders + OPENING <= len(ids)]
    if not len(starts):
        return []
    parts = sequence.parts()
    blocks = np.cumsum((edges.kinds & BLOCK) != 0)  # every part begins with one
    starts = starts[blocks[starts] == blocks[starts + OPENING - 1]]
    key = np.zeros(len(starts), np.uint64)
    for step in range(OPENING):
        key = key * np.uint64(0x9E3779B97F4A7C15) + ids[starts + step].astype(np.uint64) + np.uint64(1)
    order = np.argsort(key, kind="stable")
    bounds = np.flatnonzero(np.concatenate([[True], key[order][1:] != key[order][:-1], [True]]))
    many = np.flatnonzero(np.diff(bounds) >= least)
    out: TokenGroups = []
    seen = np.concatenate([[0], np.cumsum(told)])
    for one, two in zip(bounds[many].tolist(), bounds[many + 1].tolist(), strict=True):
        members = np.sort(starts[order[one:two]])
        ends = _ends(members, ids, borders, parts)
        fresh = (ends > 0) & (2 * (seen[ends] - seen[members]) <= ends - members)
        members, ends = members[fresh], ends[fresh]
        if len(members) >= least and _names_things(sequence, int(members[0])):
            out.append(list(zip(members.tolist(), ends.tolist(), strict=True)))
    over: Over = {}
    kept = []  # "Mode: Edit Mode, Menu: …" is told by "Reference, Mode: Edit Mode, Menu: …"
    for number, group in enumerate(sorted(out, key=lambda group: (-sum(e - s for s, e in group), group))):
        if not holders_of(group, over, 0.0):
            enter(group, number, over)
            kept.append(group)
    return kept


def _names_things(sequence: TokenSequence, start: int) -> bool:
    """Whether the opening at *start* has more than words that any sentence can begin with."""
    text = sequence.marked_texts[sequence.file_of(start)].masked
    edges = [(int(sequence.starts[at]), int(sequence.ends(at))) for at in range(start, start + OPENING)]
    gaps = [" ", *(text[one[1] : two[0]] for one, two in itertools.pairwise(edges))]
    # Of a path or an address, which is one word between blanks, the first part counts alone.
    words = {
        text[one:two].lower()
        for (one, two), gap in zip(edges, gaps, strict=True)
        if gap == "-" or any(map(str.isspace, gap))
    }
    usual = stop_words()
    return sum(word.isalpha() and word not in usual for word in words) >= THINGS


def _ends(
    members: NDArray[np.int64], ids: NDArray[np.uint32], borders: NDArray[np.int64], parts: NDArray[np.uint32]
) -> NDArray[np.int64]:
    """Where the members end: with the unit in which their opening ends, and further units that most begin alike. 0 for
    those that end at no border near: they only begin like a formula."""
    at = np.searchsorted(borders, members + OPENING)
    ends = borders[np.minimum(at, len(borders) - 1)]
    near = (ends - members <= FORMULA_TOKENS) & (parts[ends - 1] == parts[members])
    ends = np.where(near, ends, 0)
    for _ in range(2):
        open_ = np.flatnonzero(near & (ends < len(ids)))
        open_ = open_[parts[ends[open_]] == parts[members[open_]]]
        if 2 * len(open_) < len(members):
            break
        _, which, counts = np.unique(ids[ends[open_]], return_inverse=True, return_counts=True)
        most = int(counts.argmax())
        if counts[most] < GO_ON * len(members):
            break
        alike = open_[which.reshape(-1) == most]
        behind = np.searchsorted(borders, ends[alike], "right")
        longer = borders[np.minimum(behind, len(borders) - 1)]
        fits = longer - members[alike] <= FORMULA_TOKENS
        ends[alike[fits]] = longer[fits]
    return ends
