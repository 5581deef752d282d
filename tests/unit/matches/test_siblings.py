"""Pages about two things that say nearly the same of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from doublet.matches.siblings import (
    Lines,
    Named,
    are_siblings,
    count_words,
    forms_of,
    names_of,
    parts_of,
    say_one_line,
    telling_words,
)
from doublet.text.site_frame import line_key

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


def names(a: str, b: str, *others: str) -> tuple[str, ...] | None:
    """What each of two titles names, word by word."""
    found = names_of(a, b, telling_words({a, b, *others}))
    return found and tuple("/".join(name.split()) for name in found)


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        ("max", "min", ("max", "min")),
        ("The Max of two, in short", "The min of two, in short", ("max", "min")),
        ("r.rescale", "r.rescale.eq - GRASS", ("r.rescale", "r.rescale.eq/grass")),
        ("std::max_element (C++)", "std::min_element (C++)", ("std::max_element", "std::min_element")),
        ("Set-X label now", "set-y label now", ("set-x", "set-y")),
        ("A light button", "A button", None),  # the second says nothing else
        ("One page", "one  PAGE!", None),
        ("log", "log10", ("log", "log10")),
        ("Команда «пауза» игры", "Команда «стоп» игры", ("пауза", "стоп")),
        ("", "min", None),
    ],
)
def test_what_two_titles_name(a: str, b: str, found: tuple[str, str] | None) -> None:
    assert names(a, b) == found
    assert names(b, a) == (found and found[::-1])


@pytest.mark.parametrize(
    ("a", "b"),
    [("Notes on 1.2", "Notes on 1.10"), ("Guide 2.4.1, part", "Guide 2, part"), ("gtk-3", "gtk-4")],
)
def test_versions_have_one_name(a: str, b: str) -> None:
    assert names(a, b) is None


def test_what_many_titles_have_is_no_name() -> None:
    many = [f"Page{number} of the Mirror North" for number in range(11)]
    many += [f"Page{number} of the Mirror South" for number in range(11)]
    assert names(many[0], many[11], *many) is None, "one page on two mirrors"
    assert names("max: Mirror North", "min: Mirror South", *many) == ("max", "min")
    assert names("max value: Mirror North", "min value: Mirror South", *many) == ("max", "min")
    assert names("max North twice", "max South twice", *many) is None


def lines(title: str, names: tuple[str, str], *some: str) -> Lines:
    forms: dict[str, dict[int, set[int]]] = {}
    for line in some:
        for name, form in forms_of(line, names, frozenset(parts_of(title))):
            forms.setdefault(name, {}).setdefault(form, set()).add(line_key(line))
    return Lines(np.unique(np.array([line_key(line) for line in some], np.uint64)), forms)


def one_line(a: list[str], b: list[str], titles: tuple[str, str] = ("The max", "The min")) -> bool:
    found = names_of(*titles, telling_words(titles))
    assert found
    both = [lines(title, found, *some) for title, some in zip(titles, (a, b), strict=True)]
    told = say_one_line(both[0], both[1], found)
    assert say_one_line(both[1], both[0], (found[1], found[0])) == told
    return told


@pytest.mark.parametrize(
    ("a", "b", "parted"),
    [
        ("max of a list", "min of a list", True),
        ("Use «max», then max again.", "use: min, then min again", True),
        ("max of a list", "min of the list", False),  # another line
        ("climax of a list", "climin of a list", False),  # another word
        ("max list", "min list", False),  # a word beside the name
        ("list of max and max", "list of min and max", False),  # two names
        ("The max, the max", "The min, the min", False),  # the title
        ("max", "min", False),
    ],
)
def test_one_line_with_two_names(a: str, b: str, parted: bool) -> None:
    assert one_line(["A list", a], ["A list", b]) is parted


def test_lines_in_cyrillic_letters() -> None:
    titles = ("Команда «пауза»", "Команда «стоп»")
    assert one_line(["Набрав «Пауза», ждите"], ["Набрав «стоп», ждите"], titles)
    assert not one_line(["Набрав «Пауза», ждите"], ["Набрав «пауза», ждите"], titles)


def test_names_of_several_words() -> None:
    titles = ("Class Cell_Area members", "Class Box.Row and more members")
    assert one_line(["the list of Cell_Area alone"], ["the list of box.row and more alone"], titles)
    assert not one_line(["the list of Cell_Area alone"], ["the list of box.row alone"], titles)


def test_a_copy_under_another_title_has_the_same_lines() -> None:
    text = ["max of a list", "Whoever reads this reads it to the end"]
    assert not one_line(text, text)
    # A page about both things, and its copy.
    both = [*text, "min of a list"]
    assert not one_line(both, both)
    # A chapter and the book that it is in.
    assert not one_line(text, both)
    assert not one_line(["min of a list"], both)


def test_no_lines_at_all() -> None:
    assert not one_line([], ["min of a list"])
