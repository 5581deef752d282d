"""Addresses on the web: how they are read, and which machines are never asked (R10).

`parse_address` reads an address as browsers do (WHATWG), so that there is one reading of it: what is checked is what
is connected to. `refusal` judges the very number that a connection would go to.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Any

from doublet.errors import ConfigError, NotAllowed

LONGEST_ADDRESS = 8_000  #: characters
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
_IPV4_IN_IPV6 = (
    (ipaddress.IPv6Network("::/96"), 0),  # IPv4-compatible, given up long ago
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),  # NAT64
    (ipaddress.IPv6Network("64:ff9b:1::/48"), 0),  # local NAT64
    (ipaddress.IPv6Network("2002::/16"), 80),  # 6to4
)
# Addresses at which clouds hand out passwords. Most are link-local; these are not.
_METADATA = frozenset(
    map(
        ipaddress.ip_address,
        ("168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"),
    )
)
_BLANKS = re.compile(r"[\t\n\r]")

IP = ipaddress.IPv4Address | ipaddress.IPv6Address


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


def parse_address(text: str, base: Address | None = None) -> Address:
    """Read an address, or one relative to *base*. Raises `NotAllowed` for one that cannot or must not be fetched."""
    shown = text if len(text) <= 200 else text[:199] + "…"
    if len(text) > LONGEST_ADDRESS:
        raise NotAllowed(f"{shown}: the address is longer than {LONGEST_ADDRESS:,} characters", address=shown)
    parse: Any = _can_ada().parse
    try:
        # Half a surrogate pair stands for nothing and cannot be sent.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        found = parse(str(base)) + clean if base is not None else parse(clean)
    except ValueError:
        raise NotAllowed(
            f"{shown!r} is no address of a page: it should look like https://example.org/page", address=shown
        ) from None
    scheme = found.protocol.removesuffix(":")
    if scheme not in PORTS:
        raise NotAllowed(f"{shown}: only http and https are fetched, not {scheme!r}", address=shown)
    if found.username or found.password:
        raise NotAllowed(
            "an address with a name or password in it is not fetched: leave that part out "
            f"({scheme}://{found.host}/…)",
            address=f"{scheme}://{found.host}/",
        )
    port = int(found.port) if found.port else PORTS[scheme]
    if port in _REFUSED_PORTS:
        raise NotAllowed(f"{shown}: port {port} belongs to another service than the web", address=shown)
    host = found.hostname.removeprefix("[").removesuffix("]")
    return Address(scheme, host, port, found.pathname + found.search)


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


def refusal(number: str, *, allow_private: bool = False) -> str:
    """Why no connection may go to this IP number, or an empty string when it may.

    *allow_private* opens what belongs to the owner of the installation: loopback and private networks. Link-local
    addresses, where clouds keep their passwords, and what is no single machine stay closed.
    """
    ip: IP = ipaddress.ip_address(number.partition("%")[0])
    for inner in _within(ip):
        if inner in _METADATA:
            return "is where a cloud keeps its passwords"
        if inner.is_unspecified or (isinstance(inner, ipaddress.IPv4Address) and inner.packed[0] == 0):
            return "stands for no machine"
        if inner.is_multicast:
            return "is a multicast address"
        if inner.is_link_local:
            return "is a link-local address"
        if isinstance(inner, ipaddress.IPv4Address) and inner.packed[0] >= 240:
            return "is a reserved address"
        if allow_private and (_is_private(inner) or inner.is_loopback):
            continue
        if inner.is_loopback:
            return "is this computer itself"
        if _is_private(inner) or not inner.is_global:
            return "is a private address"
    return ""


def _within(ip: IP) -> list[IP]:
    """The address, or the IPv4 address that stands in it where it is only a wrapping of one."""
    if isinstance(ip, ipaddress.IPv4Address):
        return [ip]
    if ip.ipv4_mapped is not None:
        return [ip.ipv4_mapped]
    if ip.teredo is not None:
        return [ip, *ip.teredo]
    if int(ip) > 1:  # :: and ::1 stand for themselves
        for network, shift in _IPV4_IN_IPV6:
            if ip in network:
                return [ipaddress.IPv4Address((int(ip) >> shift) & 0xFFFFFFFF)]
    return [ip]


def _is_private(ip: IP) -> bool:
    if isinstance(ip, ipaddress.IPv6Address):
        return ip.is_private or ip.is_site_local
    return ip.is_private or ip in ipaddress.IPv4Network("100.64.0.0/10")


def _can_ada() -> Any:
    try:
        import can_ada
    except ImportError as error:
        raise ConfigError(
            "addresses on the web need the can_ada library: pip install 'doublet[web]'", library="can_ada"
        ) from error
    return can_ada
