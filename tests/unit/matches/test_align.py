"""Passages of two texts: places, kinds, edges."""

from __future__ import annotations

import time

import pytest

from doublet import kernels
from doublet.errors import InvalidParameter
from doublet.matches.align import AlignOptions, find_passages, to_fragments
from doublet.text.tokens import Canon

WORDS = (
    "the old mill stood by the river long after the village around it had been given up and its wheel "
    "turned slowly in the spring flood while swallows built their nests under the broken roof of the barn"
)


def passages(a: str, b: str, **options):
    batch = Canon().tokens([a, b])
    one, two = batch.one(0), batch.one(1)
    return to_fragments(find_passages(one.hashes, two.hashes, AlignOptions(**options)), one, two)


@pytest.mark.covers("K2")
def test_it_works():
    a = f"An opening of my own. {WORDS}. And an end of my own."
    b = f"Something else altogether stands here first. {WORDS.upper()}!"
    (found,) = passages(a, b)
    assert found.kind == "verbatim"
    assert found.score == 1.0
    assert a[found.a.start : found.a.end] == WORDS
    assert b[found.b.start : found.b.end] == WORDS.upper()
    assert found.words == len(WORDS.split())


def test_equal_texts_are_one_passage_from_end_to_end():
    (found,) = passages(WORDS, WORDS)
    assert (found.a.start, found.a.end) == (0, len(WORDS))
    assert found.kind == "verbatim"


def test_a_small_edit_does_not_tear_a_passage():
    b = WORDS.replace("long after the village", "many years after the whole village").replace("slowly ", "")
    (found,) = passages(WORDS, b)
    assert found.kind == "edited"
    assert 0.8 < found.score < 1
    assert (found.a.start, found.a.end) == (0, len(WORDS))


@pytest.mark.covers("K2")
def test_moved_blocks_are_found_and_named():
    first, second, third = (
        "cranes over the harbour lift the containers one by one and set them down",
        "a bakery on the corner opens at five and sells out before the school bell",
        "the library keeps its oldest maps in a room without a single window",
    )
    a = ". ".join([first, second, third])
    b = ". ".join([second, third, first])
    found = passages(a, b)
    assert [f.kind for f in found] == ["moved", "verbatim"]
    assert a[found[0].a.start : found[0].a.end] == first
    assert b[found[0].b.start : found[0].b.end] == first


def test_the_same_source_passage_used_twice_is_not_moved():
    a = f"{WORDS}. Some words of my own stand between the two of them, quite a few. {WORDS}"
    found = passages(a, WORDS)
    assert [f.kind for f in found] == ["verbatim", "verbatim"]
    assert found[0].b == found[1].b


def test_heavy_rewording_is_called_so():
    a = "one two three four red green blue white black grey pink five six seven eight"
    b = "one two three four aa bb cc dd ee ff gg five six seven eight"
    (found,) = passages(a, b)
    assert found.kind == "reworded"
    assert found.score == pytest.approx(8 / 15, abs=1e-6)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("", ""),
        ("", WORDS),
        (WORDS, ""),
        ("...", "..."),
        ("alpha beta gamma", "delta epsilon zeta"),
        ("word", WORDS),
    ],
)
def test_nothing_in_common(a, b):
    assert passages(a, b) == ()


def test_very_short_texts():
    assert [f.words for f in passages("Да", "да!")] == [1]
    assert [f.words for f in passages("два слова", "Два слова.")] == [2]
    assert [f.words for f in passages("four words are enough", "here four words are enough too")] == [4]


def test_stock_phrases_of_long_texts_are_left_out():
    a = " ".join(f"alpha{i}" for i in range(80)) + " at the end of the day"
    b = "at the end of the day " * 1 + " ".join(f"beta{i}" for i in range(80))
    assert [f.words for f in passages(a, b)] == [6]
    assert passages(a.replace("day", "night"), b) == ()


def test_look_alike_letters_do_not_hide_a_passage():
    text = "Высоту башни считали от самого высокого дома, до которого должна была дойти вода"
    swapped = text.translate(str.maketrans("аеорсухАВЕКМНОРСТХ", "aeopcyxABEKMHOPCTX"))
    (found,) = passages(text, swapped)
    assert (found.kind, found.score) == ("verbatim", 1.0)


@pytest.mark.covers("K2")
def test_labels_that_come_again_are_matched_in_their_order():
    label = "surname and name of the person in charge"
    a = ". ".join(f"{label} {name}" for name in ("Adams", "Brown", "Clark", "Davis"))
    b = ". ".join(f"{label} {name}" for name in ("Evans", "Frank", "Green", "Harris"))
    (found,) = passages(a, b)
    assert found.kind == "edited"
    assert (found.a.start, found.b.start) == (0, 0)
    assert a[found.a.start : found.a.end].count(label) == b[found.b.start : found.b.end].count(label) == 4


@pytest.mark.parametrize("seed_words", [1, 2, 4])
def test_the_shortest_run_may_be_one_word(seed_words):
    (found,) = passages(WORDS, f"Something else altogether. {WORDS}", seed_words=seed_words)
    assert (found.kind, found.a.start, found.a.end) == ("verbatim", 0, len(WORDS))


def test_repetitive_texts_stay_quick():
    text = "one two three four " * 20_000
    found = passages(text, text)
    assert sum(f.words for f in found) == 80_000


def test_one_word_over_and_over_stays_quick():
    """Every place of a begins a run at the same place of b: together their lengths are a square."""
    many = 40_000 if kernels.BACKEND == "native" else 2_000
    text = "word " * many
    began = time.process_time()
    found = passages(text, "Own. " + text)
    assert time.process_time() - began < 3
    assert sum(f.words for f in found) == many


@pytest.mark.parametrize(
    ("name", "value"), [("seed_words", 0), ("max_gap_words", -1), ("min_words", 0), ("min_words", 10**6)]
)
def test_options_out_of_range(name, value):
    with pytest.raises(InvalidParameter, match=name):
        AlignOptions(**{name: value})
