"""Numbers of the methods that were tuned: what lies well above one and well below it ends differently."""

from __future__ import annotations

import itertools
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import doublet
from doublet.signatures.meaning import Alignment, key_values
from doublet.signatures.pivot import _Choice


def alignment(aligned: float, kept: float) -> Alignment:
    return Alignment(aligned, aligned, kept, kept)


@pytest.mark.parametrize(
    ("aligned", "kept", "found"),
    [(0.9, 0.15, False), (0.9, 0.3, True), (0.3, 0.7, False), (0.5, 0.3, False), (0.6, 0.4, True)],
)
def test_what_lies_on_another_text_as_a_copy_does(aligned: float, kept: float, found: bool) -> None:
    assert bool(alignment(aligned, kept).kind()) is found


def shared_keys(distance: int, words: int = 2, pairs: int = 400) -> float:
    """The share of pairs of texts with a key in common when all they have in common is some words in a row, so far
    from each other."""
    luck = random.Random(distance * 10 + words)
    texts: list[list[int]] = []
    for _ in range(pairs):
        common = [luck.getrandbits(64) for _ in range(words)]
        for _ in range(2):
            text = [luck.getrandbits(64) for _ in range(40)]
            text[10 : 10 + distance * words : distance] = common
            texts.append(text)
    offsets = np.arange(0, 40 * len(texts) + 1, 40, dtype=np.uint64)
    values, ends = key_values(np.array(texts, np.uint64).reshape(-1), offsets)
    keys = [set(values[int(a) : int(b)].tolist()) for a, b in itertools.pairwise(ends)]
    return sum(bool(a & b) for a, b in zip(keys[::2], keys[1::2], strict=True)) / pairs


def test_three_words_in_a_row_are_a_key_and_one_is_not() -> None:
    assert shared_keys(1, 3) == 1.0
    assert shared_keys(1, 1) == 0.0


def test_of_two_words_near_each_other_every_fourth_pair_is_a_key() -> None:
    assert 0.19 < shared_keys(1) < 0.31
    assert 0.19 < shared_keys(4) < 0.31
    assert shared_keys(7) == 0.0


@pytest.mark.parametrize(("words", "told"), [(110, True), (220, False)])
def test_of_a_short_copy_it_is_said_that_it_is_not_sure(words: int, told: bool) -> None:
    text = [f"особое{n}" for n in range(words)]
    other = [f"другое{n}" if n % 3 == 1 else word for n, word in enumerate(text)]
    found = doublet.compare(" ".join(text), " ".join(other), method="meaning")
    assert found.similar
    assert ("too_short_to_be_sure" in {note.code for note in found.notes}) is told


@pytest.mark.parametrize(("lacking", "tried"), [(15, 1), (30, 9)])
def test_a_quality_of_pivot_words_is_good_enough_when_little_is_lacking(lacking: int, tried: int) -> None:
    """Of a hundred documents that ten words each should cover."""
    choice: Any = object.__new__(_Choice)
    done: list[str] = []
    choice.needed = np.zeros(100, np.int64)
    choice.parameters = SimpleNamespace(depth=10)
    choice._cover = lambda *_: done.append("cover")
    choice._drop = lambda *_: done.append("drop")
    choice._lacking = lambda: lacking
    choice._spelled, choice.first = lambda *_: [], 0
    choice.run()
    assert ([*done, "drop"]).index("drop") == tried
