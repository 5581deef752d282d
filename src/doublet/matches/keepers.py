"""The rule that says who stays: verified pairs and an order of preference → keepers, and who goes to whom (K7).

Documents are taken in the order of preference. Each one stays unless one that stays already covers it. Of all sets of
documents in which nobody covers a later one, and to which nobody can be added, this is the first in that order: there
is exactly one, so any number of machines that apply the rule agree.

This is the plain rule, over arrays and without a database or a file. `kernels.SetStore.clean` applies it while it finds
the pairs, and `index.keeper_join` while it follows keys; tests compare them with it. Explained in
docs/decisions/0002-groups-around-keepers.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Who stays, and of each document that goes all keepers that cover it, as numbers of pairs that were given."""

    keepers: Mask  #: of every document; False for those that go and those that take no part
    links: I64  #: numbers of the pairs (keeper, document that goes), in the order in which they were given


def covering(
    left: U32, right: U32, overlaps: U32, sizes: U32, threshold: float, containment: float = 0.0
) -> tuple[U32, U32, U32]:
    """Pairs of sets with so many values in common, as who covers whom: coverer, covered, overlap.

    The one covers the other with a resemblance of *threshold* or more, and also, when *containment* is above 0, a set
    that is not larger and lies inside it with at least that containment. Each pair may come out twice, once, or never.
    """
    sides = ((left, right), (right, left))
    kept = []
    common = overlaps.astype(np.float64)
    for keeper, other in sides:
        own, held = sizes[keeper].astype(np.float64), sizes[other].astype(np.float64)
        near = (common > 0) & (common / np.maximum(own + held - common, 1) >= threshold)
        if containment > 0:
            near |= (common > 0) & (held <= own) & (common / np.maximum(held, 1) >= containment)
        kept.append(near)
    return (
        np.concatenate([left[kept[0]], right[kept[1]]]),
        np.concatenate([right[kept[0]], left[kept[1]]]),
        np.concatenate([overlaps[kept[0]], overlaps[kept[1]]]),
    )


def choose_keepers(
    count: int,
    order: NDArray[np.integer],
    coverers: NDArray[np.integer],
    covered: NDArray[np.integer],
    *,
    equal: NDArray[np.uint64] | None = None,
) -> Kept:
    """The keepers among *count* documents, taken in *order*; those that it leaves out take no part.

    *coverers* and *covered* are pairs: the first can stand for the second. Where two can stand for each other, both
    directions are given. *equal* has a number for each document, the same where sets are the same: such a document
    goes where the first of its kind went, or to it, even where a keeper that was found later covers it as well.
    """
    order = np.asarray(order, np.int64)
    ranks = np.full(count, -1, np.int64)
    ranks[order] = np.arange(len(order))
    keepers = np.zeros(count, np.bool_)
    keepers[order] = True
    # Only a pair whose coverer comes first can decide; by rank of the coverer each is looked at once.
    first, second = ranks[coverers], ranks[covered]
    deciding = np.flatnonzero((first >= 0) & (first < second))
    deciding = deciding[np.argsort(first[deciding], kind="stable")]
    names = np.asarray(coverers, np.int64)[deciding]
    others = np.asarray(covered, np.int64)[deciding]
    starts = np.flatnonzero(np.diff(names, prepend=-1))
    used = np.zeros(len(deciding), np.bool_)
    for start, end in pairwise([*starts.tolist(), len(names)]):
        if keepers[names[start]]:
            keepers[others[start:end]] = False
            used[start:end] = True
    if equal is not None and len(order):
        _, leading, kinds = np.unique(equal[order], return_index=True, return_inverse=True)
        rank_of_first = leading[kinds.reshape(-1)]  # of its kind, for each rank
        used &= ranks[names] <= rank_of_first[ranks[others]]
    return Kept(keepers, np.sort(deciding[used]))


def closest_keepers(links: tuple[U32, U32, U32], sizes: U32, ranks: U32) -> tuple[U32, U32, F64, F64]:
    """For each removed document its closest keeper: documents, keepers, resemblance, containment of the document in it.

    *links* are documents, keepers and overlaps. Closest: highest resemblance, then containment, then the more preferred
    keeper.
    """
    documents, keepers, overlaps = links
    common = overlaps.astype(np.float64)
    own, other = sizes[documents].astype(np.float64), sizes[keepers].astype(np.float64)
    resemblance = common / np.maximum(own + other - common, 1)
    containment = common / np.maximum(own, 1)
    order = np.lexsort((ranks[keepers], -containment, -resemblance, documents))
    first = np.ones(len(order), np.bool_)
    first[1:] = documents[order][1:] != documents[order][:-1]
    chosen = order[first]
    return documents[chosen], keepers[chosen], resemblance[chosen], containment[chosen]
