"""`open_library`: libraries for programs. A `Library` joins the store with the jobs over it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from doublet.addresses import WebAddress
from doublet.errors import UnknownLibrary, UsageError, one_or_more, wrong_type
from doublet.jobs.check import with_hidden
from doublet.jobs.check_library import check_library
from doublet.jobs.dedupe.documents import DocumentsInput, opened, paths_of
from doublet.jobs.index_library import index_library
from doublet.jobs.library_duplicates import library_duplicates
from doublet.jobs.read import TextInput, take_text
from doublet.model import Check, Deduplication
from doublet.progress import Progress
from doublet.signatures.statistics import CollectionStatistics
from doublet.sources.protocol import Source as SourceProtocol
from doublet.store.connection import sqlite_place
from doublet.store.database import Store
from doublet.store.entries import StoreIndex
from doublet.store.values import Added, Finding, LibraryInfo, SourceInfo, StoredDocument

if TYPE_CHECKING:
    from doublet.jobs.add_source import Filled, Filling
    from doublet.sources.protocol import Fetcher, Source


def open_library(
    path_or_url: str | os.PathLike[str], name: str | None = None, *, create: bool = True
) -> Library:
    """A library in a database: the path of a SQLite file, or ``postgresql://user@host/database``.

    Without *name* it is the only library of the database; in a new one, a library called after the file is made. A
    *name* that is not there yet is made too, unless *create* is False. Close it, or use ``with``::

        with doublet.open_library("theses.db") as library:
            library.add([("ivanov", "Text of the thesis…")])
            library.check(Path("essay.docx")).share

    Raises `UnknownLibrary`, `StoreTooNew`, `StoreDamaged`, `StoreUnreachable`, `StoreError`.
    """
    if not isinstance(path_or_url, str | os.PathLike):
        raise wrong_type("path_or_url", path_or_url, "wanted_path_or_url")
    if name is not None and not isinstance(name, str):
        raise wrong_type("name", name, "wanted_library_name")
    address = os.fspath(path_or_url)
    store = Store(address, create=create)
    try:
        known = [info.name for info in store.libraries.all()]
        if name is None and len(known) > 1:
            raise UsageError("several_libraries", known=known)
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
        documents: DocumentsInput,
        *,
        progress: Progress | None = None,
    ) -> Added:
        """Documents, or the ``Path`` of a file or folder with them. New ones are stored, changed ones replaced, equal
        ones left alone; what cannot be used is in `Added.outcomes`."""
        if paths_of(documents):
            with opened(documents) as source:
                return index_library(self.store, self.name, source, progress=progress)
        assert not isinstance(documents, os.PathLike)
        return index_library(self.store, self.name, documents, progress=progress)

    def add_source(
        self,
        source: os.PathLike[str] | WebAddress | Source,
        *,
        kind: str = "auto",
        fetcher: Fetcher | None = None,
        filling: Filling | None = None,
        progress: Progress | None = None,
        **options: Any,
    ) -> Filled:
        """Documents from a folder or file (``Path``) or from a `WebAddress`, which is remembered: `update` walks it
        again. Or a source of your own (`doublet.sources.protocol.Source`), which is walked by this call alone.

        *options* are those of the kind of source (docs/reference/sources.md), *filling* says what to do with duplicates
        and short texts. Without a *fetcher* a polite one is made. Raises `SourceError` when nothing can be had.
        """
        from doublet.jobs.add_source import fill_source, register_source

        if isinstance(source, str) or not isinstance(source, os.PathLike | WebAddress | SourceProtocol):
            raise wrong_type("source", source, "wanted_source")
        if not isinstance(source, os.PathLike | WebAddress):
            info = self.store.sources.add(self.info.number, source.kind, source.address, options)
            return fill_source(
                self.store, info, fetcher=fetcher, filling=filling, progress=progress, walked=source
            )
        given = source.url if isinstance(source, WebAddress) else os.fspath(source)
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
                    out.append(Filled(self.name, info.kind, info.address, message=error.note))
        return out

    def sources(self) -> list[SourceInfo]:
        """Where the documents come from, and how the last walk of each ended."""
        return self.store.sources.all(self.info.number)

    def remove(self, ids: str | Sequence[str]) -> list[str]:
        """Take documents out; gives the ids that were there."""
        return self.store.documents.remove(self.name, one_or_more("ids", ids))

    def documents(self, *, limit: int | None = None) -> Iterator[StoredDocument]:
        """In the order in which they came, without their texts."""
        return self.store.documents.all(self.name, limit=limit)

    def find(self, like: str, *, limit: int | None = None) -> Iterator[StoredDocument]:
        """Documents whose id, title, address or source fits: ``*`` is anything; without it a part is enough."""
        return self.store.documents.find(self.name, like, limit=limit)

    def rename(self, name: str) -> None:
        """Give the library another name. Raises `LibraryExists`, and `StoreBusy` while work of the queue names it."""
        self.store.libraries.rename(self.name, name)
        self.name = name

    def text(self, id: str) -> str | None:
        """The text of a document as it was given; None when there is no such document."""
        found = self.store.documents.get(self.name, id)
        return self.store.documents.texts([found.number]).get(found.number) if found else None

    def check(self, text: TextInput, **options: Any) -> Check:
        """Check a text (``str``), a file (``Path``), the content of a file (``bytes``), a `WebAddress`, or what
        `read_document` gave, against this library.

        Options are those of `doublet.jobs.check_library.check_library`: *method*, *leave_out*, *own*, *min_share*, …
        """
        given = take_text("text", text)
        options.setdefault("name", given.name)
        return with_hidden(check_library(self.store, given.text, libraries=[self.name], **options), given)

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
