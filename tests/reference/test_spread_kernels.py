"""The native steps of work that is spread over machines, against their plain definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublet.kernels import reference

native = pytest.importorskip("doublet.kernels.native", reason="the native kernels were not built")


def lists(found: tuple[np.ndarray, ...]) -> list[tuple[str, list[int]]]:
    return [(str(column.dtype), column.tolist()) for column in found]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([2, 16, 256]))
def test_cells_are_counted_and_added_up(seed: int, cells: int) -> None:
    draw = np.random.default_rng(seed)
    values = draw.integers(0, 2**64, draw.integers(0, 900), np.uint64)
    values |= np.uint64(draw.choice([0, 1 << 63]))  # some cells fill up
    tables = []
    for kernels in (native, reference):
        one, other = np.zeros(cells, np.uint8), np.full(cells, draw.integers(0, 1), np.uint8)
        kernels.count_cells(one, values)
        kernels.count_cells(other, values[::2].copy())
        both = one.copy()
        kernels.add_cells(both, other)
        tables.append((one.tolist(), other.tolist(), both.tolist()))
    assert tables[0] == tables[1]
    assert sum(tables[0][0]) == min(len(values), sum(tables[0][0])) and max(tables[0][0]) <= 255


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.05, 0.5, 0.8, 1.0]), st.sampled_from([0.0, 0.9, 1.0]))
def test_both_post_the_same(seed: int, least: float, inside: float) -> None:
    draw = np.random.default_rng(seed)
    pool = draw.integers(0, 2**64, 40, np.uint64)
    sets = [draw.choice(pool, draw.integers(0, 30), replace=False) for _ in range(draw.integers(0, 9))]
    values = np.concatenate([np.zeros(0, np.uint64), *sets])
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in sets])]).astype(np.uint64)
    table = np.zeros(64, np.uint8)
    reference.count_cells(table, values)
    taking = draw.integers(0, 2, len(sets)).astype(np.uint8)
    given_ = (values, offsets, taking, table, least, inside)
    plain = reference.share_sets(*given_)
    assert lists(native.share_sets(*given_)) == lists(plain)
    shared, ends, marks = plain
    for row, one in enumerate(sets):  # every document marks what no similar set can miss
        mine = marks[int(ends[row]) : int(ends[row + 1])]
        needed = len(one) - max(int(np.ceil(least * len(one) - 1e-9)), 1) + 1
        alone = len(one) - len(mine)
        assert int((mine >> 7).sum()) >= (min(needed - alone, len(mine)) if taking[row] else 0)
    sizes = np.array([len(one) for one in sets], np.uint32)
    for wanted in (None, np.zeros(2, np.uint8), draw.integers(0, 2, 16).astype(np.uint8)):
        posted = reference.post_shared(shared, ends, marks, sizes, wanted)
        assert lists(native.post_shared(shared, ends, marks, sizes, wanted)) == lists(posted)
        numbers, rows, marked = posted
        assert taking[rows].all()
        if wanted is None:
            assert len(numbers) == int((marks > 0).sum())
        elif not wanted.any():
            assert len(numbers) == int((marks > 1).sum()) == int((marked >> 30 > 0).sum())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_digests_tell_sets_apart_and_not_their_order(seed: int) -> None:
    draw = np.random.default_rng(seed)
    sets = [draw.integers(0, 2**64, draw.integers(0, 9), np.uint64) for _ in range(draw.integers(0, 9))]
    values = np.concatenate([np.zeros(0, np.uint64), *sets])
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in sets])]).astype(np.uint64)
    plain = reference.digest_sets(values, offsets)
    assert lists(native.digest_sets(values, offsets)) == lists(plain)
    turned = np.concatenate([np.zeros(0, np.uint64), *(one[::-1] for one in sets)])
    assert lists(native.digest_sets(turned, offsets)) == lists(plain)
    for digest in plain:
        assert len({(len(one), *sorted(one.tolist())) for one in sets}) == len(set(digest.tolist()))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([3, 40, 2**64 - 1]), st.booleans())
def test_both_follow_the_same_postings(seed: int, most: int, contained: bool) -> None:
    draw = np.random.default_rng(seed)
    count = int(draw.integers(0, 200))
    numbers = draw.choice(draw.integers(0, 2**64, 12, np.uint64), count) if count else np.zeros(0, np.uint64)
    documents = draw.integers(0, 15, count).astype(np.uint64) << np.uint64(draw.choice([0, 32]))
    sizes = (draw.integers(1, 9, count) | draw.integers(0, 4, count) << 30).astype(np.uint32)
    given_ = (numbers, documents, sizes, most, float(draw.choice([0.0, 0.5, 0.8, 2.0])), contained)
    assert lists(native.lead_postings(*given_)) == lists(reference.lead_postings(*given_))


def test_pairs_that_are_met_very_often_are_kept_once() -> None:
    copies = 2300  # more pairs at once than are kept before the repeated ones are removed
    numbers = np.repeat(np.arange(2, dtype=np.uint64), copies)
    documents = np.tile(np.arange(copies, dtype=np.uint64), 2)
    sizes = np.full(2 * copies, 7 | 1 << 31, np.uint32)
    crowded, inner, outer = native.lead_postings(numbers, documents, sizes, 2**64 - 1, 0.5, False)
    assert len(crowded) == 0
    assert len(inner) == copies * (copies - 1) // 2
    assert (inner < outer).all() and (np.diff(outer.astype(np.int64)) >= 0).all()
