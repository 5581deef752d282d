"""Groups of duplicates inside a library and between libraries (L8): the exact join of `dedupe` over documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from doublet.jobs.dedupe import dedupe_inputs
from doublet.jobs.dedupe.documents import MemoryBatch
from doublet.model import Deduplication, Group, Note
from doublet.progress import Progress
from doublet.sources.records import ParsedBatch
from doublet.store.database import Store


def library_duplicates(
    store: Store,
    libraries: Sequence[str] | None = None,
    *,
    between: bool = False,
    out: Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Deduplication:
    """Duplicates among the documents of these libraries (None: of all). Options are those of `dedupe`.

    With several libraries ids are written as ``library/id``. *between*: only groups with documents of two libraries or
    more; duplicates inside one library are counted (`Deduplication.not_listed`) and not listed. *out*: a file for the
    groups (JSON lines or CSV by its suffix).
    """
    infos = store.libraries.select(libraries)
    source = LibrarySource(store, [info.name for info in infos])
    found = dedupe_inputs(source, progress=progress, **options)
    if between and len(infos) > 1:
        groups = tuple(group for group in found.groups if len(_homes(group)) > 1)
        within = found.removed - sum(len(group.members) for group in groups)
        found = replace(
            found,
            groups=groups,
            notes=(*found.notes, Note("only_between_libraries")),
            extra={**found.extra, "not_listed": within},
        )
    if out is not None:
        from doublet.reports.tables import write_groups

        write_groups(found, out)
    return found


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
        prefix: Callable[[str], str] = (
            (lambda name: f"{name.replace('/', '∕')}/") if len(self._names) > 1 else (lambda _: "")
        )
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
