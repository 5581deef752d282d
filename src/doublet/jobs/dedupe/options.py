"""What was asked for, checked (`DedupeOptions`), and the methods that answer it (`DedupeMethods`)."""

from __future__ import annotations

import numbers
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from doublet.errors import InvalidParameter, wrong_type
from doublet.index.sampled import BYTES_PER_ENTRY, MOST_ENTRIES, SampledKeys
from doublet.jobs.dedupe.signed import Signed
from doublet.matches.preference import check_keep
from doublet.model import Note
from doublet.progress import Progress
from doublet.signatures import METHODS, Limit, Method, Statistics, gather_statistics, require_parameters
from doublet.signatures import method as make_method
from doublet.signatures.shingled import ShingledMethod
from doublet.text.tokens import forget_words

VIEWS = ("strict", "families")
AUTO = "auto"  #: the method that looks further where shingles found nothing
CANDIDATES = ("auto", "exact", "sketches")
REWORDED_CHOICES = ("list", "all", "remove", "off")
BY_SHINGLES = (AUTO, "shingles")  #: methods whose candidates come from the sets of shingles themselves
LAST_STEP = (
    "aligned",
    "kept",
    "together",
    "thesaurus",
    "reduce",
)  #: parameters of "auto" for reworded copies alone


@dataclass(frozen=True, slots=True)
class DedupeOptions:
    """The options of a job that are not the method's. Made by `check`."""

    containment: float  #: 0: a text inside a longer one is no reason to go
    keep: str
    prefer: Sequence[str]
    pairs: bool
    views: Sequence[str]
    candidates: str
    reworded: str
    workers: int
    frames: bool | None  #: of sites are left out of their pages; None: where a folder has many pages

    @staticmethod
    def check(
        *,
        method: str,
        parameters: Collection[str],
        containment: float | None,
        keep: str,
        prefer: Sequence[str],
        pairs: bool,
        views: Sequence[str],
        candidates: str,
        reworded: str | None,
        workers: int,
        frames: bool | None = None,
    ) -> DedupeOptions:
        """Raises `InvalidParameter` for what cannot be asked for, and for what would be asked for in vain.

        One view and one preferred source may be named without a list.
        *parameters* are the names of those given for the *method*.
        """
        workers = _check_workers(workers)
        if frames is not None and not isinstance(frames, bool):
            raise wrong_type("frames", frames, "wanted_truth")
        prefer, views = _names("prefer", prefer), _names("views", views)
        check_keep(keep, prefer)
        least = check_share("containment", containment)
        if candidates not in CANDIDATES:
            raise InvalidParameter(
                "candidates_choices", candidates=candidates, candidates2=CANDIDATES, name="candidates"
            )
        if candidates != "auto" and method not in BY_SHINGLES:
            raise InvalidParameter(
                "candidates_by_shingles",
                by_shingles=" and ".join(BY_SHINGLES),
                name="candidates",
                method=method,
            )
        reworded = _check_reworded(reworded, method, parameters)
        for view in views:
            if view not in VIEWS:
                raise InvalidParameter("unknown_view", view=view, views=VIEWS, name="views")
        return DedupeOptions(least, keep, prefer, pairs, views, candidates, reworded, workers, frames)


@dataclass(slots=True)
class DedupeMethods:
    """The method at hand, and the shingles by which every link is verified (the method's own where it has them)."""

    method: Method
    exact: ShingledMethod[Any]
    threshold: float
    described: dict[str, Any]
    signed: Signed
    notes: list[Note] = field(default_factory=list)
    sampled: SampledKeys | None = None  #: leads to what shingles leave open
    statistics_bytes: int = 0  #: of what the method knows about the collection

    @property
    def spells(self) -> bool:
        """True when threads remember words: their spelling, or what they are reduced to."""
        plain = self.method.canon.plain or self.by_shingles
        return not (plain and self.exact.canon.plain) or self.method.needs_words

    @property
    def recipe(self) -> Any:
        return self.method.recipe

    @property
    def by_shingles(self) -> bool:
        return self.method.name in BY_SHINGLES

    @property
    def meaning(self) -> Any:
        """The last step of the method "auto"."""
        from doublet.signatures.auto import Auto

        assert isinstance(self.method, Auto)
        return self.method.meaning

    @property
    def reads_blocks(self) -> bool:
        """True when sets can be made from raw JSON: plain words, shingles of words, no signatures besides."""
        return self.by_shingles and self.exact.canon.plain and not self.exact.parameters.shingle_chars

    def sample(self, memory: int, folder: str) -> int:
        """Make ready to look for reworded copies; gives the memory that this takes."""
        memory = min(MOST_ENTRIES * BYTES_PER_ENTRY, memory // 4)
        self.sampled = SampledKeys(Limit(memory, folder))
        return memory

    def close(self) -> None:
        """Give back what lies in files."""
        self.signed.close()
        if self.sampled is not None:
            self.sampled.close()

    @staticmethod
    def make(
        name: str,
        parameters: dict[str, Any],
        source: Any,
        workers: int,
        limit: Limit | None = None,
        progress: Progress | None = None,
    ) -> DedupeMethods:
        """Raises `MemoryTooSmall` when what the method has to know about the collection does not fit the *limit*."""
        own = own_parameters(name, parameters)
        require_parameters(name, own)
        statistics = gather_statistics(name, _texts(source, progress), threads=workers, within=limit, **own)
        forget_words()  # the threads that read have their own
        return DedupeMethods.of(name, parameters, statistics)

    @staticmethod
    def of(name: str, parameters: dict[str, Any], statistics: Statistics | None) -> DedupeMethods:
        """The same with *statistics* of the collection that are at hand already."""
        own = own_parameters(name, parameters)
        verify = parameters.get("threshold", 0.5)
        chosen = make_method(name, statistics, **own)
        described = {key: value for key, value in vars(chosen.parameters).items() if key != "containment"}
        shape = {
            key: described[key]
            for key in (
                "shingle_words",
                "shingle_chars",
                "stop_words",
                "extra_stop_words",
                "min_letters",
                "reduce",
            )
            if key in described and "shingle_words" in described
        }
        if name == AUTO:
            shape["reduce"] = "none"  # its stems are for the last step
        exact = make_method("shingles", **shape)
        assert isinstance(exact, ShingledMethod)
        threshold = verify if chosen.threshold is None else chosen.threshold
        size = _size_bytes(statistics)
        return DedupeMethods(chosen, exact, threshold, described, Signed(chosen), statistics_bytes=size)


def _size_bytes(statistics: Statistics | None) -> int:
    if statistics is None:  # most methods have none
        return 0
    from doublet.signatures.counting import CountedWords

    return statistics.size_bytes if isinstance(statistics, CountedWords) else 0


def own_parameters(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Those of the method itself: a threshold that it does not know is for the sets of shingles alone."""
    own = dict(parameters)
    known = {info.name for info in METHODS[name].parameters_type.infos()} if name in METHODS else set(own)
    if "threshold" not in known:
        own.pop("threshold", None)
    return own


def _texts(source: Any, progress: Progress | None = None) -> Iterator[str]:
    """The texts of a source; *progress* is told how far the walk is."""
    for batch in source.batches():
        yield from batch.parse().texts
        if progress is not None and source.total_bytes:
            progress.step("counting", batch.consumed_bytes, source.total_bytes, "bytes")


def check_share(name: str, value: float | None) -> float:
    """*value*, or 0 for None. Raises `InvalidParameter` for what is no share."""
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < value <= 1:
        raise InvalidParameter("share_above_0", name=name, value=value)
    return float(value)


def _names(name: str, value: Sequence[str]) -> tuple[str, ...]:
    """A list of names, or one name."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable) or not all(isinstance(one, str) for one in value):
        raise wrong_type(name, value, "wanted_names")
    return tuple(value)


def _check_reworded(reworded: str | None, method: str, parameters: Collection[str]) -> str:
    if reworded is None:
        return "list" if method == AUTO else "off"
    if reworded not in REWORDED_CHOICES:
        raise InvalidParameter(
            "reworded_choices", reworded=reworded, reworded_choices=REWORDED_CHOICES, name="reworded"
        )
    if method != AUTO and reworded != "off":
        raise InvalidParameter(
            "reworded_for_auto",
            auto=AUTO,
            name="reworded",
            method=method,
        )
    idle = [name for name in LAST_STEP if name in parameters] if method == AUTO and reworded == "off" else []
    if idle:
        raise InvalidParameter("reworded_is_off", name=idle[0])
    return reworded


def _check_workers(workers: int) -> int:
    if not isinstance(workers, numbers.Integral) or isinstance(workers, bool) or workers < 0:
        raise InvalidParameter(
            "workers_range",
            name="workers",
            value=workers,
        )
    return workers or len(os.sched_getaffinity(0))
