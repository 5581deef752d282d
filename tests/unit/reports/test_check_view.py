"""The values of a report: figures, pieces of the text, excerpts, differences, what to look at first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.jobs.check import check
from doublet.matches.figures import figures
from doublet.model import (
    Check,
    Disguise,
    DisguiseFinding,
    Fragment,
    LeftOut,
    Note,
    Outcome,
    SourceMatch,
    Span,
)
from doublet.reports.check_view import (
    COLOURS,
    WHOLE_SOURCE,
    Excerpt,
    SwitchedOff,
    colour,
    differences,
    excerpts,
    view_check,
)
from doublet.reports.wording import wording

TEXT = "One two three four five six seven eight nine ten."


def source(number: int, *spans: tuple[Span, Span], added: float = 0.25, text: str = TEXT) -> SourceMatch:
    fragments = tuple(
        Fragment(f"s{number}f{i}", a, b, "verbatim", 1.0, 3 + i, a_words=Span(0, 3))
        for i, (a, b) in enumerate(spans, 1)
    )
    return SourceMatch(f"doc{number}", f"Title {number}", 0.5, added, 0.5, 0.5, fragments, text=text)


def made(*sources: SourceMatch, **more: object) -> Check:
    values: dict[str, object] = {
        "words": 10,
        "share": 0.5,
        "sources": sources,
        "documents": 3,
        "parameters": {"shingle_words": 4, "leave_out": []},
        "disguise": Disguise(),
    }
    return Check(**(values | more))  # type: ignore[arg-type]


@pytest.mark.covers("S4")
def test_it_works() -> None:
    one = source(1, (Span(4, 27), Span(4, 27)))
    view = view_check(made(one), TEXT, name="essay.txt")
    assert view.name == "essay.txt" and view.against == "Checked against 3 documents."
    assert [(piece.text, piece.owner and piece.owner.id) for piece in view.pieces()] == [
        ("One ", None),
        ("two three four five six", "s1f1"),
        (" seven eight nine ten.", None),
    ]
    both = view.beside(view.passages[0])
    assert both.here == both.there == (("two three four five six", False),)
    assert (both.before, both.after) == ("One ", " seven eight nine ten.")
    assert [look.fragment for look in view.first] == ["s1f1", "s1f1"]


@given(st.floats(0, 1), st.one_of(st.none(), st.floats(0, 1)))
def test_the_three_figures_add_up_to_one(share: float, with_all: float | None) -> None:
    made_of = figures(made(share=share, share_with_all=with_all))
    assert min(made_of.borrowed, made_of.quoted, made_of.original) >= 0
    assert made_of.borrowed + made_of.quoted + made_of.original == pytest.approx(1)


def test_what_is_quoted_is_not_borrowed() -> None:
    made_of = figures(made(share=0.2, share_with_all=0.5))
    assert (made_of.borrowed, made_of.quoted, made_of.original) == pytest.approx((0.2, 0.3, 0.5))


def test_colours_come_again_and_numbers_do_not() -> None:
    assert [colour(number) for number in (1, COLOURS, COLOURS + 1)] == [1, COLOURS, 1]


@given(st.data())
def test_pieces_are_the_text_and_know_their_marks(data: st.DataObject) -> None:
    places = st.integers(0, len(TEXT) + 5)
    span = st.tuples(places, places).map(lambda two: Span(min(two), max(two)))
    spans = st.lists(span, max_size=4)
    sources = [
        source(number, *((one, Span(0, 3)) for one in data.draw(spans)), text="") for number in (1, 2, 3)
    ]
    out = tuple(data.draw(spans))
    left = LeftOut("quotations", tuple(Note("own_version") for _ in out), out, 1, 0.5)
    disguise = Disguise((DisguiseFinding("lookalike", 1, 1, tuple(data.draw(spans)), True),))
    view = view_check(made(*sources, left_out=(left,), disguise=disguise), TEXT)
    pieces = list(view.pieces(every=data.draw(st.sampled_from([0, 7]))))
    assert "".join(piece.text for piece in pieces) == TEXT
    for piece in pieces:
        for at in range(piece.start, piece.start + len(piece.text)):
            inside = {one.id for one in view.passages if one.fragment.a.start <= at < one.fragment.a.end}
            assert {one.id for one in piece.passages} == inside
            assert bool(piece.left_out) == any(start <= at < end for start, end in out)
            assert bool(piece.disguised) == any(
                start <= at < end for start, end in disguise.findings[0].spans
            )
    assert sum(len(piece.alarms) for piece in pieces) <= 1


def test_a_passage_that_is_switched_off_gives_way() -> None:
    span = (Span(0, 13), Span(0, 13))
    view = view_check(
        made(source(1, span), source(2, span)), TEXT, off=SwitchedOff(fragments=frozenset({"s1f1"}))
    )
    first = next(view.pieces())
    assert first.owner is not None and first.owner.id == "s2f1"
    assert [one.id for one in first.passages] == ["s1f1", "s2f1"]
    assert [one.off for one in view.sources] == [False, False]


def test_figures_change_with_what_is_switched_off() -> None:
    text = "Nobody in the village remembered who had built the old stone bridge over the river. My own words follow."
    result = check(text, [("a", f"An old tale. {text[:84]} Then it goes on.")])
    whole = view_check(result, text)
    without = view_check(result, text, off=SwitchedOff(sources=frozenset({"a"})))
    assert whole.figures.borrowed > 0.5 and without.figures.borrowed == 0
    assert without.sources[0].off and without.sources[0].share == 0
    assert not any(look.fragment for look in without.first)


def test_words_that_differ() -> None:
    here, there = differences(
        "The OLD stone brіdge, over a river", "the old wooden bridge over the wide river"
    )
    assert [one.text for one in here if one.differs] == ["stone", "a"]
    assert [one.text for one in there if one.differs] == ["wooden", "the wide"]
    assert "".join(one.text for one in here) == "The OLD stone brіdge, over a river"
    assert differences("", "a")[0] == () and differences("", "a")[1] == (("a", True),)


def test_words_that_only_moved_do_not_differ() -> None:
    here, there = differences(
        "one two three four, five six seven eight", "five six seven eight. One two three four"
    )
    assert not any(one.differs for one in (*here, *there))
    here, _ = differences("red green blue sky over old town", "blue red yellow green")
    assert [one.text for one in here if one.differs] != []


@given(st.text("ab c,", max_size=30), st.text("ab c,", max_size=30))
def test_differences_lose_nothing(a: str, b: str) -> None:
    here, there = differences(a, b)
    assert "".join(one.text for one in here) == a and "".join(one.text for one in there) == b
    if a == b:
        assert not any(one.differs for one in here)


def test_excerpts_of_a_long_source() -> None:
    text = "word " * 4_000
    spans = [Span(5_000, 5_010), Span(5_500, 5_600), Span(15_000, 15_010)]
    some = excerpts(text, spans)
    assert len(some) == 2
    assert all(text[one.start : one.start + len(one.text)] == one.text for one in some)
    assert all(one.text.split()[0] == one.text.split()[-1] == "word" for one in some)
    assert excerpts(text[:WHOLE_SOURCE], []) == [Excerpt(0, text[:WHOLE_SOURCE])]
    assert excerpts("", spans) == []


def test_excerpts_stand_for_a_text() -> None:
    one = source(1, (Span(0, 7), Span(5_000, 5_007)), text="")
    view = view_check(made(one), TEXT, {"doc1": [(4_990, "much more. One two and more")]})
    both = view.beside(view.passages[0])
    assert both.before == "much more." and "".join(text for text, _ in both.there) == " One tw"
    missing = view_check(made(one), TEXT).beside(view.passages[0])
    assert missing.there == ()


def test_alarms_have_places() -> None:
    disguise = Disguise(
        (
            DisguiseFinding("lookalike", 2, 2, (Span(0, 3), Span(4, 7)), True),
            DisguiseFinding("marks", 1, 1, (Span(8, 13),), False),
        )
    )
    view = view_check(made(disguise=disguise), TEXT)
    assert [(one.kind, one.shown, one.undone) for one in view.alarms] == [("lookalike", ("One", "two"), True)]
    assert view.first[0].alarms == view.alarms
    assert [piece.text for piece in view.pieces() if piece.alarms] == ["One"]


def test_failures_are_counted_and_the_first_are_named() -> None:
    outcomes = [Outcome("broken", f"d{n}", f"f:{n}", Note("no_pages")) for n in range(25)]
    view = view_check(made(outcomes=(Outcome("stored", "x", "", None), *outcomes)), TEXT)
    assert view.failed == 25 and len(view.failures) == 20
    assert view.failures[0].name == "f:0" and view.failures[0].why


def test_the_reader_chooses_the_language() -> None:
    left = LeftOut(
        "quotations", (Note("quotation_between", opening="«", closing="»"),), (Span(4, 13),), 2, 0.7
    )
    view = view_check(made(left_out=(left,)), TEXT, words=wording("ru"))
    assert "документ" in view.against and "цитат" in view.left_out[0].lower()
    assert view.settings[0].name != "shingle_words" and view.settings[0].value == "4"
    assert [piece.reasons for piece in view.pieces() if piece.left_out] == [("цитата между « и »",)]


def test_sources_that_add_nothing_can_be_folded() -> None:
    span = (Span(0, 13), Span(0, 13))
    view = view_check(made(*(source(n, span, added=0.0) for n in range(1, 6))), TEXT)
    assert [one.folded for one in view.sources] == [False, False, False, True, True]
    assert [one.id for one in view.others(view.passages[0])] == ["s2f1", "s3f1", "s4f1", "s5f1"]


def test_possible_places_have_their_source() -> None:
    weak = Fragment("w1", Span(0, 7), Span(0, 7), "reworded", 0.4, 2, "weak")
    other = replace(source(2), possible=(weak,))
    view = view_check(made(source(1, (Span(0, 3), Span(0, 3))), possible_sources=(other,)), TEXT)
    assert view.beside(view.possible[0]).there == (("One two", False),)
    assert view.possible[0].label == "Not a source" and view.first[-1].possible
