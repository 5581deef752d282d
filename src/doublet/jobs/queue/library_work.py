"""Kinds of jobs that work on libraries: fill, duplicates, index, tidy, verify, delete, remove_source, expire."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from doublet.errors import SourceError, UsageError
from doublet.jobs.queue.kinds import Work

ROWS = 1_000  #: of documents that could not be used, or of groups, which a result lists; the rest are counted


def fill(
    work: Work,
    *,
    library: str,
    address: str | None = None,
    kind: str = "auto",
    options: Mapping[str, Any] | None = None,
    sources: Sequence[int] | None = None,
    create: bool = False,
    filling: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Bring a library up to date: from *address* (a path or a place on the web), which becomes one of its sources; or,
    without one, from all sources that it has, or from those with these numbers.

    *options* are those of the source, *filling* those of `doublet.jobs.add_source.Filling`. An attempt that was broken
    off is taken up where it was: sources that are done are not walked again.
    """
    from doublet.crawl.politeness import polite_fetcher
    from doublet.jobs.add_source import Filling, fill_source, register_source

    store = work.store
    chosen = Filling(**{"min_words": work.settings.min_words, **dict(filling or {})})
    if create and library not in {info.name for info in store.libraries.all()}:
        store.libraries.create(library)
    done: dict[str, Any] = dict(work.checkpoint.get("done", {}))

    with polite_fetcher(work.settings, waiting=work.tell_wait) as fetcher:
        if address is not None:
            infos = [
                register_source(
                    store, library, address, kind=kind, fetcher=fetcher, options=dict(options or {})
                )
            ]
        else:
            infos = store.sources.all(store.libraries.get(library).number)
            wanted = None if sources is None else set(sources)
            infos = [info for info in infos if wanted is None or info.number in wanted]
            if not infos:
                raise UsageError("no_sources_to_update", wanted=library, library=library)
        for info in infos:
            if str(info.number) in done:
                continue
            try:
                filled = fill_source(store, info, fetcher=fetcher, filling=chosen, progress=work.progress)
                row = _shortened(filled.to_dict(), "outcomes")
            except SourceError as error:
                if len(infos) == 1:
                    raise
                row = {"kind": info.kind, "address": info.address, "error": error.to_dict()}
            done[str(info.number)] = {**row, "source": info.number}
            work.keep({"done": done})
    return {
        "library": library,
        "documents": store.libraries.get(library).documents,
        "sources": list(done.values()),
    }


def duplicates(
    work: Work,
    *,
    libraries: Sequence[str] | None = None,
    between: bool = False,
    out: str | None = None,
    language: str = "en",
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Groups of duplicates inside libraries, or only those *between* them. *out* is a file for all groups; the result
    lists the first ones. *options* are those of `doublet.dedupe`."""
    from doublet.jobs.library_duplicates import library_duplicates

    found = library_duplicates(
        work.store,
        libraries,
        between=between,
        out=Path(out) if out else None,
        language=language,
        progress=work.progress,
        **dict(options or {}),
    )
    return _shortened(found.to_dict(), "groups")


def index(
    work: Work, *, library: str, method: str, parameters: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Sign every document of a library by a method, so that checks by this method answer at once."""
    number = work.store.libraries.get(library).number
    built = work.store.signatures.index(
        number,
        method,
        dict(parameters or {}),
        step=lambda done, total: work.progress.step("signing", done, total, "documents"),
    )
    return {"library": library, "method": method, "documents": len(built)}


def tidy(work: Work) -> dict[str, Any]:
    """Put the index of all libraries in its best shape."""
    work.progress.step("tidying", 0, None, "")
    work.store.optimize()
    return {}


def verify(work: Work, *, libraries: Sequence[str] | None = None, repair: bool = False) -> dict[str, Any]:
    """Look whether index, statistics and signatures agree with the documents; with *repair*, mend them."""
    from doublet.store.verify import verify as look

    findings = look(work.store, libraries, repair=repair, progress=work.progress)
    return {"findings": [one.to_dict() for one in findings]}


def delete(work: Work, *, library: str) -> dict[str, Any]:
    """Remove a library with all its documents. One that is gone already is gone."""
    if library not in {info.name for info in work.store.libraries.all()}:
        return {"library": library, "documents": int(work.checkpoint.get("documents", 0))}
    if "documents" not in work.checkpoint:
        work.keep({"documents": work.store.libraries.get(library).documents})
    gone = work.store.libraries.delete(
        library, lambda done, total: work.progress.step("removing", done, total, "documents")
    )
    return {"library": library, "documents": int(work.checkpoint.get("documents", gone))}


def remove_source(work: Work, *, library: str, source: int, documents: bool = False) -> dict[str, Any]:
    """Forget a source of a library; with *documents*, take out what no other source has. One that is gone already is
    gone."""
    there = {one.number for one in work.store.sources.all(work.store.libraries.get(library).number)}
    gone = 0
    if source in there and documents:
        gone = work.store.sources.remove(
            source, lambda done: work.progress.step("removing", done, None, "documents")
        )
    elif source in there:
        work.store.sources.forget(source)
    return {"library": library, "source": source, "documents": gone}


def expire(work: Work, *, days: float | None = None, report_days: float | None = None) -> dict[str, Any]:
    """Forget what is kept for a while only: jobs that ended more than so many *days* ago (without a number: those of
    the settings), and reports that are older than *report_days* (without a number: none)."""
    work.progress.step("removing", 0, None, "")
    jobs = work.store.jobs.expire(work.settings.keep_jobs_days if days is None else days)
    reports = 0
    if report_days is not None:
        reports = work.store.reports.delete_before(time.time() - 86_400 * report_days)
    return {"jobs": jobs, "reports": reports}


def _shortened(result: dict[str, Any], name: str) -> dict[str, Any]:
    """*result* with the first rows of the list *name* only, and the number of those that were left out."""
    rows = result[name]
    return {**result, name: rows[:ROWS], f"{name}_left_out": max(0, len(rows) - ROWS)}
