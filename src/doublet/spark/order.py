"""The order of preference among documents that are on many machines: the rule of `matches.preference`, key by key."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from doublet.matches.preference import read_time, source_key, source_places


@dataclass(frozen=True, slots=True)
class Order:
    """*whole_ids*: all ids of the collection are whole numbers; *number_times*: all times are written as numbers."""

    keep: str
    prefer: tuple[str, ...] = ()
    whole_ids: bool = False
    number_times: bool = False

    def columns(self, words: int, time: bytes, source: bytes) -> tuple[float, int]:
        """What comes before the id; the preferred have the smaller numbers."""
        if self.keep == "newest":
            moment = read_time(time.decode("utf-8", "surrogatepass"), number=self.number_times)
            return (math.inf if moment is None else -moment), -words
        if self.keep == "best-source":
            places = source_places(self.prefer)
            return float(places.get(source_key(source.decode("utf-8", "surrogatepass")), len(places))), -words
        return 0.0, -words

    def id_key(self, name: bytes) -> Any:
        return int(name) if self.whole_ids else name

    def key(self, name: bytes, words: int, time: bytes, source: bytes) -> tuple[Any, ...]:
        """Sorts documents from the most to the least preferred."""
        if self.keep == "first":
            return (self.id_key(name),)
        return (*self.columns(words, time, source), self.id_key(name))

    def placed(self, key: tuple[Any, ...], size: int, inside: bool) -> tuple[Any, ...]:
        """The same for all documents: those that lie *inside* a longer one come last, those with larger sets first."""
        return (1, -size, *key) if inside else (0, 0, *key)
