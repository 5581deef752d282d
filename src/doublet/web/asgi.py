"""The application that a server runs. `configure` must have been called in this process.

Django reads a whole body before it looks at a request, so what is too large is refused before it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponseBase

from doublet.reports.page import escape, shell
from doublet.web import checkers
from doublet.web.errors import is_full
from doublet.web.threads import App, Message, Receive, Send, Threads, on_threads
from doublet.web.words import language_of, words

CHECKS = ("/api/v1/checks", "/check/")  #: addresses where texts are checked while somebody waits


class _Rest:
    """What comes from a client after its body, which was read."""

    def __init__(self, receive: Receive, body: Any) -> None:
        self._receive, self.body = receive, body

    async def __call__(self) -> Message:
        return await self._receive()


class Handler(ASGIHandler):
    """Django's handler, with all of our middleware and views, which are plain functions, in one call on one thread.
    Its own way goes through the event loop several times for each request, which costs as much as a small page.

    A request gets its thread when its body is there, so that slow clients hold nobody up. People who wait for a check
    wait in a line of their own: pages are answered meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self._answer = on_threads(self.handle, Threads())
        self._checks: asyncio.Semaphore | None = None

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"{scope['type']} is not answered")
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        try:
            if scope["method"] == "POST" and scope["path"] in CHECKS:
                if self._checks is None:
                    self._checks = asyncio.Semaphore(checkers.at_once())
                async with self._checks:
                    await self._answer(scope, _Rest(receive, body), send)
            else:
                await self._answer(scope, _Rest(receive, body), send)
        finally:
            body.close()

    async def read_body(self, receive: Receive) -> Any:
        return receive.body if isinstance(receive, _Rest) else await super().read_body(receive)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)


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
        title = made(f"error.{status}")
        text = shell(title, f"<h1>{escape(title)}</h1>\n<p>{escape(said)}</p>", language=made.language)
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


application: App = limited(Handler())
