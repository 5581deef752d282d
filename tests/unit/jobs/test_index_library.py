"""How documents that a program hands over are put into batches."""

from __future__ import annotations

import pytest

from doublet.jobs import index_library
from doublet.jobs.index_library import Given, as_document
from doublet.model import Document


def test_it_works() -> None:
    (batch,) = Given(
        [("a", "one"), {"id": 7, "text": "two", "title": "T"}, Document("c", "three"), 5]
    ).batches()
    assert [(d.id, d.text) for d in batch.parse()] == [("a", "one"), ("7", "two"), ("c", "three")]
    assert [(o.state, o.place) for o in batch.outcomes] == [("invalid", "document 4")]
    assert batch.consumed_bytes == 11


def test_nothing_makes_no_batch() -> None:
    assert list(Given([]).batches()) == []


def test_batches_end_at_their_size() -> None:
    sizes = [len(batch.documents) for batch in Given([(str(n), "x") for n in range(5)], size=2).batches()]
    assert sizes == [2, 2, 1]


def test_large_texts_make_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_library, "BATCH_CHARACTERS", 10)
    batches = list(Given([(str(n), "x" * 6) for n in range(5)]).batches())
    assert [len(batch.documents) for batch in batches] == [2, 2, 1]
    assert [batch.consumed_bytes for batch in batches] == [12, 24, 30]


@pytest.mark.parametrize(
    "wrong", [None, "text", ("a",), {"id": "a"}, {"text": "b"}, ("a", None), (True, "x")]
)
def test_what_is_no_document(wrong: object) -> None:
    assert as_document(wrong) is None
