"""What a run on Spark was asked for, as the executors need it, and the methods that they make of it once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from doublet.jobs.dedupe.memory import MemoryShares
from doublet.jobs.dedupe.options import DedupeMethods
from doublet.signatures import Statistics
from doublet.sources.records import Fields
from doublet.spark import storage
from doublet.spark.inputs import Split

WORDS_BYTES = 64_000_000  #: that an executor remembers of words, where a method spells or reduces them


@dataclass(frozen=True, slots=True)
class Job:
    """The settings of a run. *out* is the folder of all that it writes."""

    out: str
    method: str = "auto"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    fields: Fields = field(default_factory=Fields)
    threshold: float = 0.5
    containment: float = 0.9  #: 0: not asked for
    keep: str = "longest"
    prefer: tuple[str, ...] = ()
    max_record_bytes: int = 100_000_000
    partitions: int = 8  #: of what is sent between tasks
    run: str = ""  #: a name for this run: what a process remembers of another one is of no use

    def at(self, *names: str) -> str:
        return storage.below(self.out, "/".join(names))

    def part(self, stage: str, number: int) -> str:
        return self.at(stage, f"part-{number:06d}.parquet")

    def batches(self, stage: str, number: int) -> str:
        return self.at(stage, f"part-{number:06d}.arrow")


_methods: dict[str, DedupeMethods] = {}
_splits: dict[str, list[Split]] = {}


def methods_of(job: Job) -> DedupeMethods:
    """Made once in each process."""
    key = hashlib.sha256(
        json.dumps([job.run, job.out, job.method, sorted(job.parameters.items())], default=str).encode()
    ).hexdigest()
    if key not in _methods:
        _methods.clear()
        _methods[key] = DedupeMethods.of(job.method, dict(job.parameters), load_statistics(job))
    return _methods[key]


def load_statistics(job: Job) -> Statistics | None:
    """What the method knows about the collection, from the file in which the run put it."""
    from doublet.signatures import METHODS, CollectionStatistics, PivotWords

    if job.method not in METHODS or not METHODS[job.method].needs_statistics:
        return None
    kind = PivotWords if job.method == "pivot" else CollectionStatistics
    return kind.from_bytes(storage.read_bytes(job.at("statistics", "words.bin")))


def memory_of(methods: DedupeMethods) -> MemoryShares:
    return MemoryShares(0, 0, "", WORDS_BYTES if methods.spells else None)


def splits_of(job: Job) -> list[Split]:
    """The splits of the input as the run wrote them down."""
    key = f"{job.run} {job.out}"
    if key not in _splits:
        _splits.clear()
        _splits[key] = [Split(**one) for one in storage.read_json(job.at("splits.json"))]
    return _splits[key]
