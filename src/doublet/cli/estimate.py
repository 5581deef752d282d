"""How long a collection will take and how much memory: told before the work begins.

A sample of the input is read, and put through the first and longest step of the work (words and shingles) on
this very machine; the rest is in proportion. Good to a factor of two, which is what one needs to know.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from doublet.reports.wording import count, duration, size

if TYPE_CHECKING:
    from doublet.sources.open import Inputs

SAMPLE_BYTES = 1_000_000  #: read from all parts together
SAMPLE_PARTS = 8
FIRST_TASTE = 50_000  #: characters signed first; the plain Python kernels get no more than that
TASTE_S = 0.05
# Measured with `time -v` on collections of 0, 500 thousand empty, 60 and 240 thousand documents of 200 words:
# measure again when the store of the sets changes.
BASE_BYTES = 50_000_000
BYTES_PER_DOCUMENT = 300
BYTES_PER_SHINGLE = 20
STEPS_AFTER = 1.0  #: joining, grouping and writing, as a share of what is measured


@dataclass(frozen=True, slots=True)
class Estimate:
    """What lies ahead. Everything is a guess from a sample, except *input_bytes*."""

    input_bytes: int
    text_bytes: int
    documents: int
    seconds: float
    memory_bytes: int
    missing: tuple[
        tuple[str, str], ...
    ] = ()  #: wanted fields that no record has, with the option that sets them

    def to_dict(self) -> dict[str, Any]:
        return {
            "input_bytes": self.input_bytes,
            "text_bytes": self.text_bytes,
            "documents": self.documents,
            "seconds": round(self.seconds, 1),
            "memory_bytes": self.memory_bytes,
        }

    def sentence(self) -> str:
        time_needed = duration(self.seconds)
        return (
            f"About {count(self.documents, 'document')} in {size(self.input_bytes)}: "
            f"{'' if self.seconds < 1 else 'about '}{time_needed} and {size(self.memory_bytes)} of memory"
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
    texts: list[str] = []
    raw = consumed = records = characters = 0
    missing = {(source.fields.id, "--id-field"): 0, (source.fields.text, "--text-field"): 0}
    began = time.perf_counter()
    share = SAMPLE_BYTES // max(1, min(len(source.parts), SAMPLE_PARTS))
    for part in _some(source.parts):
        read = packed = 0
        for batch in part.batches(0, 0, 1 << 30, share):
            parsed = batch.parse()
            texts += [text[:SAMPLE_BYTES] for text in parsed.texts]
            characters += sum(map(len, parsed.texts))
            read += batch.size_bytes
            packed = batch.consumed_bytes
            records += len(parsed) + len(parsed.outcomes)
            for outcome in parsed.outcomes:
                for name, option in missing:
                    missing[name, option] += outcome.reason.startswith(f"no field {name!r};")
            if read >= share // 2:  # a batch ends early before a record of great length
                consumed += min(packed, read)
                break
        else:  # all of it, with records that were too large to be read
            consumed += part.size_bytes
        raw += read
    reading_s = time.perf_counter() - began
    signing_s, shingles = _signing(texts, characters, method, dict(parameters or {}))
    scale = source.total_bytes / consumed if consumed else 1.0
    documents = round(len(texts) * scale)
    seconds = (reading_s + signing_s * (1 + STEPS_AFTER)) * scale / max(1.0, 0.8 * workers)
    fixed = BASE_BYTES + documents * BYTES_PER_DOCUMENT  # what cannot be moved to disk
    memory = fixed + round(shingles * scale * BYTES_PER_SHINGLE)
    return Estimate(
        source.total_bytes,
        round(raw * scale),
        documents,
        seconds,
        max(
            fixed, min(memory, memory_bytes or _half_of_the_free_memory())
        ),  # the rest of the work goes on on disk
        tuple(field for field, times in missing.items() if times and times == records),
    )


def _half_of_the_free_memory() -> int:
    """What the work takes when no limit is set (see `dedupe_inputs`)."""
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _signing(texts: list[str], total: int, name: str, parameters: dict[str, Any]) -> tuple[float, int]:
    """Seconds that signing takes on this machine, and how many shingles (or words) there are, for *total* characters
    like those of *texts*."""
    from doublet.signatures import METHODS, gather_statistics
    from doublet.signatures import method as make_method

    taste, length = [], 0
    for text in texts:
        taste.append(text[:FIRST_TASTE])
        length += len(taste[-1])
        if length >= FIRST_TASTE:
            break
    if not length:
        return 0.0, 0
    seconds, shingles = 0.0, 0
    slower = 1.0
    if name == "auto":  # shingles, and a second look at some of the documents: within twice the time
        name, slower = "shingles", 1.9
        known = {info.name for info in METHODS[name].parameters_type.infos()} - {"reduce"}
        parameters = {key: value for key, value in parameters.items() if key in known}
    for some in (taste, texts):
        began = time.perf_counter()
        method = make_method(name, gather_statistics(name, some, **parameters), **parameters)
        signed = method.sign_texts(some)
        if name != "shingles":  # which are joined as they are; the others are looked up by their keys
            for signature in signed:
                if signature is not None:
                    method.keys(signature)
        seconds = time.perf_counter() - began
        length = sum(map(len, some)) or 1
        shingles = sum(signature.size for signature in signed if signature is not None)
        if seconds > TASTE_S:
            break
    return slower * seconds * total / length, round(shingles * total / length)


def _some(parts: list[Any]) -> list[Any]:
    """At most `SAMPLE_PARTS` of the parts, evenly spread."""
    step = -(-len(parts) // SAMPLE_PARTS) or 1
    return parts[::step]
