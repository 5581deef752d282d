"""How common words are in general: a small table of Russian and English stems that comes with the package.

It holds counts only (tools/make_background.py makes it and says from what).
"""

from __future__ import annotations

import functools
import importlib.resources
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
F64 = NDArray[np.float64]

_MAGIC = b"DBBG\x01\0\0\0"
_KEY_BITS = 40  # of the hash: enough to tell some ten thousand stems apart
_P_STEP, _DF_STEP = 16.0, 24.0  # units of -ln in a byte


@dataclass(frozen=True, slots=True)
class Row:
    """A stem by its hash: its share of the words, of the documents, and whether it is one of the most frequent."""

    stem: int
    words: float
    documents: float
    stop: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    keys: U64
    rarity: F64  # -ln(share of the words)
    idf: F64  # -ln(share of the documents); 0 for stop stems


def write(rows: Sequence[Row]) -> bytes:
    """The file: a head, then columns: 5 bytes of key (sorted), one of -ln(words), one of -ln(documents), 0 = stop."""
    keys: U64 = np.array([row.stem for row in rows], np.uint64) >> np.uint64(64 - _KEY_BITS)
    keys, first = np.unique(keys, return_index=True)
    chosen = [rows[i] for i in first.tolist()]
    rarity = [round(-math.log(row.words) * _P_STEP) for row in chosen]
    idf = [0 if row.stop else max(1, round(-math.log(row.documents) * _DF_STEP)) for row in chosen]
    packed = keys.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 3:].tobytes()
    return (
        _MAGIC
        + struct.pack("<Q", len(keys))
        + packed
        + np.minimum(rarity, 255).astype(np.uint8).tobytes()
        + np.minimum(idf, 255).astype(np.uint8).tobytes()
    )


@functools.cache
def _table() -> _Table:
    data = importlib.resources.files("doublet.text").joinpath("background.bin").read_bytes()
    count = struct.unpack_from("<Q", data, 8)[0]
    raw = np.frombuffer(data, np.uint8, 5 * count, 16).reshape(-1, 5)
    full = np.zeros((count, 8), np.uint8)
    full[:, 3:] = raw
    rest = np.frombuffer(data, np.uint8, 2 * count, 16 + 5 * count).astype(np.float64)
    return _Table(
        full.reshape(-1).view(">u8").astype(np.uint64), rest[:count] / _P_STEP, rest[count:] / _DF_STEP
    )


def general(stems: U64) -> tuple[NDArray[np.bool_], F64, F64]:
    """Of stems by their hashes: whether the table knows them, -ln of their share of all words, and of all documents (0
    for the most frequent). The numbers mean nothing where it does not."""
    table = _table()
    keys = stems >> np.uint64(64 - _KEY_BITS)
    at = np.minimum(np.searchsorted(table.keys, keys), len(table.keys) - 1)
    return table.keys[at] == keys, table.rarity[at], table.idf[at]
