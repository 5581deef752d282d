"""Texts that were read so badly that their share says nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from doublet.matches.readable import few_words, garbled, hardly_readable, readable
from doublet.model import Check, Disguise, Note


def line(letters: int, damaged: int = 0) -> str:
    """A hundred characters."""
    return "a" * letters + "\ufffd" * damaged + "#" * (100 - letters - damaged)


@pytest.mark.parametrize(
    ("letters", "damaged", "hardly"),
    [(49, 0, True), (50, 0, False), (35, 0, True), (65, 0, False), (98, 2, False), (97, 3, True)],
)
def test_few_letters_and_lost_characters(letters: int, damaged: int, hardly: bool) -> None:
    found = garbled("\n".join([line(letters, damaged)] * 30), words=30)
    assert found == ((Note("hardly_readable"),) if hardly else ())


def test_blanks_do_not_count_and_a_text_without_words_is_another_matter() -> None:
    assert garbled("слово" + " " * 10_000, words=1) == ()
    assert garbled("#" * 100, words=0) == ()
    assert garbled("", words=0) == ()


@pytest.mark.parametrize(("good", "hardly"), [(24_900, True), (30_000, False)])
def test_the_first_fifty_thousand_characters_are_looked_at(good: int, hardly: bool) -> None:
    text = "a" * good + "#" * (50_000 - good) + "a" * 200_000
    assert bool(garbled(text, words=2)) is hardly
    assert bool(garbled("a" * 26_000 + "#" * 74_000, words=1)) is False, "what follows is not looked at"


@pytest.mark.parametrize(
    ("words", "pages", "told"), [(19, 2, True), (20, 2, False), (99, 10, True), (0, 5, False), (3, 1, False)]
)
def test_ten_words_to_a_page_are_next_to_none(words: int, pages: int, told: bool) -> None:
    expected = (Note("hardly_readable_pages", words=words, pages=pages),) if told else ()
    assert few_words(words, pages) == expected


def test_what_can_be_judged() -> None:
    check = Check(words=5, share=0.0, sources=(), documents=1, parameters={}, disguise=Disguise(()))
    assert readable(check)
    assert not readable(replace(check, words=0))
    for code in ("hardly_readable", "hardly_readable_pages"):
        noted = replace(check, notes=(Note(code),))
        assert hardly_readable(noted)
        assert not readable(noted)
