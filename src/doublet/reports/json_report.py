"""Results as JSON. The shapes are those of the results' `to_dict` and are described in
docs/reference/formats.md.

orjson writes it; ids with lone surrogates (which JSON can hold and UTF-8 cannot) are written by Python's own
writer, escaped, so that every id comes out as it went in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import orjson


def json_line(value: Any) -> bytes:
    """One line of JSON without its end. What JSON has no type for (dates, decimals) becomes text."""
    try:
        return orjson.dumps(value, default=str)
    except (TypeError, ValueError):
        return json.dumps(value, default=str, separators=(",", ":")).encode()


def json_parts(entries: Iterable[tuple[str, Any]]) -> Iterator[bytes]:
    """An indented JSON object of these entries, piece by piece: the bytes of `json_document`. A value that is an
    iterator is written as a list, an element at a time."""
    yield b"{"
    comma = b""
    for name, value in entries:
        yield comma + b"\n  " + json_line(name) + b": "
        comma = b","
        if not isinstance(value, Iterator):
            yield _indented(value, b"\n  ")
            continue
        between = b"["
        for element in value:
            yield between + b"\n    " + _indented(element, b"\n    ")
            between = b","
        yield b"[]" if between == b"[" else b"\n  ]"
    yield b"\n}\n" if comma else b"}\n"


def _indented(value: Any, break_: bytes) -> bytes:
    # A break inside a string is written as an escape: all of these are between the parts.
    return json_document(value)[:-1].replace(b"\n", break_)


def json_document(value: Any) -> bytes:
    """Indented JSON, ready to be written to a file or shown."""
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_INDENT_2) + b"\n"
    except (TypeError, ValueError):
        return json.dumps(value, default=str, indent=2).encode() + b"\n"
