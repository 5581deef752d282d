"""reStructuredText: headings by their underlines, lists, tables, directives, literal blocks and inline marks.

Directives lose their names and options and keep their words, except those that only point somewhere (images, tables of
contents, targets). Comments are dropped, roles and links keep their text, grid and simple tables their cells. Line by
line and mark by mark, in linear time; what is not understood stays as text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from doublet.model import Span
from doublet.text.markup.marked import Block, MarkedText, Piece, Structure

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*\Z")
_GRID = re.compile(r"[ \t]*\+(?:[-=]+\+)+[ \t]*\Z")
_SIMPLE = re.compile(r"[ \t]*=+(?:[ \t]+=+)+[ \t]*\Z")
_DASHES = re.compile(r"[ \t]*-+(?:[ \t]+-+)+[ \t]*\Z")
_EXPLICIT = re.compile(r"(\s*)\.\.(?:[ \t]+|\Z)")
_DIRECTIVE = re.compile(r"(?:\|[^|]+\|[ \t]+)?([A-Za-z][\w:.+-]*?)[ \t]*::(?:[ \t]+|\Z)")
_FOOTNOTE = re.compile(r"\[(?:\d+|#\w*|\*|[\w.-]+)\][ \t]*")
_OPTION = re.compile(r"\s*:[\w -]+:(?:\s|\Z)")
_FIELD = re.compile(r"\s*:((?:[^:\n\\]|\\.)+):(?=\s|\Z)[ \t]*")
_BULLET = re.compile(r"\s*(?:[-*+•][ \t]+|\(?(?:\d+|#|[A-Za-z]|[ivxlcdmIVXLCDM]+)[.)][ \t]+)")
_LINE_BLOCK = re.compile(r"\s*\|[ \t]?")

_SIGN = re.compile(r"[\\`*|:_\[]")
_ROLE = re.compile(r"[\w.+:-]+")
_NOTE_MARK = re.compile(r"\[(?:\d+|#\w*|\*)\]_")
_CITATION_MARK = re.compile(r"\[([\w.-]+)\]_")
_STARS = re.compile(r"\*+")
_SUBSTITUTION = re.compile(r"\|(?=\S)([^|\n]+)(?<=\S)\|_{0,2}")
_REFERENCE = re.compile(r"_+(?=[\s.,;:!?)]|\Z)")

# They point to something or set something up: no words of theirs belong to the text.
_SILENT = frozenset(
    "image contents toctree include raw default-role highlight index meta role sectnum "
    "target-notes title unicode replace date module currentmodule py:module py:currentmodule "
    "automodule autoclass autofunction graphviz math only tabularcolumns".split()
)
_OWN_WORDS = frozenset(  # the argument is a name for programs, not for readers
    "code code-block sourcecode parsed-literal literalinclude figure class container highlights csv-table "
    "list-table productionlist prompt doctest testcode".split()
)
_CODE = frozenset(
    "code code-block sourcecode parsed-literal literalinclude productionlist prompt doctest testcode".split()
)
_RULED = re.compile(r"\s*(?:\+[-=+]+\+|=+(?:[ \t]+=+)+)\s*$")  # a line that is drawn in a table
_CELL = re.compile(r"[^\s|](?:[^|\s]|[ \t](?![ \t]))*")
_TABLE = frozenset(["table", "list-table", "csv-table"])

Line = tuple[int, int, str]  #: start, start of the next one, and what is on it
Stretch = tuple[int, int, str | None]  #: of the source, and what is shown there if not the source


def read_rst(text: str) -> MarkedText:
    marked = read_structure(text).marked("rst", text)
    if marked.tables:
        rows, marked.cells = _rows(text, marked.tables)
        marked.wholes = sorted([*marked.tables, *rows, *marked.cells])
    return marked


def _rows(text: str, tables: Sequence[Span]) -> tuple[list[Span], list[Span]]:
    """The rows of *tables* that are drawn with lines, and the cells of those rows that are one line each."""
    rows: list[Span] = []
    cells: list[Span] = []
    for table in tables:
        lines = list(_LINE.finditer(text, table.start, table.end))
        if not any(_RULED.match(line[0]) for line in lines):
            continue  # a list that is shown as a table
        row: list[re.Match[str]] = []
        for line in lines:
            ruled = _RULED.match(line[0]) is not None
            goes_on = line[0].lstrip().startswith("|") or line[0].startswith(" " * (_indent(lines[0][0]) + 1))
            if row and (ruled or not goes_on):
                _add_row(row, rows, cells)
                row = []
            if not ruled and line[0].strip():
                row.append(line)
        if row:
            _add_row(row, rows, cells)
    return rows, cells


def _add_row(row: Sequence[re.Match[str]], rows: list[Span], cells: list[Span]) -> None:
    rows.append(Span(row[0].start(), row[-1].end()))
    if len(row) == 1:
        at = row[0].start()
        cells += [Span(at + found.start(), at + found.end()) for found in _CELL.finditer(row[0][0])]


def read_structure(text: str) -> Structure:
    reader = _Reader(text)
    reader.read()
    return reader.found


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: list[Line] = [
            (found.start(), found.end(), found[0].rstrip("\r\n"))
            for found in _LINE.finditer(text)
            if found[0]
        ]
        self.found = Structure()
        self._block: list[list[Stretch]] = []  # the lines of the block that is going on
        self._element = ""
        self._levels: dict[str, int] = {}
        self._table_end = 0

    def read(self) -> None:
        at = 0
        while at < len(self.lines):
            start, _, line = self.lines[at]
            bare = line.strip()
            explicit = _EXPLICIT.match(line)
            if not bare:
                self._finish()
            elif explicit:
                self._finish()
                at = self._explicit(at, explicit)
                self._finish()
                continue
            elif _ADORNMENT.match(bare) and not line[0].isspace():
                self._adorned(at)
            elif _GRID.match(line) or _SIMPLE.match(line):
                self._finish()
                self._table(at)
            elif _DASHES.match(line) and self._block:
                self._finish()
            elif _OPTION.match(line) and (field := _FIELD.match(line)):
                self._finish()
                stretches: list[Stretch] = [(start + field.start(1), start + field.end(1), None)]
                if field.end() < len(line.rstrip()):
                    stretches += [(start, start, ": "), (start + field.end(), start + len(line), None)]
                self._block.append(stretches)
            else:
                at = self._paragraph(at)
                continue
            at += 1
        self._finish()

    def _finish(self) -> None:
        """The block that is going on is whole."""
        if self._block:
            pieces = _literal(self._block) if self._element == "code" else _inline(self.text, self._block)
            self.found.blocks.append(Block(pieces, self._element))
        self._block, self._element = [], ""

    def _put(self, at: int, begin: int = 0, end: int | None = None) -> None:
        """A line, or the columns *begin* to *end* of it, without the blanks around."""
        start, _, line = self.lines[at]
        part = line[begin:end]
        lead = len(part) - len(part.lstrip())
        self._block.append([(start + begin + lead, start + begin + lead + len(part.strip()), None)])

    def _adorned(self, at: int) -> None:
        """A heading, when one line stands above; else a line across the page, or the one over a heading."""
        line = self.lines[at][2]
        if len(self._block) == 1 and self._element == "" and at:
            above, _, words = self.lines[at - 1]
            self._element = "heading"
            if len(words) <= len(line) + 2:
                over = at > 1 and _ADORNMENT.match(self.lines[at - 2][2]) is not None
                level = self._levels.setdefault(line[0] * (2 if over else 1), len(self._levels) + 1)
                self.found.headings.append((Span(above, above + len(words)), level, words))
        self._finish()

    def _table(self, at: int) -> None:
        if at < self._table_end:
            return
        last = at + 1
        while last < len(self.lines) and self.lines[last][2].strip():
            last += 1
        self._table_end = last
        self.found.tables.append(Span(self.lines[at][0], self.lines[last - 1][1]))

    def _paragraph(self, at: int) -> int:
        """A line of a paragraph, a list or a table; and the literal block that a paragraph announces."""
        start, _, line = self.lines[at]
        bare = line.strip()
        if bare.startswith("|") and bare.endswith("|") and len(bare) > 2:
            self._block.append(self._cells(start + len(line) - len(line.lstrip()), bare))
            return at + 1
        bullet = _BULLET.match(line)
        if bullet and len(line) > bullet.end():
            self._finish()
            begin = bullet.end()
        else:
            found = _LINE_BLOCK.match(line)
            begin = found.end() if found else 0
        rest = line[begin:].rstrip()
        if not rest.endswith("::"):
            self._put(at, begin)
            return at + 1
        if rest.strip() != "::":
            self._put(at, begin, begin + len(rest) - 2)
            colon = start + begin + len(rest) - 2
            self._block[-1].append((colon, colon + 1, None))
        self._finish()
        return self._literal_block(at + 1, _indent(line))

    def _cells(self, start: int, bare: str) -> list[Stretch]:
        row: list[Stretch] = []
        for found in re.finditer(r"[^|]+", bare):
            cell = found[0].strip()
            begin = start + found.start() + len(found[0]) - len(found[0].lstrip())
            row += [*([(begin, begin, "\t")] if row else []), (begin, begin + len(cell), None)]
        return row

    def _literal_block(self, at: int, indent: int) -> int:
        """Everything that stands further in, as it is."""
        first = at
        last = self._block_end(at, indent)
        for number in range(first, last):
            if self.lines[number][2].strip():
                if not self._block:
                    first = number
                self._put(number)
        if self._block:
            self._element = "code"
            self.found.code.append(Span(self.lines[first][0], self.lines[last - 1][1]))
        self._finish()
        return last

    def _block_end(self, at: int, indent: int) -> int:
        """The line after those that are blank or stand further in than *indent*."""
        while at < len(self.lines) and (not self.lines[at][2].strip() or _indent(self.lines[at][2]) > indent):
            at += 1
        return at

    def _explicit(self, at: int, found: re.Match[str]) -> int:
        """A block that begins with two points: directive, note, target or comment. Gives the line after it."""
        line = self.lines[at][2]
        indent = _indent(line)
        begin = found.end()
        end = self._block_end(at + 1, indent)
        directive = _DIRECTIVE.match(line, begin)
        if directive:
            return self._directive(at, end, indent, directive)
        note = _FOOTNOTE.match(line, begin)
        if note:
            if note.end() < len(line):
                self._put(at, note.end())
            return at + 1
        if line[begin:].strip():
            return end  # a target, a substitution or a comment
        return end if at + 1 < len(self.lines) and self.lines[at + 1][2].strip() else at + 1

    def _directive(self, at: int, end: int, indent: int, directive: re.Match[str]) -> int:
        name = directive.group(1)
        if name in _TABLE and end > at + 1:
            self.found.tables.append(Span(self.lines[at][1], self.lines[end - 1][1]))
        if name in _SILENT:
            return end
        line = self.lines[at][2]
        if directive.end() < len(line) and name not in _OWN_WORDS:
            self._put(at, directive.end())
        body = at + 1
        while body < end and _OPTION.match(self.lines[body][2]):
            body += 1
        if name in _CODE:
            return self._literal_block(body, indent)
        return body  # read on as ordinary text


def _indent(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip())].expandtabs(8))


def _literal(lines: list[list[Stretch]]) -> list[Piece]:
    pieces: list[Piece] = []
    for stretches in lines:
        if pieces:
            pieces.append(Piece(pieces[-1].end, pieces[-1].end, "\n"))
        pieces += [Piece(*stretch) for stretch in stretches]
    return pieces


def _inline(text: str, lines: list[list[Stretch]]) -> list[Piece]:
    """The pieces of a block with roles, links, emphasis and escapes undone: a mark may go from line to line."""
    parts = [
        text[piece.start : piece.end] if piece.shown is None else piece.shown for piece in _literal(lines)
    ]
    if not _SIGN.search(joined := "".join(parts)):
        return _literal(lines)
    pieces: list[Piece] = []
    kept = iter(_shown(joined))
    start, end = next(kept, (len(joined), len(joined)))
    at = 0
    for piece, part in zip(_literal(lines), parts, strict=True):
        after = at + len(part)
        while start < after:
            low, high = max(start, at), min(end, after)
            if piece.shown is None:
                pieces.append(Piece(piece.start + low - at, piece.start + high - at))
            else:
                pieces.append(Piece(piece.start, piece.end, part[low - at : high - at]))
            if end > after:
                break
            start, end = next(kept, (len(joined), len(joined)))
        at = after
    return pieces


def _shown(text: str) -> list[tuple[int, int]]:
    """The stretches of a block that are words, not marks."""
    return _Inline(text).read()


class _Inline:
    def __init__(self, text: str) -> None:
        self.text = text
        self.kept: list[tuple[int, int]] = []
        self._missing: set[str] = set()  # marks that do not come any more

    def read(self) -> list[tuple[int, int]]:
        text, at = self.text, 0
        opened: list[tuple[int, int, int]] = []  # an emphasis: its place among what is kept, start, end
        while found := _SIGN.search(text, at):
            start = found.start()
            self._keep(at, start)
            sign = text[start]
            if sign == "\\":
                at = self._escaped(start)
            elif sign == "`":
                at = self._quoted(start)
            elif sign == "*":
                at = self._stars(start, opened)
            elif sign == "|":
                at = self._bar(start)
            elif sign == ":":
                at = self._colon(start)
            elif sign == "[":
                at = self._bracket(start)
            else:
                at = self._underscore(start)
        self._keep(at, len(text))
        return self.kept

    def _keep(self, start: int, end: int) -> None:
        if end > start:
            self.kept.append((start, end))

    def _escaped(self, at: int) -> int:
        if at + 1 < len(self.text) and not self.text[at + 1].isspace():
            self._keep(at + 1, at + 2)
        return at + 2

    def _end(self, mark: str, at: int) -> int:
        """Where *mark* comes next and is not escaped; -1 when it does not come any more."""
        if mark in self._missing:
            return -1
        end = self.text.find(mark, at)
        while end > 0 and self.text[end - 1] == "\\":
            end = self.text.find(mark, end + 1)
        if end < 0:
            self._missing.add(mark)
        return end

    def _quoted(self, at: int) -> int:
        """``literal``, `interpreted`:role:, `link <target>`_."""
        text = self.text
        if text.startswith("``", at):
            end = self.text.find("``", at + 2) if "``" not in self._missing else -1
            if end < 0:
                self._missing.add("``")
                self._keep(at, at + 2)
                return at + 2
            while text.startswith("`", end + 2):
                end += 1
            self._keep(at + 2, end)
            return end + 2
        end = self._end("`", at + 1)
        if end < 0:
            self._keep(at, at + 1)
            return at + 1
        self._interpreted(at + 1, end, role=False)
        return self._after_quoted(end + 1)

    def _after_quoted(self, at: int) -> int:
        if self.text.startswith(":", at) and (role := _ROLE.match(self.text, at)):
            last = self.text.rfind(":", at + 1, role.end())
            return last + 1 if last > at else at
        while self.text.startswith("_", at):
            at += 1
        return at

    def _interpreted(self, start: int, end: int, *, role: bool) -> None:
        content = self.text[start:end]
        target = content.rfind("<") if content.endswith(">") else -1
        if target >= 0:
            content = content[:target].rstrip()
        elif role:
            start += len(content) - len(content.lstrip("~!"))
            content = content.lstrip("~!")
        at = start
        end = start + len(content)
        while (slash := self.text.find("\\", at, end)) >= 0:
            self._keep(at, slash)
            at = self._escaped(slash)
        self._keep(at, end)

    def _stars(self, at: int, opened: list[tuple[int, int, int]]) -> int:
        text = self.text
        end = _STARS.match(text, at).end()  # type: ignore[union-attr] # it begins with one
        before, after = text[at - 1 : at], text[end : end + 1]
        if opened and before and not before.isspace() and not (after.isalnum() or after == "_"):
            number, start, stop = opened.pop()
            self.kept[number] = (start, start) if stop - start <= 2 else (start, stop - 2)
            self._keep(at, end - min(2, end - at))
            return end
        begins = end - at <= 2 and after and not after.isspace() and not (before.isalnum() or before == "_")
        if begins and not opened:
            opened.append((len(self.kept), at, end))
        self._keep(at, end)
        return end

    def _bar(self, at: int) -> int:
        before = self.text[at - 1 : at]
        found = None if before.isalnum() or before in ("_", "|") else _SUBSTITUTION.match(self.text, at)
        if found is None:
            self._keep(at, at + 1)
            return at + 1
        self._keep(*found.span(1))
        return found.end()

    def _colon(self, at: int) -> int:
        """:role:`words`"""
        text = self.text
        before = text[at - 1 : at]
        run = _ROLE.match(text, at)
        end = run.end() if run else at + 1
        if before.isalnum() or before in ("_", "`") or not text.startswith(":`", end - 1) or end - at < 3:
            self._keep(at, end)
            return end
        last = -1 if text.startswith("``", end) else self._end("`", end + 1)
        if last < 0:
            self._keep(at, end)
            return end
        self._interpreted(end + 1, last, role=True)
        return self._after_quoted(last + 1)

    def _bracket(self, at: int) -> int:
        if found := _NOTE_MARK.match(self.text, at):
            if self.kept and self.kept[-1][1] == at and self.text[at - 1].isspace():
                start, end = self.kept[-1]
                self.kept[-1] = (start, end - 1)
            return found.end()
        if found := _CITATION_MARK.match(self.text, at):
            self._keep(*found.span(1))
            return found.end()
        self._keep(at, at + 1)
        return at + 1

    def _underscore(self, at: int) -> int:
        found = _REFERENCE.match(self.text, at) if self.text[at - 1 : at].isalnum() else None
        if found and found.end() - at <= 2:
            return found.end()
        end = at + 1
        while self.text.startswith("_", end):
            end += 1
        self._keep(at, end)
        return end
