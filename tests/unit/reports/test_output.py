"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from doublet.errors import OutputFailed, UsageError
from doublet.reports.output import (
    Together,
    check_distinct,
    check_output,
    compression_suffix,
    format_suffix,
    open_output,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_it_works(tmp_path: Path) -> None:
    with open_output(tmp_path / "x") as stream:
        stream.write(b"all")
        assert not (tmp_path / "x").exists()
    assert (tmp_path / "x").read_bytes() == b"all"
    assert names(tmp_path) == ["x"]


def test_an_error_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), open_output(tmp_path / "x") as stream:
        stream.write(b"half")
        raise RuntimeError
    assert names(tmp_path) == []


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), open_output(tmp_path / "x.gz") as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert names(tmp_path) == []


def test_a_full_disk_is_told_in_words() -> None:
    with pytest.raises(OutputFailed, match="no space left"), open_output(Path("/dev/full")) as stream:
        stream.write(b"x" * 10_000_000)


def test_no_such_folder_is_told_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(OutputFailed, match="make the folder"):
        check_output(tmp_path / "no" / "x")
    with pytest.raises(OutputFailed, match="is a folder"):
        check_output(tmp_path)


def test_permissions_of_a_new_and_of_a_replaced_file(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        with open_output(tmp_path / "new") as stream:
            stream.write(b"1")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o600)
    with open_output(tmp_path / "new") as stream:
        stream.write(b"2")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with open_output(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_suffixes() -> None:
    assert format_suffix(Path("A.JSONL.GZ")) == ".jsonl"
    assert format_suffix(Path("a.zst")) == ""
    assert format_suffix(Path("a.csv")) == ".csv"
    assert compression_suffix(Path("a.csv.zst")) == ".zst"
    assert compression_suffix(Path("a.csv")) == ""


def test_two_outputs_are_not_one_file(tmp_path: Path) -> None:
    check_distinct({"--groups": tmp_path / "a", "--kept": tmp_path / "b"})
    check_distinct({"--groups": None, "--kept": None})
    with pytest.raises(UsageError, match="--groups and --kept"):
        check_distinct({"--groups": tmp_path / "a", "--kept": tmp_path / "." / "a"})
    with pytest.raises(UsageError):
        check_distinct({"--groups": Path("-"), "--kept": Path("-")})


def write_together(*paths: Path) -> None:
    with Together() as together:
        for path in paths:
            with open_output(path, together) as stream:
                stream.write(b"all")
            assert not path.is_file()


def test_files_appear_together(tmp_path: Path) -> None:
    write_together(tmp_path / "a", tmp_path / "b.gz")
    assert names(tmp_path) == ["a", "b.gz"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_of_files_that_belong_together_none_is_left(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), Together() as together:
        with open_output(tmp_path / "a", together) as stream:
            stream.write(b"all")
        with open_output(tmp_path / "b", together) as stream:
            raise error
    assert names(tmp_path) == []


def test_a_file_that_cannot_take_its_place(tmp_path: Path) -> None:
    """The others are there already: that is said."""
    taken = tmp_path / "b"

    def write() -> None:
        with Together() as together:
            for path in (tmp_path / "a", taken, tmp_path / "c"):
                with open_output(path, together) as stream:
                    stream.write(b"all")
            taken.mkdir()
            (taken / "x").touch()

    with pytest.raises(OutputFailed, match=r"b could not be written: .*a was written before that"):
        write()
    assert names(tmp_path) == ["a", "b"]
    assert names(taken) == ["x"]
