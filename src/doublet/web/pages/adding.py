"""Adding to a library: a site by the robot (with a preview of what it would do), addresses of other kinds, an upload, a
folder of the server, or a list of many libraries (L1, L7, L9)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from doublet.crawl.plan import Plan
from doublet.errors import UnknownJob
from doublet.jobs.queue.kinds import enqueue
from doublet.sources.kinds import WEB_KINDS
from doublet.store.values import JobInfo
from doublet.web.accounts import audit
from doublet.web.configure import program_settings
from doublet.web.store import store
from doublet.web.words import Words, words_of
from doublet.web.works.models import Upload

WAYS = ("site", "address", "upload", "folder", "list")
PREVIEW = "preview_site"
LISTS = "add_list"
_ADDRESS = re.compile(r"https?://[^\s/]+")


class Lines(forms.CharField):
    """Texts, one in a line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=20_000, required=False, **options)

    def clean(self, value: Any) -> list[str]:
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]


class AddForm(forms.Form):
    """A new library, or something more for one that there is."""

    way = forms.ChoiceField(choices=[(one, one) for one in WAYS])
    name = forms.CharField(max_length=200, required=False)
    note = forms.CharField(max_length=500, required=False)
    # a site
    site = forms.CharField(max_length=2_000, required=False)
    only = Lines()
    examples = Lines()
    skip = Lines()
    limit = forms.IntegerField(min_value=1, max_value=10_000_000, required=False)
    subdomains = forms.BooleanField(required=False)
    # addresses of other kinds
    addresses = Lines()
    kind = forms.ChoiceField(choices=[(one, one) for one in ("auto", *WEB_KINDS)], required=False)
    # files
    file = forms.FileField(required=False, allow_empty_file=True)
    folder = forms.CharField(max_length=2_000, required=False)
    list_file = forms.FileField(required=False, allow_empty_file=True)
    list_text = forms.CharField(max_length=200_000, required=False)

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        way = data.get("way")
        if way is None:
            return data
        if way != "list" and not data.get("name"):
            self.add_error("name", ValidationError("name", code="required"))
        given = {
            "site": data.get("site"),
            "address": data.get("addresses"),
            "upload": data.get("file"),
            "folder": data.get("folder"),
            "list": data.get("list_file") or data.get("list_text"),
        }[way]
        if not given:
            self.add_error(None, ValidationError(way, code=f"nothing_{way}"))
        asked = {"site": [data.get("site") or ""], "address": data.get("addresses") or []}.get(way, [])
        for address in [*asked, *(data.get("examples") or [] if way == "site" else [])]:
            if address and not _ADDRESS.match(address):
                self.add_error(None, ValidationError(address, code="not_an_address"))
        if way == "folder" and data.get("folder"):
            try:
                data["folder"] = allowed_folder(data["folder"])
            except ValidationError as error:
                self.add_error("folder", error)
        return data


def allowed_folder(given: str) -> str:
    """The folder, if it lies in one that the owner of the installation opened. Links do not lead out of it."""
    place = Path(given).resolve()
    for root in settings.DOUBLET.folders:
        if place == root.resolve() or root.resolve() in place.parents:
            if place.is_dir():
                return str(place)
            raise ValidationError(given, code="no_folder")
    raise ValidationError(given, code="folder_not_allowed")


def add(request: HttpRequest) -> HttpResponse:
    """Make a library and queue what is to fill it; or look first at what the robot would do."""
    words = words_of(request)
    form = AddForm(request.POST or None, request.FILES or None)
    problems: list[str] = []
    if request.method == "POST":
        if form.is_valid():
            return _begin(request, form.cleaned_data)
        problems = [
            words(f"library.wrong.{error.code}", what=error.message)
            for errors in form.errors.as_data().values()
            for error in errors
            if words.has(f"library.wrong.{error.code}")
        ] or [words("form.wrong")]
    way = request.POST.get("way") or request.GET.get("way", "")
    return render(
        request,
        "doublet/pages/library_add.html",
        {
            "form": form,
            "way": way if way in WAYS else "site",
            "ways": WAYS,
            "kinds": WEB_KINDS,
            "problems": problems,
            "folders": settings.DOUBLET.folders,
            "limit": words.size(settings.DOUBLET.upload_limit),
            "chosen": request.GET.get("name", ""),
            "contact": program_settings(settings.DOUBLET).contact,
        },
        status=422 if problems else 200,
    )


def _begin(request: HttpRequest, data: dict[str, Any]) -> HttpResponse:
    user: Any = request.user
    words = words_of(request)
    who = user.get_username()
    if data["way"] == "site" and request.POST.get("do") == "preview":
        job = store().jobs.add(PREVIEW, {**_wish(data), "note": data["note"]}, priority=5, asked_by=who)
        return redirect("library-preview", job.number)
    if data["way"] == "list":
        file = data["list_file"]
        content = file.read() if file else data["list_text"].encode("utf-8", "replace")
        with transaction.atomic():
            name = str(file.name) if file else "addresses.txt"
            upload = Upload.keep(name[:300], content)
            store().jobs.add(LISTS, {"upload": upload.pk, "name": upload.name}, asked_by=who)
        audit.note(request, "library_filled", upload.name)
        messages.success(request, words("library.list_queued"))
        return redirect("queue")
    make_library(request, data["name"], data["note"])
    if data["way"] == "site":
        start_crawl(request, _wish(data))
    elif data["way"] == "upload":
        queue_upload(data["name"], data["file"], who)
    else:
        given = data["addresses"] if data["way"] == "address" else [data["folder"]]
        kind = (data["kind"] or "auto") if data["way"] == "address" else "auto"
        for address in given:
            enqueue(
                store(), "fill", {"library": data["name"], "address": address, "kind": kind}, asked_by=who
            )
    audit.note(request, "library_filled", data["name"])
    messages.success(request, words("library.queued"))
    return redirect("library", data["name"])


def queue_upload(library: str, file: Any, who: str, key: str | None = None) -> JobInfo:
    """The upload and the job that reads it are written in one step: neither is there without the other."""
    with transaction.atomic():
        upload = Upload.keep(str(file.name)[:300], file.read())
        return store().jobs.add(
            "fill_upload",
            {"library": library, "upload": upload.pk, "name": upload.name},
            library=library,
            asked_by=who,
            key=key,
        )


def _wish(data: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the robot's job."""
    wish = {name: data[name] for name in ("only", "examples", "skip", "limit", "subdomains") if data[name]}
    return {"library": data["name"], "address": data["site"], **wish}


def make_library(request: HttpRequest, name: str, note: str = "") -> None:
    if name not in {info.name for info in store().libraries.all()}:
        store().libraries.create(name, note=note)
        audit.note(request, "library_added", name)


def start_crawl(request: HttpRequest, wish: dict[str, Any]) -> JobInfo:
    user: Any = request.user
    return enqueue(store(), "crawl", wish, asked_by=user.get_username())


def preview(request: HttpRequest, number: int) -> HttpResponse:
    """What the robot would do on a site: live while it looks, then the plan, which is started from here."""
    try:
        job = store().jobs.get(number)
    except UnknownJob as error:
        raise Http404 from error
    if job.kind != PREVIEW:
        raise Http404
    words = words_of(request)
    wish = {name: value for name, value in job.parameters.items() if name != "note"}
    if request.method == "POST":
        if request.POST.get("do") == "stop":
            store().jobs.cancel(number)
            return redirect("library-add")
        make_library(request, wish["library"], str(job.parameters.get("note", "")))
        start_crawl(request, wish)
        audit.note(request, "library_filled", wish["library"])
        messages.success(request, words("library.queued"))
        return redirect("library", wish["library"])
    context = {
        "job": job,
        "wish": wish,
        "stage": words.stage(job.stage) if job.stage else "",
        "problem": words.job_message(job) if job.state == "failed" else "",
        "plan": _shown(Plan.from_dict(job.result), words) if job.state == "done" and job.result else None,
    }
    part = request.headers.get("HX-Request")
    return render(request, f"doublet/pages/{'preview_state' if part else 'library_preview'}.html", context)


def _shown(plan: Plan, words: Words) -> dict[str, Any]:
    """The plan as a page shows it."""
    return {
        "plan": plan,
        "patterns": [
            {
                "text": one.text,
                "examples": one.examples[:3],
                "how": words(
                    "preview.counted" if plan.numbers is None else "preview.range",
                    low=words.number(one.low),
                    high=words.number(one.high),
                )
                if place in plan.counted
                else words("preview.walked"),
            }
            for place, one in enumerate(plan.patterns)
        ],
        "skipped": [{"text": one.text, "why": words.name("page_reason", why)} for one, why in plan.skipped],
        "lists": len(plan.sitemaps) + len(plan.feeds),
        "takes": words.duration(plan.seconds) if plan.seconds is not None else "",
        "delay": f"{plan.delay_s:g}",
    }
