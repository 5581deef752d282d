"""Addresses without end (R5): calendars, session numbers, loops, growing paths. Shapes that no document has, and a
budget for each pattern that lasts only while its pages bring documents.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

MOST_PIECES = 12  #: of a path
MOST_PARAMETERS = 6
MOST_REPEATS = 3  #: of one piece in a path
LONGEST = 1_000  #: characters of an address
FIRST_BUDGET = 20  #: pages of a pattern that are fetched whatever they bring
MOST_SHAPES = 1_000  #: remembered; those with the fewest pages are forgotten first
LEAST_GOOD = 0.05  #: share of new documents or new links to documents among its pages after that
_DIGITS = re.compile(r"\d+")
_WORDY = re.compile(r"[^/?&=]*[-_][^/?&=]*[-_][^/?&=]*|%[0-9A-F]{2}[^/?&=]*", re.I)
_PRODUCT = re.compile(
    r"\.(?:jpe?g|png|gif|svg|webp|ico|bmp|tiff?|css|js|mjs|json|woff2?|ttf|eot|mp[34]|avi|mov|webm|ogg|wav|flac|"
    r"zip|rar|7z|gz|bz2|xz|tar|exe|dmg|iso|apk|deb|rpm|bin|swf)\Z",
    re.IGNORECASE,
)


def odd_shape(address: str) -> str:
    """Why an address cannot be that of a document ("" when it can): a code of the frontier's reasons."""
    if len(address) > LONGEST:
        return "too_long"
    parts = urlsplit(address)
    pieces = [piece for piece in parts.path.split("/") if piece]
    if len(pieces) > MOST_PIECES:
        return "too_deep"
    if pieces and max(Counter(pieces).values()) >= MOST_REPEATS:
        return "repeats_itself"
    if _PRODUCT.search(parts.path):
        return "not_text"
    if parts.query:
        names = [part.partition("=")[0] for part in parts.query.split("&")]
        if len(names) > MOST_PARAMETERS:
            return "too_many_parameters"
        if max(Counter(names).values()) > 1 and "[]" not in parts.query and "%5B%5D" not in parts.query:
            return "parameter_twice"
    return ""


def shape_of(target: str) -> str:
    """What an address has in common with others that a program made in the same way: numbers and names do not count."""
    path, _, query = target.partition("?")
    pieces = [_shape(piece) for piece in path.split("/")]
    names = sorted(part.partition("=")[0] for part in query.split("&") if part)
    return "/".join(pieces) + ("?" + "&".join(names) if names else "")


def _shape(piece: str) -> str:
    return "*" if _WORDY.fullmatch(piece) or len(piece) > 24 else _DIGITS.sub("0", piece)


@dataclass(slots=True)
class Budget:
    """How many pages of each shape were fetched, and how many were worth it."""

    first: int = FIRST_BUDGET
    fetched: Counter[str] = field(default_factory=Counter)
    good: Counter[str] = field(default_factory=Counter)

    def tell(self, shape: str, *, good: bool) -> bool:
        """*good*: the page was a new document, or had links to new ones. Gives whether the budget of the shape is spent
        now."""
        self.fetched[shape] += 1
        if good:
            self.good[shape] += 1
        if len(self.fetched) > MOST_SHAPES:
            self.fetched = Counter(dict(self.fetched.most_common(MOST_SHAPES // 2)))
            self.good = Counter({one: many for one, many in self.good.items() if one in self.fetched})
        return not good and self.spent(shape)

    def spent(self, shape: str) -> bool:
        """Whether no more pages of this shape are worth a request."""
        fetched = self.fetched[shape]
        return fetched >= self.first and self.good[shape] < LEAST_GOOD * fetched

    def unproven(self, shape: str, under_way: int) -> bool:
        """Whether the pages of this shape that are under way should be judged before more are asked for."""
        asked = self.fetched[shape] + under_way
        return asked >= self.first and self.good[shape] < LEAST_GOOD * asked

    def to_dict(self) -> dict[str, Any]:
        return {"fetched": dict(self.fetched), "good": dict(self.good)}

    @staticmethod
    def from_dict(given: dict[str, Any], first: int = FIRST_BUDGET) -> Budget:
        return Budget(first, Counter(given.get("fetched", {})), Counter(given.get("good", {})))
