"""`dedupe` takes tables, columns and lists of texts as they are, and gives ids back in the type they were given in."""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import doublet

TEXT = "the boats were locked in the ice until march and nobody in the village minded it much at all "
TEXTS = [TEXT * 2, TEXT * 2 + "indeed", "nothing of this was ever said before in any other text of this list"]
ROWS = [{"id": 7 + 2 * i, "text": text, "time": f"202{i}", "extra": None} for i, text in enumerate(TEXTS)]


@pytest.mark.covers("C3", "K7")
@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        pl.DataFrame,
        lambda rows: pl.DataFrame(rows).lazy(),
        pa.Table.from_pylist,
        pa.RecordBatch.from_pylist,
        list,
        iter,
        lambda rows: [(row["id"], row["text"]) for row in rows],
    ],
    ids=["pandas", "polars", "lazy", "arrow", "batch", "list", "iterator", "pairs"],
)
def test_it_works(make: Callable[[Any], Any]) -> None:
    found = doublet.dedupe(make(ROWS), pairs=True, views=["strict", "families"])
    assert found.kept == (9, 11)
    (group,) = found.groups
    assert (group.keep, group.members[0].id) == (9, 7)
    assert found.pairs is not None
    assert [(pair.a, pair.b) for pair in found.pairs] == [(7, 9)]
    assert found.strict is not None
    assert [set(one) for one in found.strict] == [{7, 9}]
    assert json.loads(json.dumps(found.to_dict()["groups"][0]["keep"])) == 9


@pytest.mark.parametrize(
    ("column", "kept"),
    [
        (TEXTS, (1, 2)),
        (tuple(TEXTS), (1, 2)),
        (pd.Series(TEXTS, index=[5, 6, 8]), (6, 8)),
        (pl.Series(TEXTS), (1, 2)),
        (pa.array(TEXTS), (1, 2)),
        (pa.chunked_array([TEXTS[:1], TEXTS[1:]]), (1, 2)),
        (np.array(TEXTS), (1, 2)),
        (pd.DataFrame({"text": TEXTS}, index=list("xyz")), ("y", "z")),
        (pl.DataFrame({"text": TEXTS}), (1, 2)),
    ],
    ids=["list", "tuple", "series", "polars", "array", "chunked", "numpy", "index", "rows"],
)
def test_texts_without_ids_are_numbered(column: Any, kept: tuple[Any, ...]) -> None:
    assert doublet.dedupe(column).kept == kept


def test_other_columns_and_other_ids() -> None:
    frame = pd.DataFrame({"url": ["u1", "u2", "u3"], "body": TEXTS, "year": [2020, 2023, 2021]})
    found = doublet.dedupe(frame, id_field="url", text_field="body", time_field="year", keep="newest")
    assert found.kept == ("u2", "u3")
    keys = [uuid.UUID(int=i) for i in range(3)]
    assert set(doublet.dedupe(list(zip(keys, TEXTS, strict=True))).kept) == set(keys[1:])
    days = [datetime.date(2026, 1, day) for day in (1, 2, 3)]
    assert set(doublet.dedupe(list(zip(days, TEXTS, strict=True))).kept) == set(days[1:])


def test_the_result_is_the_same_whatever_the_type_of_the_ids() -> None:
    numbers = doublet.dedupe(ROWS).to_dict()
    texts = doublet.dedupe([{**row, "id": str(row["id"])} for row in ROWS]).to_dict()
    assert numbers != texts
    assert [str(group["keep"]) for group in numbers["groups"]] == [g["keep"] for g in texts["groups"]]
    assert [group["id"] for group in numbers["groups"]] == [group["id"] for group in texts["groups"]]


def test_wrong_columns_and_nothing_usable_raise(tmp_path: Path) -> None:
    for table in (pd.DataFrame(ROWS), pl.DataFrame(ROWS), pa.Table.from_pylist(ROWS)):
        with pytest.raises(doublet.InvalidParameter, match="did you mean text"):
            doublet.dedupe(table, text_field="texd")
        with pytest.raises(doublet.InvalidParameter, match="no column 'key'"):
            doublet.dedupe(table, id_field="key")
    with pytest.raises(doublet.RecordInvalid, match="none of the 3 records"):
        doublet.dedupe([{"id": 1, "txt": text} for text in TEXTS])
    with pytest.raises(doublet.RecordInvalid, match="none of the 2 records"):
        doublet.dedupe(pd.DataFrame({"id": [1, 2], "text": [None, float("nan")]}))
    with pytest.raises(doublet.InvalidParameter):
        doublet.dedupe(ROWS, id_field=5)  # type: ignore[arg-type]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in ROWS), "utf-8")
    with pytest.raises(doublet.InvalidParameter, match="did you mean text"):
        doublet.dedupe(file, text_field="texd")
    assert doublet.dedupe([]).documents == 0  # nothing was given: nothing is the answer
    assert doublet.dedupe(["", " "]).documents == 2


def test_files(tmp_path: Path) -> None:
    for name, text in zip("abc", TEXTS, strict=True):
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    found = doublet.dedupe([tmp_path / f"{name}.txt" for name in "abc"])
    assert [Path(id).name for id in found.kept] == ["b.txt", "c.txt"]


def test_a_library_takes_tables_too(tmp_path: Path) -> None:
    with doublet.open_library(tmp_path / "l.db") as library:
        assert library.add(pd.DataFrame(ROWS)).stored == 3
        assert library.add(pl.DataFrame(ROWS)).unchanged == 3
        assert "9" in library


def test_short_repr_and_a_table_for_notebooks() -> None:
    many = [(f"<b>{i}</b>-{copy}", f"{i} " + TEXT.replace("e", str(i))) for i in range(12) for copy in "ab"]
    found = doublet.dedupe(many)
    assert repr(found) == "Deduplication(24 documents, 12 kept, 12 removed, 12 groups, method='auto')"
    shown = found._repr_html_()
    assert "24 documents: 12 kept, 12 removed" in shown
    assert "A document is removed when a kept one resembles it by 0.5 or more" in shown
    assert shown.count("<tr>") == 11  # the head and ten groups
    assert "and 2 more" in shown
    assert "<b>0" not in shown


def test_a_notebook_shows_no_id_raw() -> None:
    found = doublet.dedupe([(f"\u202e\x1b[31m{copy}", TEXT) for copy in "ab"])
    shown = found._repr_html_()
    assert len(found.groups) == 1
    assert "\u202e" not in shown
    assert "\x1b" not in shown
    assert "\ufffd\u241b[31ma" in shown
