"""What happens around every request: headers that protect, the language, rights, plain errors."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import translation

from doublet.errors import DoubletError
from doublet.web import errors, rights
from doublet.web.configure import SECURE_POLICY
from doublet.web.words import choose_language

log = logging.getLogger("doublet.web.requests")
Respond = Callable[[HttpRequest], HttpResponseBase]


class SecurityHeaders:
    """A content policy without inline script or style, and a line in the log for each request."""

    def __init__(self, respond: Respond) -> None:
        self._respond = respond

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        response = self._respond(request)
        response.headers.setdefault("Content-Security-Policy", SECURE_POLICY)
        response.headers.setdefault(
            "Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()"
        )
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        if not request.path.startswith(settings.STATIC_URL):
            response.headers.setdefault("Cache-Control", "private, no-store")
            user = getattr(request, "user", None)
            log.info(
                "request",
                extra={
                    "method": request.method,
                    "path": request.path,
                    "status": response.status_code,
                    "ms": round(1000 * (time.perf_counter() - began), 1),
                    "user": user.pk if user is not None and user.is_authenticated else None,
                },
            )
        return response


class Language:
    """The language of the user, else of the browser."""

    def __init__(self, respond: Respond) -> None:
        self._respond = respond

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        language = choose_language(request)
        request.language = language  # type: ignore[attr-defined]
        with translation.override(language):
            response = self._respond(request)
        response.headers.setdefault("Content-Language", language)
        response.headers["Vary"] = ", ".join(
            dict.fromkeys([*filter(None, response.headers.get("Vary", "").split(", ")), "Accept-Language"])
        )
        return response


class Rights:
    """Asks the table of rights before any view runs. An address that is not in the table is closed to everybody."""

    def __init__(self, respond: Respond) -> None:
        self._respond = respond

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._respond(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: Any
    ) -> HttpResponseBase | None:
        match = request.resolver_match
        name = match.view_name if match else ""
        if name.startswith("api-"):
            return None  # `api.auth` asks the same table with the token's user
        verdict = rights.allows(name, request.method or "GET", request.user)
        if verdict == "yes":
            return None
        if verdict == "login":
            return redirect_to_login(request.get_full_path())
        return errors.show(request, 403, "forbidden")


class PlainErrors:
    """Our own errors become pages with a plain sentence in the reader's language."""

    def __init__(self, respond: Respond) -> None:
        self._respond = respond

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._respond(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if isinstance(error, DoubletError):
            return errors.of(request, error)
        if isinstance(error, OperationalError | InterfaceError):
            return errors.no_database(request, error)
        if errors.is_full(error):
            return errors.no_room(request)
        return None
