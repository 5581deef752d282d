"""How much a word tells, in general and in a collection: each number with figures of its own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from doublet.signatures import method
from doublet.signatures.auto import shingles_of
from doublet.signatures.background import Rates, _general
from doublet.text.tokens import Canon

UNKNOWN = 0x123456789ABCDEF0


def stem(number: int) -> np.ndarray:
    return np.array([number], np.uint64)


def test_a_word_that_nobody_knows_tells_most_and_not_without_end() -> None:
    gain, mass = Rates().of(stem(UNKNOWN))
    assert (gain[0], mass[0]) == (12.0, 10.0)


def test_a_reworded_copy_keeps_six_words_of_ten() -> None:
    words = Canon(reduce="stem").tokens(["system"]).hashes
    rarity, _ = _general(words)
    assert rarity[0] < 8  # a common word: the table knows it
    assert Rates().of(words)[0][0] == pytest.approx(rarity[0] + math.log(0.6))


def test_a_collection_weighs_as_much_as_the_table_when_it_is_so_large() -> None:
    documents = 500
    rates = Rates(np.full(documents, UNKNOWN, np.uint64), np.arange(documents + 1, dtype=np.uint64))
    _, mass = rates.of(stem(UNKNOWN))
    assert mass[0] == pytest.approx(math.log(2), abs=0.01)  # in all of these, and in none before
    one = Rates(np.full(1_000, UNKNOWN, np.uint64), np.array([0, 1_000], np.uint64))
    gain, _ = one.of(stem(UNKNOWN))
    assert gain[0] == pytest.approx(math.log(0.6 * 201), abs=0.01)


def test_sixteen_shingles_of_a_text_are_keys() -> None:
    auto = method("auto")
    signature = auto.sign(" ".join(f"слово{n}" for n in range(80)))
    assert signature is not None
    assert len(set(auto.keys(signature).tolist()) & set(shingles_of(signature).tolist())) == 16
