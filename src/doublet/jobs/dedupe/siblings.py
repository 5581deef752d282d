"""Near copies that are pages about two things: each stays. The rule is `doublet.matches.siblings`.

Few pages are asked about: those of pairs that count as near copies, with different titles. Their titles and texts wait
in the file of `doublet.jobs.dedupe.frames`, which has read them before. Of their lines numbers are kept in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

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

if TYPE_CHECKING:
    from doublet.jobs.dedupe.frames import WithoutFrames

U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
Mask = NDArray[np.bool_]


@dataclass(slots=True)
class Siblings:
    """Which documents of a collection are pages about two things."""

    pages: WithoutFrames
    positions: U64  #: of every document in its source
    _titles: dict[int, str] = field(default_factory=dict)  #: of the documents that were asked about

    def apart(self, left: U32, right: U32) -> Mask:
        """Of each pair of documents whether they are siblings. Pages with one title are judged together: copies are
        read a little differently on two mirrors, and what holds of the one must hold of the other."""
        some = np.unique([left, right]).tolist()
        self._read_titles(some)
        titles = {one: self._titles[one] for one in some if self._titles[one]}
        asked = {}
        for at, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            one, other = titles.get(a, ""), titles.get(b, "")
            if one and other and one != other:
                asked[at] = (one, other) if one < other else (other, one)
        told = self._told(titles, set(asked.values()))
        out = np.zeros(len(left), np.bool_)
        out[list(asked)] = [pair in told for pair in asked.values()]
        return out

    def _told(self, titles: Mapping[int, str], pairs: AbstractSet[tuple[str, str]]) -> set[tuple[str, str]]:
        """Of some pairs of titles those of siblings."""
        wanted = {title for pair in pairs for title in pair}
        telling = telling_words(wanted)
        names: dict[str, set[str]] = {title: set() for title in wanted}
        for pair in pairs:
            for title, name in zip(pair, names_of(*pair, telling) or (), strict=False):
                names[title].add(name)
        found = {title: _SamePages(title, sorted(names[title])) for title in wanted}
        vocabulary = frozenset[str]().union(*telling.values())
        asked = {int(self.positions[one]): title for one, title in titles.items() if title in wanted}
        for position, text, lines, keys in self.pages.pages_at(asked.keys()):
            found[asked[position]].add(count_words(text, vocabulary), lines, keys)
        named = {title: Named(telling[title], one.said, one.pages) for title, one in found.items()}
        lines_of = {title: one.all_lines() for title, one in found.items()}
        out = set()
        for a, b in pairs:
            if are_siblings(named[a], named[b]):
                out.add((a, b))
            else:
                both = names_of(a, b, telling)
                if both and say_one_line(lines_of[a], lines_of[b], both):
                    out.add((a, b))
        return out

    def _read_titles(self, documents: list[int]) -> None:
        """Those of documents that were not asked about before; empty if a document is no page, or has none."""
        at = {int(self.positions[one]): one for one in documents if one not in self._titles}
        self._titles.update(dict.fromkeys(at.values(), ""))
        for position, title in self.pages.titles_at(at.keys()):
            self._titles[at[position]] = title


class _SamePages:
    """What was read of the pages with one title."""

    def __init__(self, title: str, names: list[str]) -> None:
        self.said = Counter[str]()
        self.pages = 0
        self._names = names
        self._firsts = {name.split(maxsplit=1)[0] for name in names}
        self._title = frozenset(parts_of(title))
        self._keys: list[U64] = [np.zeros(0, np.uint64)]
        self._forms: dict[str, dict[int, set[int]]] = {}

    def add(self, said: Counter[str], lines: list[str], keys: U64) -> None:
        """Add a page: how often it says the words of titles, and its lines."""
        self.said.update(said)
        self.pages += 1
        if not self._names:
            return
        self._keys.append(np.unique(keys))
        for line, key in zip(lines, keys.tolist(), strict=True):
            low = line.lower()
            if any(first in low for first in self._firsts):
                for name, form in forms_of(low, self._names, self._title):
                    self._forms.setdefault(name, {}).setdefault(form, set()).add(key)

    def all_lines(self) -> Lines:
        """The lines of all pages that were added."""
        return Lines(np.unique(np.concatenate(self._keys)), self._forms)
