"""Repeats inside a document: hand one in, walk through what it repeats, decide what to merge."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.request import RawPostDataException
from django.shortcuts import redirect, render
from django.urls import reverse

from doublet.errors import InvalidParameter
from doublet.repeats.baseline import check_baseline
from doublet.repeats.decisions import check_decisions
from doublet.repeats.model import OPTION_NAMES, RepeatOptions
from doublet.web import errors
from doublet.web.accounts import audit
from doublet.web.rights import own
from doublet.web.store import store
from doublet.web.words import words_of
from doublet.web.works import checking
from doublet.web.works.checks import state_context
from doublet.web.works.models import DONE, RepeatsSearch, Upload

DECISIONS = ("merge", "keep", "ignore")
MOST_DECISIONS = 20_000
ALGORITHMS = ("auto", "exact", "edit", "ngrams")


class RepeatsForm(forms.Form):
    file = forms.FileField(allow_empty_file=True)
    algorithm = forms.ChoiceField(choices=[(one, one) for one in ALGORITHMS])


def repeats(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    form = RepeatsForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        search = begin(
            user, file.name, file.read(), form.cleaned_data["algorithm"], words_of(request).language
        )
        audit.note(request, "repeats_searched", search.title)
        return redirect("repeats-result", search.pk)
    if request.method == "POST" and request.POST.get("library"):
        library, id = request.POST["library"], request.POST.get("id", "")
        known = store().documents.get(library, id)
        if known is None:
            raise Http404
        text = store().documents.texts([known.number]).get(known.number, "")
        search = begin(
            user,
            f"{(known.title or known.id)[:250]}.txt",
            text.encode("utf-8", "replace"),
            "auto",
            words_of(request).language,
        )
        audit.note(request, "repeats_searched", search.title)
        return redirect("repeats-result", search.pk)
    rows = RepeatsSearch.objects.defer("result", "found")
    return render(
        request,
        "doublet/pages/repeats.html",
        {
            "form": form,
            "searches": (rows if user.is_administrator else rows.filter(owner=user))[:30],
            "algorithms": ALGORITHMS,
            "limit": words_of(request).size(settings.DOUBLET.upload_limit),
        },
    )


def read_options(text: str) -> dict[str, Any]:
    """Parameters of a search as REST takes them. Raises `InvalidParameter`."""
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise InvalidParameter("options_not_json", name="options")
    known = (*OPTION_NAMES, "baseline", "decisions", "listed")
    for name in given:
        if name not in known or name == "algorithm":
            raise InvalidParameter("one_of", name="options", value=str(name)[:80], known=list(known))
    options = {name: value for name, value in given.items() if name in OPTION_NAMES}
    try:
        RepeatOptions(**options)
    except TypeError as error:
        raise InvalidParameter("options_not_json", name="options") from error
    for name, check in (("baseline", check_baseline), ("decisions", check_decisions)):
        if given.get(name) is not None:
            check(given[name], name)
    return given


def begin(
    owner: Any,
    name: str,
    content: bytes,
    algorithm: str,
    language: str,
    options: dict[str, Any] | None = None,
    key: str = "",
) -> RepeatsSearch:
    """Keep a document and put the search into the queue. The page will be in *language*."""
    with transaction.atomic():
        upload = Upload.keep(name, content)
        search = RepeatsSearch.objects.create(
            owner=owner,
            title=name,
            upload=upload,
            options={"algorithm": algorithm, "language": language, "more": options or {}, "key": key},
        )
    checking.begin_search(search)
    return search


def decisions(request: HttpRequest, id: Any) -> HttpResponse:
    """What somebody decided about the groups: read as JSON, or kept from the page of repeats."""
    search = own(RepeatsSearch.objects.all(), request.user, pk=id)
    if request.method == "POST":
        try:
            given = json.loads(request.body)
        except (ValueError, RawPostDataException):  # not JSON, or a form
            given = None
        if not isinstance(given, dict) or len(given) > MOST_DECISIONS:
            return errors.show(request, 400, "bad_request")
        kept = {str(key)[:200]: value for key, value in given.items() if value in DECISIONS}
        RepeatsSearch.objects.filter(pk=search.pk).update(decisions=kept)
        search.decisions = kept
    return JsonResponse({"format": 1, "decisions": search.decisions})


def result(request: HttpRequest, id: Any) -> HttpResponse:
    search = own(RepeatsSearch.objects.all(), request.user, pk=id)
    checking.catch_up(search)
    here = reverse("repeats-result", args=[search.pk])
    if search.state == DONE and request.GET.get("page") == "1":
        if search.result is None:
            raise Http404
        response = HttpResponse(checking.unpacked(search.result), content_type="text/html; charset=utf-8")
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; sandbox allow-scripts "
            "allow-downloads; frame-ancestors 'self'"
        )
        response.headers["X-Frame-Options"] = "SAMEORIGIN"
        return response
    context = state_context(request, search, here, here, here)
    if request.headers.get("HX-Request"):
        return render(request, "doublet/works/state.html", context)
    return render(request, "doublet/pages/repeats_result.html", {**context, "search": search})
