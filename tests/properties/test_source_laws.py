"""Laws of sources, on generated sites, feeds, repositories and wikis.

A walk that is killed after any checkpoint and begun again gives the documents of a walk that was not killed. A second
walk over what did not change gives nothing new and asks for no document. The order of what a server lists is no matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublet import addresses
from doublet.errors import InputUnreadable
from doublet.sources import feed, oai, sitemap, wiki
from doublet.sources.feed import FeedSource, parse_feed
from doublet.sources.oai import OaiSource, parse_page
from doublet.sources.protocol import Complete, Failed, Found, Gone, Source, Unchanged
from doublet.sources.sitemap import SitemapSource, parse_sitemap
from doublet.sources.wiki import WikiSource, article_text
from oai_repository import BASE as OAI
from oai_repository import Item as OaiItem
from oai_repository import Repository
from source_shelf import NoAnswer, Page, Shelf, Web, article, of, told
from wiki_site import API, Article, Wiki

pytestmark = pytest.mark.covers("L7")

SITE = "https://site.test"


@dataclass
class Place:
    source: Source
    web: Web
    is_document: Callable[[str], bool]


def sitemap_place(numbers: list[int], odd: int) -> Place:
    """Some pages with dates and some without, in two sitemaps, one of them a copy of another page."""
    pages: dict[str, Any] = {f"{SITE}/p/{n}": article(f"Page {n}") for n in numbers}
    for n in numbers:
        if n % 5 == odd % 5:
            pages[f"{SITE}/p/{n}"] = article(
                f"Page {n}", head=f"<link rel=canonical href='{SITE}/p/{n // 2}'>"
            )
        if n % 7 == 3:
            pages[f"{SITE}/p/{n}"].etag = f'"{n}"'

    def listed(part: list[int]) -> Page:
        rows = "".join(
            f"<url><loc>{SITE}/p/{n}</loc>{'<lastmod>2026-01-01</lastmod>' if n % 3 else ''}</url>"
            for n in part
        )
        return Page(f"<urlset>{rows}</urlset>".encode(), type="application/xml", etag=f'"{len(part)}"')

    half = len(numbers) // 2
    places = [f"{SITE}/a.xml", f"{SITE}/b.xml"]
    index = "".join(f"<sitemap><loc>{one}</loc></sitemap>" for one in places)
    pages |= {places[0]: listed(numbers[:half]), places[1]: listed(numbers[half:])}
    pages[f"{SITE}/sitemap.xml"] = Page(
        f"<sitemapindex>{index}</sitemapindex>".encode(), type="application/xml"
    )
    return Place(SitemapSource(f"{SITE}/sitemap.xml"), Web(pages), lambda address: "/p/" in address)


def feed_place(numbers: list[int], odd: int) -> Place:
    """Pages of three entries each."""
    size = 3
    parts = [numbers[n : n + size] for n in range(0, len(numbers), size)] or [[]]
    pages: dict[str, Any] = {f"{SITE}/p/{n}": article(f"Page {n}") for n in numbers}
    for number, part in enumerate(parts):
        following = f'<link rel="next" href="{SITE}/feed?{number + 1}"/>' if number + 1 < len(parts) else ""
        entries = "".join(
            f"<entry><id>urn:{n}</id><title>T {n}</title><link href='{SITE}/p/{n}'/>"
            f"<summary>{'слово ' * (300 if n % 4 == odd % 4 else 3)}.</summary></entry>"
            for n in part
        )
        body = f'<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title>{following}{entries}</feed>'
        pages[f"{SITE}/feed?{number}" if number else f"{SITE}/feed"] = Page(
            body.encode(), type="application/atom+xml", etag=f'"{number}"'
        )
    return Place(FeedSource(f"{SITE}/feed"), Web(pages), lambda address: "/p/" in address)


def oai_place(numbers: list[int], odd: int) -> Place:
    """Some records with a file behind them, some deleted."""
    items = []
    pages: dict[str, Any] = {}
    for n in numbers:
        fields = {"title": [f"Т {n}"], "description": ["Слова."]}
        if n % 2 == odd % 2:
            fields["identifier"] = [f"{SITE}/p/{n}.pdf"]
            pages[f"{SITE}/p/{n}.pdf"] = Page(f"%PDF-1.4 {n}".encode(), type="application/pdf")
        items.append(OaiItem(n, f"2026-01-01T00:{n % 60:02d}:00Z", deleted=n % 9 == 4, fields=fields))
    repository = Repository(items, in_order=bool(odd % 2), date="2026-01-01T12:00:00Z")
    return Place(OaiSource(OAI), Web(pages | {f"{OAI}?*": repository}), lambda address: "/p/" in address)


def wiki_place(numbers: list[int], odd: int) -> Place:
    articles = {
        n + 1: Article(n + 1, f"Page {n}", redirect=n % 6 == odd % 6, noindex=n % 8 == 5) for n in numbers
    }
    there = Wiki(articles, batch=4)
    return Place(
        WikiSource(API, pause=lambda _: None),
        Web({f"{API}?*": there}),
        lambda address: "action=parse" in address,
    )


PLACES = {"sitemap": sitemap_place, "feed": feed_place, "oai": oai_place, "wiki": wiki_place}


@contextmanager
def small_steps() -> Iterator[None]:
    """Checkpoints after every second document, so that there are many to be killed at."""
    with ExitStack() as stack:
        for module in (sitemap, feed, oai, wiki):
            stack.enter_context(patch.object(module, "EVERY", 2))
        yield


def texts(shelf: Shelf) -> dict[str, Any]:
    return {id: (one.data, one.text, one.title, one.version) for id, one in shelf.documents.items()}


numbers = st.lists(st.integers(0, 59), unique=True, max_size=20)


@pytest.mark.parametrize("kind", PLACES)
@settings(max_examples=40)
@given(numbers=numbers, odd=st.integers(0, 10), data=st.data())
def test_a_killed_walk_is_taken_up_again(
    kind: str, numbers: list[int], odd: int, data: st.DataObject
) -> None:
    with small_steps():
        straight = Shelf()
        straight.fill(PLACES[kind](numbers, odd).source, PLACES[kind](numbers, odd).web)
        place, killed = PLACES[kind](numbers, odd), Shelf()
        for _ in range(data.draw(st.integers(1, 3), label="kills")):
            killed.fill(place.source, place.web, kill_after=data.draw(st.integers(0, 6), label="checkpoints"))
        killed.fill(place.source, place.web)
        assert texts(killed) == texts(straight)


@pytest.mark.parametrize("kind", PLACES)
@settings(max_examples=40)
@given(numbers=numbers, odd=st.integers(0, 10))
def test_a_second_walk_over_the_same_finds_nothing(kind: str, numbers: list[int], odd: int) -> None:
    place, shelf = PLACES[kind](numbers, odd), Shelf()
    shelf.fill(place.source, place.web)
    before, state = texts(shelf), shelf.state
    place.web.asked.clear()
    place.web.not_modified.clear()
    items = shelf.fill(place.source, place.web)
    allowed = (
        (Unchanged, Complete) if kind != "sitemap" else (Unchanged, Complete, Failed)
    )  # copies without a date
    assert all(isinstance(one, allowed) for one in told(items))
    assert texts(shelf) == before
    assert shelf.state.keys() == state.keys()
    if kind != "sitemap":  # pages without a date are asked for "only if changed"
        assert not [address for address in place.web.asked if place.is_document(address)]


@pytest.mark.parametrize("kind", PLACES)
@settings(max_examples=40)
@given(numbers=numbers, odd=st.integers(0, 10), order=st.randoms(use_true_random=False))
def test_the_order_of_the_list_is_no_matter(kind: str, numbers: list[int], odd: int, order: Any) -> None:
    shuffled = list(numbers)
    order.shuffle(shuffled)
    one, other = Shelf(), Shelf()
    for shelf, listed in ((one, numbers), (other, shuffled)):
        place = PLACES[kind](listed, odd)
        shelf.fill(place.source, place.web)
    ids = (set(one.documents), set(other.documents))
    assert ids[0] == ids[1]


@pytest.mark.parametrize("kind", ["sitemap", "feed"])
@settings(max_examples=40)
@given(numbers=numbers, odd=st.integers(0, 10), bad=st.sets(st.integers(0, 59), max_size=5))
def test_what_failed_comes_in_the_next_walk(kind: str, numbers: list[int], odd: int, bad: set[int]) -> None:
    straight = Shelf()
    straight.fill(PLACES[kind](numbers, odd).source, PLACES[kind](numbers, odd).web)
    place, shelf = PLACES[kind](numbers, odd), Shelf()
    whole = dict(place.web.pages)
    for n in bad & set(numbers):
        place.web.pages[f"{SITE}/p/{n}"] = NoAnswer("cut")
    shelf.fill(place.source, place.web)
    place.web.pages = whole
    shelf.fill(place.source, place.web)
    assert set(shelf.documents) == set(straight.documents)


@given(
    st.text(st.sampled_from("abZ019-._~%/?#:@ &=[]\u0436й"), max_size=40),
    st.sampled_from(["", "http://h.test/a/b", "https://h.test"]),
    st.sampled_from(["", "http://", "https://x.test/", "//", "HTTP://x.test:80"]),
)
def test_an_address_has_one_spelling(text: str, base: str, start: str) -> None:
    cleaned = addresses.clean(start + text, base=base)
    assert cleaned.isascii()
    assert addresses.clean(cleaned) == cleaned
    assert not cleaned or addresses._spell(cleaned, "") == cleaned  # the short way agrees with the long one


hostile = st.one_of(
    st.binary(max_size=300),
    st.text(
        st.sampled_from("<>/&;![]-CDATA\"'= ?xmlurlsetlocfeedentryrssitemOAI-PMH{}:,0"), max_size=300
    ).map(str.encode),
)


@given(hostile)
def test_readers_raise_one_error_only(body: bytes) -> None:
    for read in (parse_sitemap, parse_feed, parse_page):
        try:
            read(body, f"{SITE}/x")
        except (InputUnreadable, oai._ProtocolError) as error:
            assert str(error)
    assert isinstance(article_text(body.decode("utf-8", "replace")), str)


GOOD = [
    b'<urlset><url><loc>https://site.test/1</loc></url></urlset>',
    b'<rss version="2.0"><channel><item><title>x</title><link>https://site.test/1</link></item></channel></rss>',
    b'<OAI-PMH><ListRecords><record><header><identifier>oai:1</identifier></header></record></ListRecords></OAI-PMH>',
]  # fmt: skip


@given(st.sampled_from(GOOD), st.integers(0, 120), st.binary(max_size=4))
def test_bytes_that_were_damaged(body: bytes, at: int, dirt: bytes) -> None:
    test_readers_raise_one_error_only.hypothesis.inner_test(body[:at] + dirt + body[at + len(dirt) :])  # type: ignore[attr-defined]


def test_the_law_can_fail() -> None:
    """The shelf of these tests forgets what came after the last checkpoint: otherwise nothing could be lost."""
    place, shelf = sitemap_place(list(range(1, 9)), 1), Shelf()
    with small_steps():
        shelf.fill(place.source, place.web, kill_after=2)
    assert 0 < len(shelf.documents) < 7
    assert not of(Gone, []) and not of(Found, [])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.lists(
        st.tuples(st.sampled_from(["query", "parse", "continue", "error", "pages", "text"]), json_values),
        max_size=3,
    )
)
def test_a_wiki_that_answers_nonsense(pairs: list[tuple[str, Any]]) -> None:
    """It ends with an error of its own or with outcomes, whatever stands where something else should."""

    class Nonsense(Wiki):
        def answer(self, asked: dict[str, str]) -> dict[str, Any]:
            got = super().answer(asked)
            if len(self.asked) == 1:  # so much must be right that it is taken for a wiki
                return got
            for name, value in pairs:
                if name in ("pages", "text"):
                    holder = got.get("query" if name == "pages" else "parse")
                    if isinstance(holder, dict):
                        holder[name] = value
                else:
                    got[name] = value
            return got

    there = Nonsense({1: Article(1, "A"), 2: Article(2, "B")})
    shelf = Shelf(state={"since": "2026-02-28T00:00:00Z"} if len(pairs) % 2 else {})
    with suppress(InputUnreadable):
        shelf.fill(WikiSource(API, pause=lambda _: None, depth=1), Web({f"{API}?*": there}))
