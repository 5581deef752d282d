"""Dedupe on a real Spark session against one machine: the same groups and kept documents, number for number.

test_spark_steps.py has the many cases; here are those in which Spark itself sorts and joins, and the stages.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import spark_collections as made
from doublet.errors import UsageError
from doublet.spark.dedupe import dedupe
from spark_sessions import sessions


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from sessions(tmp_path_factory.mktemp("spark"))


@pytest.mark.covers("D1")
def test_it_works(spark: Any, tmp_path: Path) -> None:
    done = made.same(spark, tmp_path, made.mixed(1), cut=(4, 3), method="shingles", threshold=0.5)
    assert done.removed > 50
    assert 0 < done.pairs <= done.candidates


@pytest.mark.covers("D1")
@pytest.mark.parametrize(("method", "keep"), [("shingles", "newest"), ("imatch", "longest")])
def test_pairs_sorted_by_spark(spark: Any, tmp_path: Path, method: str, keep: str) -> None:
    """Too many pairs for one task."""
    rows = made.mixed(31)
    made.same(spark, tmp_path, rows, cut=(3, 2), method=method, threshold=0.6, keep=keep, pairs_at_once=0)


@pytest.mark.covers("D1")
@pytest.mark.parametrize(
    ("method", "keep"), [("shingles", "longest"), ("simhash", "longest"), ("shingles", "first")]
)
def test_crowds(spark: Any, tmp_path: Path, method: str, keep: str) -> None:
    """Near copies by the dozen, and one footer in most texts: fingerprints and keys that very many share."""
    rows = made.crowded(7)
    done = made.same(
        spark, tmp_path, rows, cut=(3, 2), method=method, threshold=0.7, keep=keep, crowd_pairs=40
    )
    assert done.stages["links"]["crowded"] > 0
    assert done.stages["links"]["rounds"] > 0


@pytest.mark.covers("D1")
def test_stages_are_used_again(spark: Any, tmp_path: Path) -> None:
    path = made.write_lines(tmp_path / "a.jsonl", made.mixed(3, 80))
    out = tmp_path / "run"
    options: dict[str, Any] = {"method": "shingles", "threshold": 0.5, "splits": 3, "partitions": 2}
    first = dedupe(spark, [str(path)], str(out), stop_after="pairs", **options)
    assert first.removed == 0
    assert not (out / "groups").exists()
    second = dedupe(spark, [str(path)], str(out), **{**options, "splits": 9, "partitions": 5})
    assert {"signatures", "counts", "pairs"} <= set(second.reused)
    assert made.spark_rows(out) == made.member_rows(
        made.on_one_machine([path], method="shingles", threshold=0.5)
    )
    # A file that is damaged is made again, and what came from it.
    damaged = next((out / "signatures").glob("*.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:-10])
    third = dedupe(spark, [str(path)], str(out), stop_after="signatures", **options)
    assert "signatures" not in third.reused
    fourth = dedupe(spark, [str(path)], str(out), **{**options, "threshold": 0.8})
    assert not fourth.reused
    assert made.spark_rows(out) == made.member_rows(
        made.on_one_machine([path], method="shingles", threshold=0.8)
    )


def test_a_folder_of_others_is_left_alone(spark: Any, tmp_path: Path) -> None:
    path = made.write_lines(tmp_path / "a.jsonl", made.mixed(3, 20))
    out = tmp_path / "mine"
    out.mkdir()
    (out / "letter.txt").write_text("keep me")
    with pytest.raises(UsageError, match="not empty"):
        dedupe(spark, [str(path)], str(out))
    assert (out / "letter.txt").read_text() == "keep me"
