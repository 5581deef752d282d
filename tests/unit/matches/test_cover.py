"""Shares and sources: no word counted twice; and ranges that are found by place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.matches.align import Passage
from doublet.matches.cover import Cover, RangeIndex, share, union_length
from doublet.matches.sources import rank_sources

ranges = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda p: (min(p), max(p))), max_size=8
)


@given(ranges)
@pytest.mark.covers("K3")
def test_union_against_counting(some):
    counted = len({i for start, end in some for i in range(start, end)})
    assert union_length(some) == counted
    assert share(some, 30) == counted / 30
    assert Cover(30).new(some) == counted


@given(st.lists(ranges, max_size=5))
@pytest.mark.covers("K3")
def test_sources_add_up_to_what_is_covered(sources):
    passages = [[Passage(a, b, a, b, b - a) for a, b in some if b > a] for some in sources]
    names = [f"s{i}" for i in range(len(sources))]
    ranked = rank_sources(passages, 30, names)
    everything = {i for some in sources for a, b in some for i in range(a, b)}
    assert sum(r.added for r in ranked) == pytest.approx(len(everything) / 30)
    assert sorted(r.candidate for r in ranked) == [i for i, some in enumerate(passages) if some]
    assert ranked == rank_sources(passages, 30, names)


@given(st.lists(ranges, max_size=5), st.sampled_from([0.1, 0.3, 0.6]))
@pytest.mark.covers("K3")
def test_small_sources_that_are_left_out_take_no_words_from_the_others(sources, least):
    passages = [[Passage(a, b, a, b, b - a) for a, b in some if b > a] for some in sources]
    told = [i for i, some in enumerate(sources) if share(some, 30) >= least]
    ranked = rank_sources(passages, 30, [f"s{i}" for i in range(len(sources))], min_share=least)
    everything = {i for number in told for a, b in sources[number] for i in range(a, b)}
    assert sorted(r.candidate for r in ranked) == told
    assert sum(r.added for r in ranked) == pytest.approx(len(everything) / 30)


def test_the_smallest_convincing_set_comes_first():
    whole = [Passage(0, 100, 0, 100, 100)]
    halves = [[Passage(0, 50, 0, 50, 50)], [Passage(50, 100, 0, 50, 50)]]
    ranked = rank_sources([*halves, whole], 100, ["left", "right", "whole"])
    assert [(r.candidate, r.added) for r in ranked] == [(2, 1.0), (0, 0.0), (1, 0.0)]


def test_a_text_without_words():
    assert share([], 0) == 0.0
    assert Cover(0).share == 0.0


@given(ranges, ranges)
def test_words_within_a_range_against_counting(some, asked):
    cover = Cover(30)
    assert cover.add(some) == union_length(some)
    covered = {i for start, end in some for i in range(start, end)}
    for start, end in asked:
        within = len(covered & set(range(start, end)))
        assert cover.within(start, end) == within
        assert cover.new([(start, end)]) == end - start - within


@given(
    ranges, st.lists(st.tuples(st.integers(0, 7), st.booleans(), st.sampled_from([(3, 9), (12, 30)]))), ranges
)
def test_ranges_by_place_are_those_of_the_plain_loop(some, changes, asked):
    index = RangeIndex(some)
    there = dict(enumerate(some))
    for number, taken, place in changes:
        if number >= len(some):
            continue
        if taken:
            index.take(number)
            there.pop(number, None)
        else:
            index.put(number, place)
            there[number] = place
    for start, end in asked:
        wanted = {i for i, (low, high) in there.items() if low <= end and start <= high}
        assert set(index.meeting(start, end)) == wanted


def test_an_empty_index_holds_what_is_put_there():
    assert list(RangeIndex([]).meeting(0, 9)) == []
    index = RangeIndex([(0, 4), (6, 8)], empty=True)
    assert list(index.meeting(0, 9)) == []
    index.put(1, (6, 8))
    assert list(index.meeting(0, 9)) == [1]
