"""Sites whose pages agree (R7), and news that say the same thing with other words around it (R9).

Two hosts are compared by pages with the same path: when most of a sample are alike, one of the hosts is a mirror. The
frames of two sites differ, so likeness is counted in shingles of the useful text, not by equality.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

ALIKE = 0.5  # resemblance of two texts (3-word shingles); equal texts find 40 % of a mirror's pages
SAMPLE = 50  # pages compared before a site is called a mirror
LEAST_SAMPLE = 10
SHARE = 0.8  # of the sample that must be alike: sites that share 70 % of their pages pass in 16 of 100 at 30 pages
SHINGLE_WORDS = 3


@dataclass(frozen=True, slots=True)
class Mirror:
    """*copy* has the pages of *original*; *share* of *compared* pages were alike."""

    original: str
    copy: str
    compared: int
    share: float


def shingles(text: str) -> frozenset[int]:
    words = text.lower().split()
    return frozenset(
        hash(tuple(words[at : at + SHINGLE_WORDS])) for at in range(len(words) - SHINGLE_WORDS + 1)
    )


def alike(one: str, other: str, *, threshold: float = ALIKE) -> bool:
    """Whether two texts are versions of one."""
    first, second = shingles(one), shingles(other)
    if not first or not second:
        return one.split() == other.split() and bool(one.split())
    return len(first & second) >= threshold * len(first | second)


def find_mirrors(hosts: Mapping[str, Mapping[str, str]]) -> list[Mirror]:
    """Mirrors among hosts, each given as path → text. The host with more pages is the original; of two as large, the
    first by name."""
    names = sorted(hosts, key=lambda host: (-len(hosts[host]), host))
    out: list[Mirror] = []
    copies: set[str] = set()
    for place, original in enumerate(names):
        if original in copies:
            continue
        for copy in names[place + 1 :]:
            if copy in copies:
                continue
            common = sorted(hosts[original].keys() & hosts[copy].keys())
            step = max(1, len(common) // SAMPLE)
            sample = common[::step][:SAMPLE]
            if len(sample) < LEAST_SAMPLE:
                continue
            same = sum(alike(hosts[original][path], hosts[copy][path]) for path in sample)
            if same >= SHARE * len(sample):
                copies.add(copy)
                out.append(Mirror(original, copy, len(sample), same / len(sample)))
    return out


def near_copies(texts: Iterable[tuple[str, str]], *, threshold: float = ALIKE) -> dict[str, str]:
    """id → id of an earlier text that it is a version of, for texts given in order (the first one is the original)."""
    sets: dict[str, frozenset[int]] = {}
    holders: dict[int, list[str]] = defaultdict(list)
    out: dict[str, str] = {}
    for id, text in texts:
        own = shingles(text)
        shared: dict[str, int] = defaultdict(int)
        for shingle in own:
            for other in holders[shingle]:
                shared[other] += 1
        best = max(
            ((many / len(own | sets[other]), other) for other, many in shared.items()), default=(0.0, "")
        )
        if own and best[0] >= threshold:
            out[id] = best[1]
            continue
        sets[id] = own
        for shingle in own:
            holders[shingle].append(id)
    return out
