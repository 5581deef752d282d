"""Short transactions of requests, one after the other where the database has one writer.

SQLite lets whoever asks at the right moment write: of fifty requests that wait beside a library that is being filled,
some would wait for many seconds. So the threads of this process stand in one line, and only the first of them asks,
again and again.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction

from doublet.web.configure import LOCKED_S

ASK_AGAIN_S = 0.001


class Line:
    """A lock that is handed on in the order in which threads came."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._taken = False

    def __enter__(self) -> None:
        with self._lock:
            if not self._taken:
                self._taken = True
                return
            turn = threading.Event()
            self._waiting.append(turn)
        turn.wait()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False


_LINE = Line()


@contextmanager
def writing() -> Iterator[None]:
    """A transaction that changes something: all of it or nothing. Inside another one, a part of it."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        with transaction.atomic():
            yield
        return
    with _LINE:
        atomic = _begun()
        try:
            yield
        except BaseException as error:
            if not atomic.__exit__(type(error), error, error.__traceback__):
                raise
        else:
            atomic.__exit__(None, None, None)


def _begun() -> transaction.Atomic:
    until = time.monotonic() + LOCKED_S
    _wait_for(0)
    try:
        while True:
            atomic = transaction.atomic()
            try:
                atomic.__enter__()
                return atomic
            except OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(ASK_AGAIN_S)
    finally:
        _wait_for(LOCKED_S)


def _wait_for(seconds: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout={1000 * seconds}")
