"""Numbers of a walkable pattern, counted out: which to ask for next, and when there are no more (L2).

A `Range` knows the highest number that was seen on the site. Below it every number is asked for once. Above it goes on
until so many numbers in a row gave nothing that chance does not explain it, then leaps ahead a few times before it
gives up. The rule was chosen against six others on libraries with 5 to 70 % of holes, scattered and in stretches (see
``docs/explanation/robot.md``).
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

LEAST_MISSES = 20
CHANCE = 1e-4  # that misses in a row are chance
RECENT = 500  # numbers whose share of misses counts
RECENT_GAPS = 50
LEAPS = 7  # each twice as far as the one before
PROBES = 4  # numbers asked for in each leap


@dataclass(slots=True)
class Range:
    """State of one walk over numbers. `ask` gives numbers, `tell` takes what was found; both in any order."""

    low: int
    high: int  #: the highest number known to exist
    next: int = -1  #: the lowest number not asked for yet
    done: bool = False
    hits: int = 0
    misses: int = 0
    told_up_to: int = -1  #: all numbers below were answered
    early: dict[int, bool] = field(default_factory=dict)  #: answers that came before those of lower numbers
    recent: list[bool] = field(default_factory=list)
    gaps: list[int] = field(default_factory=list)
    run: int = 0  #: misses in a row up to now
    leap: int = 0
    probes: dict[int, bool | None] = field(default_factory=dict)
    fixed: bool = False  #: the user has said where it ends

    def __post_init__(self) -> None:
        if self.next < 0:
            self.next = self.low
        if self.told_up_to < 0:
            self.told_up_to = self.low

    def ask(self, many: int) -> list[int]:
        """Up to so many numbers that were not asked for yet. Empty: wait for answers, or `done`."""
        if self.done:
            return []
        if self.probes:
            fresh = [number for number, answer in self.probes.items() if answer is None]
            return fresh[:many]
        limit = (
            self.high if self.fixed or self.next <= self.high else self.told_up_to + self.patience() + PROBES
        )
        upper = min(self.next + many, limit + 1)
        out = [number for number in range(self.next, upper) if number not in self.early]
        self.next = max(self.next, upper)
        return out

    def tell(self, number: int, found: bool) -> None:
        """*found*: there is a page with this number, a document or not."""
        if number in self.probes:
            if self.probes[number] is None:
                self.probes[number] = found
                self._after_leap()
            return
        if number < self.told_up_to or number in self.early:
            return
        self.early[number] = found
        while self.told_up_to in self.early:
            self._take(self.told_up_to, self.early.pop(self.told_up_to))
            self.told_up_to += 1
        if self.fixed:
            self.done = self.told_up_to > self.high
        elif (
            not self.done and not self.probes and self.told_up_to > self.high and self.run >= self.patience()
        ):
            self._begin_leap()

    def seen(self, number: int) -> None:
        """A link to this number was met: the range goes at least so far."""
        if number > self.high and not self.fixed:
            self.high = number
            self.done = False
            self.leap, self.probes = 0, {}

    def reopen(self) -> range:
        """Look for the end again: a site grows at the top. Gives the numbers that had no page and may have one now."""
        if self.fixed:
            return range(0)
        tried = range(self.high + 1, self.next)
        self.recent = self.recent[: len(self.recent) - self.run]
        self.next = self.told_up_to = max(self.high + 1, self.low)
        self.run = self.leap = 0
        self.early, self.probes, self.done = {}, {}, False
        return tried

    def _take(self, number: int, found: bool) -> None:
        self.recent.append(found)
        del self.recent[:-RECENT]
        if found:
            self.hits += 1
            if self.run:
                self.gaps.append(self.run)
                del self.gaps[:-RECENT_GAPS]
            self.run = 0
            self.leap = 0
            self.high = max(self.high, number)
        else:
            self.misses += 1
            self.run += 1

    def patience(self) -> int:
        """Misses in a row after which the end is likely."""
        seen = self.recent[: len(self.recent) - self.run] or [True]
        share = 1 - sum(seen) / len(seen)
        share = min(0.99, share + 1.64 * math.sqrt(share * (1 - share) / len(seen)))
        chance = math.log(CHANCE) / math.log(share) if share > 0 else 0
        return int(max(chance, 2 * max(self.gaps, default=0), LEAST_MISSES))

    def _begin_leap(self) -> None:
        if self.leap >= LEAPS:
            self.done = True
            return
        start = self.told_up_to
        width = max(self.patience(), LEAST_MISSES) * 2**self.leap
        draw = random.Random(f"{start} {self.leap}")  # the same leap after a stop
        self.probes = dict.fromkeys(
            sorted({start + width // 2 + draw.randrange(width) for _ in range(PROBES)})
        )

    def _after_leap(self) -> None:
        found = [number for number, answer in self.probes.items() if answer]
        if found:
            self.early.update({number: bool(a) for number, a in self.probes.items() if a is not None})
            self.high = max(found)
            self.leap, self.probes = 0, {}
            self.run = 0
        elif all(answer is not None for answer in self.probes.values()):
            self.leap += 1
            self.probes = {}
            self._begin_leap()

    def to_dict(self) -> dict[str, Any]:
        return {
            "low": self.low,
            "high": self.high,
            "next": self.next,
            "done": self.done,
            "hits": self.hits,
            "misses": self.misses,
            "told_up_to": self.told_up_to,
            "early": {str(number): found for number, found in self.early.items()},
            "recent": "".join("01"[found] for found in self.recent),
            "gaps": self.gaps,
            "run": self.run,
            "leap": self.leap,
            "probes": {str(number): answer for number, answer in self.probes.items()},
            "fixed": self.fixed,
        }

    @staticmethod
    def from_dict(given: dict[str, Any]) -> Range:
        made = Range(given["low"], given["high"], fixed=given.get("fixed", False))
        for name in ("next", "done", "hits", "misses", "told_up_to", "gaps", "run", "leap"):
            setattr(made, name, given[name])
        made.early = {int(number): bool(found) for number, found in given["early"].items()}
        made.recent = [letter == "1" for letter in given["recent"]]
        made.probes = {int(number): answer for number, answer in given["probes"].items()}
        return made


def holes(answers: Iterable[bool]) -> tuple[float, float]:
    """Share of numbers without a page among those asked at random, and how far off it may be (999 times in 1,000)."""
    found = list(answers)
    if not found:
        return 0.0, 1.0
    share = 1 - sum(found) / len(found)
    return share, 3.29 * math.sqrt(max(share * (1 - share), 0.25 / len(found)) / len(found))
