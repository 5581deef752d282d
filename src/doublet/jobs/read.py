"""Read one document of any format, with the limits that all of Doublet reads with."""

from __future__ import annotations

import os
from pathlib import Path

from doublet.errors import InputUnreadable, Unreadable
from doublet.text.read import ReadDocument

LIMIT_BYTES = 1 << 30


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
        return read_file(path, limit_bytes=LIMIT_BYTES, label=label, as_kind=as_kind, frame=frame, pool=pool)
    except Unreadable as error:
        raise InputUnreadable(f"{label} {error.message}", path=label, state=error.state) from error
    finally:
        if ocr:
            pool.close()
