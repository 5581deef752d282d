"""Made-up words and sentences for the tests of repeats: none is like another."""

from __future__ import annotations

import string
from collections.abc import Iterator

from doublet.repeats.model import RepeatOptions
from doublet.repeats.tokenise import TokenSequence, tokenise
from doublet.text.markup import read_markup


def fresh(name: str) -> Iterator[str]:
    for one in string.ascii_lowercase:
        for two in string.ascii_lowercase:
            yield name + one + two


def words(count: int, name: str) -> str:
    source = fresh(name)
    return " ".join(next(source) for _ in range(count))


def sentence(count: int, name: str) -> str:
    return words(count, name).capitalize() + "."


def sequence_of(text: str, name: str = "page.html") -> TokenSequence:
    return tokenise([read_markup(text, name=name)], RepeatOptions())
