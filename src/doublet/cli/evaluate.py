"""``doublet evaluate``: every method against every change, as one report; or two methods on your documents."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doublet import config
from doublet.cli.base import (
    PATH,
    Command,
    common_options,
    format_option,
    quiet_option,
    say,
    settings_options,
    use_colour,
    write_bytes,
    write_text,
)
from doublet.cli.language import words
from doublet.cli.later import later_option, put
from doublet.errors import Cancelled, UsageError
from doublet.model import Note

if TYPE_CHECKING:
    from doublet.evaluation.differ import Differences
    from doublet.evaluation.evaluate import Evaluation

EXAMPLE = """\
doublet evaluate --quick --out report
doublet evaluate theses.jsonl --methods auto,minhash --changes synonyms-60,rewriting --out report
doublet evaluate --compare shingles auto theses/ --out differences"""


@click.command(
    cls=Command,
    example=EXAMPLE,
    help="""Change documents on purpose, look for the changed copies with every method, and write one report with
    tables, curves and examples of what went wrong.

    DATA (or --data) is a file or folder of your documents, a labelled set, or a folder of such sets; without it the
    texts that come with the program are used. With --compare, two methods are run over your documents and the pairs on
    which they differ are shown side by side.""",
)
@click.argument("data_argument", metavar="[DATA]", required=False, type=PATH)
@click.option("--data", type=PATH, metavar="DIR|FILE", help="The same as DATA.")
@click.option(
    "--methods",
    metavar="NAME,…",
    help="Methods to test: shingles, minhash:functions=64, shingles@containment. Default: all.",
)
@click.option(
    "--changes", metavar="NAME,…", help="Changes to make (--list-changes shows them). Default: all."
)
@click.option("--list-changes", is_flag=True, help="Only list the changes and what each does.")
@click.option(
    "--threshold", metavar="SHARE,…", help="Thresholds to try. [0.5,0.7; --compare: the methods' own]"
)
@settings_options("shingle_words", "workers")
@click.option("--seed", type=int, default=1, show_default=True, help="From which everything random is drawn.")
@click.option(
    "--bases", type=click.IntRange(1), metavar="N", help="How many documents are changed. [100; quick: 12]"
)
@click.option("--quick", is_flag=True, help="Fewer changes and documents: under a minute.")
@click.option("--no-curves", is_flag=True, help="Leave out the curves, which take half of the time.")
@click.option(
    "--thesaurus",
    type=PATH,
    metavar="FILE",
    help="MyThes file for the synonyms; should not be the one a method uses.",
)
@click.option(
    "--thesaurus-part",
    type=click.Choice(["all", "first", "second"]),
    default="all",
    show_default=True,
    help="Use one half of the thesaurus, so that a method can have the other.",
)
@click.option(
    "--compare", nargs=2, metavar="METHOD METHOD", help="Only show where two methods differ on DATA."
)
@click.option(
    "--id-field", default="id", show_default=True, metavar="FIELD", help="Field of the id in tables."
)
@click.option("--text-field", default="text", show_default=True, metavar="FIELD", help="Field of the text.")
@click.option("--out", type=PATH, metavar="DIR", help="Folder for the report.")
@later_option
@format_option("table", "json")
@quiet_option
@common_options
def command(
    *,
    data_argument: Path | None,
    data: Path | None,
    methods: str | None,
    changes: str | None,
    list_changes: bool,
    threshold: str | None,
    seed: int,
    bases: int | None,
    quick: bool,
    no_curves: bool,
    thesaurus: Path | None,
    thesaurus_part: str,
    compare: tuple[str, str] | None,
    id_field: str,
    text_field: str,
    out: Path | None,
    later: bool,
    form: str,
    config_file: Path | None,
    quiet: bool,
    **flags: Any,
) -> int | None:
    if list_changes:
        write_text(changes_list(words().language))
        return None
    if data is not None and data_argument is not None:
        raise UsageError("data_twice")
    data = data or data_argument
    resolved = config.resolve(flags, file=config_file)
    if compare:
        if later:
            raise UsageError("later_compare")
        if data is None:
            raise UsageError("compare_needs_documents")
        show_differences(
            _compared(compare, data, threshold, id_field, text_field, resolved.settings, quiet),
            out,
            form,
            words().language,
            quiet,
        )
        return None
    asked: dict[str, Any] = {
        "methods": _names(methods),
        "changes": _names(changes),
        "thresholds": [_share(text) for text in _names(threshold or "0.5,0.7")],
        "shingle_words": resolved.settings.shingle_words,
        "seed": seed,
        "bases": bases,
        "quick": quick,
        "curves": not no_curves,
        "thesaurus": thesaurus,
        "thesaurus_part": thesaurus_part,
        "id_field": id_field,
        "text_field": text_field,
        "workers": resolved.settings.workers,
    }
    if later:
        _put_later(resolved, data, asked, out, form=form, quiet=quiet)
        return None
    result = _evaluated(resolved.settings, quiet, data=data, **asked)
    if out is not None:
        from doublet.evaluation.report import write_report

        written = write_report(result, out, language=words().language)
        say(Note("report_is", path=written[0]), quiet=quiet)
    show(result, form)
    for note in () if quiet else result.notes:
        say(note)
    for one in () if quiet else result.skipped:
        say(Note("not_used", name=one.name, reason=one.reason))
    return None


def _put_later(
    resolved: config.Resolved,
    data: Path | None,
    asked: dict[str, Any],
    out: Path | None,
    *,
    form: str,
    quiet: bool,
) -> None:
    from doublet.cli.library import open_store

    options = {
        name: str(value.absolute()) if isinstance(value, Path) else value for name, value in asked.items()
    }
    work = {"data": str(data.absolute()) if data is not None else None, "options": options}
    work |= {"out": str(out.absolute())} if out is not None else {}
    with open_store(resolved) as store:
        put(store, "evaluate", work, form=form, quiet=quiet)


def _evaluated(settings: config.Settings, quiet: bool, **options: Any) -> Evaluation:
    from doublet.cli.progress import shown
    from doublet.evaluation.evaluate import evaluate

    with shown(quiet=quiet, colour=use_colour(settings.colour, sys.stderr)) as progress:
        try:
            return evaluate(progress=progress, **options)
        except KeyboardInterrupt:
            progress.cancel()
            raise Cancelled("stopped_nothing_written") from None


def _compared(
    compare: tuple[str, str],
    data: Path,
    threshold: str | None,
    id_field: str,
    text_field: str,
    settings: config.Settings,
    quiet: bool,
) -> Differences:
    from doublet.cli.progress import shown
    from doublet.errors import InputNotFound
    from doublet.evaluation.differ import find_differences
    from doublet.evaluation.sets import read_documents

    if not data.exists():
        raise InputNotFound("no_file_or_folder", path=str(data))
    documents, outcomes = read_documents([data], id_field=id_field, text_field=text_field)
    for outcome in outcomes[:20]:
        say(Note("said_of", name=outcome.place or outcome.id, what=outcome.reason), quiet=quiet)
    with shown(quiet=quiet, colour=use_colour(settings.colour, sys.stderr)) as progress:
        try:
            return find_differences(
                *compare,
                documents,
                threshold=None if threshold is None else _share(threshold),
                workers=settings.workers,
                progress=progress,
            )
        except KeyboardInterrupt:
            progress.cancel()
            raise Cancelled("stopped_nothing_written") from None


def show(result: Evaluation, form: str) -> None:
    """A short table on standard output: the mean F1 of every method in every set."""
    from doublet.reports.json_report import json_document
    from doublet.reports.terminal import table

    if form == "json":
        write_bytes([json_document(result.to_dict())])
        return
    say_it = words()
    names = list(dict.fromkeys(row["set"] for row in result.documents))
    lines: list[list[str]] = []
    for method in result.settings["methods"]:
        row = [method]
        for name in names:
            own = [
                r for r in result.documents if (r["set"], r["method"], r["threshold"]) == (name, method, None)
            ]
            if own:
                recall = sum(r["recall"] or 0.0 for r in own) / len(own)
                row += [f"{sum(r['f1'] for r in own) / len(own):.2f}", f"{recall:.2f}"]
            else:
                row += ["", ""]
        lines.append(row)
    if names:
        header = [
            say_it("column_method"),
            *(
                part
                for name in names
                for part in (say_it("column_f1_of", name=name), say_it("column_recall"))
            ),
        ]
        write_text(table(lines, header=header))
    if result.passages:
        entire = [r for r in result.passages if r["change"] == "entire"]
        rows = [
            [
                r["set"],
                r["method"],
                f"{r['plagdet']:.3f}",
                f"{r['precision']:.3f}",
                f"{r['recall']:.3f}",
                f"{r['granularity']:.3f}",
            ]
            for r in entire
        ]
        columns = ("passages", "method", "", "precision", "recall", "granularity")
        header = [say_it(f"column_{name}") if name else "plagdet" for name in columns]
        write_text("\n" * bool(names) + table(rows, header=header))
    if result.labelled:
        rows = [
            [
                r["set"],
                r["kind"],
                r["method"],
                say_it("column_own") if r["threshold"] is None else f"{r['threshold']:g}",
                f"{r['f1']:.3f}",
            ]
            for r in result.labelled
        ]
        header = [say_it(f"column_{name}") for name in ("labelled", "kind", "method", "threshold")]
        write_text("\n" + table(rows, header=[*header, "F1"]))


def show_differences(result: Differences, out: Path | None, form: str, language: str, quiet: bool) -> None:
    from doublet.reports.json_report import json_document
    from doublet.reports.terminal import table

    if out is not None:
        from doublet.evaluation.differ import write_differences

        say(Note("report_is", path=write_differences(result, out, language=language)[0]), quiet=quiet)
    if form == "json":
        write_bytes([json_document(result.to_dict())])
        return
    say_it = words()
    counts = result.counts()
    rows = [
        [say_it("differences_both"), say_it.number(counts["both"])],
        *([say_it("differences_only", name=name), say_it.number(counts[name])] for name in result.methods),
    ]
    write_text(table(rows, header=[say_it("column_found_by"), say_it("column_pairs")]))
    shown = [
        [p.a, p.b, p.only, *("–" if s is None else f"{s:.2f}" for s in p.scores)]
        for p in result.pairs
        if p.only
    ][:20]
    if shown:
        header = [say_it("column_document"), say_it("column_document"), say_it("column_only")]
        write_text("\n" + table(shown, header=[*header, *result.methods]))
    for note in () if quiet else result.notes:
        say(note)


def changes_list(language: str) -> str:
    from doublet.evaluation.changes import change, change_names

    names = change_names()
    longest = max(len(name) for name in names)
    return "".join(f"{name:{longest}}  {change(name).title[language]}\n" for name in names)


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _share(text: str) -> float:
    try:
        return config.as_share(text)
    except ValueError as error:
        raise UsageError("threshold_text", text=text, why=error) from None
