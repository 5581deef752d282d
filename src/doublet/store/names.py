"""Names as databases can hold them: NUL and lone surrogates, which text columns refuse, are escaped.

U+E000 (private use) followed by four hexadecimal digits stands for such a character, and for U+E000 itself; all other
texts are stored as they are.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_REFUSED = re.compile("[\x00\ue000\ud800-\udfff]")
_ESCAPED = re.compile("\ue000([0-9a-f]{4})")


def escape(text: str) -> str:
    if text.isascii() and "\0" not in text:
        return text
    return _REFUSED.sub(lambda found: f"\ue000{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "\ue000" in text else text


def name_hash(name: str) -> int:
    """64 bits, signed as databases have them."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def name_hashes(names: Sequence[str]) -> NDArray[np.uint64]:
    """`name_hash` of many, unsigned."""
    hashed = hashlib.blake2b
    digests = [hashed(name.encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names]
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


def to_json(value: Any, *, sort_keys: bool = False) -> str:
    """JSON without the letters that databases refuse, in whatever form. Raises `TypeError`, `ValueError`."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=sort_keys)
    if "\\u0000" in text:
        return json.dumps(_escaped(value), ensure_ascii=False, sort_keys=sort_keys)
    return escape(text)


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, Mapping):
        return {escape(str(name)): _escaped(one) for name, one in value.items()}
    return [_escaped(one) for one in value] if isinstance(value, list | tuple) else value


def from_json(stored: Any) -> Any:
    """What `to_json` made, as a database gives it back."""
    if stored is None:
        return None
    text = stored if isinstance(stored, str) else json.dumps(stored, ensure_ascii=False)
    return json.loads(unescape(text), strict=False)
