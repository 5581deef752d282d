"""Suffix array, common prefixes, groups of exact repeats and chains: the native kernels against their plain twins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublet.kernels import reference

native = pytest.importorskip("doublet.kernels.native", reason="the native kernels are not built: make setup")

PLENTY = 10**9
tokens = st.one_of(
    st.lists(st.integers(0, 1), max_size=60),
    st.lists(st.integers(0, 4), max_size=80),
    st.lists(st.sampled_from([0, 1, 7, 2**31, 2**32 - 3]), max_size=40),
    st.lists(st.sampled_from([[1, 2, 3, 4, 5, 6], [1, 2, 3], [7], [8, 9], [1, 2, 3, 4]]), max_size=14).map(
        lambda parts: list(itertools.chain(*parts))
    ),
)


def arrays(values: list[int]) -> np.ndarray:
    return np.array(values, np.uint32)


def same(left: tuple, right: tuple) -> None:
    for a, b in zip(left, right, strict=True):
        if isinstance(a, bool):
            assert a == b
        else:
            assert a.dtype == b.dtype
            assert a.tolist() == b.tolist()


@settings(max_examples=600)
@given(tokens)
@pytest.mark.covers("P2")
def test_suffix_array_and_prefixes(values):
    ids = arrays(values)
    order = native.suffix_array(ids)
    same((order,), (reference.suffix_array(ids),))
    same((native.common_prefixes(ids, order),), (reference.common_prefixes(ids, order),))


@settings(max_examples=800)
@given(tokens, st.integers(1, 5), st.sampled_from([PLENTY, 40]))
@pytest.mark.covers("P2")
def test_exact_groups(values, least, budget):
    ids = arrays(values)
    order = reference.suffix_array(ids)
    prefixes = reference.common_prefixes(ids, order)
    same(
        native.exact_groups(ids, order, prefixes, least, budget),
        reference.exact_groups(ids, order, prefixes, least, budget),
    )


@settings(max_examples=800)
@given(
    tokens,
    st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(0, 8), st.integers(0, 8)),
    st.integers(5, 40),
    st.integers(0, 6),
)
def test_self_chains(values, numbers, width, cost):
    ids = arrays(values)
    parts = (np.arange(len(ids)) // width).astype(np.uint32)
    same(
        native.self_chains(ids, parts, *numbers, 2, cost),
        reference.self_chains(ids, parts, *numbers, 2, cost),
    )


def test_all_texts_of_three_letters():
    for size in range(8):
        for values in itertools.product(range(3), repeat=size):
            ids = arrays(list(values))
            order = native.suffix_array(ids)
            assert order.tolist() == reference.suffix_array(ids).tolist()


def groups(ids: np.ndarray, least: int) -> tuple:
    order = native.suffix_array(ids)
    return native.exact_groups(ids, order, native.common_prefixes(ids, order), least, 64 * len(ids) + 64)


@pytest.mark.parametrize("period", [1, 2, 5, 7, 12, 1000])
def test_a_million_tokens_again_and_again(period):
    """Quadratic traps: periodic texts have as many overlapping repeats as there are tokens, squared."""
    ids = np.resize(np.arange(period, dtype=np.uint32), 1_000_000)
    offsets, starts, lengths, complete = groups(ids, 5)
    assert complete
    assert len(lengths) >= 1
    assert int(np.repeat(lengths, np.diff(offsets).astype(np.int64)).sum()) > 0.99 * len(ids)
    assert len(np.unique(starts)) == len(starts)
    parts = np.zeros(len(ids), np.uint32)
    assert len(native.self_chains(ids, parts, 4, 16, 20, 30, 6)[0]) < 17 * len(ids)


def test_no_input_is_too_strange():
    none = arrays([])
    assert native.suffix_array(none).tolist() == []
    same(native.exact_groups(none, none, none, 1, 10), reference.exact_groups(none, none, none, 1, 10))
    with pytest.raises(ValueError, match="at least one token"):
        native.exact_groups(none, none, none, 0, 10)
    with pytest.raises(ValueError, match="behind the last"):
        native.common_prefixes(arrays([1]), arrays([5]))
    with pytest.raises(ValueError, match="one part"):
        native.self_chains(arrays([1]), none, 4, 16, 20, 30, 6)
