"""What is new against a known state: the heart of the linter.

The baseline is the JSON of an earlier run. A group is known when one group of the baseline has all its fragments, at
least as often; small changes of wording or of the edges of a fragment do not make it new, one more copy does. Where
one fragment came apart into two, there are more of them but not more text: that is no copy.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from doublet import kernels
from doublet.errors import UsageError
from doublet.model import FORMAT_VERSION, Note
from doublet.repeats.model import RepeatGroup, Repeats
from doublet.text.tokens import Canon

RUN = 3  #: words of the runs by which fragments are compared
ALIKE = 0.7  #: share of the runs of the shorter fragment that the other must have


def check_baseline(known: Any, name: str) -> list[list[str]]:
    """The texts of the groups of a baseline. Raises `UsageError` when *known* is not the JSON of this command."""
    problem: Note | None = None
    if not isinstance(known, Mapping) or not isinstance(known.get("groups"), list):
        problem = Note("baseline_without_groups")
    elif not 1 <= known.get("format", 0) <= FORMAT_VERSION:
        problem = Note("baseline_format", known=known.get("format"), format_version=FORMAT_VERSION)
    if not problem:
        try:
            return [[str(f["text"]) for f in group["fragments"]] for group in known["groups"]]
        except (KeyError, TypeError):
            problem = Note("baseline_without_texts")
    raise UsageError(
        "not_a_baseline",
        problem=problem,
        path=name,
    )


def mark_new(result: Repeats, known: Sequence[Sequence[str]]) -> Repeats:
    """*result* with `new` and `reason` set on every group."""
    sets = _runs([text for texts in known for text in texts])
    owner = [number for number, texts in enumerate(known) for _ in texts]
    under: dict[int, list[int]] = defaultdict(list)
    for number, runs in enumerate(sets):
        for run in runs:
            under[run].append(number)
    amounts = [0] * len(known)  # of text in each group of the baseline
    for number, runs in zip(owner, sets, strict=True):
        amounts[number] += len(runs)
    own = iter(_runs([f.text for group in result.groups for f in group.fragments]))
    groups = []
    for group in result.groups:
        copies: Counter[int] = Counter()  # group of the baseline → fragments of this one that it has
        amount = 0
        for _ in group.fragments:
            runs = next(own)
            amount += len(runs)
            hits = Counter(number for run in runs for number in under.get(run, ())[:200])
            copies.update(
                {
                    owner[number]
                    for number, common in hits.items()
                    if common >= ALIKE * min(len(runs), len(sets[number]))
                    and common >= ALIKE * 0.5 * max(len(runs), len(sets[number]))
                }
            )
        room = {
            number: max(len(known[number]), len(group.fragments) if amount <= amounts[number] else 0)
            for number in copies
        }
        groups.append(_marked(group, copies, room))
    return dataclasses.replace(result, groups=tuple(groups))


def _marked(group: RepeatGroup, copies: Counter[int], room: Mapping[int, int]) -> RepeatGroup:
    """*room* says how many fragments each group of the baseline has room for."""
    count = len(group.fragments)
    if any(found == count and room[number] >= count for number, found in copies.items()):
        return dataclasses.replace(group, new=False, reason=None)
    if copies:
        best = max(copies, key=lambda number: (copies[number], room[number], -number))
        more = max(count - room[best], count - copies[best], 1)
        reason = Note("more_copies", more=more)
    else:
        reason = Note("new_repeat")
    return dataclasses.replace(group, new=True, reason=reason)


def _runs(texts: Sequence[str]) -> list[set[int]]:
    """Runs of words of each text; a shorter text is one run."""
    if not texts:
        return []
    batch = Canon().tokens(list(texts))
    values, offsets = kernels.distinct(*kernels.shingle(batch.hashes, batch.offsets, RUN))
    edges = offsets.astype(np.int64).tolist()
    flat = values.tolist()
    return [set(flat[one:two]) for one, two in itertools.pairwise(edges)]
