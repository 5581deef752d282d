"""Checks and their reports."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from ninja import File, Form, Header, Query, Router
from ninja.files import UploadedFile

from doublet.errors import InvalidParameter, UsageError
from doublet.jobs.check_library import require_method
from doublet.matches.figures import Figures
from doublet.web.accounts import audit
from doublet.web.api import shapes
from doublet.web.api.access import allowed
from doublet.web.rights import own
from doublet.web.store import store
from doublet.web.words import words
from doublet.web.works import checking, exporting, kept
from doublet.web.works.forms import LEAVE_OUT
from doublet.web.works.models import CANCELLED, DONE, ENDED, STATES, Comment, Decision, Work
from doublet.web.works.quotas import over_quota
from doublet.web.works.reports import FORMS, rescore

router = Router(tags=["checks"])
MOST = 200


class Edited(UsageError):
    """Somebody else changed it in the meantime."""

    code = "edited"


class Quota(UsageError):
    """The checks of this day are used up."""

    code = "quota"


def _work(request: HttpRequest, id: UUID) -> Work:
    return own(Work.objects.select_related("owner"), request.user, pk=id)


@router.get("", response=shapes.Works, **allowed("list_checks"))
def list_checks(
    request: HttpRequest,
    cursor: str | None = None,
    limit: int = Query(50, ge=1, le=MOST),
    state: str | None = None,
    deleted: bool = False,
    q: str = Query("", max_length=200, description="In the title or the author."),
    label: str = Query("", max_length=50),
) -> Any:
    """Own checks (an administrator sees all), the newest first."""
    user: Any = request.user
    rows = Work.objects.filter(deleted_at__isnull=not deleted).order_by("-created_at", "-pk")
    rows = rows if user.is_administrator else rows.filter(owner=user)
    if state is not None:
        if state not in STATES:
            raise InvalidParameter("one_of", name="state", value=state, known=list(STATES))
        rows = rows.filter(state=state)
    if q:
        rows = rows.filter(Q(title__icontains=q) | Q(author__icontains=q))
    if label:
        rows = rows.filter(labels__icontains=label)
    after = shapes.read_cursor(cursor, 2)
    if after is not None:
        try:
            at, last = datetime.fromisoformat(str(after[0])), UUID(str(after[1]))
        except ValueError as error:
            raise InvalidParameter("wrong_cursor", name="cursor") from error
        rows = rows.filter(Q(created_at__lt=at) | Q(created_at=at, pk__lt=last))
    found = list(rows[: limit + 1])
    more = len(found) > limit
    found = found[:limit]
    last_one = found[-1] if found else None
    return {
        "items": [shapes.Work.of(one) for one in found],
        "next": shapes.cursor_of(last_one.created_at.isoformat(), str(last_one.pk))
        if more and last_one
        else None,
    }


def _options(data: shapes.CheckOptions) -> dict[str, Any]:
    wrong = [one for one in data.leave_out if one not in LEAVE_OUT]
    if wrong:
        raise InvalidParameter("one_of", name="leave_out", value=wrong[0], known=list(LEAVE_OUT))
    if data.libraries is not None:
        store().libraries.select(data.libraries)
    require_method(data.method)
    return {
        "method": data.method,
        "libraries": data.libraries,
        "leave_out": list(data.leave_out),
        "own": list(data.own),
    }


def require_quota(request: HttpRequest) -> None:
    """Raises `Quota` when the checks of this day are used up."""
    over = over_quota(request)
    if over:
        raise Quota("quota_used_up", limit=over)


def _begin(
    request: HttpRequest, key: str | None, data: shapes.CheckOptions, **facts: Any
) -> tuple[int, shapes.Work]:
    user: Any = request.user
    same = Work.objects.filter(owner=user, key=key[:200] if key else "")
    known = same.first() if key else None
    if known is not None:
        return 200, shapes.Work.of(known)
    require_quota(request)
    options = _options(data)
    title = facts.pop("title")
    try:
        work, quick = checking.hand_in(
            request,
            title=data.title or title,
            author=data.author,
            labels=[str(one)[:50] for one in data.labels],
            options=options,
            key=key[:200] if key else None,
            **facts,
        )
    except IntegrityError:
        known = same.first() if key else None
        if known is None:
            raise
        return 200, shapes.Work.of(known)  # the same request came a moment earlier
    checking.begin(work, quick=quick)
    return 201, shapes.Work.of(work)


@router.post("", response={201: shapes.Work, 200: shapes.Work}, **allowed("make_check"))
def make_check(
    request: HttpRequest,
    data: shapes.NewCheck,
    idempotency_key: str | None = Header(None, alias="Idempotency-Key"),
) -> Any:
    """Check a text or the page at an address. Short texts are answered at once; look at *state*."""
    if (data.text is None) == (data.address is None):
        raise InvalidParameter("text_or_address", name="text")
    if data.text is not None:
        content = data.text.encode("utf-8", "surrogatepass")
        title = " ".join(data.text.split())[:80] or words("en")("check.pasted")
        return _begin(request, idempotency_key, data, kind="text", content=content, title=title)
    assert data.address is not None
    if not data.address.startswith(("http://", "https://")):
        raise InvalidParameter("not_a_web_address", name="address", value=data.address[:80])
    return _begin(request, idempotency_key, data, kind="address", address=data.address, title=data.address)


@router.post("/file", response={201: shapes.Work, 200: shapes.Work}, **allowed("make_file_check"))
def make_file_check(
    request: HttpRequest,
    data: Form[shapes.CheckOptions],
    file: UploadedFile = File(...),
    idempotency_key: str | None = Header(None, alias="Idempotency-Key"),
) -> Any:
    """Check a file of any format."""
    name = str(file.name or "file")
    return _begin(request, idempotency_key, data, kind="file", content=file.read(), name=name, title=name)


@router.get("/{id}", response=shapes.Work, **allowed("get_check"))
def get_check(request: HttpRequest, id: UUID) -> Any:
    work = _work(request, id)
    checking.catch_up(work)
    return shapes.Work.of(work)


@router.patch("/{id}", response=shapes.Work, **allowed("edit_check"))
def edit_check(request: HttpRequest, id: UUID, data: shapes.WorkEdit) -> Any:
    work = _work(request, id)
    given = {name: value for name, value in data.dict(exclude={"changes"}).items() if value is not None}
    if given.get("verdict") and given["verdict"] not in Work.VERDICTS:
        raise InvalidParameter("one_of", name="verdict", value=given["verdict"], known=list(Work.VERDICTS))
    if "labels" in given:
        given["labels"] = [str(one)[:50] for one in given["labels"]][:10]
    done = Work.objects.filter(pk=work.pk, changes=data.changes).update(**given, changes=data.changes + 1)
    if not done:
        raise Edited("edited_meanwhile", changes=work.changes)
    audit.note(request, "work_changed", work.title, work=str(work.pk))
    work.refresh_from_db()
    return shapes.Work.of(work)


@router.post("/{id}/cancel", response=shapes.Work, **allowed("cancel_check"))
def cancel_check(request: HttpRequest, id: UUID) -> Any:
    work = _work(request, id)
    if work.state not in ENDED:
        if work.job is not None:
            store().jobs.cancel(work.job)
        Work.objects.filter(pk=work.pk).exclude(state__in=ENDED).update(
            state=CANCELLED, ended_at=timezone.now()
        )
        audit.note(request, "work_cancelled", work.title, work=str(work.pk))
        work.refresh_from_db()
    return shapes.Work.of(work)


@router.delete("/{id}", response={204: None}, **allowed("delete_check"))
def delete_check(request: HttpRequest, id: UUID) -> Any:
    """Deleted checks can be restored for a while."""
    work = _work(request, id)
    if work.deleted_at is None:
        Work.objects.filter(pk=work.pk).update(deleted_at=timezone.now())
        audit.note(request, "work_deleted", work.title, work=str(work.pk))
    return 204, None


@router.post("/{id}/restore", response=shapes.Work, **allowed("restore_check"))
def restore_check(request: HttpRequest, id: UUID) -> Any:
    work = _work(request, id)
    if work.deleted_at is not None:
        Work.objects.filter(pk=work.pk).update(deleted_at=None)
        audit.note(request, "work_restored", work.title, work=str(work.pk))
        work.refresh_from_db()
    return shapes.Work.of(work)


def _report(work: Work) -> kept.Report:
    if work.state != DONE or work.report is None:
        raise Http404
    return kept.load(work.report)


@router.get("/{id}/report", response={200: dict, 304: None}, **allowed("get_report"))
def get_report(request: HttpRequest, id: UUID) -> Any:
    """The whole report: the check as the command line writes it, with figures after all decisions."""
    work = _work(request, id)
    undone = work.decisions.exclude(undone_at=None).count()
    parts = (work.report, work.changes, work.decisions.count(), undone, work.comments.count())
    tag = f'"{"-".join(map(str, parts))}"'
    if request.headers.get("If-None-Match") == tag:
        response = HttpResponse(status=304)
    else:
        content, kind = exporting.export(
            work, _report(work), list(work.decisions.select_related("by")), "json", words("en")
        )
        response = HttpResponse(content, content_type=kind)
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "private, no-cache"
    return response


@router.get("/{id}/report.{form}", response={200: None}, **allowed("export_report"))
def export_report(request: HttpRequest, id: UUID, form: str, language: str = "en") -> Any:
    """The report as html, pdf or json."""
    work = _work(request, id)
    if form not in FORMS:
        raise Http404
    content, kind = exporting.export(
        work, _report(work), list(work.decisions.select_related("by")), form, words(language)
    )
    audit.note(request, "work_exported", work.title, work=str(work.pk), form=form)
    response = HttpResponse(content, content_type=kind)
    response.headers["Content-Disposition"] = (
        f"attachment; filename*=UTF-8''{exporting.file_name(work.title, form)}"
    )
    return response


@router.get("/{id}/decisions", response=list[shapes.DecisionShape], **allowed("list_decisions"))
def list_decisions(request: HttpRequest, id: UUID) -> Any:
    return [shapes.DecisionShape.of(one) for one in _work(request, id).decisions.select_related("by")]


@router.post(
    "/{id}/decisions", response={201: shapes.Figures, 200: shapes.Figures}, **allowed("make_decision")
)
def make_decision(request: HttpRequest, id: UUID, data: shapes.NewDecision) -> Any:
    """Take a source, a fragment or a kind out of the figures; gives the new figures."""
    work = _work(request, id)
    report = _report(work)
    _require_target(report, data)
    with transaction.atomic():
        which = {"target": data.target, "which": data.which}
        there = work.decisions.filter(undone_at=None, **which).exists()
        if not there:
            Decision.objects.create(work=work, by=request.user, reason=data.reason, **which)
            audit.note(request, "decision_made", work.title, work=str(work.pk), **which)
        figures = rescore(work)
    return (200 if there else 201), _figures(figures)


def _require_target(report: kept.Report, data: shapes.NewDecision) -> None:
    known = {
        "source": {one.id for one in report.check.sources},
        "fragment": {part.id for one in report.check.sources for part in one.fragments},
        "kind": {"verbatim", "edited", "reworded", "moved"},
    }[data.target]
    if data.which not in known:
        raise InvalidParameter("report_has_no", name="which", target=data.target, value=data.which)


def _figures(figures: Figures) -> shapes.Figures:
    return shapes.Figures(borrowed=figures.borrowed, quoted=figures.quoted, original=figures.original)


@router.delete("/{id}/decisions/{number}", response=shapes.Figures, **allowed("undo_decision"))
def undo_decision(request: HttpRequest, id: UUID, number: shapes.Number) -> Any:
    """Count it again; gives the new figures."""
    work = _work(request, id)
    _report(work)
    with transaction.atomic():
        changed = work.decisions.filter(pk=number, undone_at=None).update(
            undone_at=timezone.now(), undone_by=request.user
        )
        if not changed:
            raise Http404
        audit.note(request, "decision_undone", work.title, work=str(work.pk))
        return _figures(rescore(work))


@router.get("/{id}/comments", response=list[shapes.CommentShape], **allowed("list_comments"))
def list_comments(request: HttpRequest, id: UUID) -> Any:
    return [_comment(one) for one in _work(request, id).comments.select_related("by")]


@router.post("/{id}/comments", response={201: shapes.CommentShape}, **allowed("make_comment"))
def make_comment(request: HttpRequest, id: UUID, data: shapes.NewComment) -> Any:
    work = _work(request, id)
    one = Comment.objects.create(work=work, by=request.user, fragment=data.fragment, text=data.text)
    audit.note(request, "comment_made", work.title, work=str(work.pk))
    return 201, _comment(one)


def _comment(one: Comment) -> shapes.CommentShape:
    by = one.by.get_username() if one.by else ""
    return shapes.CommentShape(id=one.pk, fragment=one.fragment, text=one.text, by=by, at=one.at)
