"""Groups that have places in common: which they are, and how many places there are."""

from __future__ import annotations

import pytest

import doublet
from doublet.repeats.model import RepeatFragment, RepeatGroup
from doublet.repeats.overlaps import count_places, shared_places
from repeat_texts import sentence

pytestmark = pytest.mark.covers("P7", "P8")


def group(*places: tuple[int, int], file: str = "a.md") -> RepeatGroup:
    fragments = (RepeatFragment(file, *place, 1, 1, 1, 1, 5, "", "", "") for place in places)
    return RepeatGroup("r", 1.0, 5.0, equal=False, fragments=tuple(fragments))


def test_groups_share_a_place_if_half_of_the_shorter_one_is_in_both():
    short = group((10, 20), (50, 60), (90, 100))
    longer = group((0, 25), (80, 100))
    assert shared_places([longer, short]) == [[], [0]]
    assert shared_places([short, longer]) == [[], [0]]
    assert shared_places([short, group((15, 40), (200, 220))]) == [[], [0]]
    assert shared_places([short, group((16, 40), (200, 220))]) == [[], []]
    assert shared_places([short, group((10, 20), file="b.md")]) == [[], []]
    assert shared_places([]) == []


def test_a_place_inside_another_is_counted_once():
    short, longer = group((10, 20), (50, 60), (90, 100)), group((0, 25), (80, 100))
    assert count_places([short, longer]) == 3
    assert count_places([short, group((15, 40), (90, 100))]) == 4
    assert count_places([short, group((10, 20), file="b.md")]) == 4
    assert count_places([]) == 0


def test_words_of_places_that_two_groups_have_are_counted_once():
    """The sentence is said in five places, three of which go on with the same paragraph."""
    said, more = sentence(25, "s"), sentence(30, "m")
    texts = {
        f"{name}.md": f"{said}\n\n{more if name in 'abc' else sentence(30, 'n' + name)}\n" for name in "abcde"
    }
    found = doublet.find_repeats(texts)
    sizes = sorted((len(one.fragments), one.tokens, one.words_saved) for one in found.groups)
    assert sizes == [(3, 55, 110), (5, 25, 100)]
    assert count_places(found.groups) == 5
    assert found.share == pytest.approx((3 * 55 + 2 * 25) / (5 * 55))
    assert [file.share for file in found.files[:3]] == [1.0] * 3
    assert sorted(map(len, shared_places(found.groups))) == [0, 1]
