"""Blocks of segments as they were before they were packed: for libraries on their way from one version to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from doublet.store.segments import HEAVY, KEY_BITS, RECORD, Records


def pack_plain(records: Records, cuts: Sequence[int]) -> list[bytes]:
    """A block for each range of sorted records."""
    out = np.empty((len(records), RECORD), np.uint8)
    for start, end, column in ((0, 5, records.keys), (5, 10, records.documents), (10, 14, records.libraries)):
        out[:, start:end] = column.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - (end - start) :]
    blob = out.tobytes()
    return [blob[RECORD * start : RECORD * end] for start, end in pairwise(cuts)]


def cut_plain(bits: int, records: Records) -> Iterator[tuple[int, bytes]]:
    """As `segments.cut_blocks`, of sorted records."""
    if not len(records):
        return
    starts = np.concatenate([[0], np.flatnonzero(records.keys[1:] != records.keys[:-1]) + 1])
    sizes = np.diff(starts, append=len(records))
    heavy = sizes > HEAVY
    if heavy.any():
        own = np.repeat(heavy, sizes)
        cuts = np.concatenate([[0], np.cumsum(sizes[heavy])]).tolist()
        names = (-1 - records.keys[starts[heavy]].astype(np.int64)).tolist()
        yield from zip(names, pack_plain(records.some(own), cuts), strict=True)
        documents = records.documents.copy()
        documents[starts[heavy]] = 0  # the first one stays and points there
        own[starts[heavy]] = False
        records = Records(records.keys, documents, records.libraries).some(~own)
    parts = (records.keys >> np.uint64(KEY_BITS - bits)).astype(np.int64)
    cuts = np.concatenate([[0], np.flatnonzero(parts[1:] != parts[:-1]) + 1, [len(parts)]])
    yield from zip(parts[cuts[:-1]].tolist(), pack_plain(records, cuts.tolist()), strict=True)
