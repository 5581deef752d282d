"""What a reader of markup says about a text: which characters are markup, and where headings, code and tables are.

A `MarkedText` never moves a character: `masked` has the length of the source, with markup blanked out, so every
place found in it is a place in the file as the user sees it in an editor.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from doublet.kernels.blanks import FILLER, QUIET, blank, blanked
from doublet.model import Span

_PERMALINKS = " ¶\uf0c1"  #: signs behind a heading that lead to it
_ITEM_MARK = re.compile(r"[-*+•]\s|\(?[\w#]{1,4}[.)]\s|:[^:]+:|\.\.\s")


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
    links: list[Span] = field(default_factory=list)  #: words that lead elsewhere, where the markup says it
    labels: list[Span] = field(default_factory=list)  #: terms of a list, which belong to what follows
    wholes: list[Span] = field(
        default_factory=list
    )  #: items of lists, rows and cells, where the markup says it
    cells: list[Span] = field(default_factory=list)  #: of tables and of lists of terms; they are wholes too
    places: list[tuple[int, str]] = field(default_factory=list)  #: from which character on it is "page 3"


class Piece(NamedTuple):
    """A stretch of the source that a reader sees, as it is or as *shown* (an empty stretch adds what is shown). What is
    *quiet* is part of the text, but not running words that could be repeated: formulas."""

    start: int
    end: int
    shown: str | None = None
    quiet: bool = False


@dataclass(slots=True)
class Block:
    """A paragraph, a heading, a row … of the text, in pieces of the source."""

    pieces: list[Piece]
    element: str = ""  #: heading, list, table, code, footnote; empty for a paragraph
    level: int = 0  #: of a heading, where the markup says it; below 0 when it is underlined

    def text(self, source: str) -> str:
        return "".join([source[p.start : p.end] if p.shown is None else p.shown for p in self.pieces])


@dataclass(slots=True)
class Structure:
    """What a reader finds in a source: blocks in the order in which they are read, headings (span, level, title), code
    and tables. From it come both the words of a document and its `MarkedText`."""

    blocks: list[Block] = field(default_factory=list)
    headings: list[tuple[Span, int, str]] = field(default_factory=list)
    code: list[Span] = field(default_factory=list)
    tables: list[Span] = field(default_factory=list)
    inputs: int = 0  #: how many other files it names as parts of itself
    title: str = ""  #: what it calls itself outside its blocks

    def marked(self, kind: str, text: str) -> MarkedText:
        return MarkedText(
            kind,
            text,
            masked(text, self.blocks, self.tables, indented=kind == "rst"),
            number_headings(self.headings),
            sorted(self.code),
            sorted(self.tables),
        )


def masked(text: str, blocks: Sequence[Block], tables: Sequence[Span] = (), *, indented: bool = False) -> str:
    """*text* with all blanked out that is in no block; line ends stay, and no sentence goes on from block to block.

    Inside a block of running text nothing ends a sentence but its own signs: neither marks nor wrapped lines do. Where
    lines may be *indented*, one that stands further in or out than the line before begins something else.
    """
    pieces = sorted(
        (piece.start, piece.end, number, piece.shown or "")
        for number, block in enumerate(blocks)
        for piece in block.pieces
        if piece.end > piece.start and not piece.quiet and piece.shown != ""
    )
    rows = sorted(tables)
    row = 0
    out: list[str] = []
    at, before = 0, -1
    for begin, end, number, shown in pieces:
        start = max(begin, at)
        if start >= end:
            continue
        while row < len(rows) and rows[row].end <= start:
            row += 1
        runs = blocks[number].element not in ("code", "table") and not (
            row < len(rows) and rows[row].start <= start
        )
        gap = text[at:start]
        if number == before and runs and not (indented and "\n" in gap and _begins(text, at, start)):
            out.append(QUIET * len(gap))
        else:
            out.append(_gap(gap, border=number != before))
        source = text[start:end]
        if not shown or len(shown) == len(source):
            out.append(shown or (running(source) if runs else source))
        else:
            filler = FILLER if shown[0].isalnum() else " "
            out += [shown[0], *(old if old.isspace() else filler for old in source[1:])]
        at, before = end, number
    out.append(_gap(text[at:], border=True))
    return "".join(out)


def _begins(text: str, before: int, start: int) -> bool:
    """Whether the line of *start* stands further in or out than the line of the character before *before*, or has a
    mark of its own. What follows a mark or the name of a field may stand further in."""
    line = text.rfind("\n", 0, start) + 1
    above = text[text.rfind("\n", 0, before) + 1 : before]
    here = text[line:start]
    if "|" in here:
        return True
    indent, bare = len(here) - len(here.lstrip()), above.lstrip()
    left = len(above) - len(bare)
    mark = _ITEM_MARK.match(bare)
    return indent != left and not (indent > left and mark)


def running(part: str) -> str:
    """Running text with its line ends and rows of blanks as blanks that end nothing."""
    if "\n" in part or "\t" in part:
        part = part.replace("\n", " ").replace("\t", " ")
    return part.replace("  ", f" {QUIET}") if "  " in part else part


def _gap(source: str, *, border: bool) -> str:
    if not source.strip(" "):
        return source
    blanks = blank(0, len(source), border=border)[2]
    if "\n" not in source:
        return blanks
    return "".join(["\n" if old == "\n" else new for new, old in zip(blanks, source, strict=True)])


def places(source: str, blocks: Sequence[Block]) -> list[int]:
    """The line on which each block begins, counted from 1."""
    starts = [next((p.start for p in block.pieces if p.end > p.start), 0) for block in blocks]
    lines = [1] * len(blocks)
    line, at = 1, 0
    for number in sorted(range(len(blocks)), key=starts.__getitem__):
        line += source.count("\n", at, starts[number])
        at = starts[number]
        lines[number] = line
    return lines


class Painter:
    """Collects stretches to blank out and builds the masked text in one go."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts: list[tuple[int, int, str]] = []

    def blank(self, start: int, end: int, *, border: bool = False, quiet: bool = False) -> None:
        """Blank out; a *border* ends whatever sentence was going on, and *quiet* blanks surely do not."""
        if end > start:
            self._parts.append(
                (start, end, QUIET * (end - start)) if quiet else blank(start, end, border=border)
            )

    def end_line(self, start: int, end: int) -> None:
        """Blank out what ends a line inside a paragraph."""
        self._parts.append((start, end, "\n" + " " * (end - start - 1)))

    def put(self, start: int, end: int, letter: str) -> None:
        """One character stands for a whole reference."""
        self._parts.append((start, end, letter + (FILLER if letter.isalnum() else " ") * (end - start - 1)))

    def masked(self, text: str | None = None) -> str:
        """The text, or another of the same length, with all that blanked out."""
        text = self.text if text is None else text
        return blanked(text, self._parts) if self._parts else text


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
        title = " ".join(title.split()).rstrip(_PERMALINKS)  # noqa: PLW2901
        out.append(Heading(span, len(levels), ".".join(map(str, counts)), title[:200]))
    return out
