"""Classes: works that are checked together."""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import Http404, HttpRequest
from ninja import File, Form, Router, Schema
from ninja.files import UploadedFile
from pydantic import Field

from doublet.errors import InvalidParameter
from doublet.web import checkers
from doublet.web.accounts import audit
from doublet.web.api import shapes
from doublet.web.api.access import allowed
from doublet.web.api.checks import _options, require_quota
from doublet.web.rights import own
from doublet.web.works import checking, groups
from doublet.web.works.models import Group, Upload, Work
from doublet.web.works.unpacking import MOST_WORKS, documents_of

router = Router(tags=["classes"])


class ClassShape(Schema):
    id: UUID
    title: str
    state: str
    job: int | None
    created: datetime
    works: list[shapes.Work] = Field(default_factory=list)
    result: dict[str, Any] | None = None

    @staticmethod
    def of(one: Group, *, whole: bool = False) -> ClassShape:
        works = one.works.order_by("title", "pk") if whole else ()
        return ClassShape(
            id=one.pk,
            title=one.title,
            state=one.state,
            job=one.job,
            created=one.created_at,
            works=[shapes.Work.of(work) for work in works],
            result=one.result if whole else None,
        )


class NewClass(shapes.CheckOptions):
    among: bool = True


@router.get("", response=list[ClassShape], **allowed("list_classes"))
def list_classes(request: HttpRequest) -> Any:
    user: Any = request.user
    rows = Group.objects.filter(deleted_at=None)
    return [ClassShape.of(one) for one in (rows if user.is_administrator else rows.filter(owner=user))[:200]]


@router.post("", response={202: ClassShape}, **allowed("make_class"))
def make_class(request: HttpRequest, data: Form[NewClass], files: list[UploadedFile] = File(...)) -> Any:
    """Check several works, or a zip archive of them, against libraries and among themselves."""
    user: Any = request.user
    key = request.headers.get("Idempotency-Key", "")[:200]
    known = Group.objects.filter(owner=user, options__key=key).first() if key else None
    if known is not None:
        return 202, ClassShape.of(known, whole=True)
    works = [one for file in files for one in documents_of(str(file.name or ""), file.read())]
    if not works or len(works) > MOST_WORKS:
        raise InvalidParameter("class_size", name="files", most=MOST_WORKS, works=len(works))
    require_quota(request)
    options = _options(data)
    with transaction.atomic():
        group = Group.objects.create(
            owner=user, title=data.title or "class", options={**options, "among": data.among, "key": key}
        )
        for name, content, _ in works:
            upload = Upload.keep(name, content)
            Work.objects.create(
                owner=user,
                group=group,
                title=PurePosixPath(name).name or name,
                kind="file",
                upload=upload,
                options=options,
            )
    audit.note(request, "group_checked", group.title, works=len(works))
    checking.begin_group(group)
    return 202, ClassShape.of(group, whole=True)


@router.get("/{id}", response=ClassShape, **allowed("get_class"))
def get_class(request: HttpRequest, id: UUID) -> Any:
    """All works of the class, and who took from whom."""
    group = _group(request, id)
    checking.catch_up(group)
    return ClassShape.of(group, whole=True)


@router.delete("/{id}", response={204: None}, **allowed("delete_class"))
def delete_class(request: HttpRequest, id: UUID) -> Any:
    """With its works; what is still being checked is stopped."""
    groups.remove(request, _group(request, id))
    return 204, None


@router.post("/{id}/cancel", response=ClassShape, **allowed("cancel_class"))
def cancel_class(request: HttpRequest, id: UUID) -> Any:
    """Works that are done keep their reports."""
    group = _group(request, id)
    if not group.ended:
        checking.cancel_group(group)
        audit.note(request, "work_cancelled", group.title)
        group.refresh_from_db()
    return ClassShape.of(group, whole=True)


@router.get("/{id}/class.{form}", response={200: None}, **allowed("export_class"))
def export_class(request: HttpRequest, id: UUID, form: str) -> Any:
    """The table (csv), or all reports in one archive (zip)."""
    return groups.exported(request, _group(request, id), form)


@router.get("/{id}/pair", response=dict[str, Any], **allowed("compare_works"))
def compare_works(request: HttpRequest, id: UUID, a: UUID, b: UUID) -> Any:
    """Two works of the class beside each other: what they have in common, with the places in both."""
    texts = groups.two_texts(_group(request, id), str(a), str(b))
    if texts is None:
        raise Http404
    return checkers.compare(*texts).to_dict()


def _group(request: HttpRequest, id: UUID) -> Group:
    found: Group = own(Group.objects.filter(deleted_at=None), request.user, pk=id)
    return found
