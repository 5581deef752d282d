"""Runs of words as numbers: shingle, distinct, ordered, count_common, minima, simhash, components.

Twin of native/shingles.cpp.
"""

from __future__ import annotations

import itertools

import numpy as np

from doublet.kernels.data import MASK64, MINHASH_PRIME, SHINGLE_FACTOR, SIZE_FACTOR
from doublet.kernels.reference.arguments import F64, U32, U64, check_numbers, documents


def mix(value: int) -> int:
    """Finaliser of 64-bit MurmurHash3; never 0, which open tables keep for "empty"."""
    value ^= value >> 33
    value = value * 0xFF51AFD7ED558CCD & MASK64
    value ^= value >> 33
    value = value * 0xC4CEB9FE1A85EC53 & MASK64
    value ^= value >> 33
    return value or 1


def shingle(hashes: U64, offsets: U64, size: int) -> tuple[U64, U64]:
    """Rabin–Karp fingerprints of every run of *size* words, in order.

    A shorter document that is not empty has one, of all its words.
    """
    check_numbers(size)
    if size < 1:
        raise ValueError("a shingle has at least one word")
    out: list[int] = []
    ends = [0]
    for start, end in documents(offsets, len(hashes)):
        words = [int(h) for h in hashes[start:end]]
        length = min(size, len(words))
        if length:
            for i in range(len(words) - length + 1):
                value = 0
                for word in words[i : i + length]:
                    value = (value * SHINGLE_FACTOR + word) & MASK64
                out.append(mix((value + length * SIZE_FACTOR) & MASK64))
        ends.append(len(out))
    return np.array(out, np.uint64), np.array(ends, np.uint64)


def distinct(values: U64, offsets: U64) -> tuple[U64, U64]:
    """Each value once per document, in order of first sight."""
    out: list[int] = []
    ends = [0]
    for start, end in documents(offsets, len(values)):
        out.extend(dict.fromkeys(values[start:end].tolist()))
        ends.append(len(out))
    return np.array(out, np.uint64), np.array(ends, np.uint64)


def ordered(values: U64, offsets: U64) -> tuple[U64, U64]:
    """Each value once per document, the smallest first."""
    sets = [sorted(set(values[start:end].tolist())) for start, end in documents(offsets, len(values))]
    ends = itertools.accumulate(map(len, sets), initial=0)
    return np.array(list(itertools.chain.from_iterable(sets)), np.uint64), np.array(list(ends), np.uint64)


def count_common(a: U64, b: U64) -> int:
    """How many values two arrays have in common, both of which rise."""
    left, right = a.tolist(), b.tolist()
    x = y = count = 0
    while x < len(left) and y < len(right):
        one, other = left[x], right[y]
        count += one == other
        x += one <= other
        y += other <= one
    return count


def check_functions(factors: U32, terms: U32) -> None:
    if len(factors) != len(terms):
        raise ValueError("as many terms as factors are needed")
    if any(number >= MINHASH_PRIME for number in (*factors.tolist(), *terms.tolist())):
        raise ValueError("factors and terms must be below 2^31 - 1")


def minima(values: U64, offsets: U64, factors: U32, terms: U32, threads: int = 1) -> U32:
    """Smallest (a·x + b) mod p for each document and function; p = 2³¹−1, x = value mod p. An empty document has p."""
    bounds = documents(offsets, len(values))
    check_functions(factors, terms)
    out = np.full((len(bounds), len(factors)), MINHASH_PRIME, np.uint32)
    a = factors.astype(np.uint64)
    b = terms.astype(np.uint64)
    for row, (start, end) in enumerate(bounds):
        for value in values[start:end].tolist():
            x = np.uint64(value % MINHASH_PRIME)
            np.minimum(out[row], ((a * x + b) % np.uint64(MINHASH_PRIME)).astype(np.uint32), out=out[row])
    return out


def simhash(values: U64, weights: F64 | None, offsets: U64) -> U64:
    """Bitwise weighted majority of the values of each document; a tie gives 0. An empty document gives 0."""
    if weights is not None and len(weights) != len(values):
        raise ValueError("as many weights as values are needed")
    out = []
    for start, end in documents(offsets, len(values)):
        sums = [0.0] * 64
        for i in range(start, end):
            value = int(values[i])
            weight = 1.0 if weights is None else float(weights[i])
            for bit in range(64):
                sums[bit] += weight if value >> bit & 1 else -weight
        out.append(sum(1 << bit for bit in range(64) if sums[bit] > 0))
    return np.array(out, np.uint64)


def components(count: int, left: U32, right: U32) -> U32:
    """Smallest member of each node's connected component (union-find)."""
    check_numbers(count)
    if count >= 1 << 32:
        raise ValueError("more than 4294967295 documents cannot be joined")
    if any(node >= count for node in (*left.tolist(), *right.tolist())):
        raise ValueError("a pair names a document that is not there")
    parent = list(range(count))

    def find(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        x, y = find(a), find(b)
        if x != y:
            parent[max(x, y)] = min(x, y)
    return np.array([find(i) for i in range(count)], np.uint32)
