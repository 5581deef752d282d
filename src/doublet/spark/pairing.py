"""Sets → verified pairs: candidates by rare fingerprints or by keys, and their sets compared in full.

Five steps, which send packed arrays to each other (`exchange`):

1. A split writes down which fingerprints its documents *share* with others; those in the prefix which no similar set
   can miss, the rarest, are marked. Then it *posts* its documents. By shingles: the shared fingerprints that some
   document marked, each as 32 bits with its document and the size of the set. By keys: all keys of the document.
2. A bucket has all that was posted under its part of the numbers: a marked one and another one of the same number are a
   candidate, when their sizes allow it. Numbers that very many documents share are *crowded* and put aside (`crowd`).
3. The owner of the larger document's split removes what it was told twice, and asks for the sets of the smaller ones.
4. The owners of these send them, without the fingerprints of a single document: these are in no other set.
5. The sets are compared; what is near enough is a verified pair, with the facts by which keepers are chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.model import Signature
from doublet.signatures import method as make_method
from doublet.signatures.minhash import MinHash
from doublet.signatures.mixing import mix
from doublet.spark import counting, exchange, storage
from doublet.spark.exchange import Sent, pack, scatter, slots, tell, unpack
from doublet.spark.job import Job, methods_of
from doublet.spark.roles import Roles
from doublet.spark.signing import SIGNATURES, binary, minimum_keys, runs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Mask = NDArray[np.bool_]

CANDIDATES, PAIRS, CROWDED, SHARED = "candidates", "pairs", "crowded", "shared"
MOST_PAIRS_OF_ONE = 1 << 14  #: pairs that one number may lead to; those that lead to more are crowded
PAIRS_AT_ONCE = 1 << 20
_MARKED, _INSIDE = np.uint32(1 << 31), np.uint32(1 << 30)
_SIZE = np.uint32((1 << 30) - 1)
_MARK = np.uint8(1 << 7)  #: the same as `_MARKED`, as `kernels.share_sets` gives it
_HALF = np.uint64(32)
_ROW = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Pairing:
    """What the steps need besides the job. *by*: shingles, keys of the method, or sketches of the sets."""

    job: Job
    splits: int
    slices: int  #: of the table of counts
    by: str
    marks: int = 0  #: slices of the table of marked fingerprints; 0: there is none
    containers: bool = (
        False  #: what takes no part may still hold others inside (for keepers that are not the longest)
    )
    crowd_pairs: int = MOST_PAIRS_OF_ONE
    crowding: bool = True  #: put crowds aside; else follow all of their pairs
    shared: str = SHARED  #: the stage of shared fingerprints

    @property
    def least(self) -> float:
        """Of a set so much at least lies in a set that is like it or holds it."""
        job = self.job
        return min(job.threshold, job.containment) if job.containment else job.threshold


def find_pairs(spark: SparkSession, pairing: Pairing) -> list[dict[str, Any]]:
    """Write candidates, crowded numbers and verified pairs; gives the counts of each partition."""
    count = pairing.job.partitions
    posted = exchange.begin(spark, pairing.splits, partial(post, pairing))
    led = exchange.then(posted, count, partial(lead, pairing))
    return exchange.answers(compare_led(led, pairing))


def compare_led(led: DataFrame, pairing: Pairing, suffix: str = "") -> DataFrame:
    """Steps 3 to 5 for candidates that were sent to the owners of the larger documents."""
    count = pairing.job.partitions
    asked = exchange.then(led, count, partial(ask, pairing, suffix))
    given = exchange.then(asked, count, partial(give, pairing))
    return exchange.then(given, count, partial(compare, pairing, suffix))


# ------------------------------------------------------------------------------------------------------ share, post


def share(pairing: Pairing, split: int) -> Iterator[U64]:
    """Write down what the documents of a split share with others, and what they mark of it; gives the marked
    fingerprints, as the highest bits of numbers: others need not be posted by anybody."""
    import pyarrow as pa

    job = pairing.job
    table = counting.table_of(job, counting.COUNTS, pairing.slices)
    roles = Roles.read(job, split)
    found: list[U64] = []

    def tables() -> Iterator[Any]:
        first = 0
        for part in storage.read_table(job.part(SIGNATURES, split), ["set"]):
            taking = roles.posting(first, part.num_rows, containers=pairing.containers)
            first += part.num_rows
            if pairing.by != "shingles":
                taking[:] = False
            values, offsets = runs(part.column("set"))
            shared, ends, marks = kernels.share_sets(
                values,
                offsets.astype(np.uint64),
                taking.view(np.uint8),
                table,
                min(1.0, pairing.least),
                job.containment or 0.0,
            )
            found.append(shared[marks >= _MARK] << _HALF)
            places = ends.astype(np.int64)
            yield pa.table([binary(shared, places), binary(marks, places)], schema=_shared_schema())

    storage.write_batches(job.batches(pairing.shared, split), tables(), _shared_schema())
    yield from found


def share_split(pairing: Pairing, split: int) -> Sent:
    yield tell(sum(len(marked) for marked in share(pairing, split)))


def post(pairing: Pairing, split: int) -> Sent:
    """What a split posts."""
    job = pairing.job
    parts = list(_postings(pairing, split))
    if parts:
        numbers, rows, sizes = (np.concatenate([part[i] for part in parts]) for i in range(3))
        documents = rows.astype(np.uint64) | np.uint64(split) << _HALF
        if numbers.dtype == np.uint64:
            places = (mix(numbers) >> _HALF) * np.uint64(job.partitions) >> _HALF
        else:
            places = numbers.astype(np.uint64) * np.uint64(job.partitions) >> _HALF
        yield from scatter(places.astype(np.int64), job.partitions, numbers, documents, sizes)


def _postings(pairing: Pairing, split: int) -> Iterator[tuple[NDArray[Any], U32, U32]]:
    """Numbers, rows, and sizes with marks."""
    job = pairing.job
    first = 0
    if pairing.by == "shingles":
        wanted = counting.table_of(job, pairing.shared, pairing.marks) if pairing.marks else None
        both = zip(
            storage.read_table(job.part(SIGNATURES, split), ["size"]),
            storage.read_batches(job.batches(pairing.shared, split)),
            strict=True,
        )
        for part, sets in both:
            shared, offsets = runs(sets.column("shared"))
            marks, _ = runs(sets.column("marks"), np.uint8)
            size = part.column("size").to_numpy()
            numbers, rows, sizes = kernels.post_shared(shared, offsets.astype(np.uint64), marks, size, wanted)
            yield numbers, rows + np.uint32(first), sizes
            first += part.num_rows
        return
    roles = Roles.read(job, split)
    sketch = _sketch(pairing) if pairing.by == "sketches" else None
    for part in storage.read_table(
        job.part(SIGNATURES, split), ["size", "keys" if sketch is None else "set"]
    ):
        size = part.column("size").to_numpy()
        if sketch is None:
            keys, of = runs(part.column("keys"))
        else:
            keys, of = _rows_of(minimum_keys(sketch, *runs(part.column("set"))), size)
        taking = roles.posting(first, part.num_rows, containers=pairing.containers) & (size > 0)
        whose = np.repeat(np.arange(part.num_rows, dtype=np.uint32), np.diff(of))
        used = taking[whose]
        yield keys[used], whose[used] + np.uint32(first), size[whose[used]] | _MARKED | _INSIDE
        first += part.num_rows


def _sketch(pairing: Pairing) -> MinHash:
    """As on one machine (`jobs.dedupe.joining`)."""
    sketch = make_method("minhash", threshold=pairing.job.threshold, recall=0.99)
    assert isinstance(sketch, MinHash)
    return sketch


def _rows_of(keys: U64, sizes: U32) -> tuple[U64, I64]:
    """Keys in rows, as runs; each key of a document once."""
    keys = np.sort(keys, axis=1)
    once = np.ones(keys.shape, np.bool_)
    once[:, 1:] = keys[:, 1:] != keys[:, :-1]
    once &= (sizes > 0)[:, np.newaxis]
    return keys[once], np.concatenate([[0], np.cumsum(once.sum(axis=1))])


def _shared_schema() -> Any:
    import pyarrow as pa

    return pa.schema([("shared", pa.large_binary()), ("marks", pa.large_binary())])


# ------------------------------------------------------------------------------------------------------------- lead


def lead(pairing: Pairing, bucket: int, blobs: Iterator[Any]) -> Sent:
    """Candidates among all that was posted to a bucket, to the owner of the larger document of each."""
    job = pairing.job
    kind = np.uint32 if pairing.by == "shingles" else np.uint64
    numbers, documents, sizes = exchange.joined(blobs, (kind, np.uint64, np.uint32))
    most = pairing.crowd_pairs if pairing.crowding else (1 << 64) - 1
    crowded, inner, outer = kernels.lead_postings(
        numbers.astype(np.uint64), documents, sizes, most, job.threshold, bool(job.containment)
    )
    if pairing.crowding:
        _write_crowded(pairing, bucket, numbers[crowded], documents[crowded], sizes[crowded])
    yield from _to_owners(pairing, inner, outer)


def send_candidates(pairing: Pairing, inner: U64, inner_sizes: U32, outer: U64, outer_sizes: U32) -> Sent:
    """Of these pairs those that their sizes allow, each once, to the owner of the larger document."""
    job = pairing.job
    own, held = inner_sizes & _SIZE, outer_sizes & _SIZE
    used = (own < held) | ((own == held) & (inner < outer))
    enough = own >= job.threshold * held.astype(np.float64) - 1e-6
    if job.containment:
        enough |= (inner_sizes & _INSIDE) > 0
    used &= enough
    inner, outer = inner[used], outer[used]
    order = np.lexsort((inner, outer))
    inner, outer = inner[order], outer[order]
    once = np.ones(len(inner), np.bool_)
    once[1:] = (inner[1:] != inner[:-1]) | (outer[1:] != outer[:-1])
    yield from _to_owners(pairing, inner[once], outer[once])


def _to_owners(pairing: Pairing, inner: U64, outer: U64) -> Sent:
    count = pairing.job.partitions
    yield from scatter((outer >> _HALF).astype(np.int64) % count, count, inner, outer)


def _pieces(widths: I64, most: int) -> Iterator[tuple[int, int]]:
    """Consecutive stretches whose widths add up to no more than *most*, if they have more than one."""
    ends = np.cumsum(widths)
    low = 0
    while low < len(widths):
        before = int(ends[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield low, high
        low = high


def _write_crowded(pairing: Pairing, bucket: int, numbers: Any, documents: U64, sizes: U32) -> None:
    import pyarrow as pa

    # Buckets have different numbers, so a number tells the crowd.
    table = pa.table(
        {
            "crowd": pa.array(numbers.astype(np.uint64).view(np.int64)),
            "document": pa.array(documents.view(np.int64)),
            "size": pa.array(sizes.astype(np.int64)),
        }
    )
    storage.write_table(pairing.job.part(CROWDED, bucket), iter([table]), table.schema)


# ---------------------------------------------------------------------------------------------- ask, give, compare


def ask(pairing: Pairing, suffix: str, owner: int, blobs: Iterator[Any]) -> Sent:
    """Write the candidates of an owner down, each once, and ask for the sets of the smaller documents."""
    import pyarrow as pa

    inner, outer = exchange.joined(blobs, (np.uint64, np.uint64))
    order = np.lexsort((inner, outer))
    inner, outer = inner[order], outer[order]
    once = np.ones(len(inner), np.bool_)
    once[1:] = (inner[1:] != inner[:-1]) | (outer[1:] != outer[:-1])
    inner, outer = inner[once], outer[once]
    table = pa.table({"inner": pa.array(inner.view(np.int64)), "outer": pa.array(outer.view(np.int64))})
    storage.write_table(pairing.job.part(CANDIDATES + suffix, owner), iter([table]), table.schema)
    wanted = np.unique(inner)
    count = pairing.job.partitions
    places = (wanted >> _HALF).astype(np.int64) % count
    yield from scatter(places, count, wanted, np.full(len(wanted), owner, np.uint32))
    # Something comes to every owner, so that each of them has its turn.
    yield slots(count)[owner], pack(np.zeros(0, np.uint64), np.zeros(0, np.uint32))


def give(pairing: Pairing, owner: int, blobs: Iterator[Any]) -> Sent:
    """Send the sets and facts that were asked for to those who asked."""
    wanted, askers = exchange.joined(blobs, (np.uint64, np.uint32))
    numbers = slots(pairing.job.partitions)
    for split in np.unique(wanted >> _HALF).tolist():
        mine = wanted >> _HALF == split
        documents, who = wanted[mine] & _ROW, askers[mine]
        held = read_documents(pairing, split, np.unique(documents).astype(np.int64))
        for asker in np.unique(who).tolist():
            some = np.sort(documents[who == asker]).astype(np.int64)
            for piece in held.only(np.searchsorted(held.rows, some)).pieces():
                yield numbers[asker], piece.pack(split)
    # See `ask`.
    yield numbers[owner], b""


def compare(pairing: Pairing, suffix: str, owner: int, blobs: Iterator[Any]) -> Sent:
    """Verify the candidates of an owner on their sets; write those that are near enough, with their facts."""
    job = pairing.job
    inner, outer = _read_candidates(job.part(CANDIDATES + suffix, owner))
    # Blobs come in any order; what is written must not depend on it.
    parts = [Documents.unpack(blob) for blob in blobs if len(blob)]
    parts.sort(key=lambda one: (one[0], int(one[1].rows[0])))
    for split in np.unique(outer >> _HALF).tolist():
        rows = np.unique(outer[outer >> _HALF == split] & _ROW).astype(np.int64)
        parts.append((split, read_documents(pairing, split, rows)))
    held = _Held(parts)
    told = {"candidates": len(inner), "pairs": 0, "bytes": 0}

    def tables() -> Iterator[Any]:
        for low in range(0, len(inner), PAIRS_AT_ONCE):
            some = slice(low, low + PAIRS_AT_ONCE)
            table = _near(pairing, held, inner[some], outer[some])
            told["pairs"] += table.num_rows
            yield table

    storage.write_table(job.part(PAIRS + suffix, owner), tables(), pair_schema())
    held.store.close()
    yield tell(told)


def _near(pairing: Pairing, held: _Held, inner: U64, outer: U64) -> Any:
    """The pairs that are near enough, with measures and facts, as a table."""
    job = pairing.job
    left, right = held.find(inner), held.find(outer)
    overlaps = held.store.overlaps(left.astype(np.uint32), right.astype(np.uint32)).astype(np.float64)
    own, other = held.sizes[left].astype(np.float64), held.sizes[right].astype(np.float64)
    near = overlaps / np.maximum(own + other - overlaps, 1) >= job.threshold
    if job.containment:
        near |= overlaps / np.maximum(own, 1) >= job.containment
    near &= overlaps > 0
    chosen = np.flatnonzero(near)
    if pairing.by == "keys" and not methods_of(job).signed.estimates and len(chosen):
        chosen = chosen[held.agree(methods_of(job).method, left[chosen], right[chosen])]
    return held.table(inner[chosen], outer[chosen], left[chosen], right[chosen], overlaps[chosen])


def pair_schema() -> Any:
    import pyarrow as pa

    sides = [
        (f"{side}_{name}", kind)
        for side in ("inner", "outer")
        for name, kind in (
            ("number", pa.int64()),
            ("id", pa.binary()),
            ("size", pa.int64()),
            ("words", pa.int64()),
            ("time", pa.binary()),
            ("source", pa.binary()),
        )
    ]
    return pa.schema([*sides, ("common", pa.int64())])


def _read_candidates(address: str) -> tuple[U64, U64]:
    inner, outer = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
    for part in storage.read_table(address):
        inner.append(part.column("inner").to_numpy().astype(np.uint64))
        outer.append(part.column("outer").to_numpy().astype(np.uint64))
    return np.concatenate(inner), np.concatenate(outer)


@dataclass(frozen=True, slots=True)
class Documents:
    """Some documents of a split: their rows, sets (without what no other has), sizes, facts, and signatures."""

    rows: I64
    values: U64
    offsets: I64
    sizes: U32
    words: U32
    texts: list[Any]  #: ids, times, sources, as arrays of Arrow
    signatures: U64
    signature_offsets: I64
    signature_sizes: I64

    def only(self, places: I64) -> Documents:
        return Documents(
            self.rows[places],
            *_pick(self.values, self.offsets, places),
            self.sizes[places],
            self.words[places],
            [column.take(places) for column in self.texts],
            *_pick(self.signatures, self.signature_offsets, places),
            self.signature_sizes[places],
        )

    def pieces(self) -> Iterator[Documents]:
        """The same in parts that make blobs of the usual size."""
        for low, high in _pieces(
            np.diff(self.offsets) * 8 + np.diff(self.signature_offsets) * 8 + 64, exchange.MOST_BLOB
        ):
            yield self.only(np.arange(low, high))

    def pack(self, split: int) -> bytes:
        texts: list[NDArray[Any]] = []
        for column in self.texts:
            _, places, letters = column.buffers()
            ends = np.frombuffer(places, np.int32, len(column) + 1, column.offset * 4)
            raw = np.frombuffer(letters or b"", np.uint8)
            texts += [raw[int(ends[0]) : int(ends[-1])], ends - ends[0]]
        return pack(
            np.array([split], np.int64),
            self.rows,
            self.values,
            self.offsets,
            self.sizes,
            self.words,
            self.signatures,
            self.signature_offsets,
            self.signature_sizes,
            *texts,
        )

    @staticmethod
    def unpack(blob: Any) -> tuple[int, Documents]:
        import pyarrow as pa

        split, rows, values, offsets, sizes, words, signatures, of, signature_sizes, *texts = unpack(blob)
        columns = [
            pa.Array.from_buffers(pa.binary(), len(rows), [None, pa.py_buffer(ends), pa.py_buffer(letters)])
            for letters, ends in zip(texts[::2], texts[1::2], strict=True)
        ]
        return int(split[0]), Documents(
            rows, values, offsets, sizes, words, columns, signatures, of, signature_sizes
        )


def _pick(values: U64, offsets: I64, places: I64) -> tuple[U64, I64]:
    """Some runs of an array."""
    lengths = np.diff(offsets)[places]
    ends = np.cumsum(lengths)
    at = np.repeat(offsets[places] - (ends - lengths), lengths) + np.arange(int(lengths.sum()))
    return values[at], np.concatenate([[0], ends])


def read_documents(pairing: Pairing, split: int, rows: I64) -> Documents:
    """These documents of a split. *rows* are sorted."""
    job = pairing.job
    signed = pairing.by == "keys" and not methods_of(job).signed.estimates
    columns = ["id", "size", "words", "time", "source", *(["signature", "signature_size"] if signed else [])]
    first = 0
    facts, values, lengths = [], [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    both = zip(
        storage.read_table(job.part(SIGNATURES, split), columns),
        storage.read_batches(job.batches(pairing.shared, split), ["shared"]),
        strict=True,
    )
    for part, sets in both:
        low, high = np.searchsorted(rows, (first, first + part.num_rows)).tolist()
        places = rows[low:high] - first
        first += part.num_rows
        if low == high:
            continue
        facts.append(part.take(places))
        some, offsets = _pick(*runs(sets.column("shared")), places)
        values.append(some)
        lengths.append(np.diff(offsets))
    chosen = together(facts)
    signatures, of = np.zeros(0, np.uint64), np.zeros(len(rows) + 1, np.int64)
    sizes = np.zeros(len(rows), np.int64)
    if signed:
        signatures, of = runs(chosen.column("signature"))
        sizes = chosen.column("signature_size").to_numpy()
    return Documents(
        rows,
        np.concatenate(values),
        np.concatenate([[0], np.cumsum(np.concatenate(lengths))]),
        chosen.column("size").to_numpy(),
        chosen.column("words").to_numpy(),
        [chosen.column(name).chunk(0) for name in ("id", "time", "source")],
        signatures,
        of,
        sizes,
    )


def together(tables: Sequence[Any]) -> Any:
    """Some tables as one, each column in one piece. There is at least one row."""
    import pyarrow as pa

    return pa.concat_tables(tables).combine_chunks()


class _Held:
    """The documents that a task compares, in a store of their sets."""

    def __init__(self, parts: Sequence[tuple[int, Documents]]) -> None:
        self.store = kernels.SetStore(1 << 31, "", 1)
        self._parts = [part for _, part in parts]
        for part in self._parts:
            self.store.add(part.values.copy(), part.offsets.astype(np.uint64))
        numbers = [part.rows.astype(np.uint64) | np.uint64(split) << _HALF for split, part in parts]
        every = np.concatenate([np.zeros(0, np.uint64), *numbers])
        self._order = np.argsort(every, kind="stable")
        self._sorted = every[self._order]
        self._starts = np.concatenate([[0], np.cumsum([len(part.rows) for part in self._parts])])
        self.sizes, self.words = (
            np.concatenate([np.zeros(0, np.uint32), *columns])
            for columns in ([part.sizes for part in self._parts], [part.words for part in self._parts])
        )

    def find(self, documents: U64) -> I64:
        """The places of documents in the store."""
        return self._order[np.searchsorted(self._sorted, documents)]

    def _signature(self, place: int, recipe: Any) -> Signature:
        at = int(np.searchsorted(self._starts, place, side="right")) - 1
        part, row = self._parts[at], place - int(self._starts[at])
        values = part.signatures[part.signature_offsets[row] : part.signature_offsets[row + 1]]
        return Signature(recipe, values, int(part.signature_sizes[row]))

    def agree(self, method: Any, left: I64, right: I64) -> Mask:
        """Which of these pairs a method calls similar that only says yes or no."""
        recipe = method.recipe
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        similar = [
            method.compare(self._signature(a, recipe), self._signature(b, recipe)).similar for a, b in pairs
        ]
        return np.array(similar, np.bool_)

    def table(self, inner: U64, outer: U64, left: I64, right: I64, overlaps: F64) -> Any:
        """Pairs with their facts."""
        import pyarrow as pa

        texts = [
            pa.concat_arrays([pa.array([], pa.binary()), *(part.texts[i] for part in self._parts)])
            for i in range(3)
        ]
        columns: list[Any] = []
        for documents, places in ((inner, left), (outer, right)):
            columns += [
                pa.array(documents.view(np.int64)),
                texts[0].take(places),
                pa.array(self.sizes[places].astype(np.int64)),
                pa.array(self.words[places].astype(np.int64)),
                texts[1].take(places),
                texts[2].take(places),
            ]
        return pa.table([*columns, pa.array(overlaps.astype(np.int64))], schema=pair_schema())
