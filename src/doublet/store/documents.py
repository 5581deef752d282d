"""The room of documents: in and out, their texts, and the index of their passages."""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.index.passage_keys import CUT, Hits
from doublet.index.stem_chunks import Windows
from doublet.model import Document
from doublet.store import segments, stems
from doublet.store.connection import Database
from doublet.store.libraries import Libraries
from doublet.store.names import name_hash, unescape
from doublet.store.sources import taken_out
from doublet.store.texts import Packer
from doublet.store.values import Added, LibraryInfo, StoredDocument, iso
from doublet.store.writing import Prepared, Writer, prepare
from doublet.text.tokens import WordMemory

U64 = NDArray[np.uint64]

_LISTED = (
    "d.id, d.name, d.title, d.address, d.time, d.source, d.words, d.characters, d.added_at, d.changed_at"
)


class Documents:
    def __init__(self, database: Database, packer: Packer, writer: Writer, libraries: Libraries) -> None:
        self._database = database
        self._packer = packer
        self._writer = writer
        self._libraries = libraries
        self._stems = stems.StemIndex(database)
        self._memory = WordMemory()  # of all who prepare documents

    # In and out

    def prepare(self, documents: Sequence[Document]) -> Prepared:
        """The part of adding that needs no database; may run in another thread than `add_prepared`."""
        return prepare(documents, self._packer, self._memory)

    def add_prepared(
        self,
        library: int,
        batch: Prepared,
        waiting: Callable[[float], None] | None = None,
    ) -> Added:
        """Some documents at a time, each step in one transaction."""
        with self._writer.lock:
            return self._writer.add_in_steps(library, batch, waiting)

    def add(self, library: str, documents: Iterable[Document]) -> Added:
        """New documents are stored, changed ones replaced, equal ones left alone. A few (a million characters) are
        one transaction; more are stored in steps, so that nobody waits for long."""
        info = self._libraries.get(library)
        return self.add_prepared(info.number, self.prepare(list(documents)))

    @property
    def step_characters(self) -> int:
        """How much text can be stored in one transaction without holding others up for long."""
        return self._writer.adding.size

    def remove(self, library: str, ids: Sequence[str]) -> list[str]:
        """Take documents out; gives the ids that were there."""
        info = self._libraries.get(library)
        with self._database.guard():
            rows = self._database.among(
                "SELECT id, name FROM doublet_document WHERE library_id = %s AND name_hash IN",
                [name_hash(id) for id in ids],
                [info.number],
            )
        names = {row[0]: unescape(row[1]) for row in rows}
        with self._writer.lock:
            self._writer.remove_in_steps(
                info.number,
                list(names),
                lambda some: taken_out(self._database, info.number, [names[number] for number in some]),
            )
        return list(names.values())

    # Reading

    def all(self, library: str, *, after: int = 0, limit: int | None = None) -> Iterator[StoredDocument]:
        """Documents of a library in the order in which they came; *after* is the number of the last one seen."""
        info = self._libraries.get(library)
        left = limit
        with self._database.guard():
            own = self._database.by_number(info.number, "d.library_id")
        while left is None or left > 0:
            with self._database.guard():
                rows = self._database.rows(
                    f"SELECT {_LISTED} FROM doublet_document d WHERE {own} = %s AND d.id > %s ORDER BY d.id "
                    "LIMIT %s",
                    [info.number, after, min(1_000, left or 1_000)],
                )
            if not rows:
                return
            for row in rows:
                yield _listed(row, info.name)
            after = rows[-1][0]
            left = None if left is None else left - len(rows)

    def find(self, library: str, like: str, *, limit: int | None = None) -> Iterator[StoredDocument]:
        """Documents whose id, title, address or source fits the pattern *like*, in the order in which they came."""
        fits = pattern(like)
        left = limit
        for one in self.all(library):
            if left == 0:
                return
            if any(map(fits, (one.id, one.title, one.address, one.source))):
                left = None if left is None else left - 1
                yield one

    def get(self, library: str, id: str) -> StoredDocument | None:
        info = self._libraries.get(library)
        with self._database.guard():
            row = self._database.row(
                f"SELECT {_LISTED} FROM doublet_document d WHERE d.library_id = %s AND d.name_hash = %s",
                [info.number, name_hash(id)],
            )
        return _listed(row, info.name) if row else None

    def texts(self, numbers: Sequence[int]) -> dict[int, str]:
        """Texts of documents by their numbers; those that are gone are left out."""
        with self._database.guard():
            rows = self._database.among(
                "SELECT document_id, dictionary, text FROM doublet_content WHERE document_id IN",
                list(numbers),
            )
            return {number: self._packer.unpack(dictionary, blob) for number, dictionary, blob in rows}

    def full(self, numbers: Sequence[int]) -> dict[int, tuple[StoredDocument, str]]:
        """Facts and text of documents by their numbers, whatever library they are in."""
        with self._database.guard():
            rows = self._database.among(
                f"SELECT {_LISTED}, l.name, c.dictionary, c.text FROM doublet_document d "
                "JOIN doublet_content c ON c.document_id = d.id JOIN doublet_library l ON l.id = d.library_id "
                "WHERE d.id IN",
                list(numbers),
            )
            return {
                row[0]: (_listed(row[:10], unescape(row[10])), self._packer.unpack(row[11], row[12]))
                for row in rows
            }

    def batches(self, library: str, size: int = 1_000) -> Iterator[list[tuple[StoredDocument, str]]]:
        """All documents of a library with their texts, in batches, in the order in which they came."""
        info = self._libraries.get(library)
        for numbers in self._database.document_numbers(info.number, size):
            found = self.full(numbers)
            yield [found[number] for number in numbers if number in found]

    def numbers_of(self, library: int, ids: Sequence[str]) -> dict[str, int]:
        with self._database.guard():
            rows = self._database.among(
                "SELECT name, id FROM doublet_document WHERE library_id = %s AND name_hash IN",
                [name_hash(id) for id in ids],
                [library],
            )
        return {unescape(name): number for name, number in rows}

    # Looking up

    def look_up(self, keys: U64, libraries: Sequence[int] | None) -> Hits:
        """Postings of passage keys in these libraries; None: in all."""
        with self._database.guard():
            return Hits(*segments.look_up(self._database, keys, libraries, CUT))

    def look_up_stems(
        self, windows: Windows, libraries: Sequence[int] | None, infos: Sequence[LibraryInfo]
    ) -> Hits:
        """Chunks of documents that have the stems of the windows, in these libraries; None: in all. *infos*: how the
        libraries were when the check began."""
        with self._database.guard():
            state = None
            # A transaction of somebody else may still be taken back; filing old documents does not count as a change.
            if not (self._database.in_foreign_transaction or stems.any_unfiled(self._database)):
                state = tuple((info.number, info.changes) for info in infos)
            return self._stems.look_up(windows, libraries, state)

    def file_stems(self, library: int, step: Callable[[int, int], None] | None = None) -> None:
        """File the stems of the documents of a library that came before there was an index of stems, in short steps."""
        stems.fill(self._database, library, self.texts, step)

    def same_words(self, fold: int, libraries: Sequence[int] | None, limit: int = 20) -> list[int]:
        """Numbers of documents with exactly these words in this order."""
        with self._database.guard():
            rows = self._database.rows(
                "SELECT id, library_id FROM doublet_document WHERE fold = %s ORDER BY id LIMIT 1000", [fold]
            )
        wanted = None if libraries is None else set(libraries)
        return [row[0] for row in rows if wanted is None or row[1] in wanted][:limit]


def pattern(like: str) -> Callable[[str], bool]:
    """Whether a text fits: ``*`` is anything and ``?`` one character; without them the text has *like* in it. Capitals
    do not matter."""
    wanted = unicodedata.normalize("NFC", like).casefold()
    if not set(wanted) & set("*?["):
        return lambda text: wanted in unicodedata.normalize("NFC", text).casefold()
    fits = re.compile(fnmatch.translate(wanted)).match
    return lambda text: fits(unicodedata.normalize("NFC", text).casefold()) is not None


def _listed(row: Sequence[Any], library: str) -> StoredDocument:
    number, name, title, address, when, source, count, characters, added, changed = row
    return StoredDocument(
        number=number,
        library=library,
        id=unescape(name),
        title=unescape(title),
        address=unescape(address),
        time=unescape(when),
        source=unescape(source),
        words=count,
        characters=characters,
        added=iso(added),
        changed=iso(changed),
    )
