"""What becomes of a fetched page: a document, a page with links, or nothing, and why; and which links are worth it.

`Judge` holds what a crawl has learned of its site (patterns, answers for what is not there, budgets, spellings, noise,
ranges). It asks nobody and stores nothing; its state is written down with each batch.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from doublet.addresses import host_of, parse_address, within_site
from doublet.crawl import soft404
from doublet.crawl.keys import page_key, without_tracking
from doublet.crawl.patterns import fits, is_front, target_of
from doublet.crawl.plan import Plan
from doublet.crawl.protocol import Link, PageRow
from doublet.crawl.ranges import Range
from doublet.crawl.refresh import Noise
from doublet.crawl.soft404 import Signal
from doublet.crawl.survey import LINKED, Seen
from doublet.crawl.traps import Budget, odd_shape, shape_of
from doublet.crawl.variants import Variants
from doublet.errors import NotAllowed, SourceError, TooLarge, TooSlow
from doublet.model import Document
from doublet.sources.protocol import Answer
from doublet.text.words import count_words

MOST_DEPTH = 10_000  #: links from the front page: lists have a page behind each page
MOST_BARREN = 500  #: pages in a row without a single new document or link to one: the site is endless
EXAMPLES = 3
KNOWN_KEYS = 10_000  #: met lately; of older ones the database knows
MOST_ORIGINS = 10_000
MOST_TARGETS = 1_000  #: of redirects
REDIRECTED = 3  #: addresses that lead to one page: it is where the site sends what is not there
REFUSALS = frozenset({401, 403, 407, 451})  #: statuses of a site that does not want to show a page
_UNREADABLE = {"oversized": "too_large"}  # states of pages that cannot be read; others are "unreadable"
# A document was there, or something that is not nothing: the number is taken.
_ABSENT = frozenset(("missing", "soft_404"))
_PAGES = ("text/html", "application/xhtml", "text/plain")


@dataclass(slots=True)
class Fetched:
    """An answer of a server, or why there is none."""

    row: PageRow
    address: str  #: as it was asked for
    answer: Answer | None = None
    redirect: str = ""
    error: SourceError | None = None
    page: dict[str, Any] | None = None  #: what `doublet.sources.whole_page` read in it


@dataclass(slots=True)
class Verdict:
    """*document* is what to store, when there is something. *gone*: one that was stored is no longer there."""

    state: str
    reason: str = ""
    document: Document | None = None
    links: list[Link] = field(default_factory=list)
    unchanged: bool = False
    gone: bool = False
    good: bool = False  #: brought a document, or links to new ones


class Judge:
    """Decides for one source."""

    def __init__(
        self, plan: Plan, state: Mapping[str, Any], *, min_words: int = 10, everything: bool = False
    ) -> None:
        self.plan = plan
        self.min_words = min_words
        self._everything = everything  # follow links even when all documents can be counted out
        self.signals = {key: Signal.from_dict(one) for key, one in state.get("signals", {}).items()}
        self.ranges = {int(key): Range.from_dict(one) for key, one in state.get("ranges", {}).items()}
        self.budget = Budget.from_dict(state.get("budget", {}))
        self.variants = Variants.from_dict(state.get("variants", {}))
        self.noise = Noise.from_dict(state.get("noise", {}))
        self.dropped: dict[str, list[Any]] = {key: list(one) for key, one in state.get("dropped", {}).items()}
        self.barren = int(state.get("barren", 0))
        self.ran_out = False  # the budget of some shape: pages that wait may not be worth a request any more
        self._led_to: Counter[str] = Counter()
        self._site = plan.site or host_of(plan.address)
        self._origins: dict[str, bool] = {}
        self._known: OrderedDict[str, None] = OrderedDict()
        for place in plan.counted:
            pattern = plan.patterns[place]
            fixed = plan.numbers is not None
            self.ranges.setdefault(place, Range(pattern.low, pattern.high, fixed=fixed))

    def state(self) -> dict[str, Any]:
        return {
            "plan": self.plan.to_dict(),
            "signals": {key: one.to_dict() for key, one in self.signals.items()},
            "ranges": {str(key): one.to_dict() for key, one in self.ranges.items()},
            "budget": self.budget.to_dict(),
            "variants": self.variants.to_dict(),
            "noise": self.noise.to_dict(),
            "dropped": self.dropped,
            "barren": self.barren,
        }

    @property
    def follows(self) -> bool:
        return (self.plan.follows or self._everything) and not self.endless

    @property
    def endless(self) -> bool:
        """Whether the site has brought nothing for so long that following its links has no end."""
        return self.barren >= MOST_BARREN

    # Pages

    def judge(self, fetched: Fetched, key: str) -> Verdict:
        """What became of a page. *key* is the id that its document has."""
        verdict = self._judge(fetched, key)
        row = fetched.row
        target = row.target
        number = self._number(row, target)
        if number is not None:
            self.ranges[row.pattern].tell(number, verdict.state not in _ABSENT)
        else:
            if self.budget.tell(shape_of(target), good=verdict.good or row.again):
                self.ran_out = True
            if verdict.good:
                self.barren = 0
            elif row.pattern < 0 and not row.again:
                self.barren += 1
        return verdict

    def _number(self, row: PageRow, target: str) -> int | None:
        if row.pattern not in self.ranges:
            return None
        return self.plan.patterns[row.pattern].number_of(target)

    def _judge(self, fetched: Fetched, key: str) -> Verdict:
        answer = fetched.answer
        if fetched.error is not None:
            return _failure(fetched.error)
        assert answer is not None
        if fetched.redirect:
            return self._redirect(fetched, fetched.redirect)
        if answer.unchanged:
            return Verdict("stored", unchanged=True, good=True)
        status = answer.status
        if status in (404, 410):
            return Verdict("missing", str(status), gone=True)
        if status in REFUSALS:
            return Verdict("refused", str(status))
        if status not in (200, 203):
            return Verdict("failed", str(status))
        if not fetched.page:
            return Verdict("failed", "empty")
        return self._page(fetched, fetched.page, key)

    def _redirect(self, fetched: Fetched, to: str) -> Verdict:
        row = fetched.row
        target = page_key(without_tracking(to))
        signal = self.signals.get(str(row.pattern))
        elsewhere = self.plan.pattern_of(to) < 0
        if elsewhere:
            self._led_to[target] += 1
            if len(self._led_to) > MOST_TARGETS:
                self._led_to = Counter(dict(self._led_to.most_common(MOST_TARGETS // 2)))
        if row.pattern >= 0 and (
            (is_front(to) and not is_front(fetched.address))
            or (signal is not None and target in signal.redirects)
            or (elsewhere and self._led_to[target] >= REDIRECTED)
        ):
            return Verdict("missing", "redirect", gone=True)
        if not self.inside(to):
            return Verdict("alias", "leaves_the_site")
        link = self._link(to, row.depth, row.number, pattern=row.pattern)
        return Verdict("alias", "redirect", links=[link] if link is not None else [], good=True)

    def _page(self, fetched: Fetched, page: dict[str, Any], key: str) -> Verdict:
        row = fetched.row
        wanted = row.pattern >= 0 or not self.plan.patterns
        if wanted:
            missing = self._missing(row, page)
            if missing is not None:
                return missing
            canonical = self.plain(page["canonical"]) if page["canonical"] else ""
            if canonical and canonical != key and self._is_original(canonical, row):
                link = self._link(page["canonical"], row.depth, row.number, pattern=row.pattern)
                return Verdict("alias", "canonical", links=[link] if link is not None else [], good=True)
        links = [] if page["nofollow"] else self._links(page, row)
        fresh = any(link.pattern >= 0 for link in links)
        if page["noindex"]:
            return Verdict("refused", "noindex", links=links, good=fresh, gone=True)
        if not wanted:
            return Verdict("walked", "", links=links, good=fresh)
        if page.get("error"):
            state = _UNREADABLE.get(page["error"], "unreadable")
            return Verdict(state, page["error"], links=links, good=fresh)
        if not self.plan.patterns and (page["linked"] > LINKED or is_front(fetched.address)):
            return Verdict("walked", "list", links=links, good=fresh)
        least = max(1, self.min_words)
        if count_words(page["text"], most=least) < least:
            return Verdict("too_short", "", links=links, good=fresh)
        signal = self.signals.get(str(row.pattern))
        if signal is not None:
            signal.add_normal(page["blocks"])
        answer = fetched.answer
        assert answer is not None
        document = Document(
            key, page["text"], page["title"], page["time"], self.plan.address, fetched.address
        )
        return Verdict("stored", "", document, links, good=True)

    def _is_original(self, canonical: str, row: PageRow) -> bool:
        """Whether a canonical link is to be believed: many sites name their front page on every page."""
        if is_front(canonical) or not self.inside(canonical):
            return False
        return row.pattern < 0 or self.plan.pattern_of(canonical) >= 0

    def _missing(self, row: PageRow, page: dict[str, Any]) -> Verdict | None:
        signal = self.signals.get(str(row.pattern))
        if signal is not None and signal.says_missing(page["blocks"]):
            return Verdict("soft_404", "like_a_probe", gone=True)
        unknown = signal is None or not (signal.honest or signal.blocks)
        if unknown and soft404.says_so(page["title"], page["text"]):
            return Verdict("soft_404", "says_so", gone=True)
        if soft404.is_login_wall(page["title"], page["text"], password=page["password"]):
            return Verdict("wall", "login")
        return None

    # Links

    def inside(self, address: str) -> bool:
        """Whether an address is on the site that is crawled."""
        end = address.find("/", 8)
        origin = address if end < 0 else address[:end]
        found = self._origins.get(origin)
        if found is None:
            if len(self._origins) >= MOST_ORIGINS:
                self._origins.clear()
            found = self._origins[origin] = within_site(
                host_of(origin + "/"), self._site, subdomains=self.plan.subdomains
            )
        return found

    def plain(self, address: str) -> str:
        """The key of an address, without what means nothing on this site."""
        return self.variants.plain(page_key(address))

    def drop(self, why: str, address: str) -> None:
        """A link that is not followed: counted, with some examples."""
        entry = self.dropped.setdefault(why, [0])
        entry[0] += 1
        if len(entry) <= EXAMPLES and address not in entry:
            entry.append(address)

    def _links(self, page: dict[str, Any], row: PageRow) -> list[Link]:
        out = []
        for address, unfollowed, hidden in page["links"]:
            if not self.inside(address):
                continue
            if unfollowed:
                self.drop("nofollow", address)
                continue
            pattern = self.plan.pattern_of(without_tracking(address)) if hidden else None
            if pattern == -1:
                self.drop("hidden", address)
                continue
            link = self._link(address, row.depth + 1, row.number, pattern=pattern)
            if link is not None:
                out.append(link)
        return out

    def _link(self, address: str, depth: int, parent: int, *, pattern: int | None = None) -> Link | None:
        """An address worth a request, unless it is known already; the reason is counted when it is not worth it."""
        asked = without_tracking(address)
        key = self.plain(asked)
        if key in self._known:
            self._known.move_to_end(key)
            return None
        if pattern is None:
            pattern = self.plan.pattern_of(asked)
        why = odd_shape(asked)
        target = target_of(asked)
        if not why and any(fits(asked, text) for text in self.plan.skip):
            why = "skipped"
        if not why and depth > MOST_DEPTH:
            why = "too_far"
        if not why and pattern < 0 and self.plan.patterns:
            if not self.follows:
                return None
            if any(view.matches(asked) for view, reason in self.plan.skipped if reason == "view"):
                why = "view"
        if not why and self.budget.spent(shape_of(target)):
            why = "budget"
        if why:
            self.drop(why, asked)
            return None
        self._known[key] = None
        if len(self._known) > KNOWN_KEYS:
            self._known.popitem(last=False)
        if pattern in self.ranges:
            number = self.plan.patterns[pattern].number_of(asked)
            if number is not None:
                self.ranges[pattern].seen(number)
                if self.ranges[pattern].low <= number:
                    return None  # it is counted out
        origin = parse_address(asked).origin
        priority = 1 if pattern >= 0 else min(2 + depth, 8)
        return Link(key, origin, target, depth, pattern, priority, parent)

    def seed(self, addresses: Sequence[str], depth: int = 0) -> list[Link]:
        """Addresses of sitemaps, feeds and the user."""
        found = []
        for address in addresses:
            if self.inside(address):
                link = self._link(address, depth, 0)
                if link is not None:
                    found.append(Link(link.key, link.origin, link.target, depth, link.pattern, link.priority))
        return found

    def addresses_of(self, seen: Seen) -> list[Link]:
        """Addresses of a page that was fetched while looking: the one that was asked for, and the final one."""
        if seen.probe or not seen.answer.headers.get("content-type", "text/html").startswith(_PAGES):
            return []
        out = []
        for address in dict.fromkeys((seen.asked, seen.answer.address)):
            if self.inside(address):
                parsed = parse_address(address)
                pattern = self.plan.pattern_of(address)
                out.append(Link(self.plain(address), parsed.origin, parsed.target, 0, pattern, 0))
        return out

    def spent(self, row: PageRow) -> bool:
        """Whether a waiting page is not worth a request any more."""
        shape = self.budgeted(row)
        return bool(shape) and ((row.pattern < 0 and self.endless) or self.budget.spent(shape))

    def budgeted(self, row: PageRow) -> str:
        """The shape from whose budget a request for this page is taken; nothing when it needs none."""
        if row.again or row.depth == 0 or row.pattern in self.ranges:
            return ""
        return shape_of(row.target)

    def learn(self, key: str, content: int) -> list[str]:
        """The page of a key has this content; gives differences of spelling that mean nothing from now on."""
        return self.variants.tell(key, content)

    def count_out(self, origin: str, many: int) -> list[tuple[int, Link]]:
        """The next numbers of the ranges, with their addresses."""
        return [
            (number, self.numbered(origin, place, number))
            for place, one in self.ranges.items()
            for number in one.ask(many)
        ]

    def numbered(self, origin: str, place: int, number: int) -> Link:
        """The address with a number of a pattern."""
        address = origin + self.plan.patterns[place].make(number)
        return Link(self.plain(address), origin, target_of(address), 1, place, 1)

    def already(self, place: int, number: int, state: str) -> None:
        """A number that was asked for before the range came to it."""
        self.ranges[place].tell(number, state not in _ABSENT)

    def reopen(self, origin: str) -> list[Link]:
        """Look for the ends of the ranges again; gives addresses above them that had no page."""
        return [
            self.numbered(origin, place, number)
            for place, one in self.ranges.items()
            for number in one.reopen()
        ]

    @property
    def counted_out(self) -> bool:
        return all(one.done for one in self.ranges.values())


def _failure(error: SourceError) -> Verdict:
    if isinstance(error, NotAllowed):
        status = error.details.get("status")
        if status:
            return Verdict("failed", f"robots_{status}")
        return Verdict("refused", "robots" if error.details.get("robots") else "not_allowed")
    if isinstance(error, TooLarge):
        return Verdict("too_large", "fetch_limit")
    if isinstance(error, TooSlow):
        return Verdict("failed", "too_slow")
    status = int(str(error.details.get("status", 0)))
    return Verdict("failed", str(status) if status else "no_answer")
