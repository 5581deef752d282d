"""The queue: long work that waits, is done by some worker, and is remembered for a while.

A job is claimed by one worker at a time, which holds a lease and renews it. When the worker dies the lease runs out and
the next one goes on with the job. A request to cancel is a flag that the worker looks at. What a worker writes counts
only as long as the lease is its own.

No transaction here is longer than a statement or two, and none waits for the lock of whoever adds documents.
Explained in docs/how-to/background-work.md.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doublet.errors import InvalidParameter, UnknownJob, UsageError
from doublet.store import leases
from doublet.store.connection import Database
from doublet.store.names import escape, from_json, to_json, unescape
from doublet.store.values import JobInfo, iso

ATTEMPTS = 3  #: how often a job is begun at most
ENDED = ("done", "failed", "cancelled")
STATES = ("new", "running", *ENDED)
PAUSED = 253_402_300_799  #: run_after of a paused job: the end of the year 9999
WORKER_LOST = "worker_lost"  #: code of a job whose workers died each time
_COLUMNS = (
    "id, kind, parameters, library, asked_by, priority, state, run_after, lease_until, owner, attempts, max_attempts, "
    "cancel, stage, done, total, unit, message, facts, checkpoint, result, key, created_at, changed_at, began_at, "
    "ended_at"
)


@dataclass(frozen=True, slots=True)
class Beat:
    """What a worker learns when it renews its lease."""

    held: bool  #: the lease is still its own
    cancel: bool  #: somebody wants the job to stop


class Jobs:
    """The queue of a store. May be used from any thread: each has its own connection."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._now = leases.NOW[database.vendor]

    # For whoever asks for work

    def add(
        self,
        kind: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        library: str = "",
        priority: int = 0,
        after_s: float = 0.0,
        key: str | None = None,
        max_attempts: int = ATTEMPTS,
        asked_by: str = "",
    ) -> JobInfo:
        """Put work into the queue. A *key* that was used before gives the job of that time, whatever became of it.

        Jobs of a higher *priority* come first, then older ones; *after_s* is how long to wait at least. Raises
        `InvalidParameter` for parameters that are not JSON.
        """
        try:
            text = to_json(dict(parameters or {}))
        except (TypeError, ValueError) as error:
            raise InvalidParameter("job_not_json", name="parameters", why=str(error)) from error
        if max_attempts < 1:
            raise InvalidParameter("max_attempts_wrong", name="max_attempts", value=max_attempts)
        now = int(time.time())
        row = None
        with self._database.writing():
            if key is not None:
                row = self._database.row("SELECT id FROM doublet_job WHERE key = %s", [escape(key)])
            if row is None:
                # Another process may have added the same key since: it is the same job.
                self._database.rows(
                    "INSERT INTO doublet_job (kind, parameters, library, asked_by, priority, state, run_after, owner, "
                    "attempts, max_attempts, cancel, stage, done, unit, message, facts, checkpoint, key, created_at, "
                    f"changed_at) VALUES (%s, %s, %s, %s, %s, 'new', {self._now} + %s, '', 0, %s, %s, '', 0, '', '', "
                    "'{}', '{}', %s, %s, %s) ON CONFLICT (key) DO NOTHING",
                    [
                        *(kind, text, escape(library), escape(asked_by), priority, float(after_s)),
                        *(max_attempts, False, None if key is None else escape(key), now, now),
                    ],
                )
                row = self._database.row(
                    "SELECT id FROM doublet_job WHERE key = %s"
                    if key is not None
                    else "SELECT max(id) FROM doublet_job"
                    if self._database.vendor == "sqlite"
                    else "SELECT currval(pg_get_serial_sequence('doublet_job', 'id'))",
                    [escape(key)] if key is not None else [],
                )
        assert row is not None
        return self.get(row[0])

    def get(self, number: int) -> JobInfo:
        """Raises `UnknownJob`."""
        with self._database.guard():
            row = self._database.row(f"SELECT {_COLUMNS} FROM doublet_job WHERE id = %s", [number])
        if row is None:
            raise UnknownJob("no_job", number=number)
        return _job(row)

    def find(
        self,
        states: Sequence[str] = (),
        *,
        library: str | None = None,
        kind: str | None = None,
        asked_by: str | None = None,
        before: int | None = None,
        limit: int | None = 100,
    ) -> list[JobInfo]:
        """Jobs in these *states* (none: in all), the newest first. *before* is the number of the last one seen."""
        unknown = [state for state in states if state not in STATES]
        if unknown:
            raise InvalidParameter("job_state_unknown", name="states", value=unknown[0], known=STATES)
        where = ["1 = 1"]
        values: list[Any] = []
        if states:
            where.append(f"state IN ({', '.join(['%s'] * len(states))})")
            values += list(states)
        for column, wanted in (("library", library), ("kind", kind), ("asked_by", asked_by)):
            if wanted is not None:
                where.append(f"{column} = %s")
                values.append(escape(wanted))
        if before is not None:
            where.append("id < %s")
            values.append(before)
        sql = f"SELECT {_COLUMNS} FROM doublet_job WHERE {' AND '.join(where)} ORDER BY id DESC"
        if limit is not None:
            sql += " LIMIT %s"
            values.append(limit)
        with self._database.guard():
            return [_job(row) for row in self._database.rows(sql, values)]

    def ended_since(self, at: int, limit: int = 1000) -> list[JobInfo]:
        """Jobs that ended at that second (since 1970) or later, in the order in which they ended."""
        with self._database.guard():
            rows = self._database.rows(
                f"SELECT {_COLUMNS} FROM doublet_job WHERE ended_at >= %s ORDER BY ended_at, id LIMIT %s",
                [at, limit],
            )
        return [_job(row) for row in rows]

    def counts(self) -> dict[str, int]:
        """How many jobs are in each state."""
        with self._database.guard():
            rows = self._database.rows("SELECT state, count(*) FROM doublet_job GROUP BY state")
        return dict.fromkeys(STATES, 0) | dict(rows)

    def ahead(self, number: int) -> int:
        """How many jobs that wait would be begun before this one."""
        job = self.get(number)
        with self._database.guard():
            row = self._database.row(
                "SELECT count(*) FROM doublet_job WHERE state = 'new' AND run_after < %s AND (priority > %s OR "
                "(priority = %s AND id < %s))",
                [PAUSED, job.priority, job.priority, number],
            )
        return int(row[0]) if row and job.state == "new" else 0

    def by_key(self, key: str) -> JobInfo | None:
        """The job that was added with this key."""
        with self._database.guard():
            row = self._database.row(f"SELECT {_COLUMNS} FROM doublet_job WHERE key = %s", [escape(key)])
        return _job(row) if row is not None else None

    def cancel(self, number: int) -> JobInfo:
        """Stop a job: at once when nobody works on it, otherwise as soon as its worker sees it. One that has ended
        stays as it is. Raises `UnknownJob`."""
        with self._database.writing():
            self._database.rows(
                "UPDATE doublet_job SET cancel = %s, run_after = 0, changed_at = %s WHERE id = %s AND "
                "state = 'running'",
                [True, int(time.time()), number],
            )
            self._end(
                "cancelled",
                "cancelled",
                f"id = %s AND (state = 'new' OR (state = 'running' AND lease_until < {self._now}))",
                [number],
            )
        return self.get(number)

    def pause(self, number: int) -> JobInfo:
        """Let a job wait until somebody says `resume`; one that runs is put back as soon as its worker sees it, and
        goes on where it was if its kind can. One that has ended stays as it is. Raises `UnknownJob`."""
        with self._database.writing():
            self._database.rows(
                "UPDATE doublet_job SET run_after = %s, cancel = (state = 'running'), changed_at = %s WHERE id = %s "
                "AND state IN ('new', 'running')",
                [float(PAUSED), int(time.time()), number],
            )
        return self.get(number)

    def resume(self, number: int) -> JobInfo:
        """Let a paused job go on. Any other stays as it is. Raises `UnknownJob`."""
        with self._database.writing():
            self._database.rows(
                f"UPDATE doublet_job SET run_after = {self._now}, cancel = %s, changed_at = %s WHERE id = %s AND "
                "state IN ('new', 'running') AND run_after >= %s",
                [False, int(time.time()), number, float(PAUSED)],
            )
        return self.get(number)

    def _back_to_pause(self, where: str, values: Sequence[Any]) -> bool:
        """A job that was stopped because somebody paused it waits; the attempt does not count. In a transaction."""
        found = self._database.rows(
            "UPDATE doublet_job SET state = 'new', cancel = %s, owner = '', lease_until = NULL, message = '', "
            "facts = '{}', attempts = attempts - 1, changed_at = %s WHERE run_after >= %s AND state = 'running' AND "
            f"{where} RETURNING id",
            [False, int(time.time()), float(PAUSED), *values],
        )
        return bool(found)

    def retry(self, number: int) -> JobInfo:
        """Put a job that failed or was cancelled into the queue again. Raises `UnknownJob`, `UsageError`."""
        with self._database.writing():
            changed = self._database.rows(
                f"UPDATE doublet_job SET state = 'new', run_after = {self._now}, attempts = 0, cancel = %s, "
                "owner = '', lease_until = NULL, message = '', facts = '{}', result = NULL, began_at = NULL, "
                "ended_at = NULL, changed_at = %s WHERE id = %s AND state IN ('failed', 'cancelled') RETURNING id",
                [False, int(time.time()), number],
            )
        job = self.get(number)
        if not changed:
            raise UsageError("job_not_retried", number=number, state=job.state)
        return job

    def expire(self, days: float, limit: int = 10_000) -> int:
        """Forget jobs that ended so long ago; gives how many."""
        with self._database.writing():
            gone = self._database.rows(
                "DELETE FROM doublet_job WHERE id IN (SELECT id FROM doublet_job WHERE ended_at < %s "
                "ORDER BY id LIMIT %s) RETURNING id",
                [int(time.time() - 86_400 * days), limit],
            )
        return len(gone)

    # For workers

    def claim(
        self, owner: str, *, lease_s: float | None = None, kinds: Sequence[str] | None = None
    ) -> JobInfo | None:
        """The next job, which is the *owner*'s from now on; None when there is nothing to do. *kinds* are those that
        the worker can do (None: all)."""
        ready = f"(state = 'new' AND run_after <= {self._now}) OR (state = 'running' AND lease_until < {self._now})"
        wanted: list[Any] = []
        if kinds is not None:
            ready = f"({ready}) AND kind IN ({', '.join(['%s'] * len(kinds)) or 'NULL'})"
            wanted = list(kinds)
        with (
            self._database.guard()
        ):  # looking first: most of the time there is nothing, and nobody has to wait for it
            if self._database.row(f"SELECT 1 FROM doublet_job WHERE {ready} LIMIT 1", wanted) is None:
                return None
        skip = " FOR UPDATE SKIP LOCKED" if self._database.vendor == "postgresql" else ""
        now = int(time.time())
        with self._database.writing():
            self._sweep()
            row = self._database.row(
                f"UPDATE doublet_job SET state = 'running', owner = %s, lease_until = {self._now} + %s, "
                "attempts = attempts + 1, stage = '', done = 0, total = NULL, unit = '', message = '', facts = '{}', "
                "changed_at = %s, began_at = %s WHERE id = (SELECT id FROM doublet_job WHERE "
                f"{ready} ORDER BY priority DESC, id LIMIT 1{skip}) RETURNING {_COLUMNS}",
                [owner, lease_s or leases.LEASE_S, now, now, *wanted],
            )
        return _job(row) if row else None

    def _sweep(self) -> None:
        """Jobs whose workers died and that are not to be begun again. Inside a transaction."""
        dead = f"state = 'running' AND lease_until < {self._now}"
        self._back_to_pause(f"{dead} AND cancel", [])
        self._end("cancelled", "cancelled", f"{dead} AND cancel", [])
        self._end("failed", WORKER_LOST, f"{dead} AND attempts >= max_attempts", [])

    def sweep(self) -> None:
        """End the jobs of dead workers that nobody may begin again, whoever looks."""
        dead = f"state = 'running' AND lease_until < {self._now} AND (cancel OR attempts >= max_attempts)"
        with self._database.guard():
            if self._database.row(f"SELECT 1 FROM doublet_job WHERE {dead} LIMIT 1") is None:
                return
        with self._database.writing():
            self._sweep()

    def _end(self, state: str, code: str, where: str, values: Sequence[Any]) -> None:
        now = int(time.time())
        facts = "'{}'"
        if code == WORKER_LOST:
            facts = (
                "json_object('attempts', attempts)"
                if self._database.vendor == "sqlite"
                else "json_build_object('attempts', attempts)::jsonb"
            )
        self._database.rows(
            f"UPDATE doublet_job SET state = %s, message = %s, facts = {facts}, owner = '', lease_until = NULL, "
            f"changed_at = %s, ended_at = %s WHERE {where}",
            [state, code, now, now, *values],
        )

    def beat(self, number: int, owner: str, *, lease_s: float | None = None) -> Beat:
        """Renew the lease."""
        with self._database.writing():
            row = self._database.row(
                f"UPDATE doublet_job SET lease_until = {self._now} + %s WHERE id = %s AND owner = %s "
                "AND state = 'running' RETURNING cancel",
                [lease_s or leases.LEASE_S, number, owner],
            )
        return Beat(row is not None, bool(row and row[0]))

    def look(self, number: int, owner: str) -> Beat:
        """The same without renewing: nothing is written."""
        with self._database.guard():
            row = self._database.row(
                "SELECT cancel FROM doublet_job WHERE id = %s AND owner = %s AND state = 'running'",
                [number, owner],
            )
        return Beat(row is not None, bool(row and row[0]))

    def report(
        self,
        number: int,
        owner: str,
        *,
        stage: str,
        done: int,
        total: int | None,
        unit: str,
        message: str = "",
        facts: Mapping[str, Any] | None = None,
        lease_s: float | None = None,
    ) -> Beat:
        """Write down how far the work is; renews the lease too. *message* is a code, *facts* are its values."""
        with self._database.writing():
            row = self._database.row(
                "UPDATE doublet_job SET stage = %s, done = %s, total = %s, unit = %s, message = %s, facts = %s, "
                f"lease_until = {self._now} + %s, changed_at = %s WHERE id = %s AND owner = %s AND state = 'running' "
                "RETURNING cancel",
                [
                    *(stage, done, total, unit, message, to_json(facts or {})),
                    *(lease_s or leases.LEASE_S, int(time.time()), number, owner),
                ],
            )
        return Beat(row is not None, bool(row and row[0]))

    def keep(self, number: int, owner: str, checkpoint: Mapping[str, Any]) -> bool:
        """Write down where the work can be taken up (`JobInfo.checkpoint`). False when the lease was lost."""
        with self._database.writing():
            row = self._database.row(
                "UPDATE doublet_job SET checkpoint = %s, changed_at = %s WHERE id = %s AND owner = %s "
                "AND state = 'running' RETURNING id",
                [to_json(checkpoint), int(time.time()), number, owner],
            )
        return row is not None

    def finish(
        self,
        number: int,
        owner: str,
        state: str,
        *,
        message: str = "",
        facts: Mapping[str, Any] | None = None,
        result: Any = None,
    ) -> str:
        """The job is over: done, failed or cancelled; one that was to pause waits instead. Gives the state, "paused"
        for that one, and "" when the lease was lost: then nothing is written."""
        now = int(time.time())
        with self._database.writing():
            if state == "cancelled" and self._back_to_pause("id = %s AND owner = %s", [number, owner]):
                return "paused"
            row = self._database.row(
                "UPDATE doublet_job SET state = %s, message = %s, facts = %s, result = %s, owner = '', "
                "lease_until = NULL, changed_at = %s, ended_at = %s WHERE id = %s AND owner = %s "
                "AND state = 'running' RETURNING id",
                [
                    *(state, message, to_json(facts or {}), None if result is None else to_json(result)),
                    *(now, now, number, owner),
                ],
            )
        return state if row is not None else ""

    def hand_back(
        self,
        number: int,
        owner: str,
        *,
        after_s: float = 0.0,
        counts: bool = False,
        message: str = "",
        facts: Mapping[str, Any] | None = None,
    ) -> bool:
        """Put the job back into the queue, to be begun in *after_s* seconds. *counts*: it was a try that failed."""
        with self._database.writing():
            row = self._database.row(
                f"UPDATE doublet_job SET state = 'new', run_after = {self._now} + %s, owner = '', lease_until = NULL, "
                "attempts = attempts - %s, message = %s, facts = %s, changed_at = %s WHERE id = %s AND owner = %s "
                "AND state = 'running' RETURNING id",
                [
                    *(after_s, 0 if counts else 1, message, to_json(facts or {}), int(time.time())),
                    *(number, owner),
                ],
            )
        return row is not None

    def close_thread(self) -> None:
        """Close the connection of a thread that ends."""
        self._database.close()


def _job(row: Sequence[Any]) -> JobInfo:
    facts = dict(zip(_COLUMNS.split(", "), row, strict=True))
    owner = facts["owner"]
    same = "kind priority state attempts max_attempts stage done total unit message owner".split()
    return JobInfo(
        number=facts["id"],
        library=unescape(facts["library"]),
        asked_by=unescape(facts["asked_by"]),
        run_after=_when(facts["run_after"]),
        lease_until=_when(facts["lease_until"]),
        worker=leases.shown(owner) if owner else "",
        cancel=bool(facts["cancel"]),
        key=None if facts["key"] is None else unescape(facts["key"]),
        **{name: facts[name] for name in same},
        **{name: from_json(facts[name]) for name in ("parameters", "facts", "checkpoint", "result")},
        created=_when(facts["created_at"]),
        changed=_when(facts["changed_at"]),
        began=_when(facts["began_at"]),
        ended=_when(facts["ended_at"]),
    )


def _when(seconds: float | None) -> str:
    return "" if seconds is None else iso(int(seconds))
