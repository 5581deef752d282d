"""What a reader of markup says about a text: which characters are markup, and where headings, code and tables are.

A `MarkedText` never moves a character: `masked` has the length of the source, with markup blanked out, so every
place found in it is a place in the file as the user sees it in an editor.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field

from doublet.kernels.blanks import blank, blanked
from doublet.model import Span

FILLER = "\u00ad"  #: stands for the rest of a character reference; the tokeniser drops it inside words


@dataclass(frozen=True, slots=True)
class Heading:
    """*number* is counted from the levels ("3.2"), whatever the text itself says."""

    span: Span
    level: int
    number: str
    title: str


@dataclass(slots=True)
class MarkedText:
    """A source text and what is known about it. Spans are sorted and half-open, in characters of the source."""

    kind: str  #: text, xml, html, markdown, rst, latex; or of a document pdf, docx, odt, epub …
    text: str
    masked: str
    headings: list[Heading] = field(default_factory=list)
    code: list[Span] = field(default_factory=list)
    tables: list[Span] = field(default_factory=list)
    places: list[tuple[int, str]] = field(default_factory=list)  #: from which character on it is "page 3"

    def section_at(self, place: int) -> Heading | None:
        """The last heading that begins at or before *place*."""
        at = bisect.bisect_right(self.headings, place, key=lambda heading: heading.span.start)
        return self.headings[at - 1] if at else None


class Painter:
    """Collects stretches to blank out and builds the masked text in one go."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts: list[tuple[int, int, str]] = []

    def blank(self, start: int, end: int, *, border: bool = False) -> None:
        """Blank out; a *border* ends whatever sentence was going on."""
        if end > start:
            self._parts.append(blank(start, end, border=border))

    def put(self, start: int, end: int, letter: str) -> None:
        """One character stands for a whole reference."""
        self._parts.append((start, end, letter + (FILLER if letter.isalnum() else " ") * (end - start - 1)))

    def masked(self) -> str:
        return blanked(self.text, self._parts) if self._parts else self.text


def number_headings(found: list[tuple[Span, int, str]]) -> list[Heading]:
    """Headings with counted numbers; levels are squeezed, so that a text that begins with ``##`` has a section 1."""
    counts: list[int] = []
    levels: list[int] = []
    out = []
    for span, level, title in sorted(found):
        while levels and levels[-1] > level:
            levels.pop()
            counts.pop()
        if levels and levels[-1] == level:
            counts[-1] += 1
        else:
            levels.append(level)
            counts.append(1)
        out.append(Heading(span, len(levels), ".".join(map(str, counts)), " ".join(title.split())[:200]))
    return out
