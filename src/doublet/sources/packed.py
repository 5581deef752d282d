"""Archives and WARC files as parts of a source: their members are the documents.

The id of a document is its name inside the archive after the name of the archive, or the address that a WARC
record holds. Members are read in the order of the archive, a batch at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from doublet.errors import DoubletError
from doublet.model import Note, Outcome
from doublet.reports.json_report import json_line
from doublet.sources import archive, warc
from doublet.sources.archive import Member
from doublet.sources.records import ParsedBatch, RawBatch
from doublet.sources.texts import failure
from doublet.sources.workers import shared
from doublet.text.read import ReadDocument

_WEB = ("http://", "https://")


@dataclass(slots=True)
class PackedBatch:
    """Some members of an archive, unpacked but not yet read."""

    members: list[Member]
    ids: list[str]
    first: int
    label: str
    size_bytes: int
    consumed_bytes: int

    @property
    def count(self) -> int:
        return len(self.members)

    def parse(self) -> ParsedBatch:
        return self._parse(pages=False)

    def parse_pages(self) -> ParsedBatch:
        return self._parse(pages=True)

    def _parse(self, *, pages: bool) -> ParsedBatch:
        out = ParsedBatch()
        positions = []
        read = partial(self._read, left_out=pages)
        found = shared().each(zip(self.ids, self.members, strict=True), read)
        for index, document in enumerate(found):
            if isinstance(document, Outcome):
                out.outcomes.append(document)
                continue
            out.ids.append(self.ids[index])
            out.texts.append(document.text)
            out.times.append("")
            out.sources.append(self.label)
            out.titles.append(document.title)
            # The records of a WARC file are called by their addresses.
            out.addresses.append(self.ids[index] if self.ids[index].startswith(_WEB) else "")
            out.sizes.append(len(self.members[index].data))
            if pages:
                out.left_out.append(document.left_out if document.kind == "html" else None)
            positions.append(self.first + index)
        out.positions = positions
        return out

    def json_lines(self, indexes: Sequence[int]) -> Iterator[bytes]:
        for index in indexes:
            document = self._read((self.ids[index], self.members[index]))
            if not isinstance(document, Outcome):
                yield json_line({"id": self.ids[index], "text": document.text})

    def _read(self, pair: tuple[str, Member], *, left_out: bool = False) -> ReadDocument | Outcome:
        identifier, member = pair
        place = f"{self.label}: {member.name}"
        if member.state:
            return Outcome(member.state, identifier, place, member.reason or Note("no_message"))
        try:
            return shared().read(
                member.data, name=member.name, declared_type=member.declared_type, left_out=left_out
            )
        except DoubletError as error:
            state, reason = failure(error)
            return Outcome(state, identifier, place, reason)


@dataclass(slots=True)
class PackedFiles:
    """One archive or WARC file."""

    label: str
    path: Path
    kind: str  #: zip, tar, warc
    limit_bytes: int
    size_bytes: int
    skip: frozenset[str] = frozenset()  #: names of members that are read as tables
    pages: int = 0  #: members that are web pages, as far as is known; those of a WARC file are not counted

    def batches(self, first: int, done: int, max_records: int, max_bytes: int) -> Iterator[RawBatch]:
        some: list[Member] = []
        size = consumed = 0
        for member in self._members():
            if member.name in self.skip:
                continue
            if some and (len(some) >= max_records or size + len(member.data) > max_bytes):
                yield self._batch(some, first, size, done + min(consumed, self.size_bytes))
                first += len(some)
                some, size = [], 0
            some.append(member)
            size += len(member.data)
            consumed += member.packed_bytes
        if some:
            yield self._batch(some, first, size, done + self.size_bytes)

    def _batch(self, some: list[Member], first: int, size: int, consumed: int) -> PackedBatch:
        ids = [member.name if self.kind == "warc" else f"{self.label}/{member.name}" for member in some]
        return PackedBatch(some, ids, first, self.label, size, consumed)

    def _members(self) -> Iterator[Member]:
        if self.kind == "warc":
            return warc.members(self.path, label=self.label, limit_bytes=self.limit_bytes)
        return archive.members(self.path, self.kind, label=self.label, limit_bytes=self.limit_bytes)
