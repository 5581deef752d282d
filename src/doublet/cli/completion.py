"""``doublet completion``: the script that makes a shell complete commands and options."""

from __future__ import annotations

import click

from doublet.cli.base import Command, write_text
from doublet.errors import UsageError


@click.command(
    cls=Command,
    example='eval "$(doublet completion bash)"',
    help="Print the completion script for your shell: the example's line goes into its start-up file.",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    from click.shell_completion import get_completion_class

    from doublet.cli.root import root

    kind = get_completion_class(shell)
    if kind is None:
        raise UsageError("no_completion", shell=shell)
    write_text(kind(root, {}, "doublet", "_DOUBLET_COMPLETE").source() + "\n")
