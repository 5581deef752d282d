"""A file name that no system has, too long or with a NUL, is a mistake of the caller and never a bare error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import doublet
from doublet.cli import run
from doublet.sources.works import list_works

NAMES = {"long": "nowhere" * 60, "nul": "no\0where"}
DOORS: dict[str, Callable[[Path], Any]] = {
    "read_document": doublet.read_document,
    "check": lambda path: doublet.check(path, []),
    "check against": lambda path: doublet.check("some words", path),
    "compare": lambda path: doublet.compare(path, "some words"),
    "dedupe": doublet.dedupe,
    "dedupe several": lambda path: doublet.dedupe([path]),
    "find_repeats": doublet.find_repeats,
    "rescore": lambda path: doublet.rescore(path, without=["a"]),
    "evaluate": doublet.evaluate,
    "open_library": lambda path: doublet.open_library(path, "shelf"),
    "load_embedder": doublet.load_embedder,
    "thesaurus": lambda path: doublet.compare("some words", "more", method="meaning", thesaurus=str(path)),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("door", DOORS)
def test_every_door_says_what_is_wrong(
    name: str, door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(doublet.DoubletError):
        DOORS[door](Path(NAMES[name]))


@pytest.mark.parametrize(
    "command", ["text", "check --against .", "compare x", "dedupe", "repeats", "library add shelf --create"]
)
def test_every_command_does_too(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOUBLET_DATABASE", str(tmp_path / "shelf.db"))
    (tmp_path / "x").write_text("some words", encoding="utf-8")
    assert run([*command.split(), NAMES["long"]]) == 4
    assert "no file can have this name" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_a_list_of_works_keeps_it(name: str) -> None:
    (one,) = list_works([Path(NAMES[name])])
    assert one.path == Path(NAMES[name])
