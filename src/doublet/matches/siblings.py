"""Two pages that say nearly the same of two things (`min` and `max`): no copies of each other (K7).

Such pages share sentences and differ in the name of what they are about, which is in their titles. So two pages are
siblings when each of them speaks of something in its own title that the other hardly mentions. Copies under other
titles share the words of both. Explained in docs/decisions/0068-sibling-pages.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain

# Chosen on two mirrors of each of 16 sites (`benchmarks/mirrors.py`, 300 pages each), where 168 other pairs of pages
# are left of 276, most of them copies. Said once 159 and four times 230; an eighth 176 and half 161, but then chapters
# in two languages are about two things. The number of titles does not matter there; with 5 it did on tcllib's pages.
SAID = 2  #: times that a page says a word of its title …
HARDLY = 0.25  #: … and the share of these times that the other page says it at most
TITLES = 10  #: a word that more of the titles have names the site, or a kind of page

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Named:
    """What pages with one title say: the telling words of the title, and how often each word of titles is said."""

    title: AbstractSet[str]
    said: Counter[str]  #: of all pages with this title
    pages: int


def telling_words(titles: Collection[str]) -> dict[str, frozenset[str]]:
    """Of each title the words that only few of them have."""
    words = {title: frozenset(_WORD.findall(title.lower())) for title in titles}
    shared = Counter(chain.from_iterable(words.values()))
    return {
        title: frozenset(word for word in some if shared[word] <= TITLES) for title, some in words.items()
    }


def count_words(text: str, vocabulary: AbstractSet[str]) -> Counter[str]:
    """How often a page says the words of titles."""
    return Counter(word for word in _WORD.findall(text.lower()) if word in vocabulary)


def are_siblings(a: Named, b: Named) -> bool:
    """Whether the pages of each of two titles speak of something in their own title that the others hardly mention."""
    return _speak_alone(a, b) and _speak_alone(b, a)


def _speak_alone(these: Named, others: Named) -> bool:
    return any(
        these.said[word] >= SAID * these.pages
        and others.said[word] * these.pages <= HARDLY * these.said[word] * others.pages
        for word in these.title - others.title
    )
