"""Source text → `MarkedText`: readers for XML (DocBook, DITA), HTML, Markdown, reStructuredText, LaTeX and plain text.

A reader is a function from the text to a `MarkedText`; `READERS` is the door through which others can be added. None
of them fails on broken markup: what is not understood stays as text.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import PurePath

from doublet.text.markup.marked import Heading, MarkedText


def _reader(module: str, name: str) -> Callable[[str], MarkedText]:
    """A reader that is imported when the first such text comes."""

    def read(text: str) -> MarkedText:
        marked: MarkedText = getattr(importlib.import_module(f"doublet.text.markup.{module}"), name)(text)
        return marked

    return read


READERS: dict[str, Callable[[str], MarkedText]] = {
    "text": _reader("plain", "read_plain"),
    "xml": _reader("xml", "read_xml"),
    "html": _reader("xml", "read_html"),
    "markdown": _reader("markdown", "read_markdown"),
    "rst": _reader("rst", "read_rst"),
    "latex": _reader("latex", "read_latex"),
}
SUFFIXES = {
    **dict.fromkeys(
        (".xml", ".dita", ".ditamap", ".docbook", ".dbk", ".xhtml", ".xml.in", ".sgml", ".page"), "xml"
    ),
    **dict.fromkeys((".html", ".htm"), "html"),
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mdx"), "markdown"),
    **dict.fromkeys((".rst", ".rest"), "rst"),
    **dict.fromkeys((".tex", ".ltx", ".latex"), "latex"),
    **dict.fromkeys((".txt", ".text", ".adoc", ".asciidoc", ".org"), "text"),
}  #: also the files that are looked at in a folder


def tell_markup(name: str, text: str) -> str:
    """By the name, and where it does not tell, by how the text begins."""
    kind = SUFFIXES.get(PurePath(name).suffix.lower())
    if kind is not None:
        return kind
    head = text[:400].lstrip("\ufeff \t\r\n").lower()
    if head.startswith(("<!doctype html", "<html")):
        return "html"
    return "xml" if head.startswith(("<?xml", "<!doctype")) else "text"


def read_markup(text: str, *, name: str = "", kind: str = "") -> MarkedText:
    """The marked of *text*, read as *kind* or as what it seems to be."""
    return READERS[kind or tell_markup(name, text)](text)


__all__ = ["READERS", "SUFFIXES", "Heading", "MarkedText", "read_markup", "tell_markup"]
