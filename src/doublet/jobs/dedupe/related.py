"""Kept documents that are edited or reworded copies of each other: the last step of the method "auto".

They are found by `jobs.reworded`; here they become rows with ids, and with "remove" the reworded ones join groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from doublet.jobs.dedupe.answers import Grouped, join_groups
from doublet.jobs.dedupe.collection import Collection
from doublet.jobs.dedupe.joining import Links
from doublet.jobs.dedupe.memory import Room
from doublet.jobs.dedupe.plan import Plan, Wishes
from doublet.model import Member, Related
from doublet.progress import Progress


def find_copies(
    source: Any,
    collection: Collection,
    plan: Plan,
    wishes: Wishes,
    links: Links,
    grouped: Grouped,
    room: Room,
    progress: Progress,
) -> tuple[tuple[Related, ...] | None, Grouped]:
    """Edited and reworded copies among kept documents (None: they were not looked for), and the groups after that."""
    if plan.sampled is None:
        return None, grouped
    from doublet.jobs.reworded import LONGEST_SHINGLE, Found, find_related

    if plan.exact.parameters.shingle_words > LONGEST_SHINGLE:
        plan.notes.append(
            f"reworded copies were not looked for: runs of more than {LONGEST_SHINGLE} words do not survive in them"
        )
        return None, grouped
    names, ranks = collection.names, links.ranks
    alive = np.ones(len(collection), np.bool_)
    alive[[*grouped.removed, *collection.outcomes.excluded]] = False
    found: list[Found]
    found, left, whole = find_related(
        source,
        plan.sampled,
        collection.store,
        alive,
        collection.facts.all_positions(),
        plan.meaning,
        thorough=wishes.reworded == "all",
        workers=wishes.workers,
        progress=progress,
        within=room.for_copies,
    )
    if left:
        plan.notes.append(
            f"{left:,} more pairs share some rare phrases and were not looked at: --reworded all looks at every one"
        )
    if not whole:
        plan.notes.append(
            "so many pairs share some rare phrases that only the likeliest fit the memory that is allowed: --memory"
        )
    if wishes.reworded == "remove":
        # Only documents that stand for no other one go, each to the most preferred document that it is a copy of.
        keeping = {group.keep for group in grouped.groups}
        joined: dict[str, list[Member]] = {}
        gone = set(grouped.removed)
        wanted = [one for one in found if one.kind == "reworded"]
        for one in sorted(wanted, key=lambda one: sorted((int(ranks[one.a]), int(ranks[one.b])))):
            keep, other = (one.a, one.b) if ranks[one.a] < ranks[one.b] else (one.b, one.a)
            if keep in gone or other in gone or names[other] in keeping:
                continue
            gone.add(other)
            keeping.add(names[keep])
            inside = one.containment[1] if other == one.b else one.containment[0]
            member = Member(names[other], one.resemblance, inside, None, "meaning")
            joined.setdefault(names[keep], []).append(member)
        found = [one for one in found if one.a not in gone and one.b not in gone]
        grouped = Grouped(join_groups(grouped.groups, joined), gone)
    rows = []
    for one in found:
        a, b, both = one.a, one.b, one.containment
        if names[a] > names[b]:
            a, b, both = b, a, both[::-1]
        step = "shingles" if one.aligned is None else "meaning"
        rows.append(Related(names[a], names[b], one.kind, step, one.resemblance, both, one.aligned, one.kept))
    return tuple(sorted(rows, key=lambda r: (r.kind, -r.resemblance, r.a, r.b))), grouped
