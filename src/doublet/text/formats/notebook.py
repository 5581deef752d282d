"""Jupyter notebooks: the words of their cells, Markdown without its markup and code as it is; outputs are left out."""

from __future__ import annotations

from typing import Any

import orjson

from doublet.errors import Broken
from doublet.text.formats import markdown
from doublet.text.formats.protocol import Builder, Hints, Reading


def read(data: bytes, hints: Hints) -> Reading:
    try:
        notebook: Any = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise Broken("not_a_notebook", why=error) from error
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise Broken("no_cells")
    build = Builder(hints.characters)
    title = (notebook.get("metadata") or {}).get("title")
    build.offer_title(title if isinstance(title, str) else "")
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict):
            continue
        source = cell.get("source", "")
        text = "".join(map(str, source)) if isinstance(source, list) else str(source)
        if cell.get("cell_type") != "markdown":
            build.add(text, paragraph=number, element="code" if cell.get("cell_type") == "code" else "")
            continue
        found = markdown.read(text.encode("utf-8", "replace"), Hints(charset="utf-8"))
        if build.empty:
            build.offer_title(found.title)
        for place in found.places:
            build.add(found.text[place.span.start : place.span.end], paragraph=number, element=place.element)
    return build.done("utf-8")
