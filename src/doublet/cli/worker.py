"""``doublet worker``: processes that do the jobs of the queue."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import click

from doublet import config
from doublet.cli.base import Command, common_options, quiet_option, say, settings_options
from doublet.cli.exits import DONE
from doublet.cli.language import words
from doublet.errors import ConfigError
from doublet.model import Note


@click.command(
    cls=Command,
    example="""\
doublet worker
doublet worker --processes 2
doublet worker --until-empty""",
    help="""Do the jobs of the queue, until it is stopped (Ctrl-C or SIGTERM): a job that is nearly done is finished, a
    longer one is put back and goes on with the next worker. Several workers, also on several machines, share one
    queue. A worker that is killed loses nothing: after half a minute another one goes on with its job.""",
)
@click.option(
    "--processes",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="So many jobs at the same time.",
)
@click.option("--until-empty", is_flag=True, help="End when there is nothing to do.")
@click.option(
    "--lease",
    "lease_s",
    type=click.FloatRange(min=0.5),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="When nothing was heard of a worker for so long, its job goes to another one.",
)
@click.option("--alone", is_flag=True, hidden=True, help="This process is one of the workers.")
@settings_options("database")
@quiet_option
@common_options
def command(
    *,
    processes: int,
    until_empty: bool,
    lease_s: float,
    alone: bool,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> int:
    resolved = config.resolve(flags, file=config_file)
    if alone or until_empty:
        return _work(resolved, lease_s=lease_s, until_empty=until_empty, follow=alone, quiet=quiet)
    return _supervise(resolved, processes, lease_s, config_file, quiet=quiet)


def _supervise(
    resolved: config.Resolved, processes: int, lease_s: float, config_file: Path | None, *, quiet: bool
) -> int:
    from doublet.cli.library import open_store
    from doublet.jobs.queue.supervisor import Supervisor

    with open_store(resolved) as store:  # what is wrong with the database is said once, and here
        place = store.database.shown
    command = [sys.executable, "-m", "doublet", "worker", "--alone", "--lease", str(lease_s)]
    command += ["--quiet"] if quiet else []
    command += ["--config", str(config_file)] if config_file else []
    # Not in the command line, which everybody on this computer can read: an address may have a password in it.
    address = resolved.settings.database
    environment = {"DOUBLET_DATABASE": address} if address is not None else {}

    def told(what: str, pid: int, code: int) -> None:
        if what == "ended":
            say(Note("worker_ended", pid=pid, code=code), quiet=quiet)

    supervisor = Supervisor(command, processes, environment=environment, told=told)
    _on_signals(supervisor.stop)
    say(Note("workers_for", processes=processes, place=place), quiet=quiet)
    code = supervisor.run()
    if code:
        raise ConfigError("workers_not_started", exit=code)
    say(Note("workers_stopped"), quiet=quiet)
    return DONE


def _work(resolved: config.Resolved, *, lease_s: float, until_empty: bool, follow: bool, quiet: bool) -> int:
    from doublet.cli.library import open_store
    from doublet.jobs.queue.worker import Ended, Worker
    from doublet.reports.queue_terminal import begun, ended
    from doublet.store import leases
    from doublet.store.values import JobInfo

    def told(what: JobInfo | Ended) -> None:
        say(
            begun(what, language=words().language)
            if isinstance(what, JobInfo)
            else ended(
                what.job, what.state, what.message, what.facts, what.seconds, language=words().language
            ),
            quiet=quiet,
        )

    leases.LEASE_S = lease_s  # of the sources that its jobs walk, too
    with open_store(resolved) as store:
        worker = Worker(store, settings=resolved.settings, lease_s=lease_s, told=told)
        asked: list[int] = []

        def stop() -> None:
            worker.stop(at_once=bool(asked))
            asked.append(1)

        _on_signals(stop)
        if follow:
            threading.Thread(target=_follow, args=(worker.stop,), daemon=True).start()
        worker.run(until_empty=until_empty)
    return DONE


def _on_signals(stop: Any) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, lambda *_: stop())


def _follow(stop: Any) -> None:
    """Standard input is a pipe from the supervisor: it ends when the supervisor does."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    stop()
