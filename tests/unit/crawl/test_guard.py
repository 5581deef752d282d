"""Which machines are nobody's business."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.crawl.guard import refusal

PRIVATE = """127.0.0.1 127.255.255.254 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 198.18.0.1 192.0.2.1
::1 fc00::1 fd12:3456::1 fec0::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: ::7f00:1
2001:db8::1""".split()
NEVER = """0.0.0.0 0.1.2.3 169.254.169.254 169.254.0.1 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 :: fe80::1
fe80::1%eth0 ff02::1 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe:: ::ffff:0.0.0.0 168.63.129.16
100.100.100.200 fd00:ec2::254""".split()
PUBLIC = "8.8.8.8 1.1.1.1 93.184.216.34 2606:4700:4700::1111 2a02:6b8::2:242 ::ffff:8.8.8.8 64:ff9b::808:808".split()


@pytest.mark.covers("R10")
@pytest.mark.parametrize("number", PRIVATE)
def test_private_machines_are_asked_only_when_allowed(number: str) -> None:
    assert refusal(number)
    assert not refusal(number, allow_private=True)


@pytest.mark.covers("R10")
@pytest.mark.parametrize("number", NEVER)
def test_some_are_never_asked(number: str) -> None:
    assert refusal(number)
    assert refusal(number, allow_private=True)


@pytest.mark.parametrize("number", PUBLIC)
def test_public_machines_are_asked(number: str) -> None:
    assert not refusal(number)


@given(st.ip_addresses())
def test_what_is_not_global_is_refused(number: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if not number.is_global or number.is_multicast:
        inner = getattr(number, "ipv4_mapped", None)
        assert refusal(str(number)) or (inner is not None and inner.is_global) or _wraps_public(number)


def _wraps_public(number: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return isinstance(number, ipaddress.IPv6Address) and any(
        number in ipaddress.IPv6Network(net)
        for net in ("::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16")
    )
