"""How often each number occurs in the collection, about: a table of counters that all executors can read.

Only fingerprints of several documents can lead to a pair (the table of the stage `COUNTS`), and of these only the ones
that some document marked (the table of the stage `pairing.SHARED`). A counter is a byte; numbers that share one are
counted together, so a fingerprint of two documents is never taken for one of a single document: a wrong count costs
time, not a pair. Tasks count some splits each; the tables are added up slice by slice, so nobody holds all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.spark import exchange, storage
from doublet.spark.exchange import Sent, tell
from doublet.spark.job import Job
from doublet.spark.session import cores_of
from doublet.spark.signing import SIGNATURES, runs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]

COUNTS = "counts"
LEAST_BITS, MOST_BITS = 16, 28  #: of a table: 64 KB to 256 MB
CELLS_PER_VALUE = 2

_tables: dict[tuple[str, str, str, int], U8] = {}


def bits_for(values: int) -> int:
    return max(LEAST_BITS, min(MOST_BITS, int(CELLS_PER_VALUE * values).bit_length()))


def count(
    spark: SparkSession,
    job: Job,
    stage: str,
    bits: int,
    splits: int,
    values_of: Callable[[int], Iterator[U64]],
) -> dict[str, Any]:
    """Write the table of a stage: how often the numbers occur that *values_of* gives for each split."""
    tasks = min(splits, cores_of(spark))
    work = partial(_count_splits, job, stage, bits, tasks, splits, values_of)
    exchange.answers(exchange.begin(spark, tasks, work))
    exchange.answers(exchange.begin(spark, tasks, partial(_add_tables, job, stage, bits, tasks)))
    return {"bits": bits, "tables": tasks}


def fingerprints(job: Job, split: int) -> Iterator[U64]:
    """Of all documents of a split, those of each once."""
    for part in storage.read_table(job.part(SIGNATURES, split), ["set"]):
        yield runs(part.column("set"))[0]


def _count_splits(
    job: Job,
    stage: str,
    bits: int,
    tasks: int,
    splits: int,
    values_of: Callable[[int], Iterator[U64]],
    task: int,
) -> Sent:
    """Count the numbers of every *tasks*-th split from *task* on."""
    table = np.zeros(1 << bits, np.uint8)
    for split in range(task, splits, tasks):
        for values in values_of(split):
            kernels.count_cells(table, values)
    storage.write_bytes(job.at(stage, f"table-{task:04d}.bin"), table.data)
    yield tell(task)


def _add_tables(job: Job, stage: str, bits: int, tasks: int, task: int) -> Sent:
    """Add up one slice of all tables."""
    low, high = ((1 << bits) * i // tasks for i in (task, task + 1))
    total, part = np.empty(high - low, np.uint8), np.empty(high - low, np.uint8)
    for number in range(tasks):
        storage.read_into(job.at(stage, f"table-{number:04d}.bin"), part if number else total, low)
        if number:
            kernels.add_cells(total, part)
    storage.write_bytes(job.at(stage, f"slice-{task:04d}.bin"), total.data)
    yield tell(task)


def table_of(job: Job, stage: str, slices: int) -> U8:
    """The whole table; read once in each process."""
    key = (job.run, job.out, stage, slices)
    if key not in _tables:
        for old in [old for old in _tables if old[:2] != key[:2]]:
            del _tables[old]
        addresses = [job.at(stage, f"slice-{number:04d}.bin") for number in range(slices)]
        ends = np.cumsum([storage.size_of(address) for address in addresses]).tolist()
        table = np.empty(ends[-1], np.uint8)  # numpy asks for huge pages, without which looking up is slow
        for address, low, high in zip(addresses, [0, *ends[:-1]], ends, strict=True):
            storage.read_into(address, table[low:high])
        _tables[key] = table
    return _tables[key]


def look_up(table: U8, values: U64) -> U8:
    """The counter of each value."""
    found: U8 = table[values >> np.uint64(65 - len(table).bit_length())]
    return found
