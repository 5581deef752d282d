"""Sitemaps, feeds, repositories and wikis that mean harm: each costs itself only, and that within limits (R2)."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator

import pytest

from doublet.errors import InputUnreadable
from doublet.sources import apart, wiki, workers
from doublet.sources.feed import parse_feed
from doublet.sources.oai import _ProtocolError, parse_page
from doublet.sources.sitemap import SitemapSource, parse_sitemap
from doublet.sources.wiki import WikiSource, article_text
from doublet.sources.workers import ReaderPool
from source_shelf import Page, Shelf, Web
from wiki_site import API
from wiki_site import wiki as make_wiki

pytestmark = pytest.mark.covers("L7", "R2")

AT = "https://site.test/answer"
MEGABYTE = 1 << 20
SITEMAP = (
    "<urlset><url><loc>/1</loc><lastmod>2026-01-02</lastmod></url><sitemap><loc>/two</loc></sitemap></urlset>"
)
FEED = (
    '<rss version="2.0"><channel><title>Новости</title><item><title>Снег</title><link>/1</link><guid>x</guid>'
    "<description>О снеге.</description><pubDate>Fri, 02 Jan 2026 03:04:05 GMT</pubDate></item></channel></rss>"
)
OAI = (
    "<OAI-PMH><responseDate>2026-01-02T03:04:05Z</responseDate><ListRecords><record><header><identifier>a</identifier>"
    "<datestamp>2026-01-01</datestamp><setSpec>s</setSpec></header><metadata><dc><title>Снег</title></dc></metadata>"
    "</record><resumptionToken>t</resumptionToken></ListRecords></OAI-PMH>"
)


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReaderPool]:
    """Everything goes to readers in processes."""
    with ReaderPool(1, memory_bytes=1 << 30) as pool:
        monkeypatch.setattr(workers, "shared", lambda: pool)
        monkeypatch.setattr(apart, "SMALL_BYTES", dict.fromkeys(apart.PARSERS, 0))
        yield pool


def test_it_is_the_same_in_another_process(readers: ReaderPool, monkeypatch: pytest.MonkeyPatch) -> None:
    def everything() -> list[object]:
        found: list[object] = [
            parse_sitemap(SITEMAP.encode(), AT),
            parse_sitemap(gzip.compress(b"https://site.test/1\nhttps://site.test/2\n"), AT),
            parse_feed(FEED.encode(), AT),
            parse_page(OAI.encode(), AT),
            article_text("<h2>Снег</h2><p>Снег в городе.</p><div class=navbox>Меню</div>"),
        ]
        for broken in (b"<html>", b"", b"<urlset"):
            for parse in (parse_sitemap, parse_feed, parse_page):
                with pytest.raises(InputUnreadable) as caught:
                    parse(broken, AT)
                found.append(caught.value.message)
                assert caught.value.details["address"] == AT
        with pytest.raises(_ProtocolError) as refused:
            parse_page(b'<OAI-PMH><error code="badVerb">no</error></OAI-PMH>', AT)
        found.append(str(refused.value))
        return found

    apart_from_us = everything()
    monkeypatch.setattr(apart, "SMALL_BYTES", dict.fromkeys(apart.PARSERS, MEGABYTE))
    assert everything() == apart_from_us


def laughs(root: str, inner: str) -> str:
    levels = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    return f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "lol">{levels}]><{root}>{inner}</{root}>'


HOSTILE = {
    "nested": lambda root: f"<{root}><channel><item>" + "<a>" * (MEGABYTE // 2),
    "empty elements": lambda root: f"<{root}>" + "<a/>" * MEGABYTE,
    "entries": lambda root: f"<{root}><channel>" + "<item/>" * (MEGABYTE // 2),
    "attributes": lambda root: f"<{root} " + " ".join(f'a{n}="1"' for n in range(200_000)) + "/>",
    "entities": lambda root: laughs(
        root, "<channel><title>&a11;</title><url><loc>&a11;</loc></url></channel>"
    ),
    "brackets": lambda root: f"<{root}>" + "<" * 2 * MEGABYTE,
    "wrong encoding": lambda root: (
        f'<?xml version="1.0" encoding="utf-7"?><{root}>' + "+ADw-" * (MEGABYTE // 2)
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_answer_hangs_or_fills_the_memory(name: str, readers: ReaderPool) -> None:
    """Given up after the time it is allowed, or refused before; and the next one is read."""
    readers.timeout_s = 1.0
    for root, parse in (("urlset", parse_sitemap), ("rss", parse_feed), ("OAI-PMH", parse_page)):
        began = time.monotonic()
        try:
            parse(HOSTILE[name](root).encode()[: 8 * MEGABYTE], AT)
        except InputUnreadable as error:
            assert AT in error.message
        assert time.monotonic() - began < 20  # on a busy machine
    readers.timeout_s = 60.0
    assert parse_sitemap(SITEMAP.encode(), AT).pages[0].address == "https://site.test/1"


def test_large_answers_go_to_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Pool:
        def parse(self, what: str, data: bytes, options: dict[str, object]) -> object:
            asked.append(what)
            return apart.run(what, data, options)

    monkeypatch.setattr(workers, "shared", Pool)
    blanks = b" " * (2 * MEGABYTE)
    parse_sitemap(SITEMAP.encode() + blanks, AT)
    parse_sitemap(gzip.compress(SITEMAP.encode() + blanks), AT)
    parse_feed(FEED.encode() + blanks, AT)
    parse_page(OAI.encode() + blanks, AT)
    article_text("<p>Снег." + " " * 2 * MEGABYTE)
    parse_sitemap(SITEMAP.encode(), AT)
    assert asked == ["sitemap", "sitemap", "feed", "oai", "article"]


def test_a_sitemap_in_utf_16() -> None:
    declared = f'<?xml version="1.0" encoding="UTF-16"?>{SITEMAP}'
    assert parse_sitemap(declared.encode("utf-16"), AT) == parse_sitemap(SITEMAP.encode(), AT)


def test_what_does_not_belong_into_a_sitemap_is_not_gathered() -> None:
    found = parse_sitemap(f"<urlset>{'<x><y>z</y></x>' * 1000}{SITEMAP[8:]}".encode(), AT)
    assert found == parse_sitemap(SITEMAP.encode(), AT)


def test_sitemaps_that_name_each_other() -> None:
    def index(*names: str) -> Page:
        inner = "".join(f"<sitemap><loc>https://site.test/{name}</loc></sitemap>" for name in names)
        return Page(f"<sitemapindex>{inner}</sitemapindex>".encode(), type="application/xml")

    web = Web({f"https://site.test/{name}": index("a", "b", "c") for name in "abc"})
    Shelf().fill(SitemapSource("https://site.test/a"), web)
    assert sorted(web.asked) == [f"https://site.test/{name}" for name in "abc"]


def test_a_wiki_whose_list_never_ends() -> None:
    """New places to go on from, and never a page."""
    there = make_wiki()
    parts = 0

    def endless(asked: dict[str, str]) -> dict[str, object]:
        nonlocal parts
        parts += 1
        return {"continue": {"gapcontinue": str(parts)}, "query": {"pages": []}}

    there.pages = endless  # type: ignore[method-assign]
    shelf = Shelf()
    shelf.fill(WikiSource(API, pause=lambda _: None), Web({f"{API}?*": there}))
    assert parts == wiki.MAX_EMPTY + 1
    assert any("without a page" in str(failed.reason) for failed in shelf.failed.values())


def test_an_answer_of_a_wiki_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiki, "MAX_ANSWER", 100)
    there = make_wiki()
    with pytest.raises(InputUnreadable, match="the limit is 100"):
        Shelf().fill(WikiSource(API), Web({f"{API}?*": there}))
    assert len(json.dumps(there.answer({"meta": "siteinfo"}))) > 100
