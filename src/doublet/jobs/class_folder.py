"""The folder of a checked class: a report for each work, and index.html, index.csv and index.json over all of them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import doublet
from doublet.errors import OutputFailed
from doublet.jobs.check_class import CheckedClass, class_rows
from doublet.model import Check
from doublet.reports.check_html import check_page
from doublet.reports.class_html import class_page
from doublet.reports.class_view import ClassRow, class_csv, class_dict
from doublet.reports.json_report import json_document
from doublet.reports.output import open_output


def make_folder(out: Path) -> None:
    """A folder for reports, where there is none yet. Raises `OutputFailed`."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise OutputFailed("output_not_folder", path=str(out)) from error
    except OSError as error:
        raise OutputFailed("folder_not_made", path=str(out), why=error.strerror or str(error)) from error


def check_report_file(form: str, check: Check, text: str, **about: Any) -> bytes:
    """A check as a page ("html") or a PDF. *about* is what `check_page` says of the work."""
    if form == "pdf":
        from doublet.jobs.check_pdf import check_pdf

        return check_pdf(check, text, **about)
    return check_page(check, text, **about).encode("utf-8")


def write_class(
    found: CheckedClass,
    out: Path | None,
    *,
    form: str = "html",
    title: str = "",
    language: str = "en",
    reviewer: str = "",
    limit: float | None = None,
) -> tuple[list[ClassRow], dict[str, Any]]:
    """Write the reports of a class and its index to the folder *out* (None: write nothing); gives the rows of the index
    and the index as JSON. *form* is that of the reports, "html" or "pdf". Raises `OutputFailed`, `ConfigError`."""
    created = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    reports: dict[str, str] = {}
    if out is not None:
        make_folder(out)
        about = {"language": language, "reviewer": reviewer, "limit": limit}
        reports = _write_reports(found, out, form, about)
    rows = class_rows(found, reports)
    told = class_dict(rows, found.among, created=created, version=doublet.__version__)
    if out is not None:
        page = class_page(rows, found.among, title=title, created=created, language=language)
        write_file(out / "index.html", page.encode("utf-8"))
        write_file(out / "index.csv", class_csv(rows, language))
        write_file(out / "index.json", json_document(told))
    return rows, told


def _write_reports(found: CheckedClass, out: Path, form: str, about: dict[str, Any]) -> dict[str, str]:
    """A report for each checked work; gives their file names by the names of the works."""
    names: dict[str, str] = {}
    taken = {"index.html"}
    for one in found.checked:
        assert one.check is not None
        plain = "".join(c if c.isalnum() or c in " ._()-" else "_" for c in one.name)
        stem = plain[:120].strip(" .") or "work"
        place, number = f"{stem}.{form}", 2
        while place.casefold() in taken:
            place, number = f"{stem}-{number}.{form}", number + 1
        taken.add(place.casefold())
        names[one.name] = place
        who = {"name": one.name, "author": one.work.author, "work_title": one.title}
        write_file(out / place, check_report_file(form, one.check, one.text, **who, **about))
    return names


def write_file(target: Path, content: bytes) -> None:
    """Whole or not at all."""
    with open_output(target) as stream:
        stream.write(content)
