"""The room of libraries: named sets of documents, with their counters and collection statistics."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from doublet.errors import InvalidParameter, LibraryExists, StoreBusy, UnknownLibrary
from doublet.signatures.statistics import CollectionStatistics
from doublet.store import words
from doublet.store.connection import Database
from doublet.store.entries import drop_recipe
from doublet.store.names import escape, from_json, unescape
from doublet.store.sources import forget_library, forget_sources
from doublet.store.values import LibraryInfo, iso
from doublet.store.writing import Writer

LONGEST_NAME = 200  #: characters of a library's name
_INFO = "id, name, address, note, documents, words, size_bytes, created_at, changed_at, changes, outcomes"


class Libraries:
    def __init__(self, database: Database, writer: Writer) -> None:
        self._database = database
        self._writer = writer

    def all(self) -> list[LibraryInfo]:
        """All of them, by name."""
        with self._database.guard():
            rows = self._database.rows(f"SELECT {_INFO} FROM doublet_library")
        return sorted((_info(row) for row in rows), key=lambda info: info.name)

    def get(self, name: str) -> LibraryInfo:
        """Raises `UnknownLibrary` with the nearest name."""
        with self._database.guard():
            row = self._database.row(f"SELECT {_INFO} FROM doublet_library WHERE name = %s", [escape(name)])
        if row is None:
            raise UnknownLibrary(name, [info.name for info in self.all()])
        return _info(row)

    def select(self, names: Sequence[str] | None) -> list[LibraryInfo]:
        """The named libraries, each once, or all. Raises `UnknownLibrary`."""
        return choose_libraries(self.all(), names)

    def create(self, name: str, *, address: str = "", note: str = "") -> LibraryInfo:
        """A new, empty library. Raises `LibraryExists`."""
        _check_name(name)
        now = int(time.time())
        with self._database.writing():
            there = self._database.row("SELECT 1 FROM doublet_library WHERE name = %s", [escape(name)])
            if there is None:
                self._database.rows(
                    "INSERT INTO doublet_library (name, address, note, created_at, changed_at, documents, words, "
                    "size_bytes, changes, outcomes) VALUES (%s, %s, %s, %s, %s, 0, 0, 0, 0, %s)",
                    [escape(name), escape(address), escape(note), now, now, "{}"],
                )
        if there is not None:
            raise LibraryExists("library_exists", name=name)
        return self.get(name)

    def rename(self, name: str, new: str) -> LibraryInfo:
        """Give a library another name. Raises `LibraryExists`, and `StoreBusy` while work of the queue names it."""
        _check_name(new)
        with self._database.writing():
            info = self.get(name)
            other = self._database.row("SELECT id FROM doublet_library WHERE name = %s", [escape(new)])
            waiting = [
                number
                for number, library, parameters in self._database.rows(
                    "SELECT id, library, parameters FROM doublet_job WHERE state IN ('new', 'running') ORDER BY id"
                )
                if unescape(library) == name or _names(from_json(parameters), name)
            ]
            if other is None and not waiting:
                self._database.rows(
                    "UPDATE doublet_library SET name = %s WHERE id = %s", [escape(new), info.number]
                )
        if other is not None and other[0] != info.number:
            raise LibraryExists("library_exists", name=new)
        if waiting:
            raise StoreBusy("library_in_queue", name=name, job=waiting[0])
        return self.get(new)

    def delete(self, name: str, step: Callable[[int, int], None] | None = None) -> int:
        """Remove a library with all its documents; gives how many. A stop half-way leaves a smaller library."""
        info = self.get(name)
        done = 0
        with self._writer.lock:
            for numbers in self._database.document_numbers(info.number):
                self._writer.remove_in_steps(info.number, numbers)
                done += len(numbers)
                if step is not None:
                    step(done, max(done, info.documents))
            for (recipe,) in self._database.rows(
                "SELECT id FROM doublet_recipe WHERE library_id = %s", [info.number]
            ):
                drop_recipe(self._database, recipe)
            forget_sources(self._database, info.number)
            with self._database.writing():
                # Documents that came meanwhile keep the library: their tables would refer to nothing.
                self._writer.lock_library(info.number)
                if self._database.row(
                    "SELECT 1 FROM doublet_document WHERE library_id = %s LIMIT 1", [info.number]
                ):
                    raise StoreBusy("library_being_filled", name=name)
                for table in ("doublet_statistics", "doublet_recipe"):
                    self._database.rows(f"DELETE FROM {table} WHERE library_id = %s", [info.number])
                forget_library(self._database, info.number)
                self._database.rows("DELETE FROM doublet_library WHERE id = %s", [info.number])
        return done

    def record(self, library: int, counts: Mapping[str, int]) -> None:
        """Count records that never became documents (unreadable files, broken lines)."""
        if counts:
            with self._database.writing():
                self._writer.count_outcomes(library, dict(counts))

    def statistics(self, name: str) -> CollectionStatistics:
        """df, cf and N of a library, as they are now (M11)."""
        info = self.get(name)
        with self._database.reading():
            part = words.read_statistics(self._database, info.number)
            return words.collection_statistics(self._database, part)


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > LONGEST_NAME:
        raise InvalidParameter(
            "library_name_wrong",
            longest_name=LONGEST_NAME,
            name_shown=name[:50],
            name="name",
        )


def _names(parameters: Mapping[str, Any], library: str) -> bool:
    """Whether a job works on this library."""
    return parameters.get("library") == library or library in (parameters.get("libraries") or ())


def _info(row: Sequence[Any]) -> LibraryInfo:
    outcomes = row[10]
    return LibraryInfo(
        *(row[0], unescape(row[1]), unescape(row[2]), unescape(row[3]), row[4], row[5], row[6]),
        *(iso(row[7]), iso(row[8]), row[9]),
        json.loads(outcomes) if isinstance(outcomes, str | bytes) else outcomes,
    )


def choose_libraries(there: Sequence[LibraryInfo], names: Sequence[str] | None) -> list[LibraryInfo]:
    """The named ones of those that are there, each once, or all. Raises `UnknownLibrary` with the nearest name."""
    if names is None:
        return list(there)
    known = {info.name: info for info in there}
    for name in names:
        if name not in known:
            raise UnknownLibrary(name, list(known))
    return [known[name] for name in dict.fromkeys(names)]
