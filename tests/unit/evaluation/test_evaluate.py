"""The whole run on a small collection: tables, report, labelled sets, two methods side by side, advice."""

from __future__ import annotations

import csv
import html.parser
import json
import lzma
import random
import re
from pathlib import Path
from typing import Any

import pytest

from doublet.errors import Cancelled, InputNotFound, RecordInvalid, UnknownMethod, UsageError
from doublet.evaluation import published
from doublet.evaluation.advisor import MarkedPair, advise, read_pairs
from doublet.evaluation.differ import differences_page, find_differences, write_differences
from doublet.evaluation.evaluate import Evaluation, cross_validated, evaluate, join_documents
from doublet.evaluation.finding import find
from doublet.evaluation.page import WORDS
from doublet.evaluation.problem import make_problem
from doublet.evaluation.report import as_csv, report_page, write_report
from doublet.evaluation.sets import Collection, bundled, open_data
from doublet.evaluation.specs import read_spec
from doublet.evaluation.tasks import Failure, FindTask, run_tasks
from doublet.model import Document
from doublet.progress import Progress
from doublet.signatures import method as make_method

METHODS = ("shingles", "shingles@containment:shingle_words=3", "imatch")
CHANGES = ("look-alikes", "sentences-moved", "deletion-20")


def small(language: str = "en", number: int = 30) -> Collection:
    return Collection(language, list(bundled(language).documents)[:number])


def run(**options: Any) -> Evaluation:
    given = {"methods": METHODS, "changes": CHANGES, "bases": 6, "curves": False, "isolated": False}
    return evaluate([small()], **{**given, **options})


@pytest.fixture(scope="module")
def result() -> Evaluation:
    return run(curves=True)


@pytest.mark.covers("E1", "E2")
def test_it_works(result: Evaluation) -> None:
    rows = {(r["method"], r["change"], r["threshold"]): r for r in result.documents}
    assert rows["shingles", "look-alikes", None]["recall"] == 1
    assert rows["shingles", "look-alikes", None]["precision"] == 1
    assert rows["shingles", "look-alikes", None]["queries"] == 6
    assert {r["threshold"] for r in result.documents if r["method"] == "imatch"} == {None}
    assert {r["threshold"] for r in result.documents if r["method"] == "shingles"} == {None, 0.5, 0.7}
    assert result.passages
    assert {r["method"] for r in result.clusters} == set(METHODS)
    assert {r["curve"] for r in result.curves} == {"threshold", "pairs", "shingle_words", "idf_width"}
    assert result.settings["seed"] == 1


@pytest.mark.covers("E2")
def test_counts_agree_with_comparing_everything(result: Evaluation) -> None:
    """Shingles at 0.5, against all pairs of queries and documents compared one by one."""
    problem = make_problem("en", small().documents, changes=CHANGES, bases=6, seed=1)
    method = make_method("shingles")
    library = method.sign_texts([d.text for d in problem.library])
    for change in CHANGES:
        right = wrong = missed = 0
        for i in problem.of_change(change):
            query = problem.queries[i]
            (own,) = method.sign_texts([query.document.text])
            found = [j for j, other in enumerate(library) if method.compare(own, other).resemblance >= 0.5]
            right += sum(t in found for t in query.truth)
            missed += sum(t not in found for t in query.truth)
            wrong += sum(j not in query.truth and j not in query.ignored for j in found)
        row = next(
            r
            for r in result.documents
            if (r["method"], r["change"], r["threshold"]) == ("shingles", change, 0.5)
        )
        assert (row["right"], row["wrong"], row["missed"]) == (right, wrong, missed)


def test_the_same_run_gives_the_same_tables(result: Evaluation) -> None:
    again = run(curves=True)
    for name in ("documents", "clusters", "curves", "failures"):
        assert getattr(again, name) == getattr(result, name)


def test_processes_give_the_same_tables_and_tell_the_memory(result: Evaluation) -> None:
    apart = run(isolated=True, workers=2)
    assert apart.documents == result.documents
    assert apart.clusters == result.clusters
    assert all(row["peak_bytes"] is None or row["peak_bytes"] >= 0 for row in apart.costs)


def test_a_method_that_fails_is_told_and_the_rest_goes_on() -> None:
    documents = small().documents
    bad = read_spec("shingles").with_parameters(shingle_words=5000)
    outcomes = run_tasks(
        [FindTask(bad, documents, None), FindTask(read_spec("simhash"), documents, None)], workers=2
    )
    assert isinstance(outcomes[0], Failure)
    assert "shingle_words" in str(outcomes[0].reason)
    assert outcomes[1].cost.documents == len(documents)


def test_stopping_ends_the_work() -> None:
    progress = Progress(lambda event: progress.cancel() if event.stage == "evaluating" else None)
    with pytest.raises(Cancelled):
        run(isolated=True, progress=progress)


def test_progress_is_told() -> None:
    events = []
    run(progress=Progress(events.append))
    assert {event.stage for event in events} >= {"changing", "evaluating"}
    last = [event for event in events if event.stage == "evaluating"][-1]
    assert last.done == last.total


@pytest.mark.covers("E3")
def test_our_table_stands_beside_the_sources() -> None:
    out = evaluate(
        [small(number=40)], bases=4, curves=False, isolated=False, changes=["look-alikes"], quick=True
    )
    columns = {r["column"] for r in out.published}
    assert set(published.COLUMNS) <= columns
    assert {r["change"] for r in out.published} == set(published.STUDENT_WORKS)
    row = next(r for r in out.published if (r["column"], r["change"]) == ("shingles", "sentences-moved"))
    assert (row["source_recall"], row["source_precision"]) == (0.97, 0.53)
    assert (row["recall"], row["precision"]) == (1, 1)
    # By the source's own measure a text with moved sentences is no duplicate: that is where its .53 comes from.
    assert row["precision_by_levenshtein"] < 1


@pytest.mark.covers("E3")
def test_the_sources_table_is_copied_right() -> None:
    assert published.STUDENT_WORKS["processed-60"]["longsent"] == (0.38, 0.94)
    assert published.STUDENT_WORKS["sentences-moved"]["longsent"] == (1.0, 0.55)
    assert all(set(row) == set(published.COLUMNS) for row in published.STUDENT_WORKS.values())


def test_documents_are_joined_into_works() -> None:
    documents = [Document(f"{i:03}", "слово " * 100) for i in range(60)]
    works = join_documents(documents, 500)
    assert len(works) == 12
    assert all(len(work.text.split()) == 500 for work in works)
    assert join_documents(documents[:20], 500) == documents[:20]


def test_too_few_documents_are_refused() -> None:
    with pytest.raises(UsageError, match="give more documents"):
        evaluate([Collection("x", [Document("a", "слово " * 80)])], isolated=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"changes": ["nothing"]}, "no change"),
        ({"thresholds": [1.5]}, "above 0"),
        ({"methods": ["shingles", "shingles"]}, "twice"),
        ({"methods": ["shingles:what=3"]}, "name=value"),
        ({"methods": ["shingles@length"]}, "resemblance or containment"),
    ],
)
def test_wrong_requests_are_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(**options)


def test_an_unknown_method_is_told() -> None:
    with pytest.raises(UnknownMethod):
        run(methods=["shingle"])


def test_find_of_all_pairs_counts_each_once() -> None:
    documents = [
        Document("a", "one two three four five"),
        Document("b", "one two three four five"),
        Document("c", "x y z q w"),
    ]
    found = find(read_spec("shingles"), documents, None)
    assert [(f.query, f.document, f.score) for f in found.findings] == [(0, 1, 1.0)]


def test_an_index_that_loses_pairs_loses_them_here_too() -> None:
    spec = read_spec("minhash:bands=1")
    documents = list(small().documents)
    copies = [Document(d.id, d.text.replace(" the ", " a ")) for d in documents]
    found = find(spec, documents, copies, thresholds=(0.5,))
    close = [f for f in found.findings if f.score >= 0.5]
    assert len(found.at(0.5)) <= len(close)


@pytest.mark.covers("E2", "M15")
def test_what_auto_finds_by_other_ways_does_not_hang_on_the_threshold() -> None:
    library = list(small(number=12).documents)
    words = library[3].text.split()
    edited = " ".join(word for n, word in enumerate(words) if n % 14)
    reworded = " ".join(f"word{n}x" if n % 3 == 0 and len(word) > 3 else word for n, word in enumerate(words))
    queries = [Document("edited", edited), Document("reworded", reworded)]
    found = find(read_spec("auto"), library, queries, thresholds=(0.95,))
    right = [f for f in found.findings if f.document == 3]
    assert [f.query for f in right] == [0, 1]
    assert all(f.similar and f.always and f.score < 0.95 for f in right)
    assert [f.query for f in found.at(0.95)] == [f.query for f in found.over(0.95)] == [0, 1]
    plain = find(read_spec("shingles"), library, queries, thresholds=(0.95,))
    assert plain.over(0.95) == []


def test_settings_are_shown_for_people(result: Evaluation) -> None:
    page = report_page(result.to_dict())
    assert "<dd>None</dd>" not in page
    assert "<dd>False</dd>" not in page
    assert "<dt>shingle_words</dt><dd>–</dd>" in page


# --- the page -------------------------------------------------------------------------------------------------------


class Checker(html.parser.HTMLParser):
    """Every element is closed, nothing comes from outside, ids are unique."""

    VOID = frozenset(["meta", "br", "img", "input", "link", "hr"])

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href") and not (value or "").startswith("#"):
                self.outside.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open
            assert self.open.pop() == tag


def check_page(page: str) -> None:
    checker = Checker()
    checker.feed(page)
    assert not checker.open
    assert not checker.outside
    assert len(set(checker.ids)) == len(checker.ids)
    assert "@import" not in page
    assert "http:" not in page.partition("<body>")[0]
    assert "https:" not in page.partition("<body>")[0]


@pytest.mark.covers("E2")
@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_report_is_one_page_with_everything(result: Evaluation, tmp_path: Path, language: str) -> None:
    written = write_report(result, tmp_path / "report", language=language)
    assert {path.name for path in written} >= {"index.html", "evaluation.json", "documents.csv", "costs.csv"}
    page = written[0].read_text("utf-8")
    check_page(page)
    assert f'<html lang="{language}">' in page
    for key in ("documents", "passages", "curves", "costs", "failures", "settings"):
        assert f'id="{key}"' in page
        assert WORDS[key][0] in page
        assert WORDS[key][1] in page
    rows = list(csv.DictReader((tmp_path / "report" / "documents.csv").read_text("utf-8").splitlines()))
    assert len(rows) == len(result.documents)
    read = json.loads((tmp_path / "report" / "evaluation.json").read_text("utf-8"))
    assert report_page(read, language=language) == page


def test_texts_in_the_report_are_harmless() -> None:
    documents = [
        Document(f"<script>{i}", f"<img src=x onerror=alert({i})> " + d.text)
        for i, d in enumerate(small().documents)
    ]
    out = evaluate(
        [Collection("<b>", documents)], methods=["longsent"], changes=["deletion-20"], bases=4, isolated=False
    )
    page = report_page(out.to_dict())
    check_page(page)
    assert "<img src=x" not in page
    assert "<script>0" not in page


def test_words_are_there_in_both_languages() -> None:
    for key, (english, russian) in WORDS.items():
        assert english, key
        assert russian, key
        if key not in ("f1", "auc", "made_by"):
            assert re.search("[а-яё]", russian), key


def test_csv_of_tables_inside_tables() -> None:
    assert as_csv([{"a": 1, "b": [1, 2]}, {"c": None}]) == 'a,b,c\n1,"[1, 2]",\n,null,\n'.replace("null", "")


# --- two methods ----------------------------------------------------------------------------------------------------


@pytest.mark.covers("E4")
def test_where_two_methods_differ(tmp_path: Path) -> None:
    documents = list(small().documents)[:12]
    moved = ". ".join(reversed(documents[0].text.split(". ")))
    documents += [Document("copy", documents[1].text), Document("moved", moved)]
    found = find_differences("shingles:shingle_words=9;threshold=0.9", "tf", documents, isolated=False)
    both = {(p.a, p.b) for p in found.pairs if not p.only}
    assert tuple(sorted(("copy", documents[1].id))) in both
    different = {(p.a, p.b): p.only for p in found.pairs if p.only}
    assert different[tuple(sorted(("moved", documents[0].id)))] == "tf"
    written = write_differences(found, tmp_path / "out")
    page = written[0].read_text("utf-8")
    check_page(page)
    assert "<mark" in page
    assert found.counts()["both"] + found.counts()["tf"] + found.counts()[found.methods[0]] == len(
        found.pairs
    )
    assert json.loads(written[1].read_text("utf-8"))["kind"] == "differences"


@pytest.mark.covers("E4", "M15")
def test_auto_says_why_it_differs() -> None:
    documents = list(small().documents)[:6]
    part = " ".join(documents[0].text.split()[:40])
    found = find_differences("auto", "shingles", [*documents, Document("part", part)], isolated=False)
    (pair,) = [p for p in found.pairs if "part" in (p.a, p.b)]
    assert (pair.only, pair.scores[0]) == ("auto", pair.scores[1])
    page = differences_page(found)
    check_page(page)
    assert "auto: 1.000 of one text is in the other, and 0.9 is enough" in page


@pytest.mark.covers("E4")
def test_two_methods_that_agree_and_wrong_requests() -> None:
    documents = list(small().documents)[:5]
    same = find_differences("shingles", "smallest", documents, isolated=False)
    assert not same.pairs
    assert WORDS["same_answer"][0] in differences_page(same)
    with pytest.raises(UsageError, match="two different"):
        find_differences("tf", "tf", documents)
    with pytest.raises(UsageError, match="two documents"):
        find_differences("tf", "shingles", documents[:1])


# --- the advisor ----------------------------------------------------------------------------------------------------


def marked(number: int, seed: int = 1) -> list[MarkedPair]:
    """Copies with some words left out, and neighbours that have nothing in common."""
    rng = random.Random(seed)
    documents = list(bundled("ru").documents)
    out = []
    for i in range(number):
        words = documents[i].text.split()
        if i % 2:
            out.append(MarkedPair(documents[i].text, " ".join(w for w in words if rng.random() > 0.08), True))
        else:
            out.append(MarkedPair(documents[i].text, documents[i + 60].text, False))
    return out


@pytest.mark.covers("C5", "E4")
def test_the_advice_is_good() -> None:
    advice = advise(marked(30), methods=["shingles:shingle_words=3", "shingles:shingle_words=4", "longsent"])
    assert advice.best.method == "shingles"
    assert advice.best.expected.precision == 1
    assert advice.best.expected.recall == 1
    assert 0.01 < (advice.best.threshold or 0) < 0.9
    low, high = advice.best.expected.recall_interval or (9, 9)
    assert 0.7 < low < 0.85  # fifteen of fifteen
    assert high == 1
    assert advice.best.command().startswith("--method shingles --shingle-words 3 --threshold ")
    assert not advice.mistakes
    assert json.loads(json.dumps(advice.to_dict()))["best"]["method"] == "shingles"


@pytest.mark.covers("C5", "M15")
def test_what_needs_no_setting_is_proposed_when_nothing_is_better() -> None:
    advice = advise(marked(30), methods=["shingles", "auto"])
    assert advice.best.method == "shingles"  # the user's order
    advice = advise(marked(30))
    assert (advice.best.method, advice.best.threshold) == ("auto", None)
    assert advice.best.command() == "--method auto"
    assert advice.best.expected.f1 == 1
    lengths = [dict(one.parameters).get("shingle_words") for one in advice.others if one.expected.f1 == 1]
    assert lengths[0] == 4


@pytest.mark.covers("C5")
def test_easy_pairs_are_warned_about_and_all_pairs_have_a_say_in_the_threshold() -> None:
    """Others that have nothing in common would allow any threshold; texts of different pairs have something."""
    frame = "Страница справки. Выберите раздел в меню слева или воспользуйтесь поиском по этому сайту. "
    easy = [
        MarkedPair(
            frame + pair.text_a, frame + pair.text_b if pair.duplicate else "ничего общего", pair.duplicate
        )
        for pair in marked(30)
    ]
    advice = advise(easy, methods=["shingles:shingle_words=3"])
    assert any(warning.code == "pairs_too_easy" for warning in advice.warnings)
    assert (advice.best.threshold or 0) > 0.05


@pytest.mark.covers("C5")
def test_the_first_candidate_stays_unless_another_is_clearly_better() -> None:
    pairs = marked(30)
    few = [MarkedPair(p.text_a, p.text_b, True) if i < 4 else p for i, p in enumerate(pairs)]
    advice = advise(few, methods=["shingles:shingle_words=3", "shingles:shingle_words=1", "longsent"])
    assert dict(advice.best.parameters)["shingle_words"] == 3
    clear = advise(pairs, methods=["shingles:shingle_words=40", "shingles:shingle_words=3"])
    assert dict(clear.best.parameters)["shingle_words"] == 3


@pytest.mark.covers("C5")
def test_few_pairs_are_warned_about_and_too_few_refused() -> None:
    advice = advise(marked(8), methods=["shingles"])
    assert any("only 8 pairs" in str(warning) for warning in advice.warnings)
    with pytest.raises(UsageError, match="20 to 50"):
        advise(marked(4), methods=["shingles"])
    with pytest.raises(UsageError, match="each kind"):
        advise([pair for pair in marked(30) if pair.duplicate], methods=["shingles"])


@pytest.mark.covers("C5")
def test_wrongly_marked_pairs_are_named() -> None:
    pairs = marked(30)
    pairs[3] = MarkedPair(pairs[3].text_a, pairs[3].text_b, False, "the odd one")
    advice = advise(pairs, methods=["shingles:shingle_words=3"])
    assert any(str(text).startswith("the odd one") for text in advice.mistakes)


def test_labels_without_meaning_give_chance() -> None:
    """Cross-validation must not promise what is not there."""
    rng = random.Random(5)
    pairs = [MarkedPair(p.text_a, p.text_b, rng.random() < 0.5) for p in marked(40)]
    advice = advise(pairs, methods=["shingles:shingle_words=3"])
    assert advice.best.expected.f1 < 0.8


def test_pairs_are_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("первый текст о реке", encoding="utf-8")
    (tmp_path / "two.txt").write_text("second text about a river", encoding="utf-8")
    table = tmp_path / "pairs.csv"
    table.write_text(
        "file_a,file_b,label\none.txt,two.txt,not\none.txt,one.txt,duplicate\n", encoding="utf-8"
    )
    assert [pair.duplicate for pair in read_pairs(table)] == [False, True]
    lines = tmp_path / "pairs.jsonl"
    lines.write_text(
        '{"text_a": "x", "text_b": "y", "label": "да"}\n\n{"text_a": "x", "text_b": "y", "label": 0}\n'
    )
    assert [(pair.duplicate, pair.name) for pair in read_pairs(lines)] == [
        (True, "line 1"),
        (False, "line 3"),
    ]
    semicolons = tmp_path / "excel.csv"
    semicolons.write_text("\ufefftext_a;text_b;label\nраз, два;три;yes\n", encoding="utf-8")
    assert read_pairs(semicolons)[0].text_a == "раз, два"
    for content, message in [
        ('{"label": 1}', "neither text_a"),
        ("[]", "not a JSON"),
        ('{"label": "maybe"}', "maybe"),
    ]:
        lines.write_text(content)
        with pytest.raises(RecordInvalid, match=message):
            read_pairs(lines)
    with pytest.raises(InputNotFound):
        read_pairs(tmp_path / "none.csv")


def test_cross_validation_uses_other_pairs() -> None:
    scores = [0.9, 0.8, 0.7, 0.85, 0.75, 0.1, 0.2, 0.3, 0.15, 0.25]
    assert cross_validated(scores, [True] * 5 + [False] * 5, seed=1) == [True] * 5 + [False] * 5


# --- labelled sets --------------------------------------------------------------------------------------------------


def packed(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(path, "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.mark.covers("E2")
def test_labelled_sets_are_recognised_and_absent_ones_named(tmp_path: Path) -> None:
    source = (
        "The river is wide and slow here. Boats go down it to the sea every morning. Behind the last bend is a mill "
        "whose wheel has not turned since the flood of that terrible year. Old men sit there and mend their nets, "
        "and children throw stones at the bottles which the stream brings down from the town above the falls. "
    )
    taken = source
    text = f"My own words come first and say nothing new at all. {taken}And then more of mine follows here."
    at = text.index(taken)
    packed(tmp_path / "pan" / "docs.jsonl.xz", [{"id": "s", "text": text}, {"id": "t", "text": source}])
    case = {"this_offset": at, "this_length": len(taken), "source_offset": 0, "source_length": len(taken)}
    packed(tmp_path / "pan" / "pairs.jsonl.xz", [{"susp": "s", "src": "t", "type": "02", "cases": [case]}])
    pairs = [
        {"text_1": "a b c", "text_2": "a b d", "label": 1},
        {"text_1": "a b c", "text_2": "x y z", "label": 0},
    ]
    packed(tmp_path / "msrp" / "pairs.jsonl.xz", pairs * 6)
    news = {"title": "t", "text": source}
    other = {
        "title": "u",
        "text": "Nothing of that kind was ever seen before in this town by anybody at all.",
    }
    stories = [
        {"lang": "en", "label": "OK", "first": news, "second": news},
        {"lang": "en", "label": "BAD", "first": news, "second": other},
    ]
    packed(tmp_path / "news" / "pairs.jsonl.xz", stories * 6)
    documents = [
        {"id": "1", "page": "p", "version": "old", "text": source, "jaccard5_to_other": 0.9},
        {"id": "2", "page": "p", "version": "new", "text": source + " More.", "jaccard5_to_other": 0.9},
        {"id": "3", "page": "q", "version": "single", "text": other["text"], "jaccard5_to_other": None},
    ]
    packed(tmp_path / "mdn" / "docs.jsonl.xz", documents)
    essay = {
        "essay": "e",
        "text": text,
        "fragments": [
            {"start": 0, "end": 50, "types": [], "originals": []},
            {
                "start": at,
                "end": at + len(taken),
                "source": "t",
                "types": ["CPY"],
                "originals": [{"start": 0, "end": len(taken)}],
            },
        ],
        "sources": {"t": source, "u": other["text"]},
    }
    packed(tmp_path / "essays" / "essays.jsonl.xz", [essay])
    sets, skipped = open_data(tmp_path)
    assert {type(one).__name__ for one in sets} == {"LabelledPassages", "LabelledPairs", "LabelledCollection"}
    assert {one.name for one in skipped} == {"ru-paraphraser", "rupaws"}
    out = evaluate(tmp_path, methods=["shingles"], isolated=False)
    passages = {(r["set"], r["change"]): r for r in out.passages}
    assert passages["pan", "02"]["plagdet"] > 0.9
    assert passages["essays", "e"]["found"] == 1
    assert passages["essays", "e"]["own_flagged"] == 0
    labelled = {(r["set"], r["kind"], r["threshold"]): r for r in out.labelled if r["set"] == "mdn"}
    assert labelled["mdn", "all", None]["f1"] == 1
    assert all(r["f1"] == 1 for r in out.labelled if r["set"] in ("news", "msrp") and r["kind"] == "all")
    check_page(report_page(out.to_dict(), language="ru"))


def test_a_folder_and_a_table_of_documents(tmp_path: Path) -> None:
    for i, document in enumerate(list(small().documents)[:3]):
        (tmp_path / f"{i}.txt").write_text(document.text, encoding="utf-8")
    sets, _ = open_data(tmp_path)
    assert len(sets[0].documents) == 3  # type: ignore[union-attr]
    with pytest.raises(InputNotFound):
        open_data(tmp_path / "nothing")


def test_two_languages_are_two_sets() -> None:
    documents = [*list(bundled("ru").documents)[:14], *list(bundled("en").documents)[:14]]
    out = evaluate(
        [Collection("mixed", documents)],
        methods=["shingles"],
        changes=["look-alikes"],
        bases=3,
        curves=False,
        isolated=False,
    )
    assert [row["set"] for row in out.sets] == ["mixed-ru", "mixed-en"]


@pytest.mark.shared
@pytest.mark.covers("E2")
def test_all_labelled_sets_at_hand_are_read(shared: Path) -> None:
    sets, skipped = open_data(shared / "data", limit=3)
    assert not skipped
    assert len(sets) == 7
    pairs = next(one for one in sets if one.name.startswith("pan13")).pairs  # type: ignore[union-attr]
    assert len(pairs) == 15
    verbatim = [pair for pair in pairs if pair.kind == "02-no-obfuscation"]
    for pair in verbatim:
        for case in pair.cases:
            assert pair.text[slice(*case.span)].split() == pair.source[slice(*case.source_span)].split()


def test_changes_of_other_packages_come_through_the_same_door(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    from doublet.evaluation import changes as making

    class Shout:
        name = "shout"

        @property
        def title(self) -> dict[str, str]:
            return {"en": "in capitals"}

        def apply(self, document: Document, around: Any, rng: random.Random) -> making.Changed:
            pieces = making.Pieces()
            pieces.replace(document.text.upper(), document, 0, len(document.text))
            return pieces.build()

    class Point:
        name, value = "shout", "elsewhere:Shout"

        def load(self) -> Any:
            return Shout()

    real = metadata.entry_points
    monkeypatch.setattr(
        metadata, "entry_points", lambda **k: [Point()] if k.get("group") == "doublet.changes" else real(**k)
    )
    assert "shout" in making.change_names()
    out = run(changes=["shout"], methods=["shingles"])
    assert out.documents[0]["recall"] == 1  # capitals change nothing
    assert "in capitals" in report_page(out.to_dict())
