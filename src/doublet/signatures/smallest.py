"""M3: of all shingles the n with the smallest fingerprints. A sample of fixed size; resemblance only.

The signature is the sorted sample; its size is the number of all distinct shingles. The n smallest of both
samples together are a fair sample of the shingles of both texts; the share of it that stands in both samples
estimates the resemblance (Broder). For texts with at most n shingles the result is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.model import Measures, Signature
from doublet.signatures.parameters import parameter
from doublet.signatures.shingled import ShingledMethod, ThresholdParameters, prefix

U64 = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class SmallestParameters(ThresholdParameters):
    """Of the n smallest."""

    count: int = parameter(160, "how many of the smallest fingerprints to keep", low=1, high=1_000_000)


class Smallest(ShingledMethod[SmallestParameters]):
    name = "smallest"
    title = "Shingles with the smallest fingerprints"
    summary = (
        "Keeps the 160 smallest fingerprints, so that a signature is small however long the text. "
        "Estimates resemblance; cannot see a short text inside a long one."
    )
    minimum = "one word"
    parameters_type = SmallestParameters

    @property
    def key_settings(self) -> tuple[tuple[str, Any], ...]:
        return (("threshold", self.parameters.threshold),)

    def _sign_set(self, values: U64) -> Signature | None:
        count = self.parameters.count
        sample = np.partition(values, count - 1)[:count] if len(values) > count else values
        return Signature(self.recipe, np.sort(sample), len(values))

    def _compare(self, a: Signature, b: Signature) -> Measures:
        union = np.union1d(a.values, b.values)[: self.parameters.count]
        common = np.intersect1d(a.values, b.values, assume_unique=True)
        shared = int(np.searchsorted(common, union[-1], side="right"))
        resemblance = shared / len(union)
        return Measures(resemblance, None, resemblance >= self.parameters.threshold)

    def _keys(self, signature: Signature) -> U64:
        # `prefix` holds for samples as for sets: the common sample has at least as many values as this one.
        return prefix(signature.values, self.parameters.threshold)
