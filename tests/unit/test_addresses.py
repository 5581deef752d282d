"""How addresses are read, and the one spelling under which a library knows a page."""

from __future__ import annotations

import json
import lzma
import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.addresses import MAX_LENGTH, clean, host_of, is_address, parse_address, resolve_link, same_site
from doublet.errors import NotAllowed


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


@pytest.mark.covers("R3", "R4")
@pytest.mark.parametrize(
    ("given", "base", "cleaned"),
    [
        ("HTTP://Пример.рф:80/а б/../в?q=ж#x", "", "http://xn--e1afmkfd.xn--p1ai/%D0%B2?q=%D0%B6"),
        ("../a.html", "http://h/x/y/z", "http://h/x/a.html"),
        ("//h2/x", "https://h/", "https://h2/x"),
        ("?x=1", "http://h/a/b", "http://h/a/b?x=1"),
        (" http://h/\n a ", "", "http://h/%20a"),
        ("http://h", "", "http://h/"),
        ("https://h:443/x", "", "https://h/x"),
        ("https://user:secret@h/x", "", "https://h/x"),
        ("http://h/%zz%d0", "", "http://h/%25zz%D0"),
        ("http://[::1]:80/x", "", "http://[::1]/x"),
        ("http://h./x", "", "http://h/x"),
        ("mailto:a@b", "http://h/", ""),
        ("javascript:void(0)", "http://h/", ""),
        ("ftp://h/x", "", ""),
        ("http://[::bad", "", ""),
        ("http://h:99999/", "", ""),
        ("http:///x", "", "http://x/"),
        ("http://h\\a\\b", "", "http://h/a/b"),
        ("http://h/a/%2e%2e/b", "", "http://h/b"),
        ("http://h/[1]|2^3?[1]|2", "", "http://h/%5B1%5D%7C2%5E3?[1]|2"),
        ("http://h/o'k?o'k", "", "http://h/o'k?o%27k"),
        ("http://0x7f.1/", "", "http://127.0.0.1/"),
        ("http://foo.09../", "", ""),
        ("/\ud800x", "http://h/", "http://h/%EF%BF%BDx"),
        ("http://a b/", "", ""),
        ("", "http://h/", ""),
        ("http://h/" + "a" * MAX_LENGTH, "", ""),
    ],
)
def test_addresses_in_one_spelling(given: str, base: str, cleaned: str) -> None:
    assert clean(given, base=base) == cleaned
    assert clean(cleaned) == cleaned


def test_sites() -> None:
    assert same_site("http://www.a.test/x", "https://a.test/")
    assert not same_site("http://a.test:8080/", "http://a.test/")
    assert not same_site("http://a.test/", "http://b.a.test/")
    assert not same_site("", "")
    assert is_address(" HTTPS://a") and not is_address("folder/http") and not is_address("C:\\x")


ODD = st.text(st.sampled_from("ab.яß%2eD0/\\?#&='\"[]|^{}<>@: \t\n\x00\x7f\ud800"), max_size=30)


@given(ODD, ODD)
@pytest.mark.covers("R4")
def test_what_is_the_id_is_what_is_asked_for(host: str, rest: str) -> None:
    """One mechanism: the spelling is stable, and the fetcher neither reads nor sends it otherwise."""
    spelled = clean(f"http://{host}/{rest}")
    assert clean(spelled) == spelled
    if spelled:
        assert spelled.isascii() and len(spelled) < 10 * MAX_LENGTH
        assert str(parse_address(spelled)) == spelled
        assert clean(rest, base=spelled) == clean(clean(rest, base=spelled))


@pytest.mark.shared
@pytest.mark.covers("R4")
def test_spellings_of_the_suites_are_stable(shared: pathlib.Path) -> None:
    with lzma.open(shared / "data/robots-url-suites/wpt_urltestdata.json.xz") as file:
        cases = [case for case in json.load(file) if isinstance(case, dict)]
    spelled = {clean(case["input"], base=case.get("base") or "") for case in cases} - {""}
    assert len(spelled) > 150
    for one in spelled:
        assert clean(one) == one
        try:
            assert str(parse_address(one)) == one
        except NotAllowed as error:
            assert "port" in error.message


def test_hosts() -> None:
    assert host_of("https://WWW.Example.org:443/x") == "example.org"
    assert host_of("http://example.org:8080/") == "example.org:8080"
    assert host_of("mailto:a@b") == host_of("nothing") == ""
