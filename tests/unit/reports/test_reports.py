"""Results for people and for programs: the same facts, safe to show, the same bytes every time."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.errors import UsageError
from doublet.model import (
    Comparison,
    Deduplication,
    Disguise,
    DisguiseFinding,
    Fragment,
    Group,
    Member,
    Outcome,
    SourceMatch,
    Span,
)
from doublet.reports import terminal, wording
from doublet.reports.curve import plot, svg
from doublet.reports.json_report import json_document, json_line
from doublet.reports.tables import comparison_rows, group_lines, group_rows, write_groups

A = "Intro. The quick brown fox jumps over the lazy dog. The end."
B = "They say the quick brown fox jumps over the lazy dog, and go on."
RESULT = Comparison(
    method="shingles",
    parameters={"shingle_words": 4, "threshold": 0.5},
    resemblance=0.4,
    containment_a=0.75,
    containment_b=0.5,
    similar=False,
    share=0.75,
    share_b=0.692,
    words_a=12,
    words_b=13,
    fragments=(Fragment("1", Span(7, 50), Span(9, 52), "verbatim", 1.0, 9),),
    disguise_a=Disguise((DisguiseFinding("lookalike", 3, 5, (Span(0, 3),), True),)),
    disguise_b=Disguise(),
)
GROUPS = Deduplication(
    method="shingles",
    parameters={"threshold": 0.8, "containment": None},
    documents=5,
    groups=(
        Group("g1", "a", (Member("b", 0.9, 0.95), Member("c", 0.3, 1.0, "a"))),
        Group("g2", 'x,\n"y"', (Member("\ud800", 1.0, 1.0),)),
    ),
    kept=("a", 'x,\n"y"'),
)
COLOURS = re.compile("\x1b\\[[0-9;]*m")


@pytest.mark.covers("K2")
def test_a_comparison_shows_measures_passages_and_disguise() -> None:
    text = terminal.comparison(RESULT, A, B, names=("one.txt", "two.txt"))
    for words in (
        "one.txt",
        "75% of it is in B",
        "resemblance 0.400",
        "A in B 0.750",
        "[1] word for word",
    ):
        assert words in text
    assert "[The quick brown fox jumps over the lazy dog]" in text
    assert "[the quick brown fox jumps over the lazy dog]" in text
    assert "looks disguised on purpose" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("width", [40, 79, 80, 100, 160])
def test_colour_changes_nothing_but_colour_and_lines_fit(width: int) -> None:
    plain = terminal.comparison(RESULT, A, B, width=width)
    coloured = terminal.comparison(RESULT, A, B, width=width, colour=True)
    assert coloured != plain
    assert COLOURS.sub("", coloured) == plain
    passages = plain.split("[1]")[1].splitlines()[1:]
    assert all(terminal.cells(line) <= width for line in passages)


def test_no_fragments() -> None:
    from dataclasses import replace

    text = terminal.comparison(replace(RESULT, fragments=(), share=0.0), A, B)
    assert "No passage is in both texts." in text
    assert "0% of it is in B" in text


@pytest.mark.covers("K2")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"similar": False}, "Not similar as wholes: resemblance 0.400"),
        ({"similar": False, "fragments": (), "share": 0.0}, "Not similar: resemblance"),
        ({"similar": True, "step": "exact"}, "Equal word for word: resemblance"),
        ({"similar": True, "step": "shingles"}, "Similar: resemblance 0.400"),
        ({"similar": True, "step": "meaning", "details": {"aligned": 0.9, "kept": 0.5}}, "Edited, one from"),
        (
            {
                "similar": True,
                "step": "meaning",
                "details": {"aligned": 0.9, "kept": 0.5},
                "fragments": (Fragment("1", Span(7, 50), Span(9, 52), "reworded", 0.5, 9),),
            },
            "Reworded, one from the other or both from a third: aligned 0.900, words kept 0.500",
        ),
        (
            {"similar": True, "method": "simhash", "fragments": ()},
            "There is no passage to show: simhash compares the texts as wholes.",
        ),
        (
            {"fragments": (), "possible": (Fragment("p1", Span(7, 50), Span(9, 52), "reworded", 0.5, 9),)},
            "No passage is in both texts for certain.",
        ),
    ],
)
def test_words_and_numbers_of_a_comparison_agree(change: dict[str, Any], words: str) -> None:
    from dataclasses import replace

    assert words in terminal.comparison(replace(RESULT, **change), A, B)


def test_documents_cannot_steer_the_terminal() -> None:
    evil = "a\x1b[2Jb\rc\x07\u202ed\u200be\x9bf\ud800g\nh"
    shown = terminal.harmless(evil)
    assert not re.search("[\x00-\x1f\x7f-\x9f\u200b\u202e\ud800]", shown)
    assert shown.encode()
    assert {"a", "b", "c", "d", "e", "f", "g", "h"} <= set(shown)


def test_names_in_tables_cannot_steer_the_terminal() -> None:
    shown = terminal.table([["a\x1b[2J\x00\u202eb", "  c\nd"]], header=["id", "title"])
    assert shown == "id        title\na\u241b[2J\u2400\u00b7b    c\u240ad\n"


@given(st.text(max_size=200), st.integers(20, 60))
def test_wrapped_lines_fit_and_lose_no_letter(text: str, width: int) -> None:
    clean = terminal.harmless(text)
    lines = terminal.wrap([(clean, "")], width)
    assert all(sum(terminal.cells(part) for part, _ in line) <= width for line in lines)
    joined = "".join(part for line in lines for part, _ in line)
    assert joined.replace(" ", "") == clean.replace(" ", "")


def test_a_long_passage_is_cut_in_the_middle() -> None:
    text = "start " + "word " * 1000 + "stop"
    shown = "".join(part for part, _ in terminal.excerpt(text, Span(0, len(text))))
    assert "start" in shown
    assert "stop" in shown
    assert " … " in shown
    assert len(shown) < 600


def test_groups_show_the_reason_of_every_removal() -> None:
    text = terminal.deduplication(GROUPS)
    assert "5 documents: 2 kept, 3 removed in 2 groups" in text
    assert "containment off" in text
    assert re.search(r"− {2}b +resemblance 0\.900, containment 0\.950", text)
    assert re.search(r"− {2}c +resemblance 0\.300, containment 1\.000, inside it", text)


def test_no_duplicates_is_an_answer() -> None:
    text = terminal.deduplication(Deduplication("shingles", {}, 3, (), ("a", "b", "c")))
    assert "3 documents: 3 kept, 0 removed" in text
    assert "No duplicates." in text


def test_outcomes_are_counted_and_the_first_ones_named() -> None:
    found = [Outcome("invalid", "", f"x.jsonl:{i}", "no field 'id'") for i in range(9)]
    found += [Outcome("empty", "e", "x.jsonl:10", "no words")]
    text = terminal.outcomes(found)
    assert "9 documents are not valid records" in text
    assert "x.jsonl:0: no field 'id'" in text
    assert "and 4 more" in text
    assert "1 document has no words" in text


def test_json_of_ids_that_utf8_cannot_hold() -> None:
    assert json.loads(json_line({"id": "\ud800"})) == {"id": "\ud800"}
    assert json.loads(json_document({"id": "\ud800"})) == {"id": "\ud800"}
    assert json_line({"b": "ы", "a": 0.1}) == '{"b":"ы","a":0.1}'.encode()


def test_groups_as_lines_and_as_csv_hold_the_same() -> None:
    lines = [json.loads(line) for line in group_lines(GROUPS)]
    assert lines == [group.to_dict() for group in GROUPS.groups]
    rows = list(csv.DictReader(io.StringIO(b"".join(group_rows(GROUPS)).decode(), newline="")))
    assert [(row["group"], row["keep"]) for row in rows] == [("g1", "a"), ("g1", "a"), ("g2", 'x,\n"y"')]
    assert rows[1]["contained_in"] == "a"
    assert rows[0]["contained_in"] == ""
    assert rows[2]["id"] == "\\ud800"


def test_fragments_as_csv() -> None:
    (row,) = csv.DictReader(io.StringIO(b"".join(comparison_rows(RESULT)).decode()))
    assert (row["a_start"], row["b_end"], row["kind"], row["score"]) == ("7", "52", "verbatim", "1.0")


@pytest.mark.parametrize("name", ["g.jsonl", "g.json", "g.csv", "g", "g.jsonl.gz", "g.csv.zst"])
def test_group_files_are_the_same_every_time(tmp_path: Path, name: str) -> None:
    for folder in ("1", "2"):
        (tmp_path / folder).mkdir()
        write_groups(GROUPS, tmp_path / folder / name)
    assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    if name == "g.jsonl.gz":
        assert gzip.decompress((tmp_path / "1" / name).read_bytes()) == b"".join(group_lines(GROUPS))
    if name == "g.json":
        assert json.loads((tmp_path / "1" / name).read_bytes()) == GROUPS.to_dict()


def test_groups_cannot_be_written_as_anything(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.jsonl, \.ndjson, \.json, \.csv"):
        write_groups(GROUPS, tmp_path / "g.xlsx")


def test_a_curve_is_drawn_from_corner_to_corner() -> None:
    points = [(i / 100, (i / 100) ** 3) for i in range(101)]
    drawn = plot(points, width=60, height=10).splitlines()
    assert len(drawn) == 12
    assert drawn[0].startswith(" 1.0 ┤")
    assert drawn[0].rstrip()[-1] not in "┤ "
    assert drawn[9].startswith(" 0.0 ┤")
    assert drawn[9][6] != " "


def test_a_curve_as_a_picture_is_well_formed() -> None:
    picture = ET.fromstring(svg([(0.0, 0.0), (1.0, 1.0)], title="a < b & c"))
    assert picture.find("{*}title").text == "a < b & c"
    assert picture.find("{*}polyline").get("points") == "60.0,360.0 580.0,40.0"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0%"), (1.0, "100%"), (0.372, "37.2%"), (0.00001, "under 0.1%"), (0.99999, "99.9%")],
)
def test_percent(share: float, text: str) -> None:
    assert wording.wording("en").percent(share) == text


def test_numbers_in_words() -> None:
    english = wording.wording("en")
    assert english.size(0) == "0 bytes"
    assert english.size(999) == "999 bytes"
    assert english.size(1_300_000_000) == "1.3 GB"
    assert english.size(130_400_000) == "130 MB"
    assert english.duration(0.2) == "under a second"
    assert english.duration(59.6) == "1 min 0 s"
    assert english.duration(200) == "3 min 20 s"
    assert english.duration(7500) == "2 h 5 min"
    assert english.count(1, "group") == "1 group"
    assert english.count(2400, "group") == "2,400 groups"


def test_the_number_of_a_source_stays_with_its_first_word() -> None:
    from doublet.jobs.check import check
    from doublet.model import Document
    from doublet.reports.check_terminal import check_report

    borrowed = "The boats were locked in the ice until March and nobody in the harbour minded it very much."
    text = f"Some words of mine before it all begins. {borrowed}"
    result = check(text, [Document("s", borrowed)])
    for width in range(40, 70):
        shown = check_report(result, text, width=width)
        assert "[1 The" in shown, shown
        assert "\u00a0" not in shown


@pytest.mark.parametrize(
    ("language", "kinds", "told"),
    [
        ("ru", {"edited": 6, "reworded": 2}, "6 с правкой, 2 пересказа"),
        ("ru", {"reworded": 1, "verbatim": 21}, "1 пересказ, 21 дословно"),
        ("ru", {"moved": 2, "reworded": 5}, "2 с перестановкой, 5 пересказов"),
        (
            "en",
            {"edited": 1, "moved": 2, "reworded": 5, "verbatim": 1},
            "1 edited, 2 moved, 5 reworded, 1 word for word",
        ),
    ],
)
def test_fragments_of_each_kind_are_counted(language: str, kinds: dict[str, int], told: str) -> None:
    from doublet.reports.check_terminal import _source
    from doublet.reports.terminal import Painter

    parts = tuple(
        Fragment(f"{kind}{n}", Span(0, 1), Span(0, 1), kind, 1.0, 1)
        for kind, many in kinds.items()
        for n in range(many)
    )
    source = SourceMatch("s", "", 0.5, 0.5, 0.5, 0.5, parts)
    (line,) = _source(1, source, "", 80, Painter(False), wording.wording(language))
    assert told in line.replace("\u00a0", " ")


def test_what_was_turned_round_is_told_as_not_undone() -> None:
    from doublet.reports.terminal import Painter, disguise_lines
    from doublet.text.disguise import find_disguise

    found = find_disguise("\u202eаньшаб яанропанодоВ\u202c и обычный текст")
    lines = disguise_lines("A", found, Painter(False), wording.wording())
    assert lines[0] == "  A: invisible characters between words: 2"
    assert "18 characters in 2 words, not undone" in lines[1]
    assert "on purpose" in lines[2]


def test_an_outcome_is_named_once_and_briefly() -> None:
    found = [
        Outcome("unreadable", "sub/a.txt", "texts/sub/a.txt", "is gone"),
        Outcome("unreadable", "7", "corpus.jsonl:2", "is gone"),
        Outcome("unreadable", "x" * 100_000, "corpus.jsonl:3", "is gone"),
    ]
    lines = terminal.outcomes(found).splitlines()[1:]
    assert lines[:2] == ["  texts/sub/a.txt: is gone", "  corpus.jsonl:2 7: is gone"]
    assert lines[2].startswith("  corpus.jsonl:3 xxx") and "…" in lines[2] and len(lines[2]) < 300


def test_there_is_one_escaper_and_one_shell() -> None:
    """What is harmless in a page is decided in one place: also for notebooks, pictures, and answers of the service
    that Django has no part in. Its pages have one template."""
    package = Path(terminal.__file__).parents[1]
    texts = {
        path.relative_to(package).as_posix(): path.read_text(encoding="utf-8")
        for path in package.rglob("*.py")
    }
    del texts["reports/page.py"]
    escapers = r"html\.escape\(|html import escape|utils\.html import|replace\(\"<\", \"&lt;\"\)"
    assert not [name for name, text in texts.items() if re.search(escapers, text)]
    assert not [name for name, text in texts.items() if "<html lang" in text]


def test_a_title_cannot_change_a_picture() -> None:
    drawn = svg([(0, 0), (1, 1)], title="\u202e<b>\x1b&")
    assert "\ufffd&lt;b&gt;\u241b&amp;" in drawn
    ET.fromstring(drawn)


def test_the_settings_have_the_decimal_mark_of_the_language() -> None:
    shown = {
        language: terminal.comparison(RESULT, A, B, language=language).replace("\u00a0", " ")
        for language in ("en", "ru")
    }
    assert "threshold 0.5" in shown["en"]
    assert "threshold 0,5" in shown["ru"] and "0.5" not in shown["ru"]
    assert wording.wording("ru").value((0.25, 3, "1.5", True)) == "0,25, 3, 1.5, да"
