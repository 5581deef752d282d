"""M12: I-Match. The words of a text that are neither too common nor too rare in the collection, as one hash.

The lexicon holds the words whose IDF (log₂(N / df), as in the source) lies within `idf_width` of the mean
over all words. Each further lexicon leaves out another random third of it. A text has one hash for each
lexicon, and two texts are similar when any of them agrees: a changed word that is left out of one lexicon
does no harm there. The signature holds the hashes in order, 0 where the text has too few words of that
lexicon; its size is the number of its words in the first lexicon.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from doublet.model import Measures, Signature
from doublet.signatures.counting import CountedWords, find_keys, keys_of
from doublet.signatures.mixing import combine, mix, splitmix64
from doublet.signatures.parameters import LexicalParameters, parameter
from doublet.signatures.protocol import BaseMethod, Limit
from doublet.signatures.statistics import CollectionStatistics, Counts, count_words
from doublet.signatures.weighted import count_within, gather_counts
from doublet.text.tokens import TokenBatch

U64 = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class IMatchParameters(LexicalParameters):
    """Of I-Match."""

    idf_width: float = parameter(
        0.8, "the lexicon holds words whose IDF is so near to the mean", low=0, high=100
    )
    lexicons: int = parameter(10, "further lexicons, each with some words left out", low=0, high=1000)
    left_out: float = parameter(
        0.33, "share of the words that each further lexicon leaves out", low=0, high=0.99
    )
    # Four: with two or three, short texts that merely share some rare words agree (figures on the method's page).
    min_words: int = parameter(4, "no hash when a text has fewer words of a lexicon", low=1, high=100_000)
    seed: int = parameter(1, "from which the words to leave out are drawn", low=0, high=(1 << 63) - 1)


def middle_words(statistics: CollectionStatistics, idf_width: float) -> frozenset[str]:
    """Words whose log₂(N / df) lies within *idf_width* of the mean over all words of the collection."""
    counts = statistics.counts()
    df = np.array([df for df, _ in counts.values()], np.int64)
    inside = _in_the_middle(df, statistics.documents, idf_width)
    return frozenset(word for word, good in zip(counts, inside.tolist(), strict=True) if good)


def _in_the_middle(df: NDArray[np.int64], documents: int, idf_width: float) -> NDArray[np.bool_]:
    if not len(df):
        return np.zeros(0, np.bool_)
    values = np.log2(documents / df.astype(np.float64))
    # Rounded, so that a word exactly at the edge is in on every machine.
    values -= values.mean()
    inside: NDArray[np.bool_] = np.round(np.abs(values, out=values), 9) <= idf_width
    return inside


class IMatch(BaseMethod[IMatchParameters]):
    name = "imatch"
    title = "I-Match"
    summary = (
        "One hash of the words that are neither common nor rare in the collection, and ten more with a "
        "third of them left out. Good at short texts and at moved sentences; a few changed words are "
        "forgiven."
    )
    minimum = "`min_words` words of one of the lexicons"
    needs_statistics: ClassVar[bool] = True
    statistics_type: ClassVar[type] = Counts
    parameters_type = IMatchParameters

    def __init__(self, parameters: IMatchParameters, statistics: Counts) -> None:
        super().__init__(parameters, statistics)
        self._lexicon: frozenset[str] = frozenset()
        self._keys_inside: U64 = np.zeros(0, np.uint64)
        if isinstance(statistics, CountedWords):
            documents, width = statistics.documents, parameters.idf_width
            self._keys_inside = statistics.chosen(lambda df: _in_the_middle(df, documents, width))
        else:
            assert isinstance(statistics, CollectionStatistics)
            self._lexicon = middle_words(statistics, parameters.idf_width)
        self._salts = splitmix64(parameters.seed, parameters.lexicons)

    @classmethod
    def gather(cls, parameters: Any, batches: Iterable[TokenBatch]) -> CollectionStatistics:
        return gather_counts(parameters, batches)

    @classmethod
    def gather_within(cls, parameters: Any, batches: Iterable[TokenBatch], within: Limit) -> Counts:
        return count_within(parameters, batches, within)

    @classmethod
    def read_statistics(cls, data: bytes) -> CollectionStatistics:
        return CollectionStatistics.from_bytes(data)

    def kept(self, hashes: U64, lexicon: int) -> NDArray[np.bool_]:
        """Which words, given by their hashes, a lexicon holds of the first one (number 0, which holds them
        all)."""
        if lexicon == 0:
            return np.ones(len(hashes), np.bool_)
        # The upper 53 bits as a number from 0 to 1.
        drawn = (mix(hashes ^ self._salts[lexicon - 1]) >> np.uint64(11)).astype(np.float64) / float(1 << 53)
        return drawn >= self.parameters.left_out

    def _sign_batch(self, batch: TokenBatch) -> list[Signature | None]:
        rows = count_words(batch)
        hashes = np.zeros(len(batch.vocabulary), np.uint64)
        hashes[batch.ids] = batch.hashes
        inside = np.zeros(len(batch.vocabulary) + 1, np.bool_)
        used = np.unique(rows.ids)
        inside[used] = self._holds([batch.vocabulary[i] for i in used.tolist()])
        chosen = inside[rows.ids]
        words, owners = hashes[rows.ids[chosen]], rows.texts[chosen]
        offsets = np.searchsorted(owners, np.arange(len(batch) + 1))
        table = np.zeros((len(batch), self.parameters.lexicons + 1), np.uint64)
        mixed = mix(words)
        for lexicon in range(self.parameters.lexicons + 1):
            kept = self.kept(words, lexicon)
            counts = _sums(kept.astype(np.uint64), offsets)
            # A sum does not depend on the order: the same as hashing the words sorted.
            sums = _sums(np.where(kept, mixed, np.uint64(0)), offsets)
            found = combine(np.stack([counts, sums], axis=1), np.full(len(batch), lexicon, np.uint64))
            table[:, lexicon] = np.where(counts >= self.parameters.min_words, found, np.uint64(0))
        sizes = np.diff(offsets).tolist()
        return [
            Signature(self.recipe, row.copy(), sizes[i]) if row.any() else None for i, row in enumerate(table)
        ]

    def _holds(self, words: list[str]) -> NDArray[np.bool_]:
        """Which of these words are in the lexicon."""
        if self._lexicon:
            return np.array([word in self._lexicon for word in words], np.bool_)
        return find_keys(keys_of(words, len(words)), self._keys_inside)[1]

    def _compare(self, a: Signature, b: Signature) -> Measures:
        present = (a.values != 0) | (b.values != 0)
        equal = int(np.count_nonzero(present & (a.values == b.values)))
        return Measures(equal / int(np.count_nonzero(present)), None, equal > 0)

    def _keys(self, signature: Signature) -> U64:
        keys: U64 = signature.values[signature.values != 0]
        return keys


def _sums(values: U64, offsets: NDArray[np.int64]) -> U64:
    """Sum of each stretch, modulo 2⁶⁴; empty stretches give 0."""
    running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
    out: U64 = running[offsets[1:]] - running[offsets[:-1]]
    return out
