"""Archives that are damaged inside, packed each way: a row that says so, never the end of the run."""

from __future__ import annotations

import bz2
import io
import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest
import zstandard

from doublet.cli import run
from doublet.errors import Broken
from doublet.sources.streams import Stream
from doublet.sources.works import list_works, unpack
from doublet.text.damaged import DAMAGED
from doublet.text.formats.package import Package
from doublet.text.kind import tell

PROSE = " ".join(f"street{n} market{n * 7 % 31}" for n in range(400))
WAYS = {"deflate": zipfile.ZIP_DEFLATED, "bzip2": zipfile.ZIP_BZIP2, "lzma": zipfile.ZIP_LZMA}
TAR = {"gz": zlib.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.compress}

pytestmark = pytest.mark.covers("T1")


def damaged(way: int, names: tuple[str, ...] = ("bad.txt", "good.txt")) -> bytes:
    """An archive whose first part is damaged where its packed bytes begin."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", way) as archive:
        for name in names:
            archive.writestr(name, f"{PROSE} {name}")
    data = bytearray(content.getvalue())
    start = 30 + len(names[0]) + (9 if way == zipfile.ZIP_LZMA else 4 if way == zipfile.ZIP_BZIP2 else 0)
    data[start : start + 24] = b"\xff" * 24
    return bytes(data)


def damaged_tar(packing: str) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for number in range(40):
            data = bytes((number * n * n + n // 3) % 251 for n in range(6000))
            info = tarfile.TarInfo(f"{number}.txt")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    plain = content.getvalue()
    if packing == "gz":
        import gzip

        packed = bytearray(gzip.compress(plain))
    else:
        packed = bytearray(TAR[packing](plain))
    middle = len(packed) // 2
    packed[middle : middle + 40] = b"\xff" * 40
    return bytes(packed)


@pytest.mark.parametrize("way", WAYS)
def test_the_parts_of_a_damaged_archive_raise_what_is_listed(way: str) -> None:
    with zipfile.ZipFile(io.BytesIO(damaged(WAYS[way]))) as archive:
        with pytest.raises(DAMAGED):
            archive.read("bad.txt")
        assert archive.read("good.txt")


@pytest.mark.parametrize("way", WAYS)
def test_a_class_goes_on(way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert unpack("works.zip", damaged(WAYS[way])) is None
    works = tmp_path / "works"
    works.mkdir()
    (works / "bad.zip").write_bytes(damaged(WAYS[way]))
    (works / "anna.txt").write_text(PROSE, "utf-8")
    assert [one.name for one in list_works([works])] == ["anna.txt", "bad.zip"]
    against = tmp_path / "library.txt"
    against.write_text("Something else is said here by somebody else.", "utf-8")
    arguments = ["check", str(works), "--among", "--against", str(against), "--format", "json"]
    assert run(arguments) == 3
    out = capsys.readouterr()
    assert '"anna.txt"' in out.out and "fault in Doublet" not in out.err


@pytest.mark.parametrize("way", WAYS)
def test_dedupe_reads_the_parts_that_are_whole(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.zip"
    path.write_bytes(damaged(WAYS[way]))
    assert run(["dedupe", str(path)]) == 3
    out = capsys.readouterr()
    assert "fault in Doublet" not in out.err and "bad.txt" in out.out + out.err


@pytest.mark.parametrize("way", WAYS)
def test_a_check_against_a_damaged_archive(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, text = tmp_path / "bad.zip", tmp_path / "c.txt"
    path.write_bytes(damaged(WAYS[way]))
    text.write_text(PROSE, "utf-8")
    assert run(["check", str(text), "--against", str(path), "--format", "json"]) in (0, 3)
    out = capsys.readouterr()
    assert "good.txt" in out.out and "fault in Doublet" not in out.err


@pytest.mark.parametrize("packing", TAR)
def test_a_damaged_tar(packing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"damaged.tar.{packing}"
    path.write_bytes(damaged_tar(packing))
    with Stream(path, label="x") as stream, pytest.raises(DAMAGED):
        while stream.read(1 << 16):
            pass
    assert run(["dedupe", str(path)]) in (3, 4)
    assert "fault in Doublet" not in capsys.readouterr().err


@pytest.mark.parametrize("way", WAYS)
def test_a_document_that_is_a_damaged_package(way: str) -> None:
    with pytest.raises(Broken):
        Package(damaged(WAYS[way]), 1 << 20).read("bad.txt")
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", WAYS[way]) as archive:
        archive.writestr("mimetype", "application/epub+zip" * 4)
    packed = bytearray(data.getvalue())
    start = 38 + (9 if way == "lzma" else 4 if way == "bzip2" else 0)
    packed[start : start + 12] = b"\xff" * 12
    with pytest.raises(Broken):
        tell(bytes(packed), name="book.epub")


def test_a_way_of_packing_that_is_not_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("odd.txt", PROSE)
        archive.writestr("good.txt", PROSE)
    data = content.getvalue()
    at = data.index(b"PK\x01\x02")
    data = data[:8] + b"\x63\x00" + data[10 : at + 10] + b"\x63\x00" + data[at + 12 :]
    path = tmp_path / "odd.zip"
    path.write_bytes(data)
    assert run(["dedupe", str(path)]) == 3
    out = capsys.readouterr()
    assert "packed in a way" in out.out + out.err
