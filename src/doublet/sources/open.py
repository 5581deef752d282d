"""Open files, folders and standard input as one source of documents.

What a file is, is told from its content first (compression, Parquet, JSON, a header with the wanted columns)
and from its name second. One input that cannot be read does not stop the others; when none can, the first
reason is raised.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from doublet.errors import DoubletError, InputUnreadable, InvalidParameter, Unreadable, UsageError, nearest
from doublet.model import Note, Outcome
from doublet.sources.jsonl import JsonLines
from doublet.sources.records import (
    MAX_BATCH_BYTES,
    MAX_BATCH_RECORDS,
    MAX_RECORD_BYTES,
    PLACE_AS_ID,
    BrokenBatch,
    Fields,
    InputPart,
    RawBatch,
)
from doublet.sources.streams import (
    HEAD_BYTES,
    STDIN_LABEL,
    Stream,
    cannot_open,
    damage,
    is_stream,
    spool,
    standard_input,
)
from doublet.text import encoding as encodings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from doublet.reports.output import Together

# The readers of other kinds are imported when such a file is met: together they take as long as 2 MB of JSON lines.

STDIN = "-"
LINE_TABLES = (".jsonl", ".ndjson", ".ldjson")
COLUMN_TABLES = (".csv", ".tsv", ".tab")
ARCHIVES = (".zip", ".tar", ".tgz", ".tbz2", ".txz", ".warc")
_PARQUET_MAGIC = b"PAR1"
_PACKED = (".gz", ".zst", ".zstd", ".bz2", ".xz")
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r")


@dataclass(slots=True)
class _Broken:
    """An input that could not be opened, when others could."""

    label: str
    reason: Note
    kind: str = "broken"
    size_bytes: int = 0
    path: None = None

    def batches(self, first: int, done: int, max_records: int, max_bytes: int) -> Iterator[RawBatch]:  # noqa: ARG002
        yield BrokenBatch(Outcome("unreadable", "", self.label, self.reason), first, done)


class Inputs:
    """What `open_source` gives: the parts, walked one after the other. A `RecordSource`."""

    def __init__(self, parts: list[InputPart], fields: Fields, notes: list[Note], spooled: list[Any]) -> None:
        self.parts = parts
        self.fields = fields
        self.notes = notes
        self.total_bytes = sum(part.size_bytes for part in parts)
        self._spooled = spooled
        self._seen = {id(part): _state(part) for part in parts}

    def batches(
        self, max_records: int = MAX_BATCH_RECORDS, max_bytes: int = MAX_BATCH_BYTES
    ) -> Iterator[RawBatch]:
        first = done = 0
        for part in self.parts:
            self.check_unchanged(part)
            for batch in part.batches(first, done, max_records, max_bytes):
                yield batch
                first = batch.first + batch.count
            self.check_unchanged(part)  # what was read of it may be half a record, or half of two files
            done += part.size_bytes

    @property
    def named_fields(self) -> dict[str, str]:
        return self.fields.named(Fields())

    def check_unchanged(self, part: InputPart) -> None:
        """Positions mean nothing when the file is another one than at the first walk."""
        now = _state(part)
        if now != self._seen[id(part)]:
            raise InputUnreadable("input_removed" if now == _GONE else "input_changed", path=part.label)

    def check_kept(self, out: Path) -> None:
        from doublet.sources.kept import check_kept

        check_kept(self, out)

    def check_fields(self, options: Mapping[str, str]) -> None:
        """Look at the first records of some parts. Raises `InvalidParameter` when none of them has the field of the id
        or of the text, with the nearest name; *options* are what the user sets these with."""
        records = 0
        missing: Counter[str] = Counter()
        known: dict[str, None] = {}
        for part in self.parts[:: -(-len(self.parts) // LOOKED_AT_PARTS) or 1]:
            for batch in part.batches(0, 0, LOOKED_AT_RECORDS, LOOKED_AT_BYTES):
                if batch.size_bytes > MAX_LOOKED_AT:  # a record of great length
                    return
                parsed = batch.parse()
                records += len(parsed) + len(parsed.outcomes)
                for outcome in parsed.outcomes:
                    if outcome.reason.code == "no_field":
                        missing[outcome.reason.values["field"]] += 1
                        known |= dict.fromkeys(outcome.reason.values["found"].values.get("fields", ()))
                break
            if records > missing.total():
                return
        for name, field in (("id", self.fields.id), ("text", self.fields.text)):
            if records and missing[field] == records:
                raise InvalidParameter(
                    "wrong_field",
                    name=options[name],
                    option=options[name],
                    field=field,
                    nearest=nearest(field, known),
                    known=list(known),
                )

    def reads(self, path: Path) -> bool:
        paths = (part.path for part in self.parts)
        return path.exists() and any(one and one.exists() and path.samefile(one) for one in paths)

    def write_kept(self, out: Path, keep: Callable[[int], bool], together: Together | None = None) -> int:
        from doublet.sources.kept import write_kept

        return write_kept(self, out, keep, together)

    def digests(self, positions: NDArray[np.uint64]) -> NDArray[np.uint64]:
        from doublet.sources.kept import digests

        return digests(self, positions)

    def close(self) -> None:
        for file in self._spooled:
            file.close()

    def __enter__(self) -> Inputs:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# Enough to see what the fields are called.
LOOKED_AT_PARTS, LOOKED_AT_RECORDS, LOOKED_AT_BYTES = 8, 200, 1 << 18
MAX_LOOKED_AT = 8 << 20


def open_source(
    inputs: Sequence[str],
    *,
    id_field: str = "id",
    text_field: str = "text",
    time_field: str | None = None,
    source_field: str | None = None,
    title_field: str | None = None,
    address_field: str | None = None,
    max_record_bytes: int = MAX_RECORD_BYTES,
) -> Inputs:
    """Open files, folders and "-" (standard input). Raises `InputNotFound` for a name that is not there, and
    `InputUnreadable` when none of the inputs can be read."""
    if not inputs:
        raise UsageError("no_input_named")
    opener = _Opener(
        Fields(id_field, text_field, time_field, source_field, title_field, address_field),
        max_record_bytes,
        len(inputs) > 1,
    )
    try:
        for name in inputs:
            opener.add(name)
            opener._add_tables()
        return opener.finish()
    except BaseException:
        for file in opener.spooled:
            file.close()
        raise


def open_file(
    path: Path,
    label: str,
    *,
    id_field: str = "id",
    text_field: str = "text",
    time_field: str | None = None,
    source_field: str | None = None,
    title_field: str | None = None,
    address_field: str | None = None,
    max_record_bytes: int = MAX_RECORD_BYTES,
) -> Inputs:
    """Open one file under the name *label*. Raises `InputUnreadable`."""
    fields = Fields(id_field, text_field, time_field, source_field, title_field, address_field)
    opener = _Opener(fields, max_record_bytes, False)
    try:
        opener._add_file(path, label, inside=True)
        opener._add_tables()
        return opener.finish()
    except BaseException:
        for file in opener.spooled:
            file.close()
        raise


def is_container(path: Path, label: str, **fields: Any) -> bool:
    """Whether a file holds many documents: a table, an archive, a WARC file. Raises `InputUnreadable`."""
    with open_file(path, label, **fields) as opened:
        return any(part.kind != "texts" for part in opened.parts)


class _Opener:
    def __init__(self, fields: Fields, limit_bytes: int, several: bool) -> None:
        self.fields = fields
        self.limit_bytes = limit_bytes
        self.several = several
        self.parts: list[InputPart] = []
        self.notes: list[Note] = []
        self.spooled: list[Any] = []
        self._errors: list[DoubletError] = []
        self._waiting: list[tuple[bytes, str]] = []  #: tables of archives, with their names
        self._named: set[Path | str] = set()

    def add(self, name: str) -> None:
        try:
            key = STDIN if name == STDIN else Path(name).resolve()
        except (OSError, ValueError) as error:
            raise cannot_open(name, error) from error
        if key in self._named:
            self.notes.append(Note("named_twice", name=name))
            return
        self._named.add(key)
        if name == STDIN:
            self._spool(standard_input(), STDIN_LABEL)
            return
        path = Path(name)
        try:
            path.stat()
        except OSError as error:
            raise cannot_open(name, error) from error
        if path.is_dir():
            self._add_folder(path, name)
        elif is_stream(path):
            with path.open("rb") as stream:
                self._spool(stream, name)
        else:
            self._add_file(path, name)

    def finish(self) -> Inputs:
        if self._errors and all(part.kind == "broken" for part in self.parts):
            raise self._errors[0]
        return Inputs(self.parts, self.fields, self.notes, self.spooled)

    def _spool(self, stream: Any, label: str) -> None:
        file = spool(stream, label)
        self.spooled.append(file)
        self._add_file(Path(file.name), label)

    def _add_file(self, path: Path, label: str, *, inside: bool = False) -> None:
        from doublet.sources.texts import failure

        try:
            part = self._open_file(path, label, inside=inside)
        except InputUnreadable as error:
            self._errors.append(error)
            self.parts.append(_Broken(label, failure(error)[1]))
            return
        self.parts.append(part)

    def _open_file(self, path: Path, label: str, *, inside: bool) -> InputPart:
        size = path.stat().st_size
        with Stream(path, label=label) as stream:
            try:
                head = stream.peek(HEAD_BYTES)
            except Exception as error:
                reason = damage(error)
                if reason is None:
                    raise
                raise InputUnreadable("cannot_be_read_reason", reason=reason, path=label) from error
        if head.startswith(_PARQUET_MAGIC):
            from doublet.sources.parquet import open_parquet

            return open_parquet(path, label=label, fields=self.fields, limit_bytes=self.limit_bytes)
        packed = _archive_kind(path, head)
        if packed:
            return self._open_archive(path, label, packed, size)
        table = table_suffix(label) in (*LINE_TABLES, *COLUMN_TABLES, ".parquet")
        if is_document(head) and not table:
            if not inside:
                self.notes.append(Note("read_as_one", label=label))
            return self._one_document(path, label, size)
        encoding = _table_encoding(head, label)
        head = _as_utf8(head, encoding)
        kind = tell_kind(head, label, self.fields)
        if not head.strip():
            self.notes.append(Note("input_empty", label=label))
            kind = "jsonl"
        elif encoding not in ("utf-8", "utf-8-sig") and kind != "text":
            self.notes.append(Note("not_utf8_read_as", label=label, encoding=encoding))
        if kind == "text":
            if label == STDIN_LABEL:
                raise InputUnreadable(
                    "neither_json_nor_csv",
                    id=self.fields.id,
                    text=self.fields.text,
                    path=label,
                )
            if not inside:
                self.notes.append(Note("read_as_one", label=label))
            return self._one_document(path, label, size)
        if kind == "csv":
            from doublet.sources.csv_table import open_csv

            return open_csv(
                path,
                label=label,
                fields=self.fields,
                encoding=encoding,
                limit_bytes=self.limit_bytes,
                head=head,
            )
        if kind == "jsonl":
            return JsonLines(path, label, self.fields, encoding, self.limit_bytes, size)
        from doublet.sources.json_stream import JsonStream

        return JsonStream(path, label, self.fields, encoding, self.limit_bytes, size)

    def _one_document(self, path: Path, label: str, size: int) -> InputPart:
        from doublet.sources.texts import TextFile, TextFiles

        return TextFiles(label, [TextFile(label, path, size)], self.limit_bytes, size)

    def _open_archive(self, path: Path, label: str, kind: str, size: int) -> InputPart:
        """The documents of an archive. Tables in it are read as tables, after them."""
        from doublet.sources.archive import members
        from doublet.sources.packed import PackedFiles
        from doublet.sources.pages import is_page
        from doublet.text.limits import MAX_BYTES

        limit = min(self.limit_bytes, MAX_BYTES)
        tables: list[str] = []
        pages = 0
        if kind != "warc":
            for member in members(path, kind, label=label, limit_bytes=limit):
                if not member.state and table_suffix(member.name) in (*LINE_TABLES, ".parquet"):
                    tables.append(member.name)
                    self._waiting.append((member.data, f"{label}/{member.name}"))
                elif not member.state:
                    pages += is_page(member.data, member.name)
        return PackedFiles(label, path, kind, limit, size, frozenset(tables), pages)

    def _add_tables(self) -> None:
        """The tables that archives held, each in a temporary file."""
        while self._waiting:
            data, label = self._waiting.pop(0)
            self._spool(io.BytesIO(data), label)

    def _add_folder(self, folder: Path, label: str) -> None:
        from doublet.sources.texts import TextFile, TextFiles, hidden_note, list_files

        closed: list[DoubletError] = []
        files, hidden = list_files(folder, label, closed)
        if hidden:
            self.notes.append(hidden_note(label, hidden))
        for error in closed:
            self._errors.append(error)
            self.parts.append(_Broken(str(error.details["path"]), error.note))
        if not files and not closed:
            self.notes.append(Note("folder_without_files", label=label))
        # A CSV among other files may be anything; in a folder of nothing but tables it is one of them.
        suffixes = {file: table_suffix(file.name) for file in files}
        wanted: tuple[str, ...] = (*LINE_TABLES, ".parquet")
        if all(suffix in (*wanted, *COLUMN_TABLES) for suffix in suffixes.values()):
            wanted += COLUMN_TABLES
        texts = []
        size = 0
        for file in files:
            if suffixes[file] in wanted or suffixes[file] in ARCHIVES:
                self._add_file(file, str(file), inside=True)
                continue
            try:
                file_size = file.stat().st_size
            except OSError:
                file_size = 0  # it cannot be read either, which then is said
            name = file.relative_to(folder).as_posix()
            texts.append(TextFile(f"{label.rstrip('/')}/{name}" if self.several else name, file, file_size))
            size += file_size
        if texts:
            self.parts.append(TextFiles(label, texts, self.limit_bytes, size))


def _archive_kind(path: Path, head: bytes) -> str:
    if not head.startswith((b"WARC/", b"PK")) and head[257:262] != b"ustar":
        return ""
    from doublet.sources.archive import archive_kind

    return archive_kind(path, head)


def is_document(head: bytes) -> bool:
    """A document with a signature of its own, or a page: no table."""
    if head.startswith((b"%PDF-", b"PK\x03\x04", b"{\\rtf", b"\xd0\xcf\x11\xe0")) or b"%PDF-" in head[:1024]:
        return True
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<?xml", b"<!", b"<html", b"<HTML"))


def table_suffix(name: str) -> str:
    """The suffix that tells what a file is, without the one that tells how it is packed."""
    path = Path(name.lower())
    return Path(path.stem).suffix if path.suffix in _PACKED else path.suffix


def tell_kind(head: bytes, name: str, fields: Fields) -> str:
    """jsonl, json, csv or text, from the first bytes (as UTF-8) and then the name."""
    suffix = table_suffix(name)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    kind = "text"
    if text.startswith(b"{"):
        kind = _tell_objects(text, suffix)
    elif text.startswith(b"[") and text[1:].lstrip()[:1] in (b"{", b"]") and suffix not in LINE_TABLES:
        kind = "json"
    elif suffix in COLUMN_TABLES:
        kind = "csv"
    elif suffix in LINE_TABLES:
        kind = "jsonl"
    elif suffix in ("", ".txt", ".dat", ".data") and _has_header(text, fields):
        kind = "csv"
    return kind


def _tell_objects(text: bytes, suffix: str) -> str:
    """What begins with a brace: an object a line, objects over several lines, or a text after all."""
    if suffix in LINE_TABLES or any(_is_object(line) for line in text.split(b"\n", 3)[:3]):
        return "jsonl"
    if text[1:].lstrip()[:1] not in (b'"', b"}"):
        return "json" if suffix == ".json" else "text"
    # A single line is a first line longer than what was looked at.
    return "jsonl" if b"\n" not in text and suffix != ".json" else "json"


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line), dict)
    except ValueError:
        return False


def _has_header(text: bytes, fields: Fields) -> bool:
    line = text.split(b"\n", 1)[0].decode("utf-8", "replace")
    wanted = {fields.id, fields.text} - {PLACE_AS_ID}
    from doublet.sources.csv_table import DELIMITERS

    for delimiter in DELIMITERS:
        try:
            header = next(csv.reader(io.StringIO(line), delimiter=delimiter), [])
        except csv.Error:
            continue
        if len(header) > 1 and wanted.issubset(header):
            return True
    return False


def _table_encoding(head: bytes, label: str) -> str:
    """Encoding of a whole file from its beginning. A broken line in a UTF-8 file does not make it another
    one.
    """
    try:
        found = encodings.detect(head)
    except Unreadable as error:
        if "kind" in error.details and not _is_table_with_zeros(head, label):
            raise InputUnreadable("no_documents_in", path=label, what=error.details["kind"]) from error
        return "utf-8"
    if found.startswith("utf") and found != encodings.DAMAGED:
        return found
    good = bad = 0
    for line in head.split(b"\n")[:-1]:
        if line.isascii():
            continue
        try:
            line.decode("utf-8")
            good += 1
        except UnicodeDecodeError:
            bad += 1
    return "utf-8" if good >= bad or found == encodings.DAMAGED else found


def _is_table_with_zeros(head: bytes, label: str) -> bool:
    """A table by its name or its beginning with sound lines, that would be text but for some zeros and other controls:
    a crash leaves such blocks, and they cost no more than their lines."""
    if table_suffix(label) not in (*LINE_TABLES, *COLUMN_TABLES) and not head.lstrip().startswith(b"{"):
        return False
    sound = [line for line in head.split(b"\n") if line.strip() and line.translate(None, _CONTROLS) == line]
    try:
        return bool(sound) and encodings.detect(head.translate(None, _CONTROLS)).startswith("utf-8")
    except Unreadable:
        return False


def _as_utf8(head: bytes, encoding: str) -> bytes:
    return (
        head if encoding.startswith("utf-8") else head.decode(encoding, "replace").encode("utf-8", "replace")
    )


_GONE = (-1, -1)


def _state(part: InputPart) -> tuple[int, int] | None:
    if part.path is None:
        return None
    try:
        found = part.path.stat()
    except OSError:
        return _GONE
    return (found.st_size, found.st_mtime_ns)
