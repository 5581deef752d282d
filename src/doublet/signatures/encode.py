"""Signatures as bytes, to be stored or sent: with a format version and a checksum.

`to_bytes` and `from_bytes` are for signatures; `seal` and `unseal` are the envelope that collection
statistics and pivot words use as well: kind, version, length of the header, header (JSON), content, CRC-32
of all that. Numbers are little-endian.
"""

from __future__ import annotations

import contextlib
import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from doublet.errors import SignatureDamaged, SignatureError, SignatureTooNew
from doublet.kernels.data import TEXT_VERSION
from doublet.model import Recipe, Signature
from doublet.text.stopwords import STOP_WORDS_VERSION

_KIND = b"DBLS"
_VERSION = 1
_HEAD = struct.Struct("<4sHI")
_TAIL = struct.Struct("<I")


def to_bytes(signature: Signature) -> bytes:
    """The signature with its recipe. `from_bytes` gives an equal one back."""
    header = {"recipe": signature.recipe.to_dict(), "size": signature.size}
    content = signature.values.astype("<u8", copy=False).tobytes()
    return seal(_KIND, _VERSION, json.dumps(header, ensure_ascii=False, sort_keys=True).encode(), content)


def from_bytes(data: bytes) -> Signature:
    """Raises `SignatureTooNew` for bytes of a newer Doublet and `SignatureDamaged` for all that cannot be
    read."""
    header, content = unseal(_KIND, _VERSION, data, what="signature")
    with damage("signature"):
        facts = json.loads(header)
        recipe = facts["recipe"]
        parameters = tuple((name, _frozen(value)) for name, value in recipe["parameters"].items())
        return Signature(
            Recipe(
                recipe["method"],
                parameters,
                recipe["text_version"],
                recipe["hash_version"],
                recipe["statistics"],
            ),
            np.frombuffer(content, "<u8").astype(np.uint64),
            int(facts["size"]),
        )


def seal(kind: bytes, version: int, header: bytes, content: bytes) -> bytes:
    body = b"".join([head(kind, version, header), content])
    return body + tail(zlib.crc32(body))


def head(kind: bytes, version: int, header: bytes) -> bytes:
    """What `seal` puts before the content."""
    return _HEAD.pack(kind, version, len(header)) + header


def tail(checksum: int) -> bytes:
    """What `seal` puts behind it: *checksum* is the CRC-32 of all before."""
    return _TAIL.pack(checksum)


def unseal(kind: bytes, version: int, data: bytes, *, what: str) -> tuple[bytes, bytes]:
    """Header and content of what `seal` made. *what* names it in the message."""
    data = bytes(data)
    if len(data) < _HEAD.size + _TAIL.size or data[:4] != kind:
        raise SignatureDamaged("bytes_not_ours", data=len(data), what=what)
    _, found, length = _HEAD.unpack_from(data)
    if found > version:
        raise SignatureTooNew(
            "stored_too_new",
            version=version,
            what=what,
            format=found,
        )
    body = data[: -_TAIL.size]
    if zlib.crc32(body) != _TAIL.unpack(data[-_TAIL.size :])[0] or _HEAD.size + length > len(body):
        raise SignatureDamaged("stored_checksum", what=what)
    return body[_HEAD.size : _HEAD.size + length], body[_HEAD.size + length :]


@contextlib.contextmanager
def damage(what: str) -> Iterator[None]:
    """Turns what goes wrong while content is read into `SignatureDamaged`."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SignatureDamaged("stored_damaged", what=what) from error


def require_text_version(text_version: int, stop_words_version: int, stop_words: bool, *, what: str) -> None:
    """Raises `SignatureError` when stored words were made by another version of the canonical form."""
    if text_version != TEXT_VERSION or (stop_words and stop_words_version != STOP_WORDS_VERSION):
        raise SignatureError(
            "stored_other_form",
            what=what,
            text_version=text_version,
            stop_words_version=stop_words_version,
        )


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
