"""A checked class as values for a view: a row for each work, links between works, and the same as CSV and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from doublet.matches.among import Among
from doublet.model import Note
from doublet.reports.tables import plain_rows
from doublet.reports.wording import wording

CLASS_FORMAT = 1
COLUMNS = (
    *("work", "author", "state", "words", "share", "libraries", "works", "borrowed", "quoted", "original"),
    *("alarms", "top_source", "top_share", "report", "reason"),
)


@dataclass(frozen=True, slots=True)
class ClassRow:
    """What the table says of one work. A work that was not checked has a *reason* and no figures."""

    work: str
    author: str = ""
    state: str = "done"
    words: int = 0
    share: float = 0.0  #: found anywhere, every word once
    libraries: float = 0.0  #: found in libraries
    works: float = 0.0  #: found in other works of the class
    figures: tuple[float, float, float] | None = None  #: borrowed, quoted, original, in percent
    alarms: tuple[str, ...] = ()  #: kinds of disguise
    top_source: str = ""
    top_share: float = 0.0
    report: str = ""  #: file of the report beside the table
    reason: Note | None = None

    @property
    def checked(self) -> bool:
        return self.figures is not None

    def to_dict(self) -> dict[str, Any]:
        borrowed, quoted, original = self.figures or (None, None, None)
        return {
            "work": self.work,
            "author": self.author,
            "state": self.state,
            "words": self.words,
            "share": self.share if self.checked else None,
            "libraries": self.libraries if self.checked else None,
            "works": self.works if self.checked else None,
            "borrowed": borrowed,
            "quoted": quoted,
            "original": original,
            "alarms": list(self.alarms),
            "top_source": self.top_source,
            "top_share": self.top_share,
            "report": self.report,
            "reason": self.reason.to_dict() if self.reason is not None else None,
        }


@dataclass(frozen=True, slots=True)
class Link:
    """Two works with something in common. With *directed* the text went from *origin* to *taker*; else nobody can tell
    and the two are in the order of their names."""

    origin: str
    taker: str
    share: float  #: the greater of the two
    words: int
    directed: bool
    reason: str  #: a code of the directions of `matches.among`: earlier, contained, unknown


def links(found: Among) -> list[Link]:
    """Each pair of works once, the greatest share first."""
    out: dict[tuple[str, str], Link] = {}
    for one in found.pairs:
        key = (min(one.a, one.b), max(one.a, one.b))
        if key in out:  # pairs come by their shares
            continue
        if one.direction in ("earlier", "contained"):
            out[key] = Link(one.b, one.a, one.share, one.words, True, one.direction)
        elif one.direction in ("later", "contains"):
            reason = "earlier" if one.direction == "later" else "contained"
            out[key] = Link(one.a, one.b, one.share, one.words, True, reason)
        else:
            out[key] = Link(*key, one.share, one.words, False, "unknown")
    return list(out.values())


def class_csv(rows: Sequence[ClassRow], language: str = "en") -> bytes:
    """The table, with a mark at its start that tells spreadsheets the encoding."""
    words = wording(language)

    def cells(row: ClassRow) -> list[Any]:
        value = row.to_dict()
        value["alarms"] = ", ".join(words.name("disguise", kind) for kind in row.alarms)
        value["reason"] = words.say(row.reason) if row.reason is not None else ""
        for name in ("share", "libraries", "works", "top_share"):
            value[name] = round(value[name], 4) if value[name] is not None else None
        return ["" if value[name] is None else value[name] for name in COLUMNS]

    return b"\xef\xbb\xbf" + b"".join(plain_rows(COLUMNS, map(cells, rows)))


def class_dict(rows: Sequence[ClassRow], found: Among, *, created: str, version: str) -> dict[str, Any]:
    return {
        "format": CLASS_FORMAT,
        "version": version,
        "created": created,
        "works": [row.to_dict() for row in rows],
        "among": found.to_dict(),
    }
