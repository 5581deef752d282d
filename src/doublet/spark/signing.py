"""A split → its sets of shingles and signatures: the first stage, a Parquet file for each split, a row for each
document.

The number of a document is its split and its row in that file. Columns: *position* of the record in the split, *id*,
*id_hash*, *words*, *size* of the set, *digest_a* and *digest_b* (equal for equal sets), the *set* itself, and what the
method at hand needs besides: *keys*, *signature*, *signature_size*; *time* and *source* where keepers are chosen by
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.jobs.dedupe.options import AUTO, DedupeMethods
from doublet.jobs.dedupe.reading import Shingled, shingle_batch
from doublet.matches.preference import all_numbers
from doublet.model import Outcome
from doublet.spark import inputs, storage
from doublet.spark.exchange import Sent, tell
from doublet.spark.job import Job, memory_of, methods_of, splits_of

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

SIGNATURES, OUTCOMES = "signatures", "outcomes"


def sign_split(job: Job, number: int) -> Sent:
    """Write the signatures and the outcomes of a split; tells how many of what there were."""
    methods = methods_of(job)
    split = splits_of(job)[number]
    told: dict[str, Any] = {
        "split": number,
        "documents": 0,
        "values": 0,
        "words": 0,
        "positions": 0,
        "disguised": 0,
        "whole_ids": True,
        "number_times": True,
        "outcomes": {},
    }
    outcomes: list[Outcome] = []
    counts: Counter[str] = Counter()
    sampled = np.zeros(9, np.int64)

    def tables() -> Iterator[Any]:
        for batch in inputs.batches(split, job.fields, job.max_record_bytes):
            for shingled in shingle_batch(batch, methods, job.keep, None, memory_of(methods)):
                told["documents"] += len(shingled.words)
                told["values"] += len(shingled.values)
                told["words"] += int(shingled.words.sum())
                told["disguised"] += shingled.disguised
                if methods.method.name == AUTO:
                    sampled.__iadd__(_sample_counts(shingled.values))
                outcomes.extend(shingled.outcomes)
                counts.update(o.state for o in shingled.outcomes)
                counts["empty"] += shingled.empty - sum(o.state == "empty" for o in shingled.outcomes)
                yield _table(shingled, methods, told)
            told["positions"] = batch.first + batch.count

    storage.write_table(job.part(SIGNATURES, number), tables(), schema_of(methods))
    told["outcomes"] = {state: count for state, count in counts.items() if count}
    told["sampled"] = sampled.tolist()
    write_outcomes(job, number, outcomes)
    yield tell(told)


def schema_of(methods: DedupeMethods) -> Any:
    import pyarrow as pa

    columns = [
        ("position", pa.uint32()),
        ("id", pa.binary()),
        ("id_hash", pa.uint64()),
        ("words", pa.uint32()),
        ("size", pa.uint32()),
        ("digest_a", pa.uint64()),
        ("digest_b", pa.uint64()),
        ("time", pa.binary()),
        ("source", pa.binary()),
        ("set", pa.large_binary()),
    ]
    if not methods.by_shingles:
        columns += [
            ("keys", pa.large_binary()),
            ("signature", pa.large_binary()),
            ("signature_size", pa.int64()),
        ]
    return pa.schema(columns)


def _table(shingled: Shingled, methods: DedupeMethods, told: dict[str, Any]) -> Any:
    import pyarrow as pa

    count = len(shingled.words)
    offsets = shingled.offsets.astype(np.int64)
    ends = shingled.id_ends.astype(np.int64)
    bounds = np.concatenate([[0], ends]).astype(np.int64)
    told["whole_ids"] = told["whole_ids"] and _all_whole(shingled.ids, bounds)
    told["number_times"] = told["number_times"] and all_numbers(shingled.times)
    digest_a, digest_b = kernels.digest_sets(shingled.values, shingled.offsets)
    columns = [
        pa.array(shingled.positions.astype(np.uint32)),
        pa.Array.from_buffers(
            pa.binary(), count, [None, pa.py_buffer(bounds.astype(np.int32)), pa.py_buffer(shingled.ids)]
        ),
        pa.array(_name_hashes(shingled.ids, bounds)),
        pa.array(shingled.words),
        pa.array(np.diff(offsets).astype(np.uint32)),
        pa.array(digest_a),
        pa.array(digest_b),
        _texts(shingled.times, count),
        _texts(shingled.sources, count),
        binary(shingled.values, offsets),
    ]
    if not methods.by_shingles:
        columns += _signed(shingled, count)
    return pa.table(columns, schema=schema_of(methods))


def _all_whole(names: bytes, bounds: I64) -> bool:
    """As `matches.preference.all_whole` for all names at once."""
    if len(bounds) == 1:
        return True
    if not names.isdigit():
        return False
    lengths = np.diff(bounds)
    if not (lengths.min() > 0 and lengths.max() < 19):
        return False
    leading = np.frombuffer(names, np.uint8)[bounds[:-1]] == ord("0")
    return not bool((leading & (lengths > 1)).any())


def _name_hashes(names: bytes, bounds: I64) -> U64:
    """A number for each name, by its bytes and their places."""
    letters = np.frombuffer(names, np.uint8).astype(np.uint64)
    places = np.arange(len(letters), dtype=np.int64) - np.repeat(bounds[:-1], np.diff(bounds))
    hashes: U64 = kernels.digest_sets(
        letters | places.astype(np.uint64) << np.uint64(8), bounds.astype(np.uint64)
    )[0]
    return hashes


def _texts(texts: list[str], count: int) -> Any:
    import pyarrow as pa

    if not texts:
        places = np.zeros(count + 1, np.int32)
        return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(places), pa.py_buffer(b"")])
    return pa.array([text.encode("utf-8", "surrogatepass") for text in texts], pa.binary())


def _signed(shingled: Shingled, count: int) -> list[Any]:
    """Keys, values and sizes of signatures, a row each; rows of documents without one are empty."""
    import pyarrow as pa

    keys, owners, values, sizes = [], [], [], np.full(count, -1, np.int64)
    key_counts, value_counts = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for part in shingled.signed:
        keys.append(part.keys)
        owners.append(part.owners)
        if len(part.documents):
            values.append(part.values)
            sizes[part.documents] = part.sizes
            value_counts[part.documents] = part.lengths
    every = np.concatenate([np.zeros(0, np.uint64), *keys])
    whose = np.concatenate([np.zeros(0, np.uint32), *owners]).astype(np.int64)
    order = np.argsort(whose, kind="stable")
    key_counts += np.bincount(whose, minlength=count)
    return [
        binary(every[order], np.concatenate([[0], np.cumsum(key_counts)])),
        binary(
            np.concatenate([np.zeros(0, np.uint64), *values]), np.concatenate([[0], np.cumsum(value_counts)])
        ),
        pa.array(sizes),
    ]


def binary(values: NDArray[Any], offsets: I64) -> Any:
    """Runs of an array as a column of bytes, without a copy."""
    import pyarrow as pa

    places = np.ascontiguousarray(offsets, np.int64) * values.dtype.itemsize
    values = np.ascontiguousarray(values)
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(offsets) - 1, [None, pa.py_buffer(places), pa.py_buffer(values)]
    )


def runs(column: Any, kind: Any = np.uint64) -> tuple[NDArray[Any], I64]:
    """The opposite of `binary`: all values of a column, and where each run begins."""
    values: list[NDArray[Any]] = []
    lengths: list[NDArray[np.int64]] = []
    for chunk in column.chunks if hasattr(column, "chunks") else [column]:
        _, places, data = chunk.buffers()
        offsets = np.frombuffer(places, np.int64, len(chunk) + 1, chunk.offset * 8) if len(chunk) else None
        if offsets is None:
            continue
        raw = (
            np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
            if data is not None
            else np.zeros(0, np.uint8)
        )
        values.append(
            raw.view(kind) if raw.ctypes.data % np.dtype(kind).itemsize == 0 else raw.copy().view(kind)
        )
        lengths.append(np.diff(offsets) // np.dtype(kind).itemsize)
    flat = np.concatenate([np.zeros(0, kind), *values]) if len(values) != 1 else values[0]
    sizes = np.concatenate([np.zeros(0, np.int64), *lengths])
    return flat, np.concatenate([[0], np.cumsum(sizes)])


def _sample_counts(values: U64) -> I64:
    """How many values the sample for reworded copies would hold with 0, 1, … 8 bits (`index.sampled`)."""
    low = ((values >> np.uint64(8)) & np.uint64(0xFF)).astype(np.uint8)
    zeros = np.bincount(_TRAILING[low], minlength=9)
    return np.cumsum(zeros[::-1])[::-1].astype(np.int64)


_TRAILING = np.array([8, *((n & -n).bit_length() - 1 for n in range(1, 256))], np.int64)


def write_outcomes(job: Job, number: int, outcomes: list[Outcome]) -> None:
    import pyarrow as pa

    rows = [(o.state, o.id, o.place, o.reason.code, str(o.reason)) for o in outcomes]
    columns = [[row[i].encode("utf-8", "backslashreplace") for row in rows] for i in range(5)]
    names = ["state", "id", "place", "code", "reason"]
    table = pa.table([pa.array(column, pa.binary()) for column in columns], names=names)
    storage.write_table(job.part(OUTCOMES, number), iter([table]), table.schema)


def minimum_keys(sketch: Any, values: U64, offsets: I64) -> U64:
    """Band keys of sets, a row each: for candidates from sketches."""
    minima = kernels.minima(values, offsets.astype(np.uint64), sketch.factors, sketch.terms)
    keys: U64 = sketch.band_keys(minima)
    return keys
