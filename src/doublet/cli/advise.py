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

    best = advice.best
    lines = [
        f"Proposed: {best.label}{_at(best)}",
        f"Options:  {best.command()}",
        f"Expected: precision {_expected(best.expected.precision, best.expected.precision_interval)}, "
        f"recall {_expected(best.expected.recall, best.expected.recall_interval)}",
        f"From {advice.pairs} pairs, {advice.duplicates} of them duplicates"
        + (", judged by a threshold chosen on others" if best.threshold is not None else ""),
        "",
    ]
    if advice.mistakes:
        lines += ["It would get wrong:", *(f"  {text}" for text in advice.mistakes[:10]), ""]
    rows = [
        [one.label, "own rule" if one.threshold is None else f"{one.threshold:.2f}", f"{one.expected.f1:.2f}"]
        for one in (best, *advice.others)[: SHOWN + 1]
    ]
    return "\n".join(lines) + table(rows, header=["method", "threshold", "expected F1"])


def _at(candidate: Candidate) -> str:
    if candidate.threshold is None:
        return ", by its own rule"
    what = "containment" if candidate.measure == "containment" else "resemblance"
    return f", {what} {candidate.threshold:.2f} or more"


def _expected(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:.2f}" + (f" (95 %: {interval[0]:.2f} to {interval[1]:.2f})" if interval else "")
