"""Keeps so many worker processes alive, and ends them together.

A job that kills its process, by eating all memory or through a fault of a library, costs that process alone: another
one is started, and the queue gives the job up after some attempts. Each worker is handed a pipe on its standard input
that closes when the supervisor is gone, however it went; then it stops too.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence

log = logging.getLogger(__name__)

QUICK_S = 5.0  #: a worker that lived shorter failed to start; the next one is not started at once
LONGEST_PAUSE_S = 60.0
END_S = 30.0  #: how long workers may take to put back what they do


class Supervisor:
    """Starts *command* so many times, again and again, until `stop`."""

    def __init__(
        self,
        command: Sequence[str],
        processes: int,
        *,
        environment: Mapping[str, str] | None = None,
        told: Callable[[str, int, int], None] | None = None,
    ) -> None:
        self._command = list(command)
        self._environment = dict(environment or {})
        self._processes = processes
        self._told = told or (lambda *_: None)
        self._stopping = threading.Event()
        self._at_once = False

    def stop(self) -> None:
        """End the workers; called twice, at once. From any thread or signal."""
        self._at_once = self._stopping.is_set()
        self._stopping.set()

    def run(self) -> int:
        """Until all workers have ended; gives the exit code: 0, or that of a worker that never lived."""
        slots = [_Slot(self._command, self._environment, self._told) for _ in range(self._processes)]
        try:
            while not self._stopping.is_set():
                for slot in slots:
                    slot.look()
                if all(slot.hopeless for slot in slots):
                    return next(slot.code for slot in slots)
                self._stopping.wait(0.2)
        finally:
            self._end(slots)
        return 0

    def _end(self, slots: Sequence[_Slot]) -> None:
        until = time.monotonic() + END_S
        for slot in slots:
            slot.signal(signal.SIGTERM)
        again = False
        while any(slot.alive for slot in slots):
            if self._at_once and not again:
                again = True
                for slot in slots:
                    slot.signal(signal.SIGTERM)
            if time.monotonic() > until:
                log.warning("a worker did not end and is stopped by force; another one will do its job")
                for slot in slots:
                    slot.signal(signal.SIGKILL)
            time.sleep(0.05)


class _Slot:
    """The place of one worker."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        told: Callable[[str, int, int], None],
    ) -> None:
        self._command = command
        self._environment = environment
        self._told = told
        self._process: subprocess.Popen[bytes] | None = None
        self._began = 0.0
        self._next = 0.0
        self._pause_s = 1.0
        self._lived = False
        self._failures = 0
        self.code = 0

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def hopeless(self) -> bool:
        """Wrong settings, or a database that is not there: no worker of this place ever got to its work."""
        return not self._lived and self._failures >= 3

    def look(self) -> None:
        now = time.monotonic()
        if self.alive:
            if now - self._began > QUICK_S:
                self._lived, self._pause_s = True, 1.0
            return
        if self._process is not None:
            self.code = self._process.returncode
            self._told("ended", self._process.pid, self.code)
            self._process = None
            if now - self._began <= QUICK_S:
                self._failures += 1
                self._next = now + self._pause_s
                self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        if now >= self._next and not self.hopeless:
            self._began = now
            # In a session of its own: Ctrl-C in a terminal reaches the supervisor, which ends the workers in order.
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                start_new_session=True,
                env={**os.environ, **self._environment},
            )
            self._told("began", self._process.pid, 0)

    def signal(self, number: int) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)
