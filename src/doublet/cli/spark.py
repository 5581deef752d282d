"""``doublet spark``: the jobs over Apache Spark, for collections that do not fit one machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any

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
    settings_options,
    use_colour,
    was_given,
    write_bytes,
    write_text,
)
from doublet.cli.exits import NOTHING_DONE, SOME_FAILED
from doublet.cli.help import Group
from doublet.cli.language import words
from doublet.errors import InputNotFound, UsageError
from doublet.model import FAILED_STATES

EXAMPLE = """\
doublet spark dedupe corpus/ --out run
doublet spark signatures corpus/ --method shingles --out corpus-run
doublet spark check works.jsonl --corpus corpus-run --out checks
doublet spark pack environment.tar.gz"""


class SparkGroup(Group):
    example = EXAMPLE


@click.group(cls=SparkGroup, help="Run jobs over Apache Spark, for collections that do not fit one machine.")
def command() -> None:
    pass


INPUTS = click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
OUT = click.option(
    "--out",
    required=True,
    metavar="FOLDER",
    help="Folder of the run: a path that all machines see, webhdfs://, s3://.",
)


CLUSTER_OPTIONS = (
    click.option(
        "--master", metavar="URL", help="Cluster: local[4], spark://host:7077, yarn … Default: local[*]."
    ),
    click.option("--conf", "conf", multiple=True, metavar="KEY=VALUE", help="Setting of Spark; repeat it."),
    click.option(
        "--partitions",
        type=click.IntRange(1),
        metavar="N",
        help="Parts between tasks. Default: 2 for each core.",
    ),
    click.option(
        "--splits",
        type=click.IntRange(1),
        metavar="N",
        help="Parts of the input, about. Default: by its size.",
    ),
    click.option("--restart", is_flag=True, help="Use nothing that an earlier run left in --out."),
)
FIELD_OPTIONS = (
    click.option("--id-field", default="id", show_default=True, metavar="FIELD", help="Field of the id."),
    click.option(
        "--text-field", default="text", show_default=True, metavar="FIELD", help="Field of the text."
    ),
    click.option("--time-field", metavar="FIELD", help="Field of the time, for --keep newest."),
    click.option("--source-field", metavar="FIELD", help="Field of the source, for --keep best-source."),
)


@dataclass(frozen=True, slots=True)
class Run:
    """What all jobs are asked for: the input, the folder, the cluster, and how the result is shown."""

    inputs: tuple[str, ...]
    out: str
    fields: tuple[str, str, str | None, str | None]
    master: str | None
    conf: tuple[str, ...]
    cut: dict[str, Any]  #: how the work is cut, and whether it begins anew
    form: str
    quiet: bool
    resolved: config.Resolved

    def start(self, work: Callable[..., Any], *addresses: str, **options: Any) -> int | None:
        """Do the *work* on a session, with progress; show its figures. *addresses* are those besides the input."""
        import sys

        from doublet.cli.progress import shown
        from doublet.sources.records import Fields
        from doublet.spark import storage

        for address in self.inputs:  # said at once, not when Spark has started
            if storage.is_local(address) and not storage.exists(address):
                raise InputNotFound("no_such_path", path=address)
        spark = session_of(self.master, self.conf)
        colour = use_colour(self.resolved.settings.colour, sys.stderr)
        with shown(quiet=self.quiet, colour=colour) as progress:
            told = work(
                spark,
                self.inputs,
                *addresses,
                self.out,
                fields=Fields(*self.fields),
                progress=progress,
                **self.cut,
                **options,
            )
        return show(told if isinstance(told, dict) else told.to_dict(), self.form)


def job_options(function: Callable[..., int | None]) -> Callable[..., int | None]:
    """The options of all jobs. The function gets them as a `Run`, with the settings, and its own ones by name."""
    own_names = list(signature(function).parameters)[1:]

    @wraps(function)
    def called(
        *,
        inputs: tuple[str, ...],
        out: str,
        id_field: str,
        text_field: str,
        time_field: str | None,
        source_field: str | None,
        master: str | None,
        conf: tuple[str, ...],
        partitions: int | None,
        splits: int | None,
        restart: bool,
        form: str,
        quiet: bool,
        config_file: Path | None,
        **given: Any,
    ) -> int | None:
        own = {name: given.pop(name) for name in own_names}
        if "parameters" in own:
            names = [name for name in ("threshold", "containment") if name in given]
            own["parameters"], given = parameters_as_flags(own["parameters"], given, names)
        run = Run(
            inputs,
            out,
            (id_field, text_field, time_field, source_field),
            master,
            conf,
            {"partitions": partitions, "splits": splits, "restart": restart},
            form,
            quiet,
            config.resolve(given, file=config_file),
        )
        return function(run, **own)

    shown = (format_option("table", "json"), quiet_option, common_options)
    for option in reversed((INPUTS, OUT, *FIELD_OPTIONS, *CLUSTER_OPTIONS, *shown)):
        called = option(called)
    return called


def session_of(master: str | None, conf: tuple[str, ...]) -> Any:
    from doublet.spark.session import open_session

    settings = {}
    for one in conf:
        name, mark, value = one.partition("=")
        if not mark or not name:
            raise UsageError("spark_setting", text=one)
        settings[name] = value
    return open_session(master, settings)


SIZES = ("sent_bytes", "sent_bytes_per_document", "size_bytes")
APART = ("stages", "outcomes", "packages")  #: for programs, and what is shown after the figures


def show(told: dict[str, Any], form: str) -> int | None:
    """The figures of a run, and the exit code that goes with them."""
    from doublet.reports.json_report import json_document
    from doublet.reports.terminal import table

    outcomes = told.get("outcomes", {})
    if form == "json":
        write_bytes([json_document(told)])
    else:
        say = words()
        rows = [
            [say.name("spark", name), _shown(name, value)]
            for name, value in told.items()
            if name not in APART and value not in ([], "", None)
        ]
        rows += [[say.name("record", state), say.number(many)] for state, many in sorted(outcomes.items())]
        write_text(table(rows))
        if outcomes:
            write_text(say("spark_errors", table=f"{told['out']}/errors") + "\n")
    if set(outcomes).isdisjoint(FAILED_STATES):
        return None
    return SOME_FAILED if told.get("documents", told.get("works", 0)) else NOTHING_DONE


def _shown(name: str, value: Any) -> str:
    say = words()
    if name in SIZES:
        return say.size(value)
    return say.number(value) if isinstance(value, int) else say.value(value)


@command.command(
    "dedupe",
    cls=Command,
    example="""\
doublet spark dedupe corpus.jsonl --out run
doublet spark dedupe s3://archive/pages/ --out s3://archive/run --master spark://head:7077 --threshold 0.8""",
    help="""Find the duplicates among the documents of the INPUTs, as `doublet dedupe` does, on many machines.

    An INPUT is a file or a folder (JSON lines, Parquet, WARC, and what `doublet dedupe` reads), on a disk that all
    machines see, in HDFS or in an S3-compatible store. The folder of the run gets Parquet tables: signatures,
    candidates, pairs, groups, kept, errors. A run that was stopped goes on where it was when it is started again.
    Web pages are compared by their useful content, as with `doublet dedupe --no-frames`.""",
)
@settings_options("method", "threshold", "shingle_words", "thesaurus", "containment", "keep")
@parameter_option
@click.option(
    "--prefer",
    multiple=True,
    metavar="SOURCE",
    help="With --keep best-source: best first; repeat it. The source of a file is the INPUT that it came from.",
)
@click.option(
    "--reworded",
    type=click.Choice(["list", "all", "remove", "off"]),
    default="list",
    show_default=True,
    help="With --method auto: what to do about edited and reworded copies below the threshold.",
)
@click.option(
    "--stop-after",
    type=click.Choice(["signatures", "pairs", "groups", "kept"]),
    help="Stop when this stage is done; a later run goes on from there.",
)
@job_options
def dedupe(
    run: Run, *, parameters: list[str], prefer: tuple[str, ...], reworded: str, stop_after: str | None
) -> int | None:
    from doublet.spark.dedupe import dedupe as work

    settings = run.resolved.settings
    options = method_parameters(run.resolved, parameters)
    if reworded == "off" and not by_flag(run.resolved, "thesaurus"):
        options.pop("thesaurus", None)
    return run.start(
        work,
        method=settings.method,
        threshold=settings.threshold,
        containment=settings.containment,
        keep=settings.keep,
        prefer=prefer,
        reworded=reworded if was_given("reworded") else None,
        stop_after=stop_after,
        **options,
    )


@command.command(
    "signatures",
    cls=Command,
    example="""\
doublet spark signatures corpus/ --method minhash --out run""",
    help="""Make the signatures of all documents of the INPUTs with one method, and write them as Parquet.

    The folder can be checked against (doublet spark check) when the method is shingles.""",
)
@settings_options("method", "shingle_words")
@parameter_option
@job_options
def signatures(run: Run, *, parameters: list[str]) -> int | None:
    from doublet.spark.signatures import sign

    return run.start(sign, method=run.resolved.settings.method, **method_parameters(run.resolved, parameters))


@command.command(
    "check",
    cls=Command,
    example="""\
doublet spark signatures corpus/ --method shingles --out corpus-run
doublet spark check works.jsonl --corpus corpus-run --out checks""",
    help="""Check every document of the INPUTs against a stored corpus: the sources with shares and fragments, as
    `doublet check` gives them for one text. The folder gets Parquet tables: checks, sources, fragments.""",
)
@click.option(
    "--corpus", required=True, metavar="FOLDER", help="Folder of doublet spark signatures --method shingles."
)
@click.option(
    "--min-share",
    type=float,
    default=0.0,
    show_default=True,
    metavar="SHARE",
    help="Leave smaller sources out.",
)
@settings_options("thesaurus")
@job_options
def check(run: Run, *, corpus: str, min_share: float) -> int | None:
    from doublet.spark.checking import check_works

    thesaurus = run.resolved.settings.thesaurus or ""
    return run.start(check_works, corpus, min_share=min_share, thesaurus=thesaurus)


@command.command(
    "passages",
    cls=Command,
    example="""\
doublet spark passages corpus/ --out run""",
    help="""List the pairs of documents that may have passages in common: those that share passage keys. They are
    candidates, to be verified with `doublet compare`.""",
)
@click.option(
    "--least-keys",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    metavar="N",
    help="Shared keys of a pair.",
)
@job_options
def passages(run: Run, *, least_keys: int) -> int | None:
    from doublet.spark.passages import find_passages

    return run.start(find_passages, least_keys=least_keys)


@command.command(
    "pack",
    cls=Command,
    example="""\
doublet spark pack environment.tar.gz
spark-submit --archives environment.tar.gz#environment \\
  --conf spark.pyspark.python=./environment/bin/python submit.py dedupe s3://archive/pages/ --out s3://archive/run""",
    help="""Write the environment that executors need to FILE: Doublet and the libraries it uses. The machines need
    the same version of Python. The archive also has submit.py, the program for spark-submit: it takes the arguments of
    `doublet spark`.""",
)
@click.argument("file", type=PATH, metavar="FILE")
@format_option("table", "json")
def pack(*, file: Path, form: str) -> int | None:
    from doublet.spark.packing import pack as write

    return show(dict(write(file)), form)
