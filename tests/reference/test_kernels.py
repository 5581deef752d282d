"""The native kernels against their plain twins, on hostile input."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublet import kernels
from doublet.kernels import reference
from doublet.kernels.memory import MemorySaver

native = pytest.importorskip("doublet.kernels.native", reason="the native kernels are not built: make setup")

TRICKY = (
    "aаcсeеoоpрxхyуiіAАBВCСEЕHНIІKКMМOОPРTТXХYУ"  # twins
    "нжлбдrtnzщ"  # anchors
    "kкmмtтhнbвnпrгuи"  # near twins
    "αβγοΟΑΖνρχ ѕјһԁӏɑɡıօⲟꓐᴀ"  # Greek and letters of other alphabets
    "0123 _-.,\n\t\u00a0\u2003"
    "\u00ad\u200b\u200c\u200d\u2060\ufeff\u202e\ufe0f\u0301\u0306\u0308\u0336"
    "йЙёЁўїéóÅﬁ½ßŐ²№ㅏ\u1112\u1161\u11ab한กิक्षिع"
    "𝐁𝐨ＡｂⒶ🅰😀\ud800\udfff\x00"
)

SPACED = ["а", "о", "с", "в", "и", "ж", "x", "y", "w", "h", "a", "Δ", "漢", "но", "the", "7"]

# Look-alikes of a third alphabet alone, among words that decide what they are.
FOREIGN = (
    "ΤΗΕ α το κακ ᎪᎡᎬ Ꭺ ꭺꮋ ⲥⲟ ⲧⲕ ꓔꓧꓰ ս ס ΙΕΕΕ Β Ηα ͷ πο χ2 κατά κατα\u0301 Τ\u200bΗΕ ἀτε Τ_Η Kα сο ᎢΗΕ οᎬᎢ "
    "the dog жук подъём τhε жαк ᎢhᎬ λόγος της Δ ΔΤ ᏣᎳᎩ ϣⲏⲣ 文字 12 т NATO"
).split()

hostile = st.one_of(
    st.lists(st.sampled_from(FOREIGN), max_size=12).map(" ".join),
    st.lists(st.sampled_from(FOREIGN), max_size=12).map("_ ".join),
    st.text(st.sampled_from(TRICKY), max_size=60),
    st.text(st.characters(codec=None), max_size=40),
    st.text(st.sampled_from("а о с в и a o c x n з  "), max_size=40),
    st.text(st.characters(max_codepoint=0xFF), max_size=40),
    st.lists(st.sampled_from(SPACED), max_size=20).flatmap(
        lambda parts: st.sampled_from([" ", "  ", "\u2009", "\t"]).map(lambda gap: gap.join(parts))
    ),
)

# Longer than the blocks that are read at a time, with borders anywhere.
long = st.tuples(
    st.integers(0, 70), st.lists(hostile, min_size=2, max_size=9), st.sampled_from([" ", "", "а ", "n. "])
).map(lambda made: "x" * made[0] + made[2].join(made[1]))
anything = st.one_of(hostile, long)
VECTORS = [0, 512]  # bits: the plain loops and the widest


@pytest.fixture(autouse=True)
def _widest_vectors():
    yield
    native.limit_vectors(512)


def same_arrays(left: tuple, right: tuple) -> None:
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        assert a.dtype == b.dtype
        assert a.tolist() == b.tolist()


@settings(max_examples=1500, deadline=None)
@given(st.lists(anything, max_size=4), st.integers(1, 3), st.sampled_from(VECTORS))
@pytest.mark.covers("T4", "T5", "T6")
def test_tokenize(texts, threads, vectors):
    native.limit_vectors(vectors)
    stop = reference.tokenize(["а на the он"])[0]
    plain, table = reference.WordTable(), native.WordTable()
    same_arrays(native.tokenize(texts, stop, None, threads), reference.tokenize(texts, stop))
    same_arrays(native.tokenize(texts, None, table), reference.tokenize(texts, None, plain))
    assert table.words() == plain.words()
    assert table.hashes().tolist() == plain.hashes().tolist()


@pytest.mark.parametrize("start", range(0, 0x110000, 0x4000))
def test_every_code_point_folds_alike(start):
    texts = [f"ж{chr(c)}к a{chr(c)}n {chr(c)}" for c in range(start, start + 0x4000, 3)]
    expected = reference.tokenize(texts)
    for vectors in VECTORS:
        native.limit_vectors(vectors)
        same_arrays(native.tokenize(texts), expected)


@settings(max_examples=300, deadline=None)
@given(anything)
def test_fold_text(text):
    folded, places = native.fold_text(text)
    expected, expected_places = reference.fold_text(text)
    assert folded == expected
    assert places.tolist() == expected_places.tolist()


@settings(max_examples=300, deadline=None)
@given(anything)
def test_odd_characters(text):
    same_arrays(native.odd_characters(text), reference.odd_characters(text))


@pytest.mark.parametrize("start", range(0, 0x110000, 0x8000))
def test_every_code_point_is_odd_alike(start):
    """Among plain letters, which are passed over many at a time, and with a digit before and after it."""
    text = "".join(f"{'слово word ' * (c % 4)}0{chr(c)}6" for c in range(start, start + 0x8000))
    same_arrays(native.odd_characters(text), reference.odd_characters(text))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.integers(0, 255)), max_size=30),
        max_size=3,
    ),
    st.integers(0, 9),
)
def test_apart_runs(documents, least):
    """Words by the gap before them, their length and their flags."""
    rows = []
    for words in documents:
        end = 0
        for gap, length, flags in words:
            rows.append((end + gap, end + gap + length, flags))
            end += gap + length
    columns = np.array(rows, np.int64).reshape(-1, 3)
    given_ = (
        columns[:, 0].astype(np.uint32),
        columns[:, 1].astype(np.uint32),
        columns[:, 2].astype(np.uint8),
        flat(documents)[1],
    )
    same_arrays(native.apart_runs(*given_, least), reference.apart_runs(*given_, least))


@settings(max_examples=300, deadline=None)
@given(anything)
def test_a_text_is_read_alike_in_every_width(text):
    """One emoji makes Python keep the whole text in four bytes a character: the words before it must not change."""
    alone = native.tokenize([text + " "])[0].tolist()
    assert native.tokenize([text + " 😀"])[0].tolist() == alone
    assert native.tokenize([text + " ☃"])[0].tolist() == alone


@pytest.mark.parametrize(
    "text",
    [
        "x" * 10_000_000,
        "а б " * 2_500_000,
        "слово " * 1_600_000,
        "\u0301" * 10_000_000,
        "a\u200b" * 5_000_000,
        "." * 10_000_000,
    ],
    ids=["one word", "single letters", "one word again and again", "only marks", "zero width", "only stops"],
)
def test_ten_million_characters(text):
    hashes, starts, ends, _, offsets, _ = native.tokenize([text])
    assert offsets.tolist() == [0, len(hashes)]
    assert len(hashes) == 0 or int(ends[-1]) <= len(text)
    assert bool((starts < ends).all())
    assert bool((starts[1:] >= ends[:-1]).all())


def test_empty_and_one_letter():
    for texts in ([], [""], ["", ""], ["a"], ["\u0301"], ["_"]):
        same_arrays(native.tokenize(texts), reference.tokenize(texts))


def test_not_a_text():
    with pytest.raises(TypeError):
        native.tokenize([b"bytes"])


values = st.lists(st.integers(1, 2**64 - 1), max_size=30)
few = st.lists(st.integers(1, 12), max_size=40)


def flat(documents: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0] + [len(d) for d in documents]).astype(np.uint64)
    return np.array([v for d in documents for v in d], np.uint64), offsets


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(values, few), max_size=5), st.integers(1, 7))
@pytest.mark.covers("M1")
def test_shingle_and_distinct(documents, size):
    data, offsets = flat(documents)
    same_arrays(native.shingle(data, offsets, size), reference.shingle(data, offsets, size))
    same_arrays(native.distinct(data, offsets), reference.distinct(data, offsets))
    same_arrays(native.ordered(data, offsets), reference.ordered(data, offsets))


@settings(max_examples=60, deadline=None)
@given(st.integers(60, 3000), st.sampled_from([1, 40, 63, 64]), st.integers(1, 64), st.integers(0, 2**32))
def test_ordered_values_of_a_long_text(count, high, bits, seed):
    """Spread evenly, or all with the same first bits."""
    random_ = np.random.default_rng(seed)
    made = random_.integers(0, 2**64 - 1, count, np.uint64) >> np.uint64(64 - bits) << np.uint64(64 - high)
    offsets = np.array([0, count // 3, count], np.uint64)
    same_arrays(native.ordered(made, offsets), reference.ordered(made, offsets))


@settings(max_examples=200, deadline=None)
@given(st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40) | st.integers(0, 2**64 - 1)))
def test_count_common(a, b):
    left, right = (np.array(sorted(some), np.uint64) for some in (a, b))
    for one in (native, reference):
        assert one.count_common(left, right) == one.count_common(right, left) == len(a & b)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(hostile, max_size=4),
    st.integers(1, 5),
    st.sampled_from([1, 3]),
    st.booleans(),
    st.integers(1, 3),
)
def test_shingle_sets(texts, size, min_letters, with_stop, threads):
    stop = reference.tokenize(["а на the он"])[0] if with_stop else None
    same_arrays(
        native.shingle_sets(texts, size, stop, min_letters, threads),
        reference.shingle_sets(texts, size, stop, min_letters),
    )


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(2**53), 2**53)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
records = st.builds(
    lambda extra, own: {**extra, **own},
    st.dictionaries(st.text(max_size=4), json_values, max_size=3),
    st.fixed_dictionaries(
        {
            "id": st.one_of(st.text(max_size=4), st.integers(-5, 10**17), json_values),
            "text": st.one_of(hostile, json_values),
        }
    ),
)


@st.composite
def json_lines(draw):
    lines = []
    for record in draw(st.lists(records, max_size=5)):
        ascii_only = draw(st.booleans())
        line = json.dumps(record, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
        kind = draw(st.integers(0, 6))
        if kind == 0 and line:  # broken in one byte
            at = draw(st.integers(0, len(line) - 1))
            line = line[:at] + bytes([draw(st.integers(0, 255))]) + line[at + 1 :]
        elif kind == 1:
            line = line[: draw(st.integers(0, len(line)))]
        elif kind == 2:
            line = b"  " + line + b" \r"
        lines.append(line.replace(b"\n", b" "))
    return b"\n".join(lines)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from("абвгдежзиклмн"), min_size=1, max_size=60), st.integers(0, 3_000), st.data())
def test_any_numbers_may_be_stop_words(letters, more, data):
    """Many, twice, zero, alike in their first or last bits: they lead to the same places of a table."""
    words = reference.tokenize([" ".join(letters)])[0]
    chosen = [int(word) for word in words if data.draw(st.booleans())]
    shift = data.draw(st.sampled_from([0, 8, 20, 32, 40]))
    stop = np.array([*chosen, *chosen, 0, *((i << shift) & (2**64 - 1) for i in range(more))], np.uint64)
    texts = [" ".join(letters), "", "а"]
    same_arrays(native.tokenize(texts, stop), reference.tokenize(texts, stop))
    same_arrays(native.shingle_sets(texts, 2, stop, 1), reference.shingle_sets(texts, 2, stop, 1))


@settings(max_examples=500, deadline=None)
@given(json_lines(), st.integers(1, 4), st.sampled_from(VECTORS))
@pytest.mark.covers("T1")
def test_json_sets(block, size, vectors):
    """What the native reader takes, the plain one takes too, and with the same result; the rest is left for later."""
    native.limit_vectors(vectors)
    fast, slow = native.json_sets(block, "id", "text", size), reference.json_sets(block, "id", "text", size)
    everything = set(range(block.count(b"\n") + bool(block.rpartition(b"\n")[2])))
    assert set(fast[6].tolist()) | set(fast[8].tolist()) == everything
    assert set(slow[6].tolist()) | set(slow[8].tolist()) == everything
    taken = fast[6].tolist()
    assert set(taken) <= set(slow[6].tolist())
    place = {line: row for row, line in enumerate(slow[6].tolist())}

    def row(result, i):
        ends = [0, *result[5].tolist()]
        span = slice(int(result[1][i]), int(result[1][i + 1]))
        return (
            result[0][span].tolist(),
            int(result[2][i]),
            int(result[3][i]),
            result[4][ends[i] : ends[i + 1]],
        )

    for i, line in enumerate(taken):
        assert row(fast, i) == row(slow, place[line])
    begins = {0: 0} | {i + 1: m.end() for i, m in enumerate(re.finditer(b"\n", block))}
    for result in (fast, slow):
        assert [begins[line] for line in result[6].tolist()] == result[7].tolist()
        assert [begins[line] for line in result[8].tolist()] == result[9].tolist()


# Pieces of a string as JSON writes it: plain, short and long escapes, runs of backslashes, letters of every size.
pieces = st.lists(
    st.one_of(
        st.sampled_from(
            ["\\n", '\\"', "\\\\", "\\/", "\\t", "\\r", "\\b", "\\f", "\\u0431", "\\u00e9", "\\ud83d\\ude00"]
        ),
        st.sampled_from(["a", "word ", "ж", "é", "€", "😀", "n", "u0431", "-", " ", "слово "]),
        st.integers(1, 70).map(lambda length: ("plain words of a text " * 4)[:length]),
    ),
    max_size=40,
).map("".join)


@settings(max_examples=600, deadline=None)
@given(st.lists(pieces, min_size=1, max_size=3), st.integers(0, 64), st.sampled_from(VECTORS))
@pytest.mark.covers("T1")
def test_json_sets_takes_every_escape_wherever_it_stands(texts, shift, vectors):
    native.limit_vectors(vectors)
    more = f'"more": "{"x" * shift}", ' if shift else ""
    block = "\n".join(f'{{{more}"id": {i}, "text": "{text}"}}' for i, text in enumerate(texts)).encode()
    fast, slow = native.json_sets(block, "id", "text", 2), reference.json_sets(block, "id", "text", 2)
    assert fast[6].tolist() == list(range(len(texts)))
    assert fast[4] == slow[4]
    same_arrays((*fast[:4], *fast[5:]), (*slow[:4], *slow[5:]))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 300), st.integers(1, 16), st.sampled_from(VECTORS), st.integers(0, 2**32))
@pytest.mark.covers("M2")
def test_shingles_of_every_length(words, size, vectors, seed):
    native.limit_vectors(vectors)
    hashes = np.random.default_rng(seed).integers(1, 2**64, words, dtype=np.uint64)
    offsets = np.array([0, words // 3, words], np.uint64)
    same_arrays(native.shingle(hashes, offsets, size), reference.shingle(hashes, offsets, size))


@pytest.mark.parametrize("count", [65_533, 65_534, 65_535, 70_000])
@pytest.mark.parametrize("kinds", [50_000, 2**63])
def test_distinct_values_of_a_long_text(count, kinds):
    data = np.random.default_rng(count).integers(1, kinds, count, dtype=np.uint64)
    offsets = np.array([0, count], np.uint64)
    same_arrays(native.distinct(data, offsets), reference.distinct(data, offsets))


@pytest.mark.parametrize(
    "odd", ["\\ud83d", "\\ude00", "x\\ud83d\\n", "\\\\ud83d\\ude00", "\\ud83d\\ud83d\\ude00"]
)
def test_half_a_character_is_left_to_the_careful_reader(odd):
    """Also in a field that nobody asks for."""
    for field in ("id", "text", "more"):
        record = {"id": "1", "text": "a b", "more": "y"}
        line = ", ".join(f'"{name}": "{odd if name == field else value}"' for name, value in record.items())
        block = f"{{{line}}}".encode()
        fast, slow = native.json_sets(block, "id", "text", 2), reference.json_sets(block, "id", "text", 2)
        assert fast[8].tolist() == slow[8].tolist() == [0]


@pytest.mark.parametrize("number", ["1E309", "-1e+400", "9" * 400, "0." + "1" * 300 + "e310"])
def test_a_number_too_large_for_anybody_is_left_to_the_careful_reader(number):
    block = f'{{"id": "1", "more": {number}, "text": "a b"}}'.encode()
    assert native.json_sets(block, "id", "text", 2)[8].tolist() == [0]
    assert reference.json_sets(block, "id", "text", 2)[8].tolist() in ([0], [])


def test_a_short_id_before_one_with_escapes():
    """Memory for one letter has to grow by more than half a letter."""
    for _ in range(50):
        block = b'{"id": 1, "text": "a b"}\n{"id": "\\u0431' + b"x" * 2000 + b'", "text": "c d"}'
        fast = native.json_sets(block, "id", "text", 2)
        assert fast[4] == b"1" + "\u0431".encode() + b"x" * 2000


def test_json_sets_takes_plain_lines():
    lines = (
        '{"id": 7, "text": "один два три"}',
        '{"text": "a \\u0431 \\ud83d\\ude00 c", "id": "x", "y": [1, {"z": null}]}',
    )
    block = "\n".join(lines).encode()
    fast = native.json_sets(block, "id", "text", 2)
    assert (fast[4], fast[5].tolist(), fast[6].tolist(), fast[8].tolist()) == (b"7x", [1, 2], [0, 1], [])
    assert fast[2].tolist() == [3, 3]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(values, max_size=5),
    st.integers(1, 70),
    st.integers(1, 3),
    st.integers(0, 2**32),
    st.sampled_from([0, 256, 512]),
)
@pytest.mark.covers("M4")
def test_minima(documents, functions, threads, seed, vectors):
    native.limit_vectors(vectors)
    rng = np.random.default_rng(seed)
    factors = rng.integers(1, 2**31 - 1, functions, dtype=np.uint32)
    terms = rng.integers(0, 2**31 - 1, functions, dtype=np.uint32)
    data, offsets = flat(documents)
    got = native.minima(data, offsets, factors, terms, threads)
    assert got.tolist() == reference.minima(data, offsets, factors, terms).tolist()


@settings(max_examples=100, deadline=None)
@given(st.lists(values, max_size=4), st.booleans(), st.integers(0, 100))
@pytest.mark.covers("M6")
def test_simhash(documents, weighted, seed):
    data, offsets = flat(documents)
    weights = np.random.default_rng(seed).random(len(data)) if weighted else None
    assert (
        native.simhash(data, weights, offsets).tolist() == reference.simhash(data, weights, offsets).tolist()
    )


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 20).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30)
        )
    )
)
def test_components(case):
    count, pairs = case
    left = np.array([p[0] for p in pairs], np.uint32)
    right = np.array([p[1] for p in pairs], np.uint32)
    assert native.components(count, left, right).tolist() == reference.components(count, left, right).tolist()


@settings(max_examples=500, deadline=None)
@given(few, few, st.integers(1, 5))
@pytest.mark.covers("K2")
def test_common_runs(a, b, size):
    left, right = np.array(a, np.uint64), np.array(b, np.uint64)
    same_arrays(native.common_runs(left, right, size), reference.common_runs(left, right, size))


@pytest.mark.parametrize("twin", [native, reference])
@pytest.mark.parametrize(("place", "length"), [(63, 3), (64, 2)])
def test_places_of_one_run_that_are_looked_at(twin, place, length):
    there = np.array([word for n in range(80) for word in (1, 2, 10 + n)], np.uint64)
    (start,), (found,), (words,) = twin.common_runs(np.array([1, 2, 10 + place], np.uint64), there, 2)
    assert (start, found, words) == (0, 3 * place if length == 3 else 0, length)


@st.composite
def collections(draw):
    """Sets that are near copies of each other, parts of each other, equal, empty or strangers."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    base = [
        [rng.getrandbits(64) | 1 for _ in range(draw(st.integers(1, 25)))]
        for _ in range(draw(st.integers(1, 4)))
    ]
    documents = []
    for _ in range(draw(st.integers(0, 18))):
        source = rng.choice(base)
        kind = rng.randrange(6)
        if kind == 0:
            documents.append([])
        elif kind == 1:
            documents.append(list(source))
        elif kind == 2:
            documents.append(source[: rng.randrange(len(source) + 1)])
        elif kind == 3:
            documents.append(source + rng.choice(base))
        else:
            documents.append(
                [v for v in source if rng.random() > 0.15]
                + [rng.getrandbits(64) | 1 for _ in range(rng.randrange(3))]
            )
        rng.shuffle(documents[-1])
    documents = [list(dict.fromkeys(d)) for d in documents]
    if documents and draw(st.integers(0, 9)) == 0:  # one that is long enough to be taken with its memory
        documents[0] = list(dict.fromkeys([*documents[0], *(rng.getrandbits(64) | 1 for _ in range(5000))]))
    order = list(range(len(documents)))
    rng.shuffle(order)
    order = order[rng.choice([0, 0, 3]) :]  # documents that the order leaves out take no part
    return documents, np.array(order, np.uint32)


@settings(max_examples=400, deadline=None)
@given(
    collections(),
    st.sampled_from([0.3, 0.5, 0.8, 0.95, 1.0]),
    st.sampled_from([0.0, 0.5, 0.9, 1.0]),
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from([0, 1, 10_000]),
    st.sampled_from(VECTORS),
)
@pytest.mark.covers("K7", "C3")
def test_set_store(tmp_path_factory, case, threshold, containment, threads, spill, expected_values, vectors):
    native.limit_vectors(vectors)
    documents, order = case
    folder = str(tmp_path_factory.getbasetemp()) if spill else ""
    fast, slow = native.SetStore(1 if spill else 0, folder, threads), reference.SetStore()
    fast.expect(expected_values)
    for start in range(0, len(documents), 3):
        for store in (fast, slow):
            store.add(*flat(documents[start : start + 3]), threads == 2)
    assert fast.sizes().tolist() == slow.sizes().tolist()
    for document in range(len(documents)):
        assert fast.get(document).tolist() == slow.get(document).tolist()
    for _ in range(2):  # the join reorders the sets in place: a second run must not see a difference
        same_arrays(fast.clean(order, threshold, containment), slow.clean(order, threshold, containment))
        assert fast.contained(0.8).tolist() == slow.contained(0.8).tolist()
        *columns, cut = fast.pairs(threshold, containment, 10_000)
        *expected, _ = slow.pairs(threshold, containment, 10_000)
        same_arrays(tuple(columns), tuple(expected))
        assert not cut
        if count := len(expected[0]):  # exactly as many as are allowed, and one more
            assert not fast.pairs(threshold, containment, count)[3]
            *some, cut = fast.pairs(threshold, containment, count - 1)
            assert cut
            assert len(some[0]) == count - 1
    left = np.array([i for i in range(len(documents)) for _ in documents], np.uint32)
    right = np.array([j for _ in documents for j in range(len(documents))], np.uint32)
    assert fast.overlaps(left, right).tolist() == slow.overlaps(left, right).tolist()
    factors, terms = np.array([3, 12345], np.uint32), np.array([7, 99], np.uint32)
    assert fast.minima(factors, terms, order).tolist() == slow.minima(factors, terms, order).tolist()


def resident_after(steps: str) -> list[int]:
    """What *steps* note with `told`, run in a process of their own: here other tests leave free memory behind."""
    begin = """
        import os, numpy as np
        from doublet.kernels import native
        noted = []
        def told():
            with open("/proc/self/statm") as sizes:
                noted.append(int(sizes.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
    """
    program = "\n".join((textwrap.dedent(begin), textwrap.dedent(steps), "print(*noted)"))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return [int(size) for size in done.stdout.split()]


tells_memory = pytest.mark.skipif(
    not Path("/proc/self/statm").exists() or "DOUBLET_SANITIZED" in os.environ,
    reason="the system does not tell the memory of a process, or a sanitizer keeps what is freed",
)


@tells_memory
def test_a_closed_store_gives_its_memory_back():
    before, full, closed = resident_after("""
        data = np.random.default_rng(1).integers(1, 2**63, 1_000_000, dtype=np.uint64)
        offsets = np.arange(0, len(data) + 1, 1000, dtype=np.uint64)
        told()
        store = native.SetStore(0, "", 1)
        for _ in range(12):
            store.add(data, offsets)
        told()
        store.close()
        told()
    """)
    assert full - before > 90_000_000
    assert closed - before < (full - before) // 3


@tells_memory
@pytest.mark.parametrize("on", [False, True])
def test_memory_is_kept_for_the_next_piece_of_work_unless_it_is_saved(on):
    before, full, freed = resident_after(f"""
        native.save_memory({on})
        texts = ["a b " * 100_000] * 12
        told()
        made = [native.tokenize([text]) for text in texts]
        told()
        del made
        told()
    """)
    assert full - before > 20_000_000
    assert (freed - before < (full - before) // 3) == on


def test_one_run_that_ends_does_not_end_the_saving_of_another(monkeypatch):
    told = []
    monkeypatch.setattr(kernels, "save_memory", told.append)
    with MemorySaver():
        with MemorySaver():
            pass
        assert told == [True, True]
    assert told == [True, True, False]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("абв ", min_size=4, max_size=80), max_size=400), st.integers(1, 4), st.integers(1, 3))
@pytest.mark.covers("K7")
def test_values_are_counted_while_they_are_made(texts, threads, words):
    """Blocks of JSON read in several threads at a time, counted for one store; equal and repeated texts among them."""
    texts = texts + texts[: len(texts) // 3]
    blocks = [
        b"\n".join(
            orjson.dumps({"id": str(i), "text": text}) for i, text in enumerate(texts[part::4], part * 1000)
        )
        for part in range(4)
    ]
    fast, slow = native.SetStore(0, "", threads), reference.SetStore()
    fast.expect(len(texts))
    with ThreadPoolExecutor(threads) as pool:
        made = list(
            pool.map(lambda block: native.json_sets(block, "id", "text", words, None, 1, fast), blocks)
        )
    for values, offsets, *_ in made:
        slow.add(values, offsets)
        fast.add(values, offsets, False, True)
    order = np.arange(len(fast), dtype=np.uint32)
    same_arrays(fast.clean(order, 0.8, 0.9), slow.clean(order, 0.8, 0.9))
