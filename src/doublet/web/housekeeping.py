"""What the process that answers requests does beside them: web hooks, works that never came into the queue, and reports
whose time is over."""

from __future__ import annotations

import logging
import threading
import time

from django.db import DatabaseError, close_old_connections, connection

from doublet.errors import DoubletError
from doublet.web.hooks.sending import Sender
from doublet.web.store import store
from doublet.web.works import checking, expiring

log = logging.getLogger(__name__)
TURN_S = 2.0
LOOK_S = 10  #: between two looks for works that never came into the queue
EXPIRE_S = 3600


class Housekeeper:
    """A thread. What goes wrong is written to the log and tried again at the next turn."""

    def __init__(self, turn_s: float = TURN_S) -> None:
        self._turn_s = turn_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="doublet-housekeeping", daemon=True)
        self._sender = Sender()
        self._look_again = 0.0
        self._hour = 0  # in which it was last looked for what is over

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(20)

    def _run(self) -> None:
        while not self._stopping.wait(self._turn_s):
            try:
                close_old_connections()
                self.turn()
            except (DatabaseError, DoubletError) as error:
                log.warning("housekeeping is tried again: %s", error)
        connection.close()

    def turn(self) -> None:
        now = time.monotonic()
        if now >= self._look_again:
            checking.take_up()
            self._look_again = now + LOOK_S
        hour = int(time.time()) // EXPIRE_S
        if hour != self._hour:
            if expiring.anything_over():
                store().jobs.add("expire_works", key=f"expire_works {hour}", priority=-2)
            self._hour = hour
        self._sender.turn()
