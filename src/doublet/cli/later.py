"""``--later``: the long commands put their work into the queue instead of doing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from doublet.cli.base import say, write_bytes, write_text
from doublet.model import Note

if TYPE_CHECKING:
    from doublet.store.database import Store


def put(
    store: Store, kind: str, parameters: Mapping[str, Any], *, form: str, quiet: bool, **options: Any
) -> None:
    """Put work into the queue and say so; for all commands that can be done later."""
    from doublet.jobs.queue.kinds import enqueue
    from doublet.reports.json_report import json_document

    job = enqueue(store, kind, parameters, **options)
    if form == "json":
        write_bytes([json_document({"format": 1, **job.to_dict()})])
    else:
        write_text(f"{job.number}\n")
        say(Note("job_waits_for_worker", number=job.number), quiet=quiet)


def later_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--later",
        is_flag=True,
        help="Put the work into the queue, for a `doublet worker`, and print the number of the job.",
    )(function)
