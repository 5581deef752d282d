"""The keeper rule on plain pairs, against the kernel that finds pairs and keepers in one go."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublet import kernels
from doublet.kernels import reference
from doublet.matches.keepers import choose_keepers, covering

pytestmark = [pytest.mark.covers("K7")]


def u32(*values: int) -> Any:
    return np.array(values, np.uint32)


def both(*pairs: tuple[int, int]) -> tuple[Any, Any]:
    """Pairs that can stand for each other."""
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    return u32(*left, *right), u32(*right, *left)


def test_it_works():
    # 0 – 1 – 2: 1 is preferred, and stands for both.
    kept = choose_keepers(4, u32(1, 0, 2, 3), *both((0, 1), (1, 2)))
    assert kept.keepers.tolist() == [False, True, False, True]
    assert kept.links.tolist() == [1, 2]  # the pairs (1, 2) and (1, 0)


def test_a_document_that_went_stands_for_nobody():
    kept = choose_keepers(3, u32(0, 1, 2), *both((0, 1), (1, 2)))
    assert kept.keepers.tolist() == [True, False, True]


def test_who_takes_no_part_is_neither_kept_nor_stands_for_others():
    kept = choose_keepers(3, u32(1, 2), *both((0, 1), (0, 2)))
    assert kept.keepers.tolist() == [False, True, True]
    assert kept.links.tolist() == []


def test_one_direction_alone_does_not_work_backwards():
    kept = choose_keepers(2, u32(1, 0), u32(0), u32(1))
    assert kept.keepers.tolist() == [True, True]


def test_nothing_at_all():
    kept = choose_keepers(0, u32(), u32(), u32())
    assert (kept.keepers.tolist(), kept.links.tolist()) == ([], [])


def test_all_keepers_that_cover_are_told():
    kept = choose_keepers(3, u32(0, 1, 2), u32(0, 1), u32(2, 2))
    assert kept.keepers.tolist() == [True, True, False]
    assert kept.links.tolist() == [0, 1]


def test_exactly_at_the_threshold_covers():
    left, right, sizes = u32(0), u32(1), u32(4, 4)
    assert covering(left, right, u32(2), sizes, 2 / 6)[0].tolist() == [0, 1]
    assert covering(left, right, u32(2), sizes, 2 / 6 + 1e-9)[0].tolist() == []
    assert covering(left, right, u32(2), u32(2, 9), 0.9, 1.0)[0].tolist() == [1]  # the larger one


@st.composite
def sets_in_order(draw: st.DrawFn) -> tuple[list[set[int]], list[int]]:
    sets = draw(st.lists(st.sets(st.integers(0, 9), max_size=8), max_size=12))
    order = draw(st.permutations(range(len(sets))))
    return sets, list(order[: draw(st.integers(0, len(sets)))])


@pytest.mark.parametrize("kernel", [kernels.SetStore, reference.SetStore])
@given(
    sets_in_order(),
    st.sampled_from([0.2, 1 / 3, 0.5, 0.75, 1.0]),
    st.sampled_from([0.0, 0.5, 0.8, 1.0]),
)
@settings(max_examples=150, deadline=None)
def test_the_same_links_as_the_kernel_finds(
    kernel: Any, made: tuple[list[set[int]], list[int]], threshold: float, containment: float
):
    sets, order = made
    values = [[(v + 1) * 0x9E3779B97F4A7C15 % 2**64 for v in sorted(one)] for one in sets]
    store = kernel()
    store.add(
        np.array([v for one in values for v in one], np.uint64),
        np.cumsum([0, *map(len, values)]).astype(np.uint64),
    )
    expected = sorted(
        zip(*(column.tolist() for column in store.clean(u32(*order), threshold, containment)), strict=True)
    )
    pairs = list(itertools.combinations(range(len(sets)), 2))
    left, right = u32(*(a for a, _ in pairs)), u32(*(b for _, b in pairs))
    common = u32(*(len(sets[a] & sets[b]) for a, b in pairs))
    sizes = u32(*map(len, sets))
    keepers, documents, overlaps = covering(left, right, common, sizes, threshold, containment)
    kinds = {frozenset(one): number for number, one in enumerate(sets, 1)}
    equal = np.array([kinds[frozenset(one)] if one else -n for n, one in enumerate(sets)], np.int64)
    kept = choose_keepers(len(sets), u32(*order), keepers, documents, equal=equal.view(np.uint64))
    rows = [column[kept.links].tolist() for column in (documents, keepers, overlaps)]
    assert sorted(zip(*rows, strict=True)) == expected
    gone = {document for document, *_ in expected}
    assert np.flatnonzero(kept.keepers).tolist() == sorted(set(order) - gone)
