"""Markdown: headings, fenced and indented code, tables, links and inline marks. Line by line, in linear time."""

from __future__ import annotations

import re

from doublet.model import Span
from doublet.repeats.markup.plan import Painter, Plan, number_headings

_MARKS = frozenset(
    "`~#=-|>[*+:0123456789"
)  # what a line begins with that may be more than a line of a paragraph
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*$|\s*:?-{3,}:?\s*(?:\|\s*:?-{3,}:?\s*)+\|?\s*$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]")
_QUOTE = re.compile(r"\s*(?:>\s?)+")
_DEFINITION = re.compile(r"\s*\[[^\]\n]+\]:[ \t]+\S")  # of the address behind a name
# It begins with one class of signs and looks back at which it was: so the search runs over ordinary letters quickly.
_INLINE = re.compile(
    r"[<\]!\[*_`~](?:"
    r"(?<=<)(?:!--.*?(?:-->|\Z)|/?[A-Za-z][^<>\n]*>)"
    r"|(?<=\])(?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\]\n]*\])"  # the address of a link
    r"|(?<=!)\[|(?<=\[)"
    r"|(?<=\*)\*{0,2}|(?<=_)_+|(?<=`)`*|(?<=~)~)",
    re.DOTALL,
)


def read_markdown(text: str) -> Plan:
    paint = Painter(text)
    plan = Plan("markdown", text, text)
    headings: list[tuple[Span, int, str]] = []
    fence = ""
    fence_at = 0
    before = before_end = 0  # the line before, when it is a paragraph
    code_at = -1  # of indented code
    blank = True
    in_list = False
    table_at = table_end = -1
    at = _front_matter(text, paint)
    end = at
    for line in text[at:].split("\n"):
        start = end
        end = start + len(line) + 1
        first = line[:1] or "\n"
        if first not in _MARKS and not first.isspace() and table_at < 0 and code_at < 0 and not fence:
            # An ordinary line: most are.
            in_list = in_list and not blank
            before, before_end = start, end - 1
            blank = False
            continue
        if line[-1:] == "\r":
            line = line.rstrip("\r")  # noqa: PLW2901 - the same line without what ends it
        end = min(end, len(text))
        stripped = line.strip()
        if fence:
            if stripped.startswith(fence) and not stripped.strip(fence[0]):
                plan.code.append(Span(fence_at, start))
                paint.blank(start, end, border=True)
                fence = ""
            continue
        indented = line.startswith(("    ", "\t"))
        if code_at >= 0 and stripped and not indented:
            plan.code.append(Span(code_at, start))
            code_at = -1
        if table_at >= 0 and not _TABLE_ROW.match(line):
            plan.tables.append(Span(table_at, table_end))
            table_at = -1
        if not stripped:
            blank = True
            before_end = 0
            continue
        if stripped[0] not in _MARKS and not indented:
            in_list = in_list and not blank
            before, before_end = start, start + len(line)
            blank = False
            continue
        opened = _FENCE.match(line.lstrip() if in_list else line)
        if opened:
            fence, fence_at = opened[1], end
            paint.blank(start, end, border=True)
        elif indented and code_at < 0 and blank and not in_list:
            code_at = start
        elif code_at < 0:
            heading = _HEADING.match(line)
            underline = _UNDERLINE.match(line) if before_end else None
            if heading:
                title = line[heading.end() :].rstrip().rstrip("#").strip()
                headings.append((Span(start, start + len(line)), len(heading[1]), _plain(title)))
                paint.blank(start, start + heading.end(), border=True)
                paint.blank(start + len(line), end, border=True)
            elif underline:
                before_end = before + len(text[before:before_end].rstrip("\r"))
                title = text[before:before_end]
                headings.append((Span(before, before_end), 1 if underline[1][0] == "=" else 2, _plain(title)))
                paint.blank(start, end, border=True)
            elif _TABLE_ROW.match(line):
                table_at = start if table_at < 0 else table_at
                table_end = end
            elif _DEFINITION.match(line):
                paint.blank(start, start + len(line))
            item = _ITEM.match(line)
            quote = _QUOTE.match(line)
            if item:
                paint.blank(start, start + item.end(), border=True)
                in_list = True
            elif quote:
                paint.blank(start, start + quote.end())
            elif not indented and blank:
                in_list = False
            before, before_end = (0, 0) if heading or underline else (start, start + len(line))
        blank = False
    if fence:
        plan.code.append(Span(fence_at, len(text)))
    if code_at >= 0:
        plan.code.append(Span(code_at, len(text)))
    if table_at >= 0:
        plan.tables.append(Span(table_at, table_end))
    _inline(text, plan, paint, at)
    plan.masked = paint.masked()
    plan.headings = number_headings(headings)
    plan.code.sort()
    return plan


def _front_matter(text: str, paint: Painter) -> int:
    """End of the settings between two lines of dashes at the very beginning."""
    found = re.match(r"---[ \t]*\r?\n(?:[^\n]*\n){0,200}?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", text)
    if not found:
        return 0
    paint.blank(0, found.end(), border=True)
    return found.end()


def _inline(text: str, plan: Plan, paint: Painter, at: int) -> None:
    """Blank the inline marks outside code."""
    for span in [*plan.code, Span(len(text), len(text))]:
        if span.start > at:
            for match in _INLINE.finditer(text, at, span.start):
                paint.blank(*match.span())
        at = max(at, span.end)


def _plain(title: str) -> str:
    return re.sub(r"\]\([^)]*\)|[*_`\[\]]", "", title).strip()
