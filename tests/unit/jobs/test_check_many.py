"""Many documents are checked: one outcome for each, and a bad one stops nobody."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import doublet
from doublet.cli import run
from doublet.errors import StoreError
from doublet.jobs.check_many import against_documents, against_libraries, check_many, list_files
from doublet.jobs.dedupe import Documents

TEXT = "The boats were locked in the ice until March, and nobody in the village minded it much."
BROKEN = b"%PDF-1.4\nnothing of a PDF"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    works = tmp_path / "works"
    works.mkdir()
    (works / "a.txt").write_text(TEXT, "utf-8")
    (works / "b.pdf").write_bytes(BROKEN)
    (works / "c.txt").write_text("Nothing of this was written anywhere before.", "utf-8")
    return works


def test_it_works(folder: Path) -> None:
    documents = [(path.name, path) for path in list_files([folder])]
    found = list(check_many(documents, against_documents(Documents([("boats", TEXT)]))))
    assert [one.name for one in found] == ["a.txt", "b.pdf", "c.txt"]
    assert [one.check.share if one.check else None for one in found] == [1.0, None, 0.0]
    assert [one.outcome.state if one.outcome else "" for one in found] == ["", "broken", ""]
    assert found[0].text == TEXT


def test_what_is_missing_and_what_is_of_no_use(tmp_path: Path) -> None:
    documents = [("gone", tmp_path / "gone.txt"), ("folder", tmp_path), ("text", TEXT), ("bytes", BROKEN)]
    found = list(check_many(documents, against_documents(Documents([("boats", TEXT)]))))
    assert [one.outcome.state if one.outcome else "" for one in found] == [
        *("unreadable", "unreadable", "", "broken")
    ]
    assert [one.error is None for one in found] == [False, False, True, False]


def test_what_would_be_the_same_for_all_is_raised(tmp_path: Path, folder: Path) -> None:
    documents = [(path.name, path) for path in list_files([folder])]
    with doublet.open_library(tmp_path / "library.db") as library:
        library.add([("boats", TEXT)])
        found = list(check_many(documents, against_libraries(library.store, None)))
        assert [one.check.share for one in found if one.check] == [1.0, 0.0]
        assert [one.check.name for one in found if one.check] == ["a.txt", "c.txt"]
        with pytest.raises(doublet.UnknownLibrary):
            list(check_many(documents, against_libraries(library.store, ["none"])))
        (folder / "a.txt").unlink()

        def failing(text: str, name: str) -> doublet.Check:
            raise StoreError("the disk is full")

        with pytest.raises(StoreError):
            list(check_many(documents, failing))


@pytest.mark.parametrize("form", ["json", "jsonl", "table", "html"])
def test_a_folder_with_a_bad_file(
    folder: Path, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = tmp_path / "library.jsonl"
    library.write_text(json.dumps({"id": "boats", "text": TEXT}) + "\n", "utf-8")
    out = tmp_path / "out"
    out.mkdir()
    where = ["--out", str(out)] if form == "html" else []
    assert run(["check", str(folder), "--against", str(library), "--format", form, *where]) == 3
    captured = capsys.readouterr()
    assert "b.pdf" in captured.err
    if form == "json":
        told = json.loads(captured.out)
        assert [one["share"] for one in told["checks"]] == [1.0, 0.0]
        assert [one["state"] for one in told["outcomes"]] == ["broken"]
    elif form == "jsonl":
        lines = [json.loads(line) for line in captured.out.splitlines()]
        assert [line.get("share") for line in lines] == [1.0, 0.0, None]
        assert lines[2]["outcome"]["state"] == "broken"
    elif form == "html":
        assert sorted(path.name for path in out.iterdir()) == ["a.txt.html", "c.txt.html"]


def test_one_bad_file_alone_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = str(folder / "b.pdf")
    assert run(["check", bad, "--against", str(folder / "a.txt")]) == 4
    assert run(["check", bad, bad, "--against", str(folder / "a.txt")]) == 4
    assert "b.pdf" in capsys.readouterr().err
