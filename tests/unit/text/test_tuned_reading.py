"""Every tuned number of the reading of documents, from both sides: one that changes much changes an answer here."""

from __future__ import annotations

import types

import lxml.html
import pytest

from doublet.text import frame, kind
from doublet.text.formats import html
from doublet.text.read import read_document

pytestmark = pytest.mark.covers("T3")


def words(count: int, stop: str = ".") -> str:
    return " ".join(["word"] * count) + stop


def block(count: int, *, linked: float = 0.0, framed: bool = False, stop: str = "") -> frame.Block:
    element = types.SimpleNamespace(tag="p")
    return frame.Block(words(count, stop), element, count, linked, framed, False)


RUNNING = 60


def is_kept(one: frame.Block, *, near: bool = False) -> bool:
    """Whether it is content of a page with running text beside it, or far away."""
    menu = [] if near else [block(3, framed=True) for _ in range(4)]
    return any(kept is one for kept in frame.choose([block(RUNNING, stop="."), *menu, one]))


def test_a_long_block_is_running_text() -> None:
    linked = (frame.LINKED + frame.LINKED_SHORT) / 2
    assert is_kept(block(14, linked=linked))
    assert not is_kept(block(13, linked=linked))


def test_a_block_of_links_is_a_menu() -> None:
    assert is_kept(block(20, linked=0.44))
    assert not is_kept(block(20, linked=0.46))
    assert is_kept(block(5, linked=0.24), near=True)
    assert not is_kept(block(5, linked=0.26), near=True)


def test_a_few_words_and_a_full_stop_are_a_sentence() -> None:
    assert is_kept(block(5, stop="."))
    assert not is_kept(block(4, stop="."))


def test_short_blocks_go_with_running_text_near_by() -> None:
    short = [block(3) for _ in range(8)]
    kept = frame.choose([block(RUNNING, stop="."), *short])
    assert [any(one is other for other in kept) for one in short] == [True] * 6 + [False] * 2


def test_a_page_with_little_content_is_taken_as_it_is() -> None:
    for count, taken in ((24, True), (25, False)):
        far = block(3, linked=0.3)
        page = [block(count, stop="."), far]
        assert any(one is far for one in frame.choose(page)) is taken


def content(page: str) -> str:
    return " ".join(one.text for one in frame.content(lxml.html.document_fromstring(page)))


@pytest.mark.parametrize(("inside", "dropped"), [(38, True), (42, False)])
def test_what_holds_most_of_a_page_is_no_frame(inside: int, dropped: bool) -> None:
    page = f"<body><div class=menu><p>inside {words(inside - 1)}</p></div><p>{words(100 - inside)}</p></body>"
    assert ("inside" not in content(page)) is dropped


@pytest.mark.parametrize(("beside", "dropped"), [(60, True), (59, False)])
def test_comments_may_be_longer_than_the_article(beside: int, dropped: bool) -> None:
    page = f"<body><p>{words(beside)}</p><div class=comments><p>inside {words(200)}</p></div></body>"
    assert ("inside" not in content(page)) is dropped


@pytest.mark.parametrize(("around", "dropped"), [(7, True), (8, False)])
def test_so_many_frames_in_frames_are_looked_at(around: int, dropped: bool) -> None:
    inner = f"<p>{words(100)}</p><div class=menu><p>inside {words(9)}</p></div>"
    page = f"<body>{'<div class=menu>' * around}{inner}{'</div>' * around}</body>"
    assert ("inside" not in content(page)) is dropped


@pytest.mark.parametrize(("count", "told"), [(8, 1), (7, 0)])
def test_hidden_prose_is_told_and_hidden_machinery_is_not(count: int, told: int) -> None:
    page = f"<html><body><p>{words(50)}</p><p style='display:none'>{words(count)}</p></body></html>"
    assert len(read_document(page.encode()).hidden) == told


@pytest.mark.parametrize(("white", "told"), [(18, 1), (24, 0)])
def test_a_page_with_much_white_text_has_a_dark_ground_somewhere(white: int, told: int) -> None:
    page = f"<html><body><p>{words(100 - white)}</p><p style='color:#fff'>{words(white)}</p></body></html>"
    assert len(read_document(page.encode()).hidden) == told


@pytest.mark.parametrize(("count", "alarming"), [(5, True), (4, False)])
def test_a_few_hidden_words_are_no_alarm(count: int, alarming: bool) -> None:
    page = f"<html><body><p>{words(90)}</p><p style='color:#fff'>{words(count, '')}</p></body></html>"
    (finding,) = read_document(page.encode()).disguise.findings
    assert finding.alarm is alarming


@pytest.mark.parametrize(
    ("signs", "lines", "found"),
    [(4, 48, "markdown"), (3, 12, "plain"), (4, 52, "plain"), (8, 96, "markdown")],
)
def test_markup_is_told_from_so_many_signs(signs: int, lines: int, found: str) -> None:
    text = ["# Title"] * signs + ["words"] * (lines - signs)
    assert kind.tell("\n".join(text).encode()) == found


def test_long_tags_lose_what_no_reader_needs() -> None:
    """A page is read alike with a picture of some kilobytes in a tag, or with some dozens of attributes."""
    filler = " ".join(f"data-a{n}=1" for n in range(60))
    for attribute in (f"title='{'x' * 5_000}' hidden", f"{filler} hidden title='{'x' * 5_000}'"):
        page = f"<html><body><p>{words(50)}</p><p {attribute}>{words(20)}</p></body></html>"
        assert len(read_document(page.encode()).hidden) == 1
    shown = f"<p {filler} {filler.replace('a', 'b')} hidden title='{'x' * 5_000}'>{words(20)}</p>"
    assert html._without_long_tags(shown).count("=") == html._ATTRIBUTES
    short = f"<p title='{'x' * 3_900}'>"
    assert html._without_long_tags(short) == short
