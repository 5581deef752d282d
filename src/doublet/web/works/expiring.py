"""Reports, classes and searches whose time is over (retention), or which were deleted and not restored; and uploads
that belong to nothing, because the service was killed between two steps."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from doublet.progress import Progress
from doublet.web import installation
from doublet.web.store import store
from doublet.web.works import kept
from doublet.web.works.models import ENDED, Group, RepeatsSearch, Upload, Work

ALONE_DAYS = 1  #: that an upload may belong to nothing: it may be on its way


def _rows(now: datetime) -> list[QuerySet[Any]]:
    """Works and classes to be deleted now; works, classes and searches to be removed for good."""
    chosen = installation.read()
    over = now - timedelta(days=chosen.undo_days)
    none = Q(pk__in=[])
    old = Q(created_at__lt=now - timedelta(days=chosen.retention_days)) if chosen.retention_days else none
    return [
        Work.objects.filter(old, deleted_at=None),
        Group.objects.filter(old, deleted_at=None),
        Work.objects.filter(deleted_at__lt=over),
        Group.objects.filter(deleted_at__lt=over),
        RepeatsSearch.objects.filter(old, state__in=ENDED),
    ]


def anything_over() -> bool:
    now = timezone.now()
    return any(rows.exists() for rows in _rows(now)) or _alone(now).exists()


def _alone(now: datetime) -> QuerySet[Upload]:
    """Uploads without a work or a search. Those that fill a library are named by their job."""
    rows = Upload.objects.filter(
        work=None, repeatssearch=None, created_at__lt=now - timedelta(days=ALONE_DAYS)
    )
    if not rows.exists():
        return rows
    waiting = [
        job.parameters.get("upload")
        for job in store().jobs.find(
            ("new", "running", "failed", "cancelled"), kind="fill_upload", limit=None
        )
    ]
    return rows.exclude(pk__in=[one for one in waiting if one is not None])


def remove(progress: Progress) -> int:
    """Gives how many were removed for good. Can be begun again at any moment."""
    now = timezone.now()
    old_works, old_groups, works, groups, searches = _rows(now)
    old_works.update(deleted_at=now)
    old_groups.update(deleted_at=now)
    removed = 0
    for one in works.select_related("upload").defer("upload__data").iterator(100):
        progress.step("removing", removed, None, "documents")
        _remove_work(one)
        removed += 1
    for group in groups.iterator(100):
        if not group.works.exists():  # they are works like others, with their own time
            group.delete()
    for search in searches.select_related("upload").defer("result", "found", "upload__data").iterator(100):
        progress.step("removing", removed, None, "documents")
        upload = search.upload
        search.delete()
        if upload is not None:
            upload.delete()
        removed += 1
    _alone(now).delete()
    return removed


def _remove_work(one: Work) -> None:
    with transaction.atomic():
        upload, report = one.upload, one.report
        one.delete()
        if upload is not None:
            upload.delete()
        if report is not None:
            kept.drop(report)
