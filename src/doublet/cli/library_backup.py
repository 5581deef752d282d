"""``doublet library backup`` and ``restore``: libraries in one file that any database can take."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doublet import config
from doublet.cli.base import (
    PATH,
    Command,
    common_options,
    format_option,
    quiet_option,
    say,
    settings_options,
    use_colour,
    write_bytes,
)
from doublet.cli.progress import shown
from doublet.model import Note

if TYPE_CHECKING:
    from doublet.jobs.library_backup import Copied


@click.command(
    "backup",
    cls=Command,
    example="""\
doublet library backup libraries.zip
doublet library backup theses.zip theses""",
    help="""Write the libraries NAME... (or all of them) to FILE: documents, sources, and what is known of them. Others
    may work with the libraries meanwhile. The file can be restored into any database, SQLite or PostgreSQL. For a whole
    installation with its users and reports, use `doublet backup`.""",
)
@click.argument("file", type=PATH, metavar="FILE")
@click.argument("names", metavar="[NAME...]", nargs=-1)
@settings_options("database")
@format_option("table", "json")
@quiet_option
@common_options
def backup(
    *, file: Path, names: tuple[str, ...], form: str, quiet: bool, config_file: Path | None, **flags: Any
) -> None:
    from doublet.cli.library import open_store
    from doublet.jobs.library_backup import back_up_libraries

    resolved = config.resolve(flags, file=config_file)
    with (
        open_store(resolved) as store,
        shown(quiet=quiet, colour=use_colour(resolved.settings.colour, sys.stderr)) as progress,
    ):
        copied = back_up_libraries(store, file, names or None, progress=progress)
    _tell("library_backed_up", copied, file, form=form, quiet=quiet)


@click.command(
    "restore",
    cls=Command,
    example="""\
doublet library restore libraries.zip
doublet library restore libraries.zip theses --as theses-before""",
    help="""Bring back the libraries NAME... (or all of them) from FILE, which `doublet library backup` wrote. A library
    that is there already is never overwritten: rename it or remove it first, or use --as.""",
)
@click.argument("file", type=PATH, metavar="FILE")
@click.argument("names", metavar="[NAME...]", nargs=-1)
@click.option("--as", "new_name", metavar="NAME", help="Bring one library back under this name.")
@settings_options("database")
@format_option("table", "json")
@quiet_option
@common_options
def restore(
    *,
    file: Path,
    names: tuple[str, ...],
    new_name: str | None,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> None:
    from doublet.cli.library import open_store
    from doublet.jobs.library_backup import restore_libraries

    resolved = config.resolve(flags, file=config_file)
    with (
        open_store(resolved, create=True) as store,
        shown(quiet=quiet, colour=use_colour(resolved.settings.colour, sys.stderr)) as progress,
    ):
        copied = restore_libraries(store, file, names or None, new_name=new_name, progress=progress)
    _tell("library_restored", copied, file, form=form, quiet=quiet)


def _tell(code: str, copied: list[Copied], file: Path, *, form: str, quiet: bool) -> None:
    from doublet.reports.json_report import json_document

    if form == "json":
        told = [one.to_dict() for one in copied]
        write_bytes([json_document({"format": 1, "file": str(file), "libraries": told})])
        return
    for one in copied:
        say(Note("library_copied", name=one.name, documents=one.documents, sources=one.sources), quiet=quiet)
    say(Note(code, path=str(file), libraries=len(copied)), quiet=quiet)
