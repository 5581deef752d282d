"""The queue as a table."""

from __future__ import annotations

import types

import pytest

from doublet.model import Note
from doublet.reports.queue_terminal import jobs_table


@pytest.mark.covers("L5")
def test_a_crawl_says_how_it_goes() -> None:
    waits = Note("crawl_waits_asked", host="http://x.example", seconds=720, until="14:05")
    left = Note("time_left", seconds=13)
    figures = Note("crawl_figures", found=376, stored=71, failed=2, rate=23.9, left=left, waits=waits)
    job = types.SimpleNamespace(
        number=1, kind="crawl", library="site", state="running", cancel=False, attempts=1, stage="crawling", done=93,
        total=375, unit="pages", message=figures.code, facts={"note": figures.to_dict()}, ended="", began="2026",
        paused=False
    )  # fmt: skip
    told = "Crawling: 93 of 375 pages, 376 found, 71 stored, 2 failed, 23.9 pages a second, 13 s left"
    waits = "waits 12 min 0 s more, until 14:05, as http://x.example asked"
    assert f"{told}; {waits}" in jobs_table([job])
    job.state, job.paused = "new", True
    assert "paused" in jobs_table([job])
    assert "приостановлено" in jobs_table([job], language="ru")
