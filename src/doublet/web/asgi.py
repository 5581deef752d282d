"""The application that a server runs. `configure` must have been called in this process.

Django reads a whole body before it looks at a request, so what is too large is refused before it. It would also give
every request a thread of its own, and so a connection of its own to the database; here threads are kept, each with its
connection.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from asgiref.sync import ThreadSensitiveContext
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.utils.html import escape

from doublet.web.errors import is_full
from doublet.web.words import language_of, words

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
THREADS = 50  #: that answer requests, each with a connection; PostgreSQL allows 100 unless told otherwise


class Threads:
    """Threads that live as long as the service. The first that has nothing to do answers a request; when all are busy,
    one takes several requests in turn."""

    def __init__(self, most: int = THREADS) -> None:
        self._most = most
        self._users: dict[ThreadPoolExecutor, int] = {}

    @contextmanager
    def one(self) -> Iterator[ThreadPoolExecutor]:
        found = min(self._users, key=self._users.__getitem__, default=None)
        if found is None or (self._users[found] and len(self._users) < self._most):
            found = ThreadPoolExecutor(1, thread_name_prefix="doublet-request")
            self._users[found] = 0
        self._users[found] += 1
        try:
            yield found
        finally:
            self._users[found] -= 1


def on_threads(app: App, threads: Threads) -> App:
    """*app*, whose requests are answered by *threads*."""

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        with threads.one() as executor:
            async with ThreadSensitiveContext(executor=executor):
                await app(scope, receive, send)

    return answer


class _TooLarge(Exception):
    """More came than was announced, or than may come."""


def limited(app: App) -> App:
    """*app*, which never sees a body above the limit of the installation."""

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        length = headers.get(b"content-length", b"").decode("latin-1")
        limit = settings.DOUBLET.upload_limit
        if length and (not length.isdigit() or int(length) > limit):
            await _refuse(send, headers, scope["path"], limit)
            return
        got, begun = 0, False

        async def count() -> Message:
            nonlocal got
            message = await receive()
            got += len(message.get("body", b""))
            if got > limit:
                raise _TooLarge
            return message

        async def note(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await app(scope, count, note)
        except _TooLarge:
            if begun:
                raise
            await _refuse(send, headers, scope["path"], limit)
        except OSError as error:  # a large body goes to the disk while it comes
            if begun or not is_full(error):
                raise
            await _say(send, headers, scope["path"], 507, "store_full", "error.507.next")

    return answer


async def _refuse(send: Send, headers: dict[bytes, bytes], path: str, limit: int) -> None:
    await _say(send, headers, path, 413, "too_large", "error.too_large", limit=limit)


async def _say(
    send: Send, headers: dict[bytes, bytes], path: str, status: int, code: str, key: str, **details: int
) -> None:
    made = words(language_of(headers.get(b"accept-language", b"").decode("latin-1")))
    said = made(key, **details)
    if path.startswith("/api/"):
        import json

        kind, text = (
            "application/json",
            json.dumps({"code": code, "message": said, "details": details}),
        )
    else:
        kind = "text/html; charset=utf-8"
        text = (
            f'<!DOCTYPE html><html lang="{made.language}"><meta charset="utf-8"><title>{status}</title>'
            f"<h1>{escape(made(f'error.{status}'))}</h1><p>{escape(said)}</p>"
        )
    body = text.encode()
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", kind.encode()),
                (b"content-length", str(len(body)).encode()),
                (b"content-security-policy", b"default-src 'none'"),
                (b"connection", b"close"),
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})


application: App = limited(on_threads(get_asgi_application(), Threads()))
