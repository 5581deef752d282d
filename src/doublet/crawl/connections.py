"""Connections of urllib3 that are opened by us: TLS, HTTP and the name on the certificate stay urllib3's business, the
number that is connected to does not. Imported when the first request is made."""

from __future__ import annotations

import contextlib
import http.client
import socket
from collections.abc import Callable
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool


class Opener:
    """*open* gives a connected socket for a port and a time-out; *watch* is told of the socket of each request before
    it begins. What it is told is a second handle on the same connection: a TLS socket takes the first one over."""

    def __init__(
        self, open: Callable[[int, float], socket.socket], watch: Callable[[socket.socket], None]
    ) -> None:
        self.open = open
        self.watch = watch


class _Opened:
    """Asks the opener for the socket instead of resolving the host's name again."""

    def __init__(self, *args: Any, opener: Opener, **options: Any) -> None:
        super().__init__(*args, **options)
        self._opener = opener
        self._handle: socket.socket | None = None

    def _new_conn(self) -> socket.socket:
        timeout: Any = getattr(self, "timeout", None)
        port: Any = getattr(self, "port", 0)
        made = self._opener.open(port, timeout if isinstance(timeout, int | float) else 15.0)
        self._let_go()
        self._handle = made.dup()
        self._opener.watch(self._handle)
        return made

    def request(self, *args: Any, **options: Any) -> Any:
        if self._handle is not None:
            self._opener.watch(self._handle)
        return super().request(*args, **options)  # type: ignore[misc] # that of urllib3

    def close(self) -> None:
        self._let_go()
        super().close()  # type: ignore[misc]

    def _let_go(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            with contextlib.suppress(OSError):
                handle.close()


class _Lines:
    """The beginning of an answer; remembers the last line that was read."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.last = b""

    def readline(self, *size: int) -> bytes:
        self.last = self.stream.readline(*size)
        return self.last

    def flush(self) -> None:
        self.stream.flush()

    def close(self) -> None:
        self.stream.close()


class WholeResponse(http.client.HTTPResponse):
    """An answer whose headers came to their end. The library takes a broken line for the end of them."""

    def begin(self) -> None:
        lines = _Lines(self.fp)
        self.fp: Any = lines
        try:
            super().begin()
        finally:
            if self.fp is lines:
                self.fp = lines.stream
        if lines.last not in (b"\r\n", b"\n"):
            raise http.client.IncompleteRead(b"")
        lengths = {
            part.strip() for value in self.headers.get_all("Content-Length", []) for part in value.split(",")
        }
        if len(lengths) > 1:
            raise http.client.HTTPException("the answer has two lengths")


class PlainConnection(_Opened, HTTPConnection):
    response_class = WholeResponse


class SecureConnection(_Opened, HTTPSConnection):
    response_class = WholeResponse


class PlainPool(HTTPConnectionPool):
    ConnectionCls = PlainConnection


class SecurePool(HTTPSConnectionPool):
    ConnectionCls = SecureConnection
