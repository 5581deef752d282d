"""Documents that take no part of their own: of records with one id all but one, and of equal sets all but the first.

Of records with one id the one that is used depends on the records alone (`jobs.dedupe.repeated`). Documents with
equal sets go where the most preferred of them goes, or to it, so it alone is compared with others: twenty thousand
copies of one text cost what one costs. Each is found by a hash that is sent to a bucket; only where hashes agree
more is asked for.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from doublet.signatures.mixing import mix
from doublet.spark import exchange, inputs, storage
from doublet.spark.exchange import Sent, scatter, slots, tell
from doublet.spark.job import Job, splits_of
from doublet.spark.order import Order
from doublet.spark.signing import SIGNATURES, runs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]

IDS, SETS = "repeated-ids", "equal-sets"
_HALF = np.uint64(32)
_ROW = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Roles:
    """Rows of a split that were left out, and those that follow a leader."""

    excluded: I64
    followers: I64
    leaders: U64

    @staticmethod
    def read(job: Job, split: int) -> Roles:
        excluded, _ = _read(job.part(IDS, split))
        followers, leaders = _read(job.part(SETS, split))
        return Roles(excluded, followers, leaders)

    def posting(self, first: int, count: int, *, containers: bool) -> Mask:
        """Which of the rows from *first* on are compared with others; *containers*: also those that were left out."""
        out = np.ones(count, np.bool_)
        for rows in (self.followers, *(() if containers else (self.excluded,))):
            inside = rows[(rows >= first) & (rows < first + count)] - first
            out[inside] = False
        return out


def _read(address: str) -> tuple[I64, U64]:
    if storage.size_of(address) < 0:  # that stage was not needed
        return np.zeros(0, np.int64), np.zeros(0, np.uint64)
    parts = list(storage.read_table(address))
    rows = [part.column("row").to_numpy() for part in parts]
    leaders = [part.column("leader").to_numpy().view(np.uint64) for part in parts]
    return np.concatenate([np.zeros(0, np.int64), *rows]), np.concatenate([np.zeros(0, np.uint64), *leaders])


def find_roles(spark: SparkSession, job: Job, stage: str, order: Order, splits: int) -> int:
    """Write the roles of a stage, a file for each split; gives the number of documents that have one."""
    count = job.partitions
    hashed = exchange.begin(spark, splits, partial(_hashes, job, stage))
    repeated = exchange.then(hashed, count, partial(_repeated, job))
    described = exchange.then(repeated, count, partial(_describe, job, stage))
    decided = exchange.then(described, count, partial(_decide, job, stage, order))
    written = exchange.then(decided, count, partial(_write, job, stage, splits))
    return sum(exchange.answers(written))


def _hashes(job: Job, stage: str, split: int) -> Sent:
    columns = ["id_hash"] if stage == IDS else ["digest_a", "digest_b", "size"]
    roles = Roles.read(job, split) if stage == SETS else None
    hashes, numbers, first = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)], 0
    for part in storage.read_table(job.part(SIGNATURES, split), columns):
        rows = np.arange(first, first + part.num_rows, dtype=np.uint64) | np.uint64(split) << _HALF
        if roles is None:
            hashes.append(part.column("id_hash").to_numpy())
            numbers.append(rows)
        else:
            used = roles.posting(first, part.num_rows, containers=False) & (
                part.column("size").to_numpy() > 0
            )
            both = mix(part.column("digest_a").to_numpy()) + part.column("digest_b").to_numpy()
            hashes.append(both[used])
            numbers.append(rows[used])
        first += part.num_rows
    every = np.concatenate(hashes)
    places = ((every >> _HALF) * np.uint64(job.partitions) >> _HALF).astype(np.int64)
    yield from scatter(places, job.partitions, every, np.concatenate(numbers))


def _repeated(job: Job, bucket: int, blobs: Iterator[Any]) -> Sent:
    """Ask for the facts of documents whose hash others have too."""
    hashes, numbers = exchange.joined(blobs, (np.uint64, np.uint64))
    order = np.argsort(hashes, kind="stable")
    hashes, numbers = hashes[order], numbers[order]
    same = hashes[1:] == hashes[:-1]
    used = np.concatenate([same, [False]]) | np.concatenate([[False], same]) if len(hashes) else same
    hashes, numbers = hashes[used], numbers[used]
    places = (numbers >> _HALF).astype(np.int64) % job.partitions
    yield from scatter(places, job.partitions, hashes, numbers, np.full(len(hashes), bucket, np.uint32))


def _describe(job: Job, stage: str, owner: int, blobs: Iterator[Any]) -> Sent:  # noqa: ARG001 - the form of all steps
    hashes, numbers, buckets = exchange.joined(blobs, (np.uint64, np.uint64, np.uint32))
    columns = ["id", "words", "time", "source", "digest_a", "digest_b", "size"]
    columns += ["set", "position"] if stage == IDS else []
    names = slots(job.partitions)
    for split in np.unique(numbers >> _HALF).tolist():
        mine = np.flatnonzero(numbers >> _HALF == split)
        rows = (numbers[mine] & _ROW).astype(np.int64)
        by_row = np.argsort(rows, kind="stable")
        mine, rows = mine[by_row], rows[by_row]
        first = 0
        for part in storage.read_table(job.part(SIGNATURES, split), columns):
            low, high = np.searchsorted(rows, (first, first + part.num_rows)).tolist()
            if low < high:
                chosen = part.take(rows[low:high] - first)
                facts = list(
                    zip(
                        hashes[mine[low:high]].tolist(),
                        numbers[mine[low:high]].tolist(),
                        *(chosen.column(n).to_pylist() for n in columns[:7]),
                        *(_records(job, split, chosen) if stage == IDS else ()),
                        strict=True,
                    )
                )
                where = buckets[mine[low:high]]
                for bucket in np.unique(where).tolist():
                    some = [facts[i] for i in np.flatnonzero(where == bucket).tolist()]
                    for at in range(0, len(some), 1000):
                        yield names[bucket], pickle.dumps(some[at : at + 1000])
            first += part.num_rows


def _records(job: Job, split: int, chosen: Any) -> tuple[list[bytes], list[bytes]]:
    """The sets as bytes, and a digest of all that the records hold: what the choice among records of one id goes by."""
    values, offsets = runs(chosen.column("set"))
    sets = [np.sort(values[a:b]).tobytes() for a, b in pairwise(offsets.tolist())]
    wanted = chosen.column("position").to_pylist()
    found: dict[int, bytes] = {}
    for batch in inputs.batches(splits_of(job)[split], job.fields, job.max_record_bytes):
        inside = sorted(p - batch.first for p in wanted if batch.first <= p < batch.first + batch.count)
        for at, record in zip(inside, batch.json_lines(inside), strict=False):
            found[at + batch.first] = hashlib.blake2b(record, digest_size=16).digest()
    return sets, [found.get(position, b"") for position in wanted]


def _decide(job: Job, stage: str, order: Order, bucket: int, blobs: Iterator[Any]) -> Sent:  # noqa: ARG001
    """Who is left out, or follows whom."""
    rows = [row for blob in blobs for row in pickle.loads(bytes(blob))]  # made by the step before
    gone: list[tuple[int, int, bytes]] = []
    same: Any = (lambda row: row[2]) if stage == IDS else (lambda row: (row[6], row[7], row[8]))
    for _, some in groupby(sorted(rows, key=same), key=same):
        group = list(some)
        if len(group) == 1:
            continue
        if stage == IDS:
            # Preference (the longest, where the first by id is kept), then the set, then all that the record holds.
            group.sort(key=lambda r: (order.columns(r[3], r[4], r[5]), r[9], r[10], r[1]))
        else:
            group.sort(key=lambda r: order.key(r[2], r[3], r[4], r[5]))
        gone += [(row[1], group[0][1], group[0][2]) for row in group[1:]]
    names = slots(job.partitions)
    gone.sort(key=lambda row: (row[0] >> 32) % job.partitions)
    for owner, mine in groupby(gone, key=lambda row: (row[0] >> 32) % job.partitions):
        told = list(mine)
        for at in range(0, len(told), 1000):
            yield names[owner], pickle.dumps(told[at : at + 1000])


def _write(job: Job, stage: str, splits: int, owner: int, blobs: Iterator[Any]) -> Sent:
    import pyarrow as pa

    rows = sorted(row for blob in blobs for row in pickle.loads(bytes(blob)))  # made by the step before
    by_split = {split: list(some) for split, some in groupby(rows, key=lambda row: row[0] >> 32)}
    for split in range(owner, splits, job.partitions):
        mine = by_split.get(split, [])
        table = pa.table(
            {
                "row": pa.array([row[0] & 0xFFFFFFFF for row in mine], pa.int64()),
                "leader": pa.array([row[1] for row in mine], pa.int64()),
                "leader_id": pa.array([row[2] for row in mine], pa.binary()),
            }
        )
        storage.write_table(job.part(stage, split), iter([table]), table.schema)
    yield tell(len(rows))
