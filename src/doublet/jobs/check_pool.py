"""A bounded pool of processes that answer checks, for a service with many users at once.

Threads of one process would share one interpreter: fifty of them answer no more checks than one, only later. So
there are a few processes, each with its own connection and one check at a time, and a short line of requests before
them. When the line is full the answer is `PoolBusy` at once, instead of a minute later.

    with CheckPool("theses.db", processes=2) as pool:
        check = pool.check("A text…", libraries=["theses"])

A process that dies is replaced, and its request is tried once more. One that takes too long is stopped.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import doublet
from doublet import config
from doublet.errors import DoubletError, PoolBusy, TimedOut, WorkerLost, require_text
from doublet.model import Check

WAITING = 100  #: requests that may wait; with 50 users each has one in hand and one on its way
TIMEOUT_S = 60.0  #: from the request to the answer
CHECKS_PER_PROCESS = 5_000  #: then a fresh one takes its place: what libraries leak stays small
IDLE_S = 300.0  #: without work, after which a process that is not kept ends
START_S = 60.0  #: a process that is not ready after so long is broken
#: one thread in each process: the pool is what works at the same time, and idle threads cost memory
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}


@dataclass(slots=True)
class _Request:
    text: str
    options: dict[str, Any]
    answer: Future[Check]
    until: float
    tried: bool = False


class CheckPool:
    """Answers checks against the libraries at *address* with so many *processes*. Safe to use from any thread.

    *kept* of them are there from the start (None: all); the others come when all are busy, and go when there was
    nothing to do for *idle_s*.
    """

    def __init__(
        self,
        address: str,
        *,
        processes: int | None = None,
        waiting: int = WAITING,
        timeout_s: float = TIMEOUT_S,
        checks_per_process: int = CHECKS_PER_PROCESS,
        kept: int | None = None,
        idle_s: float = IDLE_S,
    ) -> None:
        self.address = address
        self.processes = processes or config.processors()
        self.kept = self.processes if kept is None else max(1, min(kept, self.processes))
        self.idle_s = idle_s
        self.timeout_s = timeout_s
        self._requests: queue.Queue[_Request | None] = queue.Queue(max(1, waiting))
        self._closed = False
        self._checks_per_process = checks_per_process
        self._lock = threading.Lock()
        self._open = 0  # requests without an answer
        self._numbers = itertools.count()
        self._slots: list[_Slot] = []
        with self._lock:
            for _ in range(self.kept):
                self._add_slot()

    def submit(self, text: str, **options: Any) -> Future[Check]:
        """A check that is made as soon as a process is free; *options* are those of `check_library`.

        Raises `PoolBusy` when too many wait. The answer raises what `check_library` raises, and `TimedOut`,
        `WorkerLost`.
        """
        require_text("text", text)
        request = _Request(text, options, Future(), time.monotonic() + self.timeout_s)
        if self._closed:
            raise PoolBusy("pool_closed")
        try:
            self._requests.put_nowait(request)
        except queue.Full:
            raise PoolBusy("pool_full", waiting=self._requests.maxsize) from None
        with self._lock:
            self._open += 1
            if len(self._slots) < min(self._open, self.processes) and not self._closed:
                self._add_slot()
        request.answer.add_done_callback(self._answered)
        return request.answer

    def _add_slot(self) -> None:
        slot = _Slot(self, next(self._numbers))
        self._slots.append(slot)
        slot.start()

    def _answered(self, _: object) -> None:
        with self._lock:
            self._open -= 1

    def may_leave(self, slot: _Slot) -> bool:
        """Whether a slot that has nothing to do is one too many; then it is forgotten."""
        with self._lock:
            if len(self._slots) <= self.kept or self._closed:
                return False
            self._slots.remove(slot)
            return True

    def check(self, text: str, **options: Any) -> Check:
        """As `check_library`, in one of the processes. Raises `PoolBusy` and what `submit` names."""
        return self.submit(text, **options).result()

    @property
    def waiting(self) -> int:
        """How many requests no process has taken yet."""
        return self._requests.qsize()

    @property
    def pids(self) -> list[int]:
        """Of the processes that live now."""
        return [slot.process.pid for slot in list(self._slots) if slot.process is not None]

    def close(self) -> None:
        """Answer nothing more, and end the processes."""
        self._closed = True
        with contextlib.suppress(queue.Empty):
            while True:
                left = self._requests.get_nowait()
                if left is not None:
                    left.answer.set_exception(PoolBusy("pool_closed"))
        with self._lock:
            slots = list(self._slots)
        for _ in slots:
            self._requests.put(None)
        for slot in slots:
            slot.join()

    def __enter__(self) -> CheckPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(self, slot: _Slot) -> _Request | None:
        """The next request; None at the end. For the threads of the pool."""
        while True:
            try:
                return self._requests.get(timeout=self.idle_s)
            except queue.Empty:
                if self.may_leave(slot):
                    return None

    @property
    def checks_per_process(self) -> int:
        return self._checks_per_process


class _Slot(threading.Thread):
    """One place in the pool: a thread that hands requests to a process, and a fresh process when that is needed."""

    def __init__(self, pool: CheckPool, number: int) -> None:
        super().__init__(name=f"doublet-check-{number}", daemon=True)
        self._pool = pool
        self.process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._answered = 0

    def run(self) -> None:
        with contextlib.suppress(DoubletError):  # told to whoever asks first
            self._ready()
        while True:
            request = self._pool.take(self)
            if request is None:
                self._end()
                return
            if not request.answer.set_running_or_notify_cancel():
                continue
            try:
                request.answer.set_result(self._answer(request))
            except BaseException as error:
                request.answer.set_exception(error)
            if self._answered >= self._pool.checks_per_process:
                self._end()
                with contextlib.suppress(DoubletError):
                    self._ready()

    def _answer(self, request: _Request) -> Check:
        while True:
            left = request.until - time.monotonic()
            if left <= 0:
                raise TimedOut("check_waited_too_long", seconds=self._pool.timeout_s)
            try:
                connection = self._ready()
                connection.send((request.text, request.options))
                if not connection.poll(max(0.0, request.until - time.monotonic())):
                    self._end(kill=True)
                    raise TimedOut("check_took_too_long", seconds=self._pool.timeout_s)
                kind, value = connection.recv()
            except (EOFError, OSError) as error:
                self._end(kill=True)
                if request.tried:
                    raise WorkerLost("check_worker_lost") from error
                request.tried = True
                continue
            self._answered += 1
            if kind == "error":
                raise value
            answer: Check = value
            return answer

    def _ready(self) -> Connection:
        """The connection to a process that waits for work. Raises `WorkerLost`, and what opening the store raises."""
        if self._connection is not None and self.process is not None and self.process.poll() is None:
            return self._connection
        self._end(kill=True)
        here, there = socket.socketpair()
        with there:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "doublet.jobs.check_process", str(there.fileno())],
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
                env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": _search_path()},
                start_new_session=True,
            )
        self._connection = Connection(here.detach())
        self._answered = 0
        try:
            # Not in the command line, which everybody can read: an address may have a password in it.
            self._connection.send(self._pool.address)
            if not self._connection.poll(START_S):
                raise EOFError
            kind, value = self._connection.recv()
        except (EOFError, OSError) as error:
            self._end(kill=True)
            raise WorkerLost("check_not_started") from error
        if kind == "error":
            self._end(kill=True)
            raise value
        return self._connection

    def _end(self, *, kill: bool = False) -> None:
        if self._connection is not None:
            self._connection.close()  # the process ends when its side does
            self._connection = None
        if self.process is not None:
            if kill:
                self.process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.process = None


def _search_path() -> str:
    """Where the new process finds this very program."""
    place = os.path.dirname(os.path.dirname(doublet.__file__))  # noqa: PTH120 - the path is a text for the environment
    return os.pathsep.join(
        dict.fromkeys([place, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))])
    )
