"""A web server with bad manners, and a clock that tests turn by hand.

`BadServer` listens on a free port of the loopback address. A page is a function that is handed the connection and the
request and writes whatever bytes it likes.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass
class Request:
    target: str
    headers: dict[str, str]
    raw: bytes


Page = Callable[[socket.socket, Request], None]


def answer(status: str = "200 OK", body: bytes = b"", **headers: str) -> Page:
    """A page in good order. Names of headers have _ for -."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"

    def page(connection: socket.socket, request: Request) -> None:
        connection.sendall(head + body)

    return page


def raw(data: bytes) -> Page:
    """These bytes, and the line goes dead."""

    def page(connection: socket.socket, request: Request) -> None:
        connection.sendall(data)
        connection.close()

    return page


@dataclass
class BadServer:
    pages: dict[str, Page | list[Page]] = field(default_factory=dict)
    seen: list[Request] = field(default_factory=list)

    def __enter__(self) -> BadServer:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []
        thread = threading.Thread(target=self._accept, daemon=True)
        thread.start()
        self._threads.append(thread)
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        for thread in self._threads:
            thread.join(5)

    def targets(self) -> list[str]:
        return [request.target for request in self.seen]

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._open.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            for request in _requests(connection):
                self.seen.append(request)
                page = self.pages.get(request.target.partition("?")[0], answer("404 Not Found"))
                if isinstance(page, list):
                    page = page.pop(0) if len(page) > 1 else page[0]
                page(connection, request)


def _requests(connection: socket.socket) -> Iterator[Request]:
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            more = connection.recv(65536)
            if not more:
                return
            data += more
        head, _, data = data.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
        yield Request(first.split(" ")[1], headers, head)


class HandClock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.time = 1_000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        self.time += seconds
