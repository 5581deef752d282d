"""Two pages that say nearly the same of two things (`min` and `max`): no copies of each other (K7).

Such pages share sentences and differ in the name of what they are about, which is in their titles. So two pages are
siblings when each of them speaks of something in its own title that the other hardly mentions, or when both say one
line, each with its own name in it. Copies under other titles share the words of both, and their lines are the same.
Explained in docs/decisions/0068-sibling-pages.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
_Parts = tuple[str, ...]

# Chosen on two mirrors of each of 16 sites (`benchmarks/mirrors.py`, 300 pages each), where 168 other pairs of pages
# are left of 276, most of them copies. Said once 159 and four times 230; an eighth 176 and half 161, but then chapters
# in two languages are about two things. The number of titles does not matter there; with 5 it did on tcllib's pages.
SAID = 2  #: times that a page says a word of its title …
HARDLY = 0.25  #: … and the share of these times that the other page says it at most
TITLES = 10  #: a word that more of the titles have names the site, or a kind of page

LINE_WORDS = 2  #: of a line beside the name in it, one of them not in the title

_WORD = re.compile(r"\w+")
_PART = re.compile(r"\w+(?:[.\-:]+\w+)*")  # of a name: `r.rescale.eq`, `std::max`, `set-char!`
_VERSION = re.compile(r"\d+(?:[.\-:]+\d+)*")


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


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of pages with one title, by their keys (`doublet.text.site_frame.line_key`)."""

    keys: U64  #: of all of them, sorted
    #: the keys of those with a name in them: by the name, and by the line without it
    forms: Mapping[str, Mapping[int, AbstractSet[int]]]


def parts_of(title: str) -> _Parts:
    """The words of a title as they are looked for in lines."""
    return tuple(_PART.findall(title.lower()))


def names_of(a: str, b: str, telling: Mapping[str, AbstractSet[str]]) -> tuple[str, str] | None:
    """What each of two titles says where the other says something else, as it is looked for in lines; None: nothing,
    or only another version. Words of many titles, which are not *telling* (`telling_words`), stand at neither end."""
    one, other = _unlike(parts_of(a), parts_of(b))
    one, other = _unlike(_from_first_to_last(one, telling[a]), _from_first_to_last(other, telling[b]))
    names = _apart(one), _apart(other)
    if not one or not other or _VERSION.sub("0", names[0]) == _VERSION.sub("0", names[1]):
        return None
    return names


def _unlike(one: _Parts, other: _Parts) -> tuple[_Parts, _Parts]:
    """Without their common beginning and their common end."""
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return one, other


def _from_first_to_last(parts: _Parts, telling: AbstractSet[str]) -> _Parts:
    """Of a title from the first telling word to the last."""
    places = [at for at, part in enumerate(parts) if not telling.isdisjoint(_WORD.findall(part))]
    return parts[places[0] : places[-1] + 1] if places else ()


def _apart(parts: _Parts) -> str:
    """Words in a row that are found in others with whole words alone."""
    return "".join(f" {part} " for part in parts)


def forms_of(line: str, names: Collection[str], title: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Each name that a line says, and a number for the line without it, good in this process alone. *title* are the
    words of the title, which alone say nothing of the name."""
    parts = parts_of(line)
    spaced = _apart(parts)
    for name in names:
        form = spaced.replace(name, "\n")
        if len(form) == len(spaced):
            continue
        rest = form.split()
        if len(rest) >= LINE_WORDS and not title.issuperset(rest):
            yield name, hash(form)


def say_one_line(a: Lines, b: Lines, names: tuple[str, str]) -> bool:
    """Whether a line of pages with one title is a line of those with another, but for their *names*. Neither of them
    has the line of the other."""
    one, other = a.forms.get(names[0], {}), b.forms.get(names[1], {})
    return any(
        not _any_of(one[form], b.keys) and not _any_of(other[form], a.keys)
        for form in one.keys() & other.keys()
    )


def _any_of(some: AbstractSet[int], keys: U64) -> bool:
    sought = np.array(list(some), np.uint64)
    places = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
    return bool((keys[places] == sought).any())
