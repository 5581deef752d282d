"""Threads that answer requests: one request each, first come first served."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from asgiref.sync import sync_to_async

from doublet.web.threads import Message, Threads, on_threads

START = {"type": "http.response.start", "headers": [(b"Content-Type", b"text/html")]}
STREAM = {"type": "http.response.start", "headers": [(b"Content-Type", b"text/event-stream")]}


async def _nothing(*_: Any) -> Any:
    return None


def test_whoever_came_first_is_answered_first() -> None:
    order: list[int] = []
    used: set[int] = set()
    gates = [threading.Event() for _ in range(9)]

    def view(number: int) -> None:
        gates[number].wait(60)
        order.append(number)
        used.add(threading.get_ident())

    async def app(scope: Message, receive: Any, send: Any) -> None:
        await send(START)
        await sync_to_async(view)(scope["number"])

    async def main() -> None:
        answer = on_threads(app, Threads(2))
        tasks = [asyncio.create_task(answer({"number": n}, _nothing, _nothing)) for n in range(9)]
        await asyncio.sleep(0.05)
        for number in (1, *range(2, 9), 0):  # the first one takes longer than all others together
            gates[number].set()
            await tasks[number]

    asyncio.run(main())
    assert order == [1, 2, 3, 4, 5, 6, 7, 8, 0]
    assert len(used) == 2


def test_a_stream_keeps_no_thread_from_others() -> None:
    async def app(scope: Message, receive: Any, send: Any) -> None:
        await send(STREAM if scope["stream"] else START)
        if scope["stream"]:
            await asyncio.sleep(3600)
        await sync_to_async(int)()

    async def main() -> None:
        answer = on_threads(app, Threads(1))
        streams = [asyncio.create_task(answer({"stream": True}, _nothing, _nothing)) for _ in range(5)]
        await asyncio.wait_for(answer({"stream": False}, _nothing, _nothing), 60)
        for one in streams:
            one.cancel()
        await asyncio.gather(*streams, return_exceptions=True)
        await asyncio.wait_for(answer({"stream": False}, _nothing, _nothing), 60)

    asyncio.run(main())


def test_who_leaves_the_line_takes_no_thread_along() -> None:
    async def main() -> None:
        threads = Threads(1)
        only = await threads.take()
        gone, granted, last = (asyncio.create_task(threads.take()) for _ in range(3))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        threads.give_back(only)  # to the second, which is cancelled before it hears of it
        granted.cancel()
        assert await asyncio.wait_for(last, 60) is only

    asyncio.run(main())
