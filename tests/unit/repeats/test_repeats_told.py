"""Edges of groups: what is cut off, what is hidden by better groups, what stays."""

from __future__ import annotations

import numpy as np
import pytest

from doublet import find_repeats, kernels
from doublet.repeats.blocks import Blocks
from doublet.repeats.edges import shared_edges
from doublet.repeats.headings import Headings
from doublet.repeats.model import RepeatOptions
from doublet.repeats.tokenise import BLOCK, TokenSequence, tokenise
from doublet.repeats.told import Scored, with_own_words, without_covered
from doublet.text.markup import read_markup

EVERYWHERE = np.ones(1000, bool)  #: borders


def sequence_of(text: str) -> tuple[TokenSequence, np.ndarray]:
    sequence = tokenise([read_markup(text)], RepeatOptions())
    return sequence, sequence.edges()[0]


def blocks_of(sequence: TokenSequence) -> Blocks:
    return Blocks(sequence, sequence.edges(), Headings(sequence))


def words(count: int, name: str = "w") -> str:
    return " ".join(f"{name}{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(count))


@pytest.mark.covers("P8")
def test_equal_members_lose_the_same_words_to_a_frame():
    marks = np.ones(401, bool)
    frame = Scored(100.0, [(0, 20), *((at, at + 20) for at in range(200, 360, 10))], 20.0, equal=False)
    pair = Scored(100.0, [(0, 60), (100, 160)], 60.0, equal=True)
    assert with_own_words([frame, pair], marks, 10.0, 5)[1].members == [(0, 60), (100, 160)]
    loose = pair._replace(equal=False)
    assert with_own_words([frame, loose], marks, 10.0, 5)[1].members == [(20, 60), (100, 160)]


@pytest.mark.covers("P8")
def test_an_equal_passage_is_hidden_only_by_one_group_that_holds_all_of_it():
    pair = Scored(50.0, [(0, 80), (200, 280)], 80.0, equal=True)
    apart = [
        Scored(90.0, [(0, 75), (300, 375)], 75.0, equal=False),
        Scored(80.0, [(200, 275), (400, 475)], 75.0, equal=False),
    ]
    loose = pair._replace(equal=False)
    assert pair in without_covered([*apart, pair], 20, EVERYWHERE, bool)
    assert loose not in without_covered([*apart, loose], 20, EVERYWHERE, bool)
    part = Scored(90.0, [(0, 65), (200, 265), (400, 465)], 65.0, equal=False)
    assert pair in without_covered([part, pair], 20, EVERYWHERE, bool)
    most = Scored(90.0, [(0, 75), (200, 275), (400, 475)], 75.0, equal=False)
    assert pair not in without_covered([most, pair], 20, EVERYWHERE, bool)


@pytest.mark.covers("P8")
def test_members_keep_what_they_share_and_end_with_a_sentence():
    shared, other, more = words(30, "s"), words(20, "o"), words(20, "m")
    text = f"Before it. {shared.title()}. {other.title()}. {words(3, 's')} {more}. {shared.title()} {more}."
    sequence, _ = sequence_of(text)
    one, two = (2, 55), (75, 125)
    kept = shared_edges([Scored(50.0, [one, two], 30.0, equal=False)], blocks_of(sequence), 5)
    assert kept[0].members[0] == (2, 32)
    assert kept[0].members[1] == (75, 125)  # its sentence goes on


@pytest.mark.covers("P8")
def test_no_two_members_of_a_group_overlap():
    sequence, _ = sequence_of(". ".join([words(10, "s")] * 8))
    for equal, expected in ((False, [(0, 20), (20, 30), (40, 60)]), (True, [(0, 20), (40, 60)])):
        group = Scored(50.0, [(0, 20), (10, 30), (40, 60), (55, 61)], 20.0, equal=equal)
        assert shared_edges([group], blocks_of(sequence), 5)[0].members == expected


def test_a_group_is_written_anew_once_however_many_members_are_cut():
    """Each member is cut by itself; the list of all of them is not copied for it."""
    written = 0

    class Counting(Scored):
        __slots__ = ()

        def _replace(self, **values):
            nonlocal written
            written += 1
            return Counting(*super()._replace(**values))

    count = 40
    sequence, _ = sequence_of(" ".join(f"{words(10, 's').capitalize()}." for _ in range(count)))
    members = [(10 * number + 2, 10 * number + 9) for number in range(count)]  # in the midst of a sentence
    (kept,) = shared_edges([Counting(50.0, list(members), 7.0, equal=False)], blocks_of(sequence), 5)
    assert kept.members == [(10 * number, 10 * number + 10) for number in range(count)]
    assert 1 <= written <= 4


def test_a_group_that_is_one_member_in_the_end_goes():
    sequence, _ = sequence_of(". ".join([words(10, "s")] * 8))
    assert shared_edges([Scored(50.0, [(0, 20), (5, 25)], 20.0, equal=True)], blocks_of(sequence), 5) == []


@pytest.mark.covers("P8")
def test_equal_words_between_two_runs_are_matched():
    """Two equal words between two changed ones are no run of four, but they are part of the copy."""
    one = [1, 2, 3, 4, 5, 50, 6, 7, 51, 8, 9, 10, 11, 12]
    two = [1, 2, 3, 4, 5, 60, 6, 7, 61, 8, 9, 10, 11, 12]
    longer = [1, 2, 3, 4, 5, 60, 70, 6, 7, 61, 8, 9, 10, 11, 12]
    for copy in (two, longer):
        ids = np.array([*one, *range(100, 120), *copy], np.uint32)
        found = kernels.self_chains(ids, np.zeros(len(ids), np.uint32), 4, 16, 20, 30, 6, 1)
        assert [column.tolist() for column in found] == [[34], [34 + len(copy)], [0], [14], [12]]


@pytest.mark.covers("P8")
def test_what_only_a_cut_edge_shared_is_cut_too():
    """Both begin with a reference among other words: it goes from one, and then nothing holds it in the other."""
    reference, shared = "see part bb of it", words(16, "s")
    one = f"{reference.capitalize()} {words(8, 'o')}. {shared.capitalize()}."
    two = f"{words(14, 'p').capitalize()} {reference} {words(10, 'q')}. {shared.capitalize()}."
    sequence, _ = sequence_of(f"{one} {two}")
    group = Scored(40.0, [(0, 29), (29, 74)], 20.0, equal=False)
    (kept,) = shared_edges([group], blocks_of(sequence), 5)
    assert kept.members == [(13, 29), (58, 74)]
    assert (kept.score, kept.matched) == (32.0, 16.0)  # sixteen words are left of the twenty that matched


@pytest.mark.covers("P8")
def test_an_equal_passage_gives_way_to_the_sentences_it_is_a_part_of():
    marks = np.zeros(600, bool)
    marks[[0, 90, 200, 290, 300]] = True
    passage = Scored(80.0, [(5, 80), (205, 280)], 75.0, equal=True)
    part = Scored(90.0, [(5, 40), (205, 240)], 35.0, equal=True)
    sentences = Scored(70.0, [(0, 90), (200, 290)], 80.0, equal=False)
    kept = without_covered([part, passage, sentences], 20, marks, bool)
    assert [group.members for group in kept] == [sentences.members]
    for others in ([(0, 90), (200, 285)], [(0, 90), (207, 290)]):  # not at a border; not around it
        kept = without_covered([passage, sentences._replace(members=others)], 20, marks, bool)
        assert kept == [passage]
    marks[[5, 80, 205, 280]] = True  # it ends at a border already: only a sentence that is closed is better
    assert without_covered([passage, sentences], 20, marks, lambda _: False) == [passage]


def starts_of(text: str, name: str = "a.txt", *, blocks: bool = False) -> list[str]:
    """The words at which something begins."""
    marked = read_markup(text, name=name)
    sequence = tokenise([marked], RepeatOptions())
    edges = sequence.edges()
    at = np.flatnonzero((edges.kinds[:-1] & BLOCK) != 0 if blocks else edges.marks[:-1])
    return [text[sequence.starts[n] : sequence.ends(n)] for n in at.tolist()]


@pytest.mark.covers("P6")
def test_nothing_ends_before_a_small_letter():
    text = "Set it (default: no), e.g. here; or there. Then « ? » ) stop: Never; Always. What"
    assert starts_of(text) == ["Set", "Then", "Never", "Always", "What"]
    assert starts_of("Смотри, т. е. см. ниже; или: так. Дальше") == ["Смотри", "Дальше"]


@pytest.mark.covers("P6")
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.md",
            "Ask the\nServer for `True` or **False**\nto [Set](x.html) it.  \nHard break.\n\n"
            "- Item of\n  Two lines\n- Other <b>Bold</b> one<br>Next",
            ["Ask", "Hard", "Item", "Other", "Next"],
        ),
        (
            "a.md",
            "> Quoted text of\n> Two lines\n\n| One | Two |\n|-----|-----|\n| Cell | Other |\n",
            ["Quoted", "One", "Cell"],
        ),
        (
            "a.rst",
            "Ask the\nServer for ``True`` or **False**\nto :ref:`Set <x>` it.\n\n- Item of\n  Two lines\n"
            "- Other one\n\nTerm\n   Its meaning\n\n:param x: The value\n   Of it\n",
            ["Ask", "Item", "Other", "Term", "Its", "param"],
        ),
        (
            "a.tex",
            "\\begin{document}\nAsk the\nServer for \\emph{True} or \\textbf{False}\nto it.\n\nNext\n\\end{document}\n",
            ["Ask", "Next"],
        ),
    ],
)
def test_marks_and_wrapped_lines_end_nothing(name, text, expected):
    assert [word for word in starts_of(text, name) if word[0].isalpha()] == expected


@pytest.mark.covers("P6")
def test_lines_of_code_end_and_nothing_else_does_there():
    text = "Text here.\n\n```\nfirst: Line {  Two }\nsecond: Line. Three\n```\n\nMore: Text"
    assert starts_of(text, "a.md") == ["Text", "first", "second", "More", "Text"]
    assert starts_of(text, "a.md", blocks=True) == ["Text", "first", "More"]


def cut(text: str, first: str, last: str, name: str = "a.md") -> str:
    """What is left of the stretch from the word *first* up to the word *last*."""
    sequence = tokenise([read_markup(text, name=name)], RepeatOptions())
    edges = sequence.edges()
    words = [text[sequence.starts[n] : sequence.ends(n)] for n in range(len(sequence))]
    blocks = Blocks(sequence, edges, Headings(sequence, edges))
    start, end = blocks.cut((words.index(first), words.index(last) + 1), 5)
    return " ".join(words[start:end])


@pytest.mark.covers("P8")
def test_members_of_several_items_begin_and_end_with_one():
    text = (
        "- as: Opens it now for all of us\n- rs: Reads it all from there. Then it closes it too. And: More to come\n"
        "- end: here\n"
    )
    assert cut(text, "Opens", "too") == (
        "as Opens it now for all of us rs Reads it all from there Then it closes it too"
    )
    assert cut(text, "Opens", "And").endswith("closes it too")
    assert cut(text, "Opens", "rs") == "as Opens it now for all of us"
    long = f"- {words(12, 'q')} a: {text[6:]}"
    assert cut(long, "Opens", "there").startswith("rs Reads")  # its item began too long before


@pytest.mark.covers("P8")
def test_an_edge_inside_a_sentence_goes_to_its_border():
    text = f"Before it. One two three {words(12, 's')}. Last {words(12, 't')} end. Behind it."
    assert cut(text, "two", "tai") == f"One two three {words(12, 's')} Last {words(12, 't')} end"
    assert cut(text, "sae", "end") == f"One two three {words(12, 's')} Last {words(12, 't')} end"
    assert cut(text, "saj", "end") == f"Last {words(12, 't')} end"  # its beginning is far away
    assert cut(text, "saj", "sal") == "saj sak sal"  # nothing would be left


@pytest.mark.covers("P8")
def test_a_piece_of_another_section_is_left_out():
    before, behind = words(30, "b"), words(30, "c")
    text = f"Some of {before}.\n\nThe end of it.\n\n# Title\n\nIts {behind}.\n\n# Next\n\nNo more.\n"
    assert cut(text, "The", f"{behind.split()[-1]}") == f"Title Its {behind}"
    assert cut(text, "Some", "Its") == f"Some of {before} The end of it"
    assert cut(text, "Some", behind.split()[24]).endswith(behind)  # more than a piece


@pytest.mark.covers("P8")
def test_labels_belong_to_what_follows():
    text = f"- First {words(9)}. Default: 100.\n- Next\n\nFirst {words(9)}. Default: 200.\n"
    sequence = tokenise([read_markup(text, name="a.md")], RepeatOptions())
    headings = Headings(sequence)
    assert headings.cut([[(0, 11), (13, 24)]], 5) == [[(0, 10), (13, 23)]]
    assert headings.cut([[(0, 12), (13, 25)]], 5) == [[(0, 12), (13, 25)]]
    long = sequence_of(f"First {words(9)}. These are the values: A.")[0]
    assert Headings(long).cut([[(0, 14)]], 5) == [[(0, 14)]]  # a sentence, not a label


@pytest.mark.covers("P8")
def test_equal_passages_are_told_with_the_rest_of_their_sentences():
    text = (
        f"Now this {words(24, 's')} there. Other {words(20, 'o')}. Or that {words(24, 's')} here. Last one."
    )
    sequence = sequence_of(text)[0]
    group = Scored(50.0, [(2, 26), (50, 74)], 24.0, equal=True)
    (kept,) = shared_edges([group], blocks_of(sequence), 5)
    assert kept.members == [(0, 27), (48, 75)]


@pytest.mark.covers("P6")
def test_fragments_take_the_marks_of_their_first_and_last_word():
    said = f"`First` {words(14)} `'last'`"
    text = f"{said}. Then {words(20, 'o')}.\n\nBefore {words(20, 'p')}.\n\n{said}. More.\n"
    (group,) = find_repeats({"a.md": text}).groups
    assert {fragment.text for fragment in group.fragments} == {f"{said}."}
