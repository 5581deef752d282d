"""The command ``doublet`` itself: its list of commands, which are imported only when they are called."""

from __future__ import annotations

import importlib

import click

import doublet
from doublet.cli.base import language_option
from doublet.cli.exits import TABLE
from doublet.cli.help import Group
from doublet.cli.language import words

#: command → (module, what it does). Kept here so that ``doublet --help`` need not import the commands.
COMMANDS = {
    "check": ("doublet.cli.check", "Check a text against documents and show what was taken from where."),
    "compare": ("doublet.cli.compare", "Compare two texts and show the passages they share."),
    "text": ("doublet.cli.text", "Print the text that Doublet reads from a file, and where it came from."),
    "dedupe": ("doublet.cli.dedupe", "Find the groups of duplicates in a collection, and clean it."),
    "library": ("doublet.cli.library", "Keep documents in libraries, to check against again and again."),
    "queue": ("doublet.cli.queue", "See the work in the background, put some in, stop it, try it again."),
    "worker": ("doublet.cli.worker", "Do the work of the queue."),
    "serve": ("doublet.cli.serve", "Start the service, with pages for people and REST for programs."),
    "backup": ("doublet.cli.backup", "Write everything that is kept to one file."),
    "restore": ("doublet.cli.restore", "Bring back what a backup holds."),
    "spark": (
        "doublet.cli.spark",
        "Run jobs over Apache Spark, for collections that do not fit one machine.",
    ),
    "repeats": ("doublet.cli.repeats", "Find what repeats inside documentation."),
    "pictures": ("doublet.cli.pictures", "Find pictures that show the same."),
    "evaluate": ("doublet.cli.evaluate", "Test every method on texts changed on purpose, as one report."),
    "advise": ("doublet.cli.advise", "Propose method and threshold from pairs that you have marked."),
    "methods": ("doublet.cli.methods", "List the methods, their parameters and what they are good for."),
    "curve": ("doublet.cli.curve", "Draw the chance of being found against resemblance."),
    "info": ("doublet.cli.info", "Show the version, the kernels and the libraries in use."),
    "config": ("doublet.cli.config", "Show the settings and where each comes from."),
    "completion": ("doublet.cli.completion", "Print the completion script for your shell."),
}


class Root(Group):
    """A group whose commands are found by name in `COMMANDS`."""

    example = """\
doublet compare essay.txt source.txt
doublet dedupe corpus.jsonl --groups groups.jsonl --kept clean.jsonl"""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return command

    def brief(self, ctx: click.Context, name: str) -> str:  # noqa: ARG002 - that of the group
        return COMMANDS[name][1]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), words().name("exit", str(code))) for code in TABLE])


@click.group(
    cls=Root,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Find what is said twice: duplicate documents and borrowed passages.",
)
@click.version_option(doublet.__version__, prog_name="doublet", message="%(prog)s %(version)s")
@language_option
@click.option(
    "--server",
    metavar="URL",
    envvar="DOUBLET_SERVER",
    help="Service that does the work instead of this computer (check, library, queue, "
    "repeats). [default: DOUBLET_SERVER]",
)
@click.option(
    "--token",
    metavar="TOKEN",
    envvar="DOUBLET_TOKEN",
    help="Personal token for --server. [default: DOUBLET_TOKEN]",
)
@click.pass_context
def root(ctx: click.Context, server: str | None, token: str | None) -> None:
    from doublet.cli.remote import note

    note(ctx, server, token)
