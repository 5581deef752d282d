"""Words as numbers: bags of documents, and collection statistics as a sum of parts (M11).

A *bag* holds the lexical words of one document: numbers rising, as differences, with a bit that says "more than once";
the counts of those follow. A *part* of the statistics holds, for some words, what a change added to df and cf; parts
are summed when they are read, and folded into one when there are many. So a change writes one row, two writers never
wait for each other's words, and what was added and removed again leaves exactly nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import StoreDamaged
from doublet.signatures.statistics import LEXICAL_CANON, CollectionStatistics, count_words
from doublet.store.connection import Database
from doublet.store.names import name_hash
from doublet.text.tokens import TokenBatch

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]

_VOCABULARIES = 4  # whose hashes a thread remembers
_threads = threading.local()
FOLD_AT = 32  #: parts; a fold rewrites the statistics of the library, some 5 MB for half a million words


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Words of several documents, counted: one row for each distinct word of each document, by document."""

    documents: I64  #: of each row
    words: I64  #: of each row: number in *hashes*, later the number of the word in the database
    counts: I64
    offsets: I64  #: rows of document d are ``[offsets[d]:offsets[d+1]]``
    hashes: U64  #: of the spelling of the distinct words, sorted
    folds: U64  #: hashes of the same words by the kernels
    spelt: Sequence[str]

    def __len__(self) -> int:
        return len(self.offsets) - 1


def count_texts(texts: Sequence[str]) -> Counted:
    """Lexical words of texts, as the methods of M9 to M13 make them."""
    return count_batch(LEXICAL_CANON.tokens(texts, words=True))


def count_batch(batch: TokenBatch) -> Counted:
    rows = count_words(batch)
    ids, place = np.unique(rows.ids, return_inverse=True)
    all_folds = np.zeros(max(1, len(batch.vocabulary)), np.uint64)
    all_folds[batch.ids] = batch.hashes
    hashes = _spelling_hashes(batch.vocabulary)[ids]
    order = np.argsort(hashes, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    spelt = Spelling(batch.vocabulary, ids[order])
    folds = all_folds[ids[order]]
    return Counted(
        rows.texts, rank[place.reshape(-1)], rows.counts, rows.offsets, hashes[order], folds, spelt
    )


class Spelling(Sequence[str]):
    """Words of a vocabulary by their numbers; spelt only when asked for."""

    def __init__(self, vocabulary: Sequence[str], ids: I64) -> None:
        self._vocabulary = vocabulary
        self._ids = ids

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, place: Any) -> Any:
        return self._vocabulary[int(self._ids[place])]


def _spelling_hashes(vocabulary: Sequence[str]) -> U64:
    """Hash of each word of a vocabulary, which only grows: what was made is remembered with it."""
    known: dict[int, tuple[Sequence[str], U64]] = _threads.__dict__.setdefault("hashes", {})
    _, made = known.get(id(vocabulary), (vocabulary, np.zeros(0, np.uint64)))
    if len(made) < len(vocabulary):
        new = np.fromiter((name_hash(vocabulary[i]) for i in range(len(made), len(vocabulary))), np.int64)
        made = np.concatenate([made, new.view(np.uint64)])
        while len(known) > _VOCABULARIES:
            known.pop(next(iter(known)))
        known[id(vocabulary)] = (vocabulary, made)
    return made


class WordNumbers:
    """Numbers of words in one database; remembers those it has seen. New ones are kept only after the commit."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._hashes: U64 = np.zeros(0, np.uint64)
        self._numbers: I64 = np.zeros(0, np.int64)
        self._fresh: list[tuple[U64, I64]] = []

    def numbers(self, hashes: U64, folds: U64, spelt: Sequence[str]) -> I64:
        """Numbers of these words (sorted by hash), new ones made. Inside a transaction; then `keep` or `forget`."""
        out = self._known(hashes)
        missing = np.flatnonzero(out < 0)
        if not len(missing):
            return out
        wanted = hashes[missing].view(np.int64)
        database = self._database
        found = database.among("SELECT hash, id FROM doublet_word WHERE hash IN", wanted.tolist())
        self._place(out, hashes, found)
        new = np.flatnonzero(out < 0)
        if len(new):
            columns = hashes[new].view(np.int64).tolist(), folds[new].view(np.int64).tolist()
            rows = list(zip(*columns, [spelt[i] for i in new.tolist()], strict=True))
            if database.vendor == "sqlite":
                top = database.row("SELECT coalesce(max(id), 0) FROM doublet_word")
                assert top is not None
                numbered = [(number, *row) for number, row in enumerate(rows, top[0] + 1)]
                database.many(
                    "INSERT INTO doublet_word (id, hash, fold, word) VALUES (%s, %s, %s, %s)", numbered
                )
                found += [(row[1], row[0]) for row in numbered]
            else:
                made = database.rows(
                    "INSERT INTO doublet_word (hash, fold, word) "
                    "SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) "
                    "ON CONFLICT (hash) DO NOTHING RETURNING hash, id",
                    [list(column) for column in zip(*rows, strict=True)],
                )
                if len(made) < len(rows):  # another worker was quicker with some
                    made = database.among(
                        "SELECT hash, id FROM doublet_word WHERE hash IN", [r[0] for r in rows]
                    )
                found += made
            self._place(out, hashes, found[-len(rows) :])
        fresh = np.array(found, np.int64).reshape(-1, 2)
        self._fresh.append((fresh[:, 0].copy().view(np.uint64), fresh[:, 1].copy()))
        return out

    def _known(self, hashes: U64) -> I64:
        out = np.full(len(hashes), -1, np.int64)
        if len(self._hashes):
            at = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
            same = self._hashes[at] == hashes
            out[same] = self._numbers[at[same]]
        return out

    @staticmethod
    def _place(out: I64, hashes: U64, found: Sequence[tuple[Any, ...]]) -> None:
        if found:
            pairs = np.array(found, np.int64)
            out[np.searchsorted(hashes, pairs[:, 0].copy().view(np.uint64))] = pairs[:, 1]

    def keep(self) -> None:
        if self._fresh:
            hashes = np.concatenate([self._hashes, *(part[0] for part in self._fresh)])
            numbers = np.concatenate([self._numbers, *(part[1] for part in self._fresh)])
            self._hashes, first = np.unique(hashes, return_index=True)
            self._numbers = numbers[first]
            self._fresh = []

    def forget(self) -> None:
        self._fresh = []


def numbered(counted: Counted, numbers: I64) -> Counted:
    """The same rows with the numbers of the database, sorted by document, then by number."""
    words = numbers[counted.words] if len(numbers) else counted.words
    order = np.argsort((counted.documents << 40) | words)  # no two are equal
    return Counted(
        counted.documents,
        words[order],
        counted.counts[order],
        counted.offsets,
        counted.hashes,
        counted.folds,
        counted.spelt,
    )


# Bags


def pack_bags(counted: Counted) -> list[bytes]:
    """One bag for each document. *counted* must be `numbered`."""
    rows, counts, offsets = counted.words, counted.counts, counted.offsets
    sizes = np.diff(offsets)
    previous = np.concatenate([[0], rows[:-1]]) if len(rows) else rows
    previous[offsets[:-1][sizes > 0]] = 0
    several = counts > 1
    first = ((rows - previous) << 1) | several
    # Order of the numbers: for each document its size, its words, then the counts of those that stand several times.
    extra = np.add.reduceat(np.append(several, False).astype(np.int64), offsets[:-1]) if len(sizes) else sizes
    extra = np.where(sizes > 0, extra, 0)
    starts = np.concatenate([[0], np.cumsum(1 + sizes + extra)])
    values = np.zeros(int(starts[-1]), np.uint64)
    values[starts[:-1]] = sizes
    inside = np.arange(len(rows)) - np.repeat(offsets[:-1], sizes)
    values[np.repeat(starts[:-1] + 1, sizes) + inside] = first
    if several.any():
        owners = counted.documents[several]
        begins = np.concatenate([[0], np.cumsum(extra)])[:-1]
        place = np.arange(int(several.sum())) - begins[owners]
        values[(starts[:-1] + 1 + sizes)[owners] + place] = counts[several]
    data, ends = pack_numbers(values)
    cuts = np.concatenate([[0], ends])[starts].tolist()
    blob = data.tobytes()
    return [blob[a:b] for a, b in pairwise(cuts)]


def unpack_bags(bags: Sequence[bytes]) -> tuple[I64, I64, I64]:
    """Words, counts and offsets of the rows of many bags."""
    data = np.frombuffer(b"".join(bags), np.uint8)
    values, ends = unpack_numbers(data)
    lengths = np.cumsum([len(bag) for bag in bags])
    counts_up_to = np.searchsorted(ends, lengths, side="right")  # numbers that end within the first bags
    starts = np.concatenate([[0], counts_up_to])[:-1]
    if len(values) != (counts_up_to[-1] if len(bags) else 0):
        raise StoreDamaged(
            "the words of a document are damaged: `doublet library verify --repair` makes them again"
        )
    sizes = values[starts].astype(np.int64) if len(bags) else np.zeros(0, np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    inside = np.arange(int(offsets[-1])) - np.repeat(offsets[:-1], sizes)
    first = values[np.repeat(starts + 1, sizes) + inside].astype(np.int64)
    steps, several = first >> 1, (first & 1).astype(bool)
    running = np.cumsum(steps)
    before = np.concatenate([[0], running])[offsets[:-1]]
    words = running - np.repeat(before, sizes)
    counts = np.ones(len(words), np.int64)
    if several.any():
        owners = np.repeat(np.arange(len(sizes)), sizes)[several]
        extra = np.bincount(owners, minlength=len(sizes))
        begins = np.concatenate([[0], np.cumsum(extra)])[:-1]
        place = np.arange(len(owners)) - begins[owners]
        counts[several] = values[(starts + 1 + sizes)[owners] + place].astype(np.int64)
    return words, counts, offsets


def pack_numbers(values: U64) -> tuple[U8, I64]:
    """Seven bits a byte, the last byte of a number without the high bit; and where each number ends."""
    sizes = np.ones(len(values), np.int64)
    for power in range(1, 10):
        sizes += values >= np.uint64(1 << (7 * power))
    ends = np.cumsum(sizes)
    out = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    starts = ends - sizes
    for byte in range(int(sizes.max()) if len(sizes) else 0):
        has = sizes > byte
        part = (values[has] >> np.uint64(7 * byte)) & np.uint64(0x7F)
        more = (sizes[has] > byte + 1).astype(np.uint64) << np.uint64(7)
        out[starts[has] + byte] = (part | more).astype(np.uint8)
    return out, ends


def unpack_numbers(data: U8) -> tuple[U64, I64]:
    """Numbers of `pack_numbers` and where each ends."""
    ends = np.flatnonzero(data < 128).astype(np.int64) + 1
    starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    values = (data[starts] & np.uint8(0x7F)).astype(np.uint64)
    longer = np.flatnonzero(ends - starts > 1)
    byte = 1
    while len(longer):
        part = (data[starts[longer] + byte] & np.uint8(0x7F)).astype(np.uint64)
        values[longer] |= part << np.uint64(7 * byte)
        byte += 1
        longer = longer[(ends[longer] - starts[longer]) > byte]
    return values, ends


# Statistics


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What a change does to df and cf, by number of the word (rising), and to N."""

    words: I64
    df: I64
    cf: I64
    documents: int

    def pack(self) -> bytes:
        import zstandard

        deltas = np.diff(self.words, prepend=0)
        columns = [column.astype("<i8").tobytes() for column in (deltas, self.df, self.cf)]
        return bytes(zstandard.ZstdCompressor(level=1).compress(b"".join(columns)))

    @classmethod
    def unpack(cls, data: bytes, documents: int) -> Part:
        import zstandard

        try:
            columns = np.frombuffer(zstandard.ZstdDecompressor().decompress(bytes(data)), "<i8").reshape(
                3, -1
            )
        except (zstandard.ZstdError, ValueError) as error:
            raise StoreDamaged(
                "the statistics of a library are damaged: `doublet library verify --repair` counts again"
            ) from error
        return cls(np.cumsum(columns[0]), columns[1].astype(np.int64), columns[2].astype(np.int64), documents)

    def negative(self) -> Part:
        return Part(self.words, -self.df, -self.cf, -self.documents)


def part_of(words: I64, counts: I64, offsets: I64) -> Part:
    """What documents with these rows add. A document without words does not count."""
    numbers, place = np.unique(words, return_inverse=True)
    place = place.reshape(-1)
    df = np.bincount(place, minlength=len(numbers)).astype(np.int64)
    cf = np.bincount(place, weights=counts, minlength=len(numbers)).astype(np.int64)
    return Part(numbers.astype(np.int64), df, cf, int(np.count_nonzero(np.diff(offsets))))


def part_of_counted(counted: Counted, numbers: I64) -> Part:
    """The same for documents whose words are not `numbered` yet; *numbers* are those of their distinct words."""
    size = len(numbers)
    df = np.bincount(counted.words, minlength=size).astype(np.int64)
    cf = np.bincount(counted.words, weights=counted.counts, minlength=size).astype(np.int64)
    order = np.argsort(numbers)
    return Part(numbers[order], df[order], cf[order], int(np.count_nonzero(np.diff(counted.offsets))))


def sum_parts(parts: Sequence[Part]) -> Part:
    if not parts:
        nothing = np.zeros(0, np.int64)
        return Part(nothing, nothing, nothing, 0)
    numbers, place = np.unique(np.concatenate([part.words for part in parts]), return_inverse=True)
    place = place.reshape(-1)
    df = np.bincount(place, weights=np.concatenate([p.df for p in parts]), minlength=len(numbers))
    cf = np.bincount(place, weights=np.concatenate([p.cf for p in parts]), minlength=len(numbers))
    live = (df != 0) | (cf != 0)
    return Part(
        numbers[live].astype(np.int64),
        df[live].astype(np.int64),
        cf[live].astype(np.int64),
        sum(part.documents for part in parts),
    )


def add_part(database: Database, library: int, part: Part) -> None:
    """Inside a transaction that holds the right to write to the library."""
    database.rows(
        "INSERT INTO doublet_statistics (library_id, documents, data) VALUES (%s, %s, %s)",
        [library, part.documents, part.pack()],
    )
    count = database.row("SELECT count(*) FROM doublet_statistics WHERE library_id = %s", [library])
    if count and count[0] >= FOLD_AT:
        replace_parts(database, library, read_statistics(database, library))


def replace_parts(database: Database, library: int, part: Part) -> None:
    database.rows("DELETE FROM doublet_statistics WHERE library_id = %s", [library])
    database.rows(
        "INSERT INTO doublet_statistics (library_id, documents, data) VALUES (%s, %s, %s)",
        [library, part.documents, part.pack()],
    )


def read_statistics(database: Database, library: int) -> Part:
    rows = database.rows(
        "SELECT data, documents FROM doublet_statistics WHERE library_id = %s ORDER BY id", [library]
    )
    return sum_parts([Part.unpack(bytes(data), documents) for data, documents in rows])


def spell(database: Database, numbers: Sequence[int]) -> dict[int, str]:
    if len(numbers) > 5_000:
        rows = database.rows("SELECT id, word FROM doublet_word")
        return dict(rows)
    return dict(database.among("SELECT id, word FROM doublet_word WHERE id IN", list(numbers)))


def collection_statistics(database: Database, part: Part) -> CollectionStatistics:
    """As the methods want them, with the words spelt."""
    spelt = spell(database, part.words.tolist())
    words = [spelt[number] for number in part.words.tolist()]
    return CollectionStatistics.from_counts(words, part.df, part.cf, part.documents)
