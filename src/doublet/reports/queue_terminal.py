"""The queue in words: lists of jobs, one job with all that is known, and what a worker says as it goes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from doublet.model import Note
from doublet.reports.terminal import table
from doublet.reports.wording import Wording, wording

#: what became of a job, besides the codes of notes and errors
_CODES = {
    "cancelled": "job_cancelled",
    "fault": "job_fault",
    "out_of_memory": "job_out_of_memory",
}
_LONGEST = 60


def jobs_table(jobs: Sequence[Any], *, language: str = "en") -> str:
    """A line for each job, the newest first."""
    words = wording(language)
    rows = [
        [
            str(job.number),
            job.kind,
            job.library,
            state_of(job, words),
            _progress(job, words),
            job.ended or job.began or job.created,
        ]
        for job in jobs
    ]
    heads = ("job", "kind", "library", "state", "progress", "since")
    return table(rows, header=[words.name("head", head) for head in heads])


def job_table(job: Any, *, language: str = "en") -> str:
    """All that is known of one job."""
    words = wording(language)
    far, told = how_far(job, words), message(job.message, job.facts, words)
    rows = [
        ["job", str(job.number)],
        ["kind", job.kind],
        *([["library", job.library]] if job.library else []),
        ["parameters", json.dumps(job.parameters, ensure_ascii=False)],
        ["state", state_of(job, words)],
        *([["progress", far]] if far else []),
        *([["message", told]] if job.message else []),
        ["attempts", words("attempts_of", attempts=job.attempts, most=job.max_attempts)],
        ["priority", str(job.priority)],
        *([["worker", job.worker]] if job.worker else []),
        *([["key", job.key]] if job.key is not None else []),
        *([["asked_by", job.asked_by]] if job.asked_by else []),
        ["created", job.created],
        *([["begins_after", job.run_after]] if job.state == "new" else []),
        *([["began", job.began]] if job.began else []),
        *([["ended", job.ended]] if job.ended else []),
    ]
    return table([[words.name("head", head), *rest] for head, *rest in rows])


def state_of(job: Any, words: Wording) -> str:
    if job.state == "running" and job.cancel:
        return words("job_stopping")
    if job.state == "new" and job.paused:
        return words.name("job_state", "paused")
    if job.state == "new" and job.attempts:
        return words("job_again")
    return words.name("job_state", job.state)


def _progress(job: Any, words: Wording) -> str:
    """How far a job is, with what it says of itself: "Crawling: 93 of 375 pages, 376 found, 71 stored …"."""
    far, told = how_far(job, words), message(job.message, job.facts, words)
    if not far:
        return told[:_LONGEST]
    return f"{far}, {told}" if told else far


def how_far(job: Any, words: Wording) -> str:
    """ "storing: 500 of 2,000 documents"; nothing for a job that is not being done."""
    if job.state != "running" or not job.stage:
        return ""
    stage = words.name("stage", job.stage)
    if not job.done and not job.total:
        return stage
    amount = words.size if job.unit == "bytes" else words.number
    unit = "" if job.unit == "bytes" else f" {words.name('unit', job.unit)}"
    done = amount(job.done)
    if job.total:
        done = words("done_of", done=done, total=amount(job.total))
    return f"{stage}: {done}{unit}".rstrip()


def message(code: str, facts: Mapping[str, Any], words: Wording) -> str:
    """A code and its values as a sentence."""
    if isinstance(facts.get("note"), dict):
        return words.say(Note.from_dict(facts["note"]))
    if code in _CODES:
        return words(_CODES[code], **facts)
    if code in words.tables.MESSAGES:
        return words(code, **facts)
    return str(facts.get("message", code))


def begun(job: Any, *, language: str = "en") -> str:
    attempt = job.attempts if job.attempts > 1 else ""
    words = wording(language)
    return words("job_begun", number=job.number, kind=job.kind, library=job.library, attempt=attempt)


def ended(
    job: Any, state: str, code: str, facts: Mapping[str, Any], seconds: float, *, language: str = "en"
) -> str:
    words = wording(language)
    why = message(code, facts, words) if code else ""
    if state == "back":
        return words("job_put_back", number=job.number, why=why)
    if state == "lost":
        return words("job_lost", number=job.number)
    told = why if state == "failed" else ""
    return words("job_ended", number=job.number, state=state, seconds=seconds, why=told)
