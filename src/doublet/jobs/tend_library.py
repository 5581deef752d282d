"""Look after a library: take out the duplicates of a list that somebody has reviewed.

The list is what ``doublet library duplicates`` wrote (CSV, JSON lines, JSON, or the list that its page saves), with the
rows taken away that are to stay. A document is taken out only while the one that is kept for it is still there.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doublet.errors import InputNotFound, InputUnreadable
from doublet.model import Note, Outcome
from doublet.progress import Progress
from doublet.store.database import Store
from doublet.store.values import LibraryInfo

AT_ONCE = 500  #: documents taken out before the progress is told


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A row of a reviewed list: *id* goes, because *keep* stays."""

    keep: str
    id: str


@dataclass(frozen=True, slots=True)
class TakenOut:
    """What became of a list. *outcomes* are the rows that were left alone, and why."""

    removed: tuple[tuple[str, str], ...]  #: library and id
    outcomes: tuple[Outcome, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": 1,
            "removed": [{"library": library, "id": id} for library, id in self.removed],
            "outcomes": [one.to_dict() for one in self.outcomes],
        }


def prefix_of(library: str) -> str:
    """What stands before the ids of a library where the ids of several libraries are listed."""
    return f"{library.replace('/', '∕')}/"


def read_duplicates(path: Path) -> list[Duplicate]:
    """The rows of a reviewed list. Raises `InputNotFound`, `InputUnreadable`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise InputNotFound("list_not_found", path=str(path)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputUnreadable("list_not_read", path=str(path), why=str(error)) from error
    try:
        rows = list(_rows(text))
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise InputUnreadable("list_not_of_duplicates", path=str(path)) from error
    return list(dict.fromkeys(rows))


def _rows(text: str) -> Iterator[Duplicate]:
    start = text.lstrip()
    if start.startswith("{"):
        try:  # the whole result, or one group
            groups = [json.loads(text)]
        except ValueError:
            groups = [json.loads(line) for line in text.splitlines() if line.strip()]
        if len(groups) == 1 and "groups" in groups[0]:
            groups = groups[0]["groups"]
        for group in groups:
            for member in group["members"]:
                yield Duplicate(str(group["keep"]), str(member["id"]))
        return
    table = csv.DictReader(io.StringIO(text, newline=""))
    if not text.strip() or not {"keep", "id"} <= set(table.fieldnames or ()):
        raise ValueError("no columns keep and id")
    for row in table:
        if row["id"]:
            yield Duplicate(row["keep"], row["id"])


def remove_duplicates(
    store: Store,
    rows: Iterable[Duplicate],
    *,
    library: str | None = None,
    progress: Progress | None = None,
) -> TakenOut:
    """Take the documents of a reviewed list out. *library* is the one that the list was made of; without it ids are
    written as library/id, unless the database has one library only. Raises `UnknownLibrary`."""
    progress = Progress.of(progress)
    infos = store.libraries.all() if library is None else [store.libraries.get(library)]
    wanted = list(rows)
    going = {row.id for row in wanted}
    outcomes: list[Outcome] = []
    leaving: dict[str, list[str]] = {}
    for row in wanted:
        home = _home(store, infos, row.id)
        if home is None:
            outcomes.append(Outcome("missing", row.id, "", Note("not_in_library")))
        elif row.keep in going or _home(store, infos, row.keep) is None:
            outcomes.append(Outcome("kept", row.id, "", Note("keeper_missing", keep=row.keep)))
        else:
            leaving.setdefault(home[0], []).append(home[1])
    removed: list[tuple[str, str]] = []
    total = sum(map(len, leaving.values()))
    for name, ids in leaving.items():
        for start in range(0, len(ids), AT_ONCE):
            progress.step("removing", len(removed), total, "documents")
            removed += [(name, id) for id in store.documents.remove(name, ids[start : start + AT_ONCE])]
    return TakenOut(tuple(sorted(removed)), tuple(outcomes))


def _home(store: Store, infos: Sequence[LibraryInfo], name: str) -> tuple[str, str] | None:
    """The library of an id in a list, and the id in that library; None when there is no such document."""
    for info in infos:
        prefix = prefix_of(info.name)
        for id in (
            name[len(prefix) :] if name.startswith(prefix) else None,
            name if len(infos) == 1 else None,
        ):
            if id is not None and store.documents.get(info.name, id) is not None:
                return info.name, id
    return None
