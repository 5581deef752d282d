"""Pairs → groups: around keepers (what is cleaned by), strict (all pairs agree), families (for browsing).

Chaining is the trap: a is like b and b like c, but a is not like c. A keeper group never chains, since every member was
compared with the document that is kept for it. Explained in docs/decisions/0002-star-groups.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from doublet import kernels

U32 = NDArray[np.uint32]


def best_links(
    links: tuple[U32, U32, U32], sizes: U32, ranks: U32
) -> tuple[U32, U32, NDArray[np.float64], NDArray[np.float64]]:
    """For each removed document its closest keeper: documents, keepers, resemblance, containment of the document in it.

    Closest: highest resemblance, then containment, then the more preferred keeper.
    """
    documents, keepers, overlaps = links
    common = overlaps.astype(np.float64)
    own, other = sizes[documents].astype(np.float64), sizes[keepers].astype(np.float64)
    resemblance = common / np.maximum(own + other - common, 1)
    containment = common / np.maximum(own, 1)
    order = np.lexsort((ranks[keepers], -containment, -resemblance, documents))
    first = np.ones(len(order), np.bool_)
    first[1:] = documents[order][1:] != documents[order][:-1]
    chosen = order[first]
    return documents[chosen], keepers[chosen], resemblance[chosen], containment[chosen]


def families(count: int, left: U32, right: U32) -> list[list[int]]:
    """Connected components of two documents or more, by their smallest member."""
    roots = kernels.components(count, left, right)
    linked = np.unique(np.concatenate([left, right]))
    out: dict[int, list[int]] = {}
    for node in linked.tolist():
        out.setdefault(int(roots[node]), []).append(node)
    return [out[root] for root in sorted(out)]


def strict_groups(left: U32, right: U32, resemblance: NDArray[np.float64]) -> list[list[int]]:
    """Groups in which every pair agrees (complete link): closest pairs first, ties by number."""
    agree: dict[int, set[int]] = {}
    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        agree.setdefault(a, set()).add(b)
        agree.setdefault(b, set()).add(a)
    group_of: dict[int, int] = {node: node for node in agree}
    members: dict[int, list[int]] = {node: [node] for node in agree}
    shared: dict[int, set[int]] = {node: set(near) for node, near in agree.items()}  # agree with all members
    for at in np.lexsort((right, left, -resemblance)).tolist():
        x, y = group_of[int(left[at])], group_of[int(right[at])]
        if x == y or not shared[x].issuperset(members[y]):
            continue
        if len(members[x]) < len(members[y]):
            x, y = y, x
        for node in members[y]:
            group_of[node] = x
        members[x] += members.pop(y)
        shared[x] &= shared.pop(y)
    return sorted(sorted(m) for m in members.values() if len(m) > 1)


def lists(groups: Sequence[Sequence[int]], names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of numbers as sorted groups of names."""
    return tuple(sorted(tuple(sorted(names[i] for i in group)) for group in groups))
