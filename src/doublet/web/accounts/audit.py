"""The audit log: who did what, when, from where (S7). No document text and no secret goes into it."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from doublet.web.accounts.models import AuditEntry, LoginSession

#: every action that is noted; the words are `audit.<action>`
ACTIONS = (
    *("login", "logout", "login_failed", "password_changed", "language_changed", "sessions_ended"),
    *("user_invited", "user_joined", "user_changed", "user_deactivated", "user_activated"),
    *("invitation_revoked", "token_made", "token_revoked", "setting_changed", "audit_exported"),
    *("work_checked", "work_cancelled", "work_deleted", "work_restored", "work_exported", "work_changed"),
    *("decision_made", "decision_undone", "comment_made", "comment_deleted", "link_made", "link_revoked"),
    *("group_checked", "group_deleted", "library_added", "library_filled", "library_deleted"),
    *("library_renamed", "library_exported", "source_removed"),
    *("document_removed", "duplicate_decided", "job_cancelled", "job_retried", "repeats_searched"),
    *("hook_made", "hook_deleted", "job_paused", "job_resumed", "evaluation_started"),
)


def note(request: HttpRequest, action: str, thing: str = "", **details: Any) -> None:
    """Add an entry. *thing* names what it was done to."""
    assert action in ACTIONS, action
    user: Any = getattr(request, "user", None)
    known = user is not None and user.is_authenticated
    AuditEntry.objects.create(
        user=user if known else None,
        who=user.get_username() if known else details.pop("who", "")[:150],
        action=action,
        thing=str(thing)[:200],
        address=client_address(request),
        details=details,
    )


def client_address(request: HttpRequest) -> str | None:
    """Where the request came from: the last address that a trusted proxy wrote down, else the peer."""
    from django.conf import settings

    peer = request.META.get("REMOTE_ADDR") or None
    proxies = settings.DOUBLET.proxies
    if proxies:
        chain = [one.strip() for one in request.headers.get("X-Forwarded-For", "").split(",") if one.strip()]
        if len(chain) >= proxies:
            peer = chain[-proxies]
    return peer


@receiver(user_logged_in)
def _logged_in(request: HttpRequest, user: Any, **_: Any) -> None:
    remember_session(request, user)
    note(request, "login")


def remember_session(request: HttpRequest, user: Any) -> None:
    """Write down where somebody is logged in, so that they can end it from elsewhere."""
    if not request.session.session_key:
        request.session.save()
    LoginSession.objects.update_or_create(
        key=request.session.session_key,
        defaults={
            "user": user,
            "agent": request.headers.get("User-Agent", "")[:300],
            "address": client_address(request),
        },
    )


@receiver(user_logged_out)
def _logged_out(request: HttpRequest, user: Any, **_: Any) -> None:
    if user is not None:
        note(request, "logout")


@receiver(user_login_failed)
def _failed(credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    if request is not None:
        note(request, "login_failed", who=str(credentials.get("username", "")))
