"""What a thread remembers of earlier texts changes no answer."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

import doublet
from doublet.text.tokens import forget_words

WORDS = "лодка лодки вода воды река реки cop сор COP boat boats ice Ice март марта 12 12а".split()
TEXTS = st.lists(st.sampled_from(WORDS), min_size=4, max_size=40).map(" ".join)


def answers(a: str, b: str) -> str:
    compared = [doublet.compare(a, b, method=method).to_dict() for method in ("auto", "shingles", "tfidf")]
    cleaned = doublet.dedupe([("a", a), ("b", b)]).to_dict()
    for one in (*compared, cleaned):
        for changing in ("seconds", "time", "created"):
            one.pop(changing, None)
    return json.dumps([compared, cleaned], sort_keys=True, default=str)


@settings(max_examples=40, deadline=None)
@given(a=TEXTS, b=TEXTS, before=st.lists(TEXTS, max_size=4))
def test_words_met_before_change_no_answer(a: str, b: str, before: list[str]) -> None:
    forget_words()
    expected = answers(a, b)
    forget_words()
    for text in before:
        doublet.compare(text, b)
    assert answers(a, b) == expected
