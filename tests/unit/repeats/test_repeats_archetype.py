"""The template of variants: fixed text, variable places, every word of every variant in its place."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.repeats.archetype import archetype, template

pytestmark = pytest.mark.covers("P7")


def test_it_works():
    pieces = archetype(["Press the red button, then save.", "Press the big blue button, then save."])
    assert [piece.fixed for piece in pieces] == [True, False, True]
    assert [text.strip() for text in pieces[1].texts] == ["red", "big blue"]
    assert template(pieces) == "Press the […] button, then save."


def test_edges():
    assert archetype([]) == []
    assert archetype(["", ""]) == []
    assert [piece.fixed for piece in archetype(["same", "Same"])] == [True]
    assert [piece.fixed for piece in archetype(["one", "two"])] == [False]
    assert template(archetype(["a b", "a b c"])) == "a b […]"
    assert template(archetype(["b c", "a b c"])) == "[…] b c"


words = st.lists(st.sampled_from(["a", "b", "c", "d", ",", "Слово", "\n"]), max_size=12).map(" ".join)


@given(st.lists(words, min_size=1, max_size=5))
def test_every_variant_can_be_read_back(variants):
    pieces = archetype(variants)
    for number, variant in enumerate(variants):
        assert "".join(piece.texts[number] for piece in pieces).rstrip() == variant.rstrip()
    for piece in pieces:
        if piece.fixed:
            assert len({tuple(text.lower().split()) for text in piece.texts}) == 1
    assert all(one.fixed != two.fixed for one, two in itertools.pairwise(pieces))
