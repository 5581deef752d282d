"""What shingles left open in a collection: kept documents that are edited or reworded copies of each other (M15).

1. Pairs of kept documents that share some rare runs of words (`index.sampled`).
2. Where they share half of their runs, nothing more has to be asked: *edited*.
3. The texts of the others are read again and aligned (`signatures.meaning`): *reworded*, or *shared* when the two only
   have passages in common, as pages made from one template do, or when one of them has a much better partner.

The answer is the same for any order of the documents and any number of workers. See docs/explanation/meaning.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from doublet.index.sampled import NearPairs, SampledKeys, best_of_all
from doublet.kernels import SetStore
from doublet.progress import Progress
from doublet.signatures import Limit, in_parts
from doublet.signatures.auto import OF_THE_BEST
from doublet.signatures.background import Rates
from doublet.signatures.meaning import REWORDED, SHARED, Alignment, Meaning, Sequences

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]

EDITED = "edited"
EDITED_FROM = 0.5  #: containment of the shorter text by shingles
PAIRS_OF_ONE = 2  #: best partners of a document that are verified
# Pairs that are verified in all: most of them are templates in a large collection, and the whole may take twice the
# time of shingles (benchmarks/meaning.py). A small collection costs little in any case.
PAIRS_PER_DOCUMENT, LEAST_PAIRS, MOST_PAIRS = 0.05, 1_500, 100_000
LONGEST_SHINGLE = 8  #: words; of longer runs too few survive in a reworded copy

#: gives the texts at these (sorted) positions in parts, each with the places of the texts in the array of positions
ReadAgain = Callable[[I64], Iterable[tuple[I64, Sequence[str]]]]


@dataclass(frozen=True, slots=True)
class CopyPair:
    """Two documents by their numbers. *containment* (of a in b, of b in a) and *resemblance* are by shingles."""

    a: int
    b: int
    kind: str
    resemblance: float
    containment: tuple[float, float]
    aligned: float | None = None
    kept: float | None = None


def find_related(
    read_again: ReadAgain,
    keys: SampledKeys,
    store: SetStore,
    alive: Mask,
    positions: U64,
    meaning: Meaning,
    *,
    thorough: bool,
    workers: int,
    progress: Progress,
    within: Limit | None = None,
) -> tuple[list[CopyPair], int, bool]:
    """Pairs among the documents that are *alive*; how many likely ones were left unverified; False when there were even
    more of these than fit the memory of *keys*.

    *thorough*: none is left, whatever it costs. *within*: the texts that are read again take no more than that.
    """
    best, whole = keys.pairs(alive, None if thorough else PAIRS_OF_ONE)
    left, right = best.left.astype(np.uint32), best.right.astype(np.uint32)
    sizes = store.sizes().astype(np.float64)
    common = store.overlaps(left, right).astype(np.float64)
    inside_a, inside_b = common / sizes[best.left], common / sizes[best.right]
    like = common / (sizes[best.left] + sizes[best.right] - common)
    edited = np.maximum(inside_a, inside_b) >= EDITED_FROM
    out = [
        CopyPair(a, b, EDITED, r, (x, y))
        for a, b, r, x, y in zip(
            *(column[edited].tolist() for column in (best.left, best.right, like, inside_a, inside_b)),
            strict=True,
        )
    ]
    open_ = np.flatnonzero(~edited)
    most = len(open_) if thorough else verified_pairs(int(alive.sum()))
    chosen = open_[best_of_all(best.score[open_], most)]
    pairs = NearPairs(best.left[chosen], best.right[chosen], best.score[chosen])
    aligned = _align(read_again, pairs, positions, meaning, workers, progress, within)
    limits = meaning.parameters
    for at, found in zip(chosen.tolist(), aligned, strict=True):
        kind = found.kind(limits.aligned, limits.kept, limits.together)
        if kind:
            lies, stays = max(found.aligned_a, found.aligned_b), max(found.kept_a, found.kept_b)
            inside = (float(inside_a[at]), float(inside_b[at]))
            out.append(
                CopyPair(int(best.left[at]), int(best.right[at]), kind, float(like[at]), inside, lies, stays)
            )
    return _against_the_best(out), len(open_) - len(chosen), whole


def verified_pairs(documents: int) -> int:
    """How many pairs of so many documents are verified at most."""
    return min(MOST_PAIRS, max(LEAST_PAIRS, int(PAIRS_PER_DOCUMENT * documents)))


def _against_the_best(found: list[CopyPair]) -> list[CopyPair]:
    """A pair of which both have a much better partner only shares passages."""
    best: dict[int, float] = {}
    for one in found:
        strength = one.kept if one.kept is not None else 1.0
        if one.kind != SHARED:
            for document in (one.a, one.b):
                best[document] = max(best.get(document, 0.0), strength)
    out = []
    for one in found:
        if one.kind == REWORDED and one.kept is not None:
            least = OF_THE_BEST * min(best[one.a], best[one.b])
            if one.kept < least:
                out.append(replace(one, kind=SHARED))
                continue
        out.append(one)
    return out


def _align(
    read_again: ReadAgain,
    pairs: NearPairs,
    positions: U64,
    meaning: Meaning,
    workers: int,
    progress: Progress,
    within: Limit | None,
) -> list[Alignment]:
    if not len(pairs):
        return []
    wanted = np.unique(np.concatenate([pairs.left, pairs.right]))
    by_position = np.argsort(positions[wanted], kind="stable")
    documents = wanted[by_position]
    sequences = Sequences(meaning, within)
    rows: list[int] = []
    for numbers, texts in read_again(positions[documents].astype(np.int64)):
        for part in in_parts(texts):
            sequences.add(part)
        rows += documents[numbers].tolist()
    place = np.full(int(wanted.max()) + 1, -1, np.int64)
    place[np.array(rows, np.int64)] = np.arange(len(rows))
    left, right = place[pairs.left].astype(np.uint32), place[pairs.right].astype(np.uint32)
    progress.step("aligning", 0, len(pairs), "pairs")
    found = sequences.align(left, right, Rates(), threads=workers)
    sequences.close()
    progress.step("aligning", len(pairs), len(pairs), "pairs")
    return found


def remove_reworded(
    pairs: Sequence[CopyPair], ranks: U32, removed: AbstractSet[int], keeping: AbstractSet[int]
) -> Mapping[int, list[tuple[int, CopyPair]]]:
    """Reworded copies that go: of each keeper the documents that it stands for now, with the pairs that say so.

    Only documents that stand for no other one go, each to the most preferred document (the smaller of *ranks*) that it
    is a copy of. *removed* documents went before, *keeping* ones stand for some of those.
    """
    gone, keepers = set(removed), set(keeping)
    out: dict[int, list[tuple[int, CopyPair]]] = {}
    wanted = [one for one in pairs if one.kind == REWORDED]
    for one in sorted(wanted, key=lambda one: sorted((int(ranks[one.a]), int(ranks[one.b])))):
        keep, other = (one.a, one.b) if ranks[one.a] < ranks[one.b] else (one.b, one.a)
        if keep in gone or other in gone or other in keepers:
            continue
        gone.add(other)
        keepers.add(keep)
        out.setdefault(keep, []).append((other, one))
    return out
