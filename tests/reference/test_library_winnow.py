"""Winnowing: the native kernel against its plain twin, and the promise it makes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet import kernels
from doublet.kernels import reference

LISTS = st.lists(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), max_size=60), max_size=5)


def arrays(documents: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    values = np.array([value for document in documents for value in document], np.uint64)
    return values, np.cumsum([0, *map(len, documents)]).astype(np.uint64)


def test_it_works() -> None:
    values, offsets = arrays([[5, 3, 9, 9, 1, 7], [], [4]])
    places, ends = kernels.winnow(values, offsets, 3)
    assert places.tolist() == [1, 4, 0]
    assert ends.tolist() == [0, 2, 2, 3]


def test_of_equal_values_the_last_is_taken() -> None:
    values, offsets = arrays([[2, 2, 2, 2]])
    assert kernels.winnow(values, offsets, 2)[0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("twin", [kernels.winnow, reference.winnow])
def test_a_window_of_nothing_is_refused(twin: object) -> None:
    with pytest.raises(ValueError, match="window"):
        twin(*arrays([[1]]), 0)  # type: ignore[operator]


@given(LISTS, st.integers(1, 25))
def test_twins_agree(documents: list[list[int]], window: int) -> None:
    values, offsets = arrays(documents)
    mine, theirs = kernels.winnow(values, offsets, window), reference.winnow(values, offsets, window)
    assert [x.tolist() for x in mine] == [x.tolist() for x in theirs]


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1), st.data())
@pytest.mark.covers("K1")
def test_a_shared_run_shares_a_choice(run: list[int], data: st.DataObject) -> None:
    """Two documents that have a run of *window* values in common choose a value of it, both the same."""
    around = st.lists(st.integers(0, 2**64 - 1), max_size=30)
    documents = [data.draw(around) + run + data.draw(around) for _ in range(2)]
    values, offsets = arrays(documents)
    places, ends = kernels.winnow(values, offsets, len(run))
    chosen = [
        set(values[int(offsets[d]) :][places[int(ends[d]) : int(ends[d + 1])]].tolist()) for d in range(2)
    ]
    assert chosen[0] & chosen[1] & set(run)
