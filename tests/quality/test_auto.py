"""Floors of auto on whole documents: in a collection, in a library, on real revisions and on news.

The figures with more than a thousand distractors are in docs/explanation/accuracy.md (benchmarks/meaning.py).
"""

from __future__ import annotations

import importlib.util
import pathlib
import sys
from types import ModuleType

import pytest

from doublet import Document, dedupe
from doublet.evaluation.problem import Problem, make_problem
from doublet.evaluation.sets import bundled
from doublet.jobs.check_library import check_library
from doublet.store.database import Store

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHANGES = ("synonyms-60", "synonyms-40", "deletion-20", "insertion-20")


@pytest.fixture(scope="module", params=["ru", "en"])
def problem(request: pytest.FixtureRequest) -> Problem:
    return make_problem(request.param, bundled(request.param).documents, changes=CHANGES, bases=20)


@pytest.mark.covers("M15", "K7", "E3")
@pytest.mark.parametrize("change", CHANGES)
def test_a_collection_tells_its_reworded_copies(problem: Problem, change: str) -> None:
    """Every copy is linked with its source, nothing else is called reworded, and nothing is taken out for it."""
    queries = [problem.queries[i] for i in problem.of_change(change)]
    rows = [*problem.library, *(query.document for query in queries)]
    plain = dedupe(rows, method="shingles")
    result = dedupe(rows)
    assert result.groups == plain.groups
    assert result.kept == plain.kept
    ids = [document.id for document in problem.library]
    links = {frozenset((one.a, one.b)) for one in result.related or () if one.kind != "shared"}
    links |= {frozenset((group.keep, member.id)) for group in result.groups for member in group.members}
    alike = {frozenset((query.document.id, ids[i])) for query in queries for i in query.ignored}
    wanted = {frozenset((query.document.id, ids[query.truth[0]])) for query in queries}
    copies = {query.document.id for query in queries}
    found = {pair for pair in links - alike if pair & copies}
    assert len(found & wanted) >= 0.95 * len(wanted)
    assert len(found & wanted) >= 0.95 * len(found)


@pytest.mark.covers("M15", "K1", "E3")
def test_a_library_finds_the_source_through_synonyms(problem: Problem, tmp_path: pathlib.Path) -> None:
    with Store(str(tmp_path / "library.db")) as store:
        store.libraries.create("texts")
        store.documents.add("texts", [Document(d.id, d.text) for d in problem.library])
        queries = [problem.queries[i] for i in problem.of_change("synonyms-60")]
        found = 0
        for query in queries:
            check = check_library(store, query.document.text)
            found += problem.library[query.truth[0]].id in [source.id for source in check.sources]
    assert found >= 0.95 * len(queries)


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    folder = ROOT / "benchmarks"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("benchmark_meaning", folder / "meaning.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


@pytest.mark.shared
@pytest.mark.covers("M15", "E3")
def test_revisions_of_pages(benchmark: ModuleType) -> None:
    by_shingles, by_all = benchmark.revisions()
    assert by_shingles["recall_close"] >= 0.99
    assert by_shingles["precision"] >= 0.99
    assert by_all["recall_close"] >= 0.99
    assert by_all["recall_all"] >= 0.92
    assert by_all["precision"] >= 0.89


@pytest.mark.shared
@pytest.mark.covers("M14")
def test_news_of_one_event(benchmark: ModuleType) -> None:
    """As it comes, with the threshold that users have. (A pair more or less is .012.)"""
    found = {row["language"]: row["f1_at_default"] for row in benchmark.news()}
    assert found["both"] >= 0.85
    assert min(found.values()) >= 0.83
