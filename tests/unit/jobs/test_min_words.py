"""A text is too short for a library at every door or at none: as a file and as a crawled page."""

from __future__ import annotations

from pathlib import Path

import pytest

import doublet
from doublet.crawl.judge import Fetched, Judge
from doublet.crawl.plan import Plan
from doublet.crawl.protocol import PageRow
from doublet.jobs.add_source import Filled, Filling
from doublet.jobs.fill_sources import fill_sources
from doublet.sources.protocol import Answer
from doublet.sources.whole_page import read_whole_page

ADDRESS = "http://x.org/post"
TEXTS = {
    "ten words": ("one two three four five six seven eight nine ten", True),
    "nine words": ("one two three four five six seven eight nine", False),
    "two words and many dashes": ("— " * 60 + "one two", False),
    "words without blanks": ("one,two,three,four,five,six,seven,eight,nine,ten", True),
    "Chinese": ("这是一篇没有空格的中文文章需要足够长才能保存", True),
    "little Chinese": ("这是一篇短文章", False),
    "Thai": ("ภาษาไทยเขียนติดกันโดยไม่มีช่องว่างระหว่างคำ", True),
    "Hindi": ("हिन्दी भाषा में लिखा हुआ छोटा पाठ", False),
    "no words": ("* * * * * * * * * * * *", False),
}


def crawled(text: str) -> bool:
    judge = Judge(Plan("http://x.org/"), {}, min_words=10)
    headers = {"content-type": "text/plain; charset=utf-8"}
    page = read_whole_page(text.encode(), address=ADDRESS, headers=headers)
    row = PageRow(7, 1, "/post", 1, 0, -1, False, None, 7)
    fetched = Fetched(row, ADDRESS, Answer(ADDRESS, 200, headers, text.encode()), page=page)
    verdict = judge.judge(fetched, ADDRESS)
    assert verdict.state in ("stored", "too_short")
    return verdict.state == "stored"


def added(text: str, folder: Path) -> bool:
    (folder / "texts").mkdir()
    (folder / "texts" / "text.txt").write_text(text, "utf-8")
    with doublet.open_library(folder / "library.db") as library:
        (filled,) = fill_sources(
            library.store, library.name, [folder / "texts"], filling=Filling(min_words=10)
        )
    assert isinstance(filled, Filled)
    assert set(filled.counts) <= {"stored", "too_short", "empty"}
    return filled.stored == 1


@pytest.mark.parametrize(("text", "kept"), TEXTS.values(), ids=TEXTS.keys())
def test_every_door_counts_the_same_words(text: str, kept: bool, tmp_path: Path) -> None:
    assert (added(text, tmp_path), crawled(text)) == (kept, kept)
