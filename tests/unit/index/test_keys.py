"""Keys of a collection: who shares one, in memory, spilled, and taken in turns."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import numpy as np
import pytest

from doublet.index import keys as module
from doublet.index.keys import KeyTable
from doublet.jobs import dedupe as job
from doublet.jobs.dedupe import memory

COUNT = 300


def entries(seed: int) -> list[tuple[int, int]]:
    """(key, document): some keys alone, some of two, one of many; small numbers and large ones."""
    rng = random.Random(seed)
    pool = [*range(200), *(rng.getrandbits(64) for _ in range(300)), 2**64 - 1]
    return sorted(
        {(rng.choice(pool), document) for document in range(COUNT) for _ in range(rng.randrange(6))}
    )


def near_by_hand(every: list[tuple[int, int]], document: int) -> list[int]:
    """Documents that share a key; nothing when this one shares none."""
    own = {key for key, owner in every if owner == document}
    shared = {key for key in own if sum(k == key for k, _ in every) > 1}
    return sorted({owner for key, owner in every if key in shared})


def filled(every: list[tuple[int, int]], *, memory: int | None, folder: Path) -> KeyTable:
    table = KeyTable(memory, str(folder))
    by_document = sorted(every, key=lambda entry: entry[1])
    for start in range(0, len(by_document), 37):
        some = by_document[start : start + 37]
        table.add(np.array([k for k, _ in some], np.uint64), np.array([d for _, d in some], np.uint32))
    table.settle(COUNT)
    return table


@pytest.mark.parametrize("memory", [None, 0, 5_000])
@pytest.mark.parametrize("at_once", [1 << 20, 100, 1])
def test_near_agrees_with_the_plain_way(
    memory: int | None, at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEYS_AT_ONCE", at_once)
    every = entries(at_once)
    table = filled(every, memory=memory, folder=tmp_path)
    assert [table.near(d).tolist() for d in range(COUNT)] == [near_by_hand(every, d) for d in range(COUNT)]
    assert list(tmp_path.iterdir()) == []  # the file has no name


@pytest.mark.parametrize("memory", [None, 0])
def test_who_is_in_one_large_group(
    memory: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGE", 3)
    every = entries(7)
    table = filled(every, memory=memory, folder=tmp_path)
    large = [
        {owner for _, owner in group}
        for _, group in itertools.groupby(sorted(every), key=lambda entry: entry[0])
    ]
    large = [group for group in large if len(group) > 3]
    left, right = np.array(list(itertools.combinations(range(COUNT), 2)), np.uint32).T
    wanted = [any({a, b} <= group for group in large) for a, b in zip(left, right, strict=True)]
    assert table.share_large(left, right).tolist() == wanted
    assert table.crowded.tolist() == [any(d in group for group in large) for d in range(COUNT)]
    leads = table.leads(np.arange(COUNT, dtype=np.uint32))
    small, much = leads.costs()
    owners, found = table.follow(leads)
    assert (small + much).tolist() == np.bincount(owners, minlength=COUNT).tolist()
    assert len(found) == len(owners)
    assert (much > 0).tolist() == table.crowded.tolist()


def test_edges_are_read_a_fixed_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are: time must not grow with the square of them."""
    monkeypatch.setattr(module, "KEYS_AT_ONCE", 50)
    table = KeyTable()
    read, edges = [], table._edges
    plain = edges.read
    monkeypatch.setattr(edges, "read", lambda low, high: read.append(high - low) or plain(low, high))
    rng = random.Random(3)
    for document in range(2000):
        table.add(
            np.array(sorted({rng.randrange(3000) for _ in range(4)}), np.uint64)[:3],
            np.full(3, document, np.uint32),
        )
    table.settle(2000)
    assert sum(read) > 10_000
    assert sum(read) <= 3 * 2000 * 3 * 2


def test_nothing_in_it(tmp_path: Path) -> None:
    table = filled([], memory=0, folder=tmp_path)
    assert table.near(0).tolist() == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        filled(entries(1), memory=0, folder=tmp_path / "missing")


@pytest.mark.parametrize("method", ["minhash", "simhash", "supershingles", "pivot", "imatch", "tfidf"])
def test_a_method_with_spilled_keys_gives_the_same(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(5)
    base = [[f"w{rng.randrange(3000)}" for _ in range(120)] for _ in range(30)]
    texts = [(f"{i}", " ".join(base[i % 30][: 120 - i % 7])) for i in range(90)]
    loose = job.dedupe(texts, method=method).to_dict()
    monkeypatch.setattr(memory, "KEY_SHARE", 1 << 60)
    monkeypatch.setattr(module, "KEYS_AT_ONCE", 64)
    tight = job.dedupe(texts, method=method, spill_folder=str(tmp_path)).to_dict()
    assert loose == tight
    assert loose["groups"]
