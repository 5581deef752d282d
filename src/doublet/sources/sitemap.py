"""Sitemaps: lists of the addresses of a site, with the day each page last changed (sitemaps.org).

Takes the address of a sitemap, of an index of sitemaps, of a text file with one address a line, or of a site whose
robots.txt names its sitemaps; each may be packed with gzip. Gives the pages.

A page whose *lastmod* is the one that is remembered is not asked for again; a page without *lastmod* is asked for
"only if changed", and so is one whose *lastmod* is a day that was not over when it was fetched. A sitemap that the
server calls unchanged and in which every page has a date is not read again. A page that is in no sitemap any more is
asked for once more: sitemaps leave out old pages as well as deleted ones.
What real sitemaps do wrong is borne: no namespace, relative addresses, an XML declaration after a blank line, addresses
of other hosts, files that end in the middle.
"""

from __future__ import annotations

import datetime
import email.utils
import io
import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from urllib.parse import urljoin, urlsplit

from doublet.addresses import clean, same_site
from doublet.errors import ConfigError, InputUnreadable, SourceError, Unreadable
from doublet.model import Note
from doublet.sources.apart import take_apart
from doublet.sources.protocol import (
    Answer,
    Checkpoint,
    Complete,
    Failed,
    Fetcher,
    Found,
    Gone,
    Item,
    Known,
    KnownLookup,
    Unchanged,
)
from doublet.sources.web import (
    content_type,
    failure,
    get_document,
    iso_time,
    unpack,
    validators_of,
    validators_state,
)
from doublet.text.encoding import decode_page
from doublet.text.formats.protocol import needs

try:
    from lxml import etree
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise needs("lxml", "sitemap") from error

MAX_BYTES = (
    50 * 1024 * 1024
)  #: of one sitemap, unpacked, and the number below: the limits that sitemaps.org sets
MAX_ENTRIES = 50_000
MAX_DEPTH = 3  #: an index of sitemaps should not hold another index; some do
MAX_SITEMAPS = 5_000
MAX_DOCUMENTS = 1_000_000
EVERY = 10  #: documents between checkpoints: what a killed process has to ask for again
UNLISTED = ("check", "keep", "remove")
# The day of a page is over everywhere so long after it began at Greenwich: its author may live west of there.
DAY_IS_OVER = datetime.timedelta(hours=36)
# In a sitemap of so many pages, most of them of one day, that is the day on which the sitemap was made.
MADE_TODAY = 20
MAX_PASSED = 20_000  #: pages that are remembered as left out on purpose
_TODAY = "~"  #: behind a version: the day was not over
_LEFT = "unlisted:"  #: before the version of a page that was looked at after it had left the sitemaps
_ORIGINAL = "original:"  #: before that of a page that no sitemap has and copies name
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_SITEMAP_LINE = re.compile(r"^\s*sitemap\s*:\s*(\S+)", re.I | re.M)
_XML_START = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<")
_XML_TYPES = "application/xml, text/xml, text/plain;q=0.8, */*;q=0.5"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a sitemap."""

    address: str
    changed: str = ""  #: lastmod as it stands there


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What a sitemap file holds. *trouble* says what could not be read of it."""

    pages: tuple[Entry, ...] = ()
    sitemaps: tuple[Entry, ...] = ()
    trouble: Note | None = None


def parse_sitemap(data: bytes, address: str, *, charset: str = "") -> Sitemap:
    """Read a sitemap, an index or a text file with addresses. Raises `InputUnreadable` when it is none of these.

    Addresses come back clean and absolute, each once; what leads nowhere is left out and counted in *trouble*. XML is
    read as a stream, without entities and without anything from outside; one that ends in the middle gives what stood
    before.
    """
    try:
        data = unpack(data, MAX_BYTES)
    except InputUnreadable as error:
        raise InputUnreadable("sitemap_why", why=error.note, address=address) from error
    read = take_apart("sitemap", data, address, charset=charset)
    pages, sitemaps = (tuple(Entry(*entry) for entry in read[name]) for name in ("pages", "sitemaps"))
    return Sitemap(pages, sitemaps, Note.from_dict(read["trouble"]) if read["trouble"] else None)


def read_sitemap(data: bytes, *, address: str, charset: str = "") -> dict[str, Any]:
    """The parser behind `parse_sitemap`: entries as pairs."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = re.sub(r"\A\s*<\?xml[^>]*\?>", "", data.decode("utf-16", "replace"))
        data, charset = text.encode("utf-8", "replace"), "utf-8"
    if _XML_START.match(data):
        return _parse_xml(data.lstrip(b"\xef\xbb\xbf \t\r\n"), address)
    try:
        text, _ = decode_page(data, header=charset, markup=False)
    except Unreadable as error:
        raise InputUnreadable("not_a_sitemap_why", why=error.note, address=address) from error
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines or not clean(lines[0], base=address) or not re.match(r"https?://|/", lines[0], re.I):
        raise InputUnreadable("not_a_sitemap", address=address)
    return _collect([Entry(line) for line in lines], [], address, None)


def _parse_xml(data: bytes, address: str) -> dict[str, Any]:
    pages: list[Entry] = []
    sitemaps: list[Entry] = []
    trouble: Note | None = None
    root = ""
    depth = 0
    stream = etree.iterparse(
        io.BytesIO(data),
        events=("start", "end"),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        for event, element in stream:
            tag = _local(element)
            if not root:
                root = tag
                if root not in ("urlset", "sitemapindex", "sitemap", "url"):
                    raise InputUnreadable("xml_not_sitemap", address=address, root=root)
            if event == "start":
                depth += 1
                continue
            depth -= 1
            if tag not in ("url", "sitemap"):
                if depth == 1:  # what does not belong here is not gathered
                    element.clear()
                    _forget(element)
                continue
            entry = _entry(element)
            if entry.address:
                (pages if tag == "url" else sitemaps).append(entry)
            element.clear()
            _forget(element)
            if len(pages) > MAX_ENTRIES or len(sitemaps) > MAX_ENTRIES:
                trouble = Note("too_many_addresses", max_entries=MAX_ENTRIES)
                break
    except etree.XMLSyntaxError as error:
        if not pages and not sitemaps:
            raise InputUnreadable("sitemap_unreadable", address=address, why=error) from error
        trouble = Note("sitemap_cut_short", why=error)
    return _collect(pages[:MAX_ENTRIES], sitemaps[:MAX_ENTRIES], address, trouble)


def _forget(element: Any) -> None:
    """Let go of what stands before an element that was dealt with."""
    while element.getprevious() is not None:
        del element.getparent()[0]


def _entry(element: Any) -> Entry:
    """Only children of the entry itself count: extensions for images and videos have a loc of their own."""
    values = {"loc": "", "lastmod": ""}
    for child in element:
        name = _local(child)
        if name in values and not values[name]:
            values[name] = "".join(child.itertext()).strip()
    return Entry(values["loc"], values["lastmod"][:64])


def _local(element: Any) -> str:
    """The name in lower case without its namespace, right or wrong."""
    tag = element.tag
    return tag.rsplit("}", 1)[-1].rsplit(":", 1)[-1].lower() if isinstance(tag, str) else ""


def _collect(pages: list[Entry], sitemaps: list[Entry], address: str, trouble: Note | None) -> dict[str, Any]:
    if len(pages) > MAX_ENTRIES:
        pages, trouble = pages[:MAX_ENTRIES], Note("too_many_addresses", max_entries=MAX_ENTRIES)
    lost = 0
    cleaned: list[dict[str, Entry]] = []
    for entries in (pages, sitemaps):
        kept: dict[str, Entry] = {}
        for entry in entries:
            where = clean(entry.address, base=address)
            lost += not where
            if where and (where not in kept or entry.changed > kept[where].changed):
                kept[where] = Entry(where, entry.changed)
        cleaned.append(kept)
    if lost:
        nowhere = Note("addresses_lead_nowhere", lost=lost)
        trouble = Note("both_notes", first=trouble, second=nowhere) if trouble else nowhere
    pairs = [[(entry.address, entry.changed) for entry in kept.values()] for kept in cleaned]
    return {"pages": pairs[0], "sitemaps": pairs[1], "trouble": trouble.to_dict() if trouble else None}


def is_sitemap(data: bytes) -> bool:
    """Whether the bytes look like a sitemap in XML, from their beginning."""
    try:
        head = unpack(data, MAX_BYTES)[:4096]
    except InputUnreadable:
        return False
    return bool(re.search(rb"<(?:[\w-]+:)?(?:urlset|sitemapindex)[\s>]", head, re.I))


def robots_sitemaps(text: str, address: str) -> list[str]:
    """The addresses that a robots.txt names as sitemaps."""
    found = (clean(value, base=address) for value in _SITEMAP_LINE.findall(text))
    return list(dict.fromkeys(filter(None, found)))


class SitemapSource:
    """The pages that the sitemaps of a site name.

    *only*: strings of which the address of a document must contain one (``post``). *other_hosts*: take pages of other
    hosts than the sitemap's too. *trust_dates=False*: ask for every page "only if changed", whatever its date says.
    *unlisted*: what becomes of pages that leave the sitemaps. "check" asks for each once more and keeps what is still
    there, "keep" keeps them unasked, "remove" takes them out.
    """

    kind: ClassVar[str] = "sitemap"

    def __init__(
        self,
        address: str,
        *,
        only: Sequence[str] = (),
        other_hosts: bool = False,
        trust_dates: bool = True,
        unlisted: str = "check",
        max_documents: int = MAX_DOCUMENTS,
    ) -> None:
        self.address = clean(address)
        if not self.address:
            raise InputUnreadable("address_not_askable", address=address)
        if unlisted not in UNLISTED:
            raise ConfigError("unlisted_choices", unlisted=UNLISTED, unlisted2=unlisted)
        self.on_unlisted = unlisted
        self.only = tuple(only)
        self.other_hosts = other_hosts
        self.trust_dates = trust_dates
        self.max_documents = max_documents

    def items(self, fetcher: Fetcher, known: KnownLookup, state: dict[str, Any]) -> Iterator[Item]:
        return _Walk(self, fetcher, known, state).items()

    def unlisted(self, fetcher: Fetcher, id: str, known: Known) -> Item | None:
        """What becomes of a page that is in no sitemap any more; nothing when that was seen to earlier."""
        if self.on_unlisted == "remove":
            return Gone(id, Note("left_sitemap"))
        if known.version.startswith((_LEFT, _ORIGINAL)):
            return None
        item, _ = get_document(fetcher, id, id, known, version=_LEFT + known.version)
        return item


def _bare(known: Known | None) -> tuple[Known | None, str]:
    """What is known of a page, its version without the marks before it; and the version as it is remembered."""
    if known is None:
        return None, ""
    return replace(known, version=known.version.removeprefix(_LEFT).removeprefix(_ORIGINAL)), known.version


class _Walk:
    """One walk through the sitemaps of a source.

    Its state: *queue*, sitemaps still to read as [address, depth], the first one in work; *last* and *position*, the
    page of it after which the checkpoint was made; *read*, sitemaps read in this walk; *files*, validators of sitemaps
    that were read whole; *passed*, pages that were left out on purpose, with the version that was looked at;
    *originals*, pages that copies named and that are still to be asked for; *missed*, those of them that failed.
    """

    def __init__(
        self, source: SitemapSource, fetcher: Fetcher, known: KnownLookup, state: dict[str, Any]
    ) -> None:
        self.source = source
        self.fetcher = fetcher
        self.known = known
        self.files: dict[str, Any] = dict(state.get("files", {}))
        self.passed: dict[str, str] = dict(state.get("passed", {}))
        self.queue: list[list[Any]] = [list(pair) for pair in state.get("queue", [])]
        self.read: list[str] = list(state.get("read", []))
        self.given: int = int(state.get("given", 0)) if self.queue else 0
        self.resumed = (str(state.get("last", "")), int(state.get("position", 0))) if self.queue else ("", 0)
        self.seen: set[str] = set()
        self.kept: set[str] = set()
        self.originals: set[str] = set(state.get("originals", []))
        self.missed: set[str] = set(state.get("missed", []))
        self.since_checkpoint = 0
        self.now = datetime.datetime.now(datetime.UTC)  #: by the clock of the server, once it has told it
        self.dates_of_making = False
        self.today = False  #: whether the sitemap in hand has pages whose day is not over
        self.everything = not self.queue and not self.originals and source.on_unlisted != "keep"

    def items(self) -> Iterator[Item]:
        if not self.queue and not self.originals:
            self.read = []
            self.originals, self.missed = self.missed, set()
            self.queue = [[address, 0] for address in self._start()]
        while self.queue:
            address, depth = self.queue[0]
            yield from self._sitemap(str(address), int(depth))
            self.queue.pop(0)
            self.resumed = ("", 0)
            yield self._checkpoint()
            if self.given >= self.source.max_documents:
                yield Failed(
                    self.source.address,
                    "too_large",
                    Note("stopped_after_documents", given=self.given),
                )
                self.queue = []
                self.everything = False
                yield self._checkpoint()
        if self.originals:
            yield from self._give_originals()
            yield self._checkpoint()
        if self.everything:
            yield Complete()

    def _start(self) -> list[str]:
        """The sitemaps to begin with. The address itself, or those that robots.txt names when it is that of a site."""
        address = self.source.address
        parts = urlsplit(address)
        if parts.path.lower().endswith("robots.txt") or (parts.path in ("", "/") and not parts.query):
            robots = urljoin(address, "/robots.txt")
            answer = self.fetcher.fetch(robots, accept="text/plain")
            found = []
            if answer.status == 200:
                found = robots_sitemaps(answer.body[: 1 << 19].decode("utf-8", "replace"), answer.address)
            if found:
                return found
            if parts.path.lower().endswith("robots.txt"):
                raise InputUnreadable("no_sitemap_named", address=address)
            return [urljoin(address, "/sitemap.xml")]
        return [address]

    def _sitemap(self, address: str, depth: int) -> Iterator[Item]:
        first = not self.read
        remembered = self.files.get(address) if not self.resumed[0] else None
        try:
            answer = self.fetcher.fetch(
                address, validators=validators_of(remembered) if remembered else None, accept=_XML_TYPES
            )
            if not answer.unchanged:
                self._check(answer)
                sitemap = parse_sitemap(answer.body, answer.address, charset=content_type(answer)[1])
        except SourceError as error:
            if first:
                raise
            yield Failed(address, failure(address, error).state, Note("sitemap_not_read", why=error.note))
            self.everything = False
            self.read.append(address)
            return
        self.read.append(address)
        if answer.unchanged:
            self.everything = False
            return
        self._look_at_the_clock(answer, sitemap)
        if sitemap.trouble:
            self.everything = False
            yield Failed(address, "invalid", Note("sitemap_faults", trouble=sitemap.trouble))
        yield from self._index(sitemap, address, depth)
        whole = yield from self._pages(sitemap, address)
        dated = self.source.trust_dates and all(entry.changed for entry in sitemap.pages)
        if (
            whole
            and dated
            and not self.today
            and not sitemap.sitemaps
            and not sitemap.trouble
            and answer.validators
        ):
            self.files[address] = validators_state(answer.validators)
        else:
            self.files.pop(address, None)

    def _look_at_the_clock(self, answer: Answer, sitemap: Sitemap) -> None:
        parsed = email.utils.parsedate_tz(answer.headers.get("date", ""))
        if parsed is not None:
            self.now = datetime.datetime.fromtimestamp(email.utils.mktime_tz(parsed), datetime.UTC)
        latest = max((entry.changed[:10] for entry in sitemap.pages), default="")
        many = sum(entry.changed.startswith(latest) for entry in sitemap.pages)
        self.dates_of_making = many >= MADE_TODAY and 2 * many > len(sitemap.pages)
        self.today = False

    def _is_over(self, changed: str) -> bool:
        """Whether a page cannot change any more without its date changing too. Dates with a time do that anyway."""
        if self.dates_of_making or not _DAY.match(changed):
            return True
        try:
            day = datetime.datetime.strptime(changed, "%Y-%m-%d").replace(tzinfo=datetime.UTC)
        except ValueError:
            return True
        return self.now - day >= DAY_IS_OVER

    def _check(self, answer: Answer) -> None:
        if not 200 <= answer.status < 300:
            raise InputUnreadable(
                "no_sitemap_there",
                status=answer.status,
                address=answer.address,
            )

    def _index(self, sitemap: Sitemap, address: str, depth: int) -> Iterator[Item]:
        waiting = {str(pair[0]) for pair in self.queue} | set(self.read)
        fresh = [entry.address for entry in sitemap.sitemaps if entry.address not in waiting]
        if fresh and depth >= MAX_DEPTH:
            yield Failed(address, "too_large", Note("sitemaps_too_deep", max_depth=MAX_DEPTH))
            self.everything = False
            return
        room = MAX_SITEMAPS - len(waiting)
        if len(fresh) > room:
            self.everything = False
            yield Failed(address, "too_large", Note("sitemaps_too_many", fresh=len(fresh), room=max(room, 0)))
        self.queue += [[one, depth + 1] for one in fresh[: max(room, 0)]]

    def _pages(self, sitemap: Sitemap, address: str) -> Generator[Item, None, bool]:
        """Gives whether all pages were dealt with, so that the sitemap need not be read again while it is the same."""
        whole = True
        foreign: list[str] = []
        last, position = self.resumed
        entries = sitemap.pages
        if position and position <= len(entries) and entries[position - 1].address == last:
            whole = False  # what failed before the stop is not known here
        else:
            position = 0
        for number, entry in enumerate(entries[position:], position + 1):
            if self.given >= self.source.max_documents:
                return False
            if self.source.only and not any(part in entry.address for part in self.source.only):
                continue
            if not self.source.other_hosts and not self._is_of_the_site(entry.address, address):
                foreign.append(entry.address)
                continue
            if entry.address in self.seen:
                continue
            self.seen.add(entry.address)
            for item in self._page(entry):
                whole = whole and not (isinstance(item, Failed) and item.state == "failed")
                self.given += isinstance(item, Found)
                if isinstance(item, Found) or (isinstance(item, Unchanged) and self.known(item.id)):
                    self.kept.add(item.id)
                yield item
            if self.since_checkpoint >= EVERY:
                yield self._checkpoint(entry.address, number)
        if foreign:
            yield Failed(
                address,
                "refused",
                Note("other_hosts", foreign=len(foreign), foreign2=foreign[0]),
            )
        return whole

    def _is_of_the_site(self, page: str, sitemap: str) -> bool:
        """Sites may keep their sitemaps elsewhere; robots.txt, where the walk began, vouches for them."""
        return same_site(page, sitemap) or same_site(page, self.source.address)

    def _page(self, entry: Entry) -> Iterator[Item]:
        id = entry.address
        version = entry.changed if self.source.trust_dates else ""
        known, before = _bare(self.known(id))
        returned = before.startswith(_LEFT)
        if version and ((known and known.version == version) or self.passed.get(id) == version):
            yield Unchanged(id, version if returned else "")
            return
        self.since_checkpoint += 1
        if version and not self._is_over(version):
            self.today = True
            version += _TODAY
        item, facts = get_document(
            self.fetcher,
            id,
            id,
            known,
            version=version,
            time=iso_time(entry.changed) if entry.changed else "",
        )
        if isinstance(item, Found) and facts.canonical and self._is_copy(id, facts.canonical):
            reason = Note("page_is_copy", canonical=facts.canonical)
            item = Gone(id, reason) if known else Failed(id, "duplicate", reason)
            if len(self.originals) < MAX_PASSED:
                self.originals.add(facts.canonical)
        if returned and known and isinstance(item, Unchanged) and not item.version:
            item = replace(item, version=known.version)
        self.passed.pop(id, None)
        refused = isinstance(item, Gone) or (isinstance(item, Failed) and item.state != "failed")
        if version and refused and len(self.passed) < MAX_PASSED:
            self.passed[id] = version
        yield item

    def _is_copy(self, address: str, canonical: str) -> bool:
        """A canonical link counts within the site; one that leads every page to the front page is a mistake."""
        if canonical == address or not same_site(canonical, address):
            return False
        return urlsplit(canonical).path not in ("", "/") or bool(urlsplit(canonical).query)

    def _give_originals(self) -> Iterator[Item]:
        """Pages that others called their original and that no sitemap gave. What they say of themselves does not count:
        two pages that call each other the original would both be lost."""
        for address in sorted(self.originals):
            self.originals.discard(address)
            known, before = _bare(self.known(address))
            dated = known is not None and not before.startswith(("sha256:", _ORIGINAL, _LEFT))
            if address in self.kept or dated or self.given >= self.source.max_documents:
                continue
            self.since_checkpoint += 1
            item, _ = get_document(self.fetcher, address, address, known)
            self.given += isinstance(item, Found)
            if isinstance(item, Found):
                item = replace(item, version=_ORIGINAL + item.version)
            if isinstance(item, Failed) and item.state == "failed":
                self.missed.add(address)
            yield item
            if self.since_checkpoint >= EVERY:
                yield self._checkpoint()

    def _checkpoint(self, last: str = "", position: int = 0) -> Checkpoint:
        self.since_checkpoint = 0
        return Checkpoint(
            {
                "queue": [list(pair) for pair in self.queue],
                "read": list(self.read) if self.queue else [],
                "last": last,
                "position": position,
                "files": dict(self.files),
                "passed": dict(self.passed),
                "given": self.given if self.queue else 0,
                "originals": sorted(self.originals),
                "missed": sorted(self.missed),
            }
        )
