"""Plain twins of the kernels that go over many text files at once (native/markup.cpp): they define what those do.

Reading, the marks of Markdown, numbers of words, borders and signs between words, and which tokens can belong to a
repeat. Ideas: docs/explanation/repeats.md.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence

import numpy as np

from doublet.kernels.blanks import FILLER, INLINE_TAGS, QUIET, blank, blanked
from doublet.kernels.reference.arguments import (
    U8,
    U32,
    U64,
    check_numbers,
    check_words,
    checked_texts,
    documents,
)

MarkdownMarks = tuple[
    str | None,  #: the text with its marks blanked out, None when there are none
    list[
        tuple[int, int, int, int]
    ],  #: headings: start, end, level, where the title begins (at start: underlined)
    list[tuple[int, int]],  #: blocks of code
    list[tuple[int, int]],  #: tables
]

_OTHER = (
    b"%",
    b"{",
    b"BZh",
    b"GIF8",
    b"AT&TFORM",
    b"Rar!",
    b"PAR1",
    b"\xef\xbb\xbf",
)  # how other files begin
_ODD = bytes([*(c for c in range(32) if c not in (9, 10, 13)), 127])


def read_texts(paths: Sequence[bytes], limit: int, threads: int = 1) -> list[str | None]:
    """The texts of files that can be read without asking what they are: UTF-8 without a mark, of at most *limit*
    bytes, with no controls but tabs and line ends. None for all others, also for what cannot be read. *threads* is
    ignored here.
    """
    check_numbers(limit)
    if not all(isinstance(path, bytes) for path in paths):
        raise TypeError("a path is given as bytes")
    return [_plain_text(path, limit) for path in paths]


def _plain_text(path: bytes, limit: int) -> str | None:
    if b"\0" in path:
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with os.fdopen(descriptor, "rb") as stream:
            facts = os.fstat(stream.fileno())
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > limit:
                return None
            data = stream.read()
    except OSError:
        return None
    if len(data) > limit or data.startswith(_OTHER) or len(data.translate(None, _ODD)) < len(data):
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


_MARKS = frozenset(
    "`~#=-|>[*+:0123456789"
)  # what a line begins with that may be more than a line of a paragraph
_FENCE = re.compile(r" {0,3}(`{3,}+(?!.*`)|~{3,})")  # "```word```" is inline code
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*$|\s*:?-{3,}:?\s*(?:\|\s*:?-{3,}:?\s*)+\|?\s*$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]")
_QUOTE = re.compile(r"\s*(?:>\s?)+")
_DEFINITION = re.compile(r"\s*\[(?!\^)[^\]\n]+\]:[ \t]+\S")  # of the address behind a name
_NOTE = re.compile(r"\s*\[\^[^\]\s]+\]:")  # the mark before a footnote, whose words follow
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}\Z")
_DIVISION = ":::"  # a line that begins or ends a box
_INLINE = re.compile(
    r"\\[!-/:-@\[-`{-~]"  # a sign that stands for itself
    r"|(?P<ticks>`+)"
    r"|(?P<comment><!--.*?(?:-->|\Z))"
    r"|(?P<address><(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.+-]+@[\w.-]+)>)"
    r"|</?(?P<tag>[A-Za-z][A-Za-z0-9-]*)"
    r"(?:\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'=<>`]+))?)*\s*/?>"
    r"|(?P<note>\[\^[^\]\s\[]+\])"
    r"|(?P<target>\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\]\n]*\]))"  # of a link
    r"|(?P<close>\])"
    r"|(?P<open>!?\[)"
    r"|(?P<attributes>\{[#.:][^{}\n]*\})"
    r"|(?P<run>\*+|_+|~+)"
    r"|(?P<empty>\n[ \t\r]*(?=\n))",
    re.DOTALL,
)
_TICKS = re.compile(r"(?<![`\\])`+|(?P<empty>\n[ \t\r]*(?=\n))")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?:[^\n]*\n){0,200}?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")


def mark_markdown(texts: Sequence[str], threads: int = 1) -> list[MarkdownMarks]:
    """What is markup in texts written in Markdown, and where headings, code and tables are. Line by line, in linear
    time; what is not understood stays as text. *threads* is ignored here."""
    return [_marked(text) for text in checked_texts(texts)]


def _marked(text: str) -> MarkdownMarks:
    parts: list[tuple[int, int, str]] = []
    headings: list[tuple[int, int, int, int]] = []
    code: list[tuple[int, int]] = []
    tables: list[tuple[int, int]] = []

    def paint(start: int, end: int, *, border: bool = False, quiet: bool = False) -> None:
        if end > start:
            parts.append((start, end, QUIET * (end - start)) if quiet else blank(start, end, border=border))

    def join(start: int) -> None:
        """The line that begins at *start* goes on with the paragraph of the line before."""
        joined.append(start - 1)

    joined: list[int] = []  # line ends inside a paragraph

    fence = ""
    fence_at = fence_line = 0
    before = before_end = 0  # the line before, when it is a paragraph
    code_at = -1  # of indented code
    empty = True
    open_ = False  # the line before belongs to a paragraph and is wrapped
    in_list = False
    table_at = table_end = -1
    skipped: list[tuple[int, int]] = []  # code with its fences
    front = _FRONT_MATTER.match(text)  # settings between two lines of dashes at the very beginning
    at = end = front.end() if front else 0
    paint(0, at, border=True)
    for line in text[at:].split("\n"):
        start = end
        end = start + len(line) + 1
        first = line[:1] or "\n"
        if first not in _MARKS and not first.isspace() and table_at < 0 and code_at < 0 and not fence:
            # An ordinary line: most are.
            in_list = in_list and not empty
            if open_:
                join(start)
            open_ = _wrapped(line)
            before, before_end = start, end - 1
            empty = False
            continue
        if line[-1:] == "\r":
            line = line.rstrip("\r")
        end = min(end, len(text))
        stripped = line.strip()
        if fence:
            if stripped.startswith(fence) and not stripped.strip(fence[0]):
                code.append((fence_at, start))
                skipped.append((fence_line, end))
                paint(start, end, border=True)
                fence = ""
            continue
        indented = line.startswith(("    ", "\t"))
        if code_at >= 0 and stripped and not indented:
            code.append((code_at, start))
            skipped.append((code_at, start))
            code_at = -1
        if table_at >= 0 and not _TABLE_ROW.match(line):
            tables.append((table_at, table_end))
            table_at = -1
        goes_on, open_ = open_, False
        if not stripped:
            empty = True
            before_end = 0
            continue
        if stripped[0] not in _MARKS and not indented:
            in_list = in_list and not empty
            if goes_on:
                join(start)
            open_ = _wrapped(line)
            before, before_end = start, start + len(line)
            empty = False
            continue
        opened = _FENCE.match(line.lstrip() if in_list else line)
        if opened:
            fence, fence_at, fence_line = opened[1], end, start
            paint(start, end, border=True)
        elif indented and code_at < 0 and empty and not in_list:
            code_at = start
        elif code_at < 0:
            heading = _HEADING.match(line)
            underline = _UNDERLINE.match(line) if before_end else None
            rule = None if heading or underline else _RULE.match(line)
            note = None
            if heading:
                headings.append((start, start + len(line), len(heading[1]), start + heading.end()))
                paint(start, start + heading.end(), border=True)
                paint(start + len(line), end, border=True)
            elif underline:
                before_end = before + len(text[before:before_end].rstrip("\r"))
                headings.append((before, before_end, 1 if underline[1][0] == "=" else 2, before))
                paint(start, end, border=True)
            elif rule or line.startswith(_DIVISION):
                paint(start, start + len(line), border=True)
            elif _TABLE_ROW.match(line):
                table_at = start if table_at < 0 else table_at
                table_end = end
            elif _DEFINITION.match(line):
                paint(start, start + len(line))
            else:
                note = _NOTE.match(line)
                open_ = _wrapped(line)
            item = None if rule else _ITEM.match(line)
            quote = _QUOTE.match(line)
            if item:
                paint(start, start + item.end(), border=True)
                in_list = True
            elif note:
                paint(start, start + note.end(), border=True)
            elif open_ and goes_on:
                join(start)
            if not item and quote:
                paint(start, start + quote.end(), quiet=True)
            elif not item and not indented and empty:
                in_list = False
            before, before_end = (0, 0) if heading or underline or rule else (start, start + len(line))
        empty = False
    if fence:
        code.append((fence_at, len(text)))
        skipped.append((fence_line, len(text)))
    if code_at >= 0:
        code.append((code_at, len(text)))
        skipped.append((code_at, len(text)))
    if table_at >= 0:
        tables.append((table_at, table_end))
    for skipped_start, skipped_end in [*skipped, (len(text), len(text))]:  # inline marks outside code
        if skipped_start > at:
            parts += _inline_marks(text, at, skipped_start)
        at = max(at, skipped_end)
    letters = list(blanked(text, parts))
    for at in joined:
        letters[at] = QUIET
        while letters[at + 1 : at + 2] in ([" "], ["\t"]):
            at += 1
            letters[at] = QUIET
    return "".join(letters) if parts or joined else None, headings, code, tables


def _inline_marks(text: str, at: int, end: int) -> list[tuple[int, int, str]]:
    """The marks inside the lines of a stretch, with what stands in their place."""
    marks: list[_Mark] = []
    closing = _closing_ticks(text, at, end)
    brackets: list[_Mark] = []  # not closed yet
    runs: dict[str, list[_Mark]] = {"*": [], "_": [], "~": []}  # what may begin emphasis, by its sign

    def mark(start: int, stop: int, how: str = "inside") -> _Mark:
        marks.append(_Mark(start, stop, how))
        return marks[-1]

    while found := _INLINE.search(text, at, end):
        start, at = found.span()
        match found.lastgroup:
            case None:
                mark(start, start + 1)
            case "ticks":
                mark(start, at)
                if start in closing:  # signs in code stand for themselves
                    mark(*closing[start])
                    at = closing[start][1]
            case "comment":
                mark(start, at, "border")
            case "tag":
                mark(start, at, "inside" if found["tag"].lower() in INLINE_TAGS else "border")
            case "address":
                mark(start, start + 1)
                mark(at - 1, at)
            case "note" | "attributes":
                mark(start, at)
            case "open":
                brackets.append(mark(start, at, "apart"))
            case "close" | "target" as group:
                opened = brackets.pop() if brackets else None
                if group == "target":
                    mark(start, at)
                    if opened:
                        opened.how = "inside"
            case "run":
                _pair(text, mark(start, at, "run"), runs[text[start]], end)
            case "empty":
                for waiting in (brackets, *runs.values()):
                    waiting.clear()
    return _painted(text, marks)


class _Mark:
    """What is blanked out inside a line: *inside* words it does not part them. Of a *run* of signs of emphasis so many
    signs on the left and on the right are marks."""

    def __init__(self, start: int, end: int, how: str) -> None:
        self.start, self.end, self.how = start, end, how
        self.left = self.right = 0
        self.both = False  #: whether a run can begin emphasis and end it


def _closing_ticks(text: str, at: int, end: int) -> dict[int, tuple[int, int]]:
    """Where inline code that begins at a place ends: it goes from some ticks to as many, inside a paragraph."""
    paragraph: list[tuple[int, int]] = []
    out: dict[int, tuple[int, int]] = {}

    def close() -> None:
        last: dict[int, tuple[int, int]] = {}
        for begin, stop in reversed(paragraph):
            if stop - begin in last:
                out[begin] = last[stop - begin]
            last[stop - begin] = begin, stop
        paragraph.clear()

    for found in _TICKS.finditer(text, at, end):
        if found["empty"] is None:
            paragraph.append(found.span())
        else:
            close()
    close()
    return out


def _pair(text: str, run: _Mark, waiting: list[_Mark], end: int) -> None:
    """Signs of emphasis go away in pairs, those next to the words first. One before a blank begins nothing, one behind
    a blank ends nothing; low lines do neither inside a word; waves go by two. By the rule of three of CommonMark the
    single stars in ``**a*b*c**`` are a pair."""
    sign, left = text[run.start], run.end - run.start
    before = text[run.start - 1] if run.start else " "
    after = text[run.end] if run.end < end else " "
    opens, closes = not after.isspace(), not before.isspace()
    if sign == "_":
        opens, closes = opens and not before.isalnum(), closes and not after.isalnum()
        if left > 1 and not before.isalnum() and not after.isalnum() and not (opens or closes):
            run.left = left  # a line to be filled in
    if sign == "~" and left != 2:
        return
    run.both, size = opens and closes, left
    while closes and left and waiting:
        other = waiting[-1]
        others = other.end - other.start
        if (run.both or other.both) and (size + others) % 3 == 0 and size % 3:
            break
        free = others - other.left - other.right
        pairs = min(free, left)
        run.left += pairs
        other.right += pairs
        left -= pairs
        if pairs == free:
            waiting.pop()
    if opens and left:
        waiting.append(run)


def _painted(text: str, marks: Sequence[_Mark]) -> list[tuple[int, int, str]]:
    """What stands in place of marks. Between two letters nothing stands there: they belong to one word."""
    pieces: list[tuple[int, int, str]] = []
    for mark in marks:
        if mark.how != "run":
            pieces.append((mark.start, mark.end, mark.how))
            continue
        if mark.left:
            pieces.append((mark.start, mark.start + mark.left, "inside"))
        if mark.right:
            pieces.append((mark.end - mark.right, mark.end, "inside"))
    out: list[tuple[int, int, str]] = []
    for touching in _touching(pieces):
        start, end = touching[0][0], touching[-1][1]
        joined = all(how == "inside" for _, _, how in touching)
        joined = (
            joined and start > 0 and end < len(text) and _in_word(text[start - 1]) and _in_word(text[end])
        )
        for one, other, how in touching:
            size = other - one
            border = how == "border"
            out.append(
                blank(one, other, border=True)
                if border
                else (one, other, (FILLER if joined else QUIET) * size)
            )
    return out


def _touching(pieces: Sequence[tuple[int, int, str]]) -> Iterator[list[tuple[int, int, str]]]:
    group: list[tuple[int, int, str]] = []
    for piece in pieces:
        if group and group[-1][1] != piece[0]:
            yield group
            group = []
        group.append(piece)
    if group:
        yield group


def _in_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _wrapped(line: str) -> bool:
    """Whether a line of a paragraph is wrapped where it ends: not after two blanks or a backslash."""
    line = line.rstrip("\r")
    return bool(line) and not line.endswith(("  ", "\\"))


class NumberTable:
    """Hashes → numbers in order of first sight."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, hashes: U64) -> U32:
        known = self._numbers
        return np.array([known.setdefault(value, len(known)) for value in hashes.tolist()], np.uint32)


# What ends between two words, as bits: a part of a sentence or a column (1), a sentence (2), a line (4), a paragraph or
# an element (8), or only a line that is wrapped (16). Nothing but a paragraph ends before a small letter, or before a
# sign that belongs to the word before it.
_ON = r"\s*[a-zа-яё,)\]»”]"
_CLOSING = r"[\"'»”’)\]]*(?=\s)"
_BORDERS = (
    (1, re.compile(rf"[:;]{_CLOSING}(?!{_ON})|  (?!{_ON})|\t")),
    (2, re.compile(rf"[.!?…]{_CLOSING}(?!{_ON})")),
    (4, re.compile(rf"\n(?!{_ON})")),
    (8, re.compile(r"\n\s*\n")),
    (16, re.compile(rf"\n(?={_ON})")),
)
_SIGN = re.compile(r"[^\w\s.,;:!?'\"()\-“”→–—…’‘«»\u00ad]")


def word_edges(
    texts: Sequence[str],
    starts: U32,
    ends: U32,
    offsets: U64,
    threads: int = 1,
) -> tuple[U8, U32, U32]:
    """For each word: what ends between the word before and it (`_BORDERS`; 8 for the first of a text); how many signs
    (braces, slashes, bars …) its text has before its start; and before its end.

    Text t has the words ``[offsets[t]:offsets[t+1]]``, which follow each other. *threads* is ignored here.
    """
    texts = checked_texts(texts)
    bounds = documents(offsets, len(starts))
    if len(bounds) != len(texts):
        raise ValueError("one stretch of words is needed for each text")
    if len(ends) != len(starts):
        raise ValueError("one end is needed for each start")
    for text, span in zip(texts, bounds, strict=True):
        check_words(starts, ends, span, len(text))
    borders = np.zeros(len(starts), np.uint8)
    at_start = np.zeros(len(starts), np.uint32)
    at_end = np.zeros(len(starts), np.uint32)
    for number, text in enumerate(texts):
        first, last = int(offsets[number]), int(offsets[number + 1])
        signs = np.array([match.start() for match in _SIGN.finditer(text)], np.int64)
        at_start[first:last] = np.searchsorted(signs, starts[first:last])
        at_end[first:last] = np.searchsorted(signs, ends[first:last])
        for word in range(first, last):
            gap = range(int(ends[word - 1]), int(starts[word])) if word > first else ()
            found = (bit for bit, border in _BORDERS if any(border.match(text, place) for place in gap))
            borders[word] = 8 if word == first else sum(found)
    return borders, at_start, at_end


def repeated(ids: U32, length: int, threads: int = 1) -> U8:
    """For each token: whether it stands in a run of *length* tokens that occurs again. Where no other is, no repeat of
    that length can be. *threads* is ignored here."""
    check_numbers(length)
    if length < 1:
        raise ValueError("a run has at least one token")
    values = ids.tolist()
    windows = [tuple(values[at : at + length]) for at in range(len(values) - length + 1)]
    times: dict[tuple[int, ...], int] = {}
    for window in windows:
        times[window] = times.get(window, 0) + 1
    out = np.zeros(len(values), np.uint8)
    for at, window in enumerate(windows):
        if times[window] > 1:
            out[at : at + length] = 1
    return out
