"""Rows of numbers that are counted by their keys. Many wait on disk in parts, so that memory has a limit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from doublet.signatures.long_array import LongArray
from doublet.text.site_frame import U64

COUNTED_BYTES = 16_000_000  #: of rows in memory, eight for each number; more wait on disk
PARTS = 128  #: files in which they wait, by their keys; each is counted by itself


class KeyedRows:
    """Rows of so many columns; the first is the key."""

    def __init__(self, columns: int, folder: str | None) -> None:
        self._columns = columns
        self._folder = folder
        self._rows: list[U64] = []  # in memory
        self._size = 0
        self._parts: list[LongArray[np.uint64]] = []  # on disk

    def add(self, rows: U64) -> None:
        self._rows.append(rows)
        self._size += rows.nbytes
        if self._size > COUNTED_BYTES:
            self._deal()

    def _deal(self) -> None:
        """Move all rows to disk, to the part that their keys belong to."""
        rows = np.concatenate(self._rows)
        self._rows, self._size = [], 0
        self._parts = self._parts or [LongArray(np.uint64, 0, self._folder) for _ in range(PARTS)]
        part = rows[:, 0] % np.uint64(PARTS)
        rows = rows[np.argsort(part, kind="stable")]
        cuts = np.cumsum(np.bincount(part.astype(np.int64), minlength=PARTS))[:-1]
        for own, some in zip(self._parts, np.split(rows, cuts), strict=True):
            own.add(some.ravel())

    def by_keys(self) -> Iterator[U64]:
        """All rows, those of a key together."""
        if self._parts and self._rows:
            self._deal()
        for part in self._parts:
            yield part.read(0, len(part)).reshape(-1, self._columns)
        if self._rows:
            yield np.concatenate(self._rows)

    def close(self) -> None:
        """Give back what the rows take."""
        for part in self._parts:
            part.close()
        self._rows, self._parts = [], []
