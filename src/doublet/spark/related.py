"""Kept documents that are edited or reworded copies of each other, over Spark: the last step of the method "auto".

The sample of fingerprints that leads to them has a fixed size (`index.sampled`), so one task makes the pairs; their
texts and sets are sent to it, and `matches.copies` tells what they are. The answer is that of one machine.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.index.sampled import MOST_DOCUMENTS, MOST_ENTRIES, NearPairs, SampledKeys
from doublet.matches.copies import LONGEST_SHINGLE, PAIRS_OF_ONE, CopyPair, find_related, remove_reworded
from doublet.progress import Progress
from doublet.spark import exchange, inputs, storage
from doublet.spark.deciding import LINKS
from doublet.spark.deciding_here import contained_in
from doublet.spark.exchange import Sent, pack, slots, tell
from doublet.spark.frames import stage_tables
from doublet.spark.job import Job, methods_of, splits_of
from doublet.spark.order import Order
from doublet.spark.roles import SETS, Roles
from doublet.spark.signing import SIGNATURES, runs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]

RELATED, REWORDED = "related", "related-removed"
_HALF = np.uint64(32)
_ROW = np.uint64(0xFFFFFFFF)
_AT_ONCE = 1 << 16


def bits_of(sampled: Sequence[int]) -> int:
    """How many bits choose the sample; *sampled*: how many fingerprints there are with 0, 1, … 8 bits."""
    return next((bits for bits, count in enumerate(sampled) if count <= MOST_ENTRIES), 8)


def find_copies(
    spark: SparkSession,
    job: Job,
    order: Order,
    splits: int,
    *,
    sampled: Sequence[int],
    documents: int,
    alive: int,
    reworded: str,
    inside: str | None,
) -> dict[str, Any]:
    """Write the related pairs, and with *reworded* "remove" who goes because of them. *alive* documents stay so far."""
    if documents > MOST_DOCUMENTS or methods_of(job).exact.parameters.shingle_words > LONGEST_SHINGLE:
        return {"pairs": 0, "removed": 0, "left": 0, "looked": False}
    thorough = reworded == "all"
    sent = exchange.begin(spark, splits, partial(_sample, job, bits_of(sampled)))
    asked = exchange.then(sent, 1, partial(_pair, job, thorough))
    given = exchange.then(asked, job.partitions, partial(_give, job))
    work = partial(_tell, job, order, splits, alive, thorough, reworded == "remove", inside)
    found: dict[str, Any] = exchange.answers(exchange.then(given, 1, work))[0]
    return {**found, "looked": True}


def stays(job: Job, split: int, count: int) -> Mask:
    """Which documents of a split stay so far."""
    roles = Roles.read(job, split)
    out = np.ones(count, np.bool_)
    out[roles.excluded] = False
    out[roles.followers] = False
    for table in stage_tables(job, LINKS, split % job.partitions, ["number"]):
        numbers = table.column("number").to_numpy()
        out[numbers[numbers >> np.int64(32) == split] & np.int64(0xFFFFFFFF)] = False
    return out


def _sample(job: Job, bits: int, split: int) -> Sent:
    """The sample of the fingerprints of documents that stay."""
    parts = list(storage.read_table(job.part(SIGNATURES, split), ["size"]))
    alive = stays(job, split, sum(part.num_rows for part in parts))
    (name,) = slots(1)
    first = 0
    for part in storage.read_table(job.part(SIGNATURES, split), ["set"]):
        values, offsets = runs(part.column("set"))
        rows = np.repeat(np.arange(first, first + part.num_rows, dtype=np.uint64), np.diff(offsets))
        used = alive[rows.astype(np.int64)] & ((values >> np.uint64(8)) & np.uint64((1 << bits) - 1) == 0)
        first += part.num_rows
        values, rows = values[used], rows[used] | np.uint64(split) << _HALF
        for low in range(0, len(values), _AT_ONCE):
            yield name, pack(values[low : low + _AT_ONCE], rows[low : low + _AT_ONCE])


def _pair(job: Job, thorough: bool, place: int, blobs: Iterator[Any]) -> Sent:  # noqa: ARG001 - the form of all steps
    """Pairs from the sample; asks for their documents."""
    import pyarrow as pa

    values, documents = exchange.joined(blobs, (np.uint64, np.uint64))
    order = np.argsort(documents, kind="stable")
    values, documents = values[order], documents[order]
    names, first = np.unique(documents, return_index=True)
    keys = SampledKeys(None, max(1, len(values)))
    keys.add(values, np.append(first, len(values)).astype(np.uint64), 0)
    best, _ = keys.pairs(np.ones(len(names), np.bool_), None if thorough else PAIRS_OF_ONE)
    left, right = names[best.left], names[best.right]
    table = pa.table(
        {
            "left": pa.array(left.view(np.int64)),
            "right": pa.array(right.view(np.int64)),
            "score": pa.array(best.score),
        }
    )
    storage.write_table(job.part(f"{RELATED}-pairs", 0), iter([table]), table.schema)
    wanted = np.unique(np.concatenate([left, right]))
    yield from exchange.scatter((wanted >> _HALF).astype(np.int64) % job.partitions, job.partitions, wanted)
    if not len(wanted):
        yield slots(job.partitions)[0], pack(wanted)


def _give(job: Job, owner: int, blobs: Iterator[Any]) -> Sent:  # noqa: ARG001
    """The documents that were asked for: facts, sets and texts."""
    (wanted,) = exchange.joined(blobs, (np.uint64,))
    (name,) = slots(1)
    columns = ["position", "id", "words", "time", "source", "set"]
    for split in np.unique(wanted >> _HALF).tolist():
        rows = np.sort((wanted[wanted >> _HALF == split] & _ROW).astype(np.int64))
        first, facts = 0, dict[int, tuple[Any, ...]]()
        for part in storage.read_table(job.part(SIGNATURES, split), columns):
            low, high = np.searchsorted(rows, (first, first + part.num_rows)).tolist()
            chosen = part.take(rows[low:high] - first)
            first += part.num_rows
            values, offsets = runs(chosen.column("set"))
            told = zip(*(chosen.column(c).to_pylist() for c in columns[:5]), strict=True)
            for i, (position, *rest) in enumerate(told):
                row = int(rows[low + i])
                facts[position] = (row | split << 32, *rest, values[offsets[i] : offsets[i + 1]].tobytes())
        for batch in inputs.batches(splits_of(job)[split], job.fields, job.max_record_bytes):
            if not any(batch.first <= position < batch.first + batch.count for position in facts):
                continue
            parsed = batch.parse()
            for text, position in zip(parsed.texts, parsed.positions, strict=True):
                if int(position) in facts:
                    yield name, pickle.dumps((*facts[int(position)], text))


class _Pairs(SampledKeys):
    """Pairs that were made before."""

    def __init__(self, found: NearPairs) -> None:
        super().__init__()
        self._found_before = found

    def pairs(self, alive: Mask, each: int | None = None) -> tuple[NearPairs, bool]:  # noqa: ARG002
        return self._found_before, True


def _tell(
    job: Job,
    order: Order,
    splits: int,
    alive: int,
    thorough: bool,
    remove: bool,
    inside: str | None,
    place: int,  # noqa: ARG001
    blobs: Iterator[Any],
) -> Sent:
    rows = sorted(pickle.loads(bytes(blob)) for blob in blobs)  # made by the step before
    numbers = np.array([row[0] for row in rows], np.int64)
    parts = list(stage_tables(job, f"{RELATED}-pairs", 0))
    left, right, score = (
        np.concatenate([np.zeros(0, kind), *(part.column(name).to_numpy() for part in parts)])
        for name, kind in (("left", np.int64), ("right", np.int64), ("score", np.float64))
    )
    store = kernels.SetStore(1 << 31, "", 1)
    for row in rows:
        values = np.frombuffer(row[5], np.uint64).copy()
        store.add(values, np.array([0, len(values)], np.uint64))
    pairs = NearPairs(np.searchsorted(numbers, left), np.searchsorted(numbers, right), score)

    def texts(positions: I64) -> Iterator[tuple[I64, list[str]]]:
        for low in range(0, len(positions), 1000):
            some = positions[low : low + 1000]
            yield np.arange(low, low + len(some)), [rows[at][6] for at in some.tolist()]

    found, unseen, _ = find_related(
        texts,
        _Pairs(pairs),
        store,
        np.ones(alive, np.bool_),
        np.arange(len(rows), dtype=np.uint64),
        methods_of(job).meaning,
        thorough=thorough,
        workers=1,
        progress=Progress.of(None),
    )
    store.close()
    gone: list[tuple[int, int, CopyPair]] = []
    if remove:
        held = contained_in(job, inside)
        by_rank = sorted(range(len(rows)), key=lambda i: _placed(order, rows[i], held))
        ranks = np.empty(len(rows), np.uint32)
        ranks[by_rank] = np.arange(len(rows), dtype=np.uint32)
        known = {number: at for at, number in enumerate(numbers.tolist())}
        keeping = {known[number] for number in _keepers(job, splits) if number in known}
        leaving = remove_reworded(found, ranks, set(), keeping)
        gone = [(keep, other, one) for keep, copies in leaving.items() for other, one in copies]
        out = {other for _, other, _ in gone}
        found = [one for one in found if one.a not in out and one.b not in out]
    _write_related(job, rows, found)
    _write_gone(job, rows, gone)
    yield tell({"pairs": len(found), "removed": len(gone), "left": unseen})


def _placed(order: Order, row: tuple[Any, ...], held: set[int]) -> tuple[Any, ...]:
    number, name, words, time, source, values, _ = row
    return order.placed(order.key(name, words, time, source), len(values) // 8, number in held)


def _keepers(job: Job, splits: int) -> Iterator[int]:
    """Documents that stand for others."""
    for owner in range(job.partitions):
        for table in stage_tables(job, LINKS, owner, ["keeper"]):
            yield from table.column("keeper").to_pylist()
    for split in range(splits):
        for table in stage_tables(job, SETS, split, ["leader"]):
            yield from table.column("leader").to_pylist()


def _spell(name: bytes) -> str:
    return name.decode("utf-8", "surrogatepass")


def _write_related(job: Job, rows: list[tuple[Any, ...]], found: list[CopyPair]) -> None:
    import pyarrow as pa

    out = []
    for one in found:
        a, b, both = _spell(rows[one.a][1]), _spell(rows[one.b][1]), one.containment
        if a > b:
            a, b, both = b, a, both[::-1]
        step = "shingles" if one.aligned is None else "meaning"
        out.append((a, b, one.kind, step, one.resemblance, *both, one.aligned, one.kept))
    out.sort(key=lambda row: (row[2], -row[4], row[0], row[1]))
    names = ["a", "b", "kind", "step", "resemblance", "containment_a", "containment_b", "aligned", "kept"]
    kinds = [pa.string()] * 4 + [pa.float64()] * 5
    arrays = [
        pa.array([_utf8(str(row[i])) if i < 4 else row[i] for row in out], kind)
        for i, kind in enumerate(kinds)
    ]
    table = pa.table(arrays, names=names)
    storage.write_table(job.part(RELATED, 0), iter([table]), table.schema)


def _write_gone(job: Job, rows: list[tuple[Any, ...]], gone: list[tuple[int, int, CopyPair]]) -> None:
    import pyarrow as pa

    told = [
        (
            rows[other][0],
            rows[other][1],
            rows[keep][1],
            one.resemblance,
            one.containment[1 if other == one.b else 0],
        )
        for keep, other, one in gone
    ]
    kinds = {
        "number": pa.int64(),
        "id": pa.binary(),
        "keeper_id": pa.binary(),
        "resemblance": pa.float64(),
        "containment": pa.float64(),
    }
    table = pa.table(
        [pa.array([row[i] for row in told], kind) for i, kind in enumerate(kinds.values())], names=list(kinds)
    )
    storage.write_table(job.part(REWORDED, 0), iter([table]), table.schema)


def _utf8(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
