"""docs/reference/formats.md names every field that the program writes."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import pytest

import doublet
from doublet.cli import run
from doublet.reports.tables import FRAGMENT_COLUMNS, GROUP_COLUMNS

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference" / "formats.md"
LIBRARY = PAGE.parents[2] / "examples" / "library.jsonl"
TEXT = "The boats were locked in the ice until March, and nobody in the village minded it much."


def fields(
    value: Any, *, open_ended: tuple[str, ...] = ("parameters", "libraries", "optional", "settings", "values")
) -> Iterator[str]:
    """Names of all fields, but not those of mappings whose keys are names of other things."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            if name not in open_ended or isinstance(inner, list):
                yield from fields(inner, open_ended=open_ended)
            elif name in ("optional", "settings"):
                yield from (key for entry in inner.values() for key in entry)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from fields(inner, open_ended=open_ended)


def undocumented(value: Any) -> set[str]:
    known = set(re.findall(r"`([^`\n]+)`", PAGE.read_text(encoding="utf-8")))
    return set(fields(value)) - known


def test_it_works() -> None:
    assert undocumented({"resemblance": 1, "no_such_field": [{"nor_this": 2}]}) == {
        "no_such_field",
        "nor_this",
    }


def test_results() -> None:
    disguised = TEXT.replace("a", "\u0430")
    assert not undocumented(doublet.compare(disguised, f"They say: {TEXT}").to_dict())
    documents: list[Any] = [("1", TEXT), ("2", TEXT), ("3", ""), ("bad", 5)]
    assert not undocumented(doublet.dedupe(documents, pairs=True, views=("strict", "families")).to_dict())
    assert not undocumented(doublet.check(TEXT, [("1", TEXT)]).to_dict())


@pytest.mark.parametrize(
    "command", ["methods", "methods minhash", "curve", "info", "config show", f"dedupe {LIBRARY} --dry-run"]
)
def test_commands(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command.split(), "--format", "json"]) == 0
    assert not undocumented(json.loads(capsys.readouterr().out))


def test_columns() -> None:
    assert not undocumented(dict.fromkeys([*GROUP_COLUMNS, *FRAGMENT_COLUMNS]))
