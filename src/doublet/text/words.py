"""How many words a text has, for every rule that asks whether it is long enough: files, pages, entries of feeds.

A word is a stretch of letters and digits with the marks on them. Punctuation alone is none. Of scripts that put no
blanks between words every two letters are one, which is about what their words have.
"""

from __future__ import annotations

import itertools
import re

from doublet.kernels.letters import UNSPACED, UNSPACED_WORD

# What goes on with a word and is no letter for `re`: vowel signs, accents that are characters of their own, and
# characters that nobody sees. Those of all scripts that are read often.
_MARKS = (
    "\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0730-\u074a\u07a6-\u07b0\u0900-\u0963\u0966-\u0dff\u0f71-\u0fbc\u1dc0-\u1dff\u200b-\u200d\u2060"
    "\u20d0-\u20f0\ufe00-\ufe0f\ufe20-\ufe2f\ufeff"
)
_WORD = re.compile(
    rf"(?=\w)[{UNSPACED}]{{1,{UNSPACED_WORD}}}|[^\W_{UNSPACED}](?:[^\W{UNSPACED}]|[{_MARKS}])*"
)


def count_words(text: str, *, most: int | None = None) -> int:
    """The words of *text*; counting stops at *most*."""
    return sum(1 for _ in itertools.islice(_WORD.finditer(text), most))
