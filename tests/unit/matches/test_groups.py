"""Groups: star around keepers, strict, families."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.matches.groups import families, lists, strict_groups
from doublet.matches.keepers import closest_keepers


def u32(*values):
    return np.array(values, np.uint32)


def test_the_closest_keeper_wins():
    links = (u32(2, 2, 3), u32(0, 1, 1), u32(8, 9, 5))
    documents, keepers, resemblance, containment = closest_keepers(
        links, u32(10, 10, 10, 10), u32(0, 1, 2, 3)
    )
    assert documents.tolist() == [2, 3]
    assert keepers.tolist() == [1, 1]
    assert resemblance.tolist() == [9 / 11, 5 / 15]
    assert containment.tolist() == [0.9, 0.5]


def test_ties_go_to_the_more_preferred_keeper():
    links = (u32(2, 2), u32(0, 1), u32(8, 8))
    _, keepers, _, _ = closest_keepers(links, u32(10, 10, 10), u32(5, 1, 9))
    assert keepers.tolist() == [1]


def test_no_links():
    empty = np.zeros(0, np.uint32)
    assert [len(column) for column in closest_keepers((empty, empty, empty), u32(1, 2), u32(0, 1))] == [
        0,
        0,
        0,
        0,
    ]


def test_a_chain_is_one_family_but_no_strict_group():
    left, right = u32(0, 1, 2), u32(1, 2, 3)
    assert families(5, left, right) == [[0, 1, 2, 3]]
    assert strict_groups(left, right, np.array([0.9, 0.8, 0.7])) == [[0, 1], [2, 3]]


def test_a_long_chain_takes_no_more_memory_than_its_pairs():
    count = 20_000
    left = np.arange(count - 1, dtype=np.uint32)
    tracemalloc.start()
    try:
        groups = strict_groups(left, left + np.uint32(1), np.ones(count - 1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert groups == [[i, i + 1] for i in range(0, count, 2)]
    assert peak < 1_500 * count, "a table of all with all would take three times as much"


@given(
    st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda p: p[0] < p[1]), max_size=20),
    st.randoms(),
)
@pytest.mark.covers("K7")
def test_all_pairs_of_a_strict_group_agree(pairs, random):
    ordered = sorted(pairs)
    left, right = u32(*(a for a, _ in ordered)), u32(*(b for _, b in ordered))
    weights = np.array([random.choice([0.5, 0.7, 0.9]) for _ in ordered])
    groups = strict_groups(left, right, weights)
    for group in groups:
        assert all(pair in pairs for pair in itertools.combinations(group, 2))
    members = [m for group in groups for m in group]
    assert len(members) == len(set(members))


def test_lists_of_names_are_sorted():
    assert lists([[2, 0], [1, 3]], ["d", "b", "a", "c"]) == (("a", "d"), ("b", "c"))
