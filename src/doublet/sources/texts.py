"""Text files: each one a document, alone or in a folder (with all its subfolders, in the order of their
names).

The id of a document is its path, relative to the folder. Its time is that of the last change, its source is
the folder. A file that is not text becomes an outcome that says what it is.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from doublet.errors import DoubletError, InputUnreadable, Unreadable
from doublet.model import Outcome
from doublet.reports.json_report import json_line
from doublet.text.encoding import decode
from doublet.sources.records import ParsedBatch, RawBatch
from doublet.sources.streams import Stream, cannot_open, damage


class TextFile(NamedTuple):
    id: str
    path: Path
    size_bytes: int


@dataclass(slots=True)
class TextBatch:
    """Some text files; they are opened only in `parse`."""

    files: list[TextFile]
    first: int
    label: str
    size_bytes: int
    consumed_bytes: int
    limit_bytes: int

    @property
    def count(self) -> int:
        return len(self.files)

    def parse(self) -> ParsedBatch:
        out = ParsedBatch()
        positions = []
        for index, file in enumerate(self.files):
            try:
                text, _ = read_text(file.path, limit_bytes=self.limit_bytes)
                time = datetime.fromtimestamp(file.path.stat().st_mtime, UTC).isoformat()
            except (DoubletError, OSError) as error:
                state, reason = _failure(error)
                out.outcomes.append(Outcome(state, file.id, str(file.path), reason))
                continue
            out.ids.append(file.id)
            out.texts.append(text)
            out.times.append(time)
            out.sources.append(self.label)
            out.sizes.append(file.size_bytes)
            positions.append(self.first + index)
        out.positions = positions
        return out

    def json_lines(self, indexes: Sequence[int]) -> Iterator[bytes]:
        for index in indexes:
            file = self.files[index]
            text, _ = read_text(file.path, limit_bytes=self.limit_bytes)
            yield json_line({"id": file.id, "text": text})


@dataclass(slots=True)
class TextFiles:
    """The text files of one folder, or a single one."""

    label: str
    files: list[TextFile]
    limit_bytes: int
    size_bytes: int
    kind: str = "texts"

    def batches(self, first: int, done: int, max_records: int, max_bytes: int) -> Iterator[RawBatch]:
        some: list[TextFile] = []
        size = 0
        for file in self.files:
            if some and (len(some) >= max_records or size + file.size_bytes > max_bytes):
                done += size
                yield TextBatch(some, first, self.label, size, done, self.limit_bytes)
                first += len(some)
                some, size = [], 0
            some.append(file)
            size += file.size_bytes
        if some:
            yield TextBatch(some, first, self.label, size, done + size, self.limit_bytes)


def read_text(path: Path, *, limit_bytes: int, label: str = "") -> tuple[str, str]:
    """The text of a file (decompressed where needed) and its encoding.

    Raises `InputNotFound`, `InputUnreadable` (also for a file over the limit) or `Unreadable` (not a text).
    """
    name = label or str(path)
    with Stream(path, label=name) as stream:
        try:
            data = stream.read(limit_bytes + 1)
            while len(data) <= limit_bytes and (more := stream.read(limit_bytes + 1 - len(data))):
                data += more
        except Exception as error:
            reason = damage(error)
            if reason is None:
                raise
            raise InputUnreadable(f"{name} cannot be read: {reason}", path=name, reason=reason) from error
    if len(data) > limit_bytes:
        reason = f"the file has over {limit_bytes:,} bytes, more than the limit allows"
        raise InputUnreadable(f"{name}: {reason}", path=name, reason=reason, state="too_large")
    return decode(data)


def walk(folder: Path, label: str) -> tuple[list[Path], int]:
    """All regular files below *folder* in the order of their names, and how many hidden ones were left out.

    Links to files are followed, links to folders are not: they can lead round in circles.
    """
    found: list[Path] = []
    hidden = 0
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        hidden += 1
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    elif _is_file(entry):
                        found.append(Path(entry.path))
        except OSError as error:
            raise cannot_open(label if here == folder else str(here), error) from error
    return sorted(found), hidden


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return stat.S_ISREG(entry.stat().st_mode)
    except OSError:
        return True  # a link to nowhere: reading it will say so


def _failure(error: DoubletError | OSError) -> tuple[str, str]:
    """State and reason of an outcome."""
    if isinstance(error, Unreadable):
        return "unreadable", error.message
    if isinstance(error, DoubletError):
        return str(error.details.get("state", "unreadable")), str(error.details.get("reason", error.message))
    return "unreadable", error.strerror or str(error)
