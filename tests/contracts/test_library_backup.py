"""Libraries in a file and back, from any database into any other; what was brought back is read by another process."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import zipfile
from typing import Any

import pytest

import doublet
import library_databases
from doublet.errors import InputUnreadable, InvalidParameter, LibraryExists
from doublet.jobs import library_backup
from doublet.jobs.library_backup import back_up_libraries, restore_libraries
from doublet.model import Document
from doublet.progress import Progress
from doublet.store.database import Store
from library_databases import VENDORS


def command(address: str, *arguments: str, code: int = 0) -> Any:
    """What another process says of the database."""
    done = subprocess.run(
        [sys.executable, "-m", "doublet", *arguments, "--database", address, "--format", "json"],
        capture_output=True,
        check=False,
        env={**os.environ, "DOUBLET_LANGUAGE": "en"},
    )
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def fill(address: str, folder: pathlib.Path) -> None:
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.txt").write_text(f"the {number} of many texts about towers and rivers " * 9)
    with doublet.open_library(address, "books") as library:
        library.add_source(folder)
        library.remove("3.txt")
        library.store.libraries.create("odd", note="NUL \x00 and a lone \ud800 in it")
        library.store.documents.add(
            "odd", [Document("a/\x00", "a text with \ud800 in it", title="\ud800", time="2020", address="x")]
        )


@pytest.mark.covers("L6", "S6")
@pytest.mark.parametrize("to", VENDORS)
@pytest.mark.parametrize("vendor", VENDORS)
def test_it_works(vendor: str, to: str, tmp_path: pathlib.Path) -> None:
    here, there = library_databases.new_address(vendor), library_databases.new_address(to)
    fill(here, tmp_path / "texts")
    with Store(here) as store:
        copied = back_up_libraries(store, tmp_path / "all.zip")
        before = {info.name: info for info in store.libraries.all()}
        documents = {name: list(store.documents.all(name)) for name in before}
    assert [(one.name, one.documents, one.sources) for one in copied] == [("books", 3, 1), ("odd", 1, 0)]
    assert (tmp_path / "all.zip").stat().st_mode & 0o077 == 0
    with Store(there) as store:
        assert restore_libraries(store, tmp_path / "all.zip") == copied
        with pytest.raises(LibraryExists):
            restore_libraries(store, tmp_path / "all.zip", ["odd"])
        after = {info.name: info for info in store.libraries.all()}
        for name, info in before.items():
            assert after[name].to_dict() == info.to_dict()
            assert [one.to_dict() for one in store.documents.all(name)] == [
                one.to_dict() for one in documents[name]
            ]
        (odd,) = store.documents.all("odd")
        assert store.documents.texts([odd.number]) == {odd.number: "a text with \ud800 in it"}
    found = command(there, "library", "update", "books")  # the source knows its documents
    assert found["sources"][0]["counts"] == {"removed": 1, "unchanged": 3}
    assert command(there, "library", "verify")["findings"] == []
    assert command(there, "check", str(tmp_path / "texts" / "1.txt"), "--library", "books")["share"] == 1


@pytest.mark.covers("L6")
def test_a_stop_leaves_no_half_library(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_backup, "AT_ONCE", 2)
    here, there = library_databases.new_address("sqlite"), library_databases.new_address("sqlite")
    fill(here, tmp_path / "texts")
    with Store(here) as store:
        back_up_libraries(store, tmp_path / "all.zip")
    seen: list[int] = []

    def listen(event: Any) -> None:
        seen.append(event.done)
        if event.done >= 2:
            raise KeyboardInterrupt

    with Store(there) as store:
        store.libraries.create(".books (not restored yet)")  # of a process that was killed
        with pytest.raises(KeyboardInterrupt):
            restore_libraries(store, tmp_path / "all.zip", progress=Progress(listen))
        assert seen == [0, 2]
        assert store.libraries.all() == []
        (copied,) = restore_libraries(store, tmp_path / "all.zip", ["books"], new_name="old books")
        assert copied.name == "old books"
        assert [info.name for info in store.libraries.all()] == ["old books"]


def test_files_that_are_no_backup(tmp_path: pathlib.Path) -> None:
    here = library_databases.new_address("sqlite")
    fill(here, tmp_path / "texts")
    whole = tmp_path / "all.zip"
    with Store(here) as store:
        back_up_libraries(store, whole)
        with pytest.raises(InvalidParameter, match="books"):
            restore_libraries(store, whole, ["bocks"])
        with pytest.raises(InvalidParameter, match="--as"):
            restore_libraries(store, whole, new_name="x")
        data = bytearray(whole.read_bytes())
        data[200:260] = bytes(60)
        (tmp_path / "bad.zip").write_bytes(data)
        with pytest.raises(InputUnreadable):
            restore_libraries(store, tmp_path / "bad.zip", ["books"], new_name="y")
        with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
            other.writestr("backup.json", "{}")
        with pytest.raises(InputUnreadable, match="doublet restore"):
            restore_libraries(store, tmp_path / "other.zip")
        assert {info.name for info in store.libraries.all()} == {"books", "odd"}
