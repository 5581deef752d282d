"""Names that are empty, streams that are closed or full, results that want the same stream."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest

from doublet.cli import run

TEXT = "the boats were locked in the ice until March, and nobody minded it much"


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "corpus.jsonl"
    file.write_text("".join(json.dumps({"id": name, "text": TEXT}) + "\n" for name in ("a", "b")))
    return file


@pytest.mark.parametrize(
    "arguments",
    [
        ["dedupe", ""],
        ["dedupe", "corpus.jsonl", ""],
        ["dedupe", "corpus.jsonl", "--groups", ""],
        ["dedupe", "corpus.jsonl", "--kept", ""],
        ["dedupe", "corpus.jsonl", "--config", ""],
        ["compare", "", "corpus.jsonl"],
        ["check", "", "--against", "corpus.jsonl"],
        ["check", "corpus.jsonl", "--against", ""],
        ["repeats", ""],
        ["text", ""],
        ["curve", "--out", ""],
        ["library", "add", "theses", ""],
    ],
    ids=" ".join,
)
def test_an_empty_name_is_not_this_folder(
    table: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """As of a variable in a script that was never set."""
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "the name is empty" in err
    assert list(table.parent.iterdir()) == [table]


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "-", "corpus.jsonl"],
        ["text", "-"],
        ["dedupe", "-"],
        ["check", "-", "--against", "corpus.jsonl"],
    ],
    ids=" ".join,
)
def test_a_closed_standard_input_is_told(
    table: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert run(arguments) == 4
    assert "standard input is closed: nothing can be read from it" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["table", "json"])
def test_a_full_disk_behind_standard_output_is_told(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with Path("/dev/full").open("w", buffering=1, encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert run(["dedupe", str(table), "--format", form]) == 4
        monkeypatch.undo()
    assert (
        "the result could not be written to standard output: No space left on device"
        in capsys.readouterr().err
    )


def test_an_estimate_in_every_form(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(form: str) -> str:
        assert run(["dedupe", str(table), "--dry-run", "--format", form]) == 0
        return capsys.readouterr().out

    whole = json.loads(told("json"))
    lines = told("jsonl").splitlines()
    assert [json.loads(line).keys() for line in lines] == [whole.keys()]
    (row,) = csv.DictReader(io.StringIO(told("csv")))
    assert row.keys() == whole.keys()
    assert row["documents"] == str(whole["documents"]) == "2"


@pytest.mark.parametrize("option", ["--groups", "--kept"])
@pytest.mark.parametrize("form", ["json", "csv"])
def test_two_results_do_not_share_standard_output(
    table: Path, capsys: pytest.CaptureFixture[str], option: str, form: str
) -> None:
    assert run(["dedupe", str(table), option, "-", "--format", form]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{option} - and --format {form} both go to standard output" in err
    assert run(["dedupe", str(table), option, "-"]) == 0


def test_the_same_story_is_told_beside_rows(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (table.parent / "a.txt").write_text(TEXT)
    for form in ("csv", "jsonl"):
        assert run(["compare", "a.txt", "a.txt", "--same-story", "--format", form]) == 0
        assert "The same story" in capsys.readouterr().err
    assert run(["compare", "a.txt", "a.txt", "--same-story", "--format", "csv", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_switches_in_rows_are_written_as_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["methods", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["shows_fragments"] for row in rows} == {"true", "false"}


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_other_names_of_standard_output(table: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Behind them may be a file, which must not be replaced by another of its name."""
    assert run(["dedupe", str(table), "--kept", name]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "a"
    assert run(["dedupe", str(table), "--groups", name, "--format", "json"]) == 2
