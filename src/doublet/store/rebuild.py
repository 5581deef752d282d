"""The index of passages made again from the stored keys, in steps, while others read and write.

The new index grows beside the old one, document by document, and takes its place at the end. Meanwhile checks use the
old one, and whoever takes out a document that is in the new one already changes both (`doublet.store.postings`). What
was broken off is begun again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from doublet.errors import StoreBusy
from doublet.store import postings, segments, stems
from doublet.store.connection import Database
from doublet.store.pace import Pace

NEW, OLD = "doublet_posting_new", "doublet_posting_old"
_MAKE = f"CREATE VIRTUAL TABLE {NEW} USING fts5 (k, content='', detail=none, columnsize=0, tokenize='ascii')"


def rebuild(database: Database, step: Callable[[int], None] | None = None) -> None:
    """Raises `StoreBusy` when somebody else is at it."""
    if database.vendor == "sqlite":
        _begin_sqlite(database)
        _fill(database, step)
        _purge_sqlite(database)
        return
    with database.guard(), segments.merging(database) as free:
        if not free:
            raise StoreBusy("index_busy", shown=database.shown)
        segments.purge(database, (segments.WRITTEN, segments.GOING))
        with database.writing():
            _restart(database)
        _fill(database, step)
        segments.purge(database, (segments.GOING,))


def _restart(database: Database) -> None:
    database.rows("DELETE FROM doublet_rebuild")
    database.rows("INSERT INTO doublet_rebuild (upto) VALUES (0)")


def _begin_sqlite(database: Database) -> None:
    _purge_sqlite(database)
    with database.writing():
        database.rows(f"DROP TABLE IF EXISTS {NEW}")
        database.rows(_MAKE)
        postings.leave_merging(database, NEW)
        _restart(database)


def _fill(database: Database, step: Callable[[int], None] | None) -> None:
    pace = Pace(200, most=5_000)
    done = 0
    while True:
        with pace.step(database) as size, database.writing():
            (upto,) = database.rows("SELECT upto FROM doublet_rebuild")[0]
            rows = database.rows(
                "SELECT c.document_id, c.keys, d.library_id, c.bag, c.stems FROM doublet_content c "
                "JOIN doublet_document d ON d.id = c.document_id WHERE c.document_id > %s "
                "ORDER BY c.document_id LIMIT %s",
                [upto, size],
            )
            if not rows:
                _swap(database)
                return
            values = postings.unpack_keys(b"".join(bytes(row[1]) for row in rows))
            sizes = [len(row[1]) // postings.KEY_BYTES for row in rows]
            offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64).tolist()
            numbers, homes = [row[0] for row in rows], [row[2] for row in rows]
            postings.write_postings(database, homes, numbers, values, offsets, new=True)
            filed = [row for row in rows if row[4] is not None]
            stems.write_new(
                database,
                [row[2] for row in filed],
                [row[0] for row in filed],
                *([bytes(row[n]) for row in filed] for n in (3, 4)),
            )
            database.rows("UPDATE doublet_rebuild SET upto = %s", [rows[-1][0]])
        postings.tidy(database, NEW)
        done += len(rows)
        if step is not None:
            step(done)


def _swap(database: Database) -> None:
    if database.vendor == "sqlite":
        database.rows(f"ALTER TABLE doublet_posting RENAME TO {OLD}")
        database.rows(f"ALTER TABLE {NEW} RENAME TO doublet_posting")
    else:
        database.rows(
            "UPDATE doublet_segment SET state = CASE state WHEN %s THEN %s ELSE %s END",
            [segments.WRITTEN, segments.USED, segments.GOING],
        )
    database.rows("DELETE FROM doublet_rebuild")


def _purge_sqlite(database: Database) -> None:
    """The old table, some pages at a time."""
    there: Sequence[object] = database.rows("SELECT 1 FROM sqlite_master WHERE name = %s", [OLD])
    pace = Pace(200, most=20_000)
    while there:
        with pace.step(database) as size, database.writing():
            # The first ones are not pages but what FTS5 reads when it opens the table, to drop it too.
            rows = database.rows(f"SELECT id FROM {OLD}_data WHERE id > 10 LIMIT %s", [size])
            if len(rows) < size:
                database.rows(f"DROP TABLE {OLD}")
                return
            database.many(f"DELETE FROM {OLD}_data WHERE id = %s", rows)
