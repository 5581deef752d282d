"""JSON lines: one object a line. Also what every kind of JSON record has in common: reading its fields.

orjson reads nearly everything; the few lines that it refuses and Python's own reader takes (lone surrogates,
NaN, numbers beyond 64 bits) are read by the latter.
"""

from __future__ import annotations

import json
import math
import numbers
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson

from doublet.errors import RecordInvalid
from doublet.model import Note, Outcome
from doublet.sources.records import PLACE_AS_ID, Fields, ParsedBatch, RawBatch
from doublet.sources.streams import Block, Damaged, Line, Stream, TooLong, open_text, uncut_blocks

_SHOWN_FIELDS = 8
_BOM = b"\xef\xbb\xbf"


@dataclass(slots=True)
class JsonBatch:
    """Records as raw JSON. *places* of the records are ``label:number``, from *first_number* on."""

    content: list[Line] | Block
    first: int
    first_number: int
    label: str
    fields: Fields
    size_bytes: int
    consumed_bytes: int
    numbered: str = ":"  #: between label and number in a place
    numbers: Sequence[int] | None = None  #: of the records in the batch that they were picked from

    @property
    def count(self) -> int:
        return len(self.content)

    @property
    def records(self) -> list[Line]:
        if isinstance(self.content, Block):
            self.content = self.content.lines()
        return self.content

    @property
    def block(self) -> bytes | None:
        """The lines in one piece, for a reader that needs no strings (`kernels.json_sets`); or None."""
        plain = self.fields.id != PLACE_AS_ID and "." not in self.fields.id + self.fields.text
        return self.content.raw if plain and isinstance(self.content, Block) else None

    def pick(self, indexes: Sequence[int], starts: Sequence[int]) -> JsonBatch:
        """A batch of some lines of the block alone: their numbers (0 is `first`), and where in the block they begin."""
        raw = self.content.raw if isinstance(self.content, Block) else b""
        ends = [raw.find(b"\n", start) for start in starts]
        lines: list[Line] = [raw[a : b if b >= 0 else len(raw)] for a, b in zip(starts, ends, strict=True)]
        return replace(self, content=lines, numbers=indexes)

    def forget(self) -> None:
        """Let go of the records, which may be large; how many there were stays known."""
        if isinstance(self.content, Block):
            self.content.forget()

    def place(self, index: int) -> str:
        return f"{self.label}{self.numbered}{self.first_number + index}"

    def parse(self) -> ParsedBatch:
        fields, loads, label, first = self.fields, orjson.loads, self.label, self.first
        id_field, text_field, by_place = fields.id, fields.text, fields.id == PLACE_AS_ID
        time_field, source_field = fields.time, fields.source
        named = fields.title or fields.address
        out = ParsedBatch()
        positions: list[int] = []
        for index, line in zip(self.numbers or range(self.count), self.records, strict=True):
            record: Any = None
            try:
                record = loads(line)  # type: ignore[arg-type]  # what stands for a line that cannot be read raises
                identifier = self.place(index) if by_place else record[id_field]
                text = record[text_field]
            except (ValueError, KeyError, TypeError):
                identifier = text = None
            if type(identifier) is int:
                identifier = str(identifier)
            if type(identifier) is str and type(text) is str and identifier:
                time = optional_field(record, time_field) if time_field else ""
                source = (optional_field(record, source_field) or label) if source_field else label
            elif isinstance(line, bytes) and not line.strip():
                continue
            else:
                try:
                    identifier, text, time, source = read_record(line, fields, self.place(index), label)
                except RecordInvalid as error:
                    out.outcomes.append(outcome_of(error, self.place(index)))
                    continue
            out.ids.append(identifier)
            out.texts.append(text)
            out.times.append(time)
            out.sources.append(source)
            if named:
                whole = record if isinstance(record, dict) else {}
                out.titles.append(optional_field(whole, fields.title))
                out.addresses.append(optional_field(whole, fields.address))
            out.sizes.append(len(line))  # type: ignore[arg-type]
            positions.append(first + index)
        out.positions = positions
        return out

    def json_lines(self, indexes: Sequence[int]) -> Iterator[bytes]:
        for index in indexes:
            line = self.records[index]
            if isinstance(line, bytes):
                # Line breaks between the parts of an object (never inside its strings) become blanks.
                yield line if b"\n" not in line else re.sub(rb"\s*[\r\n]+\s*", b" ", line)


@dataclass(slots=True)
class JsonLines:
    """One file of JSON lines."""

    path: Path
    label: str
    fields: Fields
    encoding: str
    limit_bytes: int
    size_bytes: int
    kind: str = "jsonl"

    def batches(self, first: int, done: int, max_records: int, max_bytes: int) -> Iterator[RawBatch]:
        number = 1
        with Stream(self.path, label=self.label) as stream:
            text = open_text(stream, self.encoding)
            for lines in uncut_blocks(text, block_bytes=max_bytes, limit_bytes=self.limit_bytes):
                consumed = done + min(stream.consumed, self.size_bytes)
                if isinstance(lines, Block):
                    if number == 1:
                        lines.raw = lines.raw.removeprefix(_BOM)
                    count = len(lines)
                    size = len(lines.raw) - count + 1
                    yield JsonBatch(lines, first, number, self.label, self.fields, size, consumed)
                    first += count
                    number += count
                    continue
                if number == 1 and isinstance(lines[0], bytes):
                    lines[0] = lines[0].removeprefix(_BOM)
                parts = -(-len(lines) // max_records)
                step = -(-len(lines) // parts)
                for start in range(0, len(lines), step):
                    some = lines[start : start + step] if parts > 1 else lines
                    size = sum(len(line) for line in some if isinstance(line, bytes))
                    yield JsonBatch(some, first, number, self.label, self.fields, size, consumed)
                    first += len(some)
                    number += len(some)


def read_record(line: Line, fields: Fields, place: str, label: str) -> tuple[str, str, str, str]:
    """Id, text, time and source of one JSON record, read with care. Raises `RecordInvalid`."""
    if isinstance(line, TooLong):
        identifier = _id_in(line.head, fields.id)
        raise RecordInvalid("record_too_large", size=line.size, state="too_large", id=identifier)
    if isinstance(line, Damaged):
        raise RecordInvalid("rest_unreadable", why=line.reason, state="unreadable", id="")
    record = _load(line)
    if not isinstance(record, dict):
        raise RecordInvalid("not_json_object", record=_type_name(record), state="invalid", id="")
    return fields_of(record, fields, place, label, exact=lambda: _load_exactly(line))


def fields_of(
    record: dict[str, Any], fields: Fields, place: str, label: str, exact: Any = None
) -> tuple[str, str, str, str]:
    """Id, text, time and source of a record. *exact* gives it again with its numbers as they were written."""
    identifier = place if fields.id == PLACE_AS_ID else find_field(record, fields.id)
    if isinstance(identifier, float) and exact is not None:
        identifier = find_field(exact(), fields.id)
    if identifier is MISSING:
        raise RecordInvalid(
            "no_field", field=fields.id, found=_found(record), state="invalid", id="", missing="id"
        )
    if _is_number(identifier):
        identifier = str(identifier)
    if not isinstance(identifier, str) or not identifier:
        what = Note("value_empty") if identifier == "" else _type_name(identifier)
        raise RecordInvalid("field_id_wrong", field=fields.id, what=what, state="invalid", id="")
    text = find_field(record, fields.text)
    if text is MISSING:
        raise RecordInvalid(
            "no_field",
            field=fields.text,
            found=_found(record),
            state="invalid",
            id=identifier,
            missing="text",
        )
    if not isinstance(text, str):
        raise RecordInvalid(
            "field_text_wrong", field=fields.text, what=_type_name(text), state="invalid", id=identifier
        )
    return (
        identifier,
        text,
        optional_field(record, fields.time),
        optional_field(record, fields.source) or label,
    )


def _is_number(value: Any) -> bool:
    """A number of any library, and not one that stands for none (NaN) or for all (infinity)."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        return False
    return isinstance(value, numbers.Integral) or math.isfinite(value)


MISSING: Any = object()


def find_field(record: Any, name: str) -> Any:
    """The value under *name*, or, for "a.b" that is no key itself, under "b" inside "a"; else `MISSING`."""
    if isinstance(record, dict):
        if name in record:
            return record[name]
        head, dot, rest = name.partition(".")
        if dot and head in record:
            return find_field(record[head], rest)
    return MISSING


def outcome_of(error: RecordInvalid, place: str) -> Outcome:
    return Outcome(str(error.details["state"]), str(error.details["id"]), place, error.note)


def _load(line: bytes) -> Any:
    line = line.removeprefix(_BOM)  # in the middle of a file too: of files that were joined
    try:
        return orjson.loads(line)
    except ValueError as error:
        first = error
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordInvalid("not_utf8", start=error.start + 1, state="invalid", id="") from error
    try:
        return json.loads(text, parse_int=_whole_number)
    except RecursionError:
        raise RecordInvalid("json_too_deep", state="invalid", id="") from None
    except ValueError:
        raise RecordInvalid("not_json", first=_words(first), state="invalid", id="") from first


def _whole_number(text: str) -> float:
    """A number of any length: beyond some thousand digits Python makes none of them."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _load_exactly(line: bytes) -> Any:
    try:
        return json.loads(line.removeprefix(_BOM), parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return {}


def _words(error: ValueError) -> str:
    message = str(error)
    column = re.search(r"column (\d+)", message)
    message = message.partition(": line")[0]
    return f"{message} (column {column.group(1)})" if column else message


def _id_in(head: bytes, id_field: str) -> str:
    """The id at the beginning of a record that is too large to be read, if it stands there."""
    name = re.escape(json.dumps(id_field, ensure_ascii=False).encode())
    found = re.search(name + rb'\s*:\s*(?:"((?:[^"\\]|\\.)*)"|(-?[0-9]+)\s*[,}])', head)
    if not found:
        return ""
    try:
        return (
            str(json.loads(b'"' + found.group(1) + b'"'))
            if found.group(1) is not None
            else found.group(2).decode()
        )
    except ValueError:
        return ""


def optional_field(record: dict[str, Any], name: str | None) -> str:
    if name is None:
        return ""
    value = find_field(record, name)
    return "" if value is MISSING or value is None else str(value)


def _found(record: dict[str, Any]) -> Note:
    names = [str(name) for name in record]
    if not names:
        return Note("no_fields")
    return Note("fields_found", fields=names[:_SHOWN_FIELDS], more=max(0, len(names) - _SHOWN_FIELDS))


def _type_name(value: Any) -> Note:
    if value is None:
        return Note("value_null")
    if isinstance(value, bool):
        return Note("value_bool")
    if isinstance(value, numbers.Real | Decimal) and not _is_number(value):
        return Note("value_no_number")
    names = {str: "text", int: "number", float: "number", list: "list", dict: "object"}
    name = names.get(type(value))
    return Note(f"value_{name}") if name else Note("value_other", type=type(value).__name__)
