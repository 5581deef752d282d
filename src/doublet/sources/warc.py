"""WARC: web pages as a crawler stored them (T1). Each response, and each resource, is a document.

warcio reads the records one after another from the decompressed stream; memory does not grow with the file. The address
is the id, and the Content-Type of the answer tells encoding and kind as it would in a browser.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from doublet.errors import ConfigError, InputUnreadable
from doublet.model import Note
from doublet.sources.archive import Member
from doublet.sources.streams import Stream, damage

_STEP = 1 << 16
_TYPES = frozenset(("response", "resource", "conversion"))
_KNOWN_PACKING = frozenset(("", "identity", "gzip", "x-gzip", "deflate", "br"))


def members(path: Path, *, label: str, limit_bytes: int) -> Iterator[Member]:
    """The documents of a WARC file. Raises `InputUnreadable` when it cannot be opened."""
    with Stream(path, label=label) as stream:
        number = 0
        try:
            for record in _records(stream):
                number += 1
                found = _member(record, limit_bytes)
                if found is not None:
                    yield found
                    if found.state == "broken" and found.reason == Note("ends_inside"):
                        return
        except (InputUnreadable, ValueError, AttributeError, TypeError, LookupError) as error:
            # warcio takes for granted that a record has its fields.
            yield _broken(label, number, Note("is_damaged", why=str(error)))
        except Exception as error:
            reason = damage(error) or _load_failure(error)
            if reason is None:
                raise
            yield _broken(label, number, reason)


def _records(stream: Stream) -> Iterator[Any]:
    try:
        from warcio.archiveiterator import ArchiveIterator
    except ImportError as error:
        raise ConfigError("needs_warcio", library="warcio") from error
    return iter(ArchiveIterator(stream, no_record_parse=False))


def _load_failure(error: Exception) -> Note | None:
    """A record that warcio does not understand."""
    name = type(error).__name__
    if name in ("ArchiveLoadFailed", "StatusAndHeadersParserException", "EOFError", "ChunkedDataException"):
        return Note("is_damaged", why=str(error).strip() or name)
    return None


def _broken(label: str, number: int, reason: Note) -> Member:
    return Member(f"{label}: record {number + 1}", state="broken", reason=reason)


def _member(record: Any, limit: int) -> Member | None:
    """The document of a record; None for records and answers that hold none."""
    address = str(record.rec_headers.get_header("WARC-Target-URI") or "").strip("<>")
    if record.rec_type not in _TYPES or address.startswith(("dns:", "urn:", "metadata:")):
        return None
    declared = record.rec_headers.get_header("Content-Length") or ""
    if not str(declared).strip().isdecimal():
        raise ValueError(str(Note("warc_no_length")))
    length = int(declared)
    if length > limit:
        return Member(address, state="too_large", reason=Note("has_bytes", length=length, limit=limit))
    http = record.http_headers
    kind = str(record.rec_headers.get_header("Content-Type") or "")
    if http is not None:
        if record.rec_type == "response" and http.get_statuscode() not in ("200", "203"):
            return None
        kind = str(http.get_header("Content-Type") or "")
        packing = str(http.get_header("Content-Encoding") or "").strip().lower()
        if packing not in _KNOWN_PACKING:
            return Member(
                address,
                state="broken",
                reason=Note("is_damaged", why=str(Note("encoding_unknown", encoding=packing))),
            )
    try:
        body = _body(record, limit)
    except (ValueError, zlib.error, EOFError) as error:
        return Member(address, state="broken", reason=Note("is_damaged", why=str(error)))
    if getattr(record.raw_stream, "limit", 0) > 0 and len(body) <= limit:
        return Member(address, state="broken", reason=Note("ends_inside"))
    if len(body) > limit:
        return Member(address, state="too_large", reason=Note("unpacks_over", limit=limit))
    return Member(address, body, declared_type=kind, packed_bytes=length)


def _body(record: Any, limit: int) -> bytes:
    """The body, taken out of its chunks and unpacked, up to one byte more than the limit."""
    stream = record.content_stream()
    parts: list[bytes] = []
    left = limit + 1
    while left > 0 and (part := stream.read(min(_STEP, left))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
