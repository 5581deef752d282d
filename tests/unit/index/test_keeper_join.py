"""The walk around keepers over candidates from keys, against comparing everything with everything."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from doublet import kernels
from doublet.index import keeper_join as module
from doublet.index import keys as keys_module
from doublet.index import rarest as rarest_module
from doublet.index.keeper_join import clean_by_keys
from doublet.index.keys import KeyTable

Links = list[tuple[int, int, int]]

pytestmark = [pytest.mark.covers("K7")]


def stored(sets: list[set[int]]) -> Any:
    store = kernels.SetStore()
    # Fingerprints are spread over all bits; small numbers would all be of one kind.
    values = [[(v + 1) * 0x9E3779B97F4A7C15 % 2**64 for v in sorted(one)] for one in sets]
    flat = np.array([v for one in values for v in one], np.uint64)
    store.add(flat, np.cumsum([0, *map(len, values)]).astype(np.uint64))
    return store


def tabled(keys: list[set[int]], memory: int | None = None, folder: str | None = None) -> KeyTable:
    table = KeyTable(memory, folder)
    for document, own in enumerate(keys):
        table.add(np.array(sorted(own), np.uint64), np.full(len(own), document, np.uint32))
    table.settle(len(keys))
    return table


def by_hand(
    sets: list[set[int]],
    keys: list[set[int]],
    order: list[int],
    threshold: float,
    containment: float,
    disagree: set[tuple[int, int]],
) -> Links:
    """Keepers in order; each is compared with all that come behind it and share a key."""
    links, covered = [], set()
    for place, keeper in enumerate(order):
        if keeper in covered or not sets[keeper]:
            continue
        for other in order[place + 1 :]:
            common = len(sets[keeper] & sets[other])
            if not sets[other] or not keys[keeper] & keys[other] or (keeper, other) in disagree:
                continue
            near = common / len(sets[keeper] | sets[other]) >= threshold
            within = len(sets[other]) <= len(sets[keeper]) and common / len(sets[other]) >= containment > 0
            if near or within:
                links.append((other, keeper, common))
                covered.add(other)
    return sorted(links)


def rows(found: tuple[Any, Any, Any]) -> Links:
    return sorted(zip(*(column.tolist() for column in found), strict=True))


@st.composite
def collections(draw: st.DrawFn) -> tuple[list[set[int]], list[set[int]], list[int], set[tuple[int, int]]]:
    """Templates with some words changed, that share keys with all, some or none."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    count = draw(st.integers(0, 40))
    size, words = draw(st.integers(1, 12)), draw(st.integers(1, 30))
    templates = [[rng.randrange(words) for _ in range(size)] for _ in range(draw(st.integers(1, 4)))]
    sets, keys = [], []
    for number in range(count):
        own = list(rng.choice(templates))
        for _ in range(draw(st.integers(0, 3))):
            own[rng.randrange(size)] = rng.choice([1000 + number, 1000 + number // 2, rng.randrange(words)])
        sets.append(set(own[: rng.choice([0, size, size, rng.randint(1, size)])]))
        keys.append({rng.randrange(draw(st.sampled_from([1, 3, 20]))) for _ in range(rng.randrange(4))})
    order = list(range(count))
    rng.shuffle(order)
    pairs = list(itertools.permutations(range(count), 2))
    disagree = set(rng.sample(pairs, len(pairs) // 3)) if draw(st.booleans()) else set()
    return sets, keys, order[: draw(st.integers(0, count))] if draw(st.booleans()) else order, disagree


@pytest.mark.parametrize("way", ["keys", "wording", "wording in parts", "one at a time"])
@settings(max_examples=150, deadline=None)
@given(
    made=collections(),
    threshold=st.sampled_from([0.2, 0.5, 0.6, 0.8, 1.0]),
    containment=st.sampled_from([0.0, 0.5, 0.9, 1.0]),
)
def test_the_same_links_as_by_hand(
    way: str,
    made: tuple[list[set[int]], list[set[int]], list[int], set[tuple[int, int]]],
    threshold: float,
    containment: float,
) -> None:
    sets, keys, order, disagree = made

    def agree(keeper: int, others: NDArray[np.uint32]) -> NDArray[np.bool_]:
        return np.array([(keeper, other) not in disagree for other in others.tolist()], np.bool_)

    def alike(keepers: NDArray[np.uint32], others: NDArray[np.uint32]) -> NDArray[np.bool_]:
        left, right = np.broadcast_arrays(keepers, others)
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return np.array([pair not in disagree or sum(pair) % 2 == 0 for pair in pairs], np.bool_)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys_module, "LARGE", 2)
        if way != "keys":
            patch.setattr(module, "PATIENCE", 0)
            patch.setattr(module, "LEAST_PATIENCE", 3 if way == "wording" else -1)
        if way == "wording in parts":
            patch.setattr(rarest_module, "LEAST_ENTRIES", 3)
            patch.setattr(rarest_module, "ENTRY_BYTES", 1 << 40)
            patch.setattr(rarest_module, "VALUES_AT_ONCE", 5)
        if way == "one at a time":
            patch.setattr(module, "PAIRS_AT_ONCE", 1)
        if way != "wording":
            patch.setattr(module, "WIDE", 4)
        found = clean_by_keys(
            tabled(keys),
            stored(sets),
            np.array(order, np.uint32),
            threshold,
            containment,
            agree=agree if disagree else None,
            alike=alike if disagree else None,
        )
    assert rows(found) == by_hand(sets, keys, order, threshold, containment, disagree)


def template_texts(count: int) -> list[set[int]]:
    """Sets of five of which three are the same in all: a resemblance of 3/7, and keys in common."""
    return [{1, 2, 3, 1000 + 2 * number, 1001 + 2 * number} for number in range(count)]


class Counting:
    """A store that counts the pairs it compares."""

    def __init__(self, store: Any) -> None:
        self.store, self.pairs = store, 0

    def sizes(self) -> Any:
        return self.store.sizes()

    def get(self, document: int) -> Any:
        return self.store.get(document)

    def overlaps(self, left: Any, right: Any) -> Any:
        self.pairs += len(left)
        return self.store.overlaps(left, right)


@pytest.mark.parametrize("count", [1000, 2000])
def test_texts_that_are_not_near_enough_cost_no_square(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_PATIENCE", 0)
    store = Counting(stored(template_texts(count)))
    table = tabled([{1, 2, 10 + number % 3} for number in range(count)])
    found = clean_by_keys(table, store, np.arange(count, dtype=np.uint32), 0.5, 0.9)  # type: ignore[arg-type]
    assert rows(found) == []
    assert store.pairs <= 2 * module.PATIENCE * count  # all pairs are 500 and 1000 times as many as documents


@pytest.mark.parametrize("count", [1000, 2000])
def test_near_copies_of_one_text_are_compared_once(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_PATIENCE", 0)
    sets = [{*range(20), 1000 + number} for number in range(count)]
    store = Counting(stored(sets))
    table = tabled([{1, 2, 3} for _ in range(count)])
    found = clean_by_keys(table, store, np.arange(count, dtype=np.uint32), 0.5, 0.9)  # type: ignore[arg-type]
    assert rows(found) == [(document, 0, 20) for document in range(1, count)]
    assert store.pairs <= 10 * count


def test_long_sets_are_found_by_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys_module, "LARGE", 2)
    monkeypatch.setattr(module, "PATIENCE", 0)
    monkeypatch.setattr(module, "LEAST_PATIENCE", -1)
    monkeypatch.setattr(module, "LONGEST", 8)
    monkeypatch.setattr(rarest_module, "LONGEST", 8)
    rng = random.Random(4)
    sets = [set(rng.sample(range(30), rng.randint(1, 25))) for _ in range(60)]
    keys = [{rng.randrange(2)} for _ in sets]
    found = clean_by_keys(tabled(keys), stored(sets), np.arange(60, dtype=np.uint32), 0.5, 0.9)
    assert rows(found) == by_hand(sets, keys, list(range(60)), 0.5, 0.9, set())


def test_of_very_many_links_the_closest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(8)
    sizes = np.array([rng.randint(5, 9) for _ in range(40)], np.int64)
    ranks = np.array(rng.sample(range(40), 40), np.int64)
    links, every = module._Links(sizes, ranks), []
    monkeypatch.setattr(module, "LINKS_AT_ONCE", 10)
    for _ in range(60):
        some = sorted({(rng.randrange(20), rng.randrange(20, 40)) for _ in range(5)})
        overlaps = [rng.randint(1, 5) for _ in some]
        every += [(d, k, o) for (d, k), o in zip(some, overlaps, strict=True)]
        links.add(*(np.array(c, np.uint32) for c in (*zip(*some, strict=True), overlaps)))
    best: dict[int, tuple[float, float, int, int, int]] = {}
    for document, keeper, common in every:
        own, other = int(sizes[document]), int(sizes[keeper])
        row = (-common / (own + other - common), -common / own, int(ranks[keeper]), keeper, common)
        best[document] = min(best.get(document, row), row)
    found = rows(links.all())
    assert len(found) < len(every)
    assert {(document, row[3], row[4]) for document, row in best.items()} <= set(found)


def test_spilled_tables_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_PATIENCE", 0)
    monkeypatch.setattr(module, "PATIENCE", 1)
    rng = random.Random(2)
    sets = [{*rng.sample(range(12), 6), 100 + rng.randrange(40)} for _ in range(400)]
    keys = [{rng.randrange(4), 10 + rng.randrange(100)} for _ in sets]
    order = np.array(rng.sample(range(400), 400), np.uint32)
    loose = rows(clean_by_keys(tabled(keys), stored(sets), order, 0.5, 0.9))
    tight = rows(clean_by_keys(tabled(keys, 0, str(tmp_path)), stored(sets), order, 0.5, 0.9))
    assert loose == tight == by_hand(sets, keys, order.tolist(), 0.5, 0.9, set())
    assert loose


def test_progress_goes_on_to_the_end() -> None:
    steps: list[tuple[int, int]] = []
    sets, keys = template_texts(50), [{1}] * 50
    clean_by_keys(
        tabled(keys),
        stored(sets),
        np.arange(50, dtype=np.uint32),
        0.5,
        0.9,
        on_step=lambda done, total: steps.append((done, total)),
    )
    assert steps == sorted(steps)
    assert steps[0] == (0, 50)
    assert steps[-1] == (50, 50)
