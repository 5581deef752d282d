"""JSON that is not one object a line: a file that is one array of objects, or objects set over several lines.

The file is cut into its objects without being held in memory: a scanner follows strings and brackets only,
each object is then read like a JSON line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from doublet.sources.jsonl import JsonBatch
from doublet.sources.records import Fields, RawBatch
from doublet.sources.streams import ByteReader, Damaged, Line, Stream, TooLong, damage, open_text

# A whole string, a bracket, or the quotation mark of a string whose end has not been read yet.
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]|"', re.DOTALL)
_REST_OF_STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_BETWEEN = re.compile(rb"[\s,\xef\xbb\xbf]*")
_HEAD = 1 << 10


@dataclass(slots=True)
class JsonStream:
    """One file of JSON objects, in an array or one after the other."""

    path: Path
    label: str
    fields: Fields
    encoding: str
    limit_bytes: int
    size_bytes: int
    kind: str = "json"

    def batches(self, first: int, done: int, max_records: int, max_bytes: int) -> Iterator[RawBatch]:
        records: list[Line] = []
        number, size = 1, 0
        with Stream(self.path, label=self.label) as stream:

            def batch() -> JsonBatch:
                consumed = done + min(stream.consumed, self.size_bytes)
                return JsonBatch(records, first, number, self.label, self.fields, size, consumed, ": object ")

            for record in objects(open_text(stream, self.encoding), max_bytes, self.limit_bytes):
                records.append(record)
                size += len(record) if isinstance(record, bytes) else 0
                if len(records) >= max_records or size >= max_bytes:
                    yield batch()
                    first, number = first + len(records), number + len(records)
                    records, size = [], 0
            if records:
                yield batch()


def objects(stream: ByteReader, block_bytes: int, limit_bytes: int) -> Iterator[Line]:
    """The objects of a JSON stream as raw bytes. What stands between them and is no object comes as it is, to
    be refused when it is read.
    """
    cutter = _Objects(limit_bytes)
    size = block_bytes
    while True:
        try:
            chunk = stream.read(size)
        except Exception as error:
            reason = damage(error)
            if reason is None:
                raise
            yield Damaged(reason)
            return
        if not chunk:
            yield from cutter.finish()
            return
        found = list(cutter.feed(chunk))
        # Nothing complete: read more the next time, so that a long string is not scanned again and again.
        size = block_bytes if found or cutter.held < size else 2 * size
        yield from found


class _Objects:
    """Follows brackets and strings through the chunks of a stream."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._buffer = b""
        self._scanned = 0  # of the buffer: strings and brackets before this place are accounted for
        self._depth = 0
        self._in_array = False
        self._in_string = False  # of which the beginning has been dropped
        self._skipped = 0  # bytes already dropped of an object over the limit
        self._head = b""

    @property
    def held(self) -> int:
        return len(self._buffer)

    def feed(self, chunk: bytes) -> Iterator[Line]:
        self._buffer = self._buffer + chunk if self._buffer else chunk
        start = 0  # of what has not been given out yet
        at = self._scanned
        if self._in_string:
            rest = _REST_OF_STRING.match(self._buffer)
            if rest is None:
                self._drop_string()
                return
            self._in_string, at = False, rest.end()
        for token in _TOKEN.finditer(self._buffer, at):
            text = token.group()
            at = token.end()
            if text == b'"':
                at = token.start()
                break
            if text in b"{[":
                if self._depth == 0:
                    yield from self._between(start, token.start())
                    start = token.start()
                    if text == b"[" and not self._in_array:
                        self._in_array = True
                        start = token.end()
                        continue
                self._depth += 1
            elif text in b"}]":
                if self._depth == 0:  # the end of the array, or one bracket too many
                    yield from self._between(start, token.start())
                    start = token.end()
                    continue
                self._depth -= 1
                if self._depth == 0:
                    yield self._object(start, token.end())
                    start = token.end()
        else:
            at = len(self._buffer)
        self._drop(start, at)

    def finish(self) -> Iterator[Line]:
        if self._depth or self._skipped:
            if self._skipped:
                yield TooLong(self._skipped + len(self._buffer), self._head)
            else:
                yield self._buffer
        else:
            yield from self._between(0, len(self._buffer))

    def _between(self, start: int, end: int) -> Iterator[Line]:
        begin = _BETWEEN.match(self._buffer, start, end)
        if self._skipped:
            yield TooLong(self._skipped + end - start, self._head)
            self._skipped, self._head = 0, b""
            return
        rest = self._buffer[begin.end() if begin else start : end].strip(b" \t\r\n,")
        if rest:
            yield rest[:_HEAD]

    def _object(self, start: int, end: int) -> Line:
        size = self._skipped + end - start
        if size > self._limit:
            head = self._head or self._buffer[start : start + _HEAD]
            self._skipped, self._head = 0, b""
            return TooLong(size, head)
        return self._buffer[start:end]

    def _drop(self, start: int, at: int) -> None:
        """Forget what has been given out, and what belongs to an object over the limit."""
        if self._skipped + len(self._buffer) - start > self._limit:
            self._head = self._head or self._buffer[start : start + _HEAD]
            self._skipped += at - start
            start = at
        self._buffer = self._buffer[start:]
        self._scanned = at - start
        if self._skipped and self._buffer:
            self._in_string = True
            self._drop_string()

    def _drop_string(self) -> None:
        """Forget a string whose end has not come, but for a backslash that belongs to the next character."""
        slashes = len(self._buffer) - len(self._buffer.rstrip(b"\\"))
        keep = slashes % 2
        self._skipped += len(self._buffer) - keep
        self._buffer = self._buffer[len(self._buffer) - keep :]
        self._scanned = 0
