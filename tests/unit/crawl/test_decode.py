"""Packed bodies: whole, cut, nested, and made to burst."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from doublet.crawl.decode import PIECE_BYTES, BadBody, decoders, supported, unpack

TEXT = ("Электронная библиотека хранит рукописи. " * 200).encode()


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKERS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


def run(encoding: str, packed: bytes, step: int = 1000) -> bytes:
    parts = (packed[start : start + step] for start in range(0, len(packed), step))
    return b"".join(unpack(parts, decoders(encoding)))


@pytest.mark.parametrize("encoding", PACKERS)
def test_it_works(encoding: str) -> None:
    assert encoding in supported()
    for step in (1, 7, 100_000):
        assert run(encoding, PACKERS[encoding](TEXT), step) == TEXT


def test_other_spellings() -> None:
    for step in (1, 2, 1000):
        assert run("deflate", raw_deflate(TEXT), step) == TEXT
    with pytest.raises(BadBody):
        run("deflate", b"x")
    assert run("x-gzip", gzip.compress(TEXT)) == TEXT
    assert run("GZIP, br", brotli.compress(gzip.compress(TEXT))) == TEXT
    assert run("identity", TEXT) == TEXT
    assert run("", TEXT) == TEXT
    assert run("gzip", gzip.compress(TEXT) + gzip.compress(b"more") + b"\0" * 8) == TEXT + b"more"
    assert run("zstd", PACKERS["zstd"](TEXT) + PACKERS["zstd"](b"more")) == TEXT + b"more"


@pytest.mark.parametrize("encoding", PACKERS)
@pytest.mark.covers("R2")
def test_cut_bodies_are_not_whole(encoding: str) -> None:
    packed = PACKERS[encoding](TEXT)
    for end in (len(packed) // 2, len(packed) - 1):
        with pytest.raises(BadBody):
            run(encoding, packed[:end])


@pytest.mark.parametrize("encoding", PACKERS)
def test_no_body_is_no_fault(encoding: str) -> None:
    assert run(encoding, b"") == b""


@pytest.mark.parametrize("encoding", PACKERS)
def test_rubbish(encoding: str) -> None:
    with pytest.raises(BadBody):
        run(encoding, b"this is not packed at all, whatever the header says" * 20)


@pytest.mark.parametrize("encoding", ["compress", "aes128gcm", "gzip, gzip, gzip, gzip"])
def test_what_was_not_asked_for(encoding: str) -> None:
    with pytest.raises(BadBody):
        decoders(encoding)


@pytest.mark.parametrize("encoding", PACKERS)
@pytest.mark.covers("R2", "R10")
def test_bombs_burst_in_small_pieces(encoding: str) -> None:
    packed = PACKERS[encoding](b"\0" * 50_000_000)
    largest = count = 0
    for piece in unpack(iter([packed]), decoders(encoding)):
        largest = max(largest, len(piece))
        count += len(piece)
        if count > 10_000_000:
            break
    assert count < 14_000_000
    assert largest <= max(PIECE_BYTES, 1 << 21)


@given(st.binary(max_size=2000), st.sampled_from(sorted(PACKERS)))
def test_any_bytes_come_back(data: bytes, encoding: str) -> None:
    assert run(encoding, PACKERS[encoding](data), 13) == data
