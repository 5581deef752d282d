"""Which language a text is in, as far as statistics need to know: by its letters and its smallest words.

Russian and English are told apart from other languages by their stop words, of which every text of theirs is full.
"""

from __future__ import annotations

import re

from doublet.text.stopwords import stop_words

LOOKED_AT = 6_000  #: characters from the beginning: a language does not change in a document
# Of running text a third to a half are stop words; tables and lists have fewer, other languages of the same alphabet
# share a few ("на", "не", "in", "a").
LEAST_STOP_WORDS = 0.12
LANGUAGES = ("ru", "en", "cyrillic", "latin", "other")
_WORD = re.compile(r"[^\W\d_]+")
_CYRILLIC = re.compile(r"[\u0400-\u052f]+")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_NOT_RUSSIAN = re.compile("[іїєґўјљњћђџѓќѕ]")


def language_of(text: str) -> str:
    """ "ru", "en", another language in "cyrillic" or "latin" letters, "other", or "" for a text without words."""
    words = [word.lower().replace("ё", "е") for word in _WORD.findall(text[:LOOKED_AT])]
    if not words:
        return ""
    cyrillic = sum(1 for word in words if _CYRILLIC.fullmatch(word))
    latin = sum(1 for word in words if _LATIN.fullmatch(word))
    if max(cyrillic, latin) * 2 < len(words):
        return "other"
    if cyrillic >= latin:
        known = sum(1 for word in words if word in stop_words("ru"))
        foreign = sum(1 for word in words if _NOT_RUSSIAN.search(word))
        own = known >= LEAST_STOP_WORDS * cyrillic or len(words) < 20
        return "ru" if own and foreign * 20 < cyrillic else "cyrillic"
    known = sum(1 for word in words if word in stop_words("en"))
    return "en" if known >= LEAST_STOP_WORDS * latin or len(words) < 10 else "latin"
