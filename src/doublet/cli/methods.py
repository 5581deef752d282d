"""``doublet methods``: every method, its parameters and what it is good for."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import click

from doublet.cli.base import Command, format_option, use_colour, width, write_bytes, write_text
from doublet.cli.language import words
from doublet.cli.rows import write_rows
from doublet.errors import UnknownMethod

if TYPE_CHECKING:
    from doublet.signatures import MethodInfo


@click.command(
    cls=Command,
    example="doublet methods\ndoublet methods minhash",
    help="List the methods and what each is good for; with a NAME, that method and its parameters.",
)
@click.argument("name", required=False)
@format_option("table", "json", "jsonl", "csv")
def command(name: str | None, form: str) -> None:
    from doublet.reports.json_report import json_document
    from doublet.signatures import methods

    known = methods()
    chosen = [info for info in known if name in (None, info.name)]
    if name is not None and not chosen:
        raise UnknownMethod(name, [info.name for info in known])
    if form == "json":
        write_bytes(
            [json_document([info.to_dict() for info in chosen] if name is None else chosen[0].to_dict())]
        )
    elif form != "table":
        columns, rows = _rows(chosen, parameters=name is not None)
        write_rows(form, columns, rows)
    elif name is None:
        write_text(overview(known, width()))
    else:
        write_text(details(chosen[0], width(), colour=use_colour("auto")))


def _rows(chosen: list[MethodInfo], *, parameters: bool) -> tuple[tuple[str, ...], list[list[Any]]]:
    """A row for each method or, of one method, for each of its parameters."""
    if parameters:
        told = [parameter.to_dict() for parameter in chosen[0].parameters]
    else:
        told = [{k: v for k, v in info.to_dict().items() if k != "parameters"} for info in chosen]
    return tuple(told[0]), [list(one.values()) for one in told]


def overview(known: list[MethodInfo], columns: int) -> str:
    longest = max(len(info.name) for info in known)
    lines = []
    for info in known:
        text = textwrap.wrap(words().method(info.name, info.summary), max(30, columns - longest - 2))
        lines += [f"{info.name if i == 0 else '':{longest}}  {line}" for i, line in enumerate(text)]
    first = textwrap.wrap(words()("methods_use_auto"), columns)
    return "\n".join([*first, "", *lines]) + f"\n\n{words()('methods_more')}\n"


def details(info: MethodInfo, columns: int, *, colour: bool) -> str:
    from doublet.reports.terminal import Painter

    paint = Painter(colour)
    lines = [
        paint(f"{words().method_title(info.name, info.title)} ({info.name})", "title"),
        *textwrap.wrap(words().method(info.name, info.summary), columns),
        "",
    ]
    least = words().method_minimum(info.name, info.minimum)
    lines += textwrap.wrap(words()("method_minimum", minimum=least), columns)
    lines.append(words()("method_shows" if info.shows_fragments else "method_shows_not"))
    if info.needs_statistics:
        lines += textwrap.wrap(words()("method_weighs"), columns)
    lines += ["", paint(words()("method_parameters"), "title")]
    for parameter in info.parameters:
        default = " ".join(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
        default = str(default).lower() if isinstance(default, bool) else default
        lines.append(f"  {parameter.name}={default}")
        about = words().parameter(info.name, parameter.name, parameter.about)
        text = f"{about} ({words().say(parameter.allowed)})"
        lines += textwrap.wrap(text, columns, initial_indent="      ", subsequent_indent="      ")
    example = info.parameters[0]
    how = words()("method_set", name=example.name, value=str(example.default))
    lines += ["", *textwrap.wrap(how, columns, break_on_hyphens=False)]
    return "\n".join(lines) + "\n"
