"""All words of a database by their numbers, to sign documents by their stored words instead of their texts."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.model import Signature
from doublet.signatures import Method
from doublet.signatures.statistics import CollectionStatistics
from doublet.signatures.weighted import CollectionMethod, HeaviestWords
from doublet.store import words
from doublet.store.connection import Database
from doublet.store.entries import Entries, signed_entries, weighed_entries
from doublet.store.names import unescape
from doublet.store.weighing import Lexicon, sign_bags, weigh_bags
from doublet.text.tokens import TokenBatch

U64 = NDArray[np.uint64]

WORKERS = 2  #: threads that weigh


class WordTable:
    """Spelling and hash of every word by its number, to turn bags back into batches that methods can sign."""

    def __init__(self, database: Database) -> None:
        rows = database.rows("SELECT id, fold, word FROM doublet_word ORDER BY id")
        size = (rows[-1][0] if rows else 0) + 1
        hashes = np.zeros(size, np.int64)
        spelt = [""] * size
        if rows:
            numbers, values, found = zip(*rows, strict=True)
            hashes[list(numbers)] = values
            for number, word in zip(numbers, found, strict=True):
                spelt[number] = word
        self._hashes: U64 = hashes.view(np.uint64)
        self._words = spelt
        self._lexicon: Lexicon | None = None

    def __len__(self) -> int:
        """One more than the highest number of a word."""
        return len(self._words)

    @property
    def lexicon(self) -> Lexicon:
        if self._lexicon is None:
            self._lexicon = Lexicon(self._words, self._hashes)
        return self._lexicon

    def make_ready(self, method: Method) -> None:
        """What several threads will need, made once."""
        if isinstance(method, CollectionMethod) and isinstance(method.statistics, CollectionStatistics):
            method.statistics.df(self.lexicon.spelt)

    def count(self, method: Method, bags: Sequence[bytes]) -> int:
        """How many of these documents have a signature."""
        if isinstance(method, HeaviestWords):
            return len(weigh_bags(method, bags, self.lexicon).documents)
        return sum(one is not None for one in self.sign(method, bags))

    def entries(
        self, method: Method, rows: Sequence[tuple[Any, ...]], pool: ThreadPoolExecutor
    ) -> list[Entries]:
        """Signatures of documents (number, name, hash of the name, bag), one after the other in some parts."""
        if not isinstance(method, HeaviestWords):
            signed = self.sign(method, [bytes(row[3]) for row in rows])
            return [signed_entries(method, [unescape(row[1]) for row in rows], signed)]
        size = -(-len(rows) // (2 * WORKERS))
        parts = [rows[start : start + size] for start in range(0, len(rows), size)]
        lexicon = self.lexicon
        work = [pool.submit(weigh_bags, method, [bytes(row[3]) for row in part], lexicon) for part in parts]
        return [
            weighed_entries([row[1:3] for row in part], found.result())
            for part, found in zip(parts, work, strict=True)
        ]

    def sign(self, method: Method, bags: Sequence[bytes]) -> list[Signature | None]:
        """Signatures by a method that reads nothing but words, whatever their order."""
        if isinstance(method, HeaviestWords):
            return sign_bags(method, bags, self.lexicon)
        return method.sign_many(self.batch(bags), [""] * len(bags))

    def batch(self, bags: Sequence[bytes]) -> TokenBatch:
        """Words of the bags; each as often as it stands in its document, in no order of the text."""
        numbers, counts, offsets = words.unpack_bags(bags)
        ids = np.repeat(numbers, counts)
        ends = np.concatenate([[0], np.cumsum(counts)])[offsets.astype(np.int64)].astype(np.uint64)
        nothing = np.zeros(len(ids), np.uint32)
        return TokenBatch(
            self._hashes[ids],
            nothing,
            nothing,
            nothing.astype(np.uint8),
            ends,
            ids.astype(np.uint32),
            self._words,
        )
