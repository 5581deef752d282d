"""Signatures as bytes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from doublet.errors import SignatureDamaged, SignatureError, SignatureTooNew
from doublet.model import Recipe, Signature
from doublet.signatures import encode, from_bytes, to_bytes

RECIPE = Recipe("own", (("extra", ("а", "б")), ("share", 0.5), ("size", 4), ("stop", True)), 1, 2, "abc")
SIGNATURE = Signature(RECIPE, np.array([0, 1, 2**64 - 1], np.uint64), 17)


def test_it_works() -> None:
    back = from_bytes(to_bytes(SIGNATURE))
    assert back.recipe == RECIPE
    assert back.size == 17
    assert back.values.tolist() == [0, 1, 2**64 - 1]
    assert back.values.dtype == np.uint64


def test_no_values() -> None:
    assert from_bytes(to_bytes(Signature(RECIPE, np.zeros(0, np.uint64), 0))).values.tolist() == []


def test_the_format_is_pinned() -> None:
    """Stored bytes must stay readable: raise the version when this changes, and keep reading the old one."""
    data = to_bytes(Signature(Recipe("m", (("a", 1),), 1, 1), np.array([5], np.uint64), 3))
    header = b'{"recipe": {"hash_version": 1, "method": "m", "parameters": {"a": 1}, "statistics": "", '
    header += b'"text_version": 1}, "size": 3}'
    assert data[:4] == b"DBLS"
    assert data[4:6] == b"\x01\x00"
    assert data[6:10] == len(header).to_bytes(4, "little")
    assert data[10:-12] == header
    assert data[-12:-4] == b"\x05\x00\x00\x00\x00\x00\x00\x00"


def test_other_byte_likes() -> None:
    assert from_bytes(memoryview(to_bytes(SIGNATURE))).size == 17  # type: ignore[arg-type]


def test_every_flipped_byte_is_noticed() -> None:
    data = to_bytes(SIGNATURE)
    for place in range(len(data)):
        broken = bytearray(data)
        broken[place] ^= 0x55
        with pytest.raises(SignatureError):
            from_bytes(bytes(broken))


def test_every_cut_is_noticed() -> None:
    data = to_bytes(SIGNATURE)
    for end in range(len(data)):
        with pytest.raises(SignatureDamaged):
            from_bytes(data[:end])


def test_a_newer_format() -> None:
    data = to_bytes(SIGNATURE)
    with pytest.raises(SignatureTooNew, match="format 9, and this Doublet reads formats up to 1") as caught:
        from_bytes(data[:4] + b"\x09\x00" + data[6:])
    assert caught.value.code == "signature_too_new"
    assert caught.value.details["format"] == 9


@pytest.mark.parametrize(
    "header", [b"no json", b"[]", b"{}", b'{"recipe": 1, "size": 1}', b'{"recipe": {}, "size": 1}', b"\xff"]
)
def test_a_header_that_makes_no_sense(header: bytes) -> None:
    with pytest.raises(SignatureDamaged):
        from_bytes(encode.seal(b"DBLS", 1, header, b""))


def test_half_a_value() -> None:
    header = json.dumps({"recipe": RECIPE.to_dict(), "size": 1}).encode()
    with pytest.raises(SignatureDamaged):
        from_bytes(encode.seal(b"DBLS", 1, header, b"1234"))


def test_bytes_of_something_else() -> None:
    with pytest.raises(SignatureDamaged, match="not a signature of Doublet"):
        from_bytes(b"PK\x03\x04 something else altogether")
