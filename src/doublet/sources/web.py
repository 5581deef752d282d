"""One document from the web: what all sources that come over the network share.

`get_document` asks for an address, only if it changed where the library knows it, and makes an item of whatever came
back. `look` reads what a page says of itself in its head: its title, where its original is, whether it may be kept.
"""

from __future__ import annotations

import datetime
import email.utils
import gzip
import hashlib
import io
import re
from dataclasses import dataclass
from typing import Any

from doublet.addresses import clean
from doublet.errors import Broken, InputUnreadable, SourceError, Unreadable
from doublet.model import Note
from doublet.sources.protocol import (
    NO_VALIDATORS,
    Answer,
    Failed,
    Fetcher,
    Found,
    Gone,
    Item,
    Known,
    Unchanged,
    Validators,
)
from doublet.text.damaged import DAMAGED
from doublet.text.formats.html import page_titles, parse_page
from doublet.text.titles import sensible

ROBOT = "doublet"  #: the name that pages may address in their rules for robots
HEAD_BYTES = 1 << 18  #: of a page that are looked at for what it says of itself
_STATES = {"not_allowed": "refused", "too_large": "too_large"}
_DIRECTIVES = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_VAGUE_TYPES = frozenset({"", "text/plain", "application/octet-stream", "text/xml", "application/xml"})
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>]|head[\s>])", re.I | re.S
)
_GZIP = b"\x1f\x8b"
_ISO = re.compile(
    r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?)?)?",
    re.I,
)


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What a page says of itself. Addresses are absolute and clean; empty when the page does not say."""

    title: str = ""
    canonical: str = ""
    noindex: bool = False
    nofollow: bool = False
    feeds: tuple[str, ...] = ()
    edit_uri: str = ""  #: EditURI: the way to the API of a wiki
    full_text: tuple[str, ...] = ()  #: citation_pdf_url and the like: where the whole of a publication is
    time: str = ""
    generator: str = ""


def get_document(
    fetcher: Fetcher,
    id: str,
    address: str,
    known: Known | None,
    *,
    version: str = "",
    title: str = "",
    time: str = "",
) -> tuple[Item, PageFacts]:
    """Ask for one document. Gives `Found`, `Unchanged`, `Gone` or `Failed`, and what the page says of itself.

    *version*, when the source has one, is compared first by the caller; without one the document's version is the hash
    of its bytes. Raises nothing that belongs to this document only.
    """
    try:
        answer = fetcher.fetch(address, validators=known.validators if known and known.validators else None)
    except SourceError as error:
        return failure(id, error), PageFacts()
    if answer.unchanged:
        return Unchanged(id, version, answer.validators), PageFacts()
    return item_of(answer, id, known, version=version, title=title, time=time)


def item_of(
    answer: Answer, id: str, known: Known | None, *, version: str = "", title: str = "", time: str = ""
) -> tuple[Item, PageFacts]:
    """The item for an answer that is not "unchanged"."""
    if answer.status in (404, 410):
        return missing(id, known, answer), PageFacts()
    if answer.status in (401, 403, 451):
        return Failed(id, "refused", Note("server_forbids", status=answer.status)), PageFacts()
    if not 200 <= answer.status < 300:
        return Failed(id, "failed", Note("server_answered", status=answer.status)), PageFacts()
    if not answer.body.strip():
        return Failed(id, "empty", Note("server_answered_nothing")), PageFacts()
    facts = look(answer)
    if facts.noindex or header_noindex(answer.headers.get("x-robots-tag", "")):
        reason = Note("noindex")
        return (Gone(id, reason) if known else Failed(id, "refused", reason)), facts
    mark = version or content_version(answer.body)
    if known and not version and known.version == mark:
        return Unchanged(id, "", answer.validators), facts
    media_type, charset = content_type(answer)
    found = Found(
        id=id,
        address=answer.address,
        title=title or facts.title,
        version=mark,
        data=answer.body,
        media_type=media_type,
        charset=charset,
        validators=answer.validators,
        time=time or facts.time or iso_time(answer.validators.modified),
        name=name_of(answer),
    )
    return found, facts


def missing(id: str, known: Known | None, answer: Answer) -> Item:
    if known:
        return Gone(id, Note("no_longer_there", status=answer.status))
    return Failed(id, "failed", Note("no_such_document", status=answer.status))


def failure(id: str, error: SourceError) -> Failed:
    """What a failed request means for the document."""
    return Failed(id, _STATES.get(error.code, "failed"), error.note)


def look(answer: Answer) -> PageFacts:
    """What the page says of itself; nothing when it is not a page."""
    if not is_page(answer):
        return PageFacts()
    _, charset = content_type(answer)
    try:
        page, _ = parse_page(answer.body[:HEAD_BYTES], charset=charset)
    except (Broken, Unreadable):
        return PageFacts()
    return facts_of(page, base_of(page, answer.address))


def base_of(page: Any, address: str) -> str:
    """What relative links on a page start from."""
    given = page.find(".//base[@href]")
    return (clean(given.get("href"), base=address) or address) if given is not None else address


def facts_of(page: Any, base: str) -> PageFacts:
    """What a page, as a tree, says of itself."""
    metas: dict[str, list[str]] = {}
    for meta in page.iter("meta"):
        name = (meta.get("name") or meta.get("property") or "").strip().lower()
        if name and meta.get("content"):
            metas.setdefault(name, []).append(meta.get("content").strip())
    links = [(_words(link.get("rel")), link) for link in page.iter("link") if link.get("href")]
    canonical = [clean(link.get("href"), base=base) for rel, link in links if "canonical" in rel]
    return PageFacts(
        title=next(filter(None, map(sensible, page_titles(page))), ""),
        canonical=canonical[0] if len(set(canonical)) == 1 else "",  # two that disagree mean nothing
        noindex=any(forbids(value, "noindex") for name in ("robots", ROBOT) for value in metas.get(name, ())),
        nofollow=any(
            forbids(value, "nofollow") for name in ("robots", ROBOT) for value in metas.get(name, ())
        ),
        feeds=tuple(
            filter(
                None, (clean(link.get("href"), base=base) for rel, link in links if _is_feed_link(rel, link))
            )
        ),
        edit_uri=next((clean(link.get("href"), base=base) for rel, link in links if "edituri" in rel), ""),
        full_text=tuple(
            filter(
                None,
                (
                    clean(value, base=base)
                    for name in ("citation_pdf_url", "eprints.document_url", "citation_fulltext_html_url")
                    for value in metas.get(name, ())
                ),
            )
        ),
        time=iso_time(_first(metas, "article:modified_time", "article:published_time", "og:updated_time")),
        generator=_first(metas, "generator"),
    )


def is_page(answer: Answer) -> bool:
    """Whether the answer is an HTML page, by its type and, where the type says little, by its first bytes."""
    media_type, _ = content_type(answer)
    if media_type in _HTML_TYPES:
        return True
    return media_type in _VAGUE_TYPES and bool(_HTML_START.match(answer.body[:2048]))


def content_type(answer: Answer) -> tuple[str, str]:
    """Media type and charset, in lower case, as the server said them; both may be empty."""
    first, *rest = answer.headers.get("content-type", "").split(";")
    charset = ""
    for part in rest:
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip("\"'").lower()
    return first.strip().lower(), charset


def header_noindex(value: str) -> bool:
    """Whether X-Robots-Tag forbids keeping the document: for all robots, or for ours by name."""
    return header_forbids(value, "noindex")


def header_forbids(value: str, what: str) -> bool:
    """Whether X-Robots-Tag has *what* (noindex, nofollow) for all robots, or for ours by name."""
    robot = ""
    for part in value.lower().split(","):
        name, colon, rest = part.partition(":")
        if colon and name.strip() not in _DIRECTIVES and re.fullmatch(r"\s*[a-z][\w-]*\s*", name):
            robot, part = name.strip(), rest  # noqa: PLW2901 - the name goes before the rules that follow it
        if robot in ("", ROBOT, "*") and part.strip() in (what, "none"):
            return True
    return False


def content_version(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()[:32]}"


def unpack(data: bytes, limit_bytes: int) -> bytes:
    """*data*, unpacked when it is gzip. Raises `InputUnreadable` for what is damaged or larger than the limit."""
    if not data.startswith(_GZIP):
        if len(data) > limit_bytes:
            raise InputUnreadable("larger_than", limit_bytes=limit_bytes)
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            out = file.read(limit_bytes + 1)
    except DAMAGED as error:
        raise InputUnreadable("not_unpacked", why=error) from error
    if len(out) > limit_bytes:
        raise InputUnreadable("larger_unpacked", limit_bytes=limit_bytes)
    return out


def iso_time(text: str) -> str:
    """A date or time as servers write it (ISO 8601, RFC 822) as ISO 8601 in UTC; empty for anything else."""
    text = text.strip()
    found = _ISO.fullmatch(text)
    try:
        if found:
            year, month, day, hour, minute, second, zone = found.groups()
            if hour is None:
                datetime.date(int(year), int(month or 1), int(day or 1))
                return "-".join(part.zfill(2) for part in (year, month, day) if part)
            moment = datetime.datetime(
                int(year), int(month), int(day), int(hour), int(minute), int(second or 0), tzinfo=_zone(zone)
            )
        else:
            parsed = email.utils.parsedate_tz(text)
            if parsed is None:
                return ""
            shift = datetime.timedelta(seconds=parsed[9] or 0)
            moment = datetime.datetime(*parsed[:6], tzinfo=datetime.UTC) - shift
        return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, TypeError):
        return ""


def validators_of(state: Any) -> Validators:
    """Validators as they were put into a state with `validators_state`."""
    if isinstance(state, dict):
        return Validators(str(state.get("etag", "")), str(state.get("modified", "")))
    return NO_VALIDATORS


def validators_state(validators: Validators) -> dict[str, str]:
    return {"etag": validators.etag, "modified": validators.modified}


def name_of(answer: Answer) -> str:
    """A name with a suffix that may tell the kind: what the server calls the file, else the end of the address."""
    told = re.search(r"filename\s*=\s*\"?([^\";]+)", answer.headers.get("content-disposition", ""), re.I)
    if told:
        return told.group(1).strip().rsplit("/", 1)[-1].rsplit("\\", 1)[-1]
    return answer.address.split("?", 1)[0].rsplit("/", 1)[-1]


def _zone(text: str | None) -> datetime.tzinfo:
    if not text or text in "Zz":
        return datetime.UTC
    sign = -1 if text[0] == "-" else 1
    return datetime.timezone(sign * datetime.timedelta(hours=int(text[1:3]), minutes=int(text[-2:])))


def _words(value: str | None) -> list[str]:
    return (value or "").lower().split()


def _first(metas: dict[str, list[str]], *names: str) -> str:
    return next((metas[name][0] for name in names if name in metas), "")


def forbids(value: str, what: str) -> bool:
    """Whether the rules for robots of a page have *what* (noindex, nofollow)."""
    return bool({what, "none"} & {part.strip() for part in value.lower().replace(";", ",").split(",")})


def _is_feed_link(rel: list[str], link: Any) -> bool:
    kind = (link.get("type") or "").split(";")[0].strip().lower()
    return "alternate" in rel and kind in (
        "application/rss+xml",
        "application/atom+xml",
        "application/feed+json",
        "application/rdf+xml",
    )
