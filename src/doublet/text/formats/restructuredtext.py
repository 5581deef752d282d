"""reStructuredText: the words that `doublet.text.markup.rst` finds, without the markup."""

from __future__ import annotations

from doublet.text.encoding import decode_page
from doublet.text.formats.protocol import Builder, Hints, Reading
from doublet.text.markup.marked import places
from doublet.text.markup.rst import read_structure


def read(data: bytes, hints: Hints) -> Reading:
    text, encoding = decode_page(data, header=hints.charset, markup=False)
    found = read_structure(text)
    build = Builder(hints.characters)
    lines = places(text, found.blocks)
    for number, (block, line) in enumerate(zip(found.blocks, lines, strict=True), 1):
        words = block.text(text)
        if block.element == "heading" and build.empty:
            build.offer_title(words, heading=True)
        build.add(words, paragraph=number, line=line, element=block.element)
    return build.done(encoding)
