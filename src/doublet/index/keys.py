"""Keys of a whole collection, and the walk around keepers that candidates from keys allow.

Used where candidates come from signatures (sketches beyond a million documents, and every method but shingles). Nothing
is taken on the word of a signature: every link is verified on the full sets of shingles in a `SetStore`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from doublet.kernels import SetStore
from doublet.signatures.long_array import LongArray
from doublet.signatures.mixing import mix

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]

ENTRY_BYTES, PART_BYTES = (
    32,
    300,
)  #: of a key with its document while they are sorted; of two arrays beside that
KEYS_AT_ONCE = 1 << 19  #: sorted at a time; takes some 25 MB
LINKS_AT_ONCE = 4_096  #: keepers whose links are put together
PARTITIONS = 256  #: of the key space
_SEEN = 1 << 20  # groups of documents that are known by their hash, so that they are kept once
_GROUP = np.uint32(1 << 31)  # marks the number of a group among the numbers of documents
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # keys need not be hashes: their top bits are after this


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
        )  # document and neighbour or group; in no order
        self._lists = LongArray(
            np.uint32, self._share(0.4), folder
        )  # neighbours and groups of every document in turn
        self._starts: I64 = np.zeros(1, np.int64)
        self._members = LongArray(np.uint32, self._share(0.2), folder)  # documents of every group in turn
        self._ends = LongArray(np.uint64, self._share(0.1), folder)  # of each group among *members*
        self._seen: U64 = np.zeros(0, np.uint64)

    def _share(self, share: float) -> int | None:
        return None if self._memory is None else int(self._memory * share)

    def add(self, keys: U64, documents: U32) -> None:
        """One key and the document that has it at the same place of both arrays."""
        self._parts.append((keys, documents))
        self._held += len(keys) * ENTRY_BYTES + PART_BYTES
        if self._memory is not None and self._held > self._memory:
            self._spill()

    def close(self) -> None:
        for wide in (self._keys, self._edges, self._ends):
            wide.close()
        for narrow in (self._owners, self._lists, self._members):
            narrow.close()
        self._parts, self._held = [], 0

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
            once = np.unique(left << np.uint64(32) | right)
            self._edges.add(once)
            self._edges.add(once << np.uint64(32) | once >> np.uint64(32))
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
        numbers = np.arange(len(self._ends), len(self._ends) + len(sizes), dtype=np.uint64) | np.uint64(
            _GROUP
        )
        self._edges.add(members.astype(np.uint64) << np.uint64(32) | np.repeat(numbers, sizes))
        self._ends.add((np.cumsum(sizes) + len(self._members)).astype(np.uint64))
        self._members.add(members)

    def _list(self, count: int) -> None:
        """Neighbours and groups by document."""
        total, half = len(self._edges), np.uint64(32)
        counts = np.zeros(count + 1, np.int64)
        for low in range(0, total, KEYS_AT_ONCE):
            some = self._edges.read(low, min(low + KEYS_AT_ONCE, total))
            counts[1:] += np.bincount((some >> half).astype(np.int64), minlength=count)
        before = np.cumsum(counts)
        counts[:] = 0
        first = 0
        while first < count:
            last = int(np.searchsorted(before, before[first] + KEYS_AT_ONCE, side="right")) - 1
            last = min(max(last, first + 1), count)
            parts = []
            for low in range(0, total, KEYS_AT_ONCE):
                some = self._edges.read(low, min(low + KEYS_AT_ONCE, total))
                owner = some >> half
                parts.append(some[(owner >= np.uint64(first)) & (owner < np.uint64(last))])
            own = np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.uint64)
            counts[first + 1 : last + 1] = np.bincount(
                (own >> half).astype(np.int64) - first, minlength=last - first
            )
            self._lists.add(own.astype(np.uint32))
            first = last
        self._starts = np.cumsum(counts)
        self._edges.close()

    def near(self, document: int) -> U32:
        """Documents that share a key with this one (itself among them), sorted; empty when none does."""
        own = self._lists.read(int(self._starts[document]), int(self._starts[document + 1]))
        if not len(own):
            return np.zeros(0, np.uint32)
        groups = int(np.searchsorted(own, _GROUP))
        parts = [np.array([document], np.uint32), own[:groups]]
        for number in (own[groups:] ^ _GROUP).tolist():
            bounds = self._ends.read(max(0, number - 1), number + 1).tolist()
            parts.append(self._members.read(bounds[0] if number else 0, bounds[-1]))
        return np.unique(np.concatenate(parts))


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


def clean_by_keys(
    table: KeyTable,
    store: SetStore,
    order: U32,
    threshold: float,
    containment: float,
    *,
    agree: Callable[[int, U32], Mask] | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> tuple[U32, U32, U32]:
    """The walk of `SetStore.clean` over candidates from *table*; *agree* is asked about a keeper and those whose sets
    are near enough to it."""
    sizes = store.sizes().astype(np.int64)
    ranks = np.full(len(sizes), len(sizes), np.int64)
    ranks[order] = np.arange(len(order))
    covered = np.zeros(len(sizes), np.bool_)
    nothing = np.zeros(0, np.uint32)
    links: list[tuple[U32, U32, U32]] = [(nothing, nothing, nothing)]
    for step, keeper in enumerate(order.tolist()):
        if on_step is not None and step % 4096 == 0:
            on_step(step, len(order))
        if covered[keeper] or not sizes[keeper]:
            continue
        near = table.near(keeper)
        near = near[(ranks[near] > ranks[keeper]) & (ranks[near] < len(sizes)) & (sizes[near] > 0)]
        if not len(near):
            continue
        overlap = store.overlaps(np.full(len(near), keeper, np.uint32), near)
        common = overlap.astype(np.float64)
        accepted = common / (sizes[keeper] + sizes[near] - common) >= threshold
        if containment > 0:
            accepted |= (sizes[near] <= sizes[keeper]) & (common / sizes[near] >= containment)
        near, overlap = near[accepted], overlap[accepted]
        if agree is not None and len(near):
            agreeing = agree(keeper, near)
            near, overlap = near[agreeing], overlap[agreeing]
        covered[near] = True
        if len(near):
            links.append((near, np.full(len(near), keeper, np.uint32), overlap))
            if len(links) >= LINKS_AT_ONCE:
                links = [_joined(links)]
    if on_step is not None:
        on_step(len(order), len(order))
    documents, keepers, overlaps = _joined(links)
    final = np.lexsort((keepers, documents))
    return documents[final], keepers[final], overlaps[final]


def _joined(links: list[tuple[U32, U32, U32]]) -> tuple[U32, U32, U32]:
    documents, keepers, overlaps = zip(*links, strict=True)
    return np.concatenate(documents), np.concatenate(keepers), np.concatenate(overlaps)
