"""People, invitations, personal tokens, the audit log and the settings of the installation."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser
from django.contrib.sessions.models import Session
from django.db import models
from django.utils import timezone

INVITATION_DAYS = 14
TOKEN_PREFIX = "dbl_"
SCOPES = ("read", "check", "manage")  #: of tokens: look; check and decide; all that its person may do


def digest(secret: str) -> str:
    """How secrets are kept: a long random secret needs no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


class User(AbstractUser):
    """A person. *role*: administrator (everything) or teacher (own checks and reports, reads libraries)."""

    TEACHER, ADMINISTRATOR = "teacher", "administrator"
    role = models.CharField(
        max_length=20, default=TEACHER, choices=[(TEACHER, TEACHER), (ADMINISTRATOR, ADMINISTRATOR)]
    )
    language = models.CharField(max_length=5, blank=True, default="")
    checks_per_day = models.PositiveIntegerField(null=True, blank=True)  # None: the limit of the installation

    class Meta:
        db_table = "web_user"

    @property
    def is_administrator(self) -> bool:
        return self.is_active and self.role == self.ADMINISTRATOR

    @property
    def shown(self) -> str:
        return self.get_full_name() or self.username


class LoginSession(models.Model):
    """Where a person is logged in: the browser and the address from which it came."""

    user = models.ForeignKey(User, models.CASCADE, related_name="logins")
    key = models.CharField(max_length=40, unique=True)  # of the session
    agent = models.CharField(max_length=300, default="")
    address = models.GenericIPAddressField(null=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "web_login"
        ordering: ClassVar = ["-at"]

    @classmethod
    def live(cls, user: User) -> list[LoginSession]:
        """Those whose session still holds; the others are forgotten."""
        rows = list(cls.objects.filter(user=user))
        now = timezone.now()
        held = set(
            Session.objects.filter(pk__in=[row.key for row in rows], expire_date__gt=now).values_list(
                "pk", flat=True
            )
        )
        cls.objects.filter(pk__in=[row.pk for row in rows if row.key not in held]).delete()
        return [row for row in rows if row.key in held]

    def end(self) -> None:
        Session.objects.filter(pk=self.key).delete()
        self.delete()


class Invitation(models.Model):
    """A link with which a new person chooses a name and a password, once."""

    secret = models.CharField(max_length=64, unique=True)  # its digest
    role = models.CharField(max_length=20, default=User.TEACHER)
    note = models.CharField(max_length=200, blank=True, default="")
    by = models.ForeignKey(User, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")

    class Meta:
        db_table = "web_invitation"
        ordering: ClassVar = ["-id"]

    @classmethod
    def make(cls, by: User, role: str, note: str = "") -> tuple[Invitation, str]:
        secret = secrets.token_urlsafe(24)
        expires = timezone.now() + timedelta(days=INVITATION_DAYS)
        return (
            cls.objects.create(secret=digest(secret), role=role, note=note, by=by, expires_at=expires),
            secret,
        )

    @classmethod
    def find(cls, secret: str) -> Invitation | None:
        """An invitation that can still be used."""
        return cls.objects.filter(
            secret=digest(secret), used_at=None, expires_at__gt=timezone.now(), by__is_active=True
        ).first()


class Token(models.Model):
    """A personal token for REST. Only its digest is kept."""

    user = models.ForeignKey(User, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    start = models.CharField(max_length=12)  # the first letters, to tell tokens apart
    secret = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "web_token"
        ordering: ClassVar = ["-id"]

    @classmethod
    def make(cls, user: User, name: str, scopes: list[str], days: int | None) -> tuple[Token, str]:
        secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
        expires = timezone.now() + timedelta(days=days) if days else None
        made = cls.objects.create(
            user=user, name=name, start=secret[:8], secret=digest(secret), scopes=scopes, expires_at=expires
        )
        return made, secret

    @property
    def active(self) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > timezone.now())

    @classmethod
    def find(cls, secret: str) -> Token | None:
        """The token, if it may be used now. Its last use is noted to the minute."""
        found = cls.objects.select_related("user").filter(secret=digest(secret)).first()
        if found is None or not found.active or not found.user.is_active:
            return None
        now = timezone.now()
        if found.last_used_at is None or now - found.last_used_at > timedelta(minutes=1):
            cls.objects.filter(pk=found.pk).update(last_used_at=now)
        return found


class AuditEntry(models.Model):
    """Something that somebody did. Entries are only added; their text is made when they are shown."""

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    who = models.CharField(max_length=150, default="")  # the name, even when the person is gone
    action = models.CharField(max_length=50, db_index=True)
    thing = models.CharField(max_length=200, default="")
    address = models.GenericIPAddressField(null=True)
    details = models.JSONField(default=dict)

    class Meta:
        db_table = "web_audit"
        ordering: ClassVar = ["-id"]


class InstallationSetting(models.Model):
    """A setting of the installation that administrators change on a page."""

    name = models.CharField(max_length=50, primary_key=True)
    value = models.JSONField()

    class Meta:
        db_table = "web_setting"

    @classmethod
    def read(cls) -> dict[str, Any]:
        return dict(cls.objects.values_list("name", "value"))
