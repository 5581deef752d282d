"""The robot against simulated libraries: everything is found, little is asked for twice, nothing forbidden is asked."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from doublet.crawl import standing
from doublet.crawl.patterns import Pattern
from doublet.crawl.politeness import PoliteFetcher
from doublet.errors import ConfigError, FetchFailed, InputUnreadable, NotAllowed, SiteIsMirror, SourceError
from doublet.jobs.crawl import Crawled, Crawling, Wish, crawl_library, preview, refresh_library
from doublet.jobs.crawl import engine as engine_module
from doublet.store.database import Store
from library_simulator import Library, Site


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "BACK_OFF_S", 0.01)
    monkeypatch.setattr("doublet.crawl.politeness.BACK_OFF_S", 0.01)


@pytest.fixture
def store(tmp_path: pathlib.Path) -> Iterator[Store]:
    with Store(str(tmp_path / "libraries.db")) as opened:
        opened.libraries.create("site")
        yield opened


@contextlib.contextmanager
def polite(**options: Any) -> Iterator[PoliteFetcher]:
    with PoliteFetcher(**{"delay_s": 0.0, "allow_private": True, **options}) as fetcher:
        yield fetcher


def crawl(store: Store, site: Site, *only: str, crawling: Crawling | None = None, **wish: Any) -> Crawled:
    with polite() as fetcher:
        return crawl_library(
            store, "site", site.url, fetcher=fetcher, wish=Wish(only=only, **wish), crawling=crawling
        )


def ids(store: Store) -> set[str]:
    return {document.id for document in store.documents.all("site")}


CASES: dict[str, tuple[Library, tuple[str, ...]]] = {
    "numbers": (Library(150, holes=0.1), ("post",)),
    "holes": (Library(60, holes=0.7, soft_404=True), ("post",)),
    "two schemes": (Library(120, scheme="two", traps=True), ("post", "read")),
    "slugs and traps": (Library(200, scheme="slug", traps=True, variants=True), ("article",)),
    "sitemap": (Library(120, scheme="slug", sitemap=True, soft_404=True), ("article",)),
    "redirects": (Library(60, scheme="redirect"), ("post",)),
    "bad answers": (Library(120, bad=True, variants=True), ("post",)),
    "walls": (Library(90, wall_every=9), ("post",)),
}


@pytest.mark.covers("L1", "L2", "L3", "R2", "R5", "R8")
@pytest.mark.parametrize("name", CASES)
def test_all_documents_are_found(store: Store, name: str) -> None:
    library, only = CASES[name]
    with Site(library) as site:
        made = crawl(store, site, *only)
        found, wanted = ids(store), site.addresses()
        asked = site.targets()
    assert wanted - found == set()
    assert found - wanted == set()
    assert not [target for target in asked if "private" in target or "trap" in target or "vote" in target]
    twice = sum(many - 1 for many in asked.values())
    assert twice <= (sum(site._failed.values()) if library.bad else 0)
    # Everything but documents, holes of a range, probes, robots.txt and sitemap: what was wasted.
    pages = len(asked) - len(wanted) - made.states["missing"] - made.states["soft_404"] - made.plan.probes
    assert pages <= 65
    assert (made.waiting, made.notes) == (0, [])


@pytest.mark.covers("L2")
def test_a_preview_stores_nothing(tmp_path: pathlib.Path) -> None:
    with Site(Library(200, holes=0.2)) as site, polite(delay_s=0.0) as fetcher:
        plan = preview(site.url, fetcher=fetcher, wish=Wish(only=["post"]))
        asked = len(site.seen)
    assert [pattern.text for pattern in plan.patterns] == ["/post/{number}/"]
    assert plan.counted == [0]
    assert plan.documents is not None and 120 <= plan.documents <= 280
    assert plan.requests == plan.patterns[0].high
    assert asked < 60
    assert list(tmp_path.iterdir()) == []


@pytest.mark.covers("L2")
def test_a_range_of_the_user_is_all_that_is_taken(store: Store) -> None:
    """Also of what was seen while looking, of links, and when the site is crawled again."""
    with Site(Library(80)) as site:
        wanted = {f"{site.url}/post/{number}/" for number in range(11, 31)}
        crawl(store, site, patterns=[Pattern("/post/{number}/")], numbers=(11, 30))
        assert ids(store) == wanted
        crawl(store, site)
        assert ids(store) == wanted
        above = [target for target in site.targets() if target > "/post/80/" and target.startswith("/post/9")]
        assert len(above) <= 6, "probes for what cannot exist"


@pytest.mark.covers("L2")
@pytest.mark.parametrize("numbers", [(11, 30), None])
def test_a_pattern_of_the_user_needs_no_link(store: Store, numbers: tuple[int, int] | None) -> None:
    """The front page of an old archive may name no document at all: its numbers are counted out all the same."""
    with Site(Library(80, linked=False)) as site:
        wish = Wish(patterns=[Pattern("/post/{number}/")], numbers=numbers)
        with polite() as fetcher:
            plan = preview(site.url, fetcher=fetcher, wish=wish)
        first, last = numbers or (1, 80)
        assert plan.patterns[0].examples[0] == f"{site.url}/post/{first}/"
        assert (plan.documents is None) == (numbers is None)
        made = crawl(store, site, patterns=list(wish.patterns), numbers=numbers)
        assert ids(store) == {f"{site.url}/post/{number}/" for number in range(first, last + 1)}
        assert made.notes == []


@pytest.mark.covers("L2")
def test_a_site_without_links_says_what_to_give(store: Store) -> None:
    with Site(Library(80, linked=False)) as site:
        with pytest.raises(
            InputUnreadable, match=r"has no links that can be followed: give addresses of two or three"
        ):
            crawl(store, site, "post")
        made = crawl(store, site, patterns=[Pattern("/story/{number}/")])
        assert [note.code for note in made.notes] == ["crawl_no_documents"]
        assert ids(store) == set()


@pytest.mark.covers("L2")
def test_a_preview_of_a_range_shows_addresses_inside_of_it() -> None:
    with Site(Library(80)) as site, polite() as fetcher:
        wish = Wish(patterns=[Pattern("/post/{number}/")], numbers=(41, 60))
        plan = preview(site.url, fetcher=fetcher, wish=wish)
    numbers = [plan.patterns[0].number_of(example) for example in plan.patterns[0].examples]
    assert numbers and all(number is not None and 41 <= number <= 60 for number in numbers)


@pytest.mark.covers("L1")
def test_examples_instead_of_clarifications(store: Store) -> None:
    with Site(Library(80)) as site:
        crawl(store, site, examples=[f"{site.url}/post/3/", f"{site.url}/post/70/"])
        assert ids(store) == site.addresses()


@pytest.mark.covers("L3")
def test_a_limit_and_going_on(store: Store) -> None:
    with Site(Library(150)) as site:
        first = crawl(store, site, "post", crawling=Crawling(limit=40))
        assert first.waiting or first.fetched < 150
        before = len(ids(store))
        assert 20 <= before < 150
        with polite() as fetcher:  # without a word of what is wanted: that is remembered
            crawl_library(store, "site", site.url, fetcher=fetcher)
        assert ids(store) == site.addresses()
        assert max(site.targets().values()) == 1 or site.targets().most_common(1)[0][0] == "/robots.txt"


@pytest.mark.covers("L4")
def test_a_known_site_is_looked_through_for_what_is_new(store: Store) -> None:
    library = Library(100, scheme="slug")
    with Site(library) as site:
        crawl(store, site, "article")
        assert len(ids(store)) == 100
        library.numbers |= set(range(101, 131))
        site._slugs |= {library.slug(n): n for n in range(101, 131)}
        with polite() as fetcher:
            again = crawl_library(store, "site", site.url, fetcher=fetcher)
        assert ids(store) == site.addresses()
        assert again.stored == 30


@pytest.mark.covers("L4")
def test_a_range_grows_at_the_top(store: Store) -> None:
    library = Library(60)
    with Site(library) as site:
        crawl(store, site, "post")
        library.numbers |= {61, 62, 75}
        with polite() as fetcher:
            crawl_library(store, "site", site.url, fetcher=fetcher)
        assert ids(store) == site.addresses()


@pytest.mark.covers("R4", "L3")
def test_of_equal_texts_the_smallest_address_stays(store: Store) -> None:
    library = Library(90, scheme="slug", twins=30)
    with Site(library) as site:
        made = crawl(store, site, "article")
    by_text: dict[str, list[str]] = {}
    for number in library.numbers:
        by_text.setdefault(library.text(number), []).append(site.url + library.path(number))
    assert ids(store) == {min(addresses) for addresses in by_text.values()}
    assert made.states["duplicate"] or store.frontier.counts(1)["duplicate"]
    assert store.frontier.counts(1)["duplicate"] == 90 - len(by_text)


@pytest.mark.covers("R1")
def test_each_host_is_asked_one_request_at_a_time_with_a_distance(store: Store) -> None:
    with Site(Library(15)) as site, polite(delay_s=0.05) as fetcher:
        crawl_library(store, "site", site.url, fetcher=fetcher, wish=Wish(only=["post"]))
        moments = sorted(moment for moment, _ in site.seen)
    distances = [after - before for before, after in itertools.pairwise(moments)]
    assert min(distances) >= 0.045


@pytest.mark.covers("R6")
def test_refresh(store: Store) -> None:
    library = Library(40)
    with Site(library) as site:
        crawl(store, site, "post")
        site.seen.clear()
        with polite() as fetcher:
            (quiet,) = refresh_library(store, "site", fetcher=fetcher)
        assert len(site.seen) <= 4, "nothing is due yet but the lists"
        assert (quiet.stored, quiet.changed) == (0, 0)
        library.version |= {3: 1, 7: 1}
        library.numbers -= {9}
        site.sent = 0
        with polite() as fetcher:
            (made,) = refresh_library(store, "site", fetcher=fetcher, everything=True)
        assert (made.changed, made.stored) == (2, 0)
        assert ids(store) == site.addresses()
        assert site.sent < 20_000, "what is unchanged costs no body"
        texts = {document.id: text for batch in store.documents.batches("site") for document, text in batch}
        assert "version1" in texts[f"{site.url}/post/3/"]
    intervals = dict(
        store.database.rows(
            "SELECT target, interval_s FROM doublet_page WHERE target IN ('/post/3/', '/post/4/')"
        )
    )
    assert intervals["/post/3/"] < intervals["/post/4/"]


@pytest.mark.covers("R6")
def test_what_was_taken_out_by_hand_stays_out(store: Store) -> None:
    library = Library(20)
    with Site(library) as site:
        crawl(store, site, "post")
        taken = [f"{site.url}/post/{number}/" for number in (3, 4)]
        store.documents.remove("site", taken)
        library.version |= {4: 1}
        with polite() as fetcher:
            refresh_library(store, "site", fetcher=fetcher, everything=True)
        assert site.addresses() - ids(store) == {taken[0]}, "one that changed comes back"


@pytest.mark.covers("R6")
def test_what_a_sitemap_calls_changed_is_asked_for_before_it_is_due(store: Store) -> None:
    library = Library(30, scheme="slug", sitemap=True)
    with Site(library) as site:
        crawl(store, site, "article")
        library.version |= {5: 1}
        site.seen.clear()
        with polite() as fetcher:
            (made,) = refresh_library(store, "site", fetcher=fetcher)
        assert (made.changed, made.unchanged) == (1, 0)
        assert site.targets()[library.path(5)] == 1
        assert len(site.seen) <= 4


@pytest.mark.covers("L7")
def test_raw_pages_can_be_read_again(store: Store, tmp_path: pathlib.Path) -> None:
    with Site(Library(30)) as site:
        crawl(store, site, "post", crawling=Crawling(warc=tmp_path / "warc"))
        wanted = site.addresses()
    (path,) = (tmp_path / "warc").glob("*.warc.gz")
    assert gzip.decompress(path.read_bytes()).startswith(b"WARC/1.0")
    from doublet.sources.warc import members

    found = {member.name for member in members(path, label=str(path), limit_bytes=1 << 20)}
    assert wanted <= found


@pytest.mark.covers("L6")
def test_a_log_of_every_address(store: Store) -> None:
    with Site(Library(60, scheme="slug", traps=True)) as site:
        crawl(store, site, "article")
        asked = {site.url + target for target in site.targets()}
    logged, after = store.frontier.log(1, limit=10_000)
    assert after == 0
    probes = {address for address in asked if "robots.txt" in address or "sitemap" in address}
    tried = {page.address for page in logged if page.state not in ("new", "again", "trap")}
    missing = {address for address in asked - tried - probes if "/article/" not in address}
    assert missing == set()
    refused = [page for page in logged if page.state == "refused"]
    assert [(page.address, page.reason) for page in refused] == [(f"{site.url}/private/x", "robots")]
    assert refused[0].parent
    assert sum(many for *_, many in store.frontier.picture(1)) == len(logged)


def test_wrong_addresses_are_told(store: Store) -> None:
    with pytest.raises(ConfigError, match="contact"), polite() as fetcher:
        crawl_library(store, "site", "http://example.invalid/", fetcher=fetcher)
    with polite(retries=0, contact="me@example.org") as fetcher:
        for address, error in (
            ("not an address", InputUnreadable),
            ("http://no-such-host.invalid/", FetchFailed),
            ("http://127.0.0.9:1/", SourceError),
        ):
            with pytest.raises(error):
                crawl_library(store, "site", address, fetcher=fetcher, wish=Wish(only=["x"]))


@pytest.mark.covers("L1")
def test_what_users_are_told_of_sites_that_cannot_be_indexed(store: Store) -> None:
    with Site(Library(20)) as site:
        with pytest.raises(InputUnreadable, match=r"none of .* has 'book' in it.*post"):
            crawl(store, site, "book")
        site.library.robots = "User-agent: *\nDisallow: /\n"
        with pytest.raises(NotAllowed, match=r"robots\.txt"), polite() as fetcher:
            preview(site.url, fetcher=fetcher, wish=Wish(only=["post"]))


@pytest.mark.covers("R1")
@pytest.mark.parametrize("judged_after_s", [0.02, 1.0])
def test_a_site_that_bans_us_is_left_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch, judged_after_s: float
) -> None:
    """After as many refusals as that, also where a busy machine is late to judge what it fetched."""
    monkeypatch.setattr(engine_module, "GATHER_S", judged_after_s)
    with Site(Library(300, banned_after=80)) as site:
        made = crawl(store, site, "post")
        asked = len(site.seen)
    assert asked == 80 + standing.BANNED
    assert [note.code for note in made.notes] == ["host_refuses"]


@pytest.mark.covers("R1", "R2")
def test_one_page_that_wants_to_be_asked_in_years(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds up nothing but itself, and is not tried again and again."""
    with Site(Library(60)) as site:
        plain = site.answer

        def answer(target: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
            if target == "/post/30/":
                return 503, {"Retry-After": "Wed, 01 Jan 2200 00:00:00 GMT"}, b""
            return plain(target, headers)

        monkeypatch.setattr(site, "answer", answer)
        crawl(store, site, "post")
        assert ids(store) == site.addresses() - {f"{site.url}/post/30/"}
        assert site.targets()["/post/30/"] <= 2, "once while looking, if it was drawn, and once after"
    ((state, _, many, examples),) = [
        row for row in store.frontier.reasons(1) if row[3] == [f"{site.url}/post/30/"]
    ]
    assert (state, many) == ("failed", 1), examples


@pytest.mark.covers("R7")
def test_a_mirror_is_not_indexed_again(store: Store) -> None:
    with Site(Library(60)) as site, Site(Library(60, frame="A Copy of It"), "127.0.0.3") as mirror:
        crawl(store, site, "post")
        with pytest.raises(SiteIsMirror, match="mirror"):
            crawl(store, mirror, "post")
        assert ids(store) == site.addresses()
    with Site(Library(60, seed=2), "127.0.0.4") as another:
        crawl(store, another, "post")
    assert len(ids(store)) == 120


@pytest.mark.covers("R6", "L5")
def test_an_idle_worker_refreshes_what_is_due(store: Store) -> None:
    from doublet.config import Settings
    from doublet.jobs.queue.worker import Worker

    library = Library(20)
    with Site(library) as site:
        crawl(store, site, "post")
        library.version |= {4: 1}
        with store.database.writing():
            store.database.rows("UPDATE doublet_page SET next_try = 1 WHERE target = '/post/4/'")
        worker = Worker(store, settings=Settings(allow_private=True, fetch_delay_s=0.0))
        worker._refresh()
        worker._refresh()
        assert [job.kind for job in store.jobs.find()] == ["refresh"]
        worker.run(until_empty=True)
        (job,) = store.jobs.find()
        assert job.state == "done", job
        texts = {document.id: text for batch in store.documents.batches("site") for document, text in batch}
    assert "version1" in texts[f"{site.url}/post/4/"]


@pytest.mark.covers("R10")
def test_private_machines_are_not_crawled(store: Store) -> None:
    with Site(Library(10)) as site, polite(allow_private=False) as fetcher, pytest.raises(NotAllowed):
        crawl_library(store, "site", site.url, fetcher=fetcher, wish=Wish(only=["post"]))
    assert site.seen == []
