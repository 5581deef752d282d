"""Letters of scripts that put no blanks between words, and how a block of a page is measured in words.

native/page.cpp has the same.
"""

from __future__ import annotations

import re

#: Thai, Lao, Burmese, Khmer, Japanese, Chinese: for use inside the brackets of a regular expression
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
UNSPACED_WORD = 2  #: such letters that count as a word
_UNSPACED = re.compile(f"[{UNSPACED}]")


def block_words(text: str) -> int:
    """The length of a block in words: stretches between blanks, and where a script has none, every two letters.

    A measure, quick to take and the one that the trees of `doublet.text.frame` have learned with; whether a text is
    long enough to be kept is asked of `doublet.text.words`, which does not take dashes for words.
    """
    return len(text.split()) + len(_UNSPACED.findall(text)) // UNSPACED_WORD
