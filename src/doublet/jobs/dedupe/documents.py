"""Documents that are in memory already, as a source that `dedupe_inputs` reads like any other."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doublet.errors import RecordInvalid, wrong_type
from doublet.model import Document, Note
from doublet.sources.jsonl import fields_of, optional_field, outcome_of
from doublet.sources.open import open_source
from doublet.sources.records import Batched, Fields, ParsedBatch


@dataclass(slots=True)
class MemoryBatch:
    """Documents that were in memory all along."""

    parsed: ParsedBatch
    first: int
    count: int
    consumed_bytes: int = 0
    size_bytes: int = 0

    def parse(self) -> ParsedBatch:
        return self.parsed


_FIELDS = Fields(time="time", source="source", title="title", address="address")


def _record(item: Any) -> dict[str, Any]:
    """A document as the record of a table. Raises `RecordInvalid`."""
    if isinstance(item, Document):
        return {name: getattr(item, name) for name in ("id", "text", "time", "source", "title", "address")}
    if isinstance(item, Mapping):
        return item if isinstance(item, dict) else dict(item)
    if isinstance(item, tuple | list) and len(item) == 2:
        return {"id": item[0], "text": item[1]}
    raise RecordInvalid("not_document_type", name=type(item).__name__, state="invalid", id="")


#: documents in memory, the path of a file or folder with documents, or a source that is open already
DocumentsInput = Iterable[Document | Mapping[str, Any] | tuple[str, str]] | os.PathLike[str] | Batched


@contextlib.contextmanager
def opened(documents: DocumentsInput) -> Iterator[Batched]:
    """*documents* as a source. One that was opened here is closed again. Raises `SourceError`, `InvalidParameter`."""
    if isinstance(documents, os.PathLike):
        with open_source([os.fspath(documents)], title_field="title", address_field="address") as source:
            yield source
    else:
        yield documents if isinstance(documents, Batched) else Documents(documents)


def check_documents(documents: object) -> None:
    """Raises `InvalidParameter` for what is no collection of documents, such as a string."""
    if isinstance(documents, str | bytes | Mapping | Document) or not isinstance(documents, Iterable):
        raise wrong_type("documents", documents, "wanted_documents")


class Documents:
    """Documents in memory as a source. An iterator is walked once and kept when a method needs two walks."""

    total_bytes: int | None = None
    notes: tuple[Note, ...] = ()

    def __init__(self, documents: Iterable[Any]) -> None:
        """Raises `InvalidParameter` for what is no collection of documents; a wrong document in it is an outcome."""
        check_documents(documents)
        self._documents = documents if isinstance(documents, Sequence) else list(documents)

    def batches(self, max_records: int = 1000) -> Iterator[MemoryBatch]:
        parsed, done, first = ParsedBatch(positions=[]), 0, 0
        for position, item in enumerate(self._documents):
            self._put(parsed, position, item)
            done += 1
            if len(parsed) + len(parsed.outcomes) >= max_records:
                yield MemoryBatch(parsed, first, done - first, done)
                parsed, first = ParsedBatch(positions=[]), done
        if len(parsed) or parsed.outcomes:
            yield MemoryBatch(parsed, first, done - first, done)

    @staticmethod
    def _put(parsed: ParsedBatch, position: int, item: Any) -> None:
        place = f"document {position + 1}"
        try:
            record = _record(item)
            name, text, time, source = fields_of(record, _FIELDS, place, "")
        except RecordInvalid as error:
            parsed.outcomes.append(outcome_of(error, place))
            return
        parsed.ids.append(name)
        parsed.texts.append(text)
        parsed.times.append(time)
        parsed.sources.append(source)
        parsed.titles.append(optional_field(record, _FIELDS.title))
        parsed.addresses.append(optional_field(record, _FIELDS.address))
        parsed.sizes.append(len(text))
        parsed.positions.append(position)  # type: ignore[attr-defined]
