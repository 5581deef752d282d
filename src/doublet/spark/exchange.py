"""Tasks of Spark that send each other packed blobs of arrays: a row is a destination and a blob, not a key and a value.

A job is a chain of steps. `begin` runs a function for each task; `then` sends what a step gave to the partitions
that it named and runs the next function there; `answers` collects what the last step tells, a few numbers for each
task. Blobs are small (`MOST_BLOB`), so that no machine holds much of them at once. Rows go to exactly the partition
that was named: Spark puts a row where the hash of its first column falls, so the column holds a number whose hash falls
there.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Sent = Iterator[tuple[int, bytes]]  #: destinations and blobs
Begin = Callable[[int], Sent]
Then = Callable[[int, Iterator[Any]], Sent]
U64 = NDArray[np.uint64]

SCHEMA = "slot int, blob binary"
MOST_BLOB = 1 << 18  #: bytes; about, and more where a single document has more
ROWS_AT_ONCE = 128  #: blobs in one batch of Arrow
_BYTES_AT_ONCE = 1 << 23


def begin(spark: SparkSession, tasks: int, work: Begin) -> DataFrame:
    """Run *work* for each of the numbers below *tasks*, each in a task of its own."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                yield from _batches(work(task))
        _spare_modules()

    return spark.range(0, tasks, 1, max(1, tasks)).mapInArrow(run, SCHEMA)


def then(frame: DataFrame, partitions: int, work: Then) -> DataFrame:
    """Send the blobs of *frame* to their destinations, and run *work* with what each of *partitions* received."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        yield from _batches(work(context.partitionId(), _received(batches)))
        _spare_modules()

    return frame.repartition(partitions, "slot").mapInArrow(run, SCHEMA)


_spared: set[int] = set()  # how many modules there were when this was done


def _spare_modules() -> None:
    """Spark's Python collects garbage after every task, which takes it longer than a small task: it goes through all
    that was ever imported. What is there now is left out from then on."""
    if len(sys.modules) not in _spared:
        _spared.add(len(sys.modules))
        gc.collect()
        gc.freeze()


def answers(frame: DataFrame) -> list[Any]:
    """What the last step tells: a value that JSON can hold for each blob. Nothing that grows with the documents."""
    return [json.loads(bytes(row.blob)) for row in frame.select("blob").toLocalIterator()]


def tell(value: Any) -> tuple[int, bytes]:
    return 0, json.dumps(value).encode()


def _received(batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        for blob in batch.column(1):
            yield blob.as_buffer()


def _batches(sent: Sent) -> Iterator[Any]:
    import pyarrow as pa

    numbers: list[int] = []
    blobs: list[bytes] = []
    size = 0
    for slot, blob in sent:
        numbers.append(slot)
        blobs.append(blob)
        size += len(blob)
        if len(blobs) >= ROWS_AT_ONCE or size >= _BYTES_AT_ONCE:
            yield pa.record_batch(
                [pa.array(numbers, pa.int32()), pa.array(blobs, pa.binary())], ["slot", "blob"]
            )
            numbers, blobs, size = [], [], 0
    if blobs:
        yield pa.record_batch([pa.array(numbers, pa.int32()), pa.array(blobs, pa.binary())], ["slot", "blob"])


@lru_cache(maxsize=16)
def slots(partitions: int) -> tuple[int, ...]:
    """For each partition a number that Spark's hash sends there."""
    out: dict[int, int] = {}
    number = 0
    while len(out) < partitions:
        out.setdefault(_murmur3(number) % partitions, number)
        number += 1
    return tuple(out[i] for i in range(partitions))


def _murmur3(number: int) -> int:
    """Spark's hash of an int, as a signed number of 32 bits."""
    mask = 0xFFFFFFFF
    k = number * 0xCC9E2D51 & mask
    k = (k << 15 | k >> 17) & mask
    k = k * 0x1B873593 & mask
    h = 42 ^ k
    h = (h << 13 | h >> 19) & mask
    h = (h * 5 + 0xE6546B64) & mask
    h ^= 4
    h ^= h >> 16
    h = h * 0x85EBCA6B & mask
    h ^= h >> 13
    h = h * 0xC2B2AE35 & mask
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


def pack(*arrays: NDArray[Any]) -> bytes:
    """Arrays as one blob; `unpack` gives them back."""
    head = np.array([len(arrays), *(len(a) for a in arrays)], "<u8").tobytes()
    kinds = b"".join(a.dtype.str.encode().ljust(8) for a in arrays)
    body = []
    for a in arrays:
        raw = np.ascontiguousarray(a).tobytes()
        body.append(raw + bytes(-len(raw) % 8))
    return b"".join([head, kinds, *body])


def unpack(blob: Any) -> list[NDArray[Any]]:
    count = int(np.frombuffer(blob, "<u8", 1)[0])
    lengths = np.frombuffer(blob, "<u8", count, 8).tolist()
    at = 8 + 8 * count
    view = memoryview(blob)
    kinds = [np.dtype(bytes(view[at + 8 * i : at + 8 * i + 8]).decode().strip()) for i in range(count)]
    at += 8 * count
    out = []
    for length, kind in zip(lengths, kinds, strict=True):
        out.append(np.frombuffer(blob, kind, length, at))
        at += -(-length * kind.itemsize // 8) * 8
    return out


def joined(blobs: Iterable[Any], kinds: Sequence[Any]) -> list[NDArray[Any]]:
    """The arrays of all blobs, one after the other; *kinds* are their types, for when nothing came."""
    parts: list[list[NDArray[Any]]] = [[np.zeros(0, kind)] for kind in kinds]
    for blob in blobs:
        for part, array in zip(parts, unpack(blob), strict=True):
            part.append(array)
    return [np.concatenate(part) for part in parts]


def scatter(destinations: NDArray[Any], partitions: int, *arrays: NDArray[Any]) -> Sent:
    """Rows of the arrays to their destinations, in blobs that are not large."""
    # Numbers of 16 bits are sorted digit by digit, which is many times as fast.
    places = destinations.astype(np.uint16) if partitions <= 1 << 16 else destinations
    order = np.argsort(places, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(destinations, minlength=partitions))])
    width = max(1, sum(a.dtype.itemsize for a in arrays))
    step = max(1, MOST_BLOB // width)
    numbers = slots(partitions)
    for destination in np.flatnonzero(np.diff(bounds)).tolist():
        for low in range(int(bounds[destination]), int(bounds[destination + 1]), step):
            some = order[low : min(low + step, int(bounds[destination + 1]))]
            yield numbers[destination], pack(*(a[some] for a in arrays))
