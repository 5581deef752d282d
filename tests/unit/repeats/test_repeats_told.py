"""Edges of groups: what is cut off, what is hidden by better groups, what stays."""

from __future__ import annotations

import numpy as np
import pytest

from doublet import kernels
from doublet.repeats.edges import shared_edges
from doublet.repeats.model import RepeatOptions
from doublet.repeats.tokenise import TokenSequence, tokenise
from doublet.repeats.told import Scored, with_own_words, without_covered
from doublet.text.markup import read_markup


def sequence_of(text: str) -> tuple[TokenSequence, np.ndarray]:
    sequence = tokenise([read_markup(text)], RepeatOptions())
    return sequence, sequence.edges()[0]


def words(count: int, name: str = "w") -> str:
    return " ".join(f"{name}{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(count))


@pytest.mark.covers("P8")
def test_equal_members_lose_the_same_words_to_a_frame():
    marks = np.ones(401, bool)
    frame = Scored(100.0, [(0, 20), *((at, at + 20) for at in range(200, 360, 10))], 20.0, equal=False)
    pair = Scored(100.0, [(0, 60), (100, 160)], 60.0, equal=True)
    assert with_own_words([frame, pair], marks, 10.0, 5)[1].members == [(0, 60), (100, 160)]
    loose = pair._replace(equal=False)
    assert with_own_words([frame, loose], marks, 10.0, 5)[1].members == [(20, 60), (100, 160)]


@pytest.mark.covers("P8")
def test_an_equal_passage_is_hidden_only_by_one_group_that_holds_all_of_it():
    pair = Scored(50.0, [(0, 80), (200, 280)], 80.0, equal=True)
    apart = [
        Scored(90.0, [(0, 75), (300, 375)], 75.0, equal=False),
        Scored(80.0, [(200, 275), (400, 475)], 75.0, equal=False),
    ]
    loose = pair._replace(equal=False)
    assert pair in without_covered([*apart, pair], 20)
    assert loose not in without_covered([*apart, loose], 20)
    part = Scored(90.0, [(0, 65), (200, 265), (400, 465)], 65.0, equal=False)
    assert pair in without_covered([part, pair], 20)
    most = Scored(90.0, [(0, 75), (200, 275), (400, 475)], 75.0, equal=False)
    assert pair not in without_covered([most, pair], 20)


@pytest.mark.covers("P8")
def test_members_keep_what_they_share_and_end_with_a_sentence():
    shared, other, more = words(20, "s"), words(20, "o"), words(20, "m")
    text = f"Before it. {shared.title()}. {other.title()}. {words(3, 's')} {more}. {shared.title()} {more}."
    sequence, marks = sequence_of(text)
    one, two = (2, 45), (65, 105)
    kept = shared_edges([Scored(50.0, [one, two], 20.0, equal=False)], sequence, marks, 5)
    assert kept[0].members[0] == (2, 22)
    assert kept[0].members[1] == (65, 105)  # its sentence goes on


@pytest.mark.covers("P8")
def test_no_two_members_of_a_group_overlap():
    sequence, marks = sequence_of(". ".join([words(10, "s")] * 8))
    for equal, expected in ((False, [(0, 20), (20, 30), (40, 60)]), (True, [(0, 20), (40, 60)])):
        group = Scored(50.0, [(0, 20), (10, 30), (40, 60), (55, 61)], 20.0, equal=equal)
        assert shared_edges([group], sequence, marks, 5)[0].members == expected


def test_a_group_that_is_one_member_in_the_end_goes():
    sequence, marks = sequence_of(". ".join([words(10, "s")] * 8))
    assert shared_edges([Scored(50.0, [(0, 20), (5, 25)], 20.0, equal=True)], sequence, marks, 5) == []


@pytest.mark.covers("P8")
def test_equal_words_between_two_runs_are_matched():
    """Two equal words between two changed ones are no run of four, but they are part of the copy."""
    one = [1, 2, 3, 4, 5, 50, 6, 7, 51, 8, 9, 10, 11, 12]
    two = [1, 2, 3, 4, 5, 60, 6, 7, 61, 8, 9, 10, 11, 12]
    longer = [1, 2, 3, 4, 5, 60, 70, 6, 7, 61, 8, 9, 10, 11, 12]
    for copy in (two, longer):
        ids = np.array([*one, *range(100, 120), *copy], np.uint32)
        found = kernels.self_chains(ids, np.zeros(len(ids), np.uint32), 4, 16, 20, 30, 6, 1)
        assert [column.tolist() for column in found] == [[34], [34 + len(copy)], [0], [14], [12]]


@pytest.mark.covers("P8")
def test_what_only_a_cut_edge_shared_is_cut_too():
    """Both begin with a reference among other words: it goes from one, and then nothing holds it in the other."""
    reference, shared = "see part bb of it", words(16, "s")
    one = f"{reference.capitalize()} {words(8, 'o')}. {shared.capitalize()}."
    two = f"{words(14, 'p').capitalize()} {reference} {words(10, 'q')}. {shared.capitalize()}."
    sequence, marks = sequence_of(f"{one} {two}")
    group = Scored(40.0, [(0, 29), (29, 74)], 20.0, equal=False)
    (kept,) = shared_edges([group], sequence, marks, 5)
    assert kept.members == [(13, 29), (58, 74)]
    assert (kept.score, kept.matched) == (32.0, 16.0)  # sixteen words are left of the twenty that matched
