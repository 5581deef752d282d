"""What a crawl remembers of a site stays small, however many pages, hosts, redirects and parameters the site has."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from typing import Any

import pytest

from doublet.crawl import judge as judge_module
from doublet.crawl import traps, variants
from doublet.crawl.judge import Fetched, Judge
from doublet.crawl.patterns import Pattern
from doublet.crawl.plan import Plan
from doublet.crawl.protocol import PageRow
from doublet.sources.protocol import Answer

SITE = "http://site.example"
WORDS = " ".join(f"word{number}" for number in range(40))


def entries(thing: Any, seen: set[int] | None = None) -> int:
    """How many things a thing holds, all the way down."""
    seen = set() if seen is None else seen
    if id(thing) in seen or isinstance(thing, str | bytes | int | float | type(None)):
        return 0
    seen.add(id(thing))
    if isinstance(thing, Mapping):
        return len(thing) + sum(entries(one, seen) for pair in thing.items() for one in pair)
    if isinstance(thing, list | tuple | set | frozenset):
        return len(thing) + sum(entries(one, seen) for one in thing)
    if dataclasses.is_dataclass(thing):
        return sum(entries(getattr(thing, one.name), seen) for one in dataclasses.fields(thing))
    return sum(entries(one, seen) for one in getattr(thing, "__dict__", {}).values())


def fetched(number: int) -> Fetched:
    """A page unlike any other: its own shape, links to hosts and pages that nothing else leads to."""
    draw = random.Random(number)
    word = "".join(draw.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(12))
    target = f"/{word}/x?{word}=1" if number % 2 else f"/{word}"
    row = PageRow(number, 1, target, 1, 0, 0 if number % 3 else -1, False, None, number)
    if number % 4 == 0:
        return Fetched(row, SITE + target, Answer(SITE + target, 301), redirect=f"{SITE}/to/{word}?{word}=2")
    links = [(f"http://{word}{n}.example/", False, False) for n in range(3)]
    links += [(f"{SITE}/{word}/{n}", n == 1, n == 2) for n in range(4)]
    page = {
        "text": f"{WORDS} {word}",
        "title": word,
        "canonical": "",
        "time": "",
        "noindex": False,
        "nofollow": False,
        "password": False,
        "links": links,
        "blocks": [draw.getrandbits(40) for _ in range(5)],
        "linked": 0.0,
    }
    return Fetched(row, SITE + target, Answer(SITE + target, 200), page=page)


@pytest.mark.covers("R5")
def test_a_judge_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_module, "KNOWN_KEYS", 300)
    monkeypatch.setattr(judge_module, "MOST_ORIGINS", 300)
    monkeypatch.setattr(judge_module, "MOST_TARGETS", 100)
    monkeypatch.setattr(traps, "MOST_SHAPES", 300)
    monkeypatch.setattr(variants, "MOST_PLACES", 300)
    monkeypatch.setattr(variants, "MOST_DIFFERENCES", 100)
    judge = Judge(Plan(f"{SITE}/", patterns=[Pattern("/{slug}"), Pattern("/{slug}/x")]), {})
    sizes = []
    for number in range(1, 4_001):
        one = fetched(number)
        verdict = judge.judge(one, one.address)
        if verdict.document is not None:
            judge.learn(one.address, number % 7)
            judge.learn(f"{SITE}/x?{verdict.document.title}=1", 1)
            judge.learn(f"{SITE}/x?{verdict.document.title}=2", 2)
        if number % 1_000 == 0:
            sizes.append((entries(judge), entries(judge.state())))
    assert judge.budget.fetched  # it did something
    assert max(size for size, _ in sizes[1:]) <= 1.2 * sizes[0][0], sizes
    assert max(size for _, size in sizes[1:]) <= 1.2 * sizes[0][1], sizes


def test_what_is_forgotten_first() -> None:
    """A shape with many pages is a trap or a collection, one with a single page is neither."""
    budget = traps.Budget(first=5)
    for _ in range(10):
        budget.tell("/calendar/0", good=False)
    for number in range(2 * traps.MOST_SHAPES):
        budget.tell(f"/word{number}", good=True)
    assert budget.spent("/calendar/0")
    assert len(budget.fetched) <= traps.MOST_SHAPES
    assert set(budget.good) <= set(budget.fetched)
