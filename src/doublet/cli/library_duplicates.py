"""``doublet library duplicates``: groups of duplicates inside libraries and between them."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doublet import config
from doublet.cli import remote
from doublet.cli.base import (
    PATH,
    Command,
    common_options,
    format_option,
    quiet_option,
    settings_options,
    use_colour,
    width,
    write_bytes,
    write_text,
)
from doublet.cli.language import words
from doublet.cli.later import later_option, put
from doublet.cli.progress import shown
from doublet.errors import UsageError

if TYPE_CHECKING:
    from doublet.client import Client


@click.command(
    "duplicates",
    cls=Command,
    example="""\
doublet library duplicates theses
doublet library duplicates theses --groups review.html
doublet library duplicates theses articles --between --groups groups.csv""",
    help="""List the groups of duplicates in the libraries NAME..., or in all libraries. With several libraries the ids
    are written as library/id. A list that was reviewed goes to `doublet library remove --duplicates`.""",
)
@click.argument("names", metavar="[NAME...]", nargs=-1)
@click.option("--between", is_flag=True, help="Only groups with documents of two libraries or more.")
@click.option(
    "--groups",
    type=PATH,
    metavar="OUT",
    help="Write the groups: .jsonl, .json, .csv, or a page to review them: .html.",
)
@settings_options("threshold", "shingle_words", "containment", "keep", "workers", "memory", "database")
@later_option
@format_option("table", "json", "jsonl", "csv", "html")
@quiet_option
@common_options
def duplicates(
    *,
    names: tuple[str, ...],
    between: bool,
    groups: Path | None,
    later: bool,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> None:
    from doublet.cli.library import open_store
    from doublet.jobs.library_duplicates import duplicates_report, library_duplicates
    from doublet.reports.json_report import json_document
    from doublet.reports.tables import check_groups, group_lines, group_rows
    from doublet.reports.terminal import deduplication

    resolved = config.resolve(flags, file=config_file)
    settings = resolved.settings
    server = remote.client_here()
    if server is not None:
        _duplicates_there(server, names, groups=groups, between=between, later=later, form=form)
        return
    if groups is not None:
        check_groups(groups, pages=True)
    options: dict[str, Any] = {"containment": settings.containment, "keep": settings.keep}
    options |= {"workers": settings.workers, "memory_bytes": settings.memory, "threshold": settings.threshold}
    if settings.shingle_words is not None:
        options["shingle_words"] = settings.shingle_words
    if later:
        with open_store(resolved) as store:
            work: dict[str, Any] = {"libraries": list(names) or None, "between": between, "options": options}
            work |= {"out": str(groups.absolute()) if groups is not None else None}
            work |= {"language": words().language}
            put(store, "duplicates", work, form=form, quiet=quiet)
        return
    with (
        open_store(resolved) as store,
        shown(quiet=quiet, colour=use_colour(settings.colour, sys.stderr)) as progress,
    ):
        result = library_duplicates(
            store,
            names or None,
            between=between,
            out=groups,
            language=words().language,
            progress=progress,
            **options,
        )
        page = ""
        if form == "html":
            named = [info.name for info in store.libraries.select(names or None)]
            page = duplicates_report(store, result, named, language=words().language)
    if form == "html":
        write_bytes([page.encode("utf-8", "replace")])
    elif form == "json":
        write_bytes([json_document(result.to_dict())])
    elif form == "jsonl":
        write_bytes(group_lines(result))
    elif form == "csv":
        write_bytes(group_rows(result))
    else:
        write_text(
            deduplication(
                result, width=width(), colour=use_colour(settings.colour), language=words().language
            )
        )
        if result.removed:
            write_text("\n" + "\n".join(textwrap.wrap(words()("duplicates_are_proposals"), width())) + "\n")


def _duplicates_there(
    server: Client, names: tuple[str, ...], *, groups: Path | None, between: bool, later: bool, form: str
) -> None:
    """The same search by a service, with the settings of the service."""
    from doublet.cli.rows import write_rows
    from doublet.reports.json_report import json_document
    from doublet.reports.queue_terminal import job_table
    from doublet.reports.terminal import harmless, table

    if groups is not None or form in ("html", "jsonl"):
        raise UsageError("not_with_server", option="--groups" if groups is not None else f"--format {form}")
    with server:
        chosen = list(names) or [one["name"] for one in server.libraries()]
        begun = server.search_duplicates(chosen, between=between)
        if later:
            write_text(job_table(remote.job_info(begun), language=words().language))
            return
        job = remote.finished(server, begun)
    if form == "json":
        write_bytes([json_document(job.result)])
        return
    columns = ("keep", "id", "resemblance", "containment")
    rows = [
        (group["keep"], one["id"], one.get("resemblance"), one.get("containment"))
        for group in job.result["groups"]
        for one in group["members"]
    ]
    if form == "csv":
        write_rows(form, columns, rows)
    else:
        shown_rows = [
            [harmless(a), harmless(b), *("" if c is None else words().percent(c) for c in rest)]
            for a, b, *rest in rows
        ]
        write_text(table(shown_rows, header=list(columns)))
