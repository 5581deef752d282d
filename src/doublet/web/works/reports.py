"""The report of a work: read it, switch parts of it off, comment on it, judge it, share it, take it away."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from doublet.errors import DoubletError
from doublet.matches.figures import Figures, figures
from doublet.web import errors
from doublet.web.accounts import audit
from doublet.web.rights import own
from doublet.web.words import words_of
from doublet.web.works import checking, drawing, exporting, kept
from doublet.web.works.checks import work_state
from doublet.web.works.forms import CommentForm, DecisionForm, EditForm
from doublet.web.works.models import DONE, Comment, Decision, ShareLink, Work
from doublet.web.works.versions import versions

FORMS = ("html", "pdf", "json")
SOURCES = 60  #: that a page shows at first; a work of hundreds of pages can have a thousand


def _mine(request: HttpRequest, id: Any) -> Work:
    return own(Work.objects.select_related("owner", "group"), request.user, pk=id)


def work(request: HttpRequest, id: Any) -> HttpResponse:
    """The report, or how far the check is."""
    found = _mine(request, id)
    checking.catch_up(found)
    if found.state != DONE:
        return render(request, "doublet/works/waiting.html", work_state(request, found))
    return render(request, "doublet/works/report.html", _context(request, found))


def _context(request: HttpRequest, found: Work, secret: str = "") -> dict[str, Any]:
    words = words_of(request)
    assert found.report is not None
    report = kept.load(found.report)
    decisions = list(found.decisions.select_related("by", "undone_by"))
    off = kept.switched_off(decisions)
    view = report.view(off, words, found.title)
    address = reverse("shared-source", args=[secret]) if secret else reverse("work-source", args=[found.pk])
    earlier = Work.objects.none()
    if not secret:
        earlier = Work.objects.filter(
            owner=found.owner, title=found.title, state=DONE, deleted_at=None, created_at__lt=found.created_at
        )[:5]
    used, folded = ([one for one in view.sources if one.folded is flag] for flag in (False, True))
    shown = len(view.sources) if request.GET.get("sources") == "all" else SOURCES
    return {
        "work": found,
        "check": report.check,
        "view": view,
        "used": used[:shown],
        "folded": folded[:shown],
        "folded_count": len(folded),
        "all_sources": len(view.sources) if max(len(used), len(folded)) > shown else 0,
        "text": drawing.draw_text(view, address),
        "strip": drawing.strip(view),
        "kinds": [
            {"name": kind, "label": words.kind(kind), "off": kind in off.kinds}
            for kind in ("verbatim", "edited", "reworded", "moved")
        ],
        "decisions": [one for one in decisions if one.undone_at is None],
        "comments": found.comments.select_related("by"),
        "links": found.links.filter(revoked_at=None, expires_at__gt=timezone.now()) if not secret else [],
        "new_link": request.session.pop("new_link", None) if not secret else None,
        "source_address": address,
        "shared": bool(secret),
        "earlier": earlier,
        "forms": FORMS,
        "verdicts": Work.VERDICTS,
    }


def source(request: HttpRequest, id: Any) -> HttpResponse:
    """One passage beside its source: a part of the page, or a page of its own without a script."""
    return _source(request, _mine(request, id))


def _source(request: HttpRequest, found: Work, *, shared: bool = False) -> HttpResponse:
    if found.report is None:
        raise Http404
    report = kept.load(found.report)
    view = report.view(kept.switched_off(found.decisions.all()), words_of(request), found.title)
    passage = view.find(request.GET.get("fragment", ""))
    if passage is None:
        raise Http404
    context = {
        "work": found,
        "passage": passage,
        "source": passage.source,
        "shown": view.source_of(passage),
        "others": view.others(passage),
        "beside": drawing.beside(view, passage),
        "comments": found.comments.filter(fragment=passage.id).select_related("by"),
        "shared": shared,
        "kind": words_of(request).kind(passage.fragment.kind),
        "source_address": request.path,
    }
    if request.headers.get("HX-Request") or request.headers.get("X-Part"):
        return render(request, "doublet/works/source.html", context)
    return render(request, "doublet/works/source_page.html", context)


@require_POST
def decide(request: HttpRequest, id: Any) -> HttpResponse:
    """Switch a source, a fragment or a kind off, or on again. The figures change with it; nothing is forgotten."""
    found = _mine(request, id)
    form = DecisionForm(request.POST)
    if not form.is_valid() or found.report is None:
        return errors.show(request, 400, "bad_request")
    data = form.cleaned_data
    which = {"target": data["target"], "which": data["which"]}
    with transaction.atomic():
        active = found.decisions.filter(undone_at=None, **which)
        if data["off"] == "off":
            if not active.exists():
                Decision.objects.create(work=found, by=request.user, reason=data["reason"], **which)
                audit.note(request, "decision_made", found.title, work=str(found.pk), **which)
        elif active.update(undone_at=timezone.now(), undone_by=request.user):
            audit.note(request, "decision_undone", found.title, work=str(found.pk), **which)
        rescore(found)
    where = "kinds" if data["target"] == "kind" else "sources"  # the button that was pressed stays in sight
    return redirect(f"{reverse('work', args=[found.pk])}#{where}")


def rescore(found: Work) -> Figures:
    """Figures after all decisions, copied to the list."""
    assert found.report is not None
    check = kept.load(found.report).check
    shares = figures(kept.switched_off(found.decisions.all()).score(check))
    Work.objects.filter(pk=found.pk).update(borrowed=shares.borrowed, quoted=shares.quoted)
    found.borrowed, found.quoted = shares.borrowed, shares.quoted
    return shares


@require_POST
def comment(request: HttpRequest, id: Any) -> HttpResponse:
    """Write a comment, or delete an own one."""
    found = _mine(request, id)
    gone = request.POST.get("delete", "")
    if gone.isdigit():
        one = get_object_or_404(Comment, pk=int(gone), work=found, by=request.user)
        one.delete()
        audit.note(request, "comment_deleted", found.title, work=str(found.pk))
        return redirect("work", found.pk)
    form = CommentForm(request.POST)
    if not form.is_valid():
        return errors.show(request, 400, "bad_request")
    Comment.objects.create(work=found, by=request.user, **form.cleaned_data)
    audit.note(request, "comment_made", found.title, work=str(found.pk))
    anchor = f"#f-{form.cleaned_data['fragment']}" if form.cleaned_data["fragment"] else "#comments"
    return redirect(f"{reverse('work', args=[found.pk])}{anchor}")


def compare(request: HttpRequest, id: Any) -> HttpResponse:
    """This check beside an earlier one of the same work."""
    found = _mine(request, id)
    try:
        other = _mine(request, UUID(request.GET.get("with", "")))
    except ValueError as error:
        raise Http404 from error
    if found.report is None or other.report is None or found.pk == other.pk:
        raise Http404
    before, after = sorted((found, other), key=lambda one: one.created_at)
    return render(request, "doublet/works/versions.html", versions(before, after, words_of(request)))


@require_POST
def edit(request: HttpRequest, id: Any) -> HttpResponse:
    """Title, author, labels and verdict. Of two people who edit at once the second is told."""
    found = _mine(request, id)
    form = EditForm(request.POST)
    if not form.is_valid():
        messages.error(request, words_of(request)("form.wrong"))
        return redirect("work", found.pk)
    data = form.cleaned_data
    before = data.pop("changes")
    done = Work.objects.filter(pk=found.pk, changes=before).update(**data, changes=before + 1)
    if not done:
        return errors.show(request, 409, "edited")
    audit.note(request, "work_changed", found.title, work=str(found.pk), verdict=data["verdict"])
    messages.success(request, words_of(request)("account.saved"))
    return redirect("work", found.pk)


@require_POST
def share(request: HttpRequest, id: Any) -> HttpResponse:
    found = _mine(request, id)
    if found.state != DONE:
        raise Http404
    _, secret = ShareLink.make(found, request.user)
    audit.note(request, "link_made", found.title, work=str(found.pk))
    request.session["new_link"] = request.build_absolute_uri(reverse("shared-work", args=[secret]))
    return redirect(f"{reverse('work', args=[found.pk])}#share")


@require_POST
def revoke(request: HttpRequest, id: Any, number: int) -> HttpResponse:
    found = _mine(request, id)
    link = get_object_or_404(ShareLink, pk=number, work=found, revoked_at=None)
    link.revoked_at = timezone.now()
    link.save(update_fields=["revoked_at"])
    audit.note(request, "link_revoked", found.title, work=str(found.pk))
    return redirect(f"{reverse('work', args=[found.pk])}#share")


def shared(request: HttpRequest, secret: str) -> HttpResponse:
    """A report by its link: to read, not to change."""
    link = ShareLink.find(secret)
    if link is None:
        return errors.show(request, 410, "link_over")
    return render(request, "doublet/works/report.html", _context(request, link.work, secret))


def shared_source(request: HttpRequest, secret: str) -> HttpResponse:
    link = ShareLink.find(secret)
    if link is None:
        return errors.show(request, 410, "link_over")
    return _source(request, link.work, shared=True)


def export(request: HttpRequest, id: Any, form: str) -> HttpResponse:
    """The report as one HTML file, PDF or JSON, with every decision and who made it."""
    found = _mine(request, id)
    if form not in FORMS or found.report is None:
        raise Http404
    report = kept.load(found.report)
    decisions = list(found.decisions.select_related("by"))
    words = words_of(request)
    try:
        content, kind = exporting.export(found, report, decisions, form, words)
    except DoubletError as error:
        return errors.of(request, error)
    audit.note(request, "work_exported", found.title, work=str(found.pk), form=form)
    response = HttpResponse(content, content_type=kind)
    name = exporting.file_name(found.title, form)
    response.headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{name}"
    if form == "html":
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; sandbox allow-scripts"
        )
    return response
