"""Which document of a group is kept: the order of preference (K7).

*longest* (most words), *first* (smallest id), *newest* (latest time), *best-source* (first of the sources that the
user prefers). Ties go to the longer document and then to the smaller id, so the order never depends on the order of
arrival. Ids that are all whole numbers are ordered as numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import InvalidParameter, nearest
from doublet.model import Note

_NUMBER = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,30})?")
_DAY_FIRST = re.compile(r"(\d{1,2})[.](\d{1,2})[.](\d{4})(.*)", re.DOTALL)
_YEAR_AND_MONTH = re.compile(r"\d{4}-\d\d$")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_SHOWN_SOURCES = 8  # in a note
KEEP = ("longest", "first", "newest", "best-source")


@dataclass(slots=True)
class Facts:
    """What is known of the documents besides their sets, one entry each. Compact: ids lie in one piece of memory."""

    words: list[NDArray[np.uint32]] = field(default_factory=list)
    positions: list[NDArray[np.uint64]] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    unread_times: list[str] = field(default_factory=list)  #: found by `preference`
    _ids: bytearray = field(default_factory=bytearray)
    _ends: list[NDArray[np.uint64]] = field(default_factory=list)
    _all_ends: NDArray[np.uint64] | None = None

    def add_encoded(self, ids: bytes, ends: NDArray[np.uint64]) -> None:
        """Ids in UTF-8, one piece, and where each of them ends."""
        self._ends.append(ends + np.uint64(len(self._ids)))
        self._ids += ids
        self._all_ends = None

    @property
    def ends(self) -> NDArray[np.uint64]:
        if self._all_ends is None:
            self._all_ends = np.concatenate(self._ends) if self._ends else np.zeros(0, np.uint64)
            self._ends = [self._all_ends]
        return self._all_ends

    def __len__(self) -> int:
        return len(self.ends)

    def id(self, document: int) -> str:
        ends = self.ends
        start = int(ends[document - 1]) if document else 0
        return self._ids[start : int(ends[document])].decode("utf-8", "surrogatepass")

    def ids(self, documents: Sequence[int] | NDArray[np.uint32] | None = None) -> list[str]:
        ends = self.ends
        starts = np.concatenate([[0], ends])[:-1].astype(np.uint64)
        if documents is not None:
            starts, ends = starts[documents], ends[documents]
        places = zip(starts.tolist(), ends.tolist(), strict=True)
        if self._ids.isascii():
            names = self._ids.decode("ascii")  # one decoding: a byte is a character
            return [names[a:b] for a, b in places]
        raw = bytes(self._ids)
        return [raw[a:b].decode("utf-8", "surrogatepass") for a, b in places]

    def word_counts(self) -> NDArray[np.uint32]:
        return np.concatenate(self.words) if self.words else np.zeros(0, np.uint32)

    def all_positions(self) -> NDArray[np.uint64]:
        return np.concatenate(self.positions) if self.positions else np.zeros(0, np.uint64)


def check_keep(keep: str, prefer: Sequence[str]) -> None:
    if keep not in KEEP:
        raise InvalidParameter(
            "keep_choices",
            nearest=nearest(keep, KEEP),
            keep=KEEP,
            name="keep",
            value=keep,
        )
    if keep == "best-source" and not prefer:
        raise InvalidParameter(
            "prefer_needed",
            name="prefer",
        )
    if prefer and keep != "best-source":
        raise InvalidParameter("prefer_for_best_source", keep=keep, name="prefer")


def id_ranks(ids: Sequence[str]) -> NDArray[np.int64]:
    """Rank of each id in the order of ids: as numbers when all are whole numbers, else by code point."""
    order = np.argsort(_sortable(ids), kind="stable")
    ranks = np.empty(len(ids), np.int64)
    ranks[order] = np.arange(len(ids))
    return ranks


def has_repeats(ids: Sequence[str], ranks: NDArray[np.int64]) -> bool:
    """True when an id stands there twice. *ranks* are those of `id_ranks`."""
    ordered = np.empty(len(ids), object)
    ordered[ranks] = ids
    return bool((ordered[1:] == ordered[:-1]).any())


def _sortable(ids: Sequence[str]) -> NDArray[Any]:
    """Numbers when all ids are whole numbers, else the ids themselves. Arrays: lists take five times the room."""
    if len(ids) and all_whole(ids):
        return np.fromiter(map(int, ids), np.int64, len(ids))
    names = np.empty(len(ids), object)
    names[:] = ids
    return names


def all_whole(ids: Sequence[str]) -> bool:
    """Whether all ids are whole numbers as they are usually written. True of none."""
    together = "".join(ids)
    if not together:
        return not len(ids)
    plain = together.isascii() and together.isdigit()
    return plain and all(len(i) < 19 and (i == "0" or i[:1] > "0") for i in ids)


def all_numbers(times: Iterable[str]) -> bool:
    """Whether all times that are there are written as numbers. True of none."""
    return all(_NUMBER.fullmatch(text) for text in times if text)


def read_time(text: str, *, number: bool) -> float | None:
    """A time as a number that grows, or None when it cannot be read. *number*: all times are written as numbers."""
    return (float(text) if text else None) if number else _moment(text)


def time_ranks(times: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Rank of each time, the oldest 0, and the times that could not be read: these and missing ones are the oldest.

    Read are numbers (when all are numbers), ISO 8601, days first (11.06.2024), and the dates of mail and feeds. A time
    without a zone is in UTC.
    """
    known = set(times)
    number = all_numbers(known)
    read = {text: time for text in known if (time := read_time(text, number=number)) is not None}
    places = {moment: place for place, moment in enumerate(sorted(set(read.values())), 1)}
    ranks = np.array([places[read[text]] if text in read else 0 for text in times], np.int64)
    return ranks, sorted(text for text in known if text and text not in read)


def _moment(text: str) -> float | None:
    from email.utils import parsedate_to_datetime

    text = text.strip()
    day_first = _DAY_FIRST.match(text)
    if day_first:
        day, month, year, rest = day_first.groups()
        text = f"{year}-{month:0>2}-{day:0>2}{rest.replace(', ', ' ')}"
    elif len(text) == 4 and text.isascii() and text.isdigit():
        text += "-01-01"
    elif _YEAR_AND_MONTH.match(text):
        text += "-01"
    for reader in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = reader(text)
        except (ValueError, TypeError, IndexError):
            continue
        return (moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH) / timedelta(seconds=1)
    return None


def preference(facts: Facts, ranks: NDArray[np.int64], keep: str, prefer: Sequence[str]) -> NDArray[np.int64]:
    """Documents from the most to the least preferred. *ranks* are those of `id_ranks`."""
    if keep == "first":
        return np.argsort(ranks, kind="stable")
    return np.lexsort((ranks, *reversed(preference_columns(facts, keep, prefer))))


def source_key(name: str) -> str:
    """What names of sources are compared by: `site`, `site/` and `./site` are one folder."""
    return name.removeprefix("./").rstrip("/") or name


def source_places(prefer: Sequence[str]) -> dict[str, int]:
    """The place of each preferred source by its `source_key`, the best 0."""
    return {key: place for place, key in enumerate(dict.fromkeys(map(source_key, prefer)))}


def missing_facts(facts: Facts, keep: str, prefer: Sequence[str]) -> list[Note]:
    """What *keep* has to go by and documents do not have."""
    if keep == "newest" and len(facts):
        without = sum(1 for time in facts.times if not time) if facts.times else len(facts)
        if without == len(facts):
            return [Note("no_document_has_time")]
        if without:
            return [Note("documents_without_time", without=without, documents=len(facts))]
    if keep == "best-source" and len(facts):
        found = sorted(set(facts.sources))
        known = set(map(source_key, found))
        shown, more = found[:_SHOWN_SOURCES], max(0, len(found) - _SHOWN_SOURCES)
        return [
            Note("source_not_found", name=name, nearest=nearest(name, found), found=shown, more=more)
            for name in prefer
            if source_key(name) not in known
        ]
    return []


def preference_columns(facts: Facts, keep: str, prefer: Sequence[str]) -> tuple[NDArray[np.int64], ...]:
    """What documents are ordered by before their ids, the weightiest first; the preferred have the smaller numbers."""
    words = -facts.word_counts().astype(np.int64)
    if keep == "newest":
        times, facts.unread_times = time_ranks(facts.times)
        return (-times if len(times) else words * 0), words
    if keep == "best-source":
        places = source_places(prefer)
        source = np.array([places.get(source_key(name), len(places)) for name in facts.sources], np.int64)
        return source, words
    return (words,)
