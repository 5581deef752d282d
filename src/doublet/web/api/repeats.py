"""Repeats inside documents."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from ninja import File, Form, Router, Schema
from ninja.files import UploadedFile
from pydantic import Field

from doublet.errors import InvalidParameter
from doublet.web.accounts import audit
from doublet.web.api.access import allowed
from doublet.web.pages.repeats import ALGORITHMS, DECISIONS, MOST_DECISIONS, begin, read_options
from doublet.web.rights import own
from doublet.web.words import words_of
from doublet.web.works import checking
from doublet.web.works.models import RepeatsSearch

router = Router(tags=["repeats"])
#: the page may run its own script and reach nothing
SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; sandbox allow-scripts"


class SearchShape(Schema):
    id: UUID
    title: str
    state: str
    job: int | None
    summary: dict[str, Any]
    problem: dict[str, Any] | None

    @staticmethod
    def of(one: RepeatsSearch) -> SearchShape:
        return SearchShape(
            id=one.pk,
            title=one.title,
            state=one.state,
            job=one.job,
            summary=one.summary,
            problem=one.message or None,
        )


class Decisions(Schema):
    decisions: dict[str, str] = Field(description="Group → merge, keep or ignore.")


@router.post("", response={202: SearchShape}, **allowed("make_repeats"))
def make_repeats(
    request: HttpRequest,
    algorithm: str = Form("auto"),
    options: str = Form(
        "{}",
        description="JSON: other parameters of the search, a baseline, decisions, as `doublet repeats` has them.",
    ),
    file: UploadedFile = File(...),
) -> Any:
    """Search a document, or a zip archive of documentation, for what it repeats."""
    if algorithm not in ALGORITHMS:
        raise InvalidParameter("one_of", name="algorithm", value=algorithm, known=list(ALGORITHMS))
    user: Any = request.user
    key = request.headers.get("Idempotency-Key", "")[:200]
    known = RepeatsSearch.objects.filter(owner=user, options__key=key).first() if key else None
    if known is not None:
        return 202, SearchShape.of(known)
    name = str(file.name or "file")
    search = begin(
        user, name, file.read(), algorithm, words_of(request).language, read_options(options), key=key
    )
    audit.note(request, "repeats_searched", search.title)
    return 202, SearchShape.of(search)


@router.get("/{id}/result", response=dict[str, Any], **allowed("get_repeats_result"))
def get_repeats_result(request: HttpRequest, id: UUID) -> Any:
    """All that a search found, with the texts of its files: every report can be made of it."""
    search = own(RepeatsSearch.objects.all(), request.user, pk=id)
    if search.found is None:
        raise Http404
    return HttpResponse(checking.unpacked(search.found), content_type="application/json")


@router.get("/{id}/decisions", response=Decisions, **allowed("get_repeats_decisions"))
def get_repeats_decisions(request: HttpRequest, id: UUID) -> Any:
    """What was decided about each group."""
    return {"decisions": own(RepeatsSearch.objects.all(), request.user, pk=id).decisions}


@router.put("/{id}/decisions", response=Decisions, **allowed("put_repeats_decisions"))
def put_repeats_decisions(request: HttpRequest, id: UUID, data: Decisions) -> Any:
    search = own(RepeatsSearch.objects.all(), request.user, pk=id)
    wrong = [one for one in data.decisions.values() if one not in DECISIONS]
    if wrong:
        raise InvalidParameter("one_of", name="decisions", value=wrong[0][:40], known=list(DECISIONS))
    kept = {key[:200]: value for key, value in list(data.decisions.items())[:MOST_DECISIONS]}
    RepeatsSearch.objects.filter(pk=search.pk).update(decisions=kept)
    return {"decisions": kept}


@router.get(
    "/{id}/page",
    openapi_extra={"responses": {200: {"description": "The page", "content": {"text/html": {}}}}},
    **allowed("get_repeats_page"),
)
def get_repeats_page(request: HttpRequest, id: UUID) -> Any:
    """The page of a search that is done, as one HTML file."""
    search = own(RepeatsSearch.objects.all(), request.user, pk=id)
    if search.result is None:
        raise Http404
    response = HttpResponse(checking.unpacked(search.result), content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = SANDBOX
    return response


@router.get("/{id}", response=SearchShape, **allowed("get_repeats"))
def get_repeats(request: HttpRequest, id: UUID) -> Any:
    search = own(RepeatsSearch.objects.all(), request.user, pk=id)
    checking.catch_up(search)
    return SearchShape.of(search)
