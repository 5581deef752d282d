"""Parquet files that our tasks wrote → DataFrames, and DataFrames → such files: rows, where packed arrays
are not needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from doublet.spark import exchange, storage
from doublet.spark.exchange import tell
from doublet.spark.job import Job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 4096  #: read at a time


def read_frame(
    spark: SparkSession, parts: int, schema: str, tables: Callable[[int], Iterator[Any]]
) -> DataFrame:
    """The rows of the tables that *tables* gives for each of the numbers below *parts*, a partition each."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for part in batch.column(0).to_pylist():
                for table in tables(part):
                    yield from table.to_batches(max_chunksize=ROWS)

    return spark.range(0, parts, 1, max(1, parts)).mapInArrow(run, schema)


def write_frame(frame: DataFrame, job: Job, stage: str) -> int:
    """Write each partition as a file of the *stage*; gives the number of rows."""
    names = frame.columns

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        first = next(batches, None)
        if first is None:
            return
        schema = first.schema

        def tables() -> Iterator[Any]:
            held, rows = [first], first.num_rows
            for batch in batches:
                held.append(batch)
                rows += batch.num_rows
                if rows >= 16 * ROWS:
                    yield pa.Table.from_batches(held, schema)
                    held, rows = [], 0
            if held:
                yield pa.Table.from_batches(held, schema)

        count = storage.write_table(job.part(stage, context.partitionId()), tables(), schema)
        yield pa.record_batch(
            [pa.array([0], pa.int32()), pa.array([tell(count)[1]], pa.binary())], ["slot", "blob"]
        )

    assert names
    return sum(exchange.answers(frame.mapInArrow(run, exchange.SCHEMA)))


def stage_tables(job: Job, stage: str, part: int, columns: list[str] | None = None) -> Iterator[Any]:
    """The tables of one file of a stage; none when it was not written."""
    address = job.part(stage, part)
    if storage.size_of(address) >= 0:
        yield from storage.read_table(address, columns)
