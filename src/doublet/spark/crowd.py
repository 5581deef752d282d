"""Crowds: numbers (fingerprints, keys) that very many documents share, so that all of their pairs are too many.

Of a crowd only the first undecided documents in the order of preference are compared with the others: its *heads*. A
document is decided when all that come before it in its crowds were heads or are decided, so nothing is lost: the
answer is that of all pairs. Near copies need one round, for the first of them stays and covers the others; where
nobody covers anybody, four times as many heads in each round keep the rounds few.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from doublet.spark import deciding, exchange, storage
from doublet.spark.exchange import Sent, scatter, slots, tell
from doublet.spark.frames import read_frame, stage_tables, write_frame
from doublet.spark.job import Job
from doublet.spark.order import Order
from doublet.spark.pairing import CROWDED, PAIRS, Pairing, compare_led, send_candidates
from doublet.spark.signing import SIGNATURES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

FACTS, RANKED, BLOCKED, STILL_OPEN = "crowd-facts", "crowd-ranks", "crowd-blocked", "crowd-open"
HEADS, MORE = 16, 4  #: of a crowd in the first round, and how many times more in each further one
PAIRS_AT_ONCE = 1 << 20
_MARKED = 1 << 31
_HALF = np.uint64(32)
_ROW = np.uint64(0xFFFFFFFF)


def size_of_crowds(job: Job) -> int:
    """Rows of all crowds together."""
    return sum(
        table.num_rows
        for bucket in range(job.partitions)
        for table in stage_tables(job, CROWDED, bucket, ["size"])
    )


def member_frame(spark: SparkSession, job: Job, order: Order) -> DataFrame:
    """The documents of all crowds with what they are ordered by; some more than once."""
    count = job.partitions
    asked = exchange.begin(spark, count, partial(_ask, job))
    exchange.answers(exchange.then(asked, count, partial(_describe, job)))

    def tables(part: int) -> Iterator[Any]:
        for table in stage_tables(job, FACTS, part):
            yield deciding.with_keys(table, order, ("",))

    schema = ", ".join(
        f"{name} {kind}" for name, kind in zip(deciding.NODE, deciding.NODE_KINDS, strict=True)
    )
    return read_frame(spark, count, schema, tables)


def _ask(job: Job, bucket: int) -> Sent:
    numbers = [np.zeros(0, np.int64)]
    numbers += [
        table.column("document").to_numpy() for table in stage_tables(job, CROWDED, bucket, ["document"])
    ]
    wanted = np.unique(np.concatenate(numbers)).view(np.uint64)
    yield from scatter((wanted >> _HALF).astype(np.int64) % job.partitions, job.partitions, wanted)


def _describe(job: Job, owner: int, blobs: Iterator[Any]) -> Sent:
    import pyarrow as pa

    (wanted,) = exchange.joined(blobs, (np.uint64,))
    wanted = np.unique(wanted)
    names = ["id", "size", "words", "time", "source"]

    def tables() -> Iterator[Any]:
        for split in np.unique(wanted >> _HALF).tolist():
            rows = (wanted[wanted >> _HALF == split] & _ROW).astype(np.int64)
            first = 0
            for part in storage.read_table(job.part(SIGNATURES, split), names):
                low, high = np.searchsorted(rows, (first, first + part.num_rows)).tolist()
                chosen = part.take(rows[low:high] - first)
                first += part.num_rows
                numbers = pa.array(rows[low:high] | np.int64(split) << np.int64(32))
                yield pa.table(
                    [
                        numbers,
                        chosen.column("id"),
                        chosen.column("size").cast(pa.int64()),
                        chosen.column("words").cast(pa.int64()),
                        chosen.column("time"),
                        chosen.column("source"),
                    ],
                    names=["number", *names],
                )

    schema = pa.schema(
        [
            *(
                (name, pa.int64() if name in ("number", "size", "words") else pa.binary())
                for name in ("number", *names)
            ),
        ]
    )
    yield tell(storage.write_table(job.part(FACTS, owner), tables(), schema))


def rank_crowds(spark: SparkSession, job: Job, ranks: DataFrame) -> None:
    """Write the crowds of every bucket with the ranks of their documents."""
    from pyspark.sql import functions as f

    numbers = slots(job.partitions)

    def tables(bucket: int) -> Iterator[Any]:
        import pyarrow as pa

        for table in stage_tables(job, CROWDED, bucket):
            slot = pa.array(np.full(table.num_rows, numbers[bucket], np.int32))
            columns = [slot, *(table.column(name) for name in ("crowd", "document", "size"))]
            yield pa.table(columns, names=["slot", "crowd", "number", "size"])

    rows = read_frame(spark, job.partitions, "slot int, crowd long, number long, size long", tables)
    ranked = rows.join(ranks, "number").repartition(job.partitions, f.col("slot"))
    write_frame(ranked.select("crowd", "number", "size", "rank"), job, RANKED)


def compare_crowds(
    spark: SparkSession, pairing: Pairing, order: Order, ranks: DataFrame, nodes: int
) -> list[str]:
    """Compare the heads of all crowds, round by round, until everybody can be decided; gives the stages of
    the pairs.
    """
    job, heads, rounds = pairing.job, HEADS, 0
    found = [PAIRS]
    while True:
        suffix = f"-{rounds + 1}"
        led = exchange.begin(spark, job.partitions, partial(_lead, pairing, heads, rounds))
        exchange.answers(compare_led(led, pairing, suffix))
        found.append(PAIRS + suffix)
        edges = deciding.edge_frame(deciding.pair_frame(spark, job, order, found), ranks, job)
        blocked = read_frame(
            spark, job.partitions, "rank long", partial(stage_tables, job, f"{BLOCKED}{suffix}")
        )
        if not deciding.find_open(job, edges, blocked, nodes, f"{STILL_OPEN}{suffix}"):
            return found
        heads, rounds = heads * MORE, rounds + 1


def _lead(pairing: Pairing, heads: int, rounds: int, bucket: int) -> Sent:
    """Candidates of the heads of a bucket's crowds; writes down who has to wait."""
    import pyarrow as pa

    job = pairing.job
    parts = list(stage_tables(job, RANKED, bucket))
    columns = (
        np.concatenate([np.zeros(0, np.int64), *(part.column(name).to_numpy() for part in parts)])
        for name in ("crowd", "number", "size", "rank")
    )
    crowds, numbers, sizes, ranks = columns
    order = np.lexsort((ranks, crowds))
    crowds, numbers, sizes, ranks = crowds[order], numbers[order], sizes[order], ranks[order]
    still = _open_ranks(job, rounds)
    waiting = np.ones(len(ranks), np.bool_) if still is None else np.isin(ranks, still)
    starts = np.flatnonzero(np.concatenate([[True], crowds[1:] != crowds[:-1]])) if len(crowds) else order
    ends = np.append(starts[1:], len(crowds))
    group = np.repeat(np.arange(len(starts)), ends - starts)
    place = np.cumsum(waiting) - waiting
    place -= place[starts][group] if len(starts) else place
    chosen = np.flatnonzero(waiting & (place < heads))
    blocked = np.unique(ranks[waiting & (place >= heads)])
    table = pa.table({"rank": pa.array(blocked)})
    storage.write_table(job.part(f"{BLOCKED}-{rounds + 1}", bucket), iter([table]), table.schema)
    # The first of those that wait for their turn has to be decided first, so all that come before it were heads.
    documents = numbers.view(np.uint64)
    packed = sizes.astype(np.uint32)
    marked = (packed & np.uint32(_MARKED)) > 0
    for head in chosen.tolist():
        others = np.arange(head + 1, int(ends[group[head]]))
        for low in range(0, len(others), PAIRS_AT_ONCE):
            some = others[low : low + PAIRS_AT_ONCE]
            same = np.full(len(some), head)
            for inner, outer in ((same, some), (some, same)):
                used = marked[inner]
                a, b = inner[used], outer[used]
                yield from send_candidates(pairing, documents[a], packed[a], documents[b], packed[b])


def _open_ranks(job: Job, rounds: int) -> I64 | None:
    """Ranks that were open after so many rounds; None before the first."""
    if not rounds:
        return None
    folder = job.at(f"{STILL_OPEN}-{rounds}")
    found = [np.zeros(0, np.int64)]
    for one in storage.find_files(folder):
        found += [table.column("rank").to_numpy() for table in storage.read_table(one.address)]
    return np.concatenate(found)


def forget(job: Job) -> None:
    """Remove what the rounds of an earlier run left."""
    for one in storage.folders(job.out):
        if one.startswith("crowd-") or (one.startswith((f"{PAIRS}-", "candidates-")) and one[-1].isdigit()):
            storage.remove_folder(job.at(one))
