"""Sets of fingerprints of many documents, and the exact join over them. Twin of native/sets.cpp.

The idea of the join is told in docs/explanation/exact-join.md; here every pair is looked at.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from doublet.kernels.reference.arguments import U8, U32, U64, OnStep, check_numbers, documents
from doublet.kernels.reference.shingles import check_functions, minima


class SetStore:
    """Sets of fingerprints of many documents, and the exact join over them.

    `add` takes batches; `overlaps` counts what given pairs have in common; `clean` walks the documents in an order of
    preference and links every document to the kept ones that cover it; `pairs` lists all pairs. The native twin keeps
    the sets within *memory_bytes* by spilling them to a file in *folder*; here they are plain Python sets.
    """

    def __init__(self, memory_bytes: int = 0, folder: str = "", threads: int = 1) -> None:
        check_numbers(memory_bytes)
        self._sets: list[frozenset[int]] = []

    def __len__(self) -> int:
        return len(self._sets)

    def expect(self, values: int) -> None:
        """About so many values will come. The native twin then lets `json_sets` count them as they are made."""
        check_numbers(values)

    def add(self, values: U64, offsets: U64, take: bool = False, counted: bool = False) -> None:
        """With *take* the array belongs to the store from now on, and each value stands once in its document, as the
        kernels make sets: the native twin then does not copy it. *counted*: it was made by `json_sets` for this store.
        """
        for start, end in documents(offsets, len(values)):
            self._sets.append(frozenset(values[start:end].tolist()))

    def sizes(self) -> U32:
        return np.array([len(s) for s in self._sets], np.uint32)

    def get(self, document: int) -> U64:
        check_numbers(document)
        return np.array(sorted(self._sets[document]), np.uint64)

    def overlaps(self, left: U32, right: U32) -> U32:
        return np.array(
            [len(self._sets[a] & self._sets[b]) for a, b in zip(left.tolist(), right.tolist(), strict=True)],
            np.uint32,
        )

    def _check_shares(self, threshold: float, containment: float) -> None:
        if not threshold >= 0:
            raise ValueError("a threshold is 0 or more")
        if math.isnan(containment):
            raise ValueError("a containment is a number")

    def _covers(self, keeper: int, other: int, threshold: float, containment: float) -> int:
        """Overlap if *keeper* covers *other*, else 0."""
        a, b = self._sets[keeper], self._sets[other]
        common = len(a & b)
        if not common:
            return 0
        if common / (len(a) + len(b) - common) >= threshold:
            return common
        return common if containment > 0 and len(b) <= len(a) and common / len(b) >= containment else 0

    def clean(
        self, order: U32, threshold: float, containment: float, on_step: OnStep = None
    ) -> tuple[U32, U32, U32]:
        """Links (document, kept one, overlap) of each removed document to all that cover it.

        Documents come in *order* of preference; those it leaves out take no part.

        A document is kept unless one kept before it covers it: resemblance at least *threshold*, or (when *containment*
        is above 0) the document lies inside the kept, not smaller one with at least that containment. A document with
        the same set as one before it goes where that one went, or to it.
        """
        self._check_shares(threshold, containment)
        if len(set(order.tolist())) < len(order) or any(document >= len(self) for document in order.tolist()):
            raise ValueError("the order must name documents of this store, each once at most")
        kept: list[int] = []
        first: dict[frozenset[int], int] = {}
        links: dict[int, list[tuple[int, int]]] = {}
        for done, document in enumerate(order.tolist()):
            if on_step is not None and done % 256 == 0:
                on_step(done, len(order))
            leader = first.setdefault(self._sets[document], document) if self._sets[document] else document
            if leader != document:
                links[document] = links[leader] or [(leader, len(self._sets[leader]))]
                continue
            found = [(k, self._covers(k, document, threshold, containment)) for k in kept]
            links[document] = [(k, common) for k, common in found if common]
            if not links[document]:
                kept.append(document)
        if on_step is not None:
            on_step(len(order), len(order))
        return columns([(d, k, common) for d, hits in links.items() for k, common in hits])

    def pairs(
        self, threshold: float, containment: float, limit: int, on_step: OnStep = None
    ) -> tuple[U32, U32, U32, bool]:
        """All pairs (smaller number first) that resemble or hold each other, at most *limit*; last: was it cut?"""
        self._check_shares(threshold, containment)
        check_numbers(limit)
        out: list[tuple[int, int, int]] = []
        for a in range(len(self._sets)):
            if on_step is not None:
                on_step(a + 1, len(self._sets))
            for b in range(a + 1, len(self._sets)):
                common = self._covers(a, b, threshold, containment) or self._covers(
                    b, a, threshold, containment
                )
                if common:
                    out.append((a, b, common))
        cut = len(out) > limit
        return (*columns(out[:limit]), cut)

    def contained(self, threshold: float) -> U8:
        """1 for each document of which this share or more lies inside a larger one."""
        if not threshold > 0:
            raise ValueError("a share of which something is held is above 0")
        out = np.zeros(len(self._sets), np.uint8)
        for number, inner in enumerate(self._sets):
            larger = (outer for outer in self._sets if len(outer) > len(inner))
            if inner and any(len(inner & outer) / len(inner) >= threshold for outer in larger):
                out[number] = 1
        return out

    def minima(self, factors: U32, terms: U32, documents: U32) -> U32:
        """Minima (see there) of the sets of some documents, a row each."""
        check_functions(factors, terms)
        chosen = [sorted(self._sets[d]) for d in documents.tolist()]
        offsets = np.cumsum([0, *map(len, chosen)]).astype(np.uint64)
        values = np.array([v for some in chosen for v in some], np.uint64)
        return minima(values, offsets, factors, terms)

    @property
    def spilled(self) -> bool:
        return False

    def close(self) -> None:
        """Let go of all documents. The store can be filled again."""
        self._sets = []


def columns(rows: list[tuple[int, int, int]]) -> tuple[U32, U32, U32]:
    """Sorted rows as three arrays."""
    table: Any = np.array(sorted(rows), np.uint32).reshape(-1, 3)
    return table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()
