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
    if not len(left):
        return []
    roots = kernels.components(int(max(left.max(), right.max())) + 1, left, right)[left]
    # Family by family: no group reaches beyond one, and only one is in hand at a time.
    order = np.lexsort((right, left, -resemblance, roots))
    cuts = np.flatnonzero(np.diff(roots[order])) + 1
    out: list[list[int]] = []
    for some in np.split(order, cuts):
        out += _strict_family(left[some], right[some])
    return sorted(out)


def _strict_family(left: U32, right: U32) -> list[list[int]]:
    """Strict groups of one family, from its pairs, the closest first."""
    nodes = np.unique(np.concatenate([left, right]))
    pairs = list(
        zip(np.searchsorted(nodes, left).tolist(), np.searchsorted(nodes, right).tolist(), strict=True)
    )
    # Which nodes agree with all members of a group, a bit each.
    shared = [0] * len(nodes)
    for a, b in pairs:
        shared[a] |= 1 << b
        shared[b] |= 1 << a
    own = [1 << node for node in range(len(nodes))]
    group_of = list(range(len(nodes)))
    members = [[node] for node in range(len(nodes))]
    for a, b in pairs:
        x, y = group_of[a], group_of[b]
        if x == y or shared[x] & own[y] != own[y]:
            continue
        if len(members[x]) < len(members[y]):
            x, y = y, x
        for node in members[y]:
            group_of[node] = x
        members[x] += members[y]
        shared[x] &= shared[y]
        own[x] |= own[y]
        members[y], shared[y], own[y] = [], 0, 0
    numbers: list[int] = nodes.tolist()
    return [sorted(numbers[node] for node in group) for group in members if len(group) > 1]


def lists(groups: Sequence[Sequence[int]], names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of numbers as sorted groups of names."""
    return tuple(sorted(tuple(sorted(names[i] for i in group)) for group in groups))
