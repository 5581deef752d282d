"""Fetched answers on disk until they are stored: a process that is killed asks for none of them again.

Answers are appended to segments before they are read. A segment is removed when all of its pages are in the database.
What is left when a robot starts is read first; a record that was cut in the middle counts as never written. Nothing is
flushed to the disk itself (fsync): a power cut costs the requests of the last seconds, and no document.
"""

from __future__ import annotations

import contextlib
import struct
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

SEGMENT_BYTES = 32 << 20
_HEAD = struct.Struct("<4sIII")  # mark, length of the facts, length of the body, checksum
_MARK = b"DSP1"


@dataclass(frozen=True, slots=True)
class Spooled:
    """One fetched answer. *facts* are whatever the writer gave; *page* is the number of its row in the frontier."""

    page: int
    facts: dict[str, Any]
    body: bytes
    segment: int


class Spool:
    """The segments of one robot in one folder. May be used from several threads."""

    def __init__(self, folder: Path, *, segment_bytes: int = SEGMENT_BYTES) -> None:
        self.folder = folder
        self._segment_bytes = segment_bytes
        self._lock = threading.Lock()
        self._open: Any = None
        self._written = 0  # bytes of the open segment
        self._waiting: dict[int, set[int]] = {}  # segment → pages that are not stored yet
        folder.mkdir(parents=True, exist_ok=True)
        self._number = max(self._numbers(), default=0)

    def _numbers(self) -> list[int]:
        return sorted(int(path.stem) for path in self.folder.glob("*.spool") if path.stem.isdecimal())

    def _path(self, number: int) -> Path:
        return self.folder / f"{number}.spool"

    def replay(self) -> Iterator[Spooled]:
        """What an earlier process left behind, in order. Each must be given to `done` too."""
        for number in self._numbers():
            if self._open is not None and number == self._number:
                continue
            pages: set[int] = set()
            records = list(_records(self._path(number), number))
            pages |= {record.page for record in records}
            with self._lock:
                self._waiting[number] = pages
            yield from records
            self._drop_if_empty(number)

    def put(self, page: int, facts: dict[str, Any], body: bytes) -> Spooled:
        """Write an answer down; it survives the end of this process from now on."""
        head = orjson.dumps({"page": page, **facts})
        checksum = zlib.crc32(body, zlib.crc32(head))
        record = _HEAD.pack(_MARK, len(head), len(body), checksum) + head + body
        with self._lock:
            if self._open is None or self._written + len(record) > self._segment_bytes:
                self._next()
            self._open.write(record)
            self._written += len(record)
            number = self._number
            self._waiting.setdefault(number, set()).add(page)
        return Spooled(page, facts, body, number)

    def _next(self) -> None:
        if self._open is not None:
            self._open.close()
        closed = self._number
        self._number += 1
        self._open = self._path(self._number).open("ab", buffering=0)
        self._written = 0
        if not self._waiting.get(closed):
            self._remove(closed)

    def done(self, records: list[tuple[int, int]]) -> None:
        """These (segment, page) are in the database."""
        segments = set()
        with self._lock:
            for segment, page in records:
                self._waiting.get(segment, set()).discard(page)
                segments.add(segment)
        for segment in segments:
            self._drop_if_empty(segment)

    def _drop_if_empty(self, number: int) -> None:
        with self._lock:
            current = self._open is not None and number == self._number
            if not current and not self._waiting.get(number):
                self._remove(number)

    def _remove(self, number: int) -> None:
        self._waiting.pop(number, None)
        with contextlib.suppress(OSError):
            self._path(number).unlink()

    def leave(self) -> None:
        """Close the file; everything stays for the next start."""
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None

    def close(self) -> None:
        """Segments that hold nothing more are removed; the rest waits for the next start."""
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None
            for number in self._numbers():
                if not self._waiting.get(number):
                    self._remove(number)
            with contextlib.suppress(OSError):
                self.folder.rmdir()


def _records(path: Path, number: int) -> Iterator[Spooled]:
    """The whole records of a segment; a damaged one ends it."""
    try:
        stream = path.open("rb")
    except OSError:
        return
    with stream:
        while len(start := stream.read(_HEAD.size)) == _HEAD.size:
            mark, head_size, body_size, checksum = _HEAD.unpack(start)
            if mark != _MARK:
                return
            head, body = stream.read(head_size), stream.read(body_size)
            if (
                len(head) < head_size
                or len(body) < body_size
                or zlib.crc32(body, zlib.crc32(head)) != checksum
            ):
                return
            facts = orjson.loads(head)
            yield Spooled(facts.pop("page"), facts, body, number)
