"""Kept documents that are edited or reworded copies of each other: the last step of the method "auto".

They are found by `matches.copies`; here they become rows with ids, and with "remove" the reworded ones join groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from doublet.jobs.dedupe.answers import Grouped, join_groups
from doublet.jobs.dedupe.collection import Collection
from doublet.jobs.dedupe.joining import Links
from doublet.jobs.dedupe.memory import MemoryShares
from doublet.jobs.dedupe.options import DedupeMethods, DedupeOptions
from doublet.jobs.dedupe.rereading import texts_at
from doublet.matches.copies import LONGEST_SHINGLE, find_related, remove_reworded
from doublet.model import Member, Note, Related
from doublet.progress import Progress


def find_copies(
    source: Any,
    collection: Collection,
    methods: DedupeMethods,
    options: DedupeOptions,
    links: Links,
    grouped: Grouped,
    memory: MemoryShares,
    progress: Progress,
) -> tuple[tuple[Related, ...] | None, Grouped]:
    """Edited and reworded copies among kept documents (None: they were not looked for), and the groups after that."""
    if methods.sampled is None:
        return None, grouped

    if methods.exact.parameters.shingle_words > LONGEST_SHINGLE:
        methods.notes.append(Note("reworded_long_shingles", longest_shingle=LONGEST_SHINGLE))
        return None, grouped
    names, ranks = collection.names, links.ranks
    alive = np.ones(len(collection), np.bool_)
    alive[[*grouped.removed, *collection.outcomes.excluded]] = False
    found, left, whole = find_related(
        lambda positions: texts_at(source, positions, progress),
        methods.sampled,
        collection.store,
        alive,
        collection.facts.all_positions(),
        methods.meaning,
        thorough=options.reworded == "all",
        workers=options.workers,
        progress=progress,
        within=memory.for_copies,
    )
    if links.siblings is not None and found:
        sides = (np.array([getattr(one, side) for one in found], np.uint32) for side in "ab")
        found = [one for one, apart in zip(found, links.siblings.apart(*sides), strict=True) if not apart]
    if left:
        methods.notes.append(Note("pairs_not_looked_at", left=left))
    if not whole:
        methods.notes.append(Note("likeliest_pairs_only"))
    if options.reworded == "remove":
        numbers = {name: number for number, name in enumerate(names)}
        keeping = {numbers[group.keep] for group in grouped.groups}
        joined: dict[str, list[Member]] = {}
        gone = set(grouped.removed)
        leaving = remove_reworded(found, ranks, gone, keeping)
        for keep, copies in leaving.items():
            for other, one in copies:
                inside = one.containment[1] if other == one.b else one.containment[0]
                member = Member(names[other], one.resemblance, inside, None, "meaning")
                joined.setdefault(names[keep], []).append(member)
        gone |= {other for copies in leaving.values() for other, _ in copies}
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
