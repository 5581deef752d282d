"""M9: words that are frequent in the text and rare in the collection. Plain TF·IDF, or BM25.

TF = tf / number of words; IDF = −log(df / N). BM25 weighs IDF · tf·(k1 + 1) / (tf + k1·(1 − b + b·length /
mean length)); the source prints k1 − 1 in the numerator, a misprint: with k1 = 1 every weight would be 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet.signatures.parameters import parameter
from doublet.signatures.statistics import idf
from doublet.signatures.weighted import CollectionMethod, HeaviestParameters, Occurrences

F64 = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class TFIDFParameters(HeaviestParameters):
    """Of TF-IDF and BM25."""

    weighting: str = parameter("tfidf", "how a word is weighed", choices=("tfidf", "bm25"))
    k1: float = parameter(2.0, "of BM25: how slowly repeats of a word stop counting", low=0, high=1000)
    b: float = parameter(0.75, "of BM25: how much long texts are evened out", low=0, high=1)


def bm25_weights(
    tf: F64, length: F64, mean_length: float, idf: F64, *, k1: float = 2.0, b: float = 0.75
) -> F64:
    """BM25 weight of each word: *tf* times in a text of *length* words, in a collection of *mean_length* on
    average."""
    return idf * tf * (k1 + 1.0) / (tf + k1 * (1.0 - b + b * length / mean_length))


class TFIDF(CollectionMethod[TFIDFParameters]):
    name = "tfidf"
    title = "Words that tell the text from the collection (TF-IDF)"
    summary = (
        "The six words that are frequent in the text and rare in the collection, hashed. Precise and "
        "cheap, does not mind word order; misses copies in which one of the six was changed."
    )
    parameters_type = TFIDFParameters

    def weights(self, occurrences: Occurrences) -> F64:
        df, _ = self.statistics.look_up(occurrences.words)
        rarity = np.where(df > 0, idf(df, self.statistics.documents), -np.inf)[occurrences.word]
        if self.parameters.weighting == "tfidf":
            return occurrences.tf / occurrences.total * rarity
        mean = (
            self.statistics.mean_words or 1.0
        )  # an empty collection knows no word: every weight is −∞ anyway
        return bm25_weights(
            occurrences.tf, occurrences.total, mean, rarity, k1=self.parameters.k1, b=self.parameters.b
        )
