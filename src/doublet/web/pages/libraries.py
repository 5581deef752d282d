"""Libraries: where they come from, their documents and duplicates, and the queue that fills them (L5, L6, L8)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from doublet.errors import UnknownLibrary
from doublet.jobs.queue.kinds import enqueue
from doublet.progress import Progress
from doublet.store.models import Document
from doublet.store.values import JobInfo, LibraryInfo, SourceInfo
from doublet.web.accounts import audit
from doublet.web.pages import searching
from doublet.web.store import store
from doublet.web.words import Words, words_of
from doublet.web.works import checking

PAGE = 50
GOOD = ("stored", "unchanged", "changed", "duplicate", "gone", "removed")
READER_CHARACTERS = 60_000  #: of a document on one page of the reader


def libraries(request: HttpRequest) -> HttpResponse:
    found = store().libraries.all()
    jobs = _active()
    rows = [{"info": info, "job": jobs.get(info.name), "bad": _problems(info)} for info in found]
    totals = {
        "documents": sum(info.documents for info in found),
        "words": sum(info.words for info in found),
        "size": sum(info.size_bytes for info in found),
    }
    return render(request, "doublet/pages/libraries.html", {"rows": rows, "totals": totals})


def _active() -> dict[str, JobInfo]:
    return {job.library: job for job in reversed(store().jobs.find(("new", "running"))) if job.library}


def _problems(info: LibraryInfo) -> int:
    return sum(number for state, number in info.outcomes.items() if state not in GOOD)


def named_library(name: str) -> LibraryInfo:
    try:
        return store().libraries.get(name)
    except UnknownLibrary as error:
        raise Http404 from error


def library(request: HttpRequest, name: str) -> HttpResponse:
    return render(request, "doublet/pages/library.html", _library_context(request, name))


def library_state(request: HttpRequest, name: str) -> HttpResponse:
    """The live part of the page of a library that is being filled."""
    return render(request, "doublet/pages/library_state.html", _library_context(request, name))


def _library_context(request: HttpRequest, name: str) -> dict[str, Any]:
    info = named_library(name)
    words = words_of(request)
    outcomes = sorted(info.outcomes.items(), key=lambda one: -one[1])
    most = max((number for _, number in outcomes), default=1)
    jobs = store().jobs.find(library=name, limit=10)
    return {
        "info": info,
        "active": any(not job.over for job in jobs),
        "sources": [_source_row(one, words) for one in store().sources.all(info.number)],
        "jobs": [job_row(job, words) for job in jobs],
        "outcomes": [
            {
                "name": words.outcome(state),
                "number": number,
                "width": round(300 * number / most, 1),
                "bad": state not in GOOD,
            }
            for state, number in outcomes
        ],
    }


def _source_row(info: SourceInfo, words: Words) -> dict[str, Any]:
    """A source with why its last walk ended early and, of a site, what became of its pages."""
    pages = store().frontier.counts(info.number) if info.kind == "crawl" else {}
    return {
        "info": info,
        "message": words.sentence(info.message) if info.message else "",
        "pages": [
            {"name": words.name("page_state", state), "number": number}
            for state, number in sorted(pages.items(), key=lambda one: -one[1])
        ],
    }


@require_POST
def update(request: HttpRequest, name: str) -> HttpResponse:
    info = named_library(name)
    user: Any = request.user
    enqueue(store(), "fill", {"library": info.name}, asked_by=user.get_username())
    audit.note(request, "library_filled", info.name)
    messages.success(request, words_of(request)("library.queued"))
    return redirect("library", info.name)


@require_POST
def delete(request: HttpRequest, name: str) -> HttpResponse:
    info = named_library(name)
    words = words_of(request)
    if request.POST.get("name", "") != info.name:
        messages.error(request, words("library.delete_wrong"))
        return redirect("library", info.name)
    user: Any = request.user
    enqueue(store(), "delete", {"library": info.name}, asked_by=user.get_username())
    audit.note(request, "library_deleted", info.name)
    messages.success(request, words("library.delete_queued", name=info.name))
    return redirect("libraries")


def looked_for(info: LibraryInfo, asked: str, who: str) -> tuple[QuerySet[Document], int]:
    """Documents whose title, name or words have what is *asked* for (nothing: all), the newest first; and how many are
    not searched by their words yet: those become findable by a job."""
    # With the plus the newest are read until there are enough, instead of sorting a whole library for one page.
    rows = Document.objects.extra(where=["+library_id = %s"], params=[info.number]).order_by("-id")
    if not asked:
        return rows, 0
    missing = searching.missing(info.number, info.documents)
    if missing and missing <= searching.AT_ONCE:
        searching.index_some(info.number, Progress())
        missing = 0
    elif missing:
        parameters = {"library": info.name}
        key = f"search {info.number} {info.changes}"
        store().jobs.add(searching.JOB, parameters, library=info.name, key=key, asked_by=who)
    found = Q(pk__in=searching.find(info.number, asked))
    return rows.filter(Q(title__icontains=asked) | Q(name__icontains=asked) | found), missing


def documents(request: HttpRequest, name: str) -> HttpResponse:
    """Documents of a library, looked for by title, name, or the words in them."""
    info = named_library(name)
    user: Any = request.user
    asked = request.GET.get("q", "").strip()[:500]
    rows, missing = looked_for(info, asked, user.get_username())
    before = request.GET.get("before", "")
    if before.isdecimal() and len(before) < 19:
        rows = rows.filter(pk__lt=int(before))
    found = list(rows[: PAGE + 1])
    shown = found[:PAGE]
    older = {"before": shown[-1].pk} if len(found) > PAGE else {}
    texts = store().documents.texts([one.pk for one in shown]) if asked else {}
    for one in shown:
        one.snippet = searching.snippet(texts.get(one.pk, "")[:READER_CHARACTERS], asked) if asked else []
    return render(
        request,
        "doublet/pages/documents.html",
        {
            "info": info,
            "documents": shown,
            "asked": asked,
            "missing": missing,
            "first": urlencode({"q": asked}) if before else None,
            "older": urlencode({"q": asked, **older}) if older else "",
        },
    )


def document(request: HttpRequest, name: str) -> HttpResponse:
    """A document as it was read, a part at a time."""
    info = named_library(name)
    id = request.GET.get("id", "")
    found = store().documents.get(info.name, id)
    if found is None:
        raise Http404
    text = store().documents.texts([found.number]).get(found.number, "")
    if request.method == "POST":
        store().documents.remove(info.name, [id])
        audit.note(request, "document_removed", f"{info.name}/{id}")
        return redirect("library-documents", info.name)
    parts = max(1, -(-len(text) // READER_CHARACTERS))
    try:
        part = min(max(1, int(request.GET.get("part", "1"))), parts)
    except ValueError:
        part = 1
    shown = text[(part - 1) * READER_CHARACTERS : part * READER_CHARACTERS]
    return render(
        request,
        "doublet/pages/document.html",
        {"info": info, "document": found, "text": shown, "part": part, "parts": parts},
    )


def queue(request: HttpRequest) -> HttpResponse:
    return render(request, "doublet/pages/queue.html", _queue_context(request))


def queue_rows(request: HttpRequest) -> HttpResponse:
    return render(request, "doublet/pages/queue_rows.html", _queue_context(request))


def _queue_context(request: HttpRequest) -> dict[str, Any]:
    words = words_of(request)
    room = store().jobs
    return {
        "active": [job_row(job, words) for job in reversed(room.find(("new", "running"), limit=200))],
        "ended": [job_row(job, words) for job in room.find(("done", "failed", "cancelled"), limit=30)],
        "counts": room.counts(),
    }


def job_row(job: JobInfo, words: Words) -> dict[str, Any]:
    return {
        "job": job,
        "what": words(f"job.{job.kind}") if words.has(f"job.{job.kind}") else job.kind,
        "stage": words.stage(job.stage) if job.stage else "",
        "message": words.job_message(job),
    }


@require_POST
def queue_cancel(request: HttpRequest, number: int) -> HttpResponse:
    store().jobs.cancel(number)
    checking.job_taken_out(number)
    audit.note(request, "job_cancelled", str(number))
    return _back(request)


@require_POST
def queue_retry(request: HttpRequest, number: int) -> HttpResponse:
    store().jobs.retry(number)
    audit.note(request, "job_retried", str(number))
    return _back(request)


@require_POST
def queue_pause(request: HttpRequest, number: int) -> HttpResponse:
    store().jobs.pause(number)
    audit.note(request, "job_paused", str(number))
    return _back(request)


@require_POST
def queue_resume(request: HttpRequest, number: int) -> HttpResponse:
    store().jobs.resume(number)
    audit.note(request, "job_resumed", str(number))
    return _back(request)


def _back(request: HttpRequest) -> HttpResponse:
    """To the page on which the button was: that of a library, of evaluations, else the queue."""
    name = request.POST.get("back", "")
    if name == reverse("evaluation"):
        return redirect(name)
    return redirect("library", name) if name else redirect("queue")
