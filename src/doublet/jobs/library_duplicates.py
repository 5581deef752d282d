"""Groups of duplicates inside a library and between libraries (L8): the exact join of `dedupe` over documents."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from doublet.jobs.dedupe import dedupe_inputs
from doublet.jobs.dedupe.documents import MemoryBatch
from doublet.jobs.tend_library import prefix_of
from doublet.model import Deduplication, Group, Note
from doublet.progress import Progress
from doublet.reports.duplicates_html import duplicates_page
from doublet.reports.duplicates_view import Described, duplicate_groups
from doublet.reports.output import format_suffix, open_output
from doublet.reports.tables import write_groups
from doublet.sources.records import ParsedBatch
from doublet.store.database import Store
from doublet.store.values import iso

OPENING = 160  #: characters of a document that a page shows
AT_ONCE = 200  #: documents read at a time


def library_duplicates(
    store: Store,
    libraries: Sequence[str] | None = None,
    *,
    between: bool = False,
    out: Path | None = None,
    language: str = "en",
    progress: Progress | None = None,
    **options: Any,
) -> Deduplication:
    """Duplicates among the documents of these libraries (None: of all). Options are those of `dedupe`.

    With several libraries ids are written as ``library/id``. *between*: only groups with documents of two libraries or
    more; duplicates inside one library are counted (`Deduplication.not_listed`) and not listed. *out*: a file for the
    groups: JSON lines, or by its suffix JSON, CSV, or a page (``.html``, in *language*) on which they can be reviewed.
    """
    infos = store.libraries.select(libraries)
    source = LibrarySource(store, [info.name for info in infos])
    found = dedupe_inputs(source, progress=progress, **options)
    found = replace(found, parameters={**found.parameters, "between": between})
    if between and len(infos) > 1:
        groups = tuple(group for group in found.groups if len(_homes(group)) > 1)
        within = found.removed - sum(len(group.members) for group in groups)
        found = replace(
            found,
            groups=groups,
            notes=(*found.notes, Note("only_between_libraries")),
            extra={**found.extra, "not_listed": within},
        )
    if out is not None and format_suffix(out) not in (".html", ".htm"):
        write_groups(found, out)
    elif out is not None:
        with open_output(out) as stream:
            page = duplicates_report(store, found, [info.name for info in infos], language=language)
            stream.write(page.encode("utf-8", "replace"))
    return found


def duplicates_report(
    store: Store, found: Deduplication, libraries: Sequence[str], *, language: str = "en"
) -> str:
    """The page of these duplicates, on which they can be reviewed. *libraries* are those of the search."""
    groups = duplicate_groups(found, describe(store, libraries, found))
    return duplicates_page(
        found, groups, libraries=libraries, created=iso(int(time.time())), language=language
    )


def describe(store: Store, libraries: Sequence[str], found: Deduplication) -> dict[str, Described]:
    """What is known of the documents of all groups, by the ids of the result."""
    named = [id for group in found.groups for id in (group.keep, *(member.id for member in group.members))]
    out: dict[str, Described] = {}
    for name in libraries:
        prefix = prefix_of(name) if len(libraries) > 1 else ""
        own = {id[len(prefix) :]: id for id in named if id.startswith(prefix)}
        numbers = list(store.documents.numbers_of(store.libraries.get(name).number, list(own)).values())
        for start in range(0, len(numbers), AT_ONCE):
            for info, text in store.documents.full(numbers[start : start + AT_ONCE]).values():
                opening = " ".join(text[: 2 * OPENING].split())
                out[own[info.id]] = Described(
                    library=name,
                    title=info.title if info.title != info.id else "",
                    address=info.address,
                    time=info.time,
                    words=info.words,
                    opening=opening if len(opening) <= OPENING else f"{opening[:OPENING]}…",
                )
    return out


def _homes(group: Group) -> set[str]:
    """Libraries of a group. The part before the first ``/`` is escaped by `LibrarySource`."""
    return {id.split("/", 1)[0] for id in (group.keep, *(member.id for member in group.members))}


class LibrarySource:
    """Documents of libraries as `dedupe` reads them."""

    notes: tuple[Note, ...] = ()

    def __init__(self, store: Store, names: Sequence[str]) -> None:
        self._store = store
        self._names = list(names)
        self.total_bytes = sum(store.libraries.get(name).size_bytes for name in names)

    def batches(self, max_records: int = 1_000) -> Iterator[MemoryBatch]:
        done = position = 0
        prefix: Callable[[str], str] = prefix_of if len(self._names) > 1 else (lambda _: "")
        for name in self._names:
            for rows in self._store.documents.batches(name, max_records):
                parsed = ParsedBatch(positions=list(range(position, position + len(rows))))
                for info, text in rows:
                    parsed.ids.append(prefix(name) + info.id)
                    parsed.texts.append(text)
                    parsed.times.append(info.time)
                    parsed.sources.append(info.source or name)
                    parsed.sizes.append(len(text))
                    done += len(text.encode("utf-8", "surrogatepass"))
                yield MemoryBatch(parsed, position, len(rows), done)
                position += len(rows)
