"""Markdown (CommonMark, with tables, notes and front matter): the words that `doublet.text.markup.markdown` finds.

Code blocks keep their words, addresses of links and pictures do not count as words, HTML tags are dropped.
"""

from __future__ import annotations

import html
import re

from doublet.text.encoding import decode_page
from doublet.text.formats.protocol import Builder, Hints, Reading
from doublet.text.markup.markdown import ENTITY, read_structure
from doublet.text.markup.marked import places

_BLANKS = re.compile(r"[ \t]+")


def read(data: bytes, hints: Hints) -> Reading:
    text, encoding = decode_page(data, header=hints.charset, markup=False)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    found = read_structure(text)
    build = Builder(hints.characters)
    build.offer_title(found.title)
    lines = places(text, found.blocks)
    waiting = found.blocks[::-1]  # each is let go when its words are there: a long table has very many
    found.blocks.clear()
    for number, line in enumerate(lines, 1):
        block = waiting.pop()
        words = block.text(text)
        if block.element not in ("code", "table"):
            words = "\n".join(part.strip() for part in _BLANKS.sub(" ", words).split("\n"))
        if block.element != "code":
            words = ENTITY.sub(lambda entity: html.unescape(entity[0]), words)
        if block.element == "heading":
            if block.level > 0:  # number signs may stand behind the words, too
                words = words.rstrip().rstrip("#").rstrip()
            if build.empty or abs(block.level) == 1:
                build.offer_title(words, heading=True)
        build.add(words, paragraph=number, line=line, element=block.element)
    return build.done(encoding)
