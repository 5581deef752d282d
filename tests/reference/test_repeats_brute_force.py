"""The quick searches against slow obvious twins that compare everything with everything."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from doublet.repeats.by_edit import _alike
from doublet.repeats.by_ngrams import group_sentences
from doublet.repeats.exact import find_exact
from doublet.repeats.model import RepeatOptions
from doublet.repeats.tokenise import TokenSequence

tokens = st.lists(st.integers(0, 5), min_size=2, max_size=60)


@st.composite
def phrases(draw):
    """A text put together out of a few phrases: repeats of which one takes the beginning or the end of another."""
    known = draw(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=7), min_size=1, max_size=4))
    return [
        token for part in draw(st.lists(st.sampled_from(known), min_size=2, max_size=16)) for token in part
    ]


def sequence(values: list[int], cuts: tuple[int, ...] = ()) -> TokenSequence:
    ids = np.array(values, np.uint32)
    places = np.arange(len(ids), dtype=np.uint32)
    return TokenSequence(
        ids, places, np.ones(len(ids), np.uint8), np.array([0, len(ids)]), np.array(cuts, np.int64), []
    )


@settings(max_examples=400)
@example([0, 0, 0, 1, 0, 0, 0, 1, 0, 0], 2)
@example([2, 1, 1, 1, 0, 2, 2, 1, 1, 1, 0, 2, 2, 1, 1], 3)
@example([4, 2, 3, 9, 2, 1, 3, 9, 2, 3, 9, 2, 3, 9, 2], 2)
@given(tokens | phrases(), st.integers(2, 6))
@pytest.mark.covers("P2")
def test_exact_misses_nothing(values, least):
    """What repeats without overlap, at least *least* tokens long, has a token in some group."""
    groups, _ = find_exact(sequence(values), RepeatOptions(algorithm="exact", min_tokens=least))
    covered = {i for group in groups for start, end in group for i in range(start, end)}
    for a, b in itertools.combinations(range(len(values) - least + 1), 2):
        if b >= a + least and values[a : a + least] == values[b : b + least]:
            assert covered & set(range(a, a + least)) | covered & set(range(b, b + least))
    for group in groups:
        assert len({tuple(values[start:end]) for start, end in group}) == 1
        assert all(end - start >= least for start, end in group)


@settings(max_examples=200)
@given(tokens, st.sets(st.integers(1, 50), max_size=4))
@pytest.mark.covers("P2")
def test_exact_keeps_to_parts(values, cuts):
    inside = tuple(sorted(cut for cut in cuts if cut < len(values)))
    groups, _ = find_exact(sequence(values, inside), RepeatOptions(algorithm="exact", min_tokens=2))
    for group in groups:
        for start, end in group:
            assert not any(start < cut < end for cut in inside)
        assert len({tuple(values[start:end]) for start, end in group}) == 1


@settings(max_examples=150)
@given(
    st.lists(st.lists(st.integers(0, 30), min_size=8, max_size=8), min_size=2, max_size=14, unique_by=tuple)
)
@pytest.mark.covers("P3")
def test_candidates_of_edit_lose_no_pair(fragments):
    """All pairs within the distance are found, as long as no run is shared by more than a few fragments."""
    options = RepeatOptions(algorithm="edit", fragment_tokens=8, max_edits=2, hash_distance=32)
    left, right = _alike(np.array(fragments, np.uint32), options)
    found = {frozenset(pair) for pair in zip(left.tolist(), right.tolist(), strict=True)}
    expected = {
        frozenset((a, b))
        for a, b in itertools.combinations(range(len(fragments)), 2)
        if Levenshtein.distance(fragments[a], fragments[b]) <= 2
    }
    assert found == expected


def slow_groups(sets: list[list[int]], options: RepeatOptions) -> list[list[int]]:
    """The source's way: every sentence against every group."""
    groups: list[list[int]] = []
    shared: list[set[int]] = []
    for number, grams in enumerate(sets):
        need = max(options.min_common, math.ceil(options.min_common_share * len(grams)), 1)
        own = set(grams)
        overlaps = [len(own & kept) for kept in shared]
        most = max(overlaps, default=0)
        if most >= need:
            best = overlaps.index(most)
            groups[best].append(number)
            shared[best] &= own
        elif len(grams) >= need:
            groups.append([number])
            shared.append(own)
    return groups


@settings(max_examples=400)
@given(
    st.lists(st.lists(st.integers(0, 12), max_size=9, unique=True), max_size=25),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]),
)
@pytest.mark.covers("P4")
def test_the_index_of_ngrams_changes_nothing(sets, common, share):
    options = RepeatOptions(algorithm="ngrams", min_common=common, min_common_share=share)
    assert group_sentences(sets, options) == slow_groups(sets, options)
