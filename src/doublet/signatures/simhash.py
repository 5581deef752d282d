"""M6: SimHash. Every bit by majority of the hashes of all words; texts are near when few bits differ.

The signature is one number of 64 bits (or 32 in the low half); its size is the number of words. The share of
differing bits estimates the angle between the word counts of the texts: resemblance is its cosine, so
unrelated texts (half of the bits differ) have 0 and not one half.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.errors import InvalidParameter
from doublet.model import Measures, Signature
from doublet.signatures.mixing import combine
from doublet.signatures.parameters import WordParameters, parameter
from doublet.signatures.protocol import BaseMethod
from doublet.text.tokens import TokenBatch

U64 = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class SimHashParameters(WordParameters):
    """Of SimHash."""

    # Stop words are the most frequent ones: left in, they would decide most bits, alike in every text of a
    # language.
    stop_words: bool = parameter(True, "leave out the Russian and English stop words")
    bits: int = parameter(64, "length of the signature in bits", choices=(32, 64))
    max_distance: int = parameter(3, "similar when at most so many bits differ", low=0, high=31, signs=False)
    shingle_words: int = parameter(1, "1: hashes of words; more: of runs of so many words", low=1, high=1000)

    repeats: bool = parameter(True, "count a word as often as it stands; false: once")

    def check(self) -> None:
        if self.max_distance >= self.bits // 2:
            raise InvalidParameter(
                "distance_too_large",
                bits=self.bits,
                unrelated=self.bits // 2,
                name="max_distance",
                value=self.max_distance,
            )


class SimHash(BaseMethod[SimHashParameters]):
    name = "simhash"
    title = "SimHash"
    summary = (
        "One number for any text; texts with nearly the same words in any order differ in few bits. "
        "Smallest signature of all, good for pages that differ in details; does not see parts."
    )
    minimum = "one word that is not left out"
    parameters_type = SimHashParameters

    @property
    def key_settings(self) -> tuple[tuple[str, Any], ...]:
        return (("max_distance", self.parameters.max_distance),)

    def _sign_batch(self, batch: TokenBatch) -> list[Signature | None]:
        hashes, offsets = batch.hashes, batch.offsets
        if self.parameters.shingle_words > 1:
            hashes, offsets = kernels.shingle(hashes, offsets, self.parameters.shingle_words)
        if not self.parameters.repeats:
            hashes, offsets = kernels.distinct(hashes, offsets)
        values = kernels.simhash(hashes, None, offsets)
        if self.parameters.bits == 32:
            values = values & np.uint64(0xFFFFFFFF)
        sizes = np.diff(offsets).tolist()
        return [
            Signature(self.recipe, values[i : i + 1].copy(), size) if size else None
            for i, size in enumerate(sizes)
        ]

    def _compare(self, a: Signature, b: Signature) -> Measures:
        distance = (int(a.values[0]) ^ int(b.values[0])).bit_count()
        resemblance = max(0.0, math.cos(math.pi * distance / self.parameters.bits))
        return Measures(resemblance, None, distance <= self.parameters.max_distance)

    def alike_rows(self, left: U64, right: U64) -> NDArray[np.bool_]:
        differing = left[:, 0] ^ right[:, 0]
        for _ in range(self.parameters.max_distance):
            differing &= differing - np.uint64(1)  # takes the lowest of the bits away
        alike: NDArray[np.bool_] = differing == 0
        return alike

    def _keys(self, signature: Signature) -> U64:
        """The bits in max_distance + 1 blocks: so many differing bits leave at least one block untouched."""
        keys: U64 = self.key_rows([signature])[0]
        return keys

    def key_rows(self, signatures: Sequence[Signature]) -> U64:
        bits, blocks = self.parameters.bits, self.parameters.max_distance + 1
        edges = [i * bits // blocks for i in range(blocks + 1)]
        values = np.array([signature.values[0] for signature in signatures], np.uint64)
        parts = [
            values >> np.uint64(low) & np.uint64((1 << (high - low)) - 1) for low, high in pairwise(edges)
        ]
        labels = np.tile(np.arange(blocks, dtype=np.uint64), len(values))
        return combine(np.stack(parts, axis=1).reshape(-1, 1), labels).reshape(-1, blocks)
