"""Numbers of the robot that were tuned: what lies well above one and well below it ends differently."""

from __future__ import annotations

import pytest

from doublet.crawl.mirrors import alike, is_mirror
from doublet.crawl.patterns import infer
from doublet.crawl.ranges import Range
from doublet.crawl.refresh import Noise
from doublet.crawl.soft404 import Signal, is_login_wall, says_so
from doublet.crawl.traps import Budget, odd_shape
from doublet.crawl.variants import Variants

# Mirrors


def text(name: str, words: int) -> str:
    return " ".join(f"{name}{n}" for n in range(words))


@pytest.mark.parametrize(("common", "found"), [(40, False), (90, True)])
def test_texts_of_a_mirror_are_half_alike(common: int, found: bool) -> None:
    shared = text("all", common)
    assert alike(f"{shared} {text('here', 30)}", f"{shared} {text('there', 30)}") is found


def test_words_in_another_order_are_not_alike_and_a_word_here_and_there_does_no_harm() -> None:
    words = text("w", 120).split()
    assert not alike(" ".join(words), " ".join(words[::2] + words[1::2]))
    changed = ["other" if n % 12 == 5 else word for n, word in enumerate(words)]
    assert alike(" ".join(words), " ".join(changed))


@pytest.mark.parametrize(("pages", "found"), [(7, False), (14, True)])
def test_a_mirror_is_told_by_ten_pages(pages: int, found: bool) -> None:
    assert is_mirror([(text(f"p{n}x", 20), text(f"p{n}x", 20)) for n in range(pages)]) is found


# Patterns


def patterns(**counts: int) -> set[str]:
    made = [f"http://x.org/{word}/{n + 1}" for word, many in counts.items() for n in range(many)]
    return {one.text for one in infer(made, least_share=0.0)}


def test_a_pattern_of_few_addresses_is_an_exception() -> None:
    addresses = [f"http://x.org/post/{n}/" for n in range(1, 184)]
    addresses += [f"http://x.org/a/b/note-{n}.html" for n in range(1, 6)]  # 2.5 %
    addresses += [f"http://x.org/x/y/z/list{n}" for n in range(1, 10)]  # 4.5 %
    found = " ".join(one.text for one in infer(addresses))
    assert ("/post/" in found, "note" in found, "list" in found) == (True, False, True)


def test_a_word_is_of_the_pattern_when_it_is_frequent() -> None:
    found = patterns(
        blog=60, wiki=12, **{f"name{n}x": 5 for n in "abc"}, **{f"own{n}": 1 for n in "abcdefgh"}
    )
    assert "/wiki/{number}" in found
    assert not any("namea" in one for one in found)


@pytest.mark.parametrize(("words", "apart"), [(6, True), (11, False)])
def test_many_words_at_one_place_are_names(words: int, apart: bool) -> None:
    found = patterns(**{f"{letter}ord": 20 for letter in "abcdefghijk"[:words]})
    assert ("/aord/{number}" in found) is apart


# Numbers


def test_how_many_misses_in_a_row_are_the_end() -> None:
    assert Range(1, 10).patience() == 20
    assert Range(1, 10, recent=[n % 10 < 3 for n in range(500)]).patience() == 29  # seven holes of ten


def test_what_is_remembered_of_the_numbers() -> None:
    numbers = Range(1, 2_000)
    for n in range(1, 1_200):
        numbers.tell(n, n % 2 == 0)
    assert (len(numbers.recent), len(numbers.gaps)) == (500, 50)


def test_seven_leaps_of_four_numbers() -> None:
    numbers = Range(1, 5)
    leaps = set()
    while not numbers.done:
        for n in numbers.ask(50):
            numbers.tell(n, n <= 5)
            if numbers.probes:
                leaps.add(tuple(numbers.probes))
    assert (len(leaps), max(map(len, leaps))) == (7, 4)


# What changed


def test_six_pages_teach_what_noise_is() -> None:
    noise = Noise()
    pages = [(text(f"a{n}x", 20), text(f"b{n}x", 20)) for n in range(9)]
    assert [noise.is_change(*page) for page in pages] == [True] * 6 + [False] * 3


@pytest.mark.parametrize(("words", "change"), [(3, False), (6, True)])
def test_a_few_words_are_no_change(words: int, change: bool) -> None:
    assert Noise().is_change(text("a", words), text("b", words)) is change


# What is not there


@pytest.mark.parametrize(("blocks", "missing"), [({1}, False), ({1, 2}, True)])
def test_half_of_the_blocks_say_that_nothing_is_there(blocks: set[int], missing: bool) -> None:
    assert Signal(probes=[frozenset({1, 2, 3, 4})]).says_missing(blocks) is missing


def test_six_normal_pages_are_compared_with() -> None:
    signal = Signal()
    for page in range(20):
        signal.add_normal({page})
    assert signal.normal == set(range(6))


@pytest.mark.parametrize(("words", "found"), [(20, True), (45, False)])
def test_only_a_short_text_says_that_there_is_nothing(words: int, found: bool) -> None:
    assert says_so("Error 404", text("word", words)) is found


@pytest.mark.parametrize(("words", "found"), [(60, True), (120, False)])
def test_only_a_page_of_few_words_is_a_door(words: int, found: bool) -> None:
    assert is_login_wall("Please log in", text("word", words), password=True) is found


@pytest.mark.parametrize(("letters", "found"), [(20, True), (400, False)])
def test_a_long_article_without_blanks_is_neither(letters: int, found: bool) -> None:
    article = "没有空格的文章。" * (letters // 7)
    assert says_so("Error 404", article) is found
    assert is_login_wall("Please log in", article, password=True) is found


# Traps and variants


def test_paths_and_queries_of_documents_may_be_long() -> None:
    assert odd_shape("http://x.org/" + "/".join("abcdefghi")) == ""
    assert odd_shape("http://x.org/?" + "&".join(f"p{n}=1" for n in range(5))) == ""


@pytest.mark.parametrize(
    ("fetched", "good", "spent"), [(15, 0, False), (30, 0, True), (100, 4, True), (100, 7, False)]
)
def test_the_budget_of_a_shape(fetched: int, good: int, spent: bool) -> None:
    budget = Budget()
    for n in range(fetched):
        budget.tell("/0", good=n < good)
    assert budget.spent("/0") is spent


def test_one_place_does_not_prove_that_a_parameter_means_nothing() -> None:
    variants = Variants()
    for session in ("x1", "x2", "x3", "x4"):
        variants.tell(f"http://x.org/a?id=7&sid={session}", 1)
    assert not variants.void
