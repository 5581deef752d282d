"""Keys of a whole collection, and the walk around keepers that candidates from keys allow.

Used where candidates come from signatures (sketches beyond a million documents, and every method but shingles). Nothing
is taken on the word of a signature: every link is verified on the full sets of shingles in a `SetStore`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from doublet.kernels import SetStore

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]


class KeyTable:
    """Which documents share a key. Fill it in batches, then ask."""

    def __init__(self) -> None:
        self._parts: list[tuple[U64, U32]] = []
        self._keys: U64 = np.zeros(0, np.uint64)
        self._documents: U32 = np.zeros(0, np.uint32)
        self._starts: NDArray[np.int64] = np.zeros(1, np.int64)
        self._own: U32 = np.zeros(0, np.uint32)  # buckets of all documents, one after the other

    def add(self, keys: U64, documents: U32) -> None:
        """One key and the document that has it at the same place of both arrays."""
        self._parts.append((keys, documents))

    def settle(self, count: int) -> None:
        """Sort what was added; *count* is the number of documents. Keys that one document has alone are dropped."""
        keys = np.concatenate([part[0] for part in self._parts]) if self._parts else self._keys
        documents = np.concatenate([part[1] for part in self._parts]) if self._parts else self._documents
        self._parts = []
        order = np.lexsort((documents, keys))
        keys, documents = keys[order], documents[order]
        new = np.ones(len(keys), np.bool_)
        new[1:] = keys[1:] != keys[:-1]
        buckets = np.cumsum(new) - 1
        shared = np.bincount(buckets, minlength=1)[buckets] > 1 if len(keys) else new
        documents = documents[shared]
        numbers = np.unique(buckets[shared], return_inverse=True)[1].astype(np.uint32)
        self._documents = documents
        self._bucket_starts = np.concatenate(
            [np.flatnonzero(np.diff(numbers, prepend=-1)), [len(numbers)]]
        ).astype(np.int64)
        by_document = np.argsort(documents, kind="stable")
        self._own = numbers[by_document]
        self._starts = np.searchsorted(documents[by_document], np.arange(count + 1)).astype(np.int64)

    def near(self, document: int) -> U32:
        """Documents that share a key with this one (itself among them), sorted; empty when none does."""
        own = self._own[self._starts[document] : self._starts[document + 1]]
        if not len(own):
            return np.zeros(0, np.uint32)
        parts = [self._documents[self._bucket_starts[b] : self._bucket_starts[b + 1]] for b in own.tolist()]
        return np.unique(np.concatenate(parts))


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
