"""A report without some of what it found, against a check without it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import doublet
from doublet.jobs.check import check
from doublet.model import Check
from doublet.reports.check_json import read_check

pytestmark = [pytest.mark.covers("K3", "K4")]
REPORTS = Path(__file__).resolve().parents[2] / "golden" / "reports"


def made(seed: int) -> tuple[str, list[tuple[str, str]]]:
    """A work, and sources that share overlapping stretches of it, some edited and some in another order."""
    dice = random.Random(seed)
    words = [f"word{i}" for i in range(400)]
    text = " ".join(words)
    sources = []
    for number in range(7):
        parts = []
        for _ in range(dice.randint(1, 3)):
            start = dice.randrange(360)
            part = words[start : start + dice.randint(12, 90)]
            if dice.random() < 0.4:
                part[dice.randrange(len(part))] = "changed"
            parts.append(" ".join(part))
        sources.append((f"d{number}", " own words between them all ".join(parts)))
    return text, sources


def numbers(result: Check) -> Any:
    return (
        result.share,
        [(s.id, s.share, s.added, [(f.a, f.kind) for f in s.fragments]) for s in result.sources],
        [s.id for s in result.possible_sources],
        result.share_with_all,
        [(one.kind, one.words, one.share_with) for one in result.left_out],
    )


@pytest.mark.parametrize("seed", range(8))
def test_without_sources_as_if_they_had_not_been_there(seed: int) -> None:
    text, sources = made(seed)
    report = json.loads(json.dumps(check(text, sources).to_dict()))
    gone = {"d1", "d4"} & {source["id"] for source in report["sources"]}
    expected = check(text, [one for one in sources if one[0] not in gone])
    found = doublet.rescore(report, without=sorted(gone))
    assert numbers(found) == numbers(expected)
    assert sum(source.added for source in found.sources) == pytest.approx(found.share)
    assert found.parameters["without"] == sorted(gone)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("gone", ["kinds", "fragments"])
def test_without_fragments_no_word_counts_twice(seed: int, gone: str) -> None:
    text, sources = made(seed)
    whole = check(text, sources)
    some = whole.fragments[::2]
    without = ["edited"] if gone == "kinds" else [fragment.id for fragment in some]
    found = doublet.rescore(whole, without=without)
    left = [
        fragment
        for source in whole.sources
        for fragment in source.fragments
        if fragment.id not in without and fragment.kind not in without
    ]
    assert {f.id for s in found.sources for f in s.fragments} == {f.id for f in left}
    covered = {word for f in left if f.a_words for word in range(*f.a_words)}
    assert found.share == pytest.approx(len(covered) / whole.words)
    assert sum(source.added for source in found.sources) == pytest.approx(found.share)


@pytest.mark.parametrize("leave_out", [[], ["quotations"], ["quotations", "bibliography", "common", "own"]])
def test_of_a_library_with_parts_left_out(tmp_path: Path, leave_out: list[str]) -> None:
    text, sources = made(3)
    words = text.split()
    text = " ".join([*words[:60], "«" + words[60], *words[61:95], words[95] + "»", *words[96:]])
    texts = [*sources, ("quoted", " ".join(words[58:97])), ("mine", " ".join(words[200:240]))]
    options: dict[str, Any] = {"leave_out": leave_out, "own": ["mine"]}
    with doublet.open_library(tmp_path / "library.db") as library:
        library.add(texts)
        report = library.check(text, **options)
        assert report.sources
        for gone in (report.sources[0].id, report.sources[-1].id):
            library.remove(gone)
            expected = library.check(text, **options)
            library.add([one for one in texts if one[0] == gone])
            assert numbers(doublet.rescore(report, without=[gone])) == numbers(expected)
            assert numbers(doublet.rescore(report, without=[f"library/{gone}"])) == numbers(expected)
    if leave_out:
        assert report.left_out and report.left_out[0].ranges
        assert numbers(doublet.rescore(report, without=[])) == numbers(report)


def test_nothing_is_changed_by_nothing_and_twice_is_both() -> None:
    text, sources = made(5)
    whole = check(text, sources)
    assert numbers(doublet.rescore(whole, without=[])) == numbers(whole)
    one, two = whole.sources[0].id, whole.sources[1].id
    twice = doublet.rescore(doublet.rescore(whole, without=[one]), without=[two])
    assert numbers(twice) == numbers(doublet.rescore(whole, without=[one, two]))
    assert twice.parameters["without"] == [one, two]


def test_a_source_with_nothing_but_possible_places_left_is_a_possible_one() -> None:
    text, sources = made(1)
    whole = check(text, sources)
    first = whole.sources[0]
    from dataclasses import replace

    perhaps = replace(first.fragments[0], id="s1p1", kind="reworded")
    report = replace(whole, sources=(replace(first, possible=(perhaps,)), *whole.sources[1:]))
    found = doublet.rescore(report, without=[f.id for f in first.fragments])
    assert [source.id for source in found.possible_sources] == [first.id]
    assert found.possible_sources[0].share == 0.0
    assert doublet.rescore(found, without=["s1p1"]).possible_sources == ()


def test_min_share_holds_for_what_is_left() -> None:
    text, sources = made(2)
    whole = check(text, sources, min_share=0.15)
    gone = whole.sources[0].id
    expected = check(text, [one for one in sources if one[0] != gone], min_share=0.15)
    assert numbers(doublet.rescore(whole, without=[gone])) == numbers(expected)


def test_what_cannot_be_taken_out() -> None:
    text, sources = made(0)
    whole = check(text, sources)
    with pytest.raises(doublet.InvalidParameter, match="did you mean 'verbatim'"):
        doublet.rescore(whole, without=["verbatm"])
    with pytest.raises(doublet.InvalidParameter, match="Path"):
        doublet.rescore("report.json", without=[])  # type: ignore[arg-type]


def test_files(tmp_path: Path) -> None:
    text, sources = made(0)
    whole = check(text, sources)
    path = tmp_path / "report.json"
    path.write_text(json.dumps(whole.to_dict()), "utf-8")
    assert numbers(doublet.rescore(path, without=[])) == numbers(whole)
    with pytest.raises(doublet.InputNotFound):
        doublet.rescore(tmp_path / "none.json", without=[])
    path.write_text("{", "utf-8")
    with pytest.raises(doublet.InputUnreadable, match="not a report"):
        doublet.rescore(path, without=[])


def test_a_report_of_an_older_format_opens_and_says_why_it_cannot_be_scored_again() -> None:
    old = REPORTS / "check-1-library.json"
    assert read_check(json.loads(old.read_text("utf-8"))).sources
    with pytest.raises(doublet.InputUnreadable, match="since format 2"):
        doublet.rescore(old, without=[])


def damaged(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    copy = json.loads(json.dumps(value))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return copy


NO_NUMBER = ("x", [], {}, [None], {"a": 1}, 1e400)
NO_TEXT = ([], {}, [None], -1)


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (("words",), (*NO_NUMBER, -1, 10**13)),
        (("documents",), (*NO_NUMBER, -1)),
        (("parameters", "min_share"), NO_NUMBER),
        (("parameters", "without"), (5, [None])),
        (("sources", 0, "id"), NO_TEXT),
        (("sources", 0, "fragments", 0, "id"), NO_TEXT),
        (("sources", 0, "fragments", 0, "kind"), NO_TEXT),
        (("sources", 0, "fragments", 0, "a_words"), (*NO_NUMBER, [0, 10**12], [9, 3], [-1, 3])),
    ],
)
def test_a_damaged_report_is_refused_whatever_is_wrong_with_it(
    path: tuple[Any, ...], values: tuple[Any, ...], tmp_path: Path
) -> None:
    text, sources = made(1)
    report = check(text, sources).to_dict()
    file = tmp_path / "report.json"
    for new in values:
        file.write_text(json.dumps(damaged(report, path, new)))
        with pytest.raises(doublet.InputUnreadable, match="damaged"):
            doublet.rescore(file, without=["edited"])


def test_a_file_that_is_nested_without_end_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("[" * 200_000)
    with pytest.raises(doublet.InputUnreadable, match="not a report"):
        doublet.rescore(tmp_path / "report.json", without=[])
