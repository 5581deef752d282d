"""M10: words that are frequent in the text and spread more unevenly over the collection than chance would
spread them.

TF = 0.5 + 0.5·tf / tf_max; IDF = −log(df / N); P_IDF = −log(1 − exp(−cf / N)); RIDF = IDF − P_IDF; weight =
TF·RIDF. Logarithms are natural. A word that fills few documents many times has a high RIDF; one that stands
once here and there has about 0, however rare it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doublet.signatures.statistics import ridf
from doublet.signatures.weighted import CollectionMethod, HeaviestParameters, Occurrences

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


def tfridf_weights(tf: F64, tf_max: F64, df: I64, cf: I64, documents: int) -> F64:
    """TF·RIDF of each word; 0 for a word of no document (df = 0)."""
    out = tf / tf_max
    out *= 0.5
    out += 0.5
    out *= ridf(df, cf, documents)
    return out


class TFRIDF(CollectionMethod[HeaviestParameters]):
    name = "tfridf"
    title = "Words spread unevenly over the collection (TF-RIDF)"
    summary = (
        "Like TF-IDF, but a word counts by how unevenly it is spread over the collection, so that words of "
        "the frame of a site do not pass for words of the text. For libraries whose pages are hard to "
        "clean."
    )
    parameters_type = HeaviestParameters

    def weights(self, occurrences: Occurrences) -> F64:
        df, cf = self.statistics.look_up(occurrences.words)
        value = np.where(df > 0, ridf(df, cf, self.statistics.documents), -np.inf)
        return (0.5 + 0.5 * occurrences.tf / occurrences.tf_max) * value[occurrences.word]
