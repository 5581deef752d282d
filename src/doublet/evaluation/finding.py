"""A method over a library: which documents it finds for each query, and at what cost.

Everything goes through the door that the product uses: statistics of the library, signatures, keys of an index,
comparison of the candidates. Nothing here knows a method by its name, so methods of other packages are tested alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from doublet.evaluation.specs import Spec
from doublet.index.memory import MemoryIndex
from doublet.model import Document, Signature
from doublet.signatures import Method, gather_statistics
from doublet.signatures import method as make_method
from doublet.signatures.auto import SHINGLES, Auto, settle

LOWEST = 0.1  #: pairs that a method gives a lower score are not kept: no threshold asks for them
CANDIDATES = 100  #: documents that are compared for each query: those that share the most keys with it
Step = Callable[[int, int], None]


class Finding(NamedTuple):
    """A candidate that was compared. *score* is resemblance or containment, as the spec says."""

    query: int
    document: int
    score: float
    similar: bool  #: by the method's own rule
    always: bool = False  #: similar whatever the threshold: equal words, containment or meaning decided


@dataclass
class Cost:
    """Seconds and bytes. *signing_s* is for the library alone."""

    documents: int = 0
    queries: int = 0
    signing_s: float = 0.0
    indexing_s: float = 0.0
    finding_s: float = 0.0
    signature_bytes: int = 0
    compared: int = 0
    peak_bytes: int | None = None  #: of the process, above what it took to load the texts

    def to_dict(self) -> dict[str, Any]:
        per = max(1, self.documents)
        return {
            "documents": self.documents,
            "queries": self.queries,
            "signing_ms": round(1000 * self.signing_s / per, 4),
            "query_ms": round(1000 * self.finding_s / max(1, self.queries), 4),
            "indexing_ms": round(1000 * self.indexing_s / per, 4),
            "bytes": round(self.signature_bytes / per, 1),
            "compared": self.compared,
            "peak_bytes": self.peak_bytes,
        }


@dataclass
class MethodFindings:
    """What a method found; *at* (a threshold, or None for the method's own rule) chooses from it."""

    findings: list[Finding]
    cost: Cost
    unsigned: list[int] = field(default_factory=list)  #: queries that had too little in them to sign
    allowed: dict[float, set[tuple[int, int]]] = field(default_factory=dict)

    def at(self, threshold: float | None) -> list[Finding]:
        if threshold is None:
            return [f for f in self.findings if f.similar]
        pairs = self.allowed.get(threshold)
        return [
            f
            for f in self.findings
            if f.always or (f.score >= threshold and (pairs is None or (f.query, f.document) in pairs))
        ]

    def over(self, threshold: float) -> list[Finding]:
        """The same for any threshold, whatever the index would lose."""
        return [f for f in self.findings if f.always or f.score >= threshold]


def find(
    spec: Spec,
    library: Sequence[Document],
    queries: Sequence[Document] | None,
    *,
    thresholds: Sequence[float] = (),
    lowest: float = LOWEST,
    step: Step | None = None,
) -> MethodFindings:
    """Documents of the *library* that *spec* finds for each of *queries*; without queries, all pairs of the library.

    All pairs come once each, the smaller number as the query. For *thresholds* the keys of the index are those that the
    method would have been given for that threshold, so what its index would lose is lost here too.
    """
    texts = [document.text for document in library]
    began = time.perf_counter()
    statistics = gather_statistics(spec.method, texts, **spec.options)
    low = {"threshold": min([lowest, *thresholds])} if spec.has_threshold else {}
    containing = (
        {"containment": lowest} if spec.measure == "containment" and spec.knows("containment") else {}
    )
    own = make_method(spec.method, statistics, **spec.options)
    wide = make_method(spec.method, statistics, **{**spec.options, **low, **containing})
    # A cascade has other ways to decide than the threshold; they are all that is left when nothing can reach it.
    other_ways = (
        make_method(spec.method, statistics, **{**spec.options, "threshold": 1.0})
        if isinstance(own, Auto) and spec.measure != "containment"
        else None
    )
    signatures = wide.sign_texts(texts)
    cost = Cost(documents=len(texts), signing_s=time.perf_counter() - began)
    began = time.perf_counter()
    index = MemoryIndex(wide)
    index.add_many((str(i), s) for i, s in enumerate(signatures) if s is not None)
    cost.indexing_s = time.perf_counter() - began
    cost.signature_bytes = sum(int(s.values.nbytes) for s in signatures if s is not None)
    began = time.perf_counter()
    asked = signatures if queries is None else wide.sign_texts([query.text for query in queries])
    cost.queries = len(asked)
    findings: list[Finding] = []
    for number, signature in enumerate(asked):
        if step is not None:
            step(number, len(asked))
        if signature is None:
            continue
        others = [int(candidate.id) for candidate in index.candidates(signature, CANDIDATES)]
        others = [other for other in others if queries is not None or other > number]
        compared = [own.compare(signature, known) for other in others if (known := signatures[other])]
        cost.compared += len(compared)
        if queries is not None:  # as a check does: the candidates of one text are weighed against each other
            compared = settle(compared)
        for other, measures in zip(others, compared, strict=True):
            always = False
            if other_ways is not None and measures.similar:
                known = signatures[other]
                always = measures.step != SHINGLES or (
                    known is not None and other_ways.compare(signature, known).similar
                )
            score = measures.resemblance
            if spec.measure == "containment" and measures.containment is not None:
                score = measures.containment[0]
            if measures.similar or score >= lowest:
                findings.append(Finding(number, other, float(score), bool(measures.similar), always))
    cost.finding_s = time.perf_counter() - began
    result = MethodFindings(findings, cost, [i for i, s in enumerate(asked) if s is None])
    if spec.has_threshold and not containing:
        for threshold in thresholds:
            narrow = make_method(spec.method, statistics, **{**spec.options, "threshold": threshold})
            result.allowed[threshold] = _sharing(narrow, findings, threshold, asked, signatures)
    return result


def _sharing(
    method: Method,
    findings: Sequence[Finding],
    threshold: float,
    asked: Sequence[Signature | None],
    signatures: Sequence[Signature | None],
) -> set[tuple[int, int]]:
    """Pairs of that score or more that share a key under *method*."""
    left: dict[int, Any] = {}
    right: dict[int, Any] = {}

    def keys(known: dict[int, Any], signature: Signature | None, number: int) -> Any:
        if number not in known:
            assert signature is not None
            known[number] = np.unique(method.keys(signature))
        return known[number]

    out = set()
    for f in findings:
        if f.score < threshold:
            continue
        a = keys(left, asked[f.query], f.query)
        b = keys(right, signatures[f.document], f.document)
        if len(np.intersect1d(a, b, assume_unique=True)):
            out.add((f.query, f.document))
    return out
