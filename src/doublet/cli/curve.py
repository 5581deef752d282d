"""``doublet curve``: how likely a method is to find a pair, drawn over the resemblance of the pair."""

from __future__ import annotations

from pathlib import Path

import click

from doublet.cli.base import PATH, Command, format_option, read_value, width, write_bytes, write_text
from doublet.cli.language import words
from doublet.errors import UsageError, nearest

EXAMPLE = """\
doublet curve
doublet curve minhash -p functions=128 -p threshold=0.8
doublet curve supershingles -p groups=8 -p group_size=10 --format svg --out curve.svg"""
METHODS = ("supershingles", "megashingles", "minhash")
SHOWN = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 1.0)


@click.command(
    cls=Command,
    example=EXAMPLE,
    help="""Draw the chance that two texts are found to be similar against their resemblance, for any setting
    of supershingles (the default), megashingles or the bands of minhash.""",
)
@click.argument("method", default="supershingles", metavar="[METHOD]")
@click.option(
    "--parameter", "-p", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of the method."
)
@click.option(
    "--points", type=click.IntRange(2, 100_001), default=101, show_default=True, help="Points of the curve."
)
@click.option("--out", type=PATH, metavar="FILE", help="Write to this file.")
@format_option("table", "json", "jsonl", "csv", "svg")
def command(*, method: str, parameters: tuple[str, ...], points: int, out: Path | None, form: str) -> None:
    from doublet.reports.curve import plot, svg
    from doublet.reports.json_report import json_document, json_line
    from doublet.reports.output import open_output
    from doublet.reports.tables import plain_rows
    from doublet.reports.terminal import table

    settings, curve = curve_of(method, parameters, points)
    title = f"{method}: " + ", ".join(f"{name} {value}" for name, value in settings.items())
    if form == "json":
        shape = {"method": method, "parameters": settings, "points": [list(point) for point in curve]}
        content = json_document(shape)
    elif form == "jsonl":
        content = b"".join(json_line({"resemblance": p, "chance": q}) + b"\n" for p, q in curve)
    elif form == "csv":
        content = b"".join(plain_rows(("resemblance", "chance"), curve))
    elif form == "svg":
        content = svg(curve, title=title, language=words().language).encode()
    else:
        _, exact = curve_of(method, parameters, 1001)
        found = dict(exact)
        rows = [[f"{at:.2f}", f"{found[at]:.4f}"] for at in SHOWN]
        header = [words()("curve_resemblance"), words()("curve_chance")]
        drawn = plot(curve, width=width(), language=words().language)
        text = f"{title}\n\n{drawn}\n{table(rows, header=header)}"
        content = text.encode()
    if out is not None:
        with open_output(out) as stream:
            stream.write(content)
    elif form == "table":
        write_text(content.decode())
    else:
        write_bytes([content])


def curve_of(
    method: str, given: tuple[str, ...], points: int
) -> tuple[dict[str, int], list[tuple[float, float]]]:
    """What the curve depends on, and its points (resemblance, chance). Raises `UsageError`,
    `InvalidParameter`.
    """
    from doublet.signatures import METHODS as KNOWN
    from doublet.signatures import curve
    from doublet.signatures import method as make_method
    from doublet.signatures.minhash import MinHash, band_probability

    if method not in METHODS:
        raise UsageError("no_curve", method=method, nearest=nearest(method, METHODS), methods=METHODS)
    defaults = {info.name: info.default for info in KNOWN[method].parameters_type.infos()}
    parameters = {}
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise UsageError("parameter_form_groups", text=text)
        parameters[name] = read_value(value.strip(), defaults.get(name))
    made = make_method(method, **parameters)
    if isinstance(made, MinHash):
        at = [i / (points - 1) for i in range(points)]
        return (
            {"functions": made.parameters.functions, "bands": made.bands, "rows": made.rows},
            [(p, band_probability(p, made.bands, made.rows)) for p in at],
        )
    shape = {name: int(getattr(made.parameters, name)) for name in ("groups", "group_size", "required")}
    return shape, curve(**shape, points=points)
