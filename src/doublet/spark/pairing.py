"""Sets → verified pairs: candidates by rare fingerprints or by keys, and their sets compared in full.

Five steps, each of which sends packed arrays to the next (`exchange`):

1. A split *posts* its documents. By shingles: the fingerprints that several documents have, each as 32 bits with its
   document and the size of the set; those in the prefix which no similar set can miss, the rarest, are marked, and
   what no document marks is not posted. By keys: all keys of the document.
2. A bucket has all that was posted under its part of the numbers: a marked one and another one of the same number are a
   candidate, when their sizes allow it. Numbers that very many documents share are *crowded* and put aside (`crowd`).
3. The owner of the larger document's split removes what it was told twice, and asks for the sets of the smaller ones.
4. The owners of these send them, without the fingerprints of a single document: these are in no other set.
5. The sets are compared; what is near enough is a verified pair, with the facts by which keepers are chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
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


# ------------------------------------------------------------------------------------------------------------- post


def post(pairing: Pairing, split: int) -> Sent:
    """What a split posts; the fingerprints that its documents share with others are written down."""
    import pyarrow as pa

    job = pairing.job
    first = 0
    sketch = _sketch(pairing) if pairing.by == "sketches" else None
    wanted = counting.table_of(job, counting.MARKS, pairing.marks) if pairing.marks else None
    parts: list[list[NDArray[Any]]] = []
    shared: list[Any] = []
    for part, taking, (values, offsets), (held, ends, numbers, rows, sizes) in _posted(
        pairing, split, wanted
    ):
        shared.append(pa.table([binary(held, ends.astype(np.int64))], schema=_shared_schema()))
        if pairing.by == "shingles":
            parts.append([numbers, rows + np.uint32(first), sizes])
        else:
            size = np.diff(offsets).astype(np.uint32)
            keys, of = (
                runs(part.column("keys"))
                if sketch is None
                else _rows_of(minimum_keys(sketch, values, offsets), size)
            )
            whose = np.repeat(np.arange(part.num_rows, dtype=np.uint32), np.diff(of))
            used = taking[whose] & (size[whose] > 0)
            parts.append([keys[used], whose[used] + np.uint32(first), size[whose[used]] | _MARKED | _INSIDE])
        first += part.num_rows
    storage.write_table(job.part(SHARED, split), iter(shared), _shared_schema())
    if parts:
        numbers, rows, sizes = (np.concatenate([part[i] for part in parts]) for i in range(3))
        documents = rows.astype(np.uint64) | np.uint64(split) << _HALF
        if numbers.dtype == np.uint64:
            places = (mix(numbers) >> _HALF) * np.uint64(job.partitions) >> _HALF
        else:
            places = numbers.astype(np.uint64) * np.uint64(job.partitions) >> _HALF
        yield from scatter(places.astype(np.int64), job.partitions, numbers, documents, sizes)


def marked(pairing: Pairing, split: int) -> Iterator[U64]:
    """The fingerprints that a split marks, as the highest bits of a number: others need not be posted by anybody."""
    for *_, (_, _, numbers, _, sizes) in _posted(pairing, split, np.zeros(2, np.uint8)):
        yield numbers[(sizes & _MARKED) > 0].astype(np.uint64) << _HALF


def _posted(
    pairing: Pairing, split: int, wanted: U8 | None
) -> Iterator[tuple[Any, Mask, tuple[U64, I64], tuple[Any, ...]]]:
    """The documents of a split, some at a time: their columns, who takes part, their sets, and what is posted."""
    job = pairing.job
    table = counting.table_of(job, counting.COUNTS, pairing.slices)
    roles = Roles.read(job, split)
    first = 0
    columns = ["set", *(["keys"] if pairing.by == "keys" else [])]
    for part in storage.read_table(job.part(SIGNATURES, split), columns):
        values, offsets = runs(part.column("set"))
        taking = roles.posting(first, part.num_rows, containers=pairing.containers)
        posting = taking if pairing.by == "shingles" else np.zeros(part.num_rows, np.bool_)
        posted = kernels.post_sets(
            values,
            offsets.astype(np.uint64),
            posting.view(np.uint8),
            table,
            min(1.0, pairing.least),
            job.containment or 0.0,
            wanted,
        )
        yield part, taking, (values, offsets), posted
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

    return pa.schema([("shared", pa.large_binary())])


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
        for held in read_documents(pairing, split, np.unique(documents).astype(np.int64)):
            inside = np.isin(documents, held.rows.astype(np.uint64))
            for asker in np.unique(who[inside]).tolist():
                some = documents[inside & (who == asker)].astype(np.int64)
                for piece in held.only(np.searchsorted(held.rows, np.sort(some))).pieces():
                    yield numbers[asker], piece.pack(split)
    # See `ask`.
    yield numbers[owner], b""


def compare(pairing: Pairing, suffix: str, owner: int, blobs: Iterator[Any]) -> Sent:
    """Verify the candidates of an owner on their sets; write those that are near enough, with their facts."""
    job = pairing.job
    inner, outer = _read_candidates(job.part(CANDIDATES + suffix, owner))
    held: dict[int, list[Documents]] = {}
    for blob in blobs:
        if len(blob):
            split, documents = Documents.unpack(blob)
            held.setdefault(split, []).append(documents)
    theirs = [(split, part) for split, parts in sorted(held.items()) for part in parts]
    store = kernels.SetStore(1 << 31, "", 1)
    known, facts = _Known(), _Facts()
    for split, part in theirs:
        facts.add(part, known.add(store, split, part))
    told = {"candidates": len(inner), "pairs": 0, "bytes": 0}

    def tables() -> Iterator[Any]:
        for split in np.unique(outer >> _HALF).tolist():
            mine = outer >> _HALF == split
            rows = np.unique(outer[mine] & _ROW).astype(np.int64)
            for part in read_documents(pairing, split, rows):
                here = mine & np.isin(outer & _ROW, part.rows.astype(np.uint64))
                facts.add(part, known.add(store, split, part))
                table, count = _near(pairing, store, known, facts, inner[here], outer[here])
                told["pairs"] += count
                yield table

    storage.write_table(job.part(PAIRS + suffix, owner), tables(), pair_schema())
    store.close()
    yield tell(told)


def _near(
    pairing: Pairing, store: Any, known: _Known, facts: _Facts, inner: U64, outer: U64
) -> tuple[Any, int]:
    """The pairs that are near enough, with measures and facts, as a table."""
    job = pairing.job
    left, right = known.find(inner), known.find(outer)
    overlaps = store.overlaps(left.astype(np.uint32), right.astype(np.uint32)).astype(np.float64)
    own, other = facts.sizes(left), facts.sizes(right)
    near = overlaps / np.maximum(own + other - overlaps, 1) >= job.threshold
    if job.containment:
        near |= overlaps / np.maximum(own, 1) >= job.containment
    near &= overlaps > 0
    chosen = np.flatnonzero(near)
    if pairing.by == "keys" and not methods_of(job).signed.estimates and len(chosen):
        agreeing = facts.agree(methods_of(job).method, left[chosen], right[chosen])
        chosen = chosen[agreeing]
    return facts.table(inner[chosen], outer[chosen], left[chosen], right[chosen], overlaps[chosen]), len(
        chosen
    )


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
    texts: list[list[bytes]]  #: ids, times, sources
    signatures: U64
    signature_offsets: I64
    signature_sizes: I64

    def only(self, places: I64) -> Documents:
        return Documents(
            self.rows[places],
            *_pick(self.values, self.offsets, places),
            self.sizes[places],
            self.words[places],
            [[column[i] for i in places.tolist()] for column in self.texts],
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
            texts += [
                np.frombuffer(b"".join(column), np.uint8),
                np.array([len(one) for one in column], np.int64),
            ]
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
        split, rows, values, offsets, sizes, words, signatures, of, signature_sizes, *texts = unpack(blob)
        columns = []
        for letters, lengths in zip(texts[::2], texts[1::2], strict=True):
            ends = np.cumsum(lengths).tolist()
            raw = letters.tobytes()
            columns.append([raw[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=False)])
        return int(split[0]), Documents(
            rows, values, offsets, sizes, words, columns, signatures, of, signature_sizes
        )


def _pick(values: U64, offsets: I64, places: I64) -> tuple[U64, I64]:
    """Some runs of an array."""
    lengths = np.diff(offsets)[places]
    ends = np.cumsum(lengths)
    at = np.repeat(offsets[places] - (ends - lengths), lengths) + np.arange(int(lengths.sum()))
    return values[at], np.concatenate([[0], ends])


def read_documents(pairing: Pairing, split: int, rows: I64) -> Iterator[Documents]:
    """These documents of a split, some at a time. *rows* are sorted."""
    job = pairing.job
    signed = pairing.by == "keys" and not methods_of(job).signed.estimates
    columns = ["id", "size", "words", "time", "source", *(["signature", "signature_size"] if signed else [])]
    first = 0
    both = zip(
        storage.read_table(job.part(SIGNATURES, split), columns),
        storage.read_table(job.part(SHARED, split)),
        strict=True,
    )
    for facts, sets in both:
        low, high = np.searchsorted(rows, (first, first + facts.num_rows)).tolist()
        places = rows[low:high] - first
        first += facts.num_rows
        if low == high:
            continue
        chosen = facts.take(places)
        values, offsets = _pick(*runs(sets.column("shared")), places)
        if signed:
            signatures, of = runs(chosen.column("signature"))
            sizes = chosen.column("signature_size").to_numpy()
        else:
            signatures, of = np.zeros(0, np.uint64), np.zeros(len(places) + 1, np.int64)
            sizes = np.zeros(len(places), np.int64)
        yield Documents(
            rows[low:high],
            values,
            offsets,
            chosen.column("size").to_numpy(),
            chosen.column("words").to_numpy(),
            [chosen.column(name).to_pylist() for name in ("id", "time", "source")],
            signatures,
            of,
            sizes,
        )


class _Known:
    """Which number a document has in the store of this task."""

    def __init__(self) -> None:
        self._numbers: list[U64] = []
        self._sorted: tuple[U64, I64] | None = None

    def add(self, store: Any, split: int, part: Documents) -> int:
        store.add(part.values.copy(), part.offsets.astype(np.uint64))
        self._numbers.append(part.rows.astype(np.uint64) | np.uint64(split) << _HALF)
        self._sorted = None
        return len(part.rows)

    def find(self, documents: U64) -> I64:
        if self._sorted is None:
            every = np.concatenate([np.zeros(0, np.uint64), *self._numbers])
            order = np.argsort(every, kind="stable")
            self._sorted = every[order], order
        known, order = self._sorted
        return order[np.searchsorted(known, documents)]


class _Facts:
    """What is known of the documents in the store of this task, in the same order."""

    def __init__(self) -> None:
        self._parts: list[Documents] = []
        self._starts: list[int] = [0]

    def add(self, part: Documents, count: int) -> None:
        self._parts.append(part)
        self._starts.append(self._starts[-1] + count)

    def sizes(self, places: I64) -> F64:
        every = np.concatenate([np.zeros(0, np.uint32), *(part.sizes for part in self._parts)])
        return every[places].astype(np.float64)

    def _at(self, place: int) -> tuple[Documents, int]:
        part = int(np.searchsorted(self._starts, place, side="right")) - 1
        return self._parts[part], place - self._starts[part]

    def signature(self, place: int, recipe: Any) -> Signature:
        part, row = self._at(place)
        values = part.signatures[part.signature_offsets[row] : part.signature_offsets[row + 1]]
        return Signature(recipe, values, int(part.signature_sizes[row]))

    def agree(self, method: Any, left: I64, right: I64) -> Mask:
        """Which of these pairs a method calls similar that only says yes or no."""
        recipe = method.recipe
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        similar = [
            method.compare(self.signature(a, recipe), self.signature(b, recipe)).similar for a, b in pairs
        ]
        return np.array(similar, np.bool_)

    def table(self, inner: U64, outer: U64, left: I64, right: I64, overlaps: F64) -> Any:
        import pyarrow as pa

        columns: list[Any] = []
        for documents, places in ((inner, left), (outer, right)):
            found = [self._at(place) for place in places.tolist()]
            texts = [[part.texts[i][row] for part, row in found] for i in range(3)]
            columns += [
                pa.array(documents.view(np.int64)),
                pa.array(texts[0], pa.binary()),
                pa.array([int(part.sizes[row]) for part, row in found], pa.int64()),
                pa.array([int(part.words[row]) for part, row in found], pa.int64()),
                pa.array(texts[1], pa.binary()),
                pa.array(texts[2], pa.binary()),
            ]
        return pa.table([*columns, pa.array(overlaps.astype(np.int64))], schema=pair_schema())
