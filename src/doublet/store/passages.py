"""Keys by which borrowed passages are found, and where they stand in the database.

Of the fingerprints of every four words those are kept that are smallest among nineteen in a row (winnowing): two
documents that share a run of 22 words share a key, wherever it stands. A key is 40 bits of the fingerprint. SQLite
keeps them as words of a contentless FTS5 table, PostgreSQL in `segments`. Positions are not kept:
verification finds them in the few texts that are looked at. Measured in benchmarks/store.py.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.kernels.data import HASH_VERSION, TEXT_VERSION
from doublet.store import segments
from doublet.store.connection import Database
from doublet.text.tokens import Canon, TokenBatch

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

SHINGLE_WORDS = 4
WINDOW = 19  #: fingerprints; every common run of WINDOW + SHINGLE_WORDS - 1 words shares a key
KEY_BITS = 40
KEY_BYTES = 5
CUT = 1_000  #: a key of more documents says little; it is looked up no further than that
LEAST_CANDIDATES = 50  #: documents that are verified, at least
KEYS_PER_CANDIDATE = 4  #: a long work has one more candidate for so many keys
#: words; of a text that short every fingerprint is looked up, so that shorter passages are found
EVERY_KEY_UP_TO = 300
#: Goes with the stored keys: what was made with another version is made again by `doublet library verify --repair`.
VERSION = (TEXT_VERSION * 100 + HASH_VERSION) * 100 + 1

#: of each key that stands somewhere: its place in the list, and the documents
_LOOK_UP = (
    "SELECT wanted.key, (SELECT group_concat(rowid) FROM (SELECT rowid FROM doublet_posting "
    "WHERE doublet_posting MATCH wanted.value LIMIT ?)) AS documents "
    "FROM json_each(?) AS wanted WHERE documents IS NOT NULL"
)

_MASK = np.uint64((1 << KEY_BITS) - 1)
_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz012345", np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """Keys of several texts: those of text d are ``[offsets[d]:offsets[d+1]]``, each once."""

    values: U64
    offsets: U64
    places: U32  #: first word of the (first) passage with this key
    folds: U64  #: one fingerprint of all words of each text
    words: I64  #: of each text


def make_keys(texts: Sequence[str], batch: TokenBatch | None = None, *, every: bool = False) -> Keys:
    """The low bits are taken, because the smallest of many fingerprints all begin with zeros.

    *every*: no fingerprint is left out, to look up what a short text shares with stored keys.
    """
    batch = batch if batch is not None else Canon().tokens(texts)
    values, offsets = kernels.shingle(batch.hashes, batch.offsets, SHINGLE_WORDS)
    places, ends = kernels.winnow(values, offsets, 1 if every else WINDOW)
    starts = np.repeat(offsets[:-1], np.diff(ends).astype(np.int64))
    chosen = values[(starts + places).astype(np.int64)] & _MASK
    # Each key once in a text, where it stands first.
    owners = np.repeat(np.arange(len(ends) - 1, dtype=np.uint64), np.diff(ends).astype(np.int64))
    keyed = chosen | (owners << np.uint64(KEY_BITS))
    order = np.argsort(keyed, kind="stable")
    same = np.zeros(len(order), np.bool_)
    sorted_keys = keyed[order]
    same[1:] = sorted_keys[1:] == sorted_keys[:-1]
    kept = order[~same]
    new_ends = np.searchsorted(owners[kept], np.arange(len(ends), dtype=np.uint64)).astype(np.uint64)
    # One fingerprint of the whole text: a "run" longer than any.
    folds = np.zeros(len(batch), np.uint64)
    whole, whole_ends = kernels.shingle(batch.hashes, batch.offsets, 1 << 31)
    filled = np.diff(whole_ends) > 0
    folds[filled] = whole
    return Keys(chosen[kept], new_ends, places[kept], folds, np.diff(batch.offsets).astype(np.int64))


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
    if database.vendor == "sqlite":
        database.copy(
            "doublet_posting", ("rowid", "k"), zip(documents, spell_keys(keys, offsets), strict=True)
        )
    else:
        cuts: I64 = np.array(offsets, np.int64)
        sizes = cuts[1:] - cuts[:-1]
        owners = np.repeat(np.array(documents, np.int64), sizes)
        homes = np.broadcast_to(np.array(libraries, np.int64), len(documents))
        segments.write(database, keys, owners, np.repeat(homes, sizes))


def remove_postings(database: Database, documents: Sequence[int], packed: Sequence[bytes]) -> None:
    """*packed* keys exactly as they were put in: other ones would damage the index."""
    keys = [unpack_keys(data) for data in packed]
    offsets = np.concatenate([[0], np.cumsum([len(own) for own in keys])]).astype(np.int64)
    values = np.concatenate(keys) if keys else np.zeros(0, np.uint64)
    if database.vendor == "sqlite":
        spelt = spell_keys(values, offsets.tolist())
        database.raw.executemany(
            "INSERT INTO doublet_posting (doublet_posting, rowid, k) VALUES ('delete', ?, ?)",
            zip(documents, spelt, strict=True),
        )
    else:
        owners = np.repeat(np.array(documents, np.int64), np.diff(offsets))
        segments.write(database, values, owners, np.zeros(len(owners), np.int64), removed=True)


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


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Postings of some keys: pairs (number of the key, document), and of each key how many documents have it."""

    keys: I64
    documents: I64
    frequency: I64  #: of each key, counted up to CUT + 1

    def joined(self, other: Hits) -> Hits:
        """These and those of *other* keys."""
        return Hits(
            np.concatenate([self.keys, other.keys + len(self.frequency)]),
            np.concatenate([self.documents, other.documents]),
            np.concatenate([self.frequency, other.frequency]),
        )


def look_up(database: Database, keys: U64, libraries: LibraryFilter | None, cut: int = CUT) -> Hits:
    """Documents (of these libraries) that have the keys; of a key with more than *cut* documents only some."""
    if database.vendor == "sqlite":
        return Hits(*_look_up_sqlite(database, keys, libraries, cut))
    return Hits(*segments.look_up(database, keys, libraries.numbers if libraries else None, cut))


def _look_up_sqlite(
    database: Database, keys: U64, libraries: LibraryFilter | None, cut: int
) -> tuple[I64, I64, I64]:
    cursor = database.raw.cursor()

    def ask(tokens: list[str], most: int) -> list[tuple[int, I64]]:
        found = cursor.execute(_LOOK_UP, (most, json.dumps(tokens))).fetchall()
        return [
            (place, np.array([int(one) for one in documents.split(",")], np.int64))
            for place, documents in sorted(found)
        ]

    tokens = spell_keys(keys, range(len(keys) + 1))
    counts = np.zeros(len(keys), np.int64)
    parts = []
    # All keys in one statement: most stand nowhere, and a statement for each would cost more than the search.
    for number, documents in ask(tokens, cut + 1):
        own = documents
        if libraries is not None:
            if len(own) > cut:  # documents of other libraries may have used up the limit
                ((_, own),) = ask([tokens[number]], -1)
            own = libraries.only(own)[: cut + 1]
        counts[number] = len(own)
        parts.append(own)
    everything = np.concatenate(parts) if parts else np.zeros(0, np.int64)
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
            self._read()
            out._owners = self._owners
        return out

    def _read(self) -> None:
        known = len(self._owners) - 1
        rows = self._database.rows("SELECT id, library_id FROM doublet_document WHERE id > %s", [known])
        if rows:
            pairs = np.array(rows, np.int64)
            grown = np.zeros(int(pairs[:, 0].max()) + 1, np.int32)
            grown[: len(self._owners)] = self._owners
            grown[pairs[:, 0]] = pairs[:, 1]
            self._owners = grown

    def only(self, documents: I64) -> I64:
        inside = documents[documents < len(self._owners)]
        owners = self._owners[inside]
        return inside[self._wanted[np.minimum(owners, len(self._wanted) - 1)] & (owners < len(self._wanted))]


# Choosing


def choose(hits: Hits, documents: int, limit: int, most: int | None = None) -> list[int]:
    """The documents to verify: always the one next that explains most of what is not explained yet.

    A key weighs log(N / df); each time it was explained before it counts less, so that a family of near copies does not
    take all places. *most*: a key of more documents is left alone as long as others lead somewhere.
    """
    if not len(hits.documents):
        return []
    frequency = np.maximum(hits.frequency, 1)
    weights: F64 = np.log((documents + 1.0) / frequency) + 0.01
    if most is not None:
        weights = np.where(frequency > most, 1e-3, weights)
    names, rows = np.unique(hits.documents, return_inverse=True)
    rows = rows.reshape(-1)
    scores = np.bincount(rows, weights=weights[hits.keys])
    # Only the best from the beginning can come up: a score never rises.
    top = np.sort(np.lexsort((names, -scores))[: max(4 * limit, 400)])
    place = np.full(len(names), -1, np.int64)
    place[top] = np.arange(len(top))
    kept = place[rows] >= 0
    owners, own_keys, scores = place[rows[kept]], hits.keys[kept], scores[top]
    by_key, by_owner = np.argsort(own_keys, kind="stable"), np.argsort(owners, kind="stable")
    owners_of, keys_of = (
        owners[by_key],
        own_keys[by_owner],
    )  # of each key, of each document, one after the other
    key_ends = np.cumsum(np.bincount(own_keys, minlength=len(weights))).tolist()
    owner_ends = np.cumsum(np.bincount(owners, minlength=len(top))).tolist()
    weight = weights.tolist()
    covered = [0] * len(weight)
    chosen: list[int] = []
    while len(chosen) < min(limit, len(top)):
        # Of equals the first that was stored; sums of the same weights differ in their last digits.
        best = int(np.argmax(np.round(scores, 9)))
        chosen.append(int(names[top[best]]))
        scores[best] = -np.inf
        for key in keys_of[owner_ends[best - 1] if best else 0 : owner_ends[best]].tolist():
            covered[key] += 1
            less = weight[key] * (1 / covered[key] ** 2 - 1 / (covered[key] + 1) ** 2)
            scores[owners_of[key_ends[key - 1] if key else 0 : key_ends[key]]] -= less
    return chosen
