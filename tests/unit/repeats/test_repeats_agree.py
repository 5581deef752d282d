"""Members of a group begin and end with the same sentence or item; and what the numbers of that rule do."""

from __future__ import annotations

import string

import pytest

import doublet
from doublet.repeats.agree import Agreement
from doublet.repeats.blocks import Blocks
from doublet.repeats.headings import Headings
from doublet.repeats.wholes import Cells, Wholes
from doublet.text.markup import read_markup
from repeat_texts import sentence, sequence_of, words

pytestmark = pytest.mark.covers("P1")

Members = list[tuple[int, int]]


def agreed(text: str, members: Members, name: str = "text.txt") -> list[Members]:
    sequence = sequence_of(text, name)
    edges = sequence.edges()
    blocks = Blocks(sequence, edges, Headings(sequence))
    return Agreement(blocks, Wholes(sequence), Cells(sequence, edges))(members, 5)


def after(*sizes: int) -> list[int]:
    """Where stretches of so many words begin, and where the last ends."""
    return [sum(sizes[:number]) for number in range(len(sizes) + 1)]


def test_members_end_with_the_same_sentence():
    one = f"{sentence(12, 'a')} {sentence(10, 'b')}"
    two = f"{sentence(12, 'a')} {words(6, 'b').capitalize()} {words(9, 'z')}."
    text = f"{one}\n\n{sentence(9, 'o')}\n\n{two}"
    # The second sentence is not the same: 6 of 15 words. The first member ends with it, the other one inside it.
    assert agreed(text, [(0, 22), (31, 49)]) == [[(0, 12), (31, 43)]]


def test_a_sentence_that_was_begun_is_taken_whole():
    same = f"{sentence(12, 'a')} {sentence(10, 'b')}"
    text = f"{same}\n\n{sentence(9, 'o')}\n\n{same}"
    assert agreed(text, [(3, 19), (34, 50)]) == [[(0, 22), (31, 53)]]


def test_members_that_agree_with_others_are_a_group_of_their_own():
    shared = sentence(12, "s")
    text = "\n\n".join(
        f"{sentence(12, name)} {shared}\n\n{sentence(6, other)}"
        for name, other in zip("aabb", "mnop", strict=True)
    )
    places = [(number * 30, number * 30 + 24) for number in range(4)]
    assert agreed(text, places) == [[places[0], places[1]], [places[2], places[3]]]


def test_a_member_begins_with_a_paragraph_and_not_with_the_end_of_the_one_before():
    item = [
        f"{words(3, 'h').capitalize()} {name}\n\n{sentence(14, 'body')} {sentence(8, 'same')}"
        for name in "pqr"
    ]
    text = "\n\n".join(item)
    # From the last sentence of an item over the name and the body of the next one.
    found = agreed(text, [(18, 44), (44, 70)])
    assert found == [[(26, 52), (52, 78)]]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("text.txt", "{body}\n\nEXAMPLE\n    {code}\n\n{other}\n\n{body}\n\nEXAMPLE\n    {more}"),
        (
            "text.html",
            "<p>{body}</p><dl><dt>EXAMPLE</dt><dd>{code}</dd></dl><p>{other}</p><p>{body}</p>"
            "<dl><dt>EXAMPLE</dt><dd>{more}</dd></dl>",
        ),
    ],
)
def test_no_member_ends_with_a_label(name: str, text: str):
    parts = {key: sentence(12, key[0]) for key in ("body", "code", "other", "more")}
    assert agreed(text.format(**parts), [(0, 13), (37, 50)], name) == [[(0, 12), (37, 49)]]


def test_numbers_alone_are_not_alike():
    rows = "\n".join(f"{number} {number + 1} {number + 2} {number + 3} {number + 4}" for number in range(20))
    found = doublet.find_repeats(f"{rows}\n\n{sentence(30, 'o')}\n\n{rows}")
    assert not found.groups


def test_what_links_say_again_is_no_repeat():
    names = [sentence(7, name) for name in "abcdefgh"]
    contents = "".join(f'<li><a href="#{at}">{name}</a></li>' for at, name in enumerate(names))
    page = f"<html><body><ul>{contents}</ul><p>{sentence(40, 'o')}</p><ul>{contents}</ul></body></html>"
    assert not doublet.find_repeats({"page.html": page}).groups
    plain = page.replace("<a href", "<b title").replace("</a>", "</b>")
    assert doublet.find_repeats({"page.html": plain}).groups


def test_a_link_in_a_sentence_is_part_of_it():
    same = f'<p>{words(20, "a").capitalize()} <a href="#x">{words(4, "l")}</a> {words(10, "b")}.</p>'
    page = f"<html><body>{same}<p>{sentence(40, 'o')}</p>{same}</body></html>"
    assert len(doublet.find_repeats({"page.html": page}).groups) == 1


def test_credits_of_a_page_are_not_part_of_it():
    credit = "<info><credit><name>Ann Other Writer</name><email>ann@example.org</email></credit></info>"
    page = f"<page>{credit}<p>{sentence(12, 'a')}</p></page>"
    assert "Writer" not in read_markup(page, name="a.page").masked


def test_few_words_before_a_heading_are_no_repeat():
    text = "\n\n".join(
        f"{sentence(30, name)}\n\n500 server error\n\n## Push an image on it\n\n{sentence(25, name * 2)}"
        for name in "abcd"
    )
    assert not doublet.find_repeats({"a.md": text}).groups


def test_environments_of_examples_are_code():
    marked = read_markup(
        "Text.\n\n\\begin{codeexample}[]\n\\draw (0,0);\n\\end{codeexample}\n\nMore.", name="a.tex"
    )
    assert len(marked.code) == 1


def test_a_sentence_said_twice_in_a_row_does_not_part_a_copy():
    sentences = [sentence(14, name) for name in string.ascii_lowercase[:20]]
    again = [*sentences[:10], sentences[9], *sentences[10:]]
    between = " ".join(sentence(14, "z" + name) for name in string.ascii_lowercase[:20])
    found = doublet.find_repeats(f"{' '.join(sentences)}\n\n{between}\n\n{' '.join(again)}")
    assert [[f.tokens for f in group.fragments] for group in found.groups] == [[280, 294]]


def test_two_sentences_are_one_unit_where_a_full_stop_is_missing():
    same = f"{sentence(12, 'a')} {sentence(24, 'b')}"
    text = (
        f"{same} {sentence(10, 'c')}\n\n{sentence(9, 'o')}\n\n{same.replace('. ', ' ')} {sentence(10, 'c')}"
    )
    assert agreed(text, [(0, 46), (55, 101)]) == [[(0, 46), (55, 101)]]


# --- what the numbers do: each of these dies when the number is halved or doubled -----------------------------------


def around(middle: int, name: str) -> str:
    """Two equal sentences of fourteen words with one of *middle* others between them."""
    return f"{sentence(14, 'first')} {sentence(middle, name)} {sentence(14, 'last')}"


@pytest.mark.parametrize(("middle", "groups"), [(15, 1), (16, 0)])
def test_members_share_65_of_100_words(middle: int, groups: int):
    size = 28 + middle
    text = f"{around(middle, 'x')}\n\n{sentence(9, 'o')}\n\n{around(middle, 'y')}"
    assert len(agreed(text, [(0, size), (size + 9, 2 * size + 9)])) == groups


@pytest.mark.parametrize(
    ("own", "size", "groups"),
    [
        (4, 22, 1),
        (5, 24, 0),
        (6, 31, 1),
        (7, 31, 0),
        (10, 32, 1),
        (12, 32, 0),
    ],
)
def test_short_members_share_four_fifths(own: int, size: int, groups: int):
    def said(name: str) -> str:
        half = (size - own) // 2
        return (
            f"{words(half, 'first')} {words(own, name)} {words(size - own - half, 'last')}".capitalize() + "."
        )

    text = f"{said('x')}\n\n{sentence(9, 'o')}\n\n{said('y')}"
    assert len(agreed(text, [(0, size), (size + 9, 2 * size + 9)])) == groups


def code(own: int, name: str, length: int) -> str:
    lines = [words(length // 2, "first"), words(own, name), words(length - length // 2 - own, "last")]
    return "\n".join(f"    {line}" for line in lines)


@pytest.mark.parametrize(
    ("own", "size", "groups"), [(3, 36, 1), (4, 36, 0), (1, 31, 0), (1, 32, 1), (0, 12, 1)]
)
def test_code_shares_nine_tenths_and_short_code_has_the_same_words(own: int, size: int, groups: int):
    one, two = (code(own, name, size) for name in "xy")
    text = f"{sentence(9, 'n')}\n\n{one}\n\n{sentence(9, 'o')}\n\n{two}\n"
    assert len(agreed(text, [(9, 9 + size), (18 + size, 18 + 2 * size)], "a.md")) == groups


@pytest.mark.parametrize("different", [14, 30])
def test_units_are_compared_by_48_words(different: int):
    """Sentences of 60 words: the first 30 are the same, or all but the first 14."""
    head, tail = words(30, "h"), words(30, "t")
    first = f"{head} {tail}".split()
    second = (
        [*first[:30], *words(30, "u").split()] if different == 30 else [*words(14, "u").split(), *first[14:]]
    )
    last = sentence(30, "l")
    text = f"{' '.join(first).capitalize()}. {last}\n\n{sentence(9, 'o')}\n\n{' '.join(second).capitalize()}. {last}"
    assert agreed(text, [(0, 90), (99, 189)]) == [[(0, 90), (99, 189)]]


@pytest.mark.parametrize(("members", "alike", "found"), [(4, (1, 2), True), (8, (1, 3), False)])
def test_four_members_are_tried(members: int, alike: tuple[int, int], found: bool):
    names = list(string.ascii_lowercase[:members])
    names[alike[1]] = names[alike[0]]
    text = "\n\n".join(
        f"{sentence(12, 'f' + name)} {sentence(12, 'm' + other)} {sentence(12, 'l' + name)}"
        for name, other in zip(names, string.ascii_lowercase, strict=False)
    )
    places = [(36 * number, 36 * number + 36) for number in range(members)]
    assert bool(agreed(text, places)) is found


def test_members_do_not_end_inside_an_item_that_they_do_not_begin_in():
    one, two = (
        f"<ul><li>{sentence(20, 's')}</li><li>{sentence(4, 't')} {sentence(5, name)}</li></ul>"
        for name in "xy"
    )
    text = f"{one}<p>{sentence(9, 'o')}</p>{two}"
    assert agreed(text, [(0, 29), (38, 67)], "page.html") == [[(0, 20), (38, 58)]]
    one, two = (
        f"<ul><li>{sentence(3, name)} {sentence(14, 't')}</li></ul><p>{sentence(25, 's')}</p>"
        for name in "xy"
    )
    text = f"{one}<p>{sentence(9, 'o')}</p>{two}"
    assert agreed(text, [(17, 42), (68, 93)], "page.html") == [[(17, 42), (68, 93)]]


@pytest.mark.parametrize(("different", "stays"), [(5, True), (8, False)])
def test_what_shares_four_fifths_stays_where_no_border_is_near(different: int, stays: bool):
    one, two = (f"{words(30 - different, 's')} {words(different, name)}" for name in "xy")
    text = " ".join([words(60, "o"), one, words(60, "p"), two, words(60, "q")])
    assert bool(agreed(text, [(60, 90), (150, 180)])) == stays


def test_what_is_nearly_the_same_stays_where_no_border_is_near():
    text = " ".join([words(60, "o"), words(30, "s"), words(60, "p"), words(30, "s"), words(60, "q")])
    assert agreed(text, [(60, 90), (150, 180)]) == [[(60, 90), (150, 180)]]


@pytest.mark.parametrize(("members", "moved"), [(200, True), (300, False)])
def test_larger_groups_are_left_alone(members: int, moved: bool):
    text = "\n\n".join([sentence(12, "s")] * members)
    places = [(12 * number + 2, 12 * number + 12) for number in range(members)]
    assert (agreed(text, places) != [places]) is moved


@pytest.mark.parametrize(("width", "wrapped"), [(30, False), (50, True)])
def test_long_lines_of_a_plain_text_are_wrapped(width: int, wrapped: bool):
    """A paragraph of lines of that width; the third begins with a capital letter."""
    lines = [words(40, name)[:width].rsplit(" ", 1)[0].ljust(width, "x") for name in "abcd"]
    text = "\n".join([lines[0], lines[1], lines[2].capitalize(), lines[3]])
    sequence = sequence_of(text, "text.txt")
    at = len(" ".join(lines[:2]).split())
    assert bool(sequence.edges().marks[at]) is not wrapped
