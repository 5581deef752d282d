"""Connections of the standard library that are opened by us: it is told which number to connect to, and reads bodies.
HTTP and TLS, with the name on the certificate, stay its business."""

from __future__ import annotations

import contextlib
import http.client
import io
import re
import select
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from doublet.model import Note

_PIECE = 1 << 16
_LONGEST_LINE = 1 << 16
_MOST_LINES = 100
# A line of a header as nearly all servers write it. Any other (folded, without a colon, with a lone carriage return) is
# left to the library.
_FIELD = re.compile(rb"([!-9;-~]+):[ \t]*([^\r\n]*)\r?\n")


@dataclass(frozen=True, slots=True)
class Opener:
    """*open* gives a connected socket for a port and a time-out; *watch* is told of the socket of each request before
    it begins. What it is told is a second handle on the same connection: a TLS socket takes the first one over."""

    open: Callable[[int, float], socket.socket]
    watch: Callable[[socket.socket], None]


class WholeResponse(http.client.HTTPResponse):
    """An answer whose headers came to their end: the library takes a broken line for the end of them. It also reads
    them with the parser of e-mails, which took a third of the time of a request that brought nothing new."""

    def begin(self) -> None:
        status = 100
        while 100 <= status < 200 and status != 101:  # what a server says before its answer
            version, status, reason = self._read_status()  # type: ignore[attr-defined] # that of the library
            lines = self._header_lines()
        if not version.startswith(("HTTP/1.", "HTTP/0.9")):
            raise http.client.UnknownProtocol(version)
        self.version = 10 if version in ("HTTP/1.0", "HTTP/0.9") else 11
        self.code = self.status = status
        self.reason = reason.strip()
        self.headers = self.msg = read_headers(lines)
        empty = status in (101, 204, 304)
        self.chunked: Any = not empty and (self.headers.get("transfer-encoding") or "").lower() == "chunked"
        self.chunk_left: Any = None
        length = self._declared_length()
        self.length = 0 if empty else None if self.chunked else length
        open_ended = self.length is None and not self.chunked
        self.will_close: Any = open_ended or self._check_close()  # type: ignore[attr-defined]
        if self.length == 0:
            self.close()  # there is nothing to read; the connection stays

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes. Raises `http.client.IncompleteRead` when it is shorter than it was to be."""
        while piece := self.read1(_PIECE):
            yield piece
        if self.length:
            raise http.client.IncompleteRead(b"", self.length)
        self.close()

    def skip(self, most: int) -> None:
        """Read a body that nobody wants, as far as it is short."""
        with contextlib.suppress(http.client.HTTPException, OSError):
            for piece in self.pieces():
                most -= len(piece)
                if most < 0:
                    return

    def _header_lines(self) -> list[bytes]:
        lines: list[bytes] = []
        while (line := self.fp.readline(_LONGEST_LINE + 1)) not in (b"\r\n", b"\n"):
            if len(line) > _LONGEST_LINE:
                raise http.client.LineTooLong("header line")
            if not line.endswith(b"\n"):
                raise http.client.IncompleteRead(b"")
            lines.append(line)
            if len(lines) > _MOST_LINES:
                raise http.client.HTTPException(Note("too_many_headers", most=_MOST_LINES))
        return lines

    def _declared_length(self) -> int | None:
        declared = self.headers.get_all("content-length") or ()
        lengths = {part.strip() for value in declared for part in value.split(",")}
        if len(lengths) > 1:
            raise http.client.HTTPException(Note("two_lengths"))
        length = lengths.pop() if lengths else ""
        return int(length) if length.isascii() and length.isdecimal() else None


def read_headers(lines: list[bytes]) -> http.client.HTTPMessage:
    """Headers from their lines, each with its end."""
    message = http.client.HTTPMessage()
    for line in lines:
        found = _FIELD.fullmatch(line)
        if found is None:
            return http.client.parse_headers(io.BytesIO(b"".join((*lines, b"\r\n"))))
        name, value = found.groups()
        message.set_raw(name.decode("latin-1"), value.decode("latin-1"))
    return message


class Connection(http.client.HTTPConnection):
    """To one origin. *tls* makes it a secure one."""

    response_class = WholeResponse

    def __init__(
        self,
        host: str,
        port: int,
        opener: Opener,
        *,
        tls: ssl.SSLContext | None,
        connect_s: float,
        idle_s: float,
    ) -> None:
        if tls is not None:
            self.default_port = http.client.HTTPS_PORT  # for the header that names the host
        super().__init__(host, port)
        self._opener = opener
        self._tls = tls
        self._connect_s = connect_s
        self._idle_s = idle_s
        self._handle: socket.socket | None = None

    def ask(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> WholeResponse:
        """Send a request; gives the answer as far as its headers."""
        if self.sock is not None and not self._stands():
            self.close()
        if self.sock is None:
            self.connect()
        elif self._handle is not None:
            self._opener.watch(self._handle)
        self.putrequest(method, target, skip_accept_encoding=True)
        if body is not None:
            self.putheader("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.putheader(name, value)
        # A server may answer and hang up before it has read everything: its answer counts.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.endheaders(body)
        answer = self.getresponse()
        assert isinstance(answer, WholeResponse)
        return answer

    def connect(self) -> None:
        made = self._opener.open(self.port, self._connect_s)
        self._let_go()
        self._handle = made.dup()
        self._opener.watch(self._handle)
        if self._tls is not None:
            made = self._tls.wrap_socket(made, server_hostname=self.host.rstrip("."))
        made.settimeout(self._idle_s)
        self.sock: Any = made

    def _stands(self) -> bool:
        """Whether the server has neither hung up nor said anything unasked since the last answer."""
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        return not poll.poll(0)

    def close(self) -> None:
        self._let_go()
        super().close()

    def _let_go(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            with contextlib.suppress(OSError):
                handle.close()
