"""``doublet --server URL``: what a service does instead of this computer.

Files are read here, and their texts are checked there; everything else of a command stays as it is, so the output
is the same. The service keeps the reports: they are found on its pages too.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from doublet.errors import UsageError

if TYPE_CHECKING:
    from doublet.client import Client
    from doublet.model import Check

COMMANDS = ("check", "library")  #: that know --server; of the second one, `library list`


def note(ctx: click.Context, server: str | None, token: str | None) -> None:
    """Remember the options of the whole program. Raises `UsageError` where --server would be ignored."""
    given = bool(server) and ctx.get_parameter_source("server") is click.core.ParameterSource.COMMANDLINE
    ctx.obj = {"server": server or "", "token": token or "", "given": given}
    if given and ctx.invoked_subcommand not in COMMANDS:
        raise UsageError("server_not_for", command=str(ctx.invoked_subcommand))


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


def require_local(command: str) -> None:
    """Raises `UsageError` when --server was given to a command that works with a database here."""
    if _noted().get("given"):
        raise UsageError("server_not_for", command=command)


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
