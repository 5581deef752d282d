"""Documents of a collection that may have passages in common: pairs by shared passage keys (`index.passage_keys`).

Two documents that share a run of 22 words share a key. A key of more than `CUT` documents says little, as in a
library: it leads nowhere here. The pairs are candidates: `doublet compare` and
`doublet check` verify.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from doublet.index.passage_keys import CUT, make_keys
from doublet.model import Outcome
from doublet.progress import Progress
from doublet.signatures import in_parts
from doublet.signatures.mixing import mix
from doublet.sources.records import Fields
from doublet.spark import answers, exchange, inputs, stages, storage
from doublet.spark.exchange import Sent, scatter, slots, tell
from doublet.spark.job import Job, splits_of
from doublet.spark.session import cores_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEYS, PASSAGES = "passage-keys", "passages"
PAIRS_AT_ONCE = 1 << 20
_HALF = np.uint64(32)
_ROW = np.uint64(0xFFFFFFFF)


def find_passages(
    spark: SparkSession,
    addresses: Sequence[str],
    out: str,
    *,
    least_keys: int = 2,
    most_documents: int = CUT,
    fields: Fields | None = None,
    partitions: int | None = None,
    splits: int | None = None,
    restart: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write all pairs of documents that share *least_keys* passage keys or more, with how many they share.

    A key of more than *most_documents* leads nowhere. Raises `SourceError`, `UsageError`.
    """
    progress = Progress.of(progress)
    cores = cores_of(spark)
    job = Job(out=storage.whole(out), fields=fields or Fields(), partitions=partitions or max(2, 2 * cores))
    run = stages.Run.open(
        job, addresses, splits or 3 * cores, least_split=1 if splits else inputs.LEAST_SPLIT, restart=restart
    )
    run.depend([least_keys, most_documents])
    job = run.job

    def keys() -> dict[str, Any]:
        found = exchange.answers(exchange.begin(spark, run.splits, partial(_keys_of_split, job)))
        return {"splits": sorted(found, key=lambda one: int(one["split"]))}

    made = run.stage(KEYS, keys, progress)["splits"]
    answers.write_errors(spark, run, made, progress)

    def pairs() -> dict[str, Any]:
        count = job.partitions
        posted = exchange.begin(spark, run.splits, partial(_post, job))
        led = exchange.then(posted, count, partial(_lead, job, most_documents))
        counted = exchange.then(led, count, partial(_count, job, least_keys))
        named = exchange.then(counted, count, partial(_name, job))
        found = exchange.answers(exchange.then(named, count, partial(_write, job)))
        return {"pairs": sum(found)}

    figures = run.stage(PASSAGES, pairs, progress)
    return {
        "out": job.out,
        "documents": sum(one["documents"] for one in made),
        "keys": sum(one["keys"] for one in made),
        "pairs": figures["pairs"],
        "outcomes": stages.count_outcomes(made),
        "stages": run.figures(),
        "reused": list(run.reused),
    }


def _keys_of_split(job: Job, split: int) -> Sent:
    import pyarrow as pa

    from doublet.spark.signing import binary, write_outcomes

    schema = pa.schema([("id", pa.binary()), ("keys", pa.large_binary())])
    told: dict[str, Any] = {"split": split, "documents": 0, "keys": 0, "positions": 0}
    outcomes: list[Outcome] = []

    def tables() -> Iterator[Any]:
        for batch in inputs.batches(splits_of(job)[split], job.fields, job.max_record_bytes):
            parsed = batch.parse()
            outcomes.extend(parsed.outcomes)
            told["positions"] = batch.first + batch.count
            done = 0
            for part in in_parts(parsed.texts):
                keys = make_keys(part)
                names = [
                    name.encode("utf-8", "surrogatepass") for name in parsed.ids[done : done + len(part)]
                ]
                done += len(part)
                told["documents"] += len(part)
                told["keys"] += len(keys.values)
                yield pa.table(
                    [pa.array(names, pa.binary()), binary(keys.values, keys.offsets.astype(np.int64))],
                    schema=schema,
                )

    storage.write_table(job.part(KEYS, split), tables(), schema)
    write_outcomes(job, split, outcomes)
    yield tell({**told, "outcomes": Counter(one.state for one in outcomes)})


def _post(job: Job, split: int) -> Sent:
    from doublet.spark.signing import runs

    first = 0
    for part in storage.read_table(job.part(KEYS, split), ["keys"]):
        values, offsets = runs(part.column("keys"))
        numbers = np.arange(first, first + part.num_rows, dtype=np.uint64) | np.uint64(split) << _HALF
        first += part.num_rows
        places = ((mix(values) >> _HALF) * np.uint64(job.partitions) >> _HALF).astype(np.int64)
        yield from scatter(places, job.partitions, values, np.repeat(numbers, np.diff(offsets)))


def _lead(job: Job, most: int, bucket: int, blobs: Iterator[Any]) -> Sent:  # noqa: ARG001 - the form of all steps
    """Pairs of documents that share a key, once for each key."""
    values, numbers = exchange.joined(blobs, (np.uint64, np.uint64))
    order = np.lexsort((numbers, values))
    values, numbers = values[order], numbers[order]
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]])) if len(values) else order
    lengths = np.diff(np.append(starts, len(values)))
    group = np.repeat(np.arange(len(starts)), lengths)
    ends = (starts + lengths)[group]
    widths = np.where(lengths[group] <= most, ends - np.arange(len(values)) - 1, 0)
    low = 0
    before = np.concatenate([[0], np.cumsum(widths)])
    while low < len(widths):
        high = max(low + 1, int(np.searchsorted(before, before[low] + PAIRS_AT_ONCE, side="right")) - 1)
        some = widths[low:high]
        left = np.repeat(np.arange(low, high), some)
        offset = np.cumsum(some) - some
        right = left + 1 + np.arange(len(left)) - np.repeat(offset, some)
        a, b = numbers[left], numbers[right]
        yield from scatter((a >> _HALF).astype(np.int64) % job.partitions, job.partitions, a, b)
        low = high


def _count(job: Job, least: int, owner: int, blobs: Iterator[Any]) -> Sent:
    """Pairs that share enough keys; asks for the ids of both."""
    a, b = exchange.joined(blobs, (np.uint64, np.uint64))
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    first = (
        np.flatnonzero(np.concatenate([[True], (a[1:] != a[:-1]) | (b[1:] != b[:-1])])) if len(a) else order
    )
    counts = np.diff(np.append(first, len(a)))
    used = counts >= least
    a, b, counts = a[first][used], b[first][used], counts[used].astype(np.uint32)
    table = _pair_table(a, b, counts)
    storage.write_table(job.part(f"{KEYS}-pairs", owner), iter([table]), table.schema)
    wanted = np.unique(np.concatenate([a, b]))
    places = (wanted >> _HALF).astype(np.int64) % job.partitions
    yield from scatter(places, job.partitions, wanted, np.full(len(wanted), owner, np.uint32))


def _pair_table(a: Any, b: Any, counts: Any) -> Any:
    import pyarrow as pa

    return pa.table(
        {"a": pa.array(a.view(np.int64)), "b": pa.array(b.view(np.int64)), "keys": pa.array(counts)}
    )


def _name(job: Job, owner: int, blobs: Iterator[Any]) -> Sent:  # noqa: ARG001
    import pickle

    wanted, askers = exchange.joined(blobs, (np.uint64, np.uint32))
    names = slots(job.partitions)
    for split in np.unique(wanted >> _HALF).tolist():
        mine = np.flatnonzero(wanted >> _HALF == split)
        ids = [
            one
            for part in storage.read_table(job.part(KEYS, split), ["id"])
            for one in part.column("id").to_pylist()
        ]
        for asker in np.unique(askers[mine]).tolist():
            some = wanted[mine[askers[mine] == asker]].tolist()
            for at in range(0, len(some), 2000):
                told = {number: ids[number & 0xFFFFFFFF] for number in some[at : at + 2000]}
                yield names[asker], pickle.dumps(told)


def _write(job: Job, owner: int, blobs: Iterator[Any]) -> Sent:
    import pickle

    import pyarrow as pa

    ids: dict[int, bytes] = {}
    for blob in blobs:
        ids.update(pickle.loads(bytes(blob)))  # made by the step before
    rows: list[tuple[str, str, int]] = []
    address = job.part(f"{KEYS}-pairs", owner)
    if storage.size_of(address) >= 0:
        for part in storage.read_table(address):
            for a, b, count in zip(
                *(part.column(name).to_pylist() for name in ("a", "b", "keys")), strict=True
            ):
                one, other = sorted((_text(ids[a]), _text(ids[b])))
                rows.append((one, other, count))
    rows.sort(key=lambda row: (-row[2], row[0], row[1]))
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    table = pa.table(
        [
            pa.array(list(columns[0]), pa.string()),
            pa.array(list(columns[1]), pa.string()),
            pa.array(list(columns[2]), pa.int64()),
        ],
        names=["a", "b", "keys"],
    )
    yield tell(storage.write_table(job.part(PASSAGES, owner), iter([table]), table.schema))


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogatepass").encode("utf-8", "backslashreplace").decode()
