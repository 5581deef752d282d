"""What is known of all documents when they have been read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.jobs.dedupe.outcomes import Outcomes
from doublet.matches.preference import Facts


@dataclass(slots=True)
class Collection:
    """All documents, numbered as they arrived: their sets are in the *store*, the rest of what is known is here."""

    store: Any
    facts: Facts = field(default_factory=Facts)
    outcomes: Outcomes = field(default_factory=Outcomes)
    disguised: int = 0
    names: list[str] = field(default_factory=list)  #: ids
    id_order: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  #: rank of each by id

    def __len__(self) -> int:
        return len(self.facts)
