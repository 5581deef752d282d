"""A site is looked at without a network: a dictionary shows its pages, and the survey decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from doublet.crawl.keys import page_key
from doublet.crawl.patterns import read_pattern
from doublet.crawl.plan import Plan
from doublet.crawl.survey import Seen, Survey
from doublet.errors import FetchFailed, InputUnreadable, NotAllowed, SourceError
from doublet.sources.protocol import Answer

ORIGIN = "http://x.org"
FRONT = f"{ORIGIN}/"


def page(words: int = 45, links: Iterable[str] = (), **own: Any) -> dict[str, Any]:
    """What a reader gives of a page."""
    made = {
        "text": "word " * words,
        "title": "",
        "password": False,
        "linked": 0.1,
        "nofollow": False,
        "links": [[ORIGIN + target, False, False] for target in links],
        "blocks": [],
    }
    return made | own


class Site:
    """Shows pages by their targets: what is not there answers 404, what is None does not answer."""

    def __init__(self, pages: Callable[[str], Any], *, status: int = 200) -> None:
        self.seen: dict[str, Seen] = {}
        self.failed: dict[str, SourceError] = {}
        self._pages = pages
        self._status = status

    def get(self, address: str, *, probe: bool = False) -> Seen | None:
        key = page_key(address)
        if key not in self.seen:
            shown = self._pages(address.removeprefix(ORIGIN))
            if shown is None:
                self.failed[key] = FetchFailed("no_answer", address=address)
                return None
            status = self._status if shown else 404
            self.seen[key] = Seen(address, Answer(address, status), shown, probe)
        return self.seen[key]


def decided(pages: dict[str, Any] | Callable[[str], Any], plan: Plan | None = None, **given: Any) -> Plan:
    show = pages if callable(pages) else lambda target: pages.get(target, {})
    survey = Survey(Site(show), plan or Plan(FRONT))
    survey.decide(**given)
    return survey.plan


def posts(many: int, **own: Any) -> dict[str, Any]:
    return {f"/post/{n}": page(**own) for n in range(1, many + 1)}


def with_front(pages: dict[str, Any]) -> dict[str, Any]:
    """A front page with links to all of them."""
    return {"/": page(links=pages), **pages}


@pytest.mark.covers("L2")
def test_it_works() -> None:
    plan = decided(with_front(posts(30)))
    assert [pattern.text for pattern in plan.patterns] == ["/post/{number}"]
    assert (plan.patterns[0].low, plan.patterns[0].high, plan.counted) == (1, 30, [0])
    assert (plan.documents, plan.requests, plan.answers_missing) == (30, 30, True)


def test_documents_without_blanks_between_words_are_not_short() -> None:
    plan = decided(with_front(posts(30, text="没有空格的文章。" * 12)))
    assert [pattern.text for pattern in plan.patterns] == ["/post/{number}"]
    dashes = decided(with_front(posts(30, text="— " * 60 + "one two")))
    assert dashes.patterns == [] and "short" in {why for _, why in dashes.skipped}


# The front page


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [(403, NotAllowed, "crawl_front_refused"), (500, InputUnreadable, "crawl_front_answered")],
)
def test_a_front_page_that_is_refused(status: int, error: type[SourceError], code: str) -> None:
    with pytest.raises(error) as raised:
        Survey(Site(lambda _: page(), status=status), Plan(FRONT))
    assert raised.value.note.code == code


def test_a_front_page_that_does_not_answer_says_why() -> None:
    with pytest.raises(FetchFailed):
        Survey(Site(lambda _: None), Plan(FRONT))


@pytest.mark.parametrize(("links", "refused"), [(7, True), (14, False)])
def test_a_login_wall_has_few_links(links: int, refused: bool) -> None:
    wall = page(5, posts(links), title="Please log in", password=True)
    if not refused:
        assert Survey(Site(lambda _: wall), Plan(FRONT)).site == "x.org"
        return
    with pytest.raises(NotAllowed) as raised:
        Survey(Site(lambda _: wall), Plan(FRONT))
    assert raised.value.note.code == "crawl_front_wall"


# What is a document


@pytest.mark.parametrize(
    ("words", "linked", "why"), [(20, 0.1, "short"), (45, 0.1, ""), (200, 0.5, ""), (200, 0.9, "list")]
)
def test_pages_of_few_words_and_lists_are_no_documents(words: int, linked: float, why: str) -> None:
    plan = decided(with_front(posts(8, words=words, linked=linked)))
    assert [reason for _, reason in plan.skipped] == ([why] if why else [])
    assert len(plan.patterns) == (0 if why else 1)


def test_what_the_user_names_is_not_overruled_by_content() -> None:
    plan = decided(with_front(posts(8, words=20)), Plan(FRONT, only=["post"]))
    assert ([pattern.text for pattern in plan.patterns], plan.skipped) == (["/post/{number}"], [])


@pytest.mark.parametrize(
    ("links", "code"), [([], "crawl_no_links"), (["/about", "/tag/7"], "crawl_nothing_fits")]
)
def test_nothing_fits_what_the_user_names(links: list[str], code: str) -> None:
    with pytest.raises(InputUnreadable) as raised:
        decided({"/": page(links=links)}, Plan(FRONT, only=["post"]))
    assert raised.value.note.code == code


@pytest.mark.parametrize(("documents", "kept"), [(35, 0), (70, 1)])
def test_patterns_that_nobody_named_fit_half_of_the_links(documents: int, kept: int) -> None:
    tags = {f"/tag/x/{n}": page(20) for n in range(1, 101 - documents)}
    assert len(decided(with_front({**posts(documents), **tags})).patterns) == kept


def test_what_the_user_skips_is_not_looked_at() -> None:
    asked: list[str] = []
    pages = with_front({**posts(8), "/admin/1": page()})

    def show(target: str) -> Any:
        asked.append(target)
        return pages.get(target, {})

    decided(show, Plan(FRONT, skip=["admin"]))
    assert "/post/1" in asked and "/admin/1" not in asked


# How much is asked for


def test_five_pages_of_a_pattern_are_judged() -> None:
    articles = {f"/post/on-the-{n}-winds": page() for n in range(120)}  # links enough on the front page
    assert decided(with_front(articles)).looked_at == 1 + 5


def test_six_patterns_are_judged() -> None:
    articles = {f"/{section}ord/on-the-{n}-winds": page() for section in "abcdefgh" for n in range(20)}
    plan = decided(with_front(articles))
    assert (len(plan.patterns), [why for _, why in plan.skipped]) == (6, ["rare", "rare"])


def test_forty_pages_are_looked_at_for_ten_that_fit() -> None:
    """A chain of lists in which a document comes up with every second page, and one in which none does."""

    def chain(target: str) -> dict[str, Any]:
        at = int(target.removeprefix("/list/")) if target.startswith("/list/") else 0
        links = [f"/list/{at + 1}", *([f"/post/{at}"] if at % 2 else [])]
        return page(links=links) if target == "/" or at else {}

    site = Site(chain)
    Survey(site, Plan(FRONT, only=["post"])).decide()
    assert max(int(key.rpartition("/")[2] or 0) for key in site.seen if "list" in key) == 19
    site = Site(lambda target: chain(target) if "post" not in target else {})
    with pytest.raises(InputUnreadable):
        Survey(site, Plan(FRONT, only=["nothing"])).decide()
    assert len(site.seen) == 40


@pytest.mark.parametrize(("there", "tried", "counted"), [(1, 20, [0]), (3, 60, [0]), (60, 60, [])])
def test_a_range_of_holes_is_not_counted_out(there: int, tried: int, counted: list[int]) -> None:
    """One number of so many has a page. Where half of the first twenty have none, sixty are asked for."""

    def show(target: str) -> dict[str, Any]:
        number = target.removeprefix("/p/")
        if not number.isdecimal():
            return page(links=["/p/900"]) if target == "/" else {}
        return page() if int(number) % there == 0 and int(number) <= 900 else {}

    plan = decided(show, patterns=[read_pattern("/p/{number}")])
    assert (plan.holes_tried, plan.counted) == (tried, counted)


def test_three_addresses_that_cannot_exist_are_asked_for_of_each_pattern() -> None:
    wanted = [read_pattern("/p/{number}"), read_pattern("/q/{slug}")]
    plan = decided(with_front({"/p/1": page(), "/p/9": page()}), patterns=wanted)
    assert (plan.probes, plan.answers_missing) == (6, True)


@pytest.mark.covers("R8")
def test_a_site_that_answers_everything_is_learned() -> None:
    """It says 200 to what is not there: the blocks of those answers that no page has are the signal."""
    pages = {target: one | {"blocks": [1, int(target[6:]) + 100]} for target, one in posts(30).items()}
    pages = {"/": page(links=pages, blocks=[1]), **pages}
    survey = Survey(Site(lambda target: pages.get(target, page(5, blocks=[1, 2, 3]))), Plan(FRONT))
    survey.decide()
    assert not survey.plan.answers_missing
    assert survey.signals["0"].blocks == {2, 3}


# Lists


def test_sitemaps_and_feeds_name_documents_of_the_site() -> None:
    survey = Survey(Site(lambda target: with_front(posts(8)).get(target, {})), Plan(FRONT))
    survey.add_listed(f"{ORIGIN}/post/40?utm_source=feed", "2026-01-01")
    survey.add_listed(f"{ORIGIN}/post/40", "2026-02-02")
    survey.add_listed("http://elsewhere.org/post/41", "2026-01-01")
    survey.decide()
    assert survey.listed == {f"{ORIGIN}/post/40": "2026-01-01"}
    assert (survey.plan.listed, survey.plan.patterns[0].high) == (1, 40)
