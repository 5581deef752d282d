"""Text → paragraphs (T7), for texts with blank lines, with a line for each paragraph, and hard-wrapped ones.

Spans are half-open in the original text, sorted and disjoint; together they hold every character that is not
blank, and they begin and end with such a character. Headings, list items and lines of dialogue are paragraphs
of their own. Linear time on any input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from doublet.model import Span

WRAP_WIDTH = 160  #: nobody wraps at more: longer lines are paragraphs
SHORT_LINE = 0.75  #: a line below this share of the width of its block was ended on purpose

_LINE_ENDS = "\n\r\v\f\x85\u2028\u2029"
_LINE = re.compile(rf"\S[^{_LINE_ENDS}]*")
_LINE_END = re.compile(rf"\r\n|[{_LINE_ENDS}]")
_BULLET = re.compile(r"[•‣◦▪●○■□◆⁃∙*+](?=\s)|[-–](?=\s)|\(?[0-9]{1,3}\)|\(?[^\W\d_]\)(?=\s)|§")
_NUMBER = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){0,5}\.?(?=\s)|[IVX]{1,5}\.(?=\s)")
_SPEECH = re.compile(r"[—–-]\s*[«„“\"]?(\w)")
_OPENING = "«„“\"'([{—–- "
_ENDED = re.compile(r"[.!?…:;][»”’\"')\]}]*$")
_OPEN_END = tuple(",;-–—(«„")


class _Line(NamedTuple):
    """A line that is not blank: its place without the blanks around it, its indent, blank lines before it."""

    start: int
    end: int
    indent: int
    apart: bool


def paragraphs(text: str) -> list[Span]:
    """Paragraphs of *text*; an empty or blank text has none."""
    out: list[Span] = []
    for block in _blocks(text):
        starts = _beginnings(text, block)
        out.extend(
            Span(block[first].start, block[last - 1].end)
            for first, last in zip(starts, [*starts[1:], len(block)], strict=True)
        )
    return out


def _blocks(text: str) -> Iterator[list[_Line]]:
    """Runs of lines without a blank line between them."""
    block: list[_Line] = []
    for line in _lines(text):
        if line.apart and block:
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _lines(text: str) -> Iterator[_Line]:
    before = 0
    for match in _LINE.finditer(text):
        start = match.start()
        ends = list(_LINE_END.finditer(text, before, start))
        line_start = ends[-1].end() if ends else 0
        apart = len(ends) > 1 or any(end[0] == "\u2029" for end in ends)
        yield _Line(start, start + len(match[0].rstrip()), len(text[line_start:start].expandtabs(4)), apart)
        before = match.end()


def _beginnings(text: str, block: list[_Line]) -> list[int]:
    """Numbers of the lines of a block that begin a paragraph."""
    width = max(line.indent + line.end - line.start for line in block)
    each_line = width > WRAP_WIDTH or _lines_are_paragraphs(text, block)
    starts = [0]
    item = _begins_item(text, block[0])
    for number in range(1, len(block)):
        before, line = block[number - 1], block[number]
        if _begins(text, before, line, width=width, item=item, each_line=each_line):
            starts.append(number)
            item = _begins_item(text, line)
    return starts


def _begins(text: str, before: _Line, line: _Line, *, width: int, item: bool, each_line: bool) -> bool:
    """Whether *line* begins a paragraph. *item*: the paragraph so far is a list item."""
    ended = _ENDED.search(text, max(before.start, before.end - 8), before.end) is not None
    first = _first_letter(text, line)
    if _BULLET.match(text, line.start, line.end):
        return True
    speech = _SPEECH.match(text, line.start, line.end)
    if speech:
        return speech[1].isupper()
    word_end = text.find(" ", line.start, line.end)
    word = (word_end if word_end >= 0 else line.end) - line.start
    length = before.indent + before.end - before.start
    would_fit = length + 1 + word <= width
    if _NUMBER.match(text, line.start, line.end) and (ended or would_fit or item):
        return True
    if first.islower() and not ended:
        return False
    if each_line:
        return True
    if line.indent > before.indent and not item:
        return first.isupper() or not first.isalpha()
    if item and line.indent < before.indent and ended:
        return True
    is_open = text[before.end - 1] in _OPEN_END
    return would_fit and length < SHORT_LINE * width and not is_open and not first.islower()


def _lines_are_paragraphs(text: str, block: list[_Line]) -> bool:
    """True when most lines end a sentence: a wrapped text breaks its lines anywhere."""
    if len(block) < 4:
        return False
    ended = sum(
        _ENDED.search(text, max(line.start, line.end - 8), line.end) is not None for line in block[:-1]
    )
    return ended > 0.6 * (len(block) - 1)


def _begins_item(text: str, line: _Line) -> bool:
    return bool(_BULLET.match(text, line.start, line.end) or _NUMBER.match(text, line.start, line.end))


def _first_letter(text: str, line: _Line) -> str:
    """First character after quotes, brackets and dashes."""
    for char in text[line.start : min(line.end, line.start + 8)]:
        if char not in _OPENING:
            return char
    return text[line.start]
