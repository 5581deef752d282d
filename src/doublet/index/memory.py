"""The index in memory, for every method.

Keys stand sorted in a few arrays, each at least twice as long as the next; new documents wait until they are
asked for and then become the newest array, merged with those that are not longer. A posting takes 12 bytes.
A removed document only loses its slot at first; its postings go with the next merge, or when they are a
quarter of all.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from doublet.errors import InvalidParameter, UsageError
from doublet.index.protocol import Candidate
from doublet.model import Recipe, Signature
from doublet.signatures.protocol import Method, require_recipe

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]


class MemoryIndex:
    """Keys of the signatures of *method*. Not safe for changes from several threads at once."""

    def __init__(self, method: Method) -> None:
        self._method = method
        self._slots: dict[str, int] = {}
        self._ids: list[str] = []  # of each slot
        self._live = bytearray()  # of each slot: 1, or 0 when its document is gone
        self._levels: list[tuple[U64, U32]] = []  # sorted keys and their slots, longest first
        self._waiting: list[tuple[U64, int]] = []
        self._dead = 0  # slots without a document

    @property
    def recipe(self) -> Recipe:
        return self._method.recipe

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, id: object) -> bool:
        return id in self._slots

    def add(self, id: str, signature: Signature) -> None:
        self.add_many([(id, signature)])

    def add_many(self, documents: Iterable[tuple[str, Signature]]) -> None:
        new: dict[str, U64] = {}
        for id, signature in documents:
            if id in self._slots or id in new:
                raise UsageError("already_in_index", id=id)
            new[id] = self._keys(signature)
        for id, keys in new.items():
            self._put(id, keys)

    def remove(self, id: str) -> bool:
        slot = self._slots.pop(id, None)
        if slot is None:
            return False
        self._live[slot] = 0
        self._dead += 1
        if 4 * self._dead > len(self._ids):
            self._pack()
        return True

    def replace(self, id: str, signature: Signature) -> None:
        keys = self._keys(signature)
        self.remove(id)
        self._put(id, keys)

    def candidates(self, signature: Signature, limit: int | None = None) -> list[Candidate]:
        if limit is not None and limit < 1:
            raise InvalidParameter("limit_range", name="limit", value=limit)
        keys = self._keys(signature)
        self._settle()
        parts = [_lookup(level, keys) for level in self._levels]
        slots, hits = np.unique(
            np.concatenate(parts) if parts else np.zeros(0, np.uint32), return_counts=True
        )
        found = [
            Candidate(self._ids[slot], count)
            for slot, count in zip(slots.tolist(), hits.tolist(), strict=True)
            if self._live[slot]
        ]
        found.sort(key=lambda candidate: (-candidate.hits, candidate.id))
        return found[:limit]

    def _keys(self, signature: Signature) -> U64:
        require_recipe(self._method.recipe, signature)
        return np.unique(self._method.keys(signature))

    def _put(self, id: str, keys: U64) -> None:
        slot = len(self._ids)
        self._ids.append(id)
        self._live.append(1)
        self._slots[id] = slot
        self._waiting.append((keys, slot))

    def _settle(self) -> None:
        """Sort in what waits."""
        if not self._waiting:
            return
        keys = np.concatenate([keys for keys, _ in self._waiting])
        slots = np.repeat(
            np.array([slot for _, slot in self._waiting], np.uint32), [len(keys) for keys, _ in self._waiting]
        )
        self._waiting = []
        newest = self._sorted(keys, slots)
        while self._levels and len(self._levels[-1][0]) <= 2 * len(newest[0]):
            older = self._levels.pop()
            newest = self._sorted(
                np.concatenate([older[0], newest[0]]), np.concatenate([older[1], newest[1]])
            )
        self._levels.append(newest)

    def _sorted(self, keys: U64, slots: U32) -> tuple[U64, U32]:
        """By key, without the postings of documents that are gone."""
        if self._dead:
            live = np.frombuffer(self._live, np.bool_)[slots]
            keys, slots = keys[live], slots[live]
        # Stable: two sorted runs behind each other are merged rather than sorted anew.
        order = np.argsort(keys, kind="stable")
        return keys[order], slots[order]

    def _pack(self) -> None:
        """Number the documents anew and drop all postings of those that are gone."""
        self._settle()
        numbers = np.full(len(self._ids), -1, np.int64)
        live = np.flatnonzero(np.frombuffer(self._live, np.bool_))
        numbers[live] = np.arange(len(live))
        levels = []
        for keys, slots in self._levels:
            kept = numbers[slots] >= 0
            if kept.any():
                levels.append((keys[kept], numbers[slots[kept]].astype(np.uint32)))
        self._levels = sorted(levels, key=lambda level: -len(level[0]))
        self._ids = [self._ids[slot] for slot in live.tolist()]
        self._live = bytearray(b"\x01" * len(self._ids))
        self._slots = {id: slot for slot, id in enumerate(self._ids)}
        self._dead = 0


def _lookup(level: tuple[U64, U32], keys: U64) -> U32:
    """Slots of all postings of these keys."""
    known, slots = level
    starts = np.searchsorted(known, keys, side="left")
    counts = np.searchsorted(known, keys, side="right") - starts
    if not counts.any():
        return slots[:0]
    # Numbers start, start + 1, … of every key in turn.
    before = np.repeat(np.cumsum(counts) - counts, counts)
    found: U32 = slots[np.repeat(starts, counts) + np.arange(int(counts.sum())) - before]
    return found
