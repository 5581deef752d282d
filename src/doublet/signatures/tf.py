"""M8: the most frequent words of a text. Needs no collection."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doublet.signatures.weighted import HeaviestParameters, HeaviestWords, Occurrences


class TF(HeaviestWords[HeaviestParameters]):
    name = "tf"
    title = "Most frequent words (TF)"
    summary = (
        "The six most frequent words of a text, hashed. Needs no collection and does not mind word order; "
        "a small change of frequencies can change the choice."
    )
    parameters_type = HeaviestParameters

    def weights(self, occurrences: Occurrences) -> NDArray[np.float64]:
        return occurrences.tf / occurrences.total
