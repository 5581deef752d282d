"""Splits: together they hold every record once, wherever a file is cut; what is broken is an outcome."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from doublet.errors import InputNotFound
from doublet.sources.records import Fields
from doublet.spark import inputs


def read(
    paths: list[Path], tasks: int, limit: int = 1 << 30, **fields: Any
) -> tuple[list[str], list[str], int]:
    """Ids, states of what could not be used, and the number of splits."""
    chosen = Fields(**fields)
    listing = inputs.list_inputs([str(path) for path in paths], chosen, tasks, 1)
    ids, states = [], []
    for split in listing.splits:
        for batch in inputs.batches(split, chosen, limit):
            parsed = batch.parse()
            ids += parsed.ids
            states += [outcome.state for outcome in parsed.outcomes]
    return ids, states, len(listing.splits)


def lines(count: int) -> bytes:
    return b"".join(
        json.dumps({"id": str(i), "text": "слово " * (i % 7)}).encode() + b"\n" for i in range(count)
    )


@pytest.mark.parametrize("tasks", [1, 2, 3, 10, 400])
@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_it_works(tmp_path: Path, tasks: int, end: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(50).rstrip(b"\n") + end.encode())
    ids, states, splits = read([path], tasks)
    assert ids == [str(i) for i in range(50)]
    assert not states
    assert splits >= min(tasks, 40)


def test_lines_longer_than_splits(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    long = json.dumps({"id": "long", "text": "x" * 50_000}).encode()
    path.write_bytes(lines(5) + long + b"\n" + lines(5))
    ids, _states, splits = read([path], 20)
    assert ids == [*map(str, range(5)), "long", *map(str, range(5))]
    assert splits >= 20


def test_a_record_over_the_limit_is_an_outcome(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(5) + json.dumps({"id": "long", "text": "x" * 5_000}).encode() + b"\n" + lines(5))
    ids, states, _ = read([path], 3, limit=1000)
    assert len(ids) == 10
    assert states == ["too_large"]


def test_broken_lines_and_places(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(20) + b"{broken\n" + lines(20))
    fields = Fields()
    listing = inputs.list_inputs([str(path)], fields, 4, 1)
    counts = []
    for split in listing.splits:
        last = 0
        for batch in inputs.batches(split, fields, 1 << 30):
            last = batch.first + batch.count
        counts.append(last)
    before = inputs.lines_before(listing, counts)
    assert before[0] == 0
    assert sum(counts) == 41
    assert before == [sum(counts[:i]) for i in range(len(counts))]


def test_parquet_by_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"id": [str(i) for i in range(100)], "text": ["some words here"] * 100})
    pq.write_table(table, path, row_group_size=10)
    ids, states, splits = read([path], 5)
    assert ids == [str(i) for i in range(100)]
    assert not states
    assert splits > 1


def test_a_missing_column_breaks_this_file_alone(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["1"], "body": ["x"]}), tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_bytes(lines(3))
    ids, states, _ = read([tmp_path], 2)
    assert ids == ["0", "1", "2"]
    assert states == ["unreadable"]


def test_damaged_parquet_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"id": [str(i) for i in range(1000)], "text": [f"words {i} " * 20 for i in range(1000)]})
    pq.write_table(table, path, row_group_size=100, compression="zstd")
    raw = bytearray(path.read_bytes())
    middle = len(raw) // 2
    raw[middle : middle + 400] = bytes(400)
    path.write_bytes(bytes(raw))
    ids, states, _ = read([path], 10)
    assert 100 <= len(ids) < 1000
    assert "unreadable" in states


def test_damaged_gzip_and_warc(tmp_path: Path) -> None:
    whole = gzip.compress(lines(5000))
    (tmp_path / "a.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    record = b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.example/\r\nContent-Type: text/plain\r\n"
    record += b"Content-Length: 11\r\n\r\nhello there\r\n\r\n"
    (tmp_path / "b.warc").write_bytes(record + b"nonsense\r\n\r\n")
    ids, states, splits = read([tmp_path], 4)
    assert splits == 2
    assert "http://a.example/" in ids
    assert 0 < len(ids) < 5000
    assert len(states) == 2


def test_hidden_files_and_missing_folders(tmp_path: Path) -> None:
    (tmp_path / "_SUCCESS").write_bytes(b"")
    (tmp_path / ".crc").write_bytes(b"x")
    assert not inputs.list_inputs([str(tmp_path)], Fields(), 2).splits
    with pytest.raises(InputNotFound, match="no file or folder"):
        inputs.list_inputs([str(tmp_path / "none")], Fields(), 2)
