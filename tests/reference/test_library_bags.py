"""The kernels of stored words against their plain twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet import kernels
from doublet.kernels import reference

DOCUMENTS = st.lists(st.lists(st.integers(0, 30), max_size=20), max_size=8)


def _columns(documents: list[list[int]]) -> tuple[Any, Any]:
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.uint64)
    return np.array([word for own in documents for word in own], np.uint32), offsets


def _same(mine: Any, theirs: Any) -> None:
    for a, b in zip(mine, theirs, strict=True):
        assert a.dtype == b.dtype
        assert a.tolist() == b.tolist()


def test_it_works() -> None:
    words, offsets = _columns([[2, 0, 2], [], [1]])
    data, ends, df, cf, rows = kernels.pack_bags(words, offsets, np.array([5, 300, 9], np.uint64))
    # 2 words: 5 once, 9 (4 more) several times, namely 2; nothing; 1 word: 300 in two bytes.
    assert data.tolist() == [2, 5 << 1, (4 << 1) | 1, 2, 0, 1, (600 & 127) | 128, 600 >> 7]
    assert ends.tolist() == [0, 4, 5, 8]
    assert df.tolist() == [1, 1, 1]
    assert cf.tolist() == [1, 1, 2]
    assert rows.tolist() == [1, 0, 1, 0]
    _same(
        kernels.unpack_bags(data, ends),
        (np.array([5, 9, 300], np.uint32), np.array([1, 2, 1], np.uint32), np.array([0, 2, 2, 3], np.uint64)),
    )


@given(DOCUMENTS, st.randoms(use_true_random=False))
def test_packing_equals_its_twin_and_is_undone(documents: list[list[int]], luck: Any) -> None:
    numbers = np.array(
        luck.sample([*range(1, 40), 127, 128, 16_383, 16_384, 2**31, 2**32 - 1], 31), np.uint64
    )
    words, offsets = _columns(documents)
    packed = kernels.pack_bags(words, offsets, numbers)
    _same(packed, reference.pack_bags(words, offsets, numbers))
    found = kernels.unpack_bags(packed[0], packed[1])
    _same(found, reference.unpack_bags(packed[0], packed[1]))
    for place, own in enumerate(documents):
        row = slice(int(found[2][place]), int(found[2][place + 1]))
        counts = {int(numbers[word]): own.count(word) for word in own}
        assert dict(zip(found[0][row].tolist(), found[1][row].tolist(), strict=True)) == counts
        assert found[0][row].tolist() == sorted(counts)


@pytest.mark.parametrize("twin", [kernels, reference])
@pytest.mark.parametrize(
    "data",
    [
        [],
        [1],
        [2, 4],
        [1, 4, 9],
        [1, 5],
        [1, 5, 1],
        [1, 128],
        [1, 254, 255, 255, 255, 255, 1],
        [255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1],
    ],
)
def test_a_damaged_bag_is_told(twin: Any, data: list[int]) -> None:
    with pytest.raises(ValueError, match="damaged"):
        twin.unpack_bags(np.array(data, np.uint8), np.array([0, len(data)], np.uint64))


@pytest.mark.parametrize("twin", [kernels, reference])
def test_a_word_without_a_number_is_refused(twin: Any) -> None:
    with pytest.raises(ValueError, match="no number"):
        twin.pack_bags(np.array([1], np.uint32), np.array([0, 1], np.uint64), np.array([7], np.uint64))


@given(
    st.lists(st.lists(st.sampled_from([0.0, 1.0, 1.0, 2.5, -3.0, float("-inf")]), max_size=12), max_size=6),
    st.integers(1, 5),
    st.randoms(use_true_random=False),
)
def test_the_heaviest_equal_their_twin(documents: list[list[float]], count: int, luck: Any) -> None:
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.uint64)
    weights = np.array([weight for own in documents for weight in own], np.float64)
    ranks = np.array([rank for own in documents for rank in luck.sample(range(20), len(own))], np.uint32)
    _same(
        kernels.heaviest(weights, ranks, offsets, count), reference.heaviest(weights, ranks, offsets, count)
    )


@pytest.mark.parametrize("twin", [kernels, reference])
def test_of_equal_weights_the_first_by_rank_is_chosen(twin: Any) -> None:
    weights, ranks = np.array([1.0, 1.0, 2.0, 1.0]), np.array([9, 3, 5, 7], np.uint32)
    rows, ends = twin.heaviest(weights, ranks, np.array([0, 4], np.uint64), 2)
    assert rows.tolist() == [1, 2]
    assert ends.tolist() == [0, 2]
    assert twin.heaviest(weights, ranks, np.array([0, 4], np.uint64), 5)[0].tolist() == []
