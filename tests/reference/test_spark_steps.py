"""The steps of dedupe on Spark against one machine: methods, seeds, rules and ways to cut the work; without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import spark_collections as made
import spark_here
import webhdfs_server
from doublet.signatures import METHODS
from doublet.spark.dedupe import dedupe


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Any:
    return spark_here.session(monkeypatch, seed=len(request.node.name))


CUTS = ((1, 1), (3, 2), (7, 5), (2, 9))


@pytest.mark.covers("D1")
@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method(steps: Any, tmp_path: Path, method: str) -> None:
    number = sorted(METHODS).index(method)
    options: dict[str, Any] = {"reworded": "off"} if method == "auto" else {}
    for seed, cut in ((number, CUTS[number % 4]), (number + 41, CUTS[(number + 1) % 4])):
        threshold = 0.4 + 0.1 * (seed % 5)
        made.same(
            steps,
            tmp_path / str(seed),
            made.mixed(seed, 150),
            cut=cut,
            method=method,
            threshold=threshold,
            **options,
        )


@pytest.mark.covers("D1")
@pytest.mark.parametrize("keep", ["longest", "first", "newest", "best-source"])
@pytest.mark.parametrize("method", ["shingles", "simhash", "minhash"])
def test_every_rule_of_keepers(steps: Any, tmp_path: Path, keep: str, method: str) -> None:
    prefer = {"prefer": ["three", "one"]} if keep == "best-source" else {}
    for seed in (30, 31):  # ids that are numbers, and others
        folder = tmp_path / str(seed)
        made.same(
            steps, folder, made.mixed(seed), cut=(3, 4), method=method, threshold=0.6, keep=keep, **prefer
        )


@pytest.mark.covers("D1")
@pytest.mark.parametrize("containment", [None, 0.3, 1.0])
@pytest.mark.parametrize("threshold", [0.05, 0.95, 1.0])
def test_any_threshold(steps: Any, tmp_path: Path, threshold: float, containment: float | None) -> None:
    rows = made.mixed(51, 120)
    made.same(
        steps, tmp_path, rows, cut=(4, 3), method="shingles", threshold=threshold, containment=containment
    )


@pytest.mark.covers("D1")
def test_chains(steps: Any, tmp_path: Path) -> None:
    """Who stays depends on the one before, a hundred and fifty times."""
    rows = made.chain(5)
    done = made.same(steps, tmp_path, rows, cut=(4, 3), method="shingles", threshold=0.6, containment=None)
    assert done.removed == 75


@pytest.mark.covers("D1")
def test_twenty_thousand_copies_of_one_text_cost_what_one_costs(steps: Any, tmp_path: Path) -> None:
    rows = made.mixed(9, 60)
    rows += [{"id": f"copy{i}", "text": rows[3]["text"].upper()} for i in range(20_000)]
    done = made.same(steps, tmp_path, rows, cut=(4, 3), method="shingles", threshold=0.5)
    assert done.candidates < 1000


@pytest.mark.covers("D1")
def test_a_footer_of_all_documents_leads_nowhere(steps: Any, tmp_path: Path) -> None:
    done = made.same(steps, tmp_path, made.with_footer(4, 2000), cut=(4, 3), method="shingles", threshold=0.6)
    assert done.candidates < 4000


@pytest.mark.covers("D1")
def test_candidates_from_sketches(steps: Any, tmp_path: Path) -> None:
    for seed in (12, 13):
        rows, folder = made.mixed(seed), tmp_path / str(seed)
        made.same(steps, folder, rows, cut=(3, 3), method="shingles", threshold=0.8, candidates="sketches")


@pytest.mark.covers("D1")
@pytest.mark.parametrize("reworded", ["list", "all", "remove"])
@pytest.mark.parametrize("keep", ["longest", "newest"])
def test_reworded_copies(steps: Any, tmp_path: Path, reworded: str, keep: str) -> None:
    """The same related pairs, and with "remove" the same groups."""
    rows = made.reworded(5)
    made.same(steps, tmp_path, rows, cut=(3, 2), method="auto", threshold=0.7, keep=keep, reworded=reworded)
    fields = {"time_field": "date"} if keep == "newest" else {}
    here = made.on_one_machine(
        [tmp_path / "collection.jsonl"], fields, method="auto", threshold=0.7, keep=keep, reworded=reworded
    )
    assert here.related
    names = ("a", "b", "kind", "step", "resemblance", "containment_a", "containment_b", "aligned", "kept")
    there = [tuple(row[name] for name in names) for row in made.table(tmp_path / "run", "related")]
    assert there == [
        (r.a, r.b, r.kind, r.step, r.resemblance, *r.containment, r.aligned, r.kept) for r in here.related
    ]


def test_nothing_but_empty_and_broken(steps: Any, tmp_path: Path) -> None:
    rows = [{"id": "a", "text": ""}, {"id": "b", "text": "…"}]
    made.same(steps, tmp_path, rows, cut=(3, 2), method="shingles", threshold=0.5)


@pytest.mark.covers("D1")
def test_input_and_output_in_hdfs(steps: Any, tmp_path: Path) -> None:
    """By the web protocol of HDFS. Files are read in ranges, and those of a run that was stopped are used again."""
    root = tmp_path / "hdfs"
    (root / "in ä").mkdir(parents=True)
    path = made.write_lines(root / "in ä" / "collection.jsonl", made.mixed(5, 80))
    here = made.on_one_machine([path], method="shingles", threshold=0.5)
    options: dict[str, Any] = {"method": "shingles", "threshold": 0.5, "splits": 4, "partitions": 2}
    with webhdfs_server.serving(root) as (address, asked):
        source, out = f"{address}/in ä", f"{address}/runs/a"
        first = dedupe(steps, [source], out, stop_after="pairs", **options)
        second = dedupe(steps, [source], out, **options)
    assert {"OPEN", "LISTSTATUS", "CREATE", "APPEND", "RENAME", "MKDIRS"} <= set(asked)
    assert not first.reused and {"signatures", "shared", "pairs"} <= set(second.reused)
    assert second.removed > 20
    assert made.spark_rows(root / "runs" / "a") == made.member_rows(here)
    assert made.kept_ids(root / "runs" / "a") == sorted(here.kept)
