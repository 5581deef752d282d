"""Lines are cut the same whatever the size of the pieces; a line over the limit never stops the rest."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from doublet.errors import InputNotFound, InputUnreadable
from doublet.sources import streams
from doublet.sources.streams import Damaged, Recoded, Stream, TooLong, blocks_of_lines, uncut_blocks

CONTENT = b"".join(b"line %d with some words\n" % i for i in range(20_000))
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


def lines_of(data: bytes, *, block: int = 16, limit: int = 1000) -> list[object]:
    blocks = blocks_of_lines(io.BytesIO(data), block_bytes=block, limit_bytes=limit)
    return [line for lines in blocks for line in lines]


def test_it_works() -> None:
    assert lines_of(b"one\ntwo\n\nthree") == [b"one", b"two", b"", b"three"]


@pytest.mark.parametrize("data", [b"", b"\n", b"\n\n", b"a", b"a\n"])
def test_edges(data: bytes) -> None:
    assert lines_of(data) == data.split(b"\n")[:-1] + ([data] if data and b"\n" not in data else [])


@given(st.lists(st.sampled_from([b"a", b"bc", b"\n"]), max_size=60), st.integers(1, 12), st.integers(0, 20))
def test_cutting_does_not_depend_on_the_pieces(parts: list[bytes], block: int, limit: int) -> None:
    data = b"".join(parts)
    wanted = data.split(b"\n")
    if not wanted[-1]:
        wanted.pop()
    found = [
        line.size if isinstance(line, TooLong) else line for line in lines_of(data, block=block, limit=limit)
    ]
    assert found == [len(line) if len(line) > limit else line for line in wanted]


@given(
    st.lists(st.sampled_from([b"a", b"bc", b"\n", b"line of words\n"]), max_size=60),
    st.integers(1, 40),
    st.integers(0, 60),
    st.integers(1, 30),
    st.integers(0, 20),
)
def test_a_file_is_cut_like_any_stream(
    tmp_path_factory: pytest.TempPathFactory,
    parts: list[bytes],
    block: int,
    limit: int,
    looked: int,
    peeked: int,
) -> None:
    """A file is read in pieces that end with a line, where that can be known."""
    path = tmp_path_factory.getbasetemp() / "lines"
    path.write_bytes(b"".join(parts))
    with pytest.MonkeyPatch.context() as patch, Stream(path, label="it") as stream:
        patch.setattr(streams, "_STEP", looked)
        stream.peek(peeked)
        blocks = list(blocks_of_lines(stream, block_bytes=block, limit_bytes=limit))
    found = [line.size if isinstance(line, TooLong) else line for lines in blocks for line in lines]
    wanted = lines_of(b"".join(parts), limit=limit)
    assert found == [line.size if isinstance(line, TooLong) else line for line in wanted]


def test_whole_lines_of_a_file_are_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(CONTENT)
    with Stream(path, label="it") as stream:
        assert CONTENT[: stream.whole_lines(100_000)] == CONTENT[:100_000].rpartition(b"\n")[0]
        stream.peek(1000)
        assert stream.whole_lines(100_000) == 0  # the next piece is at hand already
        sizes = [len(block.raw) for block in uncut_blocks(stream, block_bytes=100_000, limit_bytes=10**6)]
    assert len(sizes) == 7
    assert all(99_900 < size <= 100_000 for size in sizes[1:-1])


def test_a_file_that_shrinks_or_grows_meanwhile_is_read_as_it_is(tmp_path: Path) -> None:
    for change in (CONTENT[:250_017], CONTENT + CONTENT):
        path = tmp_path / "lines"
        path.write_bytes(CONTENT)
        with Stream(path, label="it") as stream:
            lines = []
            for block in blocks_of_lines(stream, block_bytes=100_000, limit_bytes=10**6):
                lines += block
                path.write_bytes(change)
        assert b"\n".join(lines) == change.rstrip(b"\n")


def test_a_line_over_the_limit_is_never_held() -> None:
    class Endless:
        """A line of 1 GB, then a good one."""

        def __init__(self) -> None:
            self.left = 1000

        def read(self, size: int = -1, /) -> bytes:
            if self.left == 0:
                return b""
            self.left -= 1
            return b"x" * 1_000_000 if self.left else b"\ngood\n"

    lines = [
        line
        for block in blocks_of_lines(Endless(), block_bytes=1_000_000, limit_bytes=5_000_000)
        for line in block
    ]
    assert lines == [TooLong(999_000_000, b"x" * 1024), b"good"]


@pytest.mark.parametrize("kind", PACKERS)
def test_compression_is_told_from_the_content(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "no-suffix"
    path.write_bytes(PACKERS[kind](CONTENT))
    with Stream(path, label="it") as stream:
        assert stream.compression == kind
        assert stream.peek(10) == CONTENT[:10]
        found = b""
        while part := stream.read(50_000):
            found += part
        assert found == CONTENT
        assert stream.consumed == path.stat().st_size


@pytest.mark.parametrize("kind", ["gzip", "zstd", "xz"])
def test_several_members_are_one_stream(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "packed"
    path.write_bytes(PACKERS[kind](b"one\n") + PACKERS[kind](b"two\n"))
    with Stream(path, label="it") as stream:
        found = [line for block in blocks_of_lines(stream, block_bytes=99, limit_bytes=99) for line in block]
    assert found == [b"one", b"two"]


@pytest.mark.parametrize("kind", ["gzip", "zstd", "bzip2", "xz"])
def test_a_compressed_file_that_is_cut_off_says_so(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "packed"
    packed = PACKERS[kind](CONTENT)
    path.write_bytes(packed[: len(packed) * 2 // 3])
    with Stream(path, label="it") as stream:
        lines = [
            line for block in blocks_of_lines(stream, block_bytes=4096, limit_bytes=99) for line in block
        ]
    assert isinstance(lines[-1], Damaged)
    assert "cut off" in str(lines[-1].reason)
    assert all(isinstance(line, bytes) for line in lines[:-1])


def test_a_damaged_compressed_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "packed.gz"
    packed = bytearray(gzip.compress(CONTENT))
    packed[len(packed) // 2 : len(packed) // 2 + 50] = bytes(50)
    path.write_bytes(packed)
    with Stream(path, label="it") as stream:
        lines = [
            line for block in blocks_of_lines(stream, block_bytes=4096, limit_bytes=99) for line in block
        ]
    assert isinstance(lines[-1], Damaged)


@pytest.mark.parametrize("options", [{}, {"write_checksum": True}, {"write_content_size": False}])
@pytest.mark.parametrize("content", [b"", b"x", b"a" * 3_000_000, bytes(range(256)) * 2000])
def test_whole_zstd_files_are_never_called_cut_off(
    tmp_path: Path, content: bytes, options: dict[str, bool]
) -> None:
    path = tmp_path / "it.zst"
    path.write_bytes(zstandard.ZstdCompressor(**options).compress(content))
    with Stream(path, label="it") as stream:
        found = b""
        while part := stream.read(1 << 20):
            found += part
    assert found == content


def test_another_encoding_comes_out_as_utf8() -> None:
    text = "Привет\nмир"
    for encoding in ("utf-16", "windows-1251"):
        stream = Recoded(io.BytesIO(text.encode(encoding)), encoding)
        found = b""
        while part := stream.read(3):
            found += part
        assert found.decode() == text


def test_a_name_that_is_not_there_suggests_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text("{}")
    with pytest.raises(InputNotFound, match=r"corpus\.jsonl'\?"):
        Stream(tmp_path / "corpsu.jsonl", label=str(tmp_path / "corpsu.jsonl"))
    with pytest.raises(InputNotFound, match="no folder"):
        Stream(tmp_path / "no" / "x", label=str(tmp_path / "no" / "x"))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputUnreadable):
        Stream(tmp_path, label=str(tmp_path))
