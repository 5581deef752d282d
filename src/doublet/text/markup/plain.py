"""Plain text: numbered headings ("9.6.15. Expansion of …") and tables that are drawn with lines. Nothing is blanked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doublet.model import Span
from doublet.text.markup.marked import MarkedText, number_headings

_NUMBERED = re.compile(r"^[ \t]*\d{1,3}(?P<parts>(?:\.\d{1,3})*)\.?[ \t]+(?P<title>[^\s\d][^\n]*)$", re.M)
_SAID = ".!?…:;,|"  #: signs with which a title does not end
TITLE_WORDS = 16  #: at most, of a line that begins with a number and is a heading
_TABLE = re.compile(r"(?:^[^\S\n]*(?:\|[^\n]*\||\+[-=+]+\+)[^\S\n]*(?:\n|\Z)){3,}", re.M)
_RULE = re.compile(r"\s*[|+][-=+|]+[|+]\s*\Z")
_CELL = re.compile(r"[^|\n]*[^|\s][^|\n]*")


def read_plain(text: str) -> MarkedText:
    marked = MarkedText("text", text, text)
    marked.headings = number_headings(list(_headings(text)))
    if "+--" in text or "\n|" in text:
        for found in _TABLE.finditer(text):
            _add_table(marked, *found.span())
    return marked


def _headings(text: str) -> Iterator[tuple[Span, int, str]]:
    """Lines that begin with a number of two parts or more and are no sentence. Before them stands an empty line or
    another numbered one, and so it does behind them, or behind the line on which the title goes on."""
    lines = {found.start(): found for found in _NUMBERED.finditer(text)}

    def apart(start: int) -> bool:
        """Whether nothing, an empty line or a numbered one begins there."""
        end = text.find("\n", start)
        return start in lines or not text[start : end if end >= 0 else len(text)].strip()

    behind = 0  # where the line behind the last heading begins
    for start, line in lines.items():
        if not line["parts"] or not (start == behind or apart(text.rfind("\n", 0, start - 1) + 1)):
            continue
        end = line.end()
        if not apart(end + 1):  # the title is wrapped
            end = text.find("\n", end + 1)
            if end < 0 or not apart(end + 1):
                continue
        title = text[line.start("title") : end]
        if title.rstrip()[-1] not in _SAID and len(title.split()) <= TITLE_WORDS:
            behind = end + 1
            yield Span(start, end), line["parts"].count(".") + 1, title


def _add_table(marked: MarkedText, start: int, end: int) -> None:
    """Rows are what stands between two drawn lines; without such lines each line is a row."""
    lines = marked.text[start:end].splitlines(keepends=True)
    ruled = sum(map(bool, map(_RULE.match, lines))) > 2
    marked.tables.append(Span(start, end))
    marked.wholes.append(Span(start, end))
    at = row = start
    for line in lines:
        rule = _RULE.match(line) is not None
        if rule or not ruled:
            edge = at if rule else at + len(line)
            if edge > row and marked.text[row:edge].strip():
                marked.wholes.append(Span(row, edge))
            row = at + len(line)
        if not rule:
            cells = [Span(at + cell.start(), at + cell.end()) for cell in _CELL.finditer(line)]
            marked.cells += cells
            if not ruled:
                marked.wholes += cells
        at += len(line)
    marked.wholes.sort()
