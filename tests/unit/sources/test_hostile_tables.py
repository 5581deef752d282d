"""Tables as they are met: damaged, of old programs, with columns of every type. What can be read is read, the rest is
told."""

from __future__ import annotations

import datetime
import decimal
import gzip
import itertools
import json
import lzma
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from doublet.errors import InputUnreadable
from doublet.jobs.dedupe import dedupe_inputs
from doublet.model import Outcome
from doublet.sources.open import open_source

TEXT = "the boats were locked in the ice until March"


def read(path: Path | str, **options: Any) -> tuple[dict[str, str], list[Outcome]]:
    """Ids with their texts, and what could not be used."""
    found: dict[str, str] = {}
    outcomes: list[Outcome] = []
    with open_source([str(path)], **options) as source:
        for batch in source.batches():
            parsed = batch.parse()
            found |= dict(zip(parsed.ids, parsed.texts, strict=True))
            outcomes += parsed.outcomes
    return found, outcomes


def line(name: str, text: str = TEXT) -> bytes:
    return json.dumps({"id": name, "text": text}).encode() + b"\n"


def table(path: Path, columns: dict[str, Any]) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_what_comes_before_the_damage_of_a_small_file_is_read(tmp_path: Path) -> None:
    data = b"".join(line(str(number), os.urandom(300).hex()) for number in range(50))
    for name, packed, packer in (
        ("gz", gzip.compress(data), gzip.compress),
        ("xz", lzma.compress(data), lzma.compress),
    ):
        cut = tmp_path / f"cut.jsonl.{name}"
        cut.write_bytes(packed[: len(packed) * 3 // 4])
        found, outcomes = read(cut)
        assert 20 < len(found) < 50
        assert [outcome.state for outcome in outcomes] == ["unreadable"]
        assert "the compressed file is cut off; what follows could not be read" in str(outcomes[0].reason)
        more = tmp_path / f"more.jsonl.{name}"
        more.write_bytes(packer(data) + b"something else")
        found, outcomes = read(more)
        assert len(found) == 50
        # The library of xz takes what follows for padding.
        assert ["damaged" in str(outcome.reason) for outcome in outcomes] == ([True] if name == "gz" else [])


def test_a_byte_order_mark_in_the_middle(tmp_path: Path) -> None:
    """Files that were joined with cat."""
    file = tmp_path / "joined.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + line("a") + b"\xef\xbb\xbf" + line("b"))
    assert read(file) == ({"a": TEXT, "b": TEXT}, [])
    with open_source([str(file)]) as source:
        result = dedupe_inputs(source)
    assert (result.kept, result.outcomes) == (("a",), ())


def test_a_block_of_zeros_costs_its_lines_only(tmp_path: Path) -> None:
    """As a disk leaves behind when the current fails."""
    file = tmp_path / "crashed.jsonl"
    file.write_bytes(line("a") + b"\x00" * 4096 + b"\n" + line("b"))
    found, outcomes = read(file)
    assert set(found) == {"a", "b"}
    assert [(outcome.state, outcome.place) for outcome in outcomes] == [("invalid", f"{file}:2")]
    rows = tmp_path / "crashed.csv"
    rows.write_bytes(b"id,text\n1,one\x00 two\n2,three\n")
    assert read(rows) == ({"1": "one\x00 two", "2": "three"}, [])


def test_a_binary_file_under_the_name_of_a_table_is_refused(tmp_path: Path) -> None:
    contents = (bytes(range(256)) * 20, b"\x00\x01\x02" * 1000, b"\x00" * 4096 + b"\n")
    for name, content in itertools.product(("corpus.jsonl", "corpus.csv"), contents):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputUnreadable, match="is a binary file"):
            open_source([str(tmp_path / name)])


def test_rows_that_end_as_on_old_macs(tmp_path: Path) -> None:
    file = tmp_path / "old.csv"
    file.write_bytes(b'id,text\r1,"one\rtwo"\r2,three\r')
    assert read(file) == ({"1": "one\ntwo", "2": "three"}, [])


def test_a_stray_carriage_return_is_told_in_words(tmp_path: Path) -> None:
    file = tmp_path / "stray.csv"
    file.write_bytes(b"id,text\n1,one\rtwo\n2,three\n")
    found, outcomes = read(file)
    assert found == {"2": "three"}
    assert str(outcomes[0].reason) == "not valid CSV: a line break inside a field that has no quotation marks"


def test_rows_of_another_length(tmp_path: Path) -> None:
    file = tmp_path / "ragged.csv"
    file.write_bytes(b"id,text\n1\n2,a,b\n")
    _, outcomes = read(file)
    assert [str(outcome.reason).partition(":")[0] for outcome in outcomes] == [
        "the row has 1 field, the header has 2",
        "the row has 3 fields, the header has 2",
    ]


def test_numbers_that_are_none_are_no_ids(tmp_path: Path) -> None:
    file = tmp_path / "numbers.jsonl"
    file.write_bytes(b'{"id": NaN, "text": "x"}\n{"id": Infinity, "text": "x"}\n{"id": 1e400, "text": "x"}\n')
    found, outcomes = read(file)
    assert set(found) == {"1e400"}
    assert [
        "is not a number: it must be a text or a number" in str(outcome.reason) for outcome in outcomes
    ] == [
        True,
        True,
    ]
    found, outcomes = read(table(tmp_path / "n.parquet", {"id": [1.0, float("nan")], "text": ["x", "y"]}))
    assert set(found) == {"1.0"}
    assert "the field 'id' is not a number" in str(outcomes[0].reason)


@pytest.mark.parametrize("digits", [19, 400, 4300, 9000])
def test_numbers_of_any_length_are_read(tmp_path: Path, digits: int) -> None:
    file = tmp_path / "long.jsonl"
    number = b"9" * digits
    file.write_bytes(
        b'{"id": %s, "text": "one"}\n{"id": "b", "n": %s, "text": "two"}\n' % (number, number)
        + b'{"id": -%s.5, "text": "three", "n": NaN}\n' % number
    )
    names = {number.decode(): "one", "b": "two", f"-{number.decode()}.5": "three"}
    assert read(file) == (names, [])
    with open_source([str(file)]) as source:
        assert dedupe_inputs(source).outcomes == ()


def test_deep_nesting_is_told_as_what_it_is(tmp_path: Path) -> None:
    file = tmp_path / "deep.jsonl"
    file.write_bytes(
        line("a") + b'{"id": "b", "text": "x", "more": ' + b"[" * 10_000 + b"]" * 10_000 + b"}\n"
    )
    found, outcomes = read(file)
    assert set(found) == {"a"}
    assert str(outcomes[0].reason) == "its lists and objects are nested too deeply to be read"


def test_columns_inside_columns(tmp_path: Path) -> None:
    rows = [{"id": "a", "inner": {"text": TEXT}}, None, {"id": "c", "inner": None}]
    file = table(tmp_path / "nested.parquet", {"meta": rows, "other": [1, 2, 3]})
    found, outcomes = read(file, id_field="meta.id", text_field="meta.inner.text")
    assert found == {"a": TEXT}
    assert [str(outcome.reason) for outcome in outcomes] == [
        "the field 'meta.id' is null: it must be a text or a number",
        "the field 'meta.inner.text' is null: it must be a text",
    ]
    with pytest.raises(InputUnreadable, match=r"did you mean 'meta.id'\? Its columns are: 'meta', 'meta.id'"):
        open_source([str(file)], id_field="meta.ids", text_field="meta.inner.text")


def test_a_column_whose_name_has_a_dot(tmp_path: Path) -> None:
    file = table(tmp_path / "dots.parquet", {"doc.id": ["a"], "doc.text": [TEXT]})
    assert read(file, id_field="doc.id", text_field="doc.text") == ({"a": TEXT}, [])


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    both = pa.Table.from_arrays(
        [pa.array(["a"]), pa.array([TEXT]), pa.array(["b"])], names=["id", "text", "id"]
    )
    pq.write_table(both, tmp_path / "twice.parquet")
    with pytest.raises(InputUnreadable, match="has several columns named 'id'"):
        open_source([str(tmp_path / "twice.parquet")])


def test_lists_and_objects_are_no_ids_in_parquet_either(tmp_path: Path) -> None:
    _, outcomes = read(table(tmp_path / "lists.parquet", {"id": [[1], [2]], "text": ["x", "y"]}))
    assert {str(outcome.reason) for outcome in outcomes} == {
        "the field 'id' is a list: it must be a text or a number"
    }
    _, outcomes = read(table(tmp_path / "objects.parquet", {"id": [{"a": 1}], "text": ["x"]}))
    assert "is an object" in str(outcomes[0].reason)


def test_ids_of_other_types(tmp_path: Path) -> None:
    for values, names in (
        ([datetime.date(2024, 5, 31)], {"2024-05-31"}),
        ([decimal.Decimal("1.50")], {"1.50"}),
        ([b"\x00\xff"], {"00ff"}),
        (pa.array(["a"]).dictionary_encode(), {"a"}),
        (pa.array(["a"], pa.large_string()), {"a"}),
    ):
        found, outcomes = read(table(tmp_path / "one.parquet", {"id": values, "text": [TEXT]}))
        assert (set(found), outcomes) == (names, [])


def test_bytes_are_written_as_the_text_they_were_read_as(tmp_path: Path) -> None:
    columns = {"id": [b"\x01"], "text": [TEXT.encode()], "more": [[b"\xff", b"plain"]], "in": [{"b": b"x"}]}
    file = table(tmp_path / "bytes.parquet", columns)
    with open_source([str(file)]) as source:
        source.write_kept(tmp_path / "kept.jsonl", lambda _: True)
    kept = json.loads((tmp_path / "kept.jsonl").read_text())
    assert kept == {"id": "01", "text": TEXT, "more": ["ff", "plain"], "in": {"b": "x"}}
    assert set(read(tmp_path / "kept.jsonl")[0]) == set(read(file)[0])


def test_a_link_to_nowhere_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text(TEXT)
    (tmp_path / "texts" / "b.txt").symlink_to("gone.txt")
    found, outcomes = read(tmp_path / "texts")
    assert set(found) == {"a.txt"}
    assert str(outcomes[0].reason) == "is a link to 'gone.txt', which is not there"


def test_a_folder_that_may_not_be_read_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "a.txt").write_text(TEXT)
    scan = os.scandir

    def guarded(path: Any) -> Any:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", guarded)
    found, outcomes = read(tmp_path)
    assert set(found) == {"a.txt"}
    assert [(outcome.state, outcome.place) for outcome in outcomes] == [
        ("unreadable", str(tmp_path / "closed"))
    ]
    assert "you have no permission" in str(outcomes[0].reason)


def test_one_hidden_file_is_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / ".b.txt").write_text(TEXT)
    with open_source([str(tmp_path)]) as source:
        assert list(map(str, source.notes)) == [f"{tmp_path}: 1 hidden file or folder was left out"]


def test_strings_of_parquet_that_are_not_utf8(tmp_path: Path) -> None:
    """Other programs write them; Arrow notices only when a string is asked for."""

    def strings(*values: bytes) -> Any:
        return pa.Array.from_buffers(pa.string(), len(values), pa.array(values, pa.binary()).buffers())

    good = TEXT.encode()
    columns = {
        "id": strings(b"a", b"b", b"\xff", b"d"),
        "text": strings(good, good[:4] + b"\xff", good, good),
        "time": strings(b"2024", b"2024", b"2024", b"20\xff24"),
        "more": strings(b"\xfe!", b"", b"", b"x\xfe"),
    }
    file = table(tmp_path / "broken.parquet", columns)
    found, outcomes = read(file, time_field="time")
    assert found == {"a": TEXT, "d": TEXT}
    assert [(outcome.state, outcome.id, outcome.place, str(outcome.reason)) for outcome in outcomes] == [
        ("invalid", "b", f"{file}: row 2", "the field 'text' is not valid UTF-8 at byte 5"),
        ("invalid", "", f"{file}: row 3", "the field 'id' is not valid UTF-8 at byte 1"),
    ]
    for name in ("kept.jsonl", "kept.parquet", "kept.txt"):
        with open_source([str(file)], time_field="time") as source:
            dedupe_inputs(source, kept_out=tmp_path / name, keep="newest")
    assert json.loads((tmp_path / "kept.jsonl").read_text()) == {
        "id": "a",
        "text": TEXT,
        "time": "2024",
        "more": "\ufffd!",
    }
    assert pq.read_table(tmp_path / "kept.parquet").num_rows == 1
