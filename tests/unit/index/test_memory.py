"""The index in memory: what only its own shape can get wrong."""

from __future__ import annotations

import random

from doublet.index import MemoryIndex
from doublet.model import Signature
from doublet.signatures import method

WORDS = method("shingles", shingle_words=1, containment=0.5)  # every word is a key


def signed(text: str) -> Signature:
    signature = WORDS.sign(text)
    assert signature is not None
    return signature


def test_it_agrees_with_plain_sets_through_any_changes() -> None:
    chance = random.Random(7)
    index = MemoryIndex(WORDS)
    plain: dict[str, set[str]] = {}
    for _ in range(600):
        id = str(chance.randrange(60))
        words = [f"w{chance.randrange(40)}" for _ in range(chance.randrange(1, 8))]
        what = chance.random()
        if what < 0.5:
            index.replace(id, signed(" ".join(words)))
            plain[id] = set(words)
        elif what < 0.75:
            assert index.remove(id) == (plain.pop(id, None) is not None)
        else:
            expected = sorted((-len(set(words) & own), id) for id, own in plain.items() if set(words) & own)
            found = index.candidates(signed(" ".join(words)))
            assert [(-c.hits, c.id) for c in found] == expected
        assert len(index) == len(plain)


def test_documents_that_are_gone_take_no_room() -> None:
    index = MemoryIndex(WORDS)
    for round_number in range(50):
        for number in range(20):
            index.replace(f"d{number}", signed(f"слово{round_number} номер{number}"))
        index.candidates(signed("слово"))
    assert len(index) == 20
    assert len(index._ids) <= 40
    assert sum(len(keys) for keys, _ in index._levels) <= 80


def test_arrays_stay_few() -> None:
    index = MemoryIndex(WORDS)
    for number in range(500):
        index.add(str(number), signed(f"слово{number} общее"))
        index.candidates(signed("общее"), limit=1)
    assert len(index._levels) <= 10
    assert len(index.candidates(signed("общее"))) == 500
