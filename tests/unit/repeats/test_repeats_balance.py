"""Balancing: what is dropped, what is joined, and when it is not."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.repeats.balance import balance, drop_lonely, significance

pytestmark = pytest.mark.covers("P5")


def test_it_works():
    """Both groups have the same number of fragments, all side by side: they are glued."""
    first, second = [(0, 5), (20, 25)], [(5, 9), (25, 29)]
    assert balance([first, second]) == [[(0, 9), (20, 29)]]


def test_significance_is_number_times_square_of_mean_length():
    assert significance([(0, 10), (20, 30), (40, 50)]) == 3 * 10**2
    assert significance([(0, 10), (20, 24)]) == 2 * 7**2
    assert significance([]) == 0


def test_empty_and_single_groups_are_dropped():
    assert drop_lonely([[], [(0, 5)], [(0, 5), (9, 14)]]) == [[(0, 5), (9, 14)]]
    assert balance([[], [(0, 5)]]) == []
    assert balance([]) == []


def test_groups_that_do_not_touch_stay():
    groups = [[(0, 5), (20, 25)], [(6, 9), (26, 29)]]
    assert sorted(balance(groups)) == sorted(groups)


def test_groups_that_touch_only_in_part_stay():
    groups = [[(0, 5), (20, 25)], [(5, 9), (40, 44)]]
    assert sorted(balance(groups)) == sorted(groups)


def test_the_smaller_group_takes_its_neighbours_from_the_larger():
    small, large = [(0, 10), (30, 40)], [(10, 20), (40, 50), (60, 70), (80, 90)]
    before = significance(small) + significance(large)
    out = balance([small, large])
    assert sorted(out) == [[(0, 20), (30, 50)], [(60, 70), (80, 90)]]
    assert sum(map(significance, out)) > before


def test_a_rest_of_one_is_dropped_after_the_join():
    assert balance([[(0, 10), (30, 40)], [(10, 20), (40, 50), (60, 70)]]) == [[(0, 20), (30, 50)]]


def test_no_join_where_the_significance_would_not_grow():
    """A short pair beside long fragments: 2·1² + 3·40² is more than 2·41² + 1·40² only when the pair is very short."""
    small = [(39, 40), (139, 140)]
    large = [(40, 41), (140, 141), (300, 400)]
    before = significance(small) + significance(large)
    after = significance([(39, 41), (139, 141)]) + significance([(300, 400)])
    assert after > before
    assert balance([small, large]) == [[(39, 41), (139, 141)]]
    # The other way round: the long fragment holds the mean of its group up.
    small = [(0, 1), (50, 51)]
    large = [(1, 101), (51 + 100, 51 + 200), (400, 401), (500, 501)]
    assert [(0, 1), (50, 51)] in balance([small, large])


def test_nothing_is_joined_over_a_border():
    groups = [[(0, 5), (20, 25)], [(5, 9), (25, 29)]]
    assert sorted(balance(groups, borders={25})) == sorted(groups)


def test_joins_go_on_to_the_end():
    groups = [[(10 * i + 100 * j, 10 * i + 100 * j + 10) for j in range(3)] for i in range(5)]
    assert balance(groups) == [[(0, 50), (100, 150), (200, 250)]]


def test_the_input_is_left_alone():
    groups = [[(20, 25), (0, 5)], [(5, 9), (25, 29)]]
    balance(groups)
    assert groups == [[(20, 25), (0, 5)], [(5, 9), (25, 29)]]


@st.composite
def tilings(draw):
    """A text cut into fragments; some of them belong to groups."""
    edges = sorted(draw(st.sets(st.integers(0, 200), min_size=4, max_size=60)))
    groups = [[] for _ in range(draw(st.integers(1, 8)))]
    for fragment in itertools.pairwise(edges):
        number = draw(st.integers(-2, len(groups) - 1))
        if number >= 0:
            groups[number].append(fragment)
    return groups


@given(tilings())
def test_laws(groups):
    out = balance(groups)
    start = sum(significance(g) for g in drop_lonely(groups))
    assert sum(map(significance, out)) >= start - 1e-6 - sum(
        max(significance([f]) for f in g) for g in drop_lonely(groups)
    )
    covered = {i for g in drop_lonely(groups) for a, b in g for i in range(a, b)}
    seen: list[int] = [i for g in out for a, b in g for i in range(a, b)]
    assert len(seen) == len(set(seen)), "no token twice"
    assert set(seen) <= covered, "nothing that was not in a group"
    assert all(len(g) > 1 for g in out)
    assert balance(out) == balance(balance(out))
