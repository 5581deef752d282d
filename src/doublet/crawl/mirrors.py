"""Sites whose pages agree (R7).

A site is compared with another by pages with the same path: when most of a sample are alike, it is a mirror. The frames
of two sites differ, so likeness is counted in shingles of the useful text, not by equality.
"""

from __future__ import annotations

from collections.abc import Iterable

ALIKE = 0.5  # resemblance of two texts (3-word shingles); equal texts find 40 % of a mirror's pages
LEAST_SAMPLE = 10  # pages compared before a site is called a mirror
SHARE = 0.8  # of the sample that must be alike: sites that share 70 % of their pages pass in 16 of 100 at 30 pages
SHINGLE_WORDS = 3


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


def is_mirror(pairs: Iterable[tuple[str, str]]) -> bool:
    """Whether one site is a mirror of another: *pairs* are texts of pages with the same path."""
    found = [alike(one, other) for one, other in pairs]
    return len(found) >= LEAST_SAMPLE and sum(found) >= SHARE * len(found)
