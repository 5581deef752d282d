"""What a library holds, as pictures (L6): documents by year, language, source and length, and its frequent words.

Counting reads every document, so it is a job; what it found is kept until the library changes.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from doublet.jobs.library_statistics import count_parts, frequent_words
from doublet.jobs.queue.kinds import Work
from doublet.store.values import JobInfo, LibraryInfo
from doublet.web.pages.libraries import job_row, named_library
from doublet.web.store import store
from doublet.web.words import Words, words_of

JOB = "library_statistics"
KINDS = ("year", "language", "source", "folder")  #: of parts that are counted
VERSION = 2  #: of what a job tells
ROWS = 15  #: of one picture; the rest are added up
WORDS = 30  #: on the page
KEPT = 1_000  #: words that programs can have
LENGTHS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)  #: words of a document, upper edges
WIDTH = 300


def count(work: Work, *, library: str) -> dict[str, Any]:
    """A job: all counts of a library."""
    counted = work.store.libraries.statistics(library)
    lengths = [0] * (len(LENGTHS) + 1)
    for one in work.store.documents.all(library):
        lengths[sum(one.words >= edge for edge in LENGTHS)] += 1
    return {
        "library": library,
        "changes": work.store.libraries.get(library).changes,
        "documents": counted.documents,
        "words": counted.words,
        "distinct_words": len(counted),
        "lengths": lengths,
        **{
            by: [part.to_dict() for part in count_parts(work.store, library, by, progress=work.progress)]
            for by in KINDS
        },
        "top": [one.to_dict() for one in frequent_words(work.store, library, KEPT)],
    }


def queue(info: LibraryInfo, asked_by: str) -> JobInfo:
    """The job that counts a library as it is now; one for all who ask."""
    return store().jobs.add(
        JOB,
        {"library": info.name},
        library=info.name,
        key=f"statistics {info.number} {info.changes} {VERSION}",
        asked_by=asked_by,
    )


def statistics(request: HttpRequest, name: str) -> HttpResponse:
    info = named_library(name)
    words = words_of(request)
    user: Any = request.user
    if request.method == "POST":
        queue(info, user.get_username())
        return redirect("library-statistics", info.name)
    jobs = store().jobs.find(library=info.name, kind=JOB, limit=5)
    active = next((one for one in jobs if not one.over), None)
    done = next((one for one in jobs if one.state == "done" and "top" in one.result), None)
    context: dict[str, Any] = {"info": info, "active": job_row(active, words) if active else None}
    if done is not None:
        result = done.result
        context |= {
            "old": result["changes"] != info.changes,
            "ended": done.ended,
            "charts": [_chart(by, result[by], words) for by in ("year", "language", "source")],
            "lengths": _bars(_lengths(result["lengths"], words)),
            "words": _columns(_bars([(one["word"], one["df"]) for one in result["top"][:WORDS]])),
        }
    return render(request, "doublet/pages/statistics.html", context)


def _lengths(counts: list[int], words: Words) -> list[tuple[str, int]]:
    while len(counts) > 1 and not counts[-1]:  # nothing is that long
        counts = counts[:-1]
    names = [words("statistics.up_to", number=words.number(edge)) for edge in LENGTHS]
    names.append(words("statistics.more", number=words.number(LENGTHS[-1])))
    return list(zip(names, counts, strict=False))


def _chart(by: str, parts: list[dict[str, Any]], words: Words) -> dict[str, Any]:
    rows = [(_name(by, one["name"], words), one["documents"]) for one in parts]
    shown = rows[-ROWS:] if by == "year" else rows[:ROWS]
    rest = sum(number for _, number in rows) - sum(number for _, number in shown)
    if rest:
        shown = [*shown, (words("statistics.rest"), rest)]
    return {"title": words(f"statistics.{by}"), "rows": _bars(shown)}


def _name(by: str, name: str, words: Words) -> str:
    if not name:
        return words("statistics.unknown")
    return words.name("language", name) if by == "language" else name


def _bars(rows: list[tuple[str, int]]) -> list[dict[str, Any]]:
    most = max((number for _, number in rows), default=0) or 1
    return [
        {"name": name, "number": number, "width": round(WIDTH * number / most, 1)} for name, number in rows
    ]


def _columns(rows: list[dict[str, Any]], number: int = 3) -> list[list[dict[str, Any]]]:
    height = -(-len(rows) // number) or 1
    return [rows[start : start + height] for start in range(0, len(rows), height)]
