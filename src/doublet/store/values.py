"""What a store gives out: plain values, no models."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from doublet.model import FORMAT_VERSION, Note, Outcome


@functools.lru_cache(maxsize=4096)
def iso(seconds: int) -> str:
    """UTC, as 2026-01-31T12:00:00Z."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class LibraryInfo:
    """A library in a list (L6). *outcomes* counts how all records ended that were ever handed in."""

    number: int
    name: str
    address: str
    note: str
    documents: int
    words: int
    size_bytes: int  #: of the texts as UTF-8
    created: str
    changed: str
    changes: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "address": self.address,
            "note": self.note,
            "documents": self.documents,
            "words": self.words,
            "size_bytes": self.size_bytes,
            "created": self.created,
            "changed": self.changed,
            "outcomes": dict(self.outcomes),
        }


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """Where documents of a library come from (L7). *status* is new, running, done, failed or cancelled; *outcomes*
    counts how the documents of the last walk ended; *documents* are those that are in the library now."""

    number: int
    library: str
    kind: str
    address: str
    options: Mapping[str, Any]
    state: Mapping[str, Any]  #: of the last checkpoint
    run: int
    status: str
    message: Note | None  #: why the last walk ended early
    outcomes: Mapping[str, int]
    documents: int
    created: str
    began: str = ""
    ended: str = ""
    owner: str = ""  #: of the walk that goes on

    def to_dict(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "kind": self.kind,
            "address": self.address,
            "options": dict(self.options),
            "status": self.status,
            "message": self.message.to_dict() if self.message else None,
            "documents": self.documents,
            "outcomes": dict(self.outcomes),
            "created": self.created,
            "began": self.began,
            "ended": self.ended,
        }


@dataclass(frozen=True, slots=True)
class JobInfo:
    """Work of the queue. *state* is new, running, done, failed or cancelled; a job that waits to be tried again is new
    and has had *attempts*. *message* is a code (of an error, or of what is going on) and *facts* are its values."""

    number: int
    kind: str
    parameters: Mapping[str, Any]
    library: str  #: the one that it works on; empty when it is none or several
    asked_by: str  #: whoever asked for it, as the asking program calls them
    priority: int
    state: str
    run_after: str
    lease_until: str  #: when the job goes to somebody else unless the worker says that it lives
    worker: str  #: who works on it, for people
    owner: str  #: the same for programs
    attempts: int
    max_attempts: int
    cancel: bool  #: somebody asked for it to stop
    stage: str
    done: int
    total: int | None
    unit: str
    message: str
    facts: Mapping[str, Any]
    checkpoint: Mapping[str, Any]  #: where the work can be taken up
    result: Any
    key: str | None
    created: str
    changed: str
    began: str = ""
    ended: str = ""

    @property
    def paused(self) -> bool:
        """Somebody paused it: it waits, or is about to."""
        return self.state in ("new", "running") and self.run_after.startswith("9999")

    @property
    def over(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    def to_dict(self) -> dict[str, Any]:
        """Without *result*, which may be long, and without what is for workers only."""
        names = "number kind parameters library asked_by priority state paused run_after worker attempts"
        names += " max_attempts cancel stage done total unit message facts key created changed began ended"
        return {name: getattr(self, name) for name in names.split()}


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of a library in a list, without its text. *id* is the user's."""

    number: int
    library: str
    id: str
    title: str
    address: str
    time: str
    source: str
    words: int
    characters: int
    added: str
    changed: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "library": self.library,
            "id": self.id,
            "title": self.title,
            "address": self.address,
            "time": self.time,
            "source": self.source,
            "words": self.words,
            "characters": self.characters,
            "added": self.added,
            "changed": self.changed,
        }


@dataclass(frozen=True, slots=True)
class ReportInfo:
    """A report in a list. *share* is None for answers that have none."""

    number: int
    kind: str
    state: str
    title: str
    share: float | None
    created: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "kind": self.kind,
            "state": self.state,
            "title": self.title,
            "share": self.share,
            "created": self.created,
        }


@dataclass(slots=True)
class Added:
    """How the records of a batch, or of all batches, ended. Grows while documents are added."""

    stored: int = 0
    changed: int = 0
    unchanged: int = 0
    outcomes: list[Outcome] = field(default_factory=list)  #: of those that could not be used
    states: dict[str, str] = field(default_factory=dict)  #: of one batch: id → stored, changed, unchanged

    def __iadd__(self, other: Added) -> Added:
        self.stored += other.stored
        self.changed += other.changed
        self.unchanged += other.unchanged
        self.outcomes += other.outcomes
        return self

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT_VERSION,
            "stored": self.stored,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "outcomes": [outcome.to_dict() for outcome in self.outcomes],
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that `verify` found wrong. *repaired* tells whether it was mended."""

    library: str
    kind: str
    count: int
    message: Note
    repaired: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {
            "library": self.library,
            "kind": self.kind,
            "count": self.count,
            "message": self.message.to_dict(),
            "repaired": self.repaired,
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Finding:
        """What `to_dict` gave, as the result of a job has it."""
        facts = {**value, "message": Note.from_dict(value["message"])}
        return cls(**facts)
