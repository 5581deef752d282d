"""Passages of several sources spliced into an own text (E1): what a borrowing student does, and what passages are for.

The passages are runs of whole sentences. Each may be changed first (`inner`), and the map then leads through that
change down to the source.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from doublet.evaluation.changes.protocol import Change, Changed, Pieces, Surroundings, compose
from doublet.evaluation.words import WORD
from doublet.model import Document
from doublet.text.sentences import sentences


@dataclass(frozen=True)
class Splice:
    """*sources*: so many documents, the given one first; *words*: the least of a passage."""

    sources: int = 3
    words: int = 60
    inner: Change | None = None

    @property
    def name(self) -> str:
        return "splice" if self.inner is None else f"splice+{self.inner.name}"

    @property
    def title(self) -> dict[str, str]:
        if self.inner is None:
            return {
                "en": "passages of several sources in an own text",
                "ru": "куски из разных источников в своём тексте",
            }
        return {language: f"{title}" for language, title in self.inner.title.items()}

    def apply(self, document: Document, around: Surroundings, rng: random.Random) -> Changed:
        others = [other for other in around.others if other.id != document.id]
        chosen = [document, *rng.sample(others, min(self.sources - 1, len(others)))]
        own = rng.choice(around.own) if around.own else Document("", "")
        first = Pieces()  # passages as they are, with the own text around them
        second = Pieces()
        stops = [s.end for s in sentences(own.text)]
        places = sorted(rng.sample(range(len(stops) + 1), min(len(chosen), len(stops) + 1)))
        places += [len(stops)] * (len(chosen) - len(places))
        at = 0
        spliced: list[tuple[Document, int, int]] = []
        for source, place in zip(chosen, places, strict=True):
            stop = stops[place - 1] if place else 0
            first.add(own.text[at:stop] + ("\n\n" if stop else ""))
            at = max(at, stop)
            start, end = self._passage(source, rng)
            begin = first.length
            first.keep(source, start, end)
            spliced.append((source, begin, first.length))
            first.add("\n\n")
        first.add(own.text[at:].lstrip())
        plain = first.build()
        if self.inner is None:
            return plain
        middle = Document("", plain.text)
        at = 0
        for _, begin, end in spliced:
            second.keep(middle, at, begin)
            part = self.inner.apply(Document("", plain.text[begin:end]), around, rng)
            for name, number in part.counts.items():
                second.count(name, number)
            reached = 0
            for origin in part.origins:
                second.add(part.text[reached : origin.span.start])
                second.replace(
                    part.text[origin.span.start : origin.span.end],
                    middle,
                    begin + origin.source_span.start,
                    begin + origin.source_span.end,
                )
                reached = origin.span.end
            second.add(part.text[reached:])
            at = end
        second.keep(middle, at, len(plain.text))
        return compose(plain, second.build())

    def _passage(self, source: Document, rng: random.Random) -> tuple[int, int]:
        """A run of sentences with at least so many words, or the whole text."""
        parts = sentences(source.text)
        if not parts:
            return 0, len(source.text)
        lengths = [len(WORD.findall(source.text[s.start : s.end])) for s in parts]
        firsts = [i for i in range(len(parts)) if sum(lengths[i:]) >= self.words]
        i = rng.choice(firsts) if firsts else 0
        total, j = 0, i
        while j < len(parts) and total < self.words:
            total += lengths[j]
            j += 1
        return parts[i].start, parts[j - 1].end
