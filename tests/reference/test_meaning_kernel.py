"""The native alignment against its plain definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublet.kernels import reference

native = pytest.importorskip("doublet.kernels.native", reason="the native kernels were not built")


def run(
    kernels,
    texts: list[list[int]],
    pairs: list[tuple[int, int]],
    gain: dict[int, float],
    threads: int = 1,
    **more: int,
):
    words = np.array([word for text in texts for word in text], np.uint32)
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.uint64)
    gains = np.array([gain.get(word, 5.0) for word in range(1000)], np.float64)
    masses = np.where(gains > 3.0, gains, 0.0)
    left, right = (np.array([pair[side] for pair in pairs], np.uint32) for side in (0, 1))
    return kernels.align_texts(words, offsets, gains, masses, left, right, threads, **more)


def agree(texts: list[list[int]], pairs: list[tuple[int, int]], gain: dict[int, float], **more: int) -> None:
    plain = run(reference, texts, pairs, gain, **more)
    for threads in (1, 3):
        quick = run(native, texts, pairs, gain, threads, **more)
        assert np.allclose(plain[0], quick[0], atol=1e-12)
        for one, other in zip(plain[1:], quick[1:], strict=True):
            assert one.tolist() == other.tolist()


@settings(max_examples=200, deadline=None)
@given(st.data())
@pytest.mark.covers("M14")
def test_both_agree(data: st.DataObject) -> None:
    size = data.draw(st.sampled_from([2, 6, 40]))
    word = st.integers(1, size)
    texts = data.draw(st.lists(st.lists(word, max_size=80), min_size=1, max_size=4))
    gain = data.draw(st.dictionaries(word, st.sampled_from([-1.0, 0.0, 0.7, 2.5, 4.0, 9.0, 12.0])))
    pairs = [(i, j) for i in range(len(texts)) for j in range(len(texts))]
    agree(texts, pairs, gain)


@pytest.mark.parametrize("seed", range(4))
def test_both_agree_on_edited_copies(seed: int) -> None:
    chance = np.random.default_rng(seed)
    base = (chance.zipf(1.3, 700) % 500).tolist()
    copy = [word if chance.random() > 0.4 else int(chance.integers(500, 900)) for word in base]
    copy = copy[300:] + copy[:300]
    kept = [word for word in copy if chance.random() > 0.1]
    gain = {word: 1.0 + word % 11 for word in range(900)}
    agree([base, copy, kept], [(0, 1), (1, 0), (0, 2), (2, 2)], gain)


def test_frequent_words_only_prolong_paths() -> None:
    base = list(range(100, 140))
    a = [word for pair in zip(base, [1] * 40, strict=True) for word in pair]
    b = [word for pair in zip([*base[:20], *range(200, 220)], [1] * 40, strict=True) for word in pair]
    agree([a, b], [(0, 1), (1, 0)], {1: 1.5})


def log(lines: int, seed: int) -> list[int]:
    """Lines of ten words: seven are those of all lines, three are rare."""
    chance = np.random.default_rng(seed)
    rows = np.tile(np.array([1, 0, 2, 3, 4, 0, 5, 6, 7, 0]), (lines, 1))
    rows[:, [1, 5, 9]] = chance.integers(100, 900, (lines, 3))
    return rows.ravel().tolist()


def random_words(kinds: int, count: int, seed: int) -> list[int]:
    return np.random.default_rng(seed).integers(1, 1 + kinds, count).tolist()


ADVERSE = {
    "logs": (log(150, 1), log(150, 2)),
    "a log and a copy of it": (log(150, 1), log(150, 1)[37:900] + log(20, 3)),
    "one word": ([1] * 300, [1] * 200),
    "one word after a rare one": ([100, *[1] * 300], [1, 2, 100, *[1] * 200]),
    "two words in turn": ([100, *[1, 2] * 150], [100, *[1, 2] * 120, 2]),
    "all equal": (list(range(1, 300)), list(range(1, 300))),
    "three words": (random_words(3, 400, 1), random_words(3, 300, 2)),
    "forty words": (random_words(40, 2000, 1), random_words(40, 1500, 2)),
    "short lines": ([w for k in range(150) for w in (1, 2, 3, 100 + k)] * 2, [1, 2, 3, 7] * 80 + log(40, 4)),
}


@pytest.mark.parametrize("texts", ADVERSE.values(), ids=ADVERSE)
@pytest.mark.parametrize("spare", [0, 1, 40, 1000, 1 << 20])
@pytest.mark.covers("M14")
def test_both_agree_on_texts_whose_lines_are_alike(texts: tuple[list[int], list[int]], spare: int) -> None:
    gain = dict.fromkeys(range(1, 10), 2.5)
    agree(list(texts), [(0, 1), (1, 0)], gain, spare=spare)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_both_agree_on_what_frequent_words_may_add(data: st.DataObject) -> None:
    words = st.sampled_from([1, 1, 1, 2, 2, 3, *range(100, 112)])
    parts = data.draw(st.lists(st.lists(words, min_size=1, max_size=12), min_size=1, max_size=5))
    line = st.sampled_from(range(len(parts)))
    texts = [
        [word for number in data.draw(st.lists(line, max_size=60)) for word in parts[number]]
        for _ in range(2)
    ]
    gain = data.draw(st.dictionaries(words, st.sampled_from([0.7, 2.5, 4.0, 9.0])))
    agree(texts, [(0, 1), (1, 0)], gain, spare=data.draw(st.sampled_from([0, 3, 30, 300])))


@pytest.mark.parametrize("kernels", [reference, native], ids=["plain", "native"])
def test_frequent_words_add_no_more_than_they_may(kernels) -> None:
    gain = dict.fromkeys(range(1, 10), 2.5)
    texts = [log(150, 1), log(150, 2)]
    all_, some, none = (
        run(kernels, texts, [(0, 1)], gain, spare=spare)[0][0] for spare in (2**64 - 1, 500, 0)
    )
    assert (
        all_.tolist() == run(kernels, texts, [(0, 1)], gain)[0][0].tolist()
    )  # short texts never come to the end
    assert all_[0] > max(some[0], none[0])
    # A copy of a log lies on it nonetheless.
    copy = [word if at % 13 else 950 for at, word in enumerate(texts[0])]
    assert run(kernels, [texts[0], copy], [(0, 1)], gain, spare=0)[0][0, 0] > 0.9
    with pytest.raises((ValueError, TypeError)):
        run(kernels, texts, [(0, 1)], gain, spare=-1)


def test_long_logs_take_no_square_of_their_length() -> None:
    gain = dict.fromkeys(range(1, 10), 2.5)
    rare = dict.fromkeys(range(100, 900), 6.0)
    lines = 8_000  # without the limit they take 44 s and 1.7 GB

    def numbered(seed: int) -> list[int]:
        chance = np.random.default_rng(seed)
        some = np.array(log(lines, seed))
        return np.where((some >= 100) & (chance.random(len(some)) < 0.9), 0, some).tolist()

    rows = run(native, [numbered(1), numbered(2)], [(0, 1)], gain | rare)[0]
    assert rows[0, 0] > 0.5


def test_a_copy_is_covered_wholly() -> None:
    text = list(range(1, 60))
    rows, pairs, a_start, a_end, b_start, b_end = run(native, [text, text], [(0, 1)], {})
    assert rows.tolist() == [[1.0] * 6]
    assert [column.tolist() for column in (pairs, a_start, a_end, b_start, b_end)] == [
        [0],
        [0],
        [59],
        [0],
        [59],
    ]


@pytest.mark.parametrize("kernels", [reference, native], ids=["plain", "native"])
def test_edges(kernels) -> None:
    rows, pairs, *_ = run(kernels, [[], [1], [1, 2, 3]], [(0, 0), (0, 1), (1, 1), (1, 2)], {})
    assert rows[:, :4].sum() == 0.0
    assert (rows[:, 4:] == 1.0).all()
    assert len(pairs) == 0
    assert len(run(kernels, [[1]], [], {})[0]) == 0
    with pytest.raises(ValueError, match="not there"):
        run(kernels, [[1]], [(0, 1)], {})
    one, none = np.ones(1, np.uint32), np.zeros(0, np.uint32)
    whole = np.array([0, 1], np.uint64)
    with pytest.raises(ValueError, match="one gain"):
        kernels.align_texts(one, whole, np.ones(2), np.ones(1), none, none)
    with pytest.raises(ValueError, match="no gain"):
        kernels.align_texts(one, whole, np.ones(1), np.ones(1), none, none)


@pytest.mark.parametrize("kernels", [reference, native], ids=["plain", "native"])
def test_topics(kernels) -> None:
    filler = list(range(100, 120))
    a, b = [7, 7, 7, 7, 8, 8, 8, *filler], [9, 9, 9, 9, 8, 8, 8, *filler]
    rows = run(kernels, [a, b, filler], [(0, 1), (1, 0), (0, 0), (2, 2), (0, 2)], {})[0]
    share = 3 / 7  # the weight of 8 in that of 7 and 8
    assert rows[:2, 4:].tolist() == [[pytest.approx(share), 0.0]] * 2
    assert rows[2:4, 4:].tolist() == [[1.0, 1.0]] * 2  # nothing is repeated in the last: nothing can tell
    assert rows[4, 4:].tolist() == [0.0, 0.0]
    # Of equally heavy words the earlier ones, whatever their numbers.
    heavy = [word for word in (6, 5, 4, 3, 2, 1) for _ in range(3)]
    rows = run(kernels, [heavy, heavy[:-3], [6, *filler]], [(0, 1), (0, 2)], {})[0]
    assert rows[0, 4:].tolist() == [1.0, 1.0]
    assert rows[1, 4:].tolist() == [pytest.approx(1 / 15), pytest.approx(1 / 3)]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=300))
def test_words_get_the_same_numbers(words: list[int]) -> None:
    given_ = np.array(words, np.uint64)
    for kernels in (reference, native):
        distinct, numbers = kernels.number_words(given_)
        assert distinct.tolist() == list(dict.fromkeys(words))
        assert distinct[numbers].tolist() == words
        assert (distinct.dtype, numbers.dtype) == (np.uint64, np.uint32)


def test_many_different_words_get_numbers() -> None:
    words = np.random.default_rng(1).integers(1, 2**63, 5000).astype(np.uint64)
    distinct, numbers = native.number_words(np.concatenate([words, words[::-1]]))
    assert distinct.tolist() == words.tolist()
    assert numbers.tolist() == [*range(5000), *range(4999, -1, -1)]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(0, 2**64 - 1), max_size=60),
    st.lists(st.integers(0, 2**64 - 1), max_size=60),
    st.integers(0, 8),
    st.integers(8, 63),
)
def test_keys_are_found_where_they_are(held: list[int], others: list[int], parts: int, bits: int) -> None:
    keys = np.unique(np.array(held, np.uint64) >> np.uint64(64 - bits))
    borders = [part << (bits - parts) for part in range((1 << parts) + 1)]
    firsts = np.array([sum(key < border for key in keys.tolist()) for border in borders], np.uint32)
    words = np.array(held + others, np.uint64)
    known = {key: at for at, key in enumerate(keys.tolist())}
    for kernels in (reference, native):
        found = kernels.find_keys(words, keys, firsts, bits)
        assert found.dtype == np.int64
        assert found.tolist() == [known.get(word >> 64 - bits, len(keys)) for word in words.tolist()]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 2**64 - 1), max_size=30), max_size=8),
    st.integers(0, 8),
    st.integers(0, 9),
)
def test_samples_of_fingerprints_agree(sets: list[list[int]], bits: int, first: int) -> None:
    values = np.array([value for some in sets for value in some], np.uint64)
    offsets = np.concatenate([[0], np.cumsum([len(some) for some in sets])]).astype(np.uint64)
    plain, quick = (kernels.sample_keys(values, offsets, first, bits) for kernels in (reference, native))
    for one, other in zip(plain, quick, strict=True):
        assert (one.dtype, one.tolist()) == (other.dtype, other.tolist())
    if not bits:
        assert len(quick[0]) == len(values)


def test_a_long_document_is_sampled_whole() -> None:
    values = np.random.default_rng(3).integers(1, 2**63, 5000).astype(np.uint64)
    offsets = np.array([0, 0, 5000], np.uint64)
    for bits in (0, 2):
        plain, quick = (kernels.sample_keys(values, offsets, 7, bits)[0] for kernels in (reference, native))
        assert plain.tolist() == quick.tolist()
        assert set((quick & np.uint64(0xFFFFFF)).tolist()) == {8}


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), max_size=60), st.integers(2, 15))
def test_pairs_of_fingerprints_agree(held: list[tuple[int, int]], most: int) -> None:
    keys = np.sort(np.array([value << 24 | document for value, document in held], np.uint64))
    plain, quick = (kernels.pair_keys(keys, 5, most) for kernels in (reference, native))
    for one, other in zip(plain, quick, strict=True):
        assert (one.dtype, one.tolist()) == (other.dtype, other.tolist())
    assert quick[1].sum() == len(held)


@pytest.mark.parametrize("kernels", [reference, native], ids=["plain", "native"])
def test_samples_and_pairs_refuse_what_has_no_room(kernels) -> None:
    one, whole = np.ones(1, np.uint64), np.array([0, 1], np.uint64)
    with pytest.raises(ValueError, match="eight bits"):
        kernels.sample_keys(one, whole, 0, 9)
    with pytest.raises(ValueError, match="too many documents"):
        kernels.sample_keys(one, whole, 1 << 24, 0)
    with pytest.raises(ValueError, match="15 documents"):
        kernels.pair_keys(one, 2, 16)
    with pytest.raises(ValueError, match="not there"):
        kernels.pair_keys(one, 1, 8)
