"""Progress of long work: events to a callable, and a flag that stops it.

A job calls `Progress.step` as it goes; the progress bar, the live page and the tests read the same events.
The library itself never prints.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from doublet.errors import Cancelled, wrong_type
from doublet.model import Note


@dataclass(frozen=True, slots=True)
class Event:
    """*stage* is a stable code ("reading", "joining"); *total* is None while it is not known; *unit* names *done*."""

    stage: str
    done: int
    total: int | None
    unit: str
    message: Note | None = None


Listener = Callable[[Event], None]


class Progress:
    """Sends events and raises `Cancelled` at the next step after `cancel` was called (from any thread)."""

    def __init__(self, listener: Listener | None = None) -> None:
        self._listener = listener
        self._cancelled = threading.Event()

    @staticmethod
    def of(given: Progress | None) -> Progress:
        """*given*, or one that tells nobody. Raises `InvalidParameter` for anything else."""
        if given is not None and not isinstance(given, Progress):
            raise wrong_type("progress", given, "wanted_progress")
        return Progress() if given is None else given

    def cancel(self) -> None:
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def step(self, stage: str, done: int, total: int | None, unit: str, message: Note | None = None) -> None:
        if self._cancelled.is_set():
            raise Cancelled("cancelled")
        if self._listener is not None:
            self._listener(Event(stage, done, total, unit, message))
