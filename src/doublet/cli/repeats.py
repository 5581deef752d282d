"""``doublet repeats``: what repeats inside documentation, as a report or as a linter."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import doublet
from doublet import config
from doublet.cli import remote
from doublet.cli.base import (
    PATH,
    Command,
    common_options,
    format_option,
    quiet_option,
    say,
    use_colour,
    width,
    write_bytes,
    write_text,
)
from doublet.cli.exits import OVER_THE_LIMIT, SOME_FAILED
from doublet.cli.language import words
from doublet.cli.later import later_option, put
from doublet.cli.progress import shown
from doublet.errors import InputUnreadable, UsageError
from doublet.model import Note, Outcome

if TYPE_CHECKING:
    from doublet.client import Client
    from doublet.repeats.model import Repeats

EXAMPLE = """\
doublet repeats manual.xml
doublet repeats docs/ --format html --out repeats.html
doublet repeats docs/ --baseline known.json --fail-on-new"""


@click.command(
    cls=Command,
    example=EXAMPLE,
    help="""Find what repeats inside FILES: files, folders (with all their documentation), or - for standard
    input. All files are looked at as one document. With --baseline and --fail-on-new only repeats that are
    not in an earlier result (--format json) count.""",
)
@click.argument("files", nargs=-1, required=True, metavar="FILES…")
@click.option(
    "--algorithm",
    default="auto",
    show_default=True,
    metavar="auto|exact|edit|ngrams",
    help="auto finds what a reader would call a repeat; exact, edit and ngrams are the classical searches.",
)
@click.option(
    "--min-tokens",
    type=int,
    metavar="N",
    help="Shortest repeat, in tokens.  [default: auto 5, exact 10, edit as --fragment-tokens, ngrams 4]",
)
@click.option(
    "--tokens",
    default="word",
    show_default=True,
    metavar="word|punctuation|line|sentence",
    help="What is compared: words, words and signs, whole lines, whole sentences.",
)
@click.option("--stop-words", is_flag=True, help="Leave Russian and English stop words out.")
@click.option(
    "--reduce",
    default="none",
    show_default=True,
    metavar="none|stem|lemma",
    help="Compare stems or lemmas (not with exact).",
)
@click.option(
    "--mask-numbers/--no-mask-numbers",
    default=None,
    help="All numbers count as equal.  [default: only for auto]",
)
@click.option("--code/--no-code", default=True, show_default=True, help="Look into blocks of code.")
@click.option("--tables/--no-tables", default=True, show_default=True, help="Look into tables.")
@click.option(
    "--balance/--no-balance",
    default=True,
    show_default=True,
    help="Join neighbouring groups where the significance grows (not for auto).",
)
@click.option(
    "--fragment-tokens",
    type=int,
    default=10,
    show_default=True,
    metavar="N",
    help="edit: size of a fragment.",
)
@click.option(
    "--max-edits",
    type=int,
    default=3,
    show_default=True,
    metavar="N",
    help="edit: tokens that may differ between two fragments.",
)
@click.option(
    "--hash-distance",
    type=int,
    default=12,
    show_default=True,
    metavar="BITS",
    help="edit: bits of 32 by which the simhashes of two fragments may differ.",
)
@click.option(
    "--link",
    default="components",
    show_default=True,
    metavar="components|cliques",
    help="edit: groups are connected fragments, or (stricter) fragments that are all alike.",
)
@click.option(
    "--ngram", type=int, default=3, show_default=True, metavar="N", help="ngrams: tokens of an n-gram."
)
@click.option(
    "--min-common",
    type=int,
    default=2,
    show_default=True,
    metavar="N",
    help="ngrams: n-grams that a sentence must share with its whole group.",
)
@click.option(
    "--min-common-share",
    default="0.5",
    show_default=True,
    metavar="SHARE",
    help="ngrams: the same, as a share of the sentence's own n-grams.",
)
@click.option(
    "--level",
    type=float,
    default=1.0,
    show_default=True,
    metavar="NUMBER",
    help="auto: below 1 reports more, above 1 less.",
)
@click.option(
    "--baseline",
    type=PATH,
    metavar="FILE",
    help="An earlier result (--format json): groups in it are known.",
)
@click.option(
    "--fail-on-new", is_flag=True, help="Exit with 1 when there is a repeat that the baseline does not have."
)
@click.option(
    "--decisions",
    type=PATH,
    metavar="FILE",
    help="What you decided on the page of --format html (Export decisions): ignored groups are left out, groups to "
    "keep do not fail --fail-on-new.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    help="Leave out what matches this pattern in the folders, as in a .gitignore. May be given several times.",
)
@click.option(
    "--ignore-files/--no-ignore-files",
    default=True,
    show_default=True,
    help="Leave out of folders what a .gitignore or .doubletignore names.",
)
@click.option(
    "--out",
    type=PATH,
    metavar="FILE",
    help="Write to a file instead of standard output.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Groups in table and html.  [default: 20 and 500]",
)
@later_option
@format_option("table", "json", "html", "sarif", "csv")
@quiet_option
@common_options
def command(
    *,
    files: tuple[str, ...],
    min_common_share: str,
    baseline: Path | None,
    decisions: Path | None,
    exclude: tuple[str, ...],
    ignore_files: bool,
    fail_on_new: bool,
    out: Path | None,
    limit: int | None,
    later: bool,
    form: str,
    quiet: bool,
    config_file: Path | None,
    colour: str | None,
    **options: Any,
) -> int | None:
    from doublet.jobs.find_repeats import find_repeats
    from doublet.reports.output import check_output, open_output
    from doublet.reports.terminal import outcomes

    resolved = config.resolve({"colour": colour}, file=config_file)
    try:
        share = config.as_share(min_common_share)
    except ValueError as error:
        raise UsageError("min_common_share_wrong", min_common_share=min_common_share, why=error) from None
    if fail_on_new and baseline is None:
        raise UsageError("fail_on_new_needs_baseline")
    known = read_baseline(baseline) if baseline is not None else None
    decided = read_decisions(decisions) if decisions is not None else None
    chosen: dict[str, Any] = {"exclude": list(exclude), "ignore_files": ignore_files}
    chosen |= {"decisions": decided} if decided is not None else {}
    if out is not None:
        check_output(out)
    server = remote.asked_for()
    if server is not None and later:
        raise UsageError("not_with_server", option="--later")
    if later:
        if "-" in files or form not in ("table", "json"):
            raise UsageError("later_repeats")
        from doublet.cli.library import open_store

        asked = {
            **options,
            **chosen,
            "min_common_share": share,
            **({"baseline": known} if known is not None else {}),
        }
        work: dict[str, Any] = {"paths": [str(Path(name).absolute()) for name in files], "options": asked}
        work |= {"out": str(out.absolute())} if out is not None else {}
        with open_store(resolved) as store:
            put(store, "repeats", work, form=form, quiet=quiet)
        return None
    if server is not None:
        with server:
            asked = {**options, "min_common_share": share, "baseline": known, "decisions": decided}
            given = inputs(files, quiet)
            result = _there(server, given, asked, exclude, ignore_files=ignore_files, quiet=quiet)
    else:
        with shown(quiet=quiet, colour=use_colour(resolved.settings.colour, sys.stderr)) as progress:
            result = find_repeats(
                inputs(files, quiet),
                baseline=known,
                progress=progress,
                min_common_share=share,
                **chosen,
                **options,
            )
    plain = out is not None
    parts = written(result, form, limit, colour=not plain and use_colour(resolved.settings.colour))
    if out is not None:
        with open_output(out) as stream:
            for part in parts:
                stream.write(part)
    elif form == "table":
        write_text(b"".join(parts).decode("utf-8"))
    else:
        write_bytes(parts)
    if form != "table":
        for note in result.notes:
            say(Note("note_told", note=note), quiet=quiet)
    if result.outcomes and not quiet:
        say(outcomes(result.outcomes).rstrip("\n"))
    if fail_on_new and result.new_groups:
        say(Note("new_repeats", repeats=len(result.new_groups), baseline=str(baseline)), quiet=quiet)
        return OVER_THE_LIMIT
    return SOME_FAILED if result.outcomes else None


def _there(
    server: Client,
    given: Any,
    options: dict[str, Any],
    exclude: tuple[str, ...],
    *,
    ignore_files: bool,
    quiet: bool,
) -> Repeats:
    """The same search by a service, which keeps the page, and what is decided on it. The files that would be read here
    are sent in one archive."""
    import io
    import zipfile

    from doublet.jobs.find_repeats import list_files
    from doublet.reports.repeats_kept import with_names
    from doublet.sources.works import MOST_ENTRIES

    names: dict[str, str] = {}  # in the archive → as they were given
    notes: list[Note] = []
    outcomes: list[Outcome] = []
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        if isinstance(given, dict):
            files = {name: text.encode("utf-8", "surrogatepass") for name, text in given.items()}
        else:
            listed, notes = list_files(given, exclude, ignore_files=ignore_files)
            files = dict.fromkeys(listed, b"")
        if len(files) > MOST_ENTRIES:
            raise UsageError("server_takes_fewer", most=MOST_ENTRIES, number=len(files))
        for name, data in files.items():
            inner = "/".join(part for part in Path(name).parts if part not in ("/", "\\", "..", "."))
            try:
                archive.writestr(inner, data or Path(name).read_bytes())
            except OSError as error:
                reason = Note("file_unreadable", path=name, why=str(error.strerror or error))
                outcomes.append(Outcome("unreadable", "", name, reason))
            else:
                names[inner] = Path(name).as_posix()
    asked = {name: value for name, value in options.items() if value is not None}
    begun = server.find_repeats(
        ("repeats.zip", content.getvalue()), listed=True, language=words().language, **asked
    )
    remote.finished(server, {"number": begun["job"]})
    found = server.repeats(begun["id"])
    if found["state"] != "done":
        raise remote.refused(server, (found["problem"] or {}).get("message") or found["state"])
    say(Note("server_repeats", address=f"{server.server}/repeats/{begun['id']}/"), quiet=quiet)
    result = with_names(server.repeats_result(begun["id"]), lambda name: names.get(name, name))
    return dataclasses.replace(
        result,
        parameters={**result.parameters, "exclude": list(exclude), "ignore_files": ignore_files},
        outcomes=(*outcomes, *result.outcomes),
        notes=(*notes, *result.notes),
    )


def inputs(files: tuple[str, ...], quiet: bool) -> Any:
    """Paths; or the text of standard input, which must be alone."""
    if "-" not in files:
        return [Path(name) for name in files]
    if len(files) > 1:
        raise UsageError("only_input")
    from doublet.cli.compare import read

    return {words()("standard_input"): read("-", quiet, as_kind="plain")}


def read_baseline(path: Path) -> Any:
    """The JSON of an earlier run. Raises `InputUnreadable` or `UsageError`."""
    from doublet.repeats.baseline import check_baseline

    known = _read_json(path, "baseline_unreadable", "baseline_not_json")
    check_baseline(known, str(path))
    return known


def read_decisions(path: Path) -> Any:
    """What the page exported. Raises `InputUnreadable` or `UsageError`."""
    from doublet.repeats.decisions import check_decisions

    decided = _read_json(path, "decisions_unreadable", "decisions_not_json")
    check_decisions(decided, str(path))
    return decided


def _read_json(path: Path, unreadable: str, not_json: str) -> Any:
    import orjson

    try:
        return orjson.loads(path.read_bytes())
    except OSError as error:
        raise InputUnreadable(unreadable, why=error.strerror or error, path=str(path)) from error
    except ValueError as error:
        raise UsageError(not_json, why=error, path=str(path)) from error


def written(result: Any, form: str, limit: int | None, *, colour: bool) -> Iterable[bytes]:
    """The result in the form that was asked for."""
    from doublet.reports.json_report import json_document

    if form == "json":
        return [json_document(result.to_dict())]
    if form == "csv":
        from doublet.reports.repeats_tables import repeat_rows

        return repeat_rows(result)
    if form == "sarif":
        from doublet.reports.repeats_tables import sarif

        return [json_document(sarif(result, version=doublet.__version__, language=words().language))]
    if form == "html":
        from doublet.reports.repeats_html import repeats_page

        return [
            repeats_page(result, limit=limit or 500, language=words().language).encode("utf-8", "replace")
        ]
    from doublet.reports.repeats_terminal import repeats_report

    return [
        repeats_report(
            result, limit=limit or 20, width=width(), colour=colour, language=words().language
        ).encode("utf-8", "replace")
    ]
