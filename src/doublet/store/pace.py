"""How much to do in one transaction: so much that nobody has to wait for long.

Whoever changes much does it in steps, each a transaction of its own. SQLite has one writer at a time, so a step is how
long everybody else waits, a heartbeat too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

HOLD_S = 0.1  #: what a step should take; the promise is half a second, and machines are busy


class Pace:
    """The size of the next step: it follows from how long the last one took."""

    def __init__(self, size: int, *, most: int, least: int = 1) -> None:
        self.size = size
        self._least, self._most = least, most

    @contextmanager
    def step(self) -> Iterator[int]:
        """One step, of as many things as it gives."""
        began = time.monotonic()
        yield self.size
        spent = max(time.monotonic() - began, 1e-4)
        self.size = int(max(self._least, min(self._most, self.size * min(2.0, HOLD_S / spent))))
