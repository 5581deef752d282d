"""How addresses are read, and which machines are nobody's business."""

from __future__ import annotations

import ipaddress
import json
import lzma
import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.crawl.addresses import parse_address, refusal, resolve_link
from doublet.errors import NotAllowed

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


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("HTTP://Example.ORG:80", "http://example.org/"),
        ("https://example.org:443/a/../b/./c?x=1#part", "https://example.org/b/c?x=1"),
        ("http://пример.рф/путь", "http://xn--e1afmkfd.xn--p1ai/%D0%BF%D1%83%D1%82%D1%8C"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433:8080/", "http://127.0.0.1:8080/"),
        ("http://0177.0.0.01/", "http://127.0.0.1/"),
        ("http://①②⑦.0.0.1/", "http://127.0.0.1/"),
        ("http://[::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        ("http://example.org\\@evil.example/", "http://example.org/@evil.example/"),
        ("  https://example.org/a b\t ", "https://example.org/a%20b"),
    ],
)
@pytest.mark.covers("R10")
def test_one_reading(text: str, address: str) -> None:
    assert str(parse_address(text)) == address


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "example.org",
            "ftp://example.org/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
        ),
        *("http://", "http://[::bad", "http://1.2.3.4.5/", "http://a b/", "gopher://x/", "http://user:pw@x/"),
        *(
            "http://example.org:25/",
            "http://example.org:6379/",
            "https://example.org/" + "a" * 9_000,
            "\udcff",
        ),
    ],
)
@pytest.mark.covers("R10")
def test_no_address_of_a_page(text: str) -> None:
    with pytest.raises(NotAllowed) as caught:
        parse_address(text)
    assert "pw" not in caught.value.message


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("/x", "https://example.org/x"),
        ("//other.example/y", "https://other.example/y"),
        ("?z", "https://example.org/a/b?z"),
        ("c", "https://example.org/a/c"),
        (
            "/каталог".encode().decode("latin-1"),
            "https://example.org/%D0%BA%D0%B0%D1%82%D0%B0%D0%BB%D0%BE%D0%B3",
        ),
        ("/каталог".encode("cp1251").decode("latin-1"), "https://example.org/%EA%E0%F2%E0%EB%EE%E3"),
    ],
)
def test_links_of_headers(link: str, address: str) -> None:
    assert str(resolve_link(link, parse_address("https://example.org/a/b"))) == address


@pytest.mark.shared
def test_addresses_are_read_as_browsers_do(shared: pathlib.Path) -> None:
    """All cases of http and https, but those that are refused on purpose: with a name or password, on ports of other
    services, and hosts in punycode that stands for nothing. An empty query is dropped."""
    with lzma.open(shared / "data/robots-url-suites/wpt_urltestdata.json.xz") as file:
        cases = [case for case in json.load(file) if isinstance(case, dict)]
    asked = 0
    for case in cases:
        base, href = case.get("base") or "", case.get("href", "")
        if base.startswith("http"):
            if "@" in base:
                continue
        elif base not in ("", "about:blank") or not (
            case.get("failure") or href.startswith(("http:", "https:"))
        ):
            continue
        if href.startswith(("http:", "https:")) and ("@" in href.split("/")[2] or "xn--" in href.lower()):
            continue
        if not href.startswith(("http:", "https:")) and not case.get("failure"):
            continue
        asked += 1
        try:
            got = str(parse_address(case["input"], parse_address(base) if base.startswith("http") else None))
        except NotAllowed as error:
            assert case.get("failure") or "port" in error.message, case
        else:
            assert got == href.partition("#")[0].removesuffix("?"), case
    assert asked > 400
