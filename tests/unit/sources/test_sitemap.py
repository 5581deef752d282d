"""Sitemaps: what is read, what is asked for again, and what bad ones cost."""

from __future__ import annotations

import gzip

import pytest

from doublet.errors import ConfigError, InputUnreadable, SourceError
from doublet.sources import sitemap as sitemaps
from doublet.sources.protocol import Checkpoint, Complete, Failed, Found, Gone, Unchanged
from doublet.sources.sitemap import Entry, SitemapSource, parse_sitemap
from source_shelf import Forbidden, NoAnswer, Page, Shelf, Web, article, of, page, told

pytestmark = pytest.mark.covers("L7")

SITE = "https://site.test"
MAP = f"{SITE}/sitemap.xml"
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def urlset(*entries: tuple[str, str] | str, namespace: str = NAMESPACE) -> bytes:
    rows = ""
    for entry in entries:
        where, changed = entry if isinstance(entry, tuple) else (entry, "")
        rows += f"<url><loc>{where}</loc>{f'<lastmod>{changed}</lastmod>' if changed else ''}</url>"
    opening = f'<urlset xmlns="{namespace}">' if namespace else "<urlset>"
    return f'<?xml version="1.0" encoding="UTF-8"?>{opening}{rows}</urlset>'.encode()


def index(*addresses: str) -> bytes:
    rows = "".join(f"<sitemap><loc>{one}</loc><lastmod>2026-01-01</lastmod></sitemap>" for one in addresses)
    return f'<sitemapindex xmlns="{NAMESPACE}">{rows}</sitemapindex>'.encode()


def xml(body: bytes, **more: str) -> Page:
    return Page(body, type="application/xml", **more)


def site(number: int = 3, *, dated: bool = True) -> Web:
    places = [f"{SITE}/post/{n}" for n in range(number)]
    rows = [(place, "2026-01-01") if dated else place for place in places]
    pages: dict[str, Page] = {place: article(f"Post {n}") for n, place in enumerate(places)}
    return Web(pages | {MAP: xml(urlset(*rows))})


def test_it_works() -> None:
    web = site()
    shelf = Shelf()
    items = shelf.fill(SitemapSource(MAP), web)
    found = of(Found, items)
    assert [one.id for one in found] == [f"{SITE}/post/{n}" for n in range(3)]
    assert found[1].title == "Post 1"
    assert found[1].version == "2026-01-01"
    assert found[1].media_type == "text/html"
    assert found[1].charset == "utf-8"
    assert isinstance(items[-2], Checkpoint) and isinstance(items[-1], Complete)


def test_a_second_walk_asks_for_nothing_but_the_sitemap() -> None:
    web, shelf = site(), Shelf()
    shelf.fill(SitemapSource(MAP), web)
    web.asked.clear()
    items = shelf.fill(SitemapSource(MAP), web)
    assert web.asked == [MAP]
    assert {type(item) for item in told(items)} == {Unchanged}


def test_a_changed_date_is_asked_for_and_a_new_page_is_found() -> None:
    web, shelf = site(), Shelf()
    shelf.fill(SitemapSource(MAP), web)
    web.pages[f"{SITE}/post/9"] = article("Post 9")
    web.pages[MAP] = xml(
        urlset(
            (f"{SITE}/post/0", "2026-01-01"),
            (f"{SITE}/post/1", "2026-02-02"),
            (f"{SITE}/post/9", "2026-02-02"),
        )
    )
    web.asked.clear()
    items = shelf.fill(SitemapSource(MAP, unlisted="keep"), web)
    assert web.asked == [MAP, f"{SITE}/post/1", f"{SITE}/post/9"]
    assert [one.id for one in of(Found, items)] == [f"{SITE}/post/1", f"{SITE}/post/9"]
    assert [one.id for one in of(Unchanged, items)] == [f"{SITE}/post/0"]


def test_a_changed_date_on_an_unchanged_page_is_remembered() -> None:
    web, shelf = site(1), Shelf()
    web.pages[f"{SITE}/post/0"].etag = '"one"'
    shelf.fill(SitemapSource(MAP), web)
    web.pages[MAP] = xml(urlset((f"{SITE}/post/0", "2026-05-05")))
    assert of(Unchanged, shelf.fill(SitemapSource(MAP), web))[0].version == "2026-05-05"
    web.asked.clear()
    shelf.fill(SitemapSource(MAP), web)
    assert web.asked == [MAP]


def test_pages_without_dates_are_asked_for_only_if_changed() -> None:
    web, shelf = site(2, dated=False), Shelf()
    web.pages[f"{SITE}/post/0"].etag = '"one"'
    shelf.fill(SitemapSource(MAP), web)
    items = shelf.fill(SitemapSource(MAP), web)
    assert web.not_modified == [f"{SITE}/post/0"]
    assert [one.id for one in of(Unchanged, items)] == [f"{SITE}/post/0", f"{SITE}/post/1"]
    web.pages[f"{SITE}/post/1"] = article("Post 1, second edition")
    assert [one.id for one in of(Found, shelf.fill(SitemapSource(MAP), web))] == [f"{SITE}/post/1"]


def test_dates_that_are_not_trusted() -> None:
    web, shelf = site(1), Shelf()
    source = SitemapSource(MAP, trust_dates=False)
    shelf.fill(source, web)
    web.pages[f"{SITE}/post/0"] = article("Changed, with the old date")
    assert len(of(Found, shelf.fill(source, web))) == 1


def test_a_sitemap_that_is_unchanged_is_not_read_again() -> None:
    web, shelf = site(), Shelf()
    web.pages[MAP] = xml(web.pages[MAP].body, etag='"map"')
    shelf.fill(SitemapSource(MAP), web)
    assert list(told(shelf.fill(SitemapSource(MAP), web))) == []
    assert web.not_modified == [MAP]


def test_a_sitemap_with_a_failed_page_is_read_again() -> None:
    web, shelf = site(), Shelf()
    web.pages[MAP] = xml(web.pages[MAP].body, etag='"map"')
    web.pages[f"{SITE}/post/1"] = NoAnswer("the connection was lost")
    items = shelf.fill(SitemapSource(MAP), web)
    assert [(one.id, one.state) for one in of(Failed, items)] == [(f"{SITE}/post/1", "failed")]
    web.pages[f"{SITE}/post/1"] = article("Post 1")
    assert [one.id for one in of(Found, shelf.fill(SitemapSource(MAP), web))] == [f"{SITE}/post/1"]


def test_an_undated_sitemap_that_is_unchanged_is_read_all_the_same() -> None:
    web, shelf = site(dated=False), Shelf()
    web.pages[MAP] = xml(web.pages[MAP].body, etag='"map"')
    shelf.fill(SitemapSource(MAP), web)
    web.pages[f"{SITE}/post/1"] = article("Changed")
    assert [one.id for one in of(Found, shelf.fill(SitemapSource(MAP), web))] == [f"{SITE}/post/1"]


def test_index_gzip_and_text() -> None:
    packed, text = f"{SITE}/a.xml.gz", f"{SITE}/b.txt"
    web = Web(
        {
            MAP: xml(index(packed, text, f"{SITE}/gone.xml", MAP)),
            packed: Page(gzip.compress(urlset(f"{SITE}/1")), type="application/gzip"),
            text: Page(b"\xef\xbb\xbf" + f"{SITE}/2\r\n\r\n{SITE}/3\n".encode(), type="text/plain"),
            **{f"{SITE}/{n}": article(str(n)) for n in (1, 2, 3)},
        }
    )
    items = Shelf().fill(SitemapSource(MAP), web)
    assert [one.id for one in of(Found, items)] == [f"{SITE}/{n}" for n in (1, 2, 3)]
    (failed,) = of(Failed, items)
    assert failed.id == f"{SITE}/gone.xml"
    assert "404" in str(failed.reason)
    assert web.asked.count(MAP) == 1  # the index that names itself


def test_an_index_without_end() -> None:
    def deeper(address: str) -> Page:
        return xml(index(address + "x"))

    web = Web({MAP: xml(index(f"{SITE}/m?1"))})
    for depth in range(1, 10):
        web.pages[f"{SITE}/m?1" + "x" * (depth - 1)] = deeper(f"{SITE}/m?1" + "x" * (depth - 1))
    items = Shelf().fill(SitemapSource(MAP), web)
    assert len(web.asked) == sitemaps.MAX_DEPTH + 1
    assert [one.state for one in of(Failed, items)] == ["too_large"]


def test_robots_txt_names_the_sitemaps() -> None:
    web = site(1)
    web.pages[f"{SITE}/robots.txt"] = Page(
        f"User-agent: *\nDisallow:\nSITEMAP: {MAP}\n".encode(), type="text/plain"
    )
    assert len(of(Found, Shelf().fill(SitemapSource(f"{SITE}/"), web))) == 1
    assert len(of(Found, Shelf().fill(SitemapSource(f"{SITE}/robots.txt"), web))) == 1
    web.pages[f"{SITE}/robots.txt"] = Page(b"User-agent: *\n", type="text/plain")
    assert len(of(Found, Shelf().fill(SitemapSource(SITE), web))) == 1  # /sitemap.xml is where most are
    with pytest.raises(InputUnreadable, match="names no sitemap"):
        Shelf().fill(SitemapSource(f"{SITE}/robots.txt"), web)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(urlset(f"{SITE}/1", namespace=""), id="no namespace"),
        pytest.param(urlset(f"{SITE}/1", namespace="http://www.google.com/schemas/sitemap/0.84"), id="old namespace"),
        pytest.param(urlset("/1"), id="relative"),
        pytest.param(urlset(f"\n   {SITE}/1\n  "), id="blanks"),
        pytest.param(b"\n\n" + urlset(f"{SITE}/1"), id="declaration after a blank line"),
        pytest.param(b"\xef\xbb\xbf" + urlset(f"{SITE}/1"), id="byte order mark"),
        pytest.param(urlset(f"<![CDATA[{SITE}/1]]>"), id="cdata"),
        pytest.param(urlset(f"{SITE}/1", f"{SITE}/1#part", f"{SITE}:443/1"), id="the same three times"),
        pytest.param(urlset(f"{SITE}/1")[:-9], id="cut short"),
        pytest.param(urlset(f"{SITE}/1", "mailto:a@b", ""), id="addresses that are none"),
        pytest.param(
            urlset(f"{SITE}/1").replace(b"</url>", b"<i:image xmlns:i='i'><i:loc>/i.png</i:loc></i:image></url>"),
            id="images",
        ),
        pytest.param(urlset(f"{SITE}/1").replace(b"urlset", b"URLSET").replace(b"loc>", b"Loc>"), id="capitals"),
    ],
)  # fmt: skip
def test_sitemaps_with_faults(body: bytes) -> None:
    assert parse_sitemap(body, MAP).pages == (Entry(f"{SITE}/1"),)


def test_faults_are_told() -> None:
    assert "lead nowhere" in str(parse_sitemap(urlset(f"{SITE}/1", "mailto:a@b"), MAP).trouble)
    web = Web({MAP: xml(urlset(f"{SITE}/1", f"{SITE}/2")[:-12]), f"{SITE}/1": article("1")})
    failed = of(Failed, Shelf().fill(SitemapSource(MAP), web))
    assert [one.state for one in failed] == ["invalid"]
    assert "cut short" in str(failed[0].reason)


@pytest.mark.parametrize(
    "body",
    [b"", b"<html><body>Not found</body></html>", b"{}", b"\x1f\x8bnot gzip", b"<urlset", b"\x00\x01", b"words"],
)  # fmt: skip
def test_what_is_no_sitemap(body: bytes) -> None:
    with pytest.raises(SourceError) as caught:
        Shelf().fill(SitemapSource(MAP), Web({MAP: xml(body)}))
    assert caught.value.message


def test_an_entity_bomb_costs_nothing() -> None:
    declared = '<!DOCTYPE u [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {name} "{"&" + before + ";" * 1}{("&" + before + ";") * 9}">'
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    bomb = f"{declared}]><urlset><url><loc>{SITE}/&i;</loc></url><url><loc>{SITE}/1</loc></url></urlset>"
    try:
        pages = parse_sitemap(bomb.encode(), MAP).pages
    except InputUnreadable:
        return
    assert all(len(entry.address) < 2_000 for entry in pages)


def test_an_external_entity_reads_nothing(tmp_path) -> None:  # type: ignore[no-untyped-def]
    secret = tmp_path / "secret"
    secret.write_text("password")
    body = f'<!DOCTYPE u [<!ENTITY x SYSTEM "file://{secret}">]><urlset><url><loc>{SITE}/&x;</loc></url></urlset>'
    assert all("password" not in entry.address for entry in parse_sitemap(body.encode(), MAP).pages)


def test_a_gzip_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MAX_BYTES", 1 << 20)
    with pytest.raises(InputUnreadable, match="larger"):
        parse_sitemap(gzip.compress(b"<urlset>" + b" " * (sitemaps.MAX_BYTES + 1)), MAP)


def test_more_addresses_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MAX_ENTRIES", 5)
    read = parse_sitemap(urlset(*[f"{SITE}/{n}" for n in range(9)]), MAP)
    assert len(read.pages) == 5
    assert "more than 5" in str(read.trouble)
    assert len(parse_sitemap("\n".join(f"{SITE}/{n}" for n in range(9)).encode(), MAP).pages) == 5


def test_exactly_as_many_as_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MAX_ENTRIES", 5)
    read = parse_sitemap(urlset(*[f"{SITE}/{n}" for n in range(5)]), MAP)
    assert len(read.pages) == 5
    assert not read.trouble


def test_other_hosts_are_left_out_and_told() -> None:
    other = "https://elsewhere.test/1"
    web = Web(
        {
            MAP: xml(urlset(other, f"{SITE}/1", "http://www.site.test/2")),
            f"{SITE}/1": article("1"),
            "http://www.site.test/2": article("2"),
            other: article("3"),
        }
    )
    items = Shelf().fill(SitemapSource(MAP), web)
    assert [one.id for one in of(Found, items)] == [f"{SITE}/1", "http://www.site.test/2"]
    assert [(one.state, other in str(one.reason)) for one in of(Failed, items)] == [("refused", True)]
    assert other not in web.asked
    assert len(of(Found, Shelf().fill(SitemapSource(MAP, other_hosts=True), web))) == 3


def test_a_sitemap_that_is_kept_elsewhere() -> None:
    there = "https://maps.test/site.xml"
    robots = Page(f"Sitemap: {there}".encode(), type="text/plain")
    web = Web({f"{SITE}/robots.txt": robots, there: xml(urlset(f"{SITE}/1")), f"{SITE}/1": article("1")})
    assert [one.id for one in of(Found, Shelf().fill(SitemapSource(f"{SITE}/"), web))] == [f"{SITE}/1"]


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ('<meta property="og:title" content="Snow">', "Snow"),
        ('<meta property="og:title" content="The City">', "Snow — a page"),  # on every page the same
        ("", "Snow — a page"),
    ],
)
def test_titles(head: str, title: str) -> None:
    web = site(1)
    web.pages[f"{SITE}/post/0"] = article("Snow — a page", head=head)
    assert of(Found, Shelf().fill(SitemapSource(MAP), web))[0].title == title


@pytest.mark.covers("L1")
def test_clarifications() -> None:
    web = site()
    web.pages[MAP] = xml(urlset(f"{SITE}/user/7", f"{SITE}/post/1", f"{SITE}/about"))
    items = Shelf().fill(SitemapSource(MAP, only=["/post/"]), web)
    assert [item.id for item in told(items)] == [f"{SITE}/post/1"]


@pytest.mark.covers("R1")
@pytest.mark.parametrize(
    "forbid",
    [
        {"head": '<meta name="robots" content="NoIndex, follow">'},
        {"head": "<meta name=robots content=none>"},
        {"head": "<meta name=Doublet content=noindex>"},
        {"header": "noindex"},
        {"header": "otherbot: nofollow, doublet: noindex"},
    ],
)
def test_pages_that_forbid_to_be_kept(forbid: dict[str, str]) -> None:
    web, shelf = site(1), Shelf()
    web.pages[f"{SITE}/post/0"] = article("0", head=forbid.get("head", ""))
    if "header" in forbid:
        web.pages[f"{SITE}/post/0"].headers["x-robots-tag"] = forbid["header"]
    items = shelf.fill(SitemapSource(MAP), web)
    assert [(type(item), item.state) for item in told(items)] == [(Failed, "refused")]
    web.asked.clear()
    shelf.fill(SitemapSource(MAP), web)
    assert web.asked == [MAP]  # it has not changed: not asked for again


@pytest.mark.parametrize(
    "value", ["otherbot: noindex", "nofollow", "max-snippet: 0", "", "unavailable_after: 1 Jan 2031"]
)
def test_rules_for_others(value: str) -> None:
    web = site(1)
    web.pages[f"{SITE}/post/0"].headers["x-robots-tag"] = value
    assert len(of(Found, Shelf().fill(SitemapSource(MAP), web))) == 1


def test_a_page_that_comes_to_forbid_it_is_gone() -> None:
    web, shelf = site(1, dated=False), Shelf()
    shelf.fill(SitemapSource(MAP), web)
    web.pages[f"{SITE}/post/0"] = article("0", head="<meta name=robots content=noindex>")
    assert [type(item) for item in told(shelf.fill(SitemapSource(MAP), web))] == [Gone]
    assert shelf.documents == {}


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_is_no_longer_there(status: int) -> None:
    web, shelf = site(1, dated=False), Shelf()
    shelf.fill(SitemapSource(MAP), web)
    web.pages[f"{SITE}/post/0"] = Page(b"gone", status=status)
    assert [type(item) for item in told(shelf.fill(SitemapSource(MAP), web))] == [Gone]


@pytest.mark.parametrize(
    ("there", "state"),
    [
        (Page(b"x", status=403), "refused"),
        (Page(b"x", status=401), "refused"),
        (Page(b"x", status=404), "failed"),
        (Page(b"x", status=418), "failed"),
        (Page(b"  "), "empty"),
        (NoAnswer("cut"), "failed"),
        (Forbidden("robots.txt"), "refused"),
    ],
)
def test_one_bad_page_costs_itself_only(there: Page | Exception, state: str) -> None:
    web = site(3)
    web.pages[f"{SITE}/post/1"] = there
    items = Shelf().fill(SitemapSource(MAP), web)
    assert len(of(Found, items)) == 2
    assert [(one.id, one.state) for one in of(Failed, items)] == [(f"{SITE}/post/1", state)]


@pytest.mark.covers("R4")
def test_a_copy_is_kept_as_its_original() -> None:
    original, copy = f"{SITE}/post/0", f"{SITE}/print/0"
    head = f'<link rel="canonical" href="{original}">'
    web, shelf = site(1), Shelf()
    web.pages[copy] = article("For print", head=head)
    web.pages[MAP] = xml(urlset((copy, "2026-01-01"), (original, "2026-01-01")))
    items = shelf.fill(SitemapSource(MAP), web)
    assert set(shelf.documents) == {original}
    assert [(one.id, one.state) for one in of(Failed, items)] == [(copy, "duplicate")]
    web.asked.clear()
    assert {type(one) for one in told(shelf.fill(SitemapSource(MAP), web))} == {Unchanged}
    assert web.asked == [MAP]

    alone = Shelf()
    web.pages[MAP] = xml(urlset((copy, "2026-01-01")))
    alone.fill(SitemapSource(MAP), web)
    assert set(alone.documents) == {original}
    assert {type(one) for one in told(alone.fill(SitemapSource(MAP), web))} == {Unchanged}


@pytest.mark.parametrize(
    "canonical", [f"{SITE}/", "https://elsewhere.test/1", "http://[bad", f"{SITE}/post/0#x"]
)
def test_canonical_links_that_mean_nothing(canonical: str) -> None:
    web = site(1)
    web.pages[f"{SITE}/post/0"] = article("0", head=f'<link rel=canonical href="{canonical}">')
    assert [one.id for one in of(Found, Shelf().fill(SitemapSource(MAP), web))] == [f"{SITE}/post/0"]


def test_a_limit_on_documents_is_told() -> None:
    items = Shelf().fill(SitemapSource(MAP, max_documents=2), site(5))
    assert len(of(Found, items)) == 2
    assert [one.state for one in of(Failed, items)] == ["too_large"]


def test_an_empty_sitemap_is_an_answer() -> None:
    assert list(told(Shelf().fill(SitemapSource(MAP), Web({MAP: xml(urlset())})))) == []


def test_cyrillic_and_blanks_in_addresses() -> None:
    read = parse_sitemap(urlset("https://пример.рф/статья 1?б=в", f"{SITE}/a&amp;b"), MAP)
    assert [entry.address for entry in read.pages] == [
        "https://xn--e1afmkfd.xn--p1ai/%D1%81%D1%82%D0%B0%D1%82%D1%8C%D1%8F%201?%D0%B1=%D0%B2",
        f"{SITE}/a&b",
    ]


def test_the_first_request_that_fails_is_raised() -> None:
    with pytest.raises(NoAnswer):
        Shelf().fill(SitemapSource(MAP), Web({MAP: NoAnswer("no such host")}))
    with pytest.raises(InputUnreadable, match="not an address"):
        SitemapSource("folder/sitemap.xml")


def test_a_sitemap_that_shrank_while_the_walk_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "EVERY", 2)
    web, shelf = site(6), Shelf()
    shelf.fill(SitemapSource(MAP), web, kill_after=1)
    assert len(shelf.documents) == 2
    rows = [(f"{SITE}/post/{n}", "2026-01-01") for n in (0, 3, 4, 5)]
    web.pages[MAP] = xml(urlset(*rows))
    shelf.fill(SitemapSource(MAP), web)
    assert set(shelf.documents) == {f"{SITE}/post/{n}" for n in (0, 1, 3, 4, 5)}


def test_words_of_a_page_without_a_title() -> None:
    web = Web(
        {
            MAP: xml(urlset(f"{SITE}/1")),
            f"{SITE}/1": page("Just words, and a few more of them.", type="text/plain"),
        }
    )
    (found,) = of(Found, Shelf().fill(SitemapSource(MAP), web))
    assert (found.title, found.media_type, found.name) == ("", "text/plain", "1")


# Days that are not over


def dated(day: str, now: str, *names: str) -> Page:
    """A sitemap whose pages have one day, from a server whose clock says *now*."""
    body = urlset(*((f"{SITE}/{name}", day) for name in names))
    return Page(body, type="application/xml", etag=f'"{day}{names}"', headers={"date": now})


TODAY = "2026-03-05"
NOON = "Thu, 05 Mar 2026 12:00:00 GMT"
NEXT_NOON = "Fri, 06 Mar 2026 12:00:00 GMT"


def test_a_page_may_change_twice_on_one_day() -> None:
    web, shelf = Web({MAP: dated(TODAY, NOON, "a"), f"{SITE}/a": article("Morning", etag='"1"')}), Shelf()
    shelf.fill(SitemapSource(MAP), web)
    assert of(Unchanged, shelf.fill(SitemapSource(MAP), web))  # asked for, and the same
    assert web.not_modified == [f"{SITE}/a"]
    web.pages[f"{SITE}/a"] = article("Evening", etag='"2"')
    assert [one.title for one in of(Found, shelf.fill(SitemapSource(MAP), web))] == ["Evening"]


def test_when_the_day_is_over_it_is_asked_for_once_more() -> None:
    web, shelf = Web({MAP: dated(TODAY, NOON, "a"), f"{SITE}/a": article("Morning", etag='"1"')}), Shelf()
    shelf.fill(SitemapSource(MAP), web)
    web.pages[MAP] = dated(TODAY, NEXT_NOON, "a")  # 36 hours after the day began
    web.asked.clear()
    assert of(Unchanged, shelf.fill(SitemapSource(MAP), web))[0].version == TODAY
    assert web.asked == [MAP, f"{SITE}/a"]
    web.asked.clear()
    shelf.fill(SitemapSource(MAP), web)
    shelf.fill(SitemapSource(MAP), web)
    assert web.asked == [MAP, MAP]  # the second time it is not even read


@pytest.mark.parametrize(
    ("changed", "now"),
    [
        (TODAY, NEXT_NOON),
        (TODAY, "Fri, 06 Mar 2026 13:00:00 +0100"),
        ("2026-03-05T11:59:00Z", NOON),  # with its time a date changes with every change
        ("2026-03", NOON),
        ("2026-99-99", NOON),
    ],
)
def test_dates_that_can_be_trusted_at_once(changed: str, now: str) -> None:
    web, shelf = Web({MAP: dated(changed, now, "a"), f"{SITE}/a": article("A")}), Shelf()
    shelf.fill(SitemapSource(MAP), web)
    web.asked.clear()
    shelf.fill(SitemapSource(MAP), web)
    assert web.asked == [MAP]


def test_a_sitemap_that_calls_everything_of_today_says_when_it_was_made() -> None:
    names = [f"p{n}" for n in range(sitemaps.MADE_TODAY)]
    web = Web({MAP: dated(TODAY, NOON, *names)} | {f"{SITE}/{name}": article(name) for name in names})
    shelf = Shelf()
    shelf.fill(SitemapSource(MAP), web)
    web.asked.clear()
    shelf.fill(SitemapSource(MAP), web)
    assert web.asked == [MAP]


# Pages that leave the sitemap


def left() -> tuple[Web, Shelf]:
    """Three pages are stored; then two of them leave the sitemap, and of those one the site."""
    web, shelf = site(), Shelf()
    web.pages[f"{SITE}/post/1"].etag = '"one"'
    shelf.fill(SitemapSource(MAP), web)
    web.pages[MAP] = xml(urlset((f"{SITE}/post/0", "2026-01-01")))
    del web.pages[f"{SITE}/post/2"]
    web.asked.clear()
    return web, shelf


def test_what_left_is_asked_for_once() -> None:
    web, shelf = left()
    items = shelf.fill(SitemapSource(MAP), web)
    assert web.asked == [MAP, f"{SITE}/post/1", f"{SITE}/post/2"]
    assert [one.id for one in of(Gone, items)] == [f"{SITE}/post/2"]
    assert sorted(shelf.documents) == [f"{SITE}/post/0", f"{SITE}/post/1"]
    web.asked.clear()
    shelf.fill(SitemapSource(MAP), web)
    assert web.asked == [MAP]


def test_what_comes_back_is_as_it_was() -> None:
    web, shelf = left()
    shelf.fill(SitemapSource(MAP), web)
    web.pages[MAP] = xml(urlset((f"{SITE}/post/0", "2026-01-01"), (f"{SITE}/post/1", "2026-01-01")))
    (back,) = [one for one in of(Unchanged, shelf.fill(SitemapSource(MAP), web)) if one.id.endswith("1")]
    assert back.version == "2026-01-01"
    web.asked.clear()
    shelf.fill(SitemapSource(MAP), web)
    assert web.asked == [MAP]


def test_what_left_can_be_kept_or_removed_unasked() -> None:
    web, shelf = left()
    shelf.fill(SitemapSource(MAP, unlisted="keep"), web)
    assert len(shelf.documents) == 3
    shelf.fill(SitemapSource(MAP, unlisted="remove"), web)
    assert list(shelf.documents) == [f"{SITE}/post/0"]
    assert web.asked == [MAP, MAP]
    with pytest.raises(ConfigError, match="check, keep, remove"):
        SitemapSource(MAP, unlisted="lose")


def test_nothing_is_taken_for_gone_when_not_all_was_read() -> None:
    """One of two sitemaps is unchanged and not read, or broken: who can say what it still has?"""
    other = f"{SITE}/other.xml"
    for trouble in (NoAnswer("no"), xml(b"<urlset><url><loc>/post/0</loc></url>"), Page(b"", status=404)):
        web, shelf = site(), Shelf()
        web.pages[other] = web.pages[MAP]
        web.pages[MAP] = xml(index(other))
        shelf.fill(SitemapSource(MAP), web)
        web.pages[other] = trouble
        assert not of(Complete, shelf.fill(SitemapSource(MAP), web))
        assert len(shelf.documents) == 3
    web = site()
    web.pages[MAP] = xml(web.pages[MAP].body, etag='"map"')
    shelf = Shelf()
    shelf.fill(SitemapSource(MAP), web)
    assert not of(Complete, shelf.fill(SitemapSource(MAP), web))


def test_a_walk_that_was_stopped_does_not_know_what_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "EVERY", 1)
    web, shelf = site(), Shelf()
    shelf.fill(SitemapSource(MAP), web, kill_after=2)
    assert not of(Complete, shelf.fill(SitemapSource(MAP), web))
    assert of(Complete, shelf.fill(SitemapSource(MAP), web))


def test_an_original_that_no_sitemap_has_did_not_leave_it() -> None:
    head = f'<link rel="canonical" href="{SITE}/original">'
    web = Web({MAP: xml(urlset((f"{SITE}/copy", "2026-01-01"))), f"{SITE}/copy": article("Copy", head=head)})
    web.pages[f"{SITE}/original"] = article("Original")
    shelf = Shelf()
    shelf.fill(SitemapSource(MAP), web)
    web.asked.clear()
    shelf.fill(SitemapSource(MAP, unlisted="check"), web)
    assert list(shelf.documents) == [f"{SITE}/original"]
    assert web.asked == [MAP]
