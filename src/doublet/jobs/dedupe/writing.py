"""Answers → files: the groups, and the cleaned collection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import OutputFailed, UsageError
from doublet.jobs.dedupe.collection import Collection
from doublet.model import Deduplication
from doublet.reports import tables
from doublet.reports.output import Together, check_distinct, is_stream
from doublet.sources.records import RecordSource


def check_files(source: Any, groups_out: Path | None, kept_out: Path | None) -> None:
    """Raise `UsageError` or `OutputFailed` for what would stop `write_files` after the work."""
    if kept_out is not None:
        if not isinstance(source, RecordSource):
            raise UsageError("kept_out_for_files")
        source.check_kept(kept_out)
    if groups_out is not None:
        tables.check_groups(groups_out)
    check_distinct({"groups_out": groups_out, "kept_out": kept_out})


def write_files(
    source: Any,
    result: Deduplication,
    collection: Collection,
    kept: NDArray[np.int64],
    groups_out: Path | None,
    kept_out: Path | None,
) -> None:
    """Write what was asked for, all of it or nothing; *kept* are the numbers of the documents that stay."""
    counts = collection.outcomes.counts
    unused = sum(count for state, count in counts.items() if state != "empty")
    if unused and kept_out is not None and isinstance(source, RecordSource) and source.reads(kept_out):
        raise OutputFailed(
            "input_would_be_lost",
            unused=unused,
            path=str(kept_out),
        )

    def write_kept() -> None:
        if kept_out is not None:
            positions = collection.facts.all_positions()
            stays = np.zeros(int(positions.max(initial=0)) + 1, np.bool_)
            stays[positions[kept].astype(np.int64)] = True
            source.write_kept(
                kept_out, lambda position: position < len(stays) and bool(stays[position]), together
            )

    def write_groups() -> None:
        if groups_out is not None:
            tables.write_groups(result, groups_out, together)

    with Together() as together:
        # What goes to a stream cannot be taken back: it goes last.
        streamed = kept_out is not None and is_stream(kept_out)
        for step in (write_groups, write_kept) if streamed else (write_kept, write_groups):
            step()
