"""Duplicates inside a library and between libraries (L8): groups side by side, and decisions that are remembered."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from doublet.jobs.queue.kinds import enqueue
from doublet.store.values import JobInfo
from doublet.web.accounts import audit
from doublet.web.pages.libraries import job_row, named_library
from doublet.web.pages.models import DuplicateDecision, Place
from doublet.web.store import store
from doublet.web.words import words_of
from doublet.web.works.side import side_by_side

PAGE = 20
SLASH = "∕"  # what `jobs.library_duplicates` writes for a slash in the name of a library


def inside(request: HttpRequest, name: str) -> HttpResponse:
    """Groups of one library that the last search found."""
    info = named_library(name)
    if request.method == "POST":
        if request.POST.get("do") == "search":
            _search(request, [info.name], between=False)
        else:
            act(request)
        return redirect(request.get_full_path())
    jobs = store().jobs.find(library=info.name, kind="duplicates", limit=20)
    last = next((one for one in jobs if not one.parameters.get("between")), None)
    return _show(request, last, [info.name], {"info": info})


def between(request: HttpRequest) -> HttpResponse:
    """Groups with documents of several libraries."""
    known = [info.name for info in store().libraries.all()]
    if request.method == "POST":
        if request.POST.get("do") == "search":
            chosen = [name for name in request.POST.getlist("libraries") if name in known]
            if len(chosen) < 2:
                messages.error(request, words_of(request)("duplicates.two"))
            else:
                _search(request, chosen, between=True)
        else:
            act(request)
        return redirect(request.get_full_path())
    jobs = store().jobs.find(kind="duplicates", limit=100)
    last = next((one for one in jobs if one.parameters.get("between")), None)
    chosen = list(last.parameters.get("libraries") or known) if last else known
    return _show(request, last, chosen, {"known": known, "chosen": chosen})


def _search(request: HttpRequest, libraries: list[str], *, between: bool) -> None:
    user: Any = request.user
    options = {"between": True} if between else {}
    enqueue(store(), "duplicates", {"libraries": libraries, **options}, asked_by=user.get_username())
    messages.success(request, words_of(request)("duplicates.queued"))


def act(request: HttpRequest) -> None:
    """Remove a document, decide about a pair, or take a decision back."""
    words = words_of(request)
    given = request.POST
    a = (given.get("a_library", ""), given.get("a", ""))
    b = (given.get("b_library", ""), given.get("b", ""))
    do = given.get("do", "")
    if do == "remove":
        gone = store().documents.remove(b[0], [b[1]])
        for one in gone:
            audit.note(request, "duplicate_decided", f"{b[0]}/{one}", decision="removed")
        messages.success(request, words("duplicates.removed", number=len(gone)))
    elif do in DuplicateDecision.DECISIONS:
        DuplicateDecision.decide(a, b, do, request.user)
        audit.note(request, "duplicate_decided", f"{b[0]}/{b[1]}", decision=do)
    elif do == "undo":
        DuplicateDecision.objects.filter(key=DuplicateDecision.key_of(a, b)).delete()
        audit.note(request, "duplicate_decided", f"{b[0]}/{b[1]}", decision="undone")


def _show(
    request: HttpRequest, last: JobInfo | None, libraries: list[str], more: dict[str, Any]
) -> HttpResponse:
    words = words_of(request)
    groups: list[Any] = []
    if last is not None and last.state == "done":
        result = last.result if isinstance(last.result, dict) else json.loads(last.result or "{}")
        groups = result.get("groups", [])
    page = Paginator(groups, PAGE).get_page(request.GET.get("page"))
    rows = [_group(one, libraries) for one in page]
    decided = DuplicateDecision.of([(row["keep"], one["place"]) for row in rows for one in row["members"]])
    for row in rows:
        for one in row["members"]:
            one["decision"] = decided.get(DuplicateDecision.key_of(row["keep"], one["place"]))
        row["open"] = any(one["decision"] is None for one in row["members"])
    return render(
        request,
        "doublet/pages/duplicates.html",
        {
            **more,
            "last": job_row(last, words) if last else None,
            "page": page,
            "rows": rows,
            "groups": len(groups),
        },
    )


def _group(group: dict[str, Any], libraries: list[str]) -> dict[str, Any]:
    return {
        "keep": _place(group["keep"], libraries),
        "members": [{**one, "place": _place(one["id"], libraries)} for one in group["members"]],
    }


def _place(id: str, libraries: list[str]) -> Place:
    """Library and id of a document as a search names it."""
    if len(libraries) == 1:
        return libraries[0], id
    head, _, rest = id.partition("/")
    return next((name for name in libraries if name.replace("/", SLASH) == head), head), rest


@require_GET
def pair(request: HttpRequest) -> HttpResponse:
    """Two documents of libraries side by side."""
    places = [
        (request.GET.get("a_library", ""), request.GET.get("a", "")),
        (request.GET.get("b_library", ""), request.GET.get("b", "")),
    ]
    found = []
    for library, id in places:
        info = named_library(library)
        one = store().documents.get(info.name, id)
        if one is None:
            raise Http404
        found.append((one, store().documents.texts([one.number]).get(one.number, "")))
    result, fragments = side_by_side(found[0][1], found[1][1], words_of(request))
    return render(
        request,
        "doublet/pages/duplicate_pair.html",
        {"a": found[0][0], "b": found[1][0], "result": result, "fragments": fragments},
    )
