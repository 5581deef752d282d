"""Nothing that other people wrote steers a terminal: not the names of files and libraries, nor their texts."""

from __future__ import annotations

import io
import json
import pathlib
import re

import pytest

from doublet.cli import run
from doublet.reports.terminal import for_terminal

EVIL = "\x1b[31mred\x1b]0;title\x07\u009b5m\u202eback"
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


class Terminal(io.TextIOWrapper):
    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="\n")

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> str:
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode()


def look(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Both streams of the program on one terminal. Not a fixture: pytest puts its own streams in place after those."""
    made = Terminal()
    monkeypatch.setattr("sys.stdout", made)
    monkeypatch.setattr("sys.stderr", made)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    return made


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.setenv("DOUBLET_DATABASE", str(tmp_path / "library.db"))
    words = " ".join(f"word{number} of the harbour" for number in range(40))
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / f"a{EVIL}.txt").write_text(f"{words} {EVIL}", encoding="utf-8")
    (texts / f"b{EVIL}.pdf").write_bytes(b"%PDF-1.4 broken")
    records = [{"id": f"{EVIL}{number}", "text": f"{words} {EVIL}"} for number in range(2)]
    (tmp_path / "records.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    return tmp_path


@pytest.mark.covers("T1")
def test_nothing_that_others_wrote_steers_the_terminal(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = look(monkeypatch)
    good, bad = sorted((folder / "texts").iterdir())
    records = folder / "records.jsonl"
    for command in (
        ["text", good, bad],
        ["text", bad],
        ["check", folder / "texts", "--against", records],
        ["check", good, "--against", records, "--format", "json"],
        ["check", good, "--against", records, "--format", "csv"],
        ["dedupe", records, "--format", "json"],
        ["repeats", folder / "texts"],
        ["library", "create", f"lib{EVIL}"],
        ["library", "add", "docs", records, folder / "texts", "--create"],
        ["library", "export", "docs"],
        ["library", "remove", "docs", "--document", f"{EVIL}none"],
        ["library", "rename", "docs", f"more{EVIL}"],
        ["library", "list"],
        ["pictures", bad],
        [EVIL],
        ["check", good, "--library", EVIL],
    ):
        run([str(part) for part in command])
        shown = terminal.shown
        assert not STEERING.search(shown), (command, STEERING.search(shown))
    assert "red" in shown
    assert "word7 of the harbour" in shown


def test_json_on_a_terminal_is_still_json(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = look(monkeypatch)
    run(["library", "add", "docs", str(folder / "records.jsonl"), "--create", "--quiet", "--format", "json"])
    before = len(terminal.shown)
    run(["library", "export", "docs", "--quiet"])
    lines = terminal.shown[before:].splitlines()
    assert [json.loads(line)["id"] for line in lines] == [f"{EVIL}0", f"{EVIL}1"]


def test_colours_of_our_own_stay() -> None:
    assert for_terminal("\x1b[1;31mours\x1b[0m\n\ta") == "\x1b[1;31mours\x1b[0m\n\ta"
    assert for_terminal("\x1b[8mhidden\x1b[0m") == "␛[8mhidden\x1b[0m"
