"""Signatures → what the join needs of them: the keys, and all of a signature where a method only says yes or no."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from doublet.index.keys import KeyTable
from doublet.model import Signature
from doublet.signatures import Method
from doublet.signatures.long_array import LongArray

U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

SIGNATURE_SHARE = 0.4  #: of the memory of keys and signatures, for the latter
MOST_KNOWN = 1 << 12  #: answers of a method that are remembered while a keeper is looked at
SMALL = (
    2  #: values; signatures of so few fit into memory in any case, as what else is known of a document does
)


class Compact(NamedTuple):
    """Signatures of some documents as numbers: an object for each would be many times as large where texts are tiny.

    *documents*, and their values, are empty for methods that estimate resemblance.
    """

    documents: U32
    keys: U64
    owners: U32  #: of the keys
    values: U64 = np.zeros(0, np.uint64)
    lengths: I64 = np.zeros(0, np.int64)  #: how many of the values belong to each document
    sizes: I64 = np.zeros(0, np.int64)


class Signed:
    """Gathered while reading, batch by batch, and asked while joining. What has no memory goes to disk.

    Signatures are kept of methods that only say "alike" or "not": their numbers one after the other, not as objects.
    """

    def __init__(self, method: Method, memory_bytes: int | None = None, folder: str | None = None) -> None:
        self.method = method
        share = 0.0 if self.estimates else SIGNATURE_SHARE
        keys = signatures = memory_bytes
        if memory_bytes is not None:
            signatures = int(memory_bytes * share)
            keys = memory_bytes - signatures
        self.keys = KeyTable(keys, folder)
        self._values = LongArray(np.uint64, signatures, folder)
        self._documents: list[U32] = []  # that have a signature; ends and sizes of these
        self._ends: list[I64] = []
        self._sizes: list[I64] = []
        self._settled: tuple[U32, I64, I64] | None = None

    @property
    def estimates(self) -> bool:
        """True for methods that estimate resemblance: the exact value decides in their place."""
        return self.method.threshold is not None

    def compact(self, signed: Sequence[Signature | None], first: int) -> Compact:
        """What the join needs of the signatures of documents *first* and on of a batch. From any thread."""
        some = [signature for signature in signed if signature is not None]
        documents = np.array([i for i, one in enumerate(signed, first) if one is not None], np.uint32)
        keys, owners = self._keys(some, documents) if some else (np.zeros(0, np.uint64), documents)
        if self.estimates or not some:
            return Compact(documents[:0], keys, owners)
        values = np.concatenate([signature.values for signature in some])
        lengths = np.array([len(signature.values) for signature in some], np.int64)
        sizes = np.array([signature.size for signature in some], np.int64)
        return Compact(documents, keys, owners, values, lengths, sizes)

    def take(self, batch: Sequence[Compact], first: int) -> None:
        """Keep this of a batch; its documents are numbered from *first* on."""
        for part in batch:
            if len(part.keys):
                self.keys.add(part.keys, part.owners + np.uint32(first))
            if len(part.documents):
                self._ends.append(np.cumsum(part.lengths) + len(self._values))
                self._values.add(part.values)
                self._documents.append(part.documents + np.uint32(first))
                self._sizes.append(part.sizes)
                self._settled = None

    def _keys(self, signed: list[Signature], owners: U32) -> tuple[U64, U32]:
        """Keys of the documents, each once, and whose they are."""
        rows = self.method.key_rows(signed)
        if rows is None:
            found = [np.unique(self.method.keys(signature)) for signature in signed]
            return np.concatenate(found), np.repeat(owners, [len(keys) for keys in found])
        rows = np.sort(rows, axis=1)
        once = np.ones(rows.shape, np.bool_)
        once[:, 1:] = rows[:, 1:] != rows[:, :-1]
        return rows[once], np.repeat(owners, once.sum(axis=1))

    def agree(self, document: int, others: U32) -> NDArray[np.bool_]:
        """Which of the *others* have a signature that says that they are like this one. All of them must have one.

        Equal signatures are compared once.
        """
        one, known = self._signature(document), dict[tuple[bytes, int], bool]()
        out = np.zeros(len(others), np.bool_)
        for place, other in enumerate(others.tolist()):
            two = self._signature(other)
            same = two.values.tobytes(), two.size
            if same not in known:
                if len(known) >= MOST_KNOWN:
                    known.clear()
                known[same] = self.method.compare(one, two).similar
            out[place] = known[same]
        return out

    @property
    def alike(self) -> Callable[[U32, U32], NDArray[np.bool_]] | None:
        """Answers what `agree` does for many pairs at once; None where the method or the memory does not allow it."""
        of_many = self.method.alike_rows
        if not len(self._values):
            return None
        documents, bounds, _ = self._settle()
        width = int(bounds[1])
        if not np.array_equal(np.diff(bounds), np.full(len(documents), width)):
            return None
        if width > SMALL or of_many(*[np.zeros((0, width), np.uint64)] * 2) is None:
            return None
        rows = np.zeros((int(documents[-1]) + 1, width), np.uint64)
        rows[documents] = self._values.read(0, len(self._values)).reshape(-1, width)

        def alike(left: U32, right: U32) -> NDArray[np.bool_]:
            found = of_many(rows.take(left, axis=0), rows.take(right, axis=0))
            assert found is not None  # it was asked about nothing before
            return found

        return alike

    def close(self) -> None:
        self.keys.close()
        self._values.close()

    def _settle(self) -> tuple[U32, I64, I64]:
        """Documents that have a signature, where the values of each begin (and the end), and the sizes."""
        if self._settled is None:
            self._settled = (
                np.concatenate(self._documents),
                np.concatenate([np.zeros(1, np.int64), *self._ends]),
                np.concatenate(self._sizes),
            )
            documents, bounds, sizes = self._settled
            self._documents, self._ends, self._sizes = [documents], [bounds[1:]], [sizes]
        return self._settled

    def _signature(self, document: int) -> Signature:
        documents, bounds, sizes = self._settle()
        row = int(np.searchsorted(documents, document))
        values = self._values.read(int(bounds[row]), int(bounds[row + 1]))
        return Signature(self.method.recipe, values, int(sizes[row]))
