"""How much to do in one transaction: so much that nobody has to wait for long.

Whoever changes much does it in steps, each a transaction of its own. SQLite has one writer at a time, so a step is how
long everybody else waits, a heartbeat too. Every transaction has a price of its own (small segments of the index, a
part of the statistics, a commit), so steps are not shorter than they have to be.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from doublet.store.connection import Database

#: seconds that a step should hold others up. The promise is half a second: steps differ, and machines are busy. With
#: 0.1 the steps of a busy machine are so small that filling takes half as much CPU again (benchmarks/ratio.py).
HOLD_S = 0.2
#: seconds that others have after a step on SQLite, which gives the right to write to whoever asks at the right moment
GAP_S = 0.005


class Pace:
    """The size of the next step: it follows from how long the last one held others up, not from how long it waited."""

    def __init__(self, size: int, *, most: int, least: int = 1) -> None:
        self.size = size
        self._least, self._most = least, most

    @contextmanager
    def step(self, database: Database, amount: int | None = None) -> Iterator[int]:
        """One step, of as many things as it gives, or of *amount*. A small step that was quick says nothing of a large
        one."""
        before = database.held_s
        yield self.size
        spent = max(database.held_s - before, 1e-4)
        if spent > 10 * GAP_S and database.vendor == "sqlite":
            time.sleep(GAP_S)
        done = self.size if amount is None else min(amount, self.size)
        if spent > HOLD_S or 2 * done >= self.size:
            self.size = int(max(self._least, min(self._most, done * HOLD_S / spent, 2 * self.size)))
