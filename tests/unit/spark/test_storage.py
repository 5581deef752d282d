"""Files in HDFS by its web protocol, as tasks use them, and addresses that cannot be used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import webhdfs_server
from doublet.errors import InputNotFound, InputUnreadable, UsageError
from doublet.spark import storage


@pytest.fixture
def hdfs(tmp_path: Path) -> Iterator[tuple[str, list[str], Path]]:
    (tmp_path / "hdfs").mkdir()
    with webhdfs_server.serving(tmp_path / "hdfs") as (address, asked):
        yield address, asked, tmp_path / "hdfs"


@pytest.mark.covers("D1")
def test_files_are_written_read_and_replaced(hdfs: tuple[str, list[str], Path]) -> None:
    address, asked, folder = hdfs
    place = f"{address}/a b/ü/part.bin"
    assert storage.size_of(place) == -1 and not storage.exists(f"{address}/a b")
    large = os.urandom(12_000_000)  # more than one request
    for content in (b"first", large):
        storage.write_bytes(place, content)
        assert (folder / "a b" / "ü" / "part.bin").read_bytes() == content
        assert storage.read_bytes(place) == content
    assert "APPEND" in asked and "RENAME" in asked
    some = np.empty(1000, np.uint8)
    storage.read_into(place, some, 5_000_000)
    assert some.tobytes() == large[5_000_000:5_001_000]
    with pytest.raises(InputUnreadable):
        storage.read_into(place, some, len(large) - 10)
    (found,) = storage.find_files(f"{address}/a b")
    assert found.name == "ü/part.bin" and found.size_bytes == len(large)
    assert found.changed not in ("None", "0"), "a changed input must be told from the earlier one"
    assert storage.folders(f"{address}/a b") == ["ü"]
    storage.remove_folder(f"{address}/a b")
    storage.remove_folder(f"{address}/never")
    assert not list((folder / "a b").rglob("*.bin"))
    with pytest.raises(InputNotFound):
        storage.open_input(place)


def test_a_file_that_is_not_finished_does_not_appear(hdfs: tuple[str, list[str], Path]) -> None:
    address, _, folder = hdfs
    with pytest.raises(ZeroDivisionError), storage.writing(f"{address}/x/part.bin") as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert not [one for one in folder.rglob("*") if one.is_file()]


@pytest.mark.parametrize("where", ["disk", "hdfs"])
def test_tables_come_back(where: str, hdfs: tuple[str, list[str], Path], tmp_path: Path) -> None:
    address = str(tmp_path) if where == "disk" else hdfs[0]
    tables = [pa.table({"a": [1, 2], "b": [b"x", b""]}), pa.table({"a": [3], "b": [b"zz"]})]
    for write, read in (
        (storage.write_table, storage.read_table),
        (storage.write_batches, storage.read_batches),
    ):
        assert write(f"{address}/t/file", iter(tables), tables[0].schema) == 3
        assert [one.to_pydict() for one in read(f"{address}/t/file")] == [one.to_pydict() for one in tables]
        assert [one.column_names for one in read(f"{address}/t/file", ["b"])] == [["b"], ["b"]]
        storage.write_bytes(f"{address}/t/file", b"damaged" * 100)
        with pytest.raises(InputUnreadable):
            list(read(f"{address}/t/file"))


def test_an_address_that_cannot_be_used_says_why() -> None:
    with pytest.raises(UsageError) as told:
        storage.exists("hdfs://127.0.0.1:1/x")
    assert told.value.note.code == "hdfs_unusable"
    assert "webhdfs://" in str(told.value) and "CLASSPATH" in str(told.value)
    with pytest.raises(UsageError) as told:
        storage.exists("nosuch://host/x")
    assert told.value.note.code == "address_unusable" and "nosuch" in str(told.value)
