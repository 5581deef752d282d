"""Tables for programs on standard output, the same for every command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from doublet.cli.base import write_bytes


def write_rows(form: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Rows as lines of JSON (``jsonl``) or as CSV with a header (``csv``)."""
    from doublet.reports.json_report import json_line
    from doublet.reports.tables import plain_rows

    if form == "jsonl":
        write_bytes(json_line(dict(zip(columns, row, strict=True))) + b"\n" for row in rows)
    else:
        write_bytes(plain_rows(columns, (map(_cell, row) for row in rows)))


def _cell(value: Any) -> Any:
    """Several words in one cell have blanks between them; yes and no are those of JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else value
