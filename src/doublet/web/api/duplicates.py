"""What people decided about pairs of duplicates; it stays when they are searched for again."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from doublet.errors import InvalidParameter
from doublet.web.accounts import audit
from doublet.web.api import shapes
from doublet.web.api.access import allowed
from doublet.web.pages.models import DuplicateDecision

router = Router(tags=["duplicates"])


class Place(Schema):
    """A document of a library."""

    library: str = Field(min_length=1, max_length=200)
    id: str = Field(min_length=1, max_length=2_000)


class TwoPlaces(Schema):
    a: Place
    b: Place


class PairDecision(TwoPlaces):
    decision: str = Field(description="One of: {known}.".format(known=", ".join(DuplicateDecision.DECISIONS)))


class DecidedPair(PairDecision):
    by: str
    at: datetime


class DecidedPairs(Schema):
    items: list[DecidedPair]
    next: str | None = None


@router.get("/decisions", response=DecidedPairs, **allowed("list_duplicate_decisions"))
def list_duplicate_decisions(
    request: HttpRequest, cursor: str | None = None, limit: int = Query(100, ge=1, le=500)
) -> Any:
    """The newest first."""
    rows = DuplicateDecision.objects.select_related("by").order_by("-pk")
    before = shapes.read_cursor(cursor, 1)
    if before:
        try:
            rows = rows.filter(pk__lt=int(before[0]))
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidParameter("wrong_cursor", name="cursor") from error
    found = list(rows[: limit + 1])
    more = shapes.cursor_of(found[limit - 1].pk) if len(found) > limit else None
    return {"items": [_shape(one) for one in found[:limit]], "next": more}


@router.put("/decisions", response=DecidedPair, **allowed("decide_duplicate"))
def decide_duplicate(request: HttpRequest, data: PairDecision) -> Any:
    """Say what two documents are to each other; a decision about the same two is replaced."""
    if data.decision not in DuplicateDecision.DECISIONS:
        known = list(DuplicateDecision.DECISIONS)
        raise InvalidParameter("one_of", name="decision", value=data.decision[:40], known=known)
    a, b = (data.a.library, data.a.id), (data.b.library, data.b.id)
    DuplicateDecision.decide(a, b, data.decision, request.user)
    audit.note(request, "duplicate_decided", f"{data.b.library}/{data.b.id}", decision=data.decision)
    return _shape(DuplicateDecision.objects.get(key=DuplicateDecision.key_of(a, b)))


@router.post("/decisions/undo", response={204: None}, **allowed("undo_duplicate_decision"))
def undo_duplicate_decision(request: HttpRequest, data: TwoPlaces) -> Any:
    """Take a decision back."""
    key = DuplicateDecision.key_of((data.a.library, data.a.id), (data.b.library, data.b.id))
    if not DuplicateDecision.objects.filter(key=key).delete()[0]:
        raise Http404
    audit.note(request, "duplicate_decided", f"{data.b.library}/{data.b.id}", decision="undone")
    return 204, None


def _shape(one: DuplicateDecision) -> DecidedPair:
    return DecidedPair(
        a=Place(library=one.library_a, id=one.document_a),
        b=Place(library=one.library_b, id=one.document_b),
        decision=one.decision,
        by=one.by.get_username() if one.by else "",
        at=one.at,
    )
