"""``doublet check --among``: a whole class at once, its table on standard output or all of its reports in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from doublet.addresses import is_address
from doublet.cli.base import say, write_bytes, write_text
from doublet.cli.compare import tell_read
from doublet.cli.exits import NOTHING_DONE, OVER_THE_LIMIT, SOME_FAILED
from doublet.cli.language import words
from doublet.errors import UsageError
from doublet.model import Note

if TYPE_CHECKING:
    from doublet.jobs.check_class import CheckedClass
    from doublet.jobs.check_many import Checker
    from doublet.matches.among import Among
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
    whole_page: bool,
    limit: float | None,
    quiet: bool,
    progress: Progress,
    reviewer: str = "",
) -> int | None:
    """Check the works and write what was asked for; gives the exit code."""
    from doublet.jobs.check_class import check_class
    from doublet.jobs.class_folder import make_folder, write_class
    from doublet.reports.class_view import class_csv
    from doublet.reports.json_report import json_document
    from doublet.sources.works import list_works

    out = class_out(texts, form, out)
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
        whole_page=whole_page,
        on_read=lambda name, given: tell_read(name, given.read, quiet),
        on_work=lambda one: say(one.outcome.reason, quiet=quiet) if one.outcome is not None else None,
        progress=progress,
    )
    rows, told = write_class(
        found,
        out,
        form="pdf" if form == "pdf" else "html",
        title=class_title(texts),
        language=words().language,
        reviewer=reviewer,
        limit=limit,
    )
    if out is not None:
        say(Note("class_written", path=str(out / "index.html")), quiet=quiet)
    if form == "json":
        write_bytes([json_document(told)])
    elif form == "csv":
        write_bytes([class_csv(rows, words().language)])
    elif form == "table":
        write_text(_lines(rows, found.among))
    return _ending(found, limit, quiet)


def class_out(texts: Sequence[str], form: str, out: Path | None) -> Path | None:
    """The folder for the reports of a class, if one was named. Raises `UsageError` for what cannot be."""
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
    return out


def class_title(texts: Sequence[str]) -> str:
    """What the class is called: the folder or archive of its works, if it is one."""
    return Path(texts[0]).resolve().name if len(texts) == 1 else ""


def _ending(found: CheckedClass, limit: float | None, quiet: bool) -> int | None:
    from doublet.matches.readable import readable

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
