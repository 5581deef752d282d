"""How common words are in general: a small table of Russian and English stems that comes with the package.

A collection of some thousand documents knows by itself which of its words are common; two texts or a small library do
not. `Rates` answers for both: the table alone, or the table and a collection together, in which the collection counts
more the larger it is. The table holds counts only (tools/make_background.py makes it and says from what).
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

BACKGROUND_VERSION = 1  #: of the table; keys of stored signatures depend on which stems are stop stems
KEPT = 0.6  #: share of its words that a reworded copy keeps; the alignment asks how much likelier a match is then
MOST_GAIN = 12.0  #: of one word, however rare
RARE_IDF = 10.0  #: of a word that nobody knows: it stands in one of some twenty thousand documents

_MAGIC = b"DBBG\x01\0\0\0"
_KEY_BITS = 40  # of the hash: enough to tell some ten thousand stems apart
_P_STEP, _DF_STEP = 16.0, 24.0  # units of -ln in a byte
_WORDS_WEIGH = 200_000.0  # words, and documents below, of a collection that weigh as much as the table
_DOCUMENTS_WEIGH = 500.0


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
    data = importlib.resources.files("doublet.signatures").joinpath("background.bin").read_bytes()
    count = struct.unpack_from("<Q", data, 8)[0]
    raw = np.frombuffer(data, np.uint8, 5 * count, 16).reshape(-1, 5)
    full = np.zeros((count, 8), np.uint8)
    full[:, 3:] = raw
    rest = np.frombuffer(data, np.uint8, 2 * count, 16 + 5 * count).astype(np.float64)
    return _Table(
        full.reshape(-1).view(">u8").astype(np.uint64), rest[:count] / _P_STEP, rest[count:] / _DF_STEP
    )


class Rates:
    """How much each stem tells: its *gain* in the alignment and its *mass* (0 for stop stems), by its hash.

    Without a collection the table decides alone. Never changes after it was made; safe to share between threads.
    """

    def __init__(self, words: U64 | None = None, offsets: U64 | None = None) -> None:
        """*words* and *offsets*: hashes of the stems of a collection, each document once."""
        self._keys: U64 = np.zeros(0, np.uint64)
        if words is None or offsets is None or not len(words):
            return
        documents = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets).astype(np.int64))
        self._keys, numbers, cf = np.unique(words, return_inverse=True, return_counts=True)
        pairs = np.unique(numbers.reshape(-1).astype(np.int64) * len(offsets) + documents)
        df = np.bincount(pairs // len(offsets), minlength=len(self._keys))
        count = float(np.count_nonzero(np.diff(offsets)))
        rarity, idf = _general(self._keys)
        share = (cf + _WORDS_WEIGH * np.exp(-rarity)) / (len(words) + _WORDS_WEIGH)
        spread = (df + _DOCUMENTS_WEIGH * np.exp(-idf)) / (count + _DOCUMENTS_WEIGH)
        self._gains = np.minimum(MOST_GAIN, math.log(KEPT) - np.log(share))
        self._masses = np.where(idf > 0, np.minimum(RARE_IDF, -np.log(np.minimum(spread, 1.0))), 0.0)

    def of(self, words: U64) -> tuple[F64, F64]:
        """Gain and mass of each of the *words* (hashes of stems); give each word once, it is looked up in a table."""
        rarity, idf = _general(words)
        gains, masses = np.minimum(MOST_GAIN, math.log(KEPT) + rarity), idf
        if len(self._keys):
            at = np.minimum(np.searchsorted(self._keys, words), len(self._keys) - 1)
            known = self._keys[at] == words
            gains = np.where(known, self._gains[at], gains)
            masses = np.where(known, self._masses[at], masses)
        return gains, masses


def _general(words: U64) -> tuple[F64, F64]:
    """-ln of the share of all words and of all documents, by the table; a word that is not in it is rare."""
    table = _table()
    keys = words >> np.uint64(64 - _KEY_BITS)
    at = np.minimum(np.searchsorted(table.keys, keys), len(table.keys) - 1)
    known = table.keys[at] == keys
    rare = MOST_GAIN - math.log(KEPT)
    return np.where(known, table.rarity[at], rare), np.where(known, table.idf[at], RARE_IDF)
