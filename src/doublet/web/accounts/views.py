"""Pages of people: login, joining by invitation, the own account, users, the audit log, settings."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.views import LoginView, LogoutView
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from doublet.reports.tables import safe_cell
from doublet.web import errors, installation
from doublet.web.accounts import audit
from doublet.web.accounts.forms import (
    AccountForm,
    InvitationForm,
    JoinForm,
    PasswordForm,
    TokenForm,
    UserForm,
)
from doublet.web.accounts.models import SCOPES, AuditEntry, Invitation, LoginSession, Token, User
from doublet.web.words import LANGUAGES, words_of
from doublet.web.works.quotas import checks_today, limit_of

PAGE = 50


class Login(LoginView):
    template_name = "doublet/accounts/login.html"
    redirect_authenticated_user = True


class Logout(LogoutView):
    http_method_names = ("post", "options")


def locked_out(request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
    """Shown after too many wrong passwords from one address or for one name."""
    return errors.show(request, 429, "locked_out")


def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """A new person comes in by a link, once."""
    found = Invitation.find(secret)
    if found is None:
        return errors.show(request, 410, "invitation_over")
    form = JoinForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        with transaction.atomic():
            user = User.objects.create_user(
                data["username"],
                password=data["password"],
                first_name=data["first_name"],
                last_name=data["last_name"],
                role=found.role,
                language=words_of(request).language,
            )
            taken = Invitation.objects.filter(pk=found.pk, used_at=None).update(
                used_at=timezone.now(), user=user
            )
            if not taken:
                raise Http404
        login(request, user, backend="django.contrib.auth.backends.ModelBackend")
        audit.note(request, "user_joined", user.username)
        return redirect("home")
    return render(request, "doublet/accounts/invitation.html", {"form": form})


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Change the language: of the account when somebody is logged in, else of this browser."""
    chosen = request.POST.get("language", "")
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure()):
        back = reverse("home")
    response = redirect(back)
    if chosen in LANGUAGES:
        if request.user.is_authenticated:
            User.objects.filter(pk=request.user.pk).update(language=chosen)
        response.set_cookie(
            "language",
            chosen,
            max_age=365 * 24 * 3600,
            samesite="Lax",
            httponly=True,
            secure=request.is_secure(),
        )
    return response


def account(request: HttpRequest) -> HttpResponse:
    """Own name, language and password; tokens; where one is logged in."""
    user: Any = request.user
    words = words_of(request)
    which = request.POST.get("form", "")
    facts = {name: getattr(user, name) for name in ("first_name", "last_name", "email", "language")}
    form = AccountForm(request.POST if which == "account" else None, initial=facts)
    password = PasswordForm(user, request.POST if which == "password" else None)
    if which == "account" and form.is_valid():
        for name, value in form.cleaned_data.items():
            setattr(user, name, value)
        user.save(update_fields=list(form.cleaned_data))
        messages.success(request, words("account.saved"))
        return redirect("account")
    if which == "password" and password.is_valid():
        user.set_password(password.cleaned_data["new"])
        user.save(update_fields=["password"])
        LoginSession.objects.filter(key=request.session.session_key).delete()
        update_session_auth_hash(request, user)
        audit.remember_session(request, user)
        audit.note(request, "password_changed")
        messages.success(request, words("account.password_changed"))
        return redirect("account")
    return render(
        request,
        "doublet/accounts/account.html",
        {
            "form": form,
            "password": password,
            "tokens": user.tokens.filter(revoked_at=None),
            "new_token": request.session.pop("new_token", None),
            "scopes": SCOPES,
            "sessions": LoginSession.live(user),
            "here": request.session.session_key,
            "used": checks_today(user),
            "limit": limit_of(request),
        },
    )


@require_POST
def make_token(request: HttpRequest) -> HttpResponse:
    form = TokenForm(request.POST)
    if not form.is_valid():
        messages.error(request, words_of(request)("account.token_wrong"))
        return redirect("account")
    data = form.cleaned_data
    user: Any = request.user
    scopes = list(SCOPES[: SCOPES.index(data["scope"]) + 1])
    made, secret = Token.make(user, data["name"], scopes, data["days"])
    audit.note(request, "token_made", made.name, scopes=scopes)
    request.session["new_token"] = {"name": made.name, "secret": secret}
    return redirect("account")


@require_POST
def revoke_token(request: HttpRequest, number: int) -> HttpResponse:
    token = get_object_or_404(Token, pk=number, user=request.user, revoked_at=None)
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])
    audit.note(request, "token_revoked", token.name)
    messages.success(request, words_of(request)("account.token_revoked", name=token.name))
    return redirect("account")


@require_POST
def end_sessions(request: HttpRequest) -> HttpResponse:
    """Log the person out everywhere but here."""
    user: Any = request.user
    ended = 0
    for one in LoginSession.live(user):
        if one.key != request.session.session_key:
            one.end()
            ended += 1
    audit.note(request, "sessions_ended", ended=ended)
    messages.success(request, words_of(request)("account.sessions_ended"))
    return redirect("account")


@require_POST
def end_session(request: HttpRequest, number: int) -> HttpResponse:
    """Log the person out in one browser."""
    get_object_or_404(LoginSession, pk=number, user=request.user).end()
    audit.note(request, "sessions_ended", ended=1)
    return redirect("account")


# For administrators


def users(request: HttpRequest) -> HttpResponse:
    asked = request.GET.get("q", "").strip()
    rows = User.objects.order_by("-is_active", "username")
    if asked:
        rows = rows.filter(
            Q(username__icontains=asked) | Q(first_name__icontains=asked) | Q(last_name__icontains=asked)
        )
    waiting = Invitation.objects.filter(used_at=None, expires_at__gt=timezone.now()).select_related("by")
    return render(
        request,
        "doublet/accounts/users.html",
        {
            "page": Paginator(rows, PAGE).get_page(request.GET.get("page")),
            "asked": asked,
            "invitations": waiting,
            "new_invitation": request.session.pop("new_invitation", None),
        },
    )


@require_POST
def invite(request: HttpRequest) -> HttpResponse:
    form = InvitationForm(request.POST)
    if form.is_valid():
        user: Any = request.user
        made, secret = Invitation.make(user, form.cleaned_data["role"], form.cleaned_data["note"])
        audit.note(request, "user_invited", made.note, role=made.role)
        request.session["new_invitation"] = request.build_absolute_uri(reverse("invitation", args=[secret]))
    return redirect("users")


@require_POST
def revoke_invitation(request: HttpRequest, number: int) -> HttpResponse:
    found = get_object_or_404(Invitation, pk=number, used_at=None)
    audit.note(request, "invitation_revoked", found.note)
    found.delete()
    return redirect("users")


def user(request: HttpRequest, number: int) -> HttpResponse:
    """One person: role, quota, whether the account is active. The last administrator cannot be taken away."""
    person = get_object_or_404(User, pk=number)
    words = words_of(request)
    initial = {
        "role": person.role,
        "active": person.is_active,
        "checks_per_day": person.checks_per_day,
    }
    form = UserForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        stays = data["active"] and data["role"] == User.ADMINISTRATOR
        others = User.objects.filter(role=User.ADMINISTRATOR, is_active=True).exclude(pk=person.pk)
        if person.is_administrator and not stays and not others.exists():
            messages.error(request, words("users.last_administrator"))
            return redirect("user", person.pk)
        was_active = person.is_active
        person.role, person.is_active = data["role"], data["active"]
        person.checks_per_day = data["checks_per_day"]
        person.save(update_fields=["role", "is_active", "checks_per_day"])
        if was_active and not person.is_active:
            for session in LoginSession.live(person):
                session.end()
        action = "user_changed" if was_active == person.is_active else "user_deactivated"
        if person.is_active and not was_active:
            action = "user_activated"
        audit.note(request, action, person.username, role=person.role)
        messages.success(request, words("users.saved", name=person.shown))
        return redirect("users")
    recent = AuditEntry.objects.filter(user=person)[:20]
    return render(request, "doublet/accounts/user.html", {"person": person, "form": form, "recent": recent})


def _audit_rows(request: HttpRequest) -> Any:
    rows = AuditEntry.objects.all()
    asked = request.GET.get("q", "").strip()
    action = request.GET.get("action", "")
    if asked:
        rows = rows.filter(Q(who__icontains=asked) | Q(thing__icontains=asked) | Q(address=asked or None))
    if action in audit.ACTIONS:
        rows = rows.filter(action=action)
    return rows


def audit_log(request: HttpRequest) -> HttpResponse:
    page = Paginator(_audit_rows(request), PAGE).get_page(request.GET.get("page"))
    return render(
        request,
        "doublet/accounts/audit.html",
        {
            "page": page,
            "asked": request.GET.get("q", ""),
            "action": request.GET.get("action", ""),
            "actions": audit.ACTIONS,
        },
    )


class _Echo:
    def write(self, value: str) -> str:
        return value


def audit_export(request: HttpRequest) -> HttpResponseBase:
    """The log as CSV. Cells that a spreadsheet would run as formulas are defused."""
    rows = _audit_rows(request)
    writer = csv.writer(_Echo())

    def lines() -> Iterator[str]:
        yield "\ufeff" + writer.writerow(["at", "who", "action", "thing", "address", "details"])
        for one in rows.iterator(1000):
            cells = [one.at.isoformat(), one.who, one.action, one.thing, one.address or "", str(one.details)]
            yield writer.writerow([safe_cell(cell) for cell in cells])

    audit.note(request, "audit_exported")
    response = StreamingHttpResponse(lines(), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="audit.csv"'
    return response


def installation_settings(request: HttpRequest) -> HttpResponse:
    """Settings of the installation, each with what it does to safety."""
    words = words_of(request)
    found = installation.read(request)
    form = installation.SettingsForm(request.POST or None, initial=found.to_dict())
    if request.method == "POST" and form.is_valid():
        changed = installation.write(form.cleaned_data)
        if changed:
            audit.note(request, "setting_changed", ", ".join(changed))
        messages.success(request, words("installation.saved"))
        return redirect("installation")
    return render(
        request,
        "doublet/accounts/installation.html",
        {"form": form, "facts": installation.facts(words)},
    )
