"""Groups go on as far as all members do, and none is told inside another; what scraps are left out."""

from __future__ import annotations

import numpy as np
import pytest

import doublet
from doublet.repeats import auto
from doublet.repeats.agree import Agreement
from doublet.repeats.blocks import Blocks
from doublet.repeats.headings import Headings
from doublet.repeats.model import RepeatOptions
from doublet.repeats.tokenise import SENTENCE
from doublet.repeats.told import Scored, rescored, with_own_words, without_inner
from doublet.repeats.wholes import Cells, Wholes
from doublet.text.markup import read_markup
from repeat_texts import sentence, sequence_of, words

pytestmark = pytest.mark.covers("P1", "P8")

Members = list[tuple[int, int]]


def agreement_of(text: str, name: str = "text.txt") -> tuple[Agreement, int]:
    sequence = sequence_of(text, name)
    edges = sequence.edges()
    blocks = Blocks(sequence, edges, Headings(sequence))
    return Agreement(blocks, Wholes(sequence), Cells(sequence, edges)), len(sequence)


def grown(
    text: str, members: Members, name: str = "text.txt", wide: Members | None = None, *, equal: bool = True
) -> Members:
    """*members* after they have grown; the sentences of *wide* stretches are there sixteen times."""
    agreement, count = agreement_of(text, name)
    frames = np.zeros(count, np.uint8)
    for start, end in wide or []:
        frames[start:end] = 4
    [group] = agreement.grown([Scored(50.0, members, 10.0, equal)], frames)
    if name == "text.txt" and group.members != members:
        assert group.equal == (len({tuple(text.lower().split()[s:e]) for s, e in group.members}) == 1)
    return group.members


def copies(*units: str) -> str:
    """Units said twice with something else around them; a unit with a bar has two variants."""
    first, second = (" ".join(unit.split("|")[choice] for unit in units) for choice in (0, -1))
    return "\n\n".join([sentence(7, "o"), first, sentence(7, "p"), second, sentence(7, "q")])


# --- growing --------------------------------------------------------------------------------------------------------


def test_a_group_goes_on_behind_and_before_as_far_as_all_members_do():
    text = copies(sentence(6, "a"), sentence(8, "b"), sentence(5, "c"))
    # Two copies of 6 + 8 + 5 words, from 7 and from 33 on. The sentence in the middle was found.
    assert grown(text, [(13, 21), (39, 47)]) == [(7, 26), (33, 52)]


def test_a_group_does_not_go_on_where_one_member_says_something_else():
    text = copies(sentence(6, "a"), f"{sentence(5, 'c')}|{sentence(5, 'd')}")
    assert grown(text, [(7, 13), (25, 31)]) == [(7, 13), (25, 31)]


@pytest.mark.parametrize(("changed", "taken"), [(2, True), (3, False)])
def test_a_sentence_that_is_nearly_the_same_is_taken_at_the_end_of_a_paragraph(changed: int, taken: bool):
    """More than .65 of the words: six of eight are, five are not."""
    near = f"{words(8 - changed, 'b').capitalize()} {words(changed, 'y')}."
    text = copies(sentence(6, "a"), f"{sentence(8, 'b')}|{near}")
    assert grown(text, [(7, 13), (28, 34)]) == ([(7, 21), (28, 42)] if taken else [(7, 13), (28, 34)])


def test_a_frame_is_not_taken_but_what_stands_inside_a_paragraph_is():
    page = [f"{sentence(7, name)}\n\n{sentence(9, 'a')}\n\n{sentence(6, 'f')}" for name in "op"]
    text = "\n\n".join(page)
    members, frame = [(7, 16), (29, 38)], [(16, 22), (38, 44)]
    assert grown(text, members) == [(7, 22), (29, 44)]
    assert grown(text, members, wide=frame) == members
    inside = copies(sentence(9, "a"), sentence(6, "f"))
    assert grown(inside, members, wide=frame) == [(7, 22), (29, 44)]


def test_a_frame_is_there_eight_times_as_often():
    page = [f"{sentence(7, name)}\n\n{sentence(9, 'a')}\n\n{sentence(6, 'f')}" for name in "op"]
    agreement, count = agreement_of("\n\n".join(page))
    group = Scored(50.0, [(7, 16), (29, 38)], 9.0, equal=True)
    for width, grows in ((3, True), (4, False)):
        [found] = agreement.grown([group], np.full(count, width, np.uint8))
        assert (found.members != group.members) is grows


@pytest.mark.parametrize("behind", [True, False])
@pytest.mark.parametrize(("size", "goes_on"), [(20, True), (19, False)])
def test_a_group_goes_on_over_a_heading_if_what_stands_around_it_is_the_same(
    behind: bool, size: int, goes_on: bool
):
    """With at least twenty words of the section behind it, or of that before it; never with the heading alone."""
    for same in (True, False):
        own = [sentence(size, name) for name in ("bb" if same else "bx")]
        parts = [
            f"<p>{sentence(9, 'a') if behind else one}</p><h2>{words(3, 'h')}</h2>"
            f"<p>{one if behind else sentence(9, 'a')}</p>"
            for one in own
        ]
        text = (
            f"<p>{sentence(5, 'm')}</p>{parts[0]}<p>{sentence(7, 'o')}</p>{parts[1]}<p>{sentence(5, 'n')}</p>"
        )
        part = 9 + 3 + size
        first, then = 5, 5 + part + 7
        members = [(at, at + 9) if behind else (at + size + 3, at + part) for at in (first, then)]
        whole = [(first, first + part), (then, then + part)]
        short = members if behind else [(start - 3, end) for start, end in members]
        assert grown(text, members, "page.html") == (whole if same and goes_on else short)


def test_sections_that_most_places_go_on_with_part_no_group():
    """They are said in many places, each beside others: every set of places would be a group of its own."""
    heads = [words(3, name) for name in "hhx"]
    parts = [
        f"<p>{sentence(9, 'a')}</p><h2>{head}</h2><p>{sentence(20, own)}</p><p>{sentence(7, name)}</p>"
        for head, own, name in zip(heads, "bbc", "opq", strict=True)
    ]
    agreement, count = agreement_of("".join(parts), "page.html")
    members = [(start, start + 9) for start in (0, 39, 78)]
    group = Scored(50.0, members, 9.0, equal=True)
    assert agreement.grown([group], np.zeros(count, np.uint8)) == [group]
    # Inside of a section they do.
    agreement, count = agreement_of("".join(parts).replace("h2", "p"), "page.html")
    parted = agreement.grown([group], np.zeros(count, np.uint8))
    assert [len(one.members) for one in parted] == [3, 2]  # all, and those that go on


def test_a_short_section_that_is_the_same_as_a_whole_is_taken():
    part = f"<p>{sentence(9, 'a')}</p><h2>{words(3, 'h')}</h2><p>{sentence(9, 'b')}</p>"
    text = "".join(f"<p>{sentence(5, own)}</p>{part}<h2>{own}</h2><p>{sentence(2, own)}</p>" for own in "mn")
    assert grown(text, [(5, 14), (34, 43)], "page.html") == [(5, 26), (34, 55)]


def test_a_group_that_began_inside_an_item_goes_on_into_the_next_one():
    items = f"<li><p>{sentence(6, 'b')}</p><p>{sentence(9, 'a')}</p></li><li><p>{sentence(7, 'c')}</p></li>"
    text = "".join(f"<p>{sentence(5, own)}</p><ul>{items}<li>{sentence(4, own)}</li></ul>" for own in "mn")
    assert grown(text, [(11, 20), (42, 51)], "page.html") == [(5, 27), (36, 58)]


def test_a_section_that_a_better_group_tells_is_not_told_again():
    part = f"<p>{sentence(9, 'a')}</p><h2>{words(3, 'h')}</h2><p>{sentence(20, 'b')}</p>"
    agreement, count = agreement_of(
        f"{part}<p>{sentence(7, 'o')}</p>{part}<p>{sentence(7, 'p')}</p>", "page.html"
    )
    frames = np.zeros(count, np.uint8)
    better = Scored(60.0, [(9, 32), (48, 71)], 23.0, equal=True)
    frames[0:9] = frames[39:48] = 4  # so that it does not grow before it
    other = Scored(50.0, [(0, 9), (39, 48)], 9.0, equal=True)
    assert agreement.grown([better, other], frames) == [better, other]
    assert agreement.grown([other], frames)[0].members == [(0, 32), (39, 71)]
    # What follows each other at all places is one then, also over the border of a section.
    assert [group.members for group in agreement.joined([better, other])] == [[(0, 32), (39, 71)]]


def test_half_a_section_may_stand_with_another_but_half_an_item_may_not():
    for one, two, joins in (("<div><h3>{}</h3>", "</div>", True), ("<ul><li><p>{}</p>", "</li></ul>", False)):
        page = "".join(
            f"{one.format(words(3, own).capitalize())}<p>{sentence(9, 'a')}</p>{two}<p>{sentence(9, 'b')}</p>"
            for own in "xy"
        )
        agreement, _ = agreement_of(page, "page.html")
        first, then = (
            Scored(50.0, members, 9.0, equal=True) for members in ([(3, 12), (24, 33)], [(12, 21), (33, 42)])
        )
        assert (len(agreement.joined([first, then])) == 1) is joins


@pytest.mark.parametrize(("missing", "whole"), [(3, True), (4, False)])
def test_a_paragraph_of_which_a_few_words_are_missing_is_taken_whole(missing: int, whole: bool):
    text = copies(sentence(9, "a"), f"{sentence(missing, 'm')}|{sentence(missing, 'n')}")
    members = [(7, 16), (23 + missing, 32 + missing)]
    more = [(start, end + missing) for start, end in members]
    assert grown(text, members, equal=False) == (more if whole else members)
    assert grown(text, members) == members  # what is word for word the same stays so


def test_one_word_by_itself_is_no_reason_to_go_on():
    page = [f"{sentence(7, name)}\n\n{sentence(9, 'a')}\n\n{{0}}" for name in "op"]
    text = "\n\n".join(page)
    for last, size in (("End.", 0), ("The end.", 2)):
        length = len(last.split())
        start = 23 + length
        assert grown(text.replace("{0}", last), [(7, 16), (start, start + 9)]) == [
            (7, 16 + size),
            (start, start + 9 + size),
        ]


@pytest.mark.parametrize(("changed", "taken"), [(1, True), (2, False)])
def test_a_sentence_inside_a_paragraph_is_taken_if_four_fifths_are_the_same(changed: int, taken: bool):
    near = f"{words(9 - changed, 'b').capitalize()} {words(changed, 'y')}."
    text = copies(sentence(6, "a"), f"{sentence(9, 'b')}|{near}", f"{sentence(6, 'c')}|{sentence(6, 'd')}")
    members = [(7, 13), (35, 41)]
    assert grown(text, members) == ([(7, 22), (35, 50)] if taken else members)
    before = copies(f"{sentence(6, 'c')}|{sentence(6, 'd')}", f"{sentence(9, 'b')}|{near}", sentence(6, "a"))
    members = [(22, 28), (50, 56)]
    assert grown(before, members) == ([(13, 28), (41, 56)] if taken else members)


def test_one_word_before_a_group_belongs_to_it():
    note = f"<p>Note</p><p>{sentence(9, 'a')}</p>"
    text = f"<p>{sentence(7, 'o')}</p>{note}<p>{sentence(7, 'p')}</p>{note}"
    assert grown(text, [(8, 17), (25, 34)], "page.html") == [(7, 17), (24, 34)]


@pytest.mark.parametrize("listings", [0, 1, 2])
def test_words_before_a_listing_belong_to_it_only_where_all_places_have_one(listings: int):
    said = f"{sentence(9, 'a')}\n\n{words(6, 'b').capitalize()}\n\n"
    code = ["```\nc d e\n```\n\n", "```\nf g h\n```\n\n"][:listings] + [""] * (2 - listings)
    text = "".join(f"{sentence(7, own)}\n\n{said}{one}" for own, one in zip("op", code, strict=True))
    start = 22 + 7 + 3 * (listings > 0)
    size = 9 if listings == 2 else 15
    found = grown(f"{text}{sentence(7, 'q')}\n", [(7, 16), (start, start + 9)], "page.md")
    assert found == [(7, 7 + size), (start, start + size)]


@pytest.mark.parametrize(("changed", "taken"), [(3, True), (4, False)])
def test_the_listing_that_a_passage_announces_goes_with_it_if_it_is_alike(changed: int, taken: bool):
    """More than .65 of the words: seven of ten are, six are not."""
    parts = []
    for name, own in (("o", "x"), ("p", "y")):
        code = f"{words(10 - changed, 'c')} {words(changed, own)}"
        parts.append(f"{sentence(7, name)}\n\n{words(9, 'a').capitalize()}:\n\n```\n{code}\n```\n")
    size = 10 if taken else 0
    assert grown("\n".join(parts), [(7, 16), (33, 42)], "page.md") == [(7, 16 + size), (33, 42 + size)]


# --- groups that follow each other, whole sentences -----------------------------------------------------------------


@pytest.mark.parametrize(("between", "one"), [(3, True), (4, False)])
def test_groups_with_a_number_between_them_are_one(between: int, one: bool):
    gap = ".".join("1234"[:between])
    text = f"{sentence(9, 'a')} {gap} {sentence(9, 'b')}\n\n{sentence(7, 'o')}\n\n{sentence(9, 'a')} {sentence(9, 'b')}"
    at = 9 + between
    second = at + 9 + 7
    groups = [
        Scored(9.0, [(0, 9), (second, second + 9)], 9.0, equal=True),
        Scored(9.0, [(at, at + 9), (second + 9, second + 18)], 9.0, equal=True),
    ]
    agreement, _ = agreement_of(text)
    assert len(agreement.joined(groups)) == (1 if one else 2)


@pytest.mark.parametrize(("own", "whole"), [(18, True), (24, False)])
def test_an_equal_passage_takes_the_rest_of_its_sentences_if_half_is_the_same(own: int, whole: bool):
    same = words(22, "a").capitalize()
    text = f"{same} {words(own, 'x')}.\n\n{sentence(7, 'o')}\n\n{same} {words(own, 'y')}."
    at = 22 + own + 7
    agreement, _ = agreement_of(text)
    group = Scored(22.0, [(0, 22), (at, at + 22)], 22.0, equal=True)
    size = own if whole else 0
    assert agreement.whole([group], 5)[0].members == [(0, 22 + size), (at, at + 22 + size)]


# --- what is left out -----------------------------------------------------------------------------------------------


def test_a_group_inside_another_that_has_as_many_members_is_not_told():
    outer: Members = [(0, 40), (100, 140)]
    inner: Members = [(5, 20), (105, 120)]
    assert without_inner([inner, outer]) == [outer]
    assert without_inner([outer, outer]) == [outer]
    more: Members = [(5, 15), (20, 30), (105, 115)]
    assert without_inner([more, outer]) == [more, outer]  # it is said twice in one of them
    beside: Members = [(5, 20), (205, 220)]
    assert without_inner([beside, outer]) == [beside, outer]


def test_a_part_of_a_group_is_worth_what_it_is_worth_by_itself():
    group = Scored(80.0, [(at, at + 20) for at in range(0, 400, 50)], 16.0, equal=False)
    assert rescored(group, group.members) == group
    four = rescored(group, group.members[:4])
    assert four.score == pytest.approx(80 * 2 / 3)
    assert rescored(group, group.members[:2]).score == pytest.approx(80 / 3)
    short = rescored(group, [(0, 6), (50, 56)])  # a pair of less than twelve words may be chance
    assert short.score == pytest.approx(80 / 3 * 6 / 20 * (6 / 12) ** 2)


@pytest.mark.parametrize(("length", "stays"), [(15, False), (16, True)])
def test_a_short_part_of_a_group_must_pass_the_limit(
    length: int, stays: bool, monkeypatch: pytest.MonkeyPatch
):
    text = f"{sentence(length, 'a')}\n\n{sentence(20, 'o')}\n\n{words(length - 1, 'a').capitalize()} other."
    low: list[Scored] = []

    def parted(_self: Agreement, groups: list[Scored], _least: int) -> list[Scored]:
        low.extend(groups)
        return [group._replace(score=0.1, equal=False) for group in groups]

    monkeypatch.setattr(Agreement, "parted", parted)
    monkeypatch.setattr(auto, "_bordered", lambda *_: auto._nothing())
    assert bool(doublet.find_repeats(text).groups) is stays
    assert low


@pytest.mark.parametrize(("length", "told"), [(6, False), (7, True)])
def test_a_few_words_in_a_few_places_are_no_repeat(length: int, told: bool):
    text = "\n\n".join(f"{sentence(length, 's')}\n\n{sentence(15, name)}" for name in "abcdefg")
    assert bool(doublet.find_repeats(text).groups) is told
    assert doublet.find_repeats(text, min_tokens=5).groups  # who asks for them gets them
    assert doublet.find_repeats(text, level=0.5).groups


def test_other_numbers_are_no_repeat():
    rows = ["\n".join(f"{n * step}, {n + step}, {n - step} pieces" for n in range(50, 60)) for step in (3, 7)]
    text = "\n\n".join([sentence(12, "o"), rows[0], sentence(12, "p"), "{0}", sentence(12, "q")])
    assert not doublet.find_repeats(text.replace("{0}", rows[1])).groups
    assert doublet.find_repeats(text.replace("{0}", rows[0])).groups


def test_rows_of_one_table_are_no_repeat():
    rows = "".join(f"<tr><td>{words(8, 'a')}</td><td>{words(9, 'b')}</td><td>{n}</td></tr>" for n in range(4))
    table = f"<table>{rows}</table>"
    assert not doublet.find_repeats({"page.html": f"<p>{sentence(9, 'o')}</p>{table}"}).groups
    tables = f"<p>{sentence(9, 'o')}</p>{table}<p>{sentence(9, 'p')}</p>{table}"
    assert doublet.find_repeats({"page.html": tables}).groups


def test_a_line_of_numbers_that_is_on_many_pages_is_a_frame():
    group = Scored(60.0, [(0, 40), (100, 140)], 40.0, equal=False)
    often = np.zeros(200, np.uint8)
    often[30:40] = often[130:140] = 4
    marks = np.ones(201, bool)
    assert with_own_words([group], marks, 10.0, 5)[0].members == group.members
    assert with_own_words([group], marks, 10.0, 5, often)[0].members == [(0, 30), (100, 130)]
    often[often == 4] = 3
    assert with_own_words([group], marks, 10.0, 5, often)[0].members == group.members


def test_units_are_counted_from_five_words_on():
    text = "\n\n".join([sentence(5, "a"), sentence(4, "b"), sentence(6, "c")] * 4)
    sequence = sequence_of(text, "text.txt")
    marks = sequence.edges().marks
    often = auto._unit_widths(marks, auto._unit_hashes(sequence, marks), RepeatOptions().least)
    assert often[:15].tolist() == [2] * 5 + [0] * 4 + [2] * 6


# --- places and readers ---------------------------------------------------------------------------------------------


def test_brackets_that_close_a_listing_belong_to_it():
    code = f"    {words(24, 'c')} {{\n        call(one,\n            two)\n        ;\n    }}\n"
    text = f"{sentence(9, 'o')}\n\n```\n{code}```\n\n{sentence(9, 'p')}\n\n```\n{code}```\n"
    [group] = doublet.find_repeats({"page.md": text}).groups
    assert {f.text[-20:].split()[-3:][-1] for f in group.fragments} == {"}"}


def test_a_reference_that_closes_a_listing_is_whole():
    code = f"<pre>&lt;{words(24, 'c')}&gt;</pre>"
    text = f"<p>{sentence(9, 'o')}</p>{code}<p>{sentence(9, 'p')}</p>{code}"
    [group] = doublet.find_repeats({"page.html": text}).groups
    assert {f.text[-4:] for f in group.fragments} == {"&gt;"}


def test_the_first_and_the_last_word_of_a_paragraph_have_their_marks():
    body = f"**type**: {words(20, 's')} ``last``"
    role = f":class:`{words(20, 'r')}`"
    other = [sentence(40, name) for name in "opqt"]
    text = "\n\n".join([other[0], body, other[1], role, other[2], body, other[3], role])
    found = {f.text for group in doublet.find_repeats({"page.rst": text}).groups for f in group.fragments}
    assert found == {body, role}


def test_a_link_with_which_a_fragment_ends_is_whole():
    body = f"{sentence(20, 's')[:-1]} as `the page\n<https://example.org/{'a' * 80}>`_."
    text = f"{sentence(40, 'o')}\n\n{body} Then this.\n\n{sentence(40, 'p')}\n\n{body} And that.\n"
    [group] = doublet.find_repeats({"page.rst": text}).groups
    assert {f.text for f in group.fragments} == {body}


@pytest.mark.parametrize("end", ["&lt;people@example.org&gt;", "<b>here</b>"])
def test_a_fragment_ends_with_no_half_of_a_reference_or_a_tag(end: str):
    body = f"<p>{words(20, 's').capitalize()} {end}"
    text = f'{body}</p><p>{sentence(40, "o")}</p>{body}<i class="x">)</i></p><p>{sentence(40, "p")}</p>'
    [group] = doublet.find_repeats({"page.html": text}).groups
    assert {f.text.removeprefix("<p>") for f in group.fragments} == {body.removeprefix("<p>")}


@pytest.mark.parametrize(("label", "is_one"), [("**An example**", True), ("**A sentence.**", False)])
def test_a_bold_paragraph_stands_over_what_follows(label: str, is_one: bool):
    marked = read_markup(f"Words\n\n{label}\n\n```\n{label}\n```\n\nin **a line** here\n", name="page.md")
    assert [marked.text[span.start : span.end] for span in marked.labels] == ([label] if is_one else [])


def test_rows_of_drawn_tables():
    text = (
        "Words\n\n+-----+-----+\n| a b | c d |\n+=====+=====+\n| e   | f   |\n| g   | h   |\n+-----+-----+\n\n"
        "Words\n\n====  ====\nI j   k l\nm     n\n      o\n====  ====\n\nWords\n"
    )
    marked = read_markup(text, name="page.rst")
    assert [text[s.start : s.end].strip() for s in marked.cells] == ["a b", "c d", "I j", "k l"]
    rows = {" ".join(text[s.start : s.end].split()) for s in marked.wholes}
    assert {"| e | f | | g | h |", "m n o", "| a b | c d |", "I j k l"} <= rows


def test_no_sentence_ends_behind_two_letters_that_stand_for_words():
    text = "One of them (i.e. Lithium) and one (e.g. Acid). Others follow, т. е. Другие. So i did. Next one."
    sequence = sequence_of(text, "text.txt")
    kinds = sequence.edges().kinds
    found = [
        text[int(sequence.starts[at]) :].split(maxsplit=1)[0]
        for at in range(1, len(sequence))
        if kinds[at] & SENTENCE
    ]
    assert found == ["Others", "So", "Next"]


@pytest.mark.parametrize(("sign", "introduces"), [(":", False), (".", False), ("", True)])
def test_words_before_a_listing_that_begins_with_a_small_letter(sign: str, introduces: bool):
    sequence = sequence_of(f"Use this one{sign}\n\n```\nuse code: now\n```\n", "page.md")
    assert Blocks(sequence, sequence.edges(), Headings(sequence)).introduces(3) is introduces


def test_a_line_that_ends_with_a_link_and_a_full_stop_is_no_heading():
    body = f"{sentence(24, 'a')}\n\nMore is said in [another place](place.md)."
    text = "\n\n".join(f"{sentence(30, name)}\n\n{body}" for name in "opq")
    [group] = doublet.find_repeats({"page.md": text}).groups
    assert {f.text for f in group.fragments} == {body}
