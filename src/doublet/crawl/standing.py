"""How a host has answered lately, and what follows: a pause, leaving it for another run, or asking it no more."""

from __future__ import annotations

from dataclasses import dataclass

from doublet.crawl.judge import REFUSALS

BACK_OFF_S = 2.0
LONGEST_BACK_OFF_S = 300.0
GIVE_UP = 8  #: tries in a row without an answer after which a host is left for another run
BANNED = 25  #: refusals in a row after which a host is asked no more
ANSWERED = frozenset({200, 203, 304})  #: statuses that end such a row


@dataclass(slots=True)
class Standing:
    """Of one host, in one run."""

    failures: int = 0  #: tries in a row without an answer
    refusals: int = 0  #: in a row

    def failed(self, *, broken: bool) -> float:
        """There was no answer, or one that asks to come back later. Gives the seconds to leave the host alone at least.
        *broken*: the connection was, and is tried again at once the first time."""
        self.failures += 1
        doubled = self.failures - (2 if broken else 1)
        return min(LONGEST_BACK_OFF_S, BACK_OFF_S * 2**doubled) if doubled >= 0 else 0.0

    def answered(self, status: int) -> None:
        self.failures = 0
        if status in REFUSALS:
            self.refusals += 1
        elif status in ANSWERED:
            self.refusals = 0

    @property
    def silent(self) -> bool:
        """Whether the host is left for another run."""
        return self.failures >= GIVE_UP

    @property
    def banned(self) -> bool:
        """Whether the host does not want to show us anything."""
        return self.refusals >= BANNED
