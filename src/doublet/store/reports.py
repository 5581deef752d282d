"""The room of reports: answers that were kept, whole, to be opened again.

A report is the JSON of an answer, packed, with what lists show of it. Whose it is and who may see it is no business of
the store: a project keeps the numbers of reports beside its users.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from doublet.errors import InvalidParameter, StoreDamaged, UnknownReport
from doublet.store.connection import Database
from doublet.store.names import escape, unescape
from doublet.store.texts import pack_bytes, unpack_bytes
from doublet.store.values import ReportInfo, iso

LONGEST_TITLE = 1_000  #: characters that are kept of a title
DELETE_BATCH = 200
_LISTED = "id, kind, state, title, share, created_at"


class Reports:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        data: Mapping[str, Any] | bytes,
        *,
        kind: str = "check",
        title: str = "",
        share: float | None = None,
        state: str = "ready",
    ) -> ReportInfo:
        """Keep the JSON of an answer (its ``to_dict()``), or what `pack` made of it before a transaction began. Raises
        `InvalidParameter` for what is not JSON."""
        packed = data if isinstance(data, bytes) else self.pack(data)
        shown = title[:LONGEST_TITLE]
        with self._database.writing():
            row = self._database.row(
                "INSERT INTO doublet_report (kind, state, title, search, share, data, created_at) "
                f"VALUES (%s, %s, %s, %s, %s, %s, %s) RETURNING {_LISTED}",
                [
                    *(kind, state, escape(shown), escape(shown.casefold()), share, packed),
                    int(time.time()),
                ],
            )
        assert row is not None
        return _info(row)

    @staticmethod
    def pack(data: Mapping[str, Any]) -> bytes:
        """The JSON of an answer as it is kept. Raises `InvalidParameter` for what is not JSON."""
        try:
            text = json.dumps(dict(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        except (TypeError, ValueError) as error:
            raise InvalidParameter("report_not_json", why=str(error), name="data") from error
        return pack_bytes(text.encode("utf-8", "surrogatepass"))

    def change(
        self,
        number: int,
        *,
        data: Mapping[str, Any] | None = None,
        title: str | None = None,
        share: float | None = None,
        state: str | None = None,
    ) -> ReportInfo:
        """Replace what is given; the rest stays. Raises `UnknownReport`."""
        columns: dict[str, Any] = {}
        if data is not None:
            columns["data"] = self.pack(data)
        if title is not None:
            shown = title[:LONGEST_TITLE]
            columns |= {"title": escape(shown), "search": escape(shown.casefold())}
        if share is not None:
            columns["share"] = share
        if state is not None:
            columns["state"] = state
        if columns:
            told = ", ".join(f"{column} = %s" for column in columns)
            with self._database.writing():
                self._database.rows(
                    f"UPDATE doublet_report SET {told} WHERE id = %s", [*columns.values(), number]
                )
        return self.get(number)

    def get(self, number: int) -> ReportInfo:
        """Raises `UnknownReport`."""
        return _info(self._row(_LISTED, number))

    def data(self, number: int) -> dict[str, Any]:
        """The JSON of the answer as it was kept. Raises `UnknownReport`, `StoreDamaged`."""
        (packed,) = self._row("data", number)
        try:
            found: dict[str, Any] = json.loads(unpack_bytes(bytes(packed)).decode("utf-8", "surrogatepass"))
        except ValueError as error:
            raise StoreDamaged("kept_report_damaged", number=number) from error
        return found

    def _row(self, columns: str, number: int) -> tuple[Any, ...]:
        with self._database.guard():
            row = self._database.row(f"SELECT {columns} FROM doublet_report WHERE id = %s", [number])
        if row is None:
            raise UnknownReport("no_report", number=number)
        return row

    def find(
        self,
        text: str = "",
        *,
        kind: str | None = None,
        state: str | None = None,
        numbers: Sequence[int] | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> list[ReportInfo]:
        """Reports whose title has *text* in it (in capitals or not), the newest first. *numbers*: only of these;
        *before*: older than the last one seen."""
        where, values = ["1 = 1"], list[Any]()
        if text:
            where.append("search LIKE %s ESCAPE '!'")
            folded = escape(text.casefold())
            for letter in "!%_":
                folded = folded.replace(letter, "!" + letter)
            values.append(f"%{folded}%")
        for column, wanted in (("kind", kind), ("state", state)):
            if wanted is not None:
                where.append(f"{column} = %s")
                values.append(wanted)
        if before is not None:
            where.append("id < %s")
            values.append(before)
        with self._database.guard():
            if numbers is None:
                rows = self._database.rows(
                    f"SELECT {_LISTED} FROM doublet_report WHERE {' AND '.join(where)} ORDER BY id DESC LIMIT %s",
                    [*values, limit],
                )
            else:
                rows = self._database.among(
                    f"SELECT {_LISTED} FROM doublet_report WHERE {' AND '.join(where)} AND id IN",
                    list(numbers),
                    values,
                )
        return [_info(row) for row in sorted(rows, key=lambda row: -row[0])[:limit]]

    def delete(self, numbers: int | Sequence[int]) -> int:
        """Gives how many were there."""
        wanted = [numbers] if isinstance(numbers, int) else list(numbers)
        gone = 0
        for start in range(0, len(wanted), DELETE_BATCH):
            some = wanted[start : start + DELETE_BATCH]
            with self._database.writing():
                gone += len(self._database.among("SELECT id FROM doublet_report WHERE id IN", some))
                self._database.many(
                    "DELETE FROM doublet_report WHERE id = %s", [(number,) for number in some]
                )
        return gone

    def delete_before(self, seconds: float) -> int:
        """Reports that were made before this moment (seconds since 1970); gives how many."""
        gone = 0
        while True:
            with self._database.guard():
                rows = self._database.rows(
                    "SELECT id FROM doublet_report WHERE created_at < %s ORDER BY id LIMIT %s",
                    [int(seconds), DELETE_BATCH],
                )
            if not rows:
                return gone
            gone += self.delete([row[0] for row in rows])


def _info(row: Sequence[Any]) -> ReportInfo:
    number, kind, state, title, share, created = row
    return ReportInfo(number, kind, state, unescape(title), share, iso(created))
