"""Documents that are in memory already, as a source that `dedupe_inputs` reads like any other."""

from __future__ import annotations

import contextlib
import datetime
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from doublet.errors import RecordInvalid, wrong_type
from doublet.jobs.dedupe.tables import ROW, Table, column_rows, is_column, is_table
from doublet.model import Deduplication, Document, Member, Note
from doublet.sources.jsonl import fields_of, find_field, optional_field, outcome_of
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


#: as documents in memory have them, whatever they are
FIELDS = Fields(time="time", source="source", title="title", address="address")


def _record(item: Any, position: int, fields: Fields) -> dict[str, Any]:
    """A document as the record of a table. Raises `RecordInvalid`."""
    if isinstance(item, str):  # a text, which has no id: its number is one
        return {fields.id: position, fields.text: item}
    if isinstance(item, Document):
        own = {fields.id: item.id, fields.text: item.text}
        return own | {name: getattr(item, name) for name in ("time", "source", "title", "address")}
    if isinstance(item, Mapping):
        return item if isinstance(item, dict) else dict(item)
    if isinstance(item, tuple | list) and len(item) == 2:
        return {fields.id: item[0], fields.text: item[1]}
    raise RecordInvalid("not_document_type", name=type(item).__name__, state="invalid", id="")


#: documents or texts in memory, a table of pandas, polars or Arrow, paths of files or folders with documents, or a
#: source that is open already
DocumentsInput = (
    Iterable[Document | Mapping[str, Any] | tuple[Any, str] | str | os.PathLike[str]]
    | os.PathLike[str]
    | Batched
)


@contextlib.contextmanager
def opened(
    documents: DocumentsInput,
    *,
    id_field: str | None = None,
    text_field: str | None = None,
    time_field: str | None = None,
    source_field: str | None = None,
) -> Iterator[Batched]:
    """*documents* as a source. One that was opened here is closed again. Raises `SourceError`, `InvalidParameter`."""
    asked = {
        "id_field": id_field,
        "text_field": text_field,
        "time_field": time_field,
        "source_field": source_field,
    }
    for name, value in asked.items():
        if value is not None and not isinstance(value, str):
            raise wrong_type(name, value, "wanted_text")
    given = {name.removesuffix("_field"): value for name, value in asked.items() if value is not None}
    paths = paths_of(documents)
    if paths:
        fields = Fields(**{"title": "title", "address": "address", **given})
        with open_source(
            paths,
            id_field=fields.id,
            text_field=fields.text,
            time_field=fields.time,
            source_field=fields.source,
            title_field=fields.title,
            address_field=fields.address,
        ) as source:
            source.check_fields({"id": "id_field", "text": "text_field"})
            yield source
    elif isinstance(documents, Batched):
        yield documents
    else:
        yield Documents(documents, replace(FIELDS, **given), id_given=id_field is not None)  # type: ignore[arg-type]


def paths_of(documents: Any) -> list[str]:
    """Files and folders, if that is what was given."""
    several: Sequence[Any] = documents if isinstance(documents, list | tuple) else [documents]
    if several and all(isinstance(one, os.PathLike) for one in several):
        return [os.fspath(one) for one in several]
    return []


def check_documents(documents: object) -> None:
    """Raises `InvalidParameter` for what is no collection of documents, such as a string."""
    if isinstance(documents, str | bytes | Mapping | Document) or not isinstance(documents, Iterable):
        raise wrong_type("documents", documents, "wanted_documents")


def rows_of(documents: Iterable[Any], fields: Fields = FIELDS, *, id_given: bool = False) -> Iterable[Any]:
    """*documents*, or the rows of a table. Raises `InvalidParameter` for what is no collection of documents."""
    if is_table(documents):
        return Table(documents, fields, id_given=id_given)
    if is_column(documents):
        return column_rows(documents)
    check_documents(documents)
    return documents


class Documents:
    """Documents in memory as a source. An iterator is walked once and kept when a method needs two walks.

    *given* has the ids that are not texts, by the texts that stand for them.
    """

    total_bytes: int | None = None
    notes: tuple[Note, ...] = ()

    def __init__(self, documents: Iterable[Any], fields: Fields = FIELDS, *, id_given: bool = False) -> None:
        """Raises `InvalidParameter` for what is no collection of documents; a wrong document in it is an outcome."""
        rows = rows_of(documents, fields, id_given=id_given)
        self.named_fields = fields.named(FIELDS)
        self._fields = replace(fields, id=ROW) if isinstance(rows, Table) and rows.own_ids else fields
        self._documents = rows if isinstance(rows, Sequence | Table) else list(rows)
        self.given: dict[str, Any] = {}

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

    def _put(self, parsed: ParsedBatch, position: int, item: Any) -> None:
        place = f"document {position + 1}"
        try:
            record = _record(item, position, self._fields)
            id = find_field(record, self._fields.id)
            if isinstance(id, uuid.UUID | datetime.date):
                record = {**record, self._fields.id: str(id)}
            name, text, time, source = fields_of(record, self._fields, place, "")
        except RecordInvalid as error:
            parsed.outcomes.append(outcome_of(error, place))
            return
        if not isinstance(id, str):
            self.given.setdefault(name, id)
        parsed.ids.append(name)
        parsed.texts.append(text)
        parsed.times.append(time)
        parsed.sources.append(source)
        parsed.titles.append(optional_field(record, self._fields.title))
        parsed.addresses.append(optional_field(record, self._fields.address))
        parsed.sizes.append(len(text))
        parsed.positions.append(position)  # type: ignore[attr-defined]


def with_given_ids(result: Deduplication, given: Mapping[str, Any]) -> Deduplication:
    """The result with the ids in the type in which they were given: numbers as numbers."""
    if not given:
        return result

    def back(id: str) -> Any:
        return given.get(id, id)

    def member(one: Member) -> Member:
        inside = None if one.contained_in is None else back(one.contained_in)
        return replace(one, id=back(one.id), contained_in=inside)

    def lists(some: tuple[tuple[str, ...], ...] | None) -> tuple[tuple[Any, ...], ...] | None:
        return None if some is None else tuple(tuple(map(back, one)) for one in some)

    pairs, related = result.pairs, result.related
    return replace(
        result,
        groups=tuple(
            replace(group, keep=back(group.keep), members=tuple(map(member, group.members)))
            for group in result.groups
        ),
        kept=tuple(map(back, result.kept)),
        outcomes=tuple(replace(one, id=back(one.id)) for one in result.outcomes),
        pairs=None if pairs is None else tuple(replace(one, a=back(one.a), b=back(one.b)) for one in pairs),
        strict=lists(result.strict),
        families=lists(result.families),
        related=None
        if related is None
        else tuple(replace(one, a=back(one.a), b=back(one.b)) for one in related),
    )
