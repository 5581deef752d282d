"""What `auto` leaves out although it repeats: frames of pages, addresses, pieces; and what it cuts off."""

from __future__ import annotations

import random
from array import array

import numpy as np
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


@pytest.mark.covers("P8")
def test_a_sentence_said_twice_in_a_row_does_not_split_an_exact_copy():
    """The chain used to go on along the neighbouring diagonal: 316 words came out as 164 and 156."""
    twice = "Push the lever down until it clicks twice."
    part = f"{prose(1, 150)} {twice} {twice} {prose(2, 150)}"
    text = f"{prose(3)}\n\n{part}\n\n{prose(4)}\n\n{part}\n\n{prose(5)}"
    assert texts(doublet.find_repeats(text))[0] == {part}


@pytest.mark.covers("P8")
def test_a_page_said_three_times_in_a_row_is_one_group_of_whole_pages():
    page = "\n\n".join(prose(n, 30) for n in range(10, 14))
    found = doublet.find_repeats(f"{prose(1)}\n\n{page}\n\n{page}\n\n{page}\n\n{prose(2)}")
    assert [" ".join(f.text.split()) for f in found.groups[0].fragments] == [" ".join(page.split())] * 3


@pytest.mark.covers("P8")
def test_long_exact_repeats_are_told_whatever_they_are_made_of():
    """Signs and numbers make a group less likely to be reported, but not a listing of many words."""
    listing = "\n".join(f"--- {{a/{WORDS[n]}}} || [{WORDS[n + 1]}] <{n}> == */" for n in range(30))
    text = f"{prose(1, 400)}\n\n{listing}\n\n{prose(2, 400)}\n\n{listing}\n\n{prose(3, 400)}"
    found = doublet.find_repeats(text)
    assert any(group.tokens >= 80 and len(group.fragments) == 2 for group in found.groups)


@pytest.mark.covers("P8")
def test_a_passage_ends_before_the_next_heading():
    again = prose(1)
    marked = {
        f"{n}.md": f"# {WORDS[n].title()}\n\n{again}\n\n## Other options\n\n{prose(10 + n)}\n"
        for n in range(3)
    }
    plain = {f"{n}.txt": f"{again}\n\nOther options\n\n{prose(10 + n)}\n" for n in range(3)}
    for pages in (marked, plain):
        assert {again} in texts(doublet.find_repeats(pages))
        assert not any("Other" in text for group in texts(doublet.find_repeats(pages)) for text in group)


@pytest.mark.covers("P8")
def test_short_openings_of_many_entries_are_formulas():
    entries = [
        f"{prose(n)}\n\nReference\nMode: Edit Mode\nMenu: Mesh {WORDS[n]} {WORDS[n + 7]}\n\n{prose(300 + n)}"
        for n in range(12)
    ]
    again = prose(999)
    found = doublet.find_repeats("\n\n".join([*entries, again, prose(998), again]))
    kinds = {group.kind: group for group in found.groups}
    assert set(kinds) == {"passage", "formula"}
    assert len(kinds["formula"].fragments) == 12
    assert kinds["formula"].fragments[0].text.startswith("Reference\nMode: Edit Mode\nMenu:")
    assert kinds["passage"].fragments[0].text == again


def test_common_beginnings_of_sentences_are_no_formulas():
    text = "\n\n".join(f"It is possible to {WORDS[n]} a {WORDS[n + 9]}. {prose(n)}" for n in range(20))
    assert doublet.find_repeats(text).groups == ()


@pytest.mark.covers("P8")
def test_a_passage_does_not_run_into_the_next_item():
    again = prose(1)
    pages = {f"{n}.txt": f"{again}\n- Press the {WORDS[n]} {prose(20 + n)}\n" for n in range(3)}
    assert texts(doublet.find_repeats(pages))[0] == {again}
    wrapped = {f"{n}.txt": f"{again}\nPress the red\nbutton now. {prose(20 + n)}\n" for n in range(3)}
    assert texts(doublet.find_repeats(wrapped))[0] == {f"{again} Press the red button now."}


@pytest.mark.covers("P8")
def test_a_member_does_not_go_on_over_other_words_to_a_few_shared_ones():
    """The chain goes on over twenty other words to words that both places happen to have."""
    again, tail = prose(1), "Restart the service and read its log"
    pages = {f"{n}.txt": f"{again} {prose(20 + n, 18)} {tail} {WORDS[n]}.\n" for n in range(2)}
    assert texts(doublet.find_repeats(pages)) == [{again}]


@pytest.mark.covers("P8")
def test_a_sentence_stays_whole_where_a_member_is_cut():
    pages = {
        f"{n}.txt": f"{prose(1)} Choose {WORDS[n]}\nView  {WORDS[40 + n]} {WORDS[60 + n]}. {prose(70 + n, 30)}"
        for n in range(2)
    }
    for text in texts(doublet.find_repeats(pages))[0]:
        assert text.endswith(".")


@pytest.mark.covers("P6")
def test_only_blocks_of_a_page_are_borders():
    """An element inside a sentence and the end of a line in the source are none; items are, and lines of code."""
    page = (
        "<p>Set it to <code>true</code> to see what Ant's\n   <code>ProjectHelper</code> does, with the\n"
        "<a href='x.html'>Internal</a> list. Next one.</p><ul><li>small item</li><li>other item</li></ul>"
        "<pre>first line\nSecond line</pre>"
    )
    for name in ("a.html", "a.xml"):
        marked = read_markup(page, name=name)
        assert len(marked.masked) == len(page)
        sequence = tokenise([marked], RepeatOptions())
        marks = sequence.edges()[0]
        begins = [
            page[int(sequence.starts[at]) : int(sequence.ends(at))]
            for at in np.flatnonzero(marks[:-1]).tolist()
        ]
        assert begins == ["Set", "Next", "small", "other", "first", "Second"]


@pytest.mark.covers("P6")
def test_titles_that_links_and_contents_say_again_are_no_repeats():
    names = [" ".join(WORDS[7 * n : 7 * n + 6]).capitalize() for n in range(12)]
    contents = "".join(f"<li><a href='{n}.html'>{n}. {name}</a></li>" for n, name in enumerate(names))
    pages = {
        f"{n}.html": f"<title>{n}. {name}</title><h1>{n}. {name}</h1><p>{prose(n)}</p>"
        f"<table><td>{(n - 1) % 12}. {names[n - 1]}</td><td>{(n + 1) % 12}. {names[(n + 1) % 12]}</td></table>"
        for n, name in enumerate(names)
    }
    pages |= {"index.html": f"<ul>{contents}</ul>", "map.html": f"<ul>{contents}</ul>"}
    assert doublet.find_repeats(pages).groups == ()
    again = prose(99)
    pages["0.html"] += f"<p>{again}</p>"
    pages["5.html"] += f"<p>{again}</p>"
    assert texts(doublet.find_repeats(pages)) == [{again}]


@pytest.mark.covers("P6")
def test_pages_of_mallard_are_looked_at(tmp_path):
    for n in range(2):
        (tmp_path / f"{n}.page").write_text(
            f'<page xmlns="http://projectmallard.org/1.0/"><title>{WORDS[n]}</title>'
            f"<p>{prose(n)} Press <key>Enter</key> now. {prose(9)}</p></page>"
        )
    (found,) = doublet.find_repeats(tmp_path).groups
    assert {" ".join(fragment.text.split()) for fragment in found.fragments} == {
        f"Press <key>Enter</key> now. {prose(9)}"
    }
