"""Where keys of passages (`index.passage_keys`) lie in the database.

SQLite keeps them as words of a contentless FTS5 table, PostgreSQL in `segments`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.index import passage_keys
from doublet.index.passage_keys import KEY_BITS, Hits
from doublet.store import segments
from doublet.store.connection import Database
from doublet.store.pace import Pace

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

KEY_BYTES = KEY_BITS // 8

_TABLES = ("doublet_posting", "doublet_stem", "doublet_key")  # those of FTS5
MERGE_FROM = 12  #: segments of an FTS5 table; with 16 in one level FTS5 would merge them all at once
_NEVER = 1_000  # segments in one level; the index can have 2,000

#: of each key that stands somewhere: its place in the list, and the documents
_LOOK_UP = (
    "SELECT wanted.key, (SELECT group_concat(rowid) FROM (SELECT rowid FROM {table} "
    "WHERE {table} MATCH wanted.value LIMIT ?)) AS documents "
    "FROM json_each(?) AS wanted WHERE documents IS NOT NULL"
)

_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz012345", np.uint8)


def pack_keys(keys: U64) -> bytes:
    """Five bytes each, the highest first."""
    return keys.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - KEY_BYTES :].tobytes()


def unpack_keys(data: bytes) -> U64:
    raw = np.frombuffer(bytes(data), np.uint8).reshape(-1, KEY_BYTES)
    full = np.zeros((len(raw), 8), np.uint8)
    full[:, 8 - KEY_BYTES :] = raw
    return full.reshape(-1).view(">u8").astype(np.uint64)


def spell_keys(keys: U64, offsets: Sequence[int], bits: int = KEY_BITS, prefix: bytes = b"") -> list[str]:
    """Keys as words of FTS5, one text for each document: letters a–z and 0–5, five bits each."""
    letters = -(-bits // 5)
    width = len(prefix) + letters + 1
    out = np.full((len(keys), width), ord(" "), np.uint8)
    out[:, : len(prefix)] = np.frombuffer(prefix, np.uint8)
    for n in range(letters):
        digit = (keys >> np.uint64(5 * (letters - 1 - n))) & np.uint64(31)
        out[:, len(prefix) + n] = _LETTERS[digit.astype(np.int64)]
    text = out.tobytes().decode("ascii")
    return [text[a * width : b * width] for a, b in pairwise(offsets)]


# Postings


def add_postings(
    database: Database,
    libraries: int | Sequence[int],
    documents: Sequence[int],
    keys: U64,
    offsets: Sequence[int],
) -> None:
    """*libraries*: the one of all documents, or that of each."""
    write_postings(database, libraries, documents, keys, offsets)
    inside = inside_new(database, documents)
    if inside:
        own = [keys[offsets[place] : offsets[place + 1]] for place in inside]
        homes = np.broadcast_to(np.array(libraries, np.int64), len(documents))[inside].tolist()
        cuts = np.concatenate([[0], np.cumsum([len(one) for one in own])]).astype(np.int64).tolist()
        numbers = [documents[place] for place in inside]
        write_postings(database, homes, numbers, np.concatenate(own), cuts, new=True)


def inside_new(database: Database, documents: Sequence[int]) -> list[int]:
    """Places of documents that stand in an index that is being made beside the old one (`doublet.store.rebuild`)."""
    found = database.row("SELECT upto FROM doublet_rebuild")
    return [place for place, number in enumerate(documents) if number <= found[0]] if found else []


def write_postings(
    database: Database,
    libraries: int | Sequence[int],
    documents: Sequence[int],
    keys: U64,
    offsets: Sequence[int],
    *,
    new: bool = False,
) -> None:
    """*new*: into the index that is being made beside the one in use."""
    if database.vendor == "sqlite":
        table = "doublet_posting_new" if new else "doublet_posting"
        database.copy(table, ("rowid", "k"), zip(documents, spell_keys(keys, offsets), strict=True))
    else:
        cuts: I64 = np.array(offsets, np.int64)
        sizes = cuts[1:] - cuts[:-1]
        owners = np.repeat(np.array(documents, np.int64), sizes)
        homes = np.broadcast_to(np.array(libraries, np.int64), len(documents))
        segments.write(database, keys, owners, np.repeat(homes, sizes), used=not new)


def optimize(database: Database) -> None:
    """Put the FTS5 tables of SQLite in their best shape, some pages at a time."""
    for table in _TABLES:
        _merge(database, table, thorough=True)


def tidy(database: Database, table: str | None = None) -> None:
    """On SQLite: merge segments of an FTS5 table, or of all that have many, some pages at a time. FTS5 itself would
    merge all of a level when there are too many in it, inside the transaction of whoever comes last."""
    if database.vendor != "sqlite":
        return
    for name in _TABLES if table is None else (table,):
        row = database.row(f"SELECT block FROM {name}_data WHERE id = 10")
        if row is not None and segments_of(bytes(row[0])) >= MERGE_FROM:
            if not database.row(f"SELECT 1 FROM {name}_config WHERE k = 'crisismerge'"):
                with database.writing():
                    leave_merging(database, name)
            _merge(database, name)


def leave_merging(database: Database, table: str) -> None:
    """FTS5 leaves the merging of many segments to us. Inside a transaction; the table remembers it."""
    database.rows(f"INSERT INTO {table} ({table}, rank) VALUES ('crisismerge', %s)", [_NEVER])


def segments_of(structure: bytes) -> int:
    """How many segments an FTS5 index has, by the record of its structure: a cookie of four bytes, the number of
    levels, and that of all segments, as variable-length integers."""
    at, number = 4, 0
    for _ in range(2):
        number = 0
        while True:
            byte = structure[at]
            at += 1
            number = number << 7 | byte & 127
            if byte < 128:
                break
    return number


def _merge(database: Database, table: str, *, thorough: bool = False) -> None:
    pace = Pace(200, most=20_000, least=16)
    sign = -1 if thorough else 1  # the first time: whatever there is becomes one
    while True:
        with pace.step(database) as pages, database.writing():
            before = database.raw.total_changes
            database.rows(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', %s)", [sign * pages])
            done = database.raw.total_changes - before < 2  # as FTS5 tells that nothing was left to do
        if done:
            return
        sign = 1


def remove_postings(database: Database, documents: Sequence[int], packed: Sequence[bytes]) -> None:
    """*packed* keys exactly as they were put in: other ones would damage the index."""
    _remove(database, documents, packed)
    inside = inside_new(database, documents)
    if inside:
        _remove(
            database, [documents[place] for place in inside], [packed[place] for place in inside], new=True
        )


def _remove(
    database: Database, documents: Sequence[int], packed: Sequence[bytes], *, new: bool = False
) -> None:
    keys = [unpack_keys(data) for data in packed]
    offsets = np.concatenate([[0], np.cumsum([len(own) for own in keys])]).astype(np.int64)
    values = np.concatenate(keys) if keys else np.zeros(0, np.uint64)
    if database.vendor == "sqlite":
        table = "doublet_posting_new" if new else "doublet_posting"
        database.raw.executemany(
            f"INSERT INTO {table} ({table}, rowid, k) VALUES ('delete', ?, ?)",
            zip(documents, spell_keys(values, offsets.tolist()), strict=True),
        )
    else:
        owners = np.repeat(np.array(documents, np.int64), np.diff(offsets))
        nowhere = np.zeros(len(owners), np.int64)
        segments.write(database, values, owners, nowhere, removed=True, used=not new)


def copy_pairs(database: Database, table: str, columns: tuple[str, ...], *values: I64) -> None:
    """Rows of whole numbers into PostgreSQL, sorted, in its binary format."""
    order = np.lexsort(values[::-1])
    fields: list[Any] = [("n", ">i2")]
    for number in range(len(values)):
        fields += [(f"s{number}", ">i4"), (f"v{number}", ">i8")]
    rows = np.zeros(len(order), fields)
    rows["n"] = len(values)
    for number, column in enumerate(values):
        rows[f"s{number}"] = 8
        rows[f"v{number}"] = column[order]
    sql = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)"
    with database.raw.cursor() as cursor, cursor.copy(sql) as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8) + rows.tobytes() + b"\xff\xff")


# Looking up


def look_up(
    database: Database,
    keys: U64,
    libraries: LibraryFilter | None,
    *,
    table: str = "doublet_posting",
    shift: int = 0,
) -> Hits:
    """Documents (of these libraries) that have the keys; of a key with more than CUT documents only some.

    With a *shift* the postings are parts of documents, whose numbers have so many bits behind that of the document.
    """
    cut = passage_keys.CUT
    if database.vendor == "sqlite":
        return Hits(*_look_up_sqlite(database, keys, libraries, cut, table, shift))
    return Hits(*segments.look_up(database, keys, libraries.numbers if libraries else None, cut))


def _look_up_sqlite(
    database: Database, keys: U64, libraries: LibraryFilter | None, cut: int, table: str, shift: int
) -> tuple[I64, I64, I64]:
    cursor = database.raw.cursor()
    statement = _LOOK_UP.format(table=table)

    def ask(tokens: list[str], most: int) -> tuple[I64, I64, I64]:
        """Places of the tokens that stand somewhere, how many numbers each has, and the numbers of all of them."""
        found = sorted(cursor.execute(statement, (most, json.dumps(tokens))).fetchall())
        # All numbers in one go: one by one they take longer than the search.
        everything = np.fromstring(",".join(documents for _, documents in found), np.int64, sep=",")
        sizes = np.array([documents.count(",") + 1 for _, documents in found], np.int64)
        return np.array([place for place, _ in found], np.int64), sizes, everything

    tokens = spell_keys(keys, range(len(keys) + 1))
    counts = np.zeros(len(keys), np.int64)
    # All keys in one statement: most stand nowhere, and a statement for each would cost more than the search.
    places, sizes, everything = ask(tokens, cut + 1)
    if libraries is not None and len(places):
        wanted = libraries.wants(everything, shift)
        left = np.bincount(np.repeat(np.arange(len(places)), sizes)[wanted], minlength=len(places))
        parts = np.split(everything[wanted], np.cumsum(left)[:-1])
        for number in np.flatnonzero((sizes > cut) & (left <= cut)):  # others used up the limit
            _, _, documents = ask([tokens[places[number]]], -1)
            parts[number] = documents[libraries.wants(documents, shift)][: cut + 1]
        sizes = np.array([len(part) for part in parts], np.int64)
        everything = np.concatenate(parts)
    counts[places] = sizes
    return np.repeat(np.arange(len(keys)), counts), everything, counts


class LibraryFilter:
    """Which library each document belongs to, for quick filtering. Numbers are never used again, so what was read stays
    true; only new documents have to be asked for."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._owners: NDArray[np.int32] = np.zeros(0, np.int32)
        self.numbers: list[int] = []
        self._wanted = np.zeros(1, np.bool_)

    def want(self, libraries: Sequence[int]) -> LibraryFilter:
        """A filter for these libraries that shares what was read."""
        out = LibraryFilter(self._database)
        out.numbers = list(libraries)
        out._wanted = np.zeros(max(libraries, default=0) + 1, np.bool_)
        out._wanted[list(libraries)] = True
        if self._database.vendor == "sqlite":
            out._owners = self._read()
        return out

    def _read(self) -> NDArray[np.int32]:
        known = len(self._owners) - 1
        rows = self._database.rows("SELECT id, library_id FROM doublet_document WHERE id > %s", [known])
        if rows:
            pairs = np.array(rows, np.int64)
            grown = np.zeros(int(pairs[:, 0].max()) + 1, np.int32)
            grown[: len(self._owners)] = self._owners
            grown[pairs[:, 0]] = pairs[:, 1]
            if self._database.in_foreign_transaction:  # it may be taken back, and the numbers are given again
                return grown
            self._owners = grown
        return self._owners

    def wants(self, documents: I64, shift: int = 0) -> NDArray[np.bool_]:
        """Which of them are in these libraries; the numbers of parts of documents have *shift* more bits. A number that
        is newer than what was read belongs to nobody."""
        owners = (
            self._owners[np.minimum(documents >> shift, len(self._owners) - 1)] if len(self._owners) else 0
        )
        known = (documents >> shift) < len(self._owners)
        inside = known & (owners < len(self._wanted))
        return inside & self._wanted[np.where(inside, owners, 0)]
