"""Bytes of a document → its text, with places (T1, T2, T3, T5): the one door that all of Doublet reads through.

`read_document` tells the kind, calls the reader of the format and says what was found. It takes bytes and gives values.
A hostile document can make it slow or greedy: whoever reads what strangers send does so through the worker processes
of `doublet.sources.workers`, which have limits.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import Any

from doublet.errors import Broken, DoubletError, NothingRead, Oversized, Scanned, UnknownKind, Unreadable
from doublet.model import FORMAT_VERSION, Disguise, DisguiseFinding, Note, Span
from doublet.text import formats, kind
from doublet.text.formats.protocol import HiddenText, Hints, Place, Recogniser
from doublet.text.limits import MAX_BYTES, text_limit, unpacked_limit

_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([A-Za-z0-9._:-]+)", re.I)
# A few hidden words are leftovers of editing; more are a trick. Pages hide their machinery with display:none.
_ALARM_WORDS = 5
_SHOWN_HIDDEN = 500  # characters of a hidden text that reports show

_BLANK = b"\xef\xbb\xbf \t\r\n\f\v"


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """What was read. *places* say where each stretch of the text is in the document, in order; *hidden* is what a
    reader of the document does not see: no part of the text."""

    text: str
    kind: str
    encoding: str
    places: tuple[Place, ...]
    hidden: tuple[HiddenText, ...]
    notes: tuple[Note, ...]
    title: str = ""  #: what the document calls itself; empty when it does not, or when that says nothing
    #: of a page, where it was asked for: the blocks that were left out as frame, and where in the text they would stand
    left_out: tuple[tuple[int, str], ...] = ()

    def place_of(self, at: int) -> Place | None:
        """The place of a character, or of the nearest one before it."""
        index = bisect_right(self.places, at, key=lambda place: place.span.start) - 1
        return self.places[index] if index >= 0 else None

    @property
    def disguise(self) -> Disguise:
        """The hidden text as findings: one for the document, with the places where it would stand."""
        if not self.hidden:
            return Disguise()
        words = [len(item.text.split()) for item in self.hidden]
        tricks = sum(
            count
            for item, count in zip(self.hidden, words, strict=True)
            if self.kind != "html" or item.reason != "hidden"
        )
        spans = tuple(item.place.span for item in self.hidden)
        characters = sum(len(item.text) for item in self.hidden)
        texts = tuple(item.text[:_SHOWN_HIDDEN] for item in self.hidden)
        found = DisguiseFinding("hidden", sum(words), characters, spans, tricks >= _ALARM_WORDS, texts)
        return Disguise((found,))

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT_VERSION,
            "kind": self.kind,
            "encoding": self.encoding,
            "title": self.title,
            "text": self.text,
            "places": [place.to_dict() for place in self.places],
            "hidden": [item.to_dict() for item in self.hidden],
            "notes": list(self.notes),
        }


def read_document(
    data: bytes,
    *,
    name: str = "",
    declared_type: str = "",
    as_kind: str = "",
    frame: bool = True,
    left_out: bool = False,
    max_bytes: int = MAX_BYTES,
    recognise: Recogniser | None = None,
) -> ReadDocument:
    """The text of a document.

    *name* and *declared_type* (the Content-Type of a server, with its charset) are asked when the content does not say
    what it is; *as_kind* overrides all. With *frame* only the useful content of pages is read; with *left_out* the
    rest is given apart from it. *recognise* reads pages of a PDF that are pictures (OCR); without it they are left out
    and noted.

    Raises `UnknownKind`, `Encrypted`, `Scanned`, `Broken`, `NothingRead` or `Oversized`; the message begins
    with a verb and can follow the name of the document. Raises `ConfigError` when a library is missing.
    """
    what = as_kind or kind.tell(data, name=name, declared_type=declared_type)
    if what in kind.ARCHIVES:
        raise UnknownKind("is_archive_of_documents", kind=what)
    if what not in formats.READERS:
        raise UnknownKind("unknown_reader", readers=formats.READERS, kind=what)
    charset = _CHARSET.search(declared_type)
    hints = Hints(
        kind=what,
        name=name,
        charset=charset.group(1) if charset else "",
        frame=frame,
        left_out=left_out,
        unpacked_bytes=unpacked_limit(len(data), max_bytes),
        characters=text_limit(len(data)),
        picture_pages=recognise,
    )
    try:
        found = formats.reader(what).read(data, hints)
    except DoubletError:
        raise
    except RecursionError as error:
        raise Broken("nested_too_deep") from error
    except MemoryError as error:
        raise Oversized("needs_more_memory") from error
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError) as error:
        # A fault of the document, or of its reader; either way this document only.
        raise Broken("not_read_as", kind=what, why=f"{type(error).__name__}: {error}") from error
    if not found.text and not found.hidden and data.strip(_BLANK):
        raise NothingRead("nothing_read", why=found.notes[0] if found.notes else "")
    return ReadDocument(
        found.text,
        what,
        found.encoding,
        found.places,
        found.hidden,
        found.notes,
        found.title,
        found.left_out,
    )


def hidden_summary(document: ReadDocument) -> Note | None:
    """What is hidden, in one note, or nothing."""
    if not document.hidden:
        return None
    words = Counter[str]()
    for item in document.hidden:
        words[item.reason] += len(item.text.split())
    parts = [Note("hidden_part", words=count, reason=reason) for reason, count in words.most_common()]
    return Note("hidden_words", parts=parts, where=document.hidden[0].place.notes())


__all__ = [
    "HiddenText",
    "Place",
    "Recogniser",
    "ReadDocument",
    "Scanned",
    "Span",
    "Unreadable",
    "hidden_summary",
    "read_document",
]
