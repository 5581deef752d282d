"""Web hooks."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from doublet.errors import InvalidParameter
from doublet.web.accounts import audit
from doublet.web.api import shapes
from doublet.web.api.access import allowed
from doublet.web.hooks import sending
from doublet.web.hooks.models import Delivery, Hook
from doublet.web.hooks.views import MOST_HOOKS
from doublet.web.rights import own

router = Router(tags=["hooks"])


class NewHook(Schema):
    address: str = Field(min_length=1, max_length=2_000)
    note: str = Field("", max_length=200)
    everybody: bool = Field(False, description="An administrator hears of the jobs of all people.")


class HookShape(Schema):
    id: int
    address: str
    note: str
    everybody: bool
    created: datetime
    secret: str | None = Field(None, description="Only in the answer to its making.")

    @staticmethod
    def of(one: Hook, *, secret: bool = False) -> HookShape:
        return HookShape(
            id=one.pk,
            address=one.address,
            note=one.note,
            everybody=one.everybody,
            created=one.created_at,
            secret=one.secret if secret else None,
        )


class DeliveryShape(Schema):
    id: UUID
    event: str
    job: int
    state: str
    attempts: int
    status: int | None
    problem: dict[str, Any] | None
    created: datetime
    next: datetime | None
    delivered: datetime | None

    @staticmethod
    def of(one: Delivery) -> DeliveryShape:
        return DeliveryShape(
            id=one.pk,
            event=str(one.body.get("event", "")),
            job=one.job,
            state=one.state,
            attempts=one.attempts,
            status=one.status,
            problem=one.message or None,
            created=one.created_at,
            next=one.next_at if one.state == "waiting" else None,
            delivered=one.delivered_at,
        )


def _hook(request: HttpRequest, number: int) -> Hook:
    found: Hook = own(Hook.objects.all(), request.user, pk=number)
    return found


@router.get("", response=list[HookShape], **allowed("list_hooks"))
def list_hooks(request: HttpRequest) -> Any:
    user: Any = request.user
    return [HookShape.of(one) for one in user.hooks.all()]


@router.post("", response={201: HookShape}, **allowed("make_hook"))
def make_hook(request: HttpRequest, data: NewHook) -> Any:
    """An address that is told when a job ends. Messages are signed with the secret, which is shown only here."""
    user: Any = request.user
    if user.hooks.count() >= MOST_HOOKS:
        raise InvalidParameter("too_many_hooks", name="address", number=MOST_HOOKS)
    made = Hook.make(user, sending.check_address(data.address), note=data.note, everybody=data.everybody)
    audit.note(request, "hook_made", made.address)
    return 201, HookShape.of(made, secret=True)


@router.delete("/{number}", response={204: None}, **allowed("delete_hook"))
def delete_hook(request: HttpRequest, number: shapes.Number) -> Any:
    found = _hook(request, number)
    audit.note(request, "hook_deleted", found.address)
    found.delete()
    return 204, None


@router.post("/{number}/test", response={202: DeliveryShape}, **allowed("test_hook"))
def test_hook(request: HttpRequest, number: shapes.Number) -> Any:
    return 202, DeliveryShape.of(sending.send_test(_hook(request, number)))


@router.get("/{number}/deliveries", response=list[DeliveryShape], **allowed("list_deliveries"))
def list_deliveries(request: HttpRequest, number: shapes.Number, limit: int = Query(50, ge=1, le=200)) -> Any:
    """What was sent lately, the newest first."""
    found = _hook(request, number)
    return [DeliveryShape.of(one) for one in Delivery.objects.filter(hook=found)[:limit]]
