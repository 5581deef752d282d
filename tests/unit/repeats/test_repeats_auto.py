"""What `auto` leaves out although it repeats: frames of pages, addresses, pieces; and what it cuts off."""

from __future__ import annotations

import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

import doublet
from doublet.repeats import _add_lines
from doublet.repeats.model import RepeatOptions
from doublet.repeats.tokenise import tokenise
from doublet.text.markup import read_markup

WORDS = ["".join(random.Random(seed).choices("abcdefghiklmnoprstuvw", k=4 + seed % 5)) for seed in range(900)]
FRAME = "Report an error in this page or go back to the list of all chapters in your language."


def prose(seed: int, words: int = 40) -> str:
    rng = random.Random(seed)
    return " ".join(rng.choices(WORDS, k=words)).capitalize() + "."


def texts(result: doublet.Repeats) -> list[set[str]]:
    return [{" ".join(fragment.text.split()) for fragment in group.fragments} for group in result.groups]


@pytest.mark.covers("P8")
def test_pages_with_only_their_frame_in_common_are_one_group():
    pages = {f"{n}.txt": f"{prose(n)}\n\n{FRAME}\n\n{prose(1000 + n)}" for n in range(30)}
    found = doublet.find_repeats(pages)
    assert texts(found) == [{FRAME}]
    assert len(found.groups[0].fragments) == 30


@pytest.mark.covers("P8")
def test_a_frame_at_the_edge_of_a_repeat_is_cut_off():
    again = "Loosen four brass screws below the cover, lift it with both hands, and pull the grey plug out."
    pages = {f"{n}.txt": f"{prose(n)}\n\n{FRAME}\n\n{prose(1000 + n)}" for n in range(30)}
    pages |= {f"x{n}.txt": f"{prose(50 + n)}\n\n{again}\n\n{FRAME}" for n in range(2)}
    assert {again} in texts(doublet.find_repeats(pages))


def test_an_address_is_no_repeat():
    address = "https://example.org/one/two/three/four/five/six/seven.html"
    text = "\n\n".join(f"{prose(n)}\n\n{address}" for n in range(6))
    assert doublet.find_repeats(text).groups == ()


def test_numbers_are_told_whatever_is_compared():
    """The number 0 stands for masked numbers, and for nothing else."""
    marked = read_markup("Alpha beta 12 gamma. Alpha beta 13 gamma.")
    for options in ({}, {"reduce": "stem"}, {"tokens": "punctuation"}):
        ids = tokenise([marked], RepeatOptions(algorithm="auto", **options)).ids.tolist()
        assert ids[0] != 0
        assert ids.count(0) == 2


@pytest.mark.parametrize("algorithm", ["auto", "exact"])
def test_threads_change_nothing(algorithm):
    marked_texts = [read_markup(f"{prose(n % 40, 400)}\n\n{FRAME}") for n in range(80)]
    options = RepeatOptions(algorithm=algorithm)
    one, four = (tokenise(marked_texts, options, threads) for threads in (1, 4))
    for name in ("ids", "starts", "sizes", "offsets", "cuts"):
        assert getattr(one, name).tolist() == getattr(four, name).tolist()


def test_signs_that_close_a_quotation_belong_to_it():
    again = "Then choose the entry that is called “ Layer mask ”"
    text = "\n\n".join(f"{prose(n)}\n\n{again} {WORDS[100 + n]}." for n in range(5))
    (group,) = doublet.find_repeats(text, algorithm="exact", min_tokens=8).groups
    assert {fragment.text for fragment in group.fragments} == {again}


@given(st.text(alphabet="ab\n", max_size=60), st.integers(1, 9))
def test_lines_of_a_long_text_are_counted_in_pieces(text, at_once):
    lengths = array("q")
    _add_lines(text, lengths, at_once)
    assert lengths.tolist() == [len(line) for line in text.split("\n")]
