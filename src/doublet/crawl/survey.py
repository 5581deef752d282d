"""The rules of "looking for links" (L2): from the pages that a site shows to a plan.

A `Survey` is handed something that shows pages (`SitePages`), and opens no connection itself. From the front page, and
from the addresses that sitemaps and feeds name, it goes on until ten addresses fit what the user asked for. It tells
their patterns, judges a few pages of each by their content, asks for addresses that cannot exist and for some numbers
at random, and so knows the size of the work before it begins. See ``docs/explanation/robot.md``.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from doublet.addresses import host_of, parse_address, within_site
from doublet.crawl import soft404
from doublet.crawl.keys import page_key, without_tracking
from doublet.crawl.patterns import Pattern, fits, infer_wanted, is_front
from doublet.crawl.plan import Plan
from doublet.crawl.ranges import holes
from doublet.crawl.soft404 import Signal
from doublet.crawl.traps import odd_shape
from doublet.errors import InputUnreadable, NotAllowed, SourceError
from doublet.sources.protocol import Answer
from doublet.text.words import count_words

ENOUGH = 10  #: addresses that fit
MOST_PAGES = 40  #: that are looked at for them
SAMPLE_PAGES = 5  #: of each pattern, judged by their content
MOST_PATTERNS = 6  #: that are judged
SAMPLE_NUMBERS = 20  #: asked for at random in a range
MORE_NUMBERS = 60  #: asked for where many of the first were missing
MOST_HOLES = 0.75  #: a range with more is not counted out: links and sitemaps are cheaper
LEAST_COVERED = 0.5  #: share of the links of a site that its patterns fit, where the user has named none
DOCUMENT_WORDS = 30
LINKED = 0.7  #: share of the letters in links from which on a page is a list


@dataclass(slots=True)
class Seen:
    """A page that was fetched while looking. *page* is what `read_whole_page` gave; empty unless the answer is 200."""

    asked: str
    answer: Answer
    page: dict[str, Any] = field(default_factory=dict)
    probe: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Without the body."""
        return {
            "asked": self.asked,
            "final": self.answer.address,
            "status": self.answer.status,
            "headers": dict(self.answer.headers),
            "probe": self.probe,
        }


class SitePages(Protocol):
    """Shows pages of a site, each of them fetched once."""

    @property
    def seen(self) -> Mapping[str, Seen]:
        """Pages that were fetched, by the keys of the addresses that were asked for."""
        ...

    @property
    def failed(self) -> Mapping[str, SourceError]:
        """Why others could not be."""
        ...

    def get(self, address: str, *, probe: bool = False) -> Seen | None:
        """A page. None when it could not be fetched. *probe*: nobody has said that it is there."""
        ...


class Survey:
    """What one site shows. *plan* has the address and what the user asked for; `decide` fills it in.

    Raises `InputUnreadable`, `NotAllowed`, or why the front page could not be fetched.
    """

    def __init__(self, pages: SitePages, plan: Plan) -> None:
        self.plan = plan
        #: Addresses of sitemaps and feeds, with the date of their last change.
        self.listed: dict[str, str] = {}
        #: What the site answers for what is not there, by the number of the pattern.
        self.signals: dict[str, Signal] = {}
        self._pages = pages
        self._links: dict[str, None] = {}
        self.front = self._open(plan.address)
        self.site = host_of(self.front.answer.address) or host_of(plan.address)  # it may have moved
        self._take_links(self.front)

    def _open(self, start: str) -> Seen:
        front = self._pages.get(start)
        if front is None:
            raise self._pages.failed[page_key(start)]
        status = front.answer.status
        if status in (401, 403, 451):
            raise NotAllowed("crawl_front_refused", address=start, status=status)
        if status != 200:
            raise InputUnreadable("crawl_front_answered", address=start, status=status)
        page = front.page
        wall = soft404.is_login_wall(page["title"], page["text"], password=page["password"])
        if wall and len(page["links"]) < ENOUGH:
            raise NotAllowed("crawl_front_wall", address=start)
        return front

    def inside(self, address: str) -> bool:
        """Whether an address is on the site."""
        return within_site(host_of(address), self.site, subdomains=self.plan.subdomains)

    def add_listed(self, address: str, changed: str) -> None:
        """An address that a sitemap or a feed names, unless it leaves the site."""
        if self.inside(address):
            link = without_tracking(address)
            self.listed.setdefault(link, changed)
            self._links.setdefault(link)

    def decide(self, *, patterns: Sequence[Pattern] = (), numbers: tuple[int, int] | None = None) -> None:
        """Fill the plan in. *patterns* and *numbers* are those that the user gave instead.

        Raises `InputUnreadable` with what was seen and what to change.
        """
        plan = self.plan
        self._gather()
        links = [link for link in self._links if not any(fits(link, text) for text in plan.skip)]
        if patterns:
            plan.patterns = [_counted(pattern, links) for pattern in patterns]
        else:
            self._choose(links)
        self._probe()
        self._estimate(numbers)
        seen = self._pages.seen.values()
        plan.looked_at = sum(1 for one in seen if not one.probe)
        plan.probes = sum(1 for one in seen if one.probe)

    def _take_links(self, seen: Seen) -> None:
        if seen.page.get("nofollow"):
            return
        for link, unfollowed, hidden in seen.page.get("links", ()):
            if not unfollowed and not hidden and self.inside(link) and not odd_shape(link):
                self._links.setdefault(without_tracking(link))

    def _gather(self) -> None:
        """Walk from the front page until enough addresses fit."""
        waiting = deque(self._nearest())
        done: set[str] = {page_key(self.plan.address)}
        pages = 1
        while pages < MOST_PAGES and waiting and not self._enough():
            link = waiting.popleft()
            key = page_key(link)
            if key in done or any(fits(link, text) for text in self.plan.skip):
                continue
            done.add(key)
            seen = self._pages.get(link)
            pages += 1
            if seen is not None and seen.page:
                before = len(self._links)
                self._take_links(seen)
                waiting += list(self._links)[before:]

    def _nearest(self) -> Iterator[str]:
        """Links of the front page, lists of things before things."""
        yield from sorted(self._links, key=lambda link: (link.count("/"), len(link)))

    def _enough(self) -> bool:
        if self.plan.examples:
            return len(self._links) >= 5 * ENOUGH
        if not self.plan.only:
            return len(self._links) >= 10 * ENOUGH
        return sum(any(fits(link, text) for text in self.plan.only) for link in self._links) >= ENOUGH

    def _choose(self, links: list[str]) -> None:
        """Patterns of documents: those that fit what the user asked for, and whose pages are documents."""
        plan = self.plan
        if plan.only and not any(fits(link, text) for link in links for text in plan.only):
            if all(page_key(link) == page_key(plan.address) for link in links):
                raise InputUnreadable("crawl_no_links", address=plan.address)
            raise InputUnreadable(
                "crawl_nothing_fits",
                address=plan.address,
                links=len(links),
                only=list(plan.only),
                examples=links[:5],
            )
        found = infer_wanted(links, only=plan.only, examples=plan.examples)
        judged = 0
        for pattern in found:
            if pattern.view_of:
                plan.skipped.append((pattern, "view"))
            elif judged >= MOST_PATTERNS:
                plan.skipped.append((pattern, "rare"))
            else:
                judged += 1
                why = self._why_not(pattern, [link for link in links if pattern.matches(link)])
                if why:
                    plan.skipped.append((pattern, why))
                else:
                    plan.patterns.append(pattern)
        named = plan.only or plan.examples
        covered = sum(1 for link in links if plan.pattern_of(link) >= 0)
        if not named and covered < LEAST_COVERED * len(links):
            # Nobody has said what a document is, and what looks like one is the smaller part: all pages are looked at.
            plan.skipped += [(pattern, "rare") for pattern in plan.patterns]
            plan.patterns = []
        if (
            named and not plan.patterns
        ):  # the user has said so: content that we do not understand does not overrule it
            doubted = [pair for pair in plan.skipped if pair[1] not in ("view", "rare")] or plan.skipped
            plan.patterns = [pattern for pattern, _ in doubted]
            plan.skipped = [pair for pair in plan.skipped if pair not in doubted]
        if named and not plan.patterns:
            fitting = [link for link in links if any(fits(link, text) for text in plan.only)]
            plan.patterns = infer_wanted([], examples=fitting[:ENOUGH] or plan.examples)

    def _why_not(self, pattern: Pattern, own: list[str]) -> str:
        """Why pages of a pattern are no documents, by the content of some of them; "" when they are."""
        draw = random.Random(pattern.text)
        sample = draw.sample(own, min(SAMPLE_PAGES, len(own)))
        votes = [_vote(self._pages.get(link)) for link in sample]
        good = votes.count("")
        if not votes or good * 2 >= len(votes):
            return ""
        return max(set(votes) - {""}, key=lambda why: (votes.count(why), why))

    def _probe(self) -> None:
        """What the site answers for what is not there."""
        plan = self.plan
        origin = parse_address(self.front.answer.address).origin
        for number, pattern in enumerate(plan.patterns or [None]):
            signal = Signal(honest=True)
            for probe in range(soft404.PROBES):
                seen = self._pages.get(soft404.impossible(pattern, origin, probe), probe=True)
                if seen is None or seen.answer.status != 200:
                    continue
                if page_key(seen.answer.address) != page_key(seen.asked):  # it leads somewhere else
                    signal.redirects.add(page_key(seen.answer.address))
                signal.honest = False
                signal.add_probe(seen.page.get("blocks", ()))
            if not signal.honest:
                plan.answers_missing = False
                for link in pattern.examples if pattern else ():
                    known = self._pages.seen.get(page_key(link))
                    if known is not None and known.page and not signal.says_missing(known.page["blocks"]):
                        signal.add_normal(known.page["blocks"])
                signal.normal |= set(self.front.page.get("blocks", ()))
            self.signals[str(number if pattern else -1)] = signal

    def _estimate(self, numbers: tuple[int, int] | None) -> None:
        """How many documents, and how many requests they take."""
        plan = self.plan
        listed = {link for link in self.listed if plan.pattern_of(link) >= 0 or not plan.patterns}
        plan.listed = len(listed)
        documents = requests = 0
        plan.numbers = numbers
        known = True
        origin = parse_address(self.front.answer.address).origin
        for place, pattern in enumerate(plan.patterns):
            if not pattern.walkable:
                known = False
                continue
            known = known and bool(numbers or pattern.high)
            # A pattern of the user whose numbers no link shows is tried from 1 on.
            seen = (min(1, pattern.low), pattern.high) if pattern.high else (1, SAMPLE_NUMBERS)
            low, high = numbers or seen
            inside = [one for one in pattern.examples if low <= (pattern.number_of(one) or 0) <= high]
            shown = tuple(inside or dict.fromkeys(origin + pattern.make(one) for one in (low, high)))
            plan.patterns[place] = Pattern(pattern.text, shown, pattern.count, low, high)
            found = self._sample_numbers(plan.patterns[place], origin, self.signals.get(str(place)))
            share, doubt = holes(found)
            plan.holes, plan.holes_tried = max(plan.holes, share), plan.holes_tried + len(found)
            if share - doubt > MOST_HOLES and not numbers:
                known = False
                continue
            plan.counted.append(place)
            documents += round((high - low + 1) * (1 - share))
            requests += high - low + 1
        if known and plan.patterns:
            plan.documents, plan.requests = documents, requests
        elif listed:
            plan.documents = max(documents, len(listed))
            plan.requests = max(requests, len(listed))

    def _sample_numbers(self, pattern: Pattern, origin: str, signal: Signal | None) -> list[bool]:
        draw = random.Random(f"{origin}{pattern.text}")
        span = range(pattern.low, pattern.high + 1)
        chosen = draw.sample(span, min(MORE_NUMBERS, len(span)))
        out: list[bool] = []
        for number in chosen:
            if len(out) == SAMPLE_NUMBERS and sum(out) * 2 >= len(out):
                break
            seen = self._pages.get(origin + pattern.make(number))
            if seen is None:
                continue
            there = seen.answer.status == 200
            if there and signal is not None:
                there = page_key(seen.answer.address) not in signal.redirects
                there = there and not signal.says_missing(seen.page.get("blocks", ()))
                there = there and not is_front(seen.answer.address)
            out.append(there)
        return out


def _vote(seen: Seen | None) -> str:
    """Why a page is no document, by its content; "" when it is one."""
    if seen is None or not seen.page or seen.page.get("error"):
        return "unreadable"
    page = seen.page
    if soft404.is_login_wall(page["title"], page["text"], password=page["password"]):
        return "wall"
    if page["linked"] > LINKED:
        return "list"
    return "short" if count_words(page["text"], most=DOCUMENT_WORDS) < DOCUMENT_WORDS else ""


def _counted(pattern: Pattern, links: Sequence[str]) -> Pattern:
    """A pattern that the user gave, with what is known of its numbers."""
    own = [link for link in links if pattern.matches(link)]
    numbers = [number for link in own if (number := pattern.number_of(link)) is not None]
    low, high = (min(numbers), max(numbers)) if numbers else (0, 0)
    return Pattern(pattern.text, tuple(own[:10]), len(own), low, high)
