"""Check many documents: one outcome for each of them. One that cannot be read never stops the others.

What they are checked against is a callable: `against_documents` or `against_libraries`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from doublet.errors import FetchFailed, NotAllowed, SourceError, TextError, UsageError
from doublet.jobs.check import check, with_hidden
from doublet.jobs.check_library import check_library
from doublet.jobs.read import GivenText, TextInput, take_text
from doublet.model import Check, Outcome
from doublet.sources.protocol import Fetcher
from doublet.sources.records import Batched, named_fields
from doublet.store.database import Store


class Checker(Protocol):
    """Checks the text of a document of this name."""

    def __call__(self, text: str, name: str) -> Check: ...


@dataclass(frozen=True, slots=True)
class CheckedDocument:
    """What became of one document: its *check* and its text, or the *outcome* that says why there is no check."""

    name: str
    text: str = ""
    check: Check | None = None
    outcome: Outcome | None = None
    error: SourceError | TextError | None = None
    title: str = ""  #: what the document calls itself, if it does


def check_many(
    documents: Iterable[tuple[str, TextInput]],
    checker: Checker,
    *,
    fetcher: Fetcher | None = None,
    ocr: bool = False,
    whole_page: bool = False,
    on_read: Callable[[str, GivenText], None] | None = None,
) -> Iterator[CheckedDocument]:
    """Check each of *documents*, pairs of a name to show and a text or where it is, in their order.

    *on_read* is told what was read, before it is checked; *ocr* reads scanned pages, *whole_page* menus
    and footers of web pages too.
    What has to do with the checking itself (the database cannot
    be used, a parameter is wrong) is raised: it would be the same for all.
    """
    for name, given in documents:
        try:
            taken = take_text("text", given, fetcher, ocr=ocr, whole_page=whole_page)
        except (SourceError, TextError) as error:
            yield CheckedDocument(name, outcome=outcome_of(name, error), error=error)
            continue
        if on_read is not None:
            on_read(name, taken)
        title = taken.read.title if taken.read is not None else ""
        checked = with_hidden(checker(taken.text, taken.name), taken)
        how = {"ocr": ocr, "whole_page": whole_page}
        checked = replace(checked, parameters={**checked.parameters, **how})
        yield CheckedDocument(name, taken.text, checked, title=title)


def outcome_of(name: str, error: SourceError | TextError) -> Outcome:
    """What an error says about the document of this name."""
    state = error.details.get("state")
    if not isinstance(state, str):
        kinds = {NotAllowed: "refused", FetchFailed: "failed"}
        state = next((told for kind, told in kinds.items() if isinstance(error, kind)), "unreadable")
    return Outcome(state, name, name, error.note)


def against_documents(source: Batched, **options: Any) -> Checker:
    """Check against documents of files or of memory, with the options of `doublet.check`."""

    def checker(text: str, name: str) -> Check:
        found = check(text, source, name=name, **options)
        return replace(found, parameters={**found.parameters, **named_fields(source)})

    return checker


def against_libraries(store: Store, libraries: Sequence[str] | None, **options: Any) -> Checker:
    """Check against libraries of a store, with the options of `check_library`."""

    def checker(text: str, name: str) -> Check:
        return check_library(store, text, libraries=libraries, name=name, **options)

    return checker


def list_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files of folders in the order of their names; everything else as it was named. Raises `UsageError` for a
    folder without files."""
    from doublet.sources.texts import list_files

    for path in paths:
        if path.is_dir():
            inside, _ = list_files(path, str(path))
            if not inside:
                raise UsageError("no_files_to_check", text=str(path))
            yield from inside
        else:
            yield path
