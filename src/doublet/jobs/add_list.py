"""Many libraries at once (L9): a list of addresses, each of which becomes a library with its kind worked out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from doublet.errors import LibraryExists, SourceError
from doublet.jobs.add_source import Filled, Filling, fill_source, register_source
from doublet.model import FORMAT_VERSION, Note
from doublet.progress import Progress
from doublet.sources.lists import read_list
from doublet.sources.protocol import Fetcher
from doublet.store.database import Store


@dataclass(slots=True)
class Listed:
    """One entry of a list. *error* says why there is no library of it."""

    name: str
    address: str
    kind: str = ""
    made: bool = False
    error: str = ""
    filled: Filled | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "address": self.address,
            "kind": self.kind,
            "made": self.made,
            "error": self.error,
            "filled": self.filled.to_dict() if self.filled else None,
        }


@dataclass(slots=True)
class ListResult:
    rows: list[Listed] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @property
    def made(self) -> int:
        return sum(row.made for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        rows = [row.to_dict() for row in self.rows]
        return {"format": FORMAT_VERSION, "libraries": rows, "notes": [note.to_dict() for note in self.notes]}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> ListResult:
        """What `to_dict` gave, as the result of a job has it."""
        rows = [
            Listed(**{**row, "filled": Filled.from_dict(row["filled"]) if row["filled"] else None})
            for row in value["libraries"]
        ]
        return cls(rows, [Note.from_dict(note) for note in value["notes"]])


def add_list(
    store: Store,
    path: str,
    *,
    fetcher: Fetcher,
    prefix: str = "",
    filling: Filling | None = None,
    progress: Progress | None = None,
) -> ListResult:
    """Make a library of each entry of the list at *path*; with *filling*, fill them too.

    An address that gives nothing becomes a row with its error, and the rest goes on. Running the same list again makes
    what is missing. Raises `InputNotFound`, `InputUnreadable`.
    """
    progress = progress or Progress()
    found = read_list(path)
    result = ListResult(notes=found.notes)
    for number, entry in enumerate(found.entries):
        progress.step("fetching", number, len(found.entries), "libraries", Note("said", text=entry.address))
        row = Listed(prefix + entry.name, entry.address)
        result.rows.append(row)
        try:
            _add(store, row, entry.kind, fetcher)
            if filling is not None:
                (info,) = [
                    one
                    for one in store.sources.all(store.libraries.get(row.name).number)
                    if one.kind == row.kind and one.address == row.address
                ][:1]
                row.filled = fill_source(store, info, fetcher=fetcher, filling=filling, progress=progress)
        except SourceError as error:
            row.error = error.message
    return result


def _add(store: Store, row: Listed, kind: str, fetcher: Fetcher) -> None:
    """The library and its source, when they are not there. Nothing is made for an address that gives nothing."""
    from doublet.jobs.add_source import make, work_out

    kind, address, options = work_out(row.address, kind, fetcher, {})
    make(kind, address, options)
    row.kind, given = kind, row.address
    row.address = address
    try:
        store.libraries.create(row.name, address=given)
        row.made = True
    except LibraryExists:
        pass
    register_source(store, row.name, address, kind=kind, fetcher=fetcher, options=options)
