"""The index of telling stems (`index.stem_chunks`) in the database: which chunks of documents have a stem.

The stems of a document are those of its bag (`store.words`), by their numbers; beside the bag is kept in which chunks
each of them is filed, one bit for each. So what was put in is always known exactly, and taking it out needs no text.
SQLite keeps the postings in a contentless FTS5 table, PostgreSQL in the same segments as those of passages: the keys of
both are 40 bits without a pattern. Documents of a library that was made before there was this index have no bits;
`fill` makes them from the texts, in short steps.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from doublet.errors import StoreDamaged
from doublet.index.passage_keys import KEY_BITS, Hits
from doublet.index.stem_chunks import MOST_CHUNKS, Windows, chunk_numbers, sizes_of, telling
from doublet.signatures.mixing import mix
from doublet.store import postings, segments, words
from doublet.store.connection import Database
from doublet.store.names import name_hash
from doublet.store.pace import Pace

if TYPE_CHECKING:
    from doublet.store.postings import LibraryFilter

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

TABLE = "doublet_stem"  #: of SQLite
REMEMBERED = 4_000_000  #: postings, eight bytes each
STEP = 200  #: documents that are filed in the first step of `fill`
_PLAIN_CHUNKS = 8  # the bits of more chunks are mostly zeros, and are packed
_CHUNK_BITS = MOST_CHUNKS.bit_length() - 1
_MASK = np.uint64((1 << KEY_BITS) - 1)
_SALT = np.uint64(0x5354454D53000000)
_U64 = (1 << 64) - 1


def keys_of(numbers: NDArray[np.integer]) -> U64:
    """The keys of stems by the numbers of their words."""
    return mix(numbers.astype(np.uint64) ^ _SALT) & _MASK


@dataclass(frozen=True, slots=True, eq=False)
class Filed:
    """Where the stems of documents are filed: *packed* for each document, in the order of its bag; and the same as
    postings: key, place of the document in the batch, chunk."""

    packed: list[bytes]
    keys: U64
    documents: I64
    chunks: I64


def pack(lexical: words.Words, numbers: I64) -> Filed:
    """*numbers* of the words by their ids."""
    chunks, counts = chunk_numbers(lexical.offsets)
    sizes = sizes_of(lexical.offsets)
    filed = np.zeros(int(lexical.used[-1]) + 1 if len(lexical.used) else 0, np.bool_)
    filed[lexical.used] = telling(lexical.folds)
    documents = np.repeat(np.arange(len(sizes)), sizes)
    # Numbers of words may use 33 bits, documents of a batch the rest.
    code = (documents << 41) | (numbers[lexical.ids] << 8) | chunks
    code, first = np.unique(code, return_index=True)
    rows = code >> 8
    new_row = np.ones(len(rows), np.bool_)
    new_row[1:] = rows[1:] != rows[:-1]
    row = np.cumsum(new_row) - 1
    owners = code >> 41
    ends = np.searchsorted(owners, np.arange(len(sizes) + 1))
    row_starts = np.append(row, row[-1] + 1 if len(row) else 0)[ends]
    distinct = np.diff(row_starts)
    kept = filed[lexical.ids[first]]
    bits_before = np.concatenate([[0], np.cumsum(-(-distinct * counts // 8) * 8)])
    bits = np.zeros(int(bits_before[-1]), np.uint8)
    owner = owners[kept]
    chunk = code[kept] & 255
    bits[bits_before[owner] + (row[kept] - row_starts[owner]) * counts[owner] + chunk] = 1
    data = np.packbits(bits).tobytes()
    cuts = (bits_before // 8).tolist()
    packed = [
        bytes([count - 1]) + (part if count <= _PLAIN_CHUNKS else zlib.compress(part, 6))
        for count, part in zip(
            counts.tolist(), (data[start:end] for start, end in pairwise(cuts)), strict=True
        )
    ]
    return Filed(packed, keys_of(numbers[lexical.ids[first[kept]]]), owner, chunk)


def unpack(documents: Sequence[int], bags: Sequence[bytes], stems: Sequence[bytes]) -> tuple[U64, I64]:
    """Keys and chunks of all postings of these documents, exactly as they were put in."""
    numbers, _, offsets = words.unpack_bags(bags)
    keys, chunks = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    for place, (document, data) in enumerate(zip(documents, stems, strict=True)):
        if not data:  # its bag is of another version of the canonical text: it is not filed
            continue
        own = numbers[int(offsets[place]) : int(offsets[place + 1])]
        count = data[0] + 1
        try:
            raw = data[1:] if count <= _PLAIN_CHUNKS else zlib.decompress(data[1:])
            bits = np.unpackbits(np.frombuffer(raw, np.uint8))[: len(own) * count].reshape(len(own), count)
        except (zlib.error, ValueError) as error:
            raise StoreDamaged("words_damaged") from error
        row, chunk = np.nonzero(bits)
        keys.append(keys_of(own[row]))
        chunks.append((document << _CHUNK_BITS) + chunk.astype(np.int64))
    return np.concatenate(keys), np.concatenate(chunks)


def add(database: Database, library: int, documents: Sequence[int], filed: Filed) -> None:
    """File the stems of documents of a library. Inside a transaction."""
    chunks = (np.array(documents, np.int64)[filed.documents] << _CHUNK_BITS) + filed.chunks
    if database.vendor == "sqlite":
        _write(database, filed.keys, chunks)
        return
    homes = np.full(len(chunks), library, np.int64)
    segments.write(database, filed.keys, chunks, homes)
    inside = _inside_new(database, documents, chunks)
    segments.write(database, filed.keys[inside], chunks[inside], homes[inside], used=False)


def write_new(
    database: Database,
    libraries: Sequence[int],
    documents: Sequence[int],
    bags: Sequence[bytes],
    stems: Sequence[bytes],
) -> None:
    """Into the index that is being made beside the one in use; PostgreSQL keeps these postings there too."""
    if database.vendor == "postgresql":
        keys, chunks = unpack(documents, bags, stems)
        segments.write(database, keys, chunks, _homes(libraries, documents, chunks), used=False)


def remove(
    database: Database, documents: Sequence[int], bags: Sequence[bytes], stems: Sequence[bytes]
) -> None:
    """Take out what `add` put in. Inside a transaction."""
    keys, chunks = unpack(documents, bags, stems)
    if database.vendor == "sqlite":
        _write(database, keys, chunks, delete=True)
        return
    nowhere = np.zeros(len(chunks), np.int64)
    segments.write(database, keys, chunks, nowhere, removed=True)
    inside = _inside_new(database, documents, chunks)
    segments.write(database, keys[inside], chunks[inside], nowhere[inside], removed=True, used=False)


def _inside_new(database: Database, documents: Sequence[int], chunks: I64) -> NDArray[np.bool_]:
    """Which of the postings are of documents that stand in an index that is being made beside the one in use."""
    inside = postings.inside_new(database, documents)
    return np.isin(chunks >> _CHUNK_BITS, [documents[place] for place in inside])


def _homes(libraries: Sequence[int], documents: Sequence[int], chunks: I64) -> I64:
    homes = np.array(libraries, np.int64)
    order = np.argsort(np.array(documents, np.int64))
    sorted_documents = np.array(documents, np.int64)[order]
    found: I64 = homes[order][np.searchsorted(sorted_documents, chunks >> _CHUNK_BITS)]
    return found


def _write(database: Database, keys: U64, chunks: I64, *, delete: bool = False) -> None:
    """A row of FTS5 for each chunk."""
    order = np.argsort(chunks, kind="stable")
    keys, chunks = keys[order], chunks[order]
    starts = np.flatnonzero(np.diff(chunks, prepend=-1))
    spelt = postings.spell_keys(keys, [*starts.tolist(), len(keys)])
    rows = zip(chunks[starts].tolist(), spelt, strict=True)
    if delete:
        database.raw.executemany(f"INSERT INTO {TABLE} ({TABLE}, rowid, k) VALUES ('delete', ?, ?)", rows)
    else:
        database.copy(TABLE, ("rowid", "k"), rows)


class StemIndex:
    """Looks stems up. What was looked up is remembered, by the state of the libraries: the words of one language come
    back in every text, and the longer lists cost most."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._state: object = None
        self._known: dict[str, I64] = {}  # chunks of a stem
        self._size = 0

    def look_up(self, windows: Windows, libraries: LibraryFilter | None, state: object) -> Hits:
        """Chunks (of documents of these libraries) that have the stems of the windows. *state*: what tells that nothing
        was added and nothing removed since."""
        known = self._known
        if state is None or state != self._state or self._size > REMEMBERED:
            known = {}
            if state is not None:
                self._state, self._known, self._size = state, known, 0
        new = [word for word in windows.words if word not in known]
        found = self._read(new, libraries)
        self._size += sum(map(len, found)) + len(found)
        known |= dict(zip(new, found, strict=True))
        parts = [known[word] for word in windows.words]
        sizes = np.array([len(part) for part in parts], np.int64)
        documents = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        return Hits(np.repeat(np.arange(len(parts)), sizes), documents, sizes)

    def _read(self, spelt: Sequence[str], libraries: LibraryFilter | None) -> list[I64]:
        hashes = [name_hash(word) for word in spelt]
        rows = self._database.among("SELECT hash, id FROM doublet_word WHERE hash IN", hashes)
        known = {value & _U64: number for value, number in rows}
        numbers = np.array([known.get(value & _U64, -1) for value in hashes], np.int64)
        there = np.flatnonzero(numbers >= 0)
        keys = keys_of(numbers[there])
        hits = postings.look_up(self._database, keys, libraries, table=TABLE, shift=_CHUNK_BITS)
        out = [np.zeros(0, np.int64)] * len(hashes)
        for place, part in (
            zip(there.tolist(), np.split(hits.documents, np.cumsum(hits.frequency)[:-1]), strict=True)
            if len(there)
            else ()
        ):
            out[place] = part
        return out


# Libraries that were made before there was this index


def any_unfiled(database: Database) -> bool:
    return database.row("SELECT 1 FROM doublet_content WHERE stems IS NULL LIMIT 1") is not None


def fill(
    database: Database,
    library: int,
    texts_of: Callable[[Sequence[int]], dict[int, str]],
    step: Callable[[int, int], None] | None = None,
) -> None:
    """File the stems of all documents of a library that are not yet, in short steps. What came meanwhile was filed when
    it came; who is killed loses a step."""
    pace = Pace(STEP, most=2_000)
    known = words.WordNumbers(database)
    done = last = 0
    while True:
        with database.guard():
            rows = database.rows(
                "SELECT c.document_id FROM doublet_content c JOIN doublet_document d ON d.id = c.document_id "
                "WHERE c.stems IS NULL AND d.library_id = %s AND c.document_id > %s ORDER BY c.document_id LIMIT %s",
                [library, last, pace.size],
            )
        if not rows:
            return
        numbers = [row[0] for row in rows]
        last = numbers[-1]
        texts = texts_of(numbers)
        numbers = [number for number in numbers if number in texts]
        lexical = words.read_words([texts[number] for number in numbers])
        with pace.step(database), database.writing():
            if database.vendor == "postgresql":
                database.take_turn(library)
            _file(database, library, numbers, lexical, known)
        known.keep()
        postings.tidy(database, TABLE)
        done += len(rows)
        if step is not None:
            step(done, done + (0 if len(rows) < pace.size else 1))


def _file(
    database: Database,
    library: int,
    numbers: Sequence[int],
    lexical: words.Words,
    known: words.WordNumbers,
) -> None:
    """Those that are still there and not filed. A bag that is not what the text gives today is of another version of
    the canonical text: it is passed over until `verify` has made it again."""
    found = {
        row[0]: bytes(row[1])
        for row in database.among(
            "SELECT document_id, bag FROM doublet_content WHERE stems IS NULL AND document_id IN",
            list(numbers),
        )
    }
    word_numbers = known.numbers(lexical)
    bags, _ = words.pack_bags(lexical, word_numbers)
    filed = pack(lexical, word_numbers)
    good = [found.get(number) == bag for number, bag in zip(numbers, bags, strict=True)]
    kept = np.array(good, np.bool_)[filed.documents]
    postings_of = Filed(filed.packed, filed.keys[kept], filed.documents[kept], filed.chunks[kept])
    add(database, library, numbers, postings_of)
    database.many(
        "UPDATE doublet_content SET stems = %s WHERE document_id = %s",
        [
            (packed if same else b"", number)
            for packed, same, number in zip(filed.packed, good, numbers, strict=True)
            if number in found
        ],
    )


def empty(database: Database) -> None:
    """All postings of SQLite go, and no document counts as filed any more."""
    with database.writing():
        database.rows(f"INSERT INTO {TABLE} ({TABLE}) VALUES ('delete-all')")
    pace = Pace(STEP, most=20_000)
    while True:
        with pace.step(database) as size, database.writing():
            rows = database.rows(
                "SELECT document_id FROM doublet_content WHERE stems IS NOT NULL LIMIT %s", [size]
            )
            if not rows:
                return
            database.many("UPDATE doublet_content SET stems = NULL WHERE document_id = %s", rows)
