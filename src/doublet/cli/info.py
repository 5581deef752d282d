"""``doublet info``: what is installed and in use."""

from __future__ import annotations

import platform
import sys
from typing import Any

import click

import doublet
from doublet import config
from doublet.cli.base import Command, format_option, write_bytes, write_text
from doublet.cli.language import words
from doublet.cli.rows import write_rows

#: optional libraries: distribution, code of what it is for, and how to get it
OPTIONAL = (
    ("PyStemmer", "stems", "stems"),
    ("pymorphy3", "lemmas", "lemmas"),
    ("pyarrow", "parquet", "tables"),
    ("zstandard", "zst", "tables"),
    ("lxml", "markup", "formats"),
    ("pypdfium2", "pdf", "formats"),
    ("urllib3", "web", "web"),
    ("can_ada", "addresses", "web"),
    ("brotli", "brotli", "web"),
)
REQUIRED = ("numpy", "orjson", "click", "rich", "snowballstemmer")


def facts() -> dict[str, Any]:
    """Everything that `doublet info` shows, ready for JSON."""
    from importlib.metadata import PackageNotFoundError, version

    from doublet import kernels
    from doublet.kernels.data import HASH_VERSION, TEXT_VERSION
    from doublet.model import FORMAT_VERSION
    from doublet.reports.wording import wording

    def found(name: str) -> str | None:
        try:
            return version(name)
        except PackageNotFoundError:
            return None

    return {
        "version": doublet.__version__,
        "kernels": kernels.BACKEND,
        "versions": {"text": TEXT_VERSION, "hash": HASH_VERSION, "format": FORMAT_VERSION},
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "processors": config.processors(),
        "libraries": {name: found(name) for name in REQUIRED},
        "optional": {
            name: {"version": found(name), "for": wording().name("use", use), "use": use, "extra": extra}
            for name, use, extra in OPTIONAL
        },
    }


def _flat(known: dict[str, Any]) -> list[tuple[str, Any]]:
    """One row for each fact; libraries by their versions."""
    out: list[tuple[str, Any]] = []
    for name, value in known.items():
        if isinstance(value, dict):
            out += [
                (f"{name}.{key}", part["version"] if isinstance(part, dict) else part)
                for key, part in value.items()
            ]
        else:
            out.append((name, value))
    return out


@click.command(
    cls=Command,
    example="doublet info --format json",
    help="Show the version, which kernels are in use, Python, and the libraries that are there.",
)
@format_option("table", "json", "jsonl", "csv")
def command(form: str) -> None:
    from doublet.reports.json_report import json_document
    from doublet.reports.terminal import table

    known = facts()
    if form == "json":
        write_bytes([json_document(known)])
        return
    if form != "table":
        write_rows(form, ("name", "value"), _flat(known))
        return
    say = words()
    libraries = [f"{name} {number or say('info_missing')}" for name, number in known["libraries"].items()]
    system = say("info_system_told", platform=known["platform"], processors=known["processors"])
    rows = [
        ["Doublet", known["version"]],
        [say("info_kernels"), say("info_native" if known["kernels"] == "native" else "info_plain")],
        [say("info_versions"), say("info_versions_told", **known["versions"])],
        ["Python", f"{known['python']}  {known['executable']}"],
        [say("info_system"), system],
        [say("info_libraries"), ", ".join(libraries)],
    ]
    for name, about in known["optional"].items():
        missing = say("info_not_there", extra=about["extra"])
        rows.append([say("info_for", use=about["use"]), f"{name} {about['version'] or missing}"])
    write_text(table(rows))
