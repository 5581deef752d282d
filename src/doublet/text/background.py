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

from doublet import kernels

U64 = NDArray[np.uint64]
F64 = NDArray[np.float64]

RARE_IDF = 10.0  #: of a word that nobody knows: it stands in one of some twenty thousand documents

_MAGIC = b"DBBG\x01\0\0\0"
_KEY_BITS = 40  # of the hash: enough to tell some ten thousand stems apart
_PART_BITS = 14  # of the hash: a stem is looked for among the few keys that share them
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
    firsts: NDArray[np.uint32]  # of the keys in each part of the hashes: where one is looked for
    rarity: F64  # -ln(share of the words); one more at the end, for a stem that is not there
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
    keys = full.reshape(-1).view(">u8").astype(np.uint64)
    borders = np.arange((1 << _PART_BITS) + 1, dtype=np.uint64) << np.uint64(_KEY_BITS - _PART_BITS)
    return _Table(
        keys,
        np.searchsorted(keys, borders).astype(np.uint32),
        np.append(rest[:count] / _P_STEP, 0.0),
        np.append(rest[count:] / _DF_STEP, 0.0),
    )


def general(stems: U64) -> tuple[NDArray[np.bool_], F64, F64]:
    """Of stems by their hashes: whether the table knows them, -ln of their share of all words, and of all documents (0
    for the most frequent). The numbers mean nothing where it does not."""
    table = _table()
    at = kernels.find_keys(stems, table.keys, table.firsts, _KEY_BITS)
    return at < len(table.keys), table.rarity[at], table.idf[at]


def rarity(stems: U64) -> F64:
    """Of stems by their hashes -ln of their share of all documents: 0 for the most frequent, `RARE_IDF` for those that
    the table does not know."""
    known, _, idf = general(stems)
    rare: F64 = np.where(known, idf, RARE_IDF)
    return rare
