"""People, the audit log, methods, and who is asking."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Q
from django.http import Http404, HttpRequest
from django.urls import reverse
from ninja import Query, Router, Schema
from pydantic import Field

from doublet.errors import InvalidParameter
from doublet.signatures import methods as known_methods
from doublet.web.accounts import audit
from doublet.web.accounts.models import AuditEntry, Invitation, User
from doublet.web.api import shapes
from doublet.web.api.access import allowed

router = Router(tags=["people"])


class Person(Schema):
    id: int
    name: str
    shown: str
    role: str
    active: bool
    checks_per_day: int | None
    last_login: datetime | None

    @staticmethod
    def of(one: Any) -> Person:
        return Person(
            id=one.pk,
            name=one.username,
            shown=one.shown,
            role=one.role,
            active=one.is_active,
            checks_per_day=one.checks_per_day,
            last_login=one.last_login,
        )


class NewInvitation(Schema):
    role: str = Field("teacher", pattern="^(teacher|administrator)$")
    note: str = Field("", max_length=200)


class InvitationMade(Schema):
    address: str
    expires: datetime


class InvitationShape(Schema):
    id: int
    role: str
    note: str
    by: str
    expires: datetime


class PersonEdit(Schema):
    role: str | None = Field(None, pattern="^(teacher|administrator)$")
    active: bool | None = None
    checks_per_day: int | None = Field(None, ge=0, le=1_000_000)


class Entry(Schema):
    id: int
    at: datetime
    who: str
    action: str
    thing: str
    address: str | None
    details: dict[str, Any]


class Entries(Schema):
    items: list[Entry]
    next: str | None = None


@router.get("/me", response=Person, **allowed("who_am_i"))
def who_am_i(request: HttpRequest) -> Any:
    return Person.of(request.user)


@router.get("/users", response=list[Person], **allowed("list_users"))
def list_users(request: HttpRequest) -> Any:
    return [Person.of(one) for one in User.objects.order_by("username")]


@router.post("/users/invite", response={201: InvitationMade}, **allowed("invite_user"))
def invite_user(request: HttpRequest, data: NewInvitation) -> Any:
    user: Any = request.user
    made, secret = Invitation.make(user, data.role, data.note)
    audit.note(request, "user_invited", made.note, role=made.role)
    address = request.build_absolute_uri(reverse("invitation", args=[secret]))
    return 201, {"address": address, "expires": made.expires_at}


@router.get("/invitations", response=list[InvitationShape], **allowed("list_invitations"))
def list_invitations(request: HttpRequest) -> Any:
    """Those that nobody used yet."""
    rows = Invitation.objects.filter(used_at=None).select_related("by")
    return [
        {
            "id": one.pk,
            "role": one.role,
            "note": one.note,
            "by": one.by.get_username(),
            "expires": one.expires_at,
        }
        for one in rows
    ]


@router.delete("/invitations/{number}", response={204: None}, **allowed("revoke_invitation"))
def revoke_invitation(request: HttpRequest, number: shapes.Number) -> Any:
    found = Invitation.objects.filter(pk=number, used_at=None).first()
    if found is None:
        raise Http404
    audit.note(request, "invitation_revoked", found.note)
    found.delete()
    return 204, None


@router.patch("/users/{number}", response=Person, **allowed("edit_user"))
def edit_user(request: HttpRequest, number: shapes.Number, data: PersonEdit) -> Any:
    person = User.objects.filter(pk=number).first()
    if person is None:
        raise Http404
    given = data.dict(exclude_unset=True)
    role, active = given.get("role") or person.role, given.get("active", person.is_active)
    others = User.objects.filter(role=User.ADMINISTRATOR, is_active=True).exclude(pk=person.pk)
    if person.is_administrator and not (active and role == User.ADMINISTRATOR) and not others.exists():
        raise InvalidParameter("last_administrator", name="role")
    person.role, person.is_active = role, bool(active)
    if "checks_per_day" in given:
        person.checks_per_day = given["checks_per_day"]
    person.save(update_fields=["role", "is_active", "checks_per_day"])
    audit.note(request, "user_changed", person.username, role=person.role)
    return Person.of(person)


@router.get("/audit", response=Entries, **allowed("list_audit"))
def list_audit(
    request: HttpRequest,
    cursor: str | None = None,
    limit: int = Query(100, ge=1, le=500),
    q: str = Query("", max_length=200, description="In the name of the person or of the thing."),
    action: str = Query("", max_length=50),
) -> Any:
    before = shapes.read_cursor(cursor, 1)
    rows = AuditEntry.objects.order_by("-id")
    if q:
        rows = rows.filter(Q(who__icontains=q) | Q(thing__icontains=q))
    if action:
        rows = rows.filter(action=action)
    if before:
        try:
            rows = rows.filter(pk__lt=int(before[0]))
        except (TypeError, ValueError) as error:
            raise InvalidParameter("wrong_cursor", name="cursor") from error
    found = list(rows[: limit + 1])
    items = [
        Entry(
            id=one.pk,
            at=one.at,
            who=one.who,
            action=one.action,
            thing=one.thing,
            address=one.address,
            details=one.details,
        )
        for one in found[:limit]
    ]
    return {"items": items, "next": shapes.cursor_of(found[limit - 1].pk) if len(found) > limit else None}


@router.get("/methods", response=list[dict[str, Any]], **allowed("list_methods"))
def list_methods(request: HttpRequest) -> Any:
    return [info.to_dict() for info in known_methods()]
