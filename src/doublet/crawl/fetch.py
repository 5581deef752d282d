"""One request at a time and host, politely, within limits, and never to a machine that is nobody's business.

`PoliteFetcher` is the `Fetcher` that sources are handed. It asks robots.txt first, keeps a distance in time to its own
last request to the host and to the IP address behind it, waits when a server says so, follows redirects hop by hop
under the same rules, and counts the bytes after decompression. Names are resolved here and the connection goes to the
number that was judged, so an answer of the DNS that changes meanwhile changes nothing. Why it behaves so is told in
``docs/explanation/politeness.md``.
"""

from __future__ import annotations

import contextlib
import email.utils
import logging
import socket
import ssl
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import doublet
from doublet.addresses import Address, parse_address, resolve_link
from doublet.config import Settings
from doublet.crawl import decode, robots
from doublet.crawl.guard import refusal
from doublet.errors import (
    Cancelled,
    ConfigError,
    DoubletError,
    FetchFailed,
    NotAllowed,
    SourceError,
    TooLarge,
    TooSlow,
)
from doublet.sources.protocol import NO_VALIDATORS, Answer, Validators

log = logging.getLogger(__name__)

PRODUCT = "doublet"  #: what robots.txt calls us
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
DELAY_S = 1.0
TIMEOUT_S = 120.0
SIZE_BYTES = 50_000_000
CONNECT_S = 15.0
IDLE_S = 30.0  #: without a single byte
RETRIES = 3
BACK_OFF_S = 2.0  #: doubles with each try
LONGEST_WAIT_S = 120.0  #: that a server may ask for with Retry-After
LONGEST_CRAWL_DELAY_S = 30.0
REDIRECTS = 10
ROBOTS_REDIRECTS = 5  # RFC 9309, 2.3.1.2
ROBOTS_FOR_S = 24 * 3600.0
ROBOTS_AGAIN_S = 600.0  #: after which a robots.txt that could not be had is asked for again
NAMES_FOR_S = 300.0
_CONNECTIONS = 32
_CHUNK = 1 << 16

Resolve = Callable[[str, int], Sequence[str]]


def resolve_name(host: str, port: int) -> list[str]:
    """IP numbers of a host in the order in which the system would try them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(slots=True)
class _Place:
    """What is known of one origin or one IP address: one request at a time, and when the next may begin."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    ready: float = 0.0


@dataclass(frozen=True, slots=True)
class _Robots:
    rules: robots.Rules
    until: float
    problem: SourceError | None = None


@dataclass(slots=True)
class _Response:
    status: int
    headers: dict[str, str]
    body: bytes


class _Again(Exception):
    """This try failed in a way that may pass. *error* is what to raise when there are no more tries."""

    def __init__(self, error: SourceError, after_s: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.after_s = after_s


class PoliteFetcher:
    """Gets single addresses. May be used from several threads; requests to one host take turns.

    *contact* (a page or an e-mail address) goes into the user agent, so that the owner of a site can complain to
    somebody. *clock*, *sleep*, *now* and *resolve* are there for tests.
    """

    def __init__(
        self,
        *,
        contact: str = "",
        delay_s: float = DELAY_S,
        timeout_s: float = TIMEOUT_S,
        size_bytes: int = SIZE_BYTES,
        allow_private: bool = False,
        retries: int = RETRIES,
        longest_wait_s: float = LONGEST_WAIT_S,
        longest_crawl_delay_s: float = LONGEST_CRAWL_DELAY_S,
        redirects: int = REDIRECTS,
        idle_s: float = IDLE_S,
        waiting: Callable[[str, float], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], None] | None = None,
        resolve: Resolve = resolve_name,
    ) -> None:
        self.user_agent = user_agent(contact)
        self.delay_s = delay_s
        self.timeout_s = timeout_s
        self.size_bytes = size_bytes
        self.allow_private = allow_private
        self.retries = retries
        self.longest_wait_s = longest_wait_s
        self.longest_crawl_delay_s = longest_crawl_delay_s
        self.redirects = redirects
        self.idle_s = idle_s
        self.waiting = waiting
        self.requests = 0  #: made so far
        self._clock = clock
        self._now = now
        self._sleep = sleep or self._pause
        self._resolve = resolve
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._places: dict[str, _Place] = {}
        self._rules: dict[str, _Robots] = {}
        self._names: dict[str, tuple[float, list[str]]] = {}
        self._pools: OrderedDict[str, Any] = OrderedDict()
        self._open: set[socket.socket] = set()
        self._own = threading.local()

    # For sources

    def fetch(
        self, address: str, *, validators: Validators | None = None, accept: str = "", robots: bool = True
    ) -> Answer:
        """Get one address. See `doublet.sources.protocol.Fetcher`; raises `Cancelled` after `stop`."""
        headers = {"Accept": accept or ACCEPT}
        if validators is not None and validators.etag:
            headers["If-None-Match"] = validators.etag
        if validators is not None and validators.modified:
            headers["If-Modified-Since"] = validators.modified
        first = parse_address(address)
        last, response = self._follow(
            first, headers, ask_robots=robots, limit=self.size_bytes, redirects=self.redirects
        )
        given = Validators(response.headers.get("etag", ""), _modified(response.headers))
        unchanged = response.status == 304
        if unchanged and validators is not None:
            given = Validators(given.etag or validators.etag, given.modified or validators.modified)
        return Answer(
            str(last), response.status, response.headers, response.body, given or NO_VALIDATORS, unchanged
        )

    def robots_of(self, address: str) -> robots.Rules:
        """What the robots.txt of the site of this address says to us (its sitemaps are in it)."""
        return self._robots(parse_address(address))

    def stop(self) -> None:
        """Let every request that is under way or waits end with `Cancelled`. From any thread."""
        self._stopped.set()
        with self._lock:
            sockets = list(self._open)
        for one in sockets:
            _shut(one)

    def close(self) -> None:
        with self._lock:
            pools, self._pools = list(self._pools.values()), OrderedDict()
        for pool in pools:
            pool.close()

    def __enter__(self) -> PoliteFetcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Redirects, robots, tries

    def _follow(
        self,
        address: Address,
        headers: dict[str, str],
        *,
        ask_robots: bool,
        limit: int,
        redirects: int,
        cut: bool = False,
    ) -> tuple[Address, _Response]:
        seen = {str(address)}
        first = address
        while True:
            if ask_robots:
                self._numbers(address)  # a forbidden machine is not asked for its robots.txt either
                self._check_robots(address)
            response = self._try(address, headers, limit=limit, cut=cut)
            if response.status not in (301, 302, 303, 307, 308):
                return address, response
            link = response.headers.get("location", "").strip()
            if not link:
                raise FetchFailed(
                    f"{address} answers {response.status}, a redirect, but does not say where to",
                    address=str(first),
                    status=response.status,
                )
            address = resolve_link(link, address)
            if str(address) in seen:
                raise FetchFailed(
                    f"{first} leads in a circle of redirects, over {address}",
                    address=str(first),
                    status=response.status,
                )
            if len(seen) > redirects:
                raise FetchFailed(
                    f"{first} leads over more than {redirects} redirects, the last one to {address}",
                    address=str(first),
                    status=response.status,
                )
            seen.add(str(address))

    def _try(self, address: Address, headers: dict[str, str], *, limit: int, cut: bool) -> _Response:
        """One hop, with retries."""
        left = self.retries
        pause = BACK_OFF_S
        while True:
            try:
                return self._once(address, headers, limit=limit, cut=cut)
            except _Again as again:
                if left <= 0:
                    raise again.error from again.__cause__
                wait = pause if again.after_s is None else again.after_s
                if wait > self.longest_wait_s:
                    raise FetchFailed(
                        f"{again.error.message}; the server asks to come back in {_spell(wait)}: "
                        "run the command again then",
                        **again.error.details,
                        retry_after_s=wait,
                    ) from again.__cause__
                left -= 1
                pause *= 2
                log.info("%s; trying again in %.0f s", again.error.message, wait)
                self._hold(address, wait)

    def _check_robots(self, address: Address) -> None:
        if address.target == "/robots.txt":
            return
        if not self._robots(address).allows(address.target):
            raise NotAllowed(
                f"{address} may not be fetched: {address.origin}/robots.txt forbids it to robots",
                address=str(address),
                robots=True,
            )

    def _robots(self, address: Address) -> robots.Rules:
        with self._lock:
            known = self._rules.get(address.origin)
        if known is None or known.until <= self._clock():
            with self._place(f"robots of {address.origin}").lock:
                known = self._rules.get(address.origin)
                if known is None or known.until <= self._clock():
                    known = self._ask_robots(address, known)
                    with self._lock:
                        self._rules[address.origin] = known
        if known.problem is not None:
            raise known.problem
        return known.rules

    def _ask_robots(self, address: Address, before: _Robots | None) -> _Robots:
        """RFC 9309, 2.3.1: 2xx is read, 4xx allows everything, 5xx and silence allow nothing for a while."""
        place = parse_address(f"{address.origin}/robots.txt")
        soon = ROBOTS_AGAIN_S
        problem: SourceError
        try:
            _, response = self._follow(
                place,
                {"Accept": "text/plain,*/*;q=0.5"},
                ask_robots=False,
                limit=robots.LIMIT_BYTES,
                redirects=ROBOTS_REDIRECTS,
                cut=True,
            )
        except FetchFailed as error:
            status = int(str(error.details.get("status", 0)))
            if 300 <= status < 400:  # lost in redirects: as if there were none
                return _Robots(robots.ALLOW_ALL, self._clock() + ROBOTS_FOR_S)
            if before is not None and before.problem is None:
                return _Robots(before.rules, self._clock() + soon)
            problem = error
            if status:
                problem = NotAllowed(
                    f"nothing of {address.origin} may be fetched now: its robots.txt answers {status}. "
                    "Try again later",
                    address=str(place),
                    status=status,
                    robots=True,
                )
            return _Robots(robots.ALLOW_NOTHING, self._clock() + soon, problem)
        except TooSlow as error:
            return _Robots(robots.ALLOW_NOTHING, self._clock() + soon, error)
        rules = robots.parse(response.body, PRODUCT) if 200 <= response.status < 300 else robots.ALLOW_ALL
        return _Robots(rules, self._clock() + ROBOTS_FOR_S)

    # Turns

    def _place(self, key: str) -> _Place:
        with self._lock:
            return self._places.setdefault(key, _Place())

    def _numbers(self, address: Address) -> list[str]:
        """IP numbers of the host that may be connected to. Raises `NotAllowed` when there is none."""
        key = f"{address.host}:{address.port}"
        known = self._names.get(key)
        if known is not None and known[0] > self._clock():
            return known[1]
        found = self._look_up(address)
        good = [number for number in found if not refusal(number, allow_private=self.allow_private)]
        if not good:
            number = found[0] if found else ""
            why = refusal(number, allow_private=self.allow_private) if number else "has no number"
            private = not refusal(number, allow_private=True) if number else False
            hint = (
                ". Say --allow-private (or set allow_private) when you mean a server of your own"
                if private
                else ""
            )
            raise NotAllowed(
                f"{address} is not fetched: {number if number != address.host else 'it'} {why}{hint}",
                address=str(address),
                number=number,
            )
        with self._lock:
            self._names[key] = (self._clock() + NAMES_FOR_S, good)
        return good

    def _look_up(self, address: Address) -> list[str]:
        pause = BACK_OFF_S
        for left in range(self.retries, -1, -1):
            try:
                return list(self._resolve(address.host, address.port))
            except (OSError, UnicodeError) as error:
                if getattr(error, "errno", None) == socket.EAI_AGAIN and left:
                    self._wait(address, pause)
                    pause *= 2
                    continue
                why = getattr(error, "strerror", None) or str(error)
                raise FetchFailed(
                    f"{address.host} cannot be found ({why}): is the address right, and is there a connection to the "
                    "Internet?",
                    address=str(address),
                    status=0,
                ) from error
        raise AssertionError("the last try raises")

    @contextlib.contextmanager
    def _turn(self, address: Address, numbers: Sequence[str]) -> Iterator[None]:
        """Wait until the host, and the machine behind it, may be asked again; keep others waiting meanwhile."""
        keys = [address.origin, *sorted(f"ip {number}" for number in numbers)]  # always in this order
        places = [self._place(key) for key in keys]
        with contextlib.ExitStack() as stack:
            for place in places:
                stack.enter_context(place.lock)
            wait = max(place.ready for place in places) - self._clock()
            if wait > 0:
                self._wait(address, wait)
            try:
                yield
            finally:
                delay = self._delay(address)
                for place in places:
                    place.ready = max(place.ready, self._clock() + delay)

    def _delay(self, address: Address) -> float:
        with self._lock:
            known = self._rules.get(address.origin)
        asked = known.rules.crawl_delay_s if known is not None else None
        return max(self.delay_s, min(asked or 0.0, self.longest_crawl_delay_s))

    def _hold(self, address: Address, seconds: float) -> None:
        """No request to this host before so many seconds have passed."""
        place = self._place(address.origin)
        with place.lock:
            place.ready = max(place.ready, self._clock() + seconds)

    def _wait(self, address: Address, seconds: float) -> None:
        if self.waiting is not None:
            self.waiting(address.host, seconds)
        self._sleep(seconds)
        self._check_stopped()

    def _pause(self, seconds: float) -> None:
        self._stopped.wait(seconds)

    def _check_stopped(self) -> None:
        if self._stopped.is_set():
            raise Cancelled("stopped while a page was being fetched; what was stored stays")

    # One request

    def _once(self, address: Address, headers: dict[str, str], *, limit: int, cut: bool) -> _Response:
        numbers = self._numbers(address)
        with self._turn(address, numbers):
            self._check_stopped()
            response = self._request(address, headers, numbers, limit=limit, cut=cut)
        status = response.status
        if status == 429 or status >= 500:
            error = FetchFailed(
                f"{address} answers {status} ({_meaning(status)})", address=str(address), status=status
            )
            raise _Again(error, self._retry_after(response.headers.get("retry-after", "")))
        return response

    def _request(
        self, address: Address, headers: dict[str, str], numbers: Sequence[str], *, limit: int, cut: bool
    ) -> _Response:
        urllib3 = _urllib3()
        pool = self._pool(address)
        self._own.numbers = numbers
        self._own.sockets = []
        late = threading.Event()
        timer = threading.Timer(self.timeout_s, self._too_late, (late, self._own.sockets))
        timer.daemon = True
        timer.start()
        self.requests += 1
        raw = None
        good = False
        sent = {
            "User-Agent": self.user_agent,
            "Accept-Encoding": ", ".join(decode.supported()),
            **headers,
        }
        try:
            raw = pool.urlopen(
                "GET",
                address.target,
                headers=sent,
                retries=False,
                redirect=False,
                preload_content=False,
                decode_content=False,
                timeout=urllib3.Timeout(connect=CONNECT_S, read=self.idle_s),
                assert_same_host=False,
            )
            found = {name.lower(): ", ".join(raw.headers.getlist(name)) for name in raw.headers}
            body = b""
            if raw.status in (200, 203) or (raw.status >= 400 and raw.status not in (429, 503)):
                body = self._body(address, raw, found, limit=limit, cut=cut)
            if late.is_set():  # a connection that was cut can look like one that came to its end
                raise self._slow(address)
            self._check_stopped()
            good = not cut or len(body) < limit
            return _Response(raw.status, found, body)
        except _Again:
            if late.is_set():
                raise self._slow(address) from None
            raise
        except DoubletError:
            raise
        except (urllib3.exceptions.HTTPError, OSError, ValueError, AttributeError) as error:
            self._check_stopped()
            if late.is_set():
                raise self._slow(address) from error
            raise self._explain(address, error) from error
        finally:
            timer.cancel()
            with self._lock:
                self._open.difference_update(self._own.sockets)
            if raw is not None:
                if good:
                    with contextlib.suppress(Exception):
                        raw.drain_conn()
                    raw.release_conn()
                else:
                    raw.close()
                    raw.release_conn()

    def _body(self, address: Address, raw: Any, headers: dict[str, str], *, limit: int, cut: bool) -> bytes:
        """The body, unpacked, as far as the limit goes."""
        declared = headers.get("content-length", "")
        if not cut and declared.isdecimal() and int(declared) > limit:
            raise self._large(address, limit)
        out = bytearray()
        try:
            chain = decode.decoders(headers.get("content-encoding", ""))
            for piece in decode.unpack(_pieces(raw), chain):
                out += piece
                if len(out) > limit:
                    if cut:
                        return bytes(out[:limit])
                    raise self._large(address, limit)
        except decode.BadBody as error:
            failed = FetchFailed(
                f"{address} {error}" if not str(error).startswith("the") else f"{address}: {error}",
                address=str(address),
                status=raw.status,
            )
            raise _Again(failed) from error
        return bytes(out)

    def _pool(self, address: Address) -> Any:
        """The connections to one origin; one is kept open between requests."""
        with self._lock:
            pool = self._pools.get(address.origin)
            if pool is None:
                kind = _plain_pool() if address.scheme == "http" else _secure_pool()
                opener = _opener(self._connect, self._watch)
                extra = {} if address.scheme == "http" else {"ssl_context": ssl.create_default_context()}
                pool = kind(address.host, address.port, maxsize=1, block=False, opener=opener, **extra)
                self._pools[address.origin] = pool
            self._pools.move_to_end(address.origin)
            old = self._pools.popitem(last=False)[1] if len(self._pools) > _CONNECTIONS else None
        if old is not None:
            old.close()
        return pool

    def _connect(self, port: int, timeout: float) -> socket.socket:
        """A connection to one of the numbers that were judged for this request, and to nothing else."""
        problem: OSError = OSError("no address to connect to")
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
        self._own.sockets.append(made)
        with self._lock:
            self._open.add(made)

    def _too_late(self, late: threading.Event, sockets: list[socket.socket]) -> None:
        late.set()
        for one in list(sockets):
            _shut(one)

    def _slow(self, address: Address) -> TooSlow:
        return TooSlow(
            f"{address} took over {_spell(self.timeout_s)} and was given up",
            address=str(address),
            timeout_s=self.timeout_s,
        )

    def _large(self, address: Address, limit: int) -> TooLarge:
        return TooLarge(
            f"{address} has over {limit:,} bytes, more than the limit (fetch_limit) allows",
            address=str(address),
            limit_bytes=limit,
        )

    def _explain(self, address: Address, error: Exception) -> Exception:
        """What a fault of the connection means; one that may pass is worth another try."""
        exceptions = _urllib3().exceptions
        facts: dict[str, Any] = {"address": str(address), "status": 0}
        inner: Any = error.__cause__ or error
        if isinstance(error, exceptions.SSLError) or isinstance(inner, ssl.SSLCertVerificationError):
            why = getattr(inner, "verify_message", "") or str(inner)
            return FetchFailed(f"{address}: the certificate of the server cannot be trusted ({why})", **facts)
        if isinstance(error, exceptions.LocationParseError | exceptions.InvalidHeader):
            return FetchFailed(f"{address}: the answer makes no sense ({error})", **facts)
        if isinstance(error, TimeoutError | exceptions.TimeoutError) or isinstance(inner, TimeoutError):
            message = f"{address} does not answer: nothing came within {_spell(self.idle_s)}"
        elif isinstance(error, exceptions.IncompleteRead) or "IncompleteRead" in str(error):
            message = f"{address}: the connection broke off before the whole page was there"
        elif "RemoteDisconnected" in str(error) or "ConnectionReset" in str(error):
            message = f"{address}: the server broke off without an answer"
        elif isinstance(error, ConnectionRefusedError) or isinstance(inner, ConnectionRefusedError):
            message = f"{address} cannot be reached: nothing listens there (connection refused)"
        else:
            reason = getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
            message = f"{address} cannot be fetched: {reason}"
        return _Again(FetchFailed(message, **facts))

    def _retry_after(self, value: str) -> float | None:
        """Seconds from now; the header has a number or a date."""
        text = value.split(",", 1)[0].strip() if value[:1].isdigit() else value.strip()
        if not text:
            return None
        if text.isdecimal():
            return float(text)
        until = _date(text)
        return None if until is None else max(0.0, until - self._now())


def polite_fetcher(settings: Settings, **options: Any) -> PoliteFetcher:
    """A fetcher as the settings want it; *options* are those of `PoliteFetcher`."""
    return PoliteFetcher(
        contact=settings.contact or "",
        delay_s=settings.fetch_delay_s,
        timeout_s=settings.fetch_timeout_s,
        size_bytes=settings.fetch_limit,
        allow_private=settings.allow_private,
        **options,
    )


def user_agent(contact: str = "") -> str:
    """What we call ourselves to servers."""
    clean = "".join(
        letter for letter in contact if letter.isascii() and letter.isprintable() and letter not in "()"
    )
    return f"Doublet/{doublet.__version__}" + (f" (+{clean.strip()})" if clean.strip() else "")


def _date(text: str) -> float | None:
    """A date of HTTP in seconds since 1970; None: it is none."""
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _modified(headers: Mapping[str, str]) -> str:
    """Last-Modified, unless the resource was changed in the very second of the answer: these dates have no parts of a
    second, and if it changes once more in it nobody would be told (RFC 9110, 8.8.2.2)."""
    modified, answered = (_date(headers.get(name, "")) for name in ("last-modified", "date"))
    if modified is not None and answered is not None and modified >= answered:
        return ""
    return headers.get("last-modified", "")


def _pieces(raw: Any) -> Iterator[bytes]:
    while piece := raw.read1(_CHUNK, decode_content=False):
        yield piece


def _shut(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)


def _spell(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:g} seconds" if seconds == round(seconds) else f"{seconds:.1f} seconds"
    if seconds < 7200:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.0f} hours" if seconds < 48 * 3600 else f"{seconds / 86400:.0f} days"


def _meaning(status: int) -> str:
    known = {
        429: "too many requests",
        500: "an error in the server",
        502: "a server behind it does not answer",
    }
    known |= {503: "not available now", 504: "a server behind it is too slow"}
    return known.get(status, "an error in the server")


def _urllib3() -> Any:
    try:
        import urllib3
    except ImportError as error:
        raise ConfigError(
            "documents from the web need the urllib3 library: pip install 'doublet[web]'", library="urllib3"
        ) from error
    return urllib3


def _opener(open: Callable[[int, float], socket.socket], watch: Callable[[socket.socket], None]) -> Any:
    from doublet.crawl.connections import Opener

    return Opener(open, watch)


def _plain_pool() -> Any:
    from doublet.crawl.connections import PlainPool

    return PlainPool


def _secure_pool() -> Any:
    from doublet.crawl.connections import SecurePool

    return SecurePool
