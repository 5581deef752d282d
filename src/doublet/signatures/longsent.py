"""M7: the longest sentences. One hash of the two longest sentences of a text.

Long is what has most words; of equally long ones the one with the smaller hash goes first, so the order of
the sentences in the text does not matter; a sentence that stands twice counts once. The signature is one
number; its size is the number of words in the chosen sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.model import Measures, Signature
from doublet.signatures.mixing import combine
from doublet.signatures.parameters import WordParameters, parameter
from doublet.signatures.protocol import BaseMethod, require_together
from doublet.text.sentences import sentences
from doublet.text.tokens import TokenBatch

U64 = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class LongSentParameters(WordParameters):
    """Of long sentences."""

    sentences: int = parameter(2, "so many of the longest sentences make the signature", low=1, high=1000)
    min_words: int = parameter(
        6, "no signature when the chosen sentences have fewer words together", low=1, high=100_000
    )


class LongSent(BaseMethod[LongSentParameters]):
    name = "longsent"
    title = "Longest sentences"
    summary = (
        "One hash of the two longest sentences. Very cheap, and good at texts whose parts were moved; one "
        "changed word in a long sentence hides the likeness."
    )
    minimum = "`min_words` words in the longest sentences"
    parameters_type = LongSentParameters

    def sign_many(self, batch: TokenBatch, texts: Sequence[str]) -> list[Signature | None]:
        require_together(batch, texts)
        owners: list[int] = []
        bounds: list[int] = []
        for number, text in enumerate(texts):
            part = batch.slice(number)
            starts = np.array([span.start for span in sentences(text)], np.int64)
            first = part.start + np.searchsorted(batch.starts[part], starts)
            # A sentence without words begins where the next one does, and drops out here.
            begins = (
                np.unique(np.append(first[first < part.stop], part.start))
                if part.stop > part.start
                else first[:0]
            )
            owners += [number] * len(begins)
            bounds += begins.tolist()
        offsets = np.array([*bounds, len(batch.hashes)], np.uint64)
        lengths = np.diff(offsets).astype(np.int64)
        longest = int(lengths.max()) if len(lengths) else 1
        hashes, _ = kernels.shingle(batch.hashes, offsets, longest)
        table: list[dict[int, int]] = [{} for _ in texts]
        for owner, value, length in zip(owners, hashes.tolist(), lengths.tolist(), strict=True):
            table[owner][value] = length
        return [self._sign(row) for row in table]

    def _sign(self, lengths: dict[int, int]) -> Signature | None:
        """*lengths*: words of each sentence by its hash."""
        chosen = sorted((-length, value) for value, length in lengths.items())[: self.parameters.sentences]
        words = -sum(length for length, _ in chosen)
        if words < self.parameters.min_words:
            return None
        row = np.array([[value for _, value in chosen]], np.uint64)
        return Signature(self.recipe, combine(row, np.array([len(chosen)], np.uint64)), words)

    def _compare(self, a: Signature, b: Signature) -> Measures:
        equal = int(a.values[0]) == int(b.values[0])
        return Measures(float(equal), None, equal)

    def _keys(self, signature: Signature) -> U64:
        return signature.values

    def key_rows(self, signatures: Sequence[Signature]) -> U64 | None:
        return np.stack([signature.values for signature in signatures])
