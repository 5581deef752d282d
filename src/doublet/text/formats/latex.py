"""LaTeX source: the words that `doublet.text.markup.latex` finds, without the commands."""

from __future__ import annotations

from doublet.text.encoding import decode_page
from doublet.text.formats.protocol import Builder, Hints, Reading
from doublet.text.markup.latex import read_structure
from doublet.text.markup.marked import places


def read(data: bytes, hints: Hints) -> Reading:
    text, encoding = decode_page(data, header=hints.charset, markup=False)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    found = read_structure(text)
    build = Builder(hints.characters)
    build.offer_title(found.title)
    number = 0
    for block, line in zip(found.blocks, places(text, found.blocks), strict=True):
        words = block.text(text)
        if block.element != "code":
            words = "\n".join(part.strip(" ") for part in words.split("\n"))
        paragraph = None if block.element == "footnote" else number + 1
        number += (
            build.add(words, paragraph=paragraph, line=line, element=block.element) and paragraph is not None
        )
    if found.inputs:
        build.note("inputs_not_read")
    return build.done(encoding)
