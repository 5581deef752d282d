"""Plain text: lists of contents ("9.6.15. Expansion of …") and tables that are drawn with lines. Nothing is blanked."""

from __future__ import annotations

import re

from doublet.model import Span
from doublet.text.markup.marked import MarkedText

_NUMBERED = re.compile(r"^[ \t]*\d{1,3}(?P<parts>(?:\.\d{1,3})*)\.?[ \t]+(?P<title>[^\s\d][^\n]*)$", re.M)
_LED = re.compile(
    r"(?:[ \t]*[.·…_]{2,}[.·…_ \t]*|\t|[ ]{3,})\d+[ \t]*$"
)  #: what leads to the page in a list of contents
_SAID = ".!?…:;,|"  #: signs with which a title does not end
# Both were chosen by reading one manual that no figure comes from. With half of it long titles end the list, with twice
# as many numbered lines of prose can be part of one.
TITLE_WORDS = 16  #: at most, of a line of a list of contents
# With one line every numbered heading would be one; with six, lists of short chapters are none.
CONTENTS = 3  #: lines of such a list, at least
_TABLE = re.compile(r"(?:^[^\S\n]*(?:\|[^\n]*\||\+[-=+]+\+)[^\S\n]*(?:\n|\Z)){3,}", re.M)
_RULE = re.compile(r"\s*[|+][-=+|]+[|+]\s*\Z")
_CELL = re.compile(r"[^|\n]+")


def read_plain(text: str) -> MarkedText:
    marked = MarkedText("text", text, text)
    marked.links = _contents(text)
    if "+-" in text or "+=" in text or "|" in text:
        for found in _TABLE.finditer(text):
            _add_table(marked, *found.span())
        marked.wholes.sort()
    return marked


def _contents(text: str) -> list[Span]:
    """Lines of lists of contents: they begin with a number of two parts or more, end no sentence and follow each other,
    and most of them are headings elsewhere in the text. A title may go on in the next line."""
    runs: list[list[Span]] = []
    behind = -1  # where the line behind the last one of a list begins
    lines = {found.start(): found for found in _NUMBERED.finditer(text)}
    for start, line in lines.items():
        end = line.end()
        if end + 1 not in lines:  # the title is wrapped, or the last one
            wrapped = text.find("\n", end + 1)
            end = wrapped if wrapped >= 0 and wrapped + 1 in lines and text[end:wrapped].strip() else end
        title = text[line.start("title") : end].rstrip()
        if title[-1] in _SAID or len(title.split()) > TITLE_WORDS:
            behind = -1
            continue
        if start != behind:
            runs.append([])
        behind = end + 1
        if line["parts"]:
            runs[-1].append(Span(start, end))
    lists = [run for run in runs if len(run) >= CONTENTS]
    listed = {span.start for run in lists for span in run}
    alone = {_LED.sub("", line[0]).strip() for start, line in lines.items() if start not in listed}
    out = []
    for run in lists:
        headings = sum(_LED.sub("", lines[span.start][0]).strip() in alone for span in run)
        out += run if 2 * headings > len(run) else []
    return out


def _add_table(marked: MarkedText, start: int, end: int) -> None:
    """Rows are what stands between two drawn lines; without such lines each line is a row."""
    lines = [f"{line}\n" for line in marked.text[start:end].removesuffix("\n").split("\n")]
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
            said = (cell for cell in _CELL.finditer(line) if not cell[0].isspace())
            cells = [Span(at + cell.start(), at + cell.end()) for cell in said]
            marked.cells += cells
            if not ruled:
                marked.wholes += cells
        at += len(line)
