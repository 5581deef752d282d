"""What is told before the work begins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from doublet.cli.costs import Costs, taste_costs
from doublet.cli.estimate import BYTES_PER_DOCUMENT, estimate
from doublet.signatures import METHODS
from doublet.sources.open import open_source


def collection(folder: Path, rows: list[tuple[str, str]]) -> str:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in rows), encoding="utf-8")
    return str(path)


def test_it_works(tmp_path: Path) -> None:
    name = collection(tmp_path, [(str(i), f"some words of number {i} " * 30) for i in range(5_000)])
    with open_source([name]) as source:
        expected = estimate(source)
    assert 4_500 < expected.documents < 5_500
    assert expected.seconds < 60


def test_no_documents(tmp_path: Path) -> None:
    with open_source([collection(tmp_path, [])]) as source:
        assert estimate(source).documents == 0


@pytest.mark.parametrize("limit", [1 << 30, 1 << 20])
def test_a_small_record_before_a_very_long_one(limit: int, tmp_path: Path) -> None:
    """The long one counts too, even when it is too large to be read."""
    name = collection(
        tmp_path, [("a", "a few words"), ("b", "many more words " * 400_000), ("c", "few words")]
    )
    with open_source([name], max_record_bytes=limit) as source:
        expected = estimate(source)
    assert expected.documents <= 5
    assert expected.seconds < 60


def test_what_cannot_be_moved_to_disk_is_told_even_above_the_limit(tmp_path: Path) -> None:
    name = collection(tmp_path, [(str(i), "") for i in range(20_000)])
    with open_source([name]) as source:
        expected = estimate(source, memory_bytes=1_000_000)
    assert expected.memory_bytes > expected.documents * BYTES_PER_DOCUMENT


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_an_estimate(method: str, tmp_path: Path) -> None:
    rows = [(str(i), f"Some words, number {i} of {i * i} and of {i % 7}. " * 12) for i in range(2_000)]
    with open_source([collection(tmp_path, rows)]) as source:
        expected = estimate(source, method=method)
        limited = estimate(source, method=method, memory_bytes=60_000_000)
    assert 0 < expected.seconds < 120
    assert 50_000_000 < expected.memory_bytes < 500_000_000
    assert limited.memory_bytes <= 60_000_000


def test_more_text_costs_more() -> None:
    texts = [f"Some words, number {i} of {i * i} and of {i % 7}. " * 12 for i in range(200)]
    for method in ("shingles", "auto", "tfidf", "smallest"):
        costs = taste_costs(texts, method, {}, 10_000)
        assert costs.work_s(2e6, 2_000) > costs.work_s(1e6, 1_000) > 0
        assert costs.memory_bytes(2e6, 2_000, 1) > costs.memory_bytes(1e6, 1_000, 1) > 0


def test_nothing_to_taste() -> None:
    assert taste_costs([], "tfidf", {}, 0) == Costs()
    assert taste_costs(["", ""], "pivot", {}, 2) == Costs()


@pytest.mark.parametrize("method", METHODS)
def test_texts_without_words(method: str) -> None:
    assert taste_costs(["— … !", "—"], method, {}, 2).memory_bytes(100, 2, 1) >= 0


def test_time_left_is_that_of_the_whole_work_and_moves() -> None:
    from doublet.cli.progress import time_left

    assert time_left(2.0, 10.0, None) == 8.0
    assert time_left(3.0, 10.0, 1.5) == 7.0  # this stage is nearly over, the work is not
    assert time_left(9.0, 10.0, 4.0) == 4.0  # the stage takes longer than was expected
    assert time_left(12.0, 10.0, None) is None  # nobody knows
    assert time_left(12.0, None, 3.0) == 3.0


def test_the_walk_for_statistics_tells_how_far_it_is(tmp_path: Path) -> None:
    from doublet.jobs.dedupe import dedupe_inputs
    from doublet.progress import Event, Progress
    from doublet.sources.open import open_source

    path = tmp_path / "c.jsonl"
    lines = (json.dumps({"id": i, "text": f"word{i} other{i % 7} of these"}) for i in range(50))
    path.write_text("\n".join(lines), "utf-8")
    seen: list[Event] = []
    with open_source([str(path)]) as source:
        dedupe_inputs(source, method="tfridf", progress=Progress(seen.append))
    first = seen[0]
    assert (first.stage, first.done, first.total) == ("counting", path.stat().st_size, path.stat().st_size)
