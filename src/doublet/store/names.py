"""Names as databases can hold them: NUL and lone surrogates, which text columns refuse, are escaped.

U+E000 (private use) followed by four hexadecimal digits stands for such a character, and for U+E000 itself; all other
texts are stored as they are.
"""

from __future__ import annotations

import hashlib
import re

_REFUSED = re.compile("[\x00\ue000\ud800-\udfff]")
_ESCAPED = re.compile("\ue000([0-9a-f]{4})")


def escape(text: str) -> str:
    return _REFUSED.sub(lambda found: f"\ue000{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "\ue000" in text else text


def name_hash(name: str) -> int:
    """64 bits, signed as databases have them."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
