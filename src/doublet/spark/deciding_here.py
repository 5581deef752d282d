"""The same as `deciding` in one task, for pairs that fit into its memory.

For a million pairs sorting over many machines takes longer than the work itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from doublet.spark import storage
from doublet.spark.deciding import LINK, LINKS, links_of
from doublet.spark.exchange import Sent, tell
from doublet.spark.frames import stage_tables
from doublet.spark.job import Job
from doublet.spark.order import Order
from doublet.spark.pairing import PAIRS
from doublet.spark.roles import Roles

MOST_PAIRS = 1_000_000


def decide_here(job: Job, order: Order, splits: int, inside: str | None, task: int) -> Sent:
    """Write the closest keeper of every document that goes, a file for each owner; tells their number.

    *inside*: the stage with the pairs that say who lies inside a longer one; None when that does not matter.
    """
    del task
    excluded = _excluded(job, splits)
    nodes: dict[int, tuple[Any, ...]] = {}  # number → key of the order, id, size
    pairs: list[tuple[int, int, int]] = []
    for row in _rows(job, PAIRS):
        (a, *facts_a), (b, *facts_b), common = row
        if a in excluded or b in excluded:
            continue
        for number, (name, size, words, time, source) in ((a, facts_a), (b, facts_b)):
            if number not in nodes:
                nodes[number] = order.key(name, words, time, source), name, size
        pairs.append((a, b, common))
    held = contained_in(job, inside)

    def place(number: int) -> tuple[Any, ...]:
        key, _, size = nodes[number]
        return order.placed(key, size, number in held)

    ranks = {number: rank for rank, number in enumerate(sorted(nodes, key=place))}
    edges = []
    for a, b, common in pairs:
        later, earlier = (a, b) if ranks[a] > ranks[b] else (b, a)
        size, by_size = nodes[later][2], nodes[earlier][2]
        alike = common / (size + by_size - common) >= job.threshold
        within = job.containment > 0 and size <= by_size and common / size >= job.containment
        if alike or within:
            edges.append((ranks[later], ranks[earlier], later, earlier, common))
    edges.sort()
    yield tell(_write(job, _edge_table(edges, nodes), len(nodes)))


def contained_in(job: Job, stage: str | None) -> set[int]:
    """Documents that lie inside a longer one, by the pairs of a stage; none without one."""
    found = set()
    for (a, _, size, *_), (_, _, other, *_), common in _rows(job, stage) if stage is not None else ():
        if size < other and common / size >= job.containment:
            found.add(a)
    return found


def _edge_table(edges: Sequence[tuple[int, int, int, int, int]], nodes: dict[int, tuple[Any, ...]]) -> Any:
    import pyarrow as pa

    later, earlier = [edge[2] for edge in edges], [edge[3] for edge in edges]
    return pa.table(
        {
            "rank": pa.array([edge[0] for edge in edges], pa.int64()),
            "number": pa.array(later, pa.int64()),
            "id": pa.array([nodes[n][1] for n in later], pa.binary()),
            "size": pa.array([nodes[n][2] for n in later], pa.int64()),
            "by": pa.array([edge[1] for edge in edges], pa.int64()),
            "by_number": pa.array(earlier, pa.int64()),
            "by_id": pa.array([nodes[n][1] for n in earlier], pa.binary()),
            "by_size": pa.array([nodes[n][2] for n in earlier], pa.int64()),
            "common": pa.array([edge[4] for edge in edges], pa.int64()),
        }
    )


def _write(job: Job, edges: Any, count: int) -> int:
    import pyarrow as pa

    found = [*links_of(edges, np.zeros(count, np.uint8))] if edges.num_rows else []
    if not found:
        return 0
    links = pa.Table.from_batches(found)
    owners = (links.column("number").to_numpy() >> np.int64(32)) % job.partitions
    names = [part.split()[0] for part in LINK.split(", ")]
    for owner in np.unique(owners).tolist():
        mine = links.take(np.flatnonzero(owners == owner)).select(names)
        storage.write_table(job.part(LINKS, owner), iter([mine]), mine.schema)
    return int(links.num_rows)


def _rows(job: Job, stage: str) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...], int]]:
    names = ("number", "id", "size", "words", "time", "source")
    for owner in range(job.partitions):
        for table in stage_tables(job, stage, owner):
            inner, outer = (
                zip(*(table.column(f"{side}_{name}").to_pylist() for name in names), strict=True)
                for side in ("inner", "outer")
            )
            yield from zip(inner, outer, table.column("common").to_pylist(), strict=True)


def _excluded(job: Job, splits: int) -> set[int]:
    out: set[int] = set()
    for split in range(splits):
        out.update((Roles.read(job, split).excluded | np.int64(split) << np.int64(32)).tolist())
    return out
