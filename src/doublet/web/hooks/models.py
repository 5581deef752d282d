"""Hooks and what was sent to them.

The secret of a hook is not stored: it is made of a salt in the table and of the key of the installation, so that a copy
of the database alone signs nothing.
"""

from __future__ import annotations

import secrets
import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.utils.crypto import salted_hmac

WAITING, DELIVERED, FAILED = "waiting", "delivered", "failed"
SECRET_PREFIX = "dblhook_"  # the beginning of every secret, so that a leaked one is recognised


class Hook(models.Model):
    """An address of a person. *everybody*: an administrator hears of the jobs of all people."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="hooks")
    address = models.TextField()
    note = models.CharField(max_length=200, blank=True, default="")
    everybody = models.BooleanField(default=False)
    salt = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "web_hook"
        ordering: ClassVar = ["-id"]

    @classmethod
    def make(cls, owner: Any, address: str, *, note: str = "", everybody: bool = False) -> Hook:
        return cls.objects.create(
            owner=owner,
            address=address,
            note=note,
            everybody=everybody and owner.is_administrator,
            salt=secrets.token_hex(16),
        )

    @property
    def secret(self) -> str:
        made = salted_hmac("doublet.web.hooks", f"{self.pk} {self.salt}", algorithm="sha256")
        return SECRET_PREFIX + made.hexdigest()

    def hears_of(self, asked_by: str) -> bool:
        owner: Any = self.owner
        return owner.is_active and (
            asked_by == owner.get_username() or (self.everybody and owner.is_administrator)
        )


class Delivery(models.Model):
    """One message to one hook, and how often it was tried. A job that is tried again ends twice: two messages."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    hook = models.ForeignKey(Hook, models.CASCADE, related_name="deliveries")
    job = models.BigIntegerField()  # 0: a test that the owner asked for
    ended = models.BigIntegerField()  # when the job ended, in seconds since 1970
    body = models.JSONField()
    state = models.CharField(max_length=10, default=WAITING)
    attempts = models.IntegerField(default=0)
    next_at = models.DateTimeField()
    status = models.IntegerField(null=True)  # of the last answer
    message = models.JSONField(default=dict)  # why the last try failed: an error as a value
    created_at = models.DateTimeField(auto_now_add=True)
    delivered_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "web_delivery"
        ordering: ClassVar = ["-created_at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["hook", "job", "ended"], name="web_delivery_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["next_at"], name="web_delivery_waiting", condition=models.Q(state=WAITING)),
            models.Index(fields=["hook", "-created_at"], name="web_delivery_of_hook"),
        ]
