"""Links → answers: groups around kept documents, and the pairs, strict groups and families that were asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from doublet.jobs.dedupe.collection import Collection
from doublet.jobs.dedupe.joining import Links
from doublet.jobs.dedupe.plan import Wishes
from doublet.jobs.preference import id_ranks
from doublet.matches.groups import best_links, families, lists, strict_groups
from doublet.model import Group, Member, Pair
from doublet.progress import Progress

PAIRS_LIMIT = (
    5_000_000  #: of the list of all pairs: thousands of near copies of one text have millions of pairs
)


@dataclass(frozen=True, slots=True)
class Grouped:
    """Groups, sorted by the kept id, and the numbers of the documents that go."""

    groups: tuple[Group, ...]
    removed: set[int]


def make_groups(collection: Collection, links: Links, threshold: float) -> Grouped:
    """Every removed document goes to its closest keeper."""
    names = collection.names
    documents, keepers, resemblance, containment = best_links(
        links.rows, collection.store.sizes(), links.ranks
    )
    members: dict[int, list[Member]] = {}
    for document, keeper, like, inside in zip(
        documents.tolist(), keepers.tolist(), resemblance.tolist(), containment.tolist(), strict=True
    ):
        within = names[keeper] if like < threshold else None  # else resemblance was reason enough
        step = "exact" if like == 1.0 else "shingles"
        members.setdefault(keeper, []).append(Member(names[document], like, inside, within, step))
    kept = sorted(members)
    keeps = [names[k] for k in kept]
    order = np.argsort(id_ranks(keeps), kind="stable").tolist()
    groups = tuple(
        Group(
            _group_id(keeps[i]),
            keeps[i],
            tuple(sorted(members[kept[i]], key=lambda m: (-m.resemblance, -m.containment, m.id))),
        )
        for i in order
    )
    return Grouped(groups, set(documents.tolist()))


def join_groups(groups: tuple[Group, ...], joined: Mapping[str, list[Member]]) -> tuple[Group, ...]:
    """Groups with more members, and new ones; sorted by the kept id as they were."""
    known = {group.keep: group.members for group in groups}
    keeps = [*known, *(keep for keep in joined if keep not in known)]
    out = []
    for i in np.argsort(id_ranks(keeps), kind="stable").tolist():
        members = (*known.get(keeps[i], ()), *joined.get(keeps[i], ()))
        ordered = tuple(sorted(members, key=lambda m: (-m.resemblance, -m.containment, m.id)))
        out.append(Group(_group_id(keeps[i]), keeps[i], ordered))
    return tuple(out)


def _group_id(keep: str) -> str:
    return hashlib.blake2b(keep.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


@dataclass(slots=True)
class Listed:
    """What was asked for besides the groups."""

    pairs: tuple[Pair, ...] | None = None
    strict: tuple[tuple[str, ...], ...] | None = None
    families: tuple[tuple[str, ...], ...] | None = None
    notes: list[str] = field(default_factory=list)


def list_pairs(collection: Collection, wishes: Wishes, threshold: float, progress: Progress) -> Listed:
    """All pairs of duplicates, and the views made of them, where they were asked for."""
    out = Listed()
    if not wishes.pairs and not wishes.views:
        return out

    def on_step(done: int, total: int) -> None:
        progress.step("pairing", done, total, "documents")

    names, store, excluded = collection.names, collection.store, collection.outcomes.excluded
    left, right, overlaps, cut = store.pairs(threshold, wishes.containment, PAIRS_LIMIT, on_step)
    if cut:
        out.notes.append(
            f"there are more than {PAIRS_LIMIT:,} pairs: the list, the strict groups and the families are cut short; "
            "the groups around kept documents are complete"
        )
    if excluded:
        gone = np.array(sorted(excluded), np.uint32)
        used = ~(np.isin(left, gone) | np.isin(right, gone))
        left, right, overlaps = left[used], right[used], overlaps[used]
    sizes = store.sizes().astype(np.float64)
    common = overlaps.astype(np.float64)
    resemblance = common / (sizes[left] + sizes[right] - common)
    if wishes.pairs:
        rows = []
        for a, b, like, both in zip(
            left.tolist(), right.tolist(), resemblance.tolist(), common.tolist(), strict=True
        ):
            x, y = (a, b) if names[a] <= names[b] else (b, a)
            rows.append(Pair(names[x], names[y], like, (both / float(sizes[x]), both / float(sizes[y]))))
        out.pairs = tuple(sorted(rows, key=lambda p: (-p.resemblance, p.a, p.b)))
    if "strict" in wishes.views:
        # Numbered by id, so that ties do not depend on the order of arrival.
        rank = collection.id_order.astype(np.uint32)
        by_rank = [names[i] for i in np.argsort(rank).tolist()]
        low, high = np.minimum(rank[left], rank[right]), np.maximum(rank[left], rank[right])
        out.strict = lists(strict_groups(low, high, resemblance), by_rank)
    if "families" in wishes.views:
        out.families = lists(families(len(names), left, right), names)
    return out
