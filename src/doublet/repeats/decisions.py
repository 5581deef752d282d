"""What a reader decided about groups of repeats, read back from the file that the page exports.

A decision belongs to the wordings of its group, so it holds wherever the group is found. *merge* and *keep* hold for as
many places as there were when they were made: one more copy is open again. *ignore* holds for any number.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from doublet.errors import UsageError
from doublet.model import Note
from doublet.repeats import text_hashes
from doublet.repeats.baseline import format_problem
from doublet.repeats.model import DECISIONS, RepeatGroup, Repeats


class Decision(NamedTuple):
    group: str
    decision: str
    places: int
    wordings: frozenset[str]  #: of its places, as `wordings` tells them


def wordings(result: Repeats, groups: Sequence[RepeatGroup]) -> list[list[str]]:
    """For each place of *groups* a sign of its words, whatever their markup."""
    plain = [result.plain(fragment) for group in groups for fragment in group.fragments]
    signs = iter(f"{value & 0xFFFFFFFFFF:010x}" for value in text_hashes(plain))
    return [[next(signs) for _ in group.fragments] for group in groups]


def check_decisions(given: Any, name: str) -> list[Decision]:
    """What was decided, in order. Raises `UsageError` when *given* is not what the page exports."""
    problem: Note | None = None
    if not isinstance(given, Mapping) or not isinstance(given.get("decisions"), list):
        problem = Note("decisions_without_list")
    else:
        problem = format_problem(given)
    out: list[Decision] = []
    for row in given["decisions"] if not problem else ():
        try:
            signs = frozenset(str(place["wording"]) for place in row["fragments"] if "wording" in place)
            group, decision, places = str(row["group"]), row["decision"], len(row["fragments"])
        except (KeyError, TypeError):
            problem = Note("decision_incomplete")
            break
        if decision not in DECISIONS:
            problem = Note("decision_unknown", decision=decision, known=list(DECISIONS))
            break
        out.append(Decision(group, decision, places, signs))
    if problem:
        raise UsageError("not_decisions", problem=problem, path=name)
    return out


def with_decisions(result: Repeats, decided: Sequence[Decision]) -> Repeats:
    """*result* with the decision of each group; ignored groups come last."""
    by_id = {one.group: one for one in decided}
    by_wording: dict[str, list[Decision]] = {}
    for one in decided:
        for sign in one.wordings:
            by_wording.setdefault(sign, []).append(one)
    groups, used = [], set()
    for group, signs in zip(result.groups, wordings(result, result.groups), strict=True):
        found = by_id.get(group.id) or next(
            (one for one in by_wording.get(signs[0], ()) if one.wordings.issuperset(signs)), None
        )
        if found is None or (found.decision != "ignore" and len(group.fragments) > found.places):
            groups.append(group)
        else:
            used.add(found.group)
            groups.append(dataclasses.replace(group, decision=found.decision))
    ignored = sum(group.decision == "ignore" for group in groups)
    notes = list(result.notes)
    if ignored:
        notes.append(Note("groups_ignored", groups=ignored))
    if len(by_id) > len(used):
        notes.append(Note("decisions_without_group", decisions=len(by_id) - len(used)))
    groups.sort(key=lambda group: group.decision == "ignore")
    return dataclasses.replace(result, groups=tuple(groups), notes=tuple(notes))
