"""Places of fragments are characters of both texts as they were given (K2, T6), whatever the texts are made of."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import doublet
from doublet.text.tokens import Canon

SENTENCES = (
    "Поздней осенью лодки стояли во льду до самого марта, и никто об этом не жалел",
    "Смотритель гавани записывал в журнал каждый приход и каждый уход",
    "Ещё он измерял толщину льда у причала дважды в неделю, а потом пил чай в кафе «Ёлка»",
    "The harbour froze in the first week of December, naïve visitors walked to the café",
    "Boats that had not been hauled out were locked in the ice until the end of March",
    "Никто из жителей не помнил такой зимы, хотя все о ней слышали от своих бабушек",
)
TO_LATIN = str.maketrans("асеорхуАВЕКМНОРСТХ", "aceopxyABEKMHOPCTX")
WAYS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "taken apart": lambda text: unicodedata.normalize("NFD", text),
    "lines of Windows": lambda text: text.replace(", ", ",\r\n"),
    "a mark at the beginning": lambda text: "\ufeff" + text,
    "characters beyond the first plane": lambda text: text.replace(" ", " 😀 ").replace("the", "𝐭𝐡𝐞"),
    "capitals": str.upper,
    "look-alikes": lambda text: text.translate(TO_LATIN),
    "hidden characters": lambda text: text.replace("о", "о\u200b").replace("e", "e\u00ad"),
    "ligatures": lambda text: text.replace("fi", "ﬁ").replace("ff", "ﬀ"),
}


def words(text: str) -> list[str]:
    return Canon().tokens([text], words=True).words(0)


@pytest.mark.covers("T6", "K2")
@given(
    chosen=st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5, unique=True),
    other=st.permutations(SENTENCES),
    ways=st.tuples(st.sampled_from(sorted(WAYS)), st.sampled_from(sorted(WAYS))),
)
def test_equal_passages_hold_the_same_words(
    chosen: list[str], other: list[str], ways: tuple[str, str]
) -> None:
    a = WAYS[ways[0]](". ".join(chosen) + ".")
    b = WAYS[ways[1]](". ".join(other) + ".")
    result = doublet.compare(a, b, method="shingles")
    assert result.share == 1, "every sentence of a stands in b"
    reached = 0
    for fragment in result.fragments:
        assert reached <= fragment.a.start < fragment.a.end <= len(a)
        assert 0 <= fragment.b.start < fragment.b.end <= len(b)
        reached = fragment.a.end
        here, there = a[fragment.a.start : fragment.a.end], b[fragment.b.start : fragment.b.end]
        assert len(words(here)) == fragment.words
        if fragment.score == 1:
            # A word of twins alone («а») may be read otherwise without its neighbours: compare by look.
            assert [w.translate(TO_LATIN) for w in words(here)] == [
                w.translate(TO_LATIN) for w in words(there)
            ]


@pytest.mark.covers("K3")
@given(
    chosen=st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8),
    method=st.sampled_from(["auto", "shingles"]),
)
@example(  # words that are said again and again weigh so little that nothing leads to their place
    chosen=[SENTENCES[4], SENTENCES[2], *[SENTENCES[4]] * 5], method="auto"
)
@example(  # what is said again lies by half in a passage that ends inside it
    chosen=[SENTENCES[3], SENTENCES[5], SENTENCES[3]], method="auto"
)
def test_no_word_counts_twice(chosen: list[str], method: str) -> None:
    a = ". ".join(chosen) + ". Это моё собственное заключение из семи слов."
    result = doublet.compare(a, ". ".join(SENTENCES), method=method)
    assert 0 <= result.share <= 1
    assert 0 <= result.share_b <= 1
    borrowed = len(words(". ".join(chosen)))
    assert borrowed <= result.share * result.words_a + 1e-9 <= borrowed + 7
