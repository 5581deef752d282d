"""Inputs → splits, and on the executors a split → batches of records, with the readers of `doublet.sources`.

Files of JSON lines are cut by bytes and Parquet files by row groups; every other file (WARC, compressed files,
archives, CSV) is one split. So a record that cannot be used has the outcome that it has on one machine. What is not
on a disk that the executor sees is read in ranges, or copied to its disk where a reader needs the whole file.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from doublet.errors import InputUnreadable
from doublet.model import Note, Outcome
from doublet.sources.jsonl import JsonBatch
from doublet.sources.open import LINE_TABLES, open_file, table_suffix
from doublet.sources.records import MAX_BATCH_BYTES, MAX_BATCH_RECORDS, PLACE_AS_ID, BrokenBatch, Fields
from doublet.sources.streams import HEAD_BYTES, Block, uncut_blocks
from doublet.spark import storage

MOST_SPLIT, LEAST_SPLIT = 64_000_000, 2_000_000  #: bytes
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Split:
    """A part of the input that one task reads. *start* and *end* are bytes, or row groups of a Parquet file."""

    address: str
    label: str
    kind: str  #: lines, parquet, file, broken
    start: int = 0
    end: int = 0
    first_row: int = 0  #: of a Parquet table
    reason: dict[str, Any] | None = None  #: why it is broken: a note
    size_bytes: int = 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Listing:
    """What was found at the addresses that were named: the splits, and what tells this input from another."""

    splits: list[Split]
    files: list[list[str]] = field(default_factory=list)

    @property
    def size_bytes(self) -> int:
        return sum(split.size_bytes for split in self.splits)


def list_inputs(
    addresses: Sequence[str], fields: Fields, tasks: int, least_split: int = LEAST_SPLIT
) -> Listing:
    """Find the files and cut them: about *tasks* splits, but none much smaller than *least_split* bytes.

    Raises `SourceError`.
    """
    found = []
    for address in dict.fromkeys(addresses):
        folder = storage.find_files(address)
        # Files of a folder are called by their whole address, a file by the name that the user gave.
        found += [
            (one, address if len(folder) == 1 and one.address == address else one.address) for one in folder
        ]
    whole = sum(one.size_bytes for one, _ in found)
    size = max(1, least_split, min(MOST_SPLIT, whole // max(1, tasks)))
    splits: list[Split] = []
    for one, label in found:
        splits += _cut(one, label, fields, size)
    files = [[one.address, str(one.size_bytes), one.changed] for one, _ in found]
    return Listing(splits, files)


def _cut(one: storage.StoredFile, label: str, fields: Fields, size: int) -> list[Split]:
    try:
        with storage.open_input(one.address) as file:
            head = bytes(file.read(min(HEAD_BYTES, one.size_bytes)))
            if head.startswith(b"PAR1"):
                return _cut_table(file, one, label, fields, size)
    except InputUnreadable as error:
        return [Split(one.address, label, "broken", reason=error.note.to_dict())]
    if not _plain_lines(head, one.name, fields):
        return [Split(one.address, label, "file", size_bytes=one.size_bytes)]
    count = max(1, -(-one.size_bytes // size))
    bounds = [one.size_bytes * i // count for i in range(count + 1)]
    return [Split(one.address, label, "lines", a, b, size_bytes=b - a) for a, b in pairwise(bounds)]


def _plain_lines(head: bytes, name: str, fields: Fields) -> bool:
    """JSON lines in UTF-8, not compressed, whose ids are not their places: they can be read from any byte on."""
    if table_suffix(name) not in LINE_TABLES or fields.id == PLACE_AS_ID:
        return False
    try:
        head[: max(0, len(head) - 4)].decode("utf-8")
    except UnicodeDecodeError:
        return False
    return head.removeprefix(_BOM).lstrip().startswith(b"{") or not head.strip()


def _cut_table(file: Any, one: storage.StoredFile, label: str, fields: Fields, size: int) -> list[Split]:
    from pyarrow import parquet

    from doublet.sources.parquet import check_schema

    try:
        opened = parquet.ParquetFile(file)
    except (OSError, ValueError) as error:
        reason = str(error).partition("\n")[0][:200]
        raise InputUnreadable("parquet_damaged", why=reason, path=label) from error
    check_schema(opened.schema_arrow, fields, label)
    splits: list[Split] = []
    start = rows = first_row = held = 0
    for group in range(opened.num_row_groups):
        facts = opened.metadata.row_group(group)
        rows, held = rows + facts.num_rows, held + facts.total_byte_size
        if held >= size or group + 1 == opened.num_row_groups:
            splits.append(Split(one.address, label, "parquet", start, group + 1, first_row, size_bytes=held))
            start, first_row, held, rows = group + 1, first_row + rows, 0, 0
    return splits


def lines_before(listing: Listing, positions: Sequence[int]) -> list[int]:
    """How many lines of its file come before each split; *positions* are those of each split."""
    out: list[int] = []
    for number, split in enumerate(listing.splits):
        same = number > 0 and split.kind == "lines" and split.start > 0
        out.append(out[-1] + positions[number - 1] if same else 0)
    return out


def batches(split: Split, fields: Fields, max_record_bytes: int) -> Iterator[Any]:
    """The records of a split. Positions begin at 0, and so do the lines of places in files of JSON lines: what comes
    before is not known here."""
    if split.kind == "broken":
        assert split.reason is not None
        note = Note(split.reason["code"], **split.reason["values"])
        yield BrokenBatch(Outcome("unreadable", "", split.label, note), 0, 0)
    elif split.kind == "lines":
        yield from _lines(split, fields, max_record_bytes)
    elif split.kind == "parquet":
        yield from _rows(split, fields, max_record_bytes)
    else:
        yield from _whole(split, fields, max_record_bytes)


def _lines(split: Split, fields: Fields, max_record_bytes: int) -> Iterator[Any]:
    number, first = 1, 0
    with storage.open_input(split.address) as file:
        stream = LinesBetween(file, split.start, split.end)
        for lines in uncut_blocks(stream, block_bytes=MAX_BATCH_BYTES, limit_bytes=max_record_bytes):
            if number == 1 and split.start == 0:
                if isinstance(lines, Block):
                    lines.raw = lines.raw.removeprefix(_BOM)
                elif isinstance(lines[0], bytes):
                    lines[0] = lines[0].removeprefix(_BOM)
            count = len(lines)
            size = len(lines.raw) if isinstance(lines, Block) else 0
            yield JsonBatch(lines, first, number, split.label, fields, size, 0)
            first += count
            number += count


class LinesBetween:
    """The lines of a file that begin from byte *start* on and before byte *end*."""

    def __init__(self, file: Any, start: int, end: int) -> None:
        self._file, self._end = file, end
        self._at = start
        self._done = start >= end
        if start and not self._done:
            # The line that reaches in here begins before.
            file.seek(start - 1)
            self._at = start - 1
            self._skip_line()
            self._done = self._done or self._at >= end

    def _skip_line(self) -> None:
        while chunk := self._file.read(1 << 16):
            cut = chunk.find(b"\n")
            if cut >= 0:
                self._at += cut + 1
                self._file.seek(self._at)
                return
            self._at += len(chunk)
        self._done = True

    def read(self, size: int = -1, /) -> bytes:
        if self._done:
            return b""
        chunk = bytes(self._file.read(size))
        at, self._at = self._at, self._at + len(chunk)
        if not chunk:
            self._done = True
        elif self._at >= self._end:
            cut = chunk.find(b"\n", max(0, self._end - 1 - at))
            if cut >= 0:
                self._done = True
                return chunk[: cut + 1]
        return chunk


def _rows(split: Split, fields: Fields, max_record_bytes: int) -> Iterator[Any]:
    from pyarrow import parquet

    from doublet.sources.parquet import ParquetTable

    with storage.open_input(split.address) as file:
        opened = parquet.ParquetFile(file)
        table = ParquetTable(
            file,
            split.label,
            fields,
            max_record_bytes,
            split.size_bytes,
            opened.metadata.num_rows,
            opened.schema_arrow,
            row_groups=range(split.start, split.end),
            first_row=split.first_row,
        )
        yield from table.batches(0, 0, MAX_BATCH_RECORDS, MAX_BATCH_BYTES)


def _whole(split: Split, fields: Fields, max_record_bytes: int) -> Iterator[Any]:
    with contextlib.ExitStack() as stack:
        if storage.is_local(split.address):
            path = Path(storage.locate(split.address)[1])
        else:
            copy = stack.enter_context(tempfile.NamedTemporaryFile(prefix="doublet-input-"))
            with storage.open_input(split.address) as file:
                while part := file.read(1 << 22):
                    copy.write(part)
            copy.flush()
            path = Path(copy.name)
        try:
            opened = open_file(
                path,
                split.label,
                id_field=fields.id,
                text_field=fields.text,
                time_field=fields.time,
                source_field=fields.source,
                title_field=fields.title,
                address_field=fields.address,
                max_record_bytes=max_record_bytes,
            )
        except InputUnreadable as error:
            yield BrokenBatch(Outcome("unreadable", "", split.label, error.note), 0, 0)
            return
        with opened:
            yield from opened.batches()
