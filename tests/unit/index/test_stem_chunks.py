"""Windows of a text, chunks of documents, and which of them are near."""

from __future__ import annotations

import random

import numpy as np
import pytest

from doublet.index.passage_keys import Hits
from doublet.index.stem_chunks import (
    MOST_CHUNKS,
    RAREST,
    NearestDocuments,
    Windows,
    choose,
    chunk_numbers,
    near_documents,
    read_windows,
    telling,
)
from doublet.signatures.statistics import LEXICAL_CANON
from doublet.text.tokens import TokenBatch


def content(*texts: str) -> TokenBatch:
    return LEXICAL_CANON.tokens(texts, words=True)


def names(seed: int, count: int) -> list[str]:
    luck = random.Random(seed)
    return [
        "".join(luck.choice("bdfgklmnprtvz") + luck.choice("aeiou") for _ in range(4)) for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("words", "windows"), [(0, 1), (10, 1), (20, 1), (21, 2), (30, 2), (31, 3), (450, 44)]
)
def test_windows_overlap_by_half(words: int, windows: int) -> None:
    assert read_windows(content(" ".join(names(1, words)))).count == windows


def test_of_a_window_the_rarest_stems_are_asked_for() -> None:
    rare = names(2, 12)
    common = "system file user command option value data name list line text number".split()
    found = read_windows(content(" ".join([*common, *rare])))
    assert len(found.stems) == RAREST
    asked = content(" ".join(rare))
    assert set(found.stems.tolist()) == set(asked.hashes.tolist())


def test_a_short_text_has_one_chunk_and_a_long_one_no_more_than_there_can_be() -> None:
    offsets = np.array([0, 0, 40, 340, 100_340], np.uint64)
    numbers, counts = chunk_numbers(offsets)
    assert counts.tolist() == [1, 1, 2, 256]
    assert numbers[:40].tolist() == [0] * 40
    assert numbers[40:340].tolist() == [0] * 150 + [1] * 150
    assert np.unique(numbers[340:]).tolist() == list(range(256))


def windows(stems: int, keys: list[int], own: list[int]) -> Windows:
    return Windows(
        np.arange(stems, dtype=np.uint64),
        [str(number) for number in range(stems)],
        np.full(stems, 8.0),
        np.array(keys, np.int64),
        np.array(own, np.int64),
        max(own) + 1,
    )


def hits(pairs: list[tuple[int, int]], stems: int) -> Hits:
    rows = np.array(sorted(pairs), np.int64)
    return Hits(rows[:, 0], rows[:, 1], np.bincount(rows[:, 0], minlength=stems))


def test_stems_must_be_near_each_other_in_both() -> None:
    own = windows(8, list(range(8)), [0] * 4 + [1] * 4)
    together = [(key, 5 * MOST_CHUNKS + 3) for key in range(4)]
    in_two_chunks = [(key, 6 * MOST_CHUNKS + key % 4) for key in range(8)]
    assert choose(own, hits([*together, *in_two_chunks], 8), 1_000) == [5]


def test_what_stands_everywhere_leads_nowhere() -> None:
    own = windows(4, [0, 1, 2, 3], [0] * 4)
    everywhere = [(key, document * MOST_CHUNKS) for key in range(4) for document in range(1_001)]
    assert choose(own, hits(everywhere, 4), 100_000) == []


@pytest.mark.parametrize("chunks", [1, 2, 100_000])
def test_one_word_is_not_enough_however_rare(chunks: int) -> None:
    assert choose(windows(1, [0], [0]), hits([(0, 7 * MOST_CHUNKS)], 1), chunks) == []


def test_two_words_that_are_nowhere_else_are_enough_and_two_less_rare_ones_are_not() -> None:
    own = windows(2, [0, 1], [0, 0])
    assert choose(own, hits([(0, 7 * MOST_CHUNKS), (1, 7 * MOST_CHUNKS)], 2), 1_000) == [7]
    shared = [(key, document * MOST_CHUNKS) for key in (0, 1) for document in range(10)]
    assert choose(own, hits(shared, 2), 1_000) == []  # each in one document of a hundred


def test_the_two_best_chunks_of_a_window_are_looked_at() -> None:
    own = windows(7, list(range(7)), [0] * 7)
    shared = [
        (key, document * MOST_CHUNKS) for document, keys in enumerate((7, 6, 5, 4), 1) for key in range(keys)
    ]
    assert choose(own, hits(shared, 7), 1_000) == [1, 2]


def test_of_equals_no_more_documents_are_looked_at_than_there_can_be() -> None:
    own = windows(4, [0, 1, 2, 3], [0] * 4)
    equal = [(key, document * MOST_CHUNKS) for key in range(4) for document in range(30)]
    assert choose(own, hits(equal, 4), 1_000) == list(range(24))
    assert windows(40, list(range(40)), list(range(40))).most == 40


def test_words_of_every_text_are_not_filed() -> None:
    known = telling(content("work make different people history letter").hashes)
    assert known.tolist() == [False] * 3 + [True] * 3  # in one document of seven, and in one of forty


def test_three_words_that_nobody_knows_are_near_by_themselves_and_two_are_not() -> None:
    rare = names(7, 12)
    text = read_windows(content(" ".join(rare)))
    own = [" ".join([*rare[:shared], *names(8, 60)]) for shared in (2, 3)]
    assert near_documents(text, content(*own))[1].tolist() == [1]


def test_the_nearest_documents_are_the_same_in_any_order_and_batches() -> None:
    words = names(3, 60)
    text = read_windows(content(" ".join(words)))
    luck = random.Random(4)
    documents = [(f"d{n:02}", " ".join([*luck.sample(words, 12), *names(100 + n, 60)])) for n in range(40)]
    documents.append(("near", " ".join([*words[20:42], *names(5, 60)])))
    answers = []
    for seed, size in ((1, 1), (2, 7), (3, 41)):
        random.Random(seed).shuffle(documents)
        nearest = NearestDocuments(text)
        for first in range(0, len(documents), size):
            some = documents[first : first + size]
            nearest.add(content(*(one for _, one in some)), [id for id, _ in some], first)
        answers.append([documents[number][0] for number in nearest.nearest()])
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][0] == "near"


def test_documents_that_are_as_good_as_the_last_are_told_too() -> None:
    words = names(6, 20)
    text = read_windows(content(" ".join(words)))
    same = " ".join(words[:10])
    _, documents, scores = near_documents(text, content(*[same] * 5))
    assert documents.tolist() == [0, 1, 2, 3, 4]
    assert len(set(scores.tolist())) == 1
