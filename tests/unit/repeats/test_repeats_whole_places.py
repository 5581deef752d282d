"""Groups are not cut short where most of their members go on; lists, tables and listings begin and end with an item, a
row or a bracket."""

from __future__ import annotations

import numpy as np
import pytest

import doublet
from doublet.repeats import auto
from doublet.repeats.agree import Agreement
from doublet.repeats.blocks import Blocks
from doublet.repeats.headings import Headings
from doublet.repeats.told import Scored
from doublet.repeats.wholes import Cells, Wholes
from doublet.text.markup import read_markup
from repeat_texts import sentence, sequence_of, words

pytestmark = pytest.mark.covers("P1", "P8")

Members = list[tuple[int, int]]


def grown(text: str, members: Members, name: str = "text.txt", *, equal: bool = True) -> list[Members]:
    sequence = sequence_of(text, name)
    edges = sequence.edges()
    blocks = Blocks(sequence, edges, Headings(sequence))
    agreement = Agreement(blocks, Wholes(sequence), Cells(sequence, edges))
    group = Scored(50.0, members, 10.0, equal)
    found = agreement.grown([group], np.zeros(len(sequence), np.uint8))
    assert all(one.score <= group.score for one in found)
    return sorted(one.members for one in found)


# --- most members go on ---------------------------------------------------------------------------------------------


def places(*behind: str) -> tuple[str, Members]:
    """The same sentence of nine words with each of these words behind it, and something else around both."""
    text, members, at = "", [], 0
    for number, more in enumerate(behind):
        own = sentence(7, "no"[number % 2] + "abcdefgh"[number])
        text += f"{own}\n\n{sentence(9, 'a')} {more}\n\n"
        members.append((at + 7, at + 16))
        at += 16 + len(more.split())
    return text, members


def test_those_that_go_on_alike_are_a_group_of_their_own_if_they_are_most():
    same = sentence(6, "s")
    text, members = places(same, same, sentence(6, "x"))
    # The three places stay together: whoever changes the sentence has to know them all.
    assert grown(text, members) == [members, [(7, 22), (29, 44)]]
    text, members = places(same, same, same, sentence(6, "x"), sentence(6, "y"))
    assert grown(text, members) == [members, [(7, 22), (29, 44), (51, 66)]]


def test_half_of_the_members_are_not_most_of_them():
    same = sentence(6, "s")
    text, members = places(same, same, sentence(6, "x"), sentence(6, "y"))
    assert grown(text, members) == [members]


@pytest.mark.parametrize(("changed", "goes_on"), [(3, True), (4, False)])
def test_they_may_go_on_in_nearly_the_same_words(changed: int, goes_on: bool):
    """Of ten words some are others: seven tenths are shared, or six tenths."""
    one, two = (f"{words(10 - changed, 's')} {words(changed, name)}".capitalize() + "." for name in "xy")
    text, members = places(one, two, sentence(10, "z"))
    wanted = [members, [(7, 26), (33, 52)]] if goes_on else [members]
    assert grown(text, members, equal=False) == wanted


def test_those_that_begin_after_the_same_words_are_a_group_too():
    same, other = sentence(6, "s"), sentence(6, "x")
    texts = [
        f"{sentence(7, name)}\n\n{before} {sentence(9, 'a')}"
        for name, before in zip("mno", (same, same, other), strict=True)
    ]
    members = [(at + 13, at + 22) for at in (0, 22, 44)]
    assert grown("\n\n".join(texts), members) == [[(7, 22), (29, 44)], members]


# --- lists, headings, frames ----------------------------------------------------------------------------------------


def page(name: str, items: str, tag: str = "ul") -> str:
    return f"<p>{sentence(7, name)}</p><p>{sentence(9, 'a')}</p><{tag}>{items}</{tag}>"


def test_a_group_goes_on_into_a_list_and_ends_with_an_item():
    first, second, third = (f"<li>{sentence(6, name)}</li>" for name in "bcd")
    text = page("m", first + second) + page("n", first + third)
    assert grown(text, [(7, 16), (35, 44)], "a.html") == [[(7, 22), (35, 50)]]
    half = f"<li>{sentence(6, 'b')} {sentence(6, 'e')}</li>"
    text = page("m", first[:-5] + f" {sentence(6, 'd')}</li>") + page("n", half)
    assert grown(text, [(7, 16), (35, 44)], "a.html") == [[(7, 16), (35, 44)]]  # the item goes on


def test_a_group_does_not_end_inside_a_table():
    first, second, third = (f"<tr><td>{sentence(6, name)}</td></tr>" for name in "bcd")
    text = page("m", first + second, "table") + page("n", first + third, "table")
    assert grown(text, [(7, 16), (35, 44)], "a.html") == [[(7, 16), (35, 44)]]


def test_a_group_may_begin_with_the_last_items_of_a_list_but_not_inside_one():
    first, second, last = (f"<li>{sentence(6, name)}</li>" for name in "bcd")
    text = "".join(f"<ul>{item}{last}</ul><p>{sentence(9, 'a')}</p>" for item in (first, second))
    assert grown(text, [(12, 21), (33, 42)], "a.html") == [[(6, 21), (27, 42)]]
    halves = (f"<li>{sentence(6, name)} {sentence(6, 'd')}</li>" for name in "bc")
    text = "".join(f"<ul>{item}</ul><p>{sentence(9, 'a')}</p>" for item in halves)
    assert grown(text, [(12, 21), (33, 42)], "a.html") == [[(12, 21), (33, 42)]]


def test_the_heading_that_all_members_stand_under_belongs_to_them():
    part = f"<h2>{words(2, 'h').capitalize()}</h2><p>{sentence(9, 'a')}</p>"
    text = f"<p>{sentence(7, 'n')}</p>{part}<p>{sentence(7, 'm')}</p>{part}"
    assert grown(text, [(9, 18), (27, 36)], "a.html") == [[(7, 18), (25, 36)]]


@pytest.mark.parametrize(("files", "width"), [(7, 0), (8, 3), (16, 4)])
def test_a_frame_is_counted_by_the_files_that_have_it(files: int, width: int):
    """One that is there as often in a single file is none."""
    edges = np.arange(0, 6 * (2 * files) + 1, 6)
    marks = np.zeros(edges[-1] + 1, bool)
    marks[edges] = True
    units = np.array([1, 2] * files, np.uint64)
    units[1::2] += np.arange(files, dtype=np.uint64)  # the second of each file is its own
    often = np.repeat(np.array([4, 0] * files, np.uint8), 6)
    offsets = edges[::2]
    found = auto._page_widths(marks, units, offsets, often)
    assert set(found[::12].tolist()) == {width}
    assert not found[6::12].any()
    assert not auto._page_widths(marks, units, edges[[0, -1]], often).any()


# --- tables and headings of plain text ------------------------------------------------------------------------------

TABLE = """
    +----------+------------------+
    | name     | what it is       |
    |----------+------------------|
    | first    | a thing that     |
    |          | goes on          |
    |----------+------------------|
    | second   | another thing    |
    +----------+------------------+
"""


def test_a_table_that_is_drawn_with_lines_has_rows_and_cells():
    text = f"Before it.\n{TABLE}\nBehind it.\n"
    marked = read_markup(text, name="a.txt")
    [table] = marked.tables
    assert text[table.start : table.end].split() == TABLE.split()
    rows = [text[span.start : span.end] for span in marked.wholes if span != table]
    assert [sum(word in row for word in ("name", "first", "goes", "second")) for row in rows] == [1, 2, 1]
    cells = [text[span.start : span.end].strip() for span in marked.cells]
    assert cells == ["name", "what it is", "first", "a thing that", "goes on", "second", "another thing"]
    assert marked.masked == text


def test_a_table_without_lines_has_a_row_in_each_line():
    text = "| one | two |\n| three | four |\n| five | six |\n\nBehind it.\n"
    marked = read_markup(text, name="a.txt")
    assert len(marked.tables) == 1
    assert len([span for span in marked.wholes if span not in marked.cells]) == 1 + 3
    assert not read_markup(text.partition("\n")[2], name="a.txt").tables  # two lines are none


def test_lines_of_a_drawn_table_end_where_lines_of_the_text_do():
    """Other signs that may end a line are part of a cell."""
    text = "| one | t\x0cwo |\n| three | fo\u2028ur |\n| five | six |"
    marked = read_markup(text, name="a.txt")
    cells = [text[span.start : span.end].strip() for span in marked.cells]
    assert cells == ["one", "t\x0cwo", "three", "fo\u2028ur", "five", "six"]
    assert marked.wholes == sorted(marked.wholes)


def contents(text: str) -> list[str]:
    return [" ".join(text[span.start : span.end].split()) for span in read_markup(text, name="a.txt").links]


def with_headings(listed: str) -> str:
    """A list of contents, and what it lists: each title by itself."""
    parts = "\n\n".join(
        f"{line.strip()}\n\n{sentence(9, 'p')}" for line in listed.splitlines() if line[0] > " "
    )
    return f"Contents\n{listed}\n\n{parts}\n"


def test_numbered_lines_that_follow_each_other_are_a_list_of_contents():
    listed = (
        "1. Of one part\n1.1. First things\n1.2. Long things that are\n    wrapped\n2. More\n2.1 Last things"
    )
    text = f"{with_headings(listed)}\n{sentence(9, 'a')}\n1.5 litres of it\n{sentence(9, 'b')}\n"
    assert contents(text) == ["1.1. First things", "1.2. Long things that are wrapped", "2.1 Last things"]
    assert not contents(text.replace("First things", "This is said."))  # two are none


def test_lines_of_a_list_of_contents_may_lead_to_pages():
    listed = "1.1 First things ........ 3\n1.2 More of them . . . . .\t5\n1.3 Last things    12"
    parts = "\n\n".join(
        f"1.{n} {title}\n\n{sentence(9, 'p')}"
        for n, title in enumerate(("First things", "More of them", "Last things"), 1)
    )
    assert len(contents(f"{listed}\n\n{parts}\n")) == 3


@pytest.mark.parametrize(("headings", "count"), [(2, 0), (3, 4)])
def test_most_lines_of_a_list_of_contents_are_headings(headings: int, count: int):
    """Numbered lines that head nothing are text."""
    listed = [f"2.{n}. {words(3, 'abcd'[n])}" for n in range(4)]
    parts = "\n\n".join(f"{line}\n\n{sentence(9, 'p')}" for line in listed[:headings])
    assert len(contents("\n".join([*listed, "", parts]))) == count


@pytest.mark.parametrize(("lines", "count"), [(2, 0), (3, 3), (4, 4)])
def test_a_list_of_contents_has_three_lines_at_least(lines: int, count: int):
    assert len(contents(with_headings("\n".join(f"2.{n}. {words(3, 't')}" for n in range(lines))))) == count


@pytest.mark.parametrize(("size", "count"), [(16, 5), (17, 0)])
def test_a_line_of_contents_has_sixteen_words_at_most(size: int, count: int):
    long = f"2.9. {words(size, 't')}\n"
    listed = f"2.1. First\n2.2. Second\n{long}3.1. First\n3.2. Second"
    assert len(contents(with_headings(listed))) == count


def test_a_title_in_the_contents_of_a_plain_text_is_no_repeat():
    contents = "\n".join(f"    9.{n}. {words(9, 'abcdefgh'[n]).capitalize()}" for n in range(8))
    parts = "\n\n".join(
        f"9.{n}. {words(9, 'abcdefgh'[n]).capitalize()}\n\n{sentence(30, 'stuvwxyz'[n])}" for n in range(8)
    )
    assert not doublet.find_repeats({"a.txt": f"Contents\n\n{contents}\n\n{parts}\n"}).groups


# --- tables of Markdown ---------------------------------------------------------------------------------------------


def test_a_table_of_markdown_needs_no_bar_in_front():
    text = "Before.\n\nname | what\n-----|-----\nfirst | it goes\nsecond | it comes\n\nBehind | it.\n"
    marked = read_markup(text, name="a.md")
    [table] = marked.tables
    assert text[table.start : table.end] == "name | what\n-----|-----\nfirst | it goes\nsecond | it comes\n"
    assert marked.masked.count("\n") == text.count("\n")  # no row is wrapped
    assert len(marked.cells) == 8
    barred = "| a | b |\n|---|---|\n| c | d |\n"
    [table] = read_markup(barred, name="a.md").tables
    assert barred[table.start : table.end] == barred


def test_rows_of_a_table_begin_with_their_first_cell():
    rows = f"by | Optional. {sentence(12, 'a')}\nof | Optional. {sentence(11, 'b')}\n"
    table = f"name | what\n-----|-----\n{{}} | Needed. {sentence(8, 'n')}\n{rows}"
    text = "\n\n".join(f"{sentence(9, name)}\n\n{table.format(name * 3)}" for name in ("x", "y"))
    for group in doublet.find_repeats({"a.md": text}).groups:
        assert {f.text.split()[0] for f in group.fragments} <= {"by", "of", "name"}


def test_cells_of_one_table_are_made_alike():
    rows = "".join(f"<tr><td>{words(2, name)}</td><td>{sentence(9, 'c')}</td></tr>" for name in "klmno")
    assert not doublet.find_repeats({"a.html": f"<p>{sentence(9, 'a')}</p><table>{rows}</table>"}).groups
    apart = f"<p>{sentence(20, 'b')}</p>".join(
        f"<table>{row}</tr></table>" for row in rows.split("</tr>")[:-1]
    )
    assert doublet.find_repeats({"a.html": apart}).groups


# --- listings and wrapped lines -------------------------------------------------------------------------------------


def test_three_ticks_with_others_behind_them_begin_no_listing():
    for line in ("```word``` and more", "```` ```word``` ````"):
        assert not read_markup(f"Before.\n\n{line}\n\nBehind.\n", name="a.md").code
    assert len(read_markup("Before.\n\n```sh x\ncode\n```\n\nBehind.\n", name="a.md").code) == 1
    assert len(read_markup("Before.\n\n~~~ `sh`\ncode\n~~~\n\nBehind.\n", name="a.md").code) == 1


def test_brackets_that_open_a_listing_belong_to_it():
    code = f"{{\n  ({words(24, 'c')})\n}}\n"
    text = f"{sentence(9, 'o')}\n\n```\n{code}```\n\n{sentence(9, 'p')}\n\n```\n{code}```\n"
    [group] = doublet.find_repeats({"page.md": text}).groups
    assert {f.text for f in group.fragments} == {code.strip()}


@pytest.mark.parametrize(("letters", "signs", "wrapped"), [(7, 11, False), (7, 12, True), (6, 13, False)])
def test_a_word_needs_room_for_up_to_twelve_signs_too(letters: int, signs: int, wrapped: bool):
    """In a line of 41 characters, beside one of 60, there is no room for a word of 19."""
    line = "This line has room for one more word in x"
    text = f"{'Wide ' + 'w' * 55}\n{line}\n{'N' * letters}{'-' * signs} {words(9, 'b')}\n"
    text += "".join(f"{words(9, name)}\n" for name in "cdef")  # small letters: this paragraph is wrapped
    sequence = sequence_of(text, "a.txt")
    at = 2 + len(line.split())
    assert bool(sequence.edges().marks[at]) is not wrapped


def test_a_paragraph_of_two_equal_pages_that_stands_in_a_third_is_told():
    page, passage = [sentence(30, name) for name in "abc"], sentence(30, "p")
    files = {f"{name}.txt": "\n\n".join([*page, passage, *page[::-1], sentence(5, name)]) for name in "xy"}
    files["z.txt"] = f"{sentence(40, 'q')}\n\n{passage}\n\n{sentence(40, 'r')}\n"
    groups = doublet.find_repeats(files).groups
    assert any({f.file for f in group.fragments} >= {"x.txt", "z.txt"} for group in groups)


# --- numbers of headings, and words that only announce --------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "ends"),
    [("3.4.1. Purpose of it", False), ("12. Purpose of it", False), ("In 12. Purpose of it", True)],
)
def test_no_sentence_ends_behind_the_number_of_a_heading(line, ends):
    sequence = sequence_of(f"Words before it.\n\n{line}\n\nWords behind it.\n", "text.txt")
    marks = sequence.edges().marks
    text = sequence.marked_texts[0].text
    purpose = [text[start:].startswith("Purpose") for start in sequence.starts.tolist()].index(True)
    assert marks[purpose] == ends


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("The script may be called in one of the following ways", "formula"),
        (
            "The script may be called in any of the ways that the next table of this chapter tells you",
            "passage",
        ),
    ],
)
def test_a_few_words_that_only_announce_what_follows_are_a_formula(said, kind):
    own = [sentence(30, letter) for letter in "abcd"]
    text = "\n\n".join(f"{one}\n\n{said}:\n\n- {sentence(9, one[0] * 2)}" for one in own)
    [group] = doublet.find_repeats(text).groups
    assert all(fragment.text == f"{said}:" for fragment in group.fragments)
    assert group.kind == kind
    [group] = doublet.find_repeats(text.replace(":", ".")).groups
    assert group.kind == "passage"


@pytest.mark.parametrize(
    ("path", "kept"),
    [("../listings/{}/of/a/chapter/src/lib.rs:here", False), ("{} in a chapter of this book", True)],
)
def test_a_path_is_one_word(path, kept):
    own = [sentence(30, letter) for letter in "abcd"]
    text = "\n\n".join(f"{one}\n\nThe file that follows: {path.format('one')}" for one in own)
    assert bool(doublet.find_repeats(text).groups) == kept


@pytest.mark.parametrize(
    ("titles", "taken"),
    [(("Remove old nodes", "Remove old facts"), True), (("Old nodes", "New facts"), False)],
)
def test_headings_that_are_half_the_same_are_taken(titles, taken):
    own = [sentence(30, letter) for letter in "ab"]
    same = sentence(20, "s")
    text = "\n\n".join(
        f"## {before}\n\n{one}\n\n## {title}\n\n{same}"
        for before, one, title in zip("xy", own, titles, strict=True)
    )
    [group] = doublet.find_repeats({"a.md": text}).groups
    assert all(same in fragment.text for fragment in group.fragments)
    assert [title in fragment.text for title, fragment in zip(titles, group.fragments, strict=True)] == [
        taken
    ] * 2


@pytest.mark.parametrize(
    ("places", "own", "size", "kind"),
    [
        (3, 3, 23, "formula"),
        (3, 3, 24, "passage"),
        (3, 2, 20, "passage"),
        (3, 3, 20, "formula"),
        (3, 0, 23, "passage"),
        (2, 3, 23, "passage"),
    ],
)
def test_a_few_words_that_differ_in_several_places_are_a_formula(places: int, own: int, size: int, kind: str):
    said = [
        f"{words(10, 's')} {words(own, f'own{place}')} {words(size - own - 10, 't')}".strip().capitalize()
        + "."
        for place in range(places)
    ]
    text = "\n\n".join(f"{one}\n\n{sentence(30, f'o{place}')}" for place, one in enumerate(said))
    [group] = doublet.find_repeats(text).groups
    assert (len(group.fragments), group.tokens, group.kind) == (places, size, kind)


@pytest.mark.parametrize("algorithm", ["auto", "exact", "ngrams"])
@pytest.mark.parametrize(("in_code", "kind"), [(10, "passage"), (20, "listing")])
def test_a_group_that_is_mostly_code_is_a_listing(algorithm: str, in_code: int, kind: str):
    said = f"{sentence(14, 's')[:-1]}:\n\n```\n{words(in_code, 'c')}\n```\n"
    text = "\n".join(f"{sentence(30, f'o{place}')}\n\n{said}" for place in range(2))
    groups = doublet.find_repeats({"page.md": text}, algorithm=algorithm).groups
    assert {group.kind for group in groups} >= {kind}
    # What lies inside the listing is one, too, where a search tells it apart from what announces it.
    assert all(group.kind == "listing" for group in groups if group.fragments[0].text.startswith("c"))


@pytest.mark.parametrize("algorithm", ["auto", "exact"])
@pytest.mark.parametrize(
    ("between", "size", "places", "kind"),
    [
        (10, 40, 2, "neighbour"),
        (11, 40, 2, "passage"),
        (0, 100, 2, "neighbour"),
        (0, 101, 2, "passage"),
        (5, 40, 3, "neighbour"),
        (5, 12, 8, "formula"),
    ],
)
def test_places_one_after_the_other_are_side_by_side(
    algorithm: str, between: int, size: int, places: int, kind: str
):
    said = sentence(size, "s")
    text = "\n\n".join(f"{sentence(between, f'o{place}')}\n\n{said}" for place in range(places))
    [group] = doublet.find_repeats(f"{sentence(30, 'before')}\n\n{text}", algorithm=algorithm).groups
    assert (len(group.fragments), group.tokens, group.kind) == (places, size, kind)


@pytest.mark.parametrize(("near", "kind"), [(1, "passage"), (2, "neighbour")])
def test_most_places_one_after_the_other_are_side_by_side(near: int, kind: str):
    """One step of two is not more than half of them; two of three are."""
    said, far = sentence(40, "s"), sentence(30, "far")
    text = "\n\n".join([said, *[said] * near, far, said])
    [group] = doublet.find_repeats(text).groups
    assert (len(group.fragments), group.kind) == (near + 2, kind)


def test_places_in_two_files_or_with_a_place_far_away_are_not_side_by_side():
    said, far = sentence(40, "s"), sentence(30, "far")
    for texts in ({"a.md": said, "b.md": said}, {"a.md": f"{said}\n\n{said}\n\n{far}\n\n{said}"}):
        assert [group.kind for group in doublet.find_repeats(texts).groups] == ["passage"]
