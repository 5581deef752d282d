"""Find the duplicates of a collection and say which documents to keep (K7, C3).

The way of the data, a module each:

1. `methods`: what was asked for, checked; the method and the shingles that verify it. `memory` shares out the budget.
2. `frames`: web pages are read, and compared without what nearly all pages of their site carry.
3. `reading`: batches (threads parse and shingle them in parallel) go into a `SetStore`, which spills to disk beyond
   the budget; `signed` takes what a method with its own signatures needs, `outcomes` what could not be used, and of
   records with one id `repeated` leaves one. The rest of what is known is the `collection`.
4. `joining`: documents in the order of the user's preference; exact for up to a million of them, else candidates from
   sketches; the other methods bring their own candidates. Every link is verified on the full sets of shingles. Pages
   about two things (`siblings`) do not cover each other, however alike they are.
5. `answers`: every removed document goes to its closest keeper; pairs and other views. `related`: reworded copies.
6. `writing`: the groups and the cleaned collection as files.

`documents` lets documents in memory be read like a file. The result does not depend on the order of the input or on the
number of workers. Explained in docs/explanation/exact-join.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from doublet import kernels
from doublet.errors import RecordInvalid, UsageError
from doublet.jobs.dedupe.answers import join_groups, list_pairs, make_groups
from doublet.jobs.dedupe.documents import Documents, DocumentsInput, opened, with_given_ids
from doublet.jobs.dedupe.joining import join
from doublet.jobs.dedupe.memory import check_memory, limit_work, saving, share_out, spilling
from doublet.jobs.dedupe.options import AUTO, DedupeMethods, DedupeOptions, check_share
from doublet.jobs.dedupe.reading import read
from doublet.jobs.dedupe.related import find_copies
from doublet.jobs.dedupe.siblings import Siblings
from doublet.jobs.dedupe.writing import check_files, write_files
from doublet.model import Deduplication, Note
from doublet.progress import Progress
from doublet.sources.records import Batched, named_fields

if TYPE_CHECKING:
    from doublet.jobs.dedupe.frames import WithoutFrames

__all__ = ["Documents", "dedupe", "dedupe_inputs", "join_groups"]


def dedupe(
    documents: DocumentsInput,
    *,
    method: str = AUTO,
    threshold: float | None = None,
    containment: float | None = 0.9,
    keep: str = "longest",
    prefer: Sequence[str] = (),
    pairs: bool = False,
    views: Sequence[str] = (),
    candidates: str = "auto",
    reworded: str | None = None,
    frames: bool | None = None,
    workers: int = 1,
    memory_bytes: int | None = None,
    spill_folder: str | None = None,
    progress: Progress | None = None,
    id_field: str | None = None,
    text_field: str | None = None,
    time_field: str | None = None,
    source_field: str | None = None,
    **parameters: Any,
) -> Deduplication:
    """Duplicates among *documents*: texts, `Document`s, mappings with "id" and "text", or (id, text) pairs; a table of
    pandas, polars or Arrow; or the ``Path`` of a file or folder with documents, or several.

    *id_field*, *text_field*, *time_field* and *source_field* name the columns or fields ("id", "text", "time",
    "source"; a file has no time and no source unless they are named). Texts without ids are numbered from 0; a table
    without a column "id" is numbered too, by its index if it has one. Ids come back in the type they were given in.

    Example::

        result = doublet.dedupe([("a", text_a), ("b", text_b)], threshold=0.8, shingle_words=5)
        result.groups[0].members[0].resemblance

    A document is removed when a kept one resembles it with *threshold* or more, or when *containment* of it or more
    lies inside a kept one that is not shorter (None: never). *keep* says which one stays: the "longest", the "first" by
    its id, the "newest" by its time, or that of the "best-source", of which *prefer* names the best first.
    *pairs* lists all pairs, *views* adds "strict" groups and "families". *parameters* are those of the method.
    *reworded* is what the method "auto" does about kept documents that are edited or reworded copies of each other:
    "list" the likeliest (the default), list "all" (slow), "remove" the reworded ones, or "off".
    *frames*: web pages are compared without what nearly all pages of their folder or host carry. None does it where a
    folder has 20 pages or more, True from five on, False never.
    *candidates* are found by an "exact" join, by "sketches", or by what suits their number ("auto").
    Beyond *memory_bytes* (None: half of what is free) the work goes on in *spill_folder*. What cannot be used
    is an `Outcome` of the result; where nothing can be used, `RecordInvalid` is raised. Raises `UsageError`,
    `SpillFailed`, `MemoryTooSmall`, `Cancelled`.
    """
    for name in ("groups_out", "kept_out"):
        if name in parameters:
            raise UsageError("only_for_files", name=name)
    names = {
        "id_field": id_field,
        "text_field": text_field,
        "time_field": time_field,
        "source_field": source_field,
    }
    with opened(documents, **names) as source:
        result = dedupe_inputs(
            source,
            method=method,
            threshold=threshold,
            containment=containment,
            keep=keep,
            prefer=prefer,
            pairs=pairs,
            views=views,
            candidates=candidates,
            reworded=reworded,
            frames=frames,
            workers=workers,
            memory_bytes=memory_bytes,
            spill_folder=spill_folder,
            progress=progress,
            **parameters,
        )
        if not result.documents and result.outcomes:
            first = result.outcomes[0]
            raise RecordInvalid(
                "nothing_usable",
                records=max(1, sum(result.extra["outcomes"].values())),
                place=first.place,
                reason=first.reason,
                state=first.state,
                id=first.id,
            )
        return with_given_ids(result, source.given if isinstance(source, Documents) else {})


def dedupe_inputs(
    source: Batched,
    *,
    method: str = AUTO,
    threshold: float | None = None,
    containment: float | None = 0.9,
    keep: str = "longest",
    prefer: Sequence[str] = (),
    pairs: bool = False,
    views: Sequence[str] = (),
    candidates: str = "auto",
    reworded: str | None = None,
    frames: bool | None = None,
    workers: int = 1,
    memory_bytes: int | None = None,
    spill_folder: str | None = None,
    progress: Progress | None = None,
    groups_out: Path | None = None,
    kept_out: Path | None = None,
    **parameters: Any,
) -> Deduplication:
    """Duplicates of a collection, with the options of `dedupe`; the groups and what stays can be written to files.

    Raises `UsageError`, `SourceError`, `SpillFailed`, `MemoryTooSmall`, `OutputFailed`, `Cancelled`.
    """
    progress = Progress.of(progress)
    options = DedupeOptions.check(
        method=method,
        parameters=parameters,
        containment=containment,
        keep=keep,
        prefer=prefer,
        pairs=pairs,
        views=views,
        candidates=candidates,
        reworded=reworded,
        workers=workers,
        frames=frames,
    )
    if threshold is not None:
        parameters["threshold"] = check_share("threshold", threshold)
    check_files(source, groups_out, kept_out)
    memory_bytes = check_memory(memory_bytes)
    limit = limit_work(source, memory_bytes, options.workers, spill_folder)
    with saving(memory_bytes), ExitStack() as opened_here:
        with spilling(limit.folder):
            frameless = _without_frames(source, options, limit.folder, progress)
            if frameless is not None:
                opened_here.callback(frameless.close)
            compared: Batched = source if frameless is None else frameless
            methods = DedupeMethods.make(method, parameters, compared, options.workers, limit, progress)
        memory = share_out(methods, options, limit)
        store = kernels.SetStore(memory.store, memory.folder, options.workers)
        try:
            collection = read(compared, methods, options, store, memory, progress)
            with spilling(memory.folder):
                siblings = Siblings(frameless, collection.facts.all_positions()) if frameless else None
                links = join(collection, methods, options, memory, progress, siblings)
                grouped = make_groups(collection, links, methods.threshold, memory)
                listed = list_pairs(collection, options, methods.threshold, memory, progress, links.siblings)
                related, grouped = find_copies(
                    compared, collection, methods, options, links, grouped, memory, progress
                )
        finally:
            store.close()
            methods.close()
    names, outcomes = collection.names, collection.outcomes
    notes = [*source.notes, *methods.notes, *listed.notes, *outcomes.notes()]
    if frameless is not None:
        notes += frameless.told()
    elif options.frames:
        notes.append(Note("frames_without_pages"))
    if collection.disguised:
        notes.append(Note("disguised_documents", disguised=collection.disguised, collection=len(collection)))
    gone = np.zeros(len(collection), np.bool_)
    gone[[*grouped.removed, *outcomes.excluded]] = True
    by_id = np.argsort(collection.id_order, kind="stable")
    kept = by_id[~gone[by_id]]
    named = np.empty(len(names), object)
    named[:] = names
    result = Deduplication(
        method=method,
        parameters={
            **methods.described,
            "threshold": methods.threshold,
            "containment": options.containment or None,
            "keep": keep,
            "prefer": list(options.prefer),
            "candidates": options.candidates,
            "reworded": options.reworded,
            "frames": frameless is not None if options.frames is None else options.frames,
            "pairs": options.pairs,
            "views": list(options.views),
            **named_fields(source),
        },
        documents=len(collection),
        groups=grouped.groups,
        kept=tuple(named[kept].tolist()),
        outcomes=outcomes.rows(),
        pairs=listed.pairs,
        strict=listed.strict,
        families=listed.families,
        notes=tuple(notes),
        recipe=methods.recipe,
        extra={
            "outcomes": {state: count for state, count in sorted(outcomes.counts.items()) if count},
            "disguised_documents": collection.disguised,
        },
        related=related,
    )
    progress.step("writing", 0, None, "files")
    write_files(source, result, collection, kept, groups_out, kept_out)
    return result


PAGE_KINDS = frozenset({"texts", "zip", "tar", "warc"})  #: inputs in which there may be web pages


def _without_frames(
    source: Batched, options: DedupeOptions, folder: str | None, progress: Progress
) -> WithoutFrames | None:
    """The source without the frames of its sites, where it has such. Tables do not even load what is needed for it."""
    from doublet.sources.open import Inputs

    if options.frames is False or not isinstance(source, Inputs):
        return None
    if PAGE_KINDS.isdisjoint(part.kind for part in source.parts):
        return None
    from doublet.jobs.dedupe.frames import without_frames

    return without_frames(source, bool(options.frames), options.workers, folder, progress)
