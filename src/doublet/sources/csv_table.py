"""CSV and TSV tables: a header, then a record for each row. Quoted fields may hold line ends.

The delimiter is the one that finds the wanted columns in the header. A row is kept as it was written as well,
so that the cleaned table has the same bytes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from doublet.errors import InputUnreadable, RecordInvalid
from doublet.model import Note, Outcome
from doublet.reports.json_report import json_line
from doublet.sources.jsonl import fields_of, optional_field, outcome_of
from doublet.sources.records import Fields, ParsedBatch, RawBatch, check_columns
from doublet.sources.streams import (
    ByteReader,
    Damaged,
    OldLineEnds,
    Stream,
    TooLong,
    blocks_of_lines,
    open_text,
)

DELIMITERS = ",;\t|"
_FIELD_LIMIT = (1 << 31) - 1  # rows have a limit of their own; the csv module must not stop before it
_WIDTH = (
    4  # the csv module holds a field in hand with four bytes a character: allow rows a quarter of the limit
)


class Row(NamedTuple):
    values: list[str]
    raw: bytes  #: as written, with its line end
    line: int


@dataclass(slots=True)
class CsvBatch:
    """Rows of one table; a row that could not be cut out is an `Outcome`."""

    rows: list[Row | Outcome]
    header: list[str]
    first: int
    label: str
    fields: Fields
    size_bytes: int
    consumed_bytes: int

    @property
    def count(self) -> int:
        return len(self.rows)

    def parse(self) -> ParsedBatch:
        out = ParsedBatch()
        positions = []
        for index, row in enumerate(self.rows):
            if isinstance(row, Outcome):
                out.outcomes.append(row)
                continue
            place = f"{self.label}:{row.line}"
            try:
                identifier, text, time, source = self._read(row, place)
            except RecordInvalid as error:
                out.outcomes.append(outcome_of(error, place))
                continue
            out.ids.append(identifier)
            out.texts.append(text)
            out.times.append(time)
            out.sources.append(source)
            if self.fields.title or self.fields.address:
                record = dict(zip(self.header, row.values, strict=True))
                out.titles.append(optional_field(record, self.fields.title))
                out.addresses.append(optional_field(record, self.fields.address))
            out.sizes.append(len(row.raw))
            positions.append(self.first + index)
        out.positions = positions
        return out

    def json_lines(self, indexes: Sequence[int]) -> Iterator[bytes]:
        for index in indexes:
            row = self.rows[index]
            if not isinstance(row, Outcome):
                yield json_line(dict(zip(self.header, row.values, strict=False)))

    def _read(self, row: Row, place: str) -> tuple[str, str, str, str]:
        if len(row.values) != len(self.header):
            record = dict(zip(self.header, row.values, strict=False))
            raise RecordInvalid(
                "row_and_header",
                fields=len(row.values),
                header=len(self.header),
                state="invalid",
                id=record.get(self.fields.id, ""),
            )
        return fields_of(dict(zip(self.header, row.values, strict=True)), self.fields, place, self.label)


@dataclass(slots=True)
class CsvTable:
    """One CSV or TSV file. `header` and `delimiter` are read when it is opened (`open_csv`)."""

    path: Path
    label: str
    fields: Fields
    encoding: str
    limit_bytes: int
    size_bytes: int
    delimiter: str
    header: list[str]
    raw_header: bytes = b""
    old_line_ends: bool = False  #: carriage returns alone
    kind: str = "csv"

    def batches(self, first: int, done: int, max_records: int, max_bytes: int) -> Iterator[RawBatch]:
        csv.field_size_limit(_FIELD_LIMIT)
        rows: list[Row | Outcome] = []
        size = 0
        with Stream(self.path, label=self.label) as stream:

            def batch() -> CsvBatch:
                consumed = done + min(stream.consumed, self.size_bytes)
                return CsvBatch(rows, self.header, first, self.label, self.fields, size, consumed)

            text = _opened(stream, self.encoding, self.old_line_ends)
            feed = _Feed(text, self.label, self.limit_bytes // _WIDTH, max_bytes)
            for number, row in enumerate(_rows(feed, self.delimiter)):
                if number == 0 and isinstance(row, Row):
                    continue  # the header
                rows.append(row)
                size += len(row.raw) if isinstance(row, Row) else 0
                if len(rows) >= max_records or size >= max_bytes:
                    yield batch()
                    first += len(rows)
                    rows, size = [], 0
            if rows:
                yield batch()


def open_csv(
    path: Path, *, label: str, fields: Fields, encoding: str, limit_bytes: int, head: bytes
) -> CsvTable:
    """Look at the header. Raises `InputUnreadable` when a wanted column is not there."""
    csv.field_size_limit(_FIELD_LIMIT)
    old = b"\r" in head and b"\n" not in head
    delimiter = find_delimiter(head.replace(b"\r", b"\n") if old else head, fields, path.name)
    with Stream(path, label=label) as stream:
        feed = _Feed(_opened(stream, encoding, old), label, limit_bytes, 1 << 16)
        first = next(_rows(feed, delimiter), None)
    if not isinstance(first, Row):
        reason = first.reason if first else Note("nothing_in_it")
        raise InputUnreadable("no_header", reason=reason, path=label)
    header = first.values
    check_columns(header, fields, label)
    size = path.stat().st_size
    return CsvTable(path, label, fields, encoding, limit_bytes, size, delimiter, header, first.raw, old)


def _opened(stream: Stream, encoding: str, old_line_ends: bool) -> ByteReader:
    text = open_text(stream, encoding)
    return OldLineEnds(text) if old_line_ends else text


def find_delimiter(head: bytes, fields: Fields, name: str) -> str:
    """The delimiter under which most of the wanted columns are found, then most columns at all."""
    line = head.decode("utf-8", "replace").removeprefix("\ufeff").lstrip("\r\n")
    usual = "\t" if Path(name.lower()).suffix in (".tsv", ".tab") else ","

    def rank(delimiter: str) -> tuple[int, int, bool]:
        header = next(csv.reader(io.StringIO(line, newline=""), delimiter=delimiter), [])
        wanted = {fields.id, fields.text, fields.time, fields.source}
        return len(wanted.intersection(header)), len(header), delimiter == usual

    return max(DELIMITERS, key=rank)


class _Feed:
    """Lines for the csv reader. Knows which lines make up the row in hand, and stops one over the limit."""

    def __init__(self, stream: ByteReader, label: str, limit_bytes: int, block_bytes: int) -> None:
        blocks = blocks_of_lines(stream, block_bytes=block_bytes, limit_bytes=limit_bytes)
        self._lines = (line for block in blocks for line in block)
        self._limit = limit_bytes
        self._raw: list[bytes] = []
        self._raw_bytes = 0
        self.label = label
        self.line = 0
        self.broken: Outcome | None = None
        self.ended = False

    def __iter__(self) -> Iterator[str]:
        """Line after line; ends early when one cannot be given (`broken` says why)."""
        for line in self._lines:
            self.line += 1
            if isinstance(line, Damaged):
                self.broken = Outcome(
                    "unreadable", "", f"{self.label}:{self.line}", Note("rest_is_lost", why=line.reason)
                )
                return
            size = line.size if isinstance(line, TooLong) else len(line) + 1
            self._raw_bytes += size
            if isinstance(line, TooLong) or self._raw_bytes > self._limit:
                self.broken = Outcome(
                    "too_large",
                    "",
                    f"{self.label}:{self.line - len(self._raw)}",
                    Note("row_too_long", limit=self._limit),
                )
                return
            if self.line == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")  # noqa: PLW2901
            self._raw.append(line + b"\n")
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError as error:
                reason = Note("line_not_utf8", start=error.start + 1)
                self.broken = Outcome("invalid", "", f"{self.label}:{self.line}", reason)
                return
            yield text + "\n"
        self.ended = True

    def take(self) -> tuple[bytes, int]:
        """The record that has just been completed, as written, and the number of its first line."""
        raw, first = b"".join(self._raw), self.line - len(self._raw) + 1
        self._raw, self._raw_bytes = [], 0
        return raw, first


def _words(error: csv.Error) -> Note:
    if "new-line character" in str(error):
        return Note("line_break_in_field")
    return Note("said", text=str(error))


def _rows(feed: _Feed, delimiter: str) -> Iterator[Row | Outcome]:
    while True:
        reader = csv.reader(iter(feed), delimiter=delimiter)
        while True:
            try:
                values = next(reader, None)
            except csv.Error as error:
                raw, line = feed.take()
                yield Outcome("invalid", "", f"{feed.label}:{line}", Note("not_csv", why=_words(error)))
                break
            if feed.broken is not None or values is None:
                break
            raw, line = feed.take()
            if feed.ended and raw.count(b'"') % 2 and "\n" in "".join(values):
                reason = Note("quotation_never_closed", first=line, last=feed.line)
                yield Outcome("invalid", "", f"{feed.label}:{line}", reason)
            elif values:
                yield Row(values, raw, line)
        if feed.broken is not None:
            yield feed.broken
            stop = feed.broken.state == "unreadable"
            feed.broken = None
            feed.take()
            if stop:
                return
        elif feed.ended:
            return
