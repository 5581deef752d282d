"""Shingles: overlapping runs of words or characters as a set of fingerprints. The ground of M1 to M5.

A text shorter than one shingle has a single one, of all its words; a text without words has none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.errors import require_texts
from doublet.kernels.data import FLAGS_DISGUISE
from doublet.model import Signature
from doublet.signatures.parameters import WordParameters, parameter
from doublet.signatures.protocol import BaseMethod, Statistics, require_together
from doublet.text.apart import with_runs
from doublet.text.tokens import Canon, TokenBatch, Vocabulary, read_words

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
#: values, offsets, words per text, disguised words per text
SetsOfTexts = tuple[U64, U64, U32, U32]


@dataclass(frozen=True, kw_only=True)
class ShingleParameters(WordParameters):
    """Of all methods over shingles."""

    shingle_words: int = parameter(4, "words in a shingle", low=1, high=1000)
    shingle_chars: int = parameter(
        0,
        "characters in a shingle of the canonical text, blanks included; 0: shingles of words",
        low=0,
        high=1000,
    )


@dataclass(frozen=True, kw_only=True)
class ThresholdParameters(ShingleParameters):
    """Of methods that estimate resemblance."""

    threshold: float = parameter(0.5, "similar from this resemblance on", above=0, high=1, signs=False)


P = TypeVar("P", bound=ShingleParameters)


class ShingledMethod(BaseMethod[P]):
    """A method over sets of shingles: writes `_sign_set`, or `sign_sets` for all texts at once."""

    def __init__(self, parameters: P, statistics: Statistics | None = None) -> None:
        super().__init__(parameters, statistics)
        # The canonical text comes from `kernels.fold_text` unless words are left out or changed.
        self.needs_words = parameters.shingle_chars > 0 and self.canon != Canon()

    @property
    def threshold(self) -> float | None:
        return self.parameters.threshold if isinstance(self.parameters, ThresholdParameters) else None

    def sign_sets(self, values: U64, offsets: U64, *, threads: int = 1) -> list[Signature | None]:  # noqa: ARG002 - for minima
        """Signatures from sets of fingerprints at hand already: each value once per text, in any order."""
        return [
            self._sign_set(values[start:end]) if end > start else None for start, end in documents(offsets)
        ]

    def _sign_set(self, values: U64) -> Signature | None:
        raise NotImplementedError

    def sign_many(self, batch: TokenBatch, texts: Sequence[str]) -> list[Signature | None]:
        require_together(batch, texts)
        return self.sign_sets(*self._sets(batch, texts))

    def sign_texts(self, texts: Sequence[str], *, threads: int = 1) -> list[Signature | None]:
        values, offsets, _, _ = self.sets(texts, threads=threads)
        return self.sign_sets(values, offsets, threads=threads)

    def sets(self, texts: Sequence[str], *, threads: int = 1) -> SetsOfTexts:
        """Sets of fingerprints of the texts: values, offsets, words per text, disguised words per text."""
        if not self.canon.plain or self.parameters.shingle_chars:
            return self._sets_of(self.tokens(texts, threads=threads), texts)
        found = kernels.shingle_sets(
            require_texts(texts),
            self.parameters.shingle_words,
            self.canon.stop_hashes,
            self.canon.min_letters,
            threads,
        )
        # The kernel joins letters that were set apart; where the words are to be told, they are read with care.
        apart = with_runs(texts, found[3], threads)
        if not len(apart):
            return found
        some = [texts[i] for i in apart.tolist()]
        return _replaced(found, apart, self._sets_of(self.canon.of(read_words(some, Vocabulary())), some))

    def _sets_of(self, batch: TokenBatch, texts: Sequence[str]) -> SetsOfTexts:
        tricks = np.concatenate([[0], np.cumsum((batch.flags & FLAGS_DISGUISE) != 0)])
        disguised = np.diff(tricks[batch.offsets.astype(np.int64)]).astype(np.uint32)
        words = np.diff(batch.offsets).astype(np.uint32)
        values, offsets = self._sets(batch, texts)
        return values, offsets, words, disguised

    def _sets(self, batch: TokenBatch, texts: Sequence[str]) -> tuple[U64, U64]:
        if self.parameters.shingle_chars:
            hashes, offsets = self._characters(batch, texts)
            shingles = kernels.shingle(hashes, offsets, self.parameters.shingle_chars)
        else:
            shingles = kernels.shingle(batch.hashes, batch.offsets, self.parameters.shingle_words)
        return kernels.distinct(*shingles)

    def _characters(self, batch: TokenBatch, texts: Sequence[str]) -> tuple[U64, U64]:
        """Characters of the canonical texts as numbers."""
        if self.needs_words:
            folded = [" ".join(batch.words(i)) for i in range(len(batch))]
        else:
            folded = [kernels.fold_text(text)[0] for text in texts]
        lengths = [len(text) for text in folded]
        codes = np.frombuffer("".join(folded).encode("utf-32-le", "surrogatepass"), "<u4")
        return codes.astype(np.uint64), np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)


def without(sets: SetsOfTexts, places: NDArray[np.int64]) -> SetsOfTexts:
    """The sets of the texts but for those at *places*."""
    values, offsets, words, disguised = sets
    kept = np.ones(len(words), np.bool_)
    kept[places] = False
    sizes = np.diff(offsets)
    return (
        values[np.repeat(kept, sizes.astype(np.int64))],
        np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.uint64),
        words[kept],
        disguised[kept],
    )


def _replaced(sets: SetsOfTexts, places: NDArray[np.int64], other: SetsOfTexts) -> SetsOfTexts:
    """The sets with those at *places* (ascending) replaced by others."""
    values, offsets, words, disguised = sets[0], sets[1], sets[2].copy(), sets[3].copy()
    words[places], disguised[places] = other[2], other[3]
    parts: list[U64] = []
    done = 0
    for place, (start, end) in zip(places.tolist(), documents(other[1]), strict=True):
        parts += [values[done : int(offsets[place])], other[0][start:end]]
        done = int(offsets[place + 1])
    sizes = np.diff(offsets)
    sizes[places] = np.diff(other[1])
    new_offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)
    return np.concatenate([*parts, values[done:]]), new_offsets, words, disguised


def documents(offsets: U64) -> list[tuple[int, int]]:
    """Start and end of every document of a flat array."""
    bounds: list[int] = offsets.tolist()
    return list(pairwise(bounds))


def overlap(a: U64, b: U64) -> int:
    """Number of values that two sorted arrays without repeats have in common."""
    return kernels.count_common(a, b)


def prefix(values: U64, threshold: float) -> U64:
    """The smallest values of a sorted set, so many that two sets of resemblance *threshold* or more share
    one of them.

    Such sets have at least ⌈threshold·n⌉ values of this one in common, n being its size; the smallest common
    value has the others behind it, so it stands among the first n − ⌈threshold·n⌉ + 1 of either set.
    """
    # The small allowance keeps the prefix long enough when the product is rounded up: 0.1·30 is
    # 3.0000000000000004.
    needed = math.ceil(threshold * len(values) - 1e-9)
    return values[: len(values) - max(needed, 1) + 1]
