"""Near copies of news: agencies that print each other, crawled into one library, and told apart from their own news."""

from __future__ import annotations

import pathlib
import random

import pytest

from doublet.crawl.politeness import PoliteFetcher
from doublet.jobs.crawl import Wish, crawl_library
from doublet.jobs.library_duplicates import library_duplicates
from doublet.store.database import Store
from library_simulator import WORDS, Library, Site

STORIES = 24


class Agency(Library):
    """Every third story is taken from the other agency: a new first sentence, and one word in fifty changed."""

    own: str = ""

    def text(self, number: int) -> str:
        taken = number % 3 == 0
        story = Library.text(self, number) if not taken else make_story(number)
        if not taken:
            return f"{self.own} reports. {story}"
        draw = random.Random(f"{self.own} {number}")
        words = [draw.choice(WORDS) if draw.random() < 0.02 else word for word in story.split()]
        return f"{self.own} has learned what happened on day {draw.randrange(999)}. {' '.join(words)}."


def make_story(number: int) -> str:
    draw = random.Random(f"story {number}")
    return " ".join(draw.choice(WORDS) + str(draw.randrange(900)) for _ in range(150))


def agency(name: str, seed: int) -> Agency:
    made = Agency(STORIES, seed=seed, frame=f"The {name} News")
    made.own = name
    return made


@pytest.mark.covers("R9", "L8")
def test_near_copies_of_news_are_one_group(tmp_path: pathlib.Path) -> None:
    with (
        Site(agency("Northern", 1)) as north,
        Site(agency("Southern", 2), "127.0.0.3") as south,
        Store(str(tmp_path / "l.db")) as store,
        PoliteFetcher(delay_s=0, allow_private=True) as fetcher,
    ):
        store.libraries.create("news")
        for site in (north, south):
            crawl_library(store, "news", site.url, fetcher=fetcher, wish=Wish(only=["post"]))
        assert store.libraries.get("news").documents == 2 * STORIES, (
            "near copies are stored: one can be looked up"
        )
        found = library_duplicates(store, ["news"], threshold=0.5)
        groups = {frozenset((group.keep, *(member.id for member in group.members))) for group in found.groups}
        shared = range(3, STORIES + 1, 3)
        assert groups == {
            frozenset(f"{site.url}/post/{number}/" for site in (north, south)) for number in shared
        }
