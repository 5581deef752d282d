"""``doublet --server URL``: what a service does instead of this computer.

Files are read here, and their texts are checked there; everything else of a command stays as it is, so the output
is the same. The service keeps the reports: they are found on its pages too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from doublet.errors import DoubletError, UsageError
from doublet.model import Note

if TYPE_CHECKING:
    from doublet.client import Client
    from doublet.model import Check
    from doublet.store.values import JobInfo, LibraryInfo, SourceInfo, StoredDocument

COMMANDS = ("check", "library", "queue", "repeats")  #: that know --server
#: of groups of commands, those that a service can do
PARTS = {
    "library": (
        *("create", "list", "show", "documents", "document", "add", "duplicates", "statistics", "export"),
        *("remove", "rename", "update", "add-list", "crawl", "refresh", "pages", "verify"),
    ),
    "queue": ("list", "show", "cancel", "retry", "pause", "resume"),
}


#: why the other commands work on this computer: they need its *files* and no library, or work beside the *database*;
#: the rest tell of the *program* itself
WHY_HERE = {
    **dict.fromkeys(
        ("compare", "text", "dedupe", "pictures", "spark", "evaluate", "advise", "--against"), "files"
    ),
    **dict.fromkeys(("serve", "worker", "backup", "restore", "library", "queue"), "database"),
}


def note(ctx: click.Context, server: str | None, token: str | None) -> None:
    """Remember the options of the whole program. Raises `UsageError` where --server would be ignored."""
    given = bool(server) and ctx.get_parameter_source("server") is click.core.ParameterSource.COMMANDLINE
    ctx.obj = {"server": server or "", "token": token or "", "given": given}
    command = str(ctx.invoked_subcommand)
    if given and command not in COMMANDS:
        raise UsageError("server_not_for", command=command, why=WHY_HERE.get(command, "program"))


def _noted() -> dict[str, Any]:
    context = click.get_current_context(silent=True)
    return (context.find_root().obj if context is not None else None) or {}


def client() -> Client | None:
    """The client for the service that was named, if any was."""
    noted = _noted()
    if not noted.get("server"):
        return None
    from doublet.client import Client

    return Client(noted["server"], noted["token"])


def client_here() -> Client | None:
    """The client, if a service was named and can do the command that runs."""
    context = click.get_current_context(silent=True)
    if context is None or context.parent is None:
        return None
    return client() if context.info_name in PARTS.get(str(context.parent.info_name), ()) else None


def asked_for() -> Client | None:
    """The client, if --server was given with this command: for commands that otherwise need no service."""
    return client() if _noted().get("given") else None


def finished(client: Client, job: dict[str, Any]) -> JobInfo:
    """The job when it is done. Raises `ServerRefused` with the reason when it failed, `UsageError` when it was
    cancelled."""
    ended = job_info(client.wait_job(int(job["number"])))
    if ended.state != "done":
        raise not_done(client, ended)
    return ended


def not_done(client: Client, job: JobInfo) -> DoubletError:
    """Why a job was not done, as the command would say it that did the work here."""
    from doublet.cli.language import words
    from doublet.reports.queue_terminal import message

    if job.state != "failed":
        return UsageError("server_job_ended", number=job.number, state=job.state)
    return refused(client, message(job.message, job.facts, words()))


def refused(client: Client, why: str) -> DoubletError:
    from doublet.client import ServerRefused

    return ServerRefused("server_said", address=client.server, why=why, status=200, problem="failed")


def refuse_others(*known: str) -> None:
    """Raises `UsageError` for an option of the running command that was given and is not among the *known*: the service
    would not heed it."""
    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(str(option.name)) is click.core.ParameterSource.COMMANDLINE
        if given and option.name not in (*known, "config_file", "colour"):
            raise UsageError("not_with_server", option=option.opts[0])


def tell_number(job: dict[str, Any], *, form: str, quiet: bool) -> None:
    """Of work that a service does later, as ``--later`` tells it here."""
    from doublet.cli.base import say, write_bytes, write_text
    from doublet.reports.json_report import json_document

    if form == "json":
        write_bytes([json_document({"format": 1, **job_info(job).to_dict()})])
    else:
        write_text(f"{job['number']}\n")
        say(Note("server_job_waits", number=job["number"]), quiet=quiet)


def make_library(client: Client, name: str) -> None:
    """When it is not there."""
    if name not in {one["name"] for one in client.libraries()}:
        client.make_library(name)


def require_local(command: str) -> None:
    """Raises `UsageError` when --server was given to a command that works with a database here."""
    if _noted().get("given"):
        raise UsageError("server_not_for", command=command, why=WHY_HERE.get(command, "program"))


class RemoteChecker:
    """Checks texts through a service, as `doublet.jobs.check_many` wants it."""

    def __init__(self, client: Client, libraries: tuple[str, ...], options: dict[str, Any]) -> None:
        self._client = client
        self._libraries = libraries or None
        self._options = {name: options[name] for name in ("leave_out", "own", "method") if name in options}
        self._ids: dict[str, str] = {}

    def __call__(self, text: str, name: str) -> Check:
        title = PurePath(name).name[:300]
        begun = self._client.check(text, title=title, libraries=self._libraries, **self._options)
        self._ids[text] = str(self._client.wait(begun)["id"])
        return self._client.report(self._ids[text])

    def page(self, text: str, form: str, language: str) -> bytes:
        """The report of *text* as the service makes it; it has the texts of the sources, which are not here."""
        return self._client.export(self._ids[text], form, language)


class RemoteStore:
    """As much of a `Store` as the commands in `PARTS` look at, of the service."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.libraries = _Libraries(client)
        self.sources = _Sources(client, self.libraries)
        self.documents = _Documents(client)
        self.jobs = _Jobs(client)
        self.database = SimpleNamespace(shown=client.server)

    def __enter__(self) -> RemoteStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()


class _Libraries:
    def __init__(self, client: Client) -> None:
        self._client = client

    def all(self) -> list[LibraryInfo]:
        from doublet.store.values import LibraryInfo

        return [LibraryInfo(number=n, **one) for n, one in enumerate(self._client.libraries())]

    def get(self, name: str) -> LibraryInfo:
        from doublet.errors import UnknownLibrary

        known = self.all()
        for one in known:
            if one.name == name:
                return one
        raise UnknownLibrary(name, [one.name for one in known])

    def create(self, name: str, *, address: str = "", note: str = "") -> None:
        self._client.make_library(name, address=address, note=note)

    def rename(self, name: str, new: str) -> None:
        self._client.rename_library(name, new)

    def delete(self, name: str, *_: object) -> int:
        return int(finished(self._client, self._client.delete_library(name)).result["documents"])


class _Sources:
    def __init__(self, client: Client, libraries: _Libraries) -> None:
        self._client = client
        self._libraries = libraries
        self._homes: dict[int, str] = {}  # libraries of the sources that were listed

    def all(self, number: int) -> list[SourceInfo]:
        from doublet.store.values import SourceInfo

        name = self._libraries.all()[number].name
        found = [
            SourceInfo(
                **{**one, "message": Note.from_dict(one["message"]) if one["message"] else None},
                library=name,
                state={},
                run=0,
            )
            for one in self._client.sources(name)
        ]
        self._homes |= {one.number: name for one in found}
        return found

    def of_document(self, *_: object) -> list[int]:
        return []  # the service does not tell

    def forget(self, number: int) -> None:
        self._remove(number, documents=False)

    def remove(self, number: int, *_: object) -> int:
        return self._remove(number, documents=True)

    def _remove(self, number: int, *, documents: bool) -> int:
        begun = self._client.remove_source(self._homes[number], number, documents=documents)
        return int(finished(self._client, begun).result["documents"])


class _Documents:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._texts: dict[int, str] = {}

    def all(self, name: str, *, limit: int | None = None) -> Iterator[StoredDocument]:
        return itertools.islice(map(self._document, self._client.documents(name)), limit)

    def find(self, name: str, like: str, *, limit: int | None = None) -> Iterator[StoredDocument]:
        from doublet.store.documents import pattern

        fits = pattern(like)
        found = (
            one for one in self.all(name) if any(map(fits, (one.id, one.title, one.address, one.source)))
        )
        return itertools.islice(found, limit)

    def get(self, name: str, id: str) -> StoredDocument | None:
        from doublet.client import ServerRefused

        try:
            one = self._client.document(name, id)
        except ServerRefused as error:
            if error.details.get("status") == 404:
                return None
            raise
        self._texts[0] = one["text"] or ""
        return self._document(one)

    def remove(self, name: str, ids: Sequence[str]) -> list[str]:
        return self._client.remove_documents(name, ids)

    def texts(self, numbers: Sequence[int]) -> dict[int, str]:
        return {number: self._texts[number] for number in numbers if number in self._texts}

    def _document(self, one: dict[str, Any]) -> StoredDocument:
        from doublet.store.values import StoredDocument

        facts = {name: one[name] for name in StoredDocument.__slots__ if name != "number"}
        return StoredDocument(number=0, **facts)


class _Jobs:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._counts: dict[str, int] = {}

    def sweep(self) -> None:
        pass  # the workers of the service do that

    def add(self, kind: str, parameters: dict[str, Any], **_: object) -> JobInfo:
        """Of work that is put off with ``--later``; the other commands ask the service themselves."""
        assert kind == "delete", kind
        return job_info(self._client.delete_library(parameters["library"]))

    def find(
        self, states: Sequence[str] = (), *, library: str | None = None, limit: int = 100
    ) -> list[JobInfo]:
        found = self._client.list_jobs(states, library=library, limit=min(limit, 200))
        self._counts = found["counts"]
        return [job_info(one) for one in found["items"]]

    def counts(self) -> dict[str, int]:
        return self._counts

    def get(self, number: int) -> JobInfo:
        return job_info(self._client.job(number))

    def cancel(self, number: int) -> JobInfo:
        return job_info(self._client.cancel_job(number))

    def retry(self, number: int) -> JobInfo:
        return job_info(self._client.retry_job(number))

    def pause(self, number: int) -> JobInfo:
        return job_info(self._client.pause_job(number))

    def resume(self, number: int) -> JobInfo:
        return job_info(self._client.resume_job(number))


def job_info(one: dict[str, Any]) -> JobInfo:
    """A job as REST tells it."""
    from doublet.store.values import JobInfo

    facts = {name: value for name, value in one.items() if name != "paused"}
    missing: dict[str, Any] = {
        "parameters": {},
        "result": None,
        "checkpoint": {},
        "lease_until": "",
        "owner": "",
    }
    return JobInfo(**{**missing, **facts})


def add(client: Client, name: str, inputs: Sequence[str], kind: str, *, make: bool) -> list[dict[str, Any]]:
    """Begin to fill a library of the service: addresses are walked there, files are sent there. Gives the jobs."""
    from pathlib import Path

    from doublet.addresses import is_address

    for given in inputs:
        if not is_address(given) and not Path(given).is_file():
            raise UsageError("server_takes_files", given=given)
    if make:
        make_library(client, name)
    return [
        client.fill(name, given, kind=kind) if is_address(given) else client.upload(name, Path(given))
        for given in inputs
    ]
