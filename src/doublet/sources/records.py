"""What a source of documents gives: batches of unparsed records that any thread can parse.

A source can be walked more than once and walks in the same order every time. Every record, good or bad, has
a *position*: its number in that walk, from 0. Ids may repeat and records may be broken, positions are always
sound, so the cleaned collection is written by position (`RecordSource.write_kept`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from doublet.errors import InputUnreadable, nearest
from doublet.model import Note, Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from doublet.reports.output import Together

MAX_BATCH_RECORDS = 1_000
MAX_BATCH_BYTES = 4_000_000  # batches of 2 to 4 MB are the quickest to tokenise (findings on the native core)
MAX_RECORD_BYTES = 1 << 30

PLACE_AS_ID = "@place"  #: as the id field: the place of the record ("corpus.jsonl:7") is its id


@dataclass(frozen=True, slots=True)
class Fields:
    """Which field of a record is what. A dotted name also reaches into nested objects ("meta.id")."""

    id: str = "id"
    text: str = "text"
    time: str | None = None
    source: str | None = None
    title: str | None = None  #: may be missing from records and tables, and so may the address
    address: str | None = None

    def named(self, usual: Fields) -> dict[str, str]:
        """Those that are not called as in *usual*, by the names of the options: results depend on them."""
        own = {name: getattr(self, name) for name in ("id", "text", "time", "source")}
        return {f"{name}_field": of for name, of in own.items() if of and of != getattr(usual, name)}


#: blocks of a page that were left out as its frame, and where in its text they would stand
LeftOut = tuple[tuple[int, str], ...]


@dataclass(slots=True)
class ParsedBatch:
    """The good records of a batch as parallel lists, and an `Outcome` for each record that cannot be used.

    A record with an empty text is a good record here: what to do with it is not for a source to decide.
    *sizes* are bytes of the record as it lay in the input.
    """

    ids: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    positions: Sequence[int] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)  #: as many as ids, or none when they were not asked for
    addresses: list[str] = field(default_factory=list)
    #: as many as ids, or none when they were not asked for (`PageBatch`)
    left_out: list[LeftOut | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)


class Batch(Protocol):
    """Some records, wherever they come from."""

    @property
    def first(self) -> int:
        """Position of the first record."""
        ...

    @property
    def count(self) -> int:
        """How many positions the batch takes."""
        ...

    @property
    def size_bytes(self) -> int:
        """Of the records, after decompression; 0 where they are in memory anyway."""
        ...

    @property
    def consumed_bytes(self) -> int:
        """How much of `Batched.total_bytes` has been read when this batch has."""
        ...

    def parse(self) -> ParsedBatch: ...


@runtime_checkable
class Batched(Protocol):
    """Documents in batches, as all jobs read them: of files, of a library, or of memory. Can be walked again."""

    @property
    def total_bytes(self) -> int | None: ...

    @property
    def notes(self) -> Sequence[Note]:
        """What the user should know about the input."""
        ...

    def batches(self) -> Iterator[Batch]: ...


@runtime_checkable
class WithFields(Protocol):
    """A source of records in which the user may have named the fields."""

    @property
    def named_fields(self) -> dict[str, str]: ...


def named_fields(source: Batched) -> dict[str, str]:
    """The options that named the fields of *source*, for the parameters of a result; those left alone are not told."""
    return source.named_fields if isinstance(source, WithFields) else {}


class RawBatch(Protocol):
    """Some consecutive records as they lie in the input."""

    first: int  #: position of the first record
    size_bytes: int  #: of the records, after decompression
    consumed_bytes: int  #: how much of `RecordSource.total_bytes` has been read when this batch has

    @property
    def count(self) -> int:
        """How many positions the batch takes."""
        ...

    def parse(self) -> ParsedBatch:
        """Read the records. May be called from any thread; never raises for a bad record."""
        ...

    def json_lines(self, indexes: Sequence[int]) -> Iterator[bytes]:
        """The records with these numbers in the batch (0 is `first`) as JSON objects, a line each."""
        ...


@runtime_checkable
class PageBatch(Protocol):
    """Some files, among which there may be web pages."""

    def parse_pages(self) -> ParsedBatch:
        """As `RawBatch.parse`; `ParsedBatch.left_out` says of each page what was left out, None of what is no page."""
        ...


@dataclass(slots=True)
class BrokenBatch:
    """Stands for an input, or the rest of one, that could not be read."""

    outcome: Outcome
    first: int
    consumed_bytes: int
    size_bytes: int = 0

    @property
    def count(self) -> int:
        return 1

    def parse(self) -> ParsedBatch:
        return ParsedBatch(outcomes=[self.outcome])

    def json_lines(self, indexes: Sequence[int]) -> Iterator[bytes]:  # noqa: ARG002 - there is nothing to give
        return iter(())


def check_columns(columns: Sequence[str], fields: Fields, label: str) -> None:
    """Raise `InputUnreadable` when a wanted column of a table is not there, or a name stands there twice."""
    wanted = {"--id-field": fields.id, "--text-field": fields.text}
    wanted |= {"--time-field": fields.time or "", "--source-field": fields.source or ""}
    for option, name in wanted.items():
        if name and name not in columns and name != PLACE_AS_ID:
            raise InputUnreadable(
                "no_column",
                name=name,
                nearest=nearest(name, columns),
                option=option,
                path=label,
                columns=list(columns),
            )
    twice = next((name for number, name in enumerate(columns) if name in columns[:number]), None)
    if twice is not None:
        raise InputUnreadable("columns_twice", twice=twice, path=label, columns=list(columns))


class InputPart(Protocol):
    """One file, or one folder of texts, of a source."""

    label: str  #: as the user named it
    kind: str  #: jsonl, json, csv, parquet, texts
    size_bytes: int

    @property
    def path(self) -> Path | None:
        """The file; None when the part is not one file."""
        ...

    def batches(self, first: int, done: int, max_records: int, max_bytes: int) -> Iterator[RawBatch]:
        """Walk the part; *first* is the position of its first record, *done* what was consumed before it."""
        ...


@runtime_checkable
class RecordSource(Protocol):
    """Documents that can be walked more than once. Close it (or use ``with``) to remove what was spooled."""

    total_bytes: int  #: of the input as it lies on disk, compressed where it is compressed
    notes: list[Note]  #: what the user should know about the input

    def batches(
        self, max_records: int = MAX_BATCH_RECORDS, max_bytes: int = MAX_BATCH_BYTES
    ) -> Iterator[RawBatch]:
        """Walk all records. The limits are aims: a single record may be larger than *max_bytes*, and blocks of
        JSON lines are cut by bytes alone."""
        ...

    def check_kept(self, out: Path) -> None:
        """Raise `UsageError` or `OutputFailed` where `write_kept` would: ask before the work."""
        ...

    def reads(self, path: Path) -> bool:
        """Whether *path* is one of the inputs."""
        ...

    def digests(self, positions: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Two numbers for each of the records at these ascending positions, made of all that they hold."""
        ...

    def write_kept(self, out: Path, keep: Callable[[int], bool], together: Together | None = None) -> int:
        """Write the records whose position *keep* accepts to *out*; gives their number (`sources.kept`)."""
        ...

    def close(self) -> None: ...
