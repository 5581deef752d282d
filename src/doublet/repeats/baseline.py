"""What is new against a known state: the heart of the linter.

The baseline is the JSON of an earlier run. A group is new when one of its fragments holds changed text that says again
what is said elsewhere. How an algorithm cuts and groups unchanged text does not matter: nothing in it is new.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from doublet.errors import UsageError
from doublet.model import FORMAT_VERSION, Note
from doublet.repeats.changed import Source, State, fresh_words, read_source, unpacked_words
from doublet.repeats.model import RepeatFragment, RepeatGroup, Repeats

FRESH_SHARE = 0.5  #: of the words of a fragment that must be fresh for it to be a new copy
FRESH_LEAST, FRESH_ENOUGH = 3, 15  #: words that are at least needed, and that always suffice


def format_problem(given: Mapping[str, Any]) -> Note | None:
    """Why the format of a file of this command cannot be read, whatever stands there as its number."""
    version: Any = given.get("format")
    if not isinstance(version, bool) and isinstance(version, int | float) and 1 <= version <= FORMAT_VERSION:
        return None
    return Note("baseline_format", known=version, format_version=FORMAT_VERSION)


def check_baseline(known: Any, name: str) -> State:
    """The words of a baseline. Raises `UsageError` when *known* is not the JSON of this command."""
    problem: Note | None = None
    if not isinstance(known, Mapping) or not isinstance(known.get("groups"), list):
        problem = Note("baseline_without_groups")
    else:
        problem = format_problem(known)
    if not problem:
        try:
            return unpacked_words([file["words"] for file in known["files"]])
        except (KeyError, TypeError, ValueError):
            problem = Note("baseline_without_words")
    raise UsageError("not_a_baseline", problem=problem, path=name)


def mark_new(result: Repeats, known: State, threads: int = 1) -> Repeats:
    """*result* with `new` and `reason` set on every group."""
    source = read_source([file.source for file in result.files], threads)
    fresh, repeated = fresh_words(known, source.state)
    groups: tuple[RepeatGroup, ...]
    if not fresh.any():
        groups = tuple(dataclasses.replace(group, new=False, reason=None) for group in result.groups)
        return dataclasses.replace(result, groups=groups)
    number = {file.file: at for at, file in enumerate(result.files)}
    total, told = (np.concatenate([[0], np.cumsum(flags)]) for flags in (fresh, fresh & repeated))
    marked = []
    for group in result.groups:
        copies = again = 0
        for fragment in group.fragments:
            one, two = _words(source, number[fragment.file], fragment)
            found = int(total[two] - total[one])
            if found >= min(max(FRESH_LEAST, FRESH_SHARE * (two - one)), FRESH_ENOUGH):
                copies += 1
                again += 2 * int(told[two] - told[one]) >= found
        reason = None
        if copies:
            reason = Note("more_copies", more=copies) if again else Note("new_repeat")
        marked.append(dataclasses.replace(group, new=bool(copies), reason=reason))
    return dataclasses.replace(result, groups=tuple(marked))


def _words(source: Source, file: int, fragment: RepeatFragment) -> tuple[int, int]:
    """The words of the state that stand in *fragment*."""
    one, two = int(source.state.offsets[file]), int(source.state.offsets[file + 1])
    first = one + int(np.searchsorted(source.ends[one:two], fragment.start, "right"))
    last = one + int(np.searchsorted(source.starts[one:two], fragment.end, "left"))
    return first, max(first, last)
