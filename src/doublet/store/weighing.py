"""Signatures of heaviest words (M8 to M10) for many stored documents at once, from their bags.

Gives exactly what `HeaviestWords.sign_many` gives for the texts (tests/contracts/test_library_store.py), without
walking the documents one by one: weights of all rows together, then the heaviest of each document by the kernel,
equal weights by the alphabet.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.model import Signature
from doublet.signatures.statistics import WordList
from doublet.signatures.weighted import HeaviestWords, Occurrences
from doublet.store import words

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]

DIGITS = 10  # weights are rounded as in doublet.signatures.weighted


class Lexicon:
    """All words of a database by their numbers: spelling, hash, and place in the alphabet."""

    def __init__(self, spelt: Sequence[str], hashes: U64) -> None:
        self.spelt = WordList(spelt)
        self.hashes = hashes
        self.encoded = [word.encode("utf-8", "surrogatepass") for word in self.spelt]
        self.ranks: U32 = np.zeros(len(self.spelt), np.uint32)
        self.ranks[sorted(range(len(self.spelt)), key=self.spelt.__getitem__)] = np.arange(len(self.spelt))


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """Signatures of several documents: row r is the one of document ``documents[r]``; the others have none."""

    documents: I64
    values: U64  #: a row for each
    sizes: I64


def weigh_bags(method: HeaviestWords[Any], bags: Sequence[bytes], lexicon: Lexicon) -> Weighed:
    """May run in any thread."""
    count = method.parameters.words
    numbers, counts, offsets = words.unpack_bags(bags)
    cuts = offsets.astype(np.int64)
    sizes = np.diff(cuts)
    filled = np.flatnonzero(sizes)
    if not len(filled):
        return Weighed(np.zeros(0, np.int64), np.zeros((0, count + 1), np.uint64), np.zeros(0, np.int64))
    tf_max, total = np.zeros(len(bags)), np.zeros(len(bags))
    tf_max[filled] = np.maximum.reduceat(counts, cuts[filled])
    total[filled] = np.add.reduceat(counts, cuts[filled], dtype=np.int64)
    rows = Occurrences(
        lexicon.spelt,
        numbers.astype(np.int64),
        counts.astype(np.float64),
        np.repeat(tf_max, sizes),
        np.repeat(total, sizes),
    )
    weights = np.round(method.weights(rows), DIGITS)
    chosen, ends = kernels.heaviest(weights, lexicon.ranks[numbers], offsets, count)
    documents = np.flatnonzero(np.diff(ends))
    picked = numbers[chosen.astype(np.int64)].reshape(-1, count)
    values = np.empty((len(picked), count + 1), np.uint64)
    spelt = lexicon.encoded
    values[:, 0] = [zlib.crc32(b" ".join([spelt[number] for number in row])) for row in picked.tolist()]
    values[:, 1:] = lexicon.hashes[picked]
    return Weighed(documents, values, total[documents].astype(np.int64))


def sign_bags(method: HeaviestWords[Any], bags: Sequence[bytes], lexicon: Lexicon) -> list[Signature | None]:
    found = weigh_bags(method, bags, lexicon)
    out: list[Signature | None] = [None] * len(bags)
    for row, (document, size) in enumerate(zip(found.documents.tolist(), found.sizes.tolist(), strict=True)):
        out[document] = Signature(method.recipe, found.values[row], size)
    return out
