"""Every kind of input gives the same documents; bad records become rows with a reason, never a stop."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from doublet.errors import InputNotFound, InputUnreadable, UsageError
from doublet.model import Outcome
from doublet.sources.open import Inputs, open_source, table_suffix, tell_kind
from doublet.sources.records import Fields, ParsedBatch, RecordSource

RECORDS = [
    {"id": "a", "text": "Рано утром рыбак вышел к реке."},
    {"id": "b", "text": 'He said "yes", and\nwent on; twice.'},
    {"id": "7", "text": ""},
    {"id": "d", "text": "the last one"},
]


def lines(records: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


def table(records: list[dict[str, Any]], delimiter: str = ",") -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(records[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue().encode()


def parquet(records: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records), out)
    return out.getvalue()


FORMS: dict[str, Callable[[list[dict[str, Any]]], bytes]] = {
    "docs.jsonl": lines,
    "docs.ndjson": lines,
    "docs": lines,
    "wrong-suffix.csv": lines,
    "docs.jsonl.gz": lambda records: gzip.compress(lines(records)),
    "docs.jsonl.zst": lambda records: zstandard.ZstdCompressor().compress(lines(records)),
    "no-suffix-gz": lambda records: gzip.compress(lines(records)),
    "docs.json": lambda records: json.dumps(records).encode(),
    "pretty.json": lambda records: json.dumps(records, indent=2).encode(),
    "objects.json": lambda records: b"\n".join(json.dumps(record, indent=1).encode() for record in records),
    "docs.csv": table,
    "semicolons.csv": lambda records: table(records, ";"),
    "bom.csv": lambda records: b"\xef\xbb\xbf" + table(records),
    "docs.tsv": lambda records: table(records, "\t"),
    "docs.parquet": parquet,
    "parquet-by-another.name": parquet,
    "cp1251.jsonl": lambda records: lines(records * 20).decode().encode("windows-1251"),
    "utf16.jsonl": lambda records: lines(records).decode().encode("utf-16"),
}


def parse(source: Inputs, **limits: int) -> tuple[list[tuple[str, str]], list[Outcome]]:
    parsed = [batch.parse() for batch in source.batches(**limits)]
    documents = [(i, t) for part in parsed for i, t in zip(part.ids, part.texts, strict=True)]
    return documents, [outcome for part in parsed for outcome in part.outcomes]


def read(*names: Path | str, **options: Any) -> tuple[list[tuple[str, str]], list[Outcome]]:
    with open_source([str(name) for name in names], **options) as source:
        return parse(source)


def put(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.covers("T1")
@pytest.mark.parametrize("name", FORMS)
def test_it_works(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, name, FORMS[name](RECORDS))
    documents, outcomes = read(path)
    wanted = [(record["id"], record["text"]) for record in RECORDS]
    assert documents == (wanted * 20 if name.startswith("cp1251") else wanted)
    assert outcomes == []


@pytest.mark.parametrize("name", ["docs.jsonl", "docs.json", "docs.csv", "docs.parquet"])
def test_any_size_of_batches_gives_the_same(tmp_path: Path, name: str) -> None:
    records = [{"id": str(i), "text": f"text {i} " * (i % 7)} for i in range(500)]
    path = put(tmp_path, name, FORMS[name](records))
    with open_source([str(path)]) as source:
        assert isinstance(source, RecordSource)
        wanted, _ = parse(source)
        for max_records, max_bytes in ((1, 100), (7, 1000), (1000, 64), (3, 10**6)):
            batches = list(source.batches(max_records, max_bytes))
            assert [i for batch in batches for i in batch.parse().ids] == [i for i, _ in wanted]
            if name != "docs.jsonl":  # whose blocks are cut by bytes alone
                assert all(batch.count <= max_records for batch in batches)
            positions = [p for batch in batches for p in batch.parse().positions]
            assert positions == list(range(len(records)))
            assert batches[-1].consumed_bytes == source.total_bytes == path.stat().st_size
            assert all(isinstance(batch.parse(), ParsedBatch) for batch in batches)


def test_numbers_become_ids_as_they_were_written(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "n.jsonl",
        '{"id": 7, "text": "a"}\n{"id": 1.10, "text": "b"}\n'
        '{"id": 123456789012345678901234567890, "text": "c"}\n{"id": -0, "text": "d"}\n',
    )
    documents, outcomes = read(path)
    assert [i for i, _ in documents] == ["7", "1.10", "123456789012345678901234567890", "0"]
    assert outcomes == []


BAD_LINES = [
    ('{"text": "x"}', "no field 'id'; found 'text'", ""),
    ('{"id": "k"}', "no field 'text'; found 'id'", "k"),
    ('{"id": "k", "text": 5}', "'text' is a number", "k"),
    ('{"id": "k", "text": null}', "'text' is null", "k"),
    ('{"id": "k", "text": ["a"]}', "'text' is a list", "k"),
    ('{"id": true, "text": "a"}', "'id' is true or false", ""),
    ('{"id": {}, "text": "a"}', "'id' is an object", ""),
    ('{"id": "", "text": "a"}', "'id' is empty", ""),
    ("[1, 2]", "not a JSON object but a list", ""),
    ('"word"', "not a JSON object but a text", ""),
    ('{"id": "k", "text": "a', "not valid JSON", ""),
    ('{"id": "k", "text": "a"} x', "not valid JSON", ""),
    ("plain words", "not valid JSON", ""),
    ("{}", "the record has no fields", ""),
    ("[" * 100_000, "nested too deeply to be read", ""),
]


@pytest.mark.covers("T1")
@pytest.mark.parametrize(("line", "reason", "identifier"), BAD_LINES)
def test_a_bad_line_is_a_row_with_its_place(tmp_path: Path, line: str, reason: str, identifier: str) -> None:
    path = put(
        tmp_path, "bad.jsonl", f'{{"id": "1", "text": "good"}}\n{line}\n{{"id": "3", "text": "too"}}\n'
    )
    documents, outcomes = read(path)
    assert documents == [("1", "good"), ("3", "too")]
    (outcome,) = outcomes
    assert reason in str(outcome.reason)
    assert (outcome.state, outcome.id, outcome.place) == ("invalid", identifier, f"{path}:2")


def test_lines_that_only_pythons_reader_takes(tmp_path: Path) -> None:
    path = put(
        tmp_path, "odd.jsonl", '{"id": "s", "text": "a \\ud800 b"}\n{"id": "n", "text": "x", "score": NaN}\n'
    )
    documents, outcomes = read(path)
    assert documents == [("s", "a \ud800 b"), ("n", "x")]
    assert outcomes == []


def test_invalid_utf8_in_one_line_is_one_row(tmp_path: Path) -> None:
    good = '{"id": "1", "text": "вполне хорошая строка"}\n'.encode()
    path = put(tmp_path, "bad.jsonl", good + b'{"id": "2", "text": "\xff\xfe"}\n' + good)
    documents, outcomes = read(path)
    assert len(documents) == 2
    assert [outcome.place for outcome in outcomes] == [f"{path}:2"]
    assert "not valid UTF-8" in str(outcomes[0].reason)


def test_blank_lines_and_windows_line_ends_are_no_records(tmp_path: Path) -> None:
    path = put(tmp_path, "x.jsonl", '\n  \r\n{"id": "1", "text": "a"}\r\n\r\n{"id": "2", "text": "b"}')
    documents, outcomes = read(path)
    assert documents == [("1", "a"), ("2", "b")]
    assert outcomes == []


@pytest.mark.parametrize("name", ["big.jsonl", "big.json", "big.csv"])
def test_a_record_over_the_limit_is_left_out_and_named(tmp_path: Path, name: str) -> None:
    records = [
        {"id": "1", "text": "good"},
        {"id": "huge", "text": "word " * 20_000},
        {"id": "3", "text": "too"},
    ]
    path = put(tmp_path, name, FORMS["docs" + path_suffix(name)](records))
    with open_source([str(path)], max_record_bytes=40_000) as source:
        documents, outcomes = parse(source, max_bytes=1000)
    assert documents == [("1", "good"), ("3", "too")]
    (outcome,) = outcomes
    assert outcome.state == "too_large"
    assert outcome.id == ("" if name.endswith("csv") else "huge")


def path_suffix(name: str) -> str:
    return Path(name).suffix


def test_nested_fields_and_places_as_ids(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "x.jsonl",
        '{"meta": {"url": "u1"}, "body": {"text": "a"}}\n{"meta": {"url": 5}, "body": {}}',
    )
    documents, outcomes = read(path, id_field="meta.url", text_field="body.text")
    assert documents == [("u1", "a")]
    assert "no field 'body.text'" in str(outcomes[0].reason)
    assert read(path, id_field="@place", text_field="body.text")[0] == [(f"{path}:1", "a")]


def test_time_and_source(tmp_path: Path) -> None:
    path = put(
        tmp_path, "x.jsonl", '{"id": 1, "text": "a", "at": 2020, "site": "s"}\n{"id": "2", "text": "b"}\n'
    )
    with open_source([str(path)], time_field="at", source_field="site") as source:
        (batch,) = [batch.parse() for batch in source.batches()]
    assert batch.times == ["2020", ""]
    assert batch.sources == ["s", str(path)]
    assert batch.sizes == [47, 24]


def test_an_empty_file_has_no_documents_and_says_so(tmp_path: Path) -> None:
    for name, content in (
        ("e.jsonl", b""),
        ("b.jsonl", b" \n\n"),
        ("e.csv", b""),
        ("e.txt.gz", gzip.compress(b"")),
    ):
        with open_source([str(put(tmp_path, name, content))]) as source:
            assert parse(source) == ([], [])
            assert "is empty" in str(source.notes[0])


@pytest.mark.parametrize("content", [b"%PDF-1.4 \x00\x01", bytes(range(256)), b"\x89PNG\r\n\x1a\n\x00"])
def test_a_binary_file_is_one_error_not_many_rows(tmp_path: Path, content: bytes) -> None:
    path = put(tmp_path, "corpus.jsonl", content * 1000)
    with pytest.raises(InputUnreadable, match="JSON lines"):
        read(path)


def test_a_missing_file_suggests_the_nearest_name(tmp_path: Path) -> None:
    put(tmp_path, "corpus.jsonl", b"{}")
    with pytest.raises(InputNotFound, match=r"did you mean 'corpus\.jsonl'"):
        read(tmp_path / "corpus.json")


def test_one_unreadable_input_does_not_stop_the_others(tmp_path: Path) -> None:
    good = put(tmp_path, "good.jsonl", lines(RECORDS))
    bad = put(tmp_path, "bad.jsonl", b"\x7fELF\x00\x00" * 100)
    documents, outcomes = read(bad, good)
    assert len(documents) == len(RECORDS)
    assert [(o.state, o.place) for o in outcomes] == [("unreadable", str(bad))]


def test_a_cut_off_archive_gives_what_is_there_and_a_row(tmp_path: Path) -> None:
    packed = gzip.compress(lines([{"id": str(i), "text": os.urandom(40).hex()} for i in range(2000)]))
    path = put(tmp_path, "cut.jsonl.gz", packed[:-9000])
    documents, outcomes = read(path)
    assert 100 < len(documents) < 2000
    assert outcomes[-1].state == "unreadable"
    assert "cut off" in str(outcomes[-1].reason)


def test_no_input_and_an_input_named_twice(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        open_source([])
    path = put(tmp_path, "x.jsonl", lines(RECORDS))
    with open_source([str(path), f"{tmp_path}/./x.jsonl"]) as source:
        assert len(parse(source)[0]) == len(RECORDS)
        assert "named twice" in str(source.notes[0])


def test_a_file_that_changes_between_two_walks_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, "x.jsonl", lines(RECORDS))
    with open_source([str(path)]) as source:
        parse(source)
        put(tmp_path, "x.jsonl", lines(RECORDS[:1]))
        with pytest.raises(InputUnreadable, match="changed"):
            parse(source)


def test_a_csv_without_the_wanted_columns_names_those_it_has(tmp_path: Path) -> None:
    path = put(tmp_path, "x.csv", b"doc_id,body\n1,a\n")
    with pytest.raises(InputUnreadable, match=r"no column 'id'.*'doc_id', 'body'.*--id-field"):
        read(path)
    with pytest.raises(InputUnreadable, match=r"no column 'text'.*--text-field"):
        read(path, id_field="doc_id")
    assert read(path, id_field="doc_id", text_field="body")[0] == [("1", "a")]


def test_a_csv_row_with_too_few_fields_is_a_row(tmp_path: Path) -> None:
    path = put(tmp_path, "x.csv", b"id,text\n1,a\n2\n3,c,d\n4,e\n")
    documents, outcomes = read(path)
    assert documents == [("1", "a"), ("4", "e")]
    assert [outcome.place for outcome in outcomes] == [f"{path}:3", f"{path}:4"]
    assert "2" in outcomes[0].id


def test_a_quotation_mark_that_is_never_closed_names_the_lines_that_are_lost(tmp_path: Path) -> None:
    path = put(tmp_path, "x.csv", b'id,text\n1,a\n2,"b\n3,c\n4,d\n')
    documents, outcomes = read(path)
    assert documents == [("1", "a")]
    assert "lines 3 to 5" in str(outcomes[0].reason)


def test_places_in_a_csv_count_lines_not_rows(tmp_path: Path) -> None:
    path = put(tmp_path, "x.csv", b'id,text\n1,"two\nlines"\n2\n')
    _, outcomes = read(path)
    assert outcomes[0].place == f"{path}:4"


def test_a_huge_csv_field_is_read(tmp_path: Path) -> None:
    text = "word " * 100_000  # beyond the limit that the csv module has by itself
    assert read(put(tmp_path, "x.csv", table([{"id": "1", "text": text}])))[0] == [("1", text)]


def test_invalid_utf8_in_a_csv_is_a_row(tmp_path: Path) -> None:
    path = put(tmp_path, "x.csv", "id,text\n1,хорошо\n2,".encode() + b"\xff\xfe" + ",\n3,да\n4,ну\n".encode())
    documents, outcomes = read(path)
    assert [i for i, _ in documents] == ["1", "3", "4"]
    assert outcomes[0].place == f"{path}:3"


def test_a_damaged_parquet_file_says_so(tmp_path: Path) -> None:
    whole = parquet(RECORDS)
    with pytest.raises(InputUnreadable, match="damaged Parquet"):
        read(put(tmp_path, "x.parquet", whole[:-20]))


def test_parquet_values_of_other_types(tmp_path: Path) -> None:
    rows = {"id": [1, 2, None, 4], "text": ["a", None, "c", "d"], "at": [None, None, None, None]}
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table(rows), path)
    documents, outcomes = read(path)
    assert documents == [("1", "a"), ("4", "d")]
    assert [outcome.place for outcome in outcomes] == [f"{path}: row 2", f"{path}: row 3"]


def test_a_folder_of_texts(tmp_path: Path) -> None:
    put(tmp_path, "b/two.md", "второй".encode("koi8-r") + b" " + "текст на русском языке".encode("koi8-r"))
    put(tmp_path, "a.txt", "one")
    put(tmp_path, "empty.txt", "")
    put(tmp_path, "packed.txt.gz", gzip.compress(b"packed words"))
    put(tmp_path, ".git/config", "hidden")
    put(tmp_path, "picture.png", b"\x89PNG\r\n\x1a\n\x00")
    with open_source([str(tmp_path)]) as source:
        documents, outcomes = parse(source)
        assert "hidden" in str(source.notes[0])
    assert documents == [
        ("a.txt", "one"),
        ("b/two.md", "второй текст на русском языке"),
        ("empty.txt", ""),
        ("packed.txt.gz", "packed words"),
    ]
    assert [(o.state, o.id, str(o.reason)) for o in outcomes] == [
        ("unknown_kind", "picture.png", "is a PNG image, not a document that can be read")
    ]


def test_a_folder_of_tables_is_read_as_tables(tmp_path: Path) -> None:
    put(tmp_path, "part-1.jsonl.gz", gzip.compress(lines(RECORDS[:2])))
    put(tmp_path, "part-2.csv", table(RECORDS[2:]))
    assert [i for i, _ in read(tmp_path)[0]] == ["a", "b", "7", "d"]


def test_a_folder_with_nothing_in_it(tmp_path: Path) -> None:
    with open_source([str(tmp_path)]) as source:
        assert parse(source) == ([], [])
        assert "no files" in str(source.notes[0])


def test_several_folders_keep_their_ids_apart(tmp_path: Path) -> None:
    for name in ("x", "y"):
        put(tmp_path, f"{name}/same.txt", name)
    found = read(tmp_path / "x", tmp_path / "y")[0]
    assert found == [(f"{tmp_path}/x/same.txt", "x"), (f"{tmp_path}/y/same.txt", "y")]


def test_links_that_lead_nowhere_or_round_do_no_harm(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", "one")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "nowhere.txt").symlink_to(tmp_path / "not-there")
    documents, outcomes = read(tmp_path)
    assert documents == [("a.txt", "one")]
    assert [outcome.id for outcome in outcomes] == ["nowhere.txt"]


def test_a_pipe_is_spooled_and_can_be_walked_twice(tmp_path: Path) -> None:
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(lines(RECORDS),))
    writer.start()
    with open_source([str(pipe)]) as source:
        writer.join()
        assert parse(source) == parse(source)
        assert len(parse(source)[0]) == len(RECORDS)


@pytest.mark.parametrize(
    ("head", "name", "kind"),
    [
        (b'{"id": 1}\n{"id": 2}', "x", "jsonl"),
        (b'{\n "id": 1\n}', "x", "json"),
        (b'{"id": 1, "text": "very long', "x", "jsonl"),
        (b"[{", "x", "json"),
        (b"[]", "x.json", "json"),
        (b"[citation needed] is a joke", "x.txt", "text"),
        (b"{curly} beginnings happen", "x.txt", "text"),
        (b"id,text\n1,a", "x", "csv"),
        (b"id,text\n1,a", "x.md", "text"),
        (b"any,thing", "x.csv", "csv"),
        (b"words", "x.jsonl", "jsonl"),
        (b"words", "x.txt", "text"),
    ],
)
def test_kinds_are_told_from_content_then_name(head: bytes, name: str, kind: str) -> None:
    assert tell_kind(head, name, Fields()) == kind


def test_table_suffix() -> None:
    assert table_suffix("A.JSONL.GZ") == ".jsonl"
    assert table_suffix("b.csv") == ".csv"
    assert table_suffix("c.gz") == ""


@given(
    st.lists(
        st.fixed_dictionaries({"id": st.text(min_size=1, max_size=5), "text": st.text(max_size=20)}),
        max_size=8,
    )
)
def test_json_in_any_layout_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("layouts")
    wanted = [(record["id"], record["text"]) for record in records]
    forms = {
        "a.jsonl": "\n".join(json.dumps(record) for record in records),
        "b.json": json.dumps(records, indent=1),
        "c.json": "".join(json.dumps(record, indent=1) for record in records),
    }
    for name, content in forms.items():
        path = put(folder, name, content)
        with open_source([str(path)]) as source:
            assert parse(source, max_bytes=16) == (wanted, [])


@pytest.mark.parametrize("name", ["docs.jsonl", "docs.json", "docs.csv", "docs.jsonl.gz"])
def test_memory_does_not_grow_with_the_input(tmp_path: Path, name: str) -> None:
    import tracemalloc

    path = put(
        tmp_path, name, FORMS[name]([{"id": str(i), "text": f"слово {i} " * 100} for i in range(10_000)])
    )
    with open_source([str(path)]) as source:
        tracemalloc.start()
        try:
            count = sum(len(batch.parse()) for batch in source.batches(max_bytes=200_000))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert count == 10_000
    assert peak < 4_000_000  # of some 16 MB of text


@pytest.mark.parametrize("name", ["table.csv", "table.jsonl", "table.json", "table.parquet"])
def test_titles_and_addresses_of_every_table(name: str, tmp_path: Path) -> None:
    rows = [
        {"id": "1", "text": "some words", "title": "On words", "address": "https://example.org/1"},
        {"id": "2", "text": "more words", "title": "", "address": ""},
    ]
    path = tmp_path / name
    if name.endswith("csv"):
        path.write_text(
            "id,text,title,address\n1,some words,On words,https://example.org/1\n2,more words,,\n"
        )
    elif name.endswith("jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif name.endswith("json"):
        path.write_text(json.dumps(rows, indent=1))
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    for fields in ({"title_field": "title", "address_field": "address"}, {"title_field": "title"}, {}):
        with open_source([str(path)], **fields) as source:  # type: ignore[arg-type]
            (parsed,) = [batch.parse() for batch in source.batches()]
        assert parsed.ids == ["1", "2"]
        assert parsed.titles == (["On words", ""] if fields else [])
        if "address_field" in fields:
            assert parsed.addresses == ["https://example.org/1", ""]
    with open_source([str(path)], title_field="heading", address_field="where") as source:
        (parsed,) = [batch.parse() for batch in source.batches()]
    assert parsed.titles == ["", ""]
