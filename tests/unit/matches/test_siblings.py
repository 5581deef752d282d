"""Pages about two things that say nearly the same of them."""

from __future__ import annotations

from collections import Counter

import pytest

from doublet.matches.siblings import Named, are_siblings, count_words, telling_words

pytestmark = pytest.mark.covers("K7")


def named(title: str, said: dict[str, int], pages: int = 1) -> Named:
    return Named(frozenset(title.split()), Counter(said), pages)


@pytest.mark.parametrize(
    ("own", "other", "siblings"),
    [(8, 0, True), (8, 2, True), (8, 3, False), (2, 0, True), (1, 0, False), (5, 1, True), (3, 1, False)],
)
def test_each_speaks_of_its_own_title(own: int, other: int, siblings: bool) -> None:
    a = named("max", {"max": own, "min": other})
    b = named("min", {"min": own, "max": other})
    assert are_siblings(a, b) == are_siblings(b, a) == siblings


def test_what_both_speak_of_tells_nothing() -> None:
    """A copy under another title: what the titles say is in both texts."""
    text = {"flood": 4, "river": 5, "riga": 7}
    assert not are_siblings(named("flood riga", text), named("river", text))
    # A part of a page says no more of itself than the whole does.
    assert not are_siblings(named("help", {"help": 5}), named("library", {"help": 5, "library": 9}))


def test_pages_of_one_title_are_judged_together() -> None:
    """On average a page says so much."""
    a, b = named("max", {"max": 8, "min": 1}, 2), named("min", {"min": 16, "max": 2}, 4)
    assert are_siblings(a, b)
    assert not are_siblings(named("max", {"max": 3}, 2), b)  # said once and a half
    assert not are_siblings(named("max", {"max": 4, "min": 4}, 2), named("min", {"min": 12}, 2))


@pytest.mark.parametrize(("pages", "telling"), [(10, True), (11, False)])
def test_what_many_titles_have_names_the_site(pages: int, telling: bool) -> None:
    titles = [f"Page{number} of the Mirror" for number in range(pages)]
    assert ("mirror" in telling_words(titles)[titles[0]]) is telling
    assert "page0" in telling_words(titles)[titles[0]]


def test_words_are_counted_whatever_their_case() -> None:
    assert count_words("Max(a, b): MAX of both; mem_max", {"max", "mem"}) == {"max": 2}
