"""Tuned numbers of the frame of pages and of letters set apart, from both sides: one that is halved or doubled changes
an answer here."""

from __future__ import annotations

from typing import Any

import pytest
from lxml import etree

from doublet import kernels
from doublet.kernels import reference
from doublet.text import apart, frame
from doublet.text.frame import Block

pytestmark = pytest.mark.covers("T3")


def tree() -> tuple[Any, Any]:
    """The body of a page, and an element in it."""
    page = etree.fromstring("<html><body><div/></body></html>")
    return page[0], page[0][0]


def block(
    parent: Any, words: int, *, tag: str = "p", linked: float = 0.0, framed: bool = False, score: float = 0.0
) -> Block:
    heading = tag.startswith("h")
    return Block("text", etree.SubElement(parent, tag), words, linked, framed, heading, score=score)


def link(parent: Any, linked: float = 1.0) -> Block:
    return block(parent, 2, tag="a", linked=linked, score=-5.0)


@pytest.mark.parametrize(("words", "as_it_is"), [(20, True), (30, False)])
def test_a_page_of_few_words_is_taken_as_it_is(words: int, as_it_is: bool) -> None:
    body, _ = tree()
    blocks = [block(body, words, score=1.0), block(body, 3, score=-5.0)]
    assert len(frame.choose(blocks)) == 1 + as_it_is


@pytest.mark.parametrize(
    ("words", "score", "is_frame"), [(12, 5.0, True), (18, 5.0, False), (50, 0.8, True), (50, 1.5, False)]
)
def test_what_is_called_frame_is_short_or_reads_like_it(words: int, score: float, is_frame: bool) -> None:
    assert frame._is_frame(block(tree()[0], words, score=score, framed=True)) is is_frame


@pytest.mark.parametrize(("words", "listed"), [(120, True), (200, False)])
def test_a_page_of_little_text_may_be_a_list_of_links(words: int, listed: bool) -> None:
    body, inner = tree()
    blocks = [block(inner, 2, tag="h1", score=-5.0), *(link(inner) for _ in range(3))]
    text = block(body, words, score=1.0)
    assert (text not in frame.choose([*blocks, text])) is listed


@pytest.mark.parametrize(("items", "left"), [(7, 8), (9, 1)])
def test_eight_links_are_a_table_of_contents(items: int, left: int) -> None:
    body, _ = tree()
    blocks = [*(link(body) for _ in range(items)), block(body, 200)]
    good = [True] * len(blocks)
    frame._drop_contents(blocks, good)
    assert sum(good) == left


@pytest.mark.parametrize(
    ("items", "linked", "alone"), [(2, 1.0, False), (4, 1.0, True), (4, 0.8, False), (4, 0.95, True)]
)
def test_a_list_has_three_items_that_are_links(items: int, linked: float, alone: bool) -> None:
    _, inner = tree()
    title = block(inner, 2, tag="h1")
    blocks = [title, *(link(inner, linked) for _ in range(items))]
    assert frame._list(blocks, title)[1] is alone


@pytest.mark.parametrize(("linked", "is_title"), [(0.2, True), (0.3, False)])
def test_a_heading_that_is_a_link_leads_elsewhere(linked: float, is_title: bool) -> None:
    assert bool(frame._title([block(tree()[0], 3, tag="h1", linked=linked)])) is is_title


@pytest.mark.parametrize(
    ("score", "article", "taken"),
    [(-1.5, False, True), (-2.5, False, False), (-0.8, True, True), (-1.5, True, False)],
)
def test_doubtful_blocks_between_content_are_taken(score: float, article: bool, taken: bool) -> None:
    body, _ = tree()
    blocks = [block(body, 200, score=1.0), block(body, 5, score=score), block(body, 200, score=1.0)]
    assert (blocks[1] in frame.choose(blocks, article=article)) is taken


@pytest.mark.parametrize(("share", "left"), [(80, 2), (90, 1)])
def test_nearly_all_words_of_an_article_are_in_its_body(share: int, left: int) -> None:
    body, inner = tree()
    assert len(frame._body([block(inner, share), block(body, 100 - share)])) == left


@pytest.mark.parametrize(("up", "note"), [(3, True), (4, False)])
def test_elements_around_a_block_call_it_a_footnote(up: int, note: bool) -> None:
    around = etree.fromstring("<html class='footnotes'/>")
    inner = around
    for _ in range(up - 1):
        inner = etree.SubElement(inner, "div")
    assert frame._is_note(block(inner, 9)) is note


@pytest.mark.covers("T5")
def test_what_a_word_costs_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_costs", lambda _words: {})
    assert apart._likeliest("абвгде") == (["абвгде"], pytest.approx(5.0 + 3.5 * 6))


@pytest.mark.covers("T5")
def test_what_letters_after_a_stem_cost() -> None:
    costs = apart._costs({"книга", "книгами"})
    assert costs["книгами"] - costs["книга"] == pytest.approx(0.6 * 2)


@pytest.mark.covers("T5")
@pytest.mark.parametrize("tokenize", [kernels.tokenize, reference.tokenize], ids=["native", "plain"])
def test_four_single_letters_are_a_word_set_apart(tokenize: Any) -> None:
    for text, words in (("п р и", 3), ("п р и в", 1)):
        assert len(tokenize([text], None, None, 1)[0]) == words
