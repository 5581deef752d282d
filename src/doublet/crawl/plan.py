"""What a crawl has decided to do: which addresses are documents, how they are reached, and how much work that is.

A `Plan` is made by looking at a site (`doublet.crawl.survey`), stored with the source, shown by ``--preview`` and
changed by the user.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from doublet.addresses import parse_address
from doublet.crawl.patterns import Pattern


@dataclass(slots=True)
class Plan:
    """*patterns* are those of documents; an empty list: every page with enough text is one. *skipped* are patterns
    that fit but are not documents, with the reason (a code). *counted*: patterns whose numbers are counted out."""

    address: str
    only: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    skip: list[str] = field(default_factory=list)  #: addresses with one of these texts are left alone
    site: str = ""  #: host that links may lead to; that of the address, unless its front page has moved
    subdomains: bool = False  #: hosts below that of the address belong to the site too
    patterns: list[Pattern] = field(default_factory=list)
    skipped: list[tuple[Pattern, str]] = field(default_factory=list)
    counted: list[int] = field(default_factory=list)
    numbers: tuple[int, int] | None = None  #: that the user wants of a pattern, and nothing beyond
    sitemaps: list[str] = field(default_factory=list)
    feeds: list[str] = field(default_factory=list)
    listed: int = 0  #: addresses of documents that sitemaps and feeds name
    looked_at: int = 0  #: pages that were fetched to find this out
    probes: int = 0  #: requests for addresses that cannot exist
    holes: float = 0.0  #: share of the numbers without a page, as far as was tried
    holes_tried: int = 0
    documents: int | None = None  #: estimate
    requests: int | None = None
    delay_s: float = 0.0
    answers_missing: bool = True  #: the site answers 404 to what is not there
    wish: dict[str, Any] = field(default_factory=dict)  #: what the user asked for

    @property
    def follows(self) -> bool:
        """Whether links are followed from page to page: not when all documents can be counted out."""
        return not self.counted or len(self.counted) < len(self.patterns)

    @property
    def origin(self) -> str:
        """Where the numbers of a pattern are: at the site of its examples."""
        for pattern in self.patterns:
            if pattern.examples:
                return parse_address(pattern.examples[0]).origin
        return parse_address(self.address).origin

    @property
    def seconds(self) -> float | None:
        """How long it takes at this politeness."""
        return None if self.requests is None else self.requests * self.delay_s

    def pattern_of(self, address: str) -> int:
        """Number of the pattern of a document; -1 when it is not one."""
        for number, pattern in enumerate(self.patterns):
            if pattern.matches(address):
                return number if self._wanted(pattern, address) else -1
        return -1

    def _wanted(self, pattern: Pattern, address: str) -> bool:
        found = pattern.number_of(address) if self.numbers is not None else None
        return self.numbers is None or found is None or self.numbers[0] <= found <= self.numbers[1]

    def to_dict(self) -> dict[str, Any]:
        return {
            "address": self.address,
            "only": self.only,
            "examples": self.examples,
            "skip": self.skip,
            "site": self.site,
            "subdomains": self.subdomains,
            "patterns": [pattern.to_dict() for pattern in self.patterns],
            "skipped": [{**pattern.to_dict(), "why": why} for pattern, why in self.skipped],
            "counted": self.counted,
            "numbers": list(self.numbers) if self.numbers else None,
            "sitemaps": self.sitemaps,
            "feeds": self.feeds,
            "listed": self.listed,
            "looked_at": self.looked_at,
            "probes": self.probes,
            "holes": round(self.holes, 4),
            "holes_tried": self.holes_tried,
            "documents": self.documents,
            "requests": self.requests,
            "delay_s": self.delay_s,
            "answers_missing": self.answers_missing,
            "wish": self.wish,
        }

    @staticmethod
    def from_dict(given: Mapping[str, Any]) -> Plan:
        facts = dict(given)
        if "walks" in facts:  # the name in plans of earlier versions
            facts["counted"] = facts.pop("walks")
        facts["patterns"] = [Pattern.from_dict(one) for one in given["patterns"]]
        facts["skipped"] = [(Pattern.from_dict(one), str(one["why"])) for one in given["skipped"]]
        if given.get("numbers"):
            low, high = given["numbers"]
            facts["numbers"] = low, high
        return Plan(**facts)
