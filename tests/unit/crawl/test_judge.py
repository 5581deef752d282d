"""What becomes of a page, and which links are worth a request: the rules by themselves, one case each."""

from __future__ import annotations

from typing import Any

import pytest

from doublet.crawl.judge import Fetched, Judge, Verdict
from doublet.crawl.patterns import Pattern, is_front
from doublet.crawl.plan import Plan
from doublet.crawl.protocol import Link, PageRow
from doublet.crawl.soft404 import Signal
from doublet.crawl.survey import Seen
from doublet.crawl.traps import FIRST_BUDGET
from doublet.errors import FetchFailed, NotAllowed, SourceError, TooLarge, TooSlow
from doublet.sources.protocol import Answer

SITE = "http://x.org"
POSTS = [Pattern("/post/{slug}")]


def page(words: int = 40, **own: Any) -> dict[str, Any]:
    """What a reader gives of a page."""
    made = {
        "text": "word " * words,
        "title": "A title",
        "time": "",
        "canonical": "",
        "noindex": False,
        "nofollow": False,
        "password": False,
        "linked": 0.1,
        "links": [],
        "blocks": [],
    }
    return made | own


def judge_of(*patterns: Pattern, state: dict[str, Any] | None = None, **plan: Any) -> Judge:
    return Judge(Plan(f"{SITE}/", patterns=list(patterns or POSTS), **plan), state or {})


def row_of(judge: Judge, target: str, *, depth: int = 1, again: bool = False) -> PageRow:
    return PageRow(7, 1, target, depth, 0, judge.plan.pattern_of(SITE + target), again, None, 7)


def judged(
    judge: Judge, target: str, found: dict[str, Any] | None = None, status: int = 200, **own: Any
) -> Verdict:
    address = SITE + target
    fetched = Fetched(row_of(judge, target), address, Answer(address, status), page=found)
    for name, value in own.items():
        setattr(fetched, name, value)
    return judge.judge(fetched, address)


def end(verdict: Verdict) -> tuple[str, str]:
    return verdict.state, verdict.reason


def keys(links: list[Link]) -> list[str]:
    return [link.key.removeprefix(SITE) for link in links]


def to(*targets: str) -> list[list[Any]]:
    return [[SITE + target, False, False] for target in targets]


def test_it_works() -> None:
    verdict = judged(judge_of(), "/post/a", page(links=to("/post/b", "/about")))
    assert end(verdict) == ("stored", "")
    assert verdict.document is not None and verdict.document.id == f"{SITE}/post/a"
    assert keys(verdict.links) == ["/post/b", "/about"]
    assert [(link.pattern, link.priority, link.depth, link.parent) for link in verdict.links] == [
        (0, 1, 2, 7),
        (-1, 4, 2, 7),
    ]


# What a server answers


@pytest.mark.parametrize(
    ("status", "found"),
    [
        (404, ("missing", "404")),
        (410, ("missing", "410")),
        (403, ("refused", "403")),
        (451, ("refused", "451")),
        (500, ("failed", "500")),
        (204, ("failed", "204")),
    ],
)
def test_statuses(status: int, found: tuple[str, str]) -> None:
    verdict = judged(judge_of(), "/post/a", status=status)
    assert end(verdict) == found
    assert verdict.gone is (found[0] == "missing")


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (NotAllowed("said", robots=True), ("refused", "robots")),
        (NotAllowed("said"), ("refused", "not_allowed")),
        (NotAllowed("said", status=503), ("failed", "robots_503")),
        (TooLarge("said"), ("too_large", "fetch_limit")),
        (TooSlow("said"), ("failed", "too_slow")),
        (FetchFailed("said", status=502), ("failed", "502")),
        (FetchFailed("said"), ("failed", "no_answer")),
    ],
)
def test_no_answer(error: SourceError, found: tuple[str, str]) -> None:
    assert end(judged(judge_of(), "/post/a", error=error)) == found


def test_an_answer_without_a_body_and_one_that_did_not_change() -> None:
    assert end(judged(judge_of(), "/post/a")) == ("failed", "empty")
    address = f"{SITE}/post/a"
    same = judged(judge_of(), "/post/a", answer=Answer(address, 304, unchanged=True))
    assert (same.state, same.unchanged, same.good) == ("stored", True, True)


# Redirects


def test_a_redirect_to_another_document_is_followed() -> None:
    verdict = judged(judge_of(), "/post/a", status=301, redirect=f"{SITE}/post/b")
    assert (end(verdict), keys(verdict.links)) == (("alias", "redirect"), ["/post/b"])


def test_a_document_that_leads_to_the_front_page_is_not_there() -> None:
    assert end(judged(judge_of(), "/post/a", status=302, redirect=f"{SITE}/")) == ("missing", "redirect")
    assert end(judged(judge_of(), "/about", status=302, redirect=f"{SITE}/")) == ("alias", "redirect")


def test_where_three_documents_lead_is_where_the_site_sends_what_is_not_there() -> None:
    judge = judge_of()
    ends = [judged(judge, f"/post/{one}", status=302, redirect=f"{SITE}/sorry") for one in "abcd"]
    assert [one.state for one in ends] == ["alias", "alias", "missing", "missing"]


def test_a_redirect_that_leaves_the_site() -> None:
    verdict = judged(judge_of(), "/post/a", status=301, redirect="http://elsewhere.org/post/a")
    assert (end(verdict), verdict.links) == (("alias", "leaves_the_site"), [])
    below = judged(judge_of(subdomains=True), "/post/a", status=301, redirect="http://blog.x.org/post/a")
    assert end(below) == ("alias", "redirect")


# What a page says


@pytest.mark.parametrize(
    ("own", "found"),
    [
        ({"noindex": True}, ("refused", "noindex")),
        ({"error": "encrypted"}, ("unreadable", "encrypted")),
        ({"error": "nothing_read"}, ("unreadable", "nothing_read")),
        ({"error": "oversized"}, ("too_large", "oversized")),
        ({"words": 9}, ("too_short", "")),
        ({"words": 10}, ("stored", "")),
        ({"words": 12, "title": "Error 404: page not found"}, ("soft_404", "says_so")),
        ({"title": "Please log in", "password": True}, ("wall", "login")),
        ({"canonical": f"{SITE}/post/b"}, ("alias", "canonical")),
        ({"canonical": f"{SITE}/post/a"}, ("stored", "")),
        ({"canonical": f"{SITE}/"}, ("stored", "")),  # some sites name it on every page
        ({"canonical": "http://elsewhere.org/post/a"}, ("stored", "")),
        ({"canonical": f"{SITE}/about"}, ("stored", "")),
    ],
)
def test_pages_of_documents(own: dict[str, Any], found: tuple[str, str]) -> None:
    verdict = judged(judge_of(), "/post/a", page(**own))
    assert end(verdict) == found
    assert (verdict.document is not None) is (found[0] == "stored")


def test_a_page_that_is_no_document_is_walked_for_its_links() -> None:
    verdict = judged(judge_of(), "/about", page(links=to("/post/a")))
    assert (end(verdict), keys(verdict.links), verdict.good) == (("walked", ""), ["/post/a"], True)
    assert not judged(judge_of(), "/about", page(links=to("/contact"))).good


@pytest.mark.parametrize(
    ("target", "linked", "state"), [("/a", 0.5, "stored"), ("/a", 0.9, "walked"), ("/", 0.1, "walked")]
)
def test_without_patterns_every_page_that_is_no_list_is_a_document(
    target: str, linked: float, state: str
) -> None:
    judge = Judge(Plan(f"{SITE}/"), {})
    assert judged(judge, target, page(linked=linked)).state == state


@pytest.mark.covers("R8")
def test_a_page_like_the_answers_to_probes_is_not_there() -> None:
    signal = Signal([frozenset({1, 2, 3})], {1}, honest=False)
    judge = judge_of(state={"signals": {"0": signal.to_dict()}})
    assert end(judged(judge, "/post/a", page(blocks=[1, 2, 9]))) == ("soft_404", "like_a_probe")
    assert end(judged(judge, "/post/b", page(blocks=[1, 8, 9]))) == ("stored", "")
    assert judge.signals["0"].normal == {1, 8, 9}  # the document has taught what is normal


# Links


def test_links_that_are_not_worth_a_request_are_counted_by_reason() -> None:
    judge = judge_of(
        Pattern("/post/{slug}"), skip=["private"], skipped=[(Pattern("/post/{slug}/print"), "view")]
    )
    links = to("/post/b/print", "/private/x", "/logo.png", "/a/b/a/b/a/b")
    links += [[f"{SITE}/ad", True, False], [f"{SITE}/bait", False, True], [f"{SITE}/post/c", False, True]]
    links += [["http://elsewhere.org/post/a", False, False]]
    assert keys(judged(judge, "/post/a", page(links=links)).links) == ["/post/c"]
    assert {why: entry[0] for why, entry in judge.dropped.items()} == dict.fromkeys(
        ("view", "skipped", "not_text", "repeats_itself", "nofollow", "hidden"), 1
    )
    assert judged(judge_of(), "/post/a", page(links=to("/post/b"), nofollow=True)).links == []


@pytest.mark.parametrize(("depth", "followed"), [(7_000, True), (14_000, False)])
def test_a_link_without_end_is_too_far(depth: int, followed: bool) -> None:
    judge = judge_of()
    assert bool(judge.seed([f"{SITE}/post/a"], depth)) is followed
    assert ("too_far" in judge.dropped) is not followed


def test_three_links_of_each_reason_are_kept_as_examples() -> None:
    judge = judge_of()
    judged(judge, "/post/a", page(links=to(*(f"/{n}.png" for n in range(9)))))
    assert judge.dropped == {"not_text": [9, *(f"{SITE}/{n}.png" for n in range(3))]}


def test_a_link_is_given_once() -> None:
    judge = judge_of()
    assert keys(judged(judge, "/post/a", page(links=to("/post/b"))).links) == ["/post/b"]
    assert judged(judge, "/post/c", page(links=to("/post/b?utm_source=c"))).links == []


def test_seeds_are_of_the_site() -> None:
    assert keys(judge_of().seed([f"{SITE}/", f"{SITE}/post/a", "http://elsewhere.org/post/a"])) == [
        "/",
        "/post/a",
    ]


def test_addresses_of_a_page_that_was_fetched_while_looking() -> None:
    judge = judge_of()
    moved = Seen(f"{SITE}/old", Answer(f"{SITE}/post/a", 200))
    assert keys(judge.addresses_of(moved)) == ["/old", "/post/a"]
    assert judge.addresses_of(Seen(f"{SITE}/x", Answer(f"{SITE}/x", 200), probe=True)) == []
    feed = Answer(f"{SITE}/feed", 200, {"content-type": "application/rss+xml"})
    assert judge.addresses_of(Seen(f"{SITE}/feed", feed)) == []


# Numbers


def test_numbers_are_counted_out_and_holes_are_told() -> None:
    judge = judge_of(Pattern("/p/{number}", low=1, high=3), counted=[0], numbers=(1, 3))
    assert [(number, link.target) for number, link in judge.count_out(SITE, 9)] == [
        (1, "/p/1"),
        (2, "/p/2"),
        (3, "/p/3"),
    ]
    judged(judge, "/p/1", page(links=to("/p/3", "/p/4", "/about")))
    assert not judge.follows and judge.dropped == {}  # whatever is there is counted out
    judged(judge, "/p/2", status=404)
    assert not judge.counted_out
    judge.already(0, 3, "stored")
    assert judge.counted_out
    assert (judge.ranges[0].hits, judge.ranges[0].misses) == (2, 1)


# Traps


@pytest.mark.covers("R5")
def test_a_shape_that_brings_nothing_is_given_up() -> None:
    judge = judge_of()
    waiting = row_of(judge, "/calendar/9999")
    for number in range(FIRST_BUDGET):
        assert not judge.spent(waiting)
        judged(judge, f"/calendar/{number}", page())
    assert judge.spent(waiting) and judge.ran_out
    assert not judge.spent(row_of(judge, "/calendar/9999", depth=0))
    assert not judge.spent(row_of(judge, "/calendar/9999", again=True))


@pytest.mark.covers("R5")
def test_a_site_without_an_end() -> None:
    judge = judge_of(state={"barren": 499})
    assert not judge.endless
    judged(judge, "/about", page())
    assert judge.endless and not judge.follows
    assert keys(judged(judge, "/post/a", page(links=to("/post/b", "/more"))).links) == ["/post/b"]
    assert judge.barren == 0  # a document has come


# What is remembered


def test_a_judge_goes_on_from_its_state() -> None:
    judge = judge_of(Pattern("/post/{slug}"), Pattern("/p/{number}", low=1, high=3), counted=[1])
    judged(judge, "/post/a", page(links=to("/logo.png", "/about")))
    judged(judge, "/p/1", page())
    state = judge.state()
    assert Judge(Plan.from_dict(state["plan"]), state).state() == state


@pytest.mark.parametrize(
    ("address", "front"),
    [
        (SITE, True),
        (f"{SITE}/", True),
        (f"{SITE}/?", True),
        (f"{SITE}/#top", True),
        (f"{SITE}/?page=2", False),
        (f"{SITE}/index.html", False),
    ],
)
def test_front_pages(address: str, front: bool) -> None:
    assert is_front(address) is front
