"""A store of libraries: one door, and behind it a room for each thing that is kept.

    store.libraries    named sets of documents, with their counters and statistics
    store.documents    documents in and out, their texts, and the index of their passages
    store.signatures   signatures of whole documents, by any method
    store.sources      where documents come from, and how far the walk of each source got
    store.frontier     addresses that a robot knows, and whose turn it is
    store.jobs         the queue: long work that waits, is being done, or was done
    store.reports      answers that were kept
    store.copies       what a library is besides its texts, for backups

Rooms take and give values; no model leaves this package.
"""

from __future__ import annotations

from doublet.store import postings, segments
from doublet.store.connection import Database
from doublet.store.copies import Copies
from doublet.store.documents import Documents
from doublet.store.frontier import Frontier
from doublet.store.jobs import Jobs
from doublet.store.libraries import Libraries
from doublet.store.reports import Reports
from doublet.store.signing import Signatures
from doublet.store.sources import Sources
from doublet.store.texts import Packer
from doublet.store.writing import Writer


class Store:
    """Libraries in one database: a SQLite file or a PostgreSQL database by its *address*; or, inside a Django project,
    the project's own connection by its *alias*, so that the caller's transaction and ours are one.

    Safe to share between threads as long as one of them adds documents; several processes may write, they take turns.
    """

    def __init__(self, address: str | None = None, *, alias: str | None = None, create: bool = True) -> None:
        self.database = Database(address, alias=alias, create=create)
        packer = _make_packer(self.database)
        self.signatures = Signatures(self.database)
        writer = Writer(self.database, packer, self.signatures)
        self.libraries = Libraries(self.database, writer)
        self.documents = Documents(self.database, packer, writer, self.libraries)
        self.signatures.texts_of = self.documents.texts
        self.sources = Sources(self.database, writer)
        self.reports = Reports(self.database)
        self.frontier = Frontier(self.database)
        self.jobs = Jobs(self.database)
        self.copies = Copies(self.database)
        self.writer = writer  #: for the rooms of this package
        if self.database.brought_up:
            segments.tidy(self.database)  # a migration may leave many segments behind

    def close(self) -> None:
        """Close the connection of this thread. The connection of a Django project stays open."""
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def give_back(self) -> None:
        """Hand the room that merges left empty in a file back to the disk. Worth it after documents were added."""
        with self.database.guard():
            self.database.give_back()

    def optimize(self) -> None:
        """Put the index in its best shape after much was added. Worth it after a bulk load; never needed."""
        segments.tidy(self.database, thorough=True)
        postings.optimize(self.database)
        if self.database.vendor == "sqlite":
            self.give_back()
            return
        with self.database.guard():
            # What was merged leaves room behind, which should be used before the tables grow.
            self.database.rows("VACUUM (ANALYZE) doublet_block")
            self.database.rows("ANALYZE doublet_segment")


def _make_packer(database: Database) -> Packer:
    def dictionary(number: int) -> bytes | None:
        with database.guard():
            found = database.row("SELECT data FROM doublet_dictionary WHERE id = %s", [number])
        return bytes(found[0]) if found else None

    with database.guard():
        rows = database.rows("SELECT kind, id, data FROM doublet_dictionary ORDER BY id")
    return Packer(dictionary, {kind: (number, bytes(data)) for kind, number, data in rows})
