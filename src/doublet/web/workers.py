"""A worker process of the service: ``python -m doublet.web.workers OPTIONS``, started by the supervisor of `server`.

It does all kinds of work that the queue knows and those of `jobs`. Its standard input is a pipe from the supervisor:
when the supervisor is gone, however it went, the worker puts its job back and ends.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from doublet.jobs.queue.worker import Ended
from doublet.store.values import JobInfo
from doublet.web.configure import ServiceOptions, configure, program_settings

log = logging.getLogger("doublet.web.jobs")
DATABASE = "DOUBLET_DATABASE"


def command(options: ServiceOptions) -> list[str]:
    """How the supervisor starts a worker with the same options. Its environment has the address of the database
    (`DATABASE`): everybody on a computer can read command lines, and an address may have a password in it."""
    given = {
        "data": str(options.data),
        "hosts": list(options.hosts),
        "https": options.https,
        "folders": [str(one) for one in options.folders],
        "allow_private": options.allow_private,
        "upload_limit": options.upload_limit,
        "config_file": str(options.config_file) if options.config_file else None,
    }
    return [sys.executable, "-m", "doublet.web.workers", json.dumps(given)]


def read_options(text: str) -> ServiceOptions:
    given: dict[str, Any] = {**json.loads(text), "database": os.environ[DATABASE]}
    given["data"] = Path(given["data"])
    given["config_file"] = Path(given["config_file"]) if given.get("config_file") else None
    given["folders"] = tuple(Path(one) for one in given["folders"])
    return ServiceOptions(**given)


def _told(what: JobInfo | Ended) -> None:
    """A line of the log for each job that begins, and for each that ends here."""
    if isinstance(what, JobInfo):
        facts: dict[str, Any] = {"job": what.number, "kind": what.kind, "state": what.state}
    else:
        facts = {"job": what.job.number, "kind": what.job.kind, "state": what.state}
        facts |= {"code": what.message, "seconds": round(what.seconds, 1)}
    log.info("job", extra=facts)


def main(text: str) -> None:
    options = read_options(text)
    configure(options)

    from doublet.jobs.queue.worker import Worker
    from doublet.web.jobs import KINDS
    from doublet.web.server import set_up_logging
    from doublet.web.store import store

    set_up_logging()
    worker = Worker(store(), settings=program_settings(options), more=KINDS, told=_told)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: worker.stop())

    def follow() -> None:
        while os.read(sys.stdin.fileno(), 4096):
            pass
        worker.stop()

    threading.Thread(target=follow, daemon=True).start()
    worker.run()


if __name__ == "__main__":
    main(sys.argv[1])
