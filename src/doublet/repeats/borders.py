"""Where sentences and elements begin, and how much of a text is signs: what the `auto` search and the report ask."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from doublet.repeats.tokenise import TokenSequence

# The end of a sentence, of a line or of an element. A line that only wraps a sentence goes on with a small letter.
_BORDER = re.compile(r"[.!?…:;][\"'»”’)\]]*(?=\s)|\n(?!\s*[a-zа-яё])|\n\s*\n|  |\t")
_SYMBOL = re.compile(r"[^\w\s.,;:!?'\"()\-“”→–—…’‘«»\u00ad]")


def border_marks(sequence: TokenSequence) -> NDArray[np.bool_]:
    """For each token, and for the end: whether a sentence, a line or an element begins there."""
    marks = np.zeros(len(sequence) + 1, bool)
    for number, plan in enumerate(sequence.plans):
        first, last = int(sequence.offsets[number]), int(sequence.offsets[number + 1])
        marks[first] = marks[last] = True
        if last - first < 2:
            continue
        places = np.fromiter((match.start() for match in _BORDER.finditer(plan.masked)), np.int64)
        before = np.searchsorted(places, sequence.ends(slice(first, last - 1)))
        after = np.searchsorted(places, sequence.starts[first + 1 : last])
        marks[first + 1 : last] = after > before
    marks[sequence.cuts] = True
    return marks


class SymbolCounts:
    """Counts signs (braces, slashes, bars …) in stretches of tokens."""

    def __init__(self, sequence: TokenSequence) -> None:
        self._sequence = sequence
        self._places = [
            np.fromiter((match.start() for match in _SYMBOL.finditer(plan.masked)), np.int64)
            for plan in sequence.plans
        ]

    def density(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of the characters from token *first* up to *last* (not included) that are signs."""
        out = np.zeros(len(first))
        owner = np.searchsorted(self._sequence.offsets, first, "right") - 1
        for number in np.unique(owner).tolist():
            here = np.flatnonzero(owner == number)
            begin = self._sequence.starts[first[here]].astype(np.int64)
            end = self._sequence.ends(last[here] - 1)
            places = self._places[number]
            found = np.searchsorted(places, end) - np.searchsorted(places, begin)
            out[here] = found / np.maximum(end - begin, 1)
        return out
