"""Postings on PostgreSQL: sorted runs that never change (segments), cut into small blocks.

A row for each posting would touch a page of the index for each key of a new document: four thousand pages for a hundred
documents. So every batch is written as a segment of its own, in one go, and segments of like size are merged into one,
now and then (a log-structured merge). A removal writes a segment too, of postings marked as removed; a merge lets both
disappear. Nobody changes what is there, so writers never wait for each other here, and a look-up, which is one
statement, always sees one state. A merge goes in short transactions: the new segment is written slice by slice and not
yet used, one statement puts it in the place of the old ones, and their blocks are deleted some at a time.

A block holds the postings of a segment whose keys begin with the same bits: records of 14 bytes, sorted by key and
document. A key that many documents have stands in a row of its own, so that a look-up can take only the beginning; in
the block a record with document 0 points to it. Designs were measured at a million documents; see
docs/explanation/library-store.md.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import StoreBusy, StoreDamaged, StoreFull
from doublet.store.connection import Database, array
from doublet.store.pace import Pace

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]

KEY_BITS = 40
RECORD = (
    14  #: bytes: 5 of the key, 5 of the document (its last bit: removed), 4 of the library; the highest first
)
#: postings of a block, at most, when keys spread evenly. Smaller ones: more rows; larger ones: more to read for a key
BLOCK = 64
HEAVY = (
    128  #: postings of one key in a segment from which it has a row of its own; a block then stays below 2 KB
)
FAN = 8  #: segments of like size that are merged into one. Fewer: quicker look-ups, more writing
SMALLEST = 64  #: postings of the first level of segments; each further level has FAN times as many
SLICE = 100_000  #: postings that a merge works through in one transaction, and holds in memory, some 150 bytes each
WRITTEN, USED, GOING = 0, 1, 2  #: states of a segment
LARGEST_NUMBER = (1 << (KEY_BITS - 1)) - 1  #: of a document
_MERGING = 7126512  # the advisory lock of those who take segments away
_MOST_TRIES = 50  # of a look-up that meets merges


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Postings, parallel: key, twice the document's number (plus one: removed), library."""

    keys: U64
    documents: U64
    libraries: U64

    def __len__(self) -> int:
        return len(self.keys)

    def some(self, which: Any) -> Records:
        return Records(self.keys[which], self.documents[which], self.libraries[which])

    def sorted(self) -> Records:
        """By key and document."""
        # Runs that are sorted already, of segments in the order in which they came: mostly this sort is enough.
        out = self.some(np.argsort(self.keys, kind="stable"))
        wrong = (out.keys[1:] == out.keys[:-1]) & (out.documents[1:] < out.documents[:-1])
        return out.some(np.lexsort((out.documents, out.keys))) if wrong.any() else out

    def settled(self) -> Records:
        """Without what was added and removed. Of sorted records; they stay sorted."""
        same = (self.keys[1:] == self.keys[:-1]) & (
            self.documents[1:] >> np.uint64(1) == self.documents[:-1] >> np.uint64(1)
        )
        if not same.any():
            return self
        gone = np.zeros(len(self), np.bool_)
        gone[1:] |= same
        gone[:-1] |= same
        return self.some(~gone)

    @property
    def removed(self) -> int:
        return int(np.count_nonzero(self.documents & np.uint64(1)))


def pack(records: Records) -> bytes:
    out = np.empty((len(records), RECORD), np.uint8)
    for start, end, column in ((0, 5, records.keys), (5, 10, records.documents), (10, 14, records.libraries)):
        out[:, start:end] = column.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - (end - start) :]
    return out.tobytes()


def unpack(data: bytes) -> Records:
    if len(data) % RECORD:
        raise StoreDamaged("passages_damaged")
    raw = np.frombuffer(data, np.uint8).reshape(-1, RECORD)
    return Records(_number(raw, 0, 5), _number(raw, 5, 10), _number(raw, 10, 14))


def _number(raw: Bytes, start: int, end: int) -> U64:
    full = np.zeros((len(raw), 8), np.uint8)
    full[:, 8 - (end - start) :] = raw[:, start:end]
    return full.reshape(-1).view(">u8").astype(np.uint64)


# Writing


def write(
    database: Database,
    keys: U64,
    documents: I64,
    libraries: I64,
    *,
    removed: bool = False,
    used: bool = True,
) -> None:
    """A new segment of these postings, parallel lists. Inside a transaction. *used*: False for an index that is being
    made beside the one in use."""
    if not len(keys):
        return
    if int(documents.max()) > LARGEST_NUMBER or int(libraries.max()) >= 1 << 32:
        raise StoreFull("numbers_used_up")
    values = documents.astype(np.uint64) << np.uint64(1) | np.uint64(removed)
    records = Records(keys.astype(np.uint64), values, libraries.astype(np.uint64)).sorted()
    bits = _bits(len(records))
    segment = _new_segment(database, bits, records)
    _copy_blocks(database, segment, bits, records)
    if not used:
        database.rows("UPDATE doublet_segment SET state = %s WHERE id = %s", [WRITTEN, segment])


def _bits(postings: int) -> int:
    return max(0, (postings - 1) // BLOCK).bit_length()


def _new_segment(database: Database, bits: int, records: Records) -> int:
    row = database.row(
        "INSERT INTO doublet_segment (bits, postings, removed) VALUES (%s, %s, %s) RETURNING id",
        [bits, len(records), records.removed],
    )
    assert row is not None
    return int(row[0])


def _copy_blocks(database: Database, segment: int, bits: int, records: Records) -> None:
    rows = [
        b"\0\3\0\0\0\x08"
        + segment.to_bytes(8, "big")
        + b"\0\0\0\x08"
        + part.to_bytes(8, "big", signed=True)
        + len(data).to_bytes(4, "big")
        + data
        for part, data in _blocks(bits, records)
    ]
    with (
        database.raw.cursor() as cursor,
        cursor.copy("COPY doublet_block (segment, part, data) FROM STDIN (FORMAT BINARY)") as copy,
    ):
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8) + b"".join(rows) + b"\xff\xff")


def _blocks(bits: int, records: Records) -> Iterator[tuple[int, bytes]]:
    """Parts and their bytes, of sorted records; heavy keys in parts of their own, numbered -1 - key."""
    if not len(records):
        return
    starts = np.concatenate([[0], np.flatnonzero(records.keys[1:] != records.keys[:-1]) + 1])
    ends = np.append(starts[1:], len(records))
    heavy = np.flatnonzero(ends - starts > HEAVY)
    if len(heavy):
        light: Bools = np.ones(len(records), np.bool_)
        documents = records.documents.copy()
        for place in heavy.tolist():
            start, end = int(starts[place]), int(ends[place])
            yield -1 - int(records.keys[start]), pack(records.some(slice(start, end)))
            documents[start] = 0
            light[start + 1 : end] = False
        records = Records(records.keys, documents, records.libraries).some(light)
    parts = (records.keys >> np.uint64(KEY_BITS - bits)).astype(np.int64)
    cuts = np.concatenate([[0], np.flatnonzero(parts[1:] != parts[:-1]) + 1, [len(parts)]])
    data = pack(records)
    numbers = parts[cuts[:-1]].tolist()
    for part, (start, end) in zip(numbers, pairwise((cuts * RECORD).tolist()), strict=True):
        yield part, data[start:end]


# Merging


@dataclass(frozen=True, slots=True)
class Segment:
    id: int
    bits: int
    postings: int
    removed: int


def _segments(database: Database) -> list[Segment]:
    """Those in use, in the order in which they came."""
    rows = database.rows(
        "SELECT id, bits, postings, removed FROM doublet_segment WHERE state = %s ORDER BY id", [USED]
    )
    return [Segment(*row) for row in rows]


def worth_merging(segments: Sequence[Segment], *, thorough: bool = False) -> list[Segment]:
    """Segments that should become one now; *thorough*: until each is much larger than all smaller ones together."""
    if len(segments) > 1 and 4 * sum(s.removed for s in segments) > sum(s.postings for s in segments):
        return list(segments)  # a good part of the index is no more
    if thorough:
        by_size = sorted(segments, key=lambda segment: (segment.postings, segment.id))
        total, take = 0, 0
        for place, segment in enumerate(by_size):
            if segment.postings <= 4 * total:
                take = place + 1
            total += segment.postings
        return sorted(by_size[:take], key=lambda segment: segment.id)
    levels: dict[int, list[Segment]] = {}
    for segment in segments:
        level, size = 0, SMALLEST
        while segment.postings > size:
            level, size = level + 1, size * FAN
        levels.setdefault(level, []).append(segment)
    for level in sorted(levels):
        if len(levels[level]) >= FAN:
            return levels[level]
    return []


def tidy(database: Database, *, thorough: bool = False) -> None:
    """Merge what is worth it, in short steps; nothing where somebody else is at it."""
    with database.guard():
        if not worth_merging(_segments(database), thorough=thorough):
            return
        with merging(database) as free:
            if not free or database.row("SELECT 1 FROM doublet_rebuild LIMIT 1"):
                return
            purge(database, (WRITTEN, GOING))  # what somebody who was killed left behind
            while chosen := worth_merging(_segments(database), thorough=thorough):
                merge(database, chosen)


@contextlib.contextmanager
def merging(database: Database) -> Iterator[bool]:
    """The right to take segments away, over several transactions; False when somebody else has it."""
    (free,) = database.rows("SELECT pg_try_advisory_lock(%s)", [_MERGING])[0]
    try:
        yield bool(free)
    finally:
        if free and not database.raw.closed:
            database.rows("SELECT pg_advisory_unlock(%s)", [_MERGING])


def merge(database: Database, segments: Sequence[Segment]) -> None:
    """Make one segment of several. For whoever holds the right to take segments away; in short transactions."""
    postings = sum(segment.postings for segment in segments)
    bits = _bits(postings)
    cuts = min(bits, max(0, (postings - 1) // SLICE).bit_length())
    with database.writing():
        row = database.row(
            "INSERT INTO doublet_segment (bits, postings, removed, state) VALUES (%s, 0, 0, %s) RETURNING id",
            [bits, WRITTEN],
        )
    assert row is not None
    new = int(row[0])
    small = {s.id: _read(database, s.id) for s in segments if s.bits < cuts}
    kept = removed = 0
    for number in range(1 << cuts):
        low, high = number << (KEY_BITS - cuts), (number + 1) << (KEY_BITS - cuts)
        parts = []
        for segment in segments:
            if segment.id in small:
                there = small[segment.id]
                parts.append(there.some((there.keys >= np.uint64(low)) & (there.keys < np.uint64(high))))
            else:
                shift = KEY_BITS - segment.bits
                parts.append(_read(database, segment.id, low >> shift, high >> shift, low, high))
        records = _together(parts).sorted().settled()
        with database.writing():
            _copy_blocks(database, new, bits, records)
        kept, removed = kept + len(records), removed + records.removed
    with database.writing():
        database.rows(
            "UPDATE doublet_segment SET state = %s WHERE id = ANY(%s)",
            [GOING, array([segment.id for segment in segments])],
        )
        database.rows(
            "UPDATE doublet_segment SET postings = %s, removed = %s, state = %s WHERE id = %s",
            [kept, removed, USED if kept else GOING, new],
        )
    purge(database, (GOING,))


def purge(database: Database, states: Sequence[int]) -> None:
    """Delete segments in these states, in steps. For whoever holds the right to take segments away."""
    pace = Pace(2_000, most=50_000)
    numbers = [
        row[0]
        for row in database.rows(
            "SELECT id FROM doublet_segment WHERE state = ANY(%s) ORDER BY id", [array(list(states))]
        )
    ]
    for number in numbers:
        last = -1 << KEY_BITS
        while True:
            with pace.step(database) as size, database.writing():
                # By a range of parts, and not by a list of them: with the table's statistics of an hour ago PostgreSQL
                # joins such a list by comparing each of its parts with each of the segment's.
                database.rows("SET LOCAL enable_seqscan = off")
                end = database.row(
                    "SELECT part FROM doublet_block WHERE segment = %s AND part > %s ORDER BY part "
                    "OFFSET %s LIMIT 1",
                    [number, last, size - 1],
                )
                until = end[0] if end else 1 << KEY_BITS
                database.rows(
                    "DELETE FROM doublet_block WHERE segment = %s AND part > %s AND part <= %s",
                    [number, last, until],
                )
                if end is None:
                    database.rows("DELETE FROM doublet_segment WHERE id = %s", [number])
                    break
            last = until


def _together(parts: Sequence[Records]) -> Records:
    return Records(
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.documents for part in parts]),
        np.concatenate([part.libraries for part in parts]),
    )


def _read(
    database: Database,
    segment: int,
    first: int = 0,
    end: int = 1 << KEY_BITS,
    low: int = 0,
    high: int = 1 << KEY_BITS,
) -> Records:
    """Records of a segment: of its parts from *first* to *end*, and of heavy keys from *low* to *high*."""
    rows = database.binary(
        "SELECT data FROM doublet_block WHERE segment = %s::bigint AND (part >= %s::bigint AND part < %s::bigint "
        "OR part > %s::bigint AND part <= %s::bigint)",
        [segment, first, end, -1 - high, -1 - low],
    )
    found = unpack(b"".join(row[0] for row in rows))
    return found.some(found.documents != 0)


def everything(database: Database) -> Iterator[Records]:
    """All records, added and removed, in parts."""
    for segment in _segments(database):
        cuts = min(segment.bits, max(0, (segment.postings - 1) // SLICE).bit_length())
        for number in range(1 << cuts):
            first, end = number << (segment.bits - cuts), (number + 1) << (segment.bits - cuts)
            low, high = number << (KEY_BITS - cuts), (number + 1) << (KEY_BITS - cuts)
            yield _read(database, segment.id, first, end, low, high)


# Looking up


def look_up(database: Database, keys: U64, libraries: Sequence[int] | None, cut: int) -> tuple[I64, I64, I64]:
    """Pairs (place of the key, document), and of each key how many documents have it, counted up to *cut* + 1. Of a key
    with more documents only some are given. *libraries*: only documents of these."""
    wanted, place = np.unique(keys, return_inverse=True)
    for _ in range(_MOST_TRIES):
        found = _look_up(database, wanted, libraries, cut)
        if found is not None:
            break
    else:
        raise StoreBusy("index_busy", shown=database.shown)
    numbers, documents = found
    counts = np.bincount(numbers, minlength=len(wanted)).astype(np.int64)
    place = place.reshape(-1)
    if len(wanted) == len(keys):
        back = np.empty(len(keys), np.int64)
        back[place] = np.arange(len(keys))
        return back[numbers], documents, counts[place]
    ends = np.concatenate([[0], np.cumsum(counts)])  # a key that is asked for twice
    own = [documents[ends[key] : ends[key + 1]] for key in place.tolist()]
    return np.repeat(np.arange(len(keys)), counts[place]), np.concatenate(own), counts[place]


# The blocks of each segment in one value: a row for each would cost more than to find it.
_BLOCKS = (
    "SELECT s.id, s.removed, b.data FROM doublet_segment s CROSS JOIN LATERAL "
    "(SELECT string_agg(data, ''::bytea) AS data FROM doublet_block WHERE segment = s.id AND part = ANY(ARRAY("
    f"SELECT DISTINCT q.key >> ({KEY_BITS} - s.bits) FROM unnest(%s::bigint[]) AS q(key)))) AS b "
    f"WHERE s.state = {USED} AND b.data IS NOT NULL"
)
_HEAVY_ROWS = (
    "SELECT b.data FROM unnest(%s::bigint[], %s::bigint[]) AS q(segment, part) CROSS JOIN LATERAL "
    "(SELECT substr(data, 1, %s::int) AS data FROM doublet_block WHERE segment = q.segment AND part = q.part "
    "LIMIT 1) AS b"
)


def _look_up(
    database: Database, wanted: U64, libraries: Sequence[int] | None, cut: int
) -> tuple[I64, I64] | None:
    """None when segments were merged between two statements."""
    rows = database.binary(_BLOCKS, [array(wanted.astype(np.int64).tolist())])
    found, which = _matching(b"".join(row[2] for row in rows), wanted)
    heavy = found.documents == 0
    if heavy.any():
        lengths = np.cumsum([len(row[2]) // RECORD for row in rows])
        segments = [rows[at][0] for at in np.searchsorted(lengths, which[heavy], side="right").tolist()]
        keys = found.keys[heavy]
        parts = (-1 - keys.astype(np.int64)).tolist()
        found = found.some(~heavy)
        # Only the beginning is needed of a key of too many documents; where some were removed that cannot be told.
        most = cut + 1 if libraries is None else 8 * (cut + 1)
        limit = (1 << 31) - 1 if any(row[1] for row in rows) else RECORD * most
        some = database.binary(_HEAVY_ROWS, [array(segments), array(parts), limit])
        if len(some) < len(parts):
            return None
        more = unpack(b"".join(row[0] for row in some))
        if libraries is not None and any(len(row[0]) == limit for row in some):
            counts = _counts(_of(more, libraries), wanted)
            if (counts[np.searchsorted(wanted, keys)] <= cut).any():
                some = database.binary(_HEAVY_ROWS, [array(segments), array(parts), (1 << 31) - 1])
                if len(some) < len(parts):
                    return None
                more = unpack(b"".join(row[0] for row in some))
        found = _together([found, more])
    found = found.sorted().settled()
    if libraries is not None:
        found = _of(found, libraries)
    numbers = np.searchsorted(wanted, found.keys)
    counts = np.bincount(numbers, minlength=len(wanted))
    rank = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = rank <= cut
    return numbers[kept].astype(np.int64), (found.documents[kept] >> np.uint64(1)).astype(np.int64)


def _matching(data: bytes, wanted: U64) -> tuple[Records, I64]:
    """The records of these keys, and where each stood."""
    if len(data) % RECORD:
        unpack(data)  # raises
    raw = np.frombuffer(data, np.uint8).reshape(-1, RECORD)
    keys = _number(raw, 0, 5)
    places = np.minimum(np.searchsorted(wanted, keys), max(len(wanted) - 1, 0))
    which = np.flatnonzero(wanted[places] == keys) if len(wanted) else np.zeros(0, np.int64)
    own = raw[which]
    return Records(keys[which], _number(own, 5, 10), _number(own, 10, 14)), which


def _of(records: Records, libraries: Iterable[int]) -> Records:
    return records.some(np.isin(records.libraries, np.array(list(libraries), np.uint64)))


def _counts(records: Records, wanted: U64) -> I64:
    return np.bincount(np.searchsorted(wanted, records.keys), minlength=len(wanted)).astype(np.int64)
