"""Repeats by edit distance (P3): equal fragments, simhash, banded edit distance, components or cliques.

The source compares all fragments with all. Here two fragments are compared only when they share a short run of tokens
where at most `max_edits` edits must leave one (cut a fragment into max_edits + 1 pieces: one of them stays whole), and
each fragment only with its nearest fragments that have the same run. So the work grows with the text, not its square.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.model import Note
from doublet.repeats.balance import TokenGroups
from doublet.repeats.model import RepeatOptions
from doublet.repeats.tokenise import TokenSequence

NEAREST = 16  #: fragments before it, with the same run of tokens, that a fragment is compared with
_LETTERS = 0x10F000  # numbers that fit into a character; more distinct words share letters, which only adds candidates


def find_by_edit(sequence: TokenSequence, options: RepeatOptions) -> tuple[TokenGroups, list[Note]]:
    """Groups of fragments of `fragment_tokens` tokens, alike up to `max_edits` edits; and notes."""
    size = options.fragment_tokens
    starts = _fragment_starts(sequence, size)
    if len(starts) < 2:
        return [], []
    words = sequence.ids[starts[:, None] + np.arange(size)]
    # Equal fragments are one; only different ones are compared.
    keys = kernels.shingle(
        (words.reshape(-1).astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15),
        np.arange(0, words.size + 1, size, dtype=np.uint64),
        size,
    )[0]
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    which = rank[which.reshape(-1)]
    distinct = words[first[order]]
    left, right = _alike(distinct, options)
    if options.link == "cliques":
        label = _cliques(len(distinct), left, right)
    else:
        label = kernels.components(len(distinct), left.astype(np.uint32), right.astype(np.uint32)).astype(
            np.int64
        )
    members: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for start, number in zip(starts.tolist(), label[which].tolist(), strict=True):
        members[number].append((start, start + size))
    return [group for group in members.values() if len(group) > 1], []


def _fragment_starts(sequence: TokenSequence, size: int) -> NDArray[np.int64]:
    """Where fragments begin: one after the other within each part; what is left at its end is too short."""
    edges = np.concatenate([[0], sequence.cuts, [len(sequence)]])
    runs = [np.arange(one, two - size + 1, size) for one, two in itertools.pairwise(edges.tolist())]
    return np.concatenate(runs).astype(np.int64) if runs else np.zeros(0, np.int64)


def _alike(words: NDArray[np.uint32], options: RepeatOptions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of fragments within the distances of *options*."""
    count, size = words.shape
    run = max(1, size // (options.max_edits + 1))
    hashes = _simhashes(words)
    grams = words[:, : size - run + 1].astype(np.uint64)
    for shift in range(1, run):
        grams = grams * np.uint64(0x100000001B3) + words[:, shift : size - run + 1 + shift]
    flat = grams.reshape(-1)
    owner = np.repeat(np.arange(count, dtype=np.int32), size - run + 1)
    order = np.argsort(flat, kind="stable")
    flat, owner = flat[order], owner[order]
    found: list[NDArray[np.int64]] = []
    for step in range(1, NEAREST + 1):
        same = np.flatnonzero(flat[:-step] == flat[step:])
        one, two = owner[same], owner[same + step]
        near = one != two
        one, two = one[near], two[near]
        close = _distance(hashes[one], hashes[two]) <= options.hash_distance
        found.append(_once(one[close].astype(np.int64) << 32 | two[close]))
    pairs = _once(np.concatenate(found))
    left, right = pairs >> 32, pairs & 0xFFFFFFFF
    kept = _within_edits(words, left, right, options.max_edits)
    return left[kept], right[kept]


def _once(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sorted, each value once. Several times as quick on packed pairs as numpy's own, which hashes them badly."""
    values = np.sort(values)
    fresh = np.ones(len(values), bool)
    fresh[1:] = values[1:] != values[:-1]
    return values[fresh]


def _simhashes(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """32 bits for each fragment, as in the source."""
    values = words.reshape(-1).astype(np.uint64) + np.uint64(1)
    values *= np.uint64(0x9E3779B97F4A7C15)
    values ^= values >> np.uint64(29)
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(32)
    offsets = np.arange(0, len(values) + 1, words.shape[1], dtype=np.uint64)
    return (kernels.simhash(values, None, offsets) >> np.uint64(32)).astype(np.uint32)


def _distance(one: NDArray[np.uint32], two: NDArray[np.uint32]) -> NDArray[np.uint8]:
    bits = np.unpackbits((one ^ two).view(np.uint8).reshape(-1, 4), axis=1)
    count: NDArray[np.uint8] = bits.sum(axis=1, dtype=np.uint8)
    return count


def _within_edits(
    words: NDArray[np.uint32], left: NDArray[np.int64], right: NDArray[np.int64], most: int
) -> NDArray[np.bool_]:
    """Which pairs are at most *most* edits apart: rapidfuzz on fragments written as strings, a letter a token."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    codes = words % _LETTERS
    codes += np.where(codes >= 0xD800, 0x800, 0).astype(np.uint32)
    text = codes.astype("<u4").tobytes().decode("utf-32-le")
    size = words.shape[1]
    spelt = [text[at : at + size] for at in range(0, len(text), size)]
    kept = np.zeros(len(left), bool)
    scorer: Any = Levenshtein.distance
    for at in range(0, len(left), 1 << 18):
        part = slice(at, at + (1 << 18))
        one, two = left[part].tolist(), right[part].tolist()
        found = cpdist(
            [spelt[i] for i in one], [spelt[i] for i in two], scorer=scorer, score_cutoff=most, dtype=np.int32
        )
        kept[part] = found <= most
    return kept


def _cliques(count: int, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every fragment joins the first group to all of whose members it is alike, in order of the text."""
    near: dict[int, set[int]] = defaultdict(set)
    for one, two in zip(left.tolist(), right.tolist(), strict=True):
        near[one].add(two)
        near[two].add(one)
    label = np.arange(count)
    groups: dict[int, list[int]] = {}
    for fragment in sorted(near):
        for number in sorted({int(label[other]) for other in near[fragment] if other < fragment}):
            if all(member in near[fragment] for member in groups[number]):
                label[fragment] = number
                groups[number].append(fragment)
                break
        else:
            groups[fragment] = [fragment]
    return label
