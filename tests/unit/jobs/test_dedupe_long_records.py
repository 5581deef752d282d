"""A record of great length gives the same set in pieces as whole, or is left to the kernel."""

from __future__ import annotations

import json
import pathlib
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublet import kernels
from doublet.jobs.dedupe import dedupe_inputs, long_records, reading
from doublet.jobs.dedupe.long_records import LongRecord, Values, read_long
from doublet.jobs.dedupe.options import DedupeMethods
from doublet.sources import streams
from doublet.sources.open import open_source

ENGLISH = "the boats were locked in ice until march and nobody in village minded it much though some people did".split()
RUSSIAN = (
    "лодки стояли во льду до самого марта и никто в деревне об этом особенно не жалел хотя были люди".split()
)
ODD = [
    "a",
    "B",
    "й",
    "т е с т",
    "s p a c e d",
    "ex-\nample",
    "1 000 000",
    "п\u0430\u0440о\u200bход",
    "…",
    "«да»",
    "xxxx",
    "ааа",
    "сор",
    "cope",
    "\t",
    "x" * 50,
]


def words(seed: int, count: int, odd: float = 0.1) -> str:
    """Stretches in one language or in both, with odd words in some of them."""
    rng = random.Random(seed)
    made = [f"word{i}s" for i in range(300)]
    out: list[str] = []
    while len(out) < count:
        plain = rng.choice([ENGLISH, ENGLISH + made, RUSSIAN, RUSSIAN + made, ENGLISH + RUSSIAN])
        share = rng.choice([0.0, odd, odd])
        out += [rng.choice(ODD if rng.random() < share else plain) for _ in range(rng.randrange(1, 400))]
    return " ".join(out[:count])


def plan(**parameters: Any) -> DedupeMethods:
    from doublet.signatures import Limit

    class Empty:
        def batches(self) -> Any:
            return iter(())

    return DedupeMethods.make("shingles", parameters, Empty(), 1, Limit(1 << 30, None))


def whole(line: bytes, made: DedupeMethods) -> tuple[set[int], int, int]:
    shape, canon = made.exact.parameters, made.exact.canon
    values, _, count, tricks, *_ = kernels.json_sets(
        line, "id", "text", shape.shingle_words, canon.stop_hashes, canon.min_letters
    )
    return set(values.tolist()), int(count[0]), int(tricks[0])


def as_line(text: str, *, ascii_only: bool = False, **fields: Any) -> bytes:
    return json.dumps({"id": "x", "text": text, **fields}, ensure_ascii=ascii_only).encode()


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_records, "PIECE_BYTES", 3_000)
    monkeypatch.setattr(long_records, "CUT_WITHIN", 1_000)
    monkeypatch.setattr(long_records, "NEIGHBOURHOOD", 70)
    monkeypatch.setattr(long_records, "AT_ONCE", 100)


def same(found: LongRecord | None, line: bytes, made: DedupeMethods) -> None:
    assert found is not None
    values, count, tricks = whole(line, made)
    assert len(found.values) == len(set(found.values.tolist()))
    assert set(found.values.tolist()) == values
    assert (found.words, found.disguised) == (count, tricks)


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize(
    "parameters", [{}, {"shingle_words": 1}, {"shingle_words": 20}, {"stop_words": True, "min_letters": 3}]
)
def test_pieces_have_together_what_the_whole_has(parameters: dict[str, Any], ascii_only: bool) -> None:
    made = plan(**parameters)
    line = as_line(words(1, 8_000), ascii_only=ascii_only, title="t", n=[1, {"a": "b"}])
    same(read_long(line, "id", "text", made), line, made)


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("language", [ENGLISH, RUSSIAN])
def test_plain_texts_are_cut(language: list[str], ascii_only: bool) -> None:
    line = as_line(" ".join(language * 500), ascii_only=ascii_only)
    pieces = list(long_records._pieces(line, 21, len(line) - 2, 1_000))
    assert len(pieces) > len(line) // 5_000
    for (_, stop), (start, again) in zip(
        [piece for piece, _ in pieces], [o for _, o in pieces[1:]], strict=False
    ):
        assert start < again == stop  # each has the end of the one before


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.floats(0, 0.6), st.booleans())
def test_any_text(seed: int, size: int, odd: float, ascii_only: bool) -> None:
    made = plan(shingle_words=size)
    line = as_line(words(seed, 3_000, odd), ascii_only=ascii_only)
    found = read_long(line, "id", "text", made)
    if found is not None:
        same(found, line, made)


@pytest.mark.parametrize(
    "line",
    [
        b"not JSON at all",
        as_line("字" * 30_000)[:-1],
        json.dumps({"text": words(2, 2_000)}).encode(),
        json.dumps({"id": "", "text": words(2, 2_000)}).encode(),
        json.dumps({"id": 1.5, "text": words(2, 2_000)}).encode(),
        json.dumps({"id": "x", "meta": {"text": words(2, 2_000)}, "text": "short"}).encode(),
        json.dumps({"id": "x", "text": words(2, 2_000)}).encode()[:-1] + b', "text": ""}',
        json.dumps({"id": "x", "text": words(2, 2_000)}).encode()[:-1] + b', "id": "y"}',
        json.dumps({"id": "x", "other": words(2, 300_000), "text": "a"}).encode(),
        json.dumps({"id": "x", "text": words(2, 2_000)}).encode()[:-3],
        json.dumps({"id": "x", "text": words(2, 2_000)}).encode().replace(b" the ", b" \x01 "),
        json.dumps({"id": "x", "text": words(2, 2_000)}).encode().replace(b" the ", b" \xff "),
        json.dumps({"id": "x", "text": 5}).encode(),
    ],
    ids=range(13),
)
def test_what_is_left_to_the_kernel(line: bytes) -> None:
    assert read_long(line, "id", "text", plan()) is None


def test_a_text_without_places_to_cut_is_one_piece() -> None:
    made = plan()
    line = as_line("字 " * 20_000)
    same(read_long(line, "id", "text", made), line, made)


def test_quotes_and_backslashes() -> None:
    made = plan()
    line = as_line(words(3, 3_000) + ' "quoted" \\ and \\" more \\\\')
    same(read_long(line, "id", "text", made), line, made)


def test_stop_words_alone_are_too_little_to_overlap() -> None:
    line = as_line("although " * 4_000)
    found = read_long(line, "id", "text", plan(stop_words=True, extra_stop_words=("although",)))
    assert found is None


def test_ids_are_those_of_the_kernel() -> None:
    for identifier in (7, -7, "семь", 'a"b', "a\nb"):
        line = json.dumps({"id": identifier, "text": words(4, 2_000)}).encode()
        found = read_long(line, "id", "text", plan())
        assert found is not None
        assert found.id == str(identifier)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 40), max_size=300), max_size=6))
def test_values(parts: list[list[int]]) -> None:
    values = Values(0)
    for part in parts:
        values.add(np.array(part, np.uint64))
    assert values.distinct().tolist() == sorted({value for part in parts for value in part})


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("end", ["\n", ""])
def test_a_collection_with_long_records(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, workers: int, end: str
) -> None:
    rows = [{"id": f"s{i}", "text": words(i, 80)} for i in range(30)]
    rows.insert(10, {"id": "long", "text": words(100, 9_000)})
    rows.insert(20, {"id": "part", "text": words(100, 8_900)})
    rows.append({"id": "last", "text": words(101, 9_000)})
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + end, encoding="utf-8")
    seen = []

    def run(out: str) -> Any:
        with open_source([str(path)]) as source:
            return dedupe_inputs(source, workers=workers, kept_out=tmp_path / out).to_dict()

    plain = run("plain.jsonl")
    assert "part" in [m["id"] for group in plain["groups"] for m in group["members"]]
    monkeypatch.setattr(streams, "LONG_LINE", 5_000)
    monkeypatch.setattr("doublet.sources.records.MAX_BATCH_BYTES", 10_000)
    monkeypatch.setattr("doublet.sources.open.MAX_BATCH_BYTES", 10_000)
    monkeypatch.setattr(reading, "LONG_BYTES", 6_000)
    real = reading.read_long
    monkeypatch.setattr(reading, "read_long", lambda *a: seen.append(a) or real(*a))
    with open_source([str(path)]) as source:
        walk = source.batches
        monkeypatch.setattr(source, "batches", lambda: walk(1000, 10_000))
        result = dedupe_inputs(source, workers=workers, kept_out=tmp_path / "pieces.jsonl").to_dict()
    assert len(seen) >= 2
    assert result == plain
    assert (tmp_path / "pieces.jsonl").read_bytes() == (tmp_path / "plain.jsonl").read_bytes()
