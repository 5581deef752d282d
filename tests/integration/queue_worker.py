"""A worker in a process of its own, with some kinds of jobs for the tests; and these kinds."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from fill_worker import PAGES, Pages

from doublet.errors import StoreBusy
from doublet.jobs.queue import kinds
from doublet.jobs.queue.kinds import Work
from doublet.model import Note

FOR_TESTS = ("pages", "sleep", "crash", "wrong", "busy", "echo")


def pages(work: Work, *, journal: str, pause_s: float = 0.05) -> dict[str, Any]:
    """Fills a library from a slow source."""
    from doublet.jobs.add_source import fill_source

    source = Pages(journal, pause_s)
    number = work.store.libraries.get("x").number
    info = work.store.sources.add(number, source.kind, source.address, {})
    filled = fill_source(work.store, info, walked=source, progress=work.progress)  # type: ignore[arg-type]
    return {"counts": dict(filled.counts), "pages": PAGES}


def sleep(work: Work, *, steps: int, step_s: float = 0.05) -> int:
    """Counts, and goes on where an earlier attempt was."""
    for number in range(int(work.checkpoint.get("steps", 0)), steps):
        work.progress.step("sleeping", number, steps, "steps", Note("said", text="well"))
        time.sleep(step_s)
        work.keep({"steps": number + 1})
    return steps


def crash(work: Work) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def wrong(work: Work) -> None:
    raise ZeroDivisionError("on purpose")


def busy(work: Work, *, times: int) -> int:
    tried = int(work.checkpoint.get("tried", 0)) + 1
    work.keep({"tried": tried})
    if tried <= times:
        raise StoreBusy("busy on purpose", database="x")
    return tried


def echo(work: Work, *, value: Any = None) -> Any:
    return value


def main(address: str, lease_s: str) -> None:
    from doublet.jobs import add_source
    from doublet.jobs.queue.worker import Worker
    from doublet.store import leases
    from doublet.store.database import Store

    for name in FOR_TESTS:
        kinds.KINDS[name] = f"{__name__}:{name}"
    sys.modules["queue_worker"] = sys.modules[__name__]
    leases.LEASE_S = float(lease_s)
    add_source.BATCH_DOCUMENTS = 4
    with Store(address) as store:
        worker = Worker(store, look_s=0.2, grace_s=0.2)
        signal.signal(signal.SIGTERM, lambda *_: worker.stop())
        print("ready", flush=True)
        worker.run()
        print("stopped", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
