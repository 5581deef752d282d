"""``doublet check``: what of a text stands in other documents, and where."""

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
    settings_options,
    use_colour,
    width,
    write_bytes,
    write_text,
)
from doublet.cli.compare import read, read_limit
from doublet.cli.exits import OVER_THE_LIMIT, SOME_FAILED
from doublet.cli.progress import shown

EXAMPLE = """\
doublet check essay.txt --against library.jsonl
doublet check essay.txt --against theses/ --fail-above 30% --format json"""


@click.command(
    cls=Command,
    example=EXAMPLE,
    help="""Check TEXT (a file, or - for standard input) against documents: how much of it stands in them,
    which of them explain it best, and every passage with its place on both sides.""",
)
@click.argument("text", metavar="TEXT")
@click.option(
    "--against",
    multiple=True,
    required=True,
    metavar="INPUT",
    help="JSON lines, CSV, Parquet or a folder of texts to check against; may be given again.",
)
@settings_options("shingle_words")
@click.option("--min-share", metavar="SHARE", help="Leave out sources that cover less of the text, as 1%.")
@click.option(
    "--fail-above",
    metavar="SHARE",
    help="Exit with 1 when more than this share of the text was found, as 30%.",
)
@click.option("--id-field", default="id", show_default=True, help="Field of a record with its id.")
@click.option("--text-field", default="text", show_default=True, help="Field of a record with its text.")
@format_option("table", "json")
@quiet_option
@common_options
def command(
    *,
    text: str,
    against: tuple[str, ...],
    min_share: str | None,
    fail_above: str | None,
    id_field: str,
    text_field: str,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> int | None:
    from doublet.jobs.check import check
    from doublet.reports.check_terminal import check_report
    from doublet.reports.json_report import json_document
    from doublet.reports.terminal import outcomes
    from doublet.reports.wording import percent
    from doublet.sources.open import open_source

    resolved = config.resolve(flags, file=config_file)
    limit = read_limit(fail_above)
    least = read_limit(min_share) or 0.0
    content = read(text, quiet)
    with (
        open_source(against, id_field=id_field, text_field=text_field) as source,
        shown(quiet=quiet, colour=use_colour(resolved.settings.colour, sys.stderr)) as progress,
    ):
        words = resolved.settings.shingle_words
        result = check(
            content, source, min_share=least, progress=progress, **({"shingle_words": words} if words else {})
        )
    if form == "json":
        write_bytes([json_document(result.to_dict())])
    else:
        name = "standard input" if text == "-" else text
        write_text(
            check_report(
                result, content, name=name, width=width(), colour=use_colour(resolved.settings.colour)
            )
        )
    if result.outcomes and not quiet:
        say(outcomes(result.outcomes).rstrip("\n"))
    if limit is not None and result.share > limit:
        say(f"{percent(result.share)} of the text was found: more than {percent(limit)}", quiet=quiet)
        return OVER_THE_LIMIT
    return SOME_FAILED if result.outcomes else None
