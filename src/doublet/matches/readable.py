"""Whether the text of a document was read well enough for its share to say something."""

from __future__ import annotations

import re

from doublet.model import Check, Note

#: of what is not a space: a text with fewer letters and digits, or more characters lost in decoding, is hardly readable
LETTERS_SHARE, DAMAGED_SHARE = 0.5, 0.02
LOOKED_AT = 50_000  #: characters of the text that are looked at for this
WORDS_A_PAGE = 10  #: a document with fewer is pictures of text, or its text was not found

_NEITHER_LETTERS_NOR_DIGITS = re.compile(r"[\W_]+")
_CODES = ("hardly_readable", "hardly_readable_pages")


def garbled(text: str, words: int) -> tuple[Note, ...]:
    """A note when the text has words and was garbled when it was read, or is hardly a text at all."""
    start = text[:LOOKED_AT]
    signs = len("".join(start.split()))
    good = len(_NEITHER_LETTERS_NOR_DIGITS.sub("", start))
    if words and (good < LETTERS_SHARE * signs or start.count("\ufffd") > DAMAGED_SHARE * signs):
        return (Note("hardly_readable"),)
    return ()


def few_words(words: int, pages: int) -> tuple[Note, ...]:
    """A note when the pages of a document hold next to no words: they are pictures of text."""
    if pages > 1 and 0 < words < WORDS_A_PAGE * pages:
        return (Note("hardly_readable_pages", words=words, pages=pages),)
    return ()


def hardly_readable(check: Check) -> bool:
    return any(note.code in _CODES for note in check.notes)


def readable(check: Check) -> bool:
    """Whether the share of a check says something: the text had words, and was not garbled when it was read."""
    return bool(check.words) and not hardly_readable(check)
