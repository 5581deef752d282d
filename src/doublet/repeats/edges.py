"""Members of a group keep what they share: an edge that the others do not have is cut off, at a border.

Chains link places that go on alike after some other words, and places that nearly coincide are one. So a member can
run into the next item, or begin with the end of the item before. Here each member is reduced to the stretch between
two borders in which shared words outweigh others most.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from doublet.repeats.blocks import Blocks
from doublet.repeats.tokenise import TokenSequence
from doublet.repeats.told import Members, Scored

I64 = NDArray[np.int64]

ROUNDS = 2  #: what was shared with an edge that is gone is not shared any more
# Chosen on the eight labelled manuals: recall of all fragments and mean of the manuals are .961 and .890 with 16, 24
# and 32 tokens (1,693, 1,677 and 1,650 groups), and .952 and .858 with 64.
SHORT, ALIKE = 32, 0.7  #: tokens below which a group must share that much of its words
EDGE_UNIT = 2  #: tokens of the first and the last unit of an exact repeat of several
OTHER = 0.5  #: what a word that is not shared weighs against a shared one
_CLOSED = re.compile(r"[.!?…:;]|\n\s*\n")  #: between two words: what was said there is finished


def shared_edges(groups: list[Scored], blocks: Blocks, least: int) -> list[Scored]:
    """*groups* with members of at least *least* tokens that begin and end with what others of their group have; no two
    members of a group overlap. Members come sorted. A group that became shorter than what matched has a lower score."""
    kept = list(groups)
    varied = [number for number, group in enumerate(groups) if not group.equal]
    every = varied
    for _ in range(ROUNDS):
        cut = _cut([kept[number] for number in varied], blocks, least)
        changed = []
        for number, members in zip(varied, cut, strict=True):
            if members != kept[number].members:
                kept[number] = kept[number]._replace(members=members)
                changed.append(number)
        varied = changed
    flat, groups_of = _flat(kept, every)
    doubtful: dict[int, Members] = {}
    for at in blocks.doubtful(flat[:, 0], flat[:, 1]).tolist():
        number, nth = groups_of[at]
        if number not in doubtful:
            doubtful[number] = list(kept[number].members)
        doubtful[number][nth] = blocks.cut(doubtful[number][nth], least)
    for number, members in doubtful.items():
        kept[number] = kept[number]._replace(members=members)
    flat, groups_of = _flat(kept, [number for number, group in enumerate(kept) if group.equal])
    marks = blocks.edges.marks
    inside = np.flatnonzero(~(marks[flat[:, 0]] & marks[flat[:, 1]])).tolist()
    for number in dict.fromkeys(groups_of[at][0] for at in inside):
        members = [blocks.widened(span) for span in kept[number].members]
        if not any(two[0] < one[1] for one, two in itertools.pairwise(members)):
            kept[number] = kept[number]._replace(members=members)
    out = []
    for old, group in zip(groups, kept, strict=True):
        members = group.members
        if any(two[0] < one[1] for one, two in itertools.pairwise(members)):
            members = _apart(members, least, whole=group.equal)
        if members is not old.members:
            matched = min(group.matched, sum(end - start for start, end in members) / max(len(members), 1))
            score = group.score * matched / max(group.matched, 1.0)
            group = Scored(score, members, matched, group.equal)  # noqa: PLW2901
        if len(members) > 1:
            out.append(group)
    return _alike(out, blocks.sequence)


def _alike(groups: list[Scored], sequence: TokenSequence) -> list[Scored]:
    """*groups* without short ones that share too little: they are alike by chance."""
    short = [
        number
        for number, group in enumerate(groups)
        if not group.equal and sum(end - start for start, end in group.members) < SHORT * len(group.members)
    ]
    if not short:
        return groups
    spread = _spread([groups[number] for number in short])
    shared = np.bincount(spread.group, _shared(sequence, spread.at, spread.group, spread.member))
    by_chance = shared < ALIKE * np.bincount(spread.group)
    gone = {short[at] for at in np.flatnonzero(by_chance).tolist()}
    return [group for number, group in enumerate(groups) if number not in gone]


class _Spread(NamedTuple):
    """All tokens of the members of groups, one after the other: their places, members and groups. Member m has the
    tokens ``[reach[m]:reach[m+1]]``."""

    start: I64
    end: I64
    reach: I64
    at: I64
    member: I64
    group: I64


def _spread(groups: list[Scored]) -> _Spread:
    flat = np.array([span for group in groups for span in group.members], np.int64)
    sizes = np.array([len(group.members) for group in groups])
    start, end = flat[:, 0].copy(), flat[:, 1].copy()
    lengths = end - start
    reach = np.concatenate([[0], np.cumsum(lengths)])
    at = np.repeat(start - reach[:-1], lengths) + np.arange(int(reach[-1]))
    member = np.repeat(np.arange(len(flat)), lengths)
    group = np.repeat(np.repeat(np.arange(len(groups)), sizes), lengths)
    return _Spread(start, end, reach, at, member, group)


def _flat(groups: list[Scored], chosen: list[int]) -> tuple[I64, list[tuple[int, int]]]:
    """All members of the *chosen* groups one after the other; and of each the number of its group and its own."""
    spans = [span for number in chosen for span in groups[number].members]
    owners = [(number, nth) for number in chosen for nth in range(len(groups[number].members))]
    return np.array(spans, np.int64).reshape(-1, 2), owners


def _cut(groups: list[Scored], blocks: Blocks, least: int) -> Iterator[Members]:
    """The members of each group, without edges that no other member has."""
    if not groups:
        return
    sequence, marks = blocks.sequence, blocks.edges.marks
    start, end, reach, at, member, group = _spread(groups)
    total = np.concatenate([[0.0], np.cumsum(np.where(_shared(sequence, at, group, member), 1.0, -OTHER))])
    for number in _doubtful(total, marks, at, reach).tolist():
        one, two = int(reach[number]), int(reach[number + 1])
        first, last = _best(sequence, marks, total[one : two + 1], int(start[number]))
        if last - first >= least:
            start[number], end[number] = first, last
    spans = list(zip(start.tolist(), end.tolist(), strict=True))
    sizes = [len(group.members) for group in groups]
    for one, two in itertools.pairwise([0, *itertools.accumulate(sizes)]):
        yield spans[one:two]


def _shared(sequence: TokenSequence, at: I64, group: I64, member: I64) -> NDArray[np.bool_]:
    """For each token *at* of the members: whether it is in a pair of neighbours that another member has."""
    inner = np.flatnonzero(member[:-1] == member[1:])
    pair = (sequence.ids[at[inner]].astype(np.uint64) << np.uint64(32)) | sequence.ids[at[inner] + 1]
    key = pair * np.uint64(0x9E3779B97F4A7C15) ^ (group[inner].astype(np.uint64) + np.uint64(1)) * np.uint64(
        0xBF58476D1CE4E5B9
    )
    order = np.argsort(key)
    key, owner = key[order], member[inner][order]
    begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])[: len(key)])
    several = np.minimum.reduceat(owner, begins) != np.maximum.reduceat(owner, begins) if len(key) else begins
    common = np.repeat(several, np.diff(np.append(begins, len(key)))).astype(bool)
    out = np.zeros(len(at), bool)
    out[inner[order[common]]] = True
    out[1:] |= out[:-1] & (member[1:] == member[:-1])
    return out


def _doubtful(total: NDArray[np.float64], marks: NDArray[np.bool_], at: I64, reach: I64) -> I64:
    """Members of which some stretch between borders is worth more than the whole."""
    count = len(reach) - 1
    begins = np.zeros(len(at), bool)
    begins[reach[:-1]] = True
    inner = np.flatnonzero(marks[at] | begins)  # a member's first token, and those with which a unit begins
    member = np.searchsorted(reach, inner, "right") - 1
    value = total[inner]
    step = float(np.abs(total).max() * 2 + 1)
    low = np.minimum.accumulate(value - step * member) + step * member
    low_at_end = low[np.searchsorted(member, np.arange(count), "right") - 1]
    best = np.maximum.reduceat(value - low, np.searchsorted(member, np.arange(count)))
    best = np.maximum(best, total[reach[1:]] - low_at_end)
    return np.flatnonzero(best > total[reach[1:]] - total[reach[:-1]] + 1e-6)


def _best(
    sequence: TokenSequence, marks: NDArray[np.bool_], total: NDArray[np.float64], start: int
) -> tuple[int, int]:
    """The stretch of a member that is worth most: from where a sentence or an element begins to where one ends."""
    size = len(total) - 1
    inner = (np.flatnonzero(marks[start + 1 : start + size]) + 1).tolist()
    text = sequence.marked_texts[sequence.file_of(start)].masked
    best, first, last = -1.0, 0, size
    low, low_at = float(total[0]), 0
    for border in [*inner, size]:
        value = float(total[border])
        if value - low <= best and value >= low:
            continue
        closed, begins = border == size, False
        if not closed:
            token = start + border
            before, behind = int(sequence.ends(token - 1)), int(sequence.starts[token])
            finished = _CLOSED.search(text, before, behind) is not None
            closed = (
                finished and int(sequence.ids[token - 1]) != 0
            )  # "4.9. Title": the number belongs to the title
            begins = finished or not text[behind].islower()
        if closed and value - low > best:
            best, first, last = value - low, low_at, border
        if begins and value < low:
            low, low_at = value, border
    return start + first, start + last


def _apart(members: Members, least: int, *, whole: bool) -> Members:
    """Members that do not overlap: the later one begins where the earlier ends, or goes when little would be left or
    only a *whole* one is a member."""
    out: Members = []
    for start, end in sorted(members):
        if out and start < out[-1][1]:
            rest = out[-1][1]
            if whole or end - rest < max(least, (end - start) // 2):
                continue
            start = rest  # noqa: PLW2901
        out.append((start, end))
    return out
