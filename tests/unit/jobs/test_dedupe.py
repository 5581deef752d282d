"""dedupe: groups around keepers, order of preference, odd documents, the same answer in any order."""

from __future__ import annotations

import inspect
import itertools
import json
import random
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import doublet
from doublet import kernels
from doublet.errors import (
    Cancelled,
    InvalidParameter,
    MemoryTooSmall,
    OutputFailed,
    SpillFailed,
    UnknownMethod,
    UsageError,
)
from doublet.jobs.dedupe import dedupe, dedupe_inputs, joining, memory, outcomes
from doublet.model import Document
from doublet.progress import Progress
from doublet.sources.open import open_source


def words(seed: int, count: int) -> list[str]:
    rng = random.Random(seed)
    return [f"w{rng.randrange(5000)}x" for _ in range(count)]


BASE = words(1, 200)


def edited(seed: int, changes: int) -> str:
    rng = random.Random(seed)
    out = list(BASE)
    for place in rng.sample(range(len(out)), changes):
        out[place] = f"new{seed}n{place}"
    return " ".join(out)


DOCUMENTS = [
    ("base", " ".join(BASE)),
    ("copy", " ".join(BASE)),
    ("near", edited(2, 5)),
    ("inside", " ".join(BASE[40:90])),
    ("far", edited(3, 90)),
    ("alone", " ".join(words(9, 150))),
    ("empty", ""),
    ("blank", " … — \u200b "),
]


@pytest.mark.covers("K7", "C3")
def test_it_works():
    result = doublet.dedupe(DOCUMENTS, threshold=0.6)
    (group,) = result.groups
    assert group.keep == "base"
    assert [m.id for m in group.members] == ["copy", "near", "inside"]
    copy, near, inside = group.members
    assert (copy.resemblance, copy.containment, copy.contained_in) == (1.0, 1.0, None)
    assert 0.6 < near.resemblance < 1
    assert (inside.containment, inside.contained_in) == (1.0, "base")
    assert inside.resemblance < 0.6
    assert result.kept == ("alone", "base", "blank", "empty", "far")
    assert {o.id for o in result.outcomes} == {"empty", "blank"}


@pytest.mark.covers("C3")
def test_containment_can_be_switched_off():
    result = dedupe(DOCUMENTS, threshold=0.6, containment=None)
    assert [m.id for g in result.groups for m in g.members] == ["copy", "near"]


@pytest.mark.covers("K7")
def test_any_order_and_any_number_of_workers_give_the_same_bytes():
    rng = random.Random(0)
    many = [*DOCUMENTS, *((f"n{i}", edited(i + 10, 3 + i % 60)) for i in range(60))]
    answers = set()
    for workers, keep in itertools.product((1, 3), ("longest", "first")):
        for _ in range(4):
            rng.shuffle(many)
            result = dedupe(
                many, threshold=0.5, workers=workers, keep=keep, pairs=True, views=("strict", "families")
            )
            answers.add((keep, json.dumps(result.to_dict(), sort_keys=True)))
    assert len(answers) == 2


@pytest.mark.covers("K7")
@pytest.mark.parametrize("method", [m.name for m in doublet.methods()])
def test_every_removal_is_verified_whatever_the_method(method):
    """No two kept documents need be unlike (a method may miss), but what is removed is really like what is kept."""
    texts = dict(DOCUMENTS)
    result = dedupe(DOCUMENTS, method=method, threshold=0.6)
    removed = {m.id: (g.keep, m) for g in result.groups for m in g.members}
    for name, (keep, member) in removed.items():
        exact = doublet.compare(
            texts[name], texts[keep], shingle_words=result.parameters.get("shingle_words", 4)
        )
        assert member.resemblance == pytest.approx(exact.resemblance)
        assert exact.resemblance >= 0.6 or exact.containment_a >= 0.9
    if method not in ("pivot", "imatch", "longsent", "tf", "tfidf", "tfridf"):
        assert "copy" in removed


def test_keep_first_newest_and_best_source():
    texts = [("b", edited(5, 2)), ("a", edited(6, 2)), ("c", " ".join(BASE))]
    assert dedupe(texts, keep="first").groups[0].keep == "a"
    dated = [
        {"id": i, "text": t, "time": time}
        for (i, t), time in zip(texts, ["2021", "2024", "2020"], strict=True)
    ]
    assert dedupe(dated, keep="newest").groups[0].keep == "a"
    sourced = [
        {"id": i, "text": t, "source": s}
        for (i, t), s in zip(texts, ["blog", "mirror", "journal"], strict=True)
    ]
    assert dedupe(sourced, keep="best-source", prefer=["journal", "blog"]).groups[0].keep == "c"
    with pytest.raises(InvalidParameter, match="did you mean 'longest'"):
        dedupe(texts, keep="longer")
    with pytest.raises(InvalidParameter, match="prefer"):
        dedupe(texts, keep="best-source")


@pytest.mark.covers("C3")
@pytest.mark.covers("K7")
@pytest.mark.parametrize(
    ("times", "newest"),
    [
        (["01.07.2023", "11.06.2024", "2.05.2024"], 1),
        (["2024-05-01", "2024-05-01T10:00", "2023-12-31T23:59:59Z"], 1),
        (["2024-05-01T12:00:00+03:00", "2024-05-01T10:00:00Z", "2024-05-01T08:59:00"], 1),
        (["999999999", "1000000000", "5"], 1),
        (["2023", "2024-02", "2024-01-31"], 1),
        (["Wed, 01 May 2024 10:00:00 +0300", "Thu, 02 May 2024 10:00:00 +0300", ""], 1),
        (["yesterday", "2001-01-01", ""], 1),
        (["31.12.2023, 10:00", "31.12.2023 23:00:00", "2023-12-31"], 1),
    ],
)
def test_the_newest_in_any_way_to_write_times(times, newest):
    rows = [{"id": str(i), "text": " ".join(BASE), "time": time} for i, time in enumerate(times)]
    result = dedupe(rows, keep="newest")
    assert result.kept == (str(newest),)
    assert any("'yesterday'" in str(note) for note in result.notes) == ("yesterday" in times)


def test_a_short_text_goes_to_the_long_one_even_when_it_is_preferred():
    texts = [
        {"id": "short", "text": " ".join(BASE[:60]), "time": "2024"},
        {"id": "long", "text": " ".join(BASE), "time": "2001"},
    ]
    (group,) = dedupe(texts, keep="newest").groups
    assert (group.keep, group.members[0].id, group.members[0].contained_in) == ("long", "short", "long")


def test_numbers_as_ids_are_ordered_as_numbers():
    texts = [(str(i), " ".join(BASE)) for i in (10, 9, 100)]
    (group,) = dedupe(texts).groups
    assert group.keep == "9"
    assert [m.id for m in group.members] == ["10", "100"]
    assert dedupe([(7, "a b c d e f"), (8, "a b c d e f")]).groups[0].keep == 7


def test_two_empty_texts_are_not_duplicates():
    result = dedupe([("a", ""), ("b", ""), ("c", "...")])
    assert result.groups == ()
    assert result.kept == ("a", "b", "c")
    assert [o.state for o in result.outcomes] == ["empty"] * 3


@pytest.mark.parametrize("in_a_file", [False, True])
def test_a_long_list_of_odd_documents_does_not_depend_on_their_order(in_a_file, monkeypatch, tmp_path):
    monkeypatch.setattr(outcomes, "OUTCOMES_SHOWN", 5)
    rows = [{"id": f"e{i}", "text": ""} for i in range(40)] + [
        {"id": f"f{i}", "text": None} for i in range(3)
    ]
    rows += [{"id": f"g{i // 2}", "text": f"some words {i}"} for i in range(30)]
    seen = set()
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        if in_a_file:
            path = tmp_path / "odd.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            with open_source([str(path)]) as source:
                result = dedupe_inputs(source)
        else:
            result = dedupe(rows)
        listed = [(o.state, o.id) for o in result.outcomes]
        seen.add(tuple(listed))
        assert [state for state, _ in listed] == ["duplicate_id"] * 5 + ["empty"] * 5 + ["invalid"] * 3
        assert result.extra["outcomes"] == {"duplicate_id": 15, "empty": 40, "invalid": 3}
        assert any(str(note).startswith("45 more documents") for note in result.notes)
    assert len(seen) == 1


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_repeated_ids_leave_one_document(order):
    rows = [("x", " ".join(BASE)), ("x", "quite another text with other words"), ("y", edited(4, 2))]
    result = dedupe([rows[i] for i in order])
    assert [o.state for o in result.outcomes] == ["duplicate_id"]
    assert result.kept + tuple(m.id for g in result.groups for m in g.members) in (("x", "y"), ("y", "x"))


def test_documents_that_are_none():
    result = dedupe([("a", "some words of a text"), {"id": "b"}, ("c", 5), "a text", {"text": "no id"}, 5])
    assert result.kept == (3, "a")
    assert [o.state for o in result.outcomes] == ["invalid"] * 4


def test_no_documents():
    result = dedupe([])
    assert (result.documents, result.groups, result.kept) == (0, (), ())


def test_views():
    chain = [" ".join(BASE[i * 20 : i * 20 + 100]) for i in range(3)]
    result = dedupe(
        [(str(i), t) for i, t in enumerate(chain)],
        threshold=0.6,
        containment=None,
        pairs=True,
        views=("strict", "families"),
    )
    assert result.families == (("0", "1", "2"),)
    assert len(result.strict) == 1
    assert len(result.strict[0]) == 2
    assert [(p.a, p.b) for p in result.pairs] == [("0", "1"), ("1", "2")]


def test_thousands_of_near_copies_are_no_trouble():
    rng = random.Random(5)
    texts = []
    for i in range(4000):
        some = list(BASE)
        some[rng.randrange(200)] = f"changed{i}"
        texts.append((str(i), " ".join(some)))
    result = dedupe(texts, threshold=0.8)
    assert len(result.groups) == 1
    assert result.removed == 3999


@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_sketches_agree_with_the_exact_join_on_clear_cases(threshold):
    texts = [(str(i), edited(i, 1 + i % 5)) for i in range(50)] + [
        (f"u{i}", " ".join(words(100 + i, 80))) for i in range(50)
    ]
    exact = dedupe(texts, threshold=threshold, containment=None)
    sketched = dedupe(texts, threshold=threshold, containment=None, candidates="sketches")
    assert sketched.groups == exact.groups
    assert any("sketches" in str(note) for note in sketched.notes)


def test_beyond_the_limit_candidates_come_from_sketches(monkeypatch):
    monkeypatch.setattr(joining, "EXACT_UP_TO", 3)
    assert any("sketches" in str(note) for note in dedupe(DOCUMENTS).notes)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"threshold": 0}, InvalidParameter),
        ({"threshold": 1.5}, InvalidParameter),
        ({"containment": -1}, InvalidParameter),
        ({"workers": -1}, InvalidParameter),
        ({"views": ("circles",)}, InvalidParameter),
        ({"candidates": "magic"}, InvalidParameter),
        ({"method": "shingels"}, UnknownMethod),
        ({"shingle_word": 3}, InvalidParameter),
        ({"memory_bytes": 1000}, MemoryTooSmall),
        ({"groups_out": "x"}, UsageError),
    ],
)
def test_wrong_usage(options, error):
    with pytest.raises(error):
        dedupe(DOCUMENTS, **options)


def test_exactly_at_the_threshold():
    """Two sets of five with four in common, 4/6: asked for exactly that they are a pair, just above they are not."""
    a, b = "a1 b2 c3 d4 e5 f6 g7 h8", "a1 b2 c3 d4 e5 f6 g7 x9"
    assert len(dedupe([("a", a), ("b", b)], threshold=4 / 6, containment=None).groups) == 1
    assert dedupe([("a", a), ("b", b)], threshold=4 / 6 + 1e-9, containment=None).groups == ()


@pytest.mark.covers("T5")
def test_swapped_letters_are_found_and_counted():
    text = "Высоту башни считали от самого высокого дома, до которого должна была дойти вода. " * 3
    swapped = text.translate(str.maketrans("аеорсухАВЕКМНОРСТХ", "aeopcyxABEKMHOPCTX"))
    result = dedupe([("honest", text), ("trick", swapped)])
    assert result.groups[0].members[0].resemblance == 1.0
    assert result.extra["disguised_documents"] == 1


@pytest.mark.skipif(kernels.BACKEND == "python", reason="the plain kernels never spill")
def test_a_disk_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "store_memory", lambda *_: 20_000)
    texts = [(str(i), " ".join(words(i, 300))) for i in range(50)]
    with pytest.raises(SpillFailed, match="TMPDIR"):
        dedupe(texts, spill_folder=str(tmp_path / "missing"))


def test_spilled_or_not_the_answer_is_the_same(tmp_path, monkeypatch):
    many = [*DOCUMENTS, *((f"n{i}", edited(i + 10, 3 + i % 60)) for i in range(300))]
    roomy = dedupe(many, threshold=0.5, views=("strict",))
    monkeypatch.setattr(memory, "store_memory", lambda *_: 20_000)
    tight = dedupe(many, threshold=0.5, views=("strict",), spill_folder=str(tmp_path))
    assert tight.to_dict() == roomy.to_dict()
    assert list(tmp_path.iterdir()) == []


def test_cancelling_stops_the_work():
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        dedupe(DOCUMENTS, progress=progress)


def test_progress_is_told_in_order():
    seen = []
    dedupe(DOCUMENTS, method="shingles", progress=Progress(lambda event: seen.append(event.stage)))
    assert list(dict.fromkeys(seen)) == ["reading", "joining", "writing"]
    seen.clear()
    dedupe(DOCUMENTS, progress=Progress(lambda event: seen.append(event.stage)))
    assert list(dict.fromkeys(seen)) == ["reading", "joining", "reading_again", "aligning", "writing"]


def test_an_input_is_replaced_only_when_nothing_of_it_would_be_lost(tmp_path):
    source = tmp_path / "in.jsonl"
    lines = [json.dumps({"id": i, "text": t}, ensure_ascii=False) for i, t in DOCUMENTS]
    source.write_text("\n".join([*lines, "not json"]) + "\n", encoding="utf-8")
    before, groups = source.read_bytes(), tmp_path / "g.jsonl"
    with open_source([str(source)]) as opened, pytest.raises(OutputFailed, match="would be lost"):
        dedupe_inputs(opened, threshold=0.6, kept_out=source, groups_out=groups)
    assert source.read_bytes() == before
    assert not groups.exists()
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with open_source([str(source)]) as opened:
        kept = dedupe_inputs(opened, threshold=0.6, kept_out=source).kept
    left = [json.loads(line)["id"] for line in source.read_text("utf-8").splitlines()]
    assert sorted(left) == sorted(kept)


@pytest.mark.covers("K7")
def test_files_in_files_out(tmp_path):
    source = tmp_path / "in.jsonl"
    lines = [json.dumps({"id": i, "text": t, "extra": 1}, ensure_ascii=False) for i, t in DOCUMENTS]
    source.write_text("\n".join([*lines, "not json", '{"id": "no text"}']) + "\n", encoding="utf-8")
    with open_source([str(source)]) as opened:
        result = dedupe_inputs(
            opened, threshold=0.6, groups_out=tmp_path / "g.jsonl", kept_out=tmp_path / "k.jsonl"
        )
    assert [json.loads(line)["id"] for line in (tmp_path / "k.jsonl").read_text("utf-8").splitlines()] == [
        "base", "far", "alone", "empty", "blank"
    ]  # fmt: skip
    (group,) = [json.loads(line) for line in (tmp_path / "g.jsonl").read_text("utf-8").splitlines()]
    assert group == result.groups[0].to_dict()
    assert {o.state for o in result.outcomes} == {"empty", "invalid"}


def test_raw_lines_and_parsed_lines_give_the_same(tmp_path):
    """The quick way from raw JSON and the way through strings are one engine: same groups, same outcomes."""
    source = tmp_path / "in.jsonl"
    odd = [
        "",
        "{}",
        '{"id": 1}',
        '{"id": "\\ud800", "text": "lone surrogate \\udfff here"}',
        '{"id": 2.5, "text": "x"}',
        '{"text": "t", "id": "q", "id": "r"}',
    ]
    lines = [json.dumps({"id": i, "text": t}, ensure_ascii=i == "far") for i, t in DOCUMENTS]
    source.write_text("\n".join([*lines, *odd]) + "\n", encoding="utf-8")
    with open_source([str(source)]) as opened:
        quick = dedupe_inputs(opened, threshold=0.6)
        careful = dedupe_inputs(opened, threshold=0.6, keep="newest")
    assert quick.groups == careful.groups
    assert quick.kept == careful.kept
    assert sorted(map(str, quick.outcomes)) == sorted(map(str, careful.outcomes))


def test_a_budget_of_any_kind_of_whole_number() -> None:
    documents = [("a", "one two three four five"), ("b", "one two three four five")]
    for budget in (np.int64(10**9), 2**63, 10**30):
        assert dedupe(documents, memory_bytes=budget).kept == ("a",)


def test_too_many_workers_for_the_memory_says_what_to_do() -> None:
    with pytest.raises(MemoryTooSmall, match=r"for 1,000,000 workers: give at least .* or fewer workers"):
        dedupe([("a", "one two three")], workers=1_000_000)


def test_the_newest_of_documents_without_times_is_told() -> None:
    text = "one two three four five six"
    none = dedupe([("a", text), ("b", text)], keep="newest")
    assert tuple(map(str, none.notes)) == (
        "no document has a time, so the longest of a group is kept and not the newest: name the field of the time "
        "(--time-field)",
    )
    some = dedupe([{"id": "a", "text": text}, {"id": "b", "text": text, "time": "2024"}], keep="newest")
    assert (some.kept, tuple(map(str, some.notes))) == (
        ("b",),
        ("1 of 2 documents has no time: it counts as the oldest",),
    )
    assert dedupe([], keep="newest").notes == ()


def test_a_preferred_source_of_no_document_is_told() -> None:
    text = "one two three four five six"
    documents = [{"id": "a", "text": text, "source": "press"}, {"id": "b", "text": text, "source": "blog"}]
    told = dedupe(documents, keep="best-source", prefer=["pres", "blog"])
    assert told.kept == ("b",)
    assert tuple(map(str, told.notes)) == (
        "no document is from the source 'pres', did you mean 'press'? Found: 'blog', 'press'",
    )
    assert dedupe(documents, keep="best-source", prefer=["press"]).notes == ()


@pytest.mark.parametrize("given", ["second", "second/", "./second"])
@pytest.mark.parametrize("asked", ["second", "second/", "./second"])
def test_a_preferred_folder_may_be_named_with_a_slash_or_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, asked: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("first", "second"):
        Path(folder).mkdir()
        Path(folder, "a.txt").write_text("one two three four five six")
    with open_source(["first", given]) as inputs:
        told = dedupe_inputs(inputs, keep="best-source", prefer=[asked])
    assert [Path(kept) for kept in told.kept] == [Path("second/a.txt")]
    assert told.notes == ()


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ((1.5, "text"), 1.5),
        ((np.int64(5), "text"), 5),
        ((Decimal("2.50"), "text"), Decimal("2.50")),
        (["list", "text"], "list"),
        ({"id": 7, "text": "text"}, 7),
        (Document(id="d", text="text"), "d"),
    ],
)
def test_ids_in_memory_come_back_in_their_type(item: object, name: object) -> None:
    assert dedupe([item]).kept == (name,)


@pytest.mark.parametrize(
    ("item", "name", "reason"),
    [
        (("", "text"), "", "the field 'id' is empty: it must be a text or a number"),
        ((None, "text"), "", "the field 'id' is null: it must be a text or a number"),
        ((True, "text"), "", "the field 'id' is true or false: it must be a text or a number"),
        ((float("nan"), "text"), "", "the field 'id' is not a number: it must be a text or a number"),
        (([1], "text"), "", "the field 'id' is a list: it must be a text or a number"),
        (("a", 5), "a", "the field 'text' is a number: it must be a text"),
        (("a", b"text"), "a", "the field 'text' is of the type bytes: it must be a text"),
        ({"id": "a"}, "a", "no field 'text'; found 'id'"),
        ({"text": "a"}, "", "no field 'id'; found 'text'"),
        (
            5,
            "",
            "of the type int: it must be a Document, a mapping with 'id' and 'text', or a pair of id and text",
        ),
        (
            ("a",),
            "",
            "of the type tuple: it must be a Document, a mapping with 'id' and 'text', or a pair of id and text",
        ),
    ],
)
def test_what_is_wrong_with_a_document_in_memory_is_told(item: object, name: str, reason: str) -> None:
    result = dedupe([item, ("good", "text")])
    assert result.kept == ("good",)
    assert [(row.state, row.id, row.place, str(row.reason)) for row in result.outcomes] == [
        ("invalid", name, "document 1", reason)
    ]


def test_outcomes_are_listed_in_the_order_of_lines() -> None:
    result = dedupe([*([(None, "text")] * 12), ("a", "text")])
    assert [row.place for row in result.outcomes] == [f"document {number}" for number in range(1, 13)]


def test_a_result_as_a_dictionary_is_what_json_gives_back() -> None:
    result = dedupe(
        [("a", "one two three four"), ("b", "one two three four")], pairs=True, extra_stop_words=("x", "y")
    )
    assert json.loads(json.dumps(result.to_dict())) == result.to_dict()


def test_small_work_needs_no_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all of the system is read-only."""

    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(memory.tempfile, "gettempdir", none)
    monkeypatch.setenv("TMPDIR", "/no/such/folder")
    for method in ("auto", "minhash", "tfidf"):
        documents = [("a", "one two three four five"), ("b", "one two three four five")]
        assert dedupe(documents, method=method).documents == 2


def test_the_function_has_the_options_of_the_job_with_the_same_defaults() -> None:
    ours, of_the_job = (inspect.signature(function).parameters for function in (dedupe, dedupe_inputs))
    names = [name for name in of_the_job if name not in ("source", "groups_out", "kept_out")]
    fields = ["id_field", "text_field", "time_field", "source_field"]
    assert sorted(ours) == sorted(["documents", *names, *fields])
    assert [ours[name].default for name in names] == [of_the_job[name].default for name in names]
