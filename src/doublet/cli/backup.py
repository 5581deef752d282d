"""``doublet backup`` and ``doublet restore``: everything that is kept, in one file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from doublet import config
from doublet.cli.base import PATH, Command, common_options, say, settings_options
from doublet.model import Note


def _places(flags: dict[str, Any], config_file: Path | None) -> tuple[str, Path]:
    """The address of the database and the file with the key of the service."""
    from doublet.web.configure import KEY_FILE
    from doublet.web.server import data_folder

    address = config.resolve(flags, file=config_file).settings.database or config.default_database()
    return address, data_folder(address) / KEY_FILE


@click.command(
    cls=Command,
    example="doublet backup doublet-monday.zip",
    help="""Write everything that libraries and the service keep to FILE: documents, users, uploads, reports, decisions
    and the key of the service. The service may go on meanwhile. Keep the file safe: it holds all texts.""",
)
@click.argument("file", type=PATH)
@settings_options("database")
@common_options
def command(*, file: Path, config_file: Path | None, **flags: Any) -> None:
    from doublet.jobs.backup import back_up

    address, key = _places(flags, config_file)
    size = back_up(address, key, file)
    say(Note("backup_written", path=str(file), size=f"{size:,}"))
