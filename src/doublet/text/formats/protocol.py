"""What a reader of a format takes and gives.

A reader is a module with one function, `read`: bytes and what is known about them → `Reading`. It builds the
text with a `Builder`, block by block, and says of each block where in the document it stands and of every piece
of hidden text why nobody sees it. It reads what it is handed and nothing else: no other files, no network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from doublet.errors import ConfigError, Oversized
from doublet.model import Note, Span
from doublet.text.limits import MAX_BYTES
from doublet.text.titles import sensible

#: why a piece of text cannot be seen
HIDDEN_REASONS = ("hidden", "white", "tiny", "outside", "covered")

BETWEEN_BLOCKS = "\n\n"
# Control characters and halves of surrogate pairs: no part of any text, and some programs choke on them.
_UNWANTED = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufeff\ud800-\udfff]")


_NUMBERED = ("slide", "chapter", "footnote", "endnote", "comment")  # elements that have a number or a mark
_CODES = {"speaker notes": "speaker_notes", "text box": "text_box"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a stretch of the text is in the document: what the format knows of page, paragraph, line (of
    the source) and element."""

    span: Span
    page: int | None = None
    paragraph: int | None = None
    line: int | None = None
    element: str = ""

    def notes(self) -> tuple[Note, ...]:
        """The parts of a place for people, from the largest to the smallest."""
        numbers = (("page", self.page), ("paragraph", self.paragraph), ("line", self.line))
        parts = [
            Note("place_numbered", what=what, number=number) for what, number in numbers if number is not None
        ]
        for part in self.element.split(", ") if self.element else ():
            what, _, number = part.partition(" ")
            if what in _NUMBERED and number:
                parts.append(Note("place_numbered", what=what, number=number))
            else:
                parts.append(Note("place_named", what=_CODES.get(part, part)))
        return tuple(parts)

    def label(self) -> str:
        """The same in English, "page 12, paragraph 40", for results; of long documents very many are asked for."""
        numbers = (("page", self.page), ("paragraph", self.paragraph), ("line", self.line))
        parts = [f"{name} {number}" for name, number in numbers if number is not None]
        return ", ".join([*parts, *([self.element] if self.element else [])])

    def to_dict(self) -> dict[str, Any]:
        return {
            "span": list(self.span),
            "page": self.page,
            "paragraph": self.paragraph,
            "line": self.line,
            "element": self.element,
        }


@dataclass(frozen=True, slots=True)
class HiddenText:
    """Text that a reader of the document does not see, and so no part of the text. *place* has the empty span where
    it would stand."""

    text: str
    reason: str  #: one of HIDDEN_REASONS
    place: Place

    def to_dict(self) -> dict[str, Any]:
        return {"text": self.text, "reason": self.reason, "place": self.place.to_dict()}


class Recogniser(Protocol):
    """Reads the text of pages that are pictures."""

    def __call__(self, data: bytes, pages: list[int], /) -> Mapping[int, str]:
        """Number of a page → its text, for those of *pages* of the PDF *data* that have some."""
        ...


@dataclass(slots=True)
class Hints:
    """What is known about a document besides its bytes, and how far a reader may go."""

    kind: str = ""
    name: str = ""
    charset: str = ""  #: from the server
    frame: bool = True  #: leave out the frame of a page: menus, footers, comments
    left_out: bool = False  #: say what was left out as frame
    unpacked_bytes: int = MAX_BYTES  #: at most so much after decompression
    characters: int = MAX_BYTES  #: of the text
    picture_pages: Recogniser | None = None  #: called where pages are pictures: OCR


class Reading(NamedTuple):
    text: str
    places: tuple[Place, ...]
    hidden: tuple[HiddenText, ...]
    notes: tuple[Note, ...]
    encoding: str = ""
    title: str = ""
    #: blocks of a page that were left out as its frame, with the places in the text where they would stand
    left_out: tuple[tuple[int, str], ...] = ()


class Reader(Protocol):
    def read(self, data: bytes, hints: Hints) -> Reading:
        """Raises `Unreadable` (Broken, Encrypted, Scanned, Oversized) with a message that begins with a verb."""
        ...


class Run(NamedTuple):
    """A piece of a paragraph; *hidden* is the reason why it cannot be seen, or empty."""

    text: str
    hidden: str = ""


@dataclass(slots=True)
class Builder:
    """Puts blocks together into a text with places."""

    limit: int = MAX_BYTES  #: characters, hidden ones included
    notes: list[Note] = field(default_factory=list)
    title: str = ""  #: the first one offered that says something
    _parts: list[str] = field(default_factory=list)
    _places: list[Place] = field(default_factory=list)
    _hidden: list[HiddenText] = field(default_factory=list)
    _left_out: list[tuple[int, str]] = field(default_factory=list)
    _length: int = 0
    _spent: int = 0

    def add(
        self,
        text: str,
        *,
        page: int | None = None,
        paragraph: int | None = None,
        line: int | None = None,
        element: str = "",
        joint: str = BETWEEN_BLOCKS,
    ) -> bool:
        """Add a block after *joint*. False when there is nothing but blanks in it."""
        text = _wanted(text)
        if not text:
            return False
        if self._parts:
            self._parts.append(joint)
            self._length += len(joint)
        start = self._length
        self._parts.append(text)
        self._length += len(text)
        self._spend(len(text))
        self._places.append(Place(Span(start, self._length), page, paragraph, line, element))
        return True

    def add_plain(self, texts: Iterable[str]) -> None:
        """Add blocks whose places nobody will ask for."""
        for text in filter(None, map(_wanted, texts)):
            if self._parts:
                self._parts.append(BETWEEN_BLOCKS)
                self._length += len(BETWEEN_BLOCKS)
            self._parts.append(text)
            self._length += len(text)
            self._spend(len(text))

    def add_runs(
        self,
        runs: Sequence[Run],
        *,
        page: int | None = None,
        paragraph: int | None = None,
        line: int | None = None,
        element: str = "",
        joint: str = BETWEEN_BLOCKS,
    ) -> bool:
        """Add a paragraph of runs. The hidden ones do not become part of the text."""
        if not any(run.hidden for run in runs):
            text = "".join([run.text for run in runs])
            return self.add(text, page=page, paragraph=paragraph, line=line, element=element, joint=joint)
        visible = [run.text for run in runs if not run.hidden]
        joined = "".join(visible)
        lead = len(joined) - len(joined.lstrip())
        start = self._length + (len(joint) if self._parts and joined.strip() else 0)
        added = self.add(joined, page=page, paragraph=paragraph, line=line, element=element, joint=joint)
        at = start
        for text, reason in _merged(runs):
            if not reason:
                at += len(text)
            elif text.strip():
                here = max(start, min(at - lead, self._length))
                place = Place(Span(here, here), page, paragraph, line, element)
                self._hidden.append(HiddenText(_UNWANTED.sub("", text).strip(), reason, place))
                self._spend(len(text))
        return added

    def hide(
        self,
        text: str,
        reason: str,
        *,
        page: int | None = None,
        paragraph: int | None = None,
        line: int | None = None,
        element: str = "",
    ) -> None:
        """Report a block that nobody sees."""
        text = " ".join(_UNWANTED.sub("", text).split())
        if text:
            place = Place(Span(self._length, self._length), page, paragraph, line, element)
            self._hidden.append(HiddenText(text, reason, place))
            self._spend(len(text))

    def leave_out(self, text: str) -> None:
        """Remember a block that is frame, for whoever asked for it."""
        text = _wanted(text)
        if text:
            self._left_out.append((self._length, text))
            self._spend(len(text))

    def _spend(self, characters: int) -> None:
        self._spent += characters
        if self._spent > self.limit:
            raise Oversized("text_too_large_for_size", limit=self.limit)

    def offer_title(self, text: str | None, *, heading: bool = False) -> None:
        """What may be the title of the document, the best first. A *heading* stands in the text itself."""
        if text and not self.title:
            self.title = sensible(text, heading=heading)

    @property
    def empty(self) -> bool:
        """Whether there is no text yet."""
        return not self._parts

    def note(self, code: str, /, **values: Any) -> None:
        """Say something of the document, once."""
        note = Note(code, **values)
        if note not in self.notes:
            self.notes.append(note)

    def done(self, encoding: str = "") -> Reading:
        text, places, hidden = "".join(self._parts), tuple(self._places), tuple(self._hidden)
        return Reading(text, places, hidden, tuple(self.notes), encoding, self.title, tuple(self._left_out))


def _wanted(text: str) -> str:
    """*text* without what no text has, and without blanks around it."""
    return (text if text.isprintable() else _UNWANTED.sub("", text)).strip("\n\r\t \f\v")


def _merged(runs: Iterable[Run]) -> list[Run]:
    """Neighbours with the same reason as one: a word of many runs is one hidden word."""
    out: list[Run] = []
    for run in runs:
        if out and out[-1].hidden == run.hidden:
            out[-1] = Run(out[-1].text + run.text, run.hidden)
        else:
            out.append(run)
    return out


def needs(library: str, what: str) -> ConfigError:
    """The error for a library that is not installed."""
    return ConfigError("reader_not_installed", what=what, library=library)
