"""How a budget of memory is shared out, and what is said when the disk that takes the rest cannot be used."""

from __future__ import annotations

import contextlib
import numbers
import os
import tempfile
from dataclasses import dataclass
from typing import Any

from doublet.errors import InvalidParameter, MemoryTooSmall, SpillFailed, wrong_type
from doublet.jobs.dedupe.options import AUTO, DedupeMethods, DedupeOptions
from doublet.jobs.dedupe.signed import Signed
from doublet.kernels.memory import MemorySaver
from doublet.model import Note
from doublet.signatures import Limit
from doublet.sources.records import RecordSource

LEAST_MEMORY = 256_000_000
MOST_MEMORY = 1 << 62  #: more is the same: the kernels count in 64 bits
TIGHT_MEMORY = (
    1_000_000_000  #: within less no memory is kept for later work; it would be a large part of the whole
)
BASE_MEMORY = 90_000_000  #: Python, numpy and the modules
BYTES_PER_DOCUMENT = 330  #: id, place, rank and the like, which cannot be spilled
BYTES_PER_REMOVED = 450  #: the same for its place in a group, of documents that go
KEY_SHARE = (
    4  #: so small a part of the memory is for the keys and signatures of a method; more of them wait on disk
)
WORD_SHARE = 3  #: the same for the words that threads remember, where a method spells or reduces them
LEAST_SHARE = 5  #: what is left beside the statistics of a collection is at least such a part
TABLE_MEMORY = (
    90_000_000  #: the library that reads Parquet tables; how much of it is loaded depends on the system
)
WORKER_MEMORY = 45_000_000  #: a batch in hand: raw, parsed, words, shingles


@dataclass(frozen=True, slots=True)
class MemoryShares:
    """Bytes for each part of the work, and the folder for what does not fit."""

    store: int
    keys: int
    folder: str
    words: int | None = None  #: for those that each thread remembers; None: it remembers none
    sampled: int = 0  #: for leads to reworded copies, and afterwards for the texts of these

    @property
    def most_documents(self) -> int:
        """More than so many do not fit, whatever is spilled."""
        return (self.store + BASE_MEMORY) // BYTES_PER_DOCUMENT

    @property
    def for_copies(self) -> Limit:
        """For texts that are read again when all leads are known: the batches of the first reading are gone."""
        return Limit(self.sampled + WORKER_MEMORY, self.folder)

    def check_documents(self, documents: int) -> None:
        """Raises `MemoryTooSmall`."""
        if documents > self.most_documents:
            raise MemoryTooSmall(
                "documents_over_memory",
                most_documents=self.most_documents,
                bytes_per_document=BYTES_PER_DOCUMENT,
                documents=documents,
            )

    def check_removed(self, documents: int, removed: int) -> None:
        """Raises `MemoryTooSmall` when groups with so many members do not fit."""
        missing = documents * BYTES_PER_DOCUMENT + removed * BYTES_PER_REMOVED - self.store - BASE_MEMORY
        if removed and missing > 0:
            raise MemoryTooSmall(
                "removed_over_memory",
                megabytes=-(-missing // 1_000_000),
                documents=documents,
                removed=removed,
                missing_bytes=missing,
            )


def limit_work(source: Any, memory_bytes: int | None, workers: int, folder: str | None) -> Limit:
    """What may be taken besides the program and the batches in hand. Raises `MemoryTooSmall`."""
    if folder is not None and not isinstance(folder, str | os.PathLike):
        raise wrong_type("spill_folder", folder, "wanted_folder")
    room = store_memory(memory_bytes, workers, TABLE_MEMORY if _has_tables(source) else 0)
    return Limit(room, os.fspath(folder or _temporary_folder()))


def _has_tables(source: Any) -> bool:
    if not isinstance(source, RecordSource):  # documents in memory or in a library
        return False
    from doublet.sources.open import Inputs

    return isinstance(source, Inputs) and any(part.kind == "parquet" for part in source.parts)


def _temporary_folder() -> str:
    """Where there is none (all is read-only), the usual one: it is an error only when something has to be spilled."""
    try:
        return tempfile.gettempdir()
    except FileNotFoundError:
        return os.environ.get("TMPDIR") or "/tmp"


def share_out(methods: DedupeMethods, options: DedupeOptions, limit: Limit) -> MemoryShares:
    """Give every part of the methods its room. Raises `MemoryTooSmall`."""
    whole, folder = limit.memory_bytes, limit.folder or ""
    room = whole - methods.statistics_bytes
    if room < whole // LEAST_SHARE:
        missing = whole // LEAST_SHARE - room
        raise MemoryTooSmall(
            "statistics_over_memory",
            method=methods.method.name,
            statistics_bytes=methods.statistics_bytes,
            megabytes=-(-missing // 1_000_000),
            missing_bytes=missing,
        )
    sampled = methods.sample(room, folder) if methods.method.name == AUTO and options.reworded != "off" else 0
    room -= sampled
    words = None
    if methods.spells:
        words = room // WORD_SHARE // options.workers
        room -= words * options.workers
    keys = room // KEY_SHARE
    if not methods.by_shingles:
        methods.signed = Signed(methods.method, keys, folder)
        room -= keys
    return MemoryShares(room, keys, folder, words, sampled)


def check_memory(memory_bytes: int | None) -> int | None:
    """The same as a plain number that the kernels can count to. Raises `InvalidParameter`."""
    if memory_bytes is None:
        return None
    if isinstance(memory_bytes, bool) or not isinstance(memory_bytes, numbers.Integral):
        raise InvalidParameter("memory_bytes_whole", memory_bytes=memory_bytes, name="memory_bytes")
    return min(int(memory_bytes), MOST_MEMORY)


def store_memory(memory_bytes: int | None, workers: int, readers: int = 0) -> int:
    """What is left for the store of a budget for the whole process. Raises `MemoryTooSmall`."""
    if memory_bytes is None:
        memory_bytes = max(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2, 2 * LEAST_MEMORY)
    needed = max(LEAST_MEMORY, BASE_MEMORY + 2 * workers * WORKER_MEMORY) + readers
    if memory_bytes < needed:
        raise MemoryTooSmall(
            "memory_too_little",
            workers=workers,
            fewer=Note("or_fewer_workers") if workers > 1 else "",
            memory_bytes=memory_bytes,
            needed_bytes=needed,
        )
    return memory_bytes - BASE_MEMORY - readers - workers * WORKER_MEMORY


def saving(memory_bytes: int | None) -> contextlib.AbstractContextManager[object]:
    """Give back at once what is freed, where the budget is tight."""
    tight = memory_bytes is not None and memory_bytes < TIGHT_MEMORY
    return MemorySaver() if tight else contextlib.nullcontext()


class spilling:  # noqa: N801 - reads as a word in "with spilling(folder)"
    """Turns a full or missing disk into an error that says what to do."""

    def __init__(self, folder: str | None) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, OSError):
            raise SpillFailed(
                "spill_folder_unusable",
                why=error.strerror or error,
                folder=self.folder,
            ) from error
