"""``doublet config show``: each setting and where it came from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from doublet import config
from doublet.cli.base import (
    Command,
    common_options,
    format_option,
    settings_options,
    write_bytes,
    write_text,
)
from doublet.cli.help import Group, told
from doublet.cli.language import words
from doublet.cli.rows import write_rows

EXAMPLE = "doublet config show"


class ConfigGroup(Group):
    example = EXAMPLE


@click.group(cls=ConfigGroup, help="Show the settings and where each comes from.")
def command() -> None:
    pass


@command.command(
    "show",
    cls=Command,
    example="doublet config show\nDOUBLET_WORKERS=auto doublet config show --format json",
    help="""Print each setting, its value, and where it came from: the default, the settings file, a
    DOUBLET_ variable or a flag. The settings file is doublet.toml in this folder or, when there is none,
    in ~/.config/doublet/.""",
)
@settings_options(
    "method", "threshold", "shingle_words", "containment", "keep", "workers", "memory", "database"
)
@format_option("table", "json", "jsonl", "csv")
@common_options
def show(form: str, config_file: Path | None, **flags: Any) -> None:
    from doublet.reports.json_report import json_document
    from doublet.reports.terminal import table

    resolved = config.resolve(flags, file=config_file)
    if form == "json":
        write_bytes([json_document(resolved.to_dict())])
        return
    values = resolved.settings.to_dict()
    if form != "table":
        told = ((name, values[name], resolved.origins[name], config.about(name)) for name in config.NAMES)
        write_rows(form, ("setting", "value", "from", "about"), told)
        return
    say = words()
    rows = [
        [name, shown(name, values[name]), _origin(resolved.origins[name]), _about(name)]
        for name in config.NAMES
    ]
    header = [say(f"setting_{column}") for column in ("name", "value", "from", "about")]
    write_text(table(rows, header=header))


def _origin(origin: str) -> str:
    return words()("setting_default") if origin == "default" else origin


def _about(name: str) -> str:
    """What a setting is, as the help of its option says it."""
    text = told("", f"--{name.replace('_', '-')}")
    if text is None:
        known: dict[str, str] = words().tables.SETTINGS
        return known.get(name, config.about(name))
    return text.rstrip(".")


def shown(name: str, value: Any) -> str:
    """A value as it can be written in the settings file."""
    if value is None:
        return "off" if name == "containment" else "–"
    if isinstance(value, tuple):
        return ",".join(value) or "–"
    return str(value)
