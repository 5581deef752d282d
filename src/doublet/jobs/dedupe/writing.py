"""Answers → files: the groups, and the cleaned collection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import OutputFailed, UsageError
from doublet.jobs.dedupe.collection import Collection
from doublet.model import Deduplication
from doublet.sources.records import RecordSource


def check_files(source: Any, groups_out: Path | None, kept_out: Path | None) -> None:
    """Raise `UsageError` or `OutputFailed` for what would stop `write_files` after the work."""
    if kept_out is not None and isinstance(source, RecordSource):
        source.check_kept(kept_out)
    if groups_out is not None:
        from doublet.reports.tables import check_groups

        check_groups(groups_out)


def write_files(
    source: Any,
    result: Deduplication,
    collection: Collection,
    kept: NDArray[np.int64],
    groups_out: Path | None,
    kept_out: Path | None,
) -> None:
    """Write what was asked for; *kept* are the numbers of the documents that stay."""
    counts = collection.outcomes.counts
    unused = sum(count for state, count in counts.items() if state != "empty")
    if unused and kept_out is not None and isinstance(source, RecordSource) and source.reads(kept_out):
        raise OutputFailed(
            f"{kept_out} is one of the inputs, and {unused:,} of the records could not be used: they would be lost. "
            "Name another file for what is kept",
            path=str(kept_out),
        )
    if groups_out is not None:
        from doublet.reports.tables import write_groups

        write_groups(result, groups_out)
    if kept_out is not None:
        if not isinstance(source, RecordSource):
            raise UsageError("kept_out is for collections in files")
        positions = collection.facts.all_positions()
        stays = np.zeros(int(positions.max(initial=0)) + 1, np.bool_)
        stays[positions[kept].astype(np.int64)] = True
        source.write_kept(kept_out, lambda position: position < len(stays) and bool(stays[position]))
