"""Links → what the user gets: groups with reasons, kept documents, and the table of errors."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from doublet.jobs.dedupe.answers import group_id
from doublet.model import Note
from doublet.progress import Progress
from doublet.spark import exchange, inputs, stages, storage
from doublet.spark.deciding import LINKS
from doublet.spark.exchange import Sent, slots, tell
from doublet.spark.frames import stage_tables
from doublet.spark.job import Job, splits_of
from doublet.spark.related import REWORDED
from doublet.spark.roles import IDS, SETS, Roles
from doublet.spark.signing import OUTCOMES, SIGNATURES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GROUPS, KEPT, ERRORS = "groups", "kept", "errors"
_HALF = np.int64(32)


def write_groups(spark: SparkSession, job: Job, splits: int) -> int:
    """Every removed document with its keeper and the reason; gives their number. A group is in one file, the closest
    first."""
    count = job.partitions
    followed = exchange.begin(spark, splits, partial(_follow, job))
    linked = exchange.then(followed, count, partial(_link, job))
    return sum(exchange.answers(exchange.then(linked, count, partial(_group, job))))


def _follow(job: Job, split: int) -> Sent:
    """Documents with the set of another one, to the owner of that one."""
    names = slots(job.partitions)
    for table in stage_tables(job, SETS, split):
        rows = table.column("row").to_numpy()
        ids: list[bytes] = []
        first = 0
        for part in storage.read_table(job.part(SIGNATURES, split), ["id"]) if len(rows) else ():
            low, high = np.searchsorted(rows, (first, first + part.num_rows)).tolist()
            ids += part.column("id").take(rows[low:high] - first).to_pylist()
            first += part.num_rows
        leaders = table.column("leader").to_pylist()
        told = sorted(
            zip(leaders, table.column("leader_id").to_pylist(), ids, strict=True),
            key=lambda row: _owner(job, row[0]),
        )
        for owner, some in groupby(told, key=lambda row: _owner(job, row[0])):
            mine = list(some)
            for at in range(0, len(mine), 1000):
                yield names[owner], pickle.dumps(mine[at : at + 1000])


def _owner(job: Job, number: int) -> int:
    return (number >> 32) % job.partitions


def _link(job: Job, owner: int, blobs: Iterator[Any]) -> Sent:
    """Links of an owner's documents and of their followers, to where the groups of their keepers are put together."""
    links: dict[int, tuple[bytes, float, float]] = {}
    rows: list[
        tuple[bytes, bytes, float, float, bool]
    ] = []  # keeper, document, measures, whether it is reworded
    names = slots(job.partitions)
    for table in stage_tables(job, LINKS, owner):
        columns = (
            table.column(c).to_pylist() for c in ("number", "id", "keeper_id", "resemblance", "containment")
        )
        for number, name, keeper, like, inside in zip(*columns, strict=True):
            links[number] = keeper, like, inside
            rows.append((keeper, name, like, inside, False))
    for table in stage_tables(job, REWORDED, owner):
        columns = (table.column(c).to_pylist() for c in ("keeper_id", "id", "resemblance", "containment"))
        rows += [(*row, True) for row in zip(*columns, strict=True)]
    for blob in blobs:
        for leader, leader_id, name in pickle.loads(bytes(blob)):  # made by the step before
            keeper, like, inside = links.get(leader, (leader_id, 1.0, 1.0))
            rows.append((keeper, name, like, inside, False))
    rows.sort(key=lambda row: zlib.crc32(row[0]) % job.partitions)
    for place, some in groupby(rows, key=lambda row: zlib.crc32(row[0]) % job.partitions):
        mine = list(some)
        for at in range(0, len(mine), 1000):
            yield names[place], pickle.dumps(mine[at : at + 1000])


def _group(job: Job, place: int, blobs: Iterator[Any]) -> Sent:
    import pyarrow as pa

    rows = [row for blob in blobs for row in pickle.loads(bytes(blob))]  # made by the step before
    rows.sort(key=lambda row: (row[0], -row[2], -row[3], row[1]))
    keeps, members = ([row[i].decode("utf-8", "surrogatepass") for row in rows] for i in (0, 1))
    likes = [row[2] for row in rows]
    within = [
        _utf8(keep) if row[2] < job.threshold and not row[4] else None
        for keep, row in zip(keeps, rows, strict=True)
    ]
    steps = ["meaning" if row[4] else "exact" if row[2] == 1.0 else "shingles" for row in rows]
    table = pa.table(
        {
            "group": pa.array([group_id(name) for name in keeps], pa.string()),
            "keep": pa.array([_utf8(name) for name in keeps], pa.string()),
            "id": pa.array([_utf8(name) for name in members], pa.string()),
            "resemblance": pa.array(likes, pa.float64()),
            "containment": pa.array([row[3] for row in rows], pa.float64()),
            "contained_in": pa.array(within, pa.string()),
            "step": pa.array(steps, pa.string()),
        }
    )
    yield tell(storage.write_table(job.part(GROUPS, place), iter([table]), table.schema))


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
    for table in stage_tables(job, REWORDED, 0, ["number"]):
        numbers = table.column("number").to_numpy()
        gone.append(numbers[numbers >> _HALF == split] & np.int64(0xFFFFFFFF))
    positions = np.concatenate(
        [
            np.zeros(0, np.uint32),
            *(
                t.column("position").to_numpy()
                for t in storage.read_table(job.part(SIGNATURES, split), ["position"])
            ),
        ]
    )
    stays = np.ones(len(positions), np.bool_)
    stays[np.concatenate(gone)] = False
    kept = set(positions[stays].tolist())
    schema = pa.schema([(name, pa.string()) for name in ("id", "text", "time", "source", "title", "address")])

    def tables() -> Iterator[Any]:
        for batch in inputs.batches(splits_of(job)[split], job.fields, job.max_record_bytes):
            parsed = batch.parse()
            used = [i for i, position in enumerate(parsed.positions) if position in kept]
            columns = [
                parsed.ids,
                parsed.texts,
                parsed.times,
                parsed.sources,
                parsed.titles,
                parsed.addresses,
            ]
            yield pa.table(
                [
                    pa.array([_utf8(c[i]) for i in used] if c else [None] * len(used), pa.string())
                    for c in columns
                ],
                schema=schema,
            )

    yield tell(storage.write_table(job.part(KEPT, split), tables(), schema))


def write_errors(
    spark: SparkSession, run: stages.Run, told: Sequence[Mapping[str, Any]], progress: Progress
) -> None:
    """The table of errors: what could not be read, and the records whose id others have too. *told* is what the
    tasks that read the splits said."""
    before = inputs.lines_before(run.listing, [one["positions"] for one in told])
    work = partial(_errors_of_split, run.job, before)
    run.stage(
        ERRORS, lambda: {"rows": sum(exchange.answers(exchange.begin(spark, run.splits, work)))}, progress
    )


def _errors_of_split(job: Job, lines_before: list[int], split: int) -> Sent:
    """Write the records of a split that could not be used as they were, with the lines of the whole file."""
    import pyarrow as pa

    rows: list[tuple[str, str, str, str, str]] = []
    own = splits_of(job)[split]
    for table in storage.read_table(job.part(OUTCOMES, split)):
        columns = [[one.decode() for one in table.column(c).to_pylist()] for c in table.column_names]
        for state, name, place, code, reason in zip(*columns, strict=True):
            rows.append((state, name, _place(own, place, lines_before[split]), code, reason))
    for table in stage_tables(job, IDS, split):
        for name in table.column("leader_id").to_pylist():
            spelled = name.decode("utf-8", "surrogatepass")
            note = Note("id_left_out", name=spelled)
            rows.append(("duplicate_id", _utf8(spelled), "", note.code, _utf8(str(note))))
    names = ["state", "id", "place", "code", "reason"]
    found = pa.table([pa.array([row[i] for row in rows], pa.string()) for i in range(5)], names=names)
    yield tell(storage.write_table(job.part(ERRORS, split), iter([found]), found.schema))


def _place(split: inputs.Split, place: str, before: int) -> str:
    head, mark, number = place.rpartition(":")
    if split.kind == "lines" and before and mark and head == split.label and number.isdigit():
        return f"{head}:{int(number) + before}"
    return place
