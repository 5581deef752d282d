"""From a form to a report: taking works in, watching them, finding, cancelling and deleting them."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import F, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from doublet.errors import DoubletError
from doublet.signatures import methods as known_methods
from doublet.web import errors
from doublet.web.accounts import audit
from doublet.web.rights import own
from doublet.web.store import store
from doublet.web.words import words_of
from doublet.web.works import checking
from doublet.web.works.forms import LEAVE_OUT, CheckForm
from doublet.web.works.lists import shown_works
from doublet.web.works.models import CANCELLED, ENDED, NEW, STATES, Group, Upload, Work
from doublet.web.works.quotas import over_quota
from doublet.web.works.unpacking import MOST_WORKS, documents_of

PAGE = 30
DEFAULT_OUT = ("quotations", "bibliography")


def check(request: HttpRequest) -> HttpResponse:
    """The form of a check; a short one is answered at once."""
    words = words_of(request)
    known = store().libraries.all()
    methods = [info.name for info in known_methods()]
    form = CheckForm(
        request.POST or None,
        request.FILES or None,
        libraries=[info.name for info in known],
        methods=["auto", "passages", *methods],
    )
    problems: list[str] = []
    if request.method == "POST":
        if form.is_valid():
            over = over_quota(request)
            return errors.show(request, 429, "quota", limit=over) if over else _take(request, form)
        found = [error.code for errors in form.errors.as_data().values() for error in errors]
        problems = [code for code in found if code and words.has(f"check.wrong.{code}")] or ["nothing"]
    return render(
        request,
        "doublet/works/check.html",
        {
            "form": form,
            "problems": problems,
            "libraries": known,
            "chosen": request.POST.getlist("libraries"),
            "chosen_out": request.POST.getlist("leave_out"),
            "leave_out": [
                {"name": one, "label": words.left_out(one), "default": one in DEFAULT_OUT}
                for one in LEAVE_OUT
            ],
            "methods": [
                {"name": info.name, "label": f"{info.name} – {words.method_title(info.name, info.title)}"}
                for info in sorted(known_methods(), key=lambda info: info.name != "auto")
            ],
            "limit": words.size(settings.DOUBLET.upload_limit),
        },
    )


def _take(request: HttpRequest, form: CheckForm) -> HttpResponse:
    """Store what was handed in, then check it now (one short document) or later."""
    data = form.cleaned_data
    words = words_of(request)
    files = data["files"] if data["given"] == "files" else []
    works = [one for file in files for one in documents_of(str(file.name or ""), file.read())]
    if data["given"] == "files" and (len(works) > 1 or (len(works) == 1 and len(files) == 1 and works[0][2])):
        if len(works) > MOST_WORKS:
            messages.error(request, words("check.wrong.too_many", number=MOST_WORKS))
            return redirect("check")
        return _take_group(request, form, works)
    content, name, title, kind = None, "", data["address"], data["given"]
    if data["given"] == "text":
        content = data["text"].encode("utf-8", "surrogatepass")
        title = " ".join(data["text"].split())[:80] or words("check.pasted")
    elif data["given"] == "files":
        if not works:
            return errors.show(request, 422, "nothing_read")
        name, content, _ = works[0]
        title, kind = PurePosixPath(name).name, "file"
    work, quick = checking.hand_in(
        request,
        content,
        name,
        title=data["title"] or title,
        author=data["author"],
        labels=data["labels"],
        kind=kind,
        address=data["address"],
        options=form.options,
    )
    checking.begin(work, quick=quick)
    return redirect("work", work.pk)


def _take_group(request: HttpRequest, form: CheckForm, works: list[tuple[str, bytes, bool]]) -> HttpResponse:
    user: Any = request.user
    data = form.cleaned_data
    with transaction.atomic():
        group = Group.objects.create(
            owner=user,
            title=data["title"] or timezone.localtime().strftime("%Y-%m-%d %H:%M"),
            options={**form.options, "among": data["among"]},
        )
        for name, content, _ in works:
            upload = Upload.keep(name, content)
            Work.objects.create(
                owner=user,
                group=group,
                title=PurePosixPath(name).name or name,
                labels=data["labels"],
                kind="file",
                upload=upload,
                options=form.options,
            )
    audit.note(request, "group_checked", group.title, works=len(works))
    checking.begin_group(group)
    return redirect("group", group.pk)


#: how the list can be ordered
ORDERS: dict[str, tuple[Any, ...]] = {
    "newest": ("-created_at",),  # as the index has them
    "borrowed": (F("borrowed").desc(nulls_last=True), "-created_at", "-pk"),
    "title": ("title", "-created_at", "-pk"),
}


def works(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    asked = {
        name: request.GET.get(name, "").strip()
        for name in ("q", "state", "label", "owner", "deleted", "order")
    }
    rows = Work.objects.select_related("owner").filter(deleted_at__isnull=not asked["deleted"])
    rows = rows if user.is_administrator else rows.filter(owner=user)
    if asked["q"]:
        rows = rows.filter(Q(title__icontains=asked["q"]) | Q(author__icontains=asked["q"]))
    if asked["state"] in STATES:
        rows = rows.filter(state=asked["state"])
    if asked["label"]:
        rows = rows.filter(labels__icontains=asked["label"])
    if asked["owner"] and user.is_administrator:
        rows = rows.filter(owner__username__icontains=asked["owner"])
    rows = rows.order_by(*ORDERS.get(asked["order"], ORDERS["newest"]))
    page = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    page.object_list = shown_works(page.object_list)
    query = request.GET.copy()
    query.pop("page", None)
    groups = Group.objects.filter(deleted_at=None)
    return render(
        request,
        "doublet/works/list.html",
        {
            "page": page,
            "asked": asked,
            "states": STATES,
            "orders": ORDERS,
            "query": query.urlencode(),
            "groups": (groups if user.is_administrator else groups.filter(owner=user))[:20],
        },
    )


def state_context(request: HttpRequest, work: Any, here: str, state: str, cancel: str) -> dict[str, Any]:
    """How far a work or a class is, for the live part of its page."""
    words = words_of(request)
    job = None
    if work.job is not None and not work.ended:
        try:
            job = store().jobs.get(work.job)
        except DoubletError:
            job = None
    return {
        "work": work,
        "here": here,
        "state_address": state,
        "cancel_address": cancel,
        "stage": words.stage(job.stage) if job and job.stage else "",
        "done": job.done if job else 0,
        "total": job.total if job else None,
        "before": store().jobs.ahead(job.number) if job and job.state == NEW else 0,
        "problem": words.problem(work.message) if work.message else words("error.500.next"),
    }


def work_state(request: HttpRequest, work: Work) -> dict[str, Any]:
    here = reverse("work", args=[work.pk])
    return state_context(
        request, work, here, reverse("work-state", args=[work.pk]), reverse("work-cancel", args=[work.pk])
    )


def state(request: HttpRequest, id: Any) -> HttpResponse:
    work = own(Work.objects.all(), request.user, pk=id)
    checking.catch_up(work)
    return render(request, "doublet/works/state.html", work_state(request, work))


@require_POST
def cancel(request: HttpRequest, id: Any) -> HttpResponse:
    work = own(Work.objects.all(), request.user, pk=id)
    if work.state not in ENDED:
        if work.job is not None:
            store().jobs.cancel(work.job)
        Work.objects.filter(pk=work.pk).exclude(state__in=ENDED).update(
            state=CANCELLED, ended_at=timezone.now()
        )
        audit.note(request, "work_cancelled", work.title, work=str(work.pk))
    return redirect("work", work.pk)


@require_POST
def delete(request: HttpRequest, id: Any) -> HttpResponse:
    """Deleted works can be restored for a while; then a job removes them for good."""
    work = own(Work.objects.filter(deleted_at=None), request.user, pk=id)
    work.deleted_at = timezone.now()
    work.save(update_fields=["deleted_at"])
    audit.note(request, "work_deleted", work.title, work=str(work.pk))
    messages.success(
        request, words_of(request)("work.deleted", title=work.title), extra_tags=f"undo {work.pk}"
    )
    return redirect("works")


@require_POST
def restore(request: HttpRequest, id: Any) -> HttpResponse:
    work = own(Work.objects.exclude(deleted_at=None), request.user, pk=id)
    work.deleted_at = None
    work.save(update_fields=["deleted_at"])
    audit.note(request, "work_restored", work.title, work=str(work.pk))
    return redirect("work", work.pk)
