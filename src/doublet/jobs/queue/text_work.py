"""Kinds of jobs that work on texts: check one or many of them against libraries; find repeats."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from doublet.addresses import WebAddress
from doublet.errors import InvalidParameter
from doublet.jobs.queue.kinds import Work
from doublet.jobs.read import TextInput

_WAYS = ("text", "path", "address")


def check(
    work: Work,
    *,
    documents: Sequence[Mapping[str, Any]],
    libraries: Sequence[str] | None = None,
    out: str | None = None,
    ocr: bool = False,
    whole_page: bool = False,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Check documents against libraries. Each is a mapping with one of *text*, *path* or *address*, and may have a
    *name*. *ocr* reads scanned pages, *whole_page* menus and footers of web pages too. *options* are
    those of `doublet.jobs.check_library.check_library`.

    The result has a row for each document: its outcome, its share and the number of its report in the store. With *out*
    the reports are written to that folder too, as JSON. One that cannot be read is a row that says why. An attempt
    that was broken off goes on with the next document.
    """
    from doublet.crawl.politeness import polite_fetcher
    from doublet.jobs.check_many import against_libraries, check_many

    given = [_input(document, place) for place, document in enumerate(documents)]
    rows: list[dict[str, Any]] = list(work.checkpoint.get("rows", []))
    folder = Path(out) if out else None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    checker = against_libraries(
        work.store, libraries, **{"build": True, **dict(options or {})}, progress=work.progress
    )
    work.progress.step("checking", len(rows), len(given), "documents")
    with polite_fetcher(work.settings) as fetcher:
        for one in check_many(given[len(rows) :], checker, fetcher=fetcher, ocr=ocr, whole_page=whole_page):
            row: dict[str, Any] = {"name": one.name}
            told = one.check.to_dict() if one.check is not None else None
            if one.check is not None and told is not None:
                row |= {"state": "done", "share": one.check.share, "words": one.check.words}
                row |= {"sources": len(one.check.sources)}
                if folder is not None:
                    row["file"] = str(folder / f"{len(rows) + 1:06}.json")
                    _write(Path(row["file"]), told)
            elif one.outcome is not None:
                row |= one.outcome.to_dict()
            with work.store.database.writing():  # a report, and that it is there: both or neither
                if one.check is not None and told is not None:
                    row["report"] = work.store.reports.add(told, title=one.name, share=one.check.share).number
                rows.append(row)
                work.keep({"rows": rows})
            work.progress.step("checking", len(rows), len(given), "documents")
    return {"documents": rows, "failed": sum(row["state"] != "done" for row in rows)}


def check_class(
    work: Work,
    *,
    works: Sequence[str],
    out: str,
    libraries: Sequence[str] | None = None,
    form: str = "html",
    title: str = "",
    language: str = "en",
    reviewer: str = "",
    limit: float | None = None,
    ocr: bool = False,
    whole_page: bool = False,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Check a whole class: the files, folders and archives *works* against libraries and among themselves. The folder
    *out* gets a report for each work (*form* "html" or "pdf") and an index; the result is the index. *options* are
    those of `doublet.jobs.check_library.check_library`."""
    from doublet.jobs.check_class import check_class as check_all
    from doublet.jobs.check_class import leave_out_of_class
    from doublet.jobs.check_many import against_libraries
    from doublet.jobs.class_folder import make_folder, write_class
    from doublet.sources.works import list_works

    folder = Path(out)
    make_folder(folder)
    wanted = {"build": True, **dict(options or {})}
    wanted["leave_out"] = leave_out_of_class(map(str, wanted.get("leave_out", ())))
    checker = against_libraries(work.store, libraries, **wanted)
    found = check_all(
        list_works(map(Path, works)), checker, ocr=ocr, whole_page=whole_page, progress=work.progress
    )
    _, told = write_class(
        found, folder, form=form, title=title, language=language, reviewer=reviewer, limit=limit
    )
    return told


def _input(document: Mapping[str, Any], place: int) -> tuple[str, TextInput]:
    """The name of a document, and its text or where it is. Raises `InvalidParameter`."""
    ways = [way for way in _WAYS if document.get(way) is not None]
    if len(ways) != 1 or not isinstance(document[ways[0]], str):
        raise InvalidParameter("document_needs_one_of", name="documents", number=place + 1, known=_WAYS)
    value = document[ways[0]]
    name = str(document.get("name") or ("" if ways[0] == "text" else value))
    return name, value if ways[0] == "text" else Path(value) if ways[0] == "path" else WebAddress(value)


def _write(file: Path, value: dict[str, Any]) -> None:
    from doublet.reports.output import open_output

    with open_output(file) as stream:
        stream.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def repeats(
    work: Work,
    *,
    paths: Sequence[str] = (),
    texts: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    out: str | None = None,
) -> dict[str, Any]:
    """What repeats inside the documentation at *paths*, or inside *texts* by name. *options* are those of
    `doublet.find_repeats`. With *out* the result is written to that file, as JSON."""
    from doublet.jobs.find_repeats import find_repeats

    if bool(paths) == bool(texts):
        raise InvalidParameter("paths_or_texts", name="paths")
    found = find_repeats(
        dict(texts) if texts else [Path(path) for path in paths],
        progress=work.progress,
        **dict(options or {}),
    ).to_dict()
    if out:
        _write(Path(out), found)
    return found
