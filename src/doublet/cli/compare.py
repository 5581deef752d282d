"""``doublet compare``: two texts, the passages they share, and how alike they are."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doublet import config
from doublet.cli.base import (
    Command,
    by_flag,
    check_names,
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
from doublet.cli.exits import OVER_THE_LIMIT
from doublet.cli.language import words
from doublet.errors import InputUnreadable, Unreadable, UsageError
from doublet.model import Note

if TYPE_CHECKING:
    from doublet.text.read import ReadDocument

EXAMPLE = """\
doublet compare essay.docx source.pdf
doublet compare draft.txt - --shingle-words 3 --fail-above 30% < published.txt
doublet compare agency.html newspaper.html --same-story"""
TABLES = (".jsonl", ".ndjson", ".csv", ".tsv")  #: files of many records


@click.command(
    cls=Command,
    example=EXAMPLE,
    help="""Compare the texts A and B: files, or - for standard input. Shows how alike they are, how much of
    each is in the other, and every passage that they share.""",
)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@settings_options("method", "threshold", "shingle_words", "thesaurus")
@parameter_option
@click.option(
    "--same-story",
    is_flag=True,
    help="Say also whether both tell the same story, as two news of one event do without a copied sentence.",
)
@click.option(
    "--model",
    callback=check_names,
    metavar="PATH",
    help="An embedding model of your own, a folder of sentence-transformers or a file .onnx: sentences that it finds "
    "alike are listed as possible, and --same-story asks it too. Nothing is downloaded.",
)
@click.option(
    "--alike",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.8,
    show_default=True,
    metavar="COSINE",
    help="From which cosine on sentences are alike for the model.",
)
@click.option(
    "--fail-above", metavar="SHARE", help="Exit with 1 when more than this share of A is in B, as 30%."
)
@format_option("table", "json", "jsonl", "csv")
@quiet_option
@common_options
def command(
    *,
    a: str,
    b: str,
    parameters: tuple[str, ...],
    same_story: bool,
    model: str | None,
    alike: float,
    fail_above: str | None,
    form: str,
    quiet: bool,
    config_file: Path | None,
    **flags: Any,
) -> int | None:
    from doublet.jobs.compare import compare
    from doublet.matches.align import AlignOptions
    from doublet.matches.story import same_story as find_story
    from doublet.reports.json_report import json_document
    from doublet.reports.tables import comparison_lines, comparison_rows
    from doublet.reports.terminal import Painter, comparison, story_lines

    rest, flags = parameters_as_flags(parameters, flags, ("threshold",))
    resolved = config.resolve(flags, file=config_file)
    limit = read_limit(fail_above)
    options = method_parameters(resolved, rest, also=asdict(AlignOptions()))
    if was_given("alike") and model is None:
        raise UsageError("alike_needs_model")
    if a == b == "-":
        raise UsageError("both_standard_input")
    read_a, read_b = read_document(a, quiet), read_document(b, quiet)
    for name in (a, b):
        if Path(name).suffix.lower() in TABLES:
            other = b if name == a else a
            say(
                Note("table_read_as_text", name=name, other=other),
                quiet=quiet,
            )
    text_a, text_b = read_a.text, read_b.text
    settings = resolved.settings
    threshold = limit_for_method(resolved)
    embedder = None
    if model is not None:
        from doublet.signatures.embedding import load_embedder

        embedder = load_embedder(model)
    result = compare(
        read_a,
        read_b,
        method=settings.method,
        threshold=threshold,
        embedder=embedder,
        alike=alike,
        **options,
    )
    story = None
    if same_story:
        story = find_story(with_title(read_a), with_title(read_b), embedder=embedder)
    if form == "json":
        told = {"same_story": story.to_dict()} if story is not None else {}
        write_bytes([json_document({**result.to_dict(), **told})])
    elif form == "jsonl":
        write_bytes(comparison_lines(result))
    elif form == "csv":
        write_bytes(comparison_rows(result))
    else:
        names = tuple(words()("standard_input") if name == "-" else name for name in (a, b))
        colour = use_colour(settings.colour)
        write_text(
            comparison(
                result,
                text_a,
                text_b,
                names=(names[0], names[1]),
                story=story,
                width=width(),
                colour=colour,
                language=words().language,
            )
        )
    if story is not None and form in ("jsonl", "csv"):  # rows are fragments alone
        say("\n".join(story_lines(story, Painter(False), words())), quiet=quiet)
    if limit is not None and result.share > limit:
        say(Note("over_limit_ab", share=result.share, limit=limit), quiet=quiet)
        return OVER_THE_LIMIT
    return None


def with_title(found: ReadDocument) -> str:
    """The text with its title in front, where it does not begin with it: a title says what happened."""
    title = found.title.strip()
    if not title or found.text.lstrip().startswith(title):
        return found.text
    return f"{title}\n\n{found.text}"


def limit_for_method(resolved: config.Resolved) -> float | None:
    """The threshold; one from the file or the environment is only for the methods that have one."""
    from doublet.signatures import parameters_of

    if by_flag(resolved, "threshold") or "threshold" in parameters_of(resolved.settings.method):
        return resolved.settings.threshold
    return None


def read_limit(text: str | None, option: str = "--fail-above") -> float | None:
    """The share that was given with *option*."""
    if text is None:
        return None
    try:
        return config.as_share(text)
    except ValueError as error:
        raise UsageError("share_option_wrong", option=option, text=text, why=error) from None


def read(name: str, quiet: bool, *, as_kind: str = "") -> str:
    """The text of a file of any format, or of standard input. What the user should know is told."""
    return read_document(name, quiet, as_kind=as_kind).text


def read_document(name: str, quiet: bool, *, as_kind: str = "") -> ReadDocument:
    """The same with all that was found. An encoding other than UTF-8, hidden text and notes are told."""

    from doublet.jobs.read import read_document as read_path
    from doublet.sources.texts import read_standard_input

    if name != "-":
        found = read_path(Path(name), as_kind=as_kind)
    else:
        try:
            found = read_standard_input(as_kind=as_kind)
        except Unreadable as error:
            raise InputUnreadable("standard_input_why", why=error, path=name, state=error.state) from error
    tell_read(words()("standard_input") if name == "-" else name, found, quiet)
    return found


def tell_read(label: str, found: ReadDocument | None, quiet: bool) -> None:
    """Say what the user should know about how a document was read."""
    from doublet.text.read import hidden_summary

    if found is None:
        return
    encoding = found.encoding
    if encoding and (not encoding.startswith("utf-8") or "damaged" in encoding):
        say(Note("read_as", label=label, encoding=encoding), quiet=quiet)
    for note in (*found.notes, hidden_summary(found)):
        if note:
            say(Note("said_of", name=label, what=note), quiet=quiet)
