"""Keys of a whole collection, and the walk around keepers that candidates from keys allow.

Used where candidates come from signatures (sketches beyond a million documents, and every method but shingles). Nothing
is taken on the word of a signature: every link is verified on the full sets of shingles in a `SetStore`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

from doublet.kernels import SetStore

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]

ENTRY_BYTES, PART_BYTES = 12, 300  #: of a key with its document, and of two arrays beside what they hold
KEYS_AT_ONCE = 1 << 20  #: sorted at a time; takes some 60 MB
PARTS_AT_ONCE = 1_000  #: written as one block
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # keys need not be hashes: their top bits are after this


class KeyTable:
    """Which documents share a key. Fill it in batches, then ask.

    Beyond *memory_bytes* the entries wait in an unnamed file in *folder*; the answers are the same. A full disk raises
    `OSError`.
    """

    def __init__(self, memory_bytes: int | None = None, folder: str | None = None) -> None:
        self._memory, self._folder = memory_bytes, folder
        self._parts: list[tuple[U64, U32]] = []
        self._held = self._count = 0
        self._file: IO[bytes] | None = None
        self._spilled: list[int] = []  # lengths of the blocks in the file
        self._documents: U32 = np.zeros(0, np.uint32)
        self._bucket_starts: NDArray[np.int64] = np.zeros(1, np.int64)
        self._starts: NDArray[np.int64] = np.zeros(1, np.int64)
        self._own: U32 = np.zeros(0, np.uint32)  # buckets of all documents, one after the other

    def add(self, keys: U64, documents: U32) -> None:
        """One key and the document that has it at the same place of both arrays."""
        self._parts.append((keys, documents))
        self._count += len(keys)
        self._held += len(keys) * ENTRY_BYTES + PART_BYTES
        if self._memory is not None and self._held > self._memory:
            self._spill()

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - closed by `settle`
        for start in range(0, len(self._parts), PARTS_AT_ONCE):
            some = self._parts[start : start + PARTS_AT_ONCE]
            for column in (0, 1):
                for part in some:
                    self._file.write(part[column].tobytes())
            self._spilled.append(sum(len(keys) for keys, _ in some))
        self._parts, self._held = [], 0

    def _blocks(self) -> Iterator[tuple[U64, U32]]:
        if self._file is not None:
            self._file.seek(0)
            for length in self._spilled:
                keys = np.frombuffer(self._file.read(8 * length), np.uint64)
                yield keys, np.frombuffer(self._file.read(4 * length), np.uint32)
        yield from self._parts

    def settle(self, count: int) -> None:
        """Sort what was added; *count* is the number of documents. Keys that one document has alone are dropped.

        Most keys are lonely, so they are taken in turns, a part of the key space at a time.
        """
        turns = 1
        while self._count > turns * KEYS_AT_ONCE:
            turns *= 2
        shift = np.uint64(64 - turns.bit_length() + 1)
        documents: list[U32] = []
        numbers: list[U32] = []
        buckets = 0
        for turn in range(turns):
            some = [part if turns == 1 else _of_turn(part, turn, shift) for part in self._blocks()]
            found, number = _shared(some)
            if len(found):
                documents.append(found)
                numbers.append(number + np.uint32(buckets))
                buckets += int(number[-1]) + 1
        if self._file is not None:
            self._file.close()
            self._file = None
        self._parts, self._spilled = [], []
        self._documents = np.concatenate(documents) if documents else np.zeros(0, np.uint32)
        every = np.concatenate(numbers) if numbers else np.zeros(0, np.uint32)
        self._bucket_starts = np.append(
            np.flatnonzero(np.diff(every.astype(np.int64), prepend=-1)), len(every)
        ).astype(np.int64)
        by_document = np.argsort(self._documents, kind="stable")
        self._own = every[by_document]
        self._starts = np.searchsorted(self._documents[by_document], np.arange(count + 1)).astype(np.int64)

    def near(self, document: int) -> U32:
        """Documents that share a key with this one (itself among them), sorted; empty when none does."""
        own = self._own[self._starts[document] : self._starts[document + 1]]
        if not len(own):
            return np.zeros(0, np.uint32)
        parts = [self._documents[self._bucket_starts[b] : self._bucket_starts[b + 1]] for b in own.tolist()]
        return np.unique(np.concatenate(parts))


def _of_turn(part: tuple[U64, U32], turn: int, shift: np.uint64) -> tuple[U64, U32]:
    keys, documents = part
    own = keys * _SPREAD >> shift == np.uint64(turn)
    return keys[own], documents[own]


def _shared(parts: list[tuple[U64, U32]]) -> tuple[U32, U32]:
    """Documents whose keys others have too, key by key, and the number of the key of each."""
    if not parts:
        return np.zeros(0, np.uint32), np.zeros(0, np.uint32)
    keys = np.concatenate([part[0] for part in parts])
    documents = np.concatenate([part[1] for part in parts])
    order = np.lexsort((documents, keys))
    keys, documents = keys[order], documents[order]
    same = keys[1:] == keys[:-1]
    shared = np.zeros(len(keys), np.bool_)
    shared[1:] |= same
    shared[:-1] |= same
    keys, documents = keys[shared], documents[shared]
    return documents, (np.cumsum(np.diff(keys, prepend=keys[:1]) != 0)).astype(np.uint32)


def clean_by_keys(
    table: KeyTable,
    store: SetStore,
    order: U32,
    threshold: float,
    containment: float,
    *,
    agree: Callable[[int, int], bool] | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> tuple[U32, U32, U32]:
    """The walk of `SetStore.clean` over candidates from *table*; *agree* is asked before the sets are compared."""
    sizes = store.sizes().astype(np.int64)
    ranks = np.full(len(sizes), len(sizes), np.int64)
    ranks[order] = np.arange(len(order))
    covered = np.zeros(len(sizes), np.bool_)
    links: list[tuple[U32, int, U32]] = []
    for step, keeper in enumerate(order.tolist()):
        if on_step is not None and step % 4096 == 0:
            on_step(step, len(order))
        if covered[keeper] or not sizes[keeper]:
            continue
        near = table.near(keeper)
        near = near[(ranks[near] > ranks[keeper]) & (ranks[near] < len(sizes)) & (sizes[near] > 0)]
        if agree is not None and len(near):
            near = near[[agree(keeper, other) for other in near.tolist()]]
        if not len(near):
            continue
        overlap = store.overlaps(np.full(len(near), keeper, np.uint32), near)
        common = overlap.astype(np.float64)
        accepted = common / (sizes[keeper] + sizes[near] - common) >= threshold
        if containment > 0:
            accepted |= (sizes[near] <= sizes[keeper]) & (common / sizes[near] >= containment)
        near, overlap = near[accepted], overlap[accepted]
        covered[near] = True
        if len(near):
            links.append((near, keeper, overlap))
    if on_step is not None:
        on_step(len(order), len(order))
    if not links:
        return np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros(0, np.uint32)
    documents = np.concatenate([near for near, _, _ in links])
    keepers = np.concatenate([np.full(len(near), keeper, np.uint32) for near, keeper, _ in links])
    overlaps = np.concatenate([overlap for _, _, overlap in links])
    final = np.lexsort((keepers, documents))
    return documents[final], keepers[final], overlaps[final]
