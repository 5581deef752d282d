"""Starting and stopping the service: one process answers requests, others do the work; a supervisor keeps them alive.

    serve ──▶ prepare (tables, static files, first administrator, samples)
          ├─▶ workers: jobs of the queue, each in a process of its own, started again when one dies
          └─▶ uvicorn: pages and REST

Workers are processes of their own: one that is killed costs nothing but a moment, another takes its job up.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import sys
import threading
import time
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import doublet
from doublet import config
from doublet.errors import ConfigError
from doublet.jobs.queue.supervisor import Supervisor
from doublet.model import Note
from doublet.store.connection import sqlite_place
from doublet.web.configure import UNFINISHED, ServiceOptions, configure, is_loopback, require_safe
from doublet.web.workers import DATABASE, command

log = logging.getLogger("doublet.web")
FIRST_NAME = "admin"
QUICK_S = 20.0  #: that somebody waits for a quick check at most; then a worker makes it
GRACE_S = 20.0  #: for requests and workers to end


class JsonLines(logging.Formatter):
    """A log line as JSON: time, level, where, what, and the values of the record."""

    _KNOWN = frozenset(vars(logging.LogRecord("", 0, "", 0, "", (), None)))

    def format(self, record: logging.LogRecord) -> str:
        value: dict[str, Any] = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        value |= {
            name: each
            for name, each in vars(record).items()
            if name not in self._KNOWN and name not in ("message", "color_message", "asctime", "request")
        }
        if record.exc_info:
            value["exception"] = self.formatException(record.exc_info)
        return json.dumps(value, ensure_ascii=False, default=str)


def set_up_logging(*, quiet: bool = False) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING if quiet else logging.INFO)
    logging.getLogger("axes").setLevel(logging.ERROR)
    logging.getLogger("uvicorn.access").disabled = True  # `middleware` writes one line for each request


def data_folder(address: str) -> Path:
    """Where the key and the static files are kept: beside the database file, or in the user's folder for data."""
    place = sqlite_place(address)
    if place is not None:
        return place.resolve().parent / f"{place.stem}-service"
    home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return home / "doublet" / "service"


def options_of(given: dict[str, Any], address: str) -> ServiceOptions:
    try:
        limit = config.as_size(given.get("upload_limit", "50MB"))
    except ValueError as error:
        raise ConfigError("service_upload_limit", value=str(given.get("upload_limit"))) from error
    hosts = list(dict.fromkeys([*given.get("hosts", ()), "localhost", "127.0.0.1", "[::1]"]))
    bind = given.get("bind", "127.0.0.1")
    if is_loopback(bind) and bind not in hosts:
        hosts.append(bind)
    return ServiceOptions(
        database=address,
        data=given.get("data") or data_folder(address),
        hosts=hosts,
        https=bool(given.get("https")),
        proxies=int(given.get("proxies", 0)),
        upload_limit=limit,
        folders=tuple(Path(one).resolve() for one in given.get("folders", ())),
        allow_private=bool(given.get("allow_private")),
        config_file=given.get("config_file"),
    )


def prepare(options: ServiceOptions, *, samples: bool, say: Callable[[Note], None]) -> None:
    """Tables, static files, the first administrator and the samples. Does only what has not been done."""
    from django.core.management import call_command

    from doublet.web.accounts.models import User

    call_command("migrate", verbosity=0, interactive=False)
    _collect(options.data)
    _clear_uploads(options.data)
    if not User.objects.exists():
        password = secrets.token_urlsafe(12)
        User.objects.create_user(FIRST_NAME, password=password, role=User.ADMINISTRATOR)
        say(Note("first_administrator", name=FIRST_NAME, password=password))
        if samples:
            from doublet.web.samples import load

            load(User.objects.get(username=FIRST_NAME), say)


def _clear_uploads(data: Path) -> None:
    """Uploads that were on their way when the service was killed leave no trace."""
    place = data / UNFINISHED
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    for left in place.iterdir():
        left.unlink(missing_ok=True)


def _collect(data: Path) -> None:
    """Static files with hashed names and compressed twins; made again only when they or the version changed."""
    from django.core.management import call_command

    here = Path(__file__).parent / "static"
    found = hashlib.sha256(doublet.__version__.encode())
    for file in sorted(here.rglob("*")):
        if file.is_file():
            found.update(file.name.encode() + file.read_bytes())
    stamp = data / "static.stamp"
    if stamp.exists() and stamp.read_text(encoding="ascii") == found.hexdigest():
        return
    call_command(
        "collectstatic", verbosity=0, interactive=False, clear=True, ignore_patterns=["htmax*", "ext"]
    )
    stamp.write_text(found.hexdigest(), encoding="ascii")


def serve(
    *,
    bind: str,
    port: int,
    workers: int,
    checkers: int,
    empty: bool,
    browse: bool | None,
    say: Callable[[Note], None],
    config_file: Path | None = None,
    colour: str | None = None,
    database: str | None = None,
    **given: Any,
) -> None:
    """Run until a signal ends it. Raises `ConfigError` for what cannot be used or is not safe."""
    import uvicorn

    resolved = config.resolve({"database": database}, file=config_file)
    address = resolved.settings.database or config.default_database()
    options = options_of({**given, "bind": bind, "config_file": config_file}, address)
    require_safe(bind, options)
    set_up_logging()
    configure(options, many_threads=True)
    prepare(options, samples=not empty, say=say)

    from doublet.web.asgi import application

    supervisor = Supervisor(command(options), workers, environment={DATABASE: options.database}, told=_told)
    thread = threading.Thread(target=supervisor.run, name="doublet-supervisor", daemon=True)
    if workers:
        thread.start()
    shown = f"http://{'localhost' if is_loopback(bind) else bind}:{port}/"
    say(Note("service_answers", version=doublet.__version__, address=shown))
    if browse or (browse is None and sys.stdout.isatty() and os.environ.get("DISPLAY")):
        threading.Timer(1.0, webbrowser.open, [shown]).start()
    from doublet.jobs.check_pool import CheckPool
    from doublet.web import checkers as quick
    from doublet.web.housekeeping import Housekeeper

    housekeeper = Housekeeper()
    housekeeper.start()
    pool = CheckPool(address, processes=checkers, kept=1, timeout_s=QUICK_S) if checkers else None
    quick.use(pool)
    try:
        uvicorn.run(
            application,
            host=bind,
            port=port,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=int(GRACE_S),
            limit_concurrency=200,
            h11_max_incomplete_event_size=64 * 1024,
            proxy_headers=False,
        )
    finally:
        housekeeper.stop()
        supervisor.stop()
        if pool is not None:
            pool.close()
        if workers:
            thread.join(GRACE_S + 15)


def _told(what: str, process: int, code: int) -> None:
    log.log(
        logging.ERROR if what == "ended" and code else logging.INFO,
        "worker",
        extra={"what": what, "worker": process, "code": code},
    )
