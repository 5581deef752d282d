"""Members have items, rows, sections and listings whole or not at all; data, pieces of code and frames are left out."""

from __future__ import annotations

import numpy as np
import pytest

import doublet
from doublet.repeats.formulas import find_formulas
from doublet.repeats.headings import Headings, Titles
from doublet.repeats.told import Scored, merged, without_frames
from doublet.repeats.wholes import Cells, Listings, Wholes
from doublet.text.markup import read_markup
from repeat_texts import fresh, sentence, sequence_of, words

pytestmark = pytest.mark.covers("P1")

Members = list[tuple[int, int]]


def wholes_of(text: str, name: str = "page.html") -> list[str]:
    marked = read_markup(text, name=name)
    return [text[span.start : span.end] for span in marked.wholes]


def said(text: str, name: str = "page.html") -> list[set[str]]:
    """The different texts of each group."""
    groups = doublet.find_repeats({name: text}).groups
    return [{" ".join(read_markup(f.text, name=name).masked.split()) for f in g.fragments} for g in groups]


# --- what the readers say -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows",
    [
        "<tr><td>a b</td><td>c d</td></tr><tr><td>e f</td></tr>",
        "<tr><td>a b<td>c d<tr><td>e f",
        "<tr><td>a b</td><td>c d<tr><td>e f</td>",
    ],
)
def test_rows_and_cells_end_where_others_begin(rows: str):
    text = f"<table>{rows}</table>"
    marked = read_markup(text, name="page.html")
    assert [text[span.start : span.end] for span in marked.cells] == ["a b", "c d", "e f"]
    assert sum(text[span.start : span.end].startswith("<td>") for span in marked.wholes) == 2
    assert len(marked.wholes) == 6  # the table, two rows, three cells


def test_a_list_inside_an_item_does_not_end_it():
    inner = ["a<ol><li>b<li>c</ol>d", "<li>b<li>c", "b", "c", "e"]
    assert wholes_of("<ul><li>a<ol><li>b<li>c</ol>d<li>e</ul>f") == ["<li>a<ol><li>b<li>c</ol>d<li>e", *inner]


def test_terms_and_what_is_said_of_them_are_one_entry():
    text = "<dl><dt>a<dt>b<dd>c<dd>d<dt>e<dd>f</dl>g"
    assert wholes_of(text)[1:] == ["a<dt>b<dd>c<dd>d", "c", "d", "e<dd>f", "f"]


@pytest.mark.parametrize("text", ["</td></tr></table>a", "<ul></li>a</ul>", "</div><p>a"])
def test_ends_of_what_was_not_begun_are_nothing(text: str):
    assert not [part for part in wholes_of(text) if part == "a"]


def test_markdown_has_rows_and_cells():
    text = "| a b | c \\| d |\n|---|---|\n| e | f |\n\ng\n"
    assert "| a b | c \\| d |\n" in wholes_of(text, "page.md")
    assert "| c \\| d " in wholes_of(text, "page.md")
    assert not [part for part in wholes_of(text, "page.md") if "g" in part]


def test_an_attribute_may_hold_an_angle():
    assert read_markup('a <a href="#x:<L>_y">b</a> c', name="page.html").masked.split() == ["a", "b", "c"]


def test_a_line_end_is_no_paragraph():
    kinds = sequence_of("<p>one two<br>three four<br/>Five").edges().marks.tolist()
    assert kinds == [True, False, False, False, True, True]


# --- wholes ---------------------------------------------------------------------------------------------------------


def fitted(text: str, start: int, end: int) -> tuple[int, int]:
    return Wholes(sequence_of(text)).fitted(start, end)


LIST = "<p>a b c</p><ul><li>d e f</li><li>g h i</li></ul><p>j k l</p>"


@pytest.mark.parametrize(
    ("member", "left"),
    [
        ((3, 9), (3, 9)),  # two items
        ((4, 6), (4, 6)),  # inside one
        ((4, 9), (6, 9)),  # the rest of one, and another
        ((3, 8), (3, 6)),
        ((6, 12), (9, 12)),  # an item and what follows the list
        ((1, 6), (3, 6)),  # the beginning of a list and what is before it
        ((5, 12), (6, 9)),
        ((0, 4), (0, 3)),
        ((0, 12), (0, 12)),
        ((4, 7), (4, 6)),  # of two pieces the longer stays
    ],
)
def test_a_member_has_an_item_whole_or_not_at_all(member: tuple[int, int], left: tuple[int, int]):
    assert fitted(LIST, *member) == left


def test_a_section_is_whole_too():
    text = "<h2>aa</h2><p>bb cc dd ee</p><h3>ff</h3><p>gg hh</p><h2>ii</h2><p>jj kk</p>"
    assert fitted(text, 2, 11) == (2, 8)
    assert fitted(text, 6, 11) == (8, 11)
    assert fitted(text, 0, 8) == (0, 8)
    assert fitted(text, 1, 8) == (1, 8)  # a section below it belongs to it
    assert fitted(text, 1, 7) == (1, 5)


def test_equal_members_are_cut_in_the_same_places():
    one = f"<ul><li>{words(3, 'a')} {words(30, 's')}</li></ul>"
    text = f"<p>{words(4, 'b')}</p><p>{words(30, 's')}</p>{one}<p>{words(25, 't')}</p><p>{words(40, 'c')}</p>"
    text += f"<p>{words(30, 's')}</p><p>{words(25, 't')}</p>"
    wholes = Wholes(sequence_of(text))
    group = Scored(10.0, [(37, 92), (132, 187)], 55.0, equal=True)
    assert wholes.fit([group], 5) == [Scored(10.0 * 30 / 55, [(37, 67), (132, 162)], 30.0, equal=True)]
    rest = wholes.fit([group], 5, rests=True)[1]
    assert rest.members == [(67, 92), (162, 187)]


@pytest.mark.parametrize(("size", "told"), [(19, False), (20, True)])
def test_what_is_cut_off_is_told_from_twenty_words_on(size: int, told: bool):
    item = f"<ul><li>{words(30, 's')}</li><li>{words(size, 't')} {words(9, 'x')}</li></ul>"
    sequence = sequence_of(f"{item}<p>{words(30, 'o')}</p>{item}")
    first, second = 0, 30 + size + 9 + 30
    group = Scored(10.0, [(first, first + 30 + size), (second, second + 30 + size)], 49.0, equal=False)
    assert len(Wholes(sequence).fit([group], 5, rests=True)) == 1 + told


def test_both_parts_of_what_goes_over_a_border_are_told():
    text = f"<ul><li>{sentence(4, 'x')} {sentence(30, 's')}</li></ul><p>{sentence(32, 't')}</p>"
    text += f"<p>{sentence(50, 'o')}</p><p>{sentence(30, 's')}</p><p>{sentence(32, 't')}</p>"
    groups = doublet.find_repeats({"page.html": text}).groups
    assert sorted(group.tokens for group in groups) == [30, 32]


def test_rows_do_not_run_into_half_of_the_next():
    def row(name: str) -> str:
        return f"<tr><td>{name} key</td><td>{sentence(14, 's' + name)}</td></tr>"

    def page(names: str, other: str) -> str:
        return (
            f"<table>{''.join(map(row, names))}<tr><td>{other}</td><td>{sentence(9, other)}</td></tr></table>"
        )

    text = f"<p>{sentence(20, 'o')}</p>{page('abc', 'y')}<p>{sentence(40, 'p')}</p>{page('abc', 'z')}"
    [group] = doublet.find_repeats({"page.html": text}).groups
    assert {f.tokens for f in group.fragments} == {48}


# --- tables and other data ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("words_of_cell", "told"), [(3, False), (5, True)])
def test_rows_of_labels_and_values_are_data(words_of_cell: int, told: bool):
    cells = "".join(f"<td>{words(words_of_cell, name)}</td>" for name in "abcdefgh")
    text = f"<table><tr>{cells}</tr></table><p>{sentence(60, 'o')}</p><table><tr>{cells}</tr></table>"
    assert bool(said(text)) == told


def test_labels_and_values_without_a_table_are_data_too():
    cells = "".join(f"<div>{words(3, name)}</div>" for name in "abcdefgh")
    assert said(f"{cells}<p>{sentence(60, 'o')}</p><p>{sentence(8, 'q')}</p>{cells}") == []
    cells = "".join(f"<div>{sentence(3, name)}</div>" for name in "abcdefgh")
    assert said(f"{cells}<p>{sentence(60, 'o')}</p><p>{sentence(8, 'q')}</p>{cells}")


@pytest.mark.parametrize(("size", "rows"), [(20, True), (21, False)])
def test_cells_of_twenty_words_make_rows(size: int, rows: bool):
    sequence = sequence_of(f"<table><tr><td>{words(size, 'a')}</td><td>{words(size, 'b')}</td></tr></table>")
    cells = Cells(sequence, sequence.edges())
    assert cells.are_rows(0, 2 * size) == rows
    assert not cells.are_rows(0, size)


@pytest.mark.parametrize(("different", "told"), [(0, True), (2, False)])
def test_short_rows_are_told_when_they_have_the_same_words(different: int, told: bool):
    def table(name: str) -> str:
        cells = [words(5, "a"), words(5, "b"), f"{words(8 - different, 'c')} {words(different, name)}"]
        return f"<table><tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr></table>"

    text = f"{table('x')}<p>{sentence(60, 'o')}</p>{table('y')}"
    assert any(len(next(iter(group)).split()) > 15 for group in said(text)) == told


# --- listings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("own", "told"), [(13, True), (17, False)])
def test_a_listing_is_told_when_more_than_half_of_it_is_the_same(own: int, told: bool):
    code = f"{words(15, 'c')}\n{words(own, 'x')}"
    sequence = sequence_of(f"<pre>{code}</pre><p>{words(40, 'o')}</p>")
    assert Listings(sequence).whole([(0, 15)]) == ([(0, 15 + own)] if told else [])
    assert Listings(sequence).whole([(30 + own, 45 + own)]) == [(30 + own, 45 + own)]


@pytest.mark.parametrize(
    ("common", "sign", "prose"),
    [
        (["the"] * 9, "", False),
        (["the"] * 10, "", True),
        (["for"] * 30, "", False),  # a word of programs as well
        (["the"] * 10, " =" * 11, True),
        (["the"] * 10, " =" * 13, False),
    ],
)
def test_what_is_prose_among_listings(common: list[str], sign: str, prose: bool):
    text = f"<pre>{' '.join(common)}{sign} {words(100 - len(common), 'z')}</pre>"
    listings, other = sequence_of(text).code()
    assert (len(listings), len(other)) == (not prose, prose)


@pytest.mark.parametrize(("coloured", "prose"), [(9, True), (10, False)])
def test_a_listing_in_colours_is_code(coloured: int, prose: bool):
    """A tenth of its words are marked one by one."""
    said = [f'<span class="k">{word}</span>' for word in words(coloured, "k").split()]
    text = f"<pre>{' '.join(['the'] * 20)} {words(80 - coloured, 'z')} {' '.join(said)}</pre>"
    listings, other = sequence_of(text).code()
    assert (len(listings), len(other)) == (not prose, prose)


def test_sentences_are_borders_in_prose_that_is_shown_as_it_was_typed():
    line = "This is the name of\nthe file that was given to it by the user. It is here for you."
    marks = sequence_of(f"<pre>{line}</pre>").edges().marks
    assert [at for at in range(len(marks)) if marks[at]] == [0, 15, 20]


# --- titles and labels ----------------------------------------------------------------------------------------------


def test_the_name_of_a_page_is_a_title():
    name = "The settings of the window and the brush that paints it"
    page = f"<title>{name} in the guide</title><h1>{name}</h1><p>{sentence(40, 'o')}</p>"
    assert said(page + f'<p><a href="x">{name}</a></p>') == []


ROW = 'Next: <a href="b.html">{}</a>, Up: <a href="c.html">{}</a> {}'


@pytest.mark.parametrize(("own", "left"), [(3, 0), (4, 1)])
def test_a_paragraph_that_is_mostly_links_is_a_title(own: int, left: int):
    """Six words of links, two between them and others behind them: six of eleven are most, six of twelve are not."""
    text = f"<p>{ROW.format(words(3, 'b'), words(3, 'c'), words(own, 'd'))}</p><p>{sentence(9, 'a')}</p>"
    sequence = sequence_of(f"<p>{sentence(5, 'o')}</p>{text}")
    edges = sequence.edges()
    borders = np.flatnonzero(edges.marks)
    titles = Headings(sequence, edges).titles(borders, np.arange(len(borders) - 1, dtype=np.uint64))
    size = 8 + own
    group = Scored(9.0, [(5, 5 + size), (5, 5 + size)], 9.0, equal=False)
    assert len(titles.left_out([group])) == left


def test_one_link_makes_no_title_of_its_paragraph():
    text = f'<p><a href="b.html">{words(8, "b")}</a> {words(4, "c")}</p>'
    sequence = sequence_of(text)
    edges = sequence.edges()
    titles = Headings(sequence, edges).titles(np.flatnonzero(edges.marks), np.arange(1, dtype=np.uint64))
    group = Scored(
        9.0, [(0, 12), (0, 12)], 9.0, equal=False
    )  # eight of twelve words are less than four fifths
    assert titles.left_out([group]) == [group]


def test_titles_are_judged_place_by_place():
    """Of five words four make a title."""
    marked = np.zeros(100, bool)
    marked[:4] = marked[10:14] = marked[20:23] = True
    titles = Titles(marked)
    members = [(0, 5), (10, 15), (20, 25), (30, 35)]
    for equal in (True, False):
        group = Scored(9.0, members, 5.0, equal)
        [found] = titles.left_out([group])
        assert found.members == members[2:]
        assert (found.score < group.score) is not equal, "equal passages pass whatever their score"
        assert titles.left_out([group._replace(members=members[:3])]) == []
        assert titles.left_out([group._replace(members=members[2:])])[0].members == members[2:]


@pytest.mark.parametrize(("label", "left"), [("Job result", 0), ("And the very result", 4)])
def test_a_paragraph_that_is_a_label_belongs_to_what_follows(label: str, left: int):
    one = f"<p>{sentence(14, 's')}</p><p>{label}:</p>"
    text = f"{one}<p>{sentence(40, 'o')}</p>{one}<p>{sentence(40, 'p')}</p>"
    [group] = doublet.find_repeats({"page.html": text}).groups
    assert {f.tokens for f in group.fragments} == {14 + left}


def test_a_fragment_has_the_signs_with_which_its_sentence_ends():
    one = f"<p>{words(20, 's')} equal to <b>$#</b>. "
    text = f"{one}Other.</p><p>{sentence(40, 'o')}</p>{one}Next.</p>"
    [group] = doublet.find_repeats({"page.html": text}).groups
    assert {f.text[-12:] for f in group.fragments} == {" <b>$#</b>.".rjust(12, "o")}


def test_words_that_introduce_a_listing_belong_to_it():
    one = f"<p>{sentence(20, 's')} {words(5, 't').capitalize()}</p><pre>"
    text = f"{one}x={{1}}</pre><p>{sentence(40, 'o')}</p>{one}y=[2]</pre>"
    [group] = doublet.find_repeats({"page.html": text}).groups
    assert {f.tokens for f in group.fragments} == {20}


def test_groups_that_say_the_same_are_one():
    ids = np.array([1, 2, 3, 4, 5, 1, 2, 3, 9, 1, 2, 3, 8, 1, 2, 3], np.uint32)
    one, two = (
        Scored(2.0, [(0, 3), (9, 12)], 3.0, equal=True),
        Scored(1.0, [(5, 8), (13, 16)], 3.0, equal=True),
    )
    other = Scored(1.0, [(1, 3), (6, 8)], 2.0, equal=True)
    assert merged([one, other, two], ids) == [
        one._replace(members=[(0, 3), (5, 8), (9, 12), (13, 16)]),
        other,
    ]
    assert merged([one, two._replace(equal=False)], ids) == [one, two._replace(equal=False)]
    assert merged([one, one._replace(members=[(1, 4), (9, 12)])], ids) == [
        one,
        one._replace(members=[(1, 4), (9, 12)]),
    ]


# --- frames, formulas -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("files", "told"), [(7, True), (8, False)])
def test_what_eight_files_begin_with_is_their_frame(files: int, told: bool):
    group = Scored(1.0, [(100 * at, 100 * at + 9) for at in range(files)], 9.0, equal=True)
    offsets = [100 * at for at in range(files + 1)]
    assert bool(without_frames([group], offsets)) == told
    assert without_frames([group], [at - 50 for at in offsets]) == [group]


def test_the_frame_of_pages_is_no_repeat():
    files = {
        f"{name}.html": f"<p>{sentence(14, 'frame')}</p><p>{sentence(30, name)}</p>" for name in "abcdefghijk"
    }
    assert doublet.find_repeats(files).groups == ()
    files = {name: f"<p>{sentence(9, name[0])}</p>{text}" for name, text in files.items()}
    assert len(doublet.find_repeats(files).groups) == 1


def test_a_page_that_is_there_many_times_is_no_frame():
    group = Scored(1.0, [(100 * at, 100 * at + 100) for at in range(9)], 9.0, equal=True)
    assert without_frames([group], [100 * at for at in range(10)]) == [group]


@pytest.mark.parametrize(
    ("opening", "found"),
    [
        ("File: src/main/window.c", False),
        ("File of window and brush", True),
        ("Control-clicking when the active", True),
    ],
)
def test_the_parts_of_a_path_are_no_things(opening: str, found: bool):
    other = fresh("o")
    text = "".join(f"<p>{opening} {next(other)} {next(other)}.</p>" for _ in range(9))
    sequence = sequence_of(text)
    formulas = find_formulas(sequence, sequence.edges(), sequence.ids == -1)
    assert bool(formulas) == found


def test_a_formula_begins_in_one_paragraph():
    other = fresh("o")
    text = "".join(f"<p>Window colour</p><p>shows brush always {next(other)}.</p>" for _ in range(9))
    sequence = sequence_of(text)
    assert not find_formulas(sequence, sequence.edges(), sequence.ids == -1)
