"""Which text is named first has no say in what `compare` calls strong (K2)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import doublet
from doublet.model import Span

THEMES = (
    "harbour boat ice pilot quay ledger tide rope lantern customs winter channel",
    "orchard apple graft beehive frost barrel ladder harvest cider blossom hedge market",
    "telescope mirror comet dome notebook eclipse observer lens summit cloud drawing star",
    "printer type ink page proof margin binder paper press letter catalogue shop",
)
WAYS = ("as it is", "words in other forms", "turned about", "some words of another theme")


def paragraph(theme: int, way: str) -> str:
    """Five sentences of one theme, no word of them twice; *way* is how they are written."""
    words = THEMES[theme].split()
    lines = []
    for number in range(5):
        line = [
            f"{'abcde'[number]}{'klmnopqrstu'[i]}{words[(number * 5 + i) % len(words)]}" for i in range(11)
        ]
        if way == "words in other forms":
            line = [f"{word}s" if i % 3 else word for i, word in enumerate(line)]
        elif way == "turned about":
            line = [*line[6:], *line[:6]]
        elif way == "some words of another theme":
            line = [word[::-1] if i % 4 == 1 else word for i, word in enumerate(line)]
        lines.append(" ".join(line).capitalize() + ".")
    return " ".join(lines)


def own(side: str, number: int) -> str:
    """A paragraph that only one text has, too long to lie inside a passage."""
    return " ".join(
        " ".join(
            f"{'abcdef'[number]}{'ghijkl'[line]}{'mnopqrstuvw'[i]}o{side}" for i in range(11)
        ).capitalize()
        + "."
        for line in range(6)
    )


def strong(left: str, right: str) -> set[tuple[Span, Span]]:
    return {(one.a, one.b) for one in doublet.compare(left, right).fragments if one.strength == "strong"}


TEXTS = st.tuples(
    st.lists(st.integers(0, len(THEMES) - 1), min_size=1, max_size=5),
    st.tuples(*[st.sampled_from(WAYS)] * len(THEMES)),
)
PLAIN = (WAYS[0],) * len(THEMES)


@pytest.mark.covers("K2")
@settings(deadline=None)
@given(TEXTS, TEXTS)
@example(([0, 0], PLAIN), ([0], PLAIN))  # one text has it twice
@example(([1, 1, 0], PLAIN), ([2, 1], ("turned about",) * len(THEMES)))
def test_strong_passages_are_the_same_both_ways(
    here: tuple[list[int], tuple[str, ...]], there: tuple[list[int], tuple[str, ...]]
) -> None:
    """Own paragraphs lie between passages."""
    a, b = (
        "\n\n".join(f"{paragraph(theme, ways[theme])}\n\n{own(side, n)}" for n, theme in enumerate(themes))
        for side, (themes, ways) in (("left", here), ("right", there))
    )
    assert strong(a, b) == {(other, one) for one, other in strong(b, a)}


def with_own(theme: int, way: str, side: str, places: Sequence[int]) -> str:
    """A paragraph with own sentences behind some of its sentences."""
    lines = paragraph(theme, way).split(". ")
    for at in sorted(set(places), reverse=True):
        lines.insert(at + 1, own(side, theme).split(". ")[at])
    return ". ".join(lines)


INSIDE = st.lists(st.integers(0, 3), max_size=3)


@pytest.mark.covers("K2")
@settings(deadline=None)
@given(TEXTS, TEXTS, INSIDE, INSIDE)
@example(([0], PLAIN), ([0], PLAIN), [1], [])
@example(([0], (WAYS[1],) * len(THEMES)), ([0], PLAIN), [], [2])
@example(([2], PLAIN), ([2, 2], (*PLAIN[:2], WAYS[1], PLAIN[3])), [], [0])  # once strong, once weak
def test_so_they_are_with_own_sentences_inside(
    here: tuple[list[int], tuple[str, ...]],
    there: tuple[list[int], tuple[str, ...]],
    inside_here: list[int],
    inside_there: list[int],
) -> None:
    """Own sentences inside a passage are cut out of the first text, and take their strength from what is left."""
    a, b = (
        "\n\n".join(
            f"{with_own(theme, ways[theme], side, inside)}\n\n{own(side, n)}"
            for n, theme in enumerate(themes)
        )
        for side, (themes, ways), inside in (("left", here, inside_here), ("right", there, inside_there))
    )
    assert strong(a, b) == {(other, one) for one, other in strong(b, a)}
