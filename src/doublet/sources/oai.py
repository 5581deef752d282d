"""OAI-PMH 2.0: repositories of universities, journals and archives.

Takes the base address of a repository. Gives a document for each record: the full text where one of the record's links
leads to it (a PDF, a page, or a landing page that names its PDF), otherwise title and description. A record that the
repository calls deleted is gone.

A second walk asks for what changed since the first, by the clock of the server. Lists come in pages; the token of the
next page is part of every checkpoint, so a stopped walk goes on where it was. Servers differ from the standard in many
ways, and what can be borne is borne: tokens that expire, sets that are forgotten after the first page, letters that XML
does not allow, dates in other forms. Why no library does this: docs/decisions/0041-sources-over-a-fetcher.md.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import urlencode, urlsplit

from doublet.addresses import clean, same_site
from doublet.errors import ConfigError, InputUnreadable, SourceError, Unreadable
from doublet.model import Note
from doublet.sources.apart import take_apart
from doublet.sources.protocol import (
    Answer,
    Checkpoint,
    Failed,
    Fetcher,
    Found,
    Gone,
    Item,
    KnownLookup,
    Unchanged,
)
from doublet.sources.web import (
    content_type,
    failure,
    header_noindex,
    is_page,
    iso_time,
    look,
    name_of,
)
from doublet.text.formats.protocol import needs

try:
    from lxml import etree
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise needs("lxml", "oai") from error

EVERY = 10  #: full texts between checkpoints
MAX_LINKS = 4  #: of a record that are tried for its full text
MAX_RESTARTS = 10  #: of a list whose tokens expire
MAX_EMPTY_PAGES = 20  #: one after the other, each with a token for the next
MAX_RETRIES = 1_000  #: records whose full text was not to be had and that are tried again next time
MAX_SEEN = 2_000_000  #: records that are remembered as given in this walk
ATTEMPTS = 3  #: how often
# A list that is in the order of dates for so many records is taken to be so to its end, as most servers' lists are.
IN_ORDER = 200
OVERLAP = datetime.timedelta(days=1)  #: asked for again: repositories show records some time after their date
# A page with so many words of its own is an article; landing pages of repositories have 50 to 250.
WHOLE_WORDS = 400
_ACCEPT = "text/xml, application/xml"
_FULL = re.compile(
    r"\.(?:pdf|docx?|odt|rtf|epub|txt|djvu|ps|html?)\Z|/bitstreams?/|/download\b|/viewFile/", re.I
)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BARE_AMPERSAND = re.compile(r"&(?!(?:#\d+|#x[0-9a-fA-F]+|[A-Za-z][\w.-]*);)")
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_ITEM_LINK = re.compile(r"<([^<>]+)>\s*;[^,<]*\brel\s*=\s*\"?item\b", re.I)
_SECONDS = "%Y-%m-%dT%H:%M:%SZ"
_DAYS = "%Y-%m-%d"


class _ProtocolError(Exception):
    """The repository answered with an error of the protocol."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a list. *metadata* holds the values by the plain name of their element (title, identifier …)."""

    identifier: str
    datestamp: str
    sets: tuple[str, ...] = ()
    deleted: bool = False
    metadata: dict[str, list[str]] | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One answer of the repository."""

    records: tuple[Record, ...] = ()
    token: str = ""
    date: str = ""  #: responseDate in UTC, empty when it cannot be read
    facts: dict[str, str] = field(default_factory=dict)  #: of Identify, of ListMetadataFormats: name → text


def parse_page(data: bytes, address: str) -> Page:
    """Read an answer. Raises `InputUnreadable` when it is not OAI-PMH or was cut short, `_ProtocolError` when it is an
    error of the protocol."""
    read = take_apart("oai", data, address)
    if read["error"]:
        raise _ProtocolError(*read["error"])
    records = [
        Record(identifier, datestamp, tuple(sets), deleted, metadata)
        for identifier, datestamp, sets, deleted, metadata in read["records"]
    ]
    return Page(tuple(records), read["token"], read["date"], read["facts"])


def read_page(data: bytes, *, address: str) -> dict[str, Any]:
    """The parser behind `parse_page`: records as lists of their fields, an error of the protocol as a pair."""
    root = _parse(data, address)
    if _local(root).lower() != "oai-pmh":
        raise InputUnreadable(
            "not_oai_root",
            root=_local(root),
            address=address,
        )
    records: list[Record] = []
    token = date = ""
    error: tuple[str, str] | None = None
    facts: dict[str, str] = {}
    for part in root:
        name = _local(part)
        if name == "responseDate":
            date = iso_time(_text(part))
        elif name == "error":
            error = (part.get("code") or "error", _text(part))
            break
        elif name in ("ListRecords", "ListIdentifiers", "GetRecord"):
            for child in part:
                kind = _local(child)
                if kind in ("record", "header"):
                    records.append(_record(child))
                elif kind == "resumptionToken":
                    token = _text(child)
        elif name == "Identify":
            facts = {_local(child): _text(child) for child in part}
        elif name == "ListMetadataFormats":
            facts = {_text(item): "" for item in part.iter() if _local(item) == "metadataPrefix"}
    return {
        "records": [_fields(record) for record in records if record.identifier],
        "token": token,
        "date": date,
        "facts": facts,
        "error": error,
    }


def _fields(record: Record) -> list[Any]:
    return [record.identifier, record.datestamp, record.sets, record.deleted, record.metadata]


def is_repository(data: bytes) -> bool:
    """Whether the bytes are an answer of an OAI-PMH repository."""
    return bool(re.search(rb"<(?:[\w-]+:)?OAI-PMH[\s>]", data[:4096]))


class OaiSource:
    """The records of a repository.

    *sets*: only these (their setSpec); all without. *since* and *until* are days (2024-01-31) of the repository's own
    dates. *prefix* is the format of the metadata: oai_dc is the one that every repository has. *full_text=False* leaves
    the links alone and takes title and description.
    """

    kind: ClassVar[str] = "oai"

    def __init__(
        self,
        address: str,
        *,
        sets: Sequence[str] = (),
        prefix: str = "oai_dc",
        since: str = "",
        until: str = "",
        full_text: bool = True,
    ) -> None:
        parts = urlsplit(clean(address))
        self.address = clean(address).split("?", 1)[0] if "verb=" in parts.query else clean(address)
        if not self.address:
            raise InputUnreadable("address_not_askable", address=address)
        for name, value in (("since", since), ("until", until)):
            if value and len(iso_time(value)) < len("2024-01-31"):
                raise ConfigError("day_wrong", name=name, value=value)
        self.sets = tuple(sets)
        self.prefix = prefix
        self.since = iso_time(since)
        self.until = iso_time(until)
        self.full_text = full_text

    def items(self, fetcher: Fetcher, known: KnownLookup, state: dict[str, Any]) -> Iterator[Item]:
        return _Walk(self, fetcher, known, state).items()


@dataclass
class _List:
    """Where the walk is in the list of one set. All of it is in the checkpoints."""

    set: str
    begin: str = ""  #: from
    origin: str = ""  #: what *begin* was before the list was begun again
    verb: str = "ListRecords"
    token: str = ""
    first_date: str = ""  #: responseDate of the first page
    latest: str = ""  #: the latest datestamp seen
    seen: int = 0  #: records
    in_order: bool = True  #: whether datestamps never fell so far
    restarts: int = 0
    position: int = 0  #: records of the page in hand that are done
    last: str = ""  #: the identifier of the last of them


class _Walk:
    """One walk. Its state: *since*, for each set from when to ask next time; *list*, the list in hand when the walk
    was stopped, and *number*, which set that is; *again*, records to try again and how often that was done; *checked*,
    sets whose list was looked at a second time from its beginning."""

    def __init__(
        self, source: OaiSource, fetcher: Fetcher, known: KnownLookup, state: dict[str, Any]
    ) -> None:
        self.source = source
        self.fetcher = fetcher
        self.known = known
        self.since: dict[str, str] = dict(state.get("since", {}))
        self.again: dict[str, int] = dict(state.get("again", {}))
        self.checked: list[str] = list(state.get("checked", []))
        self.number = int(state.get("number", 0))
        stopped = state.get("list")
        self.stopped: _List | None = None
        if isinstance(stopped, dict) and stopped.get("set") in self._sets()[self.number : self.number + 1]:
            kept = {name: value for name, value in stopped.items() if name in _List.__dataclass_fields__}
            self.stopped = _List(**kept)
        else:  # nothing was stopped, or other sets are asked for now
            self.number = 0
        self.form = _SECONDS
        self.seen: set[int] = set()
        self.since_checkpoint = 0

    def items(self) -> Iterator[Item]:
        self._identify()
        if self.stopped is None:
            yield from self._try_again()
        while self.number < len(self._sets()):
            chosen = self._sets()[self.number]
            begin = self._begin(chosen)
            walk = self.stopped or _List(chosen, begin=begin, origin=begin)
            self.stopped = None
            whole = yield from self._harvest(walk)
            if not whole:
                return  # the state of the last checkpoint leads the next walk back here
            self.since[chosen] = self._next_begin(walk)
            self.number += 1
            yield self._checkpoint(None)
        self.number = 0
        yield self._checkpoint(None)

    def _sets(self) -> tuple[str, ...]:
        return self.source.sets or ("",)

    def _identify(self) -> None:
        try:
            page = self._ask({"verb": "Identify"})
        except _ProtocolError as error:
            raise InputUnreadable(
                "identify_failed",
                why=error,
                address=self.source.address,
            ) from error
        if not page.facts:
            raise InputUnreadable(
                "not_oai_identify",
                address=self.source.address,
            )
        # Day granularity is understood by every server; times only where they are announced.
        self.form = _SECONDS if "hh" in page.facts.get("granularity", "").lower() else _DAYS

    def _begin(self, chosen: str) -> str:
        return max(self._in_form(self.source.since), self._in_form(self.since.get(chosen, "")))

    def _in_form(self, moment: str) -> str:
        """A time in the granularity of the server. *until* is the last day that counts, with all its hours."""
        if not moment:
            return ""
        if self.form == _DAYS:
            return moment[:10]
        return moment if "T" in moment else f"{moment}T00:00:00Z"

    def _until(self) -> str:
        moment = self.source.until
        if moment and self.form == _SECONDS and "T" not in moment:
            return f"{moment}T23:59:59Z"
        return self._in_form(moment)

    def _next_begin(self, walk: _List) -> str:
        """From when to ask next time: the server's clock when this walk began, and a little before."""
        if walk.begin != walk.origin and walk.set not in self.checked:
            # The list was begun again at a date. If it is not in the order of dates after all, something was passed
            # over: the next run looks once more at the whole of it.
            self.checked.append(walk.set)
            return walk.origin
        moment = iso_time(walk.first_date)
        if "T" in moment:
            began = datetime.datetime.strptime(moment, _SECONDS) - OVERLAP
            return began.strftime(_SECONDS)
        return walk.latest or walk.begin

    # The list

    def _harvest(self, walk: _List) -> Generator[Item, None, bool]:
        """All pages of one list. Gives whether it came to the end."""
        empty = 0
        used: set[str] = set()
        first = not walk.token and not walk.position
        while True:
            try:
                page = self._page(walk)
            except _ProtocolError as error:
                if error.code == "noRecordsMatch":
                    return True
                if error.code == "badResumptionToken" and walk.token and walk.restarts < MAX_RESTARTS:
                    self._restart(walk)
                    used.clear()
                    continue
                if first:
                    raise self._explain(error, walk) from error
                yield Failed(
                    self.source.address,
                    "failed",
                    Note("records_broke_off_begin", why=error),
                )
                self._restart(walk)
                walk.restarts = 0
                yield self._checkpoint(walk)
                return False
            except SourceError as error:
                if walk.verb == "ListRecords" and (first or isinstance(error, InputUnreadable)):
                    # One record that the server cannot write spoils a page; their names may be had all the same.
                    walk.verb = "ListIdentifiers"
                    self._restart(walk)
                    used.clear()
                    continue
                if first:
                    raise
                yield Failed(
                    self.source.address,
                    "failed",
                    Note("records_broke_off", why=error.note),
                )
                yield self._checkpoint(walk)
                return False
            first = False
            walk.first_date = walk.first_date or page.date
            yield from self._records(page, walk)
            empty = 0 if page.records else empty + 1
            if not page.token:
                return True
            if page.token in used or empty > MAX_EMPTY_PAGES:
                yield Failed(
                    self.source.address,
                    "failed",
                    Note("same_page_again"),
                )
                return True
            used.add(page.token)
            walk.token, walk.position, walk.last = page.token, 0, ""
            yield self._checkpoint(walk)

    def _page(self, walk: _List) -> Page:
        if walk.token:
            # The token goes out percent-encoded, also when it looks as if it were already.
            return self._ask({"verb": walk.verb, "resumptionToken": walk.token})
        asked = {"verb": walk.verb, "metadataPrefix": self.source.prefix, "set": walk.set, "from": walk.begin}
        asked["until"] = self._until()
        try:
            return self._ask({name: value for name, value in asked.items() if value})
        except _ProtocolError as error:
            if error.code == "badArgument" and self.form == _SECONDS and (walk.begin or self.source.until):
                self.form = _DAYS  # announced seconds and does not take them
                walk.begin = walk.begin[:10]
                return self._page(walk)
            raise

    def _restart(self, walk: _List) -> None:
        """Begin the list again: at the last date when the server seems to list by date, else where it began. Records
        that are stored already cost nothing then but their place in the list."""
        if walk.in_order and walk.seen >= IN_ORDER:
            walk.begin = max(walk.begin, self._in_form(iso_time(walk.latest)))
        walk.token, walk.position, walk.last = "", 0, ""
        walk.restarts += 1

    def _explain(self, error: _ProtocolError, walk: _List) -> SourceError:
        what = Note("api_answered", address=self.source.address, why=error)
        if error.code == "cannotDisseminateFormat":
            try:
                known = ", ".join(self._ask({"verb": "ListMetadataFormats"}).facts)
            except (SourceError, _ProtocolError):
                known = "unknown"
            what = Note(
                "no_metadata_format", address=self.source.address, prefix=self.source.prefix, known=known
            )
        elif error.code == "noSetHierarchy" or (walk.set and error.code == "badArgument"):
            what = Note("no_set", address=self.source.address, set=walk.set, why=error)
        return InputUnreadable(what, address=self.source.address, oai_code=error.code)

    def _ask(self, arguments: dict[str, str]) -> Page:
        joint = "&" if "?" in self.source.address else "?"
        address = f"{self.source.address}{joint}{urlencode(arguments)}"
        answer = self.fetcher.fetch(address, accept=_ACCEPT, robots=False)
        try:
            if answer.status >= 400 and not is_repository(answer.body):
                raise InputUnreadable("address_answered", status=answer.status, address=address)
            return parse_page(answer.body, address)
        except InputUnreadable as error:
            error.details.setdefault("status", answer.status)
            raise

    # The records

    def _records(self, page: Page, walk: _List) -> Iterator[Item]:
        start = walk.position
        if start and (start > len(page.records) or page.records[start - 1].identifier != walk.last):
            start = 0  # another page than before the stop
        for number, record in enumerate(page.records[start:], start + 1):
            stamp = iso_time(record.datestamp)
            walk.in_order = walk.in_order and stamp >= walk.latest
            walk.latest = max(walk.latest, stamp)
            walk.seen += 1
            # Servers that forget the set, and those whose list is begun again, give records twice.
            mark = hash((record.identifier, record.datestamp))
            if self._is_asked_for(record, walk.set) and mark not in self.seen:
                if len(self.seen) < MAX_SEEN:
                    self.seen.add(mark)
                yield from self._record(record)
            if self.since_checkpoint >= EVERY:
                walk.position, walk.last = number, record.identifier
                yield self._checkpoint(walk)

    def _is_asked_for(self, record: Record, chosen: str) -> bool:
        """Some servers forget the set after the first page. Subsets belong to their set."""
        if not chosen or not record.sets:
            return True
        return any(one == chosen or one.startswith(f"{chosen}:") for one in record.sets)

    def _record(self, record: Record, *, again: bool = False) -> Iterator[Item]:
        id = self._id(record.identifier)
        known = self.known(id)
        if record.deleted:
            self.again.pop(record.identifier, None)
            if known:
                yield Gone(id, Note("record_deleted"))
            return
        if known and known.version == record.datestamp and not again:
            yield Unchanged(id)
            return
        self.since_checkpoint += 1
        if record.metadata is None:
            try:
                record = self._get_record(record)
            except _ProtocolError as error:
                gone = error.code == "idDoesNotExist" and known
                yield (
                    Gone(id, Note("said", text=str(error)))
                    if gone
                    else Failed(id, "failed", Note("record_not_had", why=error))
                )
                return
            except SourceError as error:
                yield Failed(id, "failed", Note("record_not_had", why=error.note))
                return
        yield self._document(id, record)

    def _id(self, identifier: str) -> str:
        return identifier if ":" in identifier else f"{self.source.address}#{identifier}"

    def _get_record(self, record: Record) -> Record:
        asked = {"verb": "GetRecord", "metadataPrefix": self.source.prefix, "identifier": record.identifier}
        found = self._ask(asked).records
        if not found or (found[0].metadata is None and not found[0].deleted):
            raise InputUnreadable("no_metadata_for_it")
        return found[0]

    def _try_again(self) -> Iterator[Item]:
        """Records whose full text could not be had last time."""
        for identifier in list(self.again):
            yield from self._record(Record(identifier, ""), again=True)
            if self.since_checkpoint >= EVERY:
                yield self._checkpoint(None)

    def _document(self, id: str, record: Record) -> Item:
        data = record.metadata or {}
        title = _first(data, "title")
        time = next((day for day in map(iso_time, data.get("date", [])) if day), "") or iso_time(
            record.datestamp
        )
        links = self._links(data)
        text = "\n\n".join(dict.fromkeys([*data.get("title", [])[:1], *data.get("description", [])]))
        failed = False
        if self.source.full_text:
            for link in links[:MAX_LINKS]:
                answer, broke = self._full_text(link)
                failed = failed or broke
                if answer is not None:
                    self.again.pop(record.identifier, None)
                    media_type, charset = content_type(answer)
                    return Found(
                        id=id,
                        address=answer.address,
                        title=title,
                        version=record.datestamp,
                        data=answer.body,
                        media_type=media_type,
                        charset=charset,
                        validators=answer.validators,
                        time=time,
                        name=name_of(answer),
                    )
        self._remember(record.identifier, failed)
        if not text:
            return Failed(id, "empty", Note("record_without_text"))
        address = links[0] if links else self.source.address
        return Found(id=id, address=address, title=title, version=record.datestamp, time=time, text=text)

    def _remember(self, identifier: str, failed: bool) -> None:
        attempts = self.again.pop(identifier, 0) + 1
        if failed and attempts <= ATTEMPTS and len(self.again) < MAX_RETRIES:
            self.again[identifier] = attempts

    def _links(self, data: dict[str, list[str]]) -> list[str]:
        """Addresses that may lead to the full text, the likeliest first. Relations and sources may be other works: they
        count when they are files, or on the site of the repository."""
        ranked: list[tuple[int, int, str]] = []
        for name in ("identifier", "url", "relation", "source"):
            for value in data.get(name, []):
                link = clean(value) if re.match(r"https?://", value.strip(), re.I) else ""
                if not link:
                    continue
                is_file = bool(_FULL.search(urlsplit(link).path))
                if (
                    name in ("relation", "source")
                    and not is_file
                    and not same_site(link, self.source.address)
                ):
                    continue
                ranked.append((0 if is_file else 1, len(ranked), link))
        return list(dict.fromkeys(link for _, _, link in sorted(ranked)))

    def _full_text(self, link: str) -> tuple[Answer | None, bool]:
        """The answer that holds the full text, if the link leads to one; and whether it may do so another time."""
        answer, failed = self._fetch(link)
        if answer is None:
            return None, failed
        if not is_page(answer):
            return answer, False
        facts = look(answer)
        named = [
            *facts.full_text,
            *(clean(one, base=link) for one in _ITEM_LINK.findall(answer.headers.get("link", ""))),
        ]
        for address in [one for one in dict.fromkeys(named) if one and one != answer.address][:2]:
            inner, broke = self._fetch(address)
            failed = failed or broke
            if inner is not None and not is_page(inner):
                return inner, False
        if not facts.noindex and _count_words(answer) >= WHOLE_WORDS:
            return answer, False
        return None, failed

    def _fetch(self, address: str) -> tuple[Answer | None, bool]:
        try:
            answer = self.fetcher.fetch(address)
        except SourceError as error:
            return None, failure(address, error).state == "failed"
        useful = 200 <= answer.status < 300 and answer.body.strip()
        if not useful or header_noindex(answer.headers.get("x-robots-tag", "")):
            return None, False
        return answer, False

    def _checkpoint(self, walk: _List | None) -> Checkpoint:
        self.since_checkpoint = 0
        state: dict[str, Any] = {"since": dict(self.since), "again": dict(self.again), "number": self.number}
        state["checked"] = list(self.checked)
        if walk is not None:
            state["list"] = {name: getattr(walk, name) for name in _List.__dataclass_fields__}
        return Checkpoint(state)


def _parse(data: bytes, address: str) -> Any:
    """The root element. What XML does not allow (control characters, stray ampersands, bytes that are not UTF-8) is
    taken out; an answer that ends in the middle is refused, for nobody could say what is missing."""
    try:
        return etree.fromstring(data, _parser())
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        reason = error
    declared = re.match(rb"\s*<\?xml[^>]*encoding\s*=\s*[\"']([\w.-]+)", data)
    try:
        text = data.decode(declared.group(1).decode() if declared else "utf-8", "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    text = _BARE_AMPERSAND.sub("&amp;", _NOT_XML.sub("", _DECLARATION.sub("", text)))
    if re.search(r"</(?:[\w-]+:)?OAI-PMH\s*>\s*\Z", text):
        try:
            root = etree.fromstring(text.encode("utf-8"), _parser(recover=True))
        except (etree.XMLSyntaxError, ValueError):
            root = None
        if root is not None and _is_whole(root, text):
            return root
    raise InputUnreadable("answer_damaged", reason=reason, address=address)


def _is_whole(root: Any, text: str) -> bool:
    """Whether everything stands where it should after the parser guessed what was meant. A token that slipped into a
    record would end the list early, and nobody would know."""
    wanted = Counter(re.findall(r"<(?:[\w-]+:)?(record|resumptionToken)[\s>/]", text))
    found = Counter(_local(child) for part in root for child in part)
    return all(found[name] == count for name, count in wanted.items())


def _parser(*, recover: bool = False) -> Any:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        recover=recover,
    )


def _record(element: Any) -> Record:
    """A <record>, or a <header> alone."""
    header = (
        element if _local(element) == "header" else next((c for c in element if _local(c) == "header"), None)
    )
    if header is None:
        return Record("", "")
    values: dict[str, list[str]] = {}
    for child in header:
        values.setdefault(_local(child), []).append(_text(child))
    metadata = next((c for c in element if _local(c) == "metadata"), None) if header is not element else None
    return Record(
        identifier=_first(values, "identifier"),
        datestamp=_first(values, "datestamp"),
        sets=tuple(values.get("setSpec", ())),
        deleted=(header.get("status") or "").lower() == "deleted",
        metadata=_metadata(metadata) if metadata is not None and len(metadata) else None,
    )


def _metadata(element: Any) -> dict[str, list[str]]:
    """Values by the plain names of their elements, whatever the schema: Dublin Core and its relatives call things by
    the same names, others are brought to them."""
    values: dict[str, list[str]] = {}
    for item in element.iter(etree.Element):
        name = _SAME.get(_local(item), _local(item))
        href = next((value for key, value in item.attrib.items() if key.rsplit("}", 1)[-1] == "href"), "")
        if href:
            values.setdefault("url", []).append(href)
        text = _text(item) if not len(item) or name in ("description", "title") else ""
        if text:
            values.setdefault(name, []).append(text)
    return values


_SAME = {"abstract": "description", "articleTitle": "title", "article-title": "title", "dateIssued": "date"}


def _count_words(answer: Answer) -> int:
    """Of the useful content of a page."""
    from doublet.text.formats.html import parse_page as parse_html
    from doublet.text.frame import content

    try:
        page, _ = parse_html(answer.body[: 1 << 20], charset=content_type(answer)[1])
        return sum(block.words for block in content(page))
    except Unreadable:
        return 0


def _local(element: Any) -> str:
    tag = element.tag
    return tag.rsplit("}", 1)[-1].rsplit(":", 1)[-1] if isinstance(tag, str) else ""


def _text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def _first(values: dict[str, list[str]], name: str) -> str:
    return next(iter(values.get(name, ())), "")
