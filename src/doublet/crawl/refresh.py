"""When a page is asked for again (R6): sooner when it changed, later when not, within bounds, by its useful content.

A page that shows a counter or today's date changes with each visit and says nothing new. How many words come and go
between two visits on pages of a site that did not change is learned (`Noise`); only more than that is a change.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from doublet.crawl.protocol import PageRow

FIRST_S = 7 * 86_400
SHORTEST_S = 3_600
LONGEST_S = 180 * 86_400
FAILED_S = 86_400  #: until a page that could not be had is tried again
NOISE_PAGES = 6  # visited twice before their noise is known
MARGIN_WORDS = 4  # so many words more than noise are a change
#: States of pages that are there.
_VISITED = frozenset(("stored", "walked", "duplicate", "too_short", "removed"))


def next_interval(interval_s: int, *, changed: bool) -> int:
    """Half as long after a change, twice as long without one."""
    wanted = interval_s // 2 if changed else interval_s * 2
    return max(SHORTEST_S, min(LONGEST_S, wanted))


def next_visit(state: str, reason: str, interval_s: int | None, *, changed: bool | None) -> int | None:
    """Seconds until a page that ended so is asked for again; None: it is not. *changed*: since it was last asked for;
    None when nobody knows."""
    if state in _VISITED:
        interval = interval_s or FIRST_S
        return interval if changed is None else next_interval(interval, changed=changed)
    refused = state == "refused" and reason.isdecimal()  # by a status; what robots.txt says stays said
    return FAILED_S if state == "failed" or refused else None


def mixed(fresh: Iterable[PageRow], again: Iterable[PageRow]) -> list[PageRow]:
    """Three new pages, then an old one."""
    out: list[PageRow] = []
    first, second = deque(fresh), deque(again)
    while first or second:
        out += [first.popleft() for _ in range(min(3, len(first)))]
        if second:
            out.append(second.popleft())
    return out


def words_changed(before: str, after: str) -> int:
    """Words that came or went, whichever is more."""
    old, new = Counter(before.split()), Counter(after.split())
    return max((old - new).total(), (new - old).total())


@dataclass(slots=True)
class Noise:
    """How much pages of one site change without saying anything new."""

    seen: list[int] = field(default_factory=list)

    def is_change(self, before: str, after: str) -> bool:
        """Whether the text of a page says something new. The first pages of a site teach what noise is: the lower half
        of them counts, because some did change."""
        moved = words_changed(before, after)
        if not moved:
            return False
        if len(self.seen) < NOISE_PAGES:
            self.seen.append(moved)
            return moved > MARGIN_WORDS
        usual = sorted(self.seen)[len(self.seen) // 2]
        return moved > usual + MARGIN_WORDS

    def to_dict(self) -> dict[str, Any]:
        return {"seen": self.seen}

    @staticmethod
    def from_dict(given: dict[str, Any]) -> Noise:
        return Noise([int(one) for one in given.get("seen", ())])
