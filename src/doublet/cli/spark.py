"""``doublet spark``: the jobs over Apache Spark, for collections that do not fit one machine."""

from __future__ import annotations

from collections.abc import Callable
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
from doublet.errors import UsageError
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
    help="Folder of the run: a path that all machines see, hdfs://, s3://.",
)


def cluster_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Where the work is done, and how it is cut."""
    options = (
        click.option(
            "--master", metavar="URL", help="Cluster: local[4], spark://host:7077, yarn … Default: local[*]."
        ),
        click.option(
            "--conf", "conf", multiple=True, metavar="KEY=VALUE", help="Setting of Spark; repeat it."
        ),
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
    for option in reversed(options):
        function = option(function)
    return function


def field_options(function: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        click.option("--id-field", default="id", show_default=True, metavar="FIELD", help="Field of the id."),
        click.option(
            "--text-field", default="text", show_default=True, metavar="FIELD", help="Field of the text."
        ),
        click.option("--time-field", metavar="FIELD", help="Field of the time, for --keep newest."),
        click.option("--source-field", metavar="FIELD", help="Field of the source, for --keep best-source."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def session_of(master: str | None, conf: tuple[str, ...]) -> Any:
    from doublet.spark.session import open_session

    settings = {}
    for one in conf:
        name, mark, value = one.partition("=")
        if not mark or not name:
            raise UsageError("spark_setting", text=one)
        settings[name] = value
    return open_session(master, settings)


def show(told: dict[str, Any], form: str) -> int | None:
    """The figures of a run, and the exit code that goes with them."""
    from doublet.reports.json_report import json_document

    if form == "json":
        write_bytes([json_document(told)])
    else:
        plain = {
            name: value for name, value in told.items() if name not in ("stages", "outcomes", "packages")
        }
        lines = [
            f"{name:<12} {', '.join(value) if isinstance(value, list | tuple) else value}"
            for name, value in plain.items()
        ]
        lines += [f"{name:<12} {count} (see errors)" for name, count in told.get("outcomes", {}).items()]
        write_text("\n".join(lines) + "\n")
    if set(told.get("outcomes", ())).isdisjoint(FAILED_STATES):
        return None
    return SOME_FAILED if told.get("documents", told.get("works", 0)) else NOTHING_DONE


def fields_of(id_field: str, text_field: str, time_field: str | None, source_field: str | None) -> Any:
    from doublet.sources.records import Fields

    return Fields(id_field, text_field, time_field, source_field)


@command.command(
    "dedupe",
    cls=Command,
    example="""\
doublet spark dedupe corpus.jsonl --out run
doublet spark dedupe s3://archive/pages/ --out s3://archive/run --master spark://head:7077 --threshold 0.8""",
    help="""Find the duplicates among the documents of the INPUTs, as `doublet dedupe` does, on many machines.

    An INPUT is a file or a folder (JSON lines, Parquet, WARC, and what `doublet dedupe` reads), on a disk that all
    machines see, in HDFS or in an S3-compatible store. The folder of the run gets Parquet tables: signatures,
    candidates, pairs, groups, kept, errors. A run that was stopped goes on where it was when it is started again.""",
)
@INPUTS
@OUT
@settings_options("method", "threshold", "shingle_words", "thesaurus", "containment", "keep")
@parameter_option
@click.option(
    "--prefer", multiple=True, metavar="SOURCE", help="With --keep best-source: best first; repeat it."
)
@field_options
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
@cluster_options
@format_option("table", "json")
@quiet_option
@common_options
def dedupe(
    *,
    inputs: tuple[str, ...],
    out: str,
    parameters: tuple[str, ...],
    prefer: tuple[str, ...],
    id_field: str,
    text_field: str,
    time_field: str | None,
    source_field: str | None,
    reworded: str,
    stop_after: str | None,
    master: str | None,
    conf: tuple[str, ...],
    partitions: int | None,
    splits: int | None,
    restart: bool,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> int | None:
    import sys

    from doublet.cli.progress import shown
    from doublet.spark.dedupe import dedupe as run

    rest, flags = parameters_as_flags(parameters, flags, ("threshold", "containment"))
    resolved = config.resolve(flags, file=config_file)
    settings = resolved.settings
    options = method_parameters(resolved, rest)
    if reworded == "off" and not by_flag(resolved, "thesaurus"):
        options.pop("thesaurus", None)
    spark = session_of(master, conf)
    with shown(quiet=quiet, colour=use_colour(settings.colour, sys.stderr)) as progress:
        result = run(
            spark,
            inputs,
            out,
            method=settings.method,
            threshold=settings.threshold,
            containment=settings.containment,
            keep=settings.keep,
            prefer=prefer,
            reworded=reworded if was_given("reworded") else None,
            fields=fields_of(id_field, text_field, time_field, source_field),
            partitions=partitions,
            splits=splits,
            stop_after=stop_after,
            restart=restart,
            progress=progress,
            **options,
        )
    return show(result.to_dict(), form)


@command.command(
    "signatures",
    cls=Command,
    example="""\
doublet spark signatures corpus/ --method minhash --out run""",
    help="""Make the signatures of all documents of the INPUTs with one method, and write them as Parquet.

    The folder can be checked against (doublet spark check) when the method is shingles.""",
)
@INPUTS
@OUT
@settings_options("method", "shingle_words")
@parameter_option
@field_options
@cluster_options
@format_option("table", "json")
@quiet_option
@common_options
def signatures(
    *,
    inputs: tuple[str, ...],
    out: str,
    parameters: tuple[str, ...],
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
    **flags: Any,
) -> int | None:
    import sys

    from doublet.cli.progress import shown
    from doublet.spark.signatures import sign

    resolved = config.resolve(flags, file=config_file)
    options = method_parameters(resolved, list(parameters))
    spark = session_of(master, conf)
    with shown(quiet=quiet, colour=use_colour(resolved.settings.colour, sys.stderr)) as progress:
        told = sign(
            spark,
            inputs,
            out,
            method=resolved.settings.method,
            fields=fields_of(id_field, text_field, time_field, source_field),
            partitions=partitions,
            splits=splits,
            restart=restart,
            progress=progress,
            **options,
        )
    return show(told, form)


@command.command(
    "check",
    cls=Command,
    example="""\
doublet spark signatures corpus/ --method shingles --out corpus-run
doublet spark check works.jsonl --corpus corpus-run --out checks""",
    help="""Check every document of the INPUTs against a stored corpus: the sources with shares and fragments, as
    `doublet check` gives them for one text. The folder gets Parquet tables: checks, sources, fragments.""",
)
@INPUTS
@click.option(
    "--corpus", required=True, metavar="FOLDER", help="Folder of doublet spark signatures --method shingles."
)
@OUT
@click.option(
    "--min-share",
    type=float,
    default=0.0,
    show_default=True,
    metavar="SHARE",
    help="Leave smaller sources out.",
)
@field_options
@cluster_options
@format_option("table", "json")
@quiet_option
@common_options
def check(
    *,
    inputs: tuple[str, ...],
    corpus: str,
    out: str,
    min_share: float,
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
    **flags: Any,
) -> int | None:
    import sys

    from doublet.cli.progress import shown
    from doublet.spark.checking import check_works

    settings = config.resolve(flags, file=config_file).settings
    spark = session_of(master, conf)
    with shown(quiet=quiet, colour=use_colour(settings.colour, sys.stderr)) as progress:
        told = check_works(
            spark,
            inputs,
            corpus,
            out,
            min_share=min_share,
            fields=fields_of(id_field, text_field, time_field, source_field),
            partitions=partitions,
            splits=splits,
            restart=restart,
            progress=progress,
        )
    return show(told, form)


@command.command(
    "passages",
    cls=Command,
    example="""\
doublet spark passages corpus/ --out run""",
    help="""List the pairs of documents that may have passages in common: those that share passage keys. They are
    candidates, to be verified with `doublet compare`.""",
)
@INPUTS
@OUT
@click.option(
    "--least-keys",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    metavar="N",
    help="Shared keys of a pair.",
)
@field_options
@cluster_options
@format_option("table", "json")
@quiet_option
@common_options
def passages(
    *,
    inputs: tuple[str, ...],
    out: str,
    least_keys: int,
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
    **flags: Any,
) -> int | None:
    import sys

    from doublet.cli.progress import shown
    from doublet.spark.passages import find_passages

    settings = config.resolve(flags, file=config_file).settings
    spark = session_of(master, conf)
    with shown(quiet=quiet, colour=use_colour(settings.colour, sys.stderr)) as progress:
        told = find_passages(
            spark,
            inputs,
            out,
            least_keys=least_keys,
            fields=fields_of(id_field, text_field, time_field, source_field),
            partitions=partitions,
            splits=splits,
            restart=restart,
            progress=progress,
        )
    return show(told, form)


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
