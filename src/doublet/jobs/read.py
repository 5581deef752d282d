"""Read one document of any format, with the limits that all of Doublet reads with."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from doublet.errors import InputUnreadable, InvalidParameter, Unreadable, wrong_type
from doublet.model import Check, Disguise
from doublet.text.read import ReadDocument

if TYPE_CHECKING:
    from doublet.sources.protocol import Fetcher
    from doublet.sources.workers import ReaderPool


def read_document(
    document: str | os.PathLike[str] | bytes,
    *,
    name: str = "",
    declared_type: str = "",
    as_kind: str = "",
    frame: bool = True,
    ocr: bool = False,
) -> ReadDocument:
    """The text of a file (its path) or of bytes, with the places of its parts and with what is hidden in it.

    The kind is told from the content; *declared_type* (a Content-Type) and *name* help where that does not say it,
    and *as_kind* overrides. With *frame* only the useful content of a web page is read. *ocr* reads scanned PDF pages
    with Tesseract. Parsing happens in another process, within limits on time and memory.

    Raises `InputNotFound`, or `InputUnreadable` whose detail `state` is unknown_kind, encrypted, scanned, broken,
    too_large or failed.
    """
    from doublet.sources import ocr as recognition
    from doublet.sources.texts import read_file
    from doublet.sources.workers import ReaderPool, shared

    if not isinstance(document, str | bytes | os.PathLike):
        raise wrong_type("document", document, "the path of a file, or bytes")
    if not isinstance(document, bytes) and not os.fspath(document):
        raise InvalidParameter("document is an empty path: name a file", name="document")
    if ocr:
        recognition.require()
    pool = ReaderPool(1, ocr=True) if ocr else shared()
    label = name or (str(os.fspath(document)) if not isinstance(document, bytes) else "the document")
    try:
        if isinstance(document, bytes):
            return pool.read(document, name=name, declared_type=declared_type, as_kind=as_kind, frame=frame)
        path = Path(document)
        if path.is_dir():
            raise InputUnreadable(f"{label} is a folder: name a file in it", path=label)
        return read_file(path, label=label, as_kind=as_kind, frame=frame, pool=pool)
    except Unreadable as error:
        raise InputUnreadable(f"{label} {error.message}", path=label, state=error.state) from error
    finally:
        if ocr:
            pool.close()


def read_address(
    address: str, fetcher: Fetcher, *, pool: ReaderPool | None = None, **options: Any
) -> ReadDocument:
    """The text of the document at an address, fetched by *fetcher*. *options* are *as_kind* and *frame*.

    Raises `SourceError`: what the fetcher raises, or `InputUnreadable` for an answer without a document.
    """
    from doublet.sources.workers import shared

    answer = fetcher.fetch(address)
    if not 200 <= answer.status < 300:
        raise InputUnreadable(
            f"{address} cannot be read: the server answers {answer.status}",
            path=address,
            status=answer.status,
            state="failed",
        )
    name = unquote(urlsplit(answer.address).path).rsplit("/", 1)[-1]
    declared = answer.headers.get("content-type", "")
    try:
        return (pool or shared()).read(answer.body, name=name, declared_type=declared, **options)
    except Unreadable as error:
        raise InputUnreadable(f"{address} {error.message}", path=address, state=error.state) from error


def with_hidden(check: Check, document: ReadDocument) -> Check:
    """The check of a document's text, with what is hidden in the document among its signs of disguise."""
    if not document.hidden:
        return check
    return replace(check, disguise=Disguise((*check.disguise.findings, *document.disguise.findings)))
