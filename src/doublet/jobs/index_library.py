"""Documents into a library: read, prepare and write, each batch in one transaction.

Two threads read and prepare the next batches (words, keys, packed texts) while this one writes. A stop at any moment
loses at most the batch in hand; running the same command again takes up from there, because what is stored already is
recognised by its content and left alone.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from doublet.jobs.dedupe.documents import rows_of
from doublet.model import Document, Note, Outcome
from doublet.progress import Progress
from doublet.sources.records import Batched, ParsedBatch
from doublet.store.database import Store
from doublet.store.values import Added
from doublet.store.writing import Prepared

PREPARERS = (
    2  #: threads that prepare; a third one writes, mostly inside the database, where it needs no Python
)
AHEAD = 4  #: batches that are prepared before they are written
BATCH_CHARACTERS = 8_000_000  #: of the documents that a program hands over and that are prepared together
OPTIMIZE_FROM = 20_000  #: new documents after which the index is put in its best shape


def index_library(
    store: Store,
    name: str,
    documents: Batched | Iterable[Any],
    *,
    progress: Progress | None = None,
) -> Added:
    """Store *documents* in the library *name*: new ones are added, changed ones replaced, equal ones left alone.

    A record that cannot be used becomes an `Outcome`; the rest goes on. Raises `UnknownLibrary`, `StoreError`,
    `Cancelled`.
    """
    progress = progress or Progress()
    source: Any = documents if isinstance(documents, Batched) else Given(documents)
    library = store.libraries.get(name).number
    total = source.total_bytes
    added = Added()

    def waiting(seconds: float) -> None:
        progress.step("waiting", int(seconds), None, "seconds", Note("database_in_use"))

    with ThreadPoolExecutor(PREPARERS) as workers:
        for prepared, outcomes, consumed in _ahead(workers, store, source.batches()):
            result = store.documents.add_prepared(library, prepared, waiting)
            result.outcomes += outcomes
            store.libraries.record(library, Counter(outcome.state for outcome in outcomes))
            added += result
            count = added.stored + added.changed + added.unchanged
            progress.step("storing", consumed, total, "bytes", Note("documents_read", documents=count))
    if added.stored + added.changed >= OPTIMIZE_FROM:
        store.optimize()
    elif added.stored or added.changed:
        store.give_back()
    return added


def _ahead(
    workers: ThreadPoolExecutor, store: Store, batches: Iterator[Any]
) -> Iterator[tuple[Prepared, list[Outcome], int]]:
    waiting: deque[Future[tuple[Prepared, list[Outcome], int]]] = deque()
    for batch in batches:
        waiting.append(workers.submit(_prepare, store, batch))
        if len(waiting) > AHEAD:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _prepare(store: Store, batch: Any) -> tuple[Prepared, list[Outcome], int]:
    parsed = batch.parse()
    documents = parsed if isinstance(parsed, list) else list(to_documents(parsed))
    outcomes = batch.outcomes if isinstance(parsed, list) else list(parsed.outcomes)
    return store.documents.prepare(documents), outcomes, batch.consumed_bytes


def to_documents(parsed: ParsedBatch) -> Iterator[Document]:
    titles = parsed.titles or [""] * len(parsed)
    addresses = parsed.addresses or [""] * len(parsed)
    times = parsed.times or [""] * len(parsed)
    sources = parsed.sources or [""] * len(parsed)
    rows = zip(parsed.ids, parsed.texts, titles, times, sources, addresses, strict=True)
    return (Document(*row) for row in rows)


@dataclass(slots=True)
class GivenBatch:
    documents: list[Document]
    outcomes: list[Outcome]
    consumed_bytes: int

    def parse(self) -> list[Document]:
        return self.documents


class Given:
    """Documents handed over by a program, in batches; an iterator is walked as it comes."""

    total_bytes: int | None = None

    def __init__(self, documents: Iterable[Any], size: int = 1_000) -> None:
        self._documents = rows_of(documents)
        self._size = size

    def batches(self) -> Iterator[GivenBatch]:
        consumed = before = 0
        batch = GivenBatch([], [], 0)
        for place, item in enumerate(self._documents, 1):
            document = as_document(item)
            if document is None:
                reason = Note("not_a_document")
                batch.outcomes.append(Outcome("invalid", "", f"document {place}", reason))
            else:
                batch.documents.append(document)
                consumed += len(document.text)
            full = consumed - before >= BATCH_CHARACTERS
            if full or len(batch.documents) + len(batch.outcomes) >= self._size:
                batch.consumed_bytes = before = consumed
                yield batch
                batch = GivenBatch([], [], 0)
        if batch.documents or batch.outcomes:
            batch.consumed_bytes = consumed
            yield batch


def as_document(item: Any) -> Document | None:
    """A document in any of the shapes that the Python functions take; None for anything else."""
    if isinstance(item, Document):
        return item
    facts: Sequence[Any] = ()
    if isinstance(item, tuple):  # the quickest to tell comes first
        if len(item) != 2:
            return None
        id, text = item
    elif isinstance(item, dict) or isinstance(item, Mapping):  # noqa: SIM101  together they take longer
        id, text = item.get("id"), item.get("text")
        if len(item) > 2:
            facts = [item.get(name) for name in ("title", "time", "source", "address")]
    else:
        return None
    if isinstance(id, int) and not isinstance(id, bool):
        id = str(id)
    if not isinstance(id, str) or not isinstance(text, str):
        return None
    if not facts:
        return Document(str(id), str(text))
    return Document(str(id), str(text), *("" if value is None else str(value) for value in facts))
