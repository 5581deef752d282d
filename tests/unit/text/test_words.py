"""What counts as a word where a text may be too short to be kept."""

from __future__ import annotations

import unicodedata

import pytest

from doublet.text.words import count_words


def test_it_works() -> None:
    assert count_words("The boats were locked in the ice.") == 7


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (" \n\t", 0),
        ("— " * 60, 0),
        ("— " * 60 + "one two", 2),
        ("* * * 42 * * *", 1),
        ("один, два; три", 3),
        ("one,two,three", 3),
        ("2026-11-18", 3),
        (unicodedata.normalize("NFD", "Đường đến trường"), 3),  # the marks are characters of their own
        ("пере\u00adнос сло\u200bва", 2),
        ("हिन्दी भाषा", 2),
        ("தமிழ் மொழி", 2),
        ("مُحَمَّد", 1),
        ("שָׁלוֹם עוֹלָם", 2),
    ],
)
def test_words_between_blanks(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("中", 1),
        ("中文", 1),
        ("中文文本没有空格", 4),
        ("日本語のテキスト", 4),
        ("中文。文本、", 2),
        ("用Python语言写", 4),
        ("ภาษาไทย", 4),
        ("・・・", 0),  # a mark of that script, and no letter
        ("한국어 문장", 2),  # written with blanks
    ],
)
def test_in_scripts_without_blanks_two_letters_are_a_word(text: str, words: int) -> None:
    assert count_words(text) == words


def test_counting_may_stop_early() -> None:
    text = "слово " * 50
    assert [count_words(text, most=most) for most in (0, 1, 49, 50, 51)] == [0, 1, 49, 50, 50]
