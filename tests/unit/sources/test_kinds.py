"""What a user means by an address; single pages; and times as servers write them."""

from __future__ import annotations

import pytest

from doublet.errors import InputUnreadable, InvalidParameter
from doublet.sources.kinds import KINDS, WEB_KINDS, make_source, options_of, tell_source
from doublet.sources.page import PageSource
from doublet.sources.protocol import Failed, Found, Gone, Source, Unchanged
from doublet.sources.web import iso_time
from oai_repository import BASE as OAI
from oai_repository import Repository, some
from source_shelf import NoAnswer, Page, Shelf, Web, article, of, page
from wiki_site import API, FRONT, Article, wiki

pytestmark = pytest.mark.covers("L7", "L9")

SITE = "https://site.test"
URLSET = Page(f"<urlset><url><loc>{SITE}/1</loc></url></urlset>".encode(), type="application/xml")
RSS = Page(b'<rss version="2.0"><channel><title>x</title></channel></rss>', type="text/xml")


def everything() -> Web:
    there = wiki()
    there.articles[9] = Article(9, "Category:Books", namespace=14)
    edit = f'<link rel="EditURI" href="{API}?action=rsd">'
    feed = '<link rel="alternate" type="application/rss+xml" href="/feed">'
    return Web(
        {
            f"{OAI}?*": Repository(some(2)),
            "https://repo.test/provider?*": Repository(some(2)),
            "https://repo.test/provider": Page(b"<x/>", type="text/xml"),
            f"{API}?*": there,
            FRONT: article("Main", head=edit),
            "https://wiki.test/wiki/Page_2": article("Page 2", head=edit),
            "https://wiki.test/wiki/Category:Books": article("Category", head=edit),
            f"{SITE}/map": URLSET,
            f"{SITE}/feed": RSS,
            f"{SITE}/json": Page(
                b'{"version": "https://jsonfeed.org/version/1", "items": []}', type="application/json"
            ),
            f"{SITE}/": article("Front", head=feed),
            f"{SITE}/robots.txt": Page(f"Sitemap: {SITE}/map".encode(), type="text/plain"),
            f"{SITE}/post/1": article("Post", head=feed),
            f"{SITE}/1.pdf": Page(b"%PDF-1.4", type="application/pdf"),
            "https://blog.test/": article("Blog", head=feed),
            "https://plain.test/": article("A page and no more"),
            "https://down.test/": NoAnswer("no such host"),
        }
    )


@pytest.mark.parametrize(
    ("given", "kind", "address"),
    [
        (OAI, "oai", OAI),
        (f"{OAI}?verb=ListSets", "oai", OAI),
        ("https://repo.test/provider", "oai", "https://repo.test/provider"),
        (API, "wiki", API),
        (f"{API}?action=help", "wiki", API),
        (FRONT, "wiki", API),
        (f"{SITE}/map", "sitemap", f"{SITE}/map"),
        (f"{SITE}/robots.txt", "sitemap", f"{SITE}/robots.txt"),
        (f"{SITE}/", "sitemap", f"{SITE}/robots.txt"),
        ("HTTPS://Site.test", "sitemap", f"{SITE}/robots.txt"),
        (f"{SITE}/feed", "feed", f"{SITE}/feed"),
        (f"{SITE}/json", "feed", f"{SITE}/json"),
        ("https://blog.test/", "feed", "https://blog.test/feed"),
        (f"{SITE}/post/1", "page", f"{SITE}/post/1"),  # one page of a site that has a feed and a sitemap
        (f"{SITE}/1.pdf", "page", f"{SITE}/1.pdf"),
        ("https://plain.test/", "page", "https://plain.test/"),
    ],
)
def test_it_works(given: str, kind: str, address: str) -> None:
    source = tell_source(given, everything())
    assert isinstance(source, Source)
    assert (source.kind, source.address) == (kind, address)


def test_one_page_and_one_category_of_a_wiki() -> None:
    one = tell_source("https://wiki.test/wiki/Page_2", everything())
    assert one.titles == ("Page 2",)  # type: ignore[attr-defined]
    category = tell_source("https://wiki.test/wiki/Category:Books", everything(), depth=2)
    assert (category.category, category.depth) == ("Category:Books", 2)  # type: ignore[attr-defined]


def test_a_kind_that_is_named_is_not_looked_for() -> None:
    web = everything()
    assert tell_source(f"{SITE}/", web, "feed").kind == "feed"
    assert web.asked == []


def test_options_of_the_kind() -> None:
    source = tell_source(OAI, everything(), sets=["theses"], since=None)
    assert source.sets == ("theses",)  # type: ignore[attr-defined]
    assert options_of("sitemap") == ["only", "other_hosts", "trust_dates", "unlisted", "max_documents"]
    with pytest.raises(InvalidParameter, match=r"kind sitemap has no option 'sets'"):
        tell_source(f"{SITE}/map", everything(), sets=["theses"])
    with pytest.raises(InvalidParameter, match="did you mean 'sitemap'"):
        tell_source(f"{SITE}/map", everything(), "sitmap")


def test_what_cannot_be_had() -> None:
    with pytest.raises(NoAnswer):
        tell_source("https://down.test/", everything())
    with pytest.raises(InputUnreadable, match="404"):
        tell_source(f"{SITE}/nothing", everything())
    with pytest.raises(InputUnreadable, match="not an address"):
        tell_source("http://[bad", everything())


@pytest.mark.parametrize("kind", WEB_KINDS)
def test_every_kind_is_a_source(kind: str) -> None:
    source = make_source(kind, f"{SITE}/x")
    assert isinstance(source, Source)
    assert source.kind == kind
    assert kind in KINDS


# A single page


def test_a_page_and_the_same_page_again() -> None:
    web, shelf = everything(), Shelf()
    source = PageSource(f"{SITE}/post/1")
    (found,) = of(Found, shelf.fill(source, web))
    assert (found.id, found.title) == (f"{SITE}/post/1", "Post")
    assert [type(one) for one in shelf.fill(source, web)] == [Unchanged]
    web.pages[f"{SITE}/post/1"] = Page(article("Post").body, etag='"1"')
    shelf.fill(source, web)
    assert [type(one) for one in shelf.fill(source, web)] == [Unchanged]
    assert web.not_modified == [f"{SITE}/post/1"]
    web.pages[f"{SITE}/post/1"] = page("gone", status=410)
    assert [type(one) for one in shelf.fill(source, web)] == [Gone]


def test_a_page_that_was_moved_keeps_its_id() -> None:
    web = everything()
    web.pages[f"{SITE}/old"] = Page(moved_to=f"{SITE}/post/1")
    (found,) = of(Found, Shelf().fill(PageSource(f"{SITE}/old"), web))
    assert (found.id, found.address) == (f"{SITE}/old", f"{SITE}/post/1")


def test_a_page_that_is_not_there() -> None:
    assert [one.state for one in of(Failed, Shelf().fill(PageSource(f"{SITE}/nothing"), everything()))] == [
        "failed"
    ]
    with pytest.raises(NoAnswer):
        Shelf().fill(PageSource("https://down.test/"), everything())
    with pytest.raises(InputUnreadable):
        PageSource("ftp://site.test/")


@pytest.mark.parametrize(
    ("given", "iso"),
    [
        ("2026-01-02", "2026-01-02"),
        ("2026", "2026"),
        ("2026-1", "2026-01"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02 03:04", "2026-01-02T03:04:00Z"),
        ("2026-01-02T03:04:05.678+03:00", "2026-01-02T00:04:05Z"),
        ("Fri, 02 Jan 2026 03:04:05 GMT", "2026-01-02T03:04:05Z"),
        ("Fri, 02 Jan 2026 03:04:05 +0300", "2026-01-02T00:04:05Z"),
        ("2026-13-40", ""),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_times(given: str, iso: str) -> None:
    assert iso_time(given) == iso
