"""The application that a server runs. `configure` must have been called in this process.

Django reads a whole body before it looks at a request, so what is too large is refused before it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.utils.html import escape

from doublet.web.words import language_of, words

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


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

    return answer


async def _refuse(send: Send, headers: dict[bytes, bytes], path: str, limit: int) -> None:
    made = words(language_of(headers.get(b"accept-language", b"").decode("latin-1")))
    said = made("error.too_large", limit=limit)
    if path.startswith("/api/"):
        import json

        kind, text = (
            "application/json",
            json.dumps({"code": "too_large", "message": said, "details": {"limit": limit}}),
        )
    else:
        kind = "text/html; charset=utf-8"
        text = (
            f'<!DOCTYPE html><html lang="{made.language}"><meta charset="utf-8"><title>413</title>'
            f"<h1>{escape(made('error.413'))}</h1><p>{escape(said)}</p>"
        )
    body = text.encode()
    await send(
        {
            "type": "http.response.start",
            "status": 413,
            "headers": [
                (b"content-type", kind.encode()),
                (b"content-length", str(len(body)).encode()),
                (b"content-security-policy", b"default-src 'none'"),
                (b"connection", b"close"),
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})


application: App = limited(get_asgi_application())
