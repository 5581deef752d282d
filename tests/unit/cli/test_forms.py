"""The same result in every form: table, json, jsonl, csv."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from doublet import config
from doublet.cli import run
from doublet.signatures import METHODS


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    code = run(arguments)
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def lines_of(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("command", ["methods", "methods minhash", "info", "config show", "curve"])
def test_lines_and_rows_say_the_same(capsys: pytest.CaptureFixture[str], command: str) -> None:
    lines = lines_of(call(capsys, *command.split(), "--format", "jsonl"))
    rows = rows_of(call(capsys, *command.split(), "--format", "csv"))
    assert len(lines) == len(rows) > 1
    assert {tuple(line) for line in lines} == {tuple(row) for row in rows}
    for line, row in zip(lines, rows, strict=True):
        for key, value in line.items():
            assert row[key] == (
                ""
                if value is None
                else " ".join(value)
                if isinstance(value, list)
                else str(value).lower()
                if isinstance(value, bool)
                else str(value)
            )


def test_methods_are_one_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert [line["name"] for line in lines_of(call(capsys, "methods", "--format", "jsonl"))] == list(METHODS)
    names = [row["name"] for row in rows_of(call(capsys, "methods", "shingles", "--format", "csv"))]
    assert names[:2] == ["shingle_words", "shingle_chars"]


def test_settings_are_one_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(call(capsys, "config", "show", "--method", "minhash", "--format", "csv"))
    assert [row["setting"] for row in rows] == list(config.NAMES)
    assert {"setting": "method", "value": "minhash", "from": "--method"}.items() <= rows[0].items()


@pytest.mark.covers("K2")
def test_a_check_in_every_form(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = "The boats were locked in the ice until March, and nobody in the harbour minded it very much."
    (tmp_path / "library.jsonl").write_text(json.dumps({"id": "s1", "title": "Ice", "text": source}) + "\n")
    for name, text in {
        "a.txt": f"Here it begins. {source}",
        "b.txt": "Nothing of this kind stands anywhere.",
    }.items():
        (tmp_path / name).write_text(text)
    texts = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    against = ["--against", str(tmp_path / "library.jsonl"), "--quiet"]
    whole = json.loads(call(capsys, "check", *texts, *against, "--format", "json"))
    assert lines_of(call(capsys, "check", *texts, *against, "--format", "jsonl")) == whole["checks"]
    (row,) = rows_of(call(capsys, "check", *texts, *against, "--format", "csv"))
    (fragment,) = whole["checks"][0]["sources"][0]["fragments"]
    assert (row["text"], row["source"], row["title"], row["kind"]) == (texts[0], "s1", "Ice", "verbatim")
    assert [int(row[key]) for key in ("a_start", "a_end", "b_start", "b_end")] == [
        *fragment["a"],
        *fragment["b"],
    ]
    out = tmp_path / "fragments.csv"
    assert call(capsys, "check", *texts, *against, "--format", "csv", "--out", str(out)) == ""
    assert rows_of(out.read_text()) == [row]
    empty = call(capsys, "check", texts[1], *against, "--format", "csv")
    assert empty.startswith("text,library,source,") and empty.count("\n") == 1


def test_libraries_in_every_form(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    database = ["--database", str(tmp_path / "x.db")]
    (tmp_path / "d.jsonl").write_text(
        "".join(
            json.dumps({"id": str(i), "text": f"boats harbour winter number {'abcdefgh'[i] * 5} " * 3}) + "\n"
            for i in range(4)
        )
    )
    call(capsys, "library", "create", "ships", "--note", "of ice", *database, "--quiet")
    call(
        capsys, "library", "add", "ships", str(tmp_path / "d.jsonl"), *database, "--quiet", "--format", "json"
    )
    (row,) = rows_of(call(capsys, "library", "list", *database, "--format", "csv"))
    (line,) = lines_of(call(capsys, "library", "list", *database, "--format", "jsonl"))
    assert row == {key: str(value) for key, value in line.items()}
    assert (line["name"], line["documents"], line["note"]) == ("ships", 4, "of ice")
    top = ["library", "statistics", "ships", *database, "--top", "2", "--format"]
    assert rows_of(call(capsys, *top, "csv")) == [
        {key: str(value) for key, value in one.items()} for one in lines_of(call(capsys, *top, "jsonl"))
    ]


@pytest.mark.covers("T4")
def test_stop_words_of_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Глубокоуважаемый читатель, лодки стояли во льду до марта.")
    (tmp_path / "b.txt").write_text("Лодки стояли, читатель, во льду до марта, глубокоуважаемый.")
    (tmp_path / "stop.txt").write_text("# обращения\nЧитатель\nглубокоуважаемый  # вежливо\n")
    texts = [
        "compare",
        str(tmp_path / "a.txt"),
        str(tmp_path / "b.txt"),
        "--method",
        "shingles",
        "--format",
        "json",
    ]
    assert json.loads(call(capsys, *texts))["resemblance"] < 1
    found = json.loads(call(capsys, *texts, "-p", f"extra_stop_words=@{tmp_path / 'stop.txt'}"))
    assert found["resemblance"] == 1
    assert found["parameters"]["extra_stop_words"] == ["глубокоуважаемый", "читатель"]
    assert run([*texts, "-p", "extra_stop_words=@no.txt"]) == 2
    assert "no.txt cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("group", ["config", "library"])
def test_a_group_of_commands_alone_shows_its_help(capsys: pytest.CaptureFixture[str], group: str) -> None:
    assert run([group]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Example")
    assert "doublet: " not in err
    assert "Commands:" in err


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_pages_of_methods_fit_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for name in METHODS:
        text = call(capsys, "methods", name)
        title, *described = text.splitlines()
        assert name in title
        assert max(map(len, described)) <= int(columns)
