"""Winnowing: the smallest value of every window. Twin of native/winnow.cpp."""

from __future__ import annotations

import numpy as np

from doublet.kernels.reference.arguments import U32, U64, check_numbers, documents


def winnow(values: U64, offsets: U64, window: int) -> tuple[U32, U64]:
    """Winnowing: of every *window* values in a row the smallest, of equals the last; each place once, rising.

    Places count from the beginning of each document. A document shorter than the window has one place. Two
    documents that share a run of *window* values choose the same value of it.
    """
    check_numbers(window)
    if window < 1:
        raise ValueError("a window has at least one value")
    places: list[int] = []
    ends = [0]
    for start, end in documents(offsets, len(values)):
        part = values[start:end].tolist()
        last = -1
        for first in range(max(1, len(part) - window + 1) if part else 0):
            inside = range(first, min(first + window, len(part)))
            best = min(inside, key=lambda i: (part[i], -i))
            if best != last:
                places.append(best)
                last = best
        ends.append(len(places))
    return np.array(places, np.uint32), np.array(ends, np.uint64)
