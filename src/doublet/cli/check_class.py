"""``doublet check --among``: a whole class at once, its table on standard output or all of its reports in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import doublet
from doublet.addresses import is_address
from doublet.cli.base import say, write_bytes, write_text
from doublet.cli.compare import tell_read
from doublet.cli.exits import NOTHING_DONE, OVER_THE_LIMIT, SOME_FAILED
from doublet.cli.language import words
from doublet.errors import OutputFailed, UsageError
from doublet.model import Note

if TYPE_CHECKING:
    from doublet.jobs.check_class import CheckedClass
    from doublet.jobs.check_many import Checker
    from doublet.matches.among import Among
    from doublet.model import Check
    from doublet.progress import Progress
    from doublet.reports.class_view import ClassRow

SHOWN_PAIRS = 20


def run_class(
    texts: Sequence[str],
    checker: Checker,
    *,
    form: str,
    out: Path | None,
    ocr: bool,
    limit: float | None,
    quiet: bool,
    progress: Progress,
    reviewer: str = "",
) -> int | None:
    """Check the works and write what was asked for; gives the exit code."""
    from doublet.jobs.check_class import check_class, class_rows
    from doublet.reports.class_view import class_csv, class_dict
    from doublet.reports.json_report import json_document
    from doublet.sources.works import list_works

    wrong = next((text for text in texts if text == "-" or is_address(text)), None)
    if wrong is not None:
        raise UsageError("among_needs_files", text=wrong)
    if form not in ("table", "json", "csv", "html", "pdf"):
        raise UsageError("among_format", form=form)
    if out == Path("-"):
        out = None
    if out is not None and out.suffix.lower() in (".html", ".pdf", ".json", ".csv") and not out.is_dir():
        raise UsageError("reports_need_folder", names=len(texts))
    if form in ("html", "pdf") and out is None:
        raise UsageError("reports_need_folder", names=len(texts))
    works = list_works(map(Path, texts))
    if out is not None:
        make_folder(out)
    if form == "pdf":
        from doublet.jobs.check_pdf import find_browser

        find_browser()
    found = check_class(
        works,
        checker,
        ocr=ocr,
        on_read=lambda name, given: tell_read(name, given.read, quiet),
        on_work=lambda one: say(one.outcome.reason, quiet=quiet) if one.outcome is not None else None,
        progress=progress,
    )
    created = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    reports: dict[str, str] = {}
    if out is not None:
        reports = _write_reports(found, out, "pdf" if form == "pdf" else "html", reviewer)
    rows = class_rows(found, reports)
    told = class_dict(rows, found.among, created=created, version=doublet.__version__)
    table = class_csv(rows, words().language)
    if out is not None:
        from doublet.reports.class_html import class_page

        title = Path(texts[0]).resolve().name if len(texts) == 1 else ""
        page = class_page(rows, found.among, title=title, created=created, language=words().language)
        _write(out / "index.html", page.encode("utf-8"))
        _write(out / "index.csv", table)
        _write(out / "index.json", json_document(told))
        say(Note("class_written", path=str(out / "index.html")), quiet=quiet)
    if form == "json":
        write_bytes([json_document(told)])
    elif form == "csv":
        write_bytes([table])
    elif form == "table":
        write_text(_lines(rows, found.among))
    return _ending(found, limit, quiet)


def _ending(found: CheckedClass, limit: float | None, quiet: bool) -> int | None:
    from doublet.jobs.check import readable

    checked = [(one.name, one.check) for one in found.works if one.check is not None]
    over = [(name, check) for name, check in checked if limit is not None and check.share > limit]
    for name, check in over:
        say(Note("over_limit", share=check.share, what=name, limit=limit), quiet=quiet)
    unjudged = [name for name, check in checked if limit is not None and not readable(check)]
    for name in unjudged:
        say(Note("not_judged", what=name))
    if over:
        return OVER_THE_LIMIT
    if len(unjudged) == len(checked):
        return NOTHING_DONE
    outcomes = any(check.outcomes for _, check in checked)
    return SOME_FAILED if len(checked) < len(found.works) or outcomes or unjudged else None


def make_folder(out: Path) -> None:
    """A folder for reports, where there is none yet. Raises `OutputFailed`."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise OutputFailed("output_not_folder", path=str(out)) from error
    except OSError as error:
        raise OutputFailed("folder_not_made", path=str(out), why=error.strerror or str(error)) from error


def _write_reports(found: CheckedClass, out: Path, form: str, reviewer: str) -> dict[str, str]:
    """A report for each checked work; gives their file names by the names of the works."""
    names: dict[str, str] = {}
    taken = {"index.html"}
    for one in found.checked:
        assert one.check is not None
        stem = (
            "".join(c if c.isalnum() or c in " ._()-" else "_" for c in one.name)[:120].strip(" .") or "work"
        )
        place, number = f"{stem}.{form}", 2
        while place.casefold() in taken:
            place, number = f"{stem}-{number}.{form}", number + 1
        taken.add(place.casefold())
        names[one.name] = place
        content = report(form, one.check, one.text, name=one.name, author=one.work.author, reviewer=reviewer)
        _write(out / place, content)
    return names


def report(form: str, check: Check, text: str, *, name: str, author: str, reviewer: str) -> bytes:
    """A check as a page or a PDF, in the language of the command."""
    language = words().language
    if form == "pdf":
        from doublet.jobs.check_pdf import check_pdf

        return check_pdf(check, text, name=name, language=language, author=author, reviewer=reviewer)
    from doublet.reports.check_html import check_page

    page = check_page(check, text, name=name, language=language, author=author, reviewer=reviewer)
    return page.encode("utf-8")


def _write(target: Path, content: bytes) -> None:
    from doublet.reports.output import open_output

    with open_output(target) as stream:
        stream.write(content)


def _lines(rows: Sequence[ClassRow], among: Among) -> str:
    """The class for a terminal: a line for each work, the greatest share first, and who took from whom."""
    from doublet.reports.class_view import links
    from doublet.reports.terminal import harmless

    say_it = words()
    out = []
    ordered = sorted(rows, key=lambda row: (not row.checked, -row.share, row.work))
    for number, row in enumerate(ordered, 1):
        if not row.checked:
            out.append(say_it("class_line_failed", number=number, work=row.work, reason=row.reason))
            continue
        alarms = [say_it.name("disguise", kind) for kind in row.alarms]
        out.append(
            say_it(
                "class_line",
                number=number,
                share=row.share,
                work=row.work,
                author=row.author,
                alarms=alarms,
                top=row.top_source,
            )
        )
    told = links(among)
    if told:
        out += ["", say_it("class_among")]
    for one in told[:SHOWN_PAIRS]:
        out.append(
            say_it(
                "class_line_pair",
                origin=one.origin,
                sign="→" if one.directed else "↔",
                taker=one.taker,
                share=one.share,
                words=one.words,
                why=say_it(f"class_direction_{one.reason}"),
            )
        )
    if len(told) > SHOWN_PAIRS:
        out.append(say_it("check_more", number=len(told) - SHOWN_PAIRS))
    if among.common:
        out += ["", say_it("class_common")]
        for common in among.common[:SHOWN_PAIRS]:
            out.append(f"{common.title or common.id}: {', '.join(common.works)}")
    return "\n".join(map(harmless, out)) + "\n"
