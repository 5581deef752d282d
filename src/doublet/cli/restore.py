"""``doublet restore``: see `doublet.cli.backup`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from doublet.cli.backup import _places
from doublet.cli.base import PATH, Command, common_options, say, settings_options
from doublet.model import Note


@click.command(
    cls=Command,
    example="doublet restore doublet-monday.zip --database restored.db",
    help="""Bring back what `doublet backup` wrote to FILE. The database must not exist yet (a file), or must be empty
    (PostgreSQL): nothing is overwritten.""",
)
@click.argument("file", type=PATH)
@settings_options("database")
@common_options
def command(*, file: Path, config_file: Path | None, **flags: Any) -> None:
    from doublet.jobs.backup import bring_back
    from doublet.web.restoring import make_tables

    address, key = _places(flags, config_file)
    bring_back(file, address, key, make_tables)
    say(Note("backup_restored", path=str(file)))
