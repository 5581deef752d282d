"""What people do with a report: comments, links that can be shared, an earlier check of the same work."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils import timezone
from ninja import Router, Schema

from doublet.web.accounts import audit
from doublet.web.api import shapes
from doublet.web.api.access import allowed
from doublet.web.rights import own
from doublet.web.words import words_of
from doublet.web.works.models import DONE, Comment, ShareLink, Work
from doublet.web.works.versions import versions

router = Router(tags=["checks"])


class LinkShape(Schema):
    id: int
    by: str
    made: datetime
    expires: datetime
    revoked: datetime | None
    address: str | None = None  #: only when it is made: nobody can read it later

    @staticmethod
    def of(one: ShareLink, address: str | None = None) -> LinkShape:
        by = one.by.get_username() if one.by else ""
        return LinkShape(
            id=one.pk,
            by=by,
            made=one.at,
            expires=one.expires_at,
            revoked=one.revoked_at,
            address=address,
        )


class Versions(Schema):
    """Two checks of one work: figures and sources of both (shares, 0 to 1), and how much of the text is the same."""

    before: UUID
    after: UUID
    figures: list[dict[str, Any]]
    sources: list[dict[str, Any]]
    kept: float


def _work(request: HttpRequest, id: UUID) -> Work:
    found: Work = own(Work.objects.select_related("owner"), request.user, pk=id)
    return found


@router.delete("/{id}/comments/{number}", response={204: None}, **allowed("delete_comment"))
def delete_comment(request: HttpRequest, id: UUID, number: shapes.Number) -> Any:
    """Only by whoever wrote it."""
    work = _work(request, id)
    one = Comment.objects.filter(pk=number, work=work, by=request.user).first()
    if one is None:
        raise Http404
    one.delete()
    audit.note(request, "comment_deleted", work.title, work=str(work.pk))
    return 204, None


@router.get("/{id}/links", response=list[LinkShape], **allowed("list_links"))
def list_links(request: HttpRequest, id: UUID) -> Any:
    """Links under which anybody reads the report."""
    return [LinkShape.of(one) for one in _work(request, id).links.select_related("by")]


@router.post("/{id}/links", response={201: LinkShape}, **allowed("make_link"))
def make_link(request: HttpRequest, id: UUID) -> Any:
    """A new link; its address is told once."""
    work = _work(request, id)
    if work.state != DONE:
        raise Http404
    link, secret = ShareLink.make(work, request.user)
    audit.note(request, "link_made", work.title, work=str(work.pk))
    address = request.build_absolute_uri(reverse("shared-work", args=[secret]))
    return 201, LinkShape.of(link, address)


@router.delete("/{id}/links/{number}", response={204: None}, **allowed("revoke_link"))
def revoke_link(request: HttpRequest, id: UUID, number: shapes.Number) -> Any:
    work = _work(request, id)
    if not work.links.filter(pk=number, revoked_at=None).update(revoked_at=timezone.now()):
        raise Http404
    audit.note(request, "link_revoked", work.title, work=str(work.pk))
    return 204, None


@router.get("/{id}/compare", response=Versions, **allowed("compare_checks"))
def compare_checks(request: HttpRequest, id: UUID, other: UUID) -> Any:
    """This check beside another one of the same work."""
    works = [_work(request, id), _work(request, other)]
    if id == other or any(one.report is None for one in works):
        raise Http404
    before, after = sorted(works, key=lambda one: one.created_at)
    found = versions(before, after, words_of(request))
    return {**found, "before": before.pk, "after": after.pk}
