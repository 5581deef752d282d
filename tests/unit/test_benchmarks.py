"""The benchmarks run, and what they measure against is right. No figure is looked at: machines differ."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import pathlib
import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))

import compare
import corpus
import dedupe
import measure
import million
import near_copies
import plain
import run
import tokens
import truth
import weights

SCRIPTS = sorted(measure.HERE.glob("*.py"))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("bench")
    for language in ("ru", "en"):
        corpus.made_up(language, 60, folder)
    return folder


def brute_force(documents: list[list[int]], least: float) -> truth.Pairs:
    runs = [
        {tuple(words[i : i + 5]) for i in range(max(1, len(words) - 4))} if words else set()
        for words in documents
    ]
    out = {}
    for b, one in enumerate(runs):
        for a, other in enumerate(runs[:b]):
            if one and other and len(one & other) / len(one | other) >= least:
                out[a, b] = len(one & other) / len(one | other)
    return out


@given(
    st.lists(st.lists(st.integers(0, 2), max_size=14), min_size=1, max_size=8),
    st.sampled_from([0.5, 0.7, 0.8, 1.0]),
)
def test_truth_is_what_brute_force_finds(documents: list[list[int]], least: float) -> None:
    if any(documents):
        assert truth.exact_pairs(documents, least) == brute_force(documents, least)


def test_truth_on_edited_copies(small: pathlib.Path) -> None:
    for view in truth.VIEWS:
        numbered = list(truth.word_numbers(measure.read_texts(small / "ru.jsonl"), view))
        pairs = truth.load(small / "ru.jsonl", view)
        assert pairs == brute_force(numbered, 0.5)
        assert pairs, "the planted copies give at least one pair"
        assert truth.load(small / "ru.jsonl", view) == pairs, "the kept truth is the same"


def test_collection_is_the_same_every_time(small: pathlib.Path, tmp_path: pathlib.Path) -> None:
    corpus.made_up("en", 60, tmp_path)
    for name in ("en.jsonl", "en.labels.jsonl"):
        assert (tmp_path / name).read_bytes() == (small / name).read_bytes()


def test_labels_name_the_copies(small: pathlib.Path) -> None:
    texts = [json.loads(line) for line in (small / "en.jsonl").read_text(encoding="utf-8").splitlines()]
    labels = [
        json.loads(line) for line in (small / "en.labels.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [t["id"] for t in texts] == [x["id"] for x in labels]
    groups = {x["group"] for x in labels} - {0}
    for group in groups:
        kinds = [x["kind"] for x in labels if x["group"] == group]
        assert kinds.count("original") == 1
        assert 2 <= len(kinds) <= 4
    assert all((x["group"] == 0) == (x["kind"] == "single") for x in labels)


def test_markup_and_man_pages_become_text(tmp_path: pathlib.Path) -> None:
    page = tmp_path / "a.html"
    page.write_text("<head><title>x</title></head><p>One &amp; two</p><script>no()</script><li>three</li>")
    assert "".join(corpus.from_markup(page).split()) == "One&twothree"
    manual = tmp_path / "a.1"
    manual.write_text('.TH X 1\n.SH NAME\nls \\- list \\fBfiles\\fP\n.BR open (2)\n.\\" hidden\n')
    assert corpus.from_roff(manual).split() == ["NAME", "ls", "-", "list", "files", "open", "(2)"]
    assert corpus.reader_of(tmp_path / "x.8.gz") is corpus.from_roff
    assert corpus.reader_of(tmp_path / "x.png") is None


def test_million_has_what_it_promises(small: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path = corpus.million(3000, sources=(small / "ru.jsonl", small / "en.jsonl"), folder=tmp_path)
    texts = measure.read_texts(path)
    assert len(texts) == 3000
    plain = [t.removesuffix("\n" + corpus.FOOTER) for t in texts]
    assert all(len(t.split()) == corpus.MILLION_WORDS for t in plain)
    assert 0.03 < sum(t != p for t, p in zip(texts, plain, strict=True)) / 3000 < 0.07
    assert len(set(texts)) < 3000, "some are exact copies"


def test_our_groups_agree_with_the_truth(small: pathlib.Path, tmp_path: pathlib.Path) -> None:
    source = dedupe.corpus_of(str(small / "ru.jsonl"), 0, tmp_path)
    rows = dedupe.measure(source, dedupe.OURS_PLANS, runs=1, folder=tmp_path)
    assert [(row.recall, row.precision) for row in rows] == [(1.0, 1.0), (1.0, 1.0), (None, None)]
    assert [row.times_ours for row in rows[:2]] == [1.0, 1.0]
    groups = tmp_path / "groups.jsonl"
    true = truth.load(source.path, "canonical")
    groups.write_bytes(b"")
    assert "pairs left" in dedupe.check_groups(groups, source, true)
    strangers = [id_ for id_, i in source.ids.items() if not any(i in pair for pair in true)][:2]
    groups.write_text(json.dumps({"keep": strangers[0], "members": [{"id": strangers[1]}]}) + "\n")
    assert "1 documents wrongly taken out" in dedupe.check_groups(groups, source, true)


def test_limit_takes_the_first_documents(small: pathlib.Path, tmp_path: pathlib.Path) -> None:
    source = dedupe.corpus_of(str(small / "en.jsonl"), 10, tmp_path)
    assert len(source.ids) == 10
    assert source.path.read_bytes().count(b"\n") == 10


def test_the_small_benchmarks_run(small: pathlib.Path) -> None:
    path = small / "en.jsonl"
    for work in (tokens.our_words, tokens.our_stems, tokens.our_signatures, tokens.plain_words):
        work(measure.read_texts(path))
    assert {row.way for row in weights.measure(path, limit=20, runs=1)} >= {"doublet: tfridf_weights"}
    rows = compare.comparing(path, words=500, runs=1)
    for way in ("doublet.compare", "doublet.compare by shingles", "rapidfuzz", "difflib"):
        assert any(way in row.what for row in rows), way
    assert all(row.ms >= 0 for row in rows)


def test_what_is_loaded_once_is_not_measured(small: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr(
        tokens, "jobs", lambda _: [("words", "a way", lambda texts: given.append(len(texts)))]
    )
    monkeypatch.setattr(tokens, "WARM_UP", 3)
    (row,) = tokens.measure(small / "en.jsonl", limit=20, runs=1)
    assert given == [3, 20]
    assert row.way == "a way"
    given.clear()
    measure.timed(given.append, fresh=lambda: 7, runs=2, warm_up=1)
    measure.timed(given.append, fresh=lambda: 7, runs=1)
    assert given == [1, 7, 7, 7]


def test_the_benchmarks_of_whole_processes_run(small: pathlib.Path) -> None:
    rows = million.measure(small / "en.jsonl", 60, budgets=(0.5,))
    assert all(row.same is not False and row.within is not False for row in rows)
    copies = near_copies.measure((20, 40), runs=1, rival_up_to=0)
    assert [row.groups for row in copies if row.program.startswith("doublet")] == [1, 1, 1, 1]
    tiny = near_copies.measure_tiny((20, 40), ("minhash",), runs=1)
    assert [(row.copies, row.groups) for row in tiny] == [(20, 0), (40, 0)]


def test_near_copies_of_random_words_are_two_words_apart(tmp_path: pathlib.Path) -> None:
    near_copies.make(tmp_path / "x.jsonl", 5)
    words = [text.split() for text in measure.read_texts(tmp_path / "x.jsonl")]
    for one in words[1:]:
        assert 0 < sum(a != b for a, b in zip(words[0], one, strict=True)) <= 2 * near_copies.CHANGED


def test_memory_and_failure_are_seen_from_outside() -> None:
    done = measure.run(
        [sys.executable, "-c", "import time; x = bytearray(80_000_000); time.sleep(.3); print('ok')"]
    )
    assert done.out == "ok\n"
    assert 80 < done.peak_mb < 160
    failing = measure.run([sys.executable, "-c", "raise SystemExit('no such thing')"])
    with pytest.raises(SystemExit, match="no such thing"):
        measure.best([done, failing])


def test_what_others_use_is_a_share() -> None:
    assert 0 <= measure.machine()["used_by_others"] <= 1


def test_edits_keep_to_their_kind() -> None:
    rng = random.Random(3)
    text = " ".join(f"w{i}." if i % 7 == 6 else f"w{i}" for i in range(200))
    for _ in range(50):
        copy = corpus.edited(text, rng, ["new"])
        before, after = text.split(), copy.text.split()
        if copy.kind == "moved":
            assert sorted(after) == sorted(before)
        elif copy.kind == "replaced":
            assert len(after) == len(before)
        elif copy.kind == "dropped":
            assert "new" not in after
        assert 0 <= copy.rate <= 0.2


def test_every_benchmark_is_run_by_run() -> None:
    """A script that saves results must be in the list, and every one in the list must be there."""
    saving = {path.stem for path in SCRIPTS if "    save(" in path.read_text(encoding="utf-8")} - {"measure"}
    assert saving <= set(run.TITLES) <= {path.stem for path in SCRIPTS}
    for path in SCRIPTS:
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), (
            f"{path.name} does not say what it is"
        )


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_what_a_script_takes_from_the_program_is_there(path: pathlib.Path) -> None:
    """A benchmark that is run once in a while would be the last to learn of another name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("doublet"):
            module = importlib.import_module(str(node.module))
            for one in node.names:
                assert hasattr(module, one.name) or importlib.util.find_spec(f"{node.module}.{one.name}")


def test_tables_are_markdown() -> None:
    made = measure.table(["a", "b", "c"], [["x", 1.23456, True], ["y", None, False]])
    assert made.splitlines() == ["| a | b | c |", "|---|---:|---:|", "| x | 1.23 | yes |", "| y | – | NO |"]


def test_plain_measures_find_what_is_plainly_the_same() -> None:
    source = "The boats were locked in the ice until March. Nobody minded at all."
    asked = ["In March the boats left the ice behind.", "The mayor opened another bridge.", "A to of."]
    assert plain.overlaps(asked, source) == [True, False, False]
    pairs = [(source, source), (source, "Boats in ice, until March."), (source, "Bridges are open again.")]
    same, near, other = plain.cosines(pairs)
    assert same == 1.0
    assert 1 > near > other == 0
    assert plain.best_threshold([0.9, 0.4, 0.3, 0.1], [True, True, False, False]) == 0.4
    assert plain.best_threshold([], []) == 0.0
