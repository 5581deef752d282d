"""M1: all shingles of a text, compared in full. Exact, and the only method here that shows what was taken.

The signature is the set of fingerprints, sorted; its size is their number. Resemblance |A∩B| / |A∪B|,
containment |A∩B| / |A|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.model import Measures, Signature
from doublet.signatures.parameters import parameter
from doublet.signatures.shingled import (
    ShingledMethod,
    ThresholdParameters,
    documents,
    overlap,
    prefix,
)

U64 = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class SetParameters(ThresholdParameters):
    """Of methods whose signature is a set."""

    containment: float = parameter(
        0.0,
        "similar also when this share of one text is in the other; 0: only by resemblance",
        low=0,
        high=1,
        signs=False,
    )


P = TypeVar("P", bound=SetParameters)


class SetMethod(ShingledMethod[P]):
    """A signature that is itself a set (M1, M2): both measures can be taken from it."""

    @property
    def key_settings(self) -> tuple[tuple[str, Any], ...]:
        # A short text inside a long one can share any of its shingles, so containment needs all of them as
        # keys.
        return (
            (("containment", True),)
            if self.parameters.containment
            else (("threshold", self.parameters.threshold),)
        )

    def _compare(self, a: Signature, b: Signature) -> Measures:
        common = overlap(a.values, b.values)
        resemblance = common / (len(a.values) + len(b.values) - common)
        inside = (common / len(a.values), common / len(b.values))
        similar = resemblance >= self.parameters.threshold
        if self.parameters.containment and max(inside) >= self.parameters.containment:
            similar = True
        return Measures(resemblance, inside, similar)

    def _keys(self, signature: Signature) -> U64:
        if self.parameters.containment:
            return signature.values
        return prefix(signature.values, self.parameters.threshold)


class Shingles(SetMethod[SetParameters]):
    name = "shingles"
    title = "Shingles, all compared"
    summary = (
        "Compares every run of words. Exact, tells how much of one text lies inside the other, and shows "
        "which passages agree; the signature grows with the text."
    )
    minimum = "one word"
    shows_fragments = True
    parameters_type = SetParameters

    def sign_sets(self, values: U64, offsets: U64, *, threads: int = 1) -> list[Signature | None]:  # noqa: ARG002 - for minima
        values, offsets = kernels.ordered(values, offsets)
        return [
            Signature(self.recipe, values[start:end].copy(), end - start) if end > start else None
            for start, end in documents(offsets)
        ]
