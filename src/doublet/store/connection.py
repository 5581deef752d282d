"""One database: how it is found, opened, brought up to date, and what its errors mean.

`Database` speaks plain SQL (placeholders are ``%s``) on the connection that Django keeps for each thread, so that the
ORM and the bulk paths share transactions. By an address it has connections of its own, which nobody else closes; by an
alias it uses those of a Django project, and leaves opening, closing and migrating to the project.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import re
import sqlite3
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from doublet.errors import (
    ConfigError,
    DoubletError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreTooNew,
    StoreUnreachable,
)
from doublet.model import Note

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

BUSY_S = 5.0  #: one try to get the right to write; then the waiting is told and tried again
#: rows in one statement of SQLite; with 15 columns far below the 32,766 values that it takes
ROWS_TOGETHER = 250
_PAGES_TOGETHER = 256  #: that are given back at once: 4 MB are moved, and others wait for a few milliseconds
PATIENCE_S = 120.0  #: after that it is given up
_CACHE_KB = 65_536
_SMALL_CACHE_KB = 16_384
# Pages of 16 KB: a packed text with its keys and words takes 2 to 3 KB, and half of a small page would stay empty.
_PRAGMAS = (
    f"PRAGMA page_size=16384;PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA cache_size=-{_CACHE_KB};"
    "PRAGMA journal_size_limit=67108864;PRAGMA wal_autocheckpoint=2000;PRAGMA temp_store=MEMORY;"
)
# Pages that merges leave empty can go back to the disk (`give_back`). It is settled before the first table is made: to
# say it again of a file would wait for whoever writes to it.
_NEW_PRAGMAS = "PRAGMA page_size=16384;PRAGMA auto_vacuum=INCREMENTAL;"
_LABEL = "doublet_store"
_TURNS = 7126511  # advisory locks of PostgreSQL, with the number of a library
_opened = itertools.count(1)
_abandoned: list[Any] = []  # connections of a process that this one was forked from: never used, never closed
_QUOTED = re.compile(r'["\\]')


def _django() -> Any:
    """Django, configured. Inside a Django project that has ``doublet.store`` installed its own settings stay."""
    try:
        import django
        from django.conf import settings
    except ImportError as error:
        raise ConfigError("needs_django", library="django") from error
    if not settings.configured:
        settings.configure(
            INSTALLED_APPS=["doublet.store"],
            DATABASES={},
            USE_TZ=True,
            DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
            LOGGING_CONFIG=None,
        )
        django.setup()
    return django


def sqlite_place(address: str) -> Path | None:
    """The file of an address, or None for the address of a server."""
    if re.match(r"postgres(ql)?://", address):
        return None
    if address.startswith("sqlite://"):
        return Path(unquote(address.removeprefix("sqlite://").removeprefix("/") or "/"))
    if re.match(r"[a-z][a-z0-9+.-]+://", address):
        raise ConfigError(
            "not_a_database_address",
            address=hide_password(address),
        )
    return Path(address).expanduser()


def _holds_something(place: Path) -> bool:
    try:
        return place.stat().st_size > 0
    except (OSError, ValueError):
        return False


def hide_password(address: str) -> str:
    return re.sub(r"(://[^/@:]*):[^@]*@", r"\1:…@", address)


def django_settings(address: str) -> dict[str, Any]:
    place = sqlite_place(address)
    if place is not None:
        pragmas = _PRAGMAS if _holds_something(place) else _NEW_PRAGMAS + _PRAGMAS
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(place),
            "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": BUSY_S, "init_command": pragmas},
            "CONN_MAX_AGE": None,
        }
    try:
        import psycopg  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise ConfigError("needs_psycopg", library="psycopg") from error
    parts = urlsplit(address)
    options: dict[str, Any] = dict(parse_qsl(parts.query))
    options.setdefault("connect_timeout", 10)
    host = unquote(parts.hostname or "") or options.pop("host", "")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "doublet",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or options.pop("port", "") or ""),
        "OPTIONS": options,
        "DISABLE_SERVER_SIDE_CURSORS": True,
        "CONN_MAX_AGE": None,  # the end of a request of some Django project must not close it
    }


def _abandon(connection: Any) -> None:
    """Forget a connection that belongs to the process that this one was forked from, without a word to the server."""
    raw = connection.connection
    _abandoned.append(raw)
    if raw is not None and connection.vendor == "postgresql":
        with contextlib.suppress(Exception), Path(os.devnull).open("r+b") as nothing:
            os.dup2(nothing.fileno(), raw.fileno())  # what is said at the end of this process reaches nobody


def array(values: Sequence[Any]) -> Any:
    """Whole numbers or texts as PostgreSQL takes them for a list. Written out here: psycopg looks at each for long."""
    if len(values) and type(values[0]) is int:
        return "{" + ",".join(map(str, values)) + "}"
    if len(values) and type(values[0]) is str:
        return "{" + ",".join(['"' + _QUOTED.sub(r"\\\g<0>", value) + '"' for value in values]) + "}"
    return list(values)


class Database:
    """An opened database, with its tables. Safe to share between threads: each has its own connection."""

    def __init__(self, address: str | None = None, *, alias: str | None = None, create: bool = True) -> None:
        _django()
        from django.db import connections

        self._connections: Any = connections
        self._columns: dict[str, dict[str, str]] = {}
        self.longest_hold_s = 0.0  #: of a transaction of ours that wrote: how long others had to wait for it
        self.held_s = 0.0  #: the sum of all of them
        self._waited_s = 0.0  # for its turn, by the transaction at hand
        self.brought_up = False  #: was of an older version until it was opened here
        if (address is None) == (alias is None):
            raise ConfigError("address_or_alias")
        self.address = address  #: None inside a Django project
        self.foreign = alias is not None  #: the connection belongs to a Django project
        if alias is not None:
            self._use(alias)
            return
        assert address is not None
        self.place = sqlite_place(address)
        self.shown = str(self.place) if self.place else hide_password(address)
        self.vendor = "sqlite" if self.place else "postgresql"
        # Each opened database has connections of its own: closing one must not close another's.
        self.alias = f"doublet-{os.getpid()}-{next(_opened)}"
        if self.place is not None:
            self._look_at_file(self.place, create)
        configured = connections.configure_settings({"default": {}, self.alias: django_settings(address)})
        connections.settings[self.alias] = configured[self.alias]
        weakref.finalize(self, connections.settings.pop, self.alias, None)
        with self.guard():
            self._prepare(create)

    def _use(self, alias: str) -> None:
        """The connection *alias* of the Django project that we are part of."""
        if alias not in self._connections.settings:
            there = sorted(self._connections.settings)
            raise ConfigError("no_such_alias", alias=alias, known=there)
        self.alias = alias
        self.vendor = self.connection.vendor
        if self.vendor not in ("sqlite", "postgresql"):
            raise ConfigError("alias_of_another_kind", alias=alias, vendor=self.vendor)
        settings = self.connection.settings_dict
        self.place = Path(settings["NAME"]) if self.vendor == "sqlite" else None
        self.shown = str(settings["NAME"])
        known = known_migrations()
        with self.guard():
            found = self._applied()
        self._refuse_newer(found, known)
        if found is None or set(known) - set(found):
            raise StoreError("alias_without_tables", alias=alias, database=self.shown)

    def _look_at_file(self, place: Path, create: bool) -> None:
        try:
            folder, there = place.is_dir(), place.exists()
        except OSError as error:
            raise StoreError("not_opened", why=error.strerror or error, path=str(place)) from error
        if "\0" in str(place):
            raise StoreError("not_opened", why=Note("impossible_name"), path=str(place))
        if folder:
            raise StoreError("database_is_folder", path=str(place))
        if not there:
            if not create:
                raise StoreError("no_database", path=str(place))
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError("not_made", why=error.strerror or error, path=str(place)) from error
            return
        try:
            with place.open("rb") as file:
                head = file.read(16)
        except OSError as error:
            raise StoreError("not_opened", why=error.strerror or error, path=str(place)) from error
        if head and head != b"SQLite format 3\0":
            raise StoreDamaged(
                "not_our_database",
                path=str(place),
            )

    @property
    def connection(self) -> Any:
        """Django's connection of this thread and this process."""
        found = self._connections[self.alias]
        owner = found.__dict__.setdefault("doublet_process", os.getpid())
        if owner != os.getpid():
            _abandon(found)
            del self._connections[self.alias]
            return self.connection
        return found

    @property
    def raw(self) -> Any:
        """The driver's own connection, opened."""
        connection = self.connection
        until = time.monotonic() + BUSY_S
        while connection.connection is None:
            try:
                connection.ensure_connection()
            except Exception as error:
                # Two processes make the same file: to change its journal, SQLite waits for nobody. So we do.
                locked = self.vendor == "sqlite" and "locked" in str(error)
                if not locked or time.monotonic() > until:
                    raise
                time.sleep(0.02)
        return connection.connection

    @property
    def in_transaction(self) -> bool:
        """Inside a transaction, ours or the caller's."""
        return bool(self.connection.in_atomic_block)

    @property
    def in_foreign_transaction(self) -> bool:
        """Inside a transaction that somebody else began, and may take back after we are done."""
        connection = self.connection
        return bool(connection.in_atomic_block and not connection.__dict__.get("doublet_began"))

    def close(self) -> None:
        """Close this thread's connection, unless it is that of a Django project."""
        if not self.foreign:
            self._drop()
            with contextlib.suppress(AttributeError):
                del self._connections[self.alias]

    def _drop(self) -> None:
        with contextlib.suppress(Exception):
            self.connection.close()

    # Plain SQL

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if self.place is not None:
            found: list[tuple[Any, ...]] = self.raw.execute(sql.replace("%s", "?"), parameters).fetchall()
            return found
        with self.raw.cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchall() if cursor.description else []

    def row(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        found = self.rows(sql, parameters)
        return found[0] if found else None

    def binary(self, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Rows of PostgreSQL with bytes in them as they are: the usual way writes bytes out in letters. The types of
        parameters must stand in *sql*."""
        import psycopg

        with psycopg.Cursor(self.raw) as cursor:
            cursor.execute(cast(Any, sql), parameters, binary=True)
            return cursor.fetchall()

    def pairs(self, sql: str, parameters: Sequence[Any] = ()) -> NDArray[np.int64]:
        """Two columns of whole numbers, many rows, as an array: without an object for each."""
        import numpy as np

        if self.place is not None:
            return np.array(self.rows(sql, parameters), np.int64).reshape(-1, 2)
        together = f"SELECT string_agg(int8send(a) || int8send(b), ''::bytea) FROM ({sql}) AS q(a, b)"
        ((data,),) = self.binary(together, parameters)
        return np.frombuffer(data or b"", ">i8").reshape(-1, 2).astype(np.int64)

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        if self.place is not None:
            self.raw.executemany(sql.replace("%s", "?"), rows)
            return
        with self.raw.cursor() as cursor:
            cursor.executemany(sql, rows)

    def copy(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Many new rows, the quickest way that the database has."""
        names = ", ".join(columns)
        if self.place is None:
            kinds = self._kinds(table, columns)
            sql = f"COPY {table} ({names}) FROM STDIN (FORMAT BINARY)"
            with self.raw.cursor() as cursor, cursor.copy(sql) as copy:
                copy.set_types(kinds)
                for row in rows:
                    copy.write_row(row)
            return
        # Many rows in one statement: SQLite then works through them without Python, so that other threads can run.
        sql = f"INSERT INTO {table} ({names}) VALUES "
        marks = f"({', '.join('?' * len(columns))})"
        raw = self.raw
        everything = list(rows)
        whole = len(everything) - len(everything) % ROWS_TOGETHER
        together = sql + ", ".join([marks] * ROWS_TOGETHER)
        for start in range(0, whole, ROWS_TOGETHER):
            part = everything[start : start + ROWS_TOGETHER]
            raw.execute(together, list(itertools.chain.from_iterable(part)))
        raw.executemany(sql + marks, everything[whole:])

    def _kinds(self, table: str, columns: Sequence[str]) -> list[str]:
        """Types of columns of PostgreSQL: its binary format wants to be told."""
        if table not in self._columns:
            self._columns[table] = dict(
                self.rows(
                    "SELECT attname::text, format_type(atttypid, NULL) FROM pg_attribute "
                    "WHERE attrelid = to_regclass(%s) AND attnum > 0",
                    [table],
                )
            )
        return [self._columns[table][column.strip('"')] for column in columns]

    def among(self, sql: str, values: Sequence[Any], before: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """*sql* ends with ``IN``; *values* are handed over in parts that the database can take."""
        if self.place is None and values and type(values[0]) is int and not before:
            return self.binary(sql.removesuffix("IN") + "= ANY(%s::bigint[])", [array(values)])
        if self.place is None:
            return self.rows(sql.removesuffix("IN") + "= ANY(%s)", [*before, array(values)]) if values else []
        out: list[tuple[Any, ...]] = []
        for start in range(0, len(values), 900):
            part = values[start : start + 900]
            out += self.rows(f"{sql} ({', '.join(['%s'] * len(part))})", [*before, *part])
        return out

    def by_number(self, library: int, column: str) -> str:
        """*column* (of the library) as a query names it that goes through a library by the numbers of its documents.

        SQLite would take the index of names, and sort the whole library for every step. Where the library is a good
        part of the database, going through all documents is quicker.
        """
        if self.place is None:
            return column
        found = self.row(
            "SELECT sum(documents), sum(CASE WHEN id = %s THEN documents ELSE 0 END) FROM doublet_library",
            [library],
        )
        return f"+{column}" if found and found[1] and 10 * found[1] >= found[0] else column

    def document_numbers(self, library: int, size: int = 1_000) -> Iterator[list[int]]:
        """Numbers of the documents of a library, some at a time, rising."""
        last = 0
        with self.guard():
            own = self.by_number(library, "library_id")
        while True:
            with self.guard():
                rows = self.rows(
                    f"SELECT id FROM doublet_document WHERE {own} = %s AND id > %s ORDER BY id LIMIT %s",
                    [library, last, size],
                )
            if not rows:
                return
            last = rows[-1][0]
            yield [row[0] for row in rows]

    # Transactions and errors

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """All reads inside see one state of the database, whatever others write meanwhile."""
        with self.guard():
            if self.in_transaction:
                yield
                return
            with self._begun("DEFERRED"):
                if self.vendor == "postgresql":
                    self.rows("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                yield

    @contextlib.contextmanager
    def writing(self, waiting: Callable[[float], None] | None = None) -> Iterator[None]:
        """A transaction that changes something: all of it or nothing. Inside one of the caller's, a part of it.

        *waiting* is called, with the seconds so far, while another process has the right to write. Raises `StoreBusy`
        when that takes too long.
        """
        from django.db import transaction

        with self.guard():
            if self.in_foreign_transaction:
                with transaction.atomic(using=self.alias):  # a savepoint: the caller may go on after an error
                    yield
                return
            if self.in_transaction:
                yield
                return
            with self._begun("IMMEDIATE", waiting):
                yield

    @contextlib.contextmanager
    def _begun(self, mode: str, waiting: Callable[[float], None] | None = None) -> Iterator[None]:
        """A transaction of ours; *mode* is that of SQLite, whatever the project begins its own with."""
        from django.db import transaction

        connection = self.connection
        connection.ensure_connection()  # before that a connection of Django does not know its mode
        before = connection.transaction_mode if self.vendor == "sqlite" else None
        began = time.monotonic()
        while True:
            atomic = transaction.atomic(using=self.alias)
            try:
                if self.vendor == "sqlite":
                    connection.transaction_mode = mode
                atomic.__enter__()
                break
            except Exception as error:
                spent = time.monotonic() - began
                if "locked" not in str(error) or spent > PATIENCE_S:
                    raise
                log.info("waiting for another process that writes to %s (%.0f s)", self.shown, spent)
                if waiting is not None:
                    waiting(spent)
            finally:
                if self.vendor == "sqlite":
                    connection.transaction_mode = before
        connection.doublet_began = True
        began = time.monotonic()
        self._waited_s = 0.0
        try:
            try:
                yield
            except BaseException as error:
                connection.doublet_began = False
                atomic.__exit__(type(error), error, error.__traceback__)
                raise
            connection.doublet_began = False
            atomic.__exit__(None, None, None)
        finally:
            if mode == "IMMEDIATE":
                held = time.monotonic() - began - self._waited_s
                self.longest_hold_s = max(self.longest_hold_s, held)
                self.held_s += held

    def take_turn(self, library: int, waiting: Callable[[float], None] | None = None) -> None:
        """On PostgreSQL: nobody else writes to the library until the end of this transaction. *waiting* and
        `StoreBusy` as for `writing`."""
        numbers = [_TURNS, library]
        free = self.row("SELECT pg_try_advisory_xact_lock(%s, %s)", numbers)
        began = time.monotonic()
        while free is None or not free[0]:
            import psycopg

            # In the queue, so that nobody is passed over; now and then out of it, to tell.
            self.rows("SAVEPOINT turn")
            self.rows(f"SET LOCAL lock_timeout = {int(BUSY_S * 1e3)}")
            try:
                self.rows("SELECT pg_advisory_xact_lock(%s, %s)", numbers)
                free = (True,)
            except psycopg.errors.LockNotAvailable:
                self.rows("ROLLBACK TO SAVEPOINT turn")
                spent = time.monotonic() - began
                if spent > PATIENCE_S:
                    raise
                log.info("waiting for another process that writes to %s (%.0f s)", self.shown, spent)
                if waiting is not None:
                    waiting(spent)
            else:
                self.rows("SET LOCAL lock_timeout = DEFAULT")
            self.rows("RELEASE SAVEPOINT turn")
        self._waited_s += time.monotonic() - began

    @contextlib.contextmanager
    def small_cache(self) -> Iterator[None]:
        """Keep less of a file in the memory of this thread: for work that takes hours and asks for everything once."""
        if self.place is None:
            yield
            return
        with self.guard():
            self.rows(f"PRAGMA cache_size=-{_SMALL_CACHE_KB}")
        try:
            yield
        finally:
            with self.guard():
                self.rows(f"PRAGMA cache_size=-{_CACHE_KB}")

    @contextlib.contextmanager
    def guard(self) -> Iterator[None]:
        """Errors of the driver become ours."""
        from django.db import Error as DjangoError

        kinds: list[type[Exception]] = [sqlite3.Error, DjangoError]
        if self.place is None:
            import psycopg

            kinds.append(psycopg.Error)
        try:
            yield
        except tuple(kinds) as error:
            if self.place is None and self.connection.connection is not None and self.raw.closed:
                self._drop()  # the next use connects again
            raise self._explain(error) from error

    def _explain(self, error: Exception) -> DoubletError:
        text = str(error).strip()
        low = text.lower()
        facts: dict[str, Any] = {"database": self.shown}
        if "locked" in low or "lock timeout" in low or "deadlock" in low:
            return StoreBusy(
                "database_busy",
                shown=self.shown,
                **facts,
            )
        if "disk is full" in low or "no space left" in low or "disk full" in low:
            return StoreFull(
                "disk_full",
                shown=self.shown,
                **facts,
            )
        if "disk i/o error" in low or "file too large" in low:
            return StoreError(
                "database_io",
                shown=self.shown,
                text=text,
                **facts,
            )
        if "malformed" in low or "not a database" in low or "corrupt" in low or "invalid page" in low:
            return StoreDamaged(
                "database_damaged",
                shown=self.shown,
                text=text,
                **facts,
            )
        if self.place is None and (
            type(error).__name__ in ("OperationalError", "InterfaceError", "AdminShutdown", "CrashShutdown")
            or "connection" in low
        ):
            return StoreUnreachable(
                "database_unreachable",
                shown=self.shown,
                text=text.splitlines()[0] if text else Note("connection_lost"),
                **facts,
            )
        if "readonly" in low or "read-only" in low or "unable to open" in low or "permission denied" in low:
            return StoreError("database_not_opened", shown=self.shown, text=text, **facts)
        return StoreError("database_refused", shown=self.shown, text=text, **facts)

    # Layout

    def _prepare(self, create: bool) -> None:
        known = known_migrations()
        found = self._applied()
        if found is None and not create:
            raise StoreError(
                "database_without_libraries",
                database=self.shown,
            )
        self._refuse_newer(found, known)
        if found is None or any(name not in found for name in known):
            self._migrate(known)
            self.brought_up = found is not None

    def _refuse_newer(self, found: list[str] | None, known: list[str]) -> None:
        newer = [name for name in found or () if name not in known]
        if newer:
            raise StoreTooNew(
                "database_too_new",
                known=known[-1],
                database=self.shown,
                step=newer[-1],
            )

    def _applied(self) -> list[str] | None:
        """Steps that this database has gone through; None when it has no tables of ours."""
        if self.place is not None:
            there = self.row("SELECT 1 FROM sqlite_master WHERE name = 'django_migrations'")
            others = self.row("SELECT count(*) FROM sqlite_master")
            if not there and others and others[0] and not self.foreign:
                raise StoreDamaged(
                    "database_of_another",
                    database=self.shown,
                )
        else:
            there = self.row("SELECT 1 WHERE to_regclass('django_migrations') IS NOT NULL")
        if not there:
            return None
        rows = self.rows("SELECT name FROM django_migrations WHERE app = %s ORDER BY name", [_LABEL])
        return [row[0] for row in rows] or None

    def _migrate(self, known: list[str]) -> None:
        from django.core.management import call_command

        if self.place is not None:
            require_fts5(self.raw)
        for attempt in range(20):
            try:
                if self.place is None:
                    self.rows("SELECT pg_advisory_lock(7126510)")
                try:
                    call_command("migrate", _LABEL, database=self.alias, verbosity=0, interactive=False)
                finally:
                    if self.place is None:
                        self.rows("SELECT pg_advisory_unlock(7126510)")
                self._make_anew()
                return
            except Exception:
                # Another process may be making the tables at this moment.
                time.sleep(0.2)
                if set(known) <= set(self._applied() or ()):
                    return
                if attempt == 19 or self.place is None:
                    raise

    def give_back(self) -> None:
        """Hand the pages that a merge left empty back to the disk, in short steps. A file from before this was settled
        for new ones keeps them, and new documents fill them."""
        free = self._empty_pages()
        while free:
            with self.writing():
                self.rows(f"PRAGMA incremental_vacuum({_PAGES_TOGETHER})")
            before, free = free, self._empty_pages()
            if free >= before:
                return

    def _empty_pages(self) -> int:
        """How many pages of a file are empty; 0 where these are too few to be worth the work."""
        if self.place is None:
            return 0
        (free,), (every,) = self.rows("PRAGMA freelist_count") + self.rows("PRAGMA page_count")
        return free if 20 * free >= every else 0

    def _make_anew(self) -> None:
        """Without the pages that a new layout left empty. Only a wish: new documents would fill them."""
        free = self._empty_pages()
        if not free:
            return
        try:
            self.rows("VACUUM")
        except sqlite3.Error as error:  # no room for a copy, or another process reads
            log.info("%s keeps %d empty pages: %s", self.shown, free, error)


def known_migrations() -> list[str]:
    folder = Path(__file__).parent / "migrations"
    return sorted(path.stem for path in folder.glob("[0-9]*.py"))


def require_fts5(raw: Any) -> None:
    options = {row[0] for row in raw.execute("PRAGMA compile_options")}
    if "ENABLE_FTS5" not in options:
        raise ConfigError(
            "sqlite_without_fts5",
            sqlite_version=sqlite3.sqlite_version,
            library="sqlite3",
        )
