"""Markdown (CommonMark, with tables, notes and front matter): the words without the markup.

Code blocks keep their words, addresses of links and pictures do not count as words, HTML tags are dropped.
"""

from __future__ import annotations

import html
import re
from typing import Any

from doublet.text.encoding import decode_page
from doublet.text.formats.protocol import Builder, Hints, Reading, needs

_FRONT = re.compile(r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
_FRONT_TITLE = re.compile(r"^title[ \t]*:[ \t]*(\S.*)$", re.M | re.I)
_NOTE = re.compile(r"^ {0,3}\[\^([^\]\s]+)\]:[ \t]*", re.M)
_NOTE_MARK = re.compile(r"\[\^[^\]\s]+\]")
_ATTRIBUTES = re.compile(r"[ \t]*\{[#.:][^{}\n]*\}")
_FENCED_DIV = re.compile(r"^:{3,}.*$", re.M)
_TAG = re.compile(r"<(?:[A-Za-z/!?][^<>]*)>")
_COMMENT = re.compile(r"<!--.*?-->", re.S)


def read(data: bytes, hints: Hints) -> Reading:
    try:
        from markdown_it import MarkdownIt
    except ImportError as error:  # pragma: no cover - rich brings it
        raise needs("markdown-it-py", "Markdown") from error
    text, encoding = decode_page(data, header=hints.charset, markup=False)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    build = Builder(hints.characters)
    lines_before = 0
    front = _FRONT.match(text)
    if front:
        named = _FRONT_TITLE.search(front.group())
        build.offer_title(named.group(1).strip().strip("\"'") if named else "")
        lines_before = front.group().count("\n")
        text = text[front.end() :]
    text = _FENCED_DIV.sub("", _NOTE.sub("", text))
    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])
    element = ""
    heading = ""
    row: list[str] | None = None
    number = 0
    for token in parser.parse(text):
        line = token.map[0] + 1 + lines_before if token.map else None
        kind = token.type
        if kind.endswith("_open"):
            element = _element(token, element)
            heading = token.tag if kind == "heading_open" else heading
            if kind == "tr_open":
                row, row_line = [], line
        elif kind == "tr_close" and row is not None:
            number += 1
            build.add("\t".join(row), paragraph=number, line=row_line, element="table")
            row = None
        elif kind == "inline":
            words = _words(token.children or [])
            if element == "heading" and (build.empty or heading == "h1"):
                build.offer_title(words, heading=True)
            if row is not None:
                row.append(words)
            elif words.strip():
                number += 1
                build.add(words, paragraph=number, line=line, element=element)
        elif kind in ("fence", "code_block"):
            number += 1
            build.add(token.content, paragraph=number, line=line, element="code")
        elif kind == "html_block":
            words = html.unescape(_TAG.sub(" ", _COMMENT.sub(" ", token.content)))
            if words.strip():
                number += 1
                build.add(words, paragraph=number, line=line, element="html")
    return build.done(encoding)


def _element(token: Any, before: str) -> str:
    kind = token.type.removesuffix("_open")
    if kind == "heading":
        return "heading"
    return "" if kind == "paragraph" and before == "heading" else before


def _words(children: list[Any]) -> str:
    parts = []
    for child in children:
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif child.type == "image":
            parts.append(_words(child.children or []))
        elif child.type == "html_inline" and child.content.lower().startswith("<br"):
            parts.append("\n")
    return _ATTRIBUTES.sub("", _NOTE_MARK.sub("", "".join(parts)))
