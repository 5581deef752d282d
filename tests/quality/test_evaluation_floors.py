"""Floors of the evaluation on the bundled texts, whose fingerprint tests/golden pins. Lowering one is a decision.

Few documents, so that it stays cheap: the figures with a thousand distractors are in docs/explanation/accuracy.md.
"""

from __future__ import annotations

import pytest

from doublet.evaluation.evaluate import evaluate
from doublet.evaluation.sets import bundled

WHOLE = (
    *("synonyms-60", "synonyms-40", "synonyms-20", "synonyms-5", "paragraphs-moved", "sentences-moved"),
    *("look-alikes", "deletion-20", "insertion-20"),
)


@pytest.fixture(scope="module", params=["ru", "en"])
def tables(request: pytest.FixtureRequest):
    return evaluate(
        [bundled(request.param)],
        methods=["auto", "shingles"],
        changes=WHOLE,
        bases=20,
        curves=False,
        groups=False,
        isolated=False,
    )


@pytest.mark.covers("M14", "M15", "E3")
def test_auto_finds_every_copy_and_nothing_else(tables) -> None:
    rows = [r for r in tables.documents if r["method"] == "auto" and r["threshold"] is None]
    assert {r["change"] for r in rows} == set(WHOLE)
    assert {r["change"]: (r["missed"], r["wrong"]) for r in rows} == dict.fromkeys(WHOLE, (0, 0))


@pytest.mark.covers("M15", "T5")
def test_auto_shows_the_passages(tables) -> None:
    """plagdet by change; a passage whose sentences were moved is one passage."""
    found = {r["change"]: r for r in tables.passages if r["method"] == "auto"}
    changes = ("verbatim", "look-alikes", "synonyms-20", "synonyms-60", "deletion-20", "insertion-20")
    for change in (*changes, "sentences-moved"):
        assert found[change]["plagdet"] >= 0.9, change
        assert found[change]["recall"] >= 0.95, change
    assert found["sentences-moved"]["found"] >= 0.95 * found["sentences-moved"]["cases"]


def test_auto_is_nowhere_worse_than_shingles(tables) -> None:
    rows = {(r["method"], r["change"]): r["f1"] for r in tables.documents if r["threshold"] is None}
    assert all(rows["auto", change] >= rows["shingles", change] for change in WHOLE)
