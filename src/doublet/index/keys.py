"""Keys of a whole collection: which documents share one.

Used where candidates come from signatures (sketches beyond a million documents, and every method but shingles). The
join around keepers that they allow is in `keeper_join`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from doublet.signatures.long_array import LongArray
from doublet.signatures.mixing import mix

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]
T = TypeVar("T", bound=np.generic)

ENTRY_BYTES, PART_BYTES = (
    32,
    300,
)  #: of a key with its document while they are sorted; of two arrays beside that
KEYS_AT_ONCE = 1 << 19  #: sorted at a time; takes some 25 MB
PARTITIONS = 256  #: of the key space
LARGE = 64  #: documents; what a group of more leads to need not be looked at one by one (`keeper_join`)
_SEEN = 1 << 20  # groups of documents that are known by their hash, so that they are kept once
_GROUP = np.uint32(1 << 31)  # marks the number of a group among the numbers of documents
_LARGE = np.uint32(1 << 30)  # marks that of a large one among these
_NUMBER = np.uint32((1 << 30) - 1)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # keys need not be hashes: their top bits are after this
_HALF = np.uint64(32)


@dataclass(frozen=True, slots=True, eq=False)
class Leads:
    """Where the keys of some documents lead: to neighbours, and to groups. Owners are places among these documents."""

    count: int  #: of documents asked about
    neighbours: U32
    of_neighbour: I64  #: owner
    starts: I64  #: of each group among all members
    sizes: I64
    of_group: I64
    large: Mask

    def costs(self) -> tuple[I64, I64]:
        """For each document how many others have to be looked at: of neighbours and small groups, and of large ones."""
        small = np.bincount(self.of_neighbour, minlength=self.count) + sums(
            self.of_group, self.sizes * ~self.large, self.count
        )
        return small, sums(self.of_group, self.sizes * self.large, self.count)

    def only(self, neighbours: Mask, groups: Mask) -> Leads:
        return Leads(
            self.count,
            self.neighbours[neighbours],
            self.of_neighbour[neighbours],
            self.starts[groups],
            self.sizes[groups],
            self.of_group[groups],
            self.large[groups],
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Settled:
    """As arrays where they fit into memory."""

    lists: U32 | LongArray[np.uint32]
    members: U32 | LongArray[np.uint32]
    starts: U64 | LongArray[np.uint64]


class KeyTable:
    """Which documents share a key. Fill it in batches, in the order of the documents; then settle it, and ask.

    Keys that one document has alone lead nowhere and are dropped. Two documents that share keys become neighbours,
    however many keys that are; more than two become a group. Beyond about *memory_bytes* the keys, and then neighbours
    and groups, lie in unnamed files in *folder*; the answers are the same. A full disk raises `OSError`.
    """

    def __init__(self, memory_bytes: int | None = None, folder: str | None = None) -> None:
        self._memory, self._folder = memory_bytes, folder
        self._parts: list[tuple[U64, U32]] = []
        self._held = 0  # bytes of these parts
        self._keys = LongArray(
            np.uint64, 0, folder
        )  # spilled, block by block, each in the order of partitions
        self._owners = LongArray(np.uint32, 0, folder)
        self._blocks: list[I64] = []  # where the partitions of each block begin, and its end
        # Beyond a limit these go to files, too.
        self._edges = LongArray(
            np.uint64, self._share(0.3), folder
        )  # document and neighbour or group: runs of *at_once*, each sorted
        self._waiting: list[U64] = []  # edges of the next run
        self._lists = LongArray(
            np.uint32, self._share(0.35), folder
        )  # neighbours and groups of every document in turn
        self._starts: I64 = np.zeros(1, np.int64)
        self._members = LongArray(np.uint32, self._share(0.2), folder)  # documents of every group in turn
        self._group_starts = LongArray(
            np.uint64, self._share(0.1), folder
        )  # where each group begins among *members*, and the end
        self._group_starts.add(np.zeros(1, np.uint64))
        self._seen: U64 = np.zeros(0, np.uint64)
        self._settled: _Settled | None = None
        self.crowded: Mask = np.zeros(0, np.bool_)  #: documents that are in a large group

    @property
    def free_bytes(self) -> int | None:
        """What is left of the memory once the table is settled."""
        return self._share(0.3)

    def _share(self, share: float) -> int | None:
        return None if self._memory is None else int(self._memory * share)

    def add(self, keys: U64, documents: U32) -> None:
        """One key and the document that has it at the same place of both arrays."""
        self._parts.append((keys, documents))
        self._held += len(keys) * ENTRY_BYTES + PART_BYTES
        if self._memory is not None and self._held > self._memory:
            self._spill()

    def close(self) -> None:
        for wide in (self._keys, self._edges, self._group_starts):
            wide.close()
        for narrow in (self._owners, self._lists, self._members):
            narrow.close()
        self._parts, self._waiting, self._held = [], [], 0
        self._settled = None

    def _spill(self) -> None:
        keys, documents, starts = _partitioned(self._parts)
        self._parts, self._held = [], 0
        self._blocks.append(starts + len(self._keys))
        self._keys.add(keys)
        self._owners.add(documents)

    def settle(self, count: int) -> None:
        """Find out who shares a key with whom; *count* is the number of documents."""
        for keys, documents in self._turns():
            self._take(keys, documents)
        self._keys.close()
        self._owners.close()
        self._blocks, self._seen = [], np.zeros(0, np.uint64)
        self._list(count)
        self._settled = _Settled(_flat(self._lists), _flat(self._members), _flat(self._group_starts))

    def _turns(self) -> Iterator[tuple[U64, U32]]:
        """All entries, those of some partitions of the key space at a time; those of one key never apart."""
        if self._blocks:
            if self._parts:
                self._spill()
            starts = np.array(self._blocks)
            read = self._from_blocks
        else:
            keys, documents, own = _partitioned(self._parts)
            self._parts, self._held = [], 0
            starts = own[np.newaxis]

            def read(first: int, last: int) -> tuple[U64, U32]:
                return keys[own[first] : own[last]], documents[own[first] : own[last]]

        sizes = np.diff(starts, axis=1).sum(axis=0)
        first = 0
        while first < PARTITIONS:
            last = first + 1
            while last < PARTITIONS and sizes[first : last + 1].sum() <= KEYS_AT_ONCE:
                last += 1
            pieces = -(-int(sizes[first]) // KEYS_AT_ONCE) if last == first + 1 else 1
            some = read(first, last)
            if pieces == 1:
                yield some
            else:  # more than a partition should hold: by the bits below those that made it
                piece = (some[0] * _SPREAD << np.uint64(8) >> np.uint64(32)) * np.uint64(pieces) >> np.uint64(
                    32
                )
                for number in range(pieces):
                    own_ones = piece == np.uint64(number)
                    yield some[0][own_ones], some[1][own_ones]
            first = last

    def _from_blocks(self, first: int, last: int) -> tuple[U64, U32]:
        places = [(int(starts[first]), int(starts[last])) for starts in self._blocks]
        keys = [self._keys.read(low, high) for low, high in places]
        return np.concatenate(keys), np.concatenate([self._owners.read(low, high) for low, high in places])

    def _take(self, keys: U64, documents: U32) -> None:
        """Neighbours and groups of these entries."""
        order = np.argsort(keys, kind="stable")  # documents of a key stay in their order
        keys, documents = keys[order], documents[order]
        del order
        firsts = np.flatnonzero(_new(keys))
        sizes = np.diff(np.append(firsts, len(keys)))
        pairs = firsts[sizes == 2]
        if len(pairs):
            left, right = documents[pairs].astype(np.uint64), documents[pairs + 1].astype(np.uint64)
            once = distinct(left << _HALF | right)
            self._join(once)
            self._join(once << _HALF | once >> _HALF)
        several = sizes > 2
        firsts, sizes = firsts[several], sizes[several]
        if not len(firsts):
            return
        inside = np.repeat(firsts - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        members = documents[inside]
        starts = np.cumsum(sizes) - sizes
        marks = np.add.reduceat(mix(members.astype(np.uint64) + np.uint64(1)), starts)
        _, kept = np.unique(marks, return_index=True)
        if len(self._seen):
            at = np.minimum(np.searchsorted(self._seen, marks[kept]), len(self._seen) - 1)
            kept = kept[self._seen[at] != marks[kept]]
        if len(self._seen) + len(kept) <= _SEEN:
            self._seen = np.sort(np.concatenate([self._seen, marks[kept]]))
        chosen = np.zeros(len(sizes), np.bool_)
        chosen[kept] = True
        members, sizes = members[np.repeat(chosen, sizes)], sizes[chosen]
        known = len(self._group_starts) - 1
        if known + len(sizes) > int(_NUMBER):
            raise OverflowError("more than a billion groups of documents share a key")
        numbers = np.arange(known, known + len(sizes), dtype=np.uint32) | _GROUP
        numbers[sizes > LARGE] |= _LARGE
        self._join(members.astype(np.uint64) << _HALF | np.repeat(numbers, sizes).astype(np.uint64))
        self._group_starts.add((np.cumsum(sizes) + len(self._members)).astype(np.uint64))
        self._members.add(members)

    def _join(self, edges: U64) -> None:
        """Put edges to the others, in sorted runs of a fixed length."""
        self._waiting.append(edges)
        if sum(map(len, self._waiting)) >= KEYS_AT_ONCE:
            edges = np.concatenate(self._waiting)
            whole = len(edges) // KEYS_AT_ONCE * KEYS_AT_ONCE
            for low in range(0, whole, KEYS_AT_ONCE):
                self._edges.add(np.sort(edges[low : low + KEYS_AT_ONCE]))
            self._waiting = [edges[whole:]]

    def _list(self, count: int) -> None:
        """Neighbours and groups by document: of each range of documents, what the runs hold of it."""
        if self._waiting:
            self._edges.add(np.sort(np.concatenate(self._waiting)))
        self._waiting = []
        total = len(self._edges)
        runs = [(low, min(low + KEYS_AT_ONCE, total)) for low in range(0, total, KEYS_AT_ONCE)]
        counts = np.zeros(count + 1, np.int64)
        for low, high in runs:
            owners, found = _counted(self._edges.read(low, high) >> _HALF)
            counts[owners.astype(np.int64) + 1] += found
        before = np.cumsum(counts)
        counts[:] = 0
        ranges = [0]
        while ranges[-1] < count:
            first = ranges[-1]
            last = int(np.searchsorted(before, before[first] + KEYS_AT_ONCE, side="right")) - 1
            ranges.append(min(max(last, first + 1), count))
        edges = np.array(ranges, np.uint64) << _HALF
        cuts = np.array([np.searchsorted(self._edges.read(low, high), edges) + low for low, high in runs])
        self.crowded = np.zeros(count, np.bool_)
        for number, first in enumerate(ranges[:-1]):
            last = ranges[number + 1]
            parts = [self._edges.read(int(cut[number]), int(cut[number + 1])) for cut in cuts]
            own = distinct(np.concatenate(parts)) if parts else np.zeros(0, np.uint64)
            owners = (own >> _HALF).astype(np.int64)
            counts[first + 1 : last + 1] = np.bincount(owners - first, minlength=last - first)
            leads = own.astype(np.uint32)
            self.crowded[owners[leads >= _GROUP | _LARGE]] = True
            self._lists.add(leads)
        self._starts = np.cumsum(counts)
        self._edges.close()

    def _lists_of(self, documents: U32) -> tuple[U32, I64]:
        """Neighbours and groups of these documents, and whose each is."""
        assert self._settled is not None, "a table of keys is settled before it is asked"
        starts, stops = self._starts[documents], self._starts[documents.astype(np.int64) + 1]
        return slices(self._settled.lists, starts, stops), np.repeat(
            np.arange(len(documents)), stops - starts
        )

    def leads(self, documents: U32) -> Leads:
        """Where the keys of these documents lead to."""
        own, owners = self._lists_of(documents)
        grouped = own >= _GROUP
        groups = (own[grouped] & _NUMBER).astype(np.int64)
        assert self._settled is not None
        bounds = slices(self._settled.starts, groups, groups + 2).astype(np.int64).reshape(-1, 2)
        return Leads(
            len(documents),
            own[~grouped],
            owners[~grouped],
            bounds[:, 0],
            bounds[:, 1] - bounds[:, 0],
            owners[grouped],
            own[grouped] >= _GROUP | _LARGE,
        )

    def follow(self, leads: Leads) -> tuple[I64, U32]:
        """Owners, and the documents that they lead to; some more than once, and the owners' own ones among them."""
        assert self._settled is not None, "a table of keys is settled before it is asked"
        found = slices(self._settled.members, leads.starts, leads.starts + leads.sizes)
        owners = np.concatenate([leads.of_neighbour, np.repeat(leads.of_group, leads.sizes)])
        return owners, np.concatenate([leads.neighbours, found])

    def members(self, start: int, stop: int) -> U32:
        """Documents from one place to another of all groups in turn (`Leads.starts`). Not to be written to."""
        assert self._settled is not None
        found = self._settled.members
        return found.read(start, stop) if isinstance(found, LongArray) else found[start:stop]

    def widths(self, documents: U32) -> I64:
        """How many neighbours and groups each of these documents has."""
        return self._starts[documents.astype(np.int64) + 1] - self._starts[documents]

    def share_large(self, left: U32, right: U32) -> Mask:
        """Which of these pairs of documents are in one large group."""
        out = np.zeros(len(left), np.bool_)
        for low, high in pieces(self.widths(left) + self.widths(right), KEYS_AT_ONCE):
            sides = []
            for side in (left[low:high], right[low:high]):
                own, owners = self._lists_of(side)
                large = own >= _GROUP | _LARGE
                sides.append(owners[large].astype(np.uint64) << _HALF | own[large].astype(np.uint64))
            both = np.sort(np.concatenate(sides))
            out[low + (both[1:][both[1:] == both[:-1]] >> _HALF).astype(np.int64)] = True
        return out

    def near(self, document: int) -> U32:
        """Documents that share a key with this one (itself among them), sorted; empty when none does."""
        _, found = self.follow(self.leads(np.array([document], np.uint32)))
        return np.unique(np.append(found, np.uint32(document))) if len(found) else found


def slices(values: NDArray[T] | LongArray[T], starts: I64, stops: I64) -> NDArray[T]:
    """The numbers at all of these places, one after the other."""
    if isinstance(values, LongArray):
        some = [values.read(a, b) for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
        return np.concatenate([values.read(0, 0), *some])
    return values[all_places(starts, stops)]


def all_places(starts: I64, stops: I64) -> I64:
    """All places from each start to its stop."""
    sizes = stops - starts
    return np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))


def distinct(values: U64) -> U64:
    """Each value once, sorted. `numpy.unique` hashes, which takes many times as long for numbers that are alike."""
    values = np.sort(values)
    return values[_new(values)]


def pieces(sizes: I64, most: int) -> list[tuple[int, int]]:
    """Ranges of these that are about *most* together, or one that is more."""
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // most)) + 1
    bounds = [0, *cuts.tolist(), len(sizes)]
    return [(low, high) for low, high in pairwise(bounds) if high > low]


def _flat(values: LongArray[T]) -> NDArray[T] | LongArray[T]:
    """As one array when it is in memory."""
    if not values.in_memory:
        return values
    out = values.read(0, len(values))
    values.close()
    return out


def sums(owners: I64, values: I64, count: int) -> I64:
    """Sum of the values of each of so many owners; the owners are in order."""
    running = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
    bounds = np.searchsorted(owners, np.arange(count + 1))
    out: I64 = running[bounds[1:]] - running[bounds[:-1]]
    return out


def _counted(ordered: U64) -> tuple[U64, I64]:
    """Each value of a sorted array, and how often it stands there."""
    firsts = np.flatnonzero(_new(ordered))
    return ordered[firsts], np.diff(np.append(firsts, len(ordered)))


def _partitioned(parts: list[tuple[U64, U32]]) -> tuple[U64, U32, I64]:
    """Entries in the order of the partitions of the key space, and where each partition begins."""
    keys = np.concatenate([part[0] for part in parts]) if parts else np.zeros(0, np.uint64)
    documents = np.concatenate([part[1] for part in parts]) if parts else np.zeros(0, np.uint32)
    parts.clear()
    partition = (keys * _SPREAD >> np.uint64(56)).astype(np.uint8)
    order = np.argsort(partition, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(partition, minlength=PARTITIONS))])
    return keys[order], documents[order], starts.astype(np.int64)


def _new(values: U64) -> Mask:
    """Where a sorted array goes on to another value."""
    out = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=out[1:])
    return out
