"""Of records with one id all but one are left out. Which one is used depends on the records alone.

It is the preferred one (`matches.preference`), then the one with the smaller set of shingles, then the one whose bytes
have the smaller digest. For the last the input is read once more, and only when records still tie.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.jobs.dedupe.collection import Collection
from doublet.jobs.dedupe.options import DedupeOptions
from doublet.matches.preference import preference_columns
from doublet.model import Note, Outcome
from doublet.sources.records import RecordSource

U64 = NDArray[np.uint64]


def leave_out_repeats(source: Any, collection: Collection, options: DedupeOptions) -> None:
    """Exclude all but one record of each id, with an outcome for every record that is left out."""
    facts, names, outcomes = collection.facts, collection.names, collection.outcomes
    columns = preference_columns(facts, options.keep, options.prefer)
    groups = list(_repeats(names, collection.id_order))
    best = [_best(documents, columns, collection.store) for documents in groups]
    tied = sorted(document for some in best if len(some) > 1 for document in some)
    if tied:
        places = facts.all_positions()[tied]
        order = np.argsort(places, kind="stable")
        rows = np.empty((len(tied), 2), np.uint64)
        rows[order] = digests(source, places[order])
        digest = dict(zip(tied, map(tuple, rows.tolist()), strict=True))
        best = [[min(some, key=digest.__getitem__)] if len(some) > 1 else some for some in best]
    for documents, (used,) in zip(groups, best, strict=True):
        name = names[used]
        reason = Note("id_repeated", documents=len(documents), name=name)
        for document in documents:
            if document != used:
                outcomes.excluded.add(document)
                outcomes.add(Outcome("duplicate_id", name, "", reason))


def _repeats(names: list[str], id_order: NDArray[np.int64]) -> Iterator[list[int]]:
    """Documents with one id, for each id that stands there more than once; in the order of the input."""
    by_id = np.argsort(id_order, kind="stable").tolist()
    some: list[int] = []
    for document in by_id:
        if some and names[some[-1]] != names[document]:
            if len(some) > 1:
                yield sorted(some)
            some = []
        some.append(document)
    if len(some) > 1:
        yield sorted(some)


def _best(documents: list[int], columns: tuple[NDArray[np.int64], ...], store: Any) -> list[int]:
    """The preferred of these documents; several when they are equally good and have the same shingles."""
    for column in columns:
        least = min(int(column[document]) for document in documents)
        documents = [document for document in documents if column[document] == least]
    if len(documents) > 1:
        sets = [store.get(document).tobytes() for document in documents]
        smallest = min(sets)
        documents = [document for document, one in zip(documents, sets, strict=True) if one == smallest]
    return documents


def digests(source: Any, positions: U64) -> U64:
    """Two numbers for each of the records at these ascending positions, made of all that the record holds."""
    if isinstance(source, RecordSource):
        return source.digests(positions)
    out = np.zeros((len(positions), 2), np.uint64)
    wanted = positions.tolist()
    for batch in source.batches():
        parsed = batch.parse()
        for place, *parts in zip(parsed.positions, parsed.texts, parsed.times, parsed.sources, strict=True):
            row = bisect_left(wanted, place)
            if row < len(wanted) and wanted[row] == place:
                whole = "\0".join(parts).encode("utf-8", "surrogatepass")
                digest = hashlib.blake2b(whole, digest_size=16).digest()
                out[row] = np.frombuffer(digest, ">u8")
    return out
