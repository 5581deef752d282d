"""What arguments of kernels must be like, and the kinds of arrays they are. Twin of native/arguments.hpp.

Sequences of documents are flat arrays with *offsets*: document d is ``values[offsets[d]:offsets[d+1]]``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
U8 = NDArray[np.uint8]
U16 = NDArray[np.uint16]
F64 = NDArray[np.float64]
OnStep = Callable[[int, int], None] | None  #: told how far a long kernel has come: done, total

MOST_NUMBER = (1 << 64) - 1


def documents(offsets: U64, values: int) -> list[tuple[int, int]]:
    """Start and end of each document of *values* values."""
    places = offsets.tolist()
    if not places or places[0] != 0:
        raise ValueError("offsets must begin with 0")
    if any(after < before for before, after in itertools.pairwise(places)):
        raise ValueError("offsets must not fall")
    if places[-1] != values:
        raise ValueError("offsets must end with the number of values")
    return list(itertools.pairwise(places))


def check_numbers(*numbers: int) -> None:
    """Whole numbers that the native side can hold."""
    for number in numbers:
        if not 0 <= number <= MOST_NUMBER:
            raise ValueError(f"a number is {number}: it can be 0 to {MOST_NUMBER}")


def checked_texts(texts: Sequence[str]) -> list[str]:
    """The texts, all of which are strings."""
    found = list(texts)
    if not all(isinstance(text, str) for text in found):
        raise TypeError("every text must be a str")
    return found


def check_words(starts: U32, ends: U32, span: tuple[int, int], length: int) -> None:
    """The words of one text follow each other inside it, and each has a character or more."""
    before = 0
    for start, end in zip(starts[slice(*span)].tolist(), ends[slice(*span)].tolist(), strict=True):
        if start < before or end <= start or end > length:
            raise ValueError("a word must lie in its text, after the word before it")
        before = end
