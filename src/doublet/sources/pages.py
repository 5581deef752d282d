"""Which inputs hold web pages: told from the names of files, and where these say nothing, from their first bytes.

It is a guess that costs no reading. It decides whether pages are looked at together, for what a whole site has on every
page (`doublet.jobs.dedupe.frames`); what a document is, its reader says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from doublet.sources.packed import PackedFiles
from doublet.sources.records import InputPart
from doublet.sources.streams import HEAD_BYTES
from doublet.sources.texts import TextFiles, unpacked_name
from doublet.text.kind import by_name

_PEEKED = 200  # files without a telling name that are opened, at most
_MANY = 1 << 30
_PAGE = re.compile(rb"[\xef\xbb\xbf \t\r\n]*<(?:!doctype\s+html|html|head|body)\b", re.I)


def is_page(head: bytes, name: str) -> bool:
    """Whether this is the beginning of a web page, or called one."""
    kind = by_name(unpacked_name(name))
    return kind == "html" or (not kind and _PAGE.match(head[:HEAD_BYTES]) is not None)


def inputs_with_pages(parts: Sequence[InputPart], least: int) -> list[int]:
    """The numbers of the inputs that hold web pages; none when all of them together hold fewer than *least*."""
    counts = [_pages_in(part) for part in parts]
    return [number for number, count in enumerate(counts) if count] if sum(counts) >= least else []


def _pages_in(part: InputPart) -> int:
    """How many web pages an input may hold, as far as it matters; many in a WARC file."""
    if isinstance(part, PackedFiles):
        return _MANY if part.kind == "warc" else part.pages
    if not isinstance(part, TextFiles):
        return 0
    kinds = [by_name(unpacked_name(file.path.name)) for file in part.files]
    unnamed = [file.path for file, kind in zip(part.files, kinds, strict=True) if not kind]
    return kinds.count("html") + sum(map(_begins_like_one, unnamed[:_PEEKED]))


def _begins_like_one(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _PAGE.match(file.read(512)) is not None
    except OSError:
        return False  # reading it will say so
