"""Pages that answer 200 and are no documents (R8): "not found", "blocked", a door that asks for a password.

A site is asked for a few addresses that cannot exist, of the shape of its documents. `Signal` remembers the blocks of
text that all these answers have and no normal page has; a page with at least half of them is such an answer. Blocks
are numbers (`doublet.sources.whole_page.block_numbers`): lists of links, which may change at each request, are not
among them. How well it tells is in ``docs/explanation/robot.md``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from doublet.crawl.patterns import Pattern
from doublet.text.words import count_words

PROBES = 3  #: addresses that cannot exist, for each pattern
NORMAL_PAGES = 6  #: that the answers to probes are compared with
PRESENT = 0.5  # of the blocks of the signal; .8 kept 11 % of such pages
_LETTERS = "bcdfghjklmnpqrstvwxz"
_NOT_FOUND = re.compile(
    r"\b(?:404|page|file|document|article|user|record|item|content|post)\b.{0,30}\b(?:not found|"
    r"(?:does|do|did) not exist|doesn[’']t exist|no longer (?:exists?|available)|cannot be found|could not be found|"
    r"was (?:removed|deleted)|has been (?:removed|deleted|blocked))|\bnothing (?:was )?found\b|error 404|"
    r"\b404\b.{0,20}(?:error|ошибка)|ошибка 404|такой страницы (?:нет|не существует)|"
    r"(?:страниц|документ|файл|стать|пользовател|запис|материал)\w*.{0,30}не (?:найден\w*|существу\w+)|"
    r"не найден[аоы]?\b.{0,20}(?:страниц|документ|стать)|удал[её]н[аы]?\b.{0,20}(?:автор|администр)|"
    r"ничего не (?:найдено|нашлось)|access denied|доступ (?:запрещ[её]н|закрыт)",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"\b(?:log ?in|sign ?in|please (?:log|sign|register)|members only|subscribers? only|create an account|password)\b|"
    r"войдите|войти|авториз|зарегистрир|пароль|только для (?:зарегистрированных|подписчиков)",
    re.IGNORECASE,
)
SHORT_WORDS = 30  # a text so short that a phrase is all it says
WALL_WORDS = 80  # words of its own that a page behind a door has at most


@dataclass(slots=True)
class Signal:
    """What a site's answers to impossible addresses have in common, and its normal pages do not."""

    probes: list[frozenset[int]] = field(default_factory=list)
    normal: set[int] = field(default_factory=set)
    normal_pages: int = 0
    honest: bool = False  #: the site answers 404 to what is not there
    redirects: set[str] = field(default_factory=set)  #: where it leads instead

    def add_probe(self, blocks: Iterable[int]) -> None:
        self.probes.append(frozenset(blocks))

    def add_normal(self, blocks: Iterable[int]) -> None:
        """A page that is known to be one, or was judged so."""
        if self.normal_pages < NORMAL_PAGES:
            self.normal |= set(blocks)
            self.normal_pages += 1

    @property
    def blocks(self) -> frozenset[int]:
        common = frozenset.intersection(*self.probes) if self.probes else frozenset()
        return common - self.normal

    def says_missing(self, blocks: Iterable[int]) -> bool:
        """Whether a page is the site's answer for what is not there."""
        signal = self.blocks
        if not signal:
            return False
        return len(signal & set(blocks)) >= PRESENT * len(signal)

    def to_dict(self) -> dict[str, Any]:
        return {
            "probes": [sorted(one) for one in self.probes],
            "normal": sorted(self.normal),
            "normal_pages": self.normal_pages,
            "honest": self.honest,
            "redirects": sorted(self.redirects),
        }

    @staticmethod
    def from_dict(given: dict[str, Any]) -> Signal:
        probes = [frozenset(one) for one in given["probes"]]
        redirects = set(given.get("redirects", ()))
        return Signal(probes, set(given["normal"]), given["normal_pages"], given["honest"], redirects)


def impossible(pattern: Pattern | None, origin: str, number: int) -> str:
    """An address of the shape of a pattern that cannot exist."""
    draw = random.Random(f"{origin} {pattern.text if pattern else ''} {number}")
    word = "".join(draw.choice(_LETTERS) for _ in range(14))
    if pattern is None:
        return f"{origin}/{word}"
    digits = str(10 ** (len(str(pattern.high or 1)) + 4) + draw.randrange(10**4))

    def put(found: re.Match[str]) -> str:
        kind = found.group(1)
        values = {
            "number": digits,
            "numbers": f"{digits}.{digits}",
            "year": "1999",
            "month": "01",
            "day": str(draw.randint(10, 28)),
            "hex": f"{draw.getrandbits(48):012x}",
            "hyphened": f"{word[:7]}-{word[7:]}",
            "capital": word.capitalize(),
        }
        return values.get(kind, word)

    target = re.sub(r"\{([a-z]+)(?::[\d-]+)?\}", put, pattern.text)
    return origin + target


def says_so(title: str, text: str) -> bool:
    """Whether a short page says in words that there is nothing here. For sites that could not be probed."""
    return _at_most(text, SHORT_WORDS) and _NOT_FOUND.search(f"{title}\n{text}") is not None


def is_login_wall(title: str, text: str, *, password: bool) -> bool:
    """A page that asks for a password instead of showing a document."""
    return password and _at_most(text, WALL_WORDS) and _LOGIN.search(f"{title}\n{text}") is not None


def _at_most(text: str, words: int) -> bool:
    return count_words(text, most=words + 1) <= words
