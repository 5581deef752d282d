"""Settings of the kernel `passages`, from both sides: one that is halved or doubled changes a step here.

The steps are those of the plain twin, which the kernel agrees with by its reference tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from doublet.kernels.reference.passages import (
    SENTENCE,
    STRONG,
    SUMMARY,
    UNIT,
    WEAK,
    _Finder,
    _Rectangle,
    _Settings,
    _Side,
)
from doublet.kernels.settings import PassageOptions

pytestmark = pytest.mark.covers("K2")


def side(ids: list[int], borders: tuple[int, ...] = ()) -> _Side:
    """Words of nine letters with a blank after each; sentences begin at the *borders*."""
    starts = (np.arange(len(ids)) * 10).tolist()
    marks = [SENTENCE if at in borders else 0 for at in range(len(ids))]
    out = _Side(ids, marks, starts, [start + 9 for start in starts])
    out.ids = ids
    return out


def finder(a: _Side, b: _Side, weights: list[float] | None = None) -> _Finder:
    out = _Finder(_Settings(PassageOptions()), a, b)
    count = max(*a.ids, *b.ids) + 1
    out.weights = out.capped = [round(UNIT * weight) for weight in weights or [6.0] * count]
    out.in_a, out.in_b = [1] * count, [1] * count
    out.count_a, out.count_b = [0] * count, [0] * count
    return out


def kind(mass: float, whole: float, *, short: int = 300, long: int = 300, sentence: int = 0) -> int | None:
    """What a passage of that weight is whose sides have so many characters, in sentences of so many."""
    lengths = short // 10, long // 10
    ends = [100 + max(length, sentence // 10) for length in lengths]
    a, b = (side([0] * 400, (100, end)) for end in ends)
    found = _Rectangle(100, 100 + lengths[0], 100, 100 + lengths[1])
    found.mass, found.whole_a, found.whole_b = (round(UNIT * weight) for weight in (mass, whole, whole))
    one = finder(a, b)
    one.found = [found]
    one._filter()
    return one.found[0].kind if one.found else None


@pytest.mark.parametrize(
    ("mass", "whole", "expected"),
    [
        (15, 15, None),
        (25, 25, WEAK),
        (40, 40, WEAK),
        (50, 50, STRONG),
        (60, 180, WEAK),  # a third of both sides
        (60, 120, STRONG),
    ],
)
def test_what_a_passage_weighs(mass: float, whole: float, expected: int | None) -> None:
    assert kind(mass, whole) == expected


@pytest.mark.parametrize(
    ("short", "long", "expected"),
    [(100, 300, WEAK), (150, 300, STRONG), (200, 200, WEAK), (240, 240, STRONG)],
)
def test_how_long_a_passage_is_that_counts(short: int, long: int, expected: int) -> None:
    assert kind(50, 50, short=short, long=long) == expected


@pytest.mark.parametrize(("mass", "expected"), [(50, WEAK), (60, STRONG)])
def test_a_shorter_one_in_long_sentences_weighs_more(mass: float, expected: int) -> None:
    assert kind(mass, mass, short=150, long=150, sentence=300) == expected


@pytest.mark.parametrize(("apart", "clusters"), [(200, 1), (300, 2)])
def test_seeds_far_apart_are_two_passages(apart: int, clusters: int) -> None:
    one = finder(side([0] * 100), side([0] * 100))
    next_ = 3 + apart // 10
    one.seeds = [_Rectangle(0, 3, 0, 3), _Rectangle(next_, next_ + 3, next_, next_ + 3)]
    one._cluster()
    assert len(one.found) == clusters


def test_the_most_that_a_word_weighs() -> None:
    one = finder(side([0]), side([0]))
    one.in_a, one.in_b = [0], [0]
    one.a.bags, one.b.bags = [{0: 1}, *({} for _ in range(1999))], [{0: 1}]
    one._weigh()
    assert one.capped == [6 * UNIT]  # of 6.9


def test_what_a_passage_does_not_share_is_lost() -> None:
    """Of fifty on either side, 25 that are shared are worth more than they lose, and 20 are not."""
    one = finder(side([0]), side([0]))
    one.whole_a = one.whole_b = 50 * UNIT
    for mass, gain in ((25, True), (20, False)):
        one.mass = mass * UNIT
        assert (one._worth() > 0) is gain


@pytest.mark.parametrize(("words", "moved"), [(2, True), (3, False)])
def test_a_border_moves_to_the_end_of_a_sentence(words: int, moved: bool) -> None:
    a, b = side([*range(10), *range(10, 20)], (10 + words,)), side([*range(10)])
    one, found = finder(a, b), _Rectangle(0, 10, 0, 10)
    one._open(found)
    assert one._best_move(found) == ((1, 10 + words) if moved else None)


@pytest.mark.parametrize(("between", "moved"), [(100, True), (130, False)])
def test_a_border_moves_so_far_at_once(between: int, moved: bool) -> None:
    a = side([*range(10), *[15] * between, *range(10, 15), 15])
    one, found = finder(a, side([*range(15)]), [6.0] * 15 + [0.0]), _Rectangle(0, 10, 0, 15)
    one._open(found)
    reached = one._best_move(found)
    assert (reached is not None and reached[1] >= between) is moved


@pytest.mark.parametrize(
    ("common", "weight", "seeds"), [(5, 1.0, 1), (5, 0.625, 0), (2, 3.0, 0)], ids=["alike", "light", "few"]
)
def test_sentences_that_are_alike_are_seeds(common: int, weight: float, seeds: int) -> None:
    """Of ten words each; those in common weigh so much, the others 1: the cosines are .5, .28 and .69."""
    a, b = side([*range(10)]), side([*range(common), *range(10, 20 - common)])
    one = finder(a, b, [weight if n < common else 1.0 for n in range(20)])
    for text in (a, b):
        text.sentences, text.bags = [0, 10], [dict.fromkeys(text.ids, 1)]
        text.norms = [sum(one.weights[term] ** 2 for term in text.ids)]
    one._sentence_seeds()
    assert len(one.seeds) == seeds


@pytest.mark.parametrize(("shared", "taken"), [(1, False), (2, True)])
def test_the_next_sentences_are_taken_in_when_they_are_alike(shared: int, taken: bool) -> None:
    """Of five words each."""
    a = side([*range(15)], (10,))
    b = side([*range(10), *range(10, 10 + shared), *range(20, 25 - shared)], (10,))
    assert finder(a, b)._take_next(_Rectangle(0, 10, 0, 10), forward=True) is taken


def test_borders_move_twelve_times(monkeypatch: pytest.MonkeyPatch) -> None:
    moves: list[int] = []
    monkeypatch.setattr(_Finder, "_best_move", lambda _self, r: moves.append(1) or (1, r.a1))
    finder(side([*range(10)]), side([*range(10)]))._fit(_Rectangle(0, 10, 0, 10))
    assert len(moves) == 12


def test_sentences_are_taken_in_four_times(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[bool] = []
    monkeypatch.setattr(_Finder, "_best_move", lambda _self, _r: None)
    monkeypatch.setattr(_Finder, "_take_next", lambda _self, _r, forward: taken.append(forward) or True)
    finder(side([*range(10)]), side([*range(10)]))._fit(_Rectangle(0, 10, 0, 10))
    assert taken == [True, False] * 4


# Summaries


def segments(*runs: int, passage: _Rectangle | None = None) -> int:
    """How many stretches may be summaries in a text of runs of words that the other has, with others between them."""
    ids: list[int] = []
    borders = []
    for run in (-200, *runs, -200):
        borders.append(len(ids))
        ids += [int(run < 0)] * abs(run)
    one = finder(side(ids, tuple(borders)), side([0]), [6.0, 6.0])
    one.in_b = [1, 0]
    one.found = [passage] if passage is not None else []
    found: list[tuple[int, int]] = []
    one._summary = lambda first, end, _every, _known: found.append((first, end))  # type: ignore[assignment,func-returns-value]
    one._summaries(SUMMARY)
    return len(found)


def test_where_a_summary_may_be() -> None:
    assert [segments(run) for run in (4, 5, 7)] == [0, 0, 1]
    assert [segments(10, -between, 10) for between in (8, 15)] == [1, 2]


@pytest.mark.parametrize(("mass", "may_be"), [(8, 1), (9, 0)])
def test_no_summary_is_looked_for_in_a_passage_that_is_there_as_it_is(mass: int, may_be: int) -> None:
    passage = _Rectangle(200, 220, 0, 20, mass=mass, whole_a=10, whole_b=10, kind=STRONG)
    assert segments(20, passage=passage) == may_be


def is_summary(
    words: int = 60,
    known: int = 48,
    *,
    light: int = 0,
    rest: int = 28,
    often: float = 0.1,
    spread: int = 250,
    explained: int = 0,
    weight: float = 3.0,
    behind: int = 420,
    beside: int = 0,
) -> bool:
    """Whether the first words of a text sum up another, which has so many of them (the first of these *light*), and of
    each 140 words *behind* them *rest*; a passage explains some, and one *beside* them has some weight."""
    count = words + behind
    weights = [1.9 if n < light else weight for n in range(count)] + [0.0]
    has = [n < known or words <= n < words + rest * behind // 140 for n in range(count)]
    there = [n for n in range(words) if has[n]]
    b = [*there[:-1], *[count] * (spread - len(there)), there[-1]]
    one = finder(side([*range(count)]), side([*b, count]), weights)
    one.in_b = [int(yes) for yes in has] + [1]
    every = [0, *np.cumsum(one.capped[:count]).tolist()]
    held = [0, *np.cumsum(np.array(one.capped[:count]) * has).tolist()]
    one.phrases = [0] * words + [round(often * every[words])] * (count + 1 - words)
    if explained:
        one.found = [_Rectangle(0, explained, 0, explained, kind=STRONG)]
    if beside:
        one.found = [_Rectangle(words, words + 9, 0, 9, mass=beside * UNIT, kind=WEAK)]
    return one._summary(0, words, every, held) is not None


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ({"known": 36, "rest": 0}, {}),  # share of its words in the source
        ({"rest": 72, "often": 0.3}, {"rest": 42}),  # and how much more that is than of the rest
        ({"words": 45, "known": 40, "light": 15}, {}),  # telling words
        ({"words": 35, "known": 33}, {}),  # its length
        ({"words": 120, "known": 96, "spread": 400}, {"words": 90, "known": 72, "spread": 300}),
        ({"spread": 120}, {}),  # the length of the place in the source
        ({"rest": 56, "often": 0.0}, {}),  # words and phrases together
        ({"explained": 40, "weight": 6.0}, {"rest": 42}),  # what no passage explains
        ({"known": 52, "explained": 44}, {"known": 52, "explained": 36}),  # and what it weighs
        ({"behind": 150}, {"behind": 200}),  # how heavy the rest of the text is
        ({"beside": 120}, {"beside": 80}),  # and passages there, beside a weight of 144
    ],
)
def test_what_a_summary_is(wrong: dict[str, Any], right: dict[str, Any]) -> None:
    assert not is_summary(**wrong)
    assert is_summary(**right)
