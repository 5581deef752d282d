"""Where a classic method finds less than the source says: it finds what its own formula says it must (E3)."""

from __future__ import annotations

import math

import pytest

from doublet.evaluation import changes as making
from doublet.evaluation.changes import Surroundings
from doublet.evaluation.sets import bundled
from doublet.evaluation.words import make_language
from doublet.signatures import agreement_probability, method


@pytest.mark.covers("E3", "M5")
@pytest.mark.parametrize(
    "change", ["sentences-moved", "sentences-moved-20", "paragraphs-moved", "processed-5"]
)
def test_supershingles_find_what_their_formula_says(change: str) -> None:
    documents = list(bundled("en").documents)
    around = Surroundings(
        make_language("en", (d.text for d in documents)), own=documents[:5], others=documents
    )
    texts = [d.text for d in documents]
    copies = [making.apply(making.change(change), d, around, seed=1).text for d in documents]
    exact, grouped = method("shingles", shingle_words=3), method("supershingles", shingle_words=3)
    resemblance = [
        exact.compare(a, b).resemblance
        for a, b in zip(exact.sign_texts(texts), exact.sign_texts(copies), strict=True)
        if a is not None and b is not None
    ]
    found = [
        grouped.compare(a, b).similar
        for a, b in zip(grouped.sign_texts(texts), grouped.sign_texts(copies), strict=True)
        if a is not None and b is not None
    ]
    chances = [agreement_probability(r, 6, 14, 2) for r in resemblance]
    expected = sum(chances)
    spread = math.sqrt(sum(p * (1 - p) for p in chances))
    assert abs(sum(found) - expected) <= 3.5 * spread + 1


@pytest.mark.covers("E3", "M7")
def test_moved_sentences_keep_the_longest_ones() -> None:
    documents = list(bundled("ru").documents)
    around = Surroundings(make_language("ru", (d.text for d in documents[:5])), others=documents)
    chosen = method("longsent")
    copies = [making.apply(making.change("sentences-moved"), d, around, seed=1).text for d in documents]
    pairs = zip(chosen.sign_texts([d.text for d in documents]), chosen.sign_texts(copies), strict=True)
    equal = [a is not None and b is not None and chosen.compare(a, b).similar for a, b in pairs]
    assert sum(equal) >= 0.97 * len(equal)
