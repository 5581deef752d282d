"""Words as numbers: bags of documents, and collection statistics as a sum of changes (M11).

A *bag* holds the lexical words of one document: numbers rising, as differences, with a bit that says "more than once";
the counts of those follow. A *change* of the statistics holds, for some words, what it added to df and cf; changes
are summed when they are read, and merged into one when there are many. So a batch writes one row, two writers never
wait for each other's words, and what was added and removed again leaves exactly nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.errors import StoreDamaged
from doublet.index.stem_chunks import telling
from doublet.signatures.statistics import LEXICAL_CANON, CollectionStatistics
from doublet.store.connection import Database, array
from doublet.store.names import name_hashes
from doublet.text.tokens import TokenBatch, WordMemory

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]

_U64 = (1 << 64) - 1
_VOCABULARIES = 8  # whose numbers a writer remembers
_MERGE_FROM = 20_000  # words that came lately
READ_ALL_FROM = 4_000  #: words looked up by a writer before it reads them all
READ_ALL_UP_TO = 3_000_000  #: words of the database; so many take 48 MB and half a second
MADE_TOGETHER = 5_000  #: new words in one transaction; they take 30 ms or so
MERGE_AT = (
    32  #: changes; merging them rewrites the statistics of the library, some 5 MB for half a million words
)


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Lexical words of several documents, every occurrence, by its number in a vocabulary that only grows."""

    ids: U32
    offsets: U64  #: those of document d are ``[offsets[d]:offsets[d+1]]`` of *ids*
    vocabulary: Sequence[str]
    used: I64  #: the distinct ids, rising
    hashes: U64  #: of the spelling of each used word
    folds: U64  #: hashes of the same words by the kernels
    telling: NDArray[np.bool_]  #: which of them are filed in the index of stems

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def some(self, documents: Sequence[int]) -> Words:
        """The words of some documents."""
        spans = [(int(self.offsets[d]), int(self.offsets[d + 1])) for d in documents]
        ids = np.concatenate([self.ids[a:b] for a, b in spans]) if spans else self.ids[:0]
        offsets = np.concatenate([[0], np.cumsum([b - a for a, b in spans])]).astype(np.uint64)
        return self._with(ids, offsets)

    def between(self, start: int, end: int) -> Words:
        """The words of documents in a row."""
        first, last = int(self.offsets[start]), int(self.offsets[end])
        return self._with(self.ids[first:last], self.offsets[start : end + 1] - self.offsets[start])

    def _with(self, ids: U32, offsets: U64) -> Words:
        present = np.zeros(int(self.used[-1]) + 1 if len(self.used) else 0, np.bool_)
        present[ids] = True
        place = np.flatnonzero(present[self.used])
        return Words(
            ids,
            offsets,
            self.vocabulary,
            self.used[place],
            self.hashes[place],
            self.folds[place],
            self.telling[place],
        )


def read_words(texts: Sequence[str]) -> Words:
    """Lexical words of texts, as the methods of M9 to M13 make them."""
    return plain_and_words(texts)[1]


def plain_and_words(texts: Sequence[str], memory: WordMemory | None = None) -> tuple[TokenBatch, Words]:
    """All words of the texts as they are, and the lexical ones, from one walk through the texts. *memory* of the run,
    or else that of this thread."""
    with contextlib.nullcontext() if memory is None else memory.vocabulary() as vocabulary:
        plain, found = LEXICAL_CANON.plain_and_words(texts, vocabulary)
        hashes = found.remember(_spelling_hashes, np.uint64)
        filed = found.remember(_telling, np.bool_)
    present = np.zeros(len(found.hashes), np.bool_)
    present[found.ids] = True
    used = np.flatnonzero(present)
    own = hashes[used], found.hashes[used], filed[used]
    return plain, Words(found.ids, found.offsets, found.vocabulary, used, *own)


def _spelling_hashes(words: Sequence[str], _: U64) -> U64:
    return name_hashes(words)


def _telling(_: Sequence[str], hashes: U64) -> NDArray[np.bool_]:
    return telling(hashes)


class WordNumbers:
    """Numbers of words in one database; remembers those it has seen. New ones are kept only after the commit."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._by_hash = _Sorted()
        # Of each vocabulary (one for each thread that reads texts) the numbers of its words; -1: not known yet.
        self._vocabularies: dict[int, tuple[Sequence[str], I64]] = {}
        self._fresh: dict[int, int] = {}
        self._asked = 0  # words that were looked up one by one
        self._read = False  # whether all words were read
        self._top = self._kept_top = (
            0  # SQLite: the last word of those that are known, now and after the last commit
        )

    def make_ahead(self, words: Words) -> None:
        """Before the transaction of a batch that brings many new words: make them some at a time. A word belongs to no
        library, and nobody has to wait for all of them."""
        if self._database.in_transaction:
            return
        by_id, places = self._remembered(words)
        if self._worth_reading(len(places)):
            by_id, places = self._remembered(words)
        # PostgreSQL: two batches with the same new word wait for each other, so that should not take long.
        most = MADE_TOGETHER if self._database.vendor == "sqlite" else 0
        while len(places) > most:
            some, places = places[:MADE_TOGETHER], places[MADE_TOGETHER:]
            with self._database.writing():
                self._make(words, by_id, self._ask(words, by_id, some))
            self.keep()

    def numbers(self, words: Words) -> I64:
        """Numbers by the words' ids (of those that are used), new ones made. Inside a transaction; then `keep` or
        `forget`."""
        by_id, places = self._remembered(words)
        self._make(words, by_id, self._ask(words, by_id, places))
        return by_id

    def _remembered(self, words: Words) -> tuple[I64, I64]:
        """What is known without asking, by id, and the places (among those that are used) of words that are not."""
        by_id = self._of(words.vocabulary, int(words.used[-1]) + 1 if len(words.used) else 0)
        missing = np.flatnonzero(by_id[words.used] < 0)
        return by_id, self._fill_in(words, by_id, missing)

    def _fill_in(self, words: Words, by_id: I64, places: I64) -> I64:
        """Those that are known; gives the places of the others."""
        if not len(places):
            return places
        hashes = words.hashes[places]
        found = self._by_hash.find(hashes)
        for place in np.flatnonzero(found < 0).tolist() if self._fresh else ():
            found[place] = self._fresh.get(int(hashes[place]), -1)
        by_id[words.used[places]] = found
        return places[found < 0]

    def _ask(self, words: Words, by_id: I64, places: I64) -> I64:
        """Ask the database for words; gives the places of those that it does not have. Inside a transaction."""
        if not len(places) or (self._read and self._database.vendor == "postgresql"):
            return places  # PostgreSQL tells which of the new ones another writer has made
        if self._read:  # nothing but what others have made since
            later = self._database.pairs("SELECT hash, id FROM doublet_word WHERE id > %s", [self._top])
            if not len(later):
                return places
            self._fresh |= {value & _U64: number for value, number in later.tolist()}
            self._top = int(later[:, 1].max())
        else:
            self._fresh |= self._look_up(words.hashes[places])
        return self._fill_in(words, by_id, places)

    def _worth_reading(self, unknown: int) -> bool:
        """Read all words once, when so many are looked up that it is less work than to go on so."""
        self._asked += unknown
        if self._read or self._asked < READ_ALL_FROM:
            return False
        top = self._database.row("SELECT coalesce(max(id), 0) FROM doublet_word")
        if top is None or top[0] > READ_ALL_UP_TO:
            return False
        rows = self._database.pairs("SELECT hash, id FROM doublet_word")
        self._by_hash.take(rows[:, 0].copy().view(np.uint64), rows[:, 1])
        self._top = self._kept_top = int(rows[:, 1].max(initial=0))
        self._read = True
        return True

    def _of(self, vocabulary: Sequence[str], size: int) -> I64:
        _, numbers = self._vocabularies.get(id(vocabulary), (vocabulary, np.zeros(0, np.int64)))
        if len(numbers) < size:
            grown = np.full(size + size // 4, -1, np.int64)
            grown[: len(numbers)] = numbers
            numbers = grown
            self._vocabularies.pop(id(vocabulary), None)
            while len(self._vocabularies) >= _VOCABULARIES:
                self._vocabularies.pop(next(iter(self._vocabularies)))
            self._vocabularies[id(vocabulary)] = (vocabulary, numbers)
        return numbers

    def _look_up(self, hashes: U64) -> dict[int, int]:
        """Numbers by hash of those words that the database has."""
        sql, asked = "SELECT hash, id FROM doublet_word WHERE hash IN", hashes.view(np.int64).tolist()
        if self._database.vendor == "sqlite":
            found = self._database.among(sql, asked)
        else:
            found = self._database.pairs(sql.replace("IN", "= ANY(%s::bigint[])"), [array(asked)]).tolist()
        return {value & _U64: number for value, number in found}

    def _make(self, words: Words, by_id: I64, places: I64) -> None:
        """New words, in the transaction in which they were looked for."""
        if not len(places):
            return
        database = self._database
        hashes = words.hashes[places]
        spelt = [words.vocabulary[i] for i in words.used[places].tolist()]
        columns = [hashes.view(np.int64).tolist(), words.folds[places].view(np.int64).tolist(), spelt]
        if database.vendor == "sqlite":
            top = database.row("SELECT coalesce(max(id), 0) FROM doublet_word")
            assert top is not None
            numbers = range(top[0] + 1, top[0] + 1 + len(places))
            database.copy("doublet_word", ("id", "hash", "fold", "word"), zip(numbers, *columns, strict=True))
            made = dict(zip(hashes.tolist(), numbers, strict=True))
            self._top = numbers[-1]
        else:
            # Sorted: two workers that bring the same words must not wait for each other.
            order = np.argsort(hashes).tolist()
            rows = database.rows(
                "INSERT INTO doublet_word (hash, fold, word) "
                "SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) "
                "ON CONFLICT (hash) DO NOTHING RETURNING hash, id",
                [array([column[i] for i in order]) for column in columns],
            )
            made = {value & _U64: number for value, number in rows}
            if len(made) < len(hashes):  # another worker was quicker with some
                made |= self._look_up(hashes)
        self._fresh |= made
        by_id[words.used[places]] = [made[value] for value in hashes.tolist()]

    def keep(self) -> None:
        self._by_hash.add(self._fresh)
        self._fresh = {}
        self._kept_top = self._top

    def forget(self) -> None:
        self._vocabularies.clear()
        self._fresh = {}
        self._top = self._kept_top


class _Sorted:
    """Numbers by hash: sorted arrays, and what came lately beside them until it is worth a merge."""

    def __init__(self) -> None:
        self._hashes: U64 = np.zeros(0, np.uint64)
        self._numbers: I64 = np.zeros(0, np.int64)
        self._recent: dict[int, int] = {}

    def find(self, hashes: U64) -> I64:
        """-1 where it is not known."""
        out = np.full(len(hashes), -1, np.int64)
        if len(self._hashes):
            at = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
            same = self._hashes[at] == hashes
            out[same] = self._numbers[at[same]]
        if self._recent:
            missing = np.flatnonzero(out < 0)
            get = self._recent.get
            out[missing] = [get(value, -1) for value in hashes[missing].tolist()]
        return out

    def take(self, hashes: U64, numbers: I64) -> None:
        """Know these instead of all before."""
        order = np.argsort(hashes)
        self._hashes, self._numbers, self._recent = hashes[order], numbers[order], {}

    def add(self, new: dict[int, int]) -> None:
        self._recent |= new
        if len(self._recent) > _MERGE_FROM + len(self._hashes) // 4:
            hashes = np.concatenate([self._hashes, np.array(list(self._recent), np.uint64)])
            numbers = np.concatenate([self._numbers, np.array(list(self._recent.values()), np.int64)])
            order = np.argsort(hashes)
            self._hashes, self._numbers = hashes[order], numbers[order]
            self._recent = {}


# Bags


def pack_bags(words: Words, numbers: I64) -> tuple[list[bytes], CountChange, U32]:
    """One bag for each document, what the documents add to the statistics, and the row of each word in its bag.
    *numbers* of the words by their ids."""
    data, ends, df, cf, rows = kernels.pack_bags(words.ids, words.offsets, numbers.view(np.uint64))
    blob = data.tobytes()
    used = words.used
    order = np.argsort(numbers[used])
    used = used[order]
    part = CountChange(
        numbers[used],
        df[used].astype(np.int64),
        cf[used].astype(np.int64),
        int(np.count_nonzero(np.diff(words.offsets))),
    )
    return [blob[a:b] for a, b in pairwise(ends.tolist())], part, rows


def unpack_bags(bags: Sequence[bytes]) -> tuple[U32, U32, U64]:
    """Numbers of words, counts and offsets of the rows of many bags."""
    ends = np.concatenate([[0], np.cumsum([len(bag) for bag in bags])]).astype(np.uint64)
    try:
        return kernels.unpack_bags(np.frombuffer(b"".join(bags), np.uint8), ends)
    except ValueError as error:
        raise StoreDamaged("words_damaged") from error


# Statistics


@dataclass(frozen=True, slots=True, eq=False)
class CountChange:
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
    def unpack(cls, data: bytes, documents: int) -> CountChange:
        import zstandard

        try:
            columns = np.frombuffer(zstandard.ZstdDecompressor().decompress(bytes(data)), "<i8").reshape(
                3, -1
            )
        except (zstandard.ZstdError, ValueError) as error:
            raise StoreDamaged("statistics_damaged") from error
        return cls(np.cumsum(columns[0]), columns[1].astype(np.int64), columns[2].astype(np.int64), documents)

    def negative(self) -> CountChange:
        return CountChange(self.words, -self.df, -self.cf, -self.documents)


def change_of(words: U32, counts: U32, offsets: U64) -> CountChange:
    """What documents with these rows add. A document without words does not count."""
    numbers, place = np.unique(words, return_inverse=True)
    place = place.reshape(-1)
    df = np.bincount(place, minlength=len(numbers)).astype(np.int64)
    cf = np.bincount(place, weights=counts, minlength=len(numbers)).astype(np.int64)
    return CountChange(numbers.astype(np.int64), df, cf, int(np.count_nonzero(np.diff(offsets))))


def sum_changes(parts: Sequence[CountChange]) -> CountChange:
    if not parts:
        nothing = np.zeros(0, np.int64)
        return CountChange(nothing, nothing, nothing, 0)
    numbers, place = np.unique(np.concatenate([part.words for part in parts]), return_inverse=True)
    place = place.reshape(-1)
    df = np.bincount(place, weights=np.concatenate([p.df for p in parts]), minlength=len(numbers))
    cf = np.bincount(place, weights=np.concatenate([p.cf for p in parts]), minlength=len(numbers))
    live = (df != 0) | (cf != 0)
    return CountChange(
        numbers[live].astype(np.int64),
        df[live].astype(np.int64),
        cf[live].astype(np.int64),
        sum(part.documents for part in parts),
    )


def add_change(database: Database, library: int, part: CountChange) -> None:
    """Inside a transaction that holds the right to write to the library."""
    database.rows(
        "INSERT INTO doublet_statistics (library_id, documents, data) VALUES (%s, %s, %s)",
        [library, part.documents, part.pack()],
    )


def merge_changes(database: Database, library: int) -> None:
    """Make one part of many, when there are many. Parts never change, so they are summed before anybody has to wait."""
    with database.guard():
        sizes = database.rows(
            "SELECT id, length(data) FROM doublet_statistics WHERE library_id = %s ORDER BY length(data), id",
            [library],
        )
    if len(sizes) < MERGE_AT:
        return
    # The largest part is left alone as long as the others together are small beside it.
    small = sizes[:-1]
    if 2 * sum(size for _, size in small) > sizes[-1][1]:
        small = sizes
    numbers = [number for number, _ in small]
    with database.guard():
        rows = database.among("SELECT data, documents FROM doublet_statistics WHERE id IN", numbers)
    merged = sum_changes([CountChange.unpack(bytes(data), documents) for data, documents in rows])
    packed = merged.pack()
    with database.writing():
        if database.vendor == "postgresql":
            database.take_turn(library)
        there = database.among("SELECT id FROM doublet_statistics WHERE id IN", numbers)
        if len(there) < len(numbers) or len(rows) < len(numbers):
            return  # somebody else was quicker
        database.many("DELETE FROM doublet_statistics WHERE id = %s", [(number,) for number in numbers])
        database.rows(
            "INSERT INTO doublet_statistics (library_id, documents, data) VALUES (%s, %s, %s)",
            [library, merged.documents, packed],
        )


def read_changes(database: Database, library: int) -> tuple[CountChange, list[int]]:
    """The sum of the parts that can be read, and the numbers of those that are damaged."""
    parts: list[CountChange] = []
    damaged: list[int] = []
    for number, data, documents in database.rows(
        "SELECT id, data, documents FROM doublet_statistics WHERE library_id = %s ORDER BY id", [library]
    ):
        try:
            parts.append(CountChange.unpack(bytes(data), documents))
        except StoreDamaged:
            damaged.append(number)
    return sum_changes(parts), damaged


def read_statistics(database: Database, library: int) -> CountChange:
    rows = database.rows(
        "SELECT data, documents FROM doublet_statistics WHERE library_id = %s ORDER BY id", [library]
    )
    return sum_changes([CountChange.unpack(bytes(data), documents) for data, documents in rows])


def spell(database: Database, numbers: Sequence[int]) -> dict[int, str]:
    if len(numbers) > 5_000:
        rows = database.rows("SELECT id, word FROM doublet_word")
        return dict(rows)
    return dict(database.among("SELECT id, word FROM doublet_word WHERE id IN", list(numbers)))


def collection_statistics(database: Database, part: CountChange) -> CollectionStatistics:
    """As the methods want them, with the words spelt."""
    spelt = spell(database, part.words.tolist())
    words = [spelt[number] for number in part.words.tolist()]
    return CollectionStatistics.from_counts(words, part.df, part.cf, part.documents)
