"""What is filed under the keys of passages and stems goes into `segments`; and keys as words of FTS5, in which SQLite
keeps those of signatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.index.passage_keys import KEY_BITS
from doublet.store import segments
from doublet.store.connection import Database
from doublet.store.pace import Pace

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

KEY_BYTES = KEY_BITS // 8

TABLE = "doublet_key"  #: of FTS5
MERGE_FROM = 12  #: segments of an FTS5 table; with 16 in one level FTS5 would merge them all at once
_NEVER = 1_000  # segments in one level; the index can have 2,000

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


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """What is filed under keys, parallel: key, value (a document, or a chunk of one), and the document."""

    keys: U64
    values: I64
    documents: I64

    @staticmethod
    def of_keys(documents: Sequence[int], keys: U64, offsets: Sequence[int]) -> Pairs:
        """Documents by their keys of passages."""
        owners = np.repeat(np.array(documents, np.int64), np.diff(offsets))
        return Pairs(keys, owners, owners)

    def __add__(self, other: Pairs) -> Pairs:
        return Pairs(
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.values, other.values]),
            np.concatenate([self.documents, other.documents]),
        )


def add(database: Database, library: int, pairs: Pairs) -> None:
    """Into the index of a library. Inside a transaction."""
    _write(database, pairs, np.full(len(pairs.keys), library, np.int64), removed=False)


def remove(database: Database, pairs: Pairs) -> None:
    """Take out what `add` put in, exactly. Inside a transaction."""
    _write(database, pairs, np.zeros(len(pairs.keys), np.int64), removed=True)


def _write(database: Database, pairs: Pairs, libraries: I64, *, removed: bool) -> None:
    segments.write(database, pairs.keys, pairs.values, libraries, removed=removed)
    # An index that is being made beside the one in use (`doublet.store.rebuild`) has some of the documents already.
    found = database.row("SELECT upto FROM doublet_rebuild")
    if found:
        inside = pairs.documents <= found[0]
        segments.write(
            database,
            pairs.keys[inside],
            pairs.values[inside],
            libraries[inside],
            removed=removed,
            used=False,
        )


# The keys of signatures on SQLite


def optimize(database: Database) -> None:
    """Put the FTS5 table of SQLite in its best shape, some pages at a time."""
    if database.vendor == "sqlite":
        _merge(database, thorough=True)


def tidy(database: Database) -> None:
    """On SQLite: merge segments of the FTS5 table when it has many, some pages at a time. FTS5 itself would merge all
    of a level when there are too many in it, inside the transaction of whoever comes last."""
    if database.vendor != "sqlite":
        return
    row = database.row(f"SELECT block FROM {TABLE}_data WHERE id = 10")
    if row is not None and segments_of(bytes(row[0])) >= MERGE_FROM:
        if not database.row(f"SELECT 1 FROM {TABLE}_config WHERE k = 'crisismerge'"):
            with database.writing():
                database.rows(f"INSERT INTO {TABLE} ({TABLE}, rank) VALUES ('crisismerge', %s)", [_NEVER])
        _merge(database)


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


def _merge(database: Database, *, thorough: bool = False) -> None:
    pace = Pace(200, most=20_000, least=16)
    sign = -1 if thorough else 1  # the first time: whatever there is becomes one
    while True:
        with pace.step(database) as pages, database.writing():
            before = database.raw.total_changes
            database.rows(f"INSERT INTO {TABLE} ({TABLE}, rank) VALUES ('merge', %s)", [sign * pages])
            done = database.raw.total_changes - before < 2  # as FTS5 tells that nothing was left to do
        if done:
            return
        sign = 1


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
