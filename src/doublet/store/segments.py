"""Postings of passages and stems in sorted runs that never change (segments), cut into small blocks.

A row for each posting would touch a page of the index for each key of a new document: four thousand pages for a hundred
documents. So every batch is written as a segment of its own, in one go, and segments of like size are merged into one,
now and then (a log-structured merge). A removal writes a segment too, of postings marked as removed; a merge lets both
disappear. Nobody changes what is there, so writers never wait for each other here, and a look-up, which is one
statement, always sees one state. A merge goes in short transactions: the new segment is written slice by slice and not
yet used, one statement puts it in the place of the old ones, and their blocks are deleted some at a time.

A block holds the postings of a segment whose keys begin with the same bits, sorted by key and document, as differences
(`kernels.pack_postings`); blocks of older segments have records of 14 bytes instead (`PLAIN`). A key that many
documents have stands in a row of its own, so that a look-up can take only the beginning; in the block a record with
document 0 points to it. Designs were measured at a million documents; see docs/explanation/library-store.md.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.errors import StoreBusy, StoreDamaged, StoreFull
from doublet.store.connection import Database, array
from doublet.store.leases import LEASE_S, NOW, is_gone, new_owner
from doublet.store.pace import Pace

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
Bytes = NDArray[np.uint8]

KEY_BITS = 40
#: bytes of a record of plain blocks: 5 of the key, 5 of the document (its last bit: removed), 4 of the library; the
#: highest first. Packed ones are shorter.
RECORD = 14
#: postings of a block, at most, when keys spread evenly; some 4 bytes each. Smaller ones: more rows; larger ones: more
#: to read for a key
BLOCK = 128
HEAVY = (
    512  #: postings of one key in a segment from which it has a row of its own; a block then stays below 4 KB
)
FAN = 8  #: segments of like size that are merged into one. Fewer: quicker look-ups, more writing
SMALLEST = 64  #: postings of the first level of segments; each further level has FAN times as many
SLICE = 100_000  #: postings that a merge works through at a time, and holds in memory, some 150 bytes each
SLICES = 8  #: that a merge writes in one transaction, at most: each commit has its price
MOST_LIBRARIES = 20  #: of a segment that are told one by one
WRITTEN, USED, GOING = 0, 1, 2  #: states of a segment
PLAIN, PACKED = 0, 1  #: formats of its blocks
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
        order = kernels.sort_postings(self.keys, self.documents)
        return self.some(order) if len(order) else self

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

    def some_added(self) -> Records:
        """Without those that are marked as removed."""
        return self.some(self.documents & np.uint64(1) == 0)

    @property
    def removed(self) -> int:
        return int(np.count_nonzero(self.documents & np.uint64(1)))


def pack(records: Records, cuts: Sequence[int]) -> list[bytes]:
    """A block for each range of sorted records."""
    data, ends = kernels.pack_postings(
        records.keys, records.documents, records.libraries, np.array(cuts, np.uint64)
    )
    blob = data.tobytes()
    return [blob[start:end] for start, end in pairwise(ends.tolist())]


def unpack(
    blocks: Sequence[bytes], wanted: U64 | None = None, *, cut: bool = False
) -> tuple[Records, NDArray[np.uint64]]:
    """The records of blocks (of the *wanted* keys alone, sorted), and where each stood. Each of *blocks* may be several
    that were joined; with *cut* it may end too early."""
    ends = np.cumsum([0, *map(len, blocks)]).astype(np.uint64)
    try:
        *columns, rows = kernels.unpack_postings(np.frombuffer(b"".join(blocks), np.uint8), ends, wanted, cut)
    except ValueError as error:
        raise StoreDamaged("passages_damaged") from error
    return Records(*columns), rows


def unpack_plain(data: bytes) -> Records:
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
    records = records_of(keys, documents, libraries, removed=removed)
    bits = _bits(len(records))
    told = _told_libraries(records.removed, _distinct(libraries))
    segment = _new_segment(database, bits, len(records), records.removed, USED if used else WRITTEN, told)
    _copy(database, segment, cut_blocks(bits, records))


def records_of(keys: U64, documents: I64, libraries: I64, *, removed: bool = False) -> Records:
    if int(documents.max()) > LARGEST_NUMBER or int(libraries.max()) >= 1 << 32:
        raise StoreFull("numbers_used_up")
    values = documents.astype(np.uint64) << np.uint64(1) | np.uint64(removed)
    return Records(keys.astype(np.uint64, copy=False), values, libraries.astype(np.uint64, copy=False))


def _bits(postings: int) -> int:
    return max(0, (postings - 1) // BLOCK).bit_length()


def _new_segment(
    database: Database, bits: int, postings: int, removed: int, state: int, libraries: str | None
) -> int:
    row = database.row(
        "INSERT INTO doublet_segment (bits, postings, removed, state, format, libraries) "
        "VALUES (%s, %s, %s, %s, %s, %s) RETURNING id",
        [bits, postings, removed, state, PACKED, libraries],
    )
    assert row is not None
    return int(row[0])


def _distinct(libraries: NDArray[Any]) -> set[int]:
    if not len(libraries):
        return set()
    first = int(libraries[0])
    return {first} if (libraries == libraries[0]).all() else set(np.unique(libraries).tolist())


def _told_libraries(removed: int, libraries: set[int]) -> str | None:
    """The libraries of a segment as they are kept beside it: a look-up passes over segments of others. None: any, as of
    postings that take others away."""
    return None if removed or len(libraries) > MOST_LIBRARIES else ",".join(map(str, sorted(libraries)))


def _copy(database: Database, segment: int, blocks: Sequence[tuple[int, bytes]]) -> None:
    if database.vendor == "sqlite":
        database.copy(
            "doublet_block", ("segment", "part", "data"), [(segment, part, data) for part, data in blocks]
        )
    else:
        copy_blocks(database.raw, segment, blocks)


def copy_blocks(connection: Any, segment: int, blocks: Iterable[tuple[int, bytes]]) -> None:
    """Into PostgreSQL, in its binary format."""
    rows = [
        b"\0\3\0\0\0\x08"
        + segment.to_bytes(8, "big")
        + b"\0\0\0\x08"
        + part.to_bytes(8, "big", signed=True)
        + len(data).to_bytes(4, "big")
        + data
        for part, data in blocks
    ]
    with (
        connection.cursor() as cursor,
        cursor.copy("COPY doublet_block (segment, part, data) FROM STDIN (FORMAT BINARY)") as copy,
    ):
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8) + b"".join(rows) + b"\xff\xff")


def cut_blocks(bits: int, records: Records) -> list[tuple[int, bytes]]:
    """Parts and their bytes, of records in any order; heavy keys in parts of their own, numbered -1 - key."""
    parts, data, ends = kernels.cut_postings(
        records.keys, records.documents, records.libraries, KEY_BITS, bits, HEAVY
    )
    blob = data.tobytes()
    blocks = [blob[start:end] for start, end in pairwise(ends.tolist())]
    return list(zip(parts.tolist(), blocks, strict=True))


# Merging


@dataclass(frozen=True, slots=True)
class Segment:
    id: int
    bits: int
    postings: int
    removed: int
    format: int = PACKED
    libraries: str | None = None  #: their numbers with commas between; None: any

    def may_have(self, libraries: set[str]) -> bool:
        return self.libraries is None or not libraries.isdisjoint(self.libraries.split(","))


def _segments(database: Database) -> list[Segment]:
    """Those in use, in the order in which they came."""
    rows = database.rows(
        "SELECT id, bits, postings, removed, format, libraries FROM doublet_segment WHERE state = %s ORDER BY id",
        [USED],
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
        with merging(database) as right, contextlib.suppress(_TakenOver):
            if right is None or _is_rebuilt(database):
                return
            purge(database, (WRITTEN, GOING), right)  # what somebody who was killed left behind
            while chosen := worth_merging(_segments(database), thorough=thorough):
                merge(database, chosen, right)


def _is_rebuilt(database: Database) -> bool:
    return bool(database.row("SELECT 1 FROM doublet_rebuild LIMIT 1"))


class _TakenOver(Exception):
    """Somebody else has the right now: it was not renewed in time."""


class Right:
    """The right to take segments away. PostgreSQL keeps it as long as the connection; on SQLite it is a lease."""

    def __init__(self, database: Database, owner: str) -> None:
        self._database, self._owner = database, owner

    def renew(self) -> None:
        """Inside each transaction that uses the right."""
        if self._database.vendor == "sqlite":
            now = NOW["sqlite"]
            found = self._database.rows(
                f"UPDATE doublet_merging SET until = {now} + %s WHERE owner = %s RETURNING owner",
                [LEASE_S, self._owner],
            )
            if not found:
                raise _TakenOver


@contextlib.contextmanager
def merging(database: Database) -> Iterator[Right | None]:
    """The right to take segments away, over several transactions; None when somebody else has it."""
    owner = new_owner()
    if database.vendor == "sqlite":
        free = _lease(database, owner)
    else:
        free = bool(database.rows("SELECT pg_try_advisory_lock(%s)", [_MERGING])[0][0])
    try:
        yield Right(database, owner) if free else None
    finally:
        if free and database.vendor == "sqlite":
            with database.writing():
                database.rows("DELETE FROM doublet_merging WHERE owner = %s", [owner])
        elif free and not database.raw.closed:
            database.rows("SELECT pg_advisory_unlock(%s)", [_MERGING])


def _lease(database: Database, owner: str) -> bool:
    now = NOW["sqlite"]
    with database.writing():
        for other, runs in database.rows(f"SELECT owner, until > {now} FROM doublet_merging"):
            if runs and not is_gone(other):
                return False
        database.rows("DELETE FROM doublet_merging")
        database.rows(f"INSERT INTO doublet_merging (owner, until) VALUES (%s, {now} + %s)", [owner, LEASE_S])
    return True


def merge(database: Database, segments: Sequence[Segment], right: Right) -> None:
    """Make one segment of several, in short transactions."""
    postings = sum(segment.postings for segment in segments)
    bits = _bits(postings)
    cuts = min(bits, max(0, (postings - 1) // SLICE).bit_length())
    with database.writing():
        right.renew()
        new = _new_segment(database, bits, 0, 0, WRITTEN, None)
    small = {s.id: _read(database, s) for s in segments if s.bits < cuts}
    pace = Pace(1, most=SLICES)
    kept = removed = number = 0
    libraries: set[int] = set()
    while number < 1 << cuts:
        with pace.step(database) as size:
            made = []
            for one in range(number, min(number + size, 1 << cuts)):
                low, high = one << (KEY_BITS - cuts), (one + 1) << (KEY_BITS - cuts)
                records = _slice(database, segments, small, low, high)
                made.append(cut_blocks(bits, records))
                kept, removed = kept + len(records), removed + records.removed
                libraries |= _distinct(records.libraries)
            with database.writing():
                right.renew()
                _copy(database, new, [block for blocks in made for block in blocks])
        number += len(made)
    with database.writing():
        right.renew()
        database.many(
            "UPDATE doublet_segment SET state = %s WHERE id = %s",
            [(GOING, segment.id) for segment in segments],
        )
        database.rows(
            "UPDATE doublet_segment SET postings = %s, removed = %s, state = %s, libraries = %s WHERE id = %s",
            [kept, removed, USED if kept else GOING, _told_libraries(removed, libraries), new],
        )
    purge(database, (GOING,), right)


def _slice(
    database: Database, segments: Sequence[Segment], small: dict[int, Records], low: int, high: int
) -> Records:
    """What the segments hold of the keys from *low* to *high*; *small* ones were read before."""
    parts, blocks = [], []
    for segment in segments:
        shift = KEY_BITS - segment.bits
        if segment.id in small:
            there = small[segment.id]
            parts.append(there.some((there.keys >= np.uint64(low)) & (there.keys < np.uint64(high))))
        elif segment.format == PACKED:
            blocks.append(b"".join(_blocks(database, segment, low >> shift, high >> shift, low, high)))
        else:
            parts.append(_read(database, segment, low >> shift, high >> shift, low, high))
    # Most are packed: they are read and merged in one go.
    blocks += [data for part in parts for data in pack(part.sorted(), [0, len(part)])]
    return _merged(blocks)


def purge(database: Database, states: Sequence[int], right: Right) -> None:
    """Delete segments in these states, in steps."""
    pace = Pace(2_000, most=50_000)
    marks = ", ".join(["%s"] * len(states))
    rows = database.rows(f"SELECT id FROM doublet_segment WHERE state IN ({marks}) ORDER BY id", list(states))
    for (number,) in rows:
        last = -1 << KEY_BITS
        while True:
            with pace.step(database) as size, database.writing():
                right.renew()
                # By a range of parts, and not by a list of them: with the table's statistics of an hour ago PostgreSQL
                # joins such a list by comparing each of its parts with each of the segment's.
                if database.vendor == "postgresql":
                    database.rows("SET LOCAL enable_seqscan = off")
                end = database.row(
                    "SELECT part FROM doublet_block WHERE segment = %s AND part > %s ORDER BY part "
                    "LIMIT 1 OFFSET %s",
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


def _merged(blocks: Sequence[bytes]) -> Records:
    """The records of blocks, sorted, without what was added and removed."""
    ends = np.cumsum([0, *map(len, blocks)]).astype(np.uint64)
    try:
        return Records(*kernels.merge_postings(np.frombuffer(b"".join(blocks), np.uint8), ends))
    except ValueError as error:
        raise StoreDamaged("passages_damaged") from error


def _read(
    database: Database,
    segment: Segment,
    first: int = 0,
    end: int = 1 << KEY_BITS,
    low: int = 0,
    high: int = 1 << KEY_BITS,
) -> Records:
    """Records of a segment: of its parts from *first* to *end*, and of heavy keys from *low* to *high*."""
    blocks = _blocks(database, segment, first, end, low, high)
    found = unpack(blocks)[0] if segment.format == PACKED else unpack_plain(b"".join(blocks))
    return found.some(found.documents != 0)


def _blocks(database: Database, segment: Segment, first: int, end: int, low: int, high: int) -> list[bytes]:
    rows = _bytes(
        database,
        "SELECT data FROM doublet_block WHERE segment = %s::bigint AND part >= %s::bigint AND part < %s::bigint "
        "UNION ALL "
        "SELECT data FROM doublet_block WHERE segment = %s::bigint AND part > %s::bigint AND part <= %s::bigint",
        [segment.id, first, end, segment.id, -1 - high, -1 - low],
    )
    return [row[0] for row in rows]


def _bytes(database: Database, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    if database.vendor == "sqlite":
        return database.rows(sql.replace("::bigint", ""), parameters)
    return database.binary(sql, parameters)


def everything(database: Database) -> Iterator[Records]:
    """All records, added and removed, in parts."""
    for segment in _segments(database):
        cuts = min(segment.bits, max(0, (segment.postings - 1) // SLICE).bit_length())
        for number in range(1 << cuts):
            first, end = number << (segment.bits - cuts), (number + 1) << (segment.bits - cuts)
            low, high = number << (KEY_BITS - cuts), (number + 1) << (KEY_BITS - cuts)
            yield _read(database, segment, first, end, low, high)


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


# PostgreSQL: the blocks of each segment in one value. A row for each would cost more than to find it.
_BLOCKS = (
    "SELECT s.id, s.removed, s.format, s.libraries, b.data FROM doublet_segment s CROSS JOIN LATERAL "
    "(SELECT string_agg(data, ''::bytea) AS data FROM doublet_block WHERE segment = s.id AND part = ANY(ARRAY("
    f"SELECT DISTINCT q.key >> ({KEY_BITS} - s.bits) FROM unnest(%s::bigint[]) AS q(key)))) AS b "
    f"WHERE s.state = {USED} AND b.data IS NOT NULL"
)
_OF_LIBRARIES = " AND (s.libraries IS NULL OR string_to_array(s.libraries, ',') && %s::text[])"
# SQLite: all in one statement. Numbers of segments and parts together are below 2 ** 63.
_BLOCKS_SQLITE = (
    f"SELECT q.value >> {KEY_BITS}, b.data FROM json_each(?) AS q CROSS JOIN doublet_block b "
    f"ON b.segment = q.value >> {KEY_BITS} AND b.part = q.value & {(1 << KEY_BITS) - 1}"
)
_HEAVY_ROWS = (
    "SELECT b.data FROM unnest(%s::bigint[], %s::bigint[]) AS q(segment, part) CROSS JOIN LATERAL "
    "(SELECT substr(data, 1, %s::int) AS data FROM doublet_block WHERE segment = q.segment AND part = q.part "
    "LIMIT 1) AS b"
)


@dataclass(frozen=True, slots=True)
class _FoundBlocks:
    """Blocks of one segment in which keys may be."""

    segment: int
    removed: int
    format: int
    libraries: str | None
    data: bytes

    def has_only(self, libraries: set[str]) -> bool:
        return self.libraries is not None and libraries.issuperset(self.libraries.split(","))


def _blocks_of(database: Database, wanted: U64, libraries: Sequence[int] | None) -> list[_FoundBlocks] | None:
    """None when segments were merged meanwhile."""
    named = None if libraries is None else [str(number) for number in libraries]
    if database.vendor == "postgresql":
        keys = array(wanted.astype(np.int64).tolist())
        if named is None:
            rows = database.binary(_BLOCKS, [keys])
        else:
            rows = database.binary(_BLOCKS + _OF_LIBRARIES, [keys, array(named)])
        return [_FoundBlocks(*row) for row in rows]
    everything = _segments(database)
    segments = everything if named is None else [one for one in everything if one.may_have(set(named))]
    asked: list[int] = []
    for segment in segments:
        parts = (wanted >> np.uint64(KEY_BITS - segment.bits)).astype(np.int64)
        first = np.ones(len(parts), np.bool_)
        first[1:] = parts[1:] != parts[:-1]
        asked += (parts[first] + (segment.id << KEY_BITS)).tolist()
    blocks: dict[int, list[bytes]] = {}
    for number, data in database.raw.execute(_BLOCKS_SQLITE, (json.dumps(asked),)).fetchall():
        blocks.setdefault(number, []).append(data)
    if _segments(database) != everything:
        return None
    return [
        _FoundBlocks(
            segment.id, segment.removed, segment.format, segment.libraries, b"".join(blocks[segment.id])
        )
        for segment in segments
        if segment.id in blocks
    ]


def _heavy(database: Database, rows: Sequence[tuple[int, int]], limit: int) -> list[bytes]:
    """The beginnings of rows of heavy keys; fewer where segments were merged meanwhile."""
    if database.vendor == "postgresql":
        segments, parts = zip(*rows, strict=True)
        found = database.binary(_HEAVY_ROWS, [array(list(segments)), array(list(parts)), limit])
        return [row[0] for row in found]
    sql = "SELECT substr(data, 1, %s) FROM doublet_block WHERE segment = %s AND part = %s"
    return [row[0] for own in rows for row in database.rows(sql, [limit, *own])]


def _look_up(
    database: Database, wanted: U64, libraries: Sequence[int] | None, cut: int
) -> tuple[I64, I64] | None:
    """None when segments were merged between two statements."""
    rows = _blocks_of(database, wanted, libraries)
    if rows is None:
        return None
    if libraries is not None:
        named = {str(number) for number in libraries}
        if all(row.has_only(named) for row in rows):
            libraries = None  # nothing of others was read
    packed, plain = ([row for row in rows if row.format == one] for one in (PACKED, PLAIN))
    found, owners = unpack([row.data for row in packed], wanted)
    homes = np.array([row.segment for row in packed], np.int64)[owners.astype(np.int64)]
    formats = np.full(len(found), PACKED)
    for row in plain:
        own = _matching(row.data, wanted)
        found = _together([found, own])
        homes = np.append(homes, np.full(len(own), row.segment))
        formats = np.append(formats, np.full(len(own), PLAIN))
    heavy = found.documents == 0
    if heavy.any():
        keys, homes, formats = found.keys[heavy], homes[heavy], formats[heavy]
        asked = list(zip(homes.tolist(), (-1 - keys.astype(np.int64)).tolist(), strict=True))
        found = found.some(~heavy)
        # Only the beginning is needed of a key of too many documents; where some were removed that cannot be told.
        most = cut + 1 if libraries is None else 8 * (cut + 1)
        limit = (1 << 31) - 1 if any(row.removed for row in rows) else RECORD * most
        more = _heavy(database, asked, limit)
        if len(more) < len(asked):
            return None
        read = _read_heavy(more, formats)
        if libraries is not None:
            # Documents of other libraries may have used up the limit.
            counts = _counts(_of(read, libraries), wanted)[np.searchsorted(wanted, keys)]
            short = [place for place, data in enumerate(more) if len(data) == limit and counts[place] <= cut]
            whole = _heavy(database, [asked[place] for place in short], (1 << 31) - 1) if short else []
            if len(whole) < len(short):
                return None
            for place, data in zip(short, whole, strict=True):
                more[place] = data
            read = _read_heavy(more, formats)
        found = _together([found, read])
    found = found.sorted().settled()
    if libraries is not None:
        # What takes postings away that were passed over takes nothing away here.
        found = _of(found, libraries).some_added()
    numbers = np.searchsorted(wanted, found.keys)
    counts = np.bincount(numbers, minlength=len(wanted))
    rank = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = rank <= cut
    return numbers[kept].astype(np.int64), (found.documents[kept] >> np.uint64(1)).astype(np.int64)


def _read_heavy(rows: Sequence[bytes], formats: NDArray[np.int64]) -> Records:
    packed = unpack([data for data, one in zip(rows, formats, strict=True) if one == PACKED], cut=True)[0]
    plain = unpack_plain(b"".join(data for data, one in zip(rows, formats, strict=True) if one == PLAIN))
    return _together([packed, plain])


def _matching(data: bytes, wanted: U64) -> Records:
    """The records of these keys, of plain blocks."""
    found = unpack_plain(data)
    places = np.minimum(np.searchsorted(wanted, found.keys), max(len(wanted) - 1, 0))
    return found.some(wanted[places] == found.keys if len(wanted) else slice(0, 0))


def _of(records: Records, libraries: Iterable[int]) -> Records:
    return records.some(np.isin(records.libraries, np.array(list(libraries), np.uint64)))


def _counts(records: Records, wanted: U64) -> I64:
    return np.bincount(np.searchsorted(wanted, records.keys), minlength=len(wanted)).astype(np.int64)
