"""Errors as pages, in the user's language, and as JSON for programs."""

from __future__ import annotations

import contextlib
import errno
import logging
import sys
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from doublet.errors import DoubletError, StoreError
from doublet.web.words import Words, choose_language, language_of, words, words_of

log = logging.getLogger(__name__)

#: code of an error → HTTP status; the nearest ancestor with an entry counts
STATUS = {
    "usage": 400,
    "unknown_library": 404,
    "library_exists": 409,
    "config": 503,
    "source": 422,
    "input_not_found": 404,
    "not_allowed": 403,
    "too_large": 413,
    "fetch_failed": 422,
    "text": 422,
    "store": 503,
    "store_busy": 503,
    "store_full": 507,
    "cancelled": 409,
    "edited": 409,
    "in_queue": 409,
    "quota": 429,
    "busy": 503,
}


def status_of(error: DoubletError) -> int:
    for kind in type(error).__mro__:
        if issubclass(kind, DoubletError) and kind.code in STATUS:
            return STATUS[kind.code]
    return 500


def of(request: HttpRequest, error: DoubletError) -> HttpResponse:
    """The page for one of our own errors."""
    status = status_of(error)
    if status >= 500:
        log.error("%s: %s", error.code, error)
    return show(request, status, error.code, message=sentence(words_of(request), error))


def sentence(said: Words, error: DoubletError) -> str:
    """What a user is told. What went wrong with the database is the administrator's business and in the log: its place
    on the server, and what to do there, is no news for everybody."""
    key = f"error.{status_of(error)}.next"
    return said(key) if isinstance(error, StoreError) and said.has(key) else said.error(error)


def is_full(error: BaseException | None) -> bool:
    """Whether there is no room left on the disk for what was to be written."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def show(request: HttpRequest, status: int, code: str, **values: Any) -> HttpResponse:
    """A page (or JSON for programs, a short line for parts of pages) that says what is wrong and what to do next."""
    if not hasattr(request, "language"):
        request.language = choose_language(request)  # type: ignore[attr-defined]
    said = words_of(request)
    title = said(f"error.{status}") if said.has(f"error.{status}") else said("error.500")
    message = values.pop("message", None)
    if message is None:
        key = f"error.{code}"
        message = said(key, **values) if said.has(key) else said(f"error.{status}.next")
    if request.path.startswith("/api/"):
        return JsonResponse({"code": code, "message": message, "details": values}, status=status)
    if request.headers.get("HX-Request"):
        return HttpResponse(message, status=status, content_type="text/plain; charset=utf-8")
    return render(
        request, "doublet/error.html", {"status": status, "title": title, "message": message}, status=status
    )


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return show(request, 400, "bad_request")


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return show(request, 403, "forbidden")


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return show(request, 404, "not_found")


def server_error(request: HttpRequest) -> HttpResponse:
    error = sys.exc_info()[1]
    if isinstance(error, OperationalError | InterfaceError):
        return no_database(request, error)
    if is_full(error):
        return no_room(request)
    try:
        return show(request, 500, "server_error")
    except (DatabaseError, DoubletError):
        return plain(request, 500, "server_error")


def no_database(request: HttpRequest, error: Exception) -> HttpResponse:
    """The database is gone, busy for too long, or has no room: nothing is lost but this request."""
    log.error("the database cannot be used: %s", error)
    status, code = database_problem(error)
    response = plain(request, status, code)
    response.headers["Retry-After"] = "10"
    return response


def no_room(request: HttpRequest) -> HttpResponse:
    """What was uploaded does not fit."""
    log.error("there is no room left on the disk")
    for handler in request.upload_handlers:  # what there was room for goes now, not some time
        with contextlib.suppress(OSError, AttributeError):
            handler.file.close()  # type: ignore[attr-defined]
    return plain(request, 507, "store_full")


def database_problem(error: Exception) -> tuple[int, str]:
    """Status and code for an error of the database."""
    said = str(error).lower()
    full = "disk is full" in said or "no space left" in said or "could not extend file" in said
    return (507, "store_full") if full else (503, "database")


def plain(request: HttpRequest, status: int, code: str) -> HttpResponse:
    """A page that needs no database: neither a name nor a notice, and the language of the browser."""
    made = words(language_of(request.headers.get("Accept-Language", "")))
    title, message = made(f"error.{status}"), made(f"error.{status}.next")
    if request.path.startswith("/api/"):
        return JsonResponse({"code": code, "message": message, "details": {}}, status=status)
    values = {"w": made, "status": status, "title": title, "message": message, "again": made("error.again")}
    return HttpResponse(render_to_string("doublet/plain.html", values), status=status)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return show(request, 403, "stale_form")
