"""`open_library`: libraries for programs. A `Library` joins the store with the jobs over it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doublet.errors import UnknownLibrary, UsageError, wrong_type
from doublet.jobs.check_library import check_library
from doublet.jobs.index_library import index_library
from doublet.jobs.library_duplicates import library_duplicates
from doublet.jobs.read import with_hidden
from doublet.model import Check, Deduplication, Document
from doublet.progress import Progress
from doublet.signatures.statistics import CollectionStatistics
from doublet.sources.open import open_source
from doublet.store.connection import sqlite_place
from doublet.store.database import Store
from doublet.store.signing import StoreIndex
from doublet.store.values import Added, Finding, LibraryInfo, SourceInfo, StoredDocument

if TYPE_CHECKING:
    from doublet.jobs.add_source import Filled, Filling
    from doublet.sources.protocol import Fetcher, Source
    from doublet.text.read import ReadDocument


def open_library(
    path_or_url: str | os.PathLike[str], name: str | None = None, *, create: bool = True
) -> Library:
    """A library in a database: the path of a SQLite file, or ``postgresql://user@host/database``.

    Without *name* it is the only library of the database; in a new one, a library called after the file is made. A
    *name* that is not there yet is made too, unless *create* is False. Close it, or use ``with``::

        with doublet.open_library("theses.db") as library:
            library.add([("ivanov", "Text of the thesis…")])
            library.check("essay.txt").share

    Raises `UnknownLibrary`, `StoreTooNew`, `StoreDamaged`, `StoreUnreachable`, `StoreError`.
    """
    if not isinstance(path_or_url, str | os.PathLike):
        raise wrong_type("path_or_url", path_or_url, "the path of a SQLite file, or postgresql://…")
    if name is not None and not isinstance(name, str):
        raise wrong_type("name", name, "the name of a library")
    address = os.fspath(path_or_url)
    store = Store(address, create=create)
    try:
        known = [info.name for info in store.libraries.all()]
        if name is None and len(known) > 1:
            raise UsageError(
                f"this database has several libraries: name one of {', '.join(known)}", known=known
            )
        if name is None:
            place = sqlite_place(address)
            name = known[0] if known else (place.stem if place else "library")
        if name not in known:
            if not create:
                raise UnknownLibrary(name, known)
            store.libraries.create(name)
    except BaseException:
        store.close()
        raise
    return Library(store, name)


class Library:
    """One library of a store. `store` gives access to the others."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.name = name

    def __repr__(self) -> str:
        return f"Library({self.name!r} in {self.store.database.shown})"

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.store.close()

    @property
    def info(self) -> LibraryInfo:
        """Documents, words, times, and how records ended so far."""
        return self.store.libraries.get(self.name)

    def __len__(self) -> int:
        return self.info.documents

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.store.documents.get(self.name, id) is not None

    def add(
        self,
        documents: str | os.PathLike[str] | Iterable[Document | Mapping[str, Any] | tuple[str, str]],
        *,
        progress: Progress | None = None,
    ) -> Added:
        """Documents, or the path of a file or folder with them. New ones are stored, changed ones replaced, equal ones
        left alone; what cannot be used is in `Added.outcomes`."""
        if isinstance(documents, str | os.PathLike):
            with open_source([os.fspath(documents)], title_field="title", address_field="address") as source:
                return index_library(self.store, self.name, source, progress=progress)
        return index_library(self.store, self.name, documents, progress=progress)

    def add_source(
        self,
        source: str | os.PathLike[str] | Source,
        *,
        kind: str = "auto",
        fetcher: Fetcher | None = None,
        filling: Filling | None = None,
        progress: Progress | None = None,
        **options: Any,
    ) -> Filled:
        """Documents from a folder, a file or an address on the web, which is remembered: `update` walks it again. Or a
        source of your own (`doublet.sources.protocol.Source`), which is walked by this call alone.

        *options* are those of the kind of source (docs/reference/sources.md), *filling* says what to do with duplicates
        and short texts. Without a *fetcher* a polite one is made. Raises `SourceError` when nothing can be had.
        """
        from doublet.jobs.add_source import fill_source, register_source

        if not isinstance(source, str | os.PathLike):
            info = self.store.sources.add(self.info.number, source.kind, source.address, options)
            return fill_source(
                self.store, info, fetcher=fetcher, filling=filling, progress=progress, walked=source
            )
        given = os.fspath(source)
        with _fetching(fetcher) as asked:
            info = register_source(self.store, self.name, given, kind=kind, fetcher=asked, options=options)
            return fill_source(self.store, info, fetcher=asked, filling=filling, progress=progress)

    def update(
        self,
        *,
        fetcher: Fetcher | None = None,
        filling: Filling | None = None,
        progress: Progress | None = None,
    ) -> list[Filled]:
        """Walk all sources again for what is new, changed and gone. One that fails says so in its *message*."""
        from doublet.jobs.add_source import Filled, update_library

        out = []
        with _fetching(fetcher) as asked:
            for found in update_library(
                self.store, self.name, fetcher=asked, filling=filling, progress=progress
            ):
                if isinstance(found, Filled):
                    out.append(found)
                else:
                    info, error = found
                    out.append(Filled(self.name, info.kind, info.address, message=error.message))
        return out

    def sources(self) -> list[SourceInfo]:
        """Where the documents come from, and how the last walk of each ended."""
        return self.store.sources.all(self.info.number)

    def remove(self, ids: str | Sequence[str]) -> list[str]:
        """Take documents out; gives the ids that were there."""
        return self.store.documents.remove(self.name, [ids] if isinstance(ids, str) else list(ids))

    def documents(self, *, limit: int | None = None) -> Iterator[StoredDocument]:
        """In the order in which they came, without their texts."""
        return self.store.documents.all(self.name, limit=limit)

    def text(self, id: str) -> str | None:
        """The text of a document as it was given; None when there is no such document."""
        found = self.store.documents.get(self.name, id)
        return self.store.documents.texts([found.number]).get(found.number) if found else None

    def check(self, document: str | os.PathLike[str], **options: Any) -> Check:
        """Check a file (a path, or a string that names one), an address on the web or a text against this library.

        Options are those of `doublet.jobs.check_library.check_library`: *method*, *leave_out*, *own*, *min_share*, …
        """
        text, name, read = read_document(document)
        options.setdefault("name", name)
        result = check_library(self.store, text, libraries=[self.name], **options)
        return with_hidden(result, read) if read is not None else result

    def statistics(self) -> CollectionStatistics:
        """df, cf and N of the library as it is now."""
        return self.store.libraries.statistics(self.name)

    def index(self, method: str, **parameters: Any) -> StoreIndex:
        """The index of a whole-document method, every document signed."""
        return self.store.signatures.index(self.info.number, method, parameters)

    def duplicates(self, **options: Any) -> Deduplication:
        """Groups of duplicates in this library; options are those of `doublet.dedupe`."""
        return library_duplicates(self.store, [self.name], **options)

    def verify(self, *, repair: bool = False, progress: Progress | None = None) -> list[Finding]:
        """Check that index, statistics and signatures agree with the documents; with *repair*, mend them."""
        from doublet.store.verify import verify

        return verify(self.store, [self.name], repair=repair, progress=progress)


@contextlib.contextmanager
def _fetching(fetcher: Fetcher | None) -> Iterator[Fetcher]:
    """The given fetcher, or one that lives as long as it is needed."""
    if fetcher is not None:
        yield fetcher
        return
    from doublet.crawl.politeness import PoliteFetcher

    with PoliteFetcher() as made:
        yield made


def read_document(document: str | os.PathLike[str]) -> tuple[str, str, ReadDocument | None]:
    """Text and name of what was given: a path, a string that names a file, an address, or a text; and, unless it is a
    text, what was read."""
    if isinstance(document, str) and re.match(r"https?://\S+$", document):
        from doublet.crawl.politeness import PoliteFetcher
        from doublet.jobs.read import read_address

        with PoliteFetcher() as fetcher:
            read = read_address(document, fetcher)
            return read.text, document, read
    if isinstance(document, str):
        short = len(document) < 1_000 and "\n" not in document and "\0" not in document
        if not short or not (Path(document).is_file() or _is_name(document)):
            return document, "", None
    path = Path(document)
    from doublet.sources.texts import read_file

    read = read_file(path, label=str(path))
    return read.text, path.name, read


def _is_name(text: str) -> bool:
    """A string that can only be meant as the name of a file: no blanks, and a suffix."""
    return (
        " " not in text and bool(Path(text).suffix) and len(Path(text).suffix) <= 6 and Path(text).stem != ""
    )
