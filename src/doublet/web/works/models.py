"""Works, classes of works, and what people decide about them.

A report itself is kept by the store (`store.reports`), without knowing whose it is; the tables here add owners,
decisions, comments and links. Numbers that lists show are copied to `Work`, so that a list reads one table.
"""

from __future__ import annotations

import secrets
import uuid
from datetime import timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from doublet.web.accounts.models import digest

NEW, RUNNING, DONE, FAILED, CANCELLED = "new", "running", "done", "failed", "cancelled"
STATES = (NEW, RUNNING, DONE, FAILED, CANCELLED)
ENDED = (DONE, FAILED, CANCELLED)
LINK_DAYS = 90


class Upload(models.Model):
    """A file as it was handed in. It is kept in the database, so that a worker on any machine can read it and a backup
    has it; it goes when its work goes."""

    name = models.CharField(max_length=300)
    size = models.BigIntegerField()
    data = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "web_upload"

    @classmethod
    def keep(cls, name: str, content: bytes) -> Upload:
        """A new one."""
        from doublet.web.store import store

        facts = {"name": name, "size": len(content), "created_at": timezone.now()}
        database = store().database
        if database.vendor != "postgresql":
            return cls.objects.create(**facts, data=content)
        # The ORM would write the bytes out in letters: a second for ten megabytes, here and in the server.
        ((number,),) = database.binary(
            "INSERT INTO web_upload (name, size, created_at, data) "
            "VALUES (%s::text, %s::bigint, %s::timestamptz, %s::bytea) RETURNING id",
            [*facts.values(), content],
        )
        made = cls(pk=number, **facts, data=content)
        made._state.adding, made._state.db = False, "default"
        return made

    def content(self) -> bytes:
        """The bytes, which lists of uploads leave in the database (``defer``)."""
        from doublet.web.store import store

        database = store().database
        if "data" in self.__dict__ or database.vendor != "postgresql":
            return bytes(self.data)
        ((data,),) = database.binary("SELECT data FROM web_upload WHERE id = %s::bigint", [self.pk])
        return bytes(data)


class Group(models.Model):
    """A class: works that are checked together, among themselves and against libraries (K8)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="groups_of_works")
    title = models.CharField(max_length=200)
    options = models.JSONField(default=dict)
    state = models.CharField(max_length=10, default=NEW)
    job = models.BigIntegerField(null=True)
    message = models.JSONField(default=dict)
    result = models.JSONField(null=True)  # who took from whom
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "web_group"
        ordering: ClassVar = ["-created_at"]

    @property
    def ended(self) -> bool:
        return self.state in ENDED


class Work(models.Model):
    """A document that somebody checked, and its report."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="works")
    group = models.ForeignKey(Group, models.CASCADE, null=True, related_name="works")
    title = models.CharField(max_length=300)
    author = models.CharField(max_length=200, blank=True, default="")
    labels = models.JSONField(default=list)
    kind = models.CharField(max_length=10)  # text, file, address
    upload = models.OneToOneField(Upload, models.SET_NULL, null=True)
    address = models.TextField(blank=True, default="")
    options = models.JSONField(default=dict)
    state = models.CharField(max_length=10, default=NEW, db_index=True)
    key = models.CharField(max_length=200, null=True)  # of a program that may ask twice
    job = models.BigIntegerField(null=True)
    report = models.BigIntegerField(null=True)  # number in `store.reports`
    message = models.JSONField(default=dict)  # why it failed: an error as a value
    words = models.BigIntegerField(null=True)
    borrowed = models.FloatField(null=True)
    quoted = models.FloatField(null=True)
    alarms = models.IntegerField(default=0)
    sources = models.IntegerField(default=0)
    verdict = models.CharField(max_length=20, blank=True, default="")
    verdict_note = models.TextField(blank=True, default="")
    changes = models.IntegerField(
        default=0
    )  # raised by every edit, so that two people do not overwrite each other
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    ended_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "web_work"
        ordering: ClassVar = ["-created_at"]
        indexes: ClassVar = [models.Index(fields=["owner", "-created_at"], name="web_work_owner")]
        constraints: ClassVar = [models.UniqueConstraint(fields=["owner", "key"], name="web_work_key")]

    VERDICTS = ("accepted", "revise", "rejected")

    @property
    def original(self) -> float | None:
        return None if self.borrowed is None else max(0.0, 1 - self.borrowed - (self.quoted or 0.0))

    @property
    def ended(self) -> bool:
        return self.state in ENDED


class Decision(models.Model):
    """A source, a fragment or a kind that a person took out of the figures, with the reason. Undone ones stay."""

    work = models.ForeignKey(Work, models.CASCADE, related_name="decisions")
    target = models.CharField(max_length=10)  # source, fragment, kind
    which = models.CharField(max_length=200)  # its id in the report
    reason = models.CharField(max_length=300, blank=True, default="")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True)
    undone_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta:
        db_table = "web_decision"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["work", "target", "which"],
                condition=models.Q(undone_at__isnull=True),
                name="web_decision_once",
            )
        ]


class Comment(models.Model):
    """What a reviewer says about a fragment, or about the whole work (no fragment)."""

    work = models.ForeignKey(Work, models.CASCADE, related_name="comments")
    fragment = models.CharField(max_length=40, blank=True, default="")
    text = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "web_comment"
        ordering: ClassVar = ["id"]


class ShareLink(models.Model):
    """A link under which anybody reads one report, until it is revoked or runs out."""

    work = models.ForeignKey(Work, models.CASCADE, related_name="links")
    secret = models.CharField(max_length=64, unique=True)  # its digest
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "web_link"
        ordering: ClassVar = ["id"]

    @classmethod
    def make(cls, work: Work, by: Any) -> tuple[ShareLink, str]:
        secret = secrets.token_urlsafe(24)
        expires = timezone.now() + timedelta(days=LINK_DAYS)
        return cls.objects.create(work=work, secret=digest(secret), by=by, expires_at=expires), secret

    @classmethod
    def find(cls, secret: str) -> ShareLink | None:
        return (
            cls.objects.select_related("work")
            .filter(
                secret=digest(secret),
                revoked_at=None,
                expires_at__gt=timezone.now(),
                work__deleted_at=None,
                work__state=DONE,
            )
            .first()
        )


class RepeatsSearch(models.Model):
    """A search for repeats inside a document, its result page and what a person decided about the groups."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="repeats_searches")
    title = models.CharField(max_length=300)
    upload = models.OneToOneField(Upload, models.SET_NULL, null=True)
    options = models.JSONField(default=dict)
    state = models.CharField(max_length=10, default=NEW)
    job = models.BigIntegerField(null=True)
    message = models.JSONField(default=dict)
    result = models.BinaryField(null=True)  # the page, packed
    found = models.BinaryField(null=True)  # all that was found, as packed JSON (`reports.repeats_kept`)
    summary = models.JSONField(default=dict)
    decisions = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "web_repeats"
        ordering: ClassVar = ["-created_at"]

    @property
    def ended(self) -> bool:
        return self.state in ENDED
