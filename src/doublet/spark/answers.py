"""Links → what the user gets: groups with reasons, kept documents, and the table of errors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from doublet.jobs.dedupe.answers import group_id
from doublet.spark import inputs, storage
from doublet.spark.deciding import LINK, LINKS
from doublet.spark.exchange import Sent, tell
from doublet.spark.frames import read_frame, stage_tables, write_frame
from doublet.spark.job import Job, splits_of
from doublet.spark.roles import IDS, SETS, Roles
from doublet.spark.signing import OUTCOMES, SIGNATURES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GROUPS, KEPT, ERRORS = "groups", "kept", "errors"
GROUP = (
    "group string, keep string, member string, resemblance double, containment double, within string, step string"
)
FOLLOWER = "number long, id binary, leader long, leader_id binary"
_HALF = np.int64(32)


def link_frame(spark: SparkSession, job: Job) -> DataFrame:
    return read_frame(spark, job.partitions, LINK, partial(stage_tables, job, LINKS))


def all_links(spark: SparkSession, job: Job, splits: int) -> DataFrame:
    """Links of all documents that go: also of those that follow an equal one."""
    links = link_frame(spark, job)
    followers = read_frame(spark, splits, FOLLOWER, partial(_followers, job))
    theirs = links.selectExpr(
        "number as leader", "keeper", "keeper_id", "resemblance", "containment"
    )
    followed = followers.join(theirs, "leader", "left").selectExpr(
        "number",
        "id",
        "coalesce(keeper, leader) as keeper",
        "coalesce(keeper_id, leader_id) as keeper_id",
        "coalesce(resemblance, 1D) as resemblance",
        "coalesce(containment, 1D) as containment",
    )
    return links.select(*followed.columns).union(followed)


def _followers(job: Job, split: int) -> Iterator[Any]:
    import pyarrow as pa

    for table in stage_tables(job, SETS, split):
        rows = table.column("row").to_numpy()
        names: list[bytes] = []
        first = 0
        for part in storage.read_table(job.part(SIGNATURES, split), ["id"]) if len(rows) else ():
            low, high = np.searchsorted(rows, (first, first + part.num_rows)).tolist()
            names += part.column("id").take(rows[low:high] - first).to_pylist()
            first += part.num_rows
        numbers = rows | np.int64(split) << _HALF
        yield pa.table(
            [pa.array(numbers), pa.array(names, pa.binary()), table.column("leader"), table.column("leader_id")],
            names=["number", "id", "leader", "leader_id"],
        )


def write_groups(spark: SparkSession, job: Job, splits: int) -> int:
    """Every removed document with its keeper and the reason, by the kept id; gives their number."""
    rows = all_links(spark, job, splits).mapInArrow(partial(_group_rows, job.threshold), GROUP)
    ordered = rows.orderBy("keep", "resemblance", "containment", "member")
    return write_frame(ordered, job, GROUPS)


def _group_rows(threshold: float, batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        keeps, members = (
            [name.decode("utf-8", "surrogatepass") for name in batch.column(c).to_pylist()]
            for c in ("keeper_id", "id")
        )
        likes = batch.column("resemblance").to_pylist()
        yield pa.record_batch(
            [
                pa.array([group_id(name) for name in keeps], pa.string()),
                *(pa.array([_utf8(name) for name in names], pa.string()) for names in (keeps, members)),
                batch.column("resemblance"),
                batch.column("containment"),
                pa.array(
                    [_utf8(k) if like < threshold else None for k, like in zip(keeps, likes, strict=True)], pa.string()
                ),
                pa.array(["exact" if like == 1.0 else "shingles" for like in likes], pa.string()),
            ],
            names=[part.split()[0] for part in GROUP.split(", ")],
        )


def _utf8(name: str) -> str:
    """Tables hold UTF-8: half of a character in an id is written as the six letters that JSON has for it."""
    return name.encode("utf-8", "backslashreplace").decode()


def kept_split(job: Job, split: int) -> Sent:
    """Write the documents of a split that stay."""
    import pyarrow as pa

    roles = Roles.read(job, split)
    gone = [roles.excluded, roles.followers]
    for table in stage_tables(job, LINKS, split % job.partitions, ["number"]):
        numbers = table.column("number").to_numpy()
        gone.append(numbers[numbers >> _HALF == split] & np.int64(0xFFFFFFFF))
    positions = np.concatenate(
        [np.zeros(0, np.uint32), *(t.column("position").to_numpy() for t in storage.read_table(job.part(SIGNATURES, split), ["position"]))]
    )
    stays = np.ones(len(positions), np.bool_)
    stays[np.concatenate(gone)] = False
    kept = set(positions[stays].tolist())
    schema = pa.schema([(name, pa.string()) for name in ("id", "text", "time", "source", "title", "address")])

    def tables() -> Iterator[Any]:
        for batch in inputs.batches(splits_of(job)[split], job.fields, job.max_record_bytes):
            parsed = batch.parse()
            used = [i for i, position in enumerate(parsed.positions) if position in kept]
            columns = [parsed.ids, parsed.texts, parsed.times, parsed.sources, parsed.titles, parsed.addresses]
            yield pa.table(
                [pa.array([_utf8(c[i]) for i in used] if c else [None] * len(used), pa.string()) for c in columns],
                schema=schema,
            )

    yield tell(storage.write_table(job.part(KEPT, split), tables(), schema))


def errors_split(job: Job, lines_before: list[int], split: int) -> Sent:
    """Write the records of a split that could not be used as they were, with the lines of the whole file."""
    import pyarrow as pa

    rows: list[tuple[str, str, str, str]] = []
    own = splits_of(job)[split]
    for table in storage.read_table(job.part(OUTCOMES, split)):
        columns = [[one.decode() for one in table.column(c).to_pylist()] for c in table.column_names]
        for state, name, place, reason in zip(*columns, strict=True):
            rows.append((state, name, _place(own, place, lines_before[split]), reason))
    for table in stage_tables(job, IDS, split):
        for name in table.column("leader_id").to_pylist():
            spelled = name.decode("utf-8", "surrogatepass")
            reason = f"other records have the id {spelled!r} too: one of them is used, this one is left out"
            rows.append(("duplicate_id", _utf8(spelled), "", reason))
    columns = list(zip(*rows, strict=True)) if rows else [[], [], [], []]
    names = ["state", "id", "place", "reason"]
    found = pa.table([pa.array(list(c), pa.string()) for c in columns], names=names)
    yield tell(storage.write_table(job.part(ERRORS, split), iter([found]), found.schema))


def _place(split: inputs.Split, place: str, before: int) -> str:
    head, mark, number = place.rpartition(":")
    if split.kind == "lines" and before and mark and head == split.label and number.isdigit():
        return f"{head}:{int(number) + before}"
    return place
