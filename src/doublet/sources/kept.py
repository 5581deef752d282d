"""Write the cleaned collection: the records that stay, as they were, in the order of the input.

The form follows the name of the output: ``.jsonl`` takes any input (JSON lines stay as they were, byte for
byte), ``.json`` is the same as one array, ``.csv``, ``.tsv`` and ``.parquet`` take tables of the same kind
with the same columns, ``.txt`` is the list of the ids, a folder takes copies of the text files. ``.gz`` and
``.zst`` compress.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import InputUnreadable, OutputFailed, UsageError
from doublet.reports.output import (
    STDOUT,
    Together,
    check_output,
    compression_suffix,
    discard,
    format_suffix,
    open_output,
    output_failed,
)
from doublet.sources.csv_table import CsvBatch, CsvTable, Row
from doublet.sources.parquet import ParquetBatch, ParquetTable, pyarrow
from doublet.sources.records import MAX_BATCH_BYTES, MAX_BATCH_RECORDS, RawBatch
from doublet.sources.texts import TextBatch

if TYPE_CHECKING:
    from doublet.sources.open import Inputs

Keep = Callable[[int], bool]
_ROW_GROUP_BYTES = 16_000_000
_FORMS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".txt")


def check_kept(source: Inputs, out: Path) -> None:
    """Raise `UsageError` or `OutputFailed` now for what would stop `write_kept` after the work."""
    form = _form(source, out)
    if form == "folder":
        if any(part.kind not in ("texts", "broken") for part in source.parts):
            raise UsageError("folder_for_texts", out=out)
        if out.is_dir() and any(out.iterdir()):
            raise OutputFailed("folder_not_empty", path=str(out))
        if not out.resolve().parent.is_dir():
            raise OutputFailed("out_needs_folder", out=out, parent=out.resolve().parent)
        return
    if out != STDOUT:
        check_output(out)
    if form in (".csv", ".tsv"):
        tables = [part for part in source.parts if isinstance(part, CsvTable)]
        _need_all(source, len(tables), out, "form_for_columns")
        if any(table.header != tables[0].header for table in tables):
            raise UsageError("different_columns", out=out)
    elif form == ".parquet":
        files = [part for part in source.parts if isinstance(part, ParquetTable)]
        _need_all(source, len(files), out, "form_for_parquet")
        if compression_suffix(out):
            raise UsageError("parquet_inside", out=out, out2=compression_suffix(out))
        if any(not file.schema.equals(files[0].schema) for file in files):
            raise UsageError("different_columns", out=out)


def write_kept(source: Inputs, out: Path, keep: Keep, together: Together | None = None) -> int:
    """Write the records whose position *keep* accepts, *together* with other files of a job; returns how many."""
    check_kept(source, out)
    form = _form(source, out)
    if form == "folder":
        return _copy_files(source, out, keep, together)
    if form == ".parquet":
        return _write_parquet(source, out, keep, together)
    with open_output(out, together) as stream:
        if form in (".csv", ".tsv"):
            return _write_csv(source, stream, keep, form)
        if form == ".txt":
            return _write_ids(source, stream, keep)
        if form == ".json":
            return _write_array(source, stream, keep)
        return _write_lines(source, stream, keep)


def digests(source: Inputs, positions: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Two numbers for each of the records at these ascending positions, made of the bytes that would be written.

    They tell records apart that have one id, whatever the order of the input.
    """
    wanted = positions.astype(np.int64)
    out = np.zeros((len(wanted), 2), np.uint64)
    for batch in _whole_batches(source):
        low, high = np.searchsorted(wanted, (batch.first, batch.first + batch.count)).tolist()
        if low == high:
            continue
        indexes = (wanted[low:high] - batch.first).tolist()
        if isinstance(batch, CsvBatch):
            raw = [row.raw if isinstance(row, Row) else b"" for row in map(batch.rows.__getitem__, indexes)]
            records: Iterable[bytes] = (line.rstrip(b"\r\n") for line in raw)
        else:
            records = batch.json_lines(indexes)
        for number, record in enumerate(records, low):
            out[number] = np.frombuffer(hashlib.blake2b(record, digest_size=16).digest(), ">u8")
    return out


def _form(source: Inputs, out: Path) -> str:
    if out == STDOUT:
        kinds = {part.kind for part in source.parts} - {"broken"}
        return ".csv" if kinds == {"csv"} else ".jsonl"
    if out.is_dir() or (not out.suffix and {part.kind for part in source.parts} <= {"texts", "broken"}):
        return "folder"
    suffix = format_suffix(out)
    if suffix not in _FORMS:
        if suffix:
            known = ", ".join(_FORMS)
            raise UsageError("kept_form", out=out, suffix=suffix, known=known)
        return ".jsonl"
    return suffix


def _need_all(source: Inputs, found: int, out: Path, code: str) -> None:
    readable = [part for part in source.parts if part.kind != "broken"]
    if not found or found < len(readable):
        other = next((part for part in readable if part.kind != format_suffix(out)[1:]), None)
        raise UsageError(code, out=out, label=other.label if other else "")


def _whole_batches(source: Inputs) -> Iterator[RawBatch]:
    """All batches, those of Parquet tables with all their columns."""
    first = 0
    for part in source.parts:
        source.check_unchanged(part)
        batches = part.batches(first, 0, MAX_BATCH_RECORDS, MAX_BATCH_BYTES)
        if isinstance(part, ParquetTable):
            batches = part.batches(first, 0, MAX_BATCH_RECORDS, MAX_BATCH_BYTES, all_columns=True)
        while True:
            try:
                batch = next(batches, None)
            except OSError as error:  # not a fault of the output
                raise InputUnreadable(
                    "not_read_again", why=error.strerror or error, path=part.label
                ) from error
            if batch is None:
                break
            yield batch
            first = batch.first + batch.count
        source.check_unchanged(part)


def _kept(batch: RawBatch, keep: Keep) -> list[int]:
    first = batch.first
    return [index for index in range(batch.count) if keep(first + index)]


def _write_lines(source: Inputs, stream: IO[bytes], keep: Keep) -> int:
    count = 0
    for batch in _whole_batches(source):
        kept = _kept(batch, keep)
        if batch.size_bytes > 4 * MAX_BATCH_BYTES:  # a record of great length: no copies of it
            for line in batch.json_lines(kept):
                stream.write(line)
                stream.write(b"\n")
                count += 1
            continue
        lines = list(batch.json_lines(kept))
        if lines:
            stream.write(b"\n".join(lines) + b"\n")
        count += len(lines)
    return count


def _write_array(source: Inputs, stream: IO[bytes], keep: Keep) -> int:
    count = 0
    stream.write(b"[")
    for batch in _whole_batches(source):
        for line in batch.json_lines(_kept(batch, keep)):
            stream.write((b",\n" if count else b"\n") + line.strip())
            count += 1
    stream.write(b"\n]\n")
    return count


def _write_ids(source: Inputs, stream: IO[bytes], keep: Keep) -> int:
    count = 0
    for batch in _whole_batches(source):
        if not _kept(batch, keep):
            continue
        parsed = batch.parse()
        for identifier, position in zip(parsed.ids, parsed.positions, strict=True):
            if keep(position):
                line = (
                    identifier.replace("\\", "\\\\").replace("\n", "\\n")
                    if "\n" in identifier
                    else identifier
                )
                stream.write(line.encode("utf-8", "backslashreplace") + b"\n")
                count += 1
    return count


def _write_csv(source: Inputs, stream: IO[bytes], keep: Keep, form: str) -> int:
    tables = [part for part in source.parts if isinstance(part, CsvTable)]
    first = tables[0]
    # Rows stay as they were where they can; another delimiter than that of the first table is written anew.
    wanted = "\t" if form == ".tsv" else first.delimiter if first.delimiter != "\t" else ","
    if first.encoding == "utf-8-sig":
        stream.write(b"\xef\xbb\xbf")
    same = {table.label: table.delimiter == wanted for table in tables}
    stream.write(first.raw_header if same[first.label] else _row(first.header, wanted))
    count = 0
    for batch in _whole_batches(source):
        if not isinstance(batch, CsvBatch):
            continue
        for index in _kept(batch, keep):
            row = batch.rows[index]
            if isinstance(row, Row):
                stream.write(row.raw if same[batch.label] else _row(row.values, wanted))
                count += 1
    return count


def _row(values: list[str], delimiter: str) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerow(values)
    return out.getvalue().encode("utf-8", "backslashreplace")


def _write_parquet(source: Inputs, out: Path, keep: Keep, together: Together | None) -> int:
    arrow, parquet = pyarrow()
    tables = [part for part in source.parts if isinstance(part, ParquetTable)]
    count = 0
    waiting: list[Any] = []
    with open_output(out, together) as stream, parquet.ParquetWriter(stream, tables[0].schema) as writer:
        for batch in _whole_batches(source):
            if not isinstance(batch, ParquetBatch):
                continue
            waiting.append(batch.table.take(arrow.array(_kept(batch, keep), arrow.int64())))
            count += waiting[-1].num_rows
            if sum(table.nbytes for table in waiting) > _ROW_GROUP_BYTES:
                writer.write_table(arrow.Table.from_batches(waiting, tables[0].schema))
                waiting = []
        if waiting:
            writer.write_table(arrow.Table.from_batches(waiting, tables[0].schema))
    return count


def _copy_files(source: Inputs, out: Path, keep: Keep, together: Together | None) -> int:
    """Copy into a new folder beside *out*, which takes its place at the end."""
    target = out.resolve()
    count = 0
    try:
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    except OSError as error:
        raise output_failed(out, error) from error
    try:
        for batch in _whole_batches(source):
            if not isinstance(batch, TextBatch):
                continue
            for index in _kept(batch, keep):
                file = batch.files[index]
                place = _free_place(temporary, file.id)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file.path, place)
                count += 1
        temporary.chmod(0o777 & ~_umask())
        if together is None:
            temporary.replace(target)
        else:
            together.put(temporary, target, out)
    except BaseException as error:
        discard(temporary)
        if isinstance(error, OSError):
            raise output_failed(out, error) from error
        raise
    return count


def _free_place(folder: Path, identifier: str) -> Path:
    """Where the copy of a file goes: never outside *folder*, never over another copy."""
    parts = [part for part in Path(identifier).parts if part not in ("..", "/")]
    wanted = place = folder.joinpath(*parts)
    number = 2
    while place.exists():
        place = wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}")
        number += 1
    return place


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
