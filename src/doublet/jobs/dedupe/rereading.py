"""The texts of some records, read again from a source that was walked before."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from doublet.progress import Progress
from doublet.sources.jsonl import JsonBatch
from doublet.sources.records import Batched

I64 = NDArray[np.int64]


def texts_at(source: Batched, positions: I64, progress: Progress) -> Iterator[tuple[I64, list[str]]]:
    """The texts of the records at these (sorted) positions, with the places of the positions in the array."""
    first_unread = 0
    for batch in source.batches():
        if first_unread >= len(positions):
            return
        last = int(np.searchsorted(positions, batch.first + batch.count))
        some = positions[first_unread:last]
        if not len(some):
            continue
        block = batch.block if isinstance(batch, JsonBatch) else None
        if block is not None and isinstance(batch, JsonBatch):
            lines = some - batch.first
            starts = np.concatenate([[0], np.flatnonzero(np.frombuffer(block, np.uint8) == 10) + 1])
            parsed = batch.pick(lines.tolist(), starts[lines].tolist()).parse()
        else:
            parsed = batch.parse()
        own = np.asarray(parsed.positions, np.int64)
        at = np.searchsorted(positions, own)
        known = (at < len(positions)) & (positions[np.minimum(at, len(positions) - 1)] == own)
        places = at[known]
        if len(places):
            yield places, [parsed.texts[i] for i in np.flatnonzero(known).tolist()]
            first_unread = int(places.max()) + 1
        progress.step("reading_again", batch.consumed_bytes, source.total_bytes, "bytes")
