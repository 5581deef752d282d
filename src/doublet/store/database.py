"""A store of libraries: the door to everything in this package. Takes and gives values; no model leaves it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import InvalidParameter, LibraryExists, UnknownLibrary
from doublet.index import passage_keys
from doublet.model import Document, Signature
from doublet.signatures.statistics import CollectionStatistics
from doublet.store import postings, segments, words
from doublet.store.connection import Database
from doublet.store.names import escape, name_hash, unescape
from doublet.store.signing import DRIFT, Signer, StoreIndex, take_entries
from doublet.store.texts import Packer
from doublet.store.values import Added, LibraryInfo, StoredDocument, iso
from doublet.store.walks import Walks
from doublet.store.writing import Prepared, Writer, prepare

U64 = NDArray[np.uint64]

LONGEST_NAME = 200  #: characters of a library's name
REMOVE_BATCH = 1_000
_INFO = "id, name, address, note, documents, words, size_bytes, created_at, changed_at, changes, outcomes"
_LISTED = (
    "d.id, d.name, d.title, d.address, d.time, d.source, d.words, d.characters, d.added_at, d.changed_at"
)


class Store:
    """Libraries in one database: a SQLite file, or a PostgreSQL database by its address.

    Safe to share between threads as long as one of them writes; several processes may write, they take turns.
    """

    def __init__(self, address: str, *, create: bool = True) -> None:
        self.database = Database(address, create=create)
        with self.database.guard():
            self._packer = self._make_packer()
        self._writing = threading.RLock()
        self.signer = Signer(self.database, self.texts)
        self._writer = Writer(self.database, self._packer, self.signer)
        self._owners = postings.LibraryFilter(self.database)
        self._names: dict[int, str] = {}  # of libraries, by their numbers, which are never used again
        self.walks = Walks(self.database, self._writer, self._writing)

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _make_packer(self) -> Packer:
        rows = self.database.rows("SELECT kind, id, data FROM doublet_dictionary ORDER BY id")
        return Packer(self._dictionary, {kind: (number, bytes(data)) for kind, number, data in rows})

    def _dictionary(self, number: int) -> bytes | None:
        found = self.database.row("SELECT data FROM doublet_dictionary WHERE id = %s", [number])
        return bytes(found[0]) if found else None

    # Libraries

    def libraries(self) -> list[LibraryInfo]:
        """All of them, by name."""
        with self.database.guard():
            rows = self.database.rows(f"SELECT {_INFO} FROM doublet_library")
        return sorted((_info(row) for row in rows), key=lambda info: info.name)

    def library(self, name: str) -> LibraryInfo:
        """Raises `UnknownLibrary` with the nearest name."""
        with self.database.guard():
            row = self.database.row(f"SELECT {_INFO} FROM doublet_library WHERE name = %s", [escape(name)])
        if row is None:
            raise UnknownLibrary(name, [info.name for info in self.libraries()])
        return _info(row)

    def create(self, name: str, *, address: str = "", note: str = "") -> LibraryInfo:
        """A new, empty library. Raises `LibraryExists`."""
        if not name.strip() or len(name) > LONGEST_NAME:
            raise InvalidParameter(
                f"a library needs a name of 1 to {LONGEST_NAME} characters, and {name[:50]!r} is none",
                name="name",
            )
        now = int(time.time())
        with self.database.writing():
            there = self.database.row("SELECT 1 FROM doublet_library WHERE name = %s", [escape(name)])
            if there is None:
                self.database.rows(
                    "INSERT INTO doublet_library (name, address, note, created_at, changed_at, documents, words, "
                    "size_bytes, changes, outcomes) VALUES (%s, %s, %s, %s, %s, 0, 0, 0, 0, %s)",
                    [escape(name), escape(address), escape(note), now, now, "{}"],
                )
        if there is not None:
            raise LibraryExists(
                f"there is a library {name!r} already: choose another name, or add to it", name=name
            )
        return self.library(name)

    def delete(self, name: str, step: Callable[[int, int], None] | None = None) -> int:
        """Remove a library with all its documents; gives how many. A stop half-way leaves a smaller library."""
        info = self.library(name)
        done = 0
        with self._writing:
            for numbers in self._numbers(info.number):
                self._writer.remove(info.number, numbers)
                self._writer.tidy()
                done += len(numbers)
                if step is not None:
                    step(done, max(done, info.documents))
            with self.database.writing():
                for (recipe,) in self.database.rows(
                    "SELECT id FROM doublet_recipe WHERE library_id = %s", [info.number]
                ):
                    take_entries(self.database, recipe, None)
                self.walks.forget_library(info.number)
                for table in ("doublet_recipe", "doublet_statistics", "doublet_job"):
                    self.database.rows(f"DELETE FROM {table} WHERE library_id = %s", [info.number])
                self.database.rows("DELETE FROM doublet_library WHERE id = %s", [info.number])
        return done

    # Documents in and out

    def prepare(self, documents: Sequence[Document]) -> Prepared:
        """The part of adding that needs no database; may run in another thread than `add_prepared`."""
        return prepare(documents, self._packer)

    def add_prepared(
        self,
        library: int,
        batch: Prepared,
        waiting: Callable[[float], None] | None = None,
        job: int | None = None,
    ) -> Added:
        with self._writing:
            return self._writer.add(library, batch, waiting, job)

    def add(self, name: str, documents: Iterable[Document]) -> Added:
        """Store documents in one transaction: new ones are added, changed ones replaced, equal ones left alone."""
        info = self.library(name)
        return self.add_prepared(info.number, self.prepare(list(documents)))

    def record(self, library: int, counts: Mapping[str, int]) -> None:
        """Count records that never became documents (unreadable files, broken lines)."""
        if counts:
            with self._writing, self.database.writing():
                self._writer.count_outcomes(library, dict(counts))

    def remove(self, name: str, ids: Sequence[str]) -> list[str]:
        """Take documents out; gives the ids that were there."""
        info = self.library(name)
        gone: list[str] = []
        with self._writing:
            for start in range(0, len(ids), REMOVE_BATCH):
                with self.database.guard():
                    rows = self.database.among(
                        "SELECT id, name FROM doublet_document WHERE library_id = %s AND name_hash IN",
                        [name_hash(id) for id in ids[start : start + REMOVE_BATCH]],
                        [info.number],
                    )
                names = [unescape(row[1]) for row in rows]
                with self.database.writing():
                    self._writer.remove(info.number, [row[0] for row in rows])
                    self.walks.taken_out(info.number, names)
                self._writer.tidy()
                gone += names
        return gone

    def _numbers(self, library: int, size: int = REMOVE_BATCH) -> Iterator[list[int]]:
        last = 0
        with self.database.guard():
            own = self.database.walking(library, "library_id")
        while True:
            with self.database.guard():
                rows = self.database.rows(
                    f"SELECT id FROM doublet_document WHERE {own} = %s AND id > %s ORDER BY id LIMIT %s",
                    [library, last, size],
                )
            if not rows:
                return
            last = rows[-1][0]
            yield [row[0] for row in rows]

    # Reading

    def documents(self, name: str, *, after: int = 0, limit: int | None = None) -> Iterator[StoredDocument]:
        """Documents of a library in the order in which they came; *after* is the number of the last one seen."""
        info = self.library(name)
        left = limit
        with self.database.guard():
            own = self.database.walking(info.number, "d.library_id")
        while left is None or left > 0:
            with self.database.guard():
                rows = self.database.rows(
                    f"SELECT {_LISTED} FROM doublet_document d WHERE {own} = %s AND d.id > %s ORDER BY d.id "
                    "LIMIT %s",
                    [info.number, after, min(1_000, left or 1_000)],
                )
            if not rows:
                return
            for row in rows:
                yield _listed(row, info.name)
            after = rows[-1][0]
            left = None if left is None else left - len(rows)

    def document(self, name: str, id: str) -> StoredDocument | None:
        info = self.library(name)
        with self.database.guard():
            row = self.database.row(
                f"SELECT {_LISTED} FROM doublet_document d WHERE d.library_id = %s AND d.name_hash = %s",
                [info.number, name_hash(id)],
            )
        return _listed(row, info.name) if row else None

    def texts(self, numbers: Sequence[int]) -> dict[int, str]:
        """Texts of documents by their numbers; those that are gone are left out."""
        with self.database.guard():
            rows = self.database.among(
                "SELECT document_id, dictionary, text FROM doublet_content WHERE document_id IN",
                list(numbers),
            )
            return {number: self._packer.unpack(dictionary, blob) for number, dictionary, blob in rows}

    def full(self, numbers: Sequence[int]) -> dict[int, tuple[StoredDocument, str]]:
        """Facts and text of documents by their numbers, whatever library they are in."""
        with self.database.guard():
            rows = self.database.among(
                f"SELECT {_LISTED}, d.library_id, c.dictionary, c.text FROM doublet_document d "
                "JOIN doublet_content c ON c.document_id = d.id WHERE d.id IN",
                list(numbers),
            )
            if any(row[10] not in self._names for row in rows):
                self._names = {info.number: info.name for info in self.libraries()}
            return {
                row[0]: (
                    _listed(row[:10], self._names.get(row[10], "")),
                    self._packer.unpack(row[11], row[12]),
                )
                for row in rows
            }

    def walk(self, name: str, size: int = 1_000) -> Iterator[list[tuple[StoredDocument, str]]]:
        """All documents of a library with their texts, in batches, in the order in which they came."""
        info = self.library(name)
        for numbers in self._numbers(info.number, size):
            found = self.full(numbers)
            yield [found[number] for number in numbers if number in found]

    # Looking up

    def look_up(self, keys: U64, libraries: Sequence[int] | None) -> passage_keys.Hits:
        """Postings of passage keys in these libraries; None: in all."""
        with self.database.guard():
            wanted = None if libraries is None else self._owners.want(libraries)
            return postings.look_up(self.database, keys, wanted)

    def same_words(self, fold: int, libraries: Sequence[int] | None, limit: int = 20) -> list[int]:
        """Numbers of documents with exactly these words in this order."""
        with self.database.guard():
            rows = self.database.rows(
                "SELECT id, library_id FROM doublet_document WHERE fold = %s ORDER BY id LIMIT 1000", [fold]
            )
        wanted = None if libraries is None else set(libraries)
        return [row[0] for row in rows if wanted is None or row[1] in wanted][:limit]

    # Statistics and signatures

    def statistics(self, name: str) -> CollectionStatistics:
        """df, cf and N of a library, as they are now (M11)."""
        info = self.library(name)
        with self.database.reading():
            part = words.read_statistics(self.database, info.number)
            return words.collection_statistics(self.database, part)

    def index(
        self,
        name: str,
        method: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        drift: float = DRIFT,
        step: Callable[[int, int], None] | None = None,
    ) -> StoreIndex:
        """The index of a whole-document method over a library, every document signed (see `Signer.index`)."""
        with self._writing:
            return self.signer.index(self.library(name).number, method, parameters, drift=drift, step=step)

    def signatures_of(self, index: StoreIndex, ids: Sequence[str]) -> dict[str, Signature]:
        return index.signatures(ids)

    def numbers_of(self, library: int, ids: Sequence[str]) -> dict[str, int]:
        with self.database.guard():
            rows = self.database.among(
                "SELECT name, id FROM doublet_document WHERE library_id = %s AND name_hash IN",
                [name_hash(id) for id in ids],
                [library],
            )
        return {unescape(name): number for name, number in rows}

    def optimize(self) -> None:
        """Put the index in its best shape after much was added. Worth it after a bulk load; never needed."""
        with self._writing, self.database.writing():
            if self.database.vendor == "sqlite":
                for table in ("doublet_posting", "doublet_key"):
                    self.database.rows(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
        if self.database.vendor == "postgresql":
            segments.tidy(self.database, thorough=True)
            with self.database.guard():
                # What was merged leaves room behind, which should be used before the tables grow.
                self.database.rows("VACUUM (ANALYZE) doublet_block")
                self.database.rows("ANALYZE doublet_segment")

    # Jobs

    def start_job(self, library: int | None, kind: str, details: Mapping[str, Any] | None = None) -> int:
        now = int(time.time())
        with self._writing, self.database.writing():
            sql = (
                "INSERT INTO doublet_job (library_id, kind, state, stage, done, message, details, created_at, "
                "changed_at) VALUES (%s, %s, 'running', '', 0, '', %s, %s, %s) RETURNING id"
            )
            row = self.database.row(sql, [library, kind, json.dumps(dict(details or {})), now, now])
        assert row is not None
        return int(row[0])

    def end_job(self, job: int, state: str, message: str = "") -> None:
        with self._writing, self.database.writing():
            self.database.rows(
                "UPDATE doublet_job SET state = %s, message = %s, changed_at = %s WHERE id = %s",
                [state, escape(message), int(time.time()), job],
            )

    def jobs(self, limit: int = 20) -> list[dict[str, Any]]:
        """The newest first."""
        with self.database.guard():
            rows = self.database.rows(
                "SELECT j.id, l.name, j.kind, j.state, j.done, j.total, j.message, j.created_at, j.changed_at "
                "FROM doublet_job j LEFT JOIN doublet_library l ON l.id = j.library_id ORDER BY j.id DESC LIMIT %s",
                [limit],
            )
        names = ("id", "library", "kind", "state", "done", "total", "message")
        return [
            {**dict(zip(names, row[:7], strict=True)), "created": iso(row[7]), "changed": iso(row[8])}
            for row in rows
        ]


def _info(row: Sequence[Any]) -> LibraryInfo:
    outcomes = row[10]
    return LibraryInfo(
        *(row[0], unescape(row[1]), unescape(row[2]), unescape(row[3]), row[4], row[5], row[6]),
        *(iso(row[7]), iso(row[8]), row[9]),
        json.loads(outcomes) if isinstance(outcomes, str | bytes) else outcomes,
    )


def _listed(row: Sequence[Any], library: str) -> StoredDocument:
    number, name, title, address, when, source, count, characters, added, changed = row
    return StoredDocument(
        number=number,
        library=library,
        id=unescape(name),
        title=unescape(title),
        address=unescape(address),
        time=unescape(when),
        source=unescape(source),
        words=count,
        characters=characters,
        added=iso(added),
        changed=iso(changed),
    )
