"""Results as lines of JSON and as CSV, and the file of groups.

Nothing here depends on how the work was shared out: groups come sorted, numbers are written in full, so the
same input gives the same bytes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from doublet.errors import UsageError
from doublet.model import Comparison, Deduplication
from doublet.reports.json_report import json_line, json_parts
from doublet.reports.output import STDOUT, Together, check_output, format_suffix, open_output

GROUP_COLUMNS = ("group", "keep", "id", "resemblance", "containment", "contained_in")
FRAGMENT_COLUMNS = ("id", "a_start", "a_end", "b_start", "b_end", "kind", "score", "words")
GROUP_FORMS = (".jsonl", ".ndjson", ".json", ".csv")


def safe_cell(value: Any) -> str:
    """A cell that no spreadsheet runs as a formula: what begins like one is shown with an apostrophe before it."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def csv_row(values: Iterable[Any]) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerow("" if value is None else value for value in values)
    return out.getvalue().encode("utf-8", "backslashreplace")


def group_lines(result: Deduplication) -> Iterator[bytes]:
    """One group a line."""
    for group in result.groups:
        yield json_line(group.to_dict()) + b"\n"


def group_rows(result: Deduplication) -> Iterator[bytes]:
    """A header, then one row for each removed document."""
    yield csv_row(GROUP_COLUMNS)
    for group in result.groups:
        for member in group.members:
            yield csv_row(
                (group.id, group.keep, member.id, member.resemblance, member.containment, member.contained_in)
            )


def comparison_rows(result: Comparison) -> Iterator[bytes]:
    """A header, then one row for each fragment."""
    yield csv_row(FRAGMENT_COLUMNS)
    for part in result.fragments:
        yield csv_row((part.id, *part.a, *part.b, part.kind, part.score, part.words))


def comparison_lines(result: Comparison) -> Iterator[bytes]:
    """One fragment a line."""
    for part in result.fragments:
        yield json_line(part.to_dict()) + b"\n"


def plain_rows(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[bytes]:
    yield csv_row(columns)
    for row in rows:
        yield csv_row(row)


def check_groups(out: Path, *, pages: bool = False) -> None:
    """Raise `UsageError` or `OutputFailed` now for what would stop `write_groups` after the work. *pages*: the caller
    can write a page too."""
    suffix = format_suffix(out)
    forms = (*GROUP_FORMS, ".html", ".htm") if pages else GROUP_FORMS
    if out != STDOUT and suffix and suffix not in forms:
        raise UsageError("groups_form", out=out, suffix=suffix, group_forms=forms)
    check_output(out)


def write_groups(result: Deduplication, out: Path, together: Together | None = None) -> None:
    """Write the groups to *out*: JSON lines, or by the suffix ``.json`` (the whole result) or ``.csv``;
    ``.gz`` and ``.zst`` compress. Whole or not at all, and *together* with other files where there are any.
    Raises `OutputFailed`.
    """
    check_groups(out)
    with open_output(out, together) as stream:
        _write(result, stream, format_suffix(out))


def _write(result: Deduplication, stream: IO[bytes], suffix: str) -> None:
    if suffix == ".json":
        for part in json_parts(result.fields()):
            stream.write(part)
    else:
        for part in group_rows(result) if suffix == ".csv" else group_lines(result):
            stream.write(part)
