"""Tuned numbers of sources, from both sides: one that is halved or doubled changes an answer here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from doublet.sources import oai, sitemap
from doublet.sources.feed import FeedSource
from doublet.sources.protocol import Failed, Found
from doublet.sources.whole_page import read_whole_page
from source_shelf import Forbidden, Page, Shelf, Web, article, of

pytestmark = pytest.mark.covers("L7")

SITE = "https://news.test"
FEED = f"{SITE}/feed"


def feed(words: int) -> Page:
    body = " ".join(["word"] * words)
    entry = f"<item><title>T</title><link>{SITE}/0</link><description>{body}</description></item>"
    return Page(
        f'<rss version="2.0"><channel><title>N</title>{entry}</channel></rss>'.encode(),
        type="application/rss+xml",
    )


@pytest.mark.parametrize(("words", "asked"), [(190, [FEED, f"{SITE}/0"]), (210, [FEED])])
def test_an_entry_of_two_hundred_words_is_the_whole_article(words: int, asked: list[str]) -> None:
    web = Web({FEED: feed(words), f"{SITE}/0": article("A page")})
    Shelf().fill(FeedSource(FEED), web)
    assert web.asked == asked


@pytest.mark.parametrize(("words", "kind"), [(28, Failed), (32, Found)])
def test_thirty_words_are_kept_for_want_of_the_page(words: int, kind: type) -> None:
    web = Web({FEED: feed(words), f"{SITE}/0": Forbidden("no")})
    assert len(of(kind, Shelf().fill(FeedSource(FEED), web))) == 1


def test_a_record_is_tried_again_three_times() -> None:
    walk: Any = SimpleNamespace(again={})
    left = []
    for _ in range(4):
        oai._Walk._remember(walk, "record", True)
        left.append(dict(walk.again))
    assert left == [{"record": 1}, {"record": 2}, {"record": 3}, {}]


@pytest.mark.parametrize(("seen", "begin"), [(190, ""), (210, "2026-01-05T00:00:00Z")])
def test_two_hundred_records_in_order_make_a_list_in_order(seen: int, begin: str) -> None:
    walk: Any = SimpleNamespace(_in_form=str)
    given = oai._List("", latest="2026-01-05T00:00:00Z", seen=seen)
    oai._Walk._restart(walk, given)
    assert given.begin == begin


@pytest.mark.parametrize(("words", "article"), [(380, False), (420, True)])
def test_a_page_of_four_hundred_words_is_an_article(words: int, article: bool) -> None:
    body = f"<html><body><article><p>{'A word of a sentence. ' * (words // 5)}</p></article></body></html>"
    answer = SimpleNamespace(
        address=f"{SITE}/0",
        headers={"content-type": "text/html; charset=utf-8"},
        body=body.encode(),
        status=200,
    )
    walk: Any = SimpleNamespace(_fetch=lambda _address: (answer, False))
    assert oai._Walk._full_text(walk, f"{SITE}/0") == (answer if article else None, False)


@pytest.mark.parametrize(("pages", "made"), [(19, False), (20, True)])
def test_twenty_pages_of_one_day_say_when_a_sitemap_was_made(pages: int, made: bool) -> None:
    walk: Any = SimpleNamespace()
    listed: Any = SimpleNamespace(pages=[SimpleNamespace(changed="2026-03-05")] * pages)
    sitemap._Walk._look_at_the_clock(walk, SimpleNamespace(headers={}), listed)  # type: ignore[arg-type]
    assert walk.dates_of_making is made


@pytest.mark.parametrize(("linked", "counted"), [(45, True), (55, False)])
def test_a_block_with_half_of_its_letters_in_links_is_a_list(linked: int, counted: bool) -> None:
    def blocks(more: str) -> int:
        page = f"<html><body><p>{'Some words that are here. ' * 9}</p>{more}</body></html>"
        return len(
            read_whole_page(page.encode(), address=f"{SITE}/0", headers={"content-type": "text/html"})[
                "blocks"
            ]
        )

    block = f"<p><a href='/1'>{'a' * linked}</a>{'b' * (100 - linked)}</p>"
    assert blocks(block) - blocks("") == counted
