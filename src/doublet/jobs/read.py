"""Read one document of any format, with the limits that all of Doublet reads with."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from doublet.addresses import WebAddress
from doublet.errors import InputUnreadable, InvalidParameter, Unreadable, require_text, wrong_type
from doublet.model import DisguiseFinding
from doublet.text.read import ReadDocument

if TYPE_CHECKING:
    from doublet.sources.protocol import Fetcher
    from doublet.sources.workers import ReaderPool


@dataclass(frozen=True, slots=True)
class FileContent:
    """The content of a file with its name, which helps to tell the kind."""

    name: str
    data: bytes


#: A text, or where it is: a text itself, a file, the content of a file, an address, or what was read before.
TextInput = str | os.PathLike[str] | bytes | WebAddress | ReadDocument | FileContent


@dataclass(frozen=True, slots=True)
class GivenText:
    """A text that was handed to a function, whatever it was handed as."""

    text: str
    name: str = ""  #: of the file or the address; empty for a text
    read: ReadDocument | None = None  #: where it was read from a document

    @property
    def hidden(self) -> tuple[DisguiseFinding, ...]:
        """What is hidden in the document, as findings."""
        return self.read.disguise.findings if self.read is not None else ()


def take_text(
    parameter: str,
    given: TextInput,
    fetcher: Fetcher | None = None,
    *,
    ocr: bool = False,
    whole_page: bool = False,
) -> GivenText:
    """The text of what a function was given. A string is the text itself: it is never read from anywhere.

    *parameter* is what the function calls it. Addresses are fetched by *fetcher*, or by a polite one. *ocr* reads
    scanned pages of files, *whole_page* menus, footers and comments of web pages too. Raises
    `InvalidParameter`, `InputNotFound`, `InputUnreadable`, and what fetching an address raises.
    """
    if isinstance(given, str):
        return GivenText(given)
    if isinstance(given, ReadDocument):
        return GivenText(given.text, "", given)
    if isinstance(given, WebAddress):
        if fetcher is not None:
            return _taken(read_address(given.url, fetcher, frame=not whole_page), given.url)
        return _taken(read_document(given, frame=not whole_page), given.url)
    how: dict[str, Any] = {"ocr": ocr, "frame": not whole_page}
    if isinstance(given, bytes):
        return _taken(read_document(given, **how), "")
    if isinstance(given, FileContent):
        return _taken(read_document(given.data, name=given.name, **how), Path(given.name).name)
    if isinstance(given, os.PathLike):
        return _taken(read_document(given, **how), Path(given).name)
    raise wrong_type(parameter, given, "wanted_text_input")


def _taken(read: ReadDocument, name: str) -> GivenText:
    return GivenText(read.text, name, read)


def read_document(
    document: os.PathLike[str] | bytes | WebAddress,
    *,
    name: str = "",
    declared_type: str = "",
    as_kind: str = "",
    frame: bool = True,
    ocr: bool = False,
) -> ReadDocument:
    """The text of a file (``Path``), of its content (``bytes``) or of what is at a `WebAddress`, with the places of its
    parts and with what is hidden in it.

    The kind is recognised by the content; *declared_type* (a Content-Type) and *name* help where that does not say it,
    and *as_kind* overrides. With *frame* only the useful content of a web page is read. *ocr* reads scanned PDF pages
    with Tesseract. Parsing happens in another process, within limits on time and memory.

    Raises `InputNotFound`, or `InputUnreadable` whose detail `state` is unknown_kind, encrypted, scanned, broken,
    too_large or failed; of an address also `FetchFailed`, `NotAllowed`.
    """
    from doublet.sources import ocr as recognition
    from doublet.sources.streams import is_folder
    from doublet.sources.texts import read_file
    from doublet.sources.workers import ReaderPool, shared

    if isinstance(document, str):
        raise InvalidParameter("document_is_string", name="document")
    if not isinstance(document, bytes | os.PathLike | WebAddress):
        raise wrong_type("document", document, "wanted_path_or_bytes")
    if not isinstance(document, bytes | WebAddress) and not os.fspath(document):
        raise InvalidParameter("document_empty_path", name="document")
    for parameter, value in (("name", name), ("declared_type", declared_type), ("as_kind", as_kind)):
        require_text(parameter, value)
    if ocr:
        recognition.require()
    label = name or _label(document)
    data: bytes | None = document if isinstance(document, bytes) else None
    if isinstance(document, WebAddress):
        data, found_name, found_type = _fetched(document)
        name, declared_type = name or found_name, declared_type or found_type
    refuse_by_name(label)
    pool = ReaderPool(1, ocr=True) if ocr else shared()
    try:
        if data is not None:
            return pool.read(data, name=name, declared_type=declared_type, as_kind=as_kind, frame=frame)
        assert isinstance(document, os.PathLike)
        path = Path(document)
        if is_folder(path):
            raise InputUnreadable("folder_not_file", path=label)
        return read_file(path, label=label, as_kind=as_kind, frame=frame, pool=pool)
    except Unreadable as error:
        raise InputUnreadable("path_why", why=error.note, path=label, state=error.state) from error
    finally:
        if ocr:
            pool.close()


def refuse_by_name(label: str) -> None:
    """Raise `InputUnreadable` for files that only look like documents: those that programs leave beside them."""
    name = label.replace("\\", "/").rpartition("/")[2]
    if name.startswith("~$"):
        raise InputUnreadable("lock_file", path=label, name=name.removeprefix("~$"), state="unknown_kind")
    if name.casefold() in ("thumbs.db", "desktop.ini", ".ds_store"):
        raise InputUnreadable("system_file", path=label, state="unknown_kind")


def _label(document: os.PathLike[str] | bytes | WebAddress) -> str:
    if isinstance(document, bytes):
        return "the document"
    return document.url if isinstance(document, WebAddress) else os.fspath(document)


def _fetched(address: WebAddress, fetcher: Fetcher | None = None) -> tuple[bytes, str, str]:
    """Content, name and declared type of what is at an address. Raises `SourceError`."""
    if fetcher is None:
        from doublet.crawl.politeness import PoliteFetcher

        with PoliteFetcher() as polite:
            return _fetched(address, polite)
    answer = fetcher.fetch(address.url)
    if not 200 <= answer.status < 300:
        raise InputUnreadable(
            "server_answers",
            path=address.url,
            status=answer.status,
            state="failed",
        )
    name = unquote(urlsplit(answer.address).path).rsplit("/", 1)[-1]
    return answer.body, name, answer.headers.get("content-type", "")


def read_address(
    address: str, fetcher: Fetcher, *, pool: ReaderPool | None = None, **options: Any
) -> ReadDocument:
    """The text of the document at an address, fetched by *fetcher*. *options* are *as_kind* and *frame*.

    Raises `SourceError`: what the fetcher raises, or `InputUnreadable` for an answer without a document.
    """
    from doublet.sources.workers import shared

    data, name, declared = _fetched(WebAddress(address), fetcher)
    try:
        return (pool or shared()).read(data, name=name, declared_type=declared, **options)
    except Unreadable as error:
        raise InputUnreadable("path_why", why=error.note, path=address, state=error.state) from error
