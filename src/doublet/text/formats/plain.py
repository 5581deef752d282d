"""Plain text, as it is: every character stays where it stood."""

from __future__ import annotations

import re

from doublet.model import Span
from doublet.text.encoding import decode_page
from doublet.text.formats.protocol import Hints, Place, Reading

_BLOCK = re.compile(r"\S.*?(?=\n[ \t\r]*\n|\Z)", re.S)
PLACED_CHARACTERS = 20_000_000  # beyond that places would take more memory than the text


def read(data: bytes, hints: Hints) -> Reading:
    text, encoding = decode_page(data, header=hints.charset, markup=False)
    text = text.removeprefix("\ufeff")
    return Reading(text, places(text), (), (), encoding)


def places(text: str) -> tuple[Place, ...]:
    """The paragraphs of a text, set apart by empty lines, with the lines they begin on."""
    if len(text) > PLACED_CHARACTERS:
        return ()
    out = []
    line, at = 1, 0
    for number, found in enumerate(_BLOCK.finditer(text), 1):
        line += text.count("\n", at, found.start())
        at = found.start()
        end = at + len(found.group().rstrip())
        out.append(Place(Span(at, end), paragraph=number, line=line))
    return tuple(out)
