"""Reports as they are kept: the check, the text that was checked, and the places of its sources.

A report can be opened and scored again years later without the libraries: it has the text, the excerpts of every source
around its passages, and all settings. `view` gives what a page shows of it, after what people decided.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from doublet.model import Check
from doublet.reports.check_json import read_check
from doublet.reports.check_view import CheckView, Excerpt, SwitchedOff, excerpts, view_check
from doublet.reports.wording import Wording
from doublet.web.store import store
from doublet.web.works.models import Work

KIND = "check"


@dataclass(frozen=True, slots=True)
class Report:
    """A report read back."""

    check: Check
    text: str
    excerpts: dict[str, list[Excerpt]]  #: of each source by its id

    def view(self, off: SwitchedOff, words: Wording, name: str = "") -> CheckView:
        return view_check(self.check, self.text, self.excerpts, name=name, words=words, off=off)


def switched_off(decisions: Iterable[Any]) -> SwitchedOff:
    """What is switched off by decisions that nobody undid."""
    active = [one for one in decisions if one.undone_at is None]
    return SwitchedOff(
        *(
            frozenset(one.which for one in active if one.target == target)
            for target in ("source", "fragment", "kind")
        )
    )


def pack(text: str, check: Check) -> bytes:
    """A report as it is kept."""
    return store().reports.pack(
        {
            "check": check.to_dict(),
            "text": text,
            "excerpts": {
                source.id: excerpts(source.text, [one.b for one in (*source.fragments, *source.possible)])
                for source in (*check.sources, *check.possible_sources)
            },
        }
    )


def keep(work: Work, report: bytes, share: float) -> int:
    """Store a packed report; gives its number."""
    return store().reports.add(report, kind=KIND, title=work.title, share=share).number


def load(number: int) -> Report:
    data = store().reports.data(number)
    return Report(
        read_check(data["check"]),
        data["text"],
        {id: [Excerpt(int(start), piece) for start, piece in some] for id, some in data["excerpts"].items()},
    )


def drop(number: int) -> None:
    store().reports.delete(number)
