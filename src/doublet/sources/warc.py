"""WARC: web pages as a crawler stored them (T1). Each response, and each resource, is a document.

The records are read one after another from the decompressed stream; memory does not grow with the file. The
address is the id, and the Content-Type of the answer tells encoding and kind as it would in a browser.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

from doublet.errors import InputUnreadable
from doublet.model import Note
from doublet.sources.archive import Member
from doublet.sources.streams import Stream, damage

_STEP = 1 << 16
_HEAD_BYTES = 1 << 18
_TYPES = (b"response", b"resource", b"conversion")


class _Bytes:
    """A stream with a line reader, which decompressors do not all have."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._held = b""

    def read(self, size: int) -> bytes:
        parts = []
        while size > 0:
            if not self._held:
                self._held = self._stream.read(_STEP)
                if not self._held:
                    break
            part, self._held = self._held[:size], self._held[size:]
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def line(self) -> bytes:
        """The next line with its end; shorter than a line only at the end of the stream."""
        found = b""
        while True:
            cut = self._held.find(b"\n")
            if cut >= 0:
                found, self._held = found + self._held[: cut + 1], self._held[cut + 1 :]
                return found
            found += self._held
            self._held = self._stream.read(_STEP)
            if not self._held or len(found) > _HEAD_BYTES:
                return found

    def skip(self, size: int) -> None:
        while size > 0 and (part := self.read(min(size, _STEP))):
            size -= len(part)


def members(path: Path, *, label: str, limit_bytes: int) -> Iterator[Member]:
    """The documents of a WARC file. Raises `InputUnreadable` when it cannot be opened."""
    with Stream(path, label=label) as stream:
        source = _Bytes(stream)
        number = 0
        while True:
            try:
                found = _record(source, limit_bytes)
            except (InputUnreadable, ValueError) as error:
                yield Member(
                    f"{label}: record {number + 1}", state="broken", reason=Note("is_damaged", why=error)
                )
                return
            except Exception as error:
                reason = damage(error)
                if reason is None:
                    raise
                yield Member(f"{label}: record {number + 1}", state="broken", reason=reason)
                return
            if found is None:
                return
            number += 1
            if found:
                yield found[0]


def _record(source: _Bytes, limit: int) -> tuple[Member, ...] | None:
    """The next record: a document, nothing of interest (empty), or None at the end."""
    line = source.line()
    while line in (b"\r\n", b"\n"):
        line = source.line()
    if not line:
        return None
    if not line.startswith(b"WARC/"):
        raise ValueError(Note("warc_begin", line=line[:20]))
    headers = _headers(source)
    length = int(headers.get(b"content-length", b"-1"))
    if length < 0:
        raise ValueError(Note("warc_no_length"))
    address = headers.get(b"warc-target-uri", b"").strip(b"<>").decode("utf-8", "replace")
    if headers.get(b"warc-type", b"").lower() not in _TYPES or address.startswith(
        ("dns:", "urn:", "metadata:")
    ):
        source.skip(length)
        return ()
    if length > limit:
        source.skip(length)
        return (Member(address, state="too_large", reason=Note("has_bytes", length=length, limit=limit)),)
    block = source.read(length)
    if len(block) < length:
        return (Member(address, state="broken", reason=Note("ends_inside")),)
    kind = headers.get(b"content-type", b"").decode("latin-1")
    if "application/http" in kind.lower() or block.startswith(b"HTTP/"):
        return _answer(address, block, limit)
    return (Member(address, block, declared_type=kind, packed_bytes=length),)


def _headers(source: _Bytes) -> dict[bytes, bytes]:
    found = {}
    size = 0
    while (line := source.line()) not in (b"\r\n", b"\n", b""):
        size += len(line)
        if size > _HEAD_BYTES:
            raise ValueError(Note("warc_head"))
        name, _, value = line.partition(b":")
        found[name.strip().lower()] = value.strip()
    return found


def _answer(address: str, block: bytes, limit: int) -> tuple[Member, ...]:
    """The body of an HTTP answer; other answers than 200 are no documents."""
    head, _, body = block.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    status = lines[0].split(b" ", 2)
    if len(status) > 1 and status[1] not in (b"200", b"203"):
        return ()
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        headers[name.strip().lower()] = value.strip()
    try:
        if b"chunked" in headers.get(b"transfer-encoding", b"").lower():
            body = _dechunked(body)
        body = _decoded(body, headers.get(b"content-encoding", b"").lower(), limit)
    except (ValueError, zlib.error, EOFError, OSError) as error:
        return (Member(address, state="broken", reason=Note("is_damaged", why=error)),)
    if len(body) > limit:
        return (Member(address, state="too_large", reason=Note("unpacks_over", limit=limit)),)
    kind = headers.get(b"content-type", b"").decode("latin-1")
    return (Member(address, body, declared_type=kind, packed_bytes=len(block)),)


def _dechunked(body: bytes) -> bytes:
    """Crawlers keep answers as they came, or take them apart: both are found."""
    parts: list[bytes] = []
    at = 0
    while True:
        end = body.find(b"\r\n", at)
        size_text = body[at:end].split(b";", 1)[0].strip() if end >= 0 else b""
        if not size_text or any(byte not in b"0123456789abcdefABCDEF" for byte in size_text):
            return b"".join(parts) if parts else body
        size = int(size_text, 16)
        if not size:
            return b"".join(parts)
        parts.append(body[end + 2 : end + 2 + size])
        at = end + 2 + size + 2


def _decoded(body: bytes, encoding: bytes, limit: int) -> bytes:
    if encoding in (b"gzip", b"x-gzip"):
        if not body.startswith(b"\x1f\x8b"):
            return body
        unpack = zlib.decompressobj(16 + zlib.MAX_WBITS)
    elif encoding == b"deflate":
        unpack = zlib.decompressobj(zlib.MAX_WBITS if body[:1] == b"\x78" else -zlib.MAX_WBITS)
    elif encoding in (b"", b"identity"):
        return body
    else:
        raise ValueError(Note("encoding_unknown", encoding=encoding.decode("latin-1")))
    return unpack.decompress(body, limit + 1)
