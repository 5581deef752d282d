"""What a change is: a document → a changed text with a map of what came from where (E1).

A change is one file with one frozen dataclass. Ours and those of other packages come through the same door (the entry
point group ``doublet.changes``). It draws everything from the random numbers it is handed, so the same seed gives the
same text on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from doublet.evaluation.words import Language
from doublet.model import Document, Span

GAP = 40  #: characters between two stretches that still belong to one passage: a few changed or added words


@dataclass(frozen=True, slots=True)
class Origin:
    """A stretch of the changed text and the stretch of a source that it stands for. *equal*: word for word."""

    span: Span  #: in the changed text
    source: str  #: id of the document it came from
    source_span: Span
    equal: bool


@dataclass(frozen=True, slots=True)
class Changed:
    """A changed text. *origins* are sorted and disjoint in it; what no origin holds is the changer's own."""

    text: str
    origins: tuple[Origin, ...]
    counts: Mapping[str, int] = field(
        default_factory=dict
    )  #: what was done, in numbers: "words", "replaced" …

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of the documents it came from, in the order of the changed text."""
        return tuple(dict.fromkeys(origin.source for origin in self.origins))


@dataclass(frozen=True, slots=True)
class Case:
    """A borrowed passage: a place in the changed text and the place in the source that it came from."""

    span: Span
    source: str
    source_span: Span


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a change may draw on besides the document: the language of the text, and other texts."""

    language: Language
    own: Sequence[Document] = ()  #: texts that are in no library: the changer's own words
    others: Sequence[Document] = ()  #: further sources, to splice in


class Change(Protocol):
    """One way to change a text. Never changes itself; safe to share between threads."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> Mapping[str, str]:
        """By language of the reader: "en", "ru"."""
        ...

    def apply(self, document: Document, around: Surroundings, rng: random.Random) -> Changed: ...


class Pieces:
    """Puts a changed text together and keeps the map as it goes."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._origins: list[Origin] = []
        self.counts: dict[str, int] = {}

    def keep(self, source: Document, start: int, end: int) -> None:
        """A stretch of *source* as it is."""
        if end <= start:
            return
        here = Span(self._length, self._length + end - start)
        self._append(source.text[start:end])
        last = self._origins[-1] if self._origins else None
        if (
            last is not None
            and last.equal
            and last.source == source.id
            and last.span.end == here.start
            and last.source_span.end == start
        ):
            self._origins[-1] = Origin(
                Span(last.span.start, here.end), source.id, Span(last.source_span.start, end), True
            )
        else:
            self._origins.append(Origin(here, source.id, Span(start, end), True))

    def replace(self, text: str, source: Document, start: int, end: int) -> None:
        """*text* in the place of a stretch of *source*."""
        if not text:
            return
        if text == source.text[start:end]:
            self.keep(source, start, end)
            return
        self._origins.append(
            Origin(Span(self._length, self._length + len(text)), source.id, Span(start, end), False)
        )
        self._append(text)

    def add(self, text: str) -> None:
        """Words that came from nowhere."""
        self._append(text)

    def count(self, name: str, number: int = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + number

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    @property
    def length(self) -> int:
        return self._length

    def build(self) -> Changed:
        return Changed("".join(self._parts), tuple(self._origins), dict(self.counts))


def unchanged(document: Document) -> Changed:
    whole = Span(0, len(document.text))
    return Changed(document.text, (Origin(whole, document.id, whole, True),) if document.text else ())


def compose(first: Changed, second: Changed) -> Changed:
    """The map of *second*, which was made from the text of *first*, down to the sources of *first*."""
    out: list[Origin] = []
    starts = list(first.origins)
    for step in second.origins:
        under = [
            o for o in starts if o.span.start < step.source_span.end and o.span.end > step.source_span.start
        ]
        if not under:
            continue
        if step.equal:
            for o in under:
                low, high = max(o.span.start, step.source_span.start), min(o.span.end, step.source_span.end)
                here = Span(
                    step.span.start + low - step.source_span.start,
                    step.span.start + high - step.source_span.start,
                )
                if o.equal:
                    shift = o.source_span.start - o.span.start
                    out.append(Origin(here, o.source, Span(low + shift, high + shift), True))
                else:
                    out.append(Origin(here, o.source, o.source_span, False))
        else:
            source = max(under, key=lambda o: min(o.span.end, step.source_span.end) - o.span.start).source
            same = [o for o in under if o.source == source]
            hull = Span(
                min(_down(o, step.source_span).start for o in same),
                max(_down(o, step.source_span).end for o in same),
            )
            out.append(Origin(step.span, source, hull, False))
    counts = dict(first.counts)
    for name, number in second.counts.items():
        counts[name] = counts.get(name, 0) + number
    return Changed(second.text, tuple(sorted(out, key=lambda o: o.span)), counts)


def _down(origin: Origin, part: Span) -> Span:
    """What of the source stands under *part* of the text in the middle."""
    if not origin.equal:
        return origin.source_span
    low, high = max(origin.span.start, part.start), min(origin.span.end, part.end)
    shift = origin.source_span.start - origin.span.start
    return Span(low + shift, high + shift)


def cases(changed: Changed, *, gap: int = GAP, least: int = 1) -> tuple[Case, ...]:
    """Borrowed passages: stretches that follow each other in both texts, with at most *gap* characters between them.

    Passages of fewer than *least* characters are left out: nobody could tell them from chance.
    """
    out: list[Case] = []
    for origin in changed.origins:
        last = out[-1] if out else None
        if (
            last is not None
            and last.source == origin.source
            and origin.span.start - last.span.end <= gap
            and -gap <= origin.source_span.start - last.source_span.end <= gap
            and origin.source_span.start >= last.source_span.start
        ):
            out[-1] = Case(
                Span(last.span.start, origin.span.end),
                last.source,
                Span(last.source_span.start, max(last.source_span.end, origin.source_span.end)),
            )
        else:
            out.append(Case(origin.span, origin.source, origin.source_span))
    return tuple(
        case
        for case in out
        if min(case.span.end - case.span.start, case.source_span.end - case.source_span.start) >= least
    )
