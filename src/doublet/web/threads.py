"""Threads that answer requests, each with its own connection to the database, which both are kept.

Django would give every request a thread of its own, and so a connection of its own.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import ThreadSensitiveContext

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
THREADS = 50  #: that answer requests, each with a connection; PostgreSQL allows 100 unless told otherwise


class Threads:
    """Threads that live as long as the service, each for one request at a time. When all are busy, requests wait in one
    line, and whoever came first is answered first. For one event loop."""

    def __init__(self, most: int = THREADS) -> None:
        self._most = most
        self._made = 0
        self._free: list[ThreadPoolExecutor] = []
        self._line: deque[asyncio.Future[ThreadPoolExecutor]] = deque()

    async def take(self) -> ThreadPoolExecutor:
        if self._free:
            return self._free.pop()  # the one used last has the most in its caches
        if self._made < self._most:
            self._made += 1
            return ThreadPoolExecutor(1, thread_name_prefix="doublet-request")
        turn = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give_back(turn.result())
            raise

    def give_back(self, thread: ThreadPoolExecutor) -> None:
        while self._line:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(thread)
                return
        self._free.append(thread)


def on_threads(app: App, threads: Threads) -> App:
    """*app*, whose requests are answered by *threads*. A stream of events, which lasts for minutes and does next to
    nothing, keeps no thread from others: it goes on beside whoever has it next."""

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        thread, held = await threads.take(), True

        def release() -> None:
            nonlocal held
            if held:
                held = False
                threads.give_back(thread)

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_stream(message):
                release()
            await send(message)

        try:
            async with ThreadSensitiveContext(executor=thread):
                await app(scope, receive, watch)
        finally:
            release()

    return answer


def _is_stream(start: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream")
        for name, value in start["headers"]
    )
