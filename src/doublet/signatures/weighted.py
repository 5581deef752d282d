"""The heaviest words of a text as its signature: the ground of M8, M9 and M10, which differ in the weight.

The chosen words in alphabetical order, one blank between them, give a CRC-32: the first number of the
signature and its key. The hashes of the words follow, so that a chance collision of 32 bits is no match and
the share of common words can be told. The size is the number of words in the text. Of equal weights the
first in the alphabet is taken.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from doublet.model import Measures, Signature
from doublet.signatures.counting import WordCounter
from doublet.signatures.parameters import LexicalParameters, parameter
from doublet.signatures.protocol import BaseMethod, Limit, Statistics
from doublet.signatures.statistics import CollectionStatistics, Counts, WordCounts, count_words
from doublet.text.tokens import TokenBatch

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

# Weights are rounded before they are put in order: the last digits of a logarithm differ between machines.
_DIGITS = 10


@dataclass(frozen=True, kw_only=True)
class HeaviestParameters(LexicalParameters):
    """Of the methods by the heaviest words."""

    words: int = parameter(6, "so many of the heaviest words make the signature", low=1, high=10_000)


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """Words of many texts, counted: one row for each distinct word of each text."""

    words: list[str]  #: the distinct words of all texts
    word: I64  #: of each row: number in *words*
    tf: F64  #: how often it stands in its text
    tf_max: F64  #: the same of the most frequent word of its text
    total: F64  #: number of words in its text


P = TypeVar("P", bound=HeaviestParameters)


class HeaviestWords(BaseMethod[P]):
    """A method that writes `weights`; minus infinity keeps a word from being chosen."""

    minimum = "`words` different words that are not left out"

    def __init__(self, parameters: P, statistics: Statistics | None = None) -> None:
        super().__init__(parameters, statistics)
        self.needs_words = True

    def weights(self, occurrences: Occurrences) -> F64:
        raise NotImplementedError

    def _sign_batch(self, batch: TokenBatch) -> list[Signature | None]:
        rows = count_words(batch)
        out: list[Signature | None] = [None] * len(batch)
        if not len(rows.ids):
            return out
        occurrences, used = _occurrences(rows, batch)
        weights = np.round(self.weights(occurrences), _DIGITS)
        hashes = np.zeros(len(batch.vocabulary), np.uint64)
        hashes[batch.ids] = batch.hashes
        hashes = hashes[used]
        count = self.parameters.words
        for text, (start, end) in enumerate(pairwise(rows.offsets.tolist())):
            if end - start < count:
                continue
            own = weights[start:end]
            least = float(np.partition(own, len(own) - count)[len(own) - count])
            if not math.isfinite(least):
                continue
            # All that weigh as much as the last one to be chosen, in order: of equals the first in the
            # alphabet.
            numbers = occurrences.word[start:end]
            heavy = [
                (-weight, occurrences.words[number], number)
                for weight, number in zip(
                    own[own >= least].tolist(), numbers[own >= least].tolist(), strict=True
                )
            ]
            chosen = sorted((word, number) for _, word, number in sorted(heavy)[:count])
            joined = " ".join(word for word, _ in chosen).encode("utf-8", "surrogatepass")
            values = np.concatenate(
                [np.array([zlib.crc32(joined)], np.uint64), hashes[[number for _, number in chosen]]]
            )
            out[text] = Signature(self.recipe, values, int(occurrences.total[start]))
        return out

    def _compare(self, a: Signature, b: Signature) -> Measures:
        common = len(np.intersect1d(a.values[1:], b.values[1:]))
        count = self.parameters.words
        return Measures(common / (2 * count - common), None, common == count)

    def _keys(self, signature: Signature) -> U64:
        return signature.values[:1]

    def key_rows(self, signatures: Sequence[Signature]) -> U64 | None:
        return np.stack([signature.values[:1] for signature in signatures])


class CollectionMethod(HeaviestWords[P]):
    """Heaviest words by the statistics of a collection.

    The statistics are copied: a method keeps to its recipe while the collection changes. Words that the
    collection does not know are not chosen: no document of it could have the same signature.
    """

    minimum = "`words` different words that are not left out and that the collection knows"
    needs_statistics: ClassVar[bool] = True
    statistics_type: ClassVar[type] = Counts

    def __init__(self, parameters: P, statistics: Counts) -> None:
        self.statistics = statistics.copy()
        super().__init__(parameters, self.statistics)

    @classmethod
    def gather(cls, parameters: Any, batches: Iterable[TokenBatch]) -> CollectionStatistics:
        return gather_counts(parameters, batches)

    @classmethod
    def gather_within(cls, parameters: Any, batches: Iterable[TokenBatch], within: Limit) -> Counts:
        return count_within(parameters, batches, within)

    @classmethod
    def read_statistics(cls, data: bytes) -> CollectionStatistics:
        return CollectionStatistics.from_bytes(data)


def gather_counts(parameters: Any, batches: Iterable[TokenBatch]) -> CollectionStatistics:
    out = CollectionStatistics(parameters.canon)
    for batch in batches:
        out.add(batch)
    return out


def count_within(parameters: Any, batches: Iterable[TokenBatch], within: Limit) -> Counts:
    """The same counts within a limit of memory; they cannot be changed."""
    counter = WordCounter(parameters.canon, within.memory_bytes, within.folder)
    try:
        for batch in batches:
            counter.add(batch)
        return counter.finish()
    finally:
        counter.close()


def _occurrences(rows: WordCounts, batch: TokenBatch) -> tuple[Occurrences, I64]:
    """The rows with what weights are made of, and the ids of the distinct words."""
    used, word = np.unique(rows.ids, return_inverse=True)
    filled = np.flatnonzero(np.diff(rows.offsets))
    starts = rows.offsets[filled]
    tf_max, total = np.zeros(len(batch)), np.zeros(len(batch))
    tf_max[filled] = np.maximum.reduceat(rows.counts, starts)
    total[filled] = np.add.reduceat(rows.counts, starts)
    words = [batch.vocabulary[i] for i in used.tolist()]
    made = Occurrences(
        words, word.astype(np.int64), rows.counts.astype(np.float64), tf_max[rows.texts], total[rows.texts]
    )
    return made, used
