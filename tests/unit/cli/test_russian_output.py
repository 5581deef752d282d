"""Every command that prints a result, run in Russian: no English sentence is left in what it says."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from doublet.cli import language, run
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
    "compare one.txt pile.jsonl",
    "dedupe pile.jsonl",
    "dedupe pile.jsonl --dry-run",
    "repeats book.md",
    "repeats book.md --format sarif",
    "text one.txt",
    "text book.md --places",
    "text hidden.html",
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
    for name in ("picture.png", "picture.jsonl"):
        (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n")
    hidden = f"<html><body><p>{SNOW * 3}</p><p hidden>{JAM}</p></body></html>"
    (tmp_path / "hidden.html").write_text(hidden, encoding="utf-8")
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


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("worker --processes 0", "--processes: нужно целое число от 1"),
        ("worker --lease abc", "--lease: нужно число от 0.5"),
        ("serve --port 65536", "--port: нужно целое число от 0 до 65535"),
        ("compare one.txt two.txt three.txt", "лишнее: three.txt"),
        ("check one.txt --library", "для --library нужно значение"),
        ("check one.txt --quiet=5", "--quiet не принимает значения"),
        ("check one.txt --against pile.jsonl --min-share abc", "--min-share равно «abc»: нужна доля"),
        ("text picture.png", "picture.png: это изображение PNG"),
        ("dedupe picture.jsonl", "picture.jsonl — изображение PNG: документы читаются из"),
        ("library restore nowhere.zip", "нет такого файла: nowhere.zip"),
    ],
)
def test_a_wrong_call_is_told_in_russian(
    command: str, said: str, folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--language", "ru", *command.split()]) in (2, 4)
    told = capsys.readouterr().err
    assert said in told
    assert not SENTENCE.findall(told)


def test_the_pattern_sees_english() -> None:
    assert SENTENCE.findall("из 24 пар, judged by a threshold chosen on others")
    assert not SENTENCE.findall("одно из none, stem, lemma --shingle-words 4 /tmp/a b")
