"""Memory within a tight budget: what a run holds while the kernels must keep nothing for the next piece of work.

The native kernels keep large blocks that are freed, since new pages cost more than the work on them. The memory is that
of the whole process, so as long as one run saves, none is kept; when the last one is done, the kernels keep it again.
"""

from __future__ import annotations

import threading
from types import TracebackType

from doublet import kernels


class MemorySaver:
    """With it open, what is freed goes back to the system at once. Runs may overlap: each has its own."""

    _turn = threading.Lock()
    _open = 0

    def __enter__(self) -> MemorySaver:
        with MemorySaver._turn:
            MemorySaver._open += 1
            kernels.save_memory(True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with MemorySaver._turn:
            MemorySaver._open -= 1
            if not MemorySaver._open:
                kernels.save_memory(False)
