"""Every tuned number of the reading of documents, from both sides: one that changes much changes an answer here."""

from __future__ import annotations

import tracemalloc

import lxml.html
import pytest

from doublet.text import frame, kind
from doublet.text.formats import html
from doublet.text.read import read_document

pytestmark = pytest.mark.covers("T3")


def words(count: int, stop: str = ".") -> str:
    return " ".join(["word"] * count) + stop


def block(
    count: int, *, score: float, tag: str = "p", linked: float = 0.0, framed: bool = False
) -> frame.Block:
    element = lxml.html.fragment_fromstring(f"<div><{tag}></{tag}></div>")[0]
    return frame.Block(words(count), element, count, linked, framed, False, menu=framed, score=score)


RUNNING = block(200, score=4.0)


def is_kept(one: frame.Block, *around: frame.Block) -> bool:
    return any(kept is one for kept in frame.choose([RUNNING, one, *around]))


def test_what_is_more_like_content_than_like_frame_is_kept() -> None:
    assert is_kept(block(5, score=0.1))
    assert not is_kept(block(5, score=-0.1))


def test_doubtful_blocks_between_content_are_kept() -> None:
    assert is_kept(block(5, score=-1.9), RUNNING)
    assert not is_kept(block(5, score=-2.1), RUNNING)
    assert not is_kept(block(5, score=-1.9, linked=0.26), RUNNING)
    assert is_kept(block(5, score=-1.9, tag="dt"))


def article_of(*blocks: frame.Block) -> list[frame.Block]:
    """What is chosen of blocks that are in one element of an article."""
    holder = lxml.html.fragment_fromstring("<div></div>")
    holder.extend([one.element for one in blocks])
    return frame.choose(list(blocks), article=True)


@pytest.mark.parametrize(
    ("score", "tag", "kept"),
    [(0.1, "p", True), (-0.1, "p", False), (-1.9, "tr", True), (-2.1, "tr", False), (-1.9, "pre", True)],
)
def test_an_article_keeps_less_that_is_doubtful(score: float, tag: str, kept: bool) -> None:
    one = block(5, score=score, tag=tag)
    found = article_of(block(200, score=4.0), one, block(200, score=4.0))
    assert any(item is one for item in found) is kept


@pytest.mark.parametrize(
    ("inside", "kept"),
    [
        ("<figcaption>{}</figcaption>", False),
        ("<figcaption><span><p>{}</p></span></figcaption>", False),
        ("<p class='image-credit'>{}</p>", False),
        ("<figcaption><div><div><div><p>{}</p></div></div></div></figcaption>", True),
        ("<blockquote class='twitter-tweet'><p>{}</p></blockquote>", False),
        ("<blockquote class='instagram-media'><div><p>{}</p></div></blockquote>", False),
        ("<blockquote><p>{}</p></blockquote>", True),
        ("<p>{}</p>", True),
    ],
)
def test_captions_and_posts_from_elsewhere_are_no_part_of_an_article(inside: str, kept: bool) -> None:
    page = lxml.html.fragment_fromstring(f"<main>{inside.format('Snow on the roofs')}<p>Text</p></main>")
    deepest = max(page.iter(), key=lambda one: (one.text == "Snow on the roofs", -len(one)))
    made = [
        frame.Block("Snow on the roofs", deepest, 20, 0.0, False, False, score=2.0),
        frame.Block("Text", page[-1], 200, 0.0, False, False, score=3.0),
    ]
    assert any(one is made[0] for one in frame.choose(made, article=True)) is kept
    assert any(one is made[0] for one in frame.choose(made))


@pytest.mark.parametrize(
    ("tag", "linked", "beside", "following", "kept"),
    [
        ("li", 1.0, 160, 0, False),
        ("li", 0.8, 160, 0, True),
        ("li", 1.0, 140, 0, True),
        ("p", 1.0, 160, 0, False),
        ("p", 0.8, 160, 0, True),
        ("h3", 1.0, 160, 14, False),
        ("h3", 1.0, 160, 15, True),
    ],
)
def test_links_to_other_articles_are_no_part_of_one(
    tag: str, linked: float, beside: int, following: int, kept: bool
) -> None:
    teaser = block(8, score=2.0, tag=tag, linked=linked)
    teaser.heading = tag == "h3"
    found = article_of(block(beside - following, score=4.0), teaser, block(following, score=4.0))
    assert any(one is teaser for one in found) is kept


@pytest.mark.parametrize(
    ("markup", "linked"),
    [
        ("<h2><a href='#snow'>Snow</a></h2>", 0),
        ("<h2><a href='/snow'>Snow</a></h2>", 4),
        ("<p><a href='#snow'>Snow</a></p>", 4),
    ],
)
def test_a_heading_that_leads_to_itself_is_no_link(markup: str, linked: int) -> None:
    assert html.cut_page(html.parse_page(markup.encode())[0]).linked.tolist() == [linked]


def test_scripts_without_blanks_have_words() -> None:
    page = "<p>雪が静かに降っている。</p><p>หิมะตกหนัก</p><p>Снег идёт</p>"
    assert html.cut_page(html.parse_page(page.encode())[0]).words.tolist() == [6, 6, 2]
    article = "".join(f"<p>{number}日の朝、町の屋根にたくさんの雪が積もっていた。</p>" for number in range(9))
    found = read_document(f"<nav><a href='/a'>地図</a></nav><main>{article}</main>".encode())
    assert "屋根" in found.text
    assert "地図" not in found.text


@pytest.mark.parametrize(("strong", "less"), [(28, False), (32, True)])
def test_a_page_of_which_an_article_would_be_a_small_part_is_none(strong: int, less: bool) -> None:
    sure = [block(strong, score=2.0)]
    rather = [block(10, score=0.2, tag="figcaption") for _ in range((100 - strong) // 10)]
    rather.append(block((100 - strong) % 10, score=0.2, tag="figcaption"))
    assert (len(article_of(*sure, *rather)) == 1) is less


@pytest.mark.parametrize(
    ("count", "linked", "tag", "kept"),
    [
        (15, 0.0, "p", True),
        (14, 0.0, "p", False),
        (20, 0.3, "p", False),
        (20, 0.2, "p", True),
        (14, 0.0, "h2", False),
        (16, 0.0, "h2", True),
    ],
)
def test_the_lead_above_the_body_of_an_article_stays(count: int, linked: float, tag: str, kept: bool) -> None:
    page = lxml.html.fragment_fromstring(
        f"<main><header><{tag}></{tag}></header><div><p></p><p></p></div></main>"
    )
    lead, *rest = (one for one in page.iter("p", "h2"))
    made = [frame.Block("lead", lead, count, linked, False, tag == "h2", score=2.0)]
    made += [frame.Block("text", one, 100, 0.0, False, False, score=3.0) for one in rest]
    assert any(one is made[0] for one in frame.choose(made, article=True)) is kept


@pytest.mark.parametrize(("text", "listed"), [(24, True), (26, False)])
def test_an_article_of_a_few_words_may_be_a_list(text: int, listed: bool) -> None:
    links = [block(40, score=-3.0, tag="li", linked=1.0) for _ in range(3)]
    article = block(text, score=2.0)
    found = article_of(article, *links)
    assert any(item is links[0] for item in found) is listed
    assert any(item is links[0] for item in frame.choose([article, *links]))


@pytest.mark.parametrize(("below", "kept"), [(23, False), (30, True)])
def test_what_is_below_the_body_of_an_article_goes(below: int, kept: bool) -> None:
    page = lxml.html.fragment_fromstring(
        "<main><div><p></p><p></p><p></p></div><div><p></p><p></p></div></main>"
    )
    made = [
        frame.Block(words(count), element, count, 0.0, False, False, score=3.0)
        for element, count in zip(page.iter("p"), (100 - below, 40, 60, below, below), strict=True)
    ]
    assert any(one is made[-1] for one in frame.choose(made, article=True)) is kept
    assert any(one is made[-1] for one in frame.choose(made))
    assert all(any(one is item for item in frame.choose(made, article=True)) for one in made[:-2])


def test_the_headline_of_an_article_is_its_title_and_no_part_of_its_text() -> None:
    for tag, score, kept in (("h1", 3.0, False), ("h2", 3.0, True), ("h2", -0.1, False)):
        heading = block(6, score=score, tag=tag)
        heading.heading = True
        assert any(item is heading for item in article_of(heading, block(200, score=4.0))) is kept
        assert any(item is heading for item in frame.choose([heading, RUNNING]))


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('<meta property="og:type" content=" Article">', True),
        ('<meta property="article:published_time" content="2020-01-01">', True),
        ('<script type="application/ld+json">{"@type": "NewsArticle"}</script>', True),
        ('<script type="application/ld+json">{"@type":["Thing", "BlogPosting"]}</script>', True),
        ('<meta property="og:type" content="website">', False),
        ('<script type="application/ld+json">{"@type": "WebPage", "name": "Article"}</script>', False),
        ('<script>{"@type": "NewsArticle"}</script>', False),
        ("<title>Article</title>", False),
    ],
)
def test_what_a_page_says_it_is(head: str, expected: bool) -> None:
    page, _ = html.parse_page(f"<html><head>{head}</head><body><p>One</p></body></html>".encode())
    assert frame.is_article(page) is expected


@pytest.mark.parametrize(
    ("count", "score", "kept"), [(15, 1.1, True), (5, 1.1, True), (15, 0.9, False), (60, 4.0, True)]
)
def test_a_name_alone_makes_no_frame(count: int, score: float, kept: bool) -> None:
    one = block(count, score=score, framed=True)
    assert any(item is one for item in article_of(block(200, score=4.0), one)) is kept
    assert is_kept(one)  # of a page that does not say that it is an article


@pytest.mark.parametrize(("linked", "kept"), [(0.2, True), (0.3, False)])
def test_links_in_what_is_called_frame_are_no_content(linked: float, kept: bool) -> None:
    assert is_kept(block(60, score=4.0, linked=linked, framed=True)) is kept
    assert is_kept(block(60, score=4.0, linked=linked))


@pytest.mark.parametrize(("items", "kept"), [(7, True), (8, False)])
def test_a_long_list_of_links_beside_text_is_no_part_of_it(items: int, kept: bool) -> None:
    links = [block(4, score=1.0, tag="li", linked=1.0) for _ in range(items)]
    found = frame.choose([RUNNING, *links])
    assert any(one is links[0] for one in found) is kept


@pytest.mark.parametrize(("count", "whole"), [(24, True), (26, False)])
def test_a_page_with_next_to_no_content_is_taken_as_it_is(count: int, whole: bool) -> None:
    other = block(4, score=-5.0)
    found = frame.choose([block(count, score=3.0), other])
    assert any(one is other for one in found) is whole


@pytest.mark.parametrize(("count", "listed"), [(148, True), (152, False)])
def test_a_page_with_little_text_is_its_list_of_links(count: int, listed: bool) -> None:
    links = [block(60, score=-3.0, tag="li", linked=1.0) for _ in range(3)]
    found = frame.choose([block(count, score=3.0), *links])
    assert any(one is links[0] for one in found) is listed


@pytest.mark.parametrize(("linked", "listed"), [(0.92, True), (0.88, False)])
def test_an_item_of_a_list_of_links_is_next_to_nothing_but_a_link(linked: float, listed: bool) -> None:
    links = [block(60, score=-3.0, tag="li", linked=linked) for _ in range(3)]
    found = frame.choose([block(30, score=3.0), *links])
    assert any(one is links[0] for one in found) is listed


def page_of_links(items: int, text: int, *, footer: str) -> str:
    links = "".join(f"<li><a href=/{n}>Chapter number {n}</a></li>" for n in range(items))
    return f"<body><div><h1>All chapters</h1><p>{words(text)}</p><ul>{links}</ul></div>{footer}</body>"


FOOTER = (
    "<p>These pages are kept by the friends of the library. They answer letters about what is missing here within a "
    "week or two, and they are glad about everybody who helps to put new books on the shelves.</p>"
)


@pytest.mark.parametrize(("items", "text", "kept"), [(3, 14, True), (2, 14, False), (3, 15, False)])
def test_a_page_of_links_is_its_list(items: int, text: int, kept: bool) -> None:
    """The footer is outside of what holds title and list, and not even called one."""
    found = content(page_of_links(items, text, footer=FOOTER))
    assert ("Chapter number 1" in found and "friends of the library" not in found) is kept


@pytest.mark.parametrize(("beside", "dropped"), [(10, True), (9, False)])
def test_a_footer_is_never_the_content(beside: int, dropped: bool) -> None:
    page = f"<body><p>{words(beside)}</p><div class=footer>{FOOTER}</div></body>"
    assert ("friends of the library" not in content(page)) is dropped


def content(page: str) -> str:
    return " ".join(one.text for one in frame.content(lxml.html.document_fromstring(page)))


@pytest.mark.parametrize(("inside", "framed"), [(38, True), (42, False)])
def test_what_holds_most_of_a_page_is_no_frame(inside: int, framed: bool) -> None:
    page = f"<body><div class=menu><p>inside {words(inside - 1)}</p></div><p>{words(100 - inside)}</p></body>"
    assert frame.cut(lxml.html.document_fromstring(page), article=False)[0].framed is framed


@pytest.mark.parametrize(("beside", "dropped"), [(60, True), (59, False)])
def test_comments_may_be_longer_than_the_article(beside: int, dropped: bool) -> None:
    page = f"<body><p>{words(beside)}</p><div class=comments><p>inside {words(200)}</p></div></body>"
    assert ("inside" not in content(page)) is dropped


@pytest.mark.parametrize(("first", "said", "posts"), [(14, 160, True), (15, 160, False), (14, 140, False)])
def test_comments_are_the_content_of_a_page_without_other_text(first: int, said: int, posts: bool) -> None:
    page = lxml.html.fragment_fromstring(
        "<main><p></p><div id='comments'><p></p><p></p></div><footer><p></p></footer></main>"
    )
    made = [
        frame.Block("text", element, count, 0.0, number > 0, False, never=number > 0, score=2.0)
        for number, (element, count) in enumerate(
            zip(page.iter("p"), (first, said // 2, said // 2, 40), strict=True)
        )
    ]
    kept = frame.choose(made)
    assert [any(one is block for one in kept) for block in made[1:]] == [posts, posts, False]


@pytest.mark.parametrize(("count", "told"), [(8, 1), (7, 0)])
def test_hidden_prose_is_told_and_hidden_machinery_is_not(count: int, told: int) -> None:
    page = f"<html><body><p>{words(50)}</p><p style='display:none'>{words(count)}</p></body></html>"
    assert len(read_document(page.encode()).hidden) == told


@pytest.mark.parametrize(("later", "shown"), [(55, True), (45, False)])
@pytest.mark.parametrize("attribute", ["style='opacity:0'", "hidden", "style='display:none'"])
def test_what_holds_most_of_a_page_is_shown_by_a_script(attribute: str, later: int, shown: bool) -> None:
    veiled = f"<main {attribute}><p>Later {words(later - 1)}</p><p style='display:none'>never {words(9)}</p></main>"
    found = read_document(f"<html><body><p>{words(110 - later)}</p>{veiled}</body></html>".encode())
    assert ("Later" in found.text) is shown
    assert "never" not in found.text
    assert len(found.hidden) == 1


@pytest.mark.parametrize(("hidden", "shown"), [(110, True), (90, False)])
def test_what_is_hidden_is_weighed_against_what_can_be_seen(hidden: int, shown: bool) -> None:
    """Windows that open later do not count, however long they are."""
    windows = f"<div hidden><p>Window {words(95)}</p></div>" * 3
    page = f"<html><body><p>{words(100)}</p><main hidden><p>Later {words(hidden)}</p></main>{windows}</body></html>"
    found = read_document(page.encode())
    assert ("Later" in found.text) is shown
    assert "Window" not in found.text


@pytest.mark.parametrize("attribute", ["hidden", "style='display:none'"])
def test_a_click_on_its_tab_or_heading_shows_a_part_of_a_page(attribute: str) -> None:
    for role, shown in (("tabpanel", True), ("region", True), ("dialog", False)):
        panel = f"<div role={role} {attribute}><p>Linux {words(40)}</p></div>"
        page = f"<html><body><p>{words(90)}</p>{panel}</body></html>"
        assert ("Linux" in read_document(page.encode()).text) is shown


@pytest.mark.parametrize(("count", "shown"), [(52, True), (36, False)])
def test_a_short_hidden_text_is_hidden_though_it_is_most_of_a_page(count: int, shown: bool) -> None:
    page = f"<html><body><p>{words(10)}</p><p hidden>Later {words(count - 1)}</p></body></html>"
    assert ("Later" in read_document(page.encode()).text) is shown


@pytest.mark.parametrize(("name", "shown"), [("S:0", True), ("S:1f", True), ("S", False)])
def test_parts_that_are_streamed_are_put_in_place_by_a_script(name: str, shown: bool) -> None:
    page = (
        f"<html><body><p>{words(150)}</p><div hidden id='{name}'><p>Later {words(60)}</p></div></body></html>"
    )
    assert ("Later" in read_document(page.encode()).text) is shown


@pytest.mark.parametrize(("count", "shown"), [(60, True), (40, False)])
def test_a_page_for_readers_without_scripts(count: int, shown: bool) -> None:
    page = f"<html><body><p>{words(50)}</p><noscript><p>Plain {words(count)}</p></noscript></body></html>"
    assert ("Plain" in read_document(page.encode(), frame=False).text) is shown


@pytest.mark.parametrize(("inside", "shown"), [(31, True), (30, False)])
def test_a_button_that_was_never_closed(inside: int, shown: bool) -> None:
    page = f"<html><body><button>Menu{'<p>Text.</p>' * inside}</body></html>"
    assert ("Text." in html.cut_page(html.parse_page(page.encode())[0]).texts) is shown


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


def test_a_long_table_of_markdown_needs_little_memory() -> None:
    """Half a kilobyte and a bit for each row of some letters, which would be half a gigabyte for three megabytes."""
    rows = 20_000
    table = ("|a|b|\n|-|-|\n" + "|a|b|\n" * rows).encode()
    read_document(table[:60], as_kind="markdown")
    tracemalloc.start()
    try:
        found = read_document(table, as_kind="markdown")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found.places) == rows + 1
    assert peak / rows < 800
