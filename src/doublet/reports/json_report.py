"""Results as JSON. The shapes are those of the results' `to_dict` and are described in
docs/reference/formats.md.

orjson writes it; ids with lone surrogates (which JSON can hold and UTF-8 cannot) are written by Python's own
writer, escaped, so that every id comes out as it went in.
"""

from __future__ import annotations

import json
from typing import Any

import orjson


def json_line(value: Any) -> bytes:
    """One line of JSON without its end. What JSON has no type for (dates, decimals) becomes text."""
    try:
        return orjson.dumps(value, default=str)
    except (TypeError, ValueError):
        return json.dumps(value, default=str, separators=(",", ":")).encode()


def json_document(value: Any) -> bytes:
    """Indented JSON, ready to be written to a file or shown."""
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_INDENT_2) + b"\n"
    except (TypeError, ValueError):
        return json.dumps(value, default=str, indent=2).encode() + b"\n"
