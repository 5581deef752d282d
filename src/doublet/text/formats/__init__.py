"""Readers of document formats: one file for each, behind one protocol (`protocol.Reader`).

`READERS` names the module that reads each kind; it is imported when the first such document comes.
"""

from __future__ import annotations

import importlib

from doublet.text.formats.protocol import Reader

#: kind → module
READERS = {
    "plain": "plain",
    "html": "html",
    "pdf": "pdf",
    "docx": "docx",
    "odt": "odf",
    "odp": "odf",
    "rtf": "rtf",
    "epub": "epub",
    "fb2": "fb2",
    "pptx": "pptx",
    "markdown": "markdown",
    "restructuredtext": "restructuredtext",
    "wikitext": "wikitext",
    "docbook": "xml",
    "dita": "xml",
    "xml": "xml",
    "latex": "latex",
    "mail": "mail",
    "notebook": "notebook",
}


def reader(kind: str) -> Reader:
    """The reader of a kind of `READERS`. Raises `ConfigError` when a library that it needs is not installed."""
    module: Reader = importlib.import_module(f"doublet.text.formats.{READERS[kind]}")
    return module
