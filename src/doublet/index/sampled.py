"""Pairs of documents that share some rare fingerprints, from a sample of all fingerprints of a collection.

In a reworded copy few runs of words survive, but some do, and hardly any other document has them. A sample of the
fingerprints that shingles make anyway is sorted once; equal ones lead to pairs. What stands in many documents (stock
phrases, templates) leads nowhere. The pairs depend on the documents alone, not on their order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet import kernels

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOST_ENTRIES = (
    1 << 22
)  #: fingerprints; beyond, every second one goes, again and again: all of some 10,000 documents
BYTES_PER_ENTRY = 40  #: while pairs are made
MOST_DOCUMENTS = 1 << 24
AT_ONCE = 1 << 22  #: fingerprints of one document
RARE = 8  #: a fingerprint of more documents leads nowhere
LEAST_SHARED, LEAST_SHARE = (
    3,
    0.03,
)  #: fingerprints that two documents share: number, share of the shorter one

_DOCUMENT_BITS = np.uint64(24)
_DOCUMENT_MASK = np.uint64(MOST_DOCUMENTS - 1)
_LENGTH_BITS = np.uint64(4)


@dataclass(frozen=True, slots=True, eq=False)
class NearPairs:
    """Pairs of documents, *left* < *right*. *score*: how much of the shorter one's sample is shared, rare most."""

    left: I64
    right: I64
    score: F64

    def __len__(self) -> int:
        return len(self.left)

    def only(self, chosen: Mask) -> NearPairs:
        return NearPairs(self.left[chosen], self.right[chosen], self.score[chosen])


class SampledKeys:
    """Fill it with the fingerprints of the documents in batches, then ask for pairs."""

    def __init__(self, most_entries: int = MOST_ENTRIES) -> None:
        self._keys: list[U64] = []
        self._chosen_by: list[NDArray[np.uint8]] = []
        self._count = 0
        self._bits = 0  # one in 2 ** bits is kept
        self._most = max(1, most_entries)
        self._full = False

    def add(self, values: U64, offsets: U64, first: int) -> None:
        """Fingerprints of documents *first* and on, each once in a document."""
        if self._full or first + len(offsets) - 1 > MOST_DOCUMENTS:
            self._full, self._keys, self._chosen_by = True, [], []  # more documents than can be numbered
            return
        if len(values) > AT_ONCE and len(offsets) == 2:  # one long document: most of its keys go again
            for start in range(0, len(values), AT_ONCE):
                some = values[start : start + AT_ONCE]
                self.add(some, np.array([0, len(some)], offsets.dtype), first)
            return
        # One byte of each fingerprint chooses; it lies below those that make the key.
        keys, choosing = kernels.sample_keys(values, offsets, first, self._bits)
        self._keys.append(keys)
        self._chosen_by.append(choosing)
        self._count += len(keys)
        while self._count > self._most and self._bits < 8:
            self._bits += 1
            kept = [(bits & np.uint8((1 << self._bits) - 1)) == 0 for bits in self._chosen_by]
            self._keys = [keys[mask] for keys, mask in zip(self._keys, kept, strict=True)]
            self._chosen_by = [bits[mask] for bits, mask in zip(self._chosen_by, kept, strict=True)]
            self._count = sum(map(len, self._keys))

    def pairs(self, alive: Mask) -> NearPairs:
        """Pairs among the documents that are *alive* (a mark for each document)."""
        nothing = NearPairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float64))
        parts, self._keys, self._chosen_by = self._keys, [], []
        if not alive.all():
            parts = [keys[alive[(keys & _DOCUMENT_MASK).astype(np.int64)]] for keys in parts]
        packed = np.concatenate(parts) if parts else np.zeros(0, np.uint64)
        packed.sort()
        code, own = kernels.pair_keys(packed, len(alive), RARE)
        if not len(code):
            return nothing
        code.sort()
        weight = 1.0 / ((code & np.uint64((1 << 4) - 1)).astype(np.float64) - 1.0)
        code >>= _LENGTH_BITS
        firsts = np.flatnonzero(_new(code))
        shared = np.diff(np.append(firsts, len(code)))
        total = np.add.reduceat(weight, firsts)
        left = (code[firsts] >> _DOCUMENT_BITS).astype(np.int64)
        right = (code[firsts] & _DOCUMENT_MASK).astype(np.int64)
        shorter = np.minimum(own[left], own[right])
        good = (left != right) & (shared >= LEAST_SHARED) & (shared >= LEAST_SHARE * shorter)
        # Sums of the same parts in another order differ in the last digits; ties must not depend on that.
        return NearPairs(left[good], right[good], np.round(total[good] / shorter[good], 6))


def _new(values: U64) -> Mask:
    """Where a sorted array goes on to another value."""
    out = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=out[1:])
    return out


def best_of_each(pairs: NearPairs, each: int) -> NearPairs:
    """The *each* best pairs of every document. Those that tie for its last place all stay: the choice does not depend
    on how documents are numbered."""
    count = len(pairs)
    if not count:
        return pairs
    rows = np.concatenate([np.arange(count), np.arange(count)])
    owners = np.concatenate([pairs.left, pairs.right])
    scores = pairs.score[rows]
    order = np.lexsort((-scores, owners))
    owners, scores, rows = owners[order], scores[order], rows[order]
    firsts = np.flatnonzero(np.diff(owners, prepend=owners[:1] - 1) != 0)
    sizes = np.diff(np.append(firsts, len(owners)))
    last = scores[firsts + np.minimum(sizes, each) - 1]
    chosen = np.zeros(count, np.bool_)
    chosen[rows[scores >= np.repeat(last, sizes)]] = True
    return pairs.only(chosen)


def best_of_all(scores: F64, most: int) -> I64:
    """Places of the *most* best scores. Those that tie for the last place all go, so that chance does not choose."""
    if len(scores) <= most:
        return np.arange(len(scores))
    cut = np.partition(scores, len(scores) - most - 1)[len(scores) - most - 1]  # the best one without a place
    return np.flatnonzero(scores > cut)
