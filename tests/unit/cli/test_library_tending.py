"""Look after a library: rename it, find and show a document, remove by pattern, source and reviewed list, count it."""

from __future__ import annotations

import csv
import json
import pathlib
from typing import Any

import pytest

from doublet.cli import run

ONE = "The water tower of the old town was built of brick in 1890 and still stands above the market square. "
TWO = "Снег в городе занимает место, и его вывозят по ночам на большие площадки за рекой каждую зиму. "


@pytest.fixture(autouse=True)
def shelf(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("DOUBLET_DATABASE", raising=False)
    for folder, names in (("books/2023", ("tower.txt", "copy.txt")), ("books/2024", ("snow.txt",))):
        (tmp_path / folder).mkdir(parents=True)
        for name in names:
            (tmp_path / folder / name).write_text((TWO if "snow" in name else ONE) * 3, encoding="utf-8")
    rows = [
        {"id": "a", "text": ONE * 3, "title": "Towers", "time": "2019-05-01"},
        {"id": "b", "text": TWO * 3, "title": "Снег", "time": "2021"},
        {"id": "c", "text": "something else that nobody wrote before in this town or any other place"},
    ]
    (tmp_path / "table.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return tmp_path


def made(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["library", "add", "books", "books", "--create", "--keep-duplicates", "-q"]) == 0
    assert run(["library", "add", "table", "table.jsonl", "--create", "--time-field", "time", "-q"]) == 0
    capsys.readouterr()


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert run([*arguments, "--format", "json"]) == code
    return json.loads(capsys.readouterr().out)


def listed(capsys: pytest.CaptureFixture[str], library: str, *more: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer(capsys, "library", "documents", library, *more)["documents"]
    return found


def ids(capsys: pytest.CaptureFixture[str], library: str, *more: str) -> list[str]:
    return sorted(one["id"] for one in listed(capsys, library, *more))


@pytest.mark.covers("L6")
def test_it_works(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys)
    assert ids(capsys, "books") == ["2023/copy.txt", "2023/tower.txt", "2024/snow.txt"]
    assert ids(capsys, "books", "--like", "2023/*") == ["2023/copy.txt", "2023/tower.txt"]
    assert ids(capsys, "books", "--like", "SNOW") == ["2024/snow.txt"]
    assert ids(capsys, "table", "--like", "снег") == ["b"]
    found = answer(capsys, "library", "document", "books", "2024/snow.txt")
    assert found["text"] == TWO * 3
    assert [one["number"] for one in found["sources"]] == [1]
    assert run(["library", "document", "books", "2024/snow.txt", "--text"]) == 0
    assert capsys.readouterr().out == TWO * 3
    assert run(["library", "document", "books", "snow.txt"]) == 2
    assert "did you mean 2024/snow.txt" in capsys.readouterr().err


@pytest.mark.covers("L6")
def test_rename(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys)
    assert run(["library", "rename", "books", "table"]) == 2
    assert run(["library", "rename", "books", "Книги / 2024"]) == 0
    assert "Книги / 2024" in capsys.readouterr().err
    assert len(ids(capsys, "Книги / 2024")) == 3
    assert run(["library", "update", "Книги / 2024", "-q"]) == 0  # its sources came along
    assert run(["library", "update", "table", "--later", "-q"]) == 0
    assert run(["library", "rename", "table", "other"]) == 4
    assert "queue cancel" in capsys.readouterr().err


@pytest.mark.covers("L6", "L7")
def test_remove_by_pattern_and_with_a_source(shelf: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys)
    assert run(["library", "remove", "books", "--like", "2023/*"]) == 2  # nobody there to ask
    found = answer(
        capsys, "library", "remove", "books", "--like", "2023/c*", "--like", "none", "--yes", code=3
    )
    assert found["removed"] == ["2023/copy.txt"]
    assert run(["library", "update", "books", "-q"]) == 0
    assert "2023/copy.txt" not in ids(capsys, "books")  # stays out
    # A document that another source has too stays.
    assert run(["library", "add", "books", "table.jsonl", "-q"]) == 0
    (shelf / "more.jsonl").write_text(json.dumps({"id": "a", "text": ONE * 3}), encoding="utf-8")
    assert run(["library", "add", "books", "more.jsonl", "-q"]) == 0
    capsys.readouterr()
    sources = answer(capsys, "library", "show", "books")["sources"]
    number = next(one["number"] for one in sources if one["address"].endswith("books"))
    found = answer(capsys, "library", "remove", "books", "--source", str(number), "--with-documents", "--yes")
    assert found["documents"] == 2
    assert all(one.startswith(("table.jsonl", "more.jsonl", "a", "b", "c")) for one in ids(capsys, "books"))
    shown = answer(capsys, "library", "show", "books")
    assert shown["documents"] == len(ids(capsys, "books"))
    assert number not in [one["number"] for one in shown["sources"]]
    assert run(["library", "verify"]) == 0


@pytest.mark.covers("L8")
def test_counts_of_duplicates_between_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys)
    for options in ((), ("--between",)):
        found = answer(capsys, "library", "duplicates", *options)
        total = found["kept"] + found["removed"] + found["left_out"] + found.get("not_listed", 0)
        assert found["documents"] == total == 6
    assert run(["library", "add", "lonely", "books/2023", "--create", "--keep-duplicates", "-q"]) == 0
    assert run(["library", "add", "lonely2", "table.jsonl", "--create", "-q"]) == 0
    assert run(["library", "remove", "lonely2", "--document", "a", "--document", "b", "-q"]) == 0
    capsys.readouterr()
    found = answer(capsys, "library", "duplicates", "lonely", "lonely2", "--between")
    assert (found["documents"], found["kept"], found["removed"], found["not_listed"]) == (3, 2, 0, 1)
    assert run(["library", "duplicates", "lonely", "lonely2", "--between"]) == 0
    assert "1 more duplicate inside one library, not listed" in capsys.readouterr().out
    assert run(["library", "duplicates", "lonely", "lonely2", "--between", "--language", "ru"]) == 0
    assert "ещё 1 дубликат внутри одной библиотеки" in capsys.readouterr().out


@pytest.mark.covers("L8")
@pytest.mark.parametrize("form", ["csv", "jsonl", "json"])
def test_remove_the_duplicates_of_a_reviewed_list(
    form: str, shelf: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made(capsys)
    path = shelf / f"groups.{form}"
    assert run(["library", "duplicates", "--groups", str(path), "-q"]) == 0
    assert "nothing was removed" in capsys.readouterr().out
    if form == "csv":  # the reviewer takes one row away
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        assert len(rows) == 3
        stays = rows.pop(0)["id"]
        with path.open("w", encoding="utf-8", newline="") as stream:
            table = csv.DictWriter(stream, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    assert run(["library", "remove", "--duplicates", str(path)]) == 2
    found = answer(capsys, "library", "remove", "--duplicates", str(path), "--yes")
    assert len(found["removed"]) == (2 if form == "csv" else 3)
    left = [f"{name}/{id}" for name in ("books", "table") for id in ids(capsys, name)]
    assert len(left) == 6 - len(found["removed"])
    if form == "csv":
        assert stays in left
    again = answer(capsys, "library", "remove", "--duplicates", str(path), "--yes", code=4)
    assert {one["state"] for one in again["outcomes"]} == {"missing"}


def test_a_list_never_removes_every_copy(shelf: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys)
    (shelf / "list.csv").write_text(
        "keep,id\n2023/tower.txt,2023/copy.txt\n2023/copy.txt,2023/tower.txt\ngone.txt,2024/snow.txt\n"
    )
    found = answer(capsys, "library", "remove", "books", "--duplicates", "list.csv", "--yes", code=4)
    assert found["removed"] == []
    assert {one["state"] for one in found["outcomes"]} == {"kept"}
    assert len(ids(capsys, "books")) == 3
    (shelf / "ids.txt").write_text("2023/tower.txt\n")
    assert run(["library", "remove", "books", "--duplicates", "ids.txt", "--yes"]) == 4
    assert "is not a list of duplicates" in capsys.readouterr().err


@pytest.mark.covers("M11", "L6")
def test_statistics_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys)
    whole = answer(capsys, "library", "show", "books")
    for by, expected in (
        ("folder", {"2023/": 2, "2024/": 1}),
        ("language", {"en": 2, "ru": 1}),
        ("source", {str(pathlib.Path("books").absolute()): 3}),
        ("year", {str(year): 3 for year in {one["time"][:4] for one in listed(capsys, "books")}}),
    ):
        found = answer(capsys, "library", "statistics", "books", "--by", by)
        assert {part["name"]: part["documents"] for part in found["parts"]} == expected
        assert sum(expected.values()) == found["documents"] == whole["documents"]
        assert sum(part["words"] for part in found["parts"]) == found["words"] == whole["words"]
    years = answer(capsys, "library", "statistics", "table", "--by", "year")["parts"]
    assert [(part["name"], part["documents"]) for part in years] == [("2019", 1), ("2021", 1), ("", 1)]
    assert run(["library", "statistics", "table", "--by", "year", "--top", "1", "--language", "ru"]) == 0
    told = capsys.readouterr().out
    assert "ещё 2" in told
    assert "всего" in told


@pytest.mark.covers("M11")
def test_statistics_show_whole_words(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys)
    assert run(["library", "statistics", "books", "--top", "40"]) == 0
    told = capsys.readouterr().out
    rows = {line.split()[0] for line in told.splitlines()[2:]}
    assert {"square", "площадки", "занимает"} <= rows  # not squar, площадк, занима
    found = answer(capsys, "library", "statistics", "books", "--top", "40")["top"]
    assert {"word": "square", "stem": "squar", "df": 2, "cf": 6} in found
