"""The queue in words: lists of jobs, one job with all that is known, and what a worker says as it goes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from doublet.reports.terminal import table
from doublet.reports.wording import STAGES, duration, size

#: what became of a job, for people; the codes of errors stand for themselves
MESSAGES = {
    "worker_lost": "its worker died each time it was tried ({attempts} times)",
    "cancelled": "cancelled",
    "fault": "a fault in Doublet itself ({type}): {message}",
    "out_of_memory": "there was not enough memory",
    "note": "{text}",
}
STATES = {"new": "waits", "running": "runs", "done": "done", "failed": "failed", "cancelled": "cancelled"}
_LONGEST = 60


def jobs_table(jobs: Sequence[Any]) -> str:
    """A line for each job, the newest first."""
    rows = [
        [
            str(job.number),
            job.kind,
            job.library,
            state_of(job),
            how_far(job) or message(job.message, job.facts)[:_LONGEST],
            job.ended or job.began or job.created,
        ]
        for job in jobs
    ]
    return table(rows, header=["job", "kind", "library", "state", "progress", "since"])


def job_table(job: Any) -> str:
    """All that is known of one job."""
    rows = [
        ["job", str(job.number)],
        ["kind", job.kind],
        *([["library", job.library]] if job.library else []),
        ["parameters", json.dumps(job.parameters, ensure_ascii=False)],
        ["state", state_of(job)],
        *([["progress", how_far(job)]] if how_far(job) else []),
        *([["message", message(job.message, job.facts)]] if job.message else []),
        ["attempts", f"{job.attempts} of {job.max_attempts}"],
        ["priority", str(job.priority)],
        *([["worker", job.worker]] if job.worker else []),
        *([["key", job.key]] if job.key is not None else []),
        *([["asked by", job.asked_by]] if job.asked_by else []),
        ["created", job.created],
        *([["begins after", job.run_after]] if job.state == "new" else []),
        *([["began", job.began]] if job.began else []),
        *([["ended", job.ended]] if job.ended else []),
    ]
    return table(rows)


def state_of(job: Any) -> str:
    if job.state == "running" and job.cancel:
        return "is being stopped"
    if job.state == "new" and job.attempts:
        return "waits to be tried again"
    return STATES[job.state]


def how_far(job: Any) -> str:
    """ "storing: 500 of 2,000 documents"; nothing for a job that is not being done."""
    if job.state != "running" or not job.stage:
        return ""
    bytes_ = job.unit == "bytes"
    done = size(job.done) if bytes_ else f"{job.done:,}"
    if job.total:
        done += f" of {size(job.total) if bytes_ else f'{job.total:,}'}"
    stage = STAGES.get(job.stage, job.stage.capitalize())
    return f"{stage}: {done}{'' if bytes_ else f' {job.unit}'}".rstrip() if job.done or job.total else stage


def message(code: str, facts: Mapping[str, Any]) -> str:
    """A code and its values as a sentence."""
    if code in MESSAGES:
        try:
            return MESSAGES[code].format(**facts)
        except (KeyError, IndexError):
            return code
    return str(facts.get("message", code))


def begun(job: Any) -> str:
    again = f", attempt {job.attempts}" if job.attempts > 1 else ""
    return f"job {job.number}: {job.kind}{f' {job.library}' if job.library else ''}{again}"


def ended(job: Any, state: str, code: str, facts: Mapping[str, Any], seconds: float) -> str:
    if state == "back":
        why = message(code, facts)
        return f"job {job.number}: put back{f' ({why})' if why else ''}"
    if state == "lost":
        return f"job {job.number}: another worker has it now"
    what = f"{state} after {duration(seconds)}"
    return f"job {job.number}: {what}{f': {message(code, facts)}' if code and state == 'failed' else ''}"
