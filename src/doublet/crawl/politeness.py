"""Whose turn it is, and who may be asked at all: robots.txt, distances in time, redirects, further tries.

`PoliteFetcher` is the `Fetcher` that sources are handed. `fetch` waits for its turn, asks robots.txt first, follows
redirects hop by hop under the same rules and tries again when that may help. `attempt` makes one request at most and
never waits: it is for the robot, which has other hosts to ask meanwhile. Both keep the same distance to a host and to
the IP address behind it. The requests themselves are `doublet.crawl.request`. Why it behaves so is explained in
``docs/explanation/politeness.md``.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from doublet.addresses import Address, parse_address, resolve_link
from doublet.config import Settings
from doublet.crawl import robots
from doublet.crawl.request import (
    IDLE_S,
    SIZE_BYTES,
    TIMEOUT_S,
    Again,
    Requester,
    Resolve,
    Response,
    http_date,
    resolve_name,
    spell_seconds,
)
from doublet.errors import FetchFailed, NotAllowed, SourceError, TooSlow
from doublet.sources.protocol import NO_VALIDATORS, Answer, Validators

log = logging.getLogger(__name__)

PRODUCT = "doublet"  #: what robots.txt calls us
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
DELAY_S = 1.0
RETRIES = 3
BACK_OFF_S = 2.0  #: doubles with each try
LONGEST_WAIT_S = 120.0  #: that a server may ask for with Retry-After
LONGEST_HOLD_S = 3600.0  #: the same for the robot, which has other hosts to ask meanwhile
LONGEST_CRAWL_DELAY_S = 30.0
REDIRECTS = 10
ROBOTS_REDIRECTS = 5  # RFC 9309, 2.3.1.2
ROBOTS_FOR_S = 24 * 3600.0
ROBOTS_AGAIN_S = 600.0  #: after which a robots.txt that could not be fetched is asked for again
REDIRECT_STATUSES = frozenset((301, 302, 303, 307, 308))
_BUSY_S = 0.01  # somebody else asks the machine right now


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


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of one try that did not wait.

    *answer* is the server's, redirects included (*redirect* is where to). *error* is why there is none; *passing* when
    another try may help. Neither: it was not this address's turn, or robots.txt was asked for instead. *ready_in_s* is
    when the host may be asked next, *asked* whether a request was made, *place* the IP number of the host. *after_s* is
    the part of the wait that the server asked for itself (Retry-After).
    """

    answer: Answer | None = None
    redirect: str = ""
    error: SourceError | None = None
    passing: bool = False
    ready_in_s: float = 0.0
    asked: bool = False
    place: str = ""
    after_s: float = 0.0


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
        self._requester = Requester(
            contact=contact,
            timeout_s=timeout_s,
            size_bytes=size_bytes,
            allow_private=allow_private,
            idle_s=idle_s,
            clock=clock,
            now=now,
            resolve=resolve,
        )
        self.contact = contact
        self.delay_s = delay_s
        self.retries = retries
        self.longest_wait_s = longest_wait_s
        self.longest_crawl_delay_s = longest_crawl_delay_s
        self.redirects = redirects
        self.waiting = waiting
        self._clock = clock
        self._sleep = sleep or self._requester.pause
        self._lock = threading.Lock()
        self._places: dict[str, _Place] = {}
        self._rules: dict[str, _Robots] = {}

    @property
    def requests(self) -> int:
        """Made so far."""
        return self._requester.requests

    @property
    def user_agent(self) -> str:
        return self._requester.user_agent

    # For sources

    def fetch(
        self,
        address: str,
        *,
        validators: Validators | None = None,
        accept: str = "",
        robots: bool = True,
        known: Callable[[str], bool] | None = None,
    ) -> Answer:
        """Get one address. See `doublet.sources.protocol.Fetcher`; raises `Cancelled` after `stop`. A redirect to a
        page that is *known* is not followed: the answer is the redirect, with the address of that page."""
        first = parse_address(address)
        last, response = self._follow(
            first, _headers(validators, accept), ask_robots=robots, redirects=self.redirects, known=known
        )
        return _answer(last, response, validators)

    def robots_of(self, address: str) -> robots.Rules:
        """What the robots.txt of the site of this address says to us (its sitemaps are in it)."""
        return self._robots(parse_address(address))

    def stop(self) -> None:
        """Let every request that is under way or waits end with `Cancelled`. From any thread."""
        self._requester.stop()

    def close(self) -> None:
        self._requester.close()

    def __enter__(self) -> PoliteFetcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # For the robot

    def place_of(self, origin: str) -> str:
        """The IP number behind an origin; nothing when it cannot be told or must not be asked now."""
        try:
            return self._requester.numbers(parse_address(origin))[0]
        except (Again, SourceError):
            return ""

    def attempt(self, address: Address, *, validators: Validators | None = None) -> Attempt:
        """One request at most, and no waiting: for the address, or for the robots.txt of its site when that is not
        known yet. Redirects are not followed. Raises `Cancelled` after `stop`, and nothing else."""
        try:
            numbers = self._requester.numbers(address)
        except Again as again:
            return Attempt(error=again.error, passing=True, ready_in_s=BACK_OFF_S)
        except SourceError as error:
            return Attempt(error=error)
        with contextlib.ExitStack() as stack:
            places = self._all_places(address, numbers)
            for place in places:
                if not place.lock.acquire(blocking=False):
                    return Attempt(ready_in_s=max(_BUSY_S, self.delay_s), place=numbers[0])
                stack.callback(place.lock.release)
            wait = max(place.ready for place in places) - self._clock()
            if wait > 0:
                return Attempt(ready_in_s=wait, place=numbers[0])
            return self._attempt(address, numbers, places, validators)

    def _attempt(
        self,
        address: Address,
        numbers: Sequence[str],
        places: Sequence[_Place],
        validators: Validators | None,
    ) -> Attempt:
        known = self._rules.get(address.origin)
        if (known is None or known.until <= self._clock()) and address.target != "/robots.txt":
            fresh = self._ask_robots(address, known, once=True)
            with self._lock:
                self._rules[address.origin] = fresh
            self._set_ready(address, places)
            return Attempt(ready_in_s=self._delay(address), asked=True, place=numbers[0])
        if known is not None and known.problem is not None:
            return Attempt(error=known.problem, place=numbers[0])
        if known is not None and address.target != "/robots.txt" and not known.rules.allows(address.target):
            return Attempt(error=_forbidden_by_robots(address), place=numbers[0])
        answer: Answer | None = None
        error: SourceError | None = None
        passing = False
        after: float | None = None
        link = ""
        try:
            response = self._requester.get(address, _headers(validators, ""))
            if response.status in REDIRECT_STATUSES:
                link = self._target(address, response)
            answer = _answer(address, response, validators)
        except Again as again:
            error, passing, after = again.error, True, again.after_s
            if after is not None and after > LONGEST_HOLD_S:
                error, passing, after = _later(again, after), False, None
        except SourceError as caught:
            error = caught
        finally:
            self._set_ready(address, places)
        ready = max(self._delay(address), after or 0.0)
        if after:
            self._hold(address, after)
        return Attempt(answer, link, error, passing, ready, True, numbers[0], after or 0.0)

    def _target(self, address: Address, response: Response) -> str:
        link = response.headers.get("location", "").strip()
        if not link:
            raise _goes_nowhere(address, address, response.status)
        return str(resolve_link(link, address))

    # Redirects, robots, tries

    def _follow(
        self,
        address: Address,
        headers: Mapping[str, str],
        *,
        ask_robots: bool,
        redirects: int,
        limit: int | None = None,
        cut: bool = False,
        turns: bool = True,
        known: Callable[[str], bool] | None = None,
    ) -> tuple[Address, Response]:
        seen = {str(address)}
        first = address
        while True:
            if ask_robots:
                self._numbers(address)  # a forbidden machine is not asked for its robots.txt either
                self._check_robots(address)
            if turns:
                response = self._try(address, headers, limit=limit, cut=cut)
            else:
                response = self._requester.get(address, headers, limit=limit, cut=cut)
            if response.status not in REDIRECT_STATUSES:
                return address, response
            link = response.headers.get("location", "").strip()
            if not link:
                raise _goes_nowhere(address, first, response.status)
            address = resolve_link(link, address)
            if known is not None and known(str(address)):
                return address, response
            if str(address) in seen:
                raise FetchFailed(
                    "redirect_circle",
                    address2=address,
                    address=str(first),
                    status=response.status,
                )
            if len(seen) > redirects:
                raise FetchFailed(
                    "redirects_too_many",
                    redirects=redirects,
                    address2=address,
                    address=str(first),
                    status=response.status,
                )
            seen.add(str(address))

    def _try(self, address: Address, headers: Mapping[str, str], *, limit: int | None, cut: bool) -> Response:
        """One hop, with retries."""
        left = self.retries
        pause = BACK_OFF_S
        while True:
            try:
                numbers = self._numbers(address)
                with self._turn(address, numbers):
                    return self._requester.get(address, headers, limit=limit, cut=cut)
            except Again as again:
                if left <= 0:
                    raise again.error from again.__cause__
                wait = pause if again.after_s is None else again.after_s
                if wait > self.longest_wait_s:
                    raise _later(again, wait) from again.__cause__
                left -= 1
                pause *= 2
                log.info("%s; trying again in %.0f s", again.error.message, wait)
                self._hold(address, wait)

    def _numbers(self, address: Address) -> list[str]:
        """IP numbers of the host; asked for again when the one to ask is not there for a moment."""
        pause = BACK_OFF_S
        for left in range(self.retries, -1, -1):
            try:
                return self._requester.numbers(address)
            except Again as again:
                if not left:
                    raise again.error from again.__cause__
                self._wait(address, pause)
                pause *= 2
        raise AssertionError("the last try raises")

    def _check_robots(self, address: Address) -> None:
        if address.target != "/robots.txt" and not self._robots(address).allows(address.target):
            raise _forbidden_by_robots(address)

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

    def _ask_robots(self, address: Address, before: _Robots | None, *, once: bool = False) -> _Robots:
        """RFC 9309, 2.3.1: 2xx is read, 4xx allows everything, 5xx and silence allow nothing for a while. With *once*
        there is one try, and the caller keeps the turn."""
        place = parse_address(f"{address.origin}/robots.txt")
        try:
            _, response = self._follow(
                place,
                {"Accept": "text/plain,*/*;q=0.5"},
                ask_robots=False,
                limit=robots.LIMIT_BYTES,
                redirects=ROBOTS_REDIRECTS,
                cut=True,
                turns=not once,
            )
        except Again as again:
            return self._without_robots(address, again.error, before)
        except (FetchFailed, TooSlow) as error:
            return self._without_robots(address, error, before)
        except SourceError as error:  # it leads to where we do not go
            return _Robots(robots.ALLOW_NOTHING, self._clock() + ROBOTS_AGAIN_S, error)
        rules = robots.parse(response.body, PRODUCT) if 200 <= response.status < 300 else robots.ALLOW_ALL
        return _Robots(rules, self._clock() + ROBOTS_FOR_S)

    def _without_robots(self, address: Address, error: SourceError, before: _Robots | None) -> _Robots:
        status = int(str(error.details.get("status", 0)))
        if 300 <= status < 400:  # lost in redirects: as if there were none
            return _Robots(robots.ALLOW_ALL, self._clock() + ROBOTS_FOR_S)
        until = self._clock() + ROBOTS_AGAIN_S
        if before is not None and before.problem is None and isinstance(error, FetchFailed):
            return _Robots(before.rules, until)
        problem = error
        if status:
            problem = NotAllowed(
                "robots_unavailable",
                origin=address.origin,
                address=f"{address.origin}/robots.txt",
                status=status,
                robots=True,
            )
        return _Robots(robots.ALLOW_NOTHING, until, problem)

    # Turns

    def _place(self, key: str) -> _Place:
        with self._lock:
            return self._places.setdefault(key, _Place())

    def _all_places(self, address: Address, numbers: Sequence[str]) -> list[_Place]:
        """Of the host and of the machine behind it, always in this order."""
        return [self._place(key) for key in (address.origin, *sorted(f"ip {number}" for number in numbers))]

    @contextlib.contextmanager
    def _turn(self, address: Address, numbers: Sequence[str]) -> Iterator[None]:
        """Wait until the host, and the machine behind it, may be asked again; keep others waiting meanwhile."""
        places = self._all_places(address, numbers)
        with contextlib.ExitStack() as stack:
            for place in places:
                stack.enter_context(place.lock)
            wait = max(place.ready for place in places) - self._clock()
            if wait > 0:
                self._wait(address, wait)
            try:
                yield
            finally:
                self._set_ready(address, places)

    def _set_ready(self, address: Address, places: Sequence[_Place]) -> None:
        delay = self._delay(address)
        for place in places:
            place.ready = max(place.ready, self._clock() + delay)

    def _delay(self, address: Address) -> float:
        with self._lock:
            known = self._rules.get(address.origin)
        asked = known.rules.crawl_delay_s if known is not None else None
        return max(self.delay_s, min(asked or 0.0, self.longest_crawl_delay_s))

    def delay_of(self, origin: str) -> float:
        """Seconds between two requests to a host, as far as its robots.txt is known."""
        return self._delay(parse_address(f"{origin}/"))

    def _hold(self, address: Address, seconds: float) -> None:
        """No request to this host before so many seconds have passed."""
        place = self._place(address.origin)
        with place.lock:
            place.ready = max(place.ready, self._clock() + seconds)

    def _wait(self, address: Address, seconds: float) -> None:
        if self.waiting is not None:
            self.waiting(address.host, seconds)
        self._sleep(seconds)
        self._requester.check_stopped()


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


def _headers(validators: Validators | None, accept: str) -> dict[str, str]:
    headers = {"Accept": accept or ACCEPT}
    if validators is not None and validators.etag:
        headers["If-None-Match"] = validators.etag
    if validators is not None and validators.modified:
        headers["If-Modified-Since"] = validators.modified
    return headers


def _answer(address: Address, response: Response, validators: Validators | None) -> Answer:
    given = Validators(response.headers.get("etag", ""), _modified(response.headers))
    unchanged = response.status == 304
    if unchanged and validators is not None:
        given = Validators(given.etag or validators.etag, given.modified or validators.modified)
    return Answer(
        str(address), response.status, response.headers, response.body, given or NO_VALIDATORS, unchanged
    )


def _modified(headers: Mapping[str, str]) -> str:
    """Last-Modified, unless the resource was changed in the very second of the answer: these dates have no parts of a
    second, and if it changes once more in it nobody would be told (RFC 9110, 8.8.2.2)."""
    told = headers.get("last-modified", "")
    if not told:
        return ""
    modified, answered = http_date(told), http_date(headers.get("date", ""))
    return "" if modified is not None and answered is not None and modified >= answered else told


def _later(again: Again, wait: float) -> FetchFailed:
    """The server wants to be left alone for longer than anybody waits."""
    return FetchFailed(
        "come_back_later",
        why=again.error.note,
        wait=spell_seconds(wait),
        **again.error.details,
        retry_after_s=wait,
    )


def _forbidden_by_robots(address: Address) -> NotAllowed:
    return NotAllowed(
        "robots_forbid",
        origin=address.origin,
        address=str(address),
        robots=True,
    )


def _goes_nowhere(address: Address, first: Address, status: int) -> FetchFailed:
    return FetchFailed(
        "redirect_nowhere",
        address2=address,
        address=str(first),
        status=status,
    )
