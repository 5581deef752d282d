"""reStructuredText: the words without the markup.

Directives lose their names and options and keep their words, except those that only point somewhere (images, tables of
contents, targets). Comments are dropped, roles and links keep their text, grid and simple tables their cells.
"""

from __future__ import annotations

import re

from doublet.text.encoding import decode_page
from doublet.text.formats.protocol import Builder, Hints, Reading

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*\Z")
_GRID = re.compile(r"[ \t]*\+(?:[-=]+\+)+[ \t]*\Z")
_SIMPLE = re.compile(r"[ \t]*=+(?:[ \t]+=+)+[ \t]*\Z")
_DASHES = re.compile(r"[ \t]*-+(?:[ \t]+-+)+[ \t]*\Z")
_EXPLICIT = re.compile(r"(\s*)\.\.(?:[ \t]+(.*))?\Z")
_DIRECTIVE = re.compile(r"(?:\|[^|]+\|[ \t]+)?([A-Za-z][\w:.+-]*?)[ \t]*::(?:[ \t]+(.*))?\Z")
_FOOTNOTE = re.compile(r"\[(?:\d+|#\w*|\*|[\w.-]+)\][ \t]*(.*)\Z")
_TARGET = re.compile(r"_")
_OPTION = re.compile(r"\s*:[\w -]+:(?:\s|\Z)")
_FIELD = re.compile(r"(\s*):((?:[^:\n\\]|\\.)+):(?=\s|\Z)[ \t]*")
_BULLET = re.compile(r"(\s*)(?:[-*+•][ \t]+|(?:\(?(?:\d+|#|[A-Za-z]|[ivxlcdmIVXLCDM]+)[.)])[ \t]+)")
_LINE_BLOCK = re.compile(r"(\s*)\|[ \t]?")

_ROLE = re.compile(r"(?<![\w`]):[\w.+:-]+:`([^`]*)`")
_SUFFIX_ROLE = re.compile(r"`([^`]+)`:[\w.+:-]+:")
_LINK = re.compile(r"`([^`<]*?)\s*<[^`>]*>`_{0,2}", re.S)
_QUOTED = re.compile(r"``(.+?)``", re.S)
_REFERENCE = re.compile(r"`([^`]+)`_{0,2}")
_NOTE_MARK = re.compile(r"\s?\[(?:\d+|#\w*|\*)\]_")
_CITATION_MARK = re.compile(r"\[([\w.-]+)\]_")
_STRONG = re.compile(r"(?<![\w*\\])\*{1,2}(?=\S)(.+?)(?<=[^\s\\])\*{1,2}(?![\w*])", re.S)
_SUBSTITUTION = re.compile(r"(?<![\w|])\|(?=\S)([^|\n]+?)(?<=\S)\|_{0,2}")
_PLAIN_REFERENCE = re.compile(r"(?<=\w)_{1,2}(?=[\s.,;:!?)]|\Z)")
_ESCAPE = re.compile(r"\\(.)", re.S)

# They point to something or set something up: no words of theirs belong to the text.
_SILENT = frozenset(
    "image contents toctree include raw default-role highlight index meta role sectnum "
    "target-notes title unicode replace date module currentmodule py:module py:currentmodule "
    "automodule autoclass autofunction graphviz math only tabularcolumns".split()
)
_OWN_WORDS = frozenset(  # the argument is a name for programs, not for readers
    "code code-block sourcecode parsed-literal literalinclude figure class container highlights csv-table "
    "list-table productionlist".split()
)


def read(data: bytes, hints: Hints) -> Reading:
    text, encoding = decode_page(data, header=hints.charset, markup=False)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(8).split("\n")
    build = Builder(hints.characters)
    block: list[str] = []
    first = 0
    number = 0
    element = ""

    def finish() -> None:
        nonlocal block, number, element
        if block:
            number += 1
            raw = "\n".join(block)
            words = raw if element == "code" else inline(raw)
            if element == "heading" and build.empty:
                build.offer_title(words, heading=True)
            build.add(words, paragraph=number, line=first, element=element)
        block, element = [], ""

    def put(line: str, at: int) -> None:
        nonlocal first
        if not block:
            first = at + 1
        block.append(line)

    at = 0
    while at < len(lines):
        line = lines[at]
        bare = line.strip()
        explicit = _EXPLICIT.match(line)
        if not bare:
            finish()
        elif explicit and (explicit.group(2) is None or line.startswith(explicit.group(1) + "..")):
            finish()
            at = _explicit(lines, at, explicit, put)
            finish()
            continue
        elif _ADORNMENT.match(bare) and not line[0].isspace():
            if len(block) == 1:
                element = "heading"
            finish()
        elif _GRID.match(line) or _SIMPLE.match(line) or (_DASHES.match(line) and block):
            finish()
        elif _OPTION.match(line) and _FIELD.match(line):
            found = _FIELD.match(line)
            finish()
            if found:
                put(f"{found.group(2)}: {line[found.end() :]}".rstrip(": "), at)
        else:
            at = _text(lines, at, put, finish)
            continue
        at += 1
    finish()
    return build.done(encoding)


def _text(lines: list[str], at: int, put: object, finish: object) -> int:
    """A line of a paragraph, a list or a table; and the literal block that a paragraph announces."""
    assert callable(put) and callable(finish)
    line = lines[at]
    bare = line.strip()
    if bare.startswith("|") and bare.endswith("|") and len(bare) > 2:
        put("\t".join(cell.strip() for cell in bare.strip("|").split("|")), at)
        return at + 1
    bullet = _BULLET.match(line)
    if bullet and len(line) > bullet.end():
        finish()
        line = line[bullet.end() :]
    else:
        line_block = _LINE_BLOCK.match(line)
        line = line[line_block.end() :] if line_block else line.strip()
    if not line.rstrip().endswith("::"):
        put(line.strip(), at)
        return at + 1
    put(re.sub(r"\s*::\s*\Z", ":", line.strip()) if line.strip() != "::" else "", at)
    finish()
    after = _literal(lines, at + 1, _indent(lines[at]), put)
    finish()
    return after


def _literal(lines: list[str], at: int, indent: int, put: object) -> int:
    """A literal block: everything that stands further in, as it is."""
    assert callable(put)
    while at < len(lines) and (not lines[at].strip() or _indent(lines[at]) > indent):
        if lines[at].strip():
            put(_protected(lines[at].strip()), at)
        at += 1
    return at


def _protected(line: str) -> str:
    """Markup inside literal text is text."""
    return re.sub(r"([\\`*_|])", r"\\\1", line)


def _explicit(lines: list[str], at: int, found: re.Match[str], put: object) -> int:
    """A block that begins with two points: directive, note, target or comment. Gives the line after it."""
    assert callable(put)
    indent = len(found.group(1))
    rest = (found.group(2) or "").strip()
    end = at + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > indent):
        end += 1
    directive = _DIRECTIVE.match(rest)
    note = _FOOTNOTE.match(rest)
    if directive:
        name = directive.group(1)
        if name in _SILENT:
            return end
        if directive.group(2) and name not in _OWN_WORDS:
            put(directive.group(2), at)
        body = at + 1
        while body < end and _OPTION.match(lines[body]):
            body += 1
        if name in ("code", "code-block", "sourcecode", "parsed-literal", "productionlist"):
            return _literal(lines, body, indent, put)
        return body  # the body is read on as ordinary text
    if note:
        if note.group(1):
            put(note.group(1), at)
        return at + 1
    if _TARGET.match(rest) or rest.startswith("|") or rest:
        return end  # a target, a substitution or a comment
    return end if at + 1 < len(lines) and lines[at + 1].strip() else at + 1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def inline(text: str) -> str:
    """Roles, links, emphasis and escapes, undone."""
    kept: list[str] = []

    def keep(words: str) -> str:
        kept.append(words)
        return f"\x00{len(kept) - 1}\x00"

    text = _ESCAPE.sub(lambda f: "" if f.group(1).isspace() else keep(f.group(1)), text)
    text = _QUOTED.sub(lambda f: keep(f.group(1)), text)
    text = _ROLE.sub(lambda f: _role(f.group(1)), text)
    text = _SUFFIX_ROLE.sub(r"\1", text)
    text = _LINK.sub(r"\1", text)
    text = _REFERENCE.sub(r"\1", text)
    text = _NOTE_MARK.sub("", text)
    text = _CITATION_MARK.sub(r"\1", text)
    text = _STRONG.sub(r"\1", text)
    text = _SUBSTITUTION.sub(r"\1", text)
    text = _PLAIN_REFERENCE.sub("", text)
    return re.sub("\x00(\\d+)\x00", lambda f: kept[int(f.group(1))], text)


def _role(content: str) -> str:
    found = re.match(r"(.*?)\s*<[^>]*>\Z", content, re.S)
    return found.group(1) if found else content.lstrip("~!")
