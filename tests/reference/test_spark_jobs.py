"""The other jobs on Spark against one machine: signatures, checks against a stored corpus, passage candidates.

The steps run in this process."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

import spark_collections as made
import spark_here
from doublet.cli import spark
from doublet.cli.exits import NOTHING_DONE, SOME_FAILED, guarded
from doublet.errors import UsageError
from doublet.index.passage_keys import make_keys
from doublet.jobs.check import check
from doublet.reports.wording import wording
from doublet.signatures import METHODS, from_bytes, gather_statistics
from doublet.signatures import method as make_method
from doublet.sources.records import Fields
from doublet.spark.checking import check_works
from doublet.spark.passages import find_passages
from doublet.spark.signatures import sign


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Any:
    return spark_here.session(monkeypatch)


@pytest.mark.covers("D1")
@pytest.mark.parametrize("method", sorted(METHODS))
def test_signatures_of_every_method(steps: Any, tmp_path: Path, method: str) -> None:
    rows = made.mixed(3, 60)
    path = made.write_lines(tmp_path / "a.jsonl", rows)
    told = sign(steps, [str(path)], str(tmp_path / "run"), method=method, splits=3, partitions=2)
    texts = [row["text"] for row in rows]
    ours = make_method(method, gather_statistics(method, texts))
    expected = sorted(
        (row["id"], None if one is None else one.values.tobytes())
        for row, one in zip(rows, ours.sign_texts(texts), strict=True)
    )
    found = sorted(
        (row["id"], None if row["signature"] is None else from_bytes(row["signature"]).values.tobytes())
        for row in made.table(tmp_path / "run", "signed")
    )
    assert [name for name, _ in found] == [name for name, _ in expected]
    assert set(found) == set(expected)
    assert told["documents"] == len(rows)


def borrowed(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A corpus, and works that take passages from it."""
    rng = random.Random(seed)
    corpus = [{"id": f"s{i:03d}", "text": " ".join(made.text(rng, rng.randint(40, 120)))} for i in range(60)]
    works = []
    for number in range(12):
        words = made.text(rng, 30)
        for source in rng.sample(corpus, number % 4):
            theirs = source["text"].split()
            words += theirs[5:35] + made.text(rng, 6)
        works.append({"id": f"w{number:02d}", "text": " ".join(words)})
    works.append({"id": "empty", "text": ""})
    # Every third word is another one: no run of words leads to the source, only its telling stems do.
    source = max(corpus, key=lambda one: len(one["text"]))["text"].split()[:60]
    theirs = [f"other{place}" if place % 3 == 2 else word for place, word in enumerate(source)]
    works.append({"id": "reworded", "text": " ".join([*made.text(rng, 30), *theirs, *made.text(rng, 30)])})
    return corpus, works


@pytest.mark.covers("D1")
@pytest.mark.parametrize(("cut", "min_share"), [((1, 1), 0.0), ((5, 3), 0.0), ((3, 4), 0.2)])
def test_checks_against_a_stored_corpus(
    steps: Any, tmp_path: Path, cut: tuple[int, int], min_share: float
) -> None:
    corpus, works = borrowed(cut[0])
    theirs = made.write_lines(tmp_path / "corpus.jsonl", corpus)
    mine = made.write_lines(tmp_path / "works.jsonl", works, ("{broken",))
    sign(steps, [str(theirs)], str(tmp_path / "corpus"), method="shingles", splits=cut[1], partitions=2)
    out = tmp_path / "checks"
    told = check_works(
        steps,
        [str(mine)],
        str(tmp_path / "corpus"),
        str(out),
        min_share=min_share,
        splits=cut[0],
        partitions=cut[1],
    )
    assert told["outcomes"]["invalid"] == 1
    sources, fragments = made.table(out, "sources"), made.table(out, "fragments")
    checks = {row["work"]: row for row in made.table(out, "checks")}
    assert set(checks) == {work["id"] for work in works}
    for work in works:
        here = check(work["text"], [(row["id"], row["text"]) for row in corpus], min_share=min_share)
        assert checks[work["id"]]["share"] == here.share
        assert checks[work["id"]]["words"] == here.words
        assert [
            (row["source"], row["share"], row["added"], row["resemblance"], row["containment"])
            for row in sources
            if row["work"] == work["id"]
        ] == [(s.id, s.share, s.added, s.resemblance, s.containment) for s in here.sources]
        assert [
            (row["source"], row["kind"], row["start"], row["end"], row["source_start"], row["source_end"])
            for row in fragments
            if row["work"] == work["id"]
        ] == [(s.id, f.kind, *f.a, *f.b) for s in here.sources for f in s.fragments]
    assert any(row["sources"] > 1 for row in checks.values())
    assert checks["reworded"]["sources"] == 1


@pytest.mark.covers("D1", "M14")
def test_checks_through_synonyms(steps: Any, tmp_path: Path) -> None:
    pairs = [(f"mountain{n}", f"summit{n}") for n in range(48)]
    lines = [f"{one}|1\n(noun)|{other}\n{other}|1\n(noun)|{one}" for one, other in pairs]
    synonyms = tmp_path / "synonyms.dat"
    synonyms.write_text("\n".join(["UTF-8", *lines]) + "\n", encoding="utf-8")
    rng = random.Random("synonyms")
    own = " ".join(made.text(rng, 40))
    there, here = (
        " ".join(
            f"Place{n} river{n} valley{n}: {', '.join(pairs[8 * n + (step * i) % 8][side] for i in range(8))}."
            for n in range(6)
        )
        for side, step in ((0, 1), (1, 3))
    )
    corpus, work = [("source", f"{there} {own}"), ("other", " ".join(made.text(rng, 60)))], here
    theirs = made.write_lines(tmp_path / "corpus.jsonl", [{"id": i, "text": text} for i, text in corpus])
    mine = made.write_lines(tmp_path / "works.jsonl", [{"id": "work", "text": work}])
    sign(steps, [str(theirs)], str(tmp_path / "corpus"), method="shingles", partitions=2)
    shares = []
    for name in ("", str(synonyms)):
        out = tmp_path / f"checks{len(shares)}"
        check_works(steps, [str(mine)], str(tmp_path / "corpus"), str(out), thesaurus=name)
        (row,) = made.table(out, "checks")
        assert row["share"] == check(work, corpus, thesaurus=name).share
        shares.append(row["share"])
    assert shares[0] == 0.0 < shares[1]


def test_a_folder_without_sets_cannot_be_checked_against(steps: Any, tmp_path: Path) -> None:
    path = made.write_lines(tmp_path / "a.jsonl", made.mixed(3, 20))
    with pytest.raises(UsageError, match="not the folder of a run"):
        check_works(steps, [str(path)], str(tmp_path / "nothing"), str(tmp_path / "out"))
    sign(steps, [str(path)], str(tmp_path / "run"), method="simhash")
    with pytest.raises(UsageError, match="no sets of shingles"):
        check_works(steps, [str(path)], str(tmp_path / "run"), str(tmp_path / "out"))


@pytest.mark.covers("D1")
@pytest.mark.parametrize("cut", [(1, 1), (4, 3)])
def test_passage_candidates(steps: Any, tmp_path: Path, cut: tuple[int, int]) -> None:
    corpus, works = borrowed(8)
    rows = corpus + works
    path = made.write_lines(tmp_path / "a.jsonl", rows)
    told = find_passages(
        steps,
        [str(path)],
        str(tmp_path / "run"),
        least_keys=1,
        fields=Fields(),
        splits=cut[0],
        partitions=cut[1],
    )
    keys = make_keys([row["text"] for row in rows])
    bounds = keys.offsets.tolist()
    sets = [set(keys.values[a:b].tolist()) for a, b in itertools.pairwise(bounds)]
    expected = sorted(
        (*sorted((rows[i]["id"], rows[j]["id"])), len(sets[i] & sets[j]))
        for i, j in itertools.combinations(range(len(rows)), 2)
        if sets[i] & sets[j]
    )
    assert (
        sorted((row["a"], row["b"], row["keys"]) for row in made.table(tmp_path / "run", "passages"))
        == expected
    )
    assert told["pairs"] == len(expected) > 10


@pytest.mark.covers("D1")
def test_every_job_lists_what_it_could_not_use_with_the_line_of_the_file(steps: Any, tmp_path: Path) -> None:
    corpus, _ = borrowed(8)
    of_corpus = made.write_lines(tmp_path / "corpus.jsonl", corpus)
    path = made.write_lines(tmp_path / "works.jsonl", [*corpus[:9], {"id": "no text"}, *corpus[9:]])
    cut: dict[str, Any] = {"splits": 3, "partitions": 2}
    sign(steps, [str(of_corpus)], str(tmp_path / "run"), method="shingles", **cut)
    told = {
        "check": check_works(steps, [str(path)], str(tmp_path / "run"), str(tmp_path / "check"), **cut),
        "passages": find_passages(steps, [str(path)], str(tmp_path / "passages"), **cut),
        "signatures": sign(steps, [str(path)], str(tmp_path / "signatures"), **cut),
    }
    for name, figures in told.items():
        assert figures["outcomes"] == {"invalid": 1}, name
        rows = made.table(tmp_path / name, "errors")
        assert [(row["state"], row["place"]) for row in rows] == [("invalid", f"{path}:10")], name
    again = find_passages(steps, [str(path)], str(tmp_path / "passages"), **cut)
    assert again["outcomes"] == {"invalid": 1}
    assert "errors" in again["reused"]


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        (
            "en",
            ["folder     run", "documents  2,400", "invalid    1", "listed with the reason in run/errors"],
        ),
        ("ru", ["папка         run", "документов    2 400", "неправильные  1", "перечислены в run/errors"]),
    ],
)
def test_the_figures_of_a_run_are_said_in_the_language_of_the_user(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, language: str, lines: list[str]
) -> None:
    monkeypatch.setattr(spark, "words", lambda: wording(language))
    told = {"out": "run", "documents": 2400, "outcomes": {"invalid": 1}, "stages": {}, "reused": []}
    assert spark.show(told, "table") == SOME_FAILED
    shown = (
        capsys.readouterr().out.replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")
    )
    assert [line in shown for line in lines] == [True] * 4, shown
    assert "reused" not in shown


def test_a_missing_input_is_said_before_spark_starts(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(spark, "session_of", lambda *_: pytest.fail("Spark was started"))
    assert (
        guarded(["spark", "dedupe", str(tmp_path / "nothing"), "--out", str(tmp_path / "run")])
        == NOTHING_DONE
    )
    assert "there is no file or folder" in capfd.readouterr().err
