"""How much of a text is signs or numbers: what the `auto` search asks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doublet.repeats.tokenise import TokenSequence


class SymbolCounts:
    """Counts signs (braces, slashes, bars …) and numbers in stretches of tokens."""

    def __init__(
        self, sequence: TokenSequence, at_start: NDArray[np.uint32], at_end: NDArray[np.uint32]
    ) -> None:
        self._sequence, self._at_start, self._at_end = sequence, at_start, at_end
        self._numbers = np.zeros(len(sequence) + 1, np.uint32)  # before each token
        np.cumsum(sequence.ids == 0, out=self._numbers[1:])

    def density(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of the characters from token *first* up to *last* (not included) that are signs."""
        size = self._sequence.ends(last - 1) - self._sequence.starts[first]
        found = self._at_end[last - 1].astype(np.int64) - self._at_start[first]
        out: NDArray[np.float64] = found / np.maximum(size, 1)
        return out

    def numbers(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of the tokens from *first* up to *last* that are (masked) numbers."""
        found = self._numbers[last].astype(np.int64) - self._numbers[first]
        out: NDArray[np.float64] = found / np.maximum(last - first, 1)
        return out
