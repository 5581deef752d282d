"""Feeds of all kinds: what an entry becomes, and what is asked for again."""

from __future__ import annotations

import gzip
import json
import time

import pytest

from doublet.errors import ConfigError, InputUnreadable
from doublet.sources import feed as feeds
from doublet.sources.feed import FeedSource, is_feed, parse_feed
from doublet.sources.protocol import Failed, Found, Unchanged
from doublet.text.read import read_document
from source_shelf import Forbidden, NoAnswer, Page, Shelf, Web, article, of, told

pytestmark = pytest.mark.covers("L7")

SITE = "https://news.test"
FEED = f"{SITE}/feed"
LONG = "Электронная библиотека хранит рукописи, диссертации и труды конференций. " * 30


def rss(*items: str, more: str = "") -> bytes:
    return (
        '<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" '
        'xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>News</title>'
        f"<link>{SITE}/</link><description>d</description>{more}{''.join(items)}</channel></rss>"
    ).encode()


def item(
    number: int, *, body: str = "A summary.", guid: str = "", date: str = "Thu, 01 Jan 2026 10:00:00 +0300"
) -> str:
    return (
        f"<item><title>Title {number}</title><link>{SITE}/{number}</link><description>{body}</description>"
        f"<guid isPermaLink='false'>{guid or f'urn:news:{number}'}</guid><pubDate>{date}</pubDate></item>"
    )


def xml(body: bytes, **more: str) -> Page:
    return Page(body, type="application/rss+xml", **more)


def news(number: int = 3) -> Web:
    pages = {f"{SITE}/{n}": article(f"Page {n}") for n in range(number)}
    return Web(pages | {FEED: xml(rss(*[item(n) for n in range(number)]))})


def test_it_works() -> None:
    shelf = Shelf()
    items = shelf.fill(FeedSource(FEED), news())
    found = of(Found, items)
    assert [one.id for one in found] == [f"urn:news:{n}" for n in range(3)]
    assert found[0].address == f"{SITE}/0"
    assert found[0].title == "Title 0"
    assert found[0].time == "2026-01-01T07:00:00Z"
    assert b"manuscripts" in found[0].data


def test_a_second_walk_asks_for_nothing_but_the_feed() -> None:
    web, shelf = news(), Shelf()
    shelf.fill(FeedSource(FEED), web)
    web.asked.clear()
    items = shelf.fill(FeedSource(FEED), web)
    assert {type(one) for one in told(items)} == {Unchanged}
    assert web.asked == [FEED]


def test_a_feed_that_is_unchanged_is_not_read() -> None:
    web, shelf = news(), Shelf()
    web.pages[FEED].modified = "Thu, 01 Jan 2026 07:00:00 GMT"
    shelf.fill(FeedSource(FEED), web)
    assert list(told(shelf.fill(FeedSource(FEED), web))) == []
    assert web.not_modified == [FEED]


def test_a_new_and_a_changed_entry() -> None:
    web, shelf = news(), Shelf()
    web.pages[FEED].etag = "a"
    shelf.fill(FeedSource(FEED), web)
    web.pages[f"{SITE}/9"] = article("Page 9")
    web.pages[FEED] = xml(rss(item(9), item(0), item(1, body="Another summary.")), etag="b")
    web.asked.clear()
    items = shelf.fill(FeedSource(FEED), web)
    assert web.asked == [FEED, f"{SITE}/9", f"{SITE}/1"]
    assert [one.id for one in of(Found, items)] == ["urn:news:9", "urn:news:1"]
    assert "urn:news:2" in shelf.documents  # no longer in the feed, and not gone


def test_a_failed_page_is_asked_for_again() -> None:
    web, shelf = news(), Shelf()
    web.pages[FEED].etag = "a"
    web.pages[f"{SITE}/1"] = NoAnswer("cut")
    assert [one.id for one in of(Failed, shelf.fill(FeedSource(FEED), web))] == ["urn:news:1"]
    web.pages[f"{SITE}/1"] = article("Page 1")
    assert [one.id for one in of(Found, shelf.fill(FeedSource(FEED), web))] == ["urn:news:1"]


@pytest.mark.parametrize("follow", ["auto", "always", "never"])
def test_where_the_text_comes_from(follow: str) -> None:
    whole = f"<content:encoded xmlns:content='http://purl.org/rss/1.0/modules/content/'><![CDATA[<p>{LONG}</p>]]></content:encoded>"
    first = item(0).replace("</item>", f"{whole}</item>")
    web = Web({FEED: xml(rss(first, item(1))), f"{SITE}/0": article("0"), f"{SITE}/1": article("1")})
    found = of(Found, Shelf().fill(FeedSource(FEED, follow=follow), web))
    pages = {"auto": [f"{SITE}/1"], "always": [f"{SITE}/0", f"{SITE}/1"], "never": []}[follow]
    assert web.asked[1:] == pages
    if follow != "always":
        assert (
            read_document(found[0].data, declared_type="text/html; charset=utf-8").text.split()
            == LONG.split()
        )


@pytest.mark.parametrize("ending", ["…", "[…]", " ... ", "Читать далее →", "<a href='#'>Read more</a>"])
def test_a_text_that_breaks_off_is_not_the_whole(ending: str) -> None:
    body = f"<![CDATA[<p>{LONG}{ending}</p>]]>"
    web = Web({FEED: xml(rss(item(0, body=body))), f"{SITE}/0": article("0")})
    Shelf().fill(FeedSource(FEED), web)
    assert web.asked == [FEED, f"{SITE}/0"]


def test_a_closed_page_leaves_what_the_feed_says() -> None:
    body = "Одно слово за другим. " * 12
    web = Web(
        {
            FEED: xml(rss(item(0, body=body), item(1))),
            f"{SITE}/0": Forbidden("no"),
            f"{SITE}/1": Forbidden("no"),
        }
    )
    items = Shelf().fill(FeedSource(FEED), web)
    assert [one.id for one in of(Found, items)] == ["urn:news:0"]
    assert [(one.id, one.state) for one in of(Failed, items)] == [("urn:news:1", "refused")]


KINDS = {
    "rss 0.91": f'<rss version="0.91"><channel><title>N</title><item><title>Т</title><link>{SITE}/a</link><description>текст</description></item></channel></rss>',
    "rss 0.90": f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/"><channel><title>N</title></channel><item><title>Т</title><link>{SITE}/a</link><description>текст</description></item></rdf:RDF>',
    "rss 1.0": f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="{SITE}"><title>N</title></channel><item rdf:about="{SITE}/a"><title>Т</title><link>{SITE}/a</link><description>текст</description></item></rdf:RDF>',
    "rss 2.0": f'<rss version="2.0"><channel><title>N</title><item><title>Т</title><link>{SITE}/a</link><description>текст</description><guid>{SITE}/a</guid></item></channel></rss>',
    "atom": f'<feed xmlns="http://www.w3.org/2005/Atom"><title>N</title><entry><id>{SITE}/a</id><title>Т</title><link href="/a"/><summary>текст</summary><updated>2026-01-01T00:00:00Z</updated></entry></feed>',
    "no declaration": '\n <rss><channel><item><title>Т</title><link>/a</link><description>текст</description></item></channel></rss>',
    "stray ampersand": f'<rss version="2.0"><channel><title>A & B</title><item><title>Т</title><link>{SITE}/a</link><description>текст</description></item></channel></rss>',
    "cut short": f'<rss version="2.0"><channel><title>N</title><item><title>Т</title><link>{SITE}/a</link><description>текст</description></item>',
    "json": json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "N", "items": [{"id": f"{SITE}/a", "url": f"{SITE}/a", "title": "Т", "content_text": "текст"}]}),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251", "koi8-r", "utf-8-sig"])
def test_every_kind_in_every_encoding(kind: str, encoding: str) -> None:
    text = KINDS[kind]
    if kind in ("json", "no declaration"):  # nothing could say that it is another
        encoding = "utf-8-sig" if encoding == "utf-8-sig" else "utf-8"
    elif encoding != "utf-8-sig":
        text = f'<?xml version="1.0" encoding="{encoding}"?>{text}'
    declared = "application/xml" if kind != "json" else "application/feed+json"
    (entry,) = parse_feed(text.encode(encoding), FEED, declared_type=declared).entries
    assert (entry.id, entry.address, entry.title, entry.content) == (f"{SITE}/a", f"{SITE}/a", "Т", "текст")
    assert is_feed(text.encode(encoding))


def test_the_charset_of_the_server() -> None:
    body = KINDS["rss 2.0"].encode("windows-1251")
    (entry,) = parse_feed(body, FEED, declared_type="application/xml; charset=windows-1251").entries
    assert entry.content == "текст"


def test_ids_that_mean_something_in_one_feed_only() -> None:
    web = Web({FEED: xml(rss(item(0, guid="77"))), f"{SITE}/0": article("0")})
    (found,) = of(Found, Shelf().fill(FeedSource(FEED), web))
    assert found.id == f"{FEED}#77"


def test_pages_of_a_feed_are_followed_until_nothing_is_new() -> None:
    def turned(number: int, *entries: str) -> Page:
        more = f'<atom:link rel="next" href="{FEED}?p={number + 1}"/>' if number < 4 else ""
        return xml(rss(*entries, more=more))

    web = Web({f"{SITE}/{n}": article(str(n)) for n in range(9)})
    web.pages |= {
        FEED if n == 1 else f"{FEED}?p={n}": turned(n, item(2 * n - 1), item(2 * n)) for n in (1, 2, 3, 4)
    }
    shelf = Shelf()
    assert len(of(Found, shelf.fill(FeedSource(FEED), web))) == 8
    web.asked.clear()
    shelf.fill(FeedSource(FEED), web)
    assert web.asked == [FEED]
    web.pages[FEED] = turned(1, item(0), item(1))
    web.asked.clear()
    assert [one.id for one in of(Found, shelf.fill(FeedSource(FEED), web))] == ["urn:news:0"]
    assert web.asked == [FEED, f"{SITE}/0", f"{FEED}?p=2"]


def test_a_feed_that_leads_to_itself() -> None:
    web = Web(
        {FEED: xml(rss(item(0), more=f'<atom:link rel="next" href="{FEED}"/>')), f"{SITE}/0": article("0")}
    )
    assert len(of(Found, Shelf().fill(FeedSource(FEED), web))) == 1


@pytest.mark.covers("L1")
def test_clarifications() -> None:
    web = news()
    assert [one.address for one in of(Found, Shelf().fill(FeedSource(FEED, only=["/2"]), web))] == [
        f"{SITE}/2"
    ]


@pytest.mark.parametrize(
    "body",
    [b"", b"<html><body>x</body></html>", b"{}", b'{"items": 3}', b"{", b"<urlset><url/></urlset>", b"\x00\xff", b"plain words"],
)  # fmt: skip
def test_what_is_no_feed(body: bytes) -> None:
    with pytest.raises(InputUnreadable, match=r"news\.test/feed"):
        Shelf().fill(FeedSource(FEED), Web({FEED: xml(body)}))


def test_an_empty_feed_is_an_answer() -> None:
    assert list(told(Shelf().fill(FeedSource(FEED), Web({FEED: xml(rss())})))) == []
    assert parse_feed(b'{"version": "x", "items": []}', FEED).entries == ()


def test_json_feeds_with_odd_items() -> None:
    got = {
        "items": [3, {"id": 5, "content_html": "<b>x</b>"}, {"id": None, "url": "/q"}, {}],
        "next_url": "?p=2",
    }
    feed = parse_feed(json.dumps(got).encode(), FEED)
    assert [entry.id for entry in feed.entries][:2] == [f"{FEED}#5", f"{SITE}/q"]
    assert feed.next == f"{FEED}?p=2"
    items = Shelf().fill(
        FeedSource(FEED, max_pages=1), Web({FEED: Page(json.dumps(got).encode(), type="application/json")})
    )
    assert [type(one) for one in told(items)] == [Found, Failed, Failed]


def test_a_packed_feed() -> None:
    assert len(parse_feed(gzip.compress(rss(item(0))), FEED).entries) == 1


def test_hostile_feeds_cost_little(tmp_path) -> None:  # type: ignore[no-untyped-def]
    secret = tmp_path / "secret"
    secret.write_text("password")
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    start = time.monotonic()
    for body in (
        f'<!DOCTYPE r [<!ENTITY l0 "lol">{laughs}]>'.encode() + rss(item(0, body="&l9;")).split(b"?>", 1)[1],
        f'<!DOCTYPE r [<!ENTITY x SYSTEM "file://{secret}">]>'.encode()
        + rss(item(0, body="&x;")).split(b"?>", 1)[1],
        b"<rss><channel><item>" + b"<b>" * 4_000,
        b"<rss><channel><item><title>" + b"&" * 30_000,
        b"<rss><channel><item><title>" + b"<" * 50_000,
        rss(*[item(n) for n in range(300)]),
    ):
        try:
            read = parse_feed(body, FEED)
        except InputUnreadable:
            continue
        assert all(
            "password" not in entry.content and len(entry.content) < 2_000_000 for entry in read.entries
        )
    assert time.monotonic() - start < 30


def test_more_entries_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "MAX_ENTRIES", 2)
    assert len(parse_feed(rss(*[item(n) for n in range(5)]), FEED).entries) == 2


def test_wrong_use() -> None:
    with pytest.raises(ConfigError, match="follow"):
        FeedSource(FEED, follow="sometimes")
    with pytest.raises(InputUnreadable):
        FeedSource("feed.xml")
    with pytest.raises(NoAnswer):
        Shelf().fill(FeedSource(FEED), Web({FEED: NoAnswer("no such host")}))
    with pytest.raises(InputUnreadable, match="404"):
        Shelf().fill(FeedSource(FEED), Web({}))
