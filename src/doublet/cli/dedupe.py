"""``doublet dedupe``: groups of duplicates in a collection, and the collection without them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doublet import config
from doublet.cli.base import (
    PATH,
    Command,
    by_flag,
    common_options,
    format_option,
    method_parameters,
    parameter_option,
    parameters_as_flags,
    quiet_option,
    say,
    settings_options,
    use_colour,
    was_given,
    width,
    write_bytes,
    write_text,
)
from doublet.cli.exits import NOTHING_DONE, SOME_FAILED
from doublet.cli.language import words
from doublet.cli.rows import write_rows
from doublet.errors import Cancelled, UsageError, nearest
from doublet.model import FAILED_STATES, Note

if TYPE_CHECKING:
    from doublet.cli.estimate import Estimate
    from doublet.config import Resolved
    from doublet.model import Deduplication
    from doublet.sources.open import Inputs

EXAMPLE = """\
doublet dedupe corpus.jsonl --groups groups.jsonl --kept clean.jsonl
doublet dedupe articles/ --threshold 0.8 --shingle-words 5 --workers auto
zcat big.jsonl.gz | doublet dedupe - --id-field url --memory 2GB --kept - > clean.jsonl"""
VIEWS = ("strict", "families")
WORTH_TELLING_S = 2.0  # an estimate of less than that is no news
# One record may take so small a part of --memory: its text is held in many forms at once. Measured on texts of 11 MB
# with letters of four bytes: up to 25 times their size, 42 times where two of them are aligned.
MEMORY_SHARE = 80


@click.command(
    cls=Command,
    example=EXAMPLE,
    help="""Find the groups of duplicates among the documents of the INPUTs and say which one of each to keep.

    An INPUT is a file of JSON lines, a JSON, CSV, TSV or Parquet table, a text file, a folder of these, or
    standard input (-); tables and texts may be compressed (.gz, .zst, .bz2, .xz). A record that cannot be
    used is listed with the reason, and the rest goes on.

    A document is removed when a kept one resembles it by the threshold or more (0.5 unless --threshold says otherwise).
    It is also removed when at least 90% of it is contained in a kept one that is not shorter (--containment; off
    disables this).""",
)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@settings_options(
    "method", "threshold", "shingle_words", "thesaurus", "containment", "keep", "workers", "memory"
)
@parameter_option
@click.option(
    "--prefer",
    multiple=True,
    metavar="SOURCE",
    help="With --keep best-source: best first; repeat it. The source of a file is the INPUT that it came from.",
)
@click.option(
    "--id-field",
    default="id",
    show_default=True,
    metavar="FIELD",
    help="Field of the id; @place: none, use the place.",
)
@click.option("--text-field", default="text", show_default=True, metavar="FIELD", help="Field of the text.")
@click.option("--time-field", metavar="FIELD", help="Field of the time, for --keep newest.")
@click.option("--source-field", metavar="FIELD", help="Field of the source, for --keep best-source.")
@click.option("--groups", type=PATH, metavar="OUT", help="Write the groups: .jsonl, .json, .csv.")
@click.option(
    "--kept",
    type=PATH,
    metavar="OUT",
    help="Write the documents that stay; .txt: their ids.",
)
@click.option(
    "--in-place", is_flag=True, help="Allow --kept to replace an INPUT with the documents of it that stay."
)
@click.option("--pairs", is_flag=True, help="List every pair of duplicates as well (in the JSON).")
@click.option(
    "--views",
    metavar="strict,families",
    help="Add groups in which all pairs agree, or whole families (in the JSON).",
)
@click.option(
    "--reworded",
    type=click.Choice(["list", "all", "remove", "off"]),
    default="list",
    show_default=True,
    help="With --method auto: what to do about edited and reworded copies below the threshold.",
)
@click.option(
    "--frames/--no-frames",
    default=None,
    help="Compare web pages without what nearly all pages of their folder or host carry (default: where a folder has "
    "20 pages or more; --frames: from five on).",
)
@click.option("--dry-run", is_flag=True, help="Only say how long it would take and how much memory.")
@format_option("table", "json", "jsonl", "csv")
@quiet_option
@common_options
def command(
    *,
    inputs: tuple[str, ...],
    parameters: tuple[str, ...],
    prefer: tuple[str, ...],
    id_field: str,
    text_field: str,
    time_field: str | None,
    source_field: str | None,
    groups: Path | None,
    kept: Path | None,
    in_place: bool,
    pairs: bool,
    views: str | None,
    reworded: str,
    frames: bool | None,
    dry_run: bool,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> int | None:
    from doublet.cli.estimate import estimate
    from doublet.reports.output import STDOUT, check_distinct, format_suffix
    from doublet.reports.tables import check_groups
    from doublet.sources.open import open_source
    from doublet.sources.records import MAX_RECORD_BYTES

    rest, flags = parameters_as_flags(parameters, flags, ("threshold", "containment"))
    resolved = config.resolve(flags, file=config_file)
    settings = resolved.settings
    options = method_parameters(resolved, rest)
    if reworded == "off" and not by_flag(resolved, "thesaurus"):
        options.pop("thesaurus", None)  # the one of the settings is for when it is of use
    chosen_views = read_views(views)
    # What can go wrong at the end is looked at before the work begins.
    check_distinct({"--groups": groups, "--kept": kept})
    for option, out in (("--groups", groups), ("--kept", kept)):
        if out == STDOUT and form != "table":
            raise UsageError("both_to_stdout", option=option, form=form)
    for name in inputs:  # the cleaned collection may take the place of the collection; the groups may not
        check_distinct({"INPUT": Path(name) if name != "-" else None, "--groups": groups})
    if groups is not None:
        check_groups(groups)
    for option, given, rule in (
        ("--prefer", prefer, "best-source"),
        ("--source-field", source_field, "best-source"),
        ("--time-field", time_field, "newest"),
    ):
        if given and settings.keep != rule:
            raise UsageError("option_for_keep", option=option, rule=rule, keep=settings.keep)
    whole = form == "json" or (groups is not None and format_suffix(groups) == ".json")
    for option, asked in (("--pairs", pairs), ("--views", chosen_views)):
        if asked and not whole and not dry_run:
            raise UsageError("option_for_json", option=option)
    limit = MAX_RECORD_BYTES
    if settings.memory is not None:
        limit = min(limit, max(1 << 20, settings.memory // MEMORY_SHARE))
    with open_source(
        inputs,
        id_field=id_field,
        text_field=text_field,
        time_field=time_field,
        source_field=source_field,
        max_record_bytes=limit,
    ) as source:
        check_times(source, settings.keep)
        if kept is not None:
            source.check_kept(kept)
            over_itself = source.reads(kept)
            if over_itself and not in_place:
                raise UsageError("needs_in_place", path=str(kept))
        if in_place and (kept is None or not over_itself):
            raise UsageError("in_place_idle")
        source.check_fields({"id": "--id-field", "text": "--text-field"})
        for note in source.notes:
            say(note, quiet=quiet)
        expected = None
        if dry_run or not quiet:
            expected = estimate(
                source,
                method=settings.method,
                parameters=options,
                workers=settings.workers,
                memory_bytes=settings.memory,
            )
            if dry_run:
                show_estimate(expected, form)
                return None
            say(expected.note, quiet=expected.seconds < WORTH_TELLING_S)
        result = work(
            source,
            resolved=resolved,
            options=options,
            prefer=prefer,
            pairs=pairs,
            views=chosen_views,
            reworded=reworded if was_given("reworded") else None,
            frames=frames,
            groups=groups,
            kept=kept,
            quiet=quiet,
            expected_s=expected.seconds if expected is not None else None,
        )
    if STDOUT not in (groups, kept):
        show(result, form, settings.colour)
    elif form == "table":
        from doublet.reports.terminal import cleaned

        say(cleaned(result, words()), quiet=quiet)
    if not quiet:
        tell(result, [note for note in result.notes if note not in source.notes], settings.colour)
    return exit_code(result)


def work(
    source: Inputs,
    *,
    resolved: Resolved,
    options: dict[str, Any],
    prefer: Sequence[str],
    pairs: bool,
    views: Sequence[str],
    reworded: str | None,
    frames: bool | None,
    groups: Path | None,
    kept: Path | None,
    quiet: bool,
    expected_s: float | None = None,
) -> Deduplication:
    """The job itself, with its progress shown and Ctrl-C handed to it."""
    import sys

    from doublet.cli.progress import shown
    from doublet.jobs.dedupe import dedupe_inputs

    settings = resolved.settings
    with shown(
        quiet=quiet, colour=use_colour(settings.colour, sys.stderr), expected_s=expected_s
    ) as progress:
        try:
            return dedupe_inputs(
                source,
                method=settings.method,
                threshold=settings.threshold,
                containment=settings.containment,
                keep=settings.keep,
                pairs=pairs,
                views=tuple(views),
                reworded=reworded,
                frames=frames,
                workers=settings.workers,
                memory_bytes=settings.memory,
                prefer=tuple(prefer),
                progress=progress,
                groups_out=groups,
                kept_out=kept,
                **options,
            )
        except KeyboardInterrupt:
            progress.cancel()
            raise Cancelled("stopped_clean") from None


def show(result: Deduplication, form: str, colour: str) -> None:
    """The result on standard output."""
    from doublet.reports.json_report import json_parts
    from doublet.reports.tables import group_lines, group_rows
    from doublet.reports.terminal import deduplication

    if form == "json":
        write_bytes(json_parts(result.fields()))
    elif form == "jsonl":
        write_bytes(group_lines(result))
    elif form == "csv":
        write_bytes(group_rows(result))
    else:
        write_text(deduplication(result, width=width(), colour=use_colour(colour), language=words().language))


def tell(result: Deduplication, notes: Sequence[Note], colour: str) -> None:
    """Notes and failures on standard error."""
    import sys

    from doublet.reports.terminal import outcomes

    for note in notes:
        say(note)
    text = outcomes(
        result.outcomes,
        counts=result.extra.get("outcomes"),
        colour=use_colour(colour, sys.stderr),
        language=words().language,
    )
    click.echo(text, err=True, nl=False)


def exit_code(result: Deduplication) -> int | None:
    states = {outcome.state for outcome in result.outcomes} | set(result.extra.get("outcomes", ()))
    if states.isdisjoint(FAILED_STATES):
        return None
    return SOME_FAILED if result.documents else NOTHING_DONE


def show_estimate(expected: Estimate, form: str) -> None:
    from doublet.reports.json_report import json_document

    told = expected.to_dict()
    if form == "table":
        write_text(words().say(expected.note) + "\n")
    elif form == "json":
        write_bytes([json_document(told)])
    else:
        write_rows(form, tuple(told), [list(told.values())])


def read_views(text: str | None) -> tuple[str, ...]:
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    for name in names:
        if name not in VIEWS:
            raise UsageError("unknown_view_option", name=name, nearest=nearest(name, VIEWS))
    return names


def check_times(source: Inputs, keep: str) -> None:
    """The newest of a group can be told only where documents have a time; text files have their own."""
    tables = [part for part in source.parts if part.kind not in ("texts", "broken")]
    if keep == "newest" and tables and source.fields.time is None:
        raise UsageError("newest_needs_time")
