"""Sets → links: every removed document with the kept ones that cover it, verified on the full sets of shingles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.index.keeper_join import clean_by_keys
from doublet.index.keys import KeyTable
from doublet.jobs.dedupe.collection import Collection
from doublet.jobs.dedupe.memory import MemoryShares
from doublet.jobs.dedupe.options import DedupeMethods, DedupeOptions
from doublet.jobs.dedupe.siblings import Siblings
from doublet.matches.keepers import choose_keepers, covering
from doublet.matches.preference import missing_facts, preference
from doublet.model import Note
from doublet.progress import Progress
from doublet.signatures import method as make_method
from doublet.signatures.minhash import MinHash

U32 = NDArray[np.uint32]
Rows = tuple[U32, U32, U32]

EXACT_UP_TO = 1_000_000  #: documents; beyond, candidates come from sketches (docs/explanation/exact-join.md)

SIBLING_PAIRS = 500_000  #: of near copies: of more, who covers whom is not told again


@dataclass(frozen=True, slots=True)
class Links:
    """Removed document, keeper and shingles in common, a row each; and the rank of every document by preference."""

    rows: Rows
    ranks: U32
    siblings: Siblings | None = None  #: that were kept apart; what is told of pairs leaves them out, too


def join(
    collection: Collection,
    methods: DedupeMethods,
    options: DedupeOptions,
    memory: MemoryShares,
    progress: Progress,
    siblings: Siblings | None = None,
) -> Links:
    """Links of removed documents to the kept ones that cover them, and the rank of every document. *siblings* do not
    cover each other where all pairs are compared by their shingles."""
    count, store, containment = len(collection), collection.store, options.containment
    chosen = _in_preference(collection, methods, options)
    ranks = np.full(count, count, np.uint32)
    ranks[chosen] = np.arange(len(chosen), dtype=np.uint32)

    def on_step(done: int, total: int) -> None:
        progress.step("joining", done, total, "documents")

    if methods.by_shingles and joins_exactly(options.candidates, count):
        rows = store.clean(chosen, methods.threshold, containment, on_step)
        if siblings is not None and siblings.apart(*rows[:2]).any():
            parted = _without_siblings(chosen, collection, methods, options, siblings, on_step)
            rows, siblings = (rows, None) if parted is None else (parted, siblings)
        return Links(rows, ranks, siblings)
    keys, alike, agree = methods.signed.keys, None, None
    if methods.by_shingles:
        keys = _sketch_keys(methods, store, memory)
        methods.notes.append(Note("candidates_from_sketches"))
    elif not methods.signed.estimates:
        alike = methods.signed.alike
        agree = methods.signed.agree if alike is None else None
    keys.settle(count)
    rows = clean_by_keys(
        keys, store, chosen, methods.threshold, containment, alike=alike, agree=agree, on_step=on_step
    )
    return Links(rows, ranks)


def joins_exactly(candidates: str, documents: int) -> bool:
    """Whether so many documents are all compared, as was asked for or as suits their number."""
    return candidates == "exact" or (candidates == "auto" and documents <= EXACT_UP_TO)


def _in_preference(collection: Collection, methods: DedupeMethods, options: DedupeOptions) -> U32:
    """Documents that take part, the most preferred first."""
    facts, store = collection.facts, collection.store
    order = preference(facts, collection.id_order, options.keep, options.prefer)
    methods.notes += missing_facts(facts, options.keep, options.prefer)
    if facts.unread_times:
        methods.notes.append(
            Note("times_unread", unread_times=len(facts.unread_times), unread_times2=facts.unread_times[0])
        )
    if collection.outcomes.excluded:
        order = order[~np.isin(order, np.array(sorted(collection.outcomes.excluded), np.int64))]
    if options.keep != "longest" and options.containment:
        # A short text inside a longer one goes to it, whatever is preferred: such texts come last, the longest first.
        inside = store.contained(options.containment)[order].astype(bool)
        sizes = store.sizes()[order].astype(np.int64)
        order = np.concatenate([order[~inside], order[inside][np.argsort(-sizes[inside], kind="stable")]])
    return order.astype(np.uint32)


def _sketch_keys(methods: DedupeMethods, store: Any, memory: MemoryShares) -> KeyTable:
    """Bands of MinHash over the sets in the store."""
    sketch = make_method("minhash", threshold=methods.threshold, recall=0.99)
    assert isinstance(sketch, MinHash)
    filled = np.flatnonzero(store.sizes()).astype(np.uint32)
    table = KeyTable(memory.keys, memory.folder)
    for start in range(0, len(filled), 50_000):
        some = filled[start : start + 50_000]
        keys = sketch.band_keys(store.minima(sketch.factors, sketch.terms, some))
        table.add(keys.reshape(-1), np.repeat(some, keys.shape[1]))
    return table


def _without_siblings(
    chosen: U32,
    collection: Collection,
    methods: DedupeMethods,
    options: DedupeOptions,
    siblings: Siblings,
    on_step: Callable[[int, int], None],
) -> Rows | None:
    """The links where siblings do not cover each other; None of very many pairs, whose links stay as they are."""
    store, limits = collection.store, (methods.threshold, options.containment)
    left, right, overlaps, cut = store.pairs(*limits, SIBLING_PAIRS, on_step)
    if cut:
        methods.notes.append(Note("siblings_not_parted", pairs=SIBLING_PAIRS))
        return None
    apart = siblings.apart(left, right)
    left, right, overlaps = left[~apart], right[~apart], overlaps[~apart]
    keepers, documents, overlaps = covering(left, right, overlaps, store.sizes(), *limits)
    links = choose_keepers(len(collection), chosen, keepers, documents).links
    methods.notes.append(Note("siblings_parted", pairs=int(apart.sum())))
    return documents[links], keepers[links], overlaps[links]
