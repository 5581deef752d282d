"""Records with one id: which of them is used does not depend on the order of the input, and the numbers add up."""

from __future__ import annotations

import itertools
import json
import pathlib
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublet.jobs.dedupe import dedupe, dedupe_inputs
from doublet.jobs.dedupe.repeated import digests
from doublet.model import Deduplication
from doublet.reports.terminal import deduplication
from doublet.sources.open import open_source

SAME_WORDS = [
    {"id": "x", "text": "The boats were locked in the ice until March.", "n": 1},
    {"id": "x", "text": "The boats were locked in the ice until March.", "n": 2},
    {"id": "x", "text": "THE BOATS, were locked (in the ice) until March!", "n": 3},
    {"id": "y", "text": "Nobody in the village minded it much.", "n": 4},
]


def kept_of(rows: Sequence[Any], folder: pathlib.Path, name: str = "in.jsonl", **options: Any) -> list[str]:
    path, out = folder / name, folder / f"kept-{name}"
    if name.endswith(".csv"):
        path.write_text("id,text,n\n" + "\n".join(rows), encoding="utf-8")  # no line break at the end
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with open_source([str(path)], time_field=options.pop("time_field", None)) as source:
        dedupe_inputs(source, kept_out=out, **options)
    return sorted(out.read_text(encoding="utf-8").splitlines())


@pytest.mark.covers("C3")
@pytest.mark.parametrize("method", ["auto", "minhash"])
def test_equal_words_and_one_id_leave_the_same_record_in_any_order(
    tmp_path: pathlib.Path, method: str
) -> None:
    found = {tuple(kept_of(rows, tmp_path, method=method)) for rows in itertools.permutations(SAME_WORDS)}
    assert len(found) == 1
    assert len(found.pop()) == 2


def test_rows_of_a_table_that_differ_in_their_quotes(tmp_path: pathlib.Path) -> None:
    rows = ["x,some words of a text,1", 'x,"some words of a text",1', 'x,some words of a text,"1"']
    found = {tuple(kept_of(some, tmp_path, "in.csv")) for some in itertools.permutations(rows)}
    assert len(found) == 1


def test_records_that_are_equal_to_the_byte(tmp_path: pathlib.Path) -> None:
    assert len(kept_of([SAME_WORDS[0]] * 3, tmp_path)) == 1


def test_the_preferred_record_of_an_id_is_used(tmp_path: pathlib.Path) -> None:
    rows = [
        {"id": "x", "text": "the older and much longer version of the text", "time": "2020-01-01"},
        {"id": "x", "text": "the newer version", "time": "2024-01-01"},
    ]
    for some in itertools.permutations(rows):
        (longest,) = kept_of(some, tmp_path)
        assert "longer" in longest
        (first,) = kept_of(some, tmp_path, keep="first")
        assert "longer" in first
        (newest,) = kept_of(some, tmp_path, keep="newest", time_field="time")
        assert "newer" in newest


def test_in_memory_the_text_decides() -> None:
    """The words are the same and the sets of shingles too: the text tells two records apart."""
    rows = [("x", "one two three four"), ("x", "One two three four"), ("y", "five six seven eight nine")]
    found = {json.dumps(dedupe(some).to_dict()) for some in itertools.permutations(rows)}
    assert len(found) == 1

    class Source:
        def batches(self) -> Any:
            from doublet.jobs.dedupe import Documents

            return Documents(rows).batches()

    import numpy as np

    told = digests(Source(), np.array([0, 1], np.uint64))
    assert told[0].tolist() != told[1].tolist()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.text("ab .", max_size=12)), max_size=8),
    st.randoms(use_true_random=False),
)
def test_any_order_gives_the_same_result(rows: list[tuple[str, str]], rng: Any) -> None:
    shuffled = list(rows)
    rng.shuffle(shuffled)
    first, second = dedupe(rows, shingle_words=2), dedupe(shuffled, shingle_words=2)
    assert first.to_dict() == second.to_dict()
    assert first.documents == len(first.kept) + first.removed + first.left_out


def test_the_numbers_of_the_summary_add_up() -> None:
    text = "The boats were locked in the ice until March."
    rows = [("a", text), ("b", text), ("c", text), *(("d", f"other words {i}") for i in range(3)), ("e", "")]
    result = dedupe(rows)
    assert (result.documents, len(result.kept), result.removed, result.left_out) == (7, 3, 2, 2)
    assert result.to_dict()["left_out"] == 2
    head = "7 documents: 3 kept, 2 removed in 1 group, 2 left out (other documents have their ids)\n"
    assert deduplication(result).startswith(head)
    one = dedupe(rows[:-2])
    assert "1 left out (another document has its id)" in deduplication(one)


def test_no_word_of_what_did_not_happen() -> None:
    result = dedupe([("a", "some words"), ("b", "other things")])
    assert result.left_out == 0
    assert "left out" not in deduplication(result)
    assert Deduplication("auto", {}, 0, (), ()).left_out == 0
