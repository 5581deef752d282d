"""``doublet methods``: every method, its parameters and what it is good for."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from doublet.cli.base import Command, format_option, use_colour, width, write_bytes, write_text
from doublet.errors import UnknownMethod

if TYPE_CHECKING:
    from doublet.signatures import MethodInfo


@click.command(
    cls=Command,
    example="doublet methods\ndoublet methods minhash",
    help="List the methods and what each is good for; with a NAME, that method and its parameters.",
)
@click.argument("name", required=False)
@format_option("table", "json")
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
    elif name is None:
        write_text(overview(known, width()))
    else:
        write_text(details(chosen[0], width(), colour=use_colour("auto")))


def overview(known: list[MethodInfo], columns: int) -> str:
    longest = max(len(info.name) for info in known)
    lines = []
    for info in known:
        text = textwrap.wrap(info.summary, max(30, columns - longest - 2))
        lines += [f"{info.name if i == 0 else '':{longest}}  {line}" for i, line in enumerate(text)]
    return "\n".join(lines) + "\n\nParameters of a method: doublet methods NAME\n"


def details(info: MethodInfo, columns: int, *, colour: bool) -> str:
    from doublet.reports.terminal import Painter

    paint = Painter(colour)
    lines = [paint(f"{info.title} ({info.name})", "title"), *textwrap.wrap(info.summary, columns), ""]
    lines.append(f"A text must have at least {info.minimum}.")
    lines.append("Shows the passages themselves." if info.shows_fragments else "Says how alike, not where.")
    if info.needs_statistics:
        lines.append("Weighs words by the collection they come from.")
    lines += ["", paint("Parameters", "title")]
    for parameter in info.parameters:
        default = " ".join(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
        default = str(default).lower() if isinstance(default, bool) else default
        lines.append(f"  {parameter.name}={default}")
        text = f"{parameter.about} ({parameter.allowed})"
        lines += textwrap.wrap(text, columns, initial_indent="      ", subsequent_indent="      ")
    example = info.parameters[0]
    lines += ["", f"Set one with --parameter, for example --parameter {example.name}={example.default}"]
    return "\n".join(lines) + "\n"
