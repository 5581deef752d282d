"""M2: of all shingles only those whose fingerprint divides by a number. A sample that grows with the text.

The signature is the sorted sample; its size is the number of all distinct shingles. Equal shingles are
sampled in every text or in none, so resemblance and containment of the samples estimate those of the texts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet.model import Signature
from doublet.signatures.parameters import parameter
from doublet.signatures.shingles import SetMethod, SetParameters

U64 = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class MultiplesParameters(SetParameters):
    """Of multiples of m."""

    modulus: int = parameter(
        25, "keep the fingerprints that divide by this number: about one in so many", low=1, high=100_000
    )
    # Four: about a hundred words at the default modulus. With fewer, one shared shingle would already be a
    # third of the estimate. Run the evaluation of the shingle methods again before changing it.
    min_sample: int = parameter(
        4, "no signature when fewer fingerprints than this are left", low=1, high=100_000
    )


class Multiples(SetMethod[MultiplesParameters]):
    name = "multiples"
    title = "Shingles that divide by a number"
    summary = (
        "Keeps about one shingle in 25 and estimates resemblance and containment from them. Much smaller "
        "than all shingles with hardly more errors; not for texts under a hundred words or so."
    )
    minimum = "enough words to leave `min_sample` fingerprints: about modulus × min_sample words"
    parameters_type = MultiplesParameters

    def _sign_set(self, values: U64) -> Signature | None:
        sample = np.sort(values[values % np.uint64(self.parameters.modulus) == 0])
        if len(sample) < self.parameters.min_sample:
            return None
        return Signature(self.recipe, sample, len(values))
