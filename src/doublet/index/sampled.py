"""Pairs of documents that share some rare fingerprints, from a sample of all fingerprints of a collection.

In a reworded copy few runs of words survive, but some do, and hardly any other document has them. A sample of the
fingerprints that shingles make anyway is sorted once; equal ones lead to pairs. What stands in many documents (stock
phrases, templates) leads nowhere. The pairs depend on the documents alone, not on their order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Mask = NDArray[np.bool_]

SAMPLE_BITS = 2  #: one in four fingerprints is looked at, to begin with
MOST_ENTRIES = 1 << 23  #: fingerprints; beyond, every second one goes, again and again
BYTES_PER_ENTRY = 40  #: while pairs are made
MOST_DOCUMENTS = 1 << 24
RARE = 8  #: a fingerprint of more documents leads nowhere
LEAST_SHARED, LEAST_SHARE = (
    3,
    0.05,
)  #: sampled fingerprints that two documents share: number, and share of the shorter one

_DOCUMENT_BITS = np.uint64(24)
_DOCUMENT_MASK = np.uint64(MOST_DOCUMENTS - 1)
_CHOOSING_FROM = np.uint64(8)  # the bits that choose lie below those that make the key


@dataclass(frozen=True, slots=True, eq=False)
class NearPairs:
    """Pairs of documents, *left* < *right*. *score*: how much of the shorter one's sample is shared, rare things more."""

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
        self._chosen_by: list[NDArray[np.uint16]] = []
        self._count = 0
        self._bits = SAMPLE_BITS
        self._most = max(1, most_entries)
        self._full = False

    def add(self, values: U64, offsets: U64, first: int) -> None:
        """Fingerprints of documents *first* and on, each once in a document."""
        if self._full or first + len(offsets) - 1 > MOST_DOCUMENTS:
            self._full, self._keys, self._chosen_by = True, [], []  # more documents than can be numbered
            return
        chosen = np.flatnonzero(((values >> _CHOOSING_FROM) & np.uint64((1 << self._bits) - 1)) == 0)
        some = values[chosen]
        owners = np.searchsorted(offsets, chosen.astype(np.uint64), side="right") + (first - 1)
        self._keys.append((some >> _DOCUMENT_BITS << _DOCUMENT_BITS) | owners.astype(np.uint64))
        self._chosen_by.append(((some >> _CHOOSING_FROM) & np.uint64(0xFFFF)).astype(np.uint16))
        self._count += len(chosen)
        while self._count > self._most and self._bits < 16:
            self._bits += 1
            low = np.uint16((1 << self._bits) - 1)
            kept = [(bits & low) == 0 for bits in self._chosen_by]
            self._keys = [keys[mask] for keys, mask in zip(self._keys, kept, strict=True)]
            self._chosen_by = [bits[mask] for bits, mask in zip(self._chosen_by, kept, strict=True)]
            self._count = sum(map(len, self._keys))

    def pairs(self, alive: Mask) -> NearPairs:
        """Pairs among the documents that are *alive* (a mark for each document)."""
        nothing = NearPairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float64))
        packed = np.concatenate(self._keys) if self._keys else np.zeros(0, np.uint64)
        self._keys, self._chosen_by = [], []
        if not alive.all():
            packed = packed[alive[(packed & _DOCUMENT_MASK).astype(np.int64)]]
        if not len(packed):
            return nothing
        packed.sort()
        documents = (packed & _DOCUMENT_MASK).astype(np.int64)
        own = np.bincount(documents, minlength=len(alive))
        starts = np.flatnonzero(np.diff(packed >> _DOCUMENT_BITS, prepend=~packed[:1] >> _DOCUMENT_BITS) != 0)
        lengths = np.diff(np.append(starts, len(packed)))
        codes, weights = [], []
        for length in range(2, RARE + 1):
            runs = starts[lengths == length]
            one, other = np.triu_indices(length, 1)
            left = documents[runs[:, None] + one[None, :]].reshape(-1).astype(np.uint64)
            right = documents[runs[:, None] + other[None, :]].reshape(-1).astype(np.uint64)
            codes.append((left << _DOCUMENT_BITS) | right)
            weights.append(np.full(len(left), 1.0 / (length - 1)))
        code, weight = np.concatenate(codes), np.concatenate(weights)
        if not len(code):
            return nothing
        order = np.argsort(code, kind="stable")
        code, weight = code[order], weight[order]
        firsts = np.flatnonzero(np.diff(code, prepend=~code[:1]) != 0)
        shared = np.diff(np.append(firsts, len(code)))
        total = np.add.reduceat(weight, firsts)
        left, right = (
            (code[firsts] >> bits & _DOCUMENT_MASK).astype(np.int64)
            for bits in (_DOCUMENT_BITS, np.uint64(0))
        )
        shorter = np.minimum(own[left], own[right])
        good = (left != right) & (shared >= LEAST_SHARED) & (shared >= LEAST_SHARE * shorter)
        # Sums of the same parts in another order differ in the last digits; ties must not depend on that.
        return NearPairs(left[good], right[good], np.round(total[good] / shorter[good], 6))


def best_pairs(pairs: NearPairs, each: int, most: int) -> NearPairs:
    """The *each* best pairs of every document, and of these the *most* best of all.

    Pairs that tie for the last place of a document all stay, those that tie for the last of all places all go: the
    choice does not depend on how documents are numbered.
    """
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
    # Score of the last place of each document; those that tie with it stay.
    last = scores[firsts + np.minimum(sizes, each) - 1]
    chosen = np.zeros(count, np.bool_)
    chosen[rows[scores >= np.repeat(last, sizes)]] = True
    pairs = pairs.only(chosen)
    if len(pairs) <= most:
        return pairs
    cut = np.partition(pairs.score, len(pairs) - most - 1)[
        len(pairs) - most - 1
    ]  # the best one without a place
    return pairs.only(pairs.score > cut)
