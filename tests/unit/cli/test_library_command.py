"""``doublet library`` and ``doublet check --library``, by their exit codes and what they print."""

from __future__ import annotations

import io
import json
import pathlib
import subprocess
import sys
from typing import Any

import pytest

import doublet
from doublet.cli import run
from doublet.errors import InputNotFound, UnknownLibrary, UsageError

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"
LIBRARY, WORK = str(EXAMPLES / "library.jsonl"), str(EXAMPLES / "work.txt")


@pytest.fixture(autouse=True)
def own_database(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("DOUBLET_DATABASE", raising=False)


@pytest.fixture
def theses(capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["library", "create", "theses", "--quiet"]) == 0
    assert run(["library", "add", "theses", LIBRARY, "--quiet"]) == 0
    capsys.readouterr()
    return "theses"


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert run([*arguments, "--format", "json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.mark.covers("S6", "K1")
def test_it_works(theses: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (tmp_path / "data" / "doublet" / "libraries.db").is_file()
    (info,) = answer(capsys, "library", "list")["libraries"]
    assert (info["name"], info["documents"]) == ("theses", 12)
    assert answer(capsys, "library", "show", "theses")["outcomes"] == {"stored": 12}
    found = answer(capsys, "check", WORK, "--library", "theses")
    assert found["libraries"] == ["theses"]
    assert {source["library"] for source in found["sources"]} == {"theses"}
    assert found["share"] > 0.5


def test_tables(theses: str, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, expected in (
        (["library", "list"], "theses   12"),
        (["library", "show", "theses"], "records stored"),
        (["library", "documents", "theses", "--limit", "2"], "water-towers"),
        (["library", "statistics", "theses", "--top", "1"], "12 documents with words"),
        (["library", "duplicates", "theses"], "keep snow-reprint"),
        (["library", "verify"], "All is well"),
        (["check", WORK, "--leave-out", "quotations", "--leave-out", "common"], "not counted: quotations"),
    ):
        assert run(arguments) == 0
        assert expected in capsys.readouterr().out


def test_adding_again_and_broken_records(
    theses: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(capsys, "library", "add", "theses", LIBRARY)["unchanged"] == 12
    (tmp_path / "more.jsonl").write_text(
        '{"id": "x", "text": "some new words"}\nnot json\n{"id": "e", "text": ""}\n'
    )
    found = answer(capsys, "library", "add", "theses", "more.jsonl", "--strict", code=3)
    assert found["stored"] == 1
    assert {outcome["state"] for outcome in found["outcomes"]} == {"invalid", "empty"}
    assert run(["library", "add", "other", "more.jsonl", "--create", "-q"]) == 0
    assert run(["library", "add", "theses", "more.jsonl", "-q", "--again", "--strict"]) == 3


def test_titles_and_addresses_survive_export(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = {"id": "1", "text": "a few words", "title": "On words", "address": "http://example.org/1"}
    broken = "not json"
    (tmp_path / "in.jsonl").write_text(
        f"{json.dumps(record)}\n{broken}\n{json.dumps({'id': '2', 'text': 'more'})}\n"
    )
    assert run(["library", "add", "x", "in.jsonl", "--create", "-q", "--strict"]) == 3
    assert run(["library", "export", "x", "--out", "out.jsonl", "-q"]) == 0
    first, second = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert {name: first[name] for name in record} == record
    assert "title" not in second
    assert run(["library", "add", "y", "out.jsonl", "--create", "-q"]) == 0
    capsys.readouterr()
    found = answer(capsys, "library", "documents", "y")["documents"]
    assert [(d["title"], d["address"]) for d in found] == [("On words", "http://example.org/1"), ("", "")]


def test_removing_and_exporting(
    theses: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["library", "remove", "theses", "--document", "snow", "-q"]) == 0
    assert run(["library", "remove", "theses", "--document", "snow", "-q"]) == 4
    assert run(["library", "export", "theses", "--out", "all.jsonl.gz", "-q"]) == 0
    assert run(["library", "remove", "theses", "--all"]) == 2  # nobody there to ask
    assert run(["library", "remove", "theses", "--all", "--yes", "-q"]) == 0
    assert answer(capsys, "library", "list")["libraries"] == []
    assert run(["library", "add", "theses", "all.jsonl.gz", "--create", "-q"]) == 0
    capsys.readouterr()
    assert answer(capsys, "library", "show", "theses")["documents"] == 11


def test_several_texts_and_a_limit(
    theses: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / "a.txt").write_text(pathlib.Path(WORK).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "b.txt").write_text("nothing of this stands anywhere else in the world", encoding="utf-8")
    found = answer(capsys, "check", str(folder), "--library", "theses", "--fail-above", "30%", "-q", code=1)
    assert [check["name"] for check in found["checks"]] == ["a.txt", "b.txt"]
    assert found["checks"][1]["sources"] == []


def test_standard_input(
    theses: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = pathlib.Path(WORK).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert answer(capsys, "check", "-", "--library", "theses")["share"] > 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["library", "add", "thesis", LIBRARY], "did you mean 'theses'"),
        (["library", "create", "theses"], "already"),
        (["library", "lst"], "did you mean 'list'"),
        (["library", "remove", "theses"], "say what to remove"),
        (["check", WORK, "--library", "theses", "--leave-out", "quotes"], "did you mean 'quotations'"),
        (["check", WORK, "--against", LIBRARY, "--library", "theses"], "leave out --against"),
        (["check", WORK, "--library", "theses", "--method", "minihash"], "did you mean 'minhash'"),
        (["library", "list", "--database", "mysql://x/y"], "not a database that Doublet knows"),
    ],
)
def test_wrong_usage(
    theses: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert message in capsys.readouterr().err


def test_nothing_to_check_against(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", WORK]) == 2
    assert "doublet library create" in capsys.readouterr().err


def test_other_commands_do_not_load_django() -> None:
    code = (
        "import sys; from doublet.cli import run; "
        f"run(['check', {WORK!r}, '--against', {LIBRARY!r}, '-q']); assert 'django' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=EXAMPLES.parent
    )
    assert done.returncode == 0, done.stderr


def test_from_python(tmp_path: pathlib.Path) -> None:
    with doublet.open_library(tmp_path / "theses.db") as library:
        assert library.name == "theses"
        assert library.add(pathlib.Path(LIBRARY)).stored == 12
        assert (
            library.add([("mine", "some words of mine"), {"id": 5, "text": "five words in a row"}]).stored
            == 2
        )
        assert len(library) == 14
        assert "mine" in library
        assert library.text("mine") == "some words of mine"
        assert library.text("nothing") is None
        check = library.check(pathlib.Path(WORK), leave_out=["quotations"])
        assert check.share > 0.5
        assert check.name == "work.txt"
        first = check.fragments[0]
        assert first.source.library == "theses"
        text = pathlib.Path(WORK).read_text(encoding="utf-8")
        assert 0 <= first.span.start < first.span.end <= len(text)
        assert library.check("some words of mine").sources[0].id == "mine"
        with pytest.raises(InputNotFound):
            library.check(pathlib.Path("no-such-file.txt"))
        assert library.remove("mine") == ["mine"]
        assert library.duplicates().groups
        assert library.statistics().documents == 13
        assert library.verify() == []
    with doublet.open_library(tmp_path / "theses.db", "second") as library:
        assert len(library) == 0
    with pytest.raises(UsageError, match="several libraries"):
        doublet.open_library(tmp_path / "theses.db")
    with pytest.raises(UnknownLibrary):
        doublet.open_library(tmp_path / "theses.db", "third", create=False)


def test_sources_are_shown_and_forgotten(theses: str, capsys: pytest.CaptureFixture[str]) -> None:
    (source,) = answer(capsys, "library", "show", "theses")["sources"]
    assert (source["kind"], source["address"], source["documents"]) == ("file", LIBRARY, 12)
    assert run(["library", "show", "theses"]) == 0
    assert LIBRARY in capsys.readouterr().out
    assert answer(capsys, "library", "update")["sources"][0]["counts"] == {"unchanged": 12}
    assert run(["library", "update", "theses", "--source", "99"]) == 2
    assert run(["library", "remove", "theses", "--source", "99"]) == 2
    assert run(["library", "remove", "theses", "--source", str(source["number"]), "-q"]) == 0
    shown = answer(capsys, "library", "show", "theses")
    assert (shown["sources"], shown["documents"]) == ([], 12)
    assert run(["library", "update", "theses"]) == 2


def test_several_sources_and_one_that_is_not_there(
    theses: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "more.txt").write_text("one more text of at least ten words, so that it is kept as well")
    found = answer(capsys, "library", "add", "theses", "more.txt", "nothing.txt", LIBRARY, code=3)
    assert found["counts"] == {"stored": 1, "unchanged": 12}
    assert found["errors"][0]["address"] == "nothing.txt"
    assert run(["library", "add", "theses", "nothing.txt", "-q"]) == 4


@pytest.mark.covers("L6")
def test_outcomes_in_the_table(
    theses: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "works"
    folder.mkdir()
    (folder / "a.txt").write_text("a text of at least ten words that has not been seen before here")
    (folder / "b.txt").write_text("too short")
    (folder / "c.pdf").write_text("%PDF-1.7 and no more")
    capsys.readouterr()
    assert run(["library", "add", "theses", "works"]) == 0
    printed = capsys.readouterr()
    assert printed.out.split() == "stored 1 too short 1 broken 1 theses has 13 documents now".split()
    assert "--min-words 3 --again" in printed.err
    assert "c.pdf" in printed.err
    assert run(["library", "add", "theses", "works", "--min-words", "2", "--again", "-q"]) == 0
    assert "stored" in capsys.readouterr().out
    assert run(["library", "add", "empty", "works", "--create", "--min-words", "100", "--strict", "-q"]) == 4
