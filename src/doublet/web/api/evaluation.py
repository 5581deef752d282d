"""Evaluation of the methods, and the settings of the installation."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router, Schema
from pydantic import Field

from doublet.errors import UnknownReport
from doublet.signatures import method_class
from doublet.web import installation
from doublet.web.accounts import audit
from doublet.web.api import shapes
from doublet.web.api.access import allowed
from doublet.web.pages.evaluation import JOB, KIND
from doublet.web.store import store

router = Router(tags=["evaluation"])
settings_router = Router(tags=["settings"])


class NewEvaluation(Schema):
    method: str = Field(default="", max_length=100, description="Only this method.")
    quick: bool = Field(default=True, description="Fewer texts: minutes instead of an hour.")


class EvaluationShape(Schema):
    number: int
    created: str


class SettingsShape(Schema):
    """What administrators may change while the service runs."""

    title: str
    notice: str
    checks_per_day: int
    retention_days: int
    undo_days: int


class SettingsEdit(Schema):
    title: str | None = Field(None, min_length=1, max_length=80)
    notice: str | None = Field(None, max_length=300)
    checks_per_day: int | None = Field(None, ge=1, le=1_000_000)
    retention_days: int | None = Field(None, ge=0, le=36_500)
    undo_days: int | None = Field(None, ge=1, le=3_650)


@router.get("", response=list[EvaluationShape], **allowed("list_evaluations"))
def list_evaluations(request: HttpRequest) -> Any:
    """The newest reports."""
    return [
        {"number": one.number, "created": one.created} for one in store().reports.find(kind=KIND, limit=20)
    ]


@router.post("", response={202: shapes.JobShape}, **allowed("start_evaluation"))
def start_evaluation(request: HttpRequest, data: NewEvaluation) -> Any:
    """Put every method, or one, to the test. The number of the report is in the result of the job. While the same
    evaluation waits or runs, its job is given."""
    if data.method:
        method_class(data.method)  # raises `UnknownMethod`
    user: Any = request.user
    wanted = {"quick": data.quick, **({"method": data.method} if data.method else {})}
    same = [one for one in store().jobs.find(("new", "running"), kind=JOB) if one.parameters == wanted]
    if not same:
        same = [store().jobs.add(JOB, wanted, asked_by=user.get_username())]
        audit.note(request, "evaluation_started")
    return 202, shapes.JobShape.of(same[0])


@router.get("/{number}", response=dict[str, Any], **allowed("get_evaluation"))
def get_evaluation(request: HttpRequest, number: shapes.Number) -> Any:
    """A report, as `doublet evaluate --format json` writes it."""
    try:
        if store().reports.get(number).kind != KIND:
            raise Http404
        return store().reports.data(number)
    except UnknownReport as error:
        raise Http404 from error


@settings_router.get("", response=SettingsShape, **allowed("get_settings"))
def get_settings(request: HttpRequest) -> Any:
    return installation.read(request).to_dict()


@settings_router.patch("", response=SettingsShape, **allowed("edit_settings"))
def edit_settings(request: HttpRequest, data: SettingsEdit) -> Any:
    """Only what is given changes."""
    changed = installation.write({name: one for name, one in data.dict().items() if one is not None})
    if changed:
        audit.note(request, "setting_changed", ", ".join(changed))
    return installation.read().to_dict()
