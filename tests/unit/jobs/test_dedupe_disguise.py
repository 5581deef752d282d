"""The number of disguised documents that `dedupe` tells is the number that a look at each of them would give."""

from __future__ import annotations

import random

import numpy as np
import pytest

import doublet
from doublet.jobs.dedupe import reading
from doublet.text import disguise

WORDS = "слово дерево окно поле вечер город человек работа дорога вопрос книга хлеб вода ответ рука".split()
SWAP = str.maketrans("оеарсху", "oeapcxy")


def honest(words: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [rng.choice(WORDS) for _ in range(words)]


@pytest.mark.covers("T5")
def test_a_disguised_passage_of_a_long_text_is_counted():
    plain, passage, whole, few = (honest(3000, seed) for seed in range(4))
    passage[1000:1025] = [word.translate(SWAP) for word in passage[1000:1025]]
    whole = [word.translate(SWAP) for word in whole]
    few[5] = few[5].translate(SWAP)
    texts = [" ".join(words) for words in (plain, passage, whole, few)]
    alarms = [any(finding.alarm for finding in disguise.find_disguise(text).findings) for text in texts]
    assert alarms == [False, True, True, False]
    result = doublet.dedupe([(str(i), text) for i, text in enumerate(texts)], method="shingles")
    assert result.extra["disguised_documents"] == sum(alarms)


def test_whoever_could_raise_an_alarm_is_looked_at():
    assert min(disguise.LEAST_WORDS.values()) >= reading.DISGUISED_WORDS
    assert min(disguise.LEAST_SHARE.values()) >= reading.DISGUISED_SHARE
    assert disguise.PASSAGE_DISGUISED >= reading.DISGUISED_PASSAGE


def test_how_many_disguised_words_make_a_document_suspicious() -> None:
    """At least three; and a hundredth of all words, or as many as a passage would have."""
    tricks = np.array([2, 3, 3, 6, 9, 10], np.uint32)
    words = np.array([100, 100, 400, 400, 5_000, 5_000], np.uint32)
    assert reading._suspicious(tricks, words).tolist() == [False, True, False, True, False, True]
