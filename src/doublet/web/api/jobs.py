"""Jobs of the queue: look, watch (server-sent events), cancel, try again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, StreamingHttpResponse
from ninja import Query, Router

from doublet.errors import InvalidParameter, UnknownJob
from doublet.jobs.queue.kinds import enqueue
from doublet.store.values import JobInfo
from doublet.web.accounts import audit
from doublet.web.api import shapes
from doublet.web.api.access import allowed
from doublet.web.store import store
from doublet.web.works import checking

router = Router(tags=["jobs"])
#: an event as the description has it; its data is a job as JSON
EVENT = {
    "type": "object",
    "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
    "required": ["event", "data"],
}
LOOK_S = 0.5
WATCH_S = 15  #: that a stream is open at most, unless more was asked for
LONGEST_S = 3600


def key_of(request: HttpRequest) -> str | None:
    """The ``Idempotency-Key`` of a request, as a job of its person keeps it: the same request twice is one job."""
    given = request.headers.get("Idempotency-Key", "")
    user: Any = request.user
    return f"rest {user.pk} {request.method} {request.path} {given[:200]}" if given else None


def queued(request: HttpRequest, kind: str, parameters: dict[str, Any]) -> shapes.JobShape:
    """Put work of this person into the queue, once for each key of `key_of`. Raises `InvalidParameter`."""
    user: Any = request.user
    job = enqueue(store(), kind, parameters, asked_by=user.get_username(), key=key_of(request))
    return shapes.JobShape.of(job)


def known_job(request: HttpRequest) -> shapes.JobShape | None:
    """The job that the same request was given before."""
    key = key_of(request)
    found = store().jobs.by_key(key) if key is not None else None
    return shapes.JobShape.of(found) if found is not None else None


def _mine(request: HttpRequest, number: int) -> JobInfo:
    user: Any = request.user
    try:
        job = store().jobs.get(number)
    except UnknownJob as error:
        raise Http404 from error
    if job.asked_by != user.get_username() and not user.is_administrator:
        raise Http404
    return job


@router.get("", response=shapes.Jobs, **allowed("list_jobs"))
def list_jobs(
    request: HttpRequest,
    state: list[str] = Query([]),
    library: str | None = None,
    cursor: str | None = None,
    limit: int = Query(50, ge=1, le=200),
) -> Any:
    before = shapes.read_cursor(cursor, 1)
    try:
        start = int(before[0]) if before else None
    except (TypeError, ValueError) as error:
        raise InvalidParameter("wrong_cursor", name="cursor") from error
    found = store().jobs.find(state, library=library, before=start, limit=limit + 1)
    more = len(found) > limit
    return {
        "items": [shapes.JobShape.of(one) for one in found[:limit]],
        "counts": store().jobs.counts(),
        "next": shapes.cursor_of(found[limit - 1].number) if more else None,
    }


@router.get("/{number}", response=shapes.JobDetails, **allowed("get_job"))
def get_job(request: HttpRequest, number: shapes.Number) -> Any:
    return shapes.JobDetails.of(_mine(request, number))


@router.get(
    "/{number}/events",
    response={200: None},
    openapi_extra={
        "responses": {200: {"description": "Events", "content": {"text/event-stream": {"schema": EVENT}}}}
    },
    **allowed("watch_job"),
)
def watch_job(
    request: HttpRequest, number: shapes.Number, seconds: int = Query(WATCH_S, ge=1, le=LONGEST_S)
) -> Any:
    """Progress as server-sent events, one for each change, until the job has ended (event *end*) or *seconds* are over;
    a browser then asks again by itself."""
    _mine(request, number)

    async def events() -> AsyncIterator[str]:
        last = ""
        for _ in range(int(seconds / LOOK_S)):
            try:
                job = await sync_to_async(store().jobs.get)(number)
            except UnknownJob:
                return
            shape = shapes.JobShape.of(job).model_dump(mode="json")
            text = json.dumps(shape, ensure_ascii=False)
            if text != last:
                last = text
                yield f"event: progress\ndata: {text}\n\n"
            if job.over:
                yield "event: end\ndata: {}\n\n"
                return
            await asyncio.sleep(LOOK_S)

    response = StreamingHttpResponse(events(), content_type="text/event-stream")
    response.headers["X-Accel-Buffering"] = "no"
    return response


@router.post("/{number}/cancel", response=shapes.JobShape, **allowed("cancel_job"))
def cancel_job(request: HttpRequest, number: shapes.Number) -> Any:
    _mine(request, number)
    audit.note(request, "job_cancelled", str(number))
    job = store().jobs.cancel(number)
    checking.job_taken_out(number)
    return shapes.JobShape.of(job)


@router.post("/{number}/pause", response=shapes.JobShape, **allowed("pause_job"))
def pause_job(request: HttpRequest, number: shapes.Number) -> Any:
    """Let the job wait until it is resumed. What it has stored stays."""
    _mine(request, number)
    audit.note(request, "job_paused", str(number))
    return shapes.JobShape.of(store().jobs.pause(number))


@router.post("/{number}/resume", response=shapes.JobShape, **allowed("resume_job"))
def resume_job(request: HttpRequest, number: shapes.Number) -> Any:
    _mine(request, number)
    audit.note(request, "job_resumed", str(number))
    return shapes.JobShape.of(store().jobs.resume(number))


@router.post("/{number}/retry", response=shapes.JobShape, **allowed("retry_job"))
def retry_job(request: HttpRequest, number: shapes.Number) -> Any:
    _mine(request, number)
    audit.note(request, "job_retried", str(number))
    return shapes.JobShape.of(store().jobs.retry(number))
