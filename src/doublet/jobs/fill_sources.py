"""Fill a library from many sources, or update many libraries. A source that fails never stops the others."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doublet.addresses import WebAddress
from doublet.errors import InvalidParameter, SourceError
from doublet.jobs.add_source import Filled, Filling, fill_source, register_source, update_library
from doublet.jobs.index_library import index_library
from doublet.progress import Progress
from doublet.sources.open import open_source
from doublet.sources.protocol import Fetcher
from doublet.sources.streams import STDIN_LABEL
from doublet.store.database import Store

LOCAL_KINDS = ("auto", "folder", "file")
USUAL_FIELDS = {"title_field": "title", "address_field": "address"}


class StandardInput:
    """Records from a pipe: nothing that could be walked again."""


SourceInput = (
    os.PathLike[str] | WebAddress | StandardInput
)  #: a folder or file, an address, or standard input


@dataclass(frozen=True, slots=True)
class NotFilled:
    """A source that could not be used at all, with the reason."""

    library: str
    address: str
    error: SourceError


def fill_sources(
    store: Store,
    library: str,
    sources: Iterable[SourceInput],
    *,
    kind: str = "auto",
    local_options: Mapping[str, Any] | None = None,
    web_options: Mapping[str, Any] | None = None,
    reading: Mapping[str, Any] | None = None,
    fetcher: Fetcher | None = None,
    filling: Filling | None = None,
    progress: Progress | None = None,
) -> Iterator[Filled | NotFilled]:
    """Put the documents of each source into the library, one source after the other; each once.

    *local_options* are for what is on this computer, *web_options* for the rest; *reading* says how documents are read
    (whole_page). Raises `InvalidParameter` for options
    that a source cannot have, and `StoreError`.
    """
    for source in dict.fromkeys(sources):
        given = _shown(source)
        is_web = isinstance(source, WebAddress) or kind not in LOCAL_KINDS
        if web_options and not is_web:
            raise InvalidParameter("option_for_the_web", given=given, name=next(iter(web_options)))
        try:
            if isinstance(source, StandardInput):
                yield _fill_from_records(store, library, dict(local_options or {}), progress)
                continue
            options = {**((web_options if is_web else local_options) or {}), **(reading or {})}
            info = register_source(store, library, given, kind=kind, fetcher=fetcher, options=options)
            filled = fill_source(store, info, fetcher=fetcher, filling=filling, progress=progress)
            filled.address = given
            yield filled
        except SourceError as error:
            yield NotFilled(library, given, error)


def update_libraries(
    store: Store,
    libraries: Iterable[str],
    *,
    fetcher: Fetcher | None = None,
    filling: Filling | None = None,
    progress: Progress | None = None,
    sources: Sequence[int] | None = None,
) -> Iterator[Filled | NotFilled]:
    """Walk all sources of these libraries again, or those with these numbers."""
    for name in libraries:
        for found in update_library(
            store, name, fetcher=fetcher, filling=filling, progress=progress, sources=sources
        ):
            if isinstance(found, Filled):
                yield found
            else:
                info, error = found
                yield NotFilled(name, info.address, error)


def _shown(source: SourceInput) -> str:
    if isinstance(source, StandardInput):
        return STDIN_LABEL
    return source.url if isinstance(source, WebAddress) else os.fspath(source)


def _fill_from_records(
    store: Store, library: str, fields: dict[str, Any], progress: Progress | None
) -> Filled:
    with open_source(["-"], **(USUAL_FIELDS | fields)) as source:
        added = index_library(store, library, source, progress=progress)
    filled = Filled(library, "stream", STDIN_LABEL)
    filled.counts = Counter(stored=added.stored, changed=added.changed, unchanged=added.unchanged)
    filled.counts.update(outcome.state for outcome in added.outcomes)
    filled.outcomes = added.outcomes
    return filled
