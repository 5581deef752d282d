"""Patterns of addresses: how many documents of a site they cover, and how much else."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from crawl_kinds import FRESH, RULED, Kind
from doublet.crawl.patterns import Pattern, infer_wanted
from doublet.crawl.ranges import Range

DRAWS = 5
LINKS = 300  # of a site that are seen before the patterns are made


def measure(
    kinds: Sequence[Callable[[random.Random, int], Kind]],
    choose: Callable[[random.Random, Kind], list[Pattern]],
) -> dict[str, tuple[float, float]]:
    """Precision and recall on documents and other links that were not seen, for each kind."""
    out = {}
    for make in kinds:
        right = wrong = missed = 0
        for number in range(DRAWS):
            draw = random.Random(f"{make.__name__} {number}")
            site = make(draw, 800)
            draw.shuffle(site.documents)
            draw.shuffle(site.others)
            cut = len(site.others) // 2
            seen = Kind(site.documents[:300], site.others[:cut], site.only)
            patterns = choose(draw, seen)
            right += sum(any(p.matches(one) for p in patterns) for one in site.documents[300:])
            missed += sum(not any(p.matches(one) for p in patterns) for one in site.documents[300:])
            wrong += sum(any(p.matches(one) for p in patterns) for one in site.others[cut:])
        out[make.__name__] = (right / max(1, right + wrong), right / (right + missed))
    return out


def mean(found: dict[str, tuple[float, float]]) -> tuple[float, float]:
    return tuple(sum(pair[i] for pair in found.values()) / len(found) for i in (0, 1))  # type: ignore[return-value]


def links_of(draw: random.Random, seen: Kind) -> list[str]:
    links = seen.documents[:200] + seen.others
    draw.shuffle(links)
    return links[:LINKS]


def by_clarification(draw: random.Random, seen: Kind) -> list[Pattern]:
    """All links with the clarification; five pages of each pattern are judged by their content, nine of ten rightly."""
    documents = set(seen.documents)
    links = links_of(draw, seen)
    kept = []
    for pattern in infer_wanted(links, only=[seen.only]):
        if pattern.view_of:
            continue
        own = [link for link in links if pattern.matches(link)]
        votes = [(link in documents) == (draw.random() < 0.9) for link in draw.sample(own, min(5, len(own)))]
        if sum(votes) * 2 > len(votes):
            kept.append(pattern)
    return kept


def by_examples(draw: random.Random, seen: Kind) -> list[Pattern]:
    return infer_wanted(links_of(draw, seen), examples=seen.documents[200:210])


@pytest.mark.covers("L2")
@pytest.mark.parametrize(
    ("kinds", "choose", "precision", "recall"),
    [
        (RULED, by_clarification, 0.99, 0.97),
        (RULED, by_examples, 0.99, 0.97),
        (FRESH, by_clarification, 0.97, 0.95),
        (FRESH, by_examples, 0.97, 0.95),
    ],
    ids=["ruled-clarified", "ruled-examples", "fresh-clarified", "fresh-examples"],
)
def test_patterns(
    kinds: Sequence[Callable[[random.Random, int], Kind]],
    choose: Callable[[random.Random, Kind], list[Pattern]],
    precision: float,
    recall: float,
) -> None:
    found = measure(kinds, choose)
    got = mean(found)
    assert got[0] >= precision, found
    assert got[1] >= recall, found


def walk(numbers: set[int], known: int) -> tuple[set[int], int]:
    """What a range finds when numbers up to *known* are known, and how many requests go above the top."""
    top = max(numbers)
    one = Range(1, known)
    found: set[int] = set()
    above = 0
    asked: set[int] = set()
    while not one.done:
        batch = one.ask(50)
        assert batch, "neither done nor anything to ask"
        for number in batch:
            assert number not in asked or number in one.probes
            asked.add(number)
            above += number > top
            if number in numbers:
                found.add(number)
            one.tell(number, number in numbers)
    return found, above


@pytest.mark.covers("L2")
@pytest.mark.parametrize(
    ("holes", "stretch", "least"), [(0.05, 1, 1), (0.3, 1, 1), (0.7, 1, 1), (0.7, 20, 1), (0.3, 200, 0.99)]
)
def test_the_end_of_a_range_is_found(holes: float, stretch: int, least: float) -> None:
    draw = random.Random(f"{holes} {stretch}")
    shares = []
    for _ in range(5):
        numbers: set[int] = set()
        at = 1
        while at < 8_000:
            size = max(1, round(draw.expovariate(1 / stretch))) if stretch > 1 else 1
            if draw.random() >= holes:
                numbers |= set(range(at, at + size))
            at += size
        known = sorted(numbers)[len(numbers) // 2]  # the upper half is not known
        found, above = walk(numbers, known)
        shares.append(len(found) / len(numbers))
        assert above < 30_000
    assert sum(shares) / len(shares) >= least


@pytest.mark.covers("L2", "L3")
def test_a_range_goes_on_from_its_written_state() -> None:
    numbers = set(range(1, 400)) - set(range(100, 130))
    whole, _ = walk(numbers, 200)
    one = Range(1, 200)
    found = set()
    while not one.done:
        one = Range.from_dict(one.to_dict())
        for number in one.ask(7):
            one.tell(number, number in numbers)
            found |= {number} & numbers
    assert found == whole == numbers
