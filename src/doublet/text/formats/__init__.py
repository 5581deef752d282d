"""Readers of document formats: one file for each, behind one protocol (`protocol.Reader`).

`READERS` names the module that reads each kind; it is imported when the first such document comes.
"""

from __future__ import annotations

import importlib

from doublet.text.formats.protocol import Reader

#: kind → (module, what people call it)
READERS = {
    "plain": ("plain", "plain text"),
    "html": ("html", "an HTML page"),
    "pdf": ("pdf", "a PDF document"),
    "docx": ("docx", "a Word document"),
    "odt": ("odf", "an OpenDocument text"),
    "odp": ("odf", "an OpenDocument presentation"),
    "rtf": ("rtf", "an RTF document"),
    "epub": ("epub", "an EPUB book"),
    "fb2": ("fb2", "an FB2 book"),
    "pptx": ("pptx", "a PowerPoint presentation"),
    "markdown": ("markdown", "Markdown"),
    "restructuredtext": ("restructuredtext", "reStructuredText"),
    "wikitext": ("wikitext", "wiki markup"),
    "docbook": ("xml", "DocBook"),
    "dita": ("xml", "DITA"),
    "xml": ("xml", "XML"),
    "latex": ("latex", "LaTeX"),
    "mail": ("mail", "a mail message"),
    "notebook": ("notebook", "a Jupyter notebook"),
}


def reader(kind: str) -> Reader:
    """The reader of a kind of `READERS`. Raises `ConfigError` when a library that it needs is not installed."""
    module: Reader = importlib.import_module(f"doublet.text.formats.{READERS[kind][0]}")
    return module


def describe(kind: str) -> str:
    """What people call a kind, with its article."""
    return READERS[kind][1] if kind in READERS else kind
