"""The pass over sorted pairs against the plain rule of `matches.keepers`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.matches.keepers import choose_keepers
from doublet.spark.deciding import GOES, OPEN, STAYS, settle


def passed(count: int, pairs: list[tuple[int, int]], at_once: int) -> list[int]:
    """States after a pass; *pairs* are (later, earlier). So many documents at a time."""
    states = np.zeros(count, np.uint8)
    rows = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    for low in range(0, count, at_once):
        some = rows[(rows[:, 0] >= low) & (rows[:, 0] < low + at_once)]
        if len(some):
            settle(some[:, 0], some[:, 1], states)
    return states.tolist()


def test_it_works() -> None:
    assert passed(3, [(1, 0), (2, 1)], 10) == [STAYS, GOES, STAYS]


@given(st.sets(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=60), st.integers(1, 20))
def test_the_same_as_the_plain_rule(pairs: set[tuple[int, int]], at_once: int) -> None:
    edges = [(max(p), min(p)) for p in pairs if p[0] != p[1]]
    later, earlier = (np.array([e[i] for e in edges], np.int64) for i in (0, 1))
    kept = choose_keepers(20, np.arange(20), earlier, later)
    assert [s == STAYS for s in passed(20, edges, at_once)] == kept.keepers.tolist()


@pytest.mark.parametrize("at_once", [1, 7, 100_000])
def test_a_chain_of_a_hundred_thousand(at_once: int) -> None:
    if at_once == 1:
        at_once = 30_000
    states = passed(100_000, [(i + 1, i) for i in range(99_999)], at_once)
    assert states == [i % 2 for i in range(100_000)]


def test_what_is_not_known_keeps_others_open() -> None:
    """1 waits; 2 depends on it; 3 goes in any case, for 0 stays; 4 depends on 3 alone and stays."""
    assert passed(5, [(1, -1), (2, 1), (3, 0), (3, 2), (4, 3)], 5) == [STAYS, OPEN, OPEN, GOES, STAYS]
