"""A backup of everything that a service keeps, in one file, and back (`doublet backup`, `doublet restore`).

The file is a zip archive: ``backup.json`` (what it is), the database, and the key that signs sessions and links. A
SQLite database is copied while others write; of a PostgreSQL database all tables are copied in one snapshot.
Uploads, reports and decisions are in the database. The file can be read by its owner alone: it holds everything.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import doublet
from doublet.errors import ConfigError, InputNotFound, InputUnreadable, OutputFailed, StoreError
from doublet.store.connection import sqlite_place
from doublet.store.dump import dump, load
from doublet.text.damaged import DAMAGED

#: address of a database, migrations (app and name) to run in it
MakeTables = Callable[[str, list[tuple[str, str]]], None]
FORMAT = 1
_NO_BACKUP: tuple[type[Exception], ...] = (*DAMAGED, KeyError, TypeError)
ABOUT, DATABASE, KEY = "backup.json", "database", "secret.key"


def back_up(address: str, key: Path, out: Path) -> int:
    """Write the database at *address* and the file *key* to *out*; gives its size. Raises `OutputFailed`."""
    place = sqlite_place(address)
    if place is not None and not place.exists():
        raise InputNotFound("backup_no_database", path=str(place))
    unfinished = out.with_name(f".{out.name}.unfinished")
    try:
        with tempfile.TemporaryDirectory(prefix=".doublet-backup-", dir=out.absolute().parent) as folder:
            copy = Path(folder) / DATABASE
            if place is not None:
                _copy(place, copy)
            about = {
                "format": FORMAT,
                "version": doublet.__version__,
                "database": "sqlite" if place else "postgresql",
            }
            handle = os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
            with (
                os.fdopen(handle, "wb") as stream,
                zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
            ):
                archive.writestr(ABOUT, json.dumps(about))
                if place is not None:
                    archive.write(copy, DATABASE)
                else:
                    dump(address, archive)
                if key.exists():
                    archive.write(key, KEY)
            unfinished.replace(out)
    except OSError as error:
        raise OutputFailed("backup_not_written", path=str(out), why=error.strerror or str(error)) from error
    finally:
        unfinished.unlink(missing_ok=True)
    return out.stat().st_size


def bring_back(source: Path, address: str, key: Path, make_tables: MakeTables) -> None:
    """Make the database at *address* and the file *key* from a backup. Nothing that is there is overwritten.
    *make_tables* runs migrations in an empty PostgreSQL database."""
    place = sqlite_place(address)
    for there in (place, key):
        if there is not None and there.exists():
            raise ConfigError("restore_would_overwrite", path=str(there))
    try:
        with zipfile.ZipFile(source) as archive:
            about = json.loads(archive.read(ABOUT))
            kind = "sqlite" if place else "postgresql"
            if about["format"] > FORMAT or about["database"] != kind:
                raise ConfigError("restore_other_kind", path=str(source), kind=str(about["database"]))
            if place is not None:
                _unpack(archive, place, source)
            else:
                load(address, archive, make_tables)
            if KEY in archive.namelist():
                key.parent.mkdir(parents=True, exist_ok=True)
                key.touch(mode=0o600)
                key.write_bytes(archive.read(KEY))
    except FileNotFoundError as error:
        raise InputNotFound("backup_no_database", path=str(source)) from error
    except OSError as error:
        raise OutputFailed("backup_not_written", path=str(place or source), why=str(error)) from error
    except _NO_BACKUP as error:
        raise InputUnreadable("restore_not_a_backup", path=str(source)) from error


def _unpack(archive: zipfile.ZipFile, place: Path, source: Path) -> None:
    target = place.absolute().parent
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".doublet-restore-", dir=target) as folder:
        copy = Path(folder) / DATABASE
        with archive.open(DATABASE) as packed, copy.open("wb") as stream:
            shutil.copyfileobj(packed, stream, 1 << 20)
        _require_whole(copy, source)
        copy.chmod(0o600)
        copy.replace(place)


def _copy(place: Path, copy: Path) -> None:
    """All of a SQLite database as it is at one moment, while others write."""
    try:
        with (
            contextlib.closing(sqlite3.connect(f"{place.absolute().as_uri()}?mode=ro", uri=True)) as here,
            contextlib.closing(sqlite3.connect(copy)) as there,
        ):
            here.backup(there)
    except sqlite3.Error as error:
        raise StoreError("backup_not_written", path=str(place), why=str(error)) from error


def _require_whole(copy: Path, source: Path) -> None:
    try:
        with contextlib.closing(sqlite3.connect(copy)) as database:
            whole = database.execute("PRAGMA quick_check").fetchone()[0] == "ok"
    except sqlite3.Error:
        whole = False
    if not whole:
        raise InputUnreadable("restore_not_a_backup", path=str(source))
