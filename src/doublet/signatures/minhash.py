"""M4: MinHash. For each of k functions (a·x + b) mod p the smallest value over all shingles.

The signature holds the k minima, two in each number; its size is the number of distinct shingles. Two texts
agree in a position with a chance that equals their resemblance, so the share of equal positions estimates
it. For the index the positions are cut into bands: texts that agree in a whole band share a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.errors import InvalidParameter
from doublet.kernels.data import MINHASH_PRIME
from doublet.model import Measures, Signature
from doublet.signatures.mixing import combine, splitmix64
from doublet.signatures.parameters import parameter
from doublet.signatures.protocol import Statistics
from doublet.signatures.shingled import ShingledMethod, ThresholdParameters

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]


@dataclass(frozen=True, kw_only=True)
class MinHashParameters(ThresholdParameters):
    """Of MinHash."""

    functions: int = parameter(
        128, "number of hash functions; the error is about 1/√functions", low=1, high=65_536
    )
    seed: int = parameter(1, "from which the functions are drawn", low=0, high=(1 << 63) - 1)
    bands: int = parameter(
        0, "bands of the index; 0: chosen for the threshold and the recall", low=0, high=65_536, signs=False
    )
    recall: float = parameter(
        0.95,
        "chance that a pair exactly at the threshold shares a band, when bands are chosen",
        above=0,
        high=1,
        signs=False,
    )

    def check(self) -> None:
        if self.bands > self.functions:
            raise InvalidParameter(
                "bands_over_functions",
                functions=self.functions,
                name="bands",
                value=self.bands,
            )


def hash_functions(seed: int, count: int) -> tuple[U32, U32]:
    """Factors a (1 to p−1) and terms b (0 to p−1) of the first *count* functions drawn from *seed*.

    Drawn in turn from splitmix64: the first functions are the same whatever the count.
    """
    drawn = splitmix64(seed, 2 * count)
    factors = drawn[0::2] % np.uint64(MINHASH_PRIME - 1) + np.uint64(1)
    return factors.astype(np.uint32), (drawn[1::2] % np.uint64(MINHASH_PRIME)).astype(np.uint32)


def band_probability(resemblance: float, bands: int, rows: int) -> float:
    """Chance that two texts of this resemblance agree in at least one of *bands* bands of *rows*
    positions."""
    return float(1.0 - (1.0 - resemblance**rows) ** bands)


def choose_bands(functions: int, threshold: float, recall: float) -> tuple[int, int]:
    """Bands and rows: the longest bands (fewest needless candidates) that keep *recall* at the threshold.

    Where even single positions do not reach it, every position is a band.
    """
    best = (functions, 1)
    for rows in range(2, functions + 1):
        bands = functions // rows
        if band_probability(threshold, bands, rows) < recall:
            break
        best = (bands, rows)
    return best


class MinHash(ShingledMethod[MinHashParameters]):
    name = "minhash"
    title = "MinHash"
    summary = (
        "A signature of fixed size that estimates resemblance, with bands that find similar texts among "
        "millions without comparing all pairs."
    )
    minimum = "one word"
    parameters_type = MinHashParameters

    def __init__(self, parameters: MinHashParameters, statistics: Statistics | None = None) -> None:
        super().__init__(parameters, statistics)
        self.factors, self.terms = hash_functions(parameters.seed, parameters.functions)
        if parameters.bands:
            self.bands, self.rows = parameters.bands, parameters.functions // parameters.bands
        else:
            self.bands, self.rows = choose_bands(
                parameters.functions, parameters.threshold, parameters.recall
            )

    @property
    def key_settings(self) -> tuple[tuple[str, Any], ...]:
        return (("bands", self.bands), ("rows", self.rows))

    def sign_sets(self, values: U64, offsets: U64, *, threads: int = 1) -> list[Signature | None]:
        table = pack(kernels.minima(values, offsets, self.factors, self.terms, threads))
        sizes = np.diff(offsets).tolist()
        recipe = self.recipe
        # Rows of one table: copies would cost as much as a sixth of the work on the texts.
        return [
            Signature(recipe, row, size) if size else None for row, size in zip(table, sizes, strict=True)
        ]

    def _compare(self, a: Signature, b: Signature) -> Measures:
        count = self.parameters.functions
        equal = int(np.count_nonzero(unpack(a.values, count) == unpack(b.values, count)))
        resemblance = equal / count
        return Measures(resemblance, None, resemblance >= self.parameters.threshold)

    def _keys(self, signature: Signature) -> U64:
        row = unpack(signature.values, self.parameters.functions)[np.newaxis]
        return self.band_keys(row).reshape(-1)

    def key_rows(self, signatures: Sequence[Signature]) -> U64 | None:
        values = np.stack([signature.values for signature in signatures])
        minima = values.astype("<u8", copy=False).view("<u4").astype(np.uint32, copy=False)
        return self.band_keys(minima[:, : self.parameters.functions])

    def band_keys(self, minima: U32) -> U64:
        """Keys of many texts at once: a row of minima each → a row of keys each."""
        texts = len(minima)
        used = minima[:, : self.bands * self.rows].reshape(texts * self.bands, self.rows)
        labels = np.tile(np.arange(self.bands, dtype=np.uint64), texts)
        keys: U64 = combine(used.astype(np.uint64), labels).reshape(texts, self.bands)
        return keys


def pack(minima: U32) -> U64:
    """Two 32-bit numbers of a row in one of 64 bits, the first in the low half; an odd last one stands
    alone."""
    rows, count = minima.shape
    out = np.zeros((rows, (count + 1) // 2), np.uint64)
    out |= minima[:, 0::2]
    out[:, : count // 2] |= minima[:, 1::2].astype(np.uint64) << np.uint64(32)
    return out


def unpack(values: U64, count: int) -> U32:
    """The *count* numbers that `pack` put together."""
    out = np.empty(2 * len(values), np.uint32)
    out[0::2] = (values & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    out[1::2] = (values >> np.uint64(32)).astype(np.uint32)
    return out[:count]
