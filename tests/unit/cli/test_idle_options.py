"""An option that would decide nothing is refused in words, and no name of a parameter is a fault of the program."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from doublet.cli import run
from doublet.errors import InvalidParameter
from doublet.jobs.compare import compare
from doublet.jobs.dedupe import dedupe

TEXT = "The boats were locked in the ice until March, and nobody in the village minded it much."
DOCUMENTS = [("a", TEXT), ("b", TEXT)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = ({"id": name, "text": TEXT} for name in "ab")
    Path("c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in ("a.txt", "b.txt"):
        Path(name).write_text(TEXT)
    return tmp_path


def call(arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = run(arguments.split())
    told = capsys.readouterr()
    return code, told.out, told.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("dedupe c.jsonl --method minhash --thesaurus auto", "for auto, meaning"),
        ("compare a.txt b.txt --method minhash --thesaurus auto", "for auto, meaning"),
        ("dedupe c.jsonl --method minhash --reworded all", "reworded is for the method 'auto'"),
        ("dedupe c.jsonl --method tf --shingle-words 3", "it is for auto, megashingles,"),
        ("compare a.txt b.txt --method tf --threshold 0.7", "no parameter 'threshold'"),
        ("dedupe c.jsonl --thesaurus auto --reworded off", "thesaurus is for reworded copies"),
        ("dedupe c.jsonl -p kept=0.3 --reworded off", "kept is for reworded copies"),
        ("dedupe c.jsonl --time-field at", "--time-field is for --keep newest"),
        ("dedupe c.jsonl --source-field site", "--source-field is for --keep best-source"),
        ("dedupe c.jsonl --prefer site", "--prefer is for --keep best-source"),
        ("compare a.txt b.txt --alike 0.7", "--alike is for --model"),
        ("dedupe c.jsonl -p workers=2", "no parameter 'workers'"),
        ("dedupe c.jsonl -p progress=2", "no parameter 'progress'"),
        ("dedupe c.jsonl -p source=x", "no parameter 'source'"),
        ("dedupe c.jsonl -p seed_words=5", "no parameter 'seed_words'"),
        ("compare a.txt b.txt -p text_a=x", "no parameter 'text_a'"),
        ("compare a.txt b.txt -p embedder=x", "no parameter 'embedder'"),
        ("compare a.txt b.txt -p seed_words=x", "seed_words is 'x'"),
        ("dedupe c.jsonl -p threshold=x", "share such as"),
        ("dedupe c.jsonl --threshold 0.5 -p threshold=0.7", "give one of them"),
        ("dedupe c.jsonl --shingle-words 5 -p shingle_words=6", "shingle_words is 5, and --parameter"),
        ("dedupe c.jsonl --thesaurus auto -p thesaurus=none", "thesaurus is auto, and --parameter"),
        ("dedupe c.jsonl -p shingle_words=5 -p shingle-words=6", "give one of them"),
        ("dedupe c.jsonl --pairs", "--pairs is written to JSON alone"),
        ("dedupe c.jsonl --pairs --format csv --groups g.csv", "add --format json, or --groups FILE.json"),
        ("dedupe c.jsonl --views strict --format jsonl", "--views is written to JSON alone"),
    ],
)
def test_refused(folder: Path, capsys: pytest.CaptureFixture[str], arguments: str, words: str) -> None:
    code, out, err = call(arguments, capsys)
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        ("dedupe c.jsonl -p threshold=70%", "threshold", 0.7),
        ("dedupe c.jsonl -p containment=off", "containment", None),
        ("dedupe c.jsonl --method tf -p threshold=0.7", "threshold", 0.7),
        ("compare a.txt b.txt -p threshold=0.7", "threshold", 0.7),
        ("compare a.txt b.txt -p containment=0.7", "containment", 0.7),
        ("compare a.txt b.txt --method longsent -p min_words=3", "min_words", 3),
        ("dedupe c.jsonl --reworded off", "threshold", 0.5),
        ("dedupe c.jsonl --shingle-words 5 -p shingle_words=5", "shingle_words", 5),
        ("dedupe c.jsonl --method tf --reworded off", "words", 6),
    ],
)
def test_taken(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: str, name: str, value: object
) -> None:
    code, out, _ = call(f"{arguments} --format json", capsys)
    assert code == 0
    assert json.loads(out)["parameters"][name] == value


def test_parameters_of_fragments(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("b.txt").write_text(
        "Quite another text, in which the boats were locked in the ice until April. " * 5
    )
    found = "compare a.txt b.txt --format json --method tf"
    assert json.loads(call(found, capsys)[1])["fragments"]
    assert json.loads(call(f"{found} -p seed_words=20", capsys)[1])["fragments"] == []


def test_a_setting_of_the_file_is_for_methods_that_have_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("doublet.toml").write_text('thesaurus = "no-such-file"\n')
    assert call("dedupe c.jsonl --method minhash", capsys)[0] == 0
    assert call("dedupe c.jsonl --reworded off", capsys)[0] == 0
    assert "no-such-file" in call("dedupe c.jsonl", capsys)[2]


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"method": "minhash", "thesaurus": "auto"}, "thesaurus"),
        ({"method": "minhash", "reworded": "list"}, "reworded"),
        ({"method": "simhash", "candidates": "sketches"}, "candidates"),
        ({"reworded": "off", "together": 0.3}, "together"),
        ({"prefer": ("site",)}, "prefer"),
    ],
)
def test_from_python(options: dict[str, object], name: str) -> None:
    with pytest.raises(InvalidParameter) as told:
        dedupe(DOCUMENTS, **options)
    assert told.value.details["name"] == name


def test_compare_from_python() -> None:
    with pytest.raises(InvalidParameter, match="auto, meaning"):
        compare(TEXT, TEXT, method="minhash", thesaurus="auto")


def test_pairs_and_views_in_the_whole_result(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("dedupe c.jsonl --pairs --views strict --groups g.json.gz", capsys)[0] == 0
    assert json.loads(gzip.decompress(Path("g.json.gz").read_bytes()))["strict"] == [["a", "b"]]
    assert call("dedupe c.jsonl --pairs --dry-run", capsys)[0] == 0
