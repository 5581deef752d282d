"""The parts of the robot that need no network: traps, variants, mirrors, refresh, spool."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from doublet.crawl import mirrors, refresh
from doublet.crawl.patterns import read_pattern
from doublet.crawl.protocol import PageRow
from doublet.crawl.ranges import holes
from doublet.crawl.soft404 import impossible
from doublet.crawl.spool import Spool
from doublet.crawl.standing import Standing
from doublet.crawl.traps import Budget, odd_shape, shape_of
from doublet.crawl.variants import Variants


@pytest.mark.covers("R5")
@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://x.org/post/12/", ""),
        ("http://x.org/a/b/a/b/a/b/", "repeats_itself"),
        ("http://x.org/" + "/".join("abcdefghijklmnop"), "too_deep"),
        ("http://x.org/?a=1&a=2", "parameter_twice"),
        ("http://x.org/?ids%5B%5D=1&ids%5B%5D=2", ""),
        ("http://x.org/?" + "&".join(f"p{n}=1" for n in range(7)), "too_many_parameters"),
        ("http://x.org/logo.PNG", "not_text"),
        ("http://x.org/paper.pdf", ""),
        ("http://x.org/" + "x" * 1000, "too_long"),
    ],
)
def test_odd_shapes(address: str, why: str) -> None:
    assert odd_shape(address) == why


@pytest.mark.covers("R5")
def test_a_pattern_that_brings_nothing_is_given_up() -> None:
    budget = Budget(first=10)
    shape = shape_of("/calendar/2024/05/")
    assert shape == shape_of("/calendar/1999/12/") == "/calendar/0/0/"
    for _ in range(10):
        assert not budget.spent(shape)
        budget.tell(shape, good=False)
    assert budget.spent(shape)
    budget.tell(shape, good=True)
    assert not budget.spent(shape)
    assert not budget.spent(shape_of("/post/1"))
    assert Budget.from_dict(budget.to_dict(), 10) == budget


@pytest.mark.covers("R4")
def test_parameters_that_change_nothing_are_learned() -> None:
    variants = Variants()
    for page, content in (("a", 1), ("b", 2)):
        for session in ("x1", "x2", "x3"):
            variants.tell(f"http://x.org/{page}?id=7&sid={session}", content)
    assert variants.void == {"?sid"}
    assert variants.plain("http://x.org/c?id=7&sid=99") == "http://x.org/c?id=7"
    for number in (1, 2, 3):
        variants.tell(f"http://x.org/a?id={number}", number)
    assert "?id" in variants.meant
    assert Variants.from_dict(variants.to_dict()).plain("http://x.org/c?sid=1") == "http://x.org/c"


@pytest.mark.covers("R4")
def test_spellings_are_joined_by_content() -> None:
    variants = Variants()
    for page in ("a", "b"):
        for spelling in ("http://x.org", "https://x.org", "https://www.x.org"):
            variants.tell(f"{spelling}/{page}/", hash(page))
            variants.tell(f"{spelling}/{page}", hash(page))
    assert variants.void == {"scheme", "www", "slash"}
    assert variants.plain("https://www.x.org/c/") == variants.plain("http://x.org/c")
    other = Variants()
    other.tell("http://x.org/a", 1)
    other.tell("http://x.org/a/", 2)
    assert other.meant == {"slash"} and not other.void


def text(seed: str, words: int = 200) -> str:
    draw = random.Random(seed)
    return " ".join(f"w{draw.randrange(3000)}" for _ in range(words))


@pytest.mark.covers("R7")
def test_mirrors() -> None:
    pages = [text(str(n)) for n in range(20)]
    framed = [f"Another frame here {page} and its own footer" for page in pages]
    assert mirrors.is_mirror(zip(pages, framed, strict=True))
    changed = [page if n % 10 else text(f"new {n}") for n, page in enumerate(framed)]
    assert mirrors.is_mirror(zip(pages, changed, strict=True))
    half = [page if n % 2 else text(f"half {n}") for n, page in enumerate(framed)]
    assert not mirrors.is_mirror(zip(pages, half, strict=True))
    assert not mirrors.is_mirror(zip(pages[:5], framed[:5], strict=True))


@pytest.mark.covers("R6")
def test_intervals_halve_and_double_within_bounds() -> None:
    day = 86_400
    assert refresh.next_interval(8 * day, changed=True) == 4 * day
    assert refresh.next_interval(8 * day, changed=False) == 16 * day
    assert refresh.next_interval(refresh.SHORTEST_S, changed=True) == refresh.SHORTEST_S
    assert refresh.next_interval(refresh.LONGEST_S, changed=False) == refresh.LONGEST_S


@pytest.mark.covers("R6")
@pytest.mark.parametrize(
    ("state", "reason", "interval_s", "changed", "seconds"),
    [
        ("stored", "", None, None, refresh.FIRST_S),
        ("walked", "", 8_000, True, 4_000),
        ("duplicate", "", 8_000, False, 16_000),
        ("too_short", "", 8_000, None, 8_000),
        ("failed", "no_answer", 8_000, None, refresh.FAILED_S),
        ("refused", "403", None, None, refresh.FAILED_S),
        ("refused", "robots", None, None, None),
        ("missing", "404", 8_000, None, None),
        ("trap", "budget", None, None, None),
    ],
)
def test_when_a_page_is_asked_for_again(
    state: str, reason: str, interval_s: int | None, changed: bool | None, seconds: int | None
) -> None:
    assert refresh.next_visit(state, reason, interval_s, changed=changed) == seconds


@pytest.mark.covers("R6")
def test_the_fourth_turn_is_of_an_old_page() -> None:
    rows = [PageRow(number, 1, "/", 0, 0, -1, number > 5, None, number) for number in range(1, 9)]
    assert [row.number for row in refresh.mixed(rows[:5], rows[5:])] == [1, 2, 3, 6, 4, 5, 7, 8]
    assert refresh.mixed([], []) == []


@pytest.mark.covers("R6")
def test_only_useful_changes_count() -> None:
    noise = refresh.Noise()
    base = text("page")
    for visit in range(8):
        assert not noise.is_change(
            f"{base} visits {visit} today 12:30", f"{base} visits {visit + 1} today 12:31"
        )
    assert noise.is_change(f"{base} visits 3", f"{base} visits 4 and a whole new sentence was written here")
    assert not refresh.Noise().is_change(base, base)
    assert refresh.Noise.from_dict(noise.to_dict()) == noise


def test_probes_have_the_shape_of_documents() -> None:
    number = impossible(read_pattern("/post/{number}/"), "http://x.org", 1)
    assert read_pattern("/post/{number}/").matches(number)
    dated = read_pattern("/{year}/{month}/{hyphened}.html")
    assert dated.matches(impossible(dated, "http://x.org", 0))
    assert impossible(None, "http://x.org", 0) != impossible(None, "http://x.org", 1)


@pytest.mark.covers("L3")
def test_the_spool_gives_back_what_was_not_stored(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    spool = Spool(folder, segment_bytes=1000)
    put = [spool.put(page, {"status": 200}, bytes([page]) * 300) for page in range(1, 8)]
    spool.done([(one.segment, one.page) for one in put[:3]])
    with (folder / f"{put[-1].segment}.spool").open("ab") as torn:
        torn.write(b"DSP1\x10\x00")  # a record that was cut in the middle
    spool._open.close()  # as the end of a process does
    again = Spool(folder, segment_bytes=1000)
    found = list(again.replay())
    assert {4, 5, 6, 7} <= {one.page for one in found}
    assert next(one for one in found if one.page == 7).body == bytes([7]) * 300
    fresh = again.put(9, {"status": 404}, b"")
    again.done([(one.segment, one.page) for one in [*found, fresh]])
    again.close()
    assert not folder.exists()


@pytest.mark.covers("L3")
def test_a_spool_that_is_left_keeps_everything(tmp_path: Path) -> None:
    for turn in range(3):
        spool = Spool(tmp_path / "look")
        assert len(list(spool.replay())) == turn
        spool.put(1, {"turn": turn}, b"x")
        spool.leave()


@pytest.mark.covers("L2")
def test_a_range_is_given_up_only_when_its_holes_are_certain() -> None:
    draw = random.Random(7)

    def given_up(share: float) -> int:
        made = 0
        for _ in range(1000):
            found, doubt = holes([draw.random() >= share for _ in range(60)])
            made += found - doubt > 0.75
        return made

    assert given_up(0.7) <= 2
    assert given_up(0.99) >= 990
    assert holes([]) == (0.0, 1.0)


@pytest.mark.covers("L3")
@pytest.mark.parametrize("damage", ["cut", "zeros", "noise", "empty"])
def test_a_spool_after_a_power_cut(tmp_path: Path, damage: str) -> None:
    """Nothing is flushed to the disk itself: the end of a segment may be missing, or be anything."""
    folder = tmp_path / "spool"
    spool = Spool(folder)
    put = [spool.put(page, {"status": 200}, bytes([page]) * 5000) for page in (1, 2, 3)]
    spool._open.close()  # as the end of a process does
    path = folder / f"{put[-1].segment}.spool"
    whole = path.read_bytes()
    kept = 0 if damage == "empty" else len(whole) - 4096
    rest = {"zeros": bytes(4096), "noise": random.Random(1).randbytes(4096)}.get(damage, b"")
    path.write_bytes(whole[:kept] + rest)
    after = Spool(folder)
    assert [record.page for record in after.replay()] == ([] if damage == "empty" else [1, 2])
    again = after.put(3, {"status": 200}, b"once more")  # it goes on in a file of its own
    after._open.close()
    found = {record.page: record.body for record in Spool(folder).replay()}
    assert found[3] == b"once more" and again.segment > put[-1].segment


# Hosts that do not answer


def test_a_host_that_fails_is_left_alone_twice_as_long_each_time() -> None:
    standing = Standing()
    assert [standing.failed(broken=False) for _ in range(10)] == [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    assert [standing.failed(broken=True) for standing in (Standing(), Standing(failures=1))] == [0, 2]


def test_eight_tries_without_an_answer_are_enough() -> None:
    standing = Standing(failures=6)
    standing.failed(broken=True)
    assert not standing.silent
    standing.failed(broken=True)
    assert standing.silent
    standing.answered(500)
    assert not standing.failures


def test_a_host_that_refuses_twenty_five_times_in_a_row_is_asked_no_more() -> None:
    standing = Standing()
    for status in [403] * 24 + [200] + [403, 404, 451] * 12:  # what is not there says nothing about us
        standing.answered(status)
        assert not standing.banned
    standing.answered(401)
    assert standing.banned
