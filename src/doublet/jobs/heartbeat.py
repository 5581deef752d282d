"""A thread that says again and again that its process lives, so that a lease holds while the work goes on."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable

from doublet.errors import DoubletError
from doublet.store import leases

log = logging.getLogger(__name__)


class Heartbeat:
    """Calls *beat* every third of a lease, in a thread with its own connection, until it gives False or ``with`` ends.

    A beat that fails is tried again soon: the database may only be busy. *close* is called at the end of the thread.
    """

    def __init__(
        self,
        beat: Callable[[], bool],
        *,
        every_s: float | None = None,
        close: Callable[[], None] | None = None,
    ) -> None:
        self._beat = beat
        self._every_s = leases.LEASE_S / 3 if every_s is None else every_s
        self._close = close
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="doublet-heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        pause = self._every_s
        try:
            while not self._stop.wait(pause):
                pause = self._every_s
                try:
                    if not self._beat():
                        return
                except Exception as error:  # whatever it is: the lease must not be lost over it
                    log.warning("a lease could not be renewed, which is tried again: %s", error)
                    pause = min(self._every_s, 1.0)
        finally:
            if self._close is not None:
                with contextlib.suppress(DoubletError):
                    self._close()
