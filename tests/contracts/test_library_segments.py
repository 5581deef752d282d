"""Segments of postings against the plainest model of them, a set of pairs."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doublet.errors import StoreBusy, StoreDamaged, StoreFull
from doublet.jobs.check_library import check_library
from doublet.model import Document
from doublet.store import plain_blocks, segments
from doublet.store.connection import Database
from doublet.store.database import Store
from doublet.store.leases import new_owner
from doublet.store.segments import Records, Segment, worth_merging
from doublet.store.verify import verify
from library_databases import VENDORS, new_address

TOP = (1 << segments.KEY_BITS) - 1


def records(*rows: tuple[int, int, int]) -> Records:
    keys, documents, libraries = zip(*rows, strict=True) if rows else ((), (), ())
    return Records(*(np.array(column, np.uint64) for column in (keys, documents, libraries)))


def plain(some: Records) -> list[tuple[int, int, int]]:
    columns = (some.keys.tolist(), some.documents.tolist(), some.libraries.tolist())
    return list(zip(*columns, strict=True))


ROWS = st.lists(
    st.tuples(
        st.integers(0, TOP), st.integers(2, 2 * segments.LARGEST_NUMBER + 1), st.integers(0, (1 << 32) - 1)
    )
)


@given(rows=ROWS, cut=st.integers(0, 20))
def test_records_survive_packing(rows: list[tuple[int, int, int]], cut: int) -> None:
    rows, cuts = sorted(rows), [0, min(cut, len(rows)), len(rows)]
    assert plain(segments.unpack(segments.pack(records(*rows), cuts))[0]) == rows
    blocks = plain_blocks.pack_plain(records(*rows), cuts)
    assert [len(data) for data in blocks] == [segments.RECORD * n for n in (cuts[1], cuts[2] - cuts[1])]
    assert plain(segments.unpack_plain(b"".join(blocks))) == rows


def test_half_a_record_is_damage() -> None:
    with pytest.raises(StoreDamaged, match="verify --repair"):
        segments.unpack_plain(b"\0" * (segments.RECORD + 1))
    (block,) = segments.pack(records((1, 2, 3), (4, 5, 6)), [0, 2])
    for damaged in (block[:-1], block + b"\x09", block[1:]):
        with pytest.raises(StoreDamaged, match="verify --repair"):
            segments.unpack([damaged])


@given(rows=ROWS)
def test_sorted_by_key_and_document(rows: list[tuple[int, int, int]]) -> None:
    made = [(key, document) for key, document, _ in plain(records(*rows).sorted())]
    assert made == sorted((key, document) for key, document, _ in rows)


def test_added_and_removed_is_nothing() -> None:
    some = records((1, 4, 7), (1, 5, 0), (1, 6, 7), (2, 5, 0), (2, 6, 7), (3, 8, 7))
    assert plain(some.settled()) == [(1, 6, 7), (2, 5, 0), (2, 6, 7), (3, 8, 7)]
    assert records().settled().removed == 0


@given(keys=st.lists(st.integers(7, TOP) | st.integers(0, 3)), bits=st.integers(0, 12))
@settings(max_examples=50)
def test_blocks_hold_all_and_are_small(keys: list[int], bits: int) -> None:
    keys = keys + [5] * (segments.HEAVY + 1) + [6] * segments.HEAVY
    given_rows = sorted((key, 2 * n + 2, 1) for n, key in enumerate(keys))
    blocks = dict(segments.cut_blocks(bits, records(*given_rows)))
    assert -1 - 5 in blocks
    assert -1 - 6 not in blocks
    found = []
    for part, data in blocks.items():
        for key, document, library in plain(segments.unpack([data])[0]):
            assert part == (-1 - key if part < 0 else key >> (segments.KEY_BITS - bits))
            if document == 0:
                assert -1 - key in blocks
            else:
                found.append((key, document, library))
    assert sorted(found) == given_rows


def test_which_are_merged() -> None:
    def some(*sizes: int) -> list[Segment]:
        return [Segment(n, 0, size, 0) for n, size in enumerate(sizes)]

    assert worth_merging([]) == []
    assert worth_merging(some(*[4000] * (segments.FAN - 1))) == []
    eight = some(*[4000] * segments.FAN)
    assert worth_merging(eight) == eight
    assert worth_merging([*some(9_000_000), *eight]) == eight
    assert worth_merging(some(100, 100, 900, 50_000), thorough=True) == some(100, 100)
    assert worth_merging(some(100), thorough=True) == []
    half_gone = [Segment(1, 0, 1000, 0), Segment(2, 0, 600, 600)]
    assert worth_merging(half_gone) == half_gone


# On a real database


@pytest.fixture(scope="module", params=VENDORS)
def database(request: pytest.FixtureRequest) -> Database:
    return Database(new_address(str(request.param)))


def clear(database: Database) -> None:
    for table in ("doublet_segment", "doublet_block"):
        database.rows(f"DELETE FROM {table}")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes at which every path is walked with a handful of postings."""
    for name, value in {
        "BLOCK": 4,
        "HEAVY": 3,
        "FAN": 3,
        "SMALLEST": 4,
        "SLICE": 16,
        "MOST_LIBRARIES": 2,
    }.items():
        monkeypatch.setattr(segments, name, value)


# Keys that spread over all of the space, and a few that many documents have.
_KEYS = st.sampled_from([0, 1, 2, TOP]) | st.integers(0, 31).map(lambda n: n * (TOP // 31))
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.frozensets(_KEYS, min_size=1), min_size=1, max_size=6)),
        st.tuples(st.just("remove"), st.lists(st.integers(0, 40), min_size=1, max_size=5)),
        st.tuples(st.just("optimize"), st.just([])),
    ),
    max_size=25,
)


@pytest.mark.covers("S6")
@given(steps=_STEPS, cut=st.integers(1, 6))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_history_gives_what_a_set_gives(database: Database, small: None, steps: list, cut: int) -> None:
    with database.writing():
        clear(database)
    there: dict[int, frozenset[int]] = {}
    number = 0
    for action, values in steps:
        with database.writing():
            if action == "add":
                first = number + 1
                for keys in values:
                    number += 1
                    there[number] = keys
                _write(database, {n: there[n] for n in range(first, number + 1)}, removed=False)
            elif action == "remove":
                gone = {n: there.pop(n) for n in dict.fromkeys(values) if n in there}
                _write(database, gone, removed=True)
        segments.tidy(database, thorough=action == "optimize")
    asked = sorted({0, 1, 2, 3, TOP, *(key for keys in there.values() for key in keys)}, reverse=True)
    for libraries in (None, [0], [1, 2]):
        numbers, documents, frequency = segments.look_up(database, np.array(asked, np.uint64), libraries, cut)
        for place, key in enumerate(asked):
            right = sorted(
                n for n, keys in there.items() if key in keys and (not libraries or n % 3 in libraries)
            )
            assert sorted(documents[numbers == place].tolist()) == right[: cut + 1]
            assert frequency[place] == min(len(right), cut + 1)


def _write(database: Database, rows: dict[int, frozenset[int]], *, removed: bool) -> None:
    pairs = [(key, n) for n, keys in rows.items() for key in keys]
    keys = np.array([key for key, _ in pairs], np.uint64)
    documents = np.array([n for _, n in pairs], np.int64)
    segments.write(
        database, keys, documents, np.zeros_like(documents) if removed else documents % 3, removed=removed
    )


def test_a_key_that_is_asked_for_twice(database: Database) -> None:
    with database.writing():
        clear(database)
        _write(database, {1: frozenset({7, 9}), 2: frozenset({9})}, removed=False)
    asked = np.array([9, 7, 9, 8], np.uint64)
    numbers, documents, frequency = segments.look_up(database, asked, None, 10)
    assert sorted(zip(numbers.tolist(), documents.tolist(), strict=True)) == [
        (0, 1),
        (0, 2),
        (1, 1),
        (2, 1),
        (2, 2),
    ]
    assert frequency.tolist() == [2, 1, 2, 0]
    assert [len(part) for part in segments.look_up(database, asked[:0], None, 10)] == [0, 0, 0]


def test_segments_of_other_libraries_are_passed_over(database: Database) -> None:
    one, two, both = ({n: frozenset({7})} for n in (3, 4, 5))  # of libraries 0, 1 and 2
    with database.writing():
        clear(database)
        for rows in (one, two, {**one, **two, **both}):
            _write(database, rows, removed=False)
    told = [segment.libraries for segment in segments._segments(database)]
    assert told == ["0", "1", "0,1,2"]
    wanted = np.array([7], np.uint64)
    assert len(segments._blocks_of(database, wanted, None) or []) == 3
    assert len(segments._blocks_of(database, wanted, [1]) or []) == 2
    assert len(segments._blocks_of(database, wanted, [2]) or []) == 1
    with database.writing():  # what takes others away may be of any library
        clear(database)
        _write(database, {**one, **two}, removed=False)
        _write(database, two, removed=True)
    assert [segment.libraries for segment in segments._segments(database)] == ["0,1", None]
    assert len(segments.look_up(database, wanted, [1], 9)[1]) == 0
    with database.writing():  # a removal alone, whose posting is passed over
        clear(database)
        _write(database, two, removed=False)
        _write(database, two, removed=True)
    assert len(segments.look_up(database, wanted, [0], 9)[1]) == 0
    with database.writing():
        clear(database)
        _write(database, {**one, **two}, removed=False)
        _write(database, two, removed=True)
    segments.tidy(database, thorough=True)
    assert [segment.libraries for segment in segments._segments(database)] == ["0"]


def test_numbers_that_are_too_large_are_refused(database: Database) -> None:
    key, library = np.array([1], np.uint64), np.array([1], np.int64)
    with pytest.raises(StoreFull), database.writing():
        segments.write(database, key, np.array([segments.LARGEST_NUMBER + 1], np.int64), library)


def test_of_a_key_of_many_documents_only_the_beginning_is_read(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    with database.writing():
        clear(database)
        documents = np.arange(1, 20_001, dtype=np.int64)
        segments.write(database, np.full(20_000, 77, np.uint64), documents, np.ones_like(documents))

    def count(*given: Any, plain: Any = segments._heavy) -> list[bytes]:
        rows: list[bytes] = plain(*given)
        read.append(sum(map(len, rows)))
        return rows

    monkeypatch.setattr(segments, "_heavy", count)
    for libraries in (None, [1]):
        _, found, frequency = segments.look_up(database, np.array([77], np.uint64), libraries, 100)
        assert found.tolist() == list(range(1, 102))
        assert frequency.tolist() == [101]
    assert 0 < sum(read) < 20_000
    assert len(segments.look_up(database, np.array([77], np.uint64), [2], 100)[1]) == 0


@pytest.mark.parametrize("vendor", VENDORS)
def test_look_ups_beside_merges_miss_nothing(vendor: str, small: None) -> None:
    """Readers in one thread, two writers that merge all the time: what was stored before is always found."""
    address = new_address(vendor)
    with Store(address) as store:
        for name in ("a", "b"):
            store.libraries.create(name)
        texts = [" ".join(f"w{n}x{i}" for i in range(40)) for n in range(3)]
        store.documents.add("a", [Document(f"kept {n}", text) for n, text in enumerate(texts)])
        failed: list[BaseException] = []
        done = threading.Event()

        def write(name: str) -> None:
            try:
                with Store(address) as other:
                    for n in range(30):
                        other.documents.add(name, [Document(f"{name}{n}", f"{texts[n % 3]} {name} {n}")])
                        if n % 4 == 3:
                            other.documents.remove(name, [f"{name}{n - 1}"])
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=write, args=(name,)) for name in ("a", "b")]

        def finish() -> None:
            for thread in threads:
                thread.join()
            done.set()

        for thread in [*threads, threading.Thread(target=finish)]:
            thread.start()
        looks = 0
        while not done.is_set() or not looks:
            looks += 1
            for text in texts:
                assert check_library(store, text).share == 1.0
        assert failed == []
        assert verify(store) == []
        assert store.libraries.get("a").documents == 3 + 30 - 7


def test_blocks_of_older_segments_are_read_and_merged(small: None) -> None:
    """As PostgreSQL has them from before blocks were packed."""
    database = Database(new_address("postgresql"))
    there = {n: frozenset({7, 9, n, TOP - n}) for n in range(1, 9)}
    with database.writing():
        for part in (range(1, 4), range(4, 7)):
            _write(database, {n: there[n] for n in part}, removed=False)
        for (segment, bits), rows in _stored(database).items():
            database.rows("DELETE FROM doublet_block WHERE segment = %s", [segment])
            own = records(*rows).sorted()
            segments.copy_blocks(database.raw, segment, plain_blocks.cut_plain(bits, own))
        database.rows("UPDATE doublet_segment SET format = %s", [segments.PLAIN])
        _write(database, {n: there[n] for n in (7, 8)}, removed=False)
    for step in ("as they are", "merged"):
        numbers, documents, _ = segments.look_up(database, np.array([7, 2, TOP - 8], np.uint64), None, 99)
        found = sorted(zip(numbers.tolist(), documents.tolist(), strict=True))
        assert found == [*((0, n) for n in there), (1, 2), (2, 8)], step
        segments.tidy(database, thorough=True)
    assert database.rows("SELECT format, postings FROM doublet_segment") == [(segments.PACKED, 31)]


def _stored(database: Database) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
    out = {}
    for segment in segments._segments(database):
        out[segment.id, segment.bits] = plain(segments._read(database, segment))
    return out


# The right to take segments away


def test_one_at_a_time_merges(database: Database) -> None:
    with segments.merging(database) as right:
        assert right is not None
        other = Database(database.address)
        with segments.merging(other) as second:
            assert second is None
        other.close()
    with segments.merging(database) as again:
        assert again is not None


@pytest.fixture
def lite() -> Database:
    return Database(new_address("sqlite"))


def test_who_was_killed_holds_nobody_up(lite: Database, small: None) -> None:
    """On SQLite the right is a lease: it ends with its owner, or when it was not renewed."""
    for owner, until in (
        ("elsewhere:1:1:1:machine", 0),
        (new_owner().replace(f":{os.getpid()}:", ":999999999:"), 4e9),
    ):
        with lite.writing():
            lite.rows("DELETE FROM doublet_merging")
            lite.rows("INSERT INTO doublet_merging (owner, until) VALUES (%s, %s)", [owner, until])
            clear(lite)
            for n in range(1, 8):
                _write(lite, {n: frozenset({7, n})}, removed=False)
            lite.rows(
                "UPDATE doublet_segment SET state = %s WHERE id = (SELECT max(id) FROM doublet_segment)", [0]
            )
        segments.tidy(lite)
        assert lite.rows("SELECT count(*) FROM doublet_merging") == [(0,)]
        found = segments.look_up(lite, np.array([7], np.uint64), None, 99)[1]
        assert found.tolist() == [1, 2, 3, 4, 5, 6]  # the last one was never put to use: it is gone
        assert lite.rows("SELECT count(*) FROM doublet_segment WHERE state <> 1") == [(0,)]


def test_who_lost_the_right_stops_and_nothing_is_lost(lite: Database, small: None, monkeypatch: Any) -> None:
    with lite.writing():
        for n in range(1, 9):
            _write(lite, {n: frozenset({7, n * (TOP // 9)})}, removed=False)
    copied = []

    def copy(*given: Any, plain: Any = segments._copy) -> None:
        plain(*given)
        copied.append(1)
        if len(copied) == 1:  # somebody else takes over in the middle of a merge
            lite.rows("UPDATE doublet_merging SET owner = 'another:1:1:1:machine'")

    monkeypatch.setattr(segments, "_copy", copy)
    segments.tidy(lite, thorough=True)
    assert len(copied) == 1
    assert lite.rows("SELECT owner FROM doublet_merging") == [("another:1:1:1:machine",)]
    assert len(segments.look_up(lite, np.array([7], np.uint64), None, 99)[1]) == 8
    lite.rows("UPDATE doublet_merging SET until = 0")
    segments.tidy(lite, thorough=True)
    assert lite.rows("SELECT state, postings FROM doublet_segment") == [(1, 16)]
    assert len(segments.look_up(lite, np.array([7], np.uint64), None, 99)[1]) == 8


@pytest.fixture
def rows_of_the_second_layout() -> Iterator[str]:
    """The address of a database as it was when every posting was a row."""
    from django.core.management import call_command

    address = new_address("postgresql")
    with Store(address) as store:
        store.libraries.create("old")
        store.documents.add(
            "old", [Document(str(n), " ".join(f"w{n}x{i}" for i in range(60))) for n in range(9)]
        )
        store.documents.remove("old", ["4"])
        call_command("migrate", "doublet_store", "0003", database=store.database.alias, verbosity=0)
        with store.database.writing():
            for statement in (
                "CREATE TABLE doublet_posting (key bigint NOT NULL, document bigint NOT NULL, "
                "PRIMARY KEY (key, document))",
                "DROP TABLE doublet_segment, doublet_block",
                "DELETE FROM django_migrations WHERE app = 'doublet_store' AND name > '0003'",
            ):
                store.database.rows(statement)
    return address


def test_rows_become_segments(rows_of_the_second_layout: str) -> None:
    with Store(rows_of_the_second_layout) as store:
        assert verify(store) == []
        text = store.documents.texts([next(store.documents.all("old")).number])
        assert check_library(store, next(iter(text.values()))).share == 1.0
        assert store.database.row("SELECT to_regclass('doublet_posting')") == (None,)


def test_a_damaged_index_is_found_and_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "HEAVY", 128)  # fewer than a step of making it again writes
    with Store(new_address("postgresql")) as store:
        store.libraries.create("x")
        shared = " ".join(f"all have these words {n}" for n in range(20))
        own = [" ".join(f"w{n}x{i}" for i in range(60)) for n in range(segments.HEAVY + 5)]
        store.documents.add("x", [Document(str(n), f"{shared} {text}") for n, text in enumerate(own)])
        for damage, error in (
            (
                "UPDATE doublet_block SET data = substr(data, 1, length(data) - 1) WHERE part >= 0",
                StoreDamaged,
            ),
            ("DELETE FROM doublet_block WHERE part < 0", StoreBusy),
        ):
            with store.database.writing():
                store.database.rows(damage)
            with pytest.raises(error, match="verify --repair"):
                check_library(store, f"{shared} {own[3]}")
            assert [finding.kind for finding in verify(store)] == ["index"]
            assert all(finding.repaired for finding in verify(store, repair=True))
            assert verify(store) == []
            assert check_library(store, f"{shared} {own[3]}").sources[0].id == "3"
