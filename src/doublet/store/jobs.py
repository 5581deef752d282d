"""The room of jobs: the state of long work, so that it can be seen by others."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from doublet.store.connection import Database
from doublet.store.names import escape
from doublet.store.values import iso


class Jobs:
    def __init__(self, database: Database) -> None:
        self._database = database

    def start(self, library: int | None, kind: str, details: Mapping[str, Any] | None = None) -> int:
        now = int(time.time())
        with self._database.writing():
            sql = (
                "INSERT INTO doublet_job (library_id, kind, state, stage, done, message, details, created_at, "
                "changed_at) VALUES (%s, %s, 'running', '', 0, '', %s, %s, %s) RETURNING id"
            )
            row = self._database.row(sql, [library, kind, json.dumps(dict(details or {})), now, now])
        assert row is not None
        return int(row[0])

    def end(self, job: int, state: str, message: str = "") -> None:
        with self._database.writing():
            self._database.rows(
                "UPDATE doublet_job SET state = %s, message = %s, changed_at = %s WHERE id = %s",
                [state, escape(message), int(time.time()), job],
            )

    def all(self, limit: int = 20) -> list[dict[str, Any]]:
        """The newest first."""
        with self._database.guard():
            rows = self._database.rows(
                "SELECT j.id, l.name, j.kind, j.state, j.done, j.total, j.message, j.created_at, j.changed_at "
                "FROM doublet_job j LEFT JOIN doublet_library l ON l.id = j.library_id ORDER BY j.id DESC LIMIT %s",
                [limit],
            )
        names = ("id", "library", "kind", "state", "done", "total", "message")
        return [
            {**dict(zip(names, row[:7], strict=True)), "created": iso(row[7]), "changed": iso(row[8])}
            for row in rows
        ]
