"""The stages of a run: what each has written, and whether it can be used again.

The folder of a run has a file that names the settings, the input and every finished stage with its files and their
sizes. A stage is used again when nothing that it depends on has changed and all of its files are there, whole.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import doublet
from doublet.errors import InputUnreadable, UsageError
from doublet.kernels.data import HASH_VERSION, TEXT_VERSION
from doublet.progress import Progress
from doublet.sources.records import Fields
from doublet.spark import inputs, storage
from doublet.spark.job import Job

FORMAT = 1
STATE = "doublet-run.json"


@dataclass(slots=True)
class Run:
    """A run in its folder. Made by `open`."""

    job: Job
    listing: inputs.Listing
    state: dict[str, Any]
    reused: list[str] = field(default_factory=list)
    _key: str = ""  # grows with every stage: what comes later depends on what came before

    @property
    def splits(self) -> int:
        return len(self.listing.splits)

    @staticmethod
    def open(job: Job, addresses: Sequence[str], tasks: int, *, least_split: int, restart: bool) -> Run:
        """Raises `UsageError` for a folder that belongs to something else, and `SourceError`."""
        listing = inputs.list_inputs(addresses, job.fields, tasks, least_split)
        if not listing.splits:
            raise InputUnreadable("no_files", path=", ".join(addresses))
        place = job.at(STATE)
        state: dict[str, Any] = {}
        if storage.size_of(place) >= 0:
            state = storage.read_json(place)
            if state.get("format") != FORMAT:
                raise UsageError("run_of_another_version", path=job.out, version=str(state.get("version")))
        elif storage.exists(job.out) and storage.find_files(job.out):
            raise UsageError("folder_not_ours", path=job.out)
        inputs_now = [list(one) for one in listing.files]
        if restart or state.get("inputs") != inputs_now:
            for stage in state.get("stages", {}):
                storage.remove_folder(job.at(stage))
            state = {}
        if state:
            # How the input was cut and how many partitions there were stays as it was: files are called by it.
            listing = replace(
                listing, splits=[inputs.Split(**one) for one in storage.read_json(job.at("splits.json"))]
            )
            job = replace(job, partitions=state["partitions"])
        else:
            state = {
                "format": FORMAT,
                "version": doublet.__version__,
                "inputs": inputs_now,
                "partitions": job.partitions,
                "settings": _settings(job),
                "stages": {},
            }
            storage.write_json(job.at("splits.json"), [split.to_dict() for split in listing.splits])
            storage.write_json(place, state)
        run = Run(replace(job, run=uuid.uuid4().hex), listing, state)
        run._key = _hash([TEXT_VERSION, HASH_VERSION, inputs_now, _told(job)])
        return run

    def stage(self, name: str, work: Callable[[], dict[str, Any]], progress: Progress) -> dict[str, Any]:
        """The figures of a stage: of the earlier run when they hold, else of *work*, which is done now."""
        known = self.state["stages"].get(name)
        if known is not None and known["key"] == self._key and self._whole(name, known["files"]):
            self.reused.append(name)
            self._key = _hash([self._key, name])
            figures: dict[str, Any] = known["figures"]
            return figures
        progress.step(name, 0, None, "stage")
        self.state["stages"].pop(name, None)
        storage.remove_folder(self.job.at(name))
        begun = time.perf_counter()
        figures = work()
        figures["seconds"] = round(time.perf_counter() - begun, 3)
        files = {one.name: one.size_bytes for one in self._files(name)}
        figures["bytes"] = sum(files.values())
        self.state["stages"][name] = {"key": self._key, "files": files, "figures": figures}
        storage.write_json(self.job.at(STATE), self.state)
        self._key = _hash([self._key, name])
        return figures

    def depend(self, value: Any) -> None:
        """All further stages depend on this setting as well."""
        self._key = _hash([self._key, value])

    def figures(self) -> dict[str, Any]:
        return {
            name: {key: value for key, value in stage["figures"].items() if key != "splits"}
            for name, stage in self.state["stages"].items()
        }

    def _files(self, name: str) -> list[storage.StoredFile]:
        return storage.find_files(self.job.at(name)) if storage.exists(self.job.at(name)) else []

    def _whole(self, name: str, files: dict[str, int]) -> bool:
        return {one.name: one.size_bytes for one in self._files(name)} == files


def count_outcomes(told: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many records of all splits could not be used, by state."""
    counts: Counter[str] = Counter()
    for one in told:
        counts.update(one["outcomes"])
    return dict(counts)


def _settings(job: Job) -> dict[str, Any]:
    """What another job needs in order to read this one's documents again."""
    return {
        "method": job.method,
        "parameters": dict(job.parameters),
        "fields": asdict(job.fields),
        "max_record_bytes": job.max_record_bytes,
    }


def open_finished(out: str) -> tuple[Job, dict[str, Any]]:
    """The job that wrote the folder *out*, and its state. Raises `UsageError` when it is not such a folder."""
    place = storage.below(storage.whole(out), STATE)
    if storage.size_of(place) < 0:
        raise UsageError("not_a_run", path=out)
    state = storage.read_json(place)
    if state.get("format") != FORMAT:
        raise UsageError("run_of_another_version", path=out, version=str(state.get("version")))
    told = {**state["settings"], "fields": Fields(**state["settings"]["fields"])}
    return Job(out=storage.whole(out), partitions=state["partitions"], run=uuid.uuid4().hex, **told), state


def _told(job: Job) -> Any:
    return [
        job.method,
        sorted(job.parameters.items()),
        repr(job.fields),
        job.containment,
        job.keep,
        job.prefer,
        job.max_record_bytes,
    ]


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, default=str, sort_keys=True).encode()).hexdigest()[:32]
