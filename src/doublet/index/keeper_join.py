"""The walk around keepers over candidates from keys. Every link is verified on the full sets of shingles.

Nothing is taken on the word of a signature. Documents are taken in the order of preference, some at a time; those that
no keeper covers look at all that share a key with them. Where that is too much, because the texts are so alike that
they share keys with thousands that they are not near enough to, a keeper looks for its `rarest` fingerprints first and
asks afterwards which of those that are near enough share a key. The links are the same.
docs/decisions/0065-crowded-keys.md
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from doublet.index.keys import KeyTable, Leads, distinct, pieces, slices, sums
from doublet.index.rarest import LONGEST, RarestFingerprints
from doublet.kernels import SetStore

U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]
T = TypeVar("T", bound=np.generic)

PAIRS_AT_ONCE = 1 << 18  #: candidates that are looked at together; takes some 15 MB
KEEPERS_AT_ONCE = 4_096
PATIENCE = 64  #: candidates for each document, all in all, before rare fingerprints are asked
LEAST_PATIENCE = 1 << 22
LINKS_AT_ONCE = 1 << 20  #: of more than these, and two for each document, the closest alone are kept
WIDE = 1 << 9  #: members; so large a group is looked through by itself where *alike* rules most of them out
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def clean_by_keys(
    table: KeyTable,
    store: SetStore,
    order: U32,
    threshold: float,
    containment: float,
    *,
    alike: Callable[[U32, U32], Mask] | None = None,
    agree: Callable[[int, U32], Mask] | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> tuple[U32, U32, U32]:
    """The walk of `SetStore.clean` over candidates from *table*: removed documents, keepers, fingerprints in common.

    *agree* is asked about a keeper and those whose sets are near enough to it; *alike*, where there is one, about pairs
    (or one keeper and many documents) before their sets are compared: it says no only where *agree* would.
    Where very many keepers cover a document only the closest of them may be told.
    """
    return _KeeperJoin(table, store, order, threshold, containment, alike, agree).run(on_step)


class _KeeperJoin:
    def __init__(
        self,
        table: KeyTable,
        store: SetStore,
        order: U32,
        threshold: float,
        containment: float,
        alike: Callable[[U32, U32], Mask] | None,
        agree: Callable[[int, U32], Mask] | None,
    ) -> None:
        self._table, self._store, self._order = table, store, order
        self._threshold, self._containment = threshold, containment
        self._alike, self._agree = alike, agree
        self._sizes = store.sizes().astype(np.int64)
        count = len(self._sizes)
        # What takes no part, or is empty, comes before all others and is never covered.
        self._ranks = np.full(count, -1, np.int64)
        self._ranks[order] = np.arange(len(order))
        self._ranks[self._sizes == 0] = -1
        self._covered = np.zeros(count, np.bool_)
        self._met = np.zeros(count, np.bool_)
        self._links = _Links(self._sizes, self._ranks)
        self._spent = 0
        self._rarest: RarestFingerprints | None = None
        self._crowded: U32 = order[:0]  # documents that are posted, in order
        self._posted = 0  # of these
        self._posted_to = len(order)  # rank up to which a keeper sees all that it can cover
        self._waiting: list[U32] = []  # keepers that have to look again when others are posted

    def run(self, on_step: Callable[[int, int], None] | None) -> tuple[U32, U32, U32]:
        order, total = self._order, len(self._order)
        at, width = 0, 1
        while at < total:
            if on_step is not None:
                on_step(at, total)
            self._post(at)
            window = order[at : min(at + width, self._posted_to)]
            keepers = window[~self._covered[window] & (self._sizes[window] > 0)]
            taken = self._visit(keepers) if len(keepers) else 0
            if taken == len(keepers):
                at, width = at + len(window), min(2 * width, KEEPERS_AT_ONCE)
            else:
                at, width = int(self._ranks[keepers[taken - 1]]) + 1, max(1, width // 2)
        if on_step is not None:
            on_step(total, total)
        return self._links.all()

    def _post(self, at: int) -> None:
        """Begin to ask for rare fingerprints when keys alone have cost enough, and post the next documents."""
        if self._rarest is None:
            patience = max(LEAST_PATIENCE, PATIENCE * len(self._order))
            if self._spent <= patience or not self._table.crowded.any():
                return
            rest = self._order[at:]
            fit = (self._sizes[rest] > 0) & (self._sizes[rest] <= LONGEST)
            self._crowded = rest[self._table.crowded[rest] & fit]
            self._rarest = RarestFingerprints(
                self._store, self._crowded, self._threshold, self._containment, self._table.free_bytes
            )
            self._posted_to = at
        while at >= self._posted_to and self._posted_to < len(self._order):
            self._posted = self._rarest.post(self._posted)
            done = self._posted >= len(self._crowded)
            self._posted_to = len(self._order) if done else int(self._ranks[self._crowded[self._posted]])
            earlier = np.concatenate([self._order[:0], *self._waiting])
            self._waiting = [earlier]
            while len(earlier):
                earlier = earlier[self._look_again(earlier[:KEEPERS_AT_ONCE]) :]

    def _visit(self, keepers: U32) -> int:
        """Let the first of these keepers look for what they cover; gives how many did."""
        keepers = keepers[: _fitting(self._table.widths(keepers))]
        leads = self._table.leads(keepers)
        small, large = leads.costs()
        by_rarest = np.zeros(len(keepers), np.bool_)
        costs = small + large
        if self._rarest is not None and large.any():
            asking = np.flatnonzero((large > 0) & (self._sizes[keepers] <= self._rarest.longest))
            found = self._rarest.look_up(keepers[asking])
            cheaper = found.costs < large[asking]
            by_rarest[asking[cheaper]] = True
            costs[asking[cheaper]] = small[asking[cheaper]] + found.costs[cheaper]
        used = ~(leads.large & by_rarest[leads.of_group])
        wide = used & (leads.sizes >= WIDE) if self._alike is not None else np.zeros(len(used), np.bool_)
        taken = _fitting(costs - sums(leads.of_group, leads.sizes * wide, len(keepers)) * 7 // 8)
        self._spent += int(costs[:taken].sum())
        inside = leads.of_group < taken
        listed = leads.only(leads.of_neighbour < taken, inside & used & ~wide)
        rows = self._verified(keepers, *self._follow(listed))
        if (wide & inside).any():
            none = np.zeros(len(leads.neighbours), np.bool_)
            found_alike = self._find_alike(keepers, leads.only(none, wide & inside))
            rows = _both(rows, self._verified(keepers, *found_alike))
        if by_rarest[:taken].any():
            used = by_rarest[asking[found.owners]] & (asking[found.owners] < taken)
            more = self._by_rarest(keepers, asking[found.owners[used]], found.starts[used], found.sizes[used])
            rows = _both(rows, more)
            if self._posted_to < len(self._order):
                self._waiting.append(keepers[:taken][by_rarest[:taken]])
        self._settle(keepers, *rows)
        return taken

    def _look_again(self, keepers: U32) -> int:
        """The same for keepers before those that were posted last, which covers none of these."""
        assert self._rarest is not None
        found = self._rarest.look_up(keepers)
        taken = _fitting(found.costs)
        used = found.owners < taken
        rows = self._by_rarest(keepers, found.owners[used], found.starts[used], found.sizes[used])
        self._settle(keepers, *rows)
        return taken

    def _follow(self, leads: Leads) -> tuple[I64, U32]:
        """Pairs of a keeper and a document that its keys lead to."""
        if int(leads.sizes.sum()) + len(leads.neighbours) <= PAIRS_AT_ONCE:
            return self._table.follow(leads)
        # One keeper with many: they are marked, piece by piece.
        owner = int([*leads.of_group[:1], *leads.of_neighbour[:1]][0])
        self._met[leads.neighbours] = True
        none = np.zeros(len(leads.neighbours), np.bool_)
        for start, stop in pieces(leads.sizes, PAIRS_AT_ONCE):
            some = np.zeros(len(leads.sizes), np.bool_)
            some[start:stop] = True
            self._met[self._table.follow(leads.only(none, some))[1]] = True
        return self._marked(owner)

    def _find_alike(self, keepers: U32, leads: Leads) -> tuple[I64, U32]:
        """Of the members of wide groups those that *alike* does not rule out, each group by itself: its members lie
        side by side, and most of them go."""
        assert self._alike is not None
        owners, documents = [np.zeros(0, np.int64)], [np.zeros(0, np.uint32)]
        for owner, start, size in zip(
            leads.of_group.tolist(), leads.starts.tolist(), leads.sizes.tolist(), strict=True
        ):
            for low in range(start, start + size, PAIRS_AT_ONCE):
                members = self._table.members(low, min(low + PAIRS_AT_ONCE, start + size))
                alike = members[self._alike(keepers[owner : owner + 1], members)]
                owners.append(np.full(len(alike), owner, np.int64))
                documents.append(alike)
        return np.concatenate(owners), np.concatenate(documents)

    def _marked(self, owner: int) -> tuple[I64, U32]:
        documents = np.flatnonzero(self._met).astype(np.uint32)
        self._met[documents] = False
        return np.full(len(documents), owner, np.int64), documents

    def _by_rarest(self, keepers: U32, owners: I64, starts: I64, sizes: I64) -> tuple[I64, U32, U32]:
        """Of the posted documents in these runs those that are near enough and share a large group with the keeper."""
        assert self._rarest is not None
        posted = self._rarest.posted
        if int(sizes.sum()) <= PAIRS_AT_ONCE:
            pairs = np.repeat(owners, sizes), slices(posted, starts, starts + sizes)
        else:
            for start, stop in pieces(sizes, PAIRS_AT_ONCE):
                self._met[slices(posted, starts[start:stop], (starts + sizes)[start:stop])] = True
            pairs = self._marked(int(owners[0]))
        owner, documents, overlaps = self._verified(keepers, *pairs)
        shared = self._table.share_large(keepers[owner], documents)
        return owner[shared], documents[shared], overlaps[shared]

    def _verified(self, keepers: U32, owners: I64, documents: U32) -> tuple[I64, U32, U32]:
        """Those of these pairs that are near enough, each once, with what they have in common."""
        parts, ranks = [], self._ranks[keepers]
        for low in range(0, max(1, len(owners)), PAIRS_AT_ONCE):
            owner, document = owners[low : low + PAIRS_AT_ONCE], documents[low : low + PAIRS_AT_ONCE]
            used = self._ranks[document] > ranks[owner]
            owner, document = owner[used], document[used]
            if self._alike is not None and len(owner):
                used = self._alike(keepers[owner], document)
                owner, document = owner[used], document[used]
            # More than so many are of one keeper, and no document is among them twice.
            owner, document = _once(owner, document)
            keeper = keepers[owner]
            overlaps = self._store.overlaps(keeper, document)
            common, own, other = overlaps.astype(np.float64), self._sizes[document], self._sizes[keeper]
            accepted = common / (own + other - common) >= self._threshold
            if self._containment > 0:
                accepted |= (own <= other) & (common / own >= self._containment)
            parts.append((owner[accepted], document[accepted], overlaps[accepted]))
        return _joined(parts)

    def _settle(self, keepers: U32, owners: I64, documents: U32, overlaps: U32) -> None:
        """Remove what these keepers cover: one after the other, for one may cover the next."""
        order = np.argsort(owners, kind="stable")
        owners, documents, overlaps = owners[order], documents[order], overlaps[order]
        active, places = np.unique(owners, return_index=True)
        bounds = [*places.tolist(), len(owners)]
        used = np.zeros(len(owners), np.bool_)
        for number, owner in enumerate(active.tolist()):
            keeper = int(keepers[owner])
            if self._covered[keeper]:
                continue
            start, stop = bounds[number], bounds[number + 1]
            near = documents[start:stop]
            if self._agree is None:
                used[start:stop] = True
                self._covered[near] = True
            else:
                agreeing = self._agree(keeper, near)
                used[start:stop] = agreeing
                self._covered[near[agreeing]] = True
        self._links.add(documents[used], keepers[owners[used]], overlaps[used])


class _Links:
    """Removed documents and their keepers. Of very many, the closest keeper of each document alone is kept."""

    def __init__(self, sizes: I64, ranks: I64) -> None:
        self._sizes, self._ranks = sizes, ranks
        nothing = np.zeros(0, np.uint32)
        self._rows: list[tuple[U32, U32, U32]] = [(nothing, nothing, nothing)]
        self._waiting = 0

    def add(self, documents: U32, keepers: U32, overlaps: U32) -> None:
        if not len(documents):
            return
        self._rows.append((documents, keepers, overlaps))
        self._waiting += len(documents)
        if self._waiting > max(LINKS_AT_ONCE, 2 * len(self._sizes)):
            self._rows = [self._closest()]
            self._waiting = 0

    def all(self) -> tuple[U32, U32, U32]:
        documents, keepers, overlaps = _joined(self._rows)
        codes = documents.astype(np.uint64) << _HALF | keepers.astype(np.uint64)
        # A keeper that looked again may have met some before, by other keys.
        _, once = np.unique(codes, return_index=True)
        return documents[once], keepers[once], overlaps[once]

    def _closest(self) -> tuple[U32, U32, U32]:
        """By resemblance, then containment, then preference."""
        documents, keepers, overlaps = _joined(self._rows)
        own, other = self._sizes[documents], self._sizes[keepers]
        resemblance = overlaps / (own + other - overlaps)
        order = np.lexsort((self._ranks[keepers], -overlaps / own, -resemblance, documents))
        first = np.ones(len(order), np.bool_)
        first[1:] = documents[order][1:] != documents[order][:-1]
        chosen = order[first]
        return documents[chosen], keepers[chosen], overlaps[chosen]


def _fitting(costs: I64) -> int:
    """How many of these, from the first on, are not too much together; one at least."""
    return max(1, int(np.searchsorted(np.cumsum(costs), PAIRS_AT_ONCE, side="right")))


def _once(owners: I64, documents: U32) -> tuple[I64, U32]:
    codes = distinct(owners.astype(np.uint64) << _HALF | documents.astype(np.uint64))
    return (codes >> _HALF).astype(np.int64), (codes & _LOW).astype(np.uint32)


def _joined(parts: list[tuple[NDArray[T], U32, U32]]) -> tuple[NDArray[T], U32, U32]:
    one, two, three = zip(*parts, strict=True)
    return np.concatenate(one), np.concatenate(two), np.concatenate(three)


def _both(a: tuple[I64, U32, U32], b: tuple[I64, U32, U32]) -> tuple[I64, U32, U32]:
    """Pairs of either, each once."""
    owners, documents, overlaps = _joined([a, b])
    _, first = np.unique(owners.astype(np.uint64) << _HALF | documents.astype(np.uint64), return_index=True)
    return owners[first], documents[first], overlaps[first]
