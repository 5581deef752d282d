"""Documents that are in memory already, as a source that `dedupe_inputs` reads like any other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doublet.errors import wrong_type
from doublet.model import Document, Outcome
from doublet.sources.records import ParsedBatch


@dataclass(slots=True)
class MemoryBatch:
    """Documents that were in memory all along."""

    parsed: ParsedBatch
    consumed_bytes: int = 0

    def parse(self) -> ParsedBatch:
        return self.parsed


class Documents:
    """Documents in memory as a source. An iterator is walked once and kept when a method needs two walks."""

    total_bytes: int | None = None
    notes: tuple[str, ...] = ()

    def __init__(self, documents: Iterable[Any]) -> None:
        """Raises `InvalidParameter` for what is no collection of documents; a wrong document in it is an outcome."""
        if isinstance(documents, str | bytes | Mapping | Document) or not isinstance(documents, Iterable):
            wanted = "a list, or another iterable, of Documents, of mappings with 'id' and 'text', or of (id, text)"
            if isinstance(documents, str) or hasattr(documents, "__fspath__"):
                wanted += "; files are opened with doublet.sources.open.open_source"
            raise wrong_type("documents", documents, wanted)
        self._documents = documents if isinstance(documents, Sequence) else list(documents)

    def batches(self, max_records: int = 1000) -> Iterator[MemoryBatch]:
        parsed, done = ParsedBatch(positions=[]), 0
        for position, item in enumerate(self._documents):
            self._put(parsed, position, item)
            done += 1
            if len(parsed) + len(parsed.outcomes) >= max_records:
                yield MemoryBatch(parsed, done)
                parsed = ParsedBatch(positions=[])
        if len(parsed) or parsed.outcomes:
            yield MemoryBatch(parsed, done)

    @staticmethod
    def _put(parsed: ParsedBatch, position: int, item: Any) -> None:
        name: Any
        text: Any
        time = source = ""
        if isinstance(item, Document):
            name, text, time, source = item.id, item.text, item.time, item.source
        elif isinstance(item, Mapping):
            name, text = item.get("id"), item.get("text")
            time, source = str(item.get("time") or ""), str(item.get("source") or "")
        elif isinstance(item, tuple) and len(item) == 2:
            name, text = item
        else:
            name = text = None
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or not isinstance(text, str):
            reason = "not a Document, a mapping with the strings 'id' and 'text', or a pair of id and text"
            parsed.outcomes.append(Outcome("invalid", str(name or ""), f"document {position + 1}", reason))
            return
        parsed.ids.append(name)
        parsed.texts.append(text)
        parsed.times.append(time)
        parsed.sources.append(source)
        parsed.sizes.append(len(text))
        parsed.positions.append(position)  # type: ignore[attr-defined]
