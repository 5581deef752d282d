"""Documents that share the most shingles with a text, among all that come: the candidates of a check against files.

A candidate is not a match: `matches.explain` verifies it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from doublet import kernels
from doublet.model import Document
from doublet.text.tokens import TokenBatch

CANDIDATES = 200  #: documents that are laid beside a text


@dataclass(frozen=True, slots=True)
class SharingDocument:
    """A document and how many of its shingles the text has. Greater is nearer: more in common, then the smaller id."""

    overlap: int
    position: int
    size: int  #: shingles of the document
    document: Document
    words: TokenBatch = field(compare=False)  #: its own alone

    def __lt__(self, other: SharingDocument) -> bool:
        mine, others = (-self.overlap, self.document.id), (-other.overlap, other.document.id)
        return mine > others or (mine == others and self.position > other.position)


class MostShared:
    """The *most* documents that share shingles with a text, whatever the order in which they come."""

    def __init__(self, words: TokenBatch, shingle_words: int, most: int = CANDIDATES) -> None:
        self._shingle_words = shingle_words
        self._own, _ = kernels.distinct(*kernels.shingle(words.hashes, words.offsets, shingle_words))
        self._most = most
        self._best: list[SharingDocument] = []  # a heap: the one that would go next comes first

    def add(
        self, batch: TokenBatch, first: int, document: Callable[[int], Document]
    ) -> Callable[[int], SharingDocument]:
        """A batch of documents, numbered from *first* on. Gives a function that says of any place in the batch what
        that document shares."""
        values, offsets = kernels.distinct(*kernels.shingle(batch.hashes, batch.offsets, self._shingle_words))
        ends = offsets.astype(np.int64)
        shared = np.diff(np.concatenate([[0], np.cumsum(np.isin(values, self._own))])[ends])
        overlaps, sizes = shared.tolist(), np.diff(ends).tolist()

        def sharing(place: int) -> SharingDocument:
            return SharingDocument(
                overlaps[place], first + place, sizes[place], document(place), batch.alone(place)
            )

        for place in np.flatnonzero(shared).tolist():
            if len(self._best) < self._most:
                heapq.heappush(self._best, sharing(place))
            elif overlaps[place] >= self._best[0].overlap and self._best[0] < (one := sharing(place)):
                heapq.heapreplace(self._best, one)
        return sharing

    def nearest(self) -> list[SharingDocument]:
        """The documents that share most, the nearest first."""
        return sorted(self._best, reverse=True)

    def measures(self, one: SharingDocument) -> tuple[float, float]:
        """Resemblance, and how much of the text is in the document."""
        own = len(self._own)
        return one.overlap / max(1, own + one.size - one.overlap), one.overlap / max(1, own)
