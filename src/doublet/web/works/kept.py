"""Reports as they are kept: the check, the text that was checked, and the places of its sources.

A report can be opened and scored again years later without the libraries: it has the text, the excerpts of every source
around its passages, and all settings. `Scored` applies what people decided.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from doublet.matches.figures import Figures, figures
from doublet.matches.rescore import rescore
from doublet.model import Check, Fragment, SourceMatch
from doublet.reports.check_json import read_check
from doublet.web.store import store
from doublet.web.works.models import Work

AROUND = 1_500  #: characters of a source that are kept before and after a passage
KIND = "check"


@dataclass(frozen=True, slots=True)
class Report:
    """A report read back."""

    check: Check
    text: str
    excerpts: dict[
        str, list[tuple[int, str]]
    ]  #: of each source by its id: where a piece of its text begins, and the piece


@dataclass(frozen=True, slots=True)
class SwitchedOff:
    """What people took out of the figures."""

    sources: frozenset[str] = frozenset()
    fragments: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()

    @classmethod
    def of(cls, decisions: Iterable[Any]) -> SwitchedOff:
        active = [one for one in decisions if one.undone_at is None]
        return cls(
            *(
                frozenset(one.which for one in active if one.target == target)
                for target in ("source", "fragment", "kind")
            )
        )

    def has(self, source: SourceMatch, fragment: Fragment) -> bool:
        return source.id in self.sources or fragment.id in self.fragments or fragment.kind in self.kinds


@dataclass(frozen=True, slots=True)
class Scored:
    """A report with figures after decisions."""

    figures: Figures
    shares: dict[str, float]  #: of each source by its id
    check: Check  #: without what is switched off


def keep(work: Work, text: str, check: Check) -> int:
    """Store a report; gives its number."""
    data = {
        "check": check.to_dict(),
        "text": text,
        "excerpts": {source.id: excerpts(source) for source in (*check.sources, *check.possible_sources)},
    }
    return store().reports.add(data, kind=KIND, title=work.title, share=check.share).number


def excerpts(source: SourceMatch) -> list[tuple[int, str]]:
    """Pieces of a source around its passages, joined where they meet."""
    wanted = sorted(
        (max(0, one.b.start - AROUND), one.b.end + AROUND) for one in (*source.fragments, *source.possible)
    )
    joined: list[list[int]] = []
    for start, end in wanted:
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return [(start, source.text[start:end]) for start, end in joined if source.text[start:end]]


def load(number: int) -> Report:
    data = store().reports.data(number)
    return Report(
        read_check(data["check"]),
        data["text"],
        {id: [(int(start), piece) for start, piece in some] for id, some in data["excerpts"].items()},
    )


def drop(number: int) -> None:
    store().reports.delete(number)


def score(report: Report, off: SwitchedOff) -> Scored:
    """The figures without what is switched off. Every word counts once."""
    known = {one.id for source in report.check.sources for one in (*source.fragments, *source.possible)}
    without = [*off.sources, *off.fragments & known, *off.kinds]
    left = rescore(report.check, without) if without else report.check
    return Scored(figures(left), {source.id: source.share for source in left.sources}, left)
