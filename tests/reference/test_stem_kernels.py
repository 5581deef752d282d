"""The kernels of the index of stems against their plain twins: postings in blocks, chunks, and what windows share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet import kernels
from doublet.index.stem_chunks import chunk_numbers
from doublet.kernels import reference

DOCUMENTS = st.lists(st.lists(st.integers(0, 12), max_size=30), max_size=6)
POSTINGS = st.lists(
    st.tuples(
        st.integers(0, 40) | st.integers(0, 2**40 - 1),
        st.integers(0, 60) | st.integers(0, 2**40 - 1),
        st.integers(0, 2) | st.integers(0, 2**32 - 1),
    )
)


def _same(mine: Any, theirs: Any) -> None:
    for a, b in zip(mine, theirs, strict=True):
        assert a.dtype == b.dtype
        assert a.tolist() == b.tolist()


def _columns(rows: list[tuple[int, ...]], count: int) -> list[np.ndarray]:
    return [np.array([row[n] for row in rows], np.uint64) for n in range(count)]


def test_a_block_is_short() -> None:
    keys, documents, libraries = _columns([(1000, 70, 3), (1000, 72, 3), (1001, 64, 3)], 3)
    data, ends = kernels.pack_postings(keys, documents, libraries, np.array([0, 3], np.uint64))
    # 9 bytes; none below 64; 1000 in another library than 0, namely 3, 6 above 64; the same, 2 more; the next, at 64.
    assert data.tolist() == [9, 64, (2001 & 127) | 128, 2001 >> 7, 3, 6, 0, 2, 2, 0]
    assert ends.tolist() == [0, 10]


@given(POSTINGS)
def test_sorting_equals_its_twin(rows: list[tuple[int, ...]]) -> None:
    keys, documents, _ = _columns(rows, 3)
    order = kernels.sort_postings(keys, documents)
    _same([order], [reference.sort_postings(keys, documents)])
    places = order.tolist() or range(len(rows))
    assert [rows[place][:2] for place in places] == sorted(row[:2] for row in rows)


@given(POSTINGS, POSTINGS, st.integers(0, 40), st.integers(0, 3))
def test_cutting_equals_its_twin(
    rising: list[tuple[int, ...]], others: list[tuple[int, ...]], bits: int, heavy: int
) -> None:
    columns = _columns([*sorted(rising), *others], 3)
    cut = kernels.cut_postings(*columns, 40, bits, heavy)
    _same(cut, reference.cut_postings(*columns, 40, bits, heavy))


def test_many_postings_are_sorted_as_few_are() -> None:
    luck = np.random.default_rng(3)
    keys = np.concatenate(
        [np.sort(luck.integers(0, 2**40, 900)), luck.integers(0, 2**40, 900), luck.integers(0, 50, 900)]
    )
    columns = keys.astype(np.uint64), luck.integers(0, 2**20, 2700).astype(np.uint64)
    _same([kernels.sort_postings(*columns)], [reference.sort_postings(*columns)])


@given(POSTINGS, st.lists(st.integers(0, 60), max_size=4), st.data())
def test_blocks_equal_their_twins_and_are_undone(
    rows: list[tuple[int, ...]], cuts: list[int], data: st.DataObject
) -> None:
    rows = sorted(rows)
    columns = _columns(rows, 3)
    offsets = np.array(sorted([0, *(min(cut, len(rows)) for cut in cuts), len(rows)]), np.uint64)
    packed = kernels.pack_postings(*columns, offsets)
    _same(packed, reference.pack_postings(*columns, offsets))
    found = kernels.unpack_postings(*packed)
    _same(found, reference.unpack_postings(*packed))
    _same(found[:3], columns)
    wanted = np.array(sorted(data.draw(st.lists(st.integers(0, 45), max_size=5))), np.uint64)
    some = kernels.unpack_postings(*packed, wanted)
    _same(some, reference.unpack_postings(*packed, wanted))
    assert some[0].tolist() == [row[0] for row in rows if row[0] in wanted.tolist()]
    # What is cut off is an error, or else what came before is there.
    end = data.draw(st.integers(0, len(packed[0])))
    rest = packed[0][:end].copy(), np.array([0, end], np.uint64)
    cut = kernels.unpack_postings(*rest, None, True)
    _same(cut, reference.unpack_postings(*rest, None, True))
    assert cut[0].tolist() == [row[0] for row in rows][: len(cut[0])]
    if end not in packed[1].tolist():
        for twin in (kernels, reference):
            with pytest.raises(ValueError, match="damaged"):
                twin.unpack_postings(*rest)


@given(st.lists(POSTINGS, max_size=5))
def test_merging_equals_its_twin(runs: list[list[tuple[int, ...]]]) -> None:
    packed = [
        kernels.pack_postings(*_columns(sorted(run), 3), np.array([0, len(run)], np.uint64))[0]
        for run in runs
    ]
    data = np.concatenate([*packed, np.zeros(0, np.uint8)])
    offsets = np.cumsum([0, *map(len, packed)]).astype(np.uint64)
    merged = kernels.merge_postings(data, offsets)
    _same(merged, reference.merge_postings(data, offsets))
    found = list(zip(*(column.tolist() for column in merged[:2]), strict=True))
    everything = [(key, document) for run in runs for key, document, _ in run if document]
    twice = [(key, document >> 1) for key, document in everything]
    assert found == sorted(one for one in everything if twice.count((one[0], one[1] >> 1)) == 1)


@given(DOCUMENTS, st.integers(1, 9), st.integers(1, 5), st.randoms(use_true_random=False))
def test_chunks_equal_their_twin(documents: list[list[int]], words: int, most: int, luck: Any) -> None:
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.uint64)
    ids = np.array([word for own in documents for word in own], np.uint32)
    numbers = np.array(luck.sample(range(100), 13), np.uint64)
    keys = np.array([luck.randrange(9) for _ in range(13)], np.uint64)
    filed = np.array([luck.random() < 0.7 for _ in range(13)], np.uint8)
    rows = kernels.pack_bags(ids, offsets, numbers)[4]
    found = kernels.chunk_stems(ids, rows, offsets, filed, keys, words, most)
    _same(found, reference.chunk_stems(ids, rows, offsets, filed, keys, words, most))
    bits, ends, counts, _, owners, chunks = found
    # Each bit is a posting, and both say where a word of the text is.
    postings = set(zip(found[3].tolist(), owners.tolist(), chunks.tolist(), strict=True))
    expected = set()
    for number, own in enumerate(documents):
        there = np.unpackbits(bits[int(ends[number]) : int(ends[number + 1])])
        by_number = sorted({int(numbers[word]) for word in own})
        for place, word in enumerate(own):
            chunk = place * int(counts[number]) // len(own)
            row = by_number.index(int(numbers[word]))
            assert there[row * int(counts[number]) + chunk] == filed[word]
            if filed[word]:
                expected.add((int(keys[word]), number, chunk))
    assert postings == expected
    assert int(np.unpackbits(bits).sum()) == len(owners)


def test_documents_are_cut_as_the_index_cuts_them() -> None:
    sizes = [0, 1, 74, 75, 224, 225, 450, 40_000]
    offsets = np.cumsum([0, *sizes]).astype(np.uint64)
    ids = np.concatenate([np.arange(size) for size in sizes]).astype(np.uint32)
    every = np.ones(40_000, np.uint8)
    keys = np.arange(40_000, dtype=np.uint64)
    _, _, counts, words, documents, chunks = kernels.chunk_stems(ids, ids, offsets, every, keys, 150, 256)
    expected, numbers = chunk_numbers(offsets)
    assert counts.tolist() == numbers.tolist()
    places = offsets[documents].astype(np.int64) + words.astype(np.int64)
    assert chunks.tolist() == expected[places].tolist()


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 12)), unique=True, max_size=60),
    st.lists(st.lists(st.integers(0, 7), unique=True, max_size=6), max_size=5),
    st.lists(st.sampled_from([0.0, -1.0, 0.1, 0.2, 0.30000000001, 1.0, 3.5]), min_size=8, max_size=8),
    st.sampled_from([0.0, 0.3, 1.0, 2.0]),
    st.integers(0, 3),
    st.integers(0, 3),
)
def test_what_windows_share_equals_its_twin(
    hits: list[tuple[int, int]],
    windows: list[list[int]],
    weights: list[float],
    enough: float,
    least: int,
    best: int,
) -> None:
    keys, chunks = (np.array([row[n] for row in hits], np.uint64) for n in (0, 1))
    stems = np.array([stem for own in windows for stem in own], np.uint64)
    offsets = np.cumsum([0, *map(len, windows)]).astype(np.uint64)
    given_ = keys, chunks, np.array(weights), stems, offsets, enough, least, best
    _same(kernels.shared_chunks(*given_), reference.shared_chunks(*given_))
