"""Laws of sentences and paragraphs on generated texts: places survive, nothing is lost or said twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.model import Span
from doublet.text.paragraphs import paragraphs
from doublet.text.sentences import sentences

PIECES = [
    *(
        "слово",
        "Слово",
        "word",
        "Word",
        "г.",
        "А.",
        "т.",
        "е.",
        "Mr.",
        "1.",
        "2)",
        "3.14",
        "…",
        "...",
        "?!",
        "«",
        "»",
    ),
    *(
        " ",
        "  ",
        "\n",
        "\n\n",
        "\r\n",
        "\t",
        "- ",
        "— ",
        "(",
        ")",
        '"',
        ".",
        "!",
        "?",
        "\u2029",
        "\x0b",
        "\u00a0",
    ),
    *("\u200b", "\x00", "\ud800", "😀", "。", "[1]", "#", "Рис.", "http://a.b/c?d"),
]
texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    st.text(st.characters(), max_size=200),
)
Splitter = Callable[[str], Sequence[Span]]


@pytest.mark.covers("T6", "T7")
@pytest.mark.parametrize("split", [sentences, paragraphs])
@given(text=texts)
def test_spans_are_sorted_disjoint_and_cover_every_character_that_is_not_blank(
    split: Splitter, text: str
) -> None:
    spans = split(text)
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert not text[at:start].strip()
        assert not text[start].isspace()
        assert not text[end - 1].isspace()
        at = end
    assert not text[at:].strip()


@pytest.mark.covers("T7")
@given(text=texts)
def test_no_sentence_goes_over_the_end_of_a_paragraph(text: str) -> None:
    ends = {span.end for span in sentences(text)}
    assert {span.end for span in paragraphs(text)} <= ends


@given(a=texts, b=texts)
def test_texts_with_a_blank_line_between_are_split_apart(a: str, b: str) -> None:
    joined = f"{a}\n\n{b}"
    shift = len(a) + 2
    expected = [*sentences(a), *(Span(s + shift, e + shift) for s, e in sentences(b))]
    assert sentences(joined) == expected


@given(text=texts)
def test_sentences_keep_their_ends_when_blanks_are_added_around(text: str) -> None:
    assert [Span(s + 2, e + 2) for s, e in sentences(text)] == list(sentences(f"\n\n{text}\n\n"))
