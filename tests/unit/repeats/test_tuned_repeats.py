"""Tuned numbers of the search for repeats, from both sides: one that is halved or doubled changes an answer here."""

from __future__ import annotations

import math
import string
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import doublet
from doublet.repeats import auto, baseline, by_edit, changed
from doublet.repeats.blocks import Blocks
from doublet.repeats.borders import SymbolCounts
from doublet.repeats.by_ngrams import find_by_ngrams, group_sentences
from doublet.repeats.changed import State, fresh_words
from doublet.repeats.edges import shared_edges
from doublet.repeats.formulas import find_formulas
from doublet.repeats.headings import Headings, Titles
from doublet.repeats.model import RepeatOptions
from doublet.repeats.tokenise import TokenSequence, tokenise
from doublet.repeats.told import Scored, with_own_words, without_covered
from doublet.text.markup import read_markup

pytestmark = pytest.mark.covers("P1")

OPTIONS = RepeatOptions()
I64 = np.int64


def fresh(name: str) -> Iterator[str]:
    """Words of letters alone, each once."""
    for one in string.ascii_lowercase:
        for two in string.ascii_lowercase:
            for three in string.ascii_lowercase:
                yield name + one + two + three


def words(count: int, name: str = "w") -> list[str]:
    source = fresh(name)
    return [next(source) for _ in range(count)]


def sequence_of(text: str) -> TokenSequence:
    return tokenise([read_markup(text)], OPTIONS)


def blocks_of(sequence: TokenSequence) -> Blocks:
    return Blocks(sequence, sequence.edges(), Headings(sequence))


def parts(text: str) -> tuple[TokenSequence, Any, SymbolCounts]:
    sequence = sequence_of(text)
    marks, _, at_start, at_end = sequence.edges()
    return sequence, marks, SymbolCounts(sequence, at_start, at_end)


# --- the text aligned with itself -----------------------------------------------------------------------------------


def aligned(*places: list[str], apart: int = 40) -> list[int]:
    """Lengths of the groups found between places that lie far apart in one endless sentence."""
    other = fresh("o")
    text: list[str] = []
    for number, place in enumerate(places):
        text += [next(other) for _ in range(apart + 10 * (number % 2))] + place
    text += [next(other) for _ in range(apart)]
    sequence, marks, symbols = parts(" ".join(text))
    none = np.zeros(0, I64)
    found = auto._aligned(sequence, (none, none, none), marks, symbols, OPTIONS)
    return sorted({int(end - start) for start, end in zip(found.start, found.end, strict=True)})


def twice(*runs: int) -> list[int]:
    """Two places of equal words (a number) with other words between them (a negative number)."""
    same, other = fresh("s"), fresh("x")
    shapes = [[next(same) for _ in range(run)] if run > 0 else run for run in runs]

    def place() -> list[str]:
        out: list[str] = []
        for shape in shapes:
            out += [next(other) for _ in range(-shape)] if isinstance(shape, int) else shape
        return out

    return aligned(place(), place())


def test_runs_of_four_equal_words_are_seeds() -> None:
    assert twice(3, -1, 3, -1, 3, -1, 3) == []
    assert twice(5, -1, 5) == [11]


def test_six_words_must_match() -> None:
    assert twice(5) == []
    assert twice(7) == [7]


def test_chains_go_over_twenty_other_words() -> None:
    assert twice(10, -15, 10) == [35]
    assert twice(20, -28, 20) == [20, 68]  # two chains, and both as one


def test_chains_within_thirty_words_are_joined() -> None:
    assert twice(20, -25, 20) == [20, 65]
    assert twice(30, -45, 30) == [30]


def test_a_joined_chain_has_matched_a_quarter_of_the_gap() -> None:
    assert twice(10, -26, 30) == [10, 30, 66]
    assert twice(5, -26, 30) == [30]


def test_nearly_half_of_the_words_must_match() -> None:
    assert twice(4, -7, 4, -7, 4) == [26]
    assert twice(4, -8, 4, -8, 4) == []


@pytest.mark.parametrize(("between", "found"), [(12, [6]), (20, [])])
def test_a_run_is_paired_with_the_sixteen_before_it(between: int, found: list[int]) -> None:
    """Between two equal places their seeds come by themselves, each too short to be a place."""
    place = words(6, "s")
    seeds = [place[at : at + 4] for at in range(3) for _ in range(between)]
    assert aligned(place, *seeds, place) == found


def test_places_that_coincide_by_three_quarters_are_one() -> None:
    for start, places in ((10, 1), (40, 2)):
        found, *_ = auto._places(np.array([0, start]), np.array([100, 100]), np.array([0, 1]))
        assert len(set(found.tolist())) == places


@pytest.mark.parametrize(("between", "one"), [(20, True), (30, False)])
def test_a_stretch_is_compared_with_the_next_twenty_four(between: int, one: bool) -> None:
    start = np.arange(between + 2)
    end = np.array([1000, *(200 + 500 * (at % 2) for at in range(between)), 1000])
    found, *_ = auto._places(start, end, np.arange(between + 2))
    assert (found[0] == found[-1]) is np.bool_(one)


@pytest.mark.parametrize(
    ("length", "away", "moved"),
    [(8, 3, True), (8, 4, False), (24, 5, True), (24, 7, False), (100, 7, True), (100, 12, False)],
)
def test_edges_move_to_borders_that_are_near(length: int, away: int, moved: bool) -> None:
    """Three tokens, or a quarter of the stretch, or eight."""
    marks = np.zeros(401, bool)
    marks[[0, 200 - away, 400]] = True
    start, end = auto._snapped(np.array([200]), np.array([200 + length]), marks)
    assert (start[0], end[0]) == (200 - away if moved else 200, 200 + length)


def test_members_of_a_group_share_two_thirds_of_their_pairs() -> None:
    for shared, loose in ((12, True), (14, False)):
        other, same = fresh("o"), words(shared + 1, "s")
        text = [word for _ in range(3) for word in [*same, *(next(other) for _ in range(20 - shared))]]
        found = auto._incoherent(
            sequence_of(" ".join(text)),
            np.array([0, 21, 42]),
            np.array([21, 42, 63]),
            np.zeros(3, I64),
            np.ones(3, bool),
        )
        assert bool(found[0]) is loose


def test_a_short_pair_and_one_that_hardly_matches_count_less() -> None:
    def factor(length: float, share: float) -> float:
        return float(auto._pair_factor(np.array([2]), np.array([length]), np.array([share]))[0])

    assert factor(6, 1.0) == pytest.approx(0.25)
    assert factor(12, 0.325) == pytest.approx(0.0625)
    assert factor(12, 0.65) == 1.0


# --- stretches between borders, and the rule ------------------------------------------------------------------------


def bordered(*units: str) -> dict[int, float]:
    """Scores of stretches that occur again, by their length; the units come three times among other sentences."""
    source = fresh("o")
    other = [" ".join(next(source) for _ in range(9)).capitalize() + "." for _ in range(4)]
    text = " ".join(f"{one} {' '.join(units)}" for one in other[:3]) + " " + other[3]
    sequence, marks, symbols = parts(text)
    kinds = sequence.edges().kinds
    found = auto._bordered(sequence, marks, auto._unit_hashes(sequence, marks), kinds, symbols, OPTIONS)
    return {
        int(e - s): float(found.score[g]) for s, e, g in zip(found.start, found.end, found.group, strict=True)
    }


def sentence(count: int, name: str) -> str:
    return " ".join(words(count, name)).capitalize() + "."


def test_two_words_make_a_unit_at_an_edge() -> None:
    assert 10 in bordered(sentence(3, "a"), sentence(7, "b"))
    assert 8 not in bordered(sentence(1, "a"), sentence(7, "b"))


def test_what_is_beside_a_colon_is_no_edge_of_several_units() -> None:
    label = " ".join(words(3, "c")).capitalize() + ":"
    assert set(bordered(sentence(6, "a"), label, sentence(7, "b"))) == {6, 7, 10, 16}  # not 9


def test_signs_and_numbers_lower_a_score() -> None:
    plain = bordered(sentence(10, "a"))[10]
    some = words(10, "a")
    signs = " ".join([*some[:5], "{/", *some[5:]]).capitalize() + "."
    text = " ".join(signs for _ in range(2))
    _, _, symbols = parts(text)
    density = float(symbols.density(np.array([0]), np.array([10]))[0])
    assert density > 0
    assert bordered(signs)[10] == pytest.approx(plain * math.exp(-8 * density))
    numbers = " ".join([*some[:6], "11", "22", "33", some[6]]).capitalize() + "."
    assert bordered(numbers)[10] == pytest.approx(plain * math.exp(-8 * (0.3 - 0.2)))
    few = " ".join([*some[:8], "11", some[8]]).capitalize() + "."
    assert bordered(few)[10] == pytest.approx(plain)


def test_the_rule_grows_with_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []
    monkeypatch.setattr(
        auto, "with_own_words", lambda groups, _m, limit, _l, _o: limits.append(limit) or groups
    )
    for count in (256, 4096):
        auto.find_auto(sequence_of(" ".join(words(count))), OPTIONS)
    assert limits == pytest.approx([12.5 / 16, 12.5 * 0.75**4])


@pytest.mark.parametrize(("length", "told"), [(15, False), (25, True)])
def test_twenty_equal_words_are_always_told(length: int, told: bool) -> None:
    same, other = words(length, "s"), fresh("o")
    place = [[next(other) for _ in range(30)] for _ in range(3)]
    sequence = sequence_of(" ".join([*place[0], *same, *place[1], *same, *place[2]]))
    groups, _ = auto.find_auto(sequence, RepeatOptions(level=1000.0))
    assert bool(groups) is told


def test_three_words_are_a_text() -> None:
    sequence = sequence_of("one two three four")
    assert auto._is_text([(0, 3)], sequence)
    assert not auto._is_text([(0, 2)], sequence)


# --- groups that say nothing new ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("members", "kept"), [(8, (0, 60)), (16, (20, 60))])
def test_a_frame_has_eight_times_as_many_members(members: int, kept: tuple[int, int]) -> None:
    frame = Scored(
        100.0, [(0, 20), *((200 + 10 * at, 220 + 10 * at) for at in range(members - 1))], 20.0, equal=False
    )
    pair = Scored(100.0, [(0, 60), (100, 160)], 60.0, equal=False)
    assert with_own_words([frame, pair], np.ones(401, bool), 10.0, 5)[1].members[0] == kept


@pytest.mark.parametrize(("matched", "stays"), [(20.0, False), (30.0, True)])
def test_three_tenths_of_its_own_words_must_match(matched: float, stays: bool) -> None:
    group = Scored(100.0, [(0, 80), (100, 180)], matched, equal=False)
    assert bool(with_own_words([group], np.ones(201, bool), 10.0, 5)) is stays


def told_by(members: int, covered: int, *, equal: bool = False) -> bool:
    """Whether a group of stretches of a hundred tokens goes, when two better groups cover so much of each."""
    group = Scored(10.0, [(1000 * n, 1000 * n + 100) for n in range(members)], 100.0, equal)
    better = Scored(90.0, [(start, start + covered) for start, _ in group.members], 90.0, equal=False)
    return group not in without_covered([better, group], 20, np.zeros(1000, bool), bool)


def test_small_groups_that_are_mostly_told_are_left_out() -> None:
    assert told_by(4, 80)
    assert not told_by(5, 80)
    assert not told_by(4, 60)
    assert told_by(2, 95, equal=True)
    assert not told_by(2, 85, equal=True)


@pytest.mark.parametrize(("length", "stays"), [(60, True), (80, False)])
def test_what_nearly_is_a_larger_group_goes(length: int, stays: bool) -> None:
    pair = Scored(90.0, [(0, length), (200, 200 + length)], 50.0, equal=False)
    three = Scored(80.0, [(0, 100), (200, 300), (400, 500)], 90.0, equal=False)
    assert (pair in without_covered([pair, three], 20, np.zeros(1000, bool), bool)) is stays


def stays(length: int, same: int) -> bool:
    """Whether two places of *length* words stay a group when the first *same* of them are shared."""
    shared = words(same, "s")
    places = [" ".join([*shared, *words(length - same, name)]).capitalize() + "." for name in "pq"]
    sequence = sequence_of(" ".join(places))
    group = Scored(50.0, [(0, length), (length, 2 * length)], float(same), equal=False)
    return bool(shared_edges([group], blocks_of(sequence), 5))


def test_short_groups_that_share_little_are_left_out() -> None:
    assert stays(20, 15)
    assert not stays(20, 13)
    assert not stays(31, 20)
    assert stays(34, 17)


def test_a_member_grows_to_the_border_of_its_sentence() -> None:
    """By eight words at most."""
    text = " ".join(sentence(30, name) for name in "abc")
    blocks = blocks_of(sequence_of(text))
    assert blocks.cut((38, 60), 5) == (30, 60)
    assert blocks.cut((39, 60), 5) == (39, 60)
    assert blocks.cut((30, 52), 5) == (30, 60)
    assert blocks.cut((30, 51), 5) == (30, 51)


def test_a_piece_of_a_section_has_less_than_twenty_words() -> None:
    for size, start in ((18, 18), (20, 0)):
        text = f"# A\n\n{sentence(size + 9, 'a')}\n\n# B\n\n{sentence(60, 'b')}\n"
        blocks = blocks_of(tokenise([read_markup(text, name="a.md")], OPTIONS))
        first = 1 + 9
        assert blocks._in_section(first, first + size + 61)[0] - first == start


def test_a_label_has_three_words() -> None:
    for count, cut in ((3, 3), (4, 0)):
        text = f"{sentence(9, 'a')} {' '.join(words(count, 'b')).capitalize()}: Next."
        headings = Headings(sequence_of(text))
        assert headings.cut([[(0, 9 + count)]], 5) == [[(0, 9 + count - cut)]]


@pytest.mark.parametrize(("more", "end"), [(8, 20), (12, 52)])
def test_two_words_that_are_not_shared_outweigh_a_shared_one(more: int, end: int) -> None:
    first, last = sentence(20, "s"), sentence(more, "t")
    text = f"{first} {sentence(20, 'o')} {last} {first} {last}"
    sequence = sequence_of(text)
    size = 40 + more
    group = Scored(50.0, [(0, size), (size, size + 20 + more)], 20.0, equal=False)
    assert shared_edges([group], blocks_of(sequence), 5)[0].members[0] == (0, end)


@pytest.mark.parametrize(("titles", "stays"), [(70, True), (90, False)])
def test_a_group_that_is_hardly_more_than_titles_goes(titles: int, stays: bool) -> None:
    marked = np.zeros(401, bool)
    marked[:titles] = marked[200 : 200 + titles] = True
    group = Scored(10.0, [(0, 100), (200, 300)], 100.0, equal=True)
    assert bool(Titles(marked).left_out([group])) is stays


@pytest.mark.parametrize(("length", "cut"), [(7, True), (10, False)])
def test_a_short_line_is_a_heading(length: int, cut: bool) -> None:
    line = " ".join(words(length, "h")).capitalize()
    text = f"{sentence(12, 'a')}\n\n{line}\n\n{sentence(9, 'b')}"
    found = Headings(sequence_of(text)).cut([[(0, 12 + length)]], 5)
    assert found == [[(0, 12 if cut else 12 + length)]]


# --- formulas -------------------------------------------------------------------------------------------------------

OPENING = ["Window", "shows", "settings", "colour", "brush"]


def formulas(openings: list[list[str]], length: int = 8) -> list[int]:
    """Lengths of the members of the formula that sentences with these openings make."""
    other = fresh("o")
    lines = [[*one, *(next(other) for _ in range(length - len(one)))] for one in openings]
    sequence, _, _ = parts(" ".join(" ".join(line).capitalize() + "." for line in lines))
    groups = find_formulas(sequence, sequence.edges(), np.zeros(len(sequence), bool))
    return [end - start for group in groups for start, end in group]


def test_eight_sentences_with_the_same_five_words_are_a_formula() -> None:
    assert formulas([OPENING] * 8) == [8] * 8
    assert formulas([OPENING] * 7) == []
    assert formulas([OPENING[:4]] * 8) == []


def test_a_formula_names_three_things() -> None:
    assert formulas([["The", "window", "and", "colour", "brush"]] * 8) == [8] * 8
    assert formulas([["The", "window", "and", "the", "brush"]] * 8) == []


def test_a_formula_has_fifteen_words() -> None:
    assert formulas([OPENING] * 8, length=14) == [14] * 8
    assert formulas([OPENING] * 8, length=17) == []


@pytest.mark.parametrize(("alike", "longest"), [(5, 6), (7, 10)])
def test_what_most_members_go_on_with_belongs_to_a_formula(alike: int, longest: int) -> None:
    other = fresh("o")
    text = []
    for number in range(10):
        begin = "then" if number < alike else next(other)
        lines = (
            [*OPENING, next(other)],
            [begin, *(next(other) for _ in range(3))],
            [next(other) for _ in range(12)],
        )
        text += [" ".join(line).capitalize() + "." for line in lines]
    sequence, _, _ = parts(" ".join(text))
    [group] = find_formulas(sequence, sequence.edges(), np.zeros(len(sequence), bool))
    assert max(end - start for start, end in group) == longest


# --- what is new, and the other searches ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "changed", "new"),
    [(4, 2, False), (4, 3, True), (20, 9, False), (20, 11, True), (40, 14, False), (40, 16, True)],
)
def test_how_many_words_make_a_copy_new(
    monkeypatch: pytest.MonkeyPatch, length: int, changed: int, new: bool
) -> None:
    """Half of a fragment, at least three words; fifteen always suffice."""
    same = words(length, "s")
    text = " ".join([*same, *words(9, "a"), *same, *words(9, "b")])
    found = doublet.find_repeats(text, algorithm="exact", min_tokens=4)
    flags = np.zeros(2 * length + 18, bool)
    flags[:changed] = True
    monkeypatch.setattr(baseline, "fresh_words", lambda _old, _new: (flags, flags))
    known = State(np.zeros(0, np.uint16), np.zeros(1, I64))
    assert [group.new for group in baseline.mark_new(found, known).groups] == [new]


@pytest.mark.parametrize(("again", "new"), [(2, False), (5, True)])
def test_runs_of_three_words_are_said_again(again: int, new: bool) -> None:
    old = np.arange(1, 41, dtype=np.uint16)
    more = np.concatenate([old, [900, *range(5, 5 + again), 901]]).astype(np.uint16)
    changed, _ = fresh_words(State(old, np.array([0, len(old)])), State(more, np.array([0, len(more)])))
    assert bool(changed.any()) is new


def alike(edits: int, options: RepeatOptions) -> bool:
    """Whether two fragments of ten words are, of which so many at the end differ."""
    first = np.arange(10)
    second = np.where(first >= 10 - edits, first + 50, first)
    return bool(len(by_edit._alike(np.array([first, second], np.uint32), options)[0]))


def test_fragments_differ_by_three_words() -> None:
    options = RepeatOptions(algorithm="edit", hash_distance=32)
    assert alike(3, options)
    assert not alike(4, options)


@pytest.mark.parametrize(("bits", "near"), [(11, True), (13, False)])
def test_hashes_of_fragments_differ_by_twelve_bits(
    monkeypatch: pytest.MonkeyPatch, bits: int, near: bool
) -> None:
    monkeypatch.setattr(by_edit, "_simhashes", lambda _words: np.array([0, 2**bits - 1], np.uint32))
    assert alike(1, RepeatOptions(algorithm="edit")) is near


def test_sentences_share_two_runs_and_half_of_theirs() -> None:
    options = RepeatOptions(algorithm="ngrams")

    def groups(size: int, common: int) -> int:
        return len(
            group_sentences([list(range(size)), list(range(size - common, 2 * size - common))], options)
        )

    assert groups(2, 1) == 2
    assert groups(4, 2) == 1
    assert groups(8, 3) == 2
    assert groups(8, 5) == 1


def test_runs_of_three_words_are_compared() -> None:
    some = words(12, "s")
    turned = [some[at ^ 1] for at in range(12)]  # every pair of words the other way round
    text = " ".join(" ".join(line).capitalize() + "." for line in (some, turned))
    assert find_by_ngrams(sequence_of(text), RepeatOptions(algorithm="ngrams"))[0] == []


# --- listings, wrapped lines and numbers of headings -----------------------------------------------------------------


def mixed(words_of_prose: int, others: int) -> list[str]:
    """Words of a sentence, some of which hold sentences together."""
    said = words(others)
    return [*said[:2], *(["about", "their", "with"] * words_of_prose)[:words_of_prose], *said[2:]]


def listing(said: list[str]) -> TokenSequence:
    page = f"Before it.\n\n```\n{' '.join(said)}\n```\n\nBehind it.\n"
    return tokenise([read_markup(page, kind="markdown")], OPTIONS)


@pytest.mark.parametrize(("held", "prose"), [(7, False), (15, True)])
def test_prose_between_the_marks_of_a_listing_has_words_that_hold_it_together(held: int, prose: bool) -> None:
    listings, typed = listing(mixed(held, 100 - held)).code()
    assert (len(listings), len(typed)) == ((0, 1) if prose else (1, 0))


@pytest.mark.parametrize(("coloured", "prose"), [(7, True), (15, False)])
def test_a_listing_in_colours_has_marks_around_its_words(coloured: int, prose: bool) -> None:
    own = mixed(30, 70)
    shown = [f'<span class="k">{one}</span>' for one in own[:coloured]] + own[coloured:]
    page = f"<html><body><p>Before it.</p><pre>{' '.join(shown)}</pre><p>Behind it.</p></body></html>"
    listings, typed = tokenise([read_markup(page, kind="html")], OPTIONS).code()
    assert (len(listings), len(typed)) == ((0, 1) if prose else (1, 0))


@pytest.mark.parametrize(("signs", "prose"), [(11, True), (22, False)])
def test_a_listing_has_signs(signs: int, prose: bool) -> None:
    own = [one + "{" * (at in range(1, signs + 1)) for at, one in enumerate(mixed(30, 70))]
    assert 480 < len(" ".join(own)) < 560
    listings, typed = listing(own).code()
    assert (len(listings), len(typed)) == ((0, 1) if prose else (1, 0))


def begins_line(text: str, word: str) -> bool:
    """Whether *word* begins a statement of its own in a plain text."""
    sequence = tokenise([read_markup(text, kind="text")], OPTIONS)
    at = int(np.searchsorted(sequence.starts, text.index(word)))
    return bool(sequence.edges().marks[at])


@pytest.mark.parametrize(("width", "wrapped"), [(30, False), (60, True)])
def test_wide_paragraphs_are_wrapped(width: int, wrapped: bool) -> None:
    def line(first: str) -> str:
        return (first + " abc" * 30)[: width - 4].rstrip().ljust(width, "x")

    assert begins_line("\n".join([line("Lower"), line("goes"), line("Novgorod")]), "Novgorod") is not wrapped


@pytest.mark.parametrize(("room", "wrapped"), [(12, True), (21, False)])
def test_signs_add_to_a_word_that_had_no_room(room: int, wrapped: bool) -> None:
    full = "a" * 60
    text = f"{full}\nb{'c' * (59 - room)}\nApt-get-install-everything-now follows it"
    assert begins_line(text, "Apt") is not wrapped


@pytest.mark.parametrize(("parts_of_it", "ends"), [(5, False), (8, True)])
def test_the_number_of_a_heading_has_few_parts(parts_of_it: int, ends: bool) -> None:
    number = "".join(f"{at}." for at in range(1, parts_of_it + 1))
    assert begins_line(f"Before it is said.\n\n{number} Purpose of it all", "Purpose") is ends


@pytest.mark.parametrize(("equal", "same"), [(4, False), (9, True)])
def test_states_are_aligned_by_six_equal_words(equal: int, same: bool) -> None:
    run = list(range(1000, 1000 + equal))
    old = State(np.array([*range(50), *run, *range(50, 90)], np.uint16), np.array([0, 90 + equal], I64))
    new = State(
        np.array([*range(500, 540), *run, *range(540, 600)], np.uint16), np.array([0, 100 + equal], I64)
    )
    found = changed.aligned(old, new)
    assert (found >= 0).sum() == (equal if same else 0)
