"""``doublet advise``: method, shingle length and threshold from pairs that you have marked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from doublet import config
from doublet.cli.base import (
    PATH,
    Command,
    common_options,
    format_option,
    quiet_option,
    say,
    use_colour,
    write_bytes,
    write_text,
)
from doublet.cli.language import words
from doublet.errors import Cancelled

if TYPE_CHECKING:
    from doublet.evaluation.advisor import Advice, Candidate

SHOWN = 5


@click.command(
    cls=Command,
    example="doublet advise pairs.jsonl\ndoublet advise pairs.csv --methods shingles:shingle_words=3,auto",
    help="""Propose a method, a shingle length and a threshold from 20 to 50 PAIRS that you have marked as duplicates or
    not, with the precision and recall to expect.

    PAIRS is JSON lines or CSV with text_a and text_b, or file_a and file_b (names of files beside it), and label:
    duplicate or not.""",
)
@click.argument("pairs", type=PATH, metavar="PAIRS")
@click.option("--methods", metavar="NAME,…", help="Methods to choose from, as for `evaluate`. Default: all.")
@click.option("--seed", type=int, default=1, show_default=True, help="From which the folds are drawn.")
@format_option("table", "json")
@quiet_option
@common_options
def command(
    *,
    pairs: Path,
    methods: str | None,
    seed: int,
    form: str,
    quiet: bool,
    config_file: Path | None,
    colour: str | None,
) -> None:
    from doublet.cli.progress import shown
    from doublet.evaluation.advisor import advise, read_pairs
    from doublet.reports.json_report import json_document

    settings = config.resolve({"colour": colour}, file=config_file).settings
    names = [name.strip() for name in (methods or "").split(",") if name.strip()]
    marked = read_pairs(pairs)
    with shown(quiet=quiet, colour=use_colour(settings.colour, sys.stderr)) as progress:
        try:
            advice = advise(marked, methods=names, seed=seed, progress=progress)
        except KeyboardInterrupt:
            progress.cancel()
            raise Cancelled("stopped_nothing_written") from None
    if form == "json":
        write_bytes([json_document(advice.to_dict())])
    else:
        write_text(in_words(advice))
        for warning in () if quiet else advice.warnings:
            say(warning)


def in_words(advice: Advice) -> str:
    """The proposal, what to expect, what it gets wrong, and the next best."""
    from doublet.reports.terminal import table

    say_it = words()
    best = advice.best
    expected = best.expected
    pairs = "advise_pairs" if best.threshold is None else "advise_pairs_judged"
    lines = [
        say_it("advise_proposed", label=best.label, rule=_rule(best)),
        say_it("advise_options", options=best.command()),
        say_it(
            "advise_expected",
            precision=_expected(expected.precision, expected.precision_interval),
            recall=_expected(expected.recall, expected.recall_interval),
        ),
        say_it(pairs, pairs=advice.pairs, duplicates=advice.duplicates),
        "",
    ]
    if advice.mistakes:
        lines += [say_it("advise_wrong"), *(f"  {say_it.say(note)}" for note in advice.mistakes[:10]), ""]
    rows = [
        [
            one.label,
            say_it("advise_own") if one.threshold is None else f"{one.threshold:.2f}",
            f"{one.expected.f1:.2f}",
        ]
        for one in (best, *advice.others)[: SHOWN + 1]
    ]
    header = [say_it(f"column_{name}") for name in ("method", "threshold", "expected_f1")]
    return "\n".join(lines) + table(rows, header=header)


def _rule(candidate: Candidate) -> str:
    if candidate.threshold is None:
        return words()("advise_own_rule")
    what = "containment" if candidate.measure == "containment" else "resemblance"
    return words()("advise_from", measure=what, threshold=candidate.threshold)


def _expected(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None:
        return words()("advise_unknown")
    if interval is None:
        return words()("advise_value", value=value)
    return words()("advise_interval", value=value, low=interval[0], high=interval[1])
