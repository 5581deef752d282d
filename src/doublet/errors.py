"""Every error Doublet raises, as one tree.

    DoubletError
    ├── UsageError       UnknownMethod, InvalidParameter,
    │                    UnknownLibrary, LibraryExists,
    │                    UnknownJob, UnknownKindOfJob,
    │                    UnknownReport, SignaturesNotReady   ask differently
    ├── ConfigError      unknown key, missing file           fix the settings
    ├── SourceError      InputNotFound, InputUnreadable,
    │                    RecordInvalid, TooLarge, TooSlow,
    │                    FetchFailed, NotAllowed,
    │                    SiteIsMirror                        could not get the document
    ├── TextError        NothingToSign                       too little text for a method
    │   └── Unreadable   UnknownKind, Encrypted, Scanned,
    │                    Broken, NothingRead, Oversized,
    │                    ReadFailed                          could not read it
    ├── SignatureError   IncompatibleSignatures              made with different settings
    │                    SignatureDamaged, SignatureTooNew   stored bytes cannot be read
    ├── StoreError       SpillFailed, MemoryTooSmall,
    │   │                OutputFailed                        disk or memory gave out
    │   └──              StoreBusy, StoreTooNew, StoreFull,
    │                    StoreDamaged, StoreUnreachable      the database of libraries
    ├── WorkError        SourceBusy, LeaseLost, PoolBusy,
    │                    WorkerLost, TimedOut                somebody else, or nobody, does the work
    └── Cancelled                                            stopped by the user

A message says what happened, to which document, and what to do. The facts are attributes; `code` is stable and is
what programs should look at. `exit_code` is what the command line answers with.
"""

from __future__ import annotations

import difflib
import numbers
import os
from collections.abc import Iterable, Sequence
from typing import Any

from doublet.model import Note


def nearest(word: str, known: Iterable[str]) -> str:
    """The closest of *known*, or an empty string."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5) if isinstance(word, str) else ()
    return close[0] if close else ""


class DoubletError(Exception):
    """Root of the tree. `code` is for programs, `details` holds the facts, `message` is the English sentence.

    An error is made with the code of its message and the values that belong to it:
    ``Broken("rtf_too_deep", depth=9)``. `note` has both, and every language makes its sentence of it
    (doublet.reports.wording). A note that is there already can be given in their place.
    """

    code = "error"
    exit_code = 4
    note: Note

    def __init__(self, reason: str | Note, /, **details: Any) -> None:
        if isinstance(reason, str):
            reason = Note(reason, **details) if _is_code(reason) else Note("said", text=reason)
        super().__init__(reason)
        self.note = reason
        self.details: dict[str, Any] = {**reason.values, **Note("", **details).values}

    @property
    def message(self) -> str:
        """What happened, to which document, what to do: in English."""
        return str(self.note)

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        """An error goes from one process to another as it is, whatever its class is made with."""
        return _again, (type(self), self.note, self.details, tuple(self.__dict__.get("__notes__", ())))

    def __getattr__(self, name: str) -> Any:
        details = self.__dict__.get("details", {})
        if name in details:
            return details[name]
        raise AttributeError(name)

    def to_dict(self) -> dict[str, Any]:
        """`code`, `message` and `details`, as every face of Doublet tells an error; *reason* is the code of the
        message, more particular than that of the error."""
        details = Note("", **self.details).to_dict()["values"]
        return {"code": self.code, "reason": self.note.code, "message": self.message, "details": details}


def _again(
    kind: type[DoubletError], note: Note, details: dict[str, Any], notes: Sequence[str]
) -> DoubletError:
    made = kind.__new__(kind)  # those of subclasses take other arguments
    DoubletError.__init__(made, note, **details)
    for one in notes:
        made.add_note(one)
    return made


def note_of(error: BaseException) -> Note:
    """What an error says, as a note; that of an error that is not ours is its text."""
    if isinstance(error, DoubletError):
        return error.note
    return Note("said", text=str(error) or type(error).__name__)


def _is_code(reason: str) -> bool:
    """Whether this is the code of a message, and not the message itself."""
    return reason.isidentifier() and reason.islower()


class UsageError(DoubletError):
    """Something was asked for that cannot be done so: ask differently. Nothing was begun."""

    code = "usage"
    exit_code = 2


class UnknownMethod(UsageError):
    """There is no method of this name; the message has the nearest one."""

    code = "unknown_method"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        known = list(known)
        super().__init__("unknown_method", name=name, nearest=nearest(name, known), known=known)


class InvalidParameter(UsageError):
    """A parameter that the method or the function does not have, or a value that it cannot take."""

    code = "invalid_parameter"


def wrong_type(name: str, value: object, wanted: str) -> InvalidParameter:
    """The error for a value of a kind that cannot be used: "text_b is 5: it must be a text". Shows no document.
    *wanted* is the code of the note that says what it must be."""
    kind = type(value).__name__
    plain = value is None or isinstance(value, int | float)
    shown = repr(value) if plain else Note("of_type", type=kind)
    return InvalidParameter("wrong_type", name=name, type=kind, shown=shown, wanted=Note(wanted))


def require_text(name: str, value: object) -> None:
    """Raise `InvalidParameter` for what is no text."""
    if not isinstance(value, str):
        read = isinstance(value, bytes | bytearray | os.PathLike)
        raise wrong_type(name, value, "wanted_text_read" if read else "wanted_text")


def require_texts(values: Iterable[str]) -> list[str]:
    """*values* as a list. Raises `InvalidParameter` for one text alone and for what are no texts."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise wrong_type("texts", values, "wanted_texts")
    texts = list(values)
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            require_text(f"text {number}", text)
    return texts


def one_or_more(name: str, values: str | Iterable[str]) -> list[str]:
    """*values* as a list; one text alone is a list of one. Raises `InvalidParameter` for what are no texts."""
    if isinstance(values, str):
        return [values]
    given = list(values) if isinstance(values, Iterable) and not isinstance(values, bytes) else None
    if given is None or not all(isinstance(one, str) for one in given):
        raise wrong_type(name, values, "wanted_texts")
    return given


def require_number(name: str, value: object, low: float, high: float) -> None:
    """Raise `InvalidParameter` for what is no number from *low* to *high*."""
    good = isinstance(value, numbers.Real) and not isinstance(value, bool) and low <= float(value) <= high
    if not good:
        raise InvalidParameter("wanted_number", name=name, value=value, low=low, high=high)


class UnknownLibrary(UsageError):
    """There is no library of this name; the message has the nearest one."""

    code = "unknown_library"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        known = list(known)
        if known:
            super().__init__("unknown_library", name=name, nearest=nearest(name, known), known=known)
        else:
            super().__init__("no_library_yet", name=name, known=known)


class UnknownReport(UsageError):
    """There is no report of this number, or no longer."""

    code = "unknown_report"


class SignaturesNotReady(UsageError):
    """A library has no signatures of the method yet, or not of all its documents; the message says what makes them."""

    code = "signatures_not_ready"


class LibraryExists(UsageError):
    """A library of this name is there already."""

    code = "library_exists"


class UnknownJob(UsageError):
    """There is no job of this number in the queue: it never was, or it ended long ago and was forgotten."""

    code = "unknown_job"


class UnknownKindOfJob(UsageError):
    """No worker here can do work of this kind; the message has the nearest one."""

    code = "unknown_kind_of_job"


class ConfigError(DoubletError):
    """A setting that is unknown or cannot have its value; a settings file or a library of Python that is missing."""

    code = "config"
    exit_code = 2


class SourceError(DoubletError):
    """A document, or a collection of them, could not be fetched."""

    code = "source"


class InputNotFound(SourceError):
    """There is no file or folder of this name; the message has the nearest one."""

    code = "input_not_found"


class InputUnreadable(SourceError):
    """A file that may not be read, is damaged, changes meanwhile, or is of a kind that holds no documents."""

    code = "input_unreadable"


class RecordInvalid(SourceError):
    """One record of a table cannot be used; in a batch it becomes a row, never a stop."""

    code = "record_invalid"


class TooLarge(SourceError):
    """More bytes than the limit, counted after decompression."""

    code = "too_large"


class TooSlow(SourceError):
    """A server that sends, but so slowly that the time for one document ran out."""

    code = "too_slow"


class FetchFailed(SourceError):
    """A server did not answer, answered with an error of its own, or broke off in the middle; *status* is 0 when there
    was no answer."""

    code = "fetch_failed"


class SiteIsMirror(SourceError):
    """A site with the pages of another one that is in the library already: *other* is its address."""

    code = "site_is_mirror"


class NotAllowed(SourceError):
    """Something that may not be fetched: the site's robots.txt forbids it, it is no address of http or https, or it
    leads to a private address."""

    code = "not_allowed"


class TextError(DoubletError):
    """A document was had, but not the text that is needed of it."""

    code = "text"


class NothingToSign(TextError):
    """A text has too little in it for the method that was asked for."""

    code = "nothing_to_sign"


class Unreadable(TextError):
    """No text could be had from a document. *state* is what a batch says of it."""

    code = "unreadable"
    state = "unreadable"


class UnknownKind(Unreadable):
    """Not one of the kinds of documents that Doublet reads (an image, a program, an old office format)."""

    code = "unknown_kind"
    state = "unknown_kind"


class Encrypted(Unreadable):
    """Protected by a password or by rights management."""

    code = "encrypted"
    state = "encrypted"


class Scanned(Unreadable):
    """Pages that are pictures, without a text layer."""

    code = "scanned"
    state = "scanned"


class Broken(Unreadable):
    """Damaged, cut short, or not what it says it is."""

    code = "broken"
    state = "broken"


class NothingRead(Unreadable):
    """A document that has content, but no text could be read from it."""

    code = "nothing_read"
    state = "nothing_read"


class Oversized(Unreadable):
    """More than the limits allow, before or after unpacking."""

    code = "oversized"
    state = "too_large"


class ReadFailed(Unreadable):
    """The parser took too long, took too much memory, or crashed; that costs this document only."""

    code = "read_failed"
    state = "failed"


class SignatureError(DoubletError):
    """A signature cannot be used."""

    code = "signature"


class IncompatibleSignatures(SignatureError):
    """Signatures that were made with different settings, or by different versions, say nothing about each other."""

    code = "incompatible_signatures"


class SignatureDamaged(SignatureError):
    """Stored bytes of a signature, of collection statistics or of pivot words are cut short or changed."""

    code = "signature_damaged"


class SignatureTooNew(SignatureError):
    """Stored by a newer Doublet. Not damaged: a newer program reads it."""

    code = "signature_too_new"


class StoreError(DoubletError):
    """Memory, disk or database gave out."""

    code = "store"


class SpillFailed(StoreError):
    """The disk that takes what does not fit into memory is full or cannot be written: make room, or set TMPDIR."""

    code = "spill_failed"


class MemoryTooSmall(StoreError):
    """The memory that was allowed (``--memory``) is too little for the work: allow more, or ask for less."""

    code = "memory_too_small"
    exit_code = 2  # a setting, and the message says which value would do


class OutputFailed(StoreError):
    """A result could not be written. Nothing half-written is left behind."""

    code = "output_failed"


class StoreBusy(StoreError):
    """Another process writes to the database and does not finish. Nothing of the step was stored."""

    code = "store_busy"


class StoreTooNew(StoreError):
    """Made by a newer Doublet. Not damaged: a newer program opens it."""

    code = "store_too_new"


class StoreFull(StoreError):
    """No space left where the database is. What was stored before stays."""

    code = "store_full"


class StoreDamaged(StoreError):
    """Not a database of ours, or one with broken pages."""

    code = "store_damaged"


class StoreUnreachable(StoreError):
    """The database server does not answer, or the connection was lost."""

    code = "store_unreachable"


class WorkError(DoubletError):
    """Work that is shared out between processes could not be done now."""

    code = "work"


class SourceBusy(WorkError):
    """Another process walks the same source at this moment. Nothing was begun."""

    code = "source_busy"


class LeaseLost(WorkError):
    """This process was not heard of for so long that another one took over. Nothing of this step was stored."""

    code = "lease_lost"


class PoolBusy(WorkError):
    """More checks wait than the pool of processes takes: ask again in a moment. Nothing was begun."""

    code = "pool_busy"


class WorkerLost(WorkError):
    """The process that did the work died, and so did the one that tried it again."""

    code = "worker_lost"


class TimedOut(WorkError):
    """The work took longer than it may; its process was stopped."""

    code = "timed_out"


class Cancelled(DoubletError):
    """Stopped by the user, or by the program that called (`Progress.cancel`). Nothing half-written is left behind."""

    code = "cancelled"
    exit_code = 130
