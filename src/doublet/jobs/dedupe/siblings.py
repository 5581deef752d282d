"""Near copies that are pages about two things: each stays. The rule is `doublet.matches.siblings`.

Few pages are asked about: those of pairs that count as near copies, with different titles. Their titles and texts wait
in the file of `doublet.jobs.dedupe.frames`, which has read them before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from doublet.matches.siblings import Named, are_siblings, count_words, telling_words

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

    def apart(self, left: U32, right: U32) -> Mask:
        """Of each pair of documents whether they are siblings. Pages with one title are judged together: copies are
        read a little differently on two mirrors, and what holds of the one must hold of the other."""
        titles = {one: title for one, title, _ in self._read(np.unique([left, right]).tolist()) if title}
        out = np.zeros(len(left), np.bool_)
        asked = {}
        for at, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            one, other = titles.get(a, ""), titles.get(b, "")
            if one and other and one != other:
                asked[at] = (one, other)
        named = self._named(titles, {title for pair in asked.values() for title in pair})
        told = {(a, b): are_siblings(named[a], named[b]) for a, b in set(asked.values())}
        out[list(asked)] = [told[pair] for pair in asked.values()]
        return out

    def _named(self, titles: dict[int, str], wanted: set[str]) -> dict[str, Named]:
        words = telling_words(wanted)
        vocabulary = frozenset[str]().union(*words.values())
        said = {title: Counter[str]() for title in wanted}
        pages = Counter(title for title in titles.values() if title in wanted)
        for _, title, text in self._read([one for one, title in titles.items() if title in wanted]):
            said[title].update(count_words(text, vocabulary))
        return {title: Named(words[title], said[title], pages[title]) for title in wanted}

    def _read(self, documents: Iterable[int]) -> Iterator[tuple[int, str, str]]:
        """Documents that are pages, with their titles and texts."""
        at = {int(self.positions[one]): one for one in documents}
        for position, title, text in self.pages.pages_at(at.keys()):
            yield at[position], title, text
