"""A folder, or one file, as a source that is walked again and again: what is new, what changed, what is gone.

A file is the same as last time when its size and the time of its last change are; else its content is compared by hash.
Tables and archives among the files are walked through `doublet.sources.open`; one that did not change is not opened.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from doublet.errors import DoubletError
from doublet.model import Note
from doublet.sources.open import (
    ARCHIVES,
    COLUMN_TABLES,
    LINE_TABLES,
    is_container,
    open_file,
    table_suffix,
)
from doublet.sources.packed import PackedBatch
from doublet.sources.protocol import Complete, Failed, Fetcher, Found, Item, KnownLookup, Unchanged
from doublet.sources.records import RawBatch
from doublet.sources.streams import cannot_open
from doublet.sources.texts import TextBatch, bytes_of, failure, hidden_note, list_files, unpacked_name
from doublet.text.limits import MAX_BYTES

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Records:
    """Some documents of a table or an archive, unread. *part* is the id of that file; *table* tells which it is."""

    part: str
    batch: RawBatch
    table: bool


@dataclass(frozen=True, slots=True)
class Whole:
    """A table or an archive was walked to its end."""

    id: str
    version: str


LocalItem = Item | Records | Whole


class FolderSource:
    """All files of a folder and its subfolders, or one file.

    *path* may be given in any way; *address* is the full one. *prefix* goes before the ids of documents, which are
    their paths in the folder: two folders of one library must not mix theirs up.
    """

    kind: ClassVar[str] = "folder"

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        prefix: str = "",
        id_field: str = "id",
        text_field: str = "text",
        time_field: str | None = None,
        source_field: str | None = None,
        title_field: str = "title",
        address_field: str = "address",
    ) -> None:
        self.path = Path(path).expanduser().absolute()
        self.address = str(self.path)
        self.prefix = prefix
        self.notes: list[Note] = []
        self._fields: dict[str, Any] = {
            "id_field": id_field,
            "text_field": text_field,
            "time_field": time_field,
            "source_field": source_field,
            "title_field": title_field,
            "address_field": address_field,
        }

    def items(
        self,
        fetcher: Fetcher | None,  # noqa: ARG002 - nothing is fetched
        known: KnownLookup,
        state: dict[str, Any],  # noqa: ARG002 - a folder is walked from its beginning
    ) -> Iterator[LocalItem]:
        """Raises `InputNotFound` or `InputUnreadable` when the folder itself cannot be read."""
        try:
            is_folder = self.path.is_dir()
            self.path.stat()
        except OSError as error:
            raise cannot_open(self.address, error) from error
        if is_folder:
            yield from self._folder(known)
            yield Complete()
        else:
            yield from self._single(known)

    def _folder(self, known: KnownLookup) -> Iterator[LocalItem]:
        files, hidden = list_files(self.path, self.address)
        if hidden:
            self.notes.append(hidden_note(self.address, hidden))
        # A CSV among other files may be anything; in a folder of nothing but tables it is one of them.
        suffixes = {file: table_suffix(file.name) for file in files}
        tables: tuple[str, ...] = (*LINE_TABLES, ".parquet")
        if all(suffix in (*tables, *COLUMN_TABLES) for suffix in suffixes.values()):
            tables += COLUMN_TABLES
        for file in files:
            id = self.prefix + file.relative_to(self.path).as_posix()
            if suffixes[file] in tables or suffixes[file] in ARCHIVES:
                yield from self._container(file, id, known)
            else:
                yield self._document(file, id, known)

    def _single(self, known: KnownLookup) -> Iterator[LocalItem]:
        id = self.prefix or self.path.name
        if is_container(self.path, id, **self._fields):
            yield from self._container(self.path, id, known, alone=True)
            if table_suffix(self.path.name) in ARCHIVES:
                yield Complete()
        else:
            yield self._document(self.path, id, known)

    def _document(self, file: Path, id: str, known: KnownLookup) -> Item:
        before = known(id)
        try:
            facts = file.stat()
            stamp = f"{facts.st_mtime_ns}-{facts.st_size}"
            if before is not None and before.version.rpartition("-")[0] == stamp:
                return Unchanged(id)
            data = bytes_of(file, limit_bytes=MAX_BYTES, label="")
        except (DoubletError, OSError) as error:
            if isinstance(error, FileNotFoundError) and not file.is_symlink():
                return Failed(id, "failed", Note("deleted_while_read"))
            return Failed(id, *failure(error))
        version = f"{stamp}-{hashlib.blake2b(data, digest_size=12).hexdigest()}"
        if before is not None and before.version.rpartition("-")[2] == version.rpartition("-")[2]:
            return Unchanged(id, version=version)
        time = datetime.fromtimestamp(facts.st_mtime, UTC).isoformat()
        return Found(id, version=version, data=data, time=time, name=unpacked_name(file.name))

    def _container(
        self, file: Path, id: str, known: KnownLookup, *, alone: bool = False
    ) -> Iterator[LocalItem]:
        before = known(id)
        try:
            facts = file.stat()
            version = f"{facts.st_mtime_ns}-{facts.st_size}"
            if before is not None and before.version == version:
                yield Unchanged(id)
                return
            opened = open_file(file, id, **self._fields)
        except (DoubletError, OSError) as error:
            if alone and isinstance(error, DoubletError):
                raise
            yield Failed(id, *failure(error))
            return
        with opened:
            self.notes += opened.notes
            for batch in opened.batches():
                yield Records(id, batch, not isinstance(batch, PackedBatch | TextBatch))
        yield Whole(id, version)
