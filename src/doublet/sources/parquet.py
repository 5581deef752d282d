"""Parquet tables, read row group by row group. Needs pyarrow, which is not installed by default."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doublet.errors import ConfigError, InputUnreadable, RecordInvalid
from doublet.model import Note, Outcome
from doublet.reports.json_report import json_line
from doublet.sources.jsonl import MISSING, fields_of, find_field, optional_field, outcome_of
from doublet.sources.records import PLACE_AS_ID, BrokenBatch, Fields, ParsedBatch, RawBatch, check_columns

_BUFFER = 1 << 16  # bytes of a column read at a time


def pyarrow() -> tuple[Any, Any]:
    """pyarrow and its parquet module, or a `ConfigError` that says what to install."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise ConfigError("parquet_needs_pyarrow", library="pyarrow") from error
    return arrow, parquet


@dataclass(slots=True)
class ParquetBatch:
    """Rows of one table as an Arrow record batch (only the wanted columns, or all)."""

    table: Any
    first: int
    first_row: int
    label: str
    fields: Fields
    size_bytes: int
    consumed_bytes: int
    limit_bytes: int

    @property
    def count(self) -> int:
        return int(self.table.num_rows)

    def parse(self) -> ParsedBatch:
        out = ParsedBatch()
        positions: list[int] = []
        fields = self.fields
        wanted = {fields.id, fields.text, fields.time, fields.source, fields.title, fields.address}
        there = self.table.schema.names  # titles and addresses may be missing
        columns = {
            name: self._values(name)
            for name in wanted
            if name and name != PLACE_AS_ID and _column(self.table.schema, name) in there
        }
        for index in range(self.count):
            place = f"{self.label}: row {self.first_row + index}"
            record = {name: values[index] for name, values in columns.items()}
            try:
                text = record[self.fields.text]
                if isinstance(text, str | bytes) and len(text) > self.limit_bytes:
                    message = Note("text_over_limit", limit_bytes=self.limit_bytes)
                    raise RecordInvalid(message, state="too_large", id=str(record.get(self.fields.id, "")))
                if isinstance(text, bytes):
                    record[self.fields.text] = _decoded(text)
                for name in (self.fields.id, self.fields.text):
                    if isinstance(record.get(name), UnicodeDecodeError):
                        shown = record.get(self.fields.id, "") if name == self.fields.text else ""
                        message = Note("field_not_utf8", name=name, start=record[name].start + 1)
                        raise RecordInvalid(message, state="invalid", id=str(shown))
                identifier, text, time, source = fields_of(record, self.fields, place, self.label)
            except RecordInvalid as error:
                out.outcomes.append(outcome_of(error, place))
                continue
            out.ids.append(identifier)
            out.texts.append(text)
            out.times.append(time)
            out.sources.append(source)
            if fields.title or fields.address:
                out.titles.append(optional_field(record, fields.title))
                out.addresses.append(optional_field(record, fields.address))
            out.sizes.append(len(text))
            positions.append(self.first + index)
        out.positions = positions
        return out

    def json_lines(self, indexes: Sequence[int]) -> Iterator[bytes]:
        rows = self.table.take(list(indexes))
        columns = {name: _python_values(rows.column(name)) for name in rows.schema.names}
        if self.fields.id in columns:  # as it is named in the groups
            ids = columns[self.fields.id]
            columns[self.fields.id] = [one.hex() if isinstance(one, bytes) else one for one in ids]
        for values in zip(*columns.values(), strict=True):
            yield json_line(dict(zip(columns, map(_without_bytes, values), strict=True)))

    def _values(self, name: str) -> list[Any]:
        """A column, or one inside another, as Python values. An id kept as bytes, a date or a UUID becomes text."""
        top = _column(self.table.schema, name)
        values = _python_values(self.table.column(top))
        if top != name:
            inner = (
                value if isinstance(value, UnicodeDecodeError) else find_field(value, name[len(top) + 1 :])
                for value in values
            )
            values = [None if value is MISSING else value for value in inner]
        if name == self.fields.text:
            return values
        if name != self.fields.id:
            values = [_without_bytes(v) if isinstance(v, UnicodeDecodeError) else v for v in values]
        plain = (str, int, float, list, dict, UnicodeDecodeError, type(None))
        return [v if isinstance(v, plain) else v.hex() if isinstance(v, bytes) else str(v) for v in values]


@dataclass(slots=True)
class ParquetTable:
    """One Parquet file."""

    path: Any  #: or an open file
    label: str
    fields: Fields
    limit_bytes: int
    size_bytes: int
    rows: int
    schema: Any
    kind: str = "parquet"
    row_groups: range | None = None  #: None: all of them
    first_row: int = 0  #: of these, in the table

    def batches(
        self, first: int, done: int, max_records: int, max_bytes: int, *, all_columns: bool = False
    ) -> Iterator[RawBatch]:
        _, parquet = pyarrow()
        fields = self.fields
        names = [fields.id, fields.text, fields.time, fields.source]
        reachable = _reachable(self.schema)
        names += [name for name in (fields.title, fields.address) if name in reachable]
        wanted = [name for name in names if name and name != PLACE_AS_ID]
        columns = None if all_columns else list(dict.fromkeys(wanted))
        row = self.first_row
        try:
            # In small pieces, one column after the other: else a whole row group is in memory, and a table may be one.
            with parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=_BUFFER) as file:
                step = self._rows_at_once(file, max_records, max_bytes)
                for table in file.iter_batches(
                    batch_size=step, row_groups=self.row_groups, columns=columns, use_threads=False
                ):
                    count = table.num_rows
                    consumed = done + self.size_bytes * (row + count) // max(self.rows, 1)
                    yield ParquetBatch(
                        table,
                        first,
                        row + 1,
                        self.label,
                        self.fields,
                        table.nbytes,
                        consumed,
                        self.limit_bytes,
                    )
                    first += count
                    row += count
        except (OSError, ValueError) as error:
            reason = Note("table_damaged", why=_one_line(error))
            outcome = Outcome("unreadable", "", f"{self.label}: row {row + 1}", reason)
            yield BrokenBatch(outcome, first, done + self.size_bytes)

    def _rows_at_once(self, file: Any, max_records: int, max_bytes: int) -> int:
        """So many rows that a batch stays near *max_bytes*, by the mean of the file."""
        total: int = sum(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups))
        mean = max(1, total // max(self.rows, 1))
        return max(1, min(max_records, max_bytes // mean))


def open_parquet(path: Path, *, label: str, fields: Fields, limit_bytes: int) -> ParquetTable:
    """Look at the schema. Raises `InputUnreadable` when the file is damaged or a column is missing."""
    _, parquet = pyarrow()
    try:
        with parquet.ParquetFile(path) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
    except (OSError, ValueError) as error:
        raise InputUnreadable("parquet_damaged", why=_one_line(error), path=label) from error
    check_schema(schema, fields, label)
    return ParquetTable(path, label, fields, limit_bytes, path.stat().st_size, rows, schema)


def check_schema(schema: Any, fields: Fields, label: str) -> None:
    """Raise `InputUnreadable` when a wanted column is not there."""
    check_columns(_reachable(schema), fields, label)


def _column(schema: Any, name: str) -> str:
    """The column of the table in which a field is: itself, or for "meta.id" that is none, "meta"."""
    return name if name in schema.names else name.partition(".")[0]


def _reachable(schema: Any) -> list[str]:
    """The names of the columns and of those inside them ("meta.id")."""
    out: list[str] = []
    for column in schema:
        out.append(column.name)
        waiting = [(column.name, column.type)] if "." not in column.name else []
        while waiting:
            name, kind = waiting.pop()
            if pyarrow()[0].types.is_struct(kind):
                inner = [(f"{name}.{kind.field(i).name}", kind.field(i).type) for i in range(kind.num_fields)]
                out += [path for path, _ in inner]
                waiting += inner
    return out


def _python_values(column: Any) -> list[Any]:
    """The values of a column. Strings that are not UTF-8, which Arrow keeps without looking, become the error."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return [_python_value(value) for value in column]


def _python_value(value: Any) -> Any:
    try:
        return value.as_py()
    except UnicodeDecodeError as error:
        return error


def _decoded(text: bytes) -> str | UnicodeDecodeError:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        return error


def _without_bytes(value: Any) -> Any:
    """Bytes as the text they are, or else in hexadecimal: JSON has none. What of a string is not UTF-8 is U+FFFD."""
    if isinstance(value, UnicodeDecodeError):
        return value.object.decode("utf-8", "replace")
    if isinstance(value, bytes):
        text = _decoded(value)
        return value.hex() if isinstance(text, UnicodeDecodeError) else text
    if isinstance(value, list):
        return [_without_bytes(one) for one in value]
    if isinstance(value, dict):
        return {name: _without_bytes(one) for name, one in value.items()}
    return value


def _one_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200]
