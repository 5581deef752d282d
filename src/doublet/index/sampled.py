"""Pairs of documents that share some rare fingerprints, from a sample of all fingerprints of a collection.

In a reworded copy few runs of words survive, but some do, and hardly any other document has them. A sample of the
fingerprints that shingles make anyway is sorted once; equal ones lead to pairs. What stands in many documents (stock
phrases, templates) leads nowhere. The pairs depend on the documents alone, not on their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.signatures.long_array import LongArray
from doublet.signatures.protocol import Limit

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOST_ENTRIES = (
    1 << 22
)  #: fingerprints; beyond, every second one goes, again and again: all of some 10,000 documents
BYTES_PER_ENTRY, BYTES_PER_CODE, BYTES_PER_PAIR = (
    40,
    64,
    160,
)  #: while pairs are made: of a fingerprint, of two documents that share one, of two that share enough
ALL_AT_ONCE, LEAST_AT_ONCE = 1 << 22, 1 << 14  #: worked on together without a limit, and at least
STEP = 1 << 18  #: read together
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
_KEY_BITS, _PART_BITS = np.uint64(40), np.uint64(24)  # of a key: those below, and those that choose its part


@dataclass(frozen=True, slots=True, eq=False)
class NearPairs:
    """Pairs of documents, *left* < *right*. *score*: how much of the shorter one's sample is shared, rare most."""

    left: I64
    right: I64
    score: F64

    def __len__(self) -> int:
        return len(self.left)

    def only(self, chosen: Mask | I64) -> NearPairs:
        return NearPairs(self.left[chosen], self.right[chosen], self.score[chosen])


class SampledKeys:
    """Fill it with the fingerprints of the documents in batches, then ask for pairs.

    What does not fit *within* its limit lies in unnamed files; the pairs are the same. A full disk raises `OSError`.
    """

    def __init__(self, within: Limit | None = None, most_entries: int = MOST_ENTRIES) -> None:
        self._within = within
        self._keys, self._chosen_by = self._empty()
        self._bits = 0  # one in 2 ** bits is kept
        self._most = max(1, most_entries)
        self._full = False

    def _share(self, parts: int) -> int | None:
        return None if self._within is None else self._within.memory_bytes // parts

    def _at_once(self, bytes_each: int) -> int:
        """How many may be worked on together."""
        share = self._share(1)
        return ALL_AT_ONCE if share is None else max(LEAST_AT_ONCE, share // bytes_each)

    def _empty(self) -> tuple[LongArray[np.uint64], LongArray[np.uint8]]:
        folder = self._within and self._within.folder
        return LongArray(np.uint64, self._share(3), folder), LongArray(np.uint8, self._share(12), folder)

    def close(self) -> None:
        self._keys.close()
        self._chosen_by.close()

    def add(self, values: U64, offsets: U64, first: int) -> None:
        """Fingerprints of documents *first* and on, each once in a document."""
        if self._full or first + len(offsets) - 1 > MOST_DOCUMENTS:
            self._full = True  # more documents than can be numbered
            self.close()
            return
        if len(values) > AT_ONCE and len(offsets) == 2:  # one long document: most of its keys go again
            for start in range(0, len(values), AT_ONCE):
                some = values[start : start + AT_ONCE]
                self.add(some, np.array([0, len(some)], offsets.dtype), first)
            return
        # One byte of each fingerprint chooses; it lies below those that make the key.
        keys, choosing = kernels.sample_keys(values, offsets, first, self._bits)
        self._keys.add(keys)
        self._chosen_by.add(choosing)
        while len(self._keys) > self._most and self._bits < 8:
            self._bits += 1
            self._thin_out(np.uint8((1 << self._bits) - 1))

    def _thin_out(self, bits: np.uint8) -> None:
        """Leave every second one out."""
        keys, chosen_by = self._keys, self._chosen_by
        self._keys, self._chosen_by = self._empty()
        for low, high in _steps(len(keys)):
            choosing = chosen_by.read(low, high)
            kept = (choosing & bits) == 0
            self._keys.add(keys.read(low, high)[kept])
            self._chosen_by.add(choosing[kept])
        keys.close()
        chosen_by.close()

    def pairs(self, alive: Mask, each: int | None = None) -> tuple[NearPairs, bool]:
        """Pairs among the documents that are *alive* (a mark for each document); False: only the best fit the memory.

        *each*: only so many best pairs of every document, see `best_of_each`. The keys are gone afterwards.
        """
        folder = self._within and self._within.folder
        codes = LongArray(np.uint64, self._share(6), folder)
        own = np.zeros(len(alive), np.int64)
        for keys in self._key_parts(alive):
            code, counts = kernels.pair_keys(keys, len(alive), RARE)
            codes.add(code)
            own += counts
        self.close()
        found = _Best(each, None if self._within is None else self._at_once(BYTES_PER_PAIR))
        for code in self._code_parts(codes, len(alive)):
            found.add(_pairs_of(code, own))
        codes.close()
        return found.all(), found.whole

    def _key_parts(self, alive: Mask) -> Iterator[U64]:
        """All keys of documents that are alive, in parts that keep equal fingerprints together; each part sorted."""
        count = -(-len(self._keys) // self._at_once(BYTES_PER_ENTRY))
        everyone = bool(alive.all())
        for part in range(count):
            some = []
            for low, high in _steps(len(self._keys)):
                keys = self._keys.read(low, high)
                if count > 1:
                    keys = keys[(keys >> _KEY_BITS) * np.uint64(count) >> _PART_BITS == np.uint64(part)]
                some.append(keys if everyone else keys[alive[(keys & _DOCUMENT_MASK).astype(np.int64)]])
            packed = np.concatenate(some)
            packed.sort()
            yield packed

    def _code_parts(self, codes: LongArray[np.uint64], documents: int) -> Iterator[U64]:
        """All codes of pairs, sorted, those of some documents at a time."""
        left_bits = _DOCUMENT_BITS + _LENGTH_BITS
        counts = np.zeros(documents + 1, np.int64)
        for low, high in _steps(len(codes)):
            counts[1:] += np.bincount(
                (codes.read(low, high) >> left_bits).astype(np.int64), minlength=documents
            )
        before = np.cumsum(counts)
        first, most = 0, self._at_once(BYTES_PER_CODE)
        while before[first] < len(codes):
            last = max(first + 1, int(np.searchsorted(before, before[first] + most, side="right")) - 1)
            some = []
            for low, high in _steps(len(codes)):
                code = codes.read(low, high)
                left = code >> left_bits
                some.append(code[(left >= np.uint64(first)) & (left < np.uint64(last))])
            packed = np.concatenate(some)
            packed.sort()
            yield packed
            first = last


class _Best:
    """Pairs as they are found; those that cannot be among the answer go when they become many."""

    def __init__(self, each: int | None, most: int | None) -> None:
        self.whole = True
        self._each, self._most = each, most
        self._found: list[NearPairs] = []
        self._count = 0

    def add(self, pairs: NearPairs) -> None:
        self._found.append(pairs)
        self._count += len(pairs)
        if self._most is not None and self._count > self._most:
            self.all()

    def all(self) -> NearPairs:
        pairs = NearPairs(
            np.concatenate([np.zeros(0, np.int64), *(some.left for some in self._found)]),
            np.concatenate([np.zeros(0, np.int64), *(some.right for some in self._found)]),
            np.concatenate([np.zeros(0, np.float64), *(some.score for some in self._found)]),
        )
        if self._each is not None:
            # The best of a document are among the best that it has in any part: nothing is lost when parts are cut.
            pairs = best_of_each(pairs, self._each)
        if self._most is not None and len(pairs) > self._most:
            self.whole = False
            pairs = pairs.only(best_of_all(pairs.score, self._most))
        self._found, self._count = [pairs], len(pairs)
        return pairs


def _pairs_of(code: U64, own: I64) -> NearPairs:
    """What sorted codes of pairs make together."""
    if not len(code):
        return NearPairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float64))
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


def _steps(count: int) -> Iterator[tuple[int, int]]:
    return ((low, min(low + STEP, count)) for low in range(0, count, STEP))


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
