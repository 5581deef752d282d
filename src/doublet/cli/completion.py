"""``doublet completion``: the script that makes a shell complete commands, options and their values."""

from __future__ import annotations

import click

from doublet.cli.base import Command, write_text
from doublet.errors import UsageError


@click.command(
    cls=Command,
    example="""\
eval "$(doublet completion bash)"
eval "$(doublet completion zsh)"
doublet completion fish | source""",
    help="""Print the completion script for your shell. Put the line of the example into its start-up file (~/.bashrc;
    ~/.zshrc after compinit; ~/.config/fish/config.fish). Files, names of libraries and methods, and values of options
    are completed.""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    from click.shell_completion import get_completion_class

    from doublet.cli.root import root

    kind = get_completion_class(shell)
    if kind is None:
        raise UsageError("no_completion", shell=shell)
    script = kind(root, {}, "doublet", "_DOUBLET_COMPLETE").source()
    # A value may have commas itself: lists of kinds and methods do.
    write_text(script.replace('string split "," ', 'string split --max 1 "," ') + "\n")
