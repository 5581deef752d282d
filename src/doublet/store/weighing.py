"""Signatures of heaviest words (M8 to M10) for many stored documents at once, from their bags.

Gives exactly what `HeaviestWords.sign_many` gives for the texts (tests/contracts/test_library_store.py), without
walking the documents one by one: weights of all rows together, then the heaviest of documents of about equal size side
by side. A document whose last place is disputed by equal weights is decided by the alphabet, one by one.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.model import Signature
from doublet.signatures.weighted import HeaviestWords, Occurrences
from doublet.store import words

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

DIGITS = 10  # weights are rounded as in doublet.signatures.weighted
TOGETHER = 500  # documents whose heaviest words are chosen at once


def sign_bags(
    method: HeaviestWords[Any], bags: Sequence[bytes], spelt: Sequence[str], folds: U64
) -> list[Signature | None]:
    """*spelt* and *folds* are the words of the database and their hashes, by number."""
    numbers, counts, offsets = words.unpack_bags(bags)
    out: list[Signature | None] = [None] * len(bags)
    if not len(numbers):
        return out
    sizes = np.diff(offsets)
    present = np.zeros(len(spelt), np.bool_)
    present[numbers] = True
    used = np.flatnonzero(present)
    place = np.zeros(len(spelt), np.int64)
    place[used] = np.arange(len(used))
    filled = np.flatnonzero(sizes)
    tf_max, total = np.zeros(len(bags)), np.zeros(len(bags))
    tf_max[filled] = np.maximum.reduceat(counts, offsets[filled])
    total[filled] = np.add.reduceat(counts, offsets[filled])
    tf = counts.astype(np.float64)
    names = [spelt[number] for number in used.tolist()]
    rows = Occurrences(names, place[numbers], tf, np.repeat(tf_max, sizes), np.repeat(total, sizes))
    weights = np.round(method.weights(rows), DIGITS)
    count = method.parameters.words
    able = np.flatnonzero(sizes >= count)
    able = able[np.argsort(sizes[able], kind="stable")]
    for start in range(0, len(able), TOGETHER):
        some = able[start : start + TOGETHER]
        chosen, disputed = _heaviest(weights, offsets, some, count)
        known = np.isfinite(weights[chosen].min(axis=1)).tolist()
        for row, document in enumerate(some.tolist()):
            if not known[row]:
                continue
            own = chosen[row]
            if disputed[row]:
                own = _by_alphabet(
                    weights, numbers, int(offsets[document]), int(offsets[document + 1]), count, spelt
                )
            ordered = sorted((spelt[number], number) for number in numbers[own].tolist())
            joined = " ".join([word for word, _ in ordered]).encode("utf-8", "surrogatepass")
            values = np.empty(count + 1, np.uint64)
            values[0] = zlib.crc32(joined)
            values[1:] = folds[[number for _, number in ordered]]
            out[document] = Signature(method.recipe, values, int(total[document]))
    return out


def _heaviest(weights: F64, offsets: I64, documents: I64, count: int) -> tuple[I64, NDArray[np.bool_]]:
    """Rows of the heaviest words of each document, and whether the last place was disputed by equals."""
    sizes = offsets[documents + 1] - offsets[documents]
    width = int(sizes.max())
    grid = np.full((len(documents), width + 1), -np.inf)
    columns = np.arange(width)
    inside = columns < sizes[:, None]
    at = (offsets[documents][:, None] + columns)[inside]
    grid[:, :width][inside] = weights[at]
    order = np.argpartition(-grid, count, axis=1)[:, : count + 1]  # the heaviest and, last, the next one
    picked = np.take_along_axis(grid, order, axis=1)
    disputed = picked[:, :count].min(axis=1) == picked[:, count]
    return offsets[documents][:, None] + order[:, :count], disputed


def _by_alphabet(weights: F64, numbers: I64, start: int, end: int, count: int, spelt: Sequence[str]) -> I64:
    own = weights[start:end]
    least = np.partition(own, len(own) - count)[len(own) - count]
    heavy = np.flatnonzero(own >= least) + start
    keyed = sorted((-weights[row], spelt[numbers[row]], row) for row in heavy.tolist())
    return np.array([row for _, _, row in keyed[:count]], np.int64)
