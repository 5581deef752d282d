"""reStructuredText: headings by their underlines, literal blocks and code directives, tables, roles and directives."""

from __future__ import annotations

import re

from doublet.model import Span
from doublet.text.markup.marked import MarkedText, Painter, number_headings

_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_DIRECTIVE = re.compile(r"([ \t]*)\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w:-]+)::[ \t]*")
_COMMENT = re.compile(r"[ \t]*\.\.(?:[ \t]+(?!\[)|[ \t]*$)")
_OPTION = re.compile(r"[ \t]*:[\w-]+:(?:[ \t]|$)")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,4}[.)]|#\.)[ \t]+")
_CODE = frozenset(
    "code code-block sourcecode highlight parsed-literal literalinclude prompt doctest testcode math".split()
)
_TABLE = frozenset(["table", "list-table", "csv-table", "tabularcolumns"])
_GRID = re.compile(r"[ \t]*(?:\+[-=+]{3,}\+|={2,}(?:[ \t]+={2,})+)[ \t]*$")
_INLINE = re.compile(
    r":[\w:.+-]+:(?=`)"  # the name of a role
    r"|[ \t]<[^<>\n]+>(?=`)"  # the target of a link
    r"|`{1,2}_{0,2}|\*{1,2}|\|(?=\w)|(?<=\w)\||(?<=\w)_{1,2}(?!\w)"
)


def read_rst(text: str) -> MarkedText:
    paint = Painter(text)
    marked = MarkedText("rst", text, text)
    headings: list[tuple[Span, int, str]] = []
    levels: list[str] = []
    lines = [(m.start(), m.end(), m[0].rstrip("\r\n")) for m in _LINE.finditer(text) if m[0]]
    number = 0
    while number < len(lines):
        start, end, line = lines[number]
        indent = _indent(line)
        directive = _DIRECTIVE.match(line)
        if directive:
            name = directive[2]
            last = _block_end(lines, number, indent)
            if name in _CODE:
                body = _body(lines, number + 1, last)
                marked.code.append(Span(lines[body][0] if body < last else end, lines[last - 1][1]))
                paint.blank(start, lines[body - 1][1] if body <= last else end, border=True)
                number = last
                continue
            if name in _TABLE:
                marked.tables.append(Span(end, lines[last - 1][1]))
            paint.blank(start, start + directive.end(), border=True)
            number += 1
            while number < last and _OPTION.match(lines[number][2]):
                paint.blank(lines[number][0], lines[number][1], border=True)
                number += 1
            continue
        if _COMMENT.match(line):
            last = _block_end(lines, number, indent)
            paint.blank(start, lines[last - 1][1], border=True)
            number = last
            continue
        if _GRID.match(line):
            last = number + 1
            while last < len(lines) and lines[last][2].strip():
                last += 1
            marked.tables.append(Span(start, lines[last - 1][1]))
        if _ADORNMENT.match(line) and indent == 0:
            above = lines[number - 1] if number else None
            if (
                above
                and above[2].strip()
                and not _ADORNMENT.match(above[2])
                and len(above[2]) <= len(line) + 2
            ):
                over = number > 1 and _ADORNMENT.match(lines[number - 2][2]) is not None
                style = line[0] * (2 if over else 1)
                if style not in levels:
                    levels.append(style)
                headings.append((Span(above[0], above[0] + len(above[2])), levels.index(style) + 1, above[2]))
            paint.blank(start, end, border=True)
        elif line.rstrip().endswith("::") and line.strip() != "..":
            last = _block_end(lines, number, indent)
            body = number + 1
            while body < last and not lines[body][2].strip():
                body += 1
            if body < last:
                marked.code.append(Span(lines[body][0], lines[last - 1][1]))
            mark = start + len(line.rstrip()) - 1
            paint.blank(mark, mark + 1)
            number = last
            continue
        item = _ITEM.match(line)
        if item:
            paint.blank(start, start + item.end(), border=True)
        number += 1
    at = 0
    for span in [*sorted(marked.code), Span(len(text), len(text))]:
        for match in _INLINE.finditer(text, at, max(at, span.start)):
            paint.blank(*match.span())
        at = max(at, span.end)
    marked.masked = paint.masked()
    marked.headings = number_headings(headings)
    marked.code.sort()
    marked.tables.sort()
    return marked


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _block_end(lines: list[tuple[int, int, str]], number: int, indent: int) -> int:
    """Number of the first line after the block that is indented more than the line *number*."""
    last = at = number + 1
    while at < len(lines):
        line = lines[at][2]
        if line.strip():
            if _indent(line) <= indent:
                break
            last = at + 1
        at += 1
    return last


def _body(lines: list[tuple[int, int, str]], number: int, last: int) -> int:
    """First line behind the options of a directive and the blank lines after them."""
    while number < last and (_OPTION.match(lines[number][2]) or not lines[number][2].strip()):
        number += 1
    return number
