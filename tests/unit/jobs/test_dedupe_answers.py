"""Answers of a collection that would not fit as objects: pairs as columns, JSON piece by piece, limits told."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.errors import MemoryTooSmall
from doublet.jobs.dedupe import answers, dedupe
from doublet.jobs.dedupe.answers import Pairs
from doublet.jobs.dedupe.memory import MemoryShares
from doublet.matches.groups import strict_groups
from doublet.model import Deduplication, Pair
from doublet.reports.json_report import json_document, json_parts

pytestmark = pytest.mark.covers("K7")

WORDS = "маяк стоит на мысу и светит кораблям которые идут мимо берега ночью в туман и в ясную погоду".split()


def copies(count: int = 6) -> Deduplication:
    texts = [(f"ид{i}", " ".join([*WORDS[: len(WORDS) - i % 3], f"слово{i}"])) for i in range(count)]
    return dedupe(texts, threshold=0.4, pairs=True, views=("strict", "families"))


def test_pairs_are_a_sequence() -> None:
    pairs = copies().pairs
    assert isinstance(pairs, Pairs)
    assert len(pairs) == 15
    assert pairs[0] == next(iter(pairs))
    assert pairs[-1] == list(pairs)[-1]
    assert pairs[1:3] == tuple(pairs)[1:3]
    assert pairs == tuple(pairs)
    assert pairs == list(pairs)
    assert pairs != 7
    assert repr(pairs) == "Pairs(15)"
    with pytest.raises(IndexError):
        pairs[15]
    rows = list(pairs)
    assert rows == sorted(rows, key=lambda pair: (-pair.resemblance, pair.a, pair.b))
    assert all(isinstance(pair, Pair) and pair.a < pair.b for pair in rows)


def test_no_pairs() -> None:
    nothing = np.zeros(0, np.uint32), np.zeros(0, np.uint32), *(np.zeros(0) for _ in range(3))
    assert list(Pairs.sorted([], *nothing)) == []


@pytest.mark.parametrize("count", [0, 1, 6])
def test_json_in_pieces_has_the_same_bytes(count: int) -> None:
    result = copies(count)
    assert b"".join(json_parts(result.fields())) == json_document(result.to_dict())


def test_json_of_nothing_and_of_breaks_inside_strings() -> None:
    assert b"".join(json_parts([])) == json_document({})
    value = {"a\n": "b\nc", "rows": [{"x": "\n"}, [], {}, None], "none": []}
    entries = [(name, iter(one) if isinstance(one, list) else one) for name, one in value.items()]
    assert b"".join(json_parts(entries)) == json_document(value)


def test_pairs_that_do_not_fit_are_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "LEAST_PAIRS", 3)
    monkeypatch.setattr(answers, "BYTES_PER_PAIR", 1 << 60)
    with pytest.raises(MemoryTooSmall, match=r"more than 3 pairs.*--memory"):
        copies(40)


def test_groups_that_do_not_fit_are_refused_with_what_to_do() -> None:
    room = MemoryShares(store=0, keys=0, folder="")
    room.check_removed(1_000, 500)
    room.check_removed(10_000_000, 0)
    with pytest.raises(
        MemoryTooSmall, match=r"200,000 of 300,000 documents are duplicates.*MB more \(--memory\)"
    ):
        room.check_removed(300_000, 200_000)


def by_hand(left: list[int], right: list[int], resemblance: list[float]) -> list[list[int]]:
    """Complete link in the plain way."""
    agree = {frozenset(pair) for pair in zip(left, right, strict=True)}
    groups = [{node} for node in sorted({*left, *right})]
    for _, a, b in sorted(zip((-one for one in resemblance), left, right, strict=True)):
        x = next(group for group in groups if a in group)
        y = next(group for group in groups if b in group)
        if x is not y and all(frozenset((p, q)) in agree for p in x for q in y):
            groups.remove(y)
            x |= y
    return sorted(sorted(group) for group in groups if len(group) > 1)


@given(st.data())
def test_strict_groups_agree_with_the_plain_way(data: st.DataObject) -> None:
    possible = list(combinations(range(9), 2))
    chosen = data.draw(st.lists(st.sampled_from(possible), unique=True, max_size=25))
    like = [data.draw(st.sampled_from([0.5, 0.7, 0.9])) for _ in chosen]
    left, right = [a for a, _ in chosen], [b for _, b in chosen]
    found = strict_groups(np.array(left, np.uint32), np.array(right, np.uint32), np.array(like, np.float64))
    assert found == by_hand(left, right, like)
