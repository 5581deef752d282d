"""Groups that say nothing new are left out: the frame of a page, and what better groups tell already.

A page's frame is one group of hundreds. Two pages that have little else in common say nothing new, and where a repeat
begins or ends with a frame, that is cut off. Of groups that lie inside better ones nothing is gained either.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from doublet.repeats.model import FORMULA_MEMBERS

WIDER = 3  #: a group has many more members than another when it has at least 2 ** WIDER times as many
OWN_SHARE = 0.3  #: of the words that do not stand in such a group, that must match
SMALL, TOLD = 4, 0.75  #: members of a group that is left out when that share of each is told already
TOLD_WHOLE = 0.9  #: the same of equal passages that are always told
PAIR_TOKENS = 12  #: length from which on a pair counts in full
SAME_PLACE = 0.75  #: of a larger fragment that a smaller one covers when both are nearly the same

Members = list[tuple[int, int]]
Over = dict[int, list[tuple[int, int, int]]]  #: stretch of 64 tokens → fragments there, with their group


class Scored(NamedTuple):
    """A group with its score, the words that match on average, and whether its members are word for word the same."""

    score: float
    members: Members
    matched: float
    equal: bool


def mean_length(members: Members) -> float:
    """Tokens of *members* on average."""
    return sum(end - start for start, end in members) / len(members)


def rescored(group: Scored, members: Members) -> Scored:
    """What is left of *group* when only *members* stay: what a part of it is worth by itself."""
    length = mean_length(members)
    matched = min(group.matched * length / mean_length(group.members), length)
    score = group.score * matched / max(group.matched, 1.0)
    if len(members) < len(group.members):
        score *= math.log2(len(members)) / math.log2(len(group.members))
        if len(members) == 2:  # it may be chance
            score *= min(1.0, length / PAIR_TOKENS) ** 2
    return Scored(score, members, matched, group.equal)


def width(members: Members) -> int:
    return len(members).bit_length() - 1


def with_own_words(
    groups: list[Scored],
    marks: NDArray[np.bool_],
    limit: float,
    least: int,
    often: NDArray[np.uint8] | None = None,
) -> list[Scored]:
    """*groups* whose words outside of groups of many more members still pass the *limit*; and without what belongs to
    such groups at their edges. All members of an equal group lose the same words, so that they stay equal. *often*
    tells of each token how often its sentence or line is there: one that is full of numbers is in no group."""
    if not groups:
        return groups
    starts, ends = np.array([span for group in groups for span in group.members], np.int64).T
    sizes = np.array([len(group.members) for group in groups])
    first = np.cumsum(sizes) - sizes
    lengths = np.add.reduceat(ends - starts, first) / sizes
    wide: dict[int, list[int]] = {}  # level → groups with at least 2 ** level members
    for number, group in enumerate(groups):
        wide.setdefault(width(group.members), []).append(number)
    count = len(marks) - 1
    inside = np.zeros(count, bool)
    reach = np.zeros(count + 1, np.uint32)
    out: list[Scored | None] = [None] * len(groups)
    for level in range(max(wide, default=0), -1, -1):
        for number in wide.get(level + WIDER, ()):
            for start, end in groups[number].members:
                inside[start:end] = True
        if often is not None:
            inside |= often >= level + WIDER
        np.cumsum(inside, out=reach[1:])
        frames = np.add.reduceat(reach[ends].astype(np.int64) - reach[starts], first) / sizes
        for number in wide.get(level, ()):
            group, length, framed = groups[number], float(lengths[number]), float(frames[number])
            words = max(0.0, group.matched - framed)
            if group.score * words < limit * group.matched or words < OWN_SHARE * max(length - framed, 1.0):
                continue
            out[number] = group
            if framed and words:
                members = [_trimmed(start, end, inside, marks, least) for start, end in group.members]
                if members == group.members:
                    continue
                if group.equal:
                    before = min(new - old for (old, _), (new, _) in zip(group.members, members, strict=True))
                    behind = min(old - new for (_, old), (_, new) in zip(group.members, members, strict=True))
                    members = [(start + before, end - behind) for start, end in group.members]
                out[number] = group._replace(members=sorted(members))
    return [group for group in out if group is not None]


def merged(groups: list[Scored], ids: NDArray[np.uint32]) -> list[Scored]:
    """*groups* of which those that say the same words are one: the best of them, with the members of all."""
    out: list[Scored] = []
    known: dict[bytes, int] = {}
    for group in groups:
        start, end = group.members[0]
        number = known.setdefault(ids[start:end].tobytes(), len(out)) if group.equal else len(out)
        if number == len(out):
            out.append(group)
            continue
        members = sorted({*out[number].members, *group.members})
        if not any(two[0] < one[1] for one, two in itertools.pairwise(members)):
            out[number] = out[number]._replace(members=members)
    return out


def without_frames(groups: list[Scored], offsets: Sequence[int]) -> list[Scored]:
    """*groups* without those with which many files begin or end: what is around a page, and says nothing about it. A
    whole file that is there many times is none. *offsets* are the tokens with which files begin, and the end."""
    edges = set(offsets)
    return [
        group
        for group in groups
        if len(group.members) < FORMULA_MEMBERS
        or 2 * sum((start in edges) != (end in edges) for start, end in group.members) <= len(group.members)
    ]


def _trimmed(
    start: int, end: int, inside: NDArray[np.bool_], marks: NDArray[np.bool_], least: int
) -> tuple[int, int]:
    """Without what stands *inside* a wider group at its edges, when it ends at a border there."""
    free = np.flatnonzero(~inside[start:end])
    if not len(free):
        return start, end
    first, last = start + int(free[0]), start + int(free[-1]) + 1
    first, last = first if marks[first] else start, last if marks[last] else end
    return (first, last) if last - first >= least else (start, end)


def without_covered(
    groups: list[Scored], whole: int, marks: NDArray[np.bool_], closed: Callable[[int], bool]
) -> list[Scored]:
    """Without groups that say nothing more: they come best first.

    First go those whose every fragment lies inside a fragment of one better group, and small ones whose fragments lie
    mostly in fragments of any better groups; then those whose every fragment is nearly one of a larger group (three
    variants, of which two are word for word the same). Equal passages of *whole* tokens go only when one better group
    tells them all. Where a small group that goes has the whole sentences of which an equal passage is a part, it takes
    the place of that passage.
    """
    better: list[Scored] = []
    over: Over = {}
    grown: set[int] = set()
    around: Over = {}  # their fragments
    for group in groups:
        if holders_of(group.members, over, 0.0):
            continue
        tellers = _mostly_told(group, whole, over)
        if not tellers:
            enter(group.members, len(better), over)
            better.append(group)
        elif len(tellers) == 1 and _wraps(group.members, better[one := tellers.pop()], marks, closed):
            better[one] = better[one]._replace(members=group.members)
            enter(group.members, one, over)
            enter(group.members, one, around)
            grown.add(one)
    sizes = [len(group.members) for group in better]
    most = max(sizes, default=0)  # the largest need not be looked at: none is larger
    return [
        group
        for number, group in enumerate(better)
        if (number in grown or not holders_of(group.members, around, 0.0))
        and (
            sizes[number] == most
            or not any(sizes[other] > sizes[number] for other in holders_of(group.members, over, SAME_PLACE))
        )
    ]


def without_inner(groups: list[Members]) -> list[Members]:
    """*groups* without those whose every member lies inside a member of one other group that has as many: whoever
    reads that one sees where the repeat goes on."""
    over: Over = {}
    for number, members in enumerate(groups):
        enter(members, number, over)

    def lies_inside(number: int) -> bool:
        return any(
            other != number
            and len(groups[other]) >= len(groups[number])
            and (groups[other] != groups[number] or other < number)
            for other in holders_of(groups[number], over, 0.0)
        )

    return [members for number, members in enumerate(groups) if not lies_inside(number)]


def _mostly_told(group: Scored, whole: int, over: Over) -> set[int]:
    """Better groups that tell nearly all of each member of a small group: one of them all, if there is such a one."""
    if len(group.members) > SMALL:
        return set()
    start, end = group.members[0]
    together = group.equal and end - start >= whole
    common: set[int] | None = None
    told: set[int] = set()
    for start, end in group.members:
        here = _tellers(start, end, over, TOLD_WHOLE if together else TOLD)
        common = here if common is None else common & here
        told |= here
        if not here or (together and not common):
            return set()
    return common or told


def _wraps(members: Members, inner: Scored, marks: NDArray[np.bool_], closed: Callable[[int], bool]) -> bool:
    """Whether *members* are around those of the equal group *inner*, and begin and end at borders: where an inner one
    ends at a border already, only where a sentence is *closed*."""
    return (
        inner.equal
        and len(members) == len(inner.members)
        and all(
            one <= start
            and end <= two
            and marks[one]
            and marks[two]
            and (two == end or not marks[end] or closed(two))
            for (one, two), (start, end) in zip(members, inner.members, strict=True)
        )
    )


def _tellers(start: int, end: int, over: Over, share: float) -> set[int]:
    """Better groups of which a fragment covers that *share* of this stretch, or two that follow each other do: it goes
    over the border between two copies then."""
    inside: dict[int, int] = {}  # better group → tokens of its fragments, which do not overlap
    seen = set()
    for cell in {start >> 6, end - 1 >> 6}:
        for row in over.get(cell, ()):
            one, two, number = row
            if row not in seen:
                seen.add(row)
                inside[number] = inside.get(number, 0) + max(0, min(end, two) - max(start, one))
    return {number for number, covered in inside.items() if covered >= share * (end - start)}


def enter(members: Members, number: int, over: Over) -> None:
    for start, end in members:
        for cell in range(start >> 6, (end - 1 >> 6) + 1):
            over.setdefault(cell, []).append((start, end, number))


def holders_of(members: Members, over: Over, least: float) -> set[int]:
    """Groups with a fragment around each of *members* that is not longer than its length / *least*."""
    holders: set[int] | None = None
    for start, end in members:
        here = {
            number
            for one, two, number in over.get(start >> 6, ())
            if one <= start and end <= two and end - start >= least * (two - one)
        }
        holders = here if holders is None else holders & here
        if not holders:
            break
    return holders or set()
