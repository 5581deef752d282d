"""Which machines are never asked, whatever leads there (R10).

`refusal` judges the very number that a connection would go to. How addresses are read is `doublet.addresses`.
"""

from __future__ import annotations

import ipaddress

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

IP = ipaddress.IPv4Address | ipaddress.IPv6Address


def refusal(number: str, *, allow_private: bool = False) -> str:
    """Why no connection may go to this IP number, as the code of a message, or an empty string when it may.

    *allow_private* opens what belongs to the owner of the installation: loopback and private networks. Link-local
    addresses, where clouds keep their passwords, and what is no single machine stay closed.
    """
    ip: IP = ipaddress.ip_address(number.partition("%")[0])
    for inner in _within(ip):
        if inner in _METADATA:
            return "number_of_cloud"
        if inner.is_unspecified or (isinstance(inner, ipaddress.IPv4Address) and inner.packed[0] == 0):
            return "number_of_none"
        if inner.is_multicast:
            return "number_multicast"
        if inner.is_link_local:
            return "number_link_local"
        if isinstance(inner, ipaddress.IPv4Address) and inner.packed[0] >= 240:
            return "number_reserved"
        if allow_private and (_is_private(inner) or inner.is_loopback):
            continue
        if inner.is_loopback:
            return "number_of_this_computer"
        if _is_private(inner) or not inner.is_global:
            return "number_private"
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
