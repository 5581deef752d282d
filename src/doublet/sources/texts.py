"""Files that are documents: each one alone or in a folder (with all its subfolders, in the order of their
names), in any format that can be read.

The id of a document is its path, relative to the folder. Its time is that of the last change, its source is
the folder. A file that cannot be read becomes an outcome that says why. `read_file` is what every command reads
a document with; `read_text` gives a text file as it is, markup and all.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from doublet.errors import DoubletError, InputUnreadable, Unreadable
from doublet.model import Note, Outcome
from doublet.reports.json_report import json_line
from doublet.sources.records import ParsedBatch, RawBatch
from doublet.sources.streams import STDIN_LABEL, Stream, cannot_open, damage, spool, standard_input
from doublet.sources.workers import ReaderPool, shared
from doublet.text.encoding import decode
from doublet.text.limits import MAX_BYTES, unpacked_limit
from doublet.text.read import ReadDocument

_STEP = 1 << 22


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
        return self._parse(pages=False)

    def parse_pages(self) -> ParsedBatch:
        return self._parse(pages=True)

    def _parse(self, *, pages: bool) -> ParsedBatch:
        out = ParsedBatch()
        positions = []
        read = partial(self._read, left_out=pages)
        for index, (file, found) in enumerate(zip(self.files, shared().each(self.files, read), strict=True)):
            if isinstance(found, Outcome):
                out.outcomes.append(found)
                continue
            out.ids.append(file.id)
            document, time = found
            out.texts.append(document.text)
            out.titles.append(document.title)
            out.times.append(time)
            out.sources.append(self.label)
            out.sizes.append(file.size_bytes)
            if pages:
                out.left_out.append(document.left_out if document.kind == "html" else None)
            positions.append(self.first + index)
        out.positions = positions
        return out

    def json_lines(self, indexes: Sequence[int]) -> Iterator[bytes]:
        for index in indexes:
            file = self.files[index]
            found = read_file(file.path, limit_bytes=self.limit_bytes)
            yield json_line({"id": file.id, "text": found.text})

    def _read(self, file: TextFile, *, left_out: bool) -> tuple[ReadDocument, str] | Outcome:
        """A file and the time of its last change, or what became of it."""
        try:
            found = read_file(file.path, limit_bytes=self.limit_bytes, left_out=left_out)
            time = datetime.fromtimestamp(file.path.stat().st_mtime, UTC).isoformat()
        except (DoubletError, OSError) as error:
            state, reason = failure(error)
            return Outcome(state, file.id, str(file.path), reason)
        return found, time


@dataclass(slots=True)
class TextFiles:
    """The text files of one folder, or a single one."""

    label: str
    files: list[TextFile]
    limit_bytes: int
    size_bytes: int
    kind: str = "texts"
    path: None = None  #: each text has its own

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


def read_file(
    path: Path,
    *,
    limit_bytes: int = MAX_BYTES,
    label: str = "",
    as_kind: str = "",
    frame: bool = True,
    left_out: bool = False,
    pool: ReaderPool | None = None,
) -> ReadDocument:
    """The document in a file of any format (decompressed where needed), read within the limits of *pool*.

    Raises `InputNotFound`, `InputUnreadable` or some `Unreadable`, whose message follows the name of the file.
    """
    pool = pool or shared()
    data = bytes_of(path, limit_bytes=min(limit_bytes, pool.max_bytes), label=label)
    return pool.read(data, name=unpacked_name(path.name), as_kind=as_kind, frame=frame, left_out=left_out)


def read_standard_input(
    *, as_kind: str = "", frame: bool = True, pool: ReaderPool | None = None
) -> ReadDocument:
    """The same for what comes on standard input."""
    pool = pool or shared()
    with spool(standard_input(), STDIN_LABEL) as file:
        data = bytes_of(Path(file.name), limit_bytes=pool.max_bytes, label=STDIN_LABEL)
    return pool.read(data, as_kind=as_kind, frame=frame)


def unpacked_name(name: str) -> str:
    """Without the suffix that only says how the file is packed: notes.txt.gz is notes.txt."""
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and suffix.lower() in ("gz", "zst", "zstd", "bz2", "xz") else name


def read_text(path: Path, *, limit_bytes: int, label: str = "") -> tuple[str, str]:
    """The text of a text file as it is (decompressed where needed) and its encoding.

    Raises `InputNotFound`, `InputUnreadable` (also for a file over the limit) or `Unreadable` (not a text).
    """
    return decode(bytes_of(path, limit_bytes=limit_bytes, label=label))


def bytes_of(path: Path, *, limit_bytes: int, label: str) -> bytes:
    """A file as it is, decompressed where needed. Raises `InputNotFound` or `InputUnreadable`."""
    name = label or str(path)
    with Stream(path, label=name) as stream:
        try:
            step = limit_bytes + 1
            if stream.compression:  # what is refused is held once, not put together
                limit_bytes = unpacked_limit(path.stat().st_size, limit_bytes)
                step = _STEP
            parts, size = [], 0
            while size <= limit_bytes and (part := stream.read(min(step, limit_bytes + 1 - size))):
                parts.append(part)
                size += len(part)
        except Exception as error:
            reason = damage(error)
            if reason is None:
                raise
            raise InputUnreadable("cannot_be_read_reason", path=name, reason=reason) from error
    if size > limit_bytes:
        reason = Note("file_over_limit", limit_bytes=limit_bytes)
        raise InputUnreadable("path_reason", path=name, reason=reason, state="too_large")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def list_files(folder: Path, label: str, closed: list[DoubletError] | None = None) -> tuple[list[Path], int]:
    """All regular files below *folder* in the order of their names, and how many hidden ones were left out.

    Links to files are followed, links to folders are not: they can lead round in circles. Subfolders that cannot be
    read are put into *closed*, as errors; without it the first is raised.
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
            told = cannot_open(label if here == folder else str(here), error)
            if closed is None or here == folder:
                raise told from error
            closed.append(told)
    if closed is not None:
        closed.sort(key=lambda error: str(error.details["path"]))
    return sorted(found), hidden


def hidden_note(label: str, hidden: int) -> Note:
    """What was left out of a folder."""
    return Note("hidden_files_left_out", label=label, hidden=hidden)


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return stat.S_ISREG(entry.stat().st_mode)
    except OSError:
        return True  # a link to nowhere: reading it will say so


def failure(error: DoubletError | OSError) -> tuple[str, Note]:
    """State and reason of an outcome."""
    if isinstance(error, Unreadable):
        return error.state, error.note
    if isinstance(error, DoubletError):
        inner = error.details.get("reason") or error.details.get(
            "why"
        )  # without the name of the file, which the outcome has
        return str(error.details.get("state", "unreadable")), inner if isinstance(inner, Note) else error.note
    return "unreadable", Note("said", text=error.strerror or str(error))
