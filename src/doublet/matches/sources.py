"""Which sources explain a document: the smallest convincing set first, no word counted twice (K3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from doublet.matches.align import Passage
from doublet.matches.cover import Cover, share


@dataclass(frozen=True, slots=True)
class Ranked:
    """Place of a source in the ranking: which candidate it is, what it covers, what it adds."""

    candidate: int
    share: float
    added: float


def clip(passages: Sequence[Passage], counted: NDArray[np.bool_], *, least_words: int = 4) -> list[Passage]:
    """The parts of passages that count, for ranking alone: their places in b and equal words are not cut.

    What is left of a passage is no passage any more when it has fewer than *least_words* words.
    """
    out = []
    for p in passages:
        inside = counted[p.a_start : p.a_end]
        if inside.all():
            out.append(p)
            continue
        edges = np.flatnonzero(np.diff(inside, prepend=False, append=False)) + p.a_start
        pieces = zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        out += [replace(p, a_start=start, a_end=end) for start, end in pieces if end - start >= least_words]
    return out


def rank_sources(
    passages: Sequence[Sequence[Passage]],
    words: int,
    names: Sequence[str],
    *,
    least_words: int = 4,
    min_share: float = 0.0,
) -> list[Ranked]:
    """Greedy cover: always the candidate next that explains most words not explained yet, ties by name.

    *passages* of each candidate; *words* is the length of the checked document. A candidate that adds fewer than
    *least_words* new words ends the first part; the others follow by their own share, adding nothing. A candidate with
    a share under *min_share* is left out, and takes no words from the others.
    """
    ranges = [[(p.a_start, p.a_end) for p in some] for some in passages]
    cover = Cover(words)
    shares = [share(some, words) for some in ranges]
    left = {i for i, some in enumerate(ranges) if some and shares[i] >= min_share}
    bounds = {i: sum(end - start for start, end in ranges[i]) for i in left}  # never less than what is new
    out: list[Ranked] = []
    while left:
        best, most = -1, 0
        for i in sorted(left, key=lambda i: (-bounds[i], names[i])):
            if bounds[i] < most or bounds[i] < least_words:
                break
            bounds[i] = cover.new(ranges[i])
            if bounds[i] > most or (bounds[i] == most and best >= 0 and names[i] < names[best]):
                best, most = i, bounds[i]
        if best < 0 or most < least_words:
            break
        cover.add(ranges[best])
        left.discard(best)
        out.append(Ranked(best, shares[best], most / words))
    rest = sorted(left, key=lambda i: (-shares[i], names[i]))
    out += [Ranked(i, shares[i], cover.add(ranges[i]) / words) for i in rest]
    return out
