"""One request: one guarded try that never sleeps.

`Requester.get` looks the name of a host up, judges the IP number, connects to that very number, sends one GET and reads
the answer within the limits of size and time. It follows no redirect, asks for no robots.txt and waits for nobody's
turn: that is `doublet.crawl.politeness`. A fault that may pass is raised as `Again`. Why it behaves so is explained in
``docs/explanation/politeness.md``.
"""

from __future__ import annotations

import contextlib
import email.utils
import http.client
import socket
import ssl
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import doublet
from doublet.addresses import Address
from doublet.crawl import decode
from doublet.crawl.connections import Connection, Opener, WholeResponse
from doublet.crawl.guard import refusal
from doublet.errors import (
    Cancelled,
    DoubletError,
    FetchFailed,
    NotAllowed,
    SourceError,
    TooLarge,
    TooSlow,
)
from doublet.model import Note

TIMEOUT_S = 120.0
SIZE_BYTES = 50_000_000
CONNECT_S = 15.0
IDLE_S = 30.0  #: without a single byte
NAMES_FOR_S = 300.0
CONNECTIONS = (
    256  #: hosts to which one is kept open: a crawl of fifty hosts reconnected for each page with 32
)
_SKIPPED_BYTES = 1 << 16  # of a body that nobody wants, rather than to connect anew
_IDLE_WATCHER_S = 5.0

Resolve = Callable[[str, int], Sequence[str]]


def resolve_name(host: str, port: int) -> list[str]:
    """IP numbers of a host in the order in which the system would try them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(slots=True)
class Response:
    """What a server answered. *headers* have names in lower case; *body* is unpacked."""

    status: int
    headers: dict[str, str]
    body: bytes


class Again(Exception):
    """This try failed in a way that may pass. *error* is what to raise when there are no more tries; *after_s* is when
    the server wants to be asked again, where it says so."""

    def __init__(self, error: SourceError, after_s: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.after_s = after_s


class Requester:
    """Makes single requests. May be used from several threads.

    *contact* (a page or an e-mail address) goes into the user agent, so that the owner of a site can complain to
    somebody. *clock*, *now* and *resolve* are there for tests.
    """

    def __init__(
        self,
        *,
        contact: str = "",
        timeout_s: float = TIMEOUT_S,
        size_bytes: int = SIZE_BYTES,
        allow_private: bool = False,
        idle_s: float = IDLE_S,
        connections: int = CONNECTIONS,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        resolve: Resolve = resolve_name,
    ) -> None:
        self.user_agent = user_agent(contact)
        self.timeout_s = timeout_s
        self.size_bytes = size_bytes
        self.allow_private = allow_private
        self.idle_s = idle_s
        self.requests = 0  #: made so far
        self._connections = connections
        self._clock = clock
        self._now = now
        self._resolve = resolve
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._names: dict[str, tuple[float, list[str]]] = {}
        self._kept: OrderedDict[str, Connection] = OrderedDict()  # the one used longest ago first
        self._tls: ssl.SSLContext | None = None
        self._under_way: set[_Watched] = set()
        self._own = threading.local()

    def numbers(self, address: Address) -> list[str]:
        """IP numbers of the host that may be connected to. Raises `NotAllowed` when there is none, `FetchFailed` when
        nobody knows the name, `Again` when the one to ask is not there now."""
        key = f"{address.host}:{address.port}"
        known = self._names.get(key)
        if known is not None and known[0] > self._clock():
            return known[1]
        found = self._look_up(address)
        good = [number for number in found if not refusal(number, allow_private=self.allow_private)]
        if not good:
            raise self._forbidden(address, found[0] if found else "")
        with self._lock:
            self._names[key] = (self._clock() + NAMES_FOR_S, good)
        return good

    def _look_up(self, address: Address) -> list[str]:
        try:
            return list(self._resolve(address.host, address.port))
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or str(error)
            failed = FetchFailed(
                "host_not_found",
                host=address.host,
                why=why,
                address=str(address),
                status=0,
            )
            if getattr(error, "errno", None) == socket.EAI_AGAIN:
                raise Again(failed) from error
            raise failed from error

    def _forbidden(self, address: Address, number: str) -> NotAllowed:
        why = refusal(number, allow_private=self.allow_private) if number else "no_number"
        private = not refusal(number, allow_private=True) if number else False
        return NotAllowed(
            "number_refused",
            address=str(address),
            number=number,
            shown=number if number != address.host else "",
            why=Note(why),
            hint=Note("allow_private_hint") if private else "",
        )

    def get(
        self,
        address: Address,
        headers: Mapping[str, str],
        *,
        limit: int | None = None,
        cut: bool = False,
    ) -> Response:
        """Ask once. With *cut* a body beyond the limit is cut there instead of refused.

        Raises `Again` (429, 5xx, a fault of the connection), `NotAllowed`, `FetchFailed`, `TooLarge`, `TooSlow`, and
        `Cancelled` after `stop`.
        """
        numbers = self.numbers(address)
        self.check_stopped()
        limit = self.size_bytes if limit is None else limit
        response = self._request(address, headers, numbers, limit=limit, cut=cut)
        return self._unless_again(address, response)

    def post(self, address: Address, headers: Mapping[str, str], body: bytes) -> Response:
        """Send a body once, to a machine that may be asked; what comes back is cut at the limit. Raises as `get`."""
        numbers = self.numbers(address)
        self.check_stopped()
        response = self._request(address, headers, numbers, limit=self.size_bytes, cut=True, body=body)
        return self._unless_again(address, response)

    def _unless_again(self, address: Address, response: Response) -> Response:
        status = response.status
        if status == 429 or status >= 500:
            error = FetchFailed(
                "answers_status", address=str(address), status=status, meaning=_meaning(status)
            )
            raise Again(error, self._retry_after(response.headers.get("retry-after", "")))
        return response

    def stop(self) -> None:
        """Let every request that is under way end with `Cancelled`. From any thread."""
        self._stopped.set()
        with self._lock:
            under_way = list(self._under_way)
        for watched in under_way:
            watched.cut()

    def pause(self, seconds: float) -> None:
        """Wait, unless or until stopped."""
        self._stopped.wait(seconds)

    def check_stopped(self) -> None:
        if self._stopped.is_set():
            raise Cancelled("stopped_fetching")

    def close(self) -> None:
        with self._lock:
            kept, self._kept = list(self._kept.values()), OrderedDict()
        for connection in kept:
            connection.close()

    def _request(
        self,
        address: Address,
        headers: Mapping[str, str],
        numbers: Sequence[str],
        *,
        limit: int,
        cut: bool,
        body: bytes | None = None,
    ) -> Response:
        connection = self._connection(address)
        watched = _Watched(time.monotonic() + self.timeout_s)
        self._own.numbers = numbers
        self._own.watched = watched
        with self._lock:
            self.requests += 1
            self._under_way.add(watched)
        good = False
        sent = {"User-Agent": self.user_agent, "Accept-Encoding": ", ".join(decode.supported()), **headers}
        _WATCHER.begin(watched)
        try:
            method = "GET" if body is None else "POST"
            answer = connection.ask(method, address.target, sent, body)
            found = _joined(answer.headers)
            got = b""
            if answer.status in (200, 203) or (answer.status >= 400 and answer.status not in (429, 503)):
                got = self._body(address, answer, found, limit=limit, cut=cut)
            elif not answer.isclosed():
                answer.skip(_SKIPPED_BYTES)
            if watched.late:  # a connection that was cut can look like one that came to its end
                raise self._slow(address)
            self.check_stopped()
            good = answer.isclosed()  # all of it was read
            return Response(answer.status, found, got)
        except Again:
            if watched.late:
                raise self._slow(address) from None
            raise
        except DoubletError:
            raise
        except (http.client.HTTPException, OSError, ValueError, AttributeError) as error:
            self.check_stopped()
            if watched.late:
                raise self._slow(address) from error
            raise self._explain(address, error) from error
        finally:
            _WATCHER.end(watched)
            with self._lock:
                self._under_way.discard(watched)
            if good:
                self._keep(address.origin, connection)
            else:
                connection.close()

    def _body(
        self, address: Address, answer: WholeResponse, headers: Mapping[str, str], *, limit: int, cut: bool
    ) -> bytes:
        """The body, unpacked, as far as the limit goes."""
        declared = headers.get("content-length", "")
        if not cut and declared.isdecimal() and int(declared) > limit:
            raise self._large(address, limit)
        out = bytearray()
        try:
            chain = decode.decoders(headers.get("content-encoding", ""))
            for piece in decode.unpack(answer.pieces(), chain):
                out += piece
                if len(out) > limit:
                    if cut:
                        return bytes(out[:limit])
                    raise self._large(address, limit)
        except decode.BadBody as error:
            failed = FetchFailed("bad_body", problem=error.note, address=str(address), status=answer.status)
            raise Again(failed) from error
        return bytes(out)

    def _connection(self, address: Address) -> Connection:
        """The one that was kept open after the last request to this origin, or a new one."""
        with self._lock:
            kept = self._kept.pop(address.origin, None)
        if kept is not None:
            return kept
        tls = self._tls_context() if address.scheme == "https" else None
        opener = Opener(self._connect, self._watch)
        return Connection(
            address.host, address.port, opener, tls=tls, connect_s=CONNECT_S, idle_s=self.idle_s
        )

    def _keep(self, origin: str, connection: Connection) -> None:
        with self._lock:
            old = [self._kept.pop(origin, None)]
            self._kept[origin] = connection
            if len(self._kept) > self._connections:
                old.append(self._kept.popitem(last=False)[1])
        for one in old:
            if one is not None:
                one.close()

    def _tls_context(self) -> ssl.SSLContext:
        """One for all hosts: reading the certificates of all authorities takes 25 ms."""
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls

    def _connect(self, port: int, timeout: float) -> socket.socket:
        """A connection to one of the numbers that were judged for this request, and to nothing else."""
        problem: OSError = OSError(Note("no_number_allowed"))
        for number in self._own.numbers:
            if refusal(number, allow_private=self.allow_private):
                continue
            family = socket.AF_INET6 if ":" in number else socket.AF_INET
            try:
                made = socket.socket(family, socket.SOCK_STREAM)
            except OSError as error:
                problem = error
                continue
            try:
                made.settimeout(timeout)
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                made.connect((number, port))
            except OSError as error:
                problem = error
                made.close()
                continue
            return made
        raise problem

    def _watch(self, made: socket.socket) -> None:
        """Remember what to cut when time runs out or the work is stopped."""
        self._own.watched.sockets.append(made)

    def _slow(self, address: Address) -> TooSlow:
        return TooSlow(
            "fetch_too_slow",
            timeout_s2=spell_seconds(self.timeout_s),
            address=str(address),
            timeout_s=self.timeout_s,
        )

    def _large(self, address: Address, limit: int) -> TooLarge:
        return TooLarge(
            "fetch_too_large",
            address=str(address),
            limit_bytes=limit,
        )

    def _explain(self, address: Address, error: Exception) -> Exception:
        """What a fault of the connection means; one that may pass is worth another try."""
        facts: dict[str, Any] = {"address": str(address), "status": 0}
        if isinstance(error, ssl.SSLError):
            why = getattr(error, "verify_message", "") or str(error)
            return FetchFailed("certificate_not_trusted", why=why, **facts)
        if isinstance(error, TimeoutError):
            return Again(FetchFailed("no_byte_within", seconds=self.idle_s, **facts))
        if isinstance(error, http.client.IncompleteRead):
            return Again(FetchFailed("page_broke_off", **facts))
        if isinstance(error, http.client.RemoteDisconnected | ConnectionResetError):
            return Again(FetchFailed("server_broke_off", **facts))
        if isinstance(error, ConnectionRefusedError):
            return Again(FetchFailed("nothing_listens", **facts))
        if isinstance(error, http.client.HTTPException):
            return Again(FetchFailed("answer_makes_no_sense", why=error, **facts))
        why = (isinstance(error, OSError) and error.strerror) or error
        return Again(FetchFailed("cannot_be_fetched", why=why, **facts))

    def _retry_after(self, value: str) -> float | None:
        """Seconds from now; the header has a number or a date."""
        text = value.split(",", 1)[0].strip() if value[:1].isdigit() else value.strip()
        if not text:
            return None
        if text.isdecimal():
            return float(text)
        until = http_date(text)
        return None if until is None else max(0.0, until - self._now())


@dataclass(slots=True, eq=False)
class _Watched:
    """One request under way."""

    until: float
    sockets: list[socket.socket] = field(default_factory=list)
    late: bool = False

    def cut(self) -> None:
        for one in list(self.sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class _Watcher:
    """Cuts the connections of requests that take too long. One thread watches all requests of the program, as long as
    there are any: a timer for each cost more than half of a request's time."""

    def __init__(self) -> None:
        self._running: set[_Watched] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._next = 0.0  # when the thread wakes by itself

    def begin(self, watched: _Watched) -> None:
        with self._changed:
            self._running.add(watched)
            if self._thread is None or not self._thread.is_alive():  # a forked process has no threads
                self._next = watched.until
                self._thread = threading.Thread(target=self._watch, name="doublet-watcher", daemon=True)
                self._thread.start()
            elif watched.until < self._next:
                self._changed.notify()

    def end(self, watched: _Watched) -> None:
        with self._changed:
            self._running.discard(watched)

    def _watch(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for watched in [one for one in self._running if one.until <= now]:
                    watched.late = True
                    watched.cut()
                    self._running.discard(watched)
                idle = not self._running
                self._next = now + _IDLE_WATCHER_S if idle else min(one.until for one in self._running)
                if not self._changed.wait(self._next - now) and idle and not self._running:
                    self._thread = None
                    return


_WATCHER = _Watcher()


def user_agent(contact: str = "") -> str:
    """What we call ourselves to servers."""
    clean = "".join(
        letter for letter in contact if letter.isascii() and letter.isprintable() and letter not in "()"
    )
    return f"Doublet/{doublet.__version__}" + (f" (+{clean.strip()})" if clean.strip() else "")


def http_date(text: str) -> float | None:
    """A date of HTTP in seconds since 1970; None: it is none."""
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def spell_seconds(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:g} seconds" if seconds == round(seconds) else f"{seconds:.1f} seconds"
    if seconds < 7200:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.0f} hours" if seconds < 48 * 3600 else f"{seconds / 86400:.0f} days"


def _joined(headers: http.client.HTTPMessage) -> dict[str, str]:
    """Headers by their names in lower case; one that comes twice is one with both values."""
    found: dict[str, str] = {}
    for name, value in headers.items():
        key = name.lower()
        found[key] = f"{found[key]}, {value}" if key in found else value
    return found


def _meaning(status: int) -> Note:
    return Note(f"status_{status}" if status in (429, 502, 503, 504) else "status_500")
