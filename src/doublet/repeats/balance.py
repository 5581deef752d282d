"""Balancing of groups (P5): drop what is no group, join neighbouring groups where the significance grows.

Two groups are neighbours when *every* fragment of the one stands directly before (or directly after) a fragment of the
other. Then the fragments that touch can be joined: the first group becomes longer, the other loses those fragments.
It is done when the sum of the significances n·m̄² grows, and always when both have the same number of fragments.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np

TokenGroups = list[list[tuple[int, int]]]  #: groups of half-open stretches of tokens


def significance(group: list[tuple[int, int]]) -> float:
    """n·m̄²: number of fragments times the square of their mean length in tokens."""
    if not group:
        return 0.0
    total = sum(end - start for start, end in group)
    return total * total / len(group)


def drop_lonely(groups: TokenGroups) -> TokenGroups:
    """Without groups that are empty or have a single fragment."""
    return [group for group in groups if len(group) > 1]


def balance(groups: TokenGroups, *, borders: frozenset[int] | set[int] = frozenset()) -> TokenGroups:
    """The balanced groups. *borders* are tokens before which nothing may be joined (files, parts).

    Groups are tried by falling significance, ties by their first place, until nothing can be joined any more. Each
    join makes the number of fragments smaller, so it ends; the input is not changed.
    """
    work: list[list[tuple[int, int]]] = [sorted(group) for group in drop_lonely(groups)]
    possible, touching = _with_neighbours(work)
    if not possible:
        return work
    begins: dict[int, tuple[int, tuple[int, int]]] = {}
    ends: dict[int, tuple[int, tuple[int, int]]] = {}

    def enter(number: int) -> None:
        for fragment in work[number]:
            begins[fragment[0]] = number, fragment
            ends[fragment[1]] = number, fragment

    def leave(number: int) -> None:
        for fragment in work[number]:
            if begins.get(fragment[0], (-1,))[0] == number:
                del begins[fragment[0]]
            if ends.get(fragment[1], (-1,))[0] == number:
                del ends[fragment[1]]

    for number in touching:
        enter(number)
    queue = [(-significance(work[number]), work[number][0], number) for number in possible]
    heapq.heapify(queue)
    while queue:
        value, first, number = heapq.heappop(queue)
        group = work[number]
        if len(group) < 2 or value != -significance(group) or first != group[0]:
            continue  # it has changed since; its new state is in the queue
        for other, longer, rest in _neighbours(work, number, begins, ends, borders):
            before = significance(group) + significance(work[other])
            if not rest or before < significance(longer) + significance(rest):
                break
        else:
            continue
        leave(number)
        leave(other)
        work[number], work[other] = longer, rest
        enter(number)
        enter(other)
        touched = {number, other}
        for fragment in longer:  # what stands beside the longer fragments may be joined now
            touched.update(
                place[0] for place in (ends.get(fragment[0]), begins.get(fragment[1])) if place is not None
            )
        for changed in touched:
            if len(work[changed]) > 1:
                heapq.heappush(queue, (-significance(work[changed]), work[changed][0], changed))
    return drop_lonely(work)


def _with_neighbours(work: TokenGroups) -> tuple[list[int], list[int]]:
    """Groups all of whose fragments touch, on one side, a fragment of one other group; and groups that touch another
    at all.

    The first are all that can be joined at once, the second all that can ever be: a joined fragment has the edges
    of those it is made of. Most texts have few of both, and one sentence said 100,000 times has none.
    """
    flat = np.array([edge for group in work for edge in group], np.int64).reshape(-1, 2)
    sizes = np.array([len(group) for group in work], np.int64)
    owner = np.repeat(np.arange(len(work)), sizes)
    edges = np.cumsum(sizes) - sizes
    possible, beside_any = np.zeros(len(work), bool), np.zeros(len(work), bool)
    for mine, theirs in ((flat[:, 1], flat[:, 0]), (flat[:, 0], flat[:, 1])):
        if not len(flat):
            break
        order = np.argsort(theirs, kind="stable")
        at = np.searchsorted(theirs[order], mine, "right") - 1
        beside = order[np.maximum(at, 0)]
        touched = np.where((at >= 0) & (theirs[beside] == mine), owner[beside], -1)
        beside_any[owner[(touched >= 0) & (touched != owner)]] = True
        least, most = np.minimum.reduceat(touched, edges), np.maximum.reduceat(touched, edges)
        possible |= (least == most) & (least >= 0) & (least != np.arange(len(work)))
    return np.flatnonzero(possible).tolist(), np.flatnonzero(beside_any).tolist()


def _neighbours(
    work: TokenGroups,
    number: int,
    begins: dict[int, tuple[int, tuple[int, int]]],
    ends: dict[int, tuple[int, tuple[int, int]]],
    borders: frozenset[int] | set[int],
) -> Iterator[tuple[int, list[tuple[int, int]], list[tuple[int, int]]]]:
    """Neighbours of the whole group, right and left: the group joined with it, and what is left of the neighbour."""
    group = work[number]
    for to_the_right in (True, False):
        found = [begins.get(end) if to_the_right else ends.get(start) for start, end in group]
        neighbours = {place[0] if place else None for place in found}
        if len(neighbours) != 1 or None in neighbours or number in neighbours:
            continue
        touching = [place[1] for place in found if place is not None]
        edges = [end if to_the_right else start for start, end in group]
        if any(edge in borders for edge in edges):
            continue
        other = neighbours.pop()
        assert other is not None
        longer = sorted(
            (mine[0], theirs[1]) if to_the_right else (theirs[0], mine[1])
            for mine, theirs in zip(group, touching, strict=True)
        )
        taken = set(touching)
        yield other, longer, [fragment for fragment in work[other] if fragment not in taken]
