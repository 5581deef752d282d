"""Libraries: where they come from, their documents and duplicates, and the queue that fills them (L5, L6, L8)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from doublet.errors import UnknownLibrary
from doublet.jobs.queue.kinds import enqueue
from doublet.store.models import Document
from doublet.store.values import JobInfo, LibraryInfo
from doublet.web.accounts import audit
from doublet.web.store import store
from doublet.web.words import Words, words_of
from doublet.web.works.models import Upload

PAGE = 50
GOOD = ("stored", "unchanged", "changed", "duplicate", "gone", "removed")
KINDS = ("site", "page", "sitemap", "feed", "oai", "wiki")  #: of addresses; empty: told from the address
READER_CHARACTERS = 60_000  #: of a document on one page of the reader


class LibraryForm(forms.Form):
    """A new library, or something more for one that there is."""

    name = forms.CharField(max_length=200)
    note = forms.CharField(max_length=500, required=False)
    addresses = forms.CharField(max_length=20_000, required=False)
    folder = forms.CharField(max_length=2_000, required=False)
    file = forms.FileField(required=False, allow_empty_file=True)

    def clean_addresses(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["addresses"].splitlines() if line.strip()]
        for line in lines:
            if not re.match(r"https?://[^\s/]+", line):
                raise ValidationError(line, code="not_an_address")
        return lines

    def clean_folder(self) -> str:
        return allowed_folder(self.cleaned_data["folder"]) if self.cleaned_data["folder"] else ""


def allowed_folder(given: str) -> str:
    """The folder, if it lies in one that the owner of the installation opened. Links do not lead out of it."""
    place = Path(given).resolve()
    for root in settings.DOUBLET.folders:
        if place == root.resolve() or root.resolve() in place.parents:
            if place.is_dir():
                return str(place)
            raise ValidationError(given, code="no_folder")
    raise ValidationError(given, code="folder_not_allowed")


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


def _library(name: str) -> LibraryInfo:
    try:
        return store().libraries.get(name)
    except UnknownLibrary as error:
        raise Http404 from error


def add(request: HttpRequest) -> HttpResponse:
    """Make a library and queue what is to fill it."""
    words = words_of(request)
    form = LibraryForm(request.POST or None, request.FILES or None)
    problems: list[str] = []
    if request.method == "POST":
        if form.is_valid():
            data = form.cleaned_data
            names = {info.name for info in store().libraries.all()}
            if data["name"] not in names:
                store().libraries.create(data["name"], note=data["note"])
                audit.note(request, "library_added", data["name"])
            if _queue(request, data["name"], data):
                audit.note(request, "library_filled", data["name"])
                messages.success(request, words("library.queued"))
            return redirect("library", data["name"])
        problems = [
            words(f"library.wrong.{error.code}", what=error.message)
            for errors in form.errors.as_data().values()
            for error in errors
            if words.has(f"library.wrong.{error.code}")
        ] or [words("form.wrong")]
    return render(
        request,
        "doublet/pages/library_add.html",
        {
            "form": form,
            "problems": problems,
            "folders": settings.DOUBLET.folders,
            "limit": words.size(settings.DOUBLET.upload_limit),
            "chosen": request.GET.get("name", ""),
        },
    )


def _queue(request: HttpRequest, name: str, data: dict[str, Any]) -> int:
    """Put the filling of a library into the queue; gives how many jobs were added."""
    user: Any = request.user
    inputs = [*data["addresses"], *([data["folder"]] if data["folder"] else [])]
    made = 0
    for address in inputs:
        enqueue(store(), "fill", {"library": name, "address": address}, asked_by=user.get_username())
        made += 1
    if data["file"]:
        upload = Upload.objects.create(
            name=data["file"].name, size=data["file"].size, data=data["file"].read()
        )
        store().jobs.add(
            "fill_upload",
            {"library": name, "upload": upload.pk, "name": upload.name},
            library=name,
            asked_by=user.get_username(),
        )
        made += 1
    return made


def library(request: HttpRequest, name: str) -> HttpResponse:
    info = _library(name)
    words = words_of(request)
    outcomes = sorted(info.outcomes.items(), key=lambda one: -one[1])
    most = max((number for _, number in outcomes), default=1)
    return render(
        request,
        "doublet/pages/library.html",
        {
            "info": info,
            "sources": store().sources.all(info.number),
            "jobs": [_job_row(job, words) for job in store().jobs.find(library=name, limit=10)],
            "outcomes": [
                {
                    "name": words(f"outcome.{state}") if words.has(f"outcome.{state}") else state,
                    "number": number,
                    "width": round(300 * number / most, 1),
                    "bad": state not in GOOD,
                }
                for state, number in outcomes
            ],
        },
    )


@require_POST
def update(request: HttpRequest, name: str) -> HttpResponse:
    info = _library(name)
    user: Any = request.user
    enqueue(store(), "fill", {"library": info.name}, asked_by=user.get_username())
    audit.note(request, "library_filled", info.name)
    messages.success(request, words_of(request)("library.queued"))
    return redirect("library", info.name)


@require_POST
def delete(request: HttpRequest, name: str) -> HttpResponse:
    info = _library(name)
    words = words_of(request)
    if request.POST.get("name", "") != info.name:
        messages.error(request, words("library.delete_wrong"))
        return redirect("library", info.name)
    user: Any = request.user
    enqueue(store(), "delete", {"library": info.name}, asked_by=user.get_username())
    audit.note(request, "library_deleted", info.name)
    messages.success(request, words("library.delete_queued", name=info.name))
    return redirect("libraries")


def documents(request: HttpRequest, name: str) -> HttpResponse:
    """Documents of a library, looked for by title or id."""
    info = _library(name)
    asked = request.GET.get("q", "").strip()
    rows = Document.objects.filter(library_id=info.number).order_by("-id")
    if asked:
        rows = rows.filter(title__icontains=asked) | rows.filter(name__icontains=asked)
    page = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    return render(request, "doublet/pages/documents.html", {"info": info, "page": page, "asked": asked})


def document(request: HttpRequest, name: str) -> HttpResponse:
    """A document as it was read, a part at a time."""
    info = _library(name)
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
        "active": [_job_row(job, words) for job in reversed(room.find(("new", "running"), limit=200))],
        "ended": [_job_row(job, words) for job in room.find(("done", "failed", "cancelled"), limit=30)],
        "counts": room.counts(),
    }


def _job_row(job: JobInfo, words: Words) -> dict[str, Any]:
    return {
        "job": job,
        "what": words(f"job.{job.kind}") if words.has(f"job.{job.kind}") else job.kind,
        "stage": words.stage(job.stage) if job.stage else "",
        "message": words.job_message(job),
    }


@require_POST
def queue_cancel(request: HttpRequest, number: int) -> HttpResponse:
    store().jobs.cancel(number)
    audit.note(request, "job_cancelled", str(number))
    return redirect((request.POST.get("back") == "home" and "home") or "queue")


@require_POST
def queue_retry(request: HttpRequest, number: int) -> HttpResponse:
    store().jobs.retry(number)
    audit.note(request, "job_retried", str(number))
    return redirect("queue")


def duplicates(request: HttpRequest, name: str) -> HttpResponse:
    """Groups of duplicates that the last search found; administrators start a search and take documents out."""
    info = _library(name)
    words = words_of(request)
    user: Any = request.user
    if request.method == "POST":
        if request.POST.get("do") == "search":
            enqueue(store(), "duplicates", {"libraries": [info.name]}, asked_by=user.get_username())
            messages.success(request, words("duplicates.queued"))
        elif request.POST.get("do") == "remove":
            gone = store().documents.remove(info.name, [request.POST.get("id", "")])
            for one in gone:
                audit.note(request, "duplicate_decided", f"{info.name}/{one}", decision="removed")
            messages.success(request, words("duplicates.removed", number=len(gone)))
        return redirect("library-duplicates", info.name)
    jobs = store().jobs.find(library=info.name, kind="duplicates", limit=1)
    last = jobs[0] if jobs else None
    groups: list[Any] = []
    if last is not None and last.state == "done":
        result = last.result if isinstance(last.result, dict) else json.loads(last.result or "{}")
        groups = result.get("groups", [])
    page = Paginator(groups, 20).get_page(request.GET.get("page"))
    return render(
        request,
        "doublet/pages/duplicates.html",
        {"info": info, "last": _job_row(last, words) if last else None, "page": page, "groups": len(groups)},
    )
