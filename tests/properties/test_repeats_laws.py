"""Laws of the search for repeats, on generated texts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import doublet
from doublet.repeats import text_hashes
from doublet.repeats.model import ALGORITHMS

words = st.sampled_from("река берег лодка луг город улица the boat is on a river . , \n ! \n\n".split(" "))
sentences = st.sampled_from(
    [
        "the boats were locked in the ice until March and nobody minded it much. ",
        "the boats were locked in the snow until March and nobody minded it much. ",
        "нажмите зелёную кнопку на левой стороне панели и ждите ответа. ",
        "\n\n",
        "# A heading\n\n",
    ]
)
texts = st.lists(st.one_of(words.map(lambda word: word + " "), sentences), max_size=60).map("".join)
options = st.fixed_dictionaries(
    {
        "algorithm": st.sampled_from(ALGORITHMS),
        "min_tokens": st.integers(1, 12),
        "tokens": st.sampled_from(["word", "word", "punctuation", "line", "sentence"]),
        "stop_words": st.booleans(),
    }
)


@settings(max_examples=250)
@given(st.lists(texts, min_size=1, max_size=3), options)
@pytest.mark.covers("P1", "P2", "P3", "P4", "P5")
def test_places_are_true(parts, chosen):
    files = {f"{number}.md": text for number, text in enumerate(parts)}
    result = doublet.find_repeats(files, **chosen)
    assert 0 <= result.share <= 1
    for group in result.groups:
        assert len(group.fragments) > 1
        mean = sum(f.tokens for f in group.fragments) / len(group.fragments)
        assert mean >= chosen["min_tokens"]
        assert group.significance == pytest.approx(len(group.fragments) * mean**2)
        for f in group.fragments:
            source = files[f.file]
            assert 0 <= f.start < f.end <= len(source)
            assert f.text == source[f.start : f.end]
            lines = source.split("\n")
            assert len("\n".join(lines[: f.line - 1])) + (f.line > 1) + f.column - 1 == f.start
            assert len("\n".join(lines[: f.end_line - 1])) + (f.end_line > 1) + f.end_column - 1 == f.end
    scores = [group.significance for group in result.groups]
    assert scores == sorted(scores, reverse=True)
    assert len({group.id for group in result.groups}) == len(result.groups)
    assert result.to_dict() == doublet.find_repeats(files, **chosen).to_dict()


@settings(max_examples=150)
@given(st.lists(texts, min_size=1, max_size=2), st.integers(2, 8))
@pytest.mark.covers("P2")
def test_exact_repeats_are_exact(parts, least):
    """Every fragment of a group has the same words, and no word stands in two fragments."""
    files = {f"{number}.txt": text for number, text in enumerate(parts)}
    result = doublet.find_repeats(files, algorithm="exact", min_tokens=least)
    used: set[tuple[str, int]] = set()
    for group in result.groups:
        assert len(set(text_hashes([f.text for f in group.fragments]))) == 1
        for f in group.fragments:
            letters = {(f.file, i) for i in range(f.start, f.end)}
            assert not letters & used
            used |= letters


@settings(max_examples=100)
@given(texts, st.sampled_from(["exact", "ngrams", "auto"]))
def test_a_baseline_of_the_same_text_knows_everything(text, algorithm):
    first = doublet.find_repeats(text, algorithm=algorithm, min_tokens=4)
    again = doublet.find_repeats(text, algorithm=algorithm, min_tokens=4, baseline=first.to_dict())
    assert [group.new for group in again.groups] == [False] * len(first.groups)
