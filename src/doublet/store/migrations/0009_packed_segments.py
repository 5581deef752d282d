"""One index for both databases: segments, whose blocks are packed now.

SQLite had two tables of FTS5 instead, for passages and for stems; writing the second took half of the time of filling a
library. What was filed is known exactly from the documents, and is filed again here. Segments of PostgreSQL stay as
they are; merged ones are packed.
"""

from typing import Any, ClassVar

from django.db import migrations

_TOGETHER = 5_000  # documents
_FTS5 = "USING fts5 (k, content='', detail=none, columnsize=0, tokenize='ascii')"
_SQLITE = [
    "CREATE TABLE doublet_segment (id integer PRIMARY KEY AUTOINCREMENT, bits integer NOT NULL, "
    "postings bigint NOT NULL, removed bigint NOT NULL, state smallint NOT NULL, format smallint NOT NULL, "
    "libraries text NULL)",  # of 0010: postings are written here
    "CREATE TABLE doublet_block (segment bigint NOT NULL, part bigint NOT NULL, data BLOB NOT NULL, "
    "PRIMARY KEY (segment, part)) WITHOUT ROWID",
    "CREATE TABLE doublet_merging (owner text NOT NULL PRIMARY KEY, until real NOT NULL)",
    "DROP TABLE doublet_stem",
    "DROP TABLE doublet_posting",
    "DROP TABLE IF EXISTS doublet_posting_new",  # of an index that was not made to the end
    "DROP TABLE IF EXISTS doublet_posting_old",
    "DELETE FROM doublet_rebuild",
]
_BACK = [
    "DROP TABLE doublet_segment",
    "DROP TABLE doublet_block",
    "DROP TABLE doublet_merging",
    f"CREATE VIRTUAL TABLE doublet_stem {_FTS5}",
    f"CREATE VIRTUAL TABLE doublet_posting {_FTS5}",
    "DELETE FROM doublet_rebuild",
    "UPDATE doublet_content SET stems = NULL WHERE stems IS NOT NULL",  # filed by a check that may write
]


class _Plain:
    """What `segments` needs of a database."""

    vendor = "sqlite"

    def __init__(self, connection: Any) -> None:
        self.raw = connection.connection

    def rows(self, sql: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self.raw.execute(sql.replace("%s", "?"), parameters).fetchall()
        return found

    def row(self, sql: str, parameters: Any = ()) -> tuple[Any, ...] | None:
        found = self.rows(sql, parameters)
        return found[0] if found else None

    def copy(self, table: str, columns: Any, rows: Any) -> None:
        marks = ", ".join("?" * len(columns))
        self.raw.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)


def change(apps: Any, editor: Any) -> None:  # noqa: ARG001 - the signature that Django calls
    if editor.connection.vendor == "postgresql":
        editor.execute("ALTER TABLE doublet_segment ADD COLUMN format smallint NOT NULL DEFAULT 0")
        return
    for statement in _SQLITE:
        editor.execute(statement)
    from doublet.errors import StoreDamaged
    from doublet.store.rebuild import write_stored

    database: Any = _Plain(editor.connection)
    for rows in _documents(database, "c.document_id, c.keys, c.bag, c.stems, d.library_id"):
        try:
            write_stored(database, rows, used=True)
        except StoreDamaged:  # `verify` tells which, and mends it
            write_stored(database, [(*row[:3], None, row[4]) for row in rows], used=True)


def _documents(database: Any, columns: str) -> Any:
    last = 0
    while rows := database.rows(
        f"SELECT {columns} FROM doublet_content c JOIN doublet_document d ON d.id = c.document_id "
        "WHERE c.document_id > ? ORDER BY c.document_id LIMIT ?",
        [last, _TOGETHER],
    ):
        last = rows[-1][0]
        yield rows


def back(apps: Any, editor: Any) -> None:  # noqa: ARG001
    if editor.connection.vendor == "postgresql":
        _make_plain(editor.connection.connection)
        editor.execute("ALTER TABLE doublet_segment DROP COLUMN format")
        return
    for statement in _BACK:
        editor.execute(statement)
    from doublet.store import postings

    database = _Plain(editor.connection)
    for rows in _documents(database, "c.document_id, c.keys"):
        for number, data in rows:
            keys = postings.unpack_keys(data)
            spelt = postings.spell_keys(keys, [0, len(keys)])[0]
            database.rows("INSERT INTO doublet_posting (rowid, k) VALUES (?, ?)", [number, spelt])


def _make_plain(connection: Any) -> None:
    """Blocks as they were before."""
    from doublet.store import plain_blocks, segments

    with connection.cursor() as cursor:
        cursor.execute("SELECT id, bits FROM doublet_segment WHERE format = %s", [segments.PACKED])
        for segment, bits in cursor.fetchall():
            cursor.execute("SELECT data FROM doublet_block WHERE segment = %s", [segment])
            records, _ = segments.unpack([bytes(row[0]) for row in cursor.fetchall()])
            records = records.some(records.documents != 0).sorted()
            cursor.execute("DELETE FROM doublet_block WHERE segment = %s", [segment])
            segments.copy_blocks(connection, segment, plain_blocks.cut_plain(bits, records))


class Migration(migrations.Migration):
    dependencies: ClassVar = [("doublet_store", "0008_stems")]

    operations: ClassVar = [migrations.RunPython(change, back)]
