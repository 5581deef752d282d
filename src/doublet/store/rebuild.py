"""The index of passages made again from the stored keys, in steps, while others read and write.

The new index grows beside the old one, document by document, and takes its place at the end. Meanwhile checks use the
old one, and whoever takes out a document that is in the new one already changes both (`doublet.store.postings`). What
was broken off is begun again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from doublet.errors import StoreBusy
from doublet.store import segments
from doublet.store.connection import Database
from doublet.store.pace import Pace
from doublet.store.writing import stored_pairs


def rebuild(database: Database, step: Callable[[int], None] | None = None) -> None:
    """Raises `StoreBusy` when somebody else is at it."""
    with database.guard(), segments.merging(database) as right:
        if right is None:
            raise StoreBusy("index_busy", shown=database.shown)
        segments.purge(database, (segments.WRITTEN, segments.GOING), right)
        with database.writing():
            _restart(database)
        _fill(database, right, step)
        segments.purge(database, (segments.GOING,), right)


def _restart(database: Database) -> None:
    database.rows("DELETE FROM doublet_rebuild")
    database.rows("INSERT INTO doublet_rebuild (upto) VALUES (0)")


def _fill(database: Database, right: segments.Right, step: Callable[[int], None] | None) -> None:
    pace = Pace(200, most=5_000)
    done = 0
    while True:
        with pace.step(database) as size, database.writing():
            right.renew()
            (upto,) = database.rows("SELECT upto FROM doublet_rebuild")[0]
            rows = database.rows(
                "SELECT c.document_id, c.keys, c.bag, c.stems, d.library_id FROM doublet_content c "
                "JOIN doublet_document d ON d.id = c.document_id WHERE c.document_id > %s "
                "ORDER BY c.document_id LIMIT %s",
                [upto, size],
            )
            if not rows:
                _swap(database)
                return
            write_stored(database, rows, used=False)
            database.rows("UPDATE doublet_rebuild SET upto = %s", [rows[-1][0]])
        done += len(rows)
        if step is not None:
            step(done)


def write_stored(database: Database, rows: Sequence[tuple[Any, ...]], *, used: bool) -> None:
    """File documents, ordered by their numbers, from what is stored of them: number, keys, bag, stems, library."""
    pairs = stored_pairs([(row[0], row[1], row[2], row[3]) for row in rows])
    places = np.searchsorted([row[0] for row in rows], pairs.documents)
    libraries = np.array([row[4] for row in rows], np.int64)[places]
    segments.write(database, pairs.keys, pairs.values, libraries, used=used)


def _swap(database: Database) -> None:
    database.rows(
        "UPDATE doublet_segment SET state = CASE state WHEN %s THEN %s ELSE %s END",
        [segments.WRITTEN, segments.USED, segments.GOING],
    )
    database.rows("DELETE FROM doublet_rebuild")
