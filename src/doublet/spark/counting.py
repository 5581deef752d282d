"""In how many documents each fingerprint stands, about: a table of counters that all executors can read.

Only fingerprints of several documents can lead to a pair. A counter is a byte; those that share one are counted
together, so a fingerprint of two documents is never taken for one of a single document: a wrong count costs time,
not a pair. Tasks count some splits each; the tables are added up slice by slice, so nobody holds all of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doublet.spark import storage
from doublet.spark.exchange import Sent, tell
from doublet.spark.job import Job
from doublet.spark.signing import SIGNATURES, runs

U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]

COUNTS = "counts"
LEAST_BITS, MOST_BITS = 16, 28  #: of a table: 64 KB to 256 MB
CELLS_PER_VALUE = 2

_tables: dict[str, U8] = {}


def bits_for(values: int) -> int:
    return max(LEAST_BITS, min(MOST_BITS, int(CELLS_PER_VALUE * values).bit_length()))


def count_splits(job: Job, bits: int, tasks: int, splits: int, task: int) -> Sent:
    """Count the fingerprints of every *tasks*-th split from *task* on."""
    table = np.zeros(1 << bits, np.uint8)
    for split in range(task, splits, tasks):
        for part in storage.read_table(job.part(SIGNATURES, split), ["set"]):
            add_counts(table, runs(part.column("set"))[0])
    storage.write_bytes(job.at(COUNTS, f"table-{task:04d}.bin"), table.tobytes())
    yield tell(task)


def add_counts(table: U8, values: U64) -> None:
    """Count each value once more. Counters stay at 255."""
    cells = _cells(table, values)
    cells.sort()
    firsts = np.flatnonzero(np.concatenate([[True], cells[1:] != cells[:-1]])) if len(cells) else cells
    used = cells[firsts]
    more = np.minimum(np.diff(np.append(firsts, len(cells))), 255).astype(np.uint8)
    before = table[used]
    table[used] = before + np.minimum(more, np.uint8(255) - before)


def _cells(table: U8, values: U64) -> NDArray[np.uint32]:
    return (values >> np.uint64(65 - len(table).bit_length())).astype(np.uint32)


def add_tables(job: Job, bits: int, tasks: int, task: int) -> Sent:
    """Add up one slice of all tables."""
    low, high = ((1 << bits) * i // tasks for i in (task, task + 1))
    total = np.zeros(high - low, np.uint8)
    for number in range(tasks):
        with storage.open_input(job.at(COUNTS, f"table-{number:04d}.bin")) as file:
            file.seek(low)
            part = np.frombuffer(file.read(high - low), np.uint8)
        room = np.uint8(255) - total
        total += np.minimum(room, part)
    storage.write_bytes(job.at(COUNTS, f"slice-{task:04d}.bin"), total.tobytes())
    yield tell(task)


def table_of(job: Job, bits: int, slices: int) -> U8:
    """The whole table; read once in each process."""
    key = f"{job.run} {job.out} {bits} {slices}"
    if key not in _tables:
        _tables.clear()
        parts = [storage.read_bytes(job.at(COUNTS, f"slice-{number:04d}.bin")) for number in range(slices)]
        _tables[key] = np.frombuffer(b"".join(parts), np.uint8)
    return _tables[key]


def look_up(table: U8, values: U64) -> U8:
    """The counter of each value."""
    return table[_cells(table, values)]
