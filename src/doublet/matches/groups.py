"""Pairs → groups: around keepers (what is cleaned by), strict (all pairs agree), families (for browsing).

Chaining is the trap: a is like b and b like c, but a is not like c. A keeper group never chains, since every member was
compared with the document that is kept for it. Explained in docs/decisions/0002-groups-around-keepers.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray

from doublet import kernels

U32 = NDArray[np.uint32]

_PAIRS_AT_ONCE = 1 << 16  # that are Python objects at a time


def families(count: int, left: U32, right: U32) -> list[list[int]]:
    """Connected components of two documents or more, by their smallest member."""
    roots = kernels.components(count, left, right)
    linked = np.unique(np.concatenate([left, right]))
    out: dict[int, list[int]] = {}
    for node in linked.tolist():
        out.setdefault(int(roots[node]), []).append(node)
    return [out[root] for root in sorted(out)]


def strict_groups(left: U32, right: U32, resemblance: NDArray[np.float64]) -> list[list[int]]:
    """Groups in which every pair agrees (complete link): closest pairs first, ties by number.

    Takes some 60 bytes a pair and 500 a group, for long chains as for copies of one text: who agrees with all of a
    group is written out only for groups that there are.
    """
    order = np.lexsort((right, left, -resemblance))
    nodes = np.unique(np.concatenate([left, right]))
    left, right = (np.searchsorted(nodes, side[order]).astype(np.uint32) for side in (left, right))
    owners = np.concatenate([left, right])
    near = np.concatenate([right, left])[np.argsort(owners, kind="stable")]
    ends = np.cumsum(np.bincount(owners, minlength=len(nodes))).tolist()
    del order, owners
    group_of = list(range(len(nodes)))
    members: dict[int, list[int]] = {}  # of more than one
    agreeing: dict[int, AbstractSet[int]] = {}  # with all of them
    nobody: AbstractSet[int] = frozenset()  # the same one for all groups that are complete

    def with_all(group: int) -> AbstractSet[int]:
        """Taken out, to be changed."""
        if group in agreeing:
            return agreeing.pop(group)
        return set(near[ends[group - 1] if group else 0 : ends[group]].tolist())

    for low in range(0, len(left), _PAIRS_AT_ONCE):
        high = low + _PAIRS_AT_ONCE
        for a, b in zip(left[low:high].tolist(), right[low:high].tolist(), strict=True):
            x, y = group_of[a], group_of[b]
            if x == y:
                continue
            if len(members.get(x, (x,))) < len(members.get(y, (y,))):
                x, y = y, x
            joining = members.get(y, [y])
            if x in members and not all(node in agreeing[x] for node in joining):
                continue
            agreeing[x] = with_all(x) & with_all(y) or nobody
            members.setdefault(x, [x]).extend(joining)
            members.pop(y, None)
            for node in joining:
                group_of[node] = x
    numbers: list[int] = nodes.tolist()
    return sorted(sorted(numbers[node] for node in group) for group in members.values())


def lists(groups: Sequence[Sequence[int]], names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of numbers as sorted groups of names."""
    return tuple(sorted(tuple(sorted(names[i] for i in group)) for group in groups))
