"""What nearly all pages of a site carry, line by line (T3)."""

from __future__ import annotations

import numpy as np
import pytest

from doublet.text import site_frame
from doublet.text.read import read_document
from doublet.text.site_frame import (
    CROWD,
    PageLines,
    few_own_lines,
    least_with_line,
    line_key,
    lines_of,
    own_text,
    title_key,
)

pytestmark = pytest.mark.covers("T3")

PAGE = (
    "<html><head><title>The boat</title></head><body><div class=menu><a href=/>Home</a> <a href=/n>News</a></div>"
    "<h1>The boat</h1><p>{text}</p><div class=footer><p>Copyright the keepers of the archive, 2026.</p></div>"
    "</body></html>"
)
PROSE = "The boat was locked in the ice until March, and nobody in the village minded that very much. " * 3


def test_a_page_says_what_was_left_out_and_where() -> None:
    data = PAGE.format(text=PROSE).encode()
    plain = read_document(data)
    found = read_document(data, left_out=True)
    assert (found.text, found.places, found.title) == (plain.text, plain.places, plain.title)
    assert plain.left_out == ()
    assert [text for _, text in found.left_out] == [
        "Home News",
        "Copyright the keepers of the archive, 2026.",
    ]
    assert [at for at, _ in found.left_out] == [0, len(found.text)]


def test_lines_are_in_the_order_of_the_page() -> None:
    found = read_document(PAGE.format(text=PROSE).encode(), left_out=True)
    page = lines_of(found.text, found.left_out)
    assert page.lines == [
        "Home News",
        "The boat",
        PROSE.strip(),
        "Copyright the keepers of the archive, 2026.",
    ]
    assert page.useful.tolist() == [False, True, True, False]
    assert page.words.tolist() == [2, 2, 54, 7]


def test_numbers_and_blanks_make_no_other_line() -> None:
    assert line_key("Last changed  2026-03-05") == line_key("last changed 1999-12-31")
    assert line_key("Last changed by Ann") != line_key("Last changed by Bob")


def test_titles_are_no_lines() -> None:
    assert title_key("Chapter 3") == title_key("chapter  4")
    assert title_key("Boats") not in (0, title_key("Coats"), line_key("Boats"))
    assert (title_key(""), title_key("12")) == (0, 0)
    assert lines_of("Boats", (), "All boats").title == title_key("All boats")


@pytest.mark.parametrize("line", ["12", "3.5 %", "— 7 —", "2026-03-05"])
def test_a_line_of_numbers_is_data(line: str) -> None:
    assert line_key(line) == 0


@pytest.mark.parametrize(("pages", "least"), [(5, 4), (10, 7), (20, 14), (100, 70), (101, 71)])
def test_least(pages: int, least: int) -> None:
    assert least_with_line(pages) == least


def words(count: int, start: int = 0) -> str:
    return " ".join(f"w{start + i}" for i in range(count))


def own(
    page: PageLines, frame: np.ndarray, firsts: list[int] | None = None, named: bool = False
) -> str | None:
    """*firsts*: of common lines the first page that has them, 0 of the others; there are none unless they are given."""
    return own_text(page, frame, np.array(firsts or [0] * len(page.lines), np.uint64), named)


def shape(useful: int, frame: int, left_out: int) -> str | None:
    """The text of a page of a line each: useful words, frame, and what was left out of this page alone."""
    page = lines_of(f"{words(useful)}\n{words(frame, 5000)}", ((0, words(left_out, 9000)),))
    return own(page, np.array([False, False, True][: len(page.lines)]))


def test_frame_is_left_out() -> None:
    assert shape(401, 10, 50) == words(401)


def test_a_short_page_is_compared_with_all_that_is_not_frame() -> None:
    assert shape(350, 10, 50) == f"{words(50, 9000)}\n{words(350)}"


def test_but_not_with_the_contents_of_a_book() -> None:
    assert shape(350, 10, 51) == words(350)
    assert shape(100, 10, 301) == words(100)


def with_common(own_words: int, *common: tuple[int, int]) -> tuple[PageLines, list[int]]:
    """A page of a banner, a line of its own and common lines: each the words, and the first page that has it."""
    lines = ["Banner of the site", words(own_words)]
    lines += [words(count, 1000 * n) for n, (count, _) in enumerate(common, start=2)]
    return lines_of("\n".join(lines), ()), [0, 0, *(first for _, first in common)]


def by_own(own_words: int, *common: tuple[int, int], named: bool = False) -> bool:
    """Whether such a page is compared by its own line alone; else it is by all but the banner."""
    page, firsts = with_common(own_words, *common)
    found = own(page, np.array([True] + [False] * (len(page.lines) - 1)), firsts, named)
    assert found in (words(own_words), "\n".join(page.lines[1:]))
    return found == words(own_words)


def test_a_short_page_is_compared_by_its_own_lines() -> None:
    """Two advertisements and a list of what to see also."""
    assert by_own(20, (40, 7), (40, 8), (18, 9))
    assert by_own(100, (300, 7))
    page, firsts = with_common(100, (301, 7))
    assert own(page, np.array([True, False, False]), firsts) == "\n".join(page.lines[1:]), "too long"


def test_left_out_lines_are_own_lines_too() -> None:
    page = lines_of(f"Banner of the site\n{words(40)}", ((0, words(5, 9000)),))
    assert own(page, np.array([False, True, False]), [0, 0, 7]) == words(5, 9000)


def test_a_word_or_two_do_not_stand_for_a_page() -> None:
    assert not by_own(2, (40, 7))
    assert by_own(3, (40, 7))


def test_nor_do_they_when_they_are_repeated() -> None:
    page = lines_of(f"<no title>\n<no title>\n{words(40)}", ())
    assert own(page, np.zeros(3, np.bool_), [0, 0, 7]) is None


def test_a_page_that_others_have_nearly_whole_is_a_copy() -> None:
    assert not by_own(38, (20, 7), (20, 7), (10, 7), (10, 7), (2, 7))
    assert by_own(38, (20, 7), (20, 7), (10, 7), (12, 7)), "four lines may be advertisements"
    assert by_own(40, (20, 7), (20, 7), (10, 7), (8, 7), (2, 7)), "three fifths are not most of it"
    assert by_own(38, (20, 7), (20, 7), (10, 7), (10, 7), (2, 8)), "not the same pages"


def test_what_a_crowd_has_makes_no_copy() -> None:
    """A note on rights above each file of a program is on the same pages, too."""
    crowd = int(CROWD)
    assert by_own(38, (20, crowd), (20, crowd), (10, crowd), (10, crowd), (2, crowd))
    assert not by_own(19, (20, 7), (20, 7), (10, 7), (10, 7), (2, 7), (10, crowd)), "a few have most of it"
    assert by_own(38, (20, 7), (20, 7), (10, 7), (10, 7), (2, 7), (10, crowd)), "they have less than that"


def test_a_page_with_a_title_of_its_own_is_no_copy_of_what_all_pages_have() -> None:
    page = lines_of(f"{words(300)}\n{words(10, 5000)}", ())
    frame = np.array([True, False])
    assert own(page, frame) is None, "next to nothing is its own"
    assert own(page, frame, named=True) == words(10, 5000)
    assert few_own_lines(page, frame, np.zeros(2, np.uint64)).tolist() == []
    assert few_own_lines(page, frame, np.zeros(2, np.uint64), named=True).tolist() == [1]


def test_but_it_may_be_a_copy_of_a_few() -> None:
    """One text under several titles: its lines are on the same pages."""
    assert not by_own(38, (20, 7), (20, 7), (10, 7), (10, 7), (2, 7), named=True)
    assert not by_own(100, (301, 7), named=True), "a long page"


def test_a_page_that_is_all_frame_is_compared_as_it_was_read() -> None:
    page = lines_of("Only the banner of the site", ())
    assert own(page, np.array([True])) is None


def test_signs_alone_are_nothing_to_compare_by() -> None:
    page = lines_of("Only the banner of the site\n— | —", ())
    assert own(page, np.array([True, False])) is None


def test_a_word_of_its_own_is_enough() -> None:
    """Stubs in a large banner are not equal because their banners are."""
    page = lines_of(f"Redirect\n{words(60)}", ())
    assert own(page, np.array([False, True])) == "Redirect"


def test_a_long_page_with_next_to_nothing_of_its_own_is_a_copy() -> None:
    page = lines_of(f"{words(13)}\n{words(287, 5000)}", ())
    assert own(page, np.array([False, True])) is None
    page = lines_of(f"{words(15)}\n{words(285, 5000)}", ())
    assert own(page, np.array([False, True])) == words(15)
    page = lines_of(f"{words(2)}\n{words(197, 5000)}", ())
    assert own(page, np.array([False, True])) == words(2), "a stub in a large banner"


def listing(pieces: int, useful: int, left_out: int) -> tuple[site_frame.PageLines, str]:
    """A page of so many lines of useful words, with a line that was left out of it before each; and its whole text."""
    lines = [words(useful, 1000 * (1 + n)) for n in range(pieces)]
    places = [sum(len(line) + 1 for line in lines[:n]) for n in range(pieces)]
    between = tuple((place, words(left_out, 50_000 + 1000 * n)) for n, place in enumerate(places))
    page = lines_of("\n".join([*lines, words(20, 90_000)]), between)
    return page, "\n".join(page.lines[1:-1])


def frame_at_the_end(page: site_frame.PageLines) -> np.ndarray:
    frame = np.zeros(len(page.lines), np.bool_)
    frame[-1] = True
    return frame


def test_a_list_in_pieces_is_taken_from_the_first_to_the_last() -> None:
    page, whole = listing(8, useful=30, left_out=60)
    assert own(page, frame_at_the_end(page)) == whole


def test_few_pieces_are_no_list() -> None:
    """A book with its contents, of which the first step keeps what stands around them."""
    page, _ = listing(7, useful=30, left_out=60)
    useful = [line for line, is_useful in zip(page.lines[:-1], page.useful, strict=False) if is_useful]
    assert own(page, frame_at_the_end(page)) == "\n".join(useful)


def test_an_article_with_captions_between_its_paragraphs_is_no_list() -> None:
    page, _ = listing(10, useful=36, left_out=10)  # nine captions: a fifth of the words
    useful = [line for line, is_useful in zip(page.lines[:-1], page.useful, strict=False) if is_useful]
    assert own(page, frame_at_the_end(page)) == "\n".join(useful)
    page, whole = listing(10, useful=35, left_out=10)
    assert own(page, frame_at_the_end(page)) == whole


@pytest.mark.parametrize(("line", "count"), [("湖の船は氷の中に閉ざされていた", 8), ("лодка во льду", 3)])
def test_words_of_scripts_without_blanks(line: str, count: int) -> None:
    """Else a page in Japanese would be short however long it is."""
    assert lines_of(line, ()).words.tolist() == [count]


def test_an_empty_page() -> None:
    page = lines_of("", ())
    assert own(page, np.zeros(0, np.bool_)) is None


TURNS = (
    "<ul><li><a {previous} href=k.html><b>Пред.</b>A.4. Knoppix</a></li><li><a {up} href=#>Наверх</a></li>"
    "<li><a {next} href=g.html><b>След.</b>A.6. Grml</a></li></ul>"
)
BY_KEY = TURNS.format(previous="accesskey=p", up="accesskey=u", next="accesskey=n")
BY_RELATION = TURNS.format(previous="rel=prev", up="rel=up", next='rel="next nofollow"')


@pytest.mark.parametrize("turns", [BY_KEY, BY_RELATION], ids=["key", "relation"])
def test_links_to_the_next_page_of_a_book_are_no_content(turns: str) -> None:
    page = f"<html><body><h1>A.5. Aptosid</h1><p>{PROSE}</p>{turns}</body></html>"
    assert read_document(page.encode()).text == f"A.5. Aptosid\n\n{PROSE.strip()}"


def test_other_links_stay() -> None:
    """A page that is a list of links, one of which leads on."""
    items = "".join(
        f"<li><a href={n}.html>Chapter {n} about the boats of {n} villages</a></li>" for n in range(1, 9)
    )
    page = f"<html><body><h1>Contents</h1><ul>{items}</ul>{BY_KEY}</body></html>"
    found = read_document(page.encode()).text
    assert "Chapter 8 about" in found
    assert "Наверх" not in found


def few(own_words: int, *common: tuple[int, int]) -> list[int]:
    page, firsts = with_common(own_words, *common)
    frame = np.array([True] + [False] * (len(page.lines) - 1))
    return few_own_lines(page, frame, np.array(firsts, np.uint64)).tolist()


def test_pages_of_few_words() -> None:
    """Fifty of their own, beside any number that is frame or common."""
    assert few(50) == few(50, (300, 7)) == [1]
    assert few(51) == []
    assert few(40, (361, 7)) == [], "no short page"
    assert few(2, (40, 7)) == [], "compared by all that is not frame"
    assert few(38, (20, 7), (20, 7), (10, 7), (10, 7), (2, 7)) == [], "a copy"
    page = lines_of(f"{words(13)}\n{words(287, 5000)}", ())
    assert few_own_lines(page, np.array([False, True]), np.zeros(2, np.uint64)).tolist() == [], "a long copy"
