"""Every command that prints a result, run in Russian: no English sentence is left in what it says."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from doublet.cli import language
from doublet.cli.root import root
from doublet.signatures import methods

SNOW = "Снег в городе занимает место, и его вывозят ночью на полигоны, пока дороги пустые. "
JAM = "Варенье из слив варят на медленном огне, пока капля не перестанет растекаться по блюдцу. "
#: three words of Latin letters in a row, or one that only an English sentence has
SENTENCE = re.compile(
    r"(?<![\w/.:=`-])(?:[A-Za-z][a-z]+(?: [a-z]{2,}){2,}|the|The|of|and|is|are|has|was|made|wrote|found|from|with|now|"
    r"documents?|libraries|words|pages|pairs)(?![\w/=`-])"
)
COMMANDS = (
    "info",
    "config show",
    "curve",
    "curve minhash",
    "curve --format svg",
    "methods",
    *(f"methods {info.name}" for info in methods()),
    "advise pairs.jsonl --methods shingles,tf",
    "compare one.txt two.txt",
    "check one.txt --against pile.jsonl",
    "dedupe pile.jsonl",
    "repeats book.md",
    "repeats book.md --format sarif",
    "text one.txt",
    "library create shelf",
    "library add shelf pile.jsonl",
    "library add shelf pile.jsonl",
    "library list",
    "library show shelf",
    "library documents shelf",
    "library statistics shelf",
    "library duplicates shelf",
    "library update shelf",
    "library verify shelf",
    "check one.txt --library shelf",
    "queue list",
    "evaluate --list-changes",
    "evaluate --methods tf --changes spaces --bases 2 --no-curves --quick",
    "evaluate pile.jsonl --compare shingles tf",
    "library remove shelf --document c --yes",
)


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOUBLET_DATABASE", str(tmp_path / "shelf.db"))
    monkeypatch.setenv("COLUMNS", "200")
    texts = {"one": SNOW * 3, "two": SNOW * 2 + JAM}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    rows = [
        {"id": "a", "text": SNOW * 3},
        {"id": "b", "text": SNOW * 3 + "Ночью."},
        {"id": "c", "text": JAM * 2},
    ]
    (tmp_path / "pile.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "book.md").write_text(f"# Снег\n\n{SNOW}\n\n## Варенье\n\n{JAM}\n\n{SNOW}\n\n{JAM}\n")
    pairs = []
    for n in range(20):
        left = " ".join(f"слово{n}и{i}" for i in range(30))
        right = left + " конец" if n % 2 else " ".join(f"другое{n}и{i}" for i in range(30))
        pairs.append({"text_a": left, "text_b": right, "label": "duplicate" if n % 2 else "not"})
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pairs))
    language.use("ru")
    yield tmp_path
    language.use("en")


def test_no_command_says_an_english_sentence(folder: pathlib.Path) -> None:
    found = {}
    for command in COMMANDS:
        done = CliRunner().invoke(root, command.split())
        assert done.exit_code in (0, 1), (command, done.output, done.exception)
        said = SENTENCE.findall(done.output)
        if said:
            found[command] = said
    assert not found


def test_the_pattern_sees_english() -> None:
    assert SENTENCE.findall("из 24 пар, judged by a threshold chosen on others")
    assert not SENTENCE.findall("одно из none, stem, lemma --shingle-words 4 /tmp/a b")
