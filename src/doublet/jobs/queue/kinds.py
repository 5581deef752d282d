"""Kinds of jobs: what each name in the queue does. One protocol, and one table that others can add to.

A kind is a function that takes a `Work` and keyword-only parameters which are JSON, and gives a result which is JSON.
It tells its progress to `Work.progress`, and stops where that raises `Cancelled`. Doing the same work twice must end as
doing it once, because a worker may die at any moment; a kind that can go on in the middle writes down where it is
(`Work.keep`) and finds it again in `Work.checkpoint`.

A package adds kinds of its own with an entry point in the group ``doublet.jobs`` whose name is that of the kind::

    def count_words(work: Work, *, library: str) -> dict[str, int]:
        return {"words": work.store.libraries.get(library).words}
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from doublet.config import Settings
from doublet.errors import InvalidParameter, UnknownKindOfJob, nearest
from doublet.model import Note
from doublet.progress import Progress
from doublet.store.database import Store
from doublet.store.values import JobInfo

_GROUP = "doublet.jobs"
_HERE = "doublet.jobs.queue"
WAIT_TOLD_S = 5.0

#: name → where the function is: imported when it is needed, whatever part of the program it belongs to
KINDS = {
    "fill": f"{_HERE}.library_work:fill",
    "crawl": f"{_HERE}.crawl_work:crawl",
    "refresh": f"{_HERE}.crawl_work:refresh",
    "check": f"{_HERE}.text_work:check",
    "check_class": f"{_HERE}.text_work:check_class",
    "duplicates": f"{_HERE}.library_work:duplicates",
    "index": f"{_HERE}.library_work:index",
    "tidy": f"{_HERE}.library_work:tidy",
    "verify": f"{_HERE}.library_work:verify",
    "delete": f"{_HERE}.library_work:delete",
    "remove_source": f"{_HERE}.library_work:remove_source",
    "expire": f"{_HERE}.library_work:expire",
    "repeats": f"{_HERE}.text_work:repeats",
    "evaluate": "doublet.evaluation.queued:evaluate",
}


def _forget(_: Mapping[str, Any]) -> None:
    pass


@dataclass(slots=True)
class Work:
    """What a kind is handed: where to work, how to tell of it, and where an earlier attempt had got to."""

    store: Store
    progress: Progress = field(default_factory=Progress)
    settings: Settings = field(default_factory=Settings)
    checkpoint: dict[str, Any] = field(default_factory=dict)
    keep: Callable[[Mapping[str, Any]], None] = _forget  #: write down a checkpoint

    def tell_wait(self, host: str, seconds: float) -> None:
        """For a fetcher that has to leave a host alone for a while."""
        if seconds >= WAIT_TOLD_S:
            self.progress.step("fetching", 0, None, "", Note("asked_again", host=host, seconds=seconds))


class Kind(Protocol):
    """A kind of job."""

    def __call__(self, work: Work, **parameters: Any) -> Any: ...


def names() -> list[str]:
    """All kinds that can be done here, ours first."""
    from importlib.metadata import entry_points

    return [*KINDS, *sorted(point.name for point in entry_points(group=_GROUP) if point.name not in KINDS)]


def get(name: str) -> Kind:
    """Raises `UnknownKindOfJob` with the nearest name."""
    if name in KINDS:
        module, _, function = KINDS[name].partition(":")
        found: Kind = getattr(importlib.import_module(module), function)
        return found
    from importlib.metadata import entry_points

    for point in entry_points(group=_GROUP, name=name):
        loaded: Kind = point.load()
        return loaded
    known = names()
    raise UnknownKindOfJob("no_kind_of_job", kind=name, nearest=nearest(name, known), known=known)


def enqueue(store: Store, kind: str, parameters: Mapping[str, Any], **options: Any) -> JobInfo:
    """Put work into the queue of *store*, after a look at whether the kind can take these parameters. *options* are
    those of `Jobs.add`. Raises `UnknownKindOfJob`, `InvalidParameter`."""
    check_parameters(kind, parameters)
    options.setdefault("library", _library(parameters))
    return store.jobs.add(kind, parameters, **options)


def check_parameters(kind: str, parameters: Mapping[str, Any], function: Kind | None = None) -> None:
    """Raises `InvalidParameter` for a parameter that the kind does not have, or one that is missing."""
    known = {
        name: one
        for name, one in inspect.signature(function or get(kind)).parameters.items()
        if one.kind is inspect.Parameter.KEYWORD_ONLY
    }
    for name in parameters:
        if name not in known:
            raise InvalidParameter(
                "kind_without_parameter",
                kind=kind,
                name=name,
                nearest=nearest(name, known),
                known=list(known),
            )
    for name, one in known.items():
        if one.default is inspect.Parameter.empty and name not in parameters:
            raise InvalidParameter("kind_needs_parameter", kind=kind, name=name)


def _library(parameters: Mapping[str, Any]) -> str:
    """The one library that the work is about, for lists; empty when it is none or several."""
    if isinstance(parameters.get("library"), str):
        return str(parameters["library"])
    several = parameters.get("libraries")
    return several[0] if isinstance(several, list | tuple) and len(several) == 1 else ""
