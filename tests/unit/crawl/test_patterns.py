"""Patterns of addresses, one by one."""

from __future__ import annotations

import pytest

from doublet.crawl.patterns import Pattern, fits, infer, infer_wanted, read_pattern

HOST = "https://x.org"


def texts(*targets: str) -> list[str]:
    return [pattern.text for pattern in infer(HOST + target for target in targets)]


@pytest.mark.covers("L2")
def test_it_works() -> None:
    (one,) = infer(f"{HOST}/post/{number}/" for number in (452584, 452590, 17))
    assert (one.text, one.low, one.high, one.walkable) == ("/post/{number}/", 17, 452590, True)
    assert one.matches(f"{HOST}/post/9/") and not one.matches(f"{HOST}/post/9/comments/")
    assert one.make(5) == "/post/5/" and one.number_of(f"{HOST}/post/12/") == 12
    assert Pattern.from_dict(one.to_dict()) == one


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        (["/item.asp?id=27224423", "/item.asp?id=5"], ["/item.asp?id={number}"]),
        (["/doc/000123.html", "/doc/004567.html"], ["/doc/{number:6}.html"]),
        (
            ["/2024/05/snow-falls", "/2023/11/rain-comes", "/2021/1/sun-is-out"],
            ["/{year}/{month}/{hyphened}"],
        ),
        (["/article/n/a-b", "/article/n/c-d", "/article/n/e-f"], ["/article/n/{hyphened}"]),
        (["/t/alpha-12", "/t/beta-77", "/t/gamma-3"], ["/t/{slug}-{number}"]),
        (["/page1.html", "/page2.html"], ["/page{number}.html"]),
        (["/v?b=2&a=1", "/v?a=9&b=3"], ["/v?a={number}&b={number}"]),
        (["/", "/about"], []),
        ([], []),
    ],
)
def test_kinds_of_addresses(targets: list[str], expected: list[str]) -> None:
    assert texts(*targets) == expected


@pytest.mark.covers("L2")
def test_two_schemes_are_two_patterns() -> None:
    assert set(texts("/read/1", "/read/2", "/read.php?id=3", "/read.php?id=4")) == {
        "/read/{number}",
        "/read.php?id={number}",
    }


def test_views_are_told_from_documents() -> None:
    found = infer([f"{HOST}/post/{n}/" for n in range(9)] + [f"{HOST}/post/{n}/comments/" for n in range(5)])
    assert [(one.text, one.view_of) for one in found] == [
        ("/post/{number}/", ""),
        ("/post/{number}/comments/", "/post/{number}/"),
    ]


@pytest.mark.covers("L1")
def test_a_single_example_is_enough() -> None:
    assert [p.text for p in infer_wanted([], examples=[f"{HOST}/post/77/"])] == ["/post/{number}/"]
    assert [p.text for p in infer_wanted([], examples=[f"{HOST}/texts/snow"])] == ["/texts/{slug}"]
    links = [f"{HOST}/post/{n}/" for n in range(20)] + [f"{HOST}/user/{n}/" for n in range(20)]
    assert [p.text for p in infer_wanted(links, examples=[f"{HOST}/post/77/"])] == ["/post/{number}/"]


@pytest.mark.covers("L1")
def test_clarifications_fit_however_letters_are_written() -> None:
    assert fits("http://x.ru/%D0%BA%D0%BD%D0%B8%D0%B3%D0%B0/1", "Книга")
    assert fits("http://x.ru/POST/1", "post") and not fits("http://x.ru/news/1", "post")


def test_patterns_that_users_write() -> None:
    assert read_pattern("https://x.org/a/{number:4}").make(7) == "/a/0007"
    assert read_pattern("/a/{number:1-3}").matches(f"{HOST}/a/123")
    assert not read_pattern("/a/{number:1-3}").matches(f"{HOST}/a/1234")
    for wrong in ("a/{number}", "/a/{nummer}", "/a/b"):
        with pytest.raises(ValueError):
            read_pattern(wrong)
