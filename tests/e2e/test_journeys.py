"""A teacher, a librarian and a corpus builder at work, from an empty home to the result, with real documents.

Each is one story told through the command line in a clean environment: a new home, no settings, no database. The
documents are those of the package (samples) and of this documentation, as files of several formats.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from doublet.samples import LIBRARY, WORK

ROOT = Path(__file__).resolve().parents[2]
Doublet = Callable[..., str]


@pytest.fixture
def doublet(tmp_path: Path) -> Doublet:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "LANG": "C.UTF-8",
        "TMPDIR": str(tmp_path),
    }
    (tmp_path / "home").mkdir()

    def call(*arguments: object, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "doublet", *map(str, arguments)],
            cwd=tmp_path,
            env=environment,
            check=False,
            capture_output=True,
            timeout=300,
        )
        assert done.returncode == code, (arguments, done.stdout.decode(), done.stderr.decode())
        return done.stdout.decode()

    return call


def answer(doublet: Doublet, *arguments: object, code: int = 0) -> Any:
    return json.loads(doublet(*arguments, "--format", "json", code=code))


@pytest.mark.covers("K8", "R1", "L4")
def test_the_teacher(doublet: Doublet, tmp_path: Path) -> None:
    """A class of works, as a learning system exports them, against a library and among themselves."""
    work = WORK.read_text(encoding="utf-8")
    own = (ROOT / "docs" / "explanation" / "scale.md").read_text(encoding="utf-8")
    folder = tmp_path / "works"
    folder.mkdir()
    if shutil.which("pandoc") is None:
        pytest.skip("pandoc is not installed: `make system` installs it")
    subprocess.run(
        ["pandoc", "-f", "markdown", "-o", str(folder / "petrova.docx"), "--metadata", "title=Вода в городе"],
        input=work.encode(),
        check=True,
    )
    (folder / "honest.md").write_text(own, encoding="utf-8")
    (folder / "Thumbs.db").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(512))
    (folder / "~$petrova.docx").write_bytes(b"\x0cuser" + bytes(157))
    with zipfile.ZipFile(folder / "moodle.zip", "w") as archive:
        archive.writestr(
            "Anna Sidorova_101_assignsubmission_file_/essay.txt", own[: len(own) // 2] + work[-700:]
        )

    doublet("library", "add", "sources", LIBRARY, "--create", "-q")
    doublet(
        "check",
        "works",
        "--library",
        "sources",
        "--among",
        "--out",
        "reports",
        "--language",
        "ru",
        "-q",
        code=3,
    )
    index = json.loads((tmp_path / "reports" / "index.json").read_text(encoding="utf-8"))
    rows = {row["work"]: row for row in index["works"]}
    assert {Path(name).name for name, row in rows.items() if row["state"] != "done"} == {
        "Thumbs.db",
        "~$petrova.docx",
    }
    petrova = rows["petrova.docx"]
    assert petrova["share"] > 0.5
    (anna,) = (row for row in rows.values() if row["author"] == "Anna Sidorova")
    pairs = index["among"]["pairs"]
    assert any({pair["a"], pair["b"]} == {anna["work"], "honest.md"} for pair in pairs), pairs
    with (tmp_path / "reports" / "index.csv").open(encoding="utf-8-sig", newline="") as stream:
        assert len(list(csv.reader(stream))) == 1 + len(rows)
    page = (tmp_path / "reports" / petrova["report"]).read_text(encoding="utf-8")
    for expected in ("Вода в городе", "petrova.docx", "Оригинальность", "Заимствования", "Цитирования"):
        assert expected in page
    # One work again, with a limit, as a page whose name decides the format.
    doublet(
        *(
            "check",
            "works/petrova.docx",
            "--library",
            "sources",
            "--fail-above",
            "30%",
            "--author",
            "Петрова",
        ),
        *("--out", "petrova.html", "-q"),
        code=1,
    )
    assert "30% (exceeded)" in (tmp_path / "petrova.html").read_text(encoding="utf-8")


@pytest.mark.covers("L6", "L7", "L8")
def test_the_librarian(doublet: Doublet, tmp_path: Path) -> None:
    """A shelf of documentation: fill, look, count, clean, rename, back up, restore elsewhere."""
    shelf = tmp_path / "manuals"
    shutil.copytree(ROOT / "docs" / "how-to", shelf / "how-to")
    shutil.copytree(ROOT / "docs" / "how-to", shelf / "old", ignore=shutil.ignore_patterns("[d-z]*"))
    pages = sorted(path.relative_to(shelf).as_posix() for path in shelf.rglob("*.md"))
    added = answer(doublet, "library", "add", "manuals", "manuals", "--create", "-q")
    assert added["documents"] == added["counts"]["stored"] == len(pages)
    doublet("library", "add", "samples", LIBRARY, "--create", "-q")

    folders = answer(doublet, "library", "statistics", "manuals", "--by", "folder")
    assert sum(part["documents"] for part in folders["parts"]) == len(pages)
    assert {part["name"] for part in folders["parts"]} == {"how-to/", "old/"}
    languages = answer(doublet, "library", "statistics", "samples", "--by", "language")["parts"]
    assert {part["name"] for part in languages} == {"ru", "en"}
    (found,) = answer(doublet, "library", "documents", "manuals", "--like", "how-to/check-theses*")[
        "documents"
    ]
    assert "theses" in doublet("library", "document", "manuals", found["id"], "--text")

    doublet("library", "duplicates", "manuals", "--groups", "review.html", "-q")
    assert "old/" in (tmp_path / "review.html").read_text(encoding="utf-8")
    duplicates = answer(doublet, "library", "duplicates", "manuals", "--groups", "duplicates.csv", "-q")
    classes = ("kept", "removed", "left_out")
    assert duplicates["documents"] == sum(duplicates[name] for name in classes) == len(pages)
    assert duplicates["removed"] >= len([name for name in pages if name.startswith("old/")])
    gone = answer(doublet, "library", "remove", "manuals", "--duplicates", "duplicates.csv", "--yes")[
        "removed"
    ]
    assert len(gone) == duplicates["removed"]
    between = answer(doublet, "library", "duplicates", "--between", "-q")
    assert between["documents"] == sum(between.get(name, 0) for name in (*classes, "not_listed"))

    doublet("library", "rename", "manuals", "documentation", "-q")
    doublet("library", "backup", "libraries.zip", "-q")
    doublet("library", "restore", "libraries.zip", "documentation", "--database", "other.db", "-q")
    there = answer(doublet, "library", "show", "documentation", "--database", "other.db")
    assert there["documents"] == len(pages) - len(gone)
    (shelf / "how-to" / "new.md").write_text("# New\n\n" + "A new page about something else entirely. " * 20)
    updated = answer(doublet, "library", "update", "documentation", "--database", "other.db", "-q")
    assert updated["sources"][0]["counts"]["stored"] == 1
    doublet("library", "verify", "--database", "other.db")


@pytest.mark.covers("C3", "K7")
def test_the_corpus_builder(doublet: Doublet, tmp_path: Path) -> None:
    """A corpus of mixed records: a wrong field, an estimate, the cleaned corpus, in place, and from Python."""
    records = [json.loads(line) for line in LIBRARY.read_text(encoding="utf-8").splitlines()]
    rows = [{"url": number, "body": one["text"]} for number, one in enumerate(records)]
    rows += [{"url": 100 + number, "body": one["text"] + " Да."} for number, one in enumerate(records[:5])]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    doublet("dedupe", "corpus.jsonl", code=2)  # no record has an id
    fields = ("--id-field", "url", "--text-field", "body")
    assert answer(doublet, "dedupe", "corpus.jsonl", *fields, "--dry-run")["documents"] == len(rows)
    result = answer(doublet, "dedupe", "corpus.jsonl", *fields, "--kept", "clean.jsonl", "-q")
    assert result["documents"] == result["kept"] + result["removed"] == len(rows)
    assert result["removed"] >= 5
    clean = (tmp_path / "clean.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(clean) == result["kept"]
    doublet("dedupe", "corpus.jsonl", *fields, "--kept", "corpus.jsonl", "-q", code=2)
    doublet("dedupe", "corpus.jsonl", *fields, "--kept", "corpus.jsonl", "--in-place", "-q")
    assert corpus.read_text(encoding="utf-8").splitlines() == clean
    script = (
        "import doublet, pandas; frame = pandas.read_json('clean.jsonl', lines=True)\n"
        "found = doublet.dedupe(frame, id_field='url', text_field='body')\n"
        "assert found.removed == 0, found\nassert set(found.kept) == set(frame.url), found.kept\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)
