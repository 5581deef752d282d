"""A worker: takes jobs from the queue, one at a time, and does them.

While a job is done, a thread with its own connection renews the lease, writes down the progress and looks whether
somebody wants the job to stop. How a job ends is decided here: done; cancelled; failed with the code of the error; put
back because it may go better later, or because this worker is to stop.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import math
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from doublet.config import Settings
from doublet.errors import (
    Cancelled,
    DoubletError,
    FetchFailed,
    LeaseLost,
    SourceBusy,
    StoreBusy,
    StoreFull,
    StoreUnreachable,
)
from doublet.jobs.heartbeat import Heartbeat
from doublet.jobs.queue import kinds
from doublet.model import Note
from doublet.progress import Event, Progress
from doublet.store import leases
from doublet.store.database import Store
from doublet.store.values import JobInfo

log = logging.getLogger(__name__)

LOOK_S = 1.0  #: how often a worker looks for a request to cancel, and for the next job
REPORT_S = 2.0  #: how often progress is written down at most
GRACE_S = (
    5.0  #: a job that ends so soon after the worker was told to stop is finished; a longer one is put back
)
TRY_AGAIN_S = 10.0  #: before the second attempt; each further one waits twice as long
EXPIRE_S = 3600.0  #: how often old jobs are forgotten
REFRESH_S = 600.0  #: how often an idle worker looks for sites with pages that are due
#: errors after which the same work may succeed
PASSING = (StoreBusy, StoreUnreachable, LeaseLost, FetchFailed)
FULL_S = 20.0  #: that a job waits when the disk is full
FAULT = "fault"  #: code of a job that ended with an error of the program itself
OUT_OF_MEMORY = "out_of_memory"


@dataclass(frozen=True, slots=True)
class Ended:
    """How one job ended here: done, failed, cancelled, paused, back (in the queue), or lost (another worker has it)."""

    job: JobInfo
    state: str
    message: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


Listener = Callable[[JobInfo | Ended], None]


class Worker:
    """Does the jobs of one store until it is stopped. *told* hears of every job that begins and ends here; *more* are
    kinds of jobs that this program adds to those that all workers know."""

    def __init__(
        self,
        store: Store,
        *,
        settings: Settings | None = None,
        lease_s: float | None = None,
        look_s: float = LOOK_S,
        grace_s: float = GRACE_S,
        told: Listener | None = None,
        more: Mapping[str, kinds.Kind] | None = None,
    ) -> None:
        self._store = store
        self._settings = settings or Settings()
        self._lease_s = leases.LEASE_S if lease_s is None else lease_s
        self._look_s = look_s
        self._grace_s = grace_s
        self._told = told or (lambda _: None)
        self._owner = leases.new_owner()
        self._stopping = threading.Event()
        self._running: _Run | None = None
        self._more = dict(more or {})  # kinds that only this worker can do
        self._kinds = [*kinds.names(), *self._more]
        self._expired = 0.0
        self._refreshed = 0.0

    @property
    def owner(self) -> str:
        return self._owner

    def stop(self, *, at_once: bool = False) -> None:
        """Take no further job; finish the one in hand if that is soon, or put it back. From any thread or signal."""
        self._stopping.set()
        running = self._running
        if running is not None:
            running.stop(0.0 if at_once else self._grace_s)

    def run(self, *, until_empty: bool = False) -> None:
        """Do jobs until `stop` is called; with *until_empty*, until there is nothing to do."""
        while not self._stopping.is_set():
            try:
                ended = self.run_one()
                self._expire()
            except DoubletError as error:
                log.warning("the queue could not be read, which is tried again: %s", error)
                self._stopping.wait(10 * self._look_s)
                continue
            if ended is None:
                if until_empty:
                    return
                self._refresh()
                self._stopping.wait(self._look_s)

    def run_one(self) -> Ended | None:
        """Do the next job; None when there is nothing to do."""
        job = self._store.jobs.claim(self._owner, lease_s=self._lease_s, kinds=self._kinds)
        if job is None:
            return None
        self._told(job)
        kind = self._more.get(job.kind)
        run = _Run(self._store, job, self._owner, self._settings, self._lease_s, self._look_s, kind)
        self._running = run
        if self._stopping.is_set():  # told to stop while the job was being claimed
            run.stop(0.0)
        try:
            ended = run.run()
        finally:
            self._running = None
        self._told(ended)
        return ended

    def _refresh(self) -> None:
        """Put work into the queue for libraries whose sites have pages that are due: each once an hour at most."""
        if self._refreshed and time.monotonic() - self._refreshed < REFRESH_S:
            return
        self._refreshed = time.monotonic()
        now = int(time.time())
        for name in self._store.frontier.due_libraries(now):
            self._store.jobs.add(
                "refresh", {"library": name}, library=name, priority=-1, key=f"refresh {name} {now // 3600}"
            )

    def _expire(self) -> None:
        self._store.jobs.sweep()
        if time.monotonic() - self._expired > EXPIRE_S or not self._expired:
            self._store.jobs.expire(self._settings.keep_jobs_days)
            self._expired = time.monotonic()


class _Run:
    """One job on its way."""

    def __init__(
        self,
        store: Store,
        job: JobInfo,
        owner: str,
        settings: Settings,
        lease_s: float,
        look_s: float,
        kind: kinds.Kind | None = None,
    ) -> None:
        self._store = store
        self._kind = kind
        self._job = job
        self._owner = owner
        self._settings = settings
        self._lease_s = lease_s
        self._look_s = look_s
        self._progress = Progress(self._listen)
        self._event: Event | None = None
        self._written: Event | None = None
        self._renewed = self._reported = time.monotonic()
        self._stop_at: float | None = None
        self._why = ""  #: cancelled, stopped or lost

    def stop(self, after_s: float) -> None:
        self._stop_at = time.monotonic() + after_s
        if not after_s:
            self._break_off("stopped")

    def _break_off(self, why: str) -> None:
        self._why = self._why or why
        self._progress.cancel()

    def _listen(self, event: Event) -> None:
        self._event = event

    def _beat(self) -> bool:
        """Look, tell, renew. In the thread of the heartbeat."""
        now = time.monotonic()
        if self._stop_at is not None and now >= self._stop_at:
            self._break_off("stopped")
        jobs, number, event = self._store.jobs, self._job.number, self._event
        if event is not None and event != self._written and now - self._reported >= REPORT_S:
            note = Note("said", text=event.message) if isinstance(event.message, str) else event.message
            message, facts = (note.code, {"note": note.to_dict()}) if note else ("", {})
            beat = jobs.report(
                number,
                self._owner,
                stage=event.stage,
                done=event.done,
                total=event.total,
                unit=event.unit,
                message=message,
                facts=facts,
                lease_s=self._lease_s,
            )
            self._written, self._reported, self._renewed = event, now, now
        elif now - self._renewed >= self._lease_s / 3:
            beat = jobs.beat(number, self._owner, lease_s=self._lease_s)
            self._renewed = now
        else:
            beat = jobs.look(number, self._owner)
        if not beat.held:
            self._break_off("lost")
            return False
        if beat.cancel:
            self._break_off("cancelled")
        return True

    def _keep(self, checkpoint: Mapping[str, Any]) -> None:
        if not self._store.jobs.keep(self._job.number, self._owner, checkpoint):
            self._break_off("lost")
            raise Cancelled("job_taken_over")

    def run(self) -> Ended:
        began = time.monotonic()
        job = self._job
        work = kinds.Work(
            store=self._store,
            progress=self._progress,
            settings=self._settings,
            checkpoint=dict(job.checkpoint),
            keep=self._keep,
        )
        every = min(self._look_s, self._lease_s / 3)
        with Heartbeat(self._beat, every_s=every, close=self._store.jobs.close_thread):
            try:
                kind = self._kind or kinds.get(job.kind)
                kinds.check_parameters(job.kind, job.parameters, kind)
                with self._store.database.guard():
                    result = kind(work, **job.parameters)
                ended = self._finish("done", result=result)
            except Cancelled as error:
                ended = self._cancelled(error)
            except KeyboardInterrupt:
                self._back(0.0, counts=False)
                raise
            except SourceBusy as error:
                ended = self._back(
                    min(float(str(error.details.get("seconds", 5))), 30.0), counts=False, error=error
                )
            except DoubletError as error:
                ended = self._failed(error)
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                    ended = self._fault(error)
                else:
                    ended = self._failed(
                        StoreFull("disk_full", shown=error.filename or tempfile.gettempdir())
                    )
            except MemoryError:
                ended = self._finish("failed", OUT_OF_MEMORY)
            except Exception as error:  # ours to mend: the log has the place
                ended = self._fault(error)
        return Ended(ended.job, ended.state, ended.message, ended.facts, time.monotonic() - began)

    def _cancelled(self, error: Cancelled) -> Ended:
        if self._why == "lost":
            return Ended(self._job, "lost")
        if self._why == "stopped":
            return self._back(0.0, counts=False)
        return self._finish("cancelled", error.code, _facts(error))

    def _fault(self, error: Exception) -> Ended:
        log.exception("job %d (%s) ended with a fault", self._job.number, self._job.kind)
        facts = {"type": type(error).__name__, "message": str(error)[:1000]}
        return self._finish("failed", FAULT, facts)

    def _failed(self, error: DoubletError) -> Ended:
        job = self._job
        if isinstance(error, StoreFull):  # it goes on when there is room again, however long that takes
            return self._back(FULL_S, counts=False, error=error)
        if isinstance(error, PASSING) and job.attempts < job.max_attempts:
            return self._back(TRY_AGAIN_S * 2 ** (job.attempts - 1), counts=True, error=error)
        return self._finish("failed", error.code, _facts(error))

    def _finish(
        self, state: str, message: str = "", facts: Mapping[str, Any] | None = None, result: Any = None
    ) -> Ended:
        facts = facts or {}

        def write() -> str:
            jobs, event = self._store.jobs, self._event
            if event is not None and event != self._written:
                stage, done, total, unit = event.stage, event.done, event.total, event.unit
                jobs.report(self._job.number, self._owner, stage=stage, done=done, total=total, unit=unit)
            return jobs.finish(
                self._job.number, self._owner, state, message=message, facts=facts, result=result
            )

        return Ended(self._job, self._written_down(write) or "lost", message, facts)

    def _back(self, after_s: float, *, counts: bool, error: DoubletError | None = None) -> Ended:
        code, facts = (error.code, _facts(error)) if error is not None else ("", {})

        def write() -> str:
            held = self._store.jobs.hand_back(
                self._job.number, self._owner, after_s=after_s, counts=counts, message=code, facts=facts
            )
            return "back" if held else "lost"

        return Ended(self._job, self._written_down(write), code, facts)

    def _written_down(self, write: Callable[[], str]) -> str:
        """How a job ended must not be lost because the database is busy or away for a moment."""
        until = time.monotonic() + 10 * self._lease_s
        while True:
            try:
                return write()
            except DoubletError as error:
                if not isinstance(error, (*PASSING, StoreFull)) or time.monotonic() > until:
                    raise
                log.warning(
                    "the end of job %d could not be written, which is tried again: %s",
                    self._job.number,
                    error,
                )
                time.sleep(self._look_s)


def _facts(error: DoubletError) -> dict[str, Any]:
    """What an error says, as JSON."""
    out: dict[str, Any] = {"message": error.message, "note": error.note.to_dict()}
    for name, value in error.details.items():
        with contextlib.suppress(TypeError):
            out[name] = _plain(value)
    return out


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | bool):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple | set) else str(value)
