"""Addresses on the web: one reading of them, that of browsers (WHATWG), for whoever names, compares or fetches pages.

`parse_address` reads an address for the fetcher: what is judged is what is asked for. `clean` gives the one spelling
under which a library knows a document, so that it has the same id in every walk: ASCII, lower-case scheme and host,
punycode, percent-encoding in UTF-8 with capital letters, no default port, no dot segments, no fragment, and no name and
password. What `clean` gives, the fetcher sends as it stands. Two spellings of one page that only its content shows to
be one (``www.``, a trailing slash, parameters that count visits) stay two here.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from doublet.errors import ConfigError, InvalidParameter, NotAllowed

MAX_LENGTH = 2_000  #: of the id of a document; longer than any real one, and traps grow theirs
LONGEST_ADDRESS = 8_000  #: that is fetched
PORTS = {"http": 80, "https": 443}
# The ports of mail, file, name and login services that browsers refuse too: a request there is no reading of a page.
_REFUSED_PORTS = frozenset(
    map(
        int,
        (
            "1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 "
            "119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 "
            "636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6379 6566 6665 6666 6667 6668 6669 "
            "6679 6697 10080 11211"
        ).split(),
    )
)
_BLANKS = re.compile(r"[\t\n\r]")
_NULS_TOO = re.compile(r"[\t\n\r\x00]")
_HALF_PAIRS = re.compile("[\ud800-\udfff]")
# Most addresses are in their one spelling already: that halves the time for a sitemap of fifty thousand (2.1 → 1.2 s).
# A host that ends in a number is an IP number, which has one spelling of its own.
_PLAIN = re.compile(
    r"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]+/(?:[\w~-][\w.~-]*/)*(?:[\w~-][\w.~-]*)?\Z", re.ASCII
)
# The same for a link that only needs the place of its page in front of it; what follows "#" is dropped.
_PLAIN_LINK = re.compile(
    r"(/?(?:[\w~-][\w.~-]*/)*(?:[\w~-][\w.~-]*(?:\?\w[\w=&.~-]*)?)?)(?:#.*)?\Z", re.ASCII
)
# What browsers send as it is and what RFC 3986 wants encoded. Ids have had it encoded from the first version on.
_RAW_IN_PATHS = re.compile(r"[\[\]|^\"{}<>`\\]")
_RAW_IN_QUERIES = re.compile(r"[\"<>^`{}\\]")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")


@dataclass(frozen=True, slots=True)
class Address:
    """An address of http or https in ASCII: punycode host, percent-encoded path, no fragment."""

    scheme: str
    host: str  #: a name, or an IP number without brackets
    port: int
    target: str  #: path and query, as sent

    @property
    def origin(self) -> str:
        """Scheme, host and port: what a robots.txt is for."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + (f":{self.port}" if self.port != PORTS[self.scheme] else "")

    def __str__(self) -> str:
        return self.origin + self.target


@dataclass(frozen=True, slots=True)
class WebAddress:
    """Where a document is on the web, as a user gives it. Functions that take a text fetch it from there; a string is
    never taken for an address."""

    url: str

    def __post_init__(self) -> None:
        if not isinstance(self.url, str) or not re.match(r"https?://[^\s/?#]", self.url.strip(), re.I):
            raise InvalidParameter("not_an_address", value=str(self.url), name="address")


def parse_address(text: str, base: Address | None = None) -> Address:
    """Read an address, or one relative to *base*. Raises `NotAllowed` for one that cannot or must not be fetched."""
    shown = text if len(text) <= 200 else text[:199] + "…"
    if len(text) > LONGEST_ADDRESS:
        raise NotAllowed("address_too_long", longest_address=LONGEST_ADDRESS, address=shown)
    try:
        found = _parse(text, str(base) if base is not None else "")
    except ValueError:
        raise NotAllowed("address_wrong", address=shown) from None
    scheme = found.protocol.removesuffix(":")
    if scheme not in PORTS:
        raise NotAllowed("address_scheme", scheme=scheme, address=shown)
    if found.username or found.password:
        raise NotAllowed(
            "address_password",
            scheme=scheme,
            host=found.host,
            address=f"{scheme}://{found.host}/",
        )
    address = _address(found)
    if address.port in _REFUSED_PORTS:
        raise NotAllowed("address_port", port=address.port, address=shown)
    return address


def resolve_link(link: str, base: Address) -> Address:
    """Where a link, or the Location of a redirect, leads. Bytes of no known encoding stay as they are."""
    try:  # headers come as Latin-1, whatever they were
        raw = _BLANKS.sub("", link).encode("latin-1")
    except UnicodeEncodeError:
        return parse_address(link, base)
    try:
        return parse_address(raw.decode("utf-8"), base)
    except UnicodeDecodeError:
        return parse_address("".join(chr(b) if b < 0x80 else f"%{b:02X}" for b in raw), base)


def clean(address: str, *, base: str = "") -> str:
    """The address in its one spelling, or an empty string when it leads nowhere that can be asked over HTTP.

    *base* is the page that the address stands on, for relative ones.
    """
    address = _NULS_TOO.sub("", address.strip()).strip()
    if not address or len(address) > MAX_LENGTH:
        return ""
    if _PLAIN.match(address):
        return address
    link = _PLAIN_LINK.match(address) if base else None
    if link is not None and link.group(1):
        origin, folder = _place_of(base)
        if origin:
            return (origin if address[0] == "/" else folder) + link.group(1)
    return _spell(address, base)


@functools.lru_cache(256)
def _place_of(base: str) -> tuple[str, str]:
    """What links on a page begin with, from the root and from its folder; nothing when its address is not clean."""
    if _spell(base, "") != base:
        return "", ""
    return base[: base.index("/", len("https://"))], base.partition("?")[0].rpartition("/")[0] + "/"


def host_of(address: str) -> str:
    """Host and port in lower case, without "www." and without a default port; empty when there is none."""
    try:
        found = _parse(address, "")
    except ValueError:
        return ""
    if found.protocol.removesuffix(":") not in PORTS:
        return ""
    host: str = found.hostname.removeprefix("www.")
    return f"{host}:{found.port}" if found.port and found.port not in ("80", "443") else host


def same_site(one: str, other: str) -> bool:
    """Whether two addresses are on one site; http and https, with and without "www.", are one."""
    host = host_of(one)
    return bool(host) and host == host_of(other)


def within_site(host: str, site: str, *, subdomains: bool) -> bool:
    """Whether a host (of `host_of`) belongs to a site; with *subdomains* those below it do too."""
    return bool(host) and (host == site or (subdomains and host.endswith(f".{site}")))


def is_address(given: str) -> bool:
    """Whether what a user gave is an address and not a path."""
    return bool(re.match(r"https?://", given.strip(), re.I))


def _spell(address: str, base: str) -> str:
    try:
        found = _parse(address, base)
    except ValueError:
        return ""
    if found.protocol.removesuffix(":") not in PORTS:
        return ""
    read = _address(found)
    host = read.host.rstrip(".")
    if not host:
        return ""
    path = _escaped(found.pathname, _RAW_IN_PATHS)
    query = _escaped(found.search.removeprefix("?"), _RAW_IN_QUERIES)
    target = f"{path}?{query}" if query else path
    spelled = str(Address(read.scheme, host, read.port, target))
    return spelled if host == read.host else _spell(spelled, "")  # "1.2.3." is another host without its dot


def _escaped(part: str, raw: re.Pattern[str]) -> str:
    part = raw.sub(lambda found: f"%{ord(found.group()):02X}", _STRAY_PERCENT.sub("%25", part))
    return _ESCAPE.sub(lambda found: found.group().upper(), part)


def _address(found: Any) -> Address:
    scheme = found.protocol.removesuffix(":")
    port = int(found.port) if found.port else PORTS[scheme]
    host = found.hostname.removeprefix("[").removesuffix("]")
    return Address(scheme, host, port, found.pathname + found.search)


def _parse(text: str, base: str) -> Any:
    """Raises `ValueError` for what is no address."""
    parse: Any = _can_ada().parse
    text = _HALF_PAIRS.sub("\ufffd", text)  # half a surrogate pair stands for nothing and cannot be sent
    return parse(base) + text if base else parse(text)


def _can_ada() -> Any:
    try:
        import can_ada
    except ImportError as error:
        raise ConfigError("needs_can_ada", library="can_ada") from error
    return can_ada
