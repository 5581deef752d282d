"""What a crawl holds between two transactions: its figures, the hosts and what waits for them, and the next batch."""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from doublet.crawl.judge import Fetched
from doublet.crawl.protocol import PageRow
from doublet.crawl.standing import Standing
from doublet.errors import DoubletError
from doublet.model import Document, Note, Outcome
from doublet.store.frontier import Batch
from doublet.store.sources import Fact

BATCH_PAGES = 250
BATCH_CHARACTERS = 2_000_000  #: that are stored in one transaction


@dataclass(slots=True)
class CrawlFigures:
    """How a crawl goes, live (L5)."""

    requests: int = 0  #: answers of servers, robots.txt included
    fetched: int = 0  #: pages
    found: int = 0  #: addresses that became known
    states: Counter[str] = field(default_factory=Counter)
    stored: int = 0
    changed: int = 0
    unchanged: int = 0
    began: float = field(default_factory=time.monotonic)

    @property
    def rate(self) -> float:
        """Pages a second."""
        return self.fetched / max(0.001, time.monotonic() - self.began)


@dataclass(slots=True)
class Host:
    number: int
    origin: str
    ready: float
    rows: deque[PageRow] = field(default_factory=deque)
    busy: bool = False  #: in the heap, or in the hands of a thread
    exhausted: bool = False  #: nothing more is waiting in the database, as far as is known
    standing: Standing = field(default_factory=Standing)
    asked_s: float = 0.0  #: how long it asked to be left alone the last time
    given_up: Note | None = None


@dataclass(slots=True)
class Arrived(Fetched):
    """What came back for a page, with what does not matter to its judge."""

    passing: bool = False  #: there is no answer now, and there may be one later
    segment: int | None = None  #: of the spool
    host_ready_s: float = 0.0
    place: str = ""


@dataclass(slots=True)
class Step:
    """What is written down together."""

    frontier: Batch = field(default_factory=Batch)
    documents: list[Document] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    unchanged: list[Fact] = field(default_factory=list)
    failed: list[Outcome] = field(default_factory=list)
    gone: list[tuple[str, Note | None]] = field(default_factory=list)
    of_document: dict[str, PageRow] = field(default_factory=dict)
    finished: list[int] = field(default_factory=list)
    spooled: list[tuple[int, int]] = field(default_factory=list)
    asked: set[int] = field(default_factory=set)
    counted: int = 0
    characters: int = 0

    def __len__(self) -> int:
        return len(self.finished) + self.counted

    @property
    def full(self) -> bool:
        return len(self.finished) >= BATCH_PAGES or self.characters >= BATCH_CHARACTERS


def unread(error: DoubletError) -> dict[str, Any]:
    """A page that its reader could not finish."""
    empty: dict[str, Any] = dict.fromkeys(("text", "title", "canonical", "time"), "")
    empty |= dict.fromkeys(("noindex", "nofollow", "password", "page"), False)
    return empty | {"links": [], "blocks": [], "feeds": [], "linked": 0.0, "error": error.code}
