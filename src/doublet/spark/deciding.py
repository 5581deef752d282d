"""Verified pairs → who stays and who goes to whom: the rule of `matches.keepers`, in one pass over the sorted pairs.

Documents that have a pair get their rank in the order of preference. Pairs are sorted by the rank of the later
document, and one task goes through them: when it comes to a document, all before it are decided, so the document
goes when one of its coverers stays. The pass holds a byte for each document and some pairs, and sends each pair
twice, whatever chains the pairs make. Documents without a pair stay and are never looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from doublet.spark import roles, storage
from doublet.spark.exchange import slots
from doublet.spark.frames import read_frame, stage_tables, write_frame
from doublet.spark.job import Job
from doublet.spark.order import Order
from doublet.spark.pairing import PAIRS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
U8 = NDArray[np.uint8]

STAYS, GOES, OPEN = 0, 1, 2  #: what was decided about a document

LINKS, RANKS = "links", "ranks"
PAIRS_AT_ONCE = 1 << 19

NODE = ("number", "id", "size", "words", "c1", "c2", "whole")
NODE_KINDS = ("long", "binary", "long", "long", "double", "long", "long")
PAIR = ", ".join(
    [
        f"{side}_{name} {kind}"
        for side in ("inner", "outer")
        for name, kind in zip(NODE, NODE_KINDS, strict=True)
    ]
    + ["common long"]
)


def pair_frame(spark: SparkSession, job: Job, order: Order, stages: Sequence[str] = (PAIRS,)) -> DataFrame:
    """The verified pairs with what their documents are ordered by."""

    def tables(part: int) -> Iterator[Any]:
        for stage in stages:
            for table in stage_tables(job, stage, part):
                yield with_keys(table, order)

    return read_frame(spark, job.partitions, PAIR, tables)


def with_keys(table: Any, order: Order, sides: Sequence[str] = ("inner_", "outer_")) -> Any:
    """The table with what documents are ordered by in place of times and sources."""
    import pyarrow as pa

    columns: list[Any] = []
    for side in sides:
        number, name, size, words = (table.column(side + c) for c in ("number", "id", "size", "words"))
        facts = zip(
            words.to_pylist(),
            table.column(f"{side}time").to_pylist(),
            table.column(f"{side}source").to_pylist(),
            strict=True,
        )
        keys = [(0.0, 0) if order.keep == "first" else order.columns(*fact) for fact in facts]
        whole = [order.id_key(one) if order.whole_ids else 0 for one in name.to_pylist()]
        columns += [
            number,
            name,
            size,
            words,
            pa.array([key[0] for key in keys], pa.float64()),
            pa.array([key[1] for key in keys], pa.int64()),
            pa.array(whole, pa.int64()),
        ]
    names = [side + name for side in sides for name in NODE]
    if "common" in table.column_names:
        columns.append(table.column("common"))
        names.append("common")
    return pa.table(columns, names=names)


def nodes_of(pairs: DataFrame) -> DataFrame:
    """The documents of the pairs, each once."""
    sides = [pairs.selectExpr(*(f"{side}_{name} as {name}" for name in NODE)) for side in ("inner", "outer")]
    return sides[0].union(sides[1]).dropDuplicates(["number"])


def without_excluded(spark: SparkSession, job: Job, nodes: DataFrame, splits: int) -> DataFrame:
    """Documents that were left out take no part, whatever they hold."""
    excluded = read_frame(spark, splits, "number long", partial(_excluded, job))
    return nodes.join(excluded, "number", "left_anti")


def _excluded(job: Job, split: int) -> Iterator[Any]:
    import pyarrow as pa

    rows = roles.Roles.read(job, split).excluded
    yield pa.table({"number": pa.array(rows | np.int64(split) << np.int64(32))})


def rank_nodes(job: Job, nodes: DataFrame, contained: DataFrame | None) -> int:
    """Write the documents in the order of preference with their ranks; gives their number.

    *contained* are the numbers of those that lie inside a longer one: they come last, the longest first.
    """
    from pyspark.sql import functions as f

    if contained is None:
        nodes = nodes.withColumn("inside", f.lit(0)).withColumn("shorter", f.lit(0))
    else:
        nodes = nodes.join(contained.withColumn("inside", f.lit(1)), "number", "left")
        nodes = nodes.fillna(0, ["inside"]).withColumn("shorter", f.expr("if(inside = 1, -size, 0)"))
    ordered = nodes.orderBy("inside", "shorter", "c1", "c2", "whole", "id")
    return write_frame(ordered.select("number"), job, RANKS)


def rank_frame(spark: SparkSession, job: Job) -> tuple[DataFrame, int]:
    """Numbers and ranks without gaps, and how many there are."""
    files = storage.find_files(job.at(RANKS)) if storage.exists(job.at(RANKS)) else []
    counts = [sum(t.num_rows for t in storage.read_table(one.address, ["number"])) for one in files]
    before = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    def tables(part: int) -> Iterator[Any]:
        import pyarrow as pa

        first = int(before[part])
        for table in storage.read_table(files[part].address):
            ranks = np.arange(first, first + table.num_rows, dtype=np.int64)
            first += table.num_rows
            yield pa.table([table.column("number"), pa.array(ranks)], names=["number", "rank"])

    return read_frame(spark, len(files), "number long, rank long", tables), int(before[-1])


def edge_frame(pairs: DataFrame, ranks: DataFrame, job: Job) -> DataFrame:
    """Pairs in which the earlier document covers the later one."""
    from pyspark.sql import functions as f

    inner = ranks.selectExpr("number as inner_number", "rank as inner_rank")
    outer = ranks.selectExpr("number as outer_number", "rank as outer_rank")
    both = pairs.join(inner, "inner_number").join(outer, "outer_number")
    later, earlier = (
        {
            name: f"if(inner_rank {sign} outer_rank, inner_{name}, outer_{name})"
            for name in ("rank", *NODE[:3])
        }
        for sign in (">", "<")
    )
    edges = both.selectExpr(
        *(f"{later[name]} as {name}" for name in ("rank", *NODE[:3])),
        f"{earlier['rank']} as by",
        *(f"{earlier[name]} as by_{name}" for name in NODE[:3]),
        "common",
    )
    alike = f.col("common") / (f.col("size") + f.col("by_size") - f.col("common")) >= f.lit(job.threshold)
    if job.containment:
        inside = f.col("common") / f.col("size") >= f.lit(job.containment)
        alike = alike | ((f.col("size") <= f.col("by_size")) & inside)
    return edges.where(alike)


LINK = "number long, id binary, keeper long, keeper_id binary, resemblance double, containment double"


def decide(job: Job, edges: DataFrame, nodes: int) -> int:
    """Write the closest keeper of every document that goes, a file for each owner; gives their number."""
    from pyspark.sql import functions as f

    links = edges.orderBy("rank", "by").coalesce(1).mapInArrow(partial(_pass, nodes, links_of), LINK)
    places = f.array(*(f.lit(slot) for slot in slots(job.partitions)))
    owner = (f.shiftrightunsigned("number", 32) % job.partitions).cast("int")
    return write_frame(links.repartition(job.partitions, f.get(places, owner)), job, LINKS)


def find_open(job: Job, edges: DataFrame, blocked: DataFrame, nodes: int, stage: str) -> int:
    """Write the ranks of documents that cannot be decided yet, since some that come before were not compared with them
    (*blocked*) or are not decided themselves; gives their number."""
    marks = blocked.distinct().selectExpr("rank", "-1L as by")
    both = edges.select("rank", "by").union(marks).orderBy("rank", "by").coalesce(1)
    return write_frame(both.mapInArrow(partial(_pass, nodes, _open), "rank long"), job, stage)


def _pass(nodes: int, tell: Callable[[Any, U8], Iterator[Any]], batches: Iterator[Any]) -> Iterator[Any]:
    """Go through sorted edges, many at a time."""
    import pyarrow as pa

    states = np.zeros(nodes, np.uint8)
    held: list[Any] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= PAIRS_AT_ONCE:
            table = pa.Table.from_batches(held)
            ranks = table.column("rank").to_numpy()
            whole = int(np.searchsorted(ranks, ranks[-1]))  # the last document may have more
            if whole:
                yield from tell(table.slice(0, whole), states)
            rest = table.slice(whole)
            held, rows = rest.to_batches(), rest.num_rows
    if rows:
        yield from tell(pa.Table.from_batches(held), states)


def _open(table: Any, states: U8) -> Iterator[Any]:
    import pyarrow as pa

    rank = table.column("rank").to_numpy()
    settle(rank, table.column("by").to_numpy(), states)
    found = np.unique(rank)
    yield pa.record_batch([pa.array(found[states[found] == OPEN])], names=["rank"])


def links_of(table: Any, states: U8) -> Iterator[Any]:
    """The closest keepers of documents whose edges these are, sorted by *rank* and *by*; brings *states* up to date."""
    import pyarrow as pa

    rank, by = table.column("rank").to_numpy(), table.column("by").to_numpy()
    settle(rank, by, states)
    alive = np.flatnonzero(states[by] == STAYS)
    table, rank, by = table.take(alive), rank[alive], by[alive]
    common, size, by_size = (
        table.column(name).to_numpy().astype(np.float64) for name in ("common", "size", "by_size")
    )
    resemblance, containment = common / np.maximum(size + by_size - common, 1), common / np.maximum(size, 1)
    order = np.lexsort((by, -containment, -resemblance, rank))
    first = np.ones(len(order), np.bool_)
    first[1:] = rank[order][1:] != rank[order][:-1]
    best = order[first]
    chosen = table.take(best)
    columns = [chosen.column(name) for name in ("number", "id", "by_number", "by_id")]
    out = pa.table(
        [*columns, pa.array(resemblance[best]), pa.array(containment[best])],
        names=[part.split()[0] for part in LINK.split(", ")],
    )
    yield from out.combine_chunks().to_batches(max_chunksize=4096)


def settle(rank: I64, by: I64, states: U8) -> None:
    """Decide documents whose earlier coverers are these; -1 stands for one that is not known yet.

    *rank* is sorted, then *by*; all ranks before are settled. A document goes when a coverer stays, and is open when
    one of them is.
    """
    start = int(rank[0])
    known = by < start
    theirs = np.where(by[known] < 0, OPEN, states[by[known]])
    states[rank[known][theirs == OPEN]] = OPEN
    states[rank[known][theirs == STAYS]] = GOES
    # Coverers among these documents themselves: one after the other.
    inside = np.flatnonzero(~known)
    if len(inside):
        some = bytearray(states[start : int(rank[-1]) + 1].tobytes())
        for document, coverer in zip(
            (rank[inside] - start).tolist(), (by[inside] - start).tolist(), strict=True
        ):
            if some[coverer] == STAYS:
                some[document] = GOES
            elif some[coverer] == OPEN and some[document] == STAYS:
                some[document] = OPEN
        states[start : start + len(some)] = np.frombuffer(some, np.uint8)
