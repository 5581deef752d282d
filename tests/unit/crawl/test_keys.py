"""One page, one key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.addresses import clean
from doublet.crawl.keys import in_utf8, is_tracking, page_key, without_tracking


@pytest.mark.covers("R4")
def test_it_works() -> None:
    one = page_key(clean("HTTP://Example.ORG:80/a/../b/?utm_source=x&b=2&a=1#top"))
    assert one == page_key(clean("http://example.org/b/?a=1&b=2"))
    assert one == "http://example.org/b/?a=1&b=2"


@pytest.mark.covers("R4")
@pytest.mark.parametrize(
    ("given", "key"),
    [
        ("http://x.ru/%CA%ED%E8%E3%E0", "http://x.ru/%D0%9A%D0%BD%D0%B8%D0%B3%D0%B0"),  # Книга
        ("http://x.ru/%D0%9A%D0%BD%D0%B8%D0%B3%D0%B0", "http://x.ru/%D0%9A%D0%BD%D0%B8%D0%B3%D0%B0"),
        ("http://x.ru/Книга", "http://x.ru/%D0%9A%D0%BD%D0%B8%D0%B3%D0%B0"),
        (
            "http://x.ru/s?b=1&q=%EA%EE%F2+%E8+%EF%B8%F1",
            "http://x.ru/s?b=1&q=%D0%BA%D0%BE%D1%82+%D0%B8+%D0%BF%D1%91%D1%81",
        ),
        ("http://книга.рф/", "http://xn--80afohp.xn--p1ai/"),
        ("http://x.org/caf%E9", "http://x.org/caf%E9"),  # another encoding stays what it is
        ("http://x.org/a?x=1&x=1", "http://x.org/a?x=1"),
        ("http://x.org/a?b&a", "http://x.org/a?a&b"),
        ("http://x.org/a?", "http://x.org/a"),
        ("http://x.org/p;jsessionid=12ab/q?a=1", "http://x.org/p/q?a=1"),
        ("http://x.org/a?UTM_Medium=x&fbclid=1&yclid=2&_openstat=3&PHPSESSID=4", "http://x.org/a"),
        ("http://x.org/a?ref=1&id=2&from=3", "http://x.org/a?from=3&id=2&ref=1"),  # may mean something
    ],
)
def test_keys(given: str, key: str) -> None:
    assert page_key(clean(given)) == key
    assert page_key(key) == key


@pytest.mark.covers("R4")
def test_what_is_asked_for_keeps_its_order_and_encoding() -> None:
    assert without_tracking("http://x.ru/%CA?z=1&utm_term=t&a=2") == "http://x.ru/%CA?z=1&a=2"


@pytest.mark.covers("R3")
@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("../c?x=1&gclid=9", "http://x.org/c?x=1"),
        ("//cdn.x.org/y", "http://cdn.x.org/y"),
        ("?page=2", "http://x.org/a/b?page=2"),
        ("mailto:a@b.c", ""),
        ("javascript:void(0)", ""),
        ("http://[", ""),
        ("data:text/html,x", ""),
        ("#part", "http://x.org/a/b"),
    ],
)
def test_links(link: str, address: str) -> None:
    found = clean(link, base="http://x.org/a/b")
    assert (without_tracking(found) if found else "") == address


def test_names_that_look_alike_are_kept() -> None:
    assert not any(map(is_tracking, ("id", "q", "utm", "page", "gaz", "from", "section", "clid")))


@pytest.mark.covers("R4")
@given(st.text(min_size=1, max_size=40))
def test_a_key_is_a_key_of_itself(text: str) -> None:
    address = clean(f"http://x.org/{text}")
    if address:
        key = page_key(address)
        assert key.isascii()
        assert page_key(key) == key
        assert in_utf8(in_utf8(text)) == in_utf8(text)
