"""All tables of a PostgreSQL database into the parts of an archive, and back, by ``COPY``.

A dump is one snapshot (repeatable read), whatever others write meanwhile. Tables are not described in it: whoever
brings it back makes them first, by the migrations that the dump names, so that no client program of the server's own
version is needed. Explained in docs/how-to/run-the-service.md.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from typing import Any

from doublet.errors import ConfigError, StoreError

TABLES = "tables.json"
CHUNK = 1 << 20
_LIST = (
    "SELECT c.relname, array_agg(a.attname ORDER BY a.attnum) FROM pg_class c "
    "JOIN pg_attribute a ON a.attrelid = c.oid "
    "WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND "
    "NOT a.attisdropped AND a.attgenerated = '' GROUP BY c.relname ORDER BY c.relname"
)


def _connect(address: str) -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise ConfigError("needs_psycopg", library="psycopg") from error
    try:
        return psycopg.connect(address)
    except psycopg.Error as error:
        raise StoreError("dump_failed", why=" ".join(str(error).split())[-300:]) from error


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def dump(address: str, archive: zipfile.ZipFile) -> None:
    """Write every table into *archive*. Raises `StoreError`."""
    import psycopg

    with _connect(address) as connection:
        try:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            with connection.cursor() as cursor:
                tables = cursor.execute(_LIST).fetchall()
                sequences = cursor.execute(
                    "SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = current_schema() AND "
                    "last_value IS NOT NULL"
                ).fetchall()
                applied = cursor.execute("SELECT app, name FROM django_migrations ORDER BY id").fetchall()
                about = {
                    "tables": [[name, columns] for name, columns in tables],
                    "sequences": [list(row) for row in sequences],
                    "migrations": [list(row) for row in applied],
                }
                archive.writestr(TABLES, json.dumps(about))
                for name, columns in tables:
                    sql = f"COPY {_name(name)} ({', '.join(map(_name, columns))}) TO STDOUT"
                    with (
                        archive.open(f"table/{name}", "w", force_zip64=True) as out,
                        cursor.copy(sql) as rows,
                    ):
                        for piece in rows:
                            out.write(piece)
        except psycopg.Error as error:
            raise StoreError("dump_failed", why=" ".join(str(error).split())[-300:]) from error


def load(
    address: str, archive: zipfile.ZipFile, make_tables: Callable[[str, list[tuple[str, str]]], None]
) -> None:
    """Fill the empty database at *address* from a dump. *make_tables* makes the tables by the migrations it is given.
    Raises `ConfigError` when the database is not empty, `StoreError`."""
    import psycopg

    about = json.loads(archive.read(TABLES))
    with _connect(address) as connection:
        found = connection.execute(_LIST).fetchone()
        if found is not None:
            raise ConfigError("restore_would_overwrite", path=address.rpartition("@")[2])
    make_tables(address, [(app, name) for app, name in about["migrations"]])
    with _connect(address) as connection:
        try:
            with connection.cursor() as cursor:
                there = {name for name, _ in cursor.execute(_LIST).fetchall()}
                wanted = [(name, columns) for name, columns in about["tables"] if name in there]
                lost = [name for name, _ in about["tables"] if name not in there]
                if lost:
                    raise StoreError("dump_unknown_table", tables=", ".join(lost))
                cursor.execute(f"TRUNCATE {', '.join(_name(name) for name in sorted(there))} CASCADE")
                for name, columns in wanted:
                    sql = f"COPY {_name(name)} ({', '.join(map(_name, columns))}) FROM STDIN"
                    with archive.open(f"table/{name}") as stored, cursor.copy(sql) as rows:
                        while piece := stored.read(CHUNK):
                            rows.write(piece)
                for name, last in about["sequences"]:
                    cursor.execute("SELECT setval(%s::regclass, %s)", [_name(name), last])
        except psycopg.Error as error:
            raise StoreError("dump_failed", why=" ".join(str(error).split())[-300:]) from error
