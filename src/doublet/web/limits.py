"""How often somebody may ask, by role (S7): a bucket of requests that fills up again as time goes.

Buckets live in the memory of the one process that answers requests; a restart forgives.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from doublet.web import errors
from doublet.web.accounts.audit import client_address

#: requests in a minute; the bucket holds a third of them at once
PER_MINUTE = {"anonymous": 120, "teacher": 900, "administrator": 3_000}
REMEMBERED = 10_000  #: buckets; the one not used for longest is forgotten


class Buckets:
    """Token buckets by key. Safe to share between threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, per_minute: int) -> float:
        """0 when the request may pass, else how many seconds to wait."""
        now, most = self._clock(), per_minute / 3
        with self._lock:
            level, at = self._levels.pop(key, (most, now))
            level = min(most, level + (now - at) * per_minute / 60)
            wait = 0.0 if level >= 1 else (1 - level) * 60 / per_minute
            self._levels[key] = (level - 1 if not wait else level, now)
            while len(self._levels) > REMEMBERED:
                self._levels.popitem(last=False)
        return wait


_BUCKETS = Buckets()


class RateLimit:
    """Answers 429 with Retry-After to whoever asks too often. Static files and health do not count."""

    def __init__(self, respond: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._respond = respond

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path in ("/healthz", "/readyz", "/metrics"):
            return self._respond(request)
        user: Any = request.user
        role = user.role if user.is_authenticated else "anonymous"
        # A token is looked up later: until then its holder counts by the token itself.
        secret = request.headers.get("Authorization", "")
        key = f"user {user.pk}" if user.is_authenticated else f"token {secret}" if secret else ""
        wait = _BUCKETS.take(
            key or f"address {client_address(request)}", PER_MINUTE["teacher" if secret else role]
        )
        if not wait:
            return self._respond(request)
        response = errors.show(request, 429, "too_many", seconds=int(wait) + 1)
        response.headers["Retry-After"] = str(int(wait) + 1)
        return response
