"""What the rules of the robot and the frontier in the store say to each other: an address to be known, and a page whose
turn it is. Both sides import these values and nothing else of each other; `doublet.jobs.crawl` carries them over.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Link:
    """An address to be known. *key* is its one spelling, *target* what is sent."""

    key: str
    origin: str
    target: str
    depth: int = 0  #: links from the front page
    pattern: int = -1  #: number of the pattern in the plan; -1: of none
    priority: int = 0  #: lower ones are asked for first
    parent: int | None = None  #: number of the page that it was met on


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page that waits to be fetched: its row in the frontier."""

    number: int
    host: int
    target: str
    depth: int
    attempts: int
    pattern: int
    again: bool  #: it is known, and asked for once more
    interval_s: int | None  #: after which it was to be asked for again
    hash: int  #: of its key, as the frontier finds it
