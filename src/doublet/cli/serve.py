"""``doublet serve``: the pages and the REST interface, with workers, in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from doublet.cli.base import Command, common_options, say, settings_options

EXAMPLE = """\
doublet serve
doublet serve --database postgresql://doublet@localhost/doublet --workers 4
doublet serve --https --host-name doublet.example.org --proxies 1"""


@click.command(
    cls=Command,
    example=EXAMPLE,
    help="""Start the service, with pages for people and REST for programs. Everything is kept in one database file
    unless --database names a server. The first start makes an administrator and prints the password once.""",
)
@settings_options("database")
@click.option(
    "--bind", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on."
)
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port to listen on."
)
@click.option(
    "--workers", default=1, show_default=True, type=click.IntRange(0, 64), help="Processes for long work."
)
@click.option(
    "--checkers",
    default=2,
    show_default=True,
    type=click.IntRange(0, 64),
    help="Processes for quick checks. With 0 they are made by the process that answers requests.",
)
@click.option(
    "--host-name",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A name under which browsers reach the service. May be given several times.",
)
@click.option("--https", is_flag=True, help="Browsers use TLS, which a proxy in front of the service ends.")
@click.option(
    "--proxies",
    default=0,
    show_default=True,
    type=click.IntRange(0, 10),
    help="How many trusted proxies are in front of the service.",
)
@click.option("--upload-limit", default="50MB", show_default=True, metavar="SIZE", help="Largest upload.")
@click.option(
    "--allow-folder",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder from which administrators may fill libraries. May be given several times.",
)
@click.option(
    "--allow-private", is_flag=True, help="Let forms fetch pages from private networks. [default: no]"
)
@click.option("--empty", is_flag=True, help="Do not load the sample library and works at the first start.")
@click.option("--open/--no-open", "browse", default=None, help="Open the first page in a browser.")
@common_options
def command(**options: Any) -> None:
    from doublet.web.server import serve

    serve(say=say, **options)
