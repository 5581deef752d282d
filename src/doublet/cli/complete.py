"""What a shell completes: files, names of libraries and methods, and the values that an option can take.

A parameter that takes any text is given one of these types by its name (`complete_by_name`); the types change nothing
about what the parameter accepts. Completing is quick and silent: where something cannot be looked up, nothing is
completed.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

MOST = 200  #: names that are completed at once


class Completed(click.types.StringParamType):
    """Any text; *known* gives the texts that are completed, with what they mean."""

    def __init__(self, known: Callable[[], Iterable[tuple[str, str]]], *, several: bool = False) -> None:
        self._known = known
        self._several = several  # with commas between them

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        before, comma, begun = incomplete.rpartition(",") if self._several else ("", "", incomplete)
        try:
            found = [(name, about) for name, about in self._known() if name.startswith(begun)]
        except Exception:  # a shell has no place for what went wrong
            return []
        return [CompletionItem(_quoted(before + comma + name), help=about) for name, about in found[:MOST]]


class CompletedFile(click.types.StringParamType):
    """Any text; files are completed, which the shell does itself. *also* are words besides."""

    def __init__(self, *also: str, folders: bool = False) -> None:
        self._also = also
        self._kind = "dir" if folders else "file"

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        words = [CompletionItem(word) for word in self._also if incomplete and word.startswith(incomplete)]
        return words or [CompletionItem(incomplete, type=self._kind)]


def _quoted(name: str) -> str:
    """bash puts what it is given into the line as it is; the other shells quote it themselves."""
    return shlex.quote(name) if os.environ.get("_DOUBLET_COMPLETE", "").startswith("bash") else name


def _libraries() -> Iterable[tuple[str, str]]:
    from pathlib import Path

    from doublet import config
    from doublet.store.connection import sqlite_place
    from doublet.store.database import Store

    given = _option("database")
    address = config.resolve({"database": given}).settings.database or config.default_database()
    place = sqlite_place(address)
    if place is not None and not Path(place).exists():
        return []
    with Store(address, create=False) as store:
        return [(info.name, f"{info.documents:,}") for info in store.libraries.all()]


def _option(name: str) -> str | None:
    """The value of an option that is on the line already."""
    context = click.get_current_context(silent=True)
    while context is not None:
        if context.params.get(name):
            return str(context.params[name])
        context = context.parent
    return None


def _methods() -> Iterable[tuple[str, str]]:
    from doublet.signatures import methods

    return [(info.name, info.summary) for info in methods()]


def _jobs() -> Iterable[tuple[str, str]]:
    from doublet.jobs.queue.kinds import names

    return [(name, "") for name in names()]


def _words(*words: str) -> Callable[[], Iterable[tuple[str, str]]]:
    return lambda: [(word, "") for word in words]


LIBRARY = Completed(_libraries)
METHOD = Completed(_methods)
FILES = CompletedFile("-")
_BY_NAME: dict[str, Any] = {
    **dict.fromkeys(("inputs", "texts", "files", "a", "b", "against", "database", "corpus", "model"), FILES),
    "file": FILES,
    "thesaurus": CompletedFile("auto"),
    "out": CompletedFile(folders=True),
    **dict.fromkeys(("libraries", "library"), LIBRARY),
    "method": METHOD,
    "methods": Completed(_methods, several=True),
    "compare": METHOD,
    "leave_out": Completed(_words("quotations", "bibliography", "common", "own"), several=True),
    "views": Completed(_words("strict", "families"), several=True),
    "containment": Completed(_words("off", "0.8", "0.9", "0.95")),
    "workers": Completed(_words("auto", "1", "2", "4")),
    "kind": Completed(_jobs),
}


def complete_by_name(command: click.Command) -> None:
    """Give the parameters of a command that take any text a type that completes."""
    for param in command.params:
        if type(param.type) is not click.types.StringParamType:
            continue
        name, metavar = param.name or "", param.metavar or ""
        if (
            isinstance(param, click.Argument)
            and name in ("name", "names")
            and metavar.strip("[]").startswith("NAME")
        ):
            param.type = LIBRARY
        elif isinstance(param, click.Argument) and name == "name":  # of `doublet methods`
            param.type = METHOD
        elif name in _BY_NAME:
            param.type = _BY_NAME[name]
        elif "|" in metavar:  # the words are in the help already
            param.type = Completed(_words(*(word for word in metavar.split("|") if word.islower())))
