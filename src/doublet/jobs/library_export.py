"""All documents of a library as JSON lines, with their texts as they were given."""

from __future__ import annotations

from collections.abc import Iterator

from doublet.reports.json_report import json_line
from doublet.store.database import Store

TOGETHER = 200  #: documents


def export_lines(store: Store, library: str) -> Iterator[bytes]:
    """The lines, some at a time. What they say can be added to another library. Raises `UnknownLibrary`."""
    for batch in store.documents.batches(library, TOGETHER):
        lines = []
        for info, text in batch:
            extra = {key: getattr(info, key) for key in ("title", "time", "source", "address")}
            told = {"id": info.id, "text": text, **{key: value for key, value in extra.items() if value}}
            lines.append(json_line(told) + b"\n")
        if lines:
            yield b"".join(lines)
