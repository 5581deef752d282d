"""The rarest fingerprints: which of many sets can be near enough to a given one, told by these alone.

Put the fingerprints of every set into one order, the same for all, the rarest first. Sets that have *k* in common meet
first at a fingerprint that has at least *k* − 1 others of either set behind it; so only the first few of a set have to
be posted, and what is posted with too little behind it can be passed over, thousands of sets at a time. It is the idea
of docs/explanation/exact-join.md for candidates that keys gave: there templates that differ in a word or two all share
keys, whether they are near enough or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from doublet.index.keys import all_places, pieces
from doublet.kernels import SetStore

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]
T = TypeVar("T", bound=np.generic)

LONGEST = 1 << 16  #: fingerprints; longer sets are neither posted nor looked for
VALUES_AT_ONCE = 1 << 17  #: fingerprints that are put in order at a time; takes some 10 MB
ENTRY_BYTES = 64  #: of a posted fingerprint while they are sorted
LEAST_ENTRIES = 1 << 15  #: posted at a time in any case
_EXACT_BITS = 5  # of a size: so many leading bits are kept, which bounds the number of kinds of entries


@dataclass(frozen=True, slots=True, eq=False)
class PostedRuns:
    """Runs of posted documents that can be near enough; owners are places among those that were looked up."""

    owners: I64
    starts: I64
    sizes: I64
    costs: I64  #: for each of those looked up, how many documents its runs have


class RarestFingerprints:
    """Made for *documents* of a store; `post` them part by part, as many as the memory allows, and `look_up` any."""

    def __init__(
        self,
        store: SetStore,
        documents: U32,
        threshold: float,
        containment: float,
        memory_bytes: int | None = None,
    ) -> None:
        self._store, self._documents = store, documents
        self._threshold, self._containment = threshold, containment
        self._sizes = store.sizes().astype(np.int64)
        room = memory_bytes if memory_bytes is not None else 1 << 30
        self._most = max(LEAST_ENTRIES, room // 2 // ENTRY_BYTES)
        cells = 1 << 16
        while cells < 2 * int(self._sizes[documents].sum()) and cells * 8 * 2 <= max(room, 1 << 23):
            cells *= 2
        self._shift = np.uint64(64 - (cells.bit_length() - 1))
        self._counts = np.zeros(cells, np.uint32)
        for some in self._batches(documents):
            values, _ = self._sets(some)
            np.add.at(self._counts, (values >> self._shift).astype(np.int64), np.uint32(1))
        self._tokens: U64 = np.zeros(
            0, np.uint64
        )  # posted, each once; their runs; kinds and documents of these
        self._runs_of: I64 = np.zeros(1, np.int64)
        self._run_starts: I64 = np.zeros(1, np.int64)
        self._run_sizes: I64 = np.zeros(0, np.int64)
        self._run_rests: I64 = np.zeros(0, np.int64)
        self.posted: U32 = np.zeros(0, np.uint32)  #: documents of all runs in turn

    @property
    def longest(self) -> int:
        """A set of more can be near enough to one that is too long to be posted."""
        return int(LONGEST * self._threshold)

    def post(self, first: int) -> int:
        """Post the documents from place *first* on, in place of those before; gives the place after the last one."""
        tokens, kinds, owners = [], [], []
        count, at = 0, first
        for some in self._batches(self._documents[first:]):
            if count > self._most:
                break
            owner, values, places, counts = self._ordered(some)
            sizes = self._sizes[some][owner]
            chosen = (places <= sizes - self._least(sizes)) & (counts > 1)
            sizes, rests = sizes[chosen], (sizes - places)[chosen]
            tokens.append(values[chosen])
            kinds.append(_down(sizes).astype(np.uint64) << np.uint64(32) | _up(rests).astype(np.uint64))
            owners.append(some[owner[chosen]])
            count += len(tokens[-1])
            at += len(some)
        token, kind = _joined(tokens, np.uint64), _joined(kinds, np.uint64)
        order = np.lexsort((kind, token))
        token, kind = token[order], kind[order]
        self.posted = _joined(owners, np.uint32)[order]
        new_token = np.ones(len(token), np.bool_)
        new_token[1:] = token[1:] != token[:-1]
        new_run = new_token.copy()
        new_run[1:] |= kind[1:] != kind[:-1]
        starts = np.flatnonzero(new_run)
        self._run_starts = np.append(starts, len(token))
        self._run_sizes = (kind[starts] >> np.uint64(32)).astype(np.int64)
        self._run_rests = (kind[starts] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        firsts = np.flatnonzero(new_token)
        self._tokens = token[firsts]
        self._runs_of = np.append(np.searchsorted(starts, firsts), len(starts))
        return at

    def look_up(self, documents: U32) -> PostedRuns:
        """Which of the posted documents these can cover."""
        owners, starts, sizes = [], [], []
        done = 0
        for some in self._batches(documents):
            owner, values, places, counts = self._ordered(some)
            own = self._sizes[some][owner]
            used = counts > 1
            if not self._containment:
                used &= places <= own - self._least(own)
            owner, values, rests, own = owner[used], values[used], (own - places)[used], own[used]
            at = np.minimum(np.searchsorted(self._tokens, values), max(0, len(self._tokens) - 1))
            used = self._tokens[at] == values if len(self._tokens) else np.zeros(len(values), np.bool_)
            at, owner, rests, own = at[used], owner[used], rests[used], own[used]
            for low, high in pieces(self._runs_of[at + 1] - self._runs_of[at], VALUES_AT_ONCE):
                first, last = self._runs_of[at[low:high]], self._runs_of[at[low:high] + 1]
                row = np.repeat(np.arange(low, high), last - first)
                runs = all_places(first, last)
                needed = self._needed(self._run_sizes[runs], own[row])
                good = (self._run_rests[runs] >= needed) & (rests[row] >= needed)
                runs, row = runs[good], row[good]
                owners.append(owner[row] + done)
                starts.append(self._run_starts[runs])
                sizes.append(self._run_starts[runs + 1] - self._run_starts[runs])
            done += len(some)
        owner, size = _joined(owners, np.int64), _joined(sizes, np.int64)
        costs = np.zeros(len(documents), np.int64)
        np.add.at(costs, owner, size)
        return PostedRuns(owner, _joined(starts, np.int64), size, costs)

    def _least(self, sizes: I64) -> I64:
        """The fewest fingerprints that a set of this size has in common with any that is near enough."""
        least = np.ceil(self._threshold * sizes - 1e-6)
        if self._containment:
            least = np.minimum(least, np.ceil(self._containment * sizes - 1e-6))
        out: I64 = np.maximum(least, 1).astype(np.int64)
        return out

    def _needed(self, sizes: I64, keepers: I64) -> I64:
        """The same for sets of these sizes and the keepers' sizes."""
        share = self._threshold / (1 + self._threshold)
        least = np.ceil(share * (sizes + keepers) - 1e-6)
        if self._containment:
            held = np.where(sizes <= keepers, np.ceil(self._containment * sizes - 1e-6), np.inf)
            least = np.minimum(least, held)
        out: I64 = np.maximum(least, 1).astype(np.int64)
        return out

    def _batches(self, documents: U32) -> list[U32]:
        """Some documents at a time: their sets are not too much for the memory."""
        ends = np.cumsum(self._sizes[documents]) // VALUES_AT_ONCE
        return [part for part in np.split(documents, np.flatnonzero(np.diff(ends)) + 1) if len(part)]

    def _sets(self, documents: U32) -> tuple[U64, I64]:
        found = [self._store.get(document) for document in documents.tolist()]
        return _joined(found, np.uint64), np.array([len(one) for one in found], np.int64)

    def _ordered(self, documents: U32) -> tuple[I64, U64, I64, U32]:
        """The fingerprints of these documents, the rarest of each first: owner, value, place in its set, count."""
        values, sizes = self._sets(documents)
        owners = np.repeat(np.arange(len(documents)), sizes)
        counts = self._counts[(values >> self._shift).astype(np.int64)]
        order = np.lexsort((values, counts, owners))
        places = np.arange(len(values)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return owners, values[order], places, counts[order]


def _joined(parts: Sequence[NDArray[Any]], kind: type[T]) -> NDArray[T]:
    return np.concatenate([np.zeros(0, kind), *parts])


def _steps(sizes: I64) -> I64:
    """The step in which a size is told."""
    bits = np.frexp(sizes.astype(np.float64))[1]
    out: I64 = np.int64(1) << np.maximum(bits - _EXACT_BITS, 0).astype(np.int64)
    return out


def _down(sizes: I64) -> I64:
    """Not larger, and one of a few."""
    step = _steps(sizes)
    return sizes // step * step


def _up(sizes: I64) -> I64:
    """Not smaller, and one of a few."""
    step = _steps(sizes)
    return -(-sizes // step) * step
