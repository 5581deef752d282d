"""The first stage of a crawl, "looking for links" (L2): from an address and a clarification to a plan.

The front page, the sitemaps and the feeds of a site are read, and pages after them, until ten addresses fit what the
user asked for. Their patterns are told, a few pages of each are judged by their content, the site is asked for
addresses that cannot exist, and for some numbers at random, so that the size of the work is known before it begins. All
that was fetched is kept and not fetched again.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from doublet.addresses import clean, host_of, parse_address, within_site
from doublet.crawl import soft404
from doublet.crawl.keys import page_key, without_tracking
from doublet.crawl.patterns import Pattern, fits, infer_wanted
from doublet.crawl.politeness import PoliteFetcher
from doublet.crawl.ranges import holes
from doublet.crawl.soft404 import Signal
from doublet.crawl.traps import odd_shape
from doublet.errors import InputUnreadable, NotAllowed, SourceError
from doublet.jobs.crawl.plan import Plan
from doublet.model import Note
from doublet.progress import Progress
from doublet.sources.protocol import Answer
from doublet.sources.workers import ReaderPool

ENOUGH = 10  #: addresses that fit
MOST_PAGES = 40  #: that are looked at for them
MOST_SITEMAPS = 200
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


Keep = Callable[[Seen], None]


class Looker:
    """Looks at one site. *keep* is handed each page that was fetched; *known* are those of an earlier look."""

    def __init__(
        self,
        fetcher: PoliteFetcher,
        pool: ReaderPool,
        *,
        keep: Keep | None = None,
        known: Iterable[Seen] = (),
        progress: Progress | None = None,
    ) -> None:
        self._fetcher = fetcher
        self._pool = pool
        self._keep = keep
        self._progress = progress or Progress()
        self.seen: dict[str, Seen] = {page_key(one.asked): one for one in known}
        self._finals = {page_key(one.answer.address): one for one in self.seen.values()}
        self.failed: dict[str, SourceError] = {}
        self.signals: dict[str, Signal] = {}
        self.listed: dict[
            str, str
        ] = {}  #: addresses of sitemaps and feeds, with the date of their last change
        self._links: dict[str, None] = {}
        self._site = ""
        self._subdomains = False

    def get(self, address: str, *, probe: bool = False) -> Seen | None:
        """A page, fetched once. None when it could not be fetched (`failed` says why)."""
        key = page_key(address)
        if key in self.seen:
            found = self.seen[key]
            if not found.page and found.answer.status == 200:
                found.page = self._read(found.answer)
            return found
        if key in self.failed:
            return None
        if key in self._finals and not probe:  # another address led to it
            return self._finals[key]
        self._progress.step("looking", len(self.seen), None, "pages", Note("looking_at", address=address))
        try:
            answer = self._fetcher.fetch(address, known=self._is_final)
        except SourceError as error:
            self.failed[key] = error
            return None
        final = self._finals.get(page_key(answer.address))
        if final is not None:  # it leads to a page that is here already
            answer = final.answer
        made = Seen(address, answer, probe=probe)
        if self._keep is not None:
            self._keep(made)  # before anything else is done with it: it is not asked for again
        if answer.status == 200:
            made.page = final.page if final is not None and final.page else self._read(answer)
        self.seen[key] = made
        self._finals.setdefault(page_key(answer.address), made)
        return made

    def _is_final(self, address: str) -> bool:
        return page_key(address) in self._finals

    def _read(self, answer: Answer) -> dict[str, Any]:
        options = {"address": answer.address, "headers": dict(answer.headers)}
        found: dict[str, Any] = self._pool.parse("page", answer.body, options)
        return found

    def plan(
        self,
        address: str,
        *,
        only: Sequence[str] = (),
        examples: Sequence[str] = (),
        skip: Sequence[str] = (),
        patterns: Sequence[Pattern] = (),
        numbers: tuple[int, int] | None = None,
        subdomains: bool = False,
    ) -> Plan:
        """Look at the site and decide. *patterns* and *numbers* are those that the user gave instead.

        Raises `InputUnreadable` or `NotAllowed` with what was seen and what to change.
        """
        start = clean(address)
        if not start:
            raise InputUnreadable("crawl_not_an_address", address=address)
        self._begin(start, subdomains=subdomains)
        made = Plan(start, list(only), list(examples), list(skip), site=self._site, subdomains=subdomains)
        made.delay_s = self._fetcher.delay_of(parse_address(start).origin)
        self._read_lists(start, made)
        self._gather(start, only or examples, made)
        links = [link for link in self._links if not any(fits(link, text) for text in skip)]
        if patterns:
            made.patterns = [self._counted(pattern, links) for pattern in patterns]
        else:
            self._choose(made, links)
        self._probe(made)
        self._estimate(made, numbers)
        made.looked_at = sum(1 for one in self.seen.values() if not one.probe)
        made.probes = sum(1 for one in self.seen.values() if one.probe)
        return made

    def lists_again(self, made: Plan) -> None:
        """Read the front page, the sitemaps and the feeds once more: where new addresses are found first."""
        self._begin(made.address, subdomains=made.subdomains)
        made.sitemaps.clear()
        made.feeds.clear()
        self._read_lists(made.address, made)

    def _begin(self, start: str, *, subdomains: bool) -> None:
        self._site, self._subdomains = host_of(start), subdomains
        front = self._front(start)
        self._site = host_of(front.answer.address) or self._site  # it may have moved
        self._take_links(front)

    def _front(self, start: str) -> Seen:
        front = self.get(start)
        if front is None:
            raise self.failed[page_key(start)]
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

    def _inside(self, address: str) -> bool:
        return within_site(host_of(address), self._site, subdomains=self._subdomains)

    def _take_links(self, seen: Seen) -> None:
        if seen.page.get("nofollow"):
            return
        for link, unfollowed, hidden in seen.page.get("links", ()):
            if not unfollowed and not hidden and self._inside(link) and not odd_shape(link):
                self._links.setdefault(without_tracking(link))

    def _read_lists(self, start: str, made: Plan) -> None:
        """Sitemaps and feeds."""
        from doublet.sources.feed import is_feed, parse_feed
        from doublet.sources.sitemap import is_sitemap, parse_sitemap

        try:
            named = [clean(one, base=start) for one in self._fetcher.robots_of(start).sitemaps]
        except SourceError:
            named = []
        waiting = deque(filter(None, named or [f"{parse_address(start).origin}/sitemap.xml"]))
        asked: set[str] = set()
        while waiting and len(asked) < MOST_SITEMAPS:
            one = waiting.popleft()
            if one in asked or not self._inside(one):
                continue
            asked.add(one)
            seen = self.get(one, probe=not named)
            if seen is None or seen.answer.status != 200 or not is_sitemap(seen.answer.body):
                continue
            try:
                found = parse_sitemap(seen.answer.body, one)
            except SourceError:
                continue
            made.sitemaps.append(one)
            waiting += [entry.address for entry in found.sitemaps]
            for entry in found.pages:
                if self._inside(entry.address):
                    self.listed.setdefault(without_tracking(entry.address), entry.changed)
        front = self.seen[page_key(start)]
        for one in front.page.get("feeds", ())[:5]:
            seen = self.get(one) if self._inside(one) else None
            if seen is None or seen.answer.status != 200 or not is_feed(seen.answer.body):
                continue
            try:
                feed = parse_feed(seen.answer.body, one)
            except SourceError:
                continue
            made.feeds.append(one)
            for item in feed.entries:
                if item.address and self._inside(item.address):
                    self.listed.setdefault(without_tracking(clean(item.address)), item.time)
        for link in self.listed:
            self._links.setdefault(link)

    def _gather(self, start: str, wanted: Sequence[str], made: Plan) -> None:
        """Walk from the front page until enough addresses fit."""
        waiting = deque(self._nearest())
        done: set[str] = {page_key(start)}
        pages = 1
        while pages < MOST_PAGES and waiting and not self._enough(wanted, made):
            link = waiting.popleft()
            key = page_key(link)
            if key in done or any(fits(link, text) for text in made.skip):
                continue
            done.add(key)
            seen = self.get(link)
            pages += 1
            if seen is not None and seen.page:
                before = len(self._links)
                self._take_links(seen)
                waiting += list(self._links)[before:]

    def _nearest(self) -> Iterator[str]:
        """Links of the front page, lists of things before things."""
        yield from sorted(self._links, key=lambda link: (link.count("/"), len(link)))

    def _enough(self, wanted: Sequence[str], made: Plan) -> bool:
        if made.examples:
            return len(self._links) >= 5 * ENOUGH
        if not wanted:
            return len(self._links) >= 10 * ENOUGH
        return sum(any(fits(link, text) for text in made.only) for link in self._links) >= ENOUGH

    def _choose(self, made: Plan, links: list[str]) -> None:
        """Patterns of documents: those that fit what the user asked for, and whose pages are documents."""
        if made.only and not any(fits(link, text) for link in links for text in made.only):
            if all(page_key(link) == page_key(made.address) for link in links):
                raise InputUnreadable("crawl_no_links", address=made.address)
            raise InputUnreadable(
                "crawl_nothing_fits",
                address=made.address,
                links=len(links),
                only=list(made.only),
                examples=links[:5],
            )
        found = infer_wanted(links, only=made.only, examples=made.examples)
        judged = 0
        for pattern in found:
            if pattern.view_of:
                made.skipped.append((pattern, "view"))
            elif judged >= MOST_PATTERNS:
                made.skipped.append((pattern, "rare"))
            else:
                judged += 1
                why = self._verdict(pattern, [link for link in links if pattern.matches(link)])
                if why:
                    made.skipped.append((pattern, why))
                else:
                    made.patterns.append(pattern)
        named = made.only or made.examples
        covered = sum(1 for link in links if made.pattern_of(link) >= 0)
        if not named and covered < LEAST_COVERED * len(links):
            # Nobody has said what a document is, and what looks like one is the smaller part: all pages are looked at.
            made.skipped += [(pattern, "rare") for pattern in made.patterns]
            made.patterns = []
        if (
            named and not made.patterns
        ):  # the user has said so: content that we do not understand does not overrule it
            doubted = [pair for pair in made.skipped if pair[1] not in ("view", "rare")] or made.skipped
            made.patterns = [pattern for pattern, _ in doubted]
            made.skipped = [pair for pair in made.skipped if pair not in doubted]
        if named and not made.patterns:
            fitting = [link for link in links if any(fits(link, text) for text in made.only)]
            made.patterns = infer_wanted([], examples=fitting[:ENOUGH] or made.examples)

    def _verdict(self, pattern: Pattern, own: list[str]) -> str:
        """Why pages of a pattern are no documents, by the content of some of them; "" when they are."""
        draw = random.Random(pattern.text)
        sample = draw.sample(own, min(SAMPLE_PAGES, len(own)))
        votes: list[str] = []
        for link in sample:
            seen = self.get(link)
            if seen is None or not seen.page or seen.page.get("error"):
                votes.append("unreadable")
            elif soft404.is_login_wall(seen.page["title"], seen.page["text"], password=seen.page["password"]):
                votes.append("wall")
            elif seen.page["linked"] > LINKED:
                votes.append("list")
            elif len(seen.page["text"].split()) < DOCUMENT_WORDS:
                votes.append("short")
            else:
                votes.append("")
        good = votes.count("")
        if not votes or good * 2 >= len(votes):
            return ""
        return max(set(votes) - {""}, key=lambda why: (votes.count(why), why))

    def _counted(self, pattern: Pattern, links: Sequence[str]) -> Pattern:
        """A pattern that the user gave, with what is known of its numbers."""
        own = [link for link in links if pattern.matches(link)]
        numbers = [number for link in own if (number := pattern.number_of(link)) is not None]
        low, high = (min(numbers), max(numbers)) if numbers else (0, 0)
        return Pattern(pattern.text, tuple(own[:10]), len(own), low, high)

    def _probe(self, made: Plan) -> None:
        """What the site answers for what is not there."""
        origin = parse_address(self.seen[page_key(made.address)].answer.address).origin
        for number, pattern in enumerate(made.patterns or [None]):
            signal = Signal(honest=True)
            for probe in range(soft404.PROBES):
                seen = self.get(soft404.impossible(pattern, origin, probe), probe=True)
                if seen is None or seen.answer.status != 200:
                    continue
                if page_key(seen.answer.address) != page_key(seen.asked):  # it leads somewhere else
                    signal.redirects.add(page_key(seen.answer.address))
                signal.honest = False
                signal.add_probe(seen.page.get("blocks", ()))
            if not signal.honest:
                made.answers_missing = False
                for link in pattern.examples if pattern else ():
                    known = self.seen.get(page_key(link))
                    if known is not None and known.page and not signal.says_missing(known.page["blocks"]):
                        signal.add_normal(known.page["blocks"])
                front = self.seen[page_key(made.address)]
                signal.normal |= set(front.page.get("blocks", ()))
            self.signals[str(number if pattern else -1)] = signal

    def _estimate(self, made: Plan, numbers: tuple[int, int] | None) -> None:
        """How many documents, and how many requests they take."""
        listed = {link for link in self.listed if made.pattern_of(link) >= 0 or not made.patterns}
        made.listed = len(listed)
        documents = requests = 0
        made.numbers = numbers
        known = True
        origin = parse_address(self.seen[page_key(made.address)].answer.address).origin
        for place, pattern in enumerate(made.patterns):
            if not pattern.walkable:
                known = False
                continue
            known = known and bool(numbers or pattern.high)
            # A pattern of the user whose numbers no link shows is tried from 1 on.
            seen = (min(1, pattern.low), pattern.high) if pattern.high else (1, SAMPLE_NUMBERS)
            low, high = numbers or seen
            inside = [one for one in pattern.examples if low <= (pattern.number_of(one) or 0) <= high]
            shown = tuple(inside or dict.fromkeys(origin + pattern.make(one) for one in (low, high)))
            made.patterns[place] = Pattern(pattern.text, shown, pattern.count, low, high)
            found = self._sample_numbers(made.patterns[place], origin, self.signals.get(str(place)))
            share, doubt = holes(found)
            made.holes, made.holes_tried = max(made.holes, share), made.holes_tried + len(found)
            if share - doubt > MOST_HOLES and not numbers:
                known = False
                continue
            made.counted.append(place)
            documents += round((high - low + 1) * (1 - share))
            requests += high - low + 1
        if known and made.patterns:
            made.documents, made.requests = documents, requests
        elif listed:
            made.documents = max(documents, len(listed))
            made.requests = max(requests, len(listed))

    def _sample_numbers(self, pattern: Pattern, origin: str, signal: Signal | None) -> list[bool]:
        draw = random.Random(f"{origin}{pattern.text}")
        span = range(pattern.low, pattern.high + 1)
        chosen = draw.sample(span, min(MORE_NUMBERS, len(span)))
        out: list[bool] = []
        for number in chosen:
            if len(out) == SAMPLE_NUMBERS and sum(out) * 2 >= len(out):
                break
            seen = self.get(origin + pattern.make(number))
            if seen is None:
                continue
            there = seen.answer.status == 200
            if there and signal is not None:
                there = page_key(seen.answer.address) not in signal.redirects
                there = there and not signal.says_missing(seen.page.get("blocks", ()))
                there = there and not is_front(seen.answer.address)
            out.append(there)
        return out


def is_front(address: str) -> bool:
    """Whether an address is that of a front page."""
    parts = urlsplit(address)
    return parts.path in ("", "/") and not parts.query
