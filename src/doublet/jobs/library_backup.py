"""Libraries in one file, and back (`doublet library backup`, `doublet library restore`).

The file is a zip archive that any database can take: ``libraries.json`` says what it holds, and each library has its
facts, its documents with their texts, and its sources with what they know, as JSON and JSON lines. Statistics and index
are made again from the documents, signatures when they are asked for. A backup of everything, the service included, is
`doublet.jobs.backup`.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import doublet
from doublet.errors import InputNotFound, InputUnreadable, InvalidParameter, LibraryExists, OutputFailed
from doublet.model import Document
from doublet.progress import Progress
from doublet.reports.json_report import json_document, json_line
from doublet.reports.output import PART
from doublet.store.copies import seconds
from doublet.store.database import Store
from doublet.text.damaged import DAMAGED

FORMAT = 1
ABOUT = "libraries.json"
AT_ONCE = 500  #: documents stored in one go, or rows of sources
_NO_BACKUP: tuple[type[Exception], ...] = (*DAMAGED, KeyError, TypeError)
_FACTS = ("title", "time", "source", "address", "added", "changed")


@dataclass(frozen=True, slots=True)
class Copied:
    """A library that was written or brought back."""

    name: str
    documents: int
    sources: int

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "documents": self.documents, "sources": self.sources}


def back_up_libraries(
    store: Store, out: Path, libraries: Sequence[str] | None = None, *, progress: Progress | None = None
) -> list[Copied]:
    """Write these libraries (None: all) to *out*, each as it is at one moment, while others may write. The file appears
    whole or not at all. Raises `UnknownLibrary`, `OutputFailed`."""
    progress = Progress.of(progress)
    infos = store.libraries.select(libraries)
    total, done = sum(info.documents for info in infos), 0
    unfinished = out.with_name(f".{out.name}{PART}")
    copied: list[Copied] = []
    try:
        handle = os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        with (
            os.fdopen(handle, "wb") as stream,
            zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        ):
            for place, info in enumerate(infos):
                with store.database.reading():
                    archive.writestr(f"{place}/library.json", json_document(store.copies.facts(info.number)))
                    documents = sources = 0
                    with archive.open(f"{place}/documents.jsonl", "w", force_zip64=True) as lines:
                        for batch in store.documents.batches(info.name, AT_ONCE):
                            progress.step("writing", done, max(total, done), "documents")
                            for one, text in batch:
                                facts = {name: value for name in _FACTS if (value := getattr(one, name))}
                                lines.write(json_line({"id": one.id, "text": text, **facts}) + b"\n")
                            documents += len(batch)
                            done += len(batch)
                    with archive.open(f"{place}/sources.jsonl", "w", force_zip64=True) as lines:
                        for kind, row in store.copies.sources(info.number):
                            sources += kind == "source"
                            lines.write(json_line([kind, row]) + b"\n")
                copied.append(Copied(info.name, documents, sources))
            about = {
                "format": FORMAT,
                "version": doublet.__version__,
                "libraries": [
                    {**one.to_dict(), "address": info.address, "note": info.note}
                    for one, info in zip(copied, infos, strict=True)
                ],
            }
            archive.writestr(ABOUT, json_document(about))
        unfinished.replace(out)
    except OSError as error:
        raise OutputFailed("backup_not_written", path=str(out), why=error.strerror or str(error)) from error
    finally:
        unfinished.unlink(missing_ok=True)
    return copied


def restore_libraries(
    store: Store,
    source: Path,
    libraries: Sequence[str] | None = None,
    *,
    new_name: str | None = None,
    progress: Progress | None = None,
) -> list[Copied]:
    """Bring libraries of a backup (None: all of them) into *store*. A library that is there already is not touched:
    `LibraryExists`. *new_name* is for one library. A stop half-way leaves no half library under its name.

    Raises `InputNotFound`, `InputUnreadable`, `InvalidParameter`, `LibraryExists`.
    """
    progress = Progress.of(progress)
    try:
        with zipfile.ZipFile(source) as archive:
            about = json.loads(archive.read(ABOUT))
            if about["format"] > FORMAT:
                raise InputUnreadable("library_backup_too_new", path=str(source), version=about["version"])
            chosen = _choose(about["libraries"], libraries, new_name, source)
            there = {info.name for info in store.libraries.all()}
            for _, name, _ in chosen:
                if name in there:
                    raise LibraryExists("library_exists", name=name)
            damaged = archive.testzip()
            if damaged is not None:
                raise InputUnreadable("library_backup_damaged", path=str(source), part=damaged)
            total = sum(facts["documents"] for _, _, facts in chosen)
            done, out = 0, []
            for place, name, facts in chosen:
                copied = _bring_back(store, archive, place, name, facts, (done, total), progress)
                done += copied.documents
                out.append(copied)
            return out
    except FileNotFoundError as error:
        raise InputNotFound("no_file", path=str(source)) from error
    except OSError as error:
        raise InputUnreadable("list_not_read", path=str(source), why=str(error)) from error
    except _NO_BACKUP as error:
        raise InputUnreadable("library_backup_not_one", path=str(source)) from error


def _choose(
    held: Sequence[dict[str, Any]], libraries: Sequence[str] | None, new_name: str | None, source: Path
) -> list[tuple[int, str, dict[str, Any]]]:
    """Place in the archive, name in the database, and facts of each library that is wanted."""
    known = {str(one["name"]): place for place, one in enumerate(held)}
    wanted = list(dict.fromkeys(libraries)) if libraries else list(known)
    for name in wanted:
        if name not in known:
            raise InvalidParameter(
                "backup_without_library", library=name, path=str(source), known=list(known)
            )
    if new_name is not None and len(wanted) != 1:
        raise InvalidParameter("one_new_name", name="as", known=wanted)
    return [(known[name], new_name or name, held[known[name]]) for name in wanted]


def _bring_back(
    store: Store,
    archive: zipfile.ZipFile,
    place: int,
    name: str,
    facts: dict[str, Any],
    counted: tuple[int, int],
    progress: Progress,
) -> Copied:
    """One library, under a name of its own until it is complete."""
    unfinished = f".{name[:150]} (not restored yet)"
    if unfinished in {info.name for info in store.libraries.all()}:
        store.libraries.delete(unfinished)
    number = store.libraries.create(unfinished, address=facts["address"], note=facts["note"]).number
    documents, (before, total) = 0, counted
    try:
        with archive.open(f"{place}/documents.jsonl") as lines:
            for rows in _batches(lines):
                progress.step("storing", before + documents, max(total, before + documents), "documents")
                some = [
                    Document(**{k: v for k, v in row.items() if k not in ("added", "changed")})
                    for row in rows
                ]
                store.documents.add(unfinished, some)
                store.copies.set_times(
                    number, [(row["id"], seconds(row["added"]), seconds(row["changed"])) for row in rows]
                )
                documents += len(rows)
        sources = _bring_sources(store, archive, place, number)
        store.copies.set_facts(number, json.loads(archive.read(f"{place}/library.json")))
        store.libraries.rename(unfinished, name)
    except BaseException:
        store.libraries.delete(unfinished)
        raise
    return Copied(name, documents, sources)


def _bring_sources(store: Store, archive: zipfile.ZipFile, place: int, library: int) -> int:
    sources, number = 0, 0
    waiting: dict[str, list[dict[str, Any]]] = {"origin": [], "page": []}

    def write() -> None:
        store.copies.add_origins(number, waiting["origin"])
        store.copies.add_pages(number, waiting["page"])
        for rows in waiting.values():
            rows.clear()

    with archive.open(f"{place}/sources.jsonl") as lines:
        for line in lines:
            kind, row = json.loads(line)
            if kind == "source" or max(map(len, waiting.values())) >= AT_ONCE:
                write()
            if kind == "source":
                number = store.copies.add_source(library, row)
                sources += 1
            else:
                waiting[kind].append(row)
    write()
    return sources


def _batches(lines: IO[bytes] | Iterable[bytes]) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    for line in lines:
        rows.append(json.loads(line))
        if len(rows) >= AT_ONCE:
            yield rows
            rows = []
    if rows:
        yield rows
