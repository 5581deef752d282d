"""Tuned numbers of the frame of pages and of letters set apart, from both sides: one that is halved or doubled changes
an answer here."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
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
    ("framed", "score", "is_frame"), [(True, 0.8, True), (True, 1.5, False), (False, 0.8, False)]
)
def test_what_is_called_frame_and_reads_like_it_is_frame(framed: bool, score: float, is_frame: bool) -> None:
    assert frame._is_frame(block(tree()[0], 50, score=score, framed=framed)) is is_frame


@pytest.mark.parametrize(("share", "left"), [(30, 1), (50, 2)])
def test_a_name_does_not_make_frame_of_most_of_an_article(share: int, left: int) -> None:
    body, _ = tree()
    blocks = [block(body, 200 - 2 * share, score=2.0), block(body, 2 * share, score=0.5, framed=True)]
    assert len(frame._article(blocks)) == left


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
    [(-1.5, False, True), (-2.5, False, False), (0.1, True, True), (-0.1, True, False)],
)
def test_doubtful_blocks_between_content_are_taken(score: float, article: bool, taken: bool) -> None:
    body, _ = tree()
    blocks = [block(body, 200, score=1.0), block(body, 5, score=score), block(body, 200, score=1.0)]
    assert (blocks[1] in frame.choose(blocks, article=article)) is taken


@pytest.mark.parametrize(("share", "left"), [(70, 2), (80, 1)])
def test_most_words_of_an_article_are_in_its_body(share: int, left: int) -> None:
    body, inner = tree()
    assert len(frame._body([block(inner, share), block(body, 100 - share)])) == left


@pytest.mark.parametrize(("share", "left"), [(30, 4), (50, 2)])
def test_paragraphs_beside_each_other_are_the_body(share: int, left: int) -> None:
    """Boxes with a paragraph each hold as many words, but are no text."""
    body, inner = tree()
    text = [block(inner, share), block(inner, share)]
    boxes = [block(etree.SubElement(body, "div"), 100 - share) for _ in range(2)]
    assert len(frame._body([*text, *boxes])) == left


@pytest.mark.parametrize(("paragraphs", "left"), [(1, 3), (2, 2)])
def test_two_paragraphs_are_a_text(paragraphs: int, left: int) -> None:
    body, inner = tree()
    text = [block(inner, 100 // paragraphs) for _ in range(paragraphs)]
    boxes = [block(etree.SubElement(body, "div"), 60) for _ in range(2 if paragraphs == 1 else 1)]
    assert len(frame._body([*text, *boxes])) == left


@pytest.mark.parametrize(
    ("words", "tag", "lead"),
    [(13, "h2", False), (17, "h2", True), (17, "h1", False), (13, "p", False), (17, "p", True)],
)
def test_a_lead_may_be_marked_as_a_heading(words: int, tag: str, lead: bool) -> None:
    assert frame._is_lead(block(tree()[0], words, tag=tag)) is lead


@pytest.mark.parametrize(("times", "told"), [(2, False), (4, True)])
def test_an_article_that_is_not_shown_is_read_as_the_page_tells_it(times: int, told: bool) -> None:
    shown = (
        "Snow fell on the hills all night, and in the morning the roads to the north were closed to all cars. "
        * 3
    )
    page = etree.HTML(
        "<html><head><script type='application/ld+json'>"
        + json.dumps({"@type": "NewsArticle", "articleBody": "Trains ran late, too. " * (15 * times)})
        + f"</script></head><body><article><h1>Snow</h1><p>{shown}</p></article></body></html>"
    )
    assert any("Trains" in one.text for one in frame.content(page)) is told


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (r'"Snow &amp; ice <b>fell</b>.\n\nIt \ud800was \u0001 cold."', "Snow & ice fell . | It was cold."),
        (r'"Broken \x"', ""),
        (r'"Never closed', ""),
        ('["a", "list"]', ""),
    ],
)
def test_what_a_page_tells_may_be_odd(told: str, text: str) -> None:
    page = etree.HTML(f'<html><script type="application/ld+json">{{"articleBody": {told}}}</script></html>')
    assert " | ".join(one.text for one in frame._declared(page)) == text


def test_the_nodes_of_trees_are_read_in_order() -> None:
    names = list(frame.NAMES)
    trees = frame.trees_of(names, [[[1, 0.5], [0, 2.0], -1.0, 1.0, 3.0], [0.25]])
    assert trees.others.tolist()[:2] == [4, 3]
    assert trees.roots.tolist() == [0, 5]
    rows = np.zeros((4, len(names)))
    rows[:, :2] = [[2.0, 0.5], [2.5, 0.0], [0.0, 0.75], [9.0, 9.0]]
    for scores in (kernels.tree_scores, reference.tree_scores):
        assert scores(rows, *trees).tolist() == [-0.75, 1.25, 3.25, 3.25]


@pytest.mark.parametrize(("up", "note"), [(3, True), (4, False)])
def test_elements_around_a_block_call_it_a_footnote(up: int, note: bool) -> None:
    around = etree.fromstring("<html class='footnotes'/>")
    inner = around
    for _ in range(up - 1):
        inner = etree.SubElement(inner, "div")
    assert frame._called(block(inner, 9), frame._NOTE) is note


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
