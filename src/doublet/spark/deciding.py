"""Verified pairs → who stays and who goes to whom: the rule of `matches.keepers`, in one pass over the sorted pairs.

Documents that have a pair get their rank in the order of preference. Pairs are sorted by the rank of the later document,
and one task goes through them: when it comes to a document, all before it are decided, so the document goes when one of
its coverers stays. The pass holds a bit for each document and some pairs, and sends each pair twice, whatever chains
the pairs make. Documents without a pair stay and are never looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
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
Mask = NDArray[np.bool_]

LINKS, RANKS = "links", "ranks"
PAIRS_AT_ONCE = 1 << 19
RANK_BITS = 33  #: of the place in a partition, in the numbers that Spark gives to sorted rows

PAIR = (
    "inner_number long, inner_id binary, inner_size long, inner_words long, inner_c1 double, inner_c2 long, "
    "inner_whole long, outer_number long, outer_id binary, outer_size long, outer_words long, outer_c1 double, "
    "outer_c2 long, outer_whole long, common long"
)
NODE = ("number", "id", "size", "words", "c1", "c2", "whole")


def pair_frame(spark: SparkSession, job: Job, order: Order, stages: tuple[str, ...] = (PAIRS,)) -> DataFrame:
    """The verified pairs with what their documents are ordered by."""

    def tables(part: int) -> Iterator[Any]:
        for stage in stages:
            for table in stage_tables(job, stage, part):
                yield _with_keys(table, order)

    return read_frame(spark, job.partitions, PAIR, tables)


def _with_keys(table: Any, order: Order) -> Any:
    import pyarrow as pa

    columns: list[Any] = []
    for side in ("inner", "outer"):
        number, name, size, words = (table.column(f"{side}_{c}") for c in ("number", "id", "size", "words"))
        facts = zip(
            words.to_pylist(),
            table.column(f"{side}_time").to_pylist(),
            table.column(f"{side}_source").to_pylist(),
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
    names = [part.split()[0] for part in PAIR.split(", ")]
    return pa.table([*columns, table.column("common")], names=names)


def nodes_of(pairs: DataFrame) -> DataFrame:
    """The documents of the pairs, each once."""
    sides = [
        pairs.selectExpr(*(f"{side}_{name} as {name}" for name in NODE)) for side in ("inner", "outer")
    ]
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
    ranked = ordered.select("number", f.monotonically_increasing_id().alias("rank"))
    return write_frame(ranked, job, RANKS)


def rank_frame(spark: SparkSession, job: Job) -> tuple[DataFrame, int]:
    """Numbers and ranks without gaps, and how many there are."""
    files = storage.find_files(job.at(RANKS))
    counts = [sum(t.num_rows for t in storage.read_table(one.address, ["rank"])) for one in files]
    before = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    def tables(part: int) -> Iterator[Any]:
        import pyarrow as pa

        first = int(before[part])
        for table in storage.read_table(files[part].address):
            ranks = np.arange(first, first + table.num_rows, dtype=np.int64)
            first += table.num_rows
            yield pa.table([table.column("number"), pa.array(ranks)], names=["number", "rank"])

    return read_frame(spark, len(files), "number long, rank long", tables), int(before[-1])


EDGE = "rank long, number long, id binary, size long, by long, by_number long, by_id binary, by_size long, common long"


def edge_frame(pairs: DataFrame, ranks: DataFrame, job: Job) -> DataFrame:
    """Pairs in which the earlier document covers the later one."""
    from pyspark.sql import functions as f

    inner = ranks.selectExpr("number as inner_number", "rank as inner_rank")
    outer = ranks.selectExpr("number as outer_number", "rank as outer_rank")
    both = pairs.join(inner, "inner_number").join(outer, "outer_number")
    later, earlier = (
        {name: f"if(inner_rank {sign} outer_rank, inner_{name}, outer_{name})" for name in ("rank", *NODE[:3])}
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

    links = edges.orderBy("rank", "by").coalesce(1).mapInArrow(partial(_pass, nodes), LINK)
    places = f.array(*(f.lit(slot) for slot in slots(job.partitions)))
    owner = (f.shiftrightunsigned("number", 32) % job.partitions).cast("int")
    return write_frame(links.repartition(job.partitions, f.get(places, owner)), job, LINKS)


def _pass(nodes: int, batches: Iterator[Any]) -> Iterator[Any]:
    """Go through sorted edges, many at a time."""
    import pyarrow as pa

    gone = np.zeros(nodes, np.bool_)
    held: list[Any] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= PAIRS_AT_ONCE:
            table = pa.Table.from_batches(held)
            ranks = table.column("rank").to_numpy()
            whole = int(np.searchsorted(ranks, ranks[-1]))  # the last document may have more
            yield from _links(table.slice(0, whole), gone)
            rest = table.slice(whole)
            held, rows = rest.to_batches(), rest.num_rows
    if held:
        yield from _links(pa.Table.from_batches(held), gone)


def _links(table: Any, gone: Mask) -> Iterator[Any]:
    import pyarrow as pa

    if not table.num_rows:
        return
    rank, by = table.column("rank").to_numpy(), table.column("by").to_numpy()
    settle(rank, by, gone)
    alive = np.flatnonzero(~gone[by])
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


def settle(rank: I64, by: I64, gone: Mask) -> None:
    """Mark who goes, of documents whose earlier coverers are these. *rank* is sorted; all ranks before are settled."""
    start = int(rank[0])
    known = by < start
    gone[rank[known & ~gone[by]]] = True
    # Coverers among these documents themselves: one after the other.
    inside = np.flatnonzero(~known)
    if len(inside):
        some = bytearray(gone[start : int(rank[-1]) + 1].tobytes())
        for document, coverer in zip((rank[inside] - start).tolist(), (by[inside] - start).tolist(), strict=True):
            if not some[coverer]:
                some[document] = 1
        gone[start : start + len(some)] = np.frombuffer(some, np.bool_)
