"""A few words said over and over again: one group, told once, in every algorithm."""

from __future__ import annotations

import pytest

import doublet
from doublet.repeats.model import ALGORITHMS


def told(text: str, algorithm: str) -> list[tuple[int, str]]:
    found = doublet.find_repeats(text, algorithm=algorithm)
    return [(len(group.fragments), group.fragments[0].text) for group in found.groups]


@pytest.mark.covers("P1")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_word_is_one_group(algorithm: str) -> None:
    (group,) = told("word " * 2000, algorithm)
    assert set(group[1].split()) == {"word"}
    assert group[0] * len(group[1].split()) == 2000


@pytest.mark.parametrize("algorithm", ["auto", "ngrams"])
def test_short_sentences_begin_where_they_begin(algorithm: str) -> None:
    assert told("Yes it is. " * 500, algorithm) == [(250, "Yes it is. Yes it is.")]
    assert told("One two three four five six. " * 300, algorithm) == [(300, "One two three four five six.")]


def test_runs_of_the_same_words_are_one_group() -> None:
    text = "la li " * 200 + "and then something else came up. " + "li la " * 200
    (group,) = told(text, "ngrams")
    assert group[1] == "la li la li"
    assert group[0] >= 198


def test_the_least_number_of_copies() -> None:
    assert len(told("xy " * 250, "auto")) == 1
    assert len(told("xy " * 200, "ngrams")) == 1
    assert told("xy " * 199, "ngrams") == []


def test_a_run_does_not_go_over_the_border_of_a_file() -> None:
    found = doublet.find_repeats({"a.txt": "la " * 300, "b.txt": "la " * 302}, algorithm="ngrams")
    (group,) = found.groups
    assert {(f.file, f.end <= 300 * 3) for f in group.fragments if f.file == "a.txt"} == {("a.txt", True)}
    assert next(f.start for f in group.fragments if f.file == "b.txt") == 0


def test_other_repeats_beside_a_run_are_still_found() -> None:
    sentence = "The cat sat on the mat by the door today. "
    texts = [text for _, text in told("la " * 600 + "\n\n" + sentence * 3, "auto")]
    assert sentence.strip() in texts
    assert len(texts) == 2


@pytest.mark.parametrize("text", ["", "word", "word word", "a b a b a b"])
def test_what_is_too_short(text: str) -> None:
    assert told(text, "auto") == []
    assert told(text, "ngrams") == []
