"""Bags, numbers, parts of statistics, names and keys: what goes in comes out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.errors import StoreDamaged
from doublet.index import passage_keys
from doublet.signatures.statistics import LEXICAL_CANON
from doublet.store import names, postings, words
from doublet.store.texts import Packer
from doublet.store.verify import read_keys
from doublet.text.tokens import Canon

BAGS = st.lists(st.dictionaries(st.integers(1, 1 << 31), st.integers(1, 9), max_size=20), max_size=8)


def as_words(bags: list[dict[int, int]]) -> tuple[words.Words, np.ndarray]:
    """Documents with these words (by number, with counts), and the numbers of the words by their ids."""
    numbers = sorted({number for bag in bags for number in bag})
    place = {number: at for at, number in enumerate(numbers)}
    documents = [[place[number] for number, count in bag.items() for _ in range(count)] for bag in bags]
    ids = np.array([word for own in documents for word in own], np.uint32)
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.uint64)
    nothing = np.zeros(len(numbers), np.uint64)
    used = np.arange(len(numbers), dtype=np.int64)
    found = words.Words(ids, offsets, ["?"] * len(numbers), used, nothing, nothing, nothing > 0)
    return found, np.array(numbers, np.int64)


def test_it_works() -> None:
    (bag,), part, _ = words.pack_bags(*as_words([{3: 1, 5: 4}]))
    assert bag == bytes([2, 3 << 1, (2 << 1) | 1, 4])
    numbers, counts, offsets = words.unpack_bags([bag])
    assert (numbers.tolist(), counts.tolist(), offsets.tolist()) == ([3, 5], [1, 4], [0, 2])
    assert (part.words.tolist(), part.df.tolist(), part.cf.tolist(), part.documents) == (
        [3, 5],
        [1, 1],
        [1, 4],
        1,
    )


@given(BAGS)
def test_bags_come_back(bags: list[dict[int, int]]) -> None:
    packed, _, _ = words.pack_bags(*as_words(bags))
    numbers, counts, offsets = words.unpack_bags(packed)
    for d, bag in enumerate(bags):
        part = slice(int(offsets[d]), int(offsets[d + 1]))
        assert dict(zip(numbers[part].tolist(), counts[part].tolist(), strict=True)) == bag


@given(BAGS)
def test_what_is_added_and_taken_away_leaves_nothing(bags: list[dict[int, int]]) -> None:
    packed, part, _ = words.pack_bags(*as_words(bags))
    again = words.change_of(*words.unpack_bags(packed))
    back = words.CountChange.unpack(part.pack(), part.documents)
    for other in (again, back):
        assert [c.tolist() for c in (other.words, other.df, other.cf)] == [
            c.tolist() for c in (part.words, part.df, part.cf)
        ]
        assert other.documents == part.documents
    left = words.sum_changes([part, back.negative()])
    assert (len(left.words), left.documents) == (0, 0)


def test_damaged_words_say_so() -> None:
    with pytest.raises(StoreDamaged, match="verify --repair"):
        words.unpack_bags([b"\x05\x02"])


def test_one_walk_reads_what_two_would() -> None:
    texts = [
        "Договоры подписаны вчера, и договор не оспорен.",
        "",
        "The dogs and the cats; the cat's dog — и кот.",
    ]
    plain, lexical = words.plain_and_words(texts)
    alone = Canon().tokens(texts)
    for column in ("hashes", "starts", "ends", "flags", "offsets"):
        assert getattr(plain, column).tolist() == getattr(alone, column).tolist()
    twice = LEXICAL_CANON.tokens(texts, words=True)
    assert lexical.offsets.tolist() == twice.offsets.tolist()
    assert [lexical.vocabulary[i] for i in lexical.ids.tolist()] == [
        twice.vocabulary[i] for i in twice.ids.tolist()
    ]
    assert dict(zip(lexical.used.tolist(), lexical.folds.tolist(), strict=True)) == dict(
        zip(twice.ids.tolist(), twice.hashes.tolist(), strict=True)
    )
    some = lexical.some([2])
    assert some.ids.tolist() == lexical.ids[int(lexical.offsets[2]) :].tolist()
    assert some.hashes.tolist() == [
        names.name_hash(lexical.vocabulary[i]) & (2**64 - 1) for i in some.used.tolist()
    ]


def test_damaged_statistics_say_so() -> None:
    with pytest.raises(StoreDamaged, match="verify --repair"):
        words.CountChange.unpack(b"nonsense", 3)


@given(st.text(st.characters()))
def test_names_come_back(text: str) -> None:
    stored = names.escape(text)
    assert names.unescape(stored) == text
    assert "\0" not in stored
    stored.encode()  # no lone surrogates


@given(st.lists(st.integers(0, (1 << 40) - 1), unique=True))
def test_keys_come_back(keys: list[int]) -> None:
    values = np.array(keys, np.uint64)
    assert postings.unpack_keys(postings.pack_keys(values)).tolist() == keys
    spelt = postings.spell_keys(values, range(len(keys) + 1))
    assert all(len(word.strip()) == 8 for word in spelt)
    assert read_keys([word.strip() for word in spelt], 40).tolist() == keys


@given(st.text(st.characters(), max_size=300))
def test_texts_come_back(text: str) -> None:
    packer = Packer(lambda _: None, {})
    (number,), (blob,) = packer.pack([text], [text.encode("utf-8", "surrogatepass")])
    assert packer.unpack(number, blob) == text


def test_a_missing_dictionary_and_a_broken_text() -> None:
    packer = Packer(lambda _: None, {})
    with pytest.raises(StoreDamaged, match="dictionary"):
        packer.unpack(5, b"x")
    with pytest.raises(StoreDamaged, match="damaged"):
        packer.unpack(0, b"x")


class TestChoice:
    """Which documents are verified: what is rare counts more, and near copies do not take all places."""

    @staticmethod
    def hits(pairs: list[tuple[int, int]], keys: int) -> passage_keys.Hits:
        array = np.array(pairs, np.int64)
        frequency = np.bincount(array[:, 0], minlength=keys).astype(np.int64)
        return passage_keys.Hits(array[:, 0], array[:, 1], frequency)

    def test_rare_before_common(self) -> None:
        common = [(key, document) for key in (0, 1) for document in range(10, 110)]
        hits = self.hits([*common, (2, 500), (2, 501)], 3)
        assert set(passage_keys.choose(hits, 1_000, 2)) & {500, 501}

    def test_copies_do_not_take_all_places(self) -> None:
        copies = [(key, document) for key in range(10) for document in range(100)]
        hits = self.hits([*copies, (10, 999)], 11)
        assert 999 in passage_keys.choose(hits, 1_000, 5)

    def test_nothing_found(self) -> None:
        nothing = np.zeros(0, np.int64)
        assert passage_keys.choose(passage_keys.Hits(nothing, nothing, np.zeros(4, np.int64)), 10, 5) == []


def test_every_run_of_the_promised_length_shares_a_key() -> None:
    luck = np.random.default_rng(3)
    vocabulary = [f"w{n}" for n in range(3_000)]
    length = passage_keys.WINDOW + passage_keys.SHINGLE_WORDS - 1
    for _ in range(50):
        run = list(luck.choice(vocabulary, length))
        texts = [
            " ".join([*luck.choice(vocabulary, 200), *run, *luck.choice(vocabulary, 200)]) for _ in range(2)
        ]
        keys = passage_keys.make_keys(texts)
        first, second = (
            set(keys.values[int(keys.offsets[d]) : int(keys.offsets[d + 1])].tolist()) for d in (0, 1)
        )
        assert first & second


def test_of_a_short_text_every_fingerprint_is_a_key() -> None:
    text = " ".join(f"word{number}" for number in range(100))
    some, every = passage_keys.make_keys([text]), passage_keys.make_keys([text], every=True)
    assert len(every.values) == 97
    assert 5 < len(some.values) < 20
    assert set(some.values.tolist()) < set(every.values.tolist())
    assert sorted(every.places.tolist()) == list(range(97))
