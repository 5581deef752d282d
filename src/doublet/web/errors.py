"""Errors as pages, in the user's language, and as JSON for programs."""

from __future__ import annotations

import logging
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from doublet.errors import DoubletError
from doublet.web.words import choose_language, words_of

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
    "quota": 429,
    "busy": 503,
}


def status_of(error: DoubletError) -> int:
    for kind in type(error).__mro__:
        code = getattr(kind, "code", None)
        if code in STATUS:
            return STATUS[code]
    return 500


def of(request: HttpRequest, error: DoubletError) -> HttpResponse:
    """The page for one of our own errors."""
    status = status_of(error)
    if status >= 500:
        log.error("%s: %s", error.code, error)
    return show(request, status, error.code, message=words_of(request).error(error))


def show(request: HttpRequest, status: int, code: str, **values: Any) -> HttpResponse:
    """A page (or JSON for programs, a short line for parts of pages) that says what is wrong and what to do next."""
    if not hasattr(request, "language"):
        request.language = choose_language(request)  # type: ignore[attr-defined]
    words = words_of(request)
    title = words(f"error.{status}") if words.has(f"error.{status}") else words("error.500")
    message = values.pop("message", None)
    if message is None:
        key = f"error.{code}"
        message = words(key, **values) if words.has(key) else words(f"error.{status}.next")
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
    return show(request, 500, "server_error")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return show(request, 403, "stale_form")
