"""Documents that could not be used as they were: all are counted, the first of each state are listed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import nsmallest

from doublet.model import Note, Outcome

OUTCOMES_SHOWN = (
    1_000  #: rows of each state kept of documents that could not be used; all of them are counted
)


@dataclass(slots=True)
class Outcomes:
    """Documents that could not be used as they were. *excluded* take no part, and are neither kept nor removed.

    All are counted. Of each state the first by id are listed, so that the list does not depend on the order of arrival.
    """

    counts: Counter[str] = field(default_factory=Counter)
    excluded: set[int] = field(default_factory=set)
    _listed: dict[str, list[Outcome]] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> None:
        self.counts[outcome.state] += 1
        rows = self._listed.setdefault(outcome.state, [])
        rows.append(outcome)
        if len(rows) >= 2 * OUTCOMES_SHOWN:
            self._listed[outcome.state] = sorted(rows, key=_by_id)[:OUTCOMES_SHOWN]

    def rows(self) -> tuple[Outcome, ...]:
        """What is listed, state by state."""
        states = sorted(self._listed.items())
        return tuple(row for _, rows in states for row in sorted(rows, key=_by_id)[:OUTCOMES_SHOWN])

    def notes(self) -> list[Note]:
        left = self.counts.total() - len(self.rows())
        return [Note("outcomes_not_listed", left=left)] if left else []


_NUMBER_AT_THE_END = re.compile(r"[0-9]{1,18}$")


def _by_id(outcome: Outcome) -> tuple[str, str, int, str]:
    """Line 9 of a file before its line 10."""
    number = _NUMBER_AT_THE_END.search(outcome.place)
    if number is None:
        return outcome.id, outcome.place, 0, str(outcome.reason)
    return outcome.id, outcome.place[: number.start()], int(number.group()), str(outcome.reason)


def empty_ones(identifiers: Iterable[str]) -> list[Outcome]:
    """Rows for documents without words: for the first of them by id, no more than can ever be listed."""
    reason = Note("no_words_kept")
    return [Outcome("empty", identifier, "", reason) for identifier in nsmallest(OUTCOMES_SHOWN, identifiers)]
