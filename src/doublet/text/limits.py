"""How large a document may be, before and after unpacking, and how much text it may give: the one place that says so.

A bomb is small and unpacks to a lot, or shows one part over and over. Text in a package shrinks to a tenth and seldom
to less than a hundredth; what grows more than that is refused while it is unpacked, before it is held.
"""

from __future__ import annotations

MAX_BYTES = 1 << 28  #: of a document, as it is stored and unpacked
EXPANSION = 100  #: a document unpacks to at most so many times its size, and has so many characters to a byte
SMALL_BYTES = 1 << 24  #: so much may be unpacked from a file of any size
SMALL_CHARACTERS = 1 << 22  #: and a text may be so long


def unpacked_limit(packed_bytes: int, limit_bytes: int = MAX_BYTES) -> int:
    """How many bytes may be unpacked from so many."""
    return min(limit_bytes, max(SMALL_BYTES, EXPANSION * packed_bytes))


def text_limit(size_bytes: int) -> int:
    """How many characters the text of a document of so many bytes may have."""
    return max(SMALL_CHARACTERS, EXPANSION * size_bytes)
