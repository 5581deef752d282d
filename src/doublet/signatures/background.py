"""How much words tell: rates of Russian and English stems in general, and in a collection.

A collection of some thousand documents knows by itself which of its words are common; two texts or a small library do
not. `Rates` answers for both: the table that comes with the package (`text.background`) alone, or the table and a
collection together, in which the collection counts more the larger it is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from doublet.text.background import RARE_IDF, general

U64 = NDArray[np.uint64]
F64 = NDArray[np.float64]

BACKGROUND_VERSION = 1  #: of the table; keys of stored signatures depend on which stems are stop stems
KEPT = 0.6  #: share of its words that a reworded copy keeps; the alignment asks how much likelier a match is then
MOST_GAIN = 12.0  #: of one word, however rare

_WORDS_WEIGH = 200_000.0  # words, and documents below, of a collection that weigh as much as the table
_DOCUMENTS_WEIGH = 500.0


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
    known, rarity, idf = general(words)
    rare = MOST_GAIN - math.log(KEPT)
    return np.where(known, rarity, rare), np.where(known, idf, RARE_IDF)
