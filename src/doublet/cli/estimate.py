"""How long a collection will take and how much memory: told before the work begins.

A sample of the input is read and put through the longest steps of the work on this very machine (`cli.costs`); the
rest is in proportion. Mostly good to a factor of one and a half, which is what one needs to know.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from doublet.cli.costs import taste_costs
from doublet.model import Note

if TYPE_CHECKING:
    from doublet.sources.open import Inputs

SAMPLE_BYTES = 1_000_000  #: read from all parts together
SAMPLE_PARTS = 8
LONG_BYTES = 8_000_000  #: records from this length on are not read whole for an estimate
# Measured with `time -v` on collections of 0, 500 thousand empty, 60 and 240 thousand documents of 200 words:
# measure again when the store of the sets changes.
BASE_BYTES = 50_000_000
BYTES_PER_DOCUMENT = 300


@dataclass(frozen=True, slots=True)
class Estimate:
    """What lies ahead. Everything is a guess from a sample, except *input_bytes*."""

    input_bytes: int
    text_bytes: int
    documents: int
    seconds: float
    memory_bytes: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "input_bytes": self.input_bytes,
            "text_bytes": self.text_bytes,
            "documents": self.documents,
            "seconds": round(self.seconds, 1),
            "memory_bytes": self.memory_bytes,
        }

    @property
    def note(self) -> Note:
        return Note(
            "estimate" if self.seconds >= 1 else "estimate_short",
            documents=self.documents,
            input=self.input_bytes,
            seconds=self.seconds,
            memory=self.memory_bytes,
        )


def estimate(
    source: Inputs,
    *,
    method: str = "shingles",
    parameters: Mapping[str, Any] | None = None,
    workers: int = 1,
    memory_bytes: int | None = None,
) -> Estimate:
    """Read the beginning of some parts, sign it, and reckon from there."""
    from doublet.jobs.dedupe.memory import TABLE_MEMORY
    from doublet.sources.jsonl import JsonBatch

    texts: list[str] = []
    raw = consumed = characters = 0
    began = time.process_time()
    share = SAMPLE_BYTES // max(1, min(len(source.parts), SAMPLE_PARTS))
    for part in _some(source.parts):
        read = packed = 0
        for batch in part.batches(0, 0, 1 << 30, share):
            long = isinstance(batch, JsonBatch) and batch.size_bytes > LONG_BYTES
            block = batch.block if long else None
            if block is not None:  # a record of great length: its beginning tells enough
                texts.append(block[:SAMPLE_BYTES].decode("utf-8", "ignore"))
                characters += len(block) * len(texts[-1]) // SAMPLE_BYTES
                del block
            else:
                parsed = batch.parse()
                texts += [text[:SAMPLE_BYTES] for text in parsed.texts]
                characters += sum(map(len, parsed.texts))
            read += batch.size_bytes
            packed = batch.consumed_bytes
            if read >= share // 2:  # a batch ends early before a record of great length
                consumed += min(packed, read)
                break
        else:  # all of it, with records that were too large to be read
            consumed += part.size_bytes
        raw += read
    reading_s = time.process_time() - began
    scale = source.total_bytes / consumed if consumed else 1.0
    documents = round(len(texts) * scale)
    costs = taste_costs(texts, method, dict(parameters or {}), documents)
    seconds = reading_s * scale * costs.walks + costs.work_s(characters * scale, documents)
    seconds /= max(1.0, 0.8 * workers)
    tables = any(part.kind == "parquet" for part in source.parts)
    fixed = (
        BASE_BYTES + TABLE_MEMORY * tables + documents * BYTES_PER_DOCUMENT
    )  # what cannot be moved to disk
    memory = fixed + costs.memory_bytes(characters * scale, documents, workers)
    return Estimate(
        source.total_bytes,
        round(raw * scale),
        documents,
        seconds,
        max(
            fixed, min(memory, memory_bytes or _half_of_the_free_memory())
        ),  # the rest of the work goes on on disk
    )


def _half_of_the_free_memory() -> int:
    """What the work takes when no limit is set (see `dedupe_inputs`)."""
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _some(parts: list[Any]) -> list[Any]:
    """At most `SAMPLE_PARTS` of the parts, evenly spread."""
    step = -(-len(parts) // SAMPLE_PARTS) or 1
    return parts[::step]
