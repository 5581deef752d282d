"""Hashes of hashes, over arrays: the same on every machine and in every version of numpy.

Random numbers of the methods come from here as well (splitmix64): numpy's own streams may change between
versions, and stored signatures must not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doublet.kernels.data import MASK64, SHINGLE_FACTOR

U64 = NDArray[np.uint64]

_GAMMA = 0x9E3779B97F4A7C15  # step of splitmix64: 2⁶⁴ divided by the golden ratio


def mix(values: U64) -> U64:
    """Finaliser of 64-bit MurmurHash3 for every value; never 0. The same as `mix` of the plain kernels."""
    out = values.astype(np.uint64, copy=True)
    out ^= out >> np.uint64(33)
    out *= np.uint64(0xFF51AFD7ED558CCD)
    out ^= out >> np.uint64(33)
    out *= np.uint64(0xC4CEB9FE1A85EC53)
    out ^= out >> np.uint64(33)
    out[out == 0] = 1
    return out


def splitmix64(seed: int, count: int) -> U64:
    """The first *count* numbers of the generator splitmix64 started at *seed*."""
    state = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GAMMA) + np.uint64(seed & MASK64)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def combine(columns: U64, labels: U64) -> U64:
    """One hash per row of a matrix: of its label and of its values in their order."""
    out = mix(labels + np.uint64(_GAMMA))
    for column in range(columns.shape[1]):
        out = mix(out * np.uint64(SHINGLE_FACTOR) + columns[:, column])
    return out
