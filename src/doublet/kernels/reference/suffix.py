"""Suffix array, common prefixes, groups of exact repeats, and chains of nearly equal passages: native/suffix.cpp.

The ideas are in docs/explanation/repeats.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from doublet.kernels.reference.arguments import U32, U64, check_numbers


def suffix_array(ids: U32) -> U32:
    """Positions of *ids* in the order of what begins there; where one is the beginning of another it comes first."""
    values = ids.tolist()
    if values and max(values) == (1 << 32) - 1:
        raise ValueError("a token number is too large")
    return np.array(sorted(range(len(values)), key=lambda i: values[i:]), np.uint32)


def _check_order(ids: U32, order: U32) -> None:
    if len(ids) != len(order):
        raise ValueError("one place is needed for each token")
    if sorted(order.tolist()) != list(range(len(ids))):
        raise ValueError("the order must name every place once")


def common_prefixes(ids: U32, order: U32) -> U32:
    """For each position: how many tokens it shares with the one before it in *order* (from `suffix_array`)."""
    _check_order(ids, order)
    values, sorted_ = ids.tolist(), order.tolist()
    out = np.zeros(len(values), np.uint32)
    for one, two in itertools.pairwise(sorted_):
        length = 0
        while max(one, two) + length < len(values) and values[one + length] == values[two + length]:
            length += 1
        out[two] = length
    return out


def exact_groups(
    ids: U32, order: U32, prefixes: U32, min_tokens: int, budget: int, places: U32 | None = None
) -> tuple[U64, U32, U32, bool]:
    """Groups of equal passages of at least *min_tokens* tokens, in which no token stands twice.

    Group g has the passages ``starts[offsets[g]:offsets[g+1]]``, each ``lengths[g]`` tokens long. All maximal repeats
    (equal, and longer neither to the left nor to the right) are taken by falling significance n·m² (ties: longer, then
    earlier); passages of which a token is taken already are left out, and what stays grows to both sides as far as all
    its passages agree. Of repeats that overlap themselves only the shortest are looked at, so that "la la la …" is
    linear. The last value is False when the work reached *budget* steps and the least significant were not looked at.
    Where *ids* are only those tokens of a text that can repeat (see `repeated`), *places* says where they stand in it.
    """
    check_numbers(min_tokens, budget)
    _check_order(ids, order)
    if len(prefixes) != len(ids):
        raise ValueError("one prefix length is needed for each token")
    if min_tokens < 1:
        raise ValueError("a repeat has at least one token")
    if places is not None and len(places) != len(ids):
        raise ValueError("one place in the text is needed for each token")
    if places is not None and any(one >= two for one, two in itertools.pairwise(places.tolist())):
        raise ValueError("places in the text must rise")
    s, sa, plcp = ids.tolist(), order.tolist(), prefixes.tolist()
    nodes = []
    where = places.tolist() if places is not None else range(len(s))
    for left, right, length in _intervals([plcp[at] for at in sa]):
        found = sa[left:right]
        before = {s[at - 1] if at else None for at in found}
        if length < min_tokens or (len(before) == 1 and None not in before):
            continue
        span, times = where[max(found)] - where[min(found)], right - left
        apart = span >= (times - 1) * length
        edges = [plcp[sa[i]] for i in (left, right) if 0 < i < len(sa)]
        if apart or max(edges, default=0) < min_tokens:
            n = times if apart else min(times, span // length + 1)
            nodes.append((-n * length * length, -length, min(found), left, right, apart))
    used = [False] * len(s)
    starts: list[int] = []
    lengths: list[int] = []
    offsets = [0]
    spent = 0
    for _, negative, _, left, right, apart in sorted(nodes):
        length = -negative
        spent += (right - left) * (2 + length // min_tokens)
        if spent > budget:
            return _groups(offsets, starts, lengths, False)
        kept: list[int] = []
        members = sorted(sa[left:right])
        if members[-1] + length > len(s):
            raise ValueError("the prefixes are not those of the order")
        if not apart:  # "la la la …": whole periods, so that nothing is left between the passages
            step = min(two - one for one, two in itertools.pairwise(members))
            length = min(length, -(-min_tokens // step) * step)
        for at in members:
            if (not kept or at >= kept[-1] + length) and not any(used[at : at + length]):
                kept.append(at)
        if len(kept) < 2:
            continue
        while _agree(s, used, [at + length for at in kept], [*kept[1:], len(s)]):
            length += 1
        while kept[0] and _agree(
            s, used, [at - 1 for at in kept[::-1]], None, [at + length for at in kept[-2::-1]]
        ):
            kept = [at - 1 for at in kept]
            length += 1
        for at in kept:
            used[at : at + length] = [True] * length
        starts += kept
        lengths.append(length)
        offsets.append(len(starts))
    return _groups(offsets, starts, lengths, True)


def _groups(
    offsets: list[int], starts: list[int], lengths: list[int], whole: bool
) -> tuple[U64, U32, U32, bool]:
    return np.array(offsets, np.uint64), np.array(starts, np.uint32), np.array(lengths, np.uint32), whole


def _agree(
    s: list[int], used: list[bool], places: list[int], below: list[int] | None, above: list[int] | None = None
) -> bool:
    """Whether the tokens at *places* are free and equal and stay below / at or above the limits."""
    if below is not None and any(at >= limit for at, limit in zip(places, below, strict=True)):
        return False
    if above is not None and any(at < limit for at, limit in zip(places, above, strict=False)):
        return False
    return not any(used[at] for at in places) and len({s[at] for at in places}) == 1


def _intervals(lcp: list[int]) -> Iterator[tuple[int, int, int]]:
    """All stretches of the order that share a prefix longer than what they share with their neighbours."""
    stack = [(0, 0)]
    for i in range(1, len(lcp) + 1):
        length = lcp[i] if i < len(lcp) else 0
        left = i - 1
        while stack[-1][0] > length:
            found, left = stack.pop()
            yield left, i, found
        if stack[-1][0] < length:
            stack.append((length, left))


CHAIN_WIDTH = 12  #: tokens by which the two places of a chain may drift apart at one step
CHAIN_EVEN = 4  #: tokens by which the copies of a period may differ in length


def self_chains(
    ids: U32,
    parts: U32,
    seed: int,
    nearest: int,
    gap: int,
    join_gap: int,
    min_matched: int,
    join_cost: int = 0,
) -> tuple[U32, U32, U32, U32, U32]:
    """Pairs of nearly equal passages of one text: start and end of the later and of the earlier, tokens matched.

    Each run of *seed* tokens is paired with its *nearest* earlier equals; seeds that follow each other in both places
    over at most *gap* other tokens are one chain, as long as the two places do not run into each other or over the
    border of a part (*parts* numbers the part of each token). Evenly spaced copies are paired with the nearest only.
    Chains that follow each other within *join_gap* tokens
    in both places are given once more as one (0: never). Chains with fewer than *min_matched* tokens are left out.
    Each of two that are joined must have matched at least *join_cost* quarters of the tokens of the gap between them.
    Equal tokens between seeds count as matched too, when they are in line with the seed before or behind them.
    """
    check_numbers(seed, nearest, gap, join_gap, min_matched, join_cost)
    if len(parts) != len(ids):
        raise ValueError("one part is needed for each token")
    if not seed or not nearest:
        raise ValueError("seeds have at least one token, and one partner")
    s, part = ids.tolist(), parts.tolist()
    seen: dict[tuple[int, ...], int] = {}
    previous: dict[int, int] = {}
    chains: list[list[int]] = []  # a, a_end, b, b_end, matched
    live: dict[int, int] = {}
    for i in range(len(s) - seed + 1):
        if part[i] != part[i + seed - 1]:
            continue
        gram = tuple(s[i : i + seed])
        if gram in seen:
            previous[i] = seen[gram]
        seen[gram] = i
        far = max(min_matched, seed)
        j = _earlier(previous, i, far)
        before = None if j is None else _earlier(previous, j, far)
        partners = nearest
        if j is not None and before is not None and abs((i - j) - (j - before)) <= CHAIN_EVEN:
            partners = 1  # a period: its nearest copy is enough
        while j is not None and partners:
            _chain(chains, live, s, part, i, j, seed, gap)
            j, partners = previous.get(j), partners - 1
    chains = [[c[0], c[1], c[2], c[3], c[4]] for c in sorted(chains, key=lambda c: (c[0], c[2], c[1], c[3]))]
    joined = [list(c) for c in chains]
    cell = join_gap + 1
    ends: dict[int, int] = {}  # the last chain whose earlier place ends in this stretch
    for n in range(len(chains) if join_gap else 0):
        a, a_end, b, b_end, matched = joined[n]
        best = least = None
        for y in (b // cell, b // cell - 1):
            number = ends.get(y)
            if number is None:
                continue
            p = joined[number]
            ahead = a - p[1], b - p[3]
            if min(ahead) < 0 or max(ahead) > join_gap or b_end > p[0]:
                continue
            if part[a] != part[p[0]] or part[b] != part[p[2]]:
                continue
            if 4 * min(matched, p[4]) < max(ahead) * join_cost:
                continue
            if least is None or sum(ahead) < least:
                best, least = number, sum(ahead)
        at = n
        if best is not None:
            p = joined[best]
            joined[best] = [p[0], a_end, p[2], b_end, p[4] + _equal_between(s, p[1], a, p[3], b) + matched]
            joined[n][4] = 0
            at = best
        ends[joined[at][3] // cell] = at
    rows = []
    for chain, grown in zip(chains, joined, strict=True):
        if chain[4] >= min_matched:
            rows.append(chain)
        if grown[4] != chain[4] and grown[4] >= min_matched:
            rows.append(grown)
    table: Any = np.array(rows, np.uint32).reshape(-1, 5)
    return tuple(table[:, column].copy() for column in range(5))


def _equal_between(s: list[int], a: int, a_end: int, b: int, b_end: int) -> int:
    """Tokens that are equal between two runs: on the diagonal of the run before and, from some place on, of the run
    behind."""
    size = min(a_end - a, b_end - b)
    if size <= 0:
        return 0
    before = [s[a + k] == s[b + k] for k in range(size)]
    behind = [s[a_end - size + k] == s[b_end - size + k] for k in range(size)]
    return max(sum(before[:k]) + sum(behind[k:]) for k in range(size + 1))


def _earlier(previous: dict[int, int], at: int, least: int) -> int | None:
    """The nearest earlier place of the same seed that is far enough for passages not to overlap themselves."""
    found = previous.get(at)
    while found is not None and at - found < least:
        found = previous.get(found)
    return found


def _chain(
    chains: list[list[int]],
    live: dict[int, int],
    s: list[int],
    part: list[int],
    i: int,
    j: int,
    seed: int,
    gap: int,
) -> None:
    """Put the seed at *i* and *j* into a live chain near its diagonal, or begin a new one."""
    bucket = (i - j) // CHAIN_WIDTH + 1
    for near in (bucket, bucket - 1, bucket + 1):
        number = live.get(near)
        if number is None:
            continue
        a, a_end, b, b_end, _ = chains[number]
        if i > a_end + gap or j > b_end + gap:
            continue
        if i + seed <= a_end or j + seed <= b_end:
            if i >= a and j >= b and i + seed <= a_end and j + seed <= b_end:
                return
            continue
        if j + seed > a and a <= i < a_end:
            return  # the chain has met its copy: the next one begins where it ends, not in the middle of a period
        if i < a or j < b or j + seed > a or part[i] != part[a] or part[j] != part[b]:
            continue
        chains[number][4] += _equal_between(s, a_end, i, b_end, j)
        chains[number][4] += min(i + seed - max(i, a_end), j + seed - max(j, b_end))
        chains[number][1], chains[number][3] = i + seed, j + seed
        if near != bucket:
            del live[near]
        live[bucket] = number
        return
    if j + seed <= i:
        live[bucket] = len(chains)
        chains.append([i, i + seed, j, j + seed, seed])
