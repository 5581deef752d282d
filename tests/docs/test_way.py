"""docs/explanation/way-of-a-document.md is what the program does: every function that a table names is called, and the
steps come in the order of the table."""

from __future__ import annotations

import importlib
import json
import pathlib
import re
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from doublet import kernels
from doublet.cli.root import root

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "explanation" / "way-of-a-document.md"
SNOW = "Snow takes up room in a town, and at night it is brought to fields outside of it, while the roads are empty. "
JAM = "Jam of plums is boiled on a small fire until a drop of it no longer runs about on a cold plate. "


def steps(heading: str) -> list[list[str]]:
    """Of the table under a heading: the names in the second column of each row."""
    part = PAGE.read_text(encoding="utf-8").partition(f"## {heading}")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| \d+ \| (.*?) \| ", part, re.M)
    assert rows, heading
    named = [re.findall(r"`([\w.]+)`", row) for row in rows]
    return [some for names in named if (some := [name for name in names if not _is_native(name)])]


def _is_native(name: str) -> bool:
    """Kernels are called without a frame of Python."""
    return hasattr(kernels, name.removeprefix("kernels.").partition(".")[0])


class Called:
    """Functions of ours in the order in which each was called first, in any thread."""

    def __init__(self) -> None:
        self.order: dict[tuple[str, str], int] = {}

    def _seen(self, frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_qualname
        elif event == "c_call":
            module, name = str(getattr(argument, "__module__", "")), argument.__name__
        else:
            return
        if module.startswith("doublet"):
            self.order.setdefault((module, name), len(self.order))

    def during(self, work: Callable[[], Any]) -> Called:
        threading.setprofile(self._seen)
        sys.setprofile(self._seen)
        try:
            work()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        return self

    def first(self, name: str) -> int | None:
        """When a function was called first: "matches.explain.explain", "Batched.batches", "find_all"."""
        parts = name.split(".")
        cut = next((place for place, part in enumerate(parts) if part[0].isupper()), len(parts) - 1)
        module, own = ".".join(parts[:cut]), ".".join(parts[cut:])
        places = [
            place
            for (at, one), place in self.order.items()
            if (one == own or one.startswith(f"{own}.")) and module in at
        ]
        if not places and not module:  # of a protocol: whatever class it is
            places = [place for (_, one), place in self.order.items() if one.endswith(f".{parts[-1]}")]
        return min(places, default=None)

    def entered(self, name: str) -> bool:
        """Whether a function was called, or something of a module."""
        return self.first(name) is not None or any(at == f"doublet.{name}" for at, _ in self.order)


@pytest.fixture
def files(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOUBLET_DATABASE", str(tmp_path / "way.db"))
    (tmp_path / "a.txt").write_text(SNOW * 3 + JAM)
    (tmp_path / "b.txt").write_text(SNOW * 2 + JAM * 2)
    names = [f"w{n}" for n in range(200)]
    (tmp_path / "c.txt").write_text(" ".join(names))
    (tmp_path / "d.txt").write_text(
        " ".join(f"new{n}" if n % 3 == 0 else name for n, name in enumerate(names))
    )
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "one.txt").write_text(SNOW * 3)
    rows = [
        {"id": "a", "text": SNOW * 3},
        {"id": "b", "text": SNOW * 3 + "Now."},
        {"id": "c", "text": JAM * 3},
        {"id": "d", "text": JAM * 2 + "A quite different end of the story about jam and plates and fires."},
    ]
    (tmp_path / "pile.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def run(*arguments: str) -> None:
    done = CliRunner().invoke(root, arguments)
    assert done.exit_code == 0, (arguments, done.output, done.exception)


WAYS = {
    "compare: two texts": [("compare", "c.txt", "d.txt"), ("compare", "a.txt", "b.txt", "--format", "json")],
    "check: a work against documents of files": [("check", "a.txt", "--against", "pile.jsonl")],
    "check: a work against libraries": [
        ("check", "a.txt", "--library", "x", "--leave-out", "quotations", "--leave-out", "common"),
        ("check", "d.txt", "--library", "x"),  # not all of it is explained by equal passages
    ],
    "library add: a document into a library": [("library", "add", "x", "folder")],
    "dedupe: a document among many": [
        ("dedupe", "pile.jsonl", "--kept", "kept.jsonl"),
        ("dedupe", "pile.jsonl", "--method", "minhash"),
    ],
}


@pytest.mark.parametrize("heading", WAYS)
def test_the_way_is_what_happens(heading: str, files: pathlib.Path) -> None:
    run("library", "create", "x")
    if "libraries" in heading:
        run("library", "add", "x", "pile.jsonl")
    called = Called().during(lambda: run(*WAYS[heading][0]))
    told = [(names[0], called.first(names[0])) for names in steps(heading)]
    called.during(lambda: [run(*arguments) for arguments in WAYS[heading][1:]])
    missing = [name for names in steps(heading) for name in names if not called.entered(name)]
    assert not missing, missing
    firsts = [place for _, place in told if place is not None]
    assert firsts == sorted(firsts), told


def test_every_name_on_the_page_is_there() -> None:
    """Modules and functions that are named in full, in the text too."""
    for name in set(
        re.findall(r"`((?:jobs|text|matches|store|sources|reports|index)\.[\w.]+)`", PAGE.read_text())
    ):
        parts = name.split(".")
        for cut in range(len(parts), 0, -1):
            try:
                found: Any = importlib.import_module("doublet." + ".".join(parts[:cut]))
            except ModuleNotFoundError:
                continue
            break
        for part in parts[cut:]:
            assert hasattr(found, part) or parts[0] == "store", name
            found = getattr(found, part, None)
