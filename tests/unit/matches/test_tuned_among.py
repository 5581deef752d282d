"""Tuned numbers of works of one class, from both sides: one that is halved or doubled changes an answer here."""

from __future__ import annotations

import numpy as np
import pytest

from doublet.matches import sentences
from doublet.matches.among import Taken, _clusters, _direction, _shared, among
from doublet.model import Document

pytestmark = pytest.mark.covers("K8")


@pytest.mark.parametrize(("others", "common"), [(4, False), (5, True)])
def test_words_that_half_of_the_works_have_are_common(others: int, common: bool) -> None:
    own = {f"work {n}": np.ones(3, np.bool_) for n in range(others)}
    families = {name: number for number, name in enumerate(own)}
    assert bool(_shared(own, 3, families, 12).all()) is common
    assert not _shared(own, 3, dict.fromkeys(own, 0), 12).any()  # versions of one work are one


@pytest.mark.parametrize(("shared", "taken"), [(9, False), (16, True)])
def test_a_dozen_words_are_taken(shared: int, taken: bool) -> None:
    def work(name: str) -> Document:
        own = [f"{name}{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(40)]
        same = [f"общее{chr(1072 + n)}" for n in range(shared)]
        return Document(name, " ".join([*own[:20], *same, *own[20:]]))

    assert bool(among([work("anna"), work("boris")]).pairs) is taken


@pytest.mark.parametrize(
    ("share", "words", "linked"), [(0.02, 20, False), (0.04, 20, True), (0.02, 40, True)]
)
def test_works_belong_together_by_share_or_words(share: float, words: int, linked: bool) -> None:
    assert bool(_clusters(["a", "b"], [Taken("a", "b", share, words, 0.0, "unknown", ())])) is linked


@pytest.mark.parametrize(
    ("share", "back", "direction"),
    [(0.5, 0.1, "unknown"), (0.7, 0.1, "contained"), (0.7, 0.5, "unknown"), (0.9, 0.3, "contained")],
)
def test_one_work_lies_in_the_other(share: float, back: float, direction: str) -> None:
    assert _direction(None, None, share, back) == direction


@pytest.mark.covers("K2")
@pytest.mark.parametrize(("worth", "counts"), [(15.0, False), (18.0, True)])
def test_a_text_of_one_sentence_needs_some_evidence(worth: float, counts: bool) -> None:
    none = np.empty(0, np.int64), np.empty(0)
    support = sentences._support(np.array([0]), np.array([worth]), none, 1)
    asked = sentences._Asked(0, 1, 0, np.array([0]), np.array([worth]), support)
    sure, _ = sentences._supported(asked, np.array([0]), np.array([True]), np.array([False]), np.zeros(1))
    assert sure.tolist() == [counts]
