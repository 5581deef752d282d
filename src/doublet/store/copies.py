"""The room of copies: what a library is besides the texts of its documents, as rows that another database can take.

Rows have no numbers of this database in them: a page names its host, and what a source knows goes with the source.
"""

from __future__ import annotations

import calendar
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from doublet.store.connection import Database
from doublet.store.names import escape, from_json, name_hash, to_json, unescape

AT_ONCE = 1_000  #: rows read or written at a time
_SOURCE = (
    *("kind", "address", "options", "key", "state", "run", "status", "resumable", "message", "outcomes"),
    *("created_at", "began_at", "ended_at"),
)
_ORIGIN = ("name", "name_hash", "part", "version", "etag", "modified", "run", "state", "reason", "twin")
_PAGE = (
    *("hash", "state", "priority", "depth", "attempts", "pattern", "interval_s", "next_try", "parent"),
    *("target", "reason"),
)
_JSON = ("options", "state", "outcomes")  # of a source


class Copies:
    def __init__(self, database: Database) -> None:
        self._database = database

    def facts(self, library: int) -> dict[str, Any]:
        """When a library was made, and how records ended."""
        with self._database.guard():
            row = self._database.row(
                "SELECT created_at, changed_at, outcomes FROM doublet_library WHERE id = %s", [library]
            )
        return {"created_at": row[0], "changed_at": row[1], "outcomes": from_json(row[2])} if row else {}

    def sources(self, library: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each source of a library ("source"), followed by what it knows of its documents ("origin") and, of a site,
        its pages ("page")."""
        with self._database.guard():
            found = self._database.rows(
                f"SELECT id, {', '.join(_SOURCE)} FROM doublet_source WHERE library_id = %s ORDER BY id",
                [library],
            )
        for number, *values in found:
            row = dict(zip(_SOURCE, values, strict=True))
            # A walk that goes on here does not go on in the copy; it is taken up from its last checkpoint.
            row["status"] = "failed" if row["status"] == "running" else row["status"]
            yield "source", {k: from_json(v) if k in _JSON else v for k, v in row.items()}
            for origin in self._rows("doublet_origin o", "o", _ORIGIN, number):
                yield "origin", dict(zip(_ORIGIN, origin, strict=True))
            joined = "doublet_page o JOIN doublet_host h ON h.id = o.host_id"
            for *page, host in self._rows(joined, "o", (*_PAGE, "h.origin"), number):
                yield "page", {**dict(zip(_PAGE, page, strict=True)), "host": unescape(host)}

    def _rows(
        self, tables: str, alias: str, columns: Sequence[str], source: int
    ) -> Iterator[tuple[Any, ...]]:
        last = 0
        wanted = ", ".join(name if "." in name else f"{alias}.{name}" for name in columns)
        while True:
            with self._database.guard():
                rows = self._database.rows(
                    f"SELECT {alias}.id, {wanted} FROM {tables} WHERE {alias}.source_id = %s AND {alias}.id > %s "
                    f"ORDER BY {alias}.id LIMIT %s",
                    [source, last, AT_ONCE],
                )
            if not rows:
                return
            yield from (row[1:] for row in rows)
            last = rows[-1][0]

    # Back

    def set_facts(self, library: int, facts: Mapping[str, Any]) -> None:
        with self._database.writing():
            self._database.rows(
                "UPDATE doublet_library SET created_at = %s, changed_at = %s, outcomes = %s WHERE id = %s",
                [
                    *(int(facts["created_at"]), int(facts["changed_at"])),
                    *(to_json(facts["outcomes"], sort_keys=True), library),
                ],
            )

    def set_times(self, library: int, documents: Sequence[tuple[str, int, int]]) -> None:
        """When documents were added and changed: id, and both times in seconds."""
        with self._database.writing():
            self._database.many(
                "UPDATE doublet_document SET added_at = %s, changed_at = %s "
                "WHERE library_id = %s AND name_hash = %s",
                [(added, changed, library, name_hash(id)) for id, added, changed in documents],
            )

    def add_source(self, library: int, row: Mapping[str, Any]) -> int:
        values = [
            to_json(row[name], sort_keys=name == "options") if name in _JSON else row[name]
            for name in _SOURCE
        ]
        with self._database.writing():
            self._database.rows(
                f"INSERT INTO doublet_source (library_id, {', '.join(_SOURCE)}, owner) "
                f"VALUES ({', '.join(['%s'] * (len(_SOURCE) + 1))}, '')",
                [library, *values],
            )
            found = self._database.row(
                "SELECT id FROM doublet_source WHERE library_id = %s AND key = %s", [library, row["key"]]
            )
        assert found is not None
        return int(found[0])

    def add_origins(self, source: int, rows: Sequence[Mapping[str, Any]]) -> None:
        self._insert(
            "doublet_origin", ("source_id", *_ORIGIN), [(source, *map(row.get, _ORIGIN)) for row in rows]
        )

    def add_pages(self, source: int, rows: Sequence[Mapping[str, Any]]) -> None:
        hosts = {row["host"] for row in rows}
        with self._database.writing():
            self._database.many(
                "INSERT INTO doublet_host (origin, place, next_at, owner) VALUES (%s, '', 0, '') "
                "ON CONFLICT (origin) DO NOTHING",
                [(escape(host),) for host in sorted(hosts)],
            )
            numbers = {
                unescape(origin): number
                for origin, number in self._database.among(
                    "SELECT origin, id FROM doublet_host WHERE origin IN",
                    [escape(host) for host in sorted(hosts)],
                )
            }
            self._insert(
                "doublet_page",
                ("source_id", "host_id", *_PAGE),
                [(source, numbers[row["host"]], *map(row.get, _PAGE)) for row in rows],
            )

    def _insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        marks = ", ".join(["%s"] * len(columns))
        with self._database.writing():
            self._database.many(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)


def seconds(iso: str) -> int:
    """The opposite of `doublet.store.values.iso`."""
    return calendar.timegm(time.strptime(iso, "%Y-%m-%dT%H:%M:%SZ"))
