"""``doublet pictures``: groups of pictures that show the same."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from doublet import config
from doublet.cli.base import (
    Command,
    common_options,
    format_option,
    quiet_option,
    say,
    use_colour,
    write_bytes,
    write_text,
)
from doublet.cli.exits import NOTHING_DONE, SOME_FAILED
from doublet.cli.language import words
from doublet.cli.progress import shown


@click.command(
    cls=Command,
    example="doublet pictures photos/\ndoublet pictures photos/ scan.png --distance 6 --format json",
    help="""Find the groups of pictures that show the same in the files and folders PATH...: in another size or format,
    compressed harder, a little lighter. The largest one of a group stays.""",
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--distance",
    type=int,
    default=10,
    show_default=True,
    metavar="N",
    help="How many of the 63 signs of two pictures may differ.",
)
@format_option("table", "json")
@quiet_option
@common_options
def command(
    *, paths: tuple[Path, ...], distance: int, form: str, quiet: bool, config_file: Path | None, **flags: Any
) -> int | None:
    from doublet.jobs.find_pictures import find_pictures
    from doublet.reports.json_report import json_document
    from doublet.reports.terminal import table

    settings = config.resolve(flags, file=config_file).settings
    with shown(quiet=quiet, colour=use_colour(settings.colour, sys.stderr)) as progress:
        found = find_pictures(paths, distance=distance, progress=progress)
    if form == "json":
        write_bytes([json_document(found.to_dict())])
    else:
        names = words()
        rows = [
            [group.keep if not place else "", one.name, f"{one.agreement:.2f}"]
            for group in found.groups
            for place, one in enumerate(group.copies)
        ]
        heads = [names.name("head", head) for head in ("stays", "shows_the_same", "agreement")]
        copies = sum(len(group.copies) for group in found.groups)
        total = names("pictures_found", pictures=found.pictures, groups=len(found.groups), copies=copies)
        write_text((table(rows, header=heads) if rows else "") + f"{total}\n")
    if not quiet:
        for outcome in found.outcomes:
            say(f"{outcome.place}: {words().say(outcome.reason)}")
    if not found.pictures:
        return NOTHING_DONE
    return SOME_FAILED if found.outcomes else None
