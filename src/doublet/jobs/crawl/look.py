"""The first stage of a crawl, "looking for links" (L2): the rules of `doublet.crawl.survey`, joined with a fetcher, the
readers of pages, and those of sitemaps and feeds.

All that was fetched is kept and not fetched again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from doublet.addresses import clean, parse_address
from doublet.crawl.keys import page_key
from doublet.crawl.patterns import Pattern
from doublet.crawl.plan import Plan
from doublet.crawl.politeness import PoliteFetcher
from doublet.crawl.survey import Seen, Survey
from doublet.errors import InputUnreadable, SourceError
from doublet.model import Note
from doublet.progress import Progress
from doublet.sources.protocol import Answer
from doublet.sources.workers import ReaderPool

MOST_SITEMAPS = 200

Keep = Callable[[Seen], None]


class Looker:
    """Shows the pages of one site to a survey. *keep* is handed each page that was fetched; *known* are those of an
    earlier look."""

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

    def look(
        self,
        address: str,
        *,
        only: Sequence[str] = (),
        examples: Sequence[str] = (),
        skip: Sequence[str] = (),
        patterns: Sequence[Pattern] = (),
        numbers: tuple[int, int] | None = None,
        subdomains: bool = False,
    ) -> Survey:
        """Look at the site and decide. *patterns* and *numbers* are those that the user gave instead.

        Raises `InputUnreadable` or `NotAllowed` with what was seen and what to change.
        """
        start = clean(address)
        if not start:
            raise InputUnreadable("crawl_not_an_address", address=address)
        plan = Plan(start, list(only), list(examples), list(skip), subdomains=subdomains)
        survey = Survey(self, plan)
        plan.site = survey.site
        plan.delay_s = self._fetcher.delay_of(parse_address(start).origin)
        self._read_lists(survey)
        survey.decide(patterns=patterns, numbers=numbers)
        return survey

    def lists_again(self, plan: Plan) -> Survey:
        """Read the front page, the sitemaps and the feeds once more: where new addresses are found first."""
        survey = Survey(self, plan)
        plan.sitemaps.clear()
        plan.feeds.clear()
        self._read_lists(survey)
        return survey

    def _read_lists(self, survey: Survey) -> None:
        """Sitemaps and feeds."""
        from doublet.sources.feed import is_feed, parse_feed
        from doublet.sources.sitemap import is_sitemap, parse_sitemap

        plan = survey.plan
        start = plan.address
        try:
            named = [clean(one, base=start) for one in self._fetcher.robots_of(start).sitemaps]
        except SourceError:
            named = []
        waiting = deque(filter(None, named or [f"{parse_address(start).origin}/sitemap.xml"]))
        asked: set[str] = set()
        while waiting and len(asked) < MOST_SITEMAPS:
            one = waiting.popleft()
            if one in asked or not survey.inside(one):
                continue
            asked.add(one)
            seen = self.get(one, probe=not named)
            if seen is None or seen.answer.status != 200 or not is_sitemap(seen.answer.body):
                continue
            try:
                found = parse_sitemap(seen.answer.body, one)
            except SourceError:
                continue
            plan.sitemaps.append(one)
            waiting += [entry.address for entry in found.sitemaps]
            for entry in found.pages:
                survey.add_listed(entry.address, entry.changed)
        for one in survey.front.page.get("feeds", ())[:5]:
            seen = self.get(one) if survey.inside(one) else None
            if seen is None or seen.answer.status != 200 or not is_feed(seen.answer.body):
                continue
            try:
                feed = parse_feed(seen.answer.body, one)
            except SourceError:
                continue
            plan.feeds.append(one)
            for item in feed.entries:
                survey.add_listed(item.address, item.time)
