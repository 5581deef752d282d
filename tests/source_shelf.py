"""For the tests of sources: a web in memory that a source can be handed as its fetcher, a real one for servers on
loopback, and a shelf that keeps what a source gives as a library does."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from doublet.errors import SourceError
from doublet.sources.protocol import (
    Answer,
    Checkpoint,
    Complete,
    Failed,
    Found,
    Gone,
    Item,
    Known,
    Source,
    Unchanged,
    Validators,
)


class NoAnswer(SourceError):
    code = "fetch_failed"


class Forbidden(SourceError):
    code = "not_allowed"


@dataclass
class Page:
    body: bytes = b""
    type: str = "text/html; charset=utf-8"
    status: int = 200
    etag: str = ""
    modified: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    moved_to: str = ""


def page(body: str | bytes, **more: Any) -> Page:
    return Page(body.encode() if isinstance(body, str) else body, **more)


def article(title: str, text: str = "", head: str = "", **more: Any) -> Page:
    """A page with enough words to be one."""
    text = text or f"{title}. " + "The library keeps manuscripts, theses and papers of conferences. " * 4
    return page(
        f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body><p>{text}</p></body></html>",
        **more,
    )


class Web:
    """Addresses and what stands there: a `Page`, an error to raise, or a function of the request."""

    def __init__(
        self, pages: Mapping[str, Page | Exception | Callable[[str], Page]], forbidden: tuple[str, ...] = ()
    ):
        self.pages = dict(pages)
        self.forbidden = forbidden
        self.asked: list[str] = []
        self.asked_past_robots: list[str] = []
        self.not_modified: list[str] = []

    def fetch(
        self, address: str, *, validators: Validators | None = None, accept: str = "", robots: bool = True
    ) -> Answer:
        self.asked.append(address)
        if not robots:
            self.asked_past_robots.append(address)
        if robots and any(address.startswith(start) for start in self.forbidden):
            raise Forbidden(f"robots.txt does not allow {address}")
        found = self.pages.get(address)
        if found is None:
            found = self.pages.get(address.split("?", 1)[0] + "?*", Page(b"not here", status=404))
        if isinstance(found, Exception):
            raise found
        if callable(found):
            found = found(address)
        if found.moved_to:
            return self.fetch(found.moved_to, validators=validators, accept=accept, robots=robots)
        given = Validators(found.etag, found.modified)
        if validators and given and validators == given:
            self.not_modified.append(address)
            return Answer(address, 304, {}, b"", given, unchanged=True)
        headers = {"content-type": found.type} | found.headers
        return Answer(address, found.status, headers, found.body, given)


class LoopbackFetcher:
    """The plainest fetcher there is, for servers that a test started itself."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def fetch(
        self, address: str, *, validators: Validators | None = None, accept: str = "", robots: bool = True
    ) -> Answer:
        self.asked.append(address)
        headers = {"User-Agent": "doublet-test"} | ({"Accept": accept} if accept else {})
        if validators and validators.etag:
            headers["If-None-Match"] = validators.etag
        if validators and validators.modified:
            headers["If-Modified-Since"] = validators.modified
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=20) as got:
                return self._answer(got.url, got.status, got.headers, got.read())
        except urllib.error.HTTPError as error:
            with error:
                if error.code >= 500 or error.code == 429:
                    raise NoAnswer(f"{address} answered {error.code}") from error
                return self._answer(error.url or address, error.code, error.headers, error.read())
        except (OSError, ValueError) as error:
            raise NoAnswer(f"{address} gave no answer ({error})") from error

    def _answer(self, address: str, status: int, headers: Any, body: bytes) -> Answer:
        lower = {name.lower(): value for name, value in headers.items()}
        validators = Validators(lower.get("etag", ""), lower.get("last-modified", ""))
        return Answer(address, status, lower, body, validators, unchanged=status == 304)


class Stopped(Exception):
    """The process was killed."""


@dataclass
class Shelf:
    """What a library keeps of one source. What came after the last checkpoint of a walk that was killed is lost."""

    documents: dict[str, Found] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    remembered: dict[str, Known] = field(default_factory=dict)
    failed: dict[str, Failed] = field(default_factory=dict)

    def known(self, id: str) -> Known | None:
        return self.remembered.get(id)

    def fill(self, source: Source, fetcher: Any, *, kill_after: int | None = None) -> list[Item]:
        """Walk the source once. *kill_after*: so many checkpoints are stored, then the process dies."""
        items: list[Item] = []
        pending: list[Item] = []
        stored = 0
        if kill_after == 0:
            return items
        for item in source.items(fetcher, self.known, dict(self.state)):
            items.append(item)
            pending.append(item)
            if isinstance(item, Checkpoint):
                self._store(pending)
                self.state = item.state
                pending = []
                stored += 1
                if stored == kill_after:
                    return items
        self._store(pending)
        if any(isinstance(item, Complete) for item in items):
            seen = {item.id for item in items if not isinstance(item, Checkpoint | Complete)}
            unlisted = getattr(source, "unlisted", None)
            for id in sorted(set(self.documents) - seen):
                if unlisted is None:
                    self._forget(id)
                elif (item := unlisted(fetcher, id, self.remembered[id])) is not None:
                    items.append(item)
                    self._store([item])
        return items

    def _store(self, items: list[Item]) -> None:
        for item in items:
            if isinstance(item, Found):
                self.documents[item.id] = item
                self.remembered[item.id] = Known(item.version, item.validators)
            elif isinstance(item, Unchanged) and item.id in self.remembered:
                old = self.remembered[item.id]
                self.remembered[item.id] = Known(
                    item.version or old.version, item.validators or old.validators
                )
            elif isinstance(item, Gone):
                self._forget(item.id)
            elif isinstance(item, Failed):
                self.failed[item.id] = item

    def _forget(self, id: str) -> None:
        self.documents.pop(id, None)
        self.remembered.pop(id, None)


def of(kind: type, items: list[Item]) -> list[Any]:
    return [item for item in items if isinstance(item, kind)]


def told(items: list[Item]) -> Iterator[Item]:
    """Items that are about documents."""
    return (item for item in items if not isinstance(item, Checkpoint | Complete))
