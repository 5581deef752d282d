"""``doublet queue``: what waits, runs and ended; put work in, stop it, try it again."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doublet import config
from doublet.cli.base import (
    Command,
    common_options,
    format_option,
    is_terminal,
    named_values,
    quiet_option,
    say,
    write_bytes,
    write_text,
)
from doublet.cli.help import Group
from doublet.cli.language import words
from doublet.cli.later import put
from doublet.cli.library import database_options, open_store
from doublet.errors import UsageError
from doublet.model import Note

if TYPE_CHECKING:
    from doublet.store.values import JobInfo

EXAMPLE = """\
doublet queue
doublet queue --watch
doublet queue show 12
doublet queue cancel 12"""
WATCH_S = 1.0
NUMBER = click.argument("number", metavar="ID", type=click.IntRange(1))


class QueueGroup(Group):
    """``doublet queue`` alone lists the jobs."""

    example = EXAMPLE

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ("-h", "--help")):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(cls=QueueGroup, help="See the work in the background, put some in, stop it, try it again.")
def command() -> None:
    pass


@command.command(
    "list",
    cls=Command,
    example="doublet queue\ndoublet queue --watch\ndoublet queue --state failed --format json",
    help="""List the jobs, the newest first. `doublet queue` alone does the same. With --watch the list is shown again
    whenever it changes, until nothing waits or runs any more.""",
)
@click.option("--watch", is_flag=True, help="Go on showing the list until the queue is empty.")
@click.option(
    "--state",
    "states",
    type=click.Choice(["new", "running", "done", "failed", "cancelled"]),
    multiple=True,
    help="Only jobs in this state; repeat it for more.",
)
@click.option("--library", metavar="NAME", help="Only jobs of this library.")
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="So many at most."
)
@database_options
@format_option("table", "json")
@common_options
def list_(
    *,
    watch: bool,
    states: tuple[str, ...],
    library: str | None,
    limit: int,
    form: str,
    config_file: Path | None,
    **flags: Any,
) -> None:
    with open_store(config.resolve(flags, file=config_file)) as store:
        before = ""
        while True:
            store.jobs.sweep()
            jobs = store.jobs.find(states, library=library, limit=limit)
            counts = store.jobs.counts()
            text = _listed(jobs, counts, form, one_line=watch)
            if text != before:
                if before and form == "table":
                    click.clear() if is_terminal(sys.stdout) else write_text("\n")
                write_text(text)
            before = text
            if not watch or not counts["new"] + counts["running"]:
                return
            time.sleep(WATCH_S)


def _listed(jobs: list[JobInfo], counts: Mapping[str, int], form: str, *, one_line: bool) -> str:
    from doublet.reports.json_report import json_document
    from doublet.reports.queue_terminal import jobs_table

    if form == "json":
        told = {"format": 1, "counts": dict(counts), "jobs": [job.to_dict() for job in jobs]}
        return json.dumps(told, ensure_ascii=False) + "\n" if one_line else json_document(told).decode()
    if not jobs:
        return f"{words()('queue_empty')}\n"
    total = ", ".join(
        f"{words().name('job_state', state)}: {words().number(many)}"
        for state, many in counts.items()
        if many
    )
    return f"{jobs_table(jobs, language=words().language)}{total}\n"


@command.command(
    "show", cls=Command, example="doublet queue show 12", help="Show all that is known of the job ID."
)
@NUMBER
@database_options
@format_option("table", "json")
@common_options
def show(*, number: int, form: str, config_file: Path | None, **flags: Any) -> None:
    from doublet.reports.json_report import json_document
    from doublet.reports.queue_terminal import job_table

    with open_store(config.resolve(flags, file=config_file)) as store:
        store.jobs.sweep()
        job = store.jobs.get(number)
    if form == "json":
        write_bytes([json_document({"format": 1, **job.to_dict(), "result": job.result})])
        return
    write_text(job_table(job, language=words().language))
    if job.result is not None:
        write_text("\n" + json_document(job.result).decode("utf-8", "replace"))


@command.command(
    "cancel",
    cls=Command,
    example="doublet queue cancel 12",
    help="""Stop the job ID: at once when it waits, within two seconds or so when it runs. What it has stored stays.""",
)
@NUMBER
@database_options
@quiet_option
@common_options
def cancel(*, number: int, quiet: bool, config_file: Path | None, **flags: Any) -> None:
    with open_store(config.resolve(flags, file=config_file)) as store:
        job = store.jobs.cancel(number)
    told = {
        "cancelled": Note("job_is_cancelled", number=number),
        "running": Note("job_is_being_stopped", number=number),
    }
    say(told.get(job.state, Note("job_had_ended", number=number, state=job.state)), quiet=quiet)


@command.command(
    "pause",
    cls=Command,
    example="doublet queue pause 12",
    help="Let the job ID wait until `doublet queue resume`; one that runs stops. What it has stored stays.",
)
@NUMBER
@database_options
@quiet_option
@common_options
def pause(*, number: int, quiet: bool, config_file: Path | None, **flags: Any) -> None:
    with open_store(config.resolve(flags, file=config_file)) as store:
        job = store.jobs.pause(number)
    told = Note("job_had_ended", number=number, state=job.state)
    say(told if job.over else Note("job_is_paused", number=number), quiet=quiet)


@command.command(
    "resume",
    cls=Command,
    example="doublet queue resume 12",
    help="Let the paused job ID go on where it was, if it can.",
)
@NUMBER
@database_options
@quiet_option
@common_options
def resume(*, number: int, quiet: bool, config_file: Path | None, **flags: Any) -> None:
    with open_store(config.resolve(flags, file=config_file)) as store:
        job = store.jobs.resume(number)
    told = Note("job_had_ended", number=number, state=job.state)
    say(told if job.over else Note("job_waits_again", number=number), quiet=quiet)


@command.command(
    "retry",
    cls=Command,
    example="doublet queue retry 12",
    help="Put the job ID, which failed or was cancelled, into the queue again. It goes on where it was, if it can.",
)
@NUMBER
@database_options
@quiet_option
@common_options
def retry(*, number: int, quiet: bool, config_file: Path | None, **flags: Any) -> None:
    with open_store(config.resolve(flags, file=config_file)) as store:
        store.jobs.retry(number)
    say(Note("job_waits_again", number=number), quiet=quiet)


@command.command(
    "add",
    cls=Command,
    example="""\
doublet queue add tidy
doublet queue add index -p library=theses -p method=minhash
doublet queue add fill -p library=news --priority 5 --key news-2026-11-16""",
    help="""Put work of the kind KIND into the queue. The long commands do the same with --later. Values of parameters
    are JSON, or texts as they are.""",
)
@click.argument("kind", metavar="KIND")
@click.option(
    "--parameter",
    "-p",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the kind; repeat it for more.",
)
@click.option(
    "--priority", type=int, default=0, show_default=True, metavar="N", help="Higher ones come first."
)
@click.option(
    "--after", "after", metavar="SECONDS", help="Begin no earlier than in so many seconds, as 90s or 2h."
)
@click.option(
    "--key", metavar="TEXT", help="With a key that was used before nothing is added: it is the same job."
)
@database_options
@format_option("table", "json")
@quiet_option
@common_options
def add(
    *,
    kind: str,
    parameters: tuple[str, ...],
    priority: int,
    after: str | None,
    key: str | None,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> None:
    try:
        seconds = config.as_seconds(after) if after is not None else 0.0
    except ValueError as error:
        raise UsageError("after_wrong", value=after, why=error) from None
    values = {name: _value(text) for name, text in named_values(parameters)}
    with open_store(config.resolve(flags, file=config_file)) as store:
        put(store, kind, values, form=form, quiet=quiet, priority=priority, after_s=seconds, key=key)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
