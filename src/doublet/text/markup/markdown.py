"""Markdown: headings, fenced and indented code, tables, links and inline marks.

The reader is the kernel `mark_markdown`, which blanks out what is markup. For the search for repeats only character
references are left to do. For the words of a document (`read_structure`) it is handed a copy of the text in which signs
that stand for themselves are replaced, one for one: escaped ones, those in inline code, brackets that are no links. A
test compares the words of both.
"""

from __future__ import annotations

import html
import itertools
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np

from doublet import kernels
from doublet.kernels.blanks import FILLER, INLINE_TAGS, QUIET
from doublet.model import Span
from doublet.text.markup.marked import Block, MarkedText, Piece, Structure, number_headings

_FRONT_TITLE = re.compile(r"^title[ \t]*:[ \t]*(\S.*)$", re.M | re.I)
_FRONT = re.compile(r"---[ \t]*\r?\n(?:[^\n]*\n){0,200}?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_TICKS = re.compile(r"(?<![`\\])`+")
_EMPTY_LINE = re.compile(r"\n[ \t\r]*(?=\n)|^[ \t]*`{3,}", re.M)  # or a fence: no inline code goes over it
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ESCAPE = re.compile(r"\\(?:[!-/:-@\[-`{-~]|(?=\r?\n))")
_AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.+-]+@[\w.-]+)>")
_TAG = re.compile(
    r"</?([A-Za-z][A-Za-z0-9-]*)"
    r"(?:\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'=<>`]+))?)*\s*/?>"
)
_ANGLE = re.compile(r"<(?=/?[A-Za-z])")
_NOTE = re.compile(r"^ {0,3}\[\^[^\]\s]+\]:", re.M)
_NOTE_MARK = re.compile(r"\[\^[^\]\s\[]+\]")
_ATTRIBUTES = re.compile(r"(?<![ \t])[ \t]*\{[#.:][^{}\n]*\}")
_DEFINITION = re.compile(r"^ {0,3}\[([^\[\]\n]+)\]:[ \t]*\S", re.M)
_BRACKET = re.compile(r"[\[\]]")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}\Z")
_DIV = re.compile(r":{3,}")
_BAR = re.compile(r"(?<!\\)\|")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|\Z)")
_BOLD_LINE = re.compile(
    r"(?:\A|^[ \t\r]*\n)[ \t]*(?P<label>\*\*(?=\S)[^*\n]*[^*\s.!?…]\*\*:?)[ \t\r]*(?=\n[ \t\r]*(?:$|```|~~~|[-*+] ))",
    re.M,
)  # with an empty line before it, and behind it too unless a listing or a list follows
_LINKED_LINE = re.compile(
    r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(?P<label>[^\[\]\n]+)\]\([^()\n]*\)[ \t\r]*$", re.M
)
# Lines of MDX that take components from files: as a rule between the front matter and the text.
_IMPORTS = re.compile(r"(?:^import[ \t][^\n]*[\"'][^\"'\n]+[\"'];?[ \t\r]*(?:\n|\Z))+", re.M)
_DELIMITERS = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*\Z")
# What stands in the copy for a sign of the text: itself, nothing, a line end, a blank.
_KEPT, _DROPPED, _LINE_END, _BLANK = "\ue000", "\ue001", "\ue002", "\ue003"
_SIGNS = str.maketrans(dict.fromkeys("!\"#$%&'()*+,-./:;<=>?@[\\]^_{|}~", _KEPT))
_TITLE_MARKS = re.compile(
    r"\]\([^)]*\)|\]\[[^\]]*\]|[*_`\[\]]|[ \t]*\{[#.:][^{}]*\}[ \t]*\Z|</?(?:"
    + "|".join(sorted(INLINE_TAGS))
    + r")\b[^<>]*>",
    re.I,
)


def read_markdown(text: str) -> MarkedText:
    return read_all_markdown([text])[0]


def read_all_markdown(texts: Sequence[str], threads: int = 1) -> list[MarkedText]:
    """The marked_texts of several texts, read in so many threads."""
    marked_texts = []
    for text, (masked, headings, code, tables) in zip(
        texts, kernels.mark_markdown(texts, threads), strict=True
    ):
        marked = MarkedText("markdown", text, text if masked is None else masked)
        if headings:
            marked.headings = number_headings(
                [
                    (Span(start, end), level, _title(text, start, end, begin))
                    for start, end, level, begin in headings
                ]
            )
        if code:
            marked.code = sorted(Span(*span) for span in code)
        if tables:
            marked.tables = list(_whole_tables(text, tables))
            marked.masked = _without_wraps(text, marked.masked, marked.tables)
            marked.wholes, marked.cells = _rows(text, marked.tables)
        if "import " in text:
            marked.code = sorted([*marked.code, *_imports(text, marked.code)])
        if "](" in text:
            marked.links = [Span(*found.span("label")) for found in _LINKED_LINE.finditer(text)]
        if "**" in text:
            marked.labels = _labels(text, marked.code)
        if "&" in text and ENTITY.search(marked.masked):
            marked.masked = _without_references(marked.masked, marked.code)
        marked_texts.append(marked)
    return marked_texts


def _without_references(masked: str, code: Sequence[Span]) -> str:
    """Outside blocks of code each character reference is the character that it stands for."""
    starts = [span.start for span in code]

    def character(found: re.Match[str]) -> str:
        at = bisect_right(starts, found.start()) - 1
        shown = html.unescape(found[0])
        if len(shown) > 2 or (
            at >= 0 and found.start() < code[at].end
        ):  # of no known name, or nothing to be read
            return found[0]
        shown = shown.replace("\n", QUIET)
        inside = shown.isalnum() or unicodedata.category(shown[-1:] or " ") == "Cf"  # of a word
        return shown + (FILLER if inside else QUIET) * (len(found[0]) - len(shown))

    return ENTITY.sub(character, masked)


def _imports(text: str, code: Sequence[Span]) -> list[Span]:
    """Lines that import something, outside of listings."""
    starts = [span.start for span in code]
    return [
        Span(*found.span())
        for found in _IMPORTS.finditer(text)
        if (at := bisect_right(starts, found.start()) - 1) < 0 or code[at].end <= found.start()
    ]


def _labels(text: str, code: Sequence[Span]) -> list[Span]:
    """Paragraphs that are nothing but bold words and no sentence: they stand over what follows, as a heading does."""
    starts = [span.start for span in code]
    out = []
    for found in _BOLD_LINE.finditer(text):
        at = bisect_right(starts, found.start()) - 1
        if at < 0 or code[at].end <= found.start():
            out.append(Span(*found.span("label")))
    return out


def _whole_tables(text: str, tables: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """*tables* with the rows that do not begin with a bar: one before the line of dashes, and those behind it."""
    behind = 0
    for start, end in tables:
        if start < behind:
            continue
        if not text[start:end].lstrip().startswith("|"):
            above = text.rfind("\n", 0, start - 1) + 1
            if above >= behind and "|" in text[above:start]:
                start = above  # noqa: PLW2901
                while end < len(text):
                    line = text.find("\n", end) + 1 or len(text)
                    if "|" not in text[end:line]:
                        break
                    end = line  # noqa: PLW2901
        behind = end
        yield Span(start, end)


def _without_wraps(text: str, masked: str, tables: Sequence[Span]) -> str:
    """*masked*, with the ends of all rows of *tables*: none is wrapped."""
    pieces, at = [], 0
    for start, end in tables:
        first = text.rfind("\n", 0, start)
        begin = max(at, first)
        rows = masked[begin:end]
        if text.count("\n", begin, end) != rows.count("\n"):
            rows = "".join(
                ["\n" if old == "\n" else new for old, new in zip(text[begin:end], rows, strict=True)]
            )
        pieces += [masked[at:begin], rows]
        at = end
    return "".join([*pieces, masked[at:]])


def _rows(text: str, tables: Sequence[Span]) -> tuple[list[Span], list[Span]]:
    """Tables with their rows and cells, and the cells alone."""
    wholes, cells = list(tables), []
    for table in tables:
        at = table.start
        for line in text[table.start : table.end].splitlines(keepends=True):
            bars = [at, *(at + bar.start() for bar in _BAR.finditer(line)), at + len(line)]
            wholes.append(Span(at, at + len(line)))
            cells += [Span(one, two) for one, two in itertools.pairwise(bars)]
            at += len(line)
    return sorted(wholes + cells), cells


def _title(text: str, start: int, end: int, begin: int) -> str:
    title = text[begin:end]
    if begin > start:  # behind number signs, which may stand behind the title too
        title = title.rstrip().rstrip("#").strip()
    return _TITLE_MARKS.sub("", title).strip()


def read_structure(text: str) -> Structure:
    """The blocks of a document, without its markup."""
    front = _FRONT.match(text)
    named = _FRONT_TITLE.search(front[0]) if front else None
    found = Structure(title=named.group(1).strip().strip("\"'") if named else "")
    guarded = _guarded(text)
    marked, headings, code, tables = kernels.mark_markdown([guarded])[0]
    found.headings = [(Span(start, end), level, text[begin:end]) for start, end, level, begin in headings]
    found.code = sorted(Span(*span) for span in code)
    found.tables = [Span(*span) for span in tables]
    levels = {start: level if begin > start else -level for start, _, level, begin in headings}
    _Blocks(text, guarded, marked or guarded, found, levels).read()
    return found


def _guarded(text: str) -> str:
    """The copy for the kernel, as long as the text and with its line ends."""
    if "`" in text:
        text = _without_code(text)
    if "\\" in text:
        text = _ESCAPE.sub(lambda found: _DROPPED + _KEPT * (len(found[0]) - 1), text)
    if "<" in text:
        text = _AUTOLINK.sub(lambda found: f"{_DROPPED}{found[0][1:-1].translate(_SIGNS)}{_DROPPED}", text)
        text = _ANGLE.sub(_KEPT, _TAG.sub(_tag, text))
    if "[" in text:
        text = _NOTE_MARK.sub(_dropped, _NOTE.sub(_dropped, text))
        text = _without_brackets(text)
    if "{" in text:
        text = _ATTRIBUTES.sub(_dropped, text)
    return text


def _dropped(found: re.Match[str]) -> str:
    return re.sub(r"[^\r\n]", _DROPPED, found[0])


def _tag(found: re.Match[str]) -> str:
    name = found.group(1).lower()
    sign = _DROPPED if name in INLINE_TAGS else _LINE_END if name == "br" else _BLANK
    return sign + _dropped(found)[1:]


def _without_code(text: str) -> str:
    """Signs in inline code stand for themselves. It goes from some ticks to as many, inside a paragraph."""
    ticks = list(_TICKS.finditer(text))
    following: list[int | None] = []
    last: dict[int, int] = {}
    for number in range(len(ticks) - 1, -1, -1):
        size = len(ticks[number][0])
        following.append(last.get(size))
        last[size] = number
    following.reverse()
    empty = [found.start() for found in _EMPTY_LINE.finditer(text)]
    out: list[str] = []
    at = number = 0
    while number < len(ticks):
        opened, close = ticks[number].end(), following[number]
        if close is None or bisect_right(empty, ticks[close].start()) > bisect_right(empty, opened):
            number += 1
            continue
        out += [text[at:opened], text[opened : ticks[close].start()].translate(_SIGNS)]
        at, number = ticks[close].start(), close + 1
    return "".join([*out, text[at:]])


def _without_brackets(text: str) -> str:
    """Brackets that are neither a link nor a picture stand for themselves; those around a name that is defined go."""
    names = {" ".join(found.group(1).split()).lower() for found in _DEFINITION.finditer(text)}
    signs: dict[int, str] = {}
    stack: list[int] = []
    for found in _BRACKET.finditer(text):
        at = found.start()
        if found[0] == "[":
            stack.append(at)
            continue
        opened = stack.pop() if stack else -1
        if opened < 0 or text.startswith(("(", "[", ":"), at + 1):
            continue
        name = text[opened + 1 : at] if at - opened < 1_000 else ""
        defined = names and " ".join(name.split()).lower() in names
        label = opened > 0 and text[opened - 1] == "]"  # of [text][label]
        if not label:
            signs[opened] = signs[at] = _DROPPED if defined else _KEPT
    if not signs:
        return text
    letters = list(text)
    for at, sign in signs.items():
        letters[at] = sign
    return "".join(letters)


class _Blocks:
    """Puts the lines of a text together into blocks."""

    def __init__(
        self, text: str, guarded: str, marked: str, found: Structure, headings: dict[int, int]
    ) -> None:
        self.text, self.guarded, self.marked, self.found = text, guarded, marked, found
        self._headings = headings
        self._pieces: list[Piece] = []
        self._element = ""
        self._in_table = False

    def read(self) -> None:
        regions = iter([*self.found.code, Span(len(self.text) + 1, len(self.text) + 1)])
        code = next(regions)
        tables = iter([*self.found.tables, Span(len(self.text) + 1, len(self.text) + 1)])
        table = next(tables)
        at = 0
        while at < len(self.text):
            if at >= code.start:
                self._finish()
                self._add([Piece(code.start, code.end)], "code")
                at, code = max(at, code.end), next(regions)
                continue
            end = self.text.find("\n", at)
            end = end if end >= 0 else len(self.text)
            while at >= table.end:
                table = next(tables)
            self._line(at, min(end, code.start), in_table=at >= table.start)
            at = end + 1
        self._finish()

    def _line(self, start: int, end: int, *, in_table: bool) -> None:
        line = self.guarded[start:end].rstrip("\r")
        heading = start in self._headings
        row = not heading and (in_table or (self._in_table and "|" in line))
        pieces = list(self._row(start, end) if row else self._kept(start, end))
        if heading:
            self._finish()
            self._add(pieces, "heading", self._headings[start])
        elif (
            not (self._has_words(pieces) or (row and "|" in self.marked[start:end]))
            or _DIV.match(line)
            or _RULE.match(line)
        ):
            self._finish()
        elif row:
            if _DELIMITERS.match(line):
                self._header()
            else:
                self._finish()
                self._add(pieces, "table")
            self._in_table = True
        else:
            item = _ITEM.match(line)
            if item and not self.marked[start : start + item.end()].strip():
                self._finish()
                self._element = "list"
            if self._pieces:
                self._pieces.append(Piece(start, start, "\n"))
            self._pieces += pieces

    def _has_words(self, pieces: list[Piece]) -> bool:
        return any(not piece.shown and self.text[piece.start : piece.end].strip() for piece in pieces)

    def _kept(self, start: int, end: int) -> Iterator[Piece]:
        """The pieces of a line that are no markup."""
        guarded, marked = self.guarded[start:end], self.marked[start:end]
        if guarded == marked == self.text[start:end]:
            yield Piece(start, end)
            return
        signs = np.frombuffer(guarded.encode("utf-32-le", "surrogatepass"), np.uint32)
        left = np.frombuffer(marked.encode("utf-32-le", "surrogatepass"), np.uint32)
        kept = (signs == left) & (signs != ord(_DROPPED))
        special = kept & ((signs == ord(_LINE_END)) | (signs == ord(_BLANK)))
        state = np.concatenate([[0], kept.astype(np.int8) + special, [0]])
        edges = np.flatnonzero((state[1:] != state[:-1]) | (state[1:] == 2)).tolist()
        for one, other in itertools.pairwise(edges):
            if state[one + 1] == 2:
                yield Piece(start + one, start + other, "\n" if guarded[one] == _LINE_END else " ")
            elif state[one + 1]:
                yield Piece(start + one, start + other)

    def _row(self, start: int, end: int) -> Iterator[Piece]:
        """The cells of a row, with tabs between them."""
        line = self.guarded[start:end]
        at = start + len(line) - len(line.lstrip())
        at += self.guarded.startswith("|", at)
        last = start + len(line.rstrip()) - line.rstrip().endswith("|")
        first = True
        while at <= last:
            bar = self.guarded.find("|", at, last)
            bar = bar if bar >= 0 else last
            if not first:
                yield Piece(at, at, "\t")
            inside = self.text[at:bar]
            begin = at + len(inside) - len(inside.lstrip())
            yield from self._kept(begin, max(begin, at + len(inside.rstrip())))
            at, first = bar + 1, False

    def _header(self) -> None:
        """The line above a line of dashes is a row, too."""
        if self._pieces and self._element == "":
            start = self._pieces[0].start
            self._pieces = []
            start = self.text.rfind("\n", 0, start) + 1
            end = self.text.find("\n", start)
            self._add(list(self._row(start, end if end >= 0 else len(self.text))), "table")
        self._finish()

    def _finish(self) -> None:
        pieces, element = self._pieces, self._element
        self._pieces, self._element, self._in_table = [], "", False
        if pieces:
            self._add(pieces, element)

    def _add(self, pieces: list[Piece], element: str, level: int = 0) -> None:
        if pieces:
            self.found.blocks.append(Block(pieces, element, level))
