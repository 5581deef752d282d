"""Links → answers: groups around kept documents, and the pairs, strict groups and families that were asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from numpy.typing import NDArray

from doublet.errors import MemoryTooSmall
from doublet.jobs.dedupe.collection import Collection
from doublet.jobs.dedupe.joining import Links
from doublet.jobs.dedupe.memory import MemoryShares
from doublet.jobs.dedupe.options import DedupeOptions
from doublet.jobs.dedupe.siblings import Siblings
from doublet.matches.groups import families, lists, strict_groups
from doublet.matches.keepers import closest_keepers
from doublet.matches.preference import id_ranks
from doublet.model import Group, Member, Note, Pair
from doublet.progress import Progress

U32 = NDArray[np.uint32]
F64 = NDArray[np.float64]

BYTES_PER_PAIR = 70  #: while pairs are sorted
LEAST_PAIRS = 100_000  #: fit in any case
PAIRS_LIMIT = (
    5_000_000  #: of the list of all pairs: thousands of near copies of one text have millions of pairs
)


@dataclass(frozen=True, slots=True)
class Grouped:
    """Groups, sorted by the kept id, and the numbers of the documents that go."""

    groups: tuple[Group, ...]
    removed: set[int]


def make_groups(collection: Collection, links: Links, threshold: float, memory: MemoryShares) -> Grouped:
    """Every removed document goes to its closest keeper. Raises `MemoryTooSmall`."""
    names = collection.names
    documents, keepers, resemblance, containment = closest_keepers(
        links.rows, collection.store.sizes(), links.ranks
    )
    memory.check_removed(len(collection), len(documents))
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
            group_id(keeps[i]),
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
        out.append(Group(group_id(keeps[i]), keeps[i], ordered))
    return tuple(out)


def group_id(keep: str) -> str:
    return hashlib.blake2b(keep.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


@dataclass(slots=True)
class Listed:
    """What was asked for besides the groups."""

    pairs: Sequence[Pair] | None = None
    strict: tuple[tuple[str, ...], ...] | None = None
    families: tuple[tuple[str, ...], ...] | None = None
    notes: list[Note] = field(default_factory=list)


class Pairs(Sequence[Pair]):
    """Pairs as columns: 32 bytes each where objects take ten times as much. A pair is made when it is asked for."""

    def __init__(
        self, names: Sequence[str], left: U32, right: U32, resemblance: F64, inside: tuple[F64, F64]
    ) -> None:
        self._names = names
        self._left, self._right, self._resemblance, self._inside = left, right, resemblance, inside

    @staticmethod
    def sorted(
        names: Sequence[str], left: U32, right: U32, resemblance: F64, common: F64, sizes: F64
    ) -> Pairs:
        """The closest first, then by id; in a pair the smaller id comes first. Ids are compared as texts."""
        used = np.unique(np.concatenate([left, right]))
        spelled = np.empty(len(used), object)
        spelled[:] = [names[i] for i in used.tolist()]
        rank = np.zeros(int(used[-1]) + 1 if len(used) else 0, np.uint32)
        rank[used[np.argsort(spelled, kind="stable")]] = np.arange(len(used), dtype=np.uint32)
        turned = rank[left] > rank[right]
        left, right = np.where(turned, right, left), np.where(turned, left, right)
        order = np.lexsort((rank[right], rank[left], -resemblance))
        left, right, common = left[order], right[order], common[order]
        return Pairs(names, left, right, resemblance[order], (common / sizes[left], common / sizes[right]))

    def __len__(self) -> int:
        return len(self._left)

    @overload
    def __getitem__(self, at: int) -> Pair: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Pair, ...]: ...
    def __getitem__(self, at: int | slice) -> Pair | tuple[Pair, ...]:
        if isinstance(at, slice):
            return tuple(self[i] for i in range(*at.indices(len(self))))
        inside = float(self._inside[0][at]), float(self._inside[1][at])
        a, b = self._names[int(self._left[at])], self._names[int(self._right[at])]
        return Pair(a, b, float(self._resemblance[at]), inside)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # as long as a list

    def __repr__(self) -> str:
        return f"Pairs({len(self)})"


def list_pairs(
    collection: Collection,
    options: DedupeOptions,
    threshold: float,
    memory: MemoryShares,
    progress: Progress,
    siblings: Siblings | None = None,
) -> Listed:
    """All pairs of duplicates, and the views made of them, where they were asked for. Raises `MemoryTooSmall`."""
    out = Listed()
    if not options.pairs and not options.views:
        return out

    def on_step(done: int, total: int) -> None:
        progress.step("pairing", done, total, "documents")

    names, store, excluded = collection.names, collection.store, collection.outcomes.excluded
    fit = max(LEAST_PAIRS, memory.store // BYTES_PER_PAIR)
    left, right, overlaps, cut = store.pairs(threshold, options.containment, min(PAIRS_LIMIT, fit), on_step)
    if cut and fit < PAIRS_LIMIT:
        raise MemoryTooSmall(
            "pairs_over_memory",
            bytes_per_pair=BYTES_PER_PAIR,
            pairs=fit,
        )
    if cut:
        out.notes.append(Note("pairs_cut_short", pairs_limit=PAIRS_LIMIT))
    if excluded:
        gone = np.array(sorted(excluded), np.uint32)
        used = ~(np.isin(left, gone) | np.isin(right, gone))
        left, right, overlaps = left[used], right[used], overlaps[used]
    if siblings is not None:
        near = ~siblings.apart(left, right)
        left, right, overlaps = left[near], right[near], overlaps[near]
    sizes = store.sizes().astype(np.float64)
    common = overlaps.astype(np.float64)
    resemblance = common / (sizes[left] + sizes[right] - common)
    if options.pairs:
        out.pairs = Pairs.sorted(names, left, right, resemblance, common, sizes)
    if "strict" in options.views:
        # Numbered by id, so that ties do not depend on the order of arrival.
        rank = collection.id_order.astype(np.uint32)
        by_rank = [names[i] for i in np.argsort(rank).tolist()]
        low, high = np.minimum(rank[left], rank[right]), np.maximum(rank[left], rank[right])
        out.strict = lists(strict_groups(low, high, resemblance), by_rank)
    if "families" in options.views:
        out.families = lists(families(len(names), left, right), names)
    return out
