"""robots.txt: the rules of RFC 9309, and the cases that the makers of a large search engine test theirs with."""

from __future__ import annotations

import json
import lzma
import pathlib
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.crawl.robots import ALLOW_ALL, ALLOW_NOTHING, LIMIT_BYTES, Rule, comparable, parse

AGENT = "doublet"

# Where the expected answers of that suite are not those of RFC 9309 (2.2.2, with its table of examples): octets are
# compared after letters beyond ASCII were encoded and escapes of letters undone. Addresses reach us encoded anyway.
BY_THE_RULE = {
    ("/foo/bar/ツ", "http://foo.bar/foo/bar/ツ"),
    ("/foo/bar/%E3%83%84", "http://foo.bar/foo/bar/ツ"),
    ("/foo/bar/%62%61%7A", "http://foo.bar/foo/bar/baz"),
}


def path_of(url: str) -> str:
    return re.sub(r"^(?:[a-z]+:)?//[^/?;#]*", "", url)


@pytest.mark.covers("R1")
def test_it_works() -> None:
    rules = parse("User-agent: *\nDisallow: /private/\nAllow: /private/open\nCrawl-delay: 2.5\n", AGENT)
    assert rules.allows("/")
    assert not rules.allows("/private/x?y=1")
    assert rules.allows("/private/open.html")
    assert rules.crawl_delay_s == 2.5


@pytest.mark.shared
@pytest.mark.covers("R1")
def test_cases_of_the_reference_parser(shared: pathlib.Path) -> None:
    lines = (shared / "data/robots-url-suites/google_robots_cases.jsonl").read_text("utf-8").splitlines()
    wrong, refused = [], 0
    for case in map(json.loads, lines):
        got = parse(case["robots_txt"], case["user_agent"]).allows(path_of(case["url"]))
        if any(rule in case["robots_txt"] and case["url"] == url for rule, url in BY_THE_RULE):
            assert got is not case["allowed"], f"no longer another answer: {case}"
            refused += 1
        elif got is not case["allowed"]:
            wrong.append(case)
    assert not wrong
    assert (len(lines), refused) == (142, 3)


@pytest.mark.shared
def test_real_files_are_read_quickly(shared: pathlib.Path) -> None:
    with lzma.open(
        shared / "data/robots-url-suites/real_robots_txt_sample.jsonl.xz", "rt", encoding="utf-8"
    ) as file:
        bodies = [json.loads(line)["robots_txt"] for line in file]
    assert len(bodies) == 408
    before = time.process_time()
    some = [rules for body in bodies if (rules := parse(body, AGENT)).rules]
    assert len(some) > 300
    for rules in some:
        rules.allows("/some/page/of/a/site.html?a=1&b=2")
    assert time.process_time() - before < 10


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("", "/x", True),
        ("User-agent: other\nDisallow: /", "/x", True),
        ("User-agent: doublet\nUser-agent: other\nDisallow: /", "/x", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: doublet\nDisallow:", "/x", True),  # its own group only
        ("User-agent: doublet/1.0\nDisallow: /a\n\nUser-agent: DOUBLET\nDisallow: /b", "/b", False),  # merged
        ("User-agent: doublet-news\nDisallow: /", "/x", True),  # another robot
        ("Disallow: /", "/x", True),  # before any group
        ("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf?x", True),
        ("User-agent: *\nDisallow: /a*b*c", "/aXbXc/more", False),
        ("User-agent: *\nDisallow: /a*a$", "/a", True),  # the two letters are two
        ("User-agent: *\nDisallow: *", "/anything", False),
        ("User-agent: *\nDisallow: /x\nAllow: /x", "/x", True),  # as long: allowed
        ("User-agent: *\nDisallow: /каталог/", "/%D0%BA%D0%B0%D1%82%D0%B0%D0%BB%D0%BE%D0%B3/1", False),
        ("User-agent: *\nDisallow: /%ea", "/%EA%E0", False),  # windows-1251, as it is
        ("\ufeffUser-agent: *\rDisallow: /x", "/x", False),
        ("User-agent: * # all\nDisallow: /x # this", "/x", False),
        ("User-agent: *\nUnknown: y\nDisallow: /x", "/x", False),
    ],
)
@pytest.mark.covers("R1")
def test_rules(text: str, path: str, allowed: bool) -> None:
    assert parse(text, AGENT).allows(path) is allowed


def test_delay_of_the_group_that_counts() -> None:
    text = "User-agent: *\nCrawl-delay: 9\n\nUser-agent: doublet\nCrawl-delay: 3\nDisallow: /x"
    assert parse(text, AGENT).crawl_delay_s == 3
    assert parse(text, "another").crawl_delay_s == 9
    for broken in ("soon", "-1", "inf", "nan", ""):
        assert parse(f"User-agent: *\nCrawl-delay: {broken}", AGENT).crawl_delay_s is None


def test_sitemaps_are_for_everybody() -> None:
    found = parse("Sitemap: https://x/a.xml\nUser-agent: other\nDisallow: /\nsitemap: https://x/b.xml", AGENT)
    assert found.sitemaps == ("https://x/a.xml", "https://x/b.xml")


def test_only_so_much_is_read() -> None:
    lead = b"User-agent: *\nDisallow: /early\n" + b"# filler\n" * 60_000
    assert len(lead) > LIMIT_BYTES
    rules = parse(lead + b"Disallow: /late\n", AGENT)
    assert not rules.allows("/early")
    assert rules.allows("/late")


def test_everything_and_nothing() -> None:
    assert ALLOW_ALL.allows("/x")
    assert not ALLOW_NOTHING.allows("/x")
    assert not ALLOW_NOTHING.allows("")


def test_patterns_with_many_stars_take_no_time() -> None:
    before = time.process_time()
    assert not Rule(False, "/" + "a*" * 200 + "b").matches("/" + "a" * 20_000)
    assert time.process_time() - before < 1


@given(st.binary(max_size=300))
def test_nothing_makes_it_fall_over(body: bytes) -> None:
    parse(b"User-agent: *\n" + body, AGENT).allows("/x")


@given(st.text(max_size=50))
def test_comparable_twice_is_comparable_once(path: str) -> None:
    clean = path.encode("utf-8", "replace").decode()
    once = comparable(clean)
    assert once.isascii()
    if "%25" not in once:
        assert comparable(once) == once
