"""The cleaned collection holds the kept records as they were, and nothing half-written ever stays behind."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import zstandard

from doublet.errors import OutputFailed, UsageError
from doublet.sources.open import open_source

LINES = [
    '{"id": "a",   "text": "one", "extra": 1.50}',
    '{"id": "b", "text": "two"}\r',
    "broken",
    '{"id": 3, "text": "\\u0442\\u0440\\u0438"}',
    '{"id": "b", "text": "the same id again"}',
]


def corpus(folder: Path) -> Path:
    path = folder / "in.jsonl"
    path.write_bytes("\n".join(LINES).encode())
    return path


def keep(source: Path | list[Path], out: Path, positions: set[int]) -> int:
    names = [str(path) for path in (source if isinstance(source, list) else [source])]
    with open_source(names) as opened:
        opened.check_kept(out)
        return opened.write_kept(out, positions.__contains__)


@pytest.mark.covers("K7")
def test_it_works(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert keep(corpus(tmp_path), out, {0, 1, 4}) == 3
    assert out.read_bytes() == "\n".join([LINES[0], LINES[1], LINES[4], ""]).encode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_nothing_kept_is_an_empty_file(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert keep(corpus(tmp_path), out, set()) == 0
    assert out.read_bytes() == b""


def test_compressed_outputs_are_the_same_every_time(tmp_path: Path) -> None:
    source = corpus(tmp_path)
    for suffix, unpack in ((".gz", gzip.decompress), (".zst", zstandard.ZstdDecompressor().decompress)):
        packed = []
        for number in range(2):
            out = tmp_path / f"out{number}.jsonl{suffix}"
            keep(source, out, {0, 3})
            packed.append(out.read_bytes())
        assert packed[0] == packed[1]
        if suffix == ".gz":
            assert unpack(packed[0]) == f"{LINES[0]}\n{LINES[3]}\n".encode()


def test_ids_only(tmp_path: Path) -> None:
    out = tmp_path / "ids.txt"
    keep(corpus(tmp_path), out, {0, 2, 3, 4})
    assert out.read_text() == "a\n3\nb\n"


def test_one_array(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    keep(corpus(tmp_path), out, {0, 3})
    assert [record["id"] for record in json.loads(out.read_bytes())] == ["a", 3]
    again = tmp_path / "again.jsonl"
    keep(out, again, {1})
    assert json.loads(again.read_bytes()) == {"id": 3, "text": "три"}


def test_objects_over_several_lines_become_one_line_each(tmp_path: Path) -> None:
    source = tmp_path / "in.json"
    source.write_text(json.dumps([{"id": "a", "text": "x\ny"}, {"id": "b", "text": "z"}], indent=2))
    out = tmp_path / "out.jsonl"
    keep(source, out, {0, 1})
    assert [json.loads(line) for line in out.read_bytes().splitlines()] == json.loads(source.read_bytes())


CSV = b'\xef\xbb\xbfid;text;n\r\na;"one; and\r\na half";1\r\nb;two;2\r\nc;"thr""ee";3\r\n'


def test_csv_rows_stay_as_they_were(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_bytes(CSV)
    out = tmp_path / "out.csv"
    assert keep(source, out, {0, 2}) == 2
    assert out.read_bytes() == CSV.replace(b"b;two;2\r\n", b"")


def test_csv_as_tsv_and_as_json_lines(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_bytes(CSV)
    keep(source, tmp_path / "out.tsv", {1})
    assert (tmp_path / "out.tsv").read_text("utf-8-sig") == "id\ttext\tn\nb\ttwo\t2\n"
    keep(source, tmp_path / "out.jsonl", {2})
    assert json.loads((tmp_path / "out.jsonl").read_bytes()) == {"id": "c", "text": 'thr"ee', "n": "3"}


def test_tables_with_other_columns_are_refused_before_the_work(tmp_path: Path) -> None:
    one, two = tmp_path / "1.csv", tmp_path / "2.csv"
    one.write_text("id,text\n1,a\n")
    two.write_text("text,id\nb,2\n")
    with pytest.raises(UsageError, match="different columns"):
        keep([one, two], tmp_path / "out.csv", {0})
    assert keep([one, two], tmp_path / "out.jsonl", {0, 1}) == 2


def test_parquet_keeps_all_columns_and_their_types(tmp_path: Path) -> None:
    import pyarrow as pa

    source = tmp_path / "in.parquet"
    rows = {"n": [1, 2, 3], "id": ["a", "b", "c"], "text": ["x", "y", "z"], "tags": [["p"], [], ["q", "r"]]}
    pq.write_table(pa.table(rows), source)
    out = tmp_path / "out.parquet"
    assert keep(source, out, {0, 2}) == 2
    table = pq.read_table(out)
    assert table.schema == pq.read_schema(source)
    assert table.column("tags").to_pylist() == [["p"], ["q", "r"]]
    keep(source, tmp_path / "out.jsonl", {2})
    assert json.loads((tmp_path / "out.jsonl").read_bytes()) == {
        "n": 3,
        "id": "c",
        "text": "z",
        "tags": ["q", "r"],
    }


@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.docx", "out.jsonl.rar"])
def test_forms_that_do_not_fit_are_refused_before_the_work(tmp_path: Path, name: str) -> None:
    with open_source([str(corpus(tmp_path))]) as source, pytest.raises(UsageError, match=r"\.jsonl"):
        source.check_kept(tmp_path / name)


def texts(folder: Path) -> Path:
    place = folder / "texts"
    (place / "sub").mkdir(parents=True)
    (place / "a.txt").write_text("one")
    (place / "sub" / "b.txt").write_bytes("два слова".encode("windows-1251"))
    (place / "sub" / "c.txt").write_text("three")
    return place


def test_a_folder_of_texts_is_copied(tmp_path: Path) -> None:
    out = tmp_path / "clean"
    assert keep(texts(tmp_path), out, {0, 1}) == 2
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*.txt")) == ["a.txt", "sub/b.txt"]
    assert (out / "sub" / "b.txt").read_bytes() == "два слова".encode("windows-1251")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clean", "texts"]


def test_a_folder_of_texts_as_json_lines(tmp_path: Path) -> None:
    out = tmp_path / "clean.jsonl"
    keep(texts(tmp_path), out, {1})
    assert json.loads(out.read_bytes()) == {"id": "sub/b.txt", "text": "два слова"}


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "clean"
    out.mkdir()
    (out / "mine.txt").write_text("keep me")
    with open_source([str(texts(tmp_path))]) as source, pytest.raises(OutputFailed, match="not empty"):
        source.check_kept(out)
    assert (out / "mine.txt").read_text() == "keep me"


def test_tables_cannot_be_copied_into_a_folder(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with open_source([str(corpus(tmp_path))]) as source, pytest.raises(UsageError, match="folder"):
        source.check_kept(tmp_path / "out")


def test_an_error_in_the_middle_leaves_the_old_file_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("old")

    def fail(position: int) -> bool:
        if position > 1:
            raise RuntimeError("in the middle")
        return True

    with open_source([str(corpus(tmp_path))]) as source, pytest.raises(RuntimeError):
        source.write_kept(out, fail)
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]
