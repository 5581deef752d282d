"""The frontier of the robot, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from doublet.crawl.protocol import Link
from doublet.store import leases
from doublet.store.database import Store
from doublet.store.frontier import Batch, Ended
from library_databases import VENDORS, new_address

ORIGIN = "http://x.org"


@pytest.fixture(params=VENDORS)
def address(request: pytest.FixtureRequest) -> str:
    return new_address(request.param)


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    with Store(address) as opened:
        yield opened


def source_of(store: Store, address: str = ORIGIN) -> int:
    if not store.libraries.all():
        store.libraries.create("site")
    return store.sources.add(store.libraries.get("site").number, "crawl", f"{address}/", {}).number


def link(path: str, origin: str = ORIGIN, **facts: int) -> Link:
    return Link(origin + path, origin, path, **facts)


def add(store: Store, source: int, *links: Link) -> int:
    with store.database.writing():
        return store.frontier.add(source, links)


@pytest.mark.covers("L3")
def test_it_works(store: Store, address: str) -> None:
    source = source_of(store)
    assert add(store, source, link("/a", priority=1), link("/b"), link("/a")) == 2
    assert add(store, source, link("/a"), link("/c", depth=1, pattern=0)) == 1
    ((host, origin, wait),) = store.frontier.take_hosts(source, leases.new_owner())
    assert (origin, wait) == (ORIGIN, 0.0)
    pages = store.frontier.waiting(source, host, 10, again=False)
    assert [page.target for page in pages] == ["/b", "/c", "/a"]
    batch = Batch(
        [
            Ended(pages[0].number, "stored", interval_s=60, next_try=5),
            Ended(pages[1].number, "missing", "404"),
        ],
        [link("/d", parent=pages[0].number, depth=2)],
        {host: "127.0.0.1"},
        {host: 30.0},
    )
    with store.database.writing():
        assert store.frontier.apply(source, batch) == 1
    with Store(address) as other:  # as another process sees it
        assert other.frontier.counts(source) == {"new": 2, "stored": 1, "missing": 1}
        assert other.frontier.reasons(source) == [("missing", "404", 1, [f"{ORIGIN}/c"])]
        assert other.frontier.picture(source)[0] == (0, -1, "new", 1)
        logged, after = other.frontier.log(source, limit=2)
        assert len(logged) == 2 and after
        rest, end = other.frontier.log(source, after=after, limit=9)
        assert (rest[-1].address, rest[-1].parent, end) == (f"{ORIGIN}/d", f"{ORIGIN}/b", 0)
        assert other.frontier.due(source, 10) == 1
        assert other.frontier.ask_again(source, due_at=10) == 1
        assert {p.target for p in other.frontier.waiting(source, host, 9, again=True)} == {"/b"}
        assert {p.target for p in other.frontier.waiting(source, host, 9, again=False)} == {"/a", "/d"}


@pytest.mark.covers("D2", "R1")
def test_a_host_has_one_robot_at_a_time(store: Store) -> None:
    one, other = source_of(store), source_of(store, "http://y.org")
    for source in (one, other):
        add(store, source, link("/1"), link("/2", "http://shared.org"))
    me, elsewhere = leases.new_owner(), "far:1:2:3:away"
    mine = store.frontier.take_hosts(one, me)
    assert {origin for _, origin, _ in mine} == {ORIGIN, "http://shared.org"}
    assert store.frontier.take_hosts(other, elsewhere) == []
    assert set(store.frontier.held_by_others(other, elsewhere)) == {ORIGIN, "http://shared.org"}
    assert len(store.frontier.take_hosts(one, me)) == 2  # one's own lease
    store.frontier.release(me)
    assert len(store.frontier.take_hosts(other, elsewhere)) == 2
    assert store.frontier.take_hosts(one, me) == []


@pytest.mark.covers("R1")
def test_hosts_of_one_machine_go_to_one_robot(store: Store) -> None:
    source = source_of(store)
    add(store, source, link("/1"), link("/2", "http://twin.org"))
    numbers = store.frontier.host_numbers([])
    with store.database.writing():
        store.frontier.apply(source, Batch(places=dict.fromkeys(numbers.values(), "192.0.2.1")))
    first = store.frontier.take_hosts(source, "far:1:2:3:away", limit=1)
    assert len(first) == 1
    assert store.frontier.take_hosts(source, leases.new_owner()) == []


@pytest.mark.covers("L5")
def test_a_robot_that_is_gone_keeps_nobody_waiting(store: Store) -> None:
    source = source_of(store)
    add(store, source, link("/1"))
    parts = leases.new_owner().split(":")
    gone = ":".join([parts[0], "999999999", *parts[2:]])
    assert len(store.frontier.take_hosts(source, gone)) == 1
    assert len(store.frontier.take_hosts(source, leases.new_owner())) == 1


def test_forgetting_a_source_forgets_its_pages(store: Store) -> None:
    source = source_of(store)
    add(store, source, link("/1"))
    store.sources.forget(source)
    assert store.frontier.counts(source) == {}
    add(store, source_of(store), link("/1"))
    store.libraries.delete("site")
