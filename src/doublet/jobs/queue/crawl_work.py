"""Kinds of jobs that the robot does: crawl, refresh."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doublet.errors import InvalidParameter
from doublet.jobs.queue.kinds import Work

if TYPE_CHECKING:
    from doublet.jobs.crawl import Wish


def wish_of(
    only: Sequence[str],
    examples: Sequence[str],
    skip: Sequence[str],
    patterns: Sequence[str],
    numbers: Sequence[int] | None,
    *,
    subdomains: bool,
) -> Wish:
    """What a user asks for, from the parameters of a job. Raises `InvalidParameter`."""
    from doublet.crawl.patterns import read_pattern
    from doublet.jobs.crawl import Wish

    read = []
    for text in patterns:
        try:
            read.append(read_pattern(text))
        except ValueError as error:
            told = {"pattern": text, "why": str(error), "name": "pattern"}
            raise InvalidParameter("crawl_wrong_pattern", **told) from None
    low, high = numbers or (0, 0)
    span = (low, high) if numbers else None
    return Wish(tuple(only), tuple(examples), tuple(skip), tuple(read), span, subdomains)


def crawl(
    work: Work,
    *,
    library: str,
    address: str,
    only: Sequence[str] = (),
    examples: Sequence[str] = (),
    skip: Sequence[str] = (),
    subdomains: bool = False,
    patterns: Sequence[str] = (),
    numbers: Sequence[int] | None = None,
    limit: int | None = None,
    warc: str | None = None,
    create: bool = False,
) -> dict[str, Any]:
    """Index a site into a library. An attempt that was broken off is taken up where it was: the frontier knows."""
    from doublet.crawl.politeness import polite_fetcher
    from doublet.jobs.crawl import Crawling, Wish, crawl_library

    store = work.store
    if create and library not in {info.name for info in store.libraries.all()}:
        store.libraries.create(library)
    wish = wish_of(only, examples, skip, patterns, numbers, subdomains=subdomains)
    if work.checkpoint.get("planned"):  # an attempt before this one made the plan
        wish = Wish()
    crawling = Crawling(limit=limit, min_words=work.settings.min_words, warc=Path(warc) if warc else None)
    with polite_fetcher(work.settings, waiting=work.tell_wait) as fetcher:
        made = crawl_library(
            store,
            library,
            address,
            fetcher=fetcher,
            wish=wish,
            crawling=crawling,
            progress=work.progress,
            planned=lambda: work.keep({"planned": True}),
        )
    return made.to_dict()


def refresh(
    work: Work, *, library: str, limit: int | None = None, everything: bool = False
) -> dict[str, Any]:
    """Ask again for the pages of a library that are due."""
    from doublet.crawl.politeness import polite_fetcher
    from doublet.jobs.crawl import Crawling, refresh_library

    crawling = Crawling(limit=limit, min_words=work.settings.min_words)
    with polite_fetcher(work.settings, waiting=work.tell_wait) as fetcher:
        made = refresh_library(
            work.store,
            library,
            fetcher=fetcher,
            crawling=crawling,
            progress=work.progress,
            everything=everything and not work.checkpoint.get("asked"),
            planned=lambda: work.keep({"asked": True}),
        )
    return {"format": 1, "sites": [one.to_dict() for one in made]}
