"""The real command in a process of its own: what people do with it, and everything they may do wrong."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

WORDS = [
    f"{stem}{end}" for stem in ("рек", "берег", "лодк", "луг", "город", "улиц") for end in ("а", "у", "ой")
]
ENV = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith("DOUBLET_") or name == "DOUBLET_KERNELS"
}


def doublet(
    *arguments: object,
    stdin: bytes | None = None,
    cwd: pathlib.Path | None = None,
    code: int | None = 0,
    **options: Any,
) -> subprocess.CompletedProcess[bytes]:
    """Run the command; by default it must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "doublet", *map(str, arguments)],
        check=False,
        input=stdin if stdin is not None else b"",
        capture_output=True,
        cwd=cwd,
        env={**ENV, **options.pop("env", {})},
        timeout=120,
        **options,
    )
    if code is not None:
        assert done.returncode == code, done.stderr.decode() + done.stdout.decode()[-2000:]
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done


def text(seed: int, words: int = 60) -> str:
    chosen = random.Random(seed)
    return " ".join(chosen.choice(WORDS) + str(chosen.randrange(40)) for _ in range(words))


def near(seed: int, changed: int = 2) -> str:
    """The text of *seed* with a few words changed."""
    words = text(seed).split()
    for place in random.Random(-seed).sample(range(len(words)), changed):
        words[place] = f"другое{seed}"
    return " ".join(words)


RECORDS = [
    *({"id": f"d{i}", "text": text(i)} for i in range(20)),
    {"id": "copy", "text": text(3)},
    {"id": "near", "text": near(5)},
    {"id": "part", "text": " ".join(text(7).split()[10:40])},
]


def jsonl(records: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


@pytest.fixture
def corpus(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(jsonl(RECORDS))
    return path


def members(result: dict[str, Any]) -> dict[str, str]:
    return {member["id"]: group["keep"] for group in result["groups"] for member in group["members"]}


# --- compare ---


@pytest.fixture
def pair(tmp_path: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_text(f"Начало совсем своё. {text(1)} И конец тоже свой.", encoding="utf-8")
    b.write_text(f"Источник. {text(1)} Дальше другое. {text(2)}", encoding="utf-8")
    return a, b


@pytest.mark.covers("K2")
def test_compare_as_json_has_everything(pair: tuple[pathlib.Path, pathlib.Path]) -> None:
    result = json.loads(doublet("compare", *pair, "--format", "json").stdout)
    a, b = (path.read_text(encoding="utf-8") for path in pair)
    assert 0 < result["resemblance"] < 1
    assert set(result["containment"]) == {"a_in_b", "b_in_a"}
    assert 0.8 < result["share"] < 1
    (fragment,) = result["fragments"]
    assert fragment["kind"] == "verbatim"
    assert a[slice(*fragment["a"])] == b[slice(*fragment["b"])] == text(1)
    assert fragment["score"] == 1.0
    assert result["disguise"]["a"]["alarm"] is False


def test_compare_in_a_pipe_has_no_colour_and_with_always_has(pair: tuple[pathlib.Path, pathlib.Path]) -> None:
    plain = doublet("compare", *pair).stdout.decode()
    assert "\x1b" not in plain
    assert "[1] word for word, 100% equal" in plain
    assert "\x1b[" in doublet("compare", *pair, "--colour", "always").stdout.decode()
    rows = list(csv.DictReader(io.StringIO(doublet("compare", *pair, "--format", "csv").stdout.decode())))
    assert len(rows) == 1
    lines = doublet("compare", *pair, "--format", "jsonl").stdout.splitlines()
    assert json.loads(lines[0])["kind"] == "verbatim"


@pytest.mark.covers("K2")
def test_fail_above_is_exit_1_only_above(pair: tuple[pathlib.Path, pathlib.Path]) -> None:
    share = json.loads(doublet("compare", *pair, "--format", "json").stdout)["share"]
    doublet("compare", *pair, "--fail-above", share, code=0)
    over = doublet("compare", *pair, "--fail-above", "30%", code=1)
    assert "more than 30%" in over.stderr.decode()


def test_compare_standard_input(pair: tuple[pathlib.Path, pathlib.Path]) -> None:
    from_file = doublet("compare", *pair, "--format", "json").stdout
    assert (
        doublet("compare", pair[0], "-", "--format", "json", stdin=pair[1].read_bytes()).stdout == from_file
    )


@pytest.mark.covers("T5")
def test_compare_reports_disguise(tmp_path: pathlib.Path) -> None:
    original = "Ранним утром старый рыбак вышел к реке и увидел на другом берегу странный огонь. " * 3
    (tmp_path / "a.txt").write_text(original.translate(str.maketrans("аеорсух", "aeopcyx")), encoding="utf-8")
    (tmp_path / "b.txt").write_text(original, encoding="utf-8")
    result = json.loads(doublet("compare", tmp_path / "a.txt", tmp_path / "b.txt", "--format", "json").stdout)
    assert result["resemblance"] == 1.0
    assert result["disguise"]["a"]["alarm"] is True
    assert result["disguise"]["b"]["alarm"] is False
    shown = doublet("compare", tmp_path / "a.txt", tmp_path / "b.txt").stdout.decode()
    assert "A looks disguised on purpose" in shown


def test_compare_two_empty_files_are_not_duplicates(tmp_path: pathlib.Path) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(b"")
    result = json.loads(doublet("compare", tmp_path / "a", tmp_path / "b", "--format", "json").stdout)
    assert (result["resemblance"], result["similar"], result["share"]) == (0.0, False, 0.0)


@pytest.mark.parametrize("encoding", ["windows-1251", "koi8-r", "cp866", "utf-16"])
def test_compare_reads_other_encodings_and_says_so(
    pair: tuple[pathlib.Path, pathlib.Path], encoding: str
) -> None:
    wanted = doublet("compare", *pair, "--format", "json").stdout
    pair[0].write_bytes(pair[0].read_text(encoding="utf-8").encode(encoding))
    done = doublet("compare", *pair, "--format", "json")
    assert done.stdout == wanted
    assert encoding in done.stderr.decode()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("paper.pdf", b"%PDF-1.7\n\x00\x01", "PDF"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\x00\x00", "PNG"),
        ("noise.txt", bytes(range(256)) * 10, "binary"),
        ("cut.txt.gz", gzip.compress(os.urandom(5000).hex().encode())[:3000], "cut off"),
    ],
)
def test_compare_of_what_is_no_text(tmp_path: pathlib.Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "b.txt").write_text("words")
    done = doublet("compare", tmp_path / name, tmp_path / "b.txt", code=4)
    assert name in done.stderr.decode()
    assert message in done.stderr.decode()
    assert done.stdout == b""


def test_compare_of_a_missing_file_and_of_a_folder(tmp_path: pathlib.Path) -> None:
    (tmp_path / "essay.txt").write_text("words")
    done = doublet("compare", "esay.txt", "essay.txt", cwd=tmp_path, code=4)
    assert "did you mean 'essay.txt'" in done.stderr.decode()
    assert "is a folder" in doublet("compare", tmp_path, "essay.txt", cwd=tmp_path, code=4).stderr.decode()


# --- dedupe ---


@pytest.mark.covers("K7", "C3")
def test_dedupe_finds_copies_near_copies_and_parts(corpus: pathlib.Path, tmp_path: pathlib.Path) -> None:
    groups, kept = tmp_path / "groups.jsonl", tmp_path / "kept.jsonl"
    done = doublet("dedupe", corpus, "--format", "json", "--groups", groups, "--kept", kept)
    result = json.loads(done.stdout)
    found = members(result)
    assert set(found) in (
        {"copy", "near", "part"},
        {"d3", "near", "part"},
        {"copy", "d5", "part"},
        {"d3", "d5", "part"},
    )
    part = next(m for group in result["groups"] for m in group["members"] if m["id"] == "part")
    assert part["contained_in"] == "d7"
    assert part["containment"] > 0.9
    assert [json.loads(line) for line in groups.read_bytes().splitlines()] == result["groups"]
    assert {json.loads(line)["id"] for line in kept.read_bytes().splitlines()} == {
        record["id"] for record in RECORDS
    } - set(found)
    assert result["documents"] == len(RECORDS)
    assert result["kept"] == len(RECORDS) - 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.jsonl", "groups.jsonl", "kept.jsonl"]


@pytest.mark.covers("K7")
def test_output_does_not_depend_on_workers_or_order(tmp_path: pathlib.Path) -> None:
    records = [
        {"id": f"{kind}{i}", "text": near(i, changed)}
        for i in range(120)
        for kind, changed in (("a", 0), ("b", 2), ("c", 4))
    ]
    outputs = set()
    for number, workers in enumerate((1, 2, 4)):
        random.Random(number).shuffle(records)
        (tmp_path / "in.jsonl").write_bytes(jsonl(records))
        groups = tmp_path / f"groups{number}.json.gz"
        done = doublet(
            "dedupe", tmp_path / "in.jsonl", "--workers", workers, "--groups", groups, "--format", "json",
            "--pairs", "--views", "strict,families",
        )  # fmt: skip
        outputs.add((done.stdout, groups.read_bytes()))
    assert len(outputs) == 1
    assert len(json.loads(outputs.pop()[0])["groups"]) == 120


@pytest.mark.covers("T1")
@pytest.mark.parametrize("form", ["csv", "tsv", "json", "parquet", "jsonl.gz", "jsonl.zst", "folder"])
def test_every_kind_of_input_gives_the_same_groups(
    corpus: pathlib.Path, tmp_path: pathlib.Path, form: str
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq
    import zstandard

    path = tmp_path / f"other.{form}"
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(RECORDS), path)
    elif form == "folder":
        path.mkdir()
        for record in RECORDS:
            (path / record["id"]).write_text(record["text"], encoding="utf-8")
    elif form in ("csv", "tsv"):
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, ["text", "id"], delimiter="\t" if form == "tsv" else ",")
        writer.writeheader()
        writer.writerows(RECORDS)
        path.write_text(out.getvalue(), encoding="utf-8")
    else:
        packed = {
            "json": json.dumps(RECORDS).encode(),
            "jsonl.gz": gzip.compress(jsonl(RECORDS)),
            "jsonl.zst": zstandard.ZstdCompressor().compress(jsonl(RECORDS)),
        }
        path.write_bytes(packed[form])
    wanted = doublet("dedupe", corpus, "--format", "jsonl").stdout
    assert doublet("dedupe", path, "--format", "jsonl").stdout == wanted
    if form != "folder":
        assert doublet("dedupe", "-", "--format", "jsonl", stdin=path.read_bytes()).stdout == wanted


def test_dedupe_as_csv_and_table(corpus: pathlib.Path) -> None:
    rows = list(csv.DictReader(io.StringIO(doublet("dedupe", corpus, "--format", "csv").stdout.decode())))
    assert len(rows) == 3
    assert list(rows[0]) == ["group", "keep", "id", "resemblance", "containment", "contained_in"]
    shown = doublet("dedupe", corpus).stdout.decode()
    assert "23 documents: 20 kept, 3 removed in 3 groups" in shown
    assert "inside it" in shown


@pytest.mark.covers("K7")
@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--keep", "first"], "a"),
        (["--keep", "longest"], "b"),
        (["--keep", "newest", "--time-field", "at"], "c"),
        (["--keep", "best-source", "--source-field", "site", "--prefer", "good", "--prefer", "fair"], "d"),
    ],
)
def test_which_one_is_kept(tmp_path: pathlib.Path, options: list[str], kept: str) -> None:
    base = text(1)
    records = [
        {"id": "a", "text": base, "at": "2001", "site": "poor"},
        {"id": "b", "text": base + " ещё одно слово", "at": "2002", "site": "poor"},
        {"id": "c", "text": base, "at": "2009", "site": "fair"},
        {"id": "d", "text": base, "at": "2003", "site": "good"},
    ]
    (tmp_path / "x.jsonl").write_bytes(jsonl(records))
    done = doublet("dedupe", tmp_path / "x.jsonl", *options, "--containment", "off", "--format", "json")
    (group,) = json.loads(done.stdout)["groups"]
    assert group["keep"] == kept
    assert len(group["members"]) == 3


def test_keep_newest_without_a_field_for_the_time(corpus: pathlib.Path) -> None:
    assert "--time-field" in doublet("dedupe", corpus, "--keep", "newest", code=2).stderr.decode()


def test_containment_off_leaves_parts_alone(corpus: pathlib.Path) -> None:
    result = json.loads(doublet("dedupe", corpus, "--containment", "off", "--format", "json").stdout)
    assert "part" not in members(result)


@pytest.mark.parametrize("method", ["minhash", "supershingles", "simhash", "tfidf", "imatch"])
def test_other_methods_find_the_copy(corpus: pathlib.Path, method: str) -> None:
    result = json.loads(doublet("dedupe", corpus, "--method", method, "--format", "json").stdout)
    assert {"copy", "d3"} & set(members(result))


def test_method_parameters_reach_the_method(corpus: pathlib.Path) -> None:
    options = ["--method", "minhash", "-p", "functions=64", "--shingle-words", 3, "--threshold", "70%"]
    result = json.loads(doublet("dedupe", corpus, *options, "--format", "json").stdout)
    assert result["parameters"]["functions"] == 64
    assert result["parameters"]["shingle_words"] == 3
    assert result["parameters"]["threshold"] == 0.7
    wrong = doublet("dedupe", corpus, "--method", "minhash", "-p", "function=64", code=2)
    assert "did you mean 'functions'" in wrong.stderr.decode()
    assert "shingle_words" in doublet("dedupe", corpus, "-p", "shingle_words=0", code=2).stderr.decode()


def test_settings_file_variables_and_flags(corpus: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "doublet.toml").write_text("shingle_words = 3\nthreshold = 0.6\n")
    result = json.loads(
        doublet(
            "dedupe",
            corpus,
            "--threshold",
            "0.7",
            "--format",
            "json",
            cwd=tmp_path,
            env={"DOUBLET_KEEP": "first"},
        ).stdout
    )
    assert result["parameters"]["shingle_words"] == 3
    assert result["parameters"]["threshold"] == 0.7
    assert result["parameters"]["keep"] == "first"
    (tmp_path / "doublet.toml").write_text("shingel_words = 3\n")
    wrong = doublet("dedupe", corpus, cwd=tmp_path, code=2)
    assert "did you mean 'shingle_words'" in wrong.stderr.decode()


def test_kept_to_standard_output(corpus: pathlib.Path) -> None:
    done = doublet("dedupe", "-", "--kept", "-", "--quiet", stdin=corpus.read_bytes())
    assert len(done.stdout.splitlines()) == 20
    assert set(done.stdout.splitlines()) <= set(corpus.read_bytes().splitlines())
    assert done.stderr == b""


def test_a_collection_can_be_cleaned_in_place_but_not_overwritten_with_groups(corpus: pathlib.Path) -> None:
    before = corpus.read_bytes()
    doublet("dedupe", corpus, "--groups", corpus, code=2)
    assert corpus.read_bytes() == before
    done = doublet("dedupe", corpus, "--kept", corpus, code=2)
    assert b"--in-place" in done.stderr
    doublet("dedupe", corpus, "--kept", corpus.with_name("k.jsonl"), "--in-place", code=2)
    assert corpus.read_bytes() == before
    doublet("dedupe", corpus, "--kept", corpus, "--in-place")
    assert len(corpus.read_bytes().splitlines()) == 20


def test_dry_run_only_estimates(corpus: pathlib.Path, tmp_path: pathlib.Path) -> None:
    done = doublet("dedupe", corpus, "--dry-run", "--format", "json", "--groups", tmp_path / "g.jsonl")
    known = json.loads(done.stdout)
    assert known["documents"] == len(RECORDS)
    assert known["input_bytes"] == corpus.stat().st_size
    assert known["memory_bytes"] > 0
    assert not (tmp_path / "g.jsonl").exists()
    assert "23 documents" in doublet("dedupe", corpus, "--dry-run").stdout.decode()


# --- bad input ---


def test_a_wrong_field_fails_at_once_with_a_suggestion(corpus: pathlib.Path) -> None:
    for quiet in ((), ("--quiet",)):
        done = doublet("dedupe", corpus, "--text-field", "texd", *quiet, code=2)
        assert done.stdout == b""
        assert b"did you mean text?" in done.stderr
        assert b"--text-field" in done.stderr
    assert b"--id-field" in doublet("dedupe", corpus, "--id-field", "idd", "--dry-run", code=2).stderr


def test_a_missing_file(tmp_path: pathlib.Path, corpus: pathlib.Path) -> None:
    done = doublet("dedupe", "corpus.jsnl", cwd=tmp_path, code=4)
    assert "did you mean 'corpus.jsonl'" in done.stderr.decode()


@pytest.mark.parametrize("name", ["empty.jsonl", "empty.csv", "empty"])
def test_an_empty_file_has_no_documents(tmp_path: pathlib.Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    done = doublet("dedupe", tmp_path / name, "--format", "json")
    assert json.loads(done.stdout)["documents"] == 0
    assert "is empty" in done.stderr.decode()
    assert done.stderr.decode().count("is empty") == 1


def test_an_empty_folder(tmp_path: pathlib.Path) -> None:
    done = doublet("dedupe", tmp_path, "--format", "json")
    assert json.loads(done.stdout)["documents"] == 0
    assert "no files" in done.stderr.decode()


@pytest.mark.parametrize(
    "content", [bytes(range(256)) * 4000, b"\x7fELF\x02\x01\x00" * 9999, b"%PDF-1.7\n\x00"]
)
def test_a_binary_file_is_one_clear_message(tmp_path: pathlib.Path, content: bytes) -> None:
    (tmp_path / "x.jsonl").write_bytes(content)
    done = doublet("dedupe", tmp_path / "x.jsonl", code=4)
    assert len(done.stderr.decode().splitlines()) == 1
    assert "JSON lines" in done.stderr.decode()


def test_bad_lines_are_rows_and_the_rest_goes_on(corpus: pathlib.Path) -> None:
    bad = [
        b'{"text": "no id"}',
        b'{"id": "x"}',
        b'{"id": "y", "text": 5}',
        b"{broken",
        b'{"id": "z", "text": "\xff"}',
    ]
    corpus.write_bytes(b"\n".join(bad) + b"\n" + corpus.read_bytes())
    done = doublet("dedupe", corpus, "--format", "json", code=3)
    result = json.loads(done.stdout)
    assert result["documents"] == len(RECORDS)
    assert len(result["groups"]) == 3
    places = sorted(outcome["place"] for outcome in result["outcomes"])
    assert places == [f"{corpus}:{i}" for i in range(1, 6)]
    assert {outcome["state"] for outcome in result["outcomes"]} == {"invalid"}
    assert "5 documents are not valid records" in done.stderr.decode()


def test_only_bad_lines_say_how_to_name_the_field(tmp_path: pathlib.Path) -> None:
    records = [{"url": str(i), "body": text(i)} for i in range(50)]
    (tmp_path / "x.jsonl").write_bytes(jsonl(records))
    done = doublet("dedupe", tmp_path / "x.jsonl", code=2)
    errors = done.stderr.decode()
    assert errors.count("name the right one with --id-field") == 1
    assert "The first record has url, body" in errors
    doublet("dedupe", tmp_path / "x.jsonl", "--id-field", "url", "--text-field", "body")


def test_a_file_in_windows_1251(tmp_path: pathlib.Path, corpus: pathlib.Path) -> None:
    wanted = doublet("dedupe", corpus, "--format", "jsonl").stdout
    corpus.write_bytes(corpus.read_text(encoding="utf-8").encode("windows-1251"))
    done = doublet("dedupe", corpus, "--format", "jsonl")
    assert done.stdout == wanted
    assert "windows-1251" in done.stderr.decode()


def test_a_very_long_line_does_not_stop_the_rest(tmp_path: pathlib.Path) -> None:
    """A line of 400 MB within 256 MB of memory: it is left out, named, and never held."""
    path = tmp_path / "x.jsonl"
    with path.open("wb") as file:
        file.write(jsonl(RECORDS[:3]) + b'{"id": "huge", "text": "')
        for _ in range(400):
            file.write(b"word " * 200_000)
        file.write(b'"}\n' + jsonl(RECORDS[3:]))
    # In a process of its own: the peak is that of all children that a process ever had.
    program = """
import json, resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "doublet", *sys.argv[1:]], capture_output=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
print(json.dumps([done.returncode, peak, done.stdout.decode()]))
"""
    command = [sys.executable, "-c", program, "dedupe", str(path), "--memory", "300MB", "--format", "json"]
    done = subprocess.run(command, check=True, capture_output=True, env=ENV, timeout=120)
    code, peak, printed = json.loads(done.stdout)
    assert code == 3
    result = json.loads(printed)
    assert result["documents"] == len(RECORDS)
    (outcome,) = result["outcomes"]
    assert (outcome["state"], outcome["id"], outcome["place"]) == ("too_large", "huge", f"{path}:4")
    assert peak < 300_000_000


def test_many_empty_documents_are_not_duplicates(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.jsonl"
    with path.open("wb") as file:
        for i in range(200_000):
            file.write(b'{"id": %d, "text": ""}\n' % i)
    done = doublet("dedupe", path, "--format", "json")
    result = json.loads(done.stdout)
    assert (result["documents"], result["kept"], result["groups"]) == (200_000, 200_000, [])
    assert "200,000 documents have no words" in done.stderr.decode()


def test_duplicate_ids_are_told(tmp_path: pathlib.Path) -> None:
    records = [
        {"id": "same", "text": text(1)},
        {"id": "same", "text": text(2)},
        {"id": "other", "text": text(3)},
    ]
    (tmp_path / "x.jsonl").write_bytes(jsonl(records))
    done = doublet(
        "dedupe", tmp_path / "x.jsonl", "--format", "json", "--kept", tmp_path / "kept.jsonl", code=3
    )
    result = json.loads(done.stdout)
    assert [outcome["state"] for outcome in result["outcomes"]] == ["duplicate_id"]
    kept = [json.loads(line)["id"] for line in (tmp_path / "kept.jsonl").read_bytes().splitlines()]
    assert sorted(kept) == ["other", "same"]


def test_a_cut_off_archive(tmp_path: pathlib.Path) -> None:
    packed = gzip.compress(jsonl([{"id": str(i), "text": os.urandom(50).hex()} for i in range(3000)]))
    (tmp_path / "x.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    done = doublet("dedupe", tmp_path / "x.jsonl.gz", "--format", "json", code=3)
    result = json.loads(done.stdout)
    assert result["documents"] > 500
    assert result["outcomes"][-1]["reason"]["values"]["why"]["code"] == "compressed_cut_off"


def test_one_bad_input_among_good_ones(tmp_path: pathlib.Path, corpus: pathlib.Path) -> None:
    (tmp_path / "bad.jsonl").write_bytes(b"\x00\x01\x02" * 1000)
    done = doublet("dedupe", tmp_path / "bad.jsonl", corpus, "--format", "json", code=3)
    result = json.loads(done.stdout)
    assert result["documents"] == len(RECORDS)
    assert result["outcomes"][0]["place"].endswith("bad.jsonl")


def test_ids_that_utf8_cannot_hold_survive(tmp_path: pathlib.Path) -> None:
    lines = [json.dumps({"id": f"\ud800{i}", "text": text(1)}) for i in range(2)]
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    for form in ("json", "jsonl", "csv", "table"):
        doublet("dedupe", tmp_path / "x.jsonl", "--format", form, "--groups", tmp_path / f"g-{form}.csv")
    result = json.loads(doublet("dedupe", tmp_path / "x.jsonl", "--format", "json").stdout)
    assert result["groups"][0]["keep"] == "\ud8000"


# --- the machine is against us ---


def test_too_little_memory_is_told(corpus: pathlib.Path) -> None:
    assert "give at least" in doublet("dedupe", corpus, "--memory", "10MB", code=2).stderr.decode()


def test_a_folder_that_is_not_there_is_told_before_the_work(
    corpus: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    done = doublet("dedupe", corpus, "--groups", tmp_path / "no" / "g.jsonl", code=4)
    assert "make the folder" in done.stderr.decode()
    done = doublet("dedupe", corpus, "--kept", tmp_path / "k.docx", code=2)
    assert ".jsonl" in done.stderr.decode()


@pytest.mark.parametrize("option", ["--groups", "--kept"])
def test_a_full_disk_leaves_nothing_behind(tmp_path: pathlib.Path, option: str) -> None:
    records = [{"id": f"{i}-{j}", "text": near(i, j)} for i in range(400) for j in range(3)]
    (tmp_path / "x.jsonl").write_bytes(jsonl(records))
    out = tmp_path / "out"
    out.mkdir()
    (out / "result.jsonl").write_text("old")

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    done = doublet(
        "dedupe", tmp_path / "x.jsonl", option, out / "result.jsonl", code=4, preexec_fn=small_disk
    )
    assert "no space left" in done.stderr.decode()
    assert [path.name for path in out.iterdir()] == ["result.jsonl"]
    assert (out / "result.jsonl").read_text() == "old"


def test_standard_output_full(corpus: pathlib.Path) -> None:
    with pathlib.Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "doublet", "dedupe", corpus, "--format", "json"],
            check=False, stdout=full, stderr=subprocess.PIPE, env=ENV, timeout=60,
        )  # fmt: skip
    assert done.returncode == 4
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_error(tmp_path: pathlib.Path) -> None:
    records = [{"id": f"{i}-{j}", "text": near(i, j)} for i in range(2000) for j in range(2)]
    (tmp_path / "x.jsonl").write_bytes(jsonl(records))
    command = f"{sys.executable} -m doublet dedupe {tmp_path / 'x.jsonl'} --format jsonl --quiet | head -1"
    done = subprocess.run(command, check=False, shell=True, capture_output=True, env=ENV, timeout=60)
    assert done.returncode == 0
    assert done.stderr == b""
    assert json.loads(done.stdout)["keep"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_stopping_is_exit_130_and_leaves_nothing_half_written(
    tmp_path: pathlib.Path, how: signal.Signals
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    out = tmp_path / "out"
    out.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "doublet", "dedupe", str(pipe), "--groups", str(out / "g.jsonl")],
        env=ENV,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with pipe.open("wb") as file:  # the command is now reading, and waits for more
        file.write(jsonl(RECORDS))
        file.flush()
        time.sleep(0.3)
        process.send_signal(how)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"stopped" in errors
    assert b"Traceback" not in errors
    assert list(out.iterdir()) == []


def wait_until_at_work(process: subprocess.Popen[bytes]) -> None:
    """Until the libraries that read the input have been loaded, and a little longer."""
    maps = pathlib.Path(f"/proc/{process.pid}/maps")
    for _ in range(600):
        if process.poll() is not None or "orjson" in maps.read_text():
            break
        time.sleep(0.05)
    time.sleep(0.2)


def test_stopping_in_the_middle_of_the_work(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.jsonl"
    line = b"".join(b'{"id": "%%d-%d", "text": "%s"}\n' % (i, text(i).encode()) for i in range(100))
    with path.open("wb") as file:
        for number in range(600):
            file.write(line.replace(b"%d-", b"%d-" % number))
    out = tmp_path / "out"
    out.mkdir()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "doublet",
            "dedupe",
            str(path),
            "--groups",
            str(out / "g.jsonl"),
            "--workers",
            "2",
        ],
        env={**ENV, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    wait_until_at_work(process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert b"Traceback" not in errors
    # A quick machine may have finished before, or be on its way out of Python, where nobody listens any more.
    assert process.returncode in (0, 130, -signal.SIGINT)
    if process.returncode == 130:
        assert list(out.iterdir()) == []
    assert [p.name for p in out.iterdir()] in ([], ["g.jsonl"])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "x.jsonl"]


def test_help_is_quick(tmp_path: pathlib.Path) -> None:
    """What makes it slow is not loaded. How long it takes is for benchmarks/compare.py: machines are noisy."""
    program = "import sys; from doublet.cli import run; run(['--help']); print(*sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=ENV, check=True
    )
    loaded = set(done.stderr.split())
    assert "doublet.cli.root" in loaded
    assert not loaded & {
        "numpy",
        "rich",
        "orjson",
        "django",
        "lxml",
        "doublet.signatures",
        "doublet.jobs.dedupe",
    }


def in_terminal(*arguments: object, **environment: str) -> str:
    """What the command shows when a person looks at it: both streams on one terminal."""
    import pty

    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "doublet", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
        env={
            **{k: v for k, v in ENV.items() if k != "NO_COLOR"},
            "TERM": "xterm",
            "COLUMNS": "120",
            **environment,
        },
    )
    os.close(follower)
    shown = b""
    try:
        while part := os.read(leader, 65536):
            shown += part
    except OSError:  # how a terminal says that the other side has gone
        pass
    os.close(leader)
    assert process.wait(timeout=60) == 0, shown.decode()
    return shown.decode()


def test_a_terminal_gets_colour_unless_it_is_not_wanted(pair: tuple[pathlib.Path, pathlib.Path]) -> None:
    assert "\x1b[1;31m" in in_terminal("compare", *pair)
    assert "\x1b" not in in_terminal("compare", *pair, NO_COLOR="1")
    assert "\x1b" not in in_terminal("compare", *pair, "--colour", "never")
    assert "│" in in_terminal("compare", *pair, NO_COLOR="1")  # wide enough for both texts side by side


def test_a_terminal_gets_a_progress_bar_and_quiet_gets_none(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(jsonl([{"id": i, "text": text(i, 200)} for i in range(9000)]))
    shown = in_terminal("dedupe", path, "--method", "minhash")
    assert "Reading" in shown
    assert re.search(r"[MkB]+ of [0-9.]+ MB", shown)
    assert "9,000 documents" in shown
    assert "Reading" not in in_terminal("dedupe", path, "--quiet")
