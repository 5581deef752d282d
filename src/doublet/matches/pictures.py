"""Duplicate pictures (R9): by a perceptual hash, and verified on the pictures themselves.

A picture is seen as 32 by 32 shades of grey. The signs of its lowest frequencies are the hash: another size, another
format, stronger compression, a little light or colour change hardly any of the 63. Pictures whose hashes are close are
candidates; they are duplicates when their shades agree. Of a group the largest picture stays, and of equally large ones
that with the smallest name, so that the answer does not depend on the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIDE = 32
LOW = 8  #: frequencies across and down that make the hash
DISTANCE = 10  #: signs of 63 that may differ. Of copies made smaller and compressed hard, nearly none do
AGREEMENT = 0.9  #: correlation of the shades, from which on two pictures are one
FLAT = 2.0  #: deviation of the shades (of 256) below which a picture has nothing to tell it by


@dataclass(frozen=True, slots=True)
class Picture:
    """*shades*: SIDE by SIDE shades of grey; *hash* is None for a flat picture, which is like every other one."""

    name: str
    width: int
    height: int
    shades: NDArray[np.float64]
    hash: int | None


@dataclass(frozen=True, slots=True)
class Copy:
    name: str
    agreement: float
    distance: int


@dataclass(frozen=True, slots=True)
class PictureGroup:
    """The picture that stays and its copies, by name."""

    keep: str
    copies: tuple[Copy, ...]

    def to_dict(self) -> dict[str, Any]:
        copies = [
            {"name": one.name, "agreement": round(one.agreement, 3), "distance": one.distance}
            for one in self.copies
        ]
        return {"keep": self.keep, "copies": copies}


def _cosines() -> NDArray[np.float64]:
    at = np.arange(SIDE)
    rows: NDArray[np.float64] = np.cos(np.pi * (at[None, :] + 0.5) * np.arange(LOW)[:, None] / SIDE)
    return rows


_COSINES = _cosines()


def perceptual_hash(shades: NDArray[np.float64]) -> int | None:
    """63 bits of the lowest frequencies; None for a flat picture."""
    if float(shades.std()) < FLAT:
        return None
    frequencies = (_COSINES @ shades @ _COSINES.T).ravel()[1:]  # the first is how light the picture is
    signs = frequencies > np.median(frequencies)
    return int("".join("1" if sign else "0" for sign in signs), 2)


def group_pictures(pictures: Sequence[Picture], *, distance: int = DISTANCE) -> list[PictureGroup]:
    """Groups of duplicates, by the name of the picture that stays."""
    ordered = sorted(
        (one for one in pictures if one.hash is not None), key=lambda one: (-one.width * one.height, one.name)
    )
    hashes = np.array([one.hash for one in ordered], np.uint64)
    free = np.ones(len(ordered), bool)
    groups = []
    for place, keep in enumerate(ordered):
        if not free[place]:
            continue
        free[place] = False
        apart = np.unpackbits((hashes ^ hashes[place])[:, None].view(np.uint8), axis=1).sum(axis=1)
        copies = []
        for other in np.flatnonzero(free & (apart <= distance)):
            agreement = _agreement(keep.shades, ordered[other].shades)
            if agreement >= AGREEMENT:
                free[other] = False
                copies.append(Copy(ordered[other].name, agreement, int(apart[other])))
        if copies:
            groups.append(PictureGroup(keep.name, tuple(sorted(copies, key=lambda one: one.name))))
    return sorted(groups, key=lambda group: group.keep)


def _agreement(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1])
