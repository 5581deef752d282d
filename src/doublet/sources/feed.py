"""Feeds: RSS 0.9x, 1.0 and 2.0, Atom, JSON Feed.

Takes the address of a feed. Gives a document for each entry: the page behind its link, or the text that stands in the
feed itself when that is the whole of it. A feed shows its latest entries only, so what is no longer in it is not gone.

An entry that stands there as it stood before is not asked for again; a feed that the server calls unchanged is not read
again. Feeds in several pages (``rel="next"``, ``next_url``) are followed until a page has nothing new.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any, ClassVar

import orjson

from doublet.addresses import clean
from doublet.errors import ConfigError, InputUnreadable, SourceError
from doublet.model import Note
from doublet.sources.apart import take_apart
from doublet.sources.protocol import (
    Answer,
    Checkpoint,
    Failed,
    Fetcher,
    Found,
    Item,
    KnownLookup,
    Unchanged,
)
from doublet.sources.web import (
    failure,
    get_document,
    iso_time,
    unpack,
    validators_of,
    validators_state,
)
from doublet.text.words import count_words

MAX_BYTES = 8 * 1024 * 1024  #: of one page of a feed, unpacked
MAX_ENTRIES = 10_000
MAX_PAGES = 200
EVERY = 10  #: documents between checkpoints
# An entry with so many words that does not break off is the whole article: summaries of real feeds have 20 to 100.
WHOLE_WORDS = 200
LEAST_WORDS = 30  #: what a feed says of an entry is kept for want of the page when it has so many words
FOLLOW = ("auto", "always", "never")
_ACCEPT = "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5"
_TAGS = re.compile(r"<[^>]*>")
_BREAKS_OFF = re.compile(
    r"(?:…|\.\.\.|\[(?:…|\.\.\.)\]|\[&#8230;\]|&hellip;|read more|continue reading|читать (?:далее|дальше|полностью)|"
    r"подробнее)\W*\Z",
    re.I,
)
_TIMES = ("updated_parsed", "published_parsed", "created_parsed")
_WORLDWIDE = re.compile(r"(?:https?://|urn:|tag:|doi:|info:|oai:)", re.I)
_FEED_START = re.compile(rb"<(?:[\w-]+:)?(?:rss|feed|RDF|channel)[\s>]|https?://jsonfeed\.org/version/", re.I)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a feed. *content* is HTML or text, the longest that the feed has of it."""

    id: str
    address: str
    title: str
    content: str
    is_html: bool
    time: str
    version: str


@dataclass(frozen=True, slots=True)
class Feed:
    title: str
    entries: tuple[Entry, ...]
    next: str = ""  #: the address of the next page, with older entries


def is_feed(data: bytes) -> bool:
    """Whether the bytes look like a feed, from their beginning."""
    try:
        head = unpack(data, MAX_BYTES)[:4096]
    except InputUnreadable:
        return False
    return bool(_FEED_START.search(head)) and not re.match(rb"\s*<(?:!doctype\s+)?html", head, re.I)


def parse_feed(data: bytes, address: str, *, declared_type: str = "") -> Feed:
    """Read a feed of any kind. Raises `InputUnreadable` when there is no feed in it."""
    try:
        data = unpack(data, MAX_BYTES)
    except InputUnreadable as error:
        raise InputUnreadable("feed_why", why=error.note, address=address) from error
    read = take_apart("feed", data, address, declared_type=declared_type)
    return Feed(read["title"], tuple(Entry(*entry) for entry in read["entries"]), read["next"])


def read_feed(data: bytes, *, address: str, declared_type: str = "") -> dict[str, Any]:
    """The parser behind `parse_feed`: entries as lists of their fields."""
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        feed = _parse_json(data, address)
    else:
        feed = _parse_xml(data, address, declared_type)
    return {"title": feed.title, "entries": [astuple(entry) for entry in feed.entries], "next": feed.next}


class FeedSource:
    """The entries of a feed.

    *follow*: "auto" asks for the page of an entry unless the feed holds all of it, "always" asks for every page,
    "never" takes what the feed says. *only*: strings of which the address of an entry must contain one.
    """

    kind: ClassVar[str] = "feed"

    def __init__(
        self, address: str, *, follow: str = "auto", only: Sequence[str] = (), max_pages: int = MAX_PAGES
    ) -> None:
        self.address = clean(address)
        if not self.address:
            raise InputUnreadable("address_not_askable", address=address)
        if follow not in FOLLOW:
            raise ConfigError("follow_choices", follow=FOLLOW, follow2=follow)
        self.follow = follow
        self.only = tuple(only)
        self.max_pages = max_pages

    def items(self, fetcher: Fetcher, known: KnownLookup, state: dict[str, Any]) -> Iterator[Item]:
        return _Walk(self, fetcher, known, state).items()


class _Walk:
    """One walk. Its state: *validators* of the first page, when all of its entries were dealt with; *page*, the page
    in work when the walk was stopped after the first, and *number*, which one that is; *whole*, whether all pages were
    read once: until then a page without anything new does not end the walk."""

    def __init__(
        self, source: FeedSource, fetcher: Fetcher, known: KnownLookup, state: dict[str, Any]
    ) -> None:
        self.source = source
        self.fetcher = fetcher
        self.known = known
        self.validators = validators_of(state.get("validators"))
        self.page = str(state.get("page", ""))
        self.number = int(state.get("number", 0))
        self.whole = bool(state.get("whole"))
        self.failed = False
        self.news = False
        self.since_checkpoint = 0

    def items(self) -> Iterator[Item]:
        seen: set[str] = set()
        page = self.page or self.source.address
        number = self.number if self.page else 0
        resumed = bool(self.page)
        first_validators = self.validators
        while page and page not in seen and number < self.source.max_pages:
            seen.add(page)
            first = page == self.source.address
            try:
                asked = self.validators if first and self.validators else None
                answer = self.fetcher.fetch(page, validators=asked, accept=_ACCEPT)
                if answer.unchanged:
                    break
                feed = self._parse(answer)
            except SourceError as error:
                if first and not resumed:
                    raise
                yield Failed(page, failure(page, error).state, Note("feed_page_why", why=error.note))
                self.failed = True
                break
            if first:
                first_validators = answer.validators
            self.news = False
            yield from self._entries(feed, page, number)
            if self.whole and not self.news:
                break
            page, number = feed.next, number + 1
            if page:
                yield self._checkpoint(page, number)
        self.whole = self.whole or not self.failed
        self.validators = validators_of(None) if self.failed or resumed else first_validators
        yield self._checkpoint("", 0)

    def _parse(self, answer: Answer) -> Feed:
        if not 200 <= answer.status < 300:
            raise InputUnreadable("no_feed", status=answer.status, address=answer.address)
        return parse_feed(answer.body, answer.address, declared_type=answer.headers.get("content-type", ""))

    def _entries(self, feed: Feed, page: str, number: int) -> Iterator[Item]:
        seen: set[str] = set()
        for entry in feed.entries:
            where = entry.address or entry.id
            if entry.id in seen or (self.source.only and not any(part in where for part in self.source.only)):
                continue
            seen.add(entry.id)
            known = self.known(entry.id)
            if known and known.version == entry.version:
                yield Unchanged(entry.id)
                continue
            self.news = True
            self.since_checkpoint += 1
            item = self._entry(entry)
            self.failed = self.failed or (isinstance(item, Failed) and item.state == "failed")
            yield item
            if self.since_checkpoint >= EVERY:
                yield self._checkpoint(page if number else "", number)

    def _entry(self, entry: Entry) -> Item:
        words = _count_words(entry)
        whole = words >= WHOLE_WORDS and not _BREAKS_OFF.search(_TAGS.sub(" ", entry.content[-400:]).strip())
        if self.source.follow == "never" or not entry.address or (self.source.follow == "auto" and whole):
            if words:
                return _from_feed(entry)
            if not entry.address:
                return Failed(entry.id, "empty", Note("entry_without_text"))
        # Without validators: what is asked for is another page when the entry has got another address.
        item, _ = get_document(
            self.fetcher,
            entry.id,
            entry.address,
            None,
            version=entry.version,
            title=entry.title,
            time=entry.time,
        )
        if isinstance(item, Failed) and item.state != "failed" and words >= LEAST_WORDS:
            return _from_feed(entry)  # the page is closed to us; what the feed gives away is not
        return item

    def _checkpoint(self, page: str, number: int) -> Checkpoint:
        self.since_checkpoint = 0
        state: dict[str, Any] = {"page": page, "number": number, "whole": self.whole}
        # In the middle of a walk none: the feed must not be taken for unchanged when the walk is stopped.
        done = not page and not number
        state["validators"] = validators_state(self.validators if done else validators_of(None))
        return Checkpoint(state)


def _from_feed(entry: Entry) -> Found:
    content = entry.content
    if entry.is_html:
        content = f"<!DOCTYPE html><html><body><article>{content}</article></body></html>"
    return Found(
        id=entry.id,
        address=entry.address,
        title=entry.title,
        version=entry.version,
        data=content.encode("utf-8", "replace"),
        media_type="text/html" if entry.is_html else "text/plain",
        charset="utf-8",
        time=entry.time,
    )


def _count_words(entry: Entry) -> int:
    return count_words(_TAGS.sub(" ", entry.content) if entry.is_html else entry.content, most=WHOLE_WORDS)


def _parse_xml(data: bytes, address: str, declared_type: str) -> Feed:
    try:
        import feedparser
    except ImportError as error:  # pragma: no cover - depends on what is installed
        raise ConfigError("feeds_need_feedparser", library="feedparser") from error
    headers = {"content-location": address}
    if declared_type:
        headers["content-type"] = declared_type
    try:
        # As a stream: given a string feedparser would take it for an address or a file and open that.
        got = feedparser.parse(io.BytesIO(data), response_headers=headers, sanitize_html=False)
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError) as error:
        raise InputUnreadable("feed_unreadable", why=error, address=address) from error
    if not got.get("version") and not got.entries:
        raise InputUnreadable("not_a_feed", address=address)
    following = [link for link in got.feed.get("links", []) if link.get("rel") in ("next", "prev-archive")]
    older = clean(following[0].get("href", ""), base=address) if following else ""
    entries = [_xml_entry(entry, address) for entry in got.entries[:MAX_ENTRIES]]
    return Feed(str(got.feed.get("title", "")), tuple(entries), older)


def _xml_entry(entry: Any, feed: str) -> Entry:
    contents = [(str(part.get("value", "")), _is_html(part)) for part in entry.get("content", [])]
    summary = entry.get("summary_detail") or {"value": entry.get("summary", ""), "type": "text/html"}
    contents.append((str(summary.get("value") or ""), _is_html(summary)))
    content, is_html = max(contents, key=lambda pair: len(pair[0]))
    address = clean(str(entry.get("link") or ""), base=feed)
    if not address:
        enclosed = [link for link in entry.get("enclosures", []) if _is_document(str(link.get("type", "")))]
        address = clean(str(enclosed[0].get("href", "")), base=feed) if enclosed else ""
    given = str(entry.get("id") or "")
    # dict.get: feedparser's own would answer with the other date, and warn that it does.
    time = next((_time(dict.get(entry, name)) for name in _TIMES if dict.get(entry, name)), "")
    return _entry(feed, given, address, str(entry.get("title") or ""), content, is_html, time)


def _parse_json(data: bytes, address: str) -> Feed:
    try:
        got = orjson.loads(data.lstrip(b"\xef\xbb\xbf \t\r\n"))
    except orjson.JSONDecodeError as error:
        raise InputUnreadable("feed_unreadable", why=error, address=address) from error
    if not isinstance(got, dict) or not isinstance(got.get("items"), list):
        raise InputUnreadable("json_not_a_feed", address=address)
    entries = []
    for item in got["items"][:MAX_ENTRIES]:
        if not isinstance(item, dict):
            continue
        html, text = _string(item, "content_html"), _string(item, "content_text")
        content = html or text or _string(item, "summary")
        where = clean(_string(item, "url") or _string(item, "external_url"), base=address)
        time = iso_time(_string(item, "date_modified") or _string(item, "date_published"))
        entries.append(
            _entry(address, _string(item, "id"), where, _string(item, "title"), content, bool(html), time)
        )
    return Feed(_string(got, "title"), tuple(entries), clean(_string(got, "next_url"), base=address))


def _entry(feed: str, given: str, address: str, title: str, content: str, is_html: bool, time: str) -> Entry:
    """*given* is the guid of the feed. One that means something in this feed only is made to mean it everywhere."""
    title = " ".join(_TAGS.sub(" ", title).split()) if is_html or "<" in title else " ".join(title.split())
    marks = hashlib.sha256("\x00".join((title, address, content, time)).encode("utf-8", "replace"))
    version = marks.hexdigest()[:32]
    given = given.strip()
    if not given:
        id = address or f"{feed}#{version}"
    elif _WORLDWIDE.match(given):
        id = clean(given) or given
    else:
        id = f"{feed}#{given}"
    return Entry(id, address, title, content, is_html, time, version)


def _is_html(part: Any) -> bool:
    return str(part.get("type") or "text/html").lower() != "text/plain"


def _is_document(media_type: str) -> bool:
    return not media_type.lower().startswith(("audio/", "video/", "image/"))


def _time(parsed: Any) -> str:
    if not parsed:
        return ""
    year, month, day, hour, minute, second = parsed[:6]
    return iso_time(f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}Z")


def _string(holder: dict[str, Any], name: str) -> str:
    value = holder.get(name)
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
