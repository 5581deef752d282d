"""The text of a place as its reader sees it: without markup, without what markup leaves behind.

Takes the source of a place and the same with its markup blanked out (`doublet.text.markup`), and gives one text. Words
stay as they are, so that the same words stay the same wording.
"""

from __future__ import annotations

import html
import re

_BLANKS = re.compile(r"[^\S\n]+")
_TAG = re.compile(r"<[^<>]*>")
_CLOSING, _OPENING = ".,;:!?…)]}”»›", "([{“«‹"


def plain_text(source: str, masked: str, indent: int = 0) -> str:
    """*masked* for people. Its first line has lost *indent* blanks: so do the others, as far as they have them."""
    text = masked
    if masked != source:
        text = _BLANKS.sub(lambda blanks: _gap(source, masked, *blanks.span()), masked)
        text = re.sub(r"[^\S\n]*\n[^\S\n]*\n\s*", "\n\n", text)
    if indent and "\n" in text:
        text = re.sub(rf"\n[^\S\n]{{1,{indent}}}", "\n", text)
    return text if masked == source else re.sub(r"(?<=\S)[^\S\n]{2,}", " ", text).strip()


def _gap(source: str, masked: str, start: int, end: int) -> str:
    """What a reader sees of blanks: nothing where only a mark or a part of a reference is blanked out, beside a sign.
    Words stay apart."""
    here = source[start:end]
    if here.isspace():
        return masked[start:end]
    before, behind = masked[start - 1 : start], masked[end : end + 1]
    touches = (behind != "" and behind in _CLOSING and not here[-1].isspace()) or (
        before != "" and before in _OPENING and not here[0].isspace()
    )
    if touches or not before or not behind:
        return ""
    seen = sum(map(str.isspace, html.unescape(_TAG.sub("", here))))
    return " " * max(seen, before.isalnum() and behind.isalnum())
