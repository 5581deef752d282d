"""The documents of a file that share most with a text."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from doublet.index.most_shared import CANDIDATES, MostShared, SharingDocument
from doublet.model import Document
from doublet.text.tokens import read_words

WORDS = [f"word{n}" for n in range(40)]


def texts(seed: int, count: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randrange(0, 40))) for _ in range(count)]


def nearest(work: str, batches: list[list[str]], most: int = CANDIDATES) -> list[SharingDocument]:
    found, first = MostShared(read_words([work]), 2, most), 0
    for batch in batches:
        found.add(read_words(batch), first, lambda i, batch=batch: Document(batch[i], batch[i]))
        first += len(batch)
    return found.nearest()


def pairs(text: str) -> set[tuple[str, str]]:
    words = text.split()
    return set(itertools.pairwise(words))


def test_it_works() -> None:
    (one,) = nearest("one two three four", [["red green blue", "two three four five six"]])
    assert (one.overlap, one.position, one.size, one.document.id) == (2, 1, 4, "two three four five six")
    assert MostShared(read_words(["one two three four"]), 2).measures(one) == (2 / 5, 2 / 3)


@pytest.mark.parametrize("most", [1, 3, 1_000])
def test_those_that_share_most_are_kept_in_any_order(most: int) -> None:
    work, others = " ".join(WORDS), texts(1, 60)
    expected = sorted(
        (-len(pairs(work) & pairs(text)), text) for text in set(others) if pairs(work) & pairs(text)
    )[:most]
    for cut in (1, 7, 60):
        shuffled = random.Random(cut).sample(sorted(set(others)), len(set(others)))
        batches = [shuffled[i : i + cut] for i in range(0, len(shuffled), cut)]
        found = nearest(work, batches, most)
        assert [(-one.overlap, one.document.id) for one in found] == expected


def test_a_text_without_words_is_near_to_nothing() -> None:
    assert nearest("", [texts(2, 20)]) == []
    assert nearest("one two three", [[]]) == []


def test_what_any_document_of_a_batch_shares_can_be_asked() -> None:
    batch = ["one two", "red green blue", ""]
    sharing = MostShared(read_words(["one two three"]), 2).add(
        read_words(batch), 10, lambda i: Document(str(i), batch[i])
    )
    assert [(sharing(i).overlap, sharing(i).position, sharing(i).size) for i in range(3)] == [
        (1, 10, 1),
        (0, 11, 2),
        (0, 12, 0),
    ]
    assert np.isclose(MostShared(read_words([""]), 2).measures(sharing(1)), 0).all()


def test_two_hundred_documents_are_enough() -> None:
    others = [f"one two three number{n}" for n in range(250)]
    assert len(nearest("one two three", [others])) == 200
