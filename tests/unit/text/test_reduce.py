"""Stems and lemmas: forms of one word become equal."""

from __future__ import annotations

import sys
import time

import pytest

from doublet.errors import ConfigError, InvalidParameter
from doublet.text import reduce
from doublet.text.reduce import reducer
from doublet.text.tokens import Canon

WORDS = [
    *(
        "договор",
        "договора",
        "договорами",
        "стали",
        "сталь",
        "мыла",
        "людей",
        "елки",
        "лемматизировал",
        "все",
    ),
    *(
        "run",
        "running",
        "duplicates",
        "duplicate",
        "1990s",
        "42",
        "3",
        "x",
        "я",
        "usbкабели",
        "αβγ",
        "文字",
        "łodz",
    ),
]


def test_stems() -> None:
    stem = reducer("stem")
    assert stem(["договор", "договора", "договорами"]) == ["договор"] * 3
    assert stem(["duplicate", "duplicates", "running"]) == ["duplic", "duplic", "run"]


def test_lemmas() -> None:
    lemma = reducer("lemma")
    assert lemma(["людей", "стали", "сталью", "лемматизировал"]) == [
        "человек",
        "стать",
        "сталь",
        "лемматизировать",
    ]


def test_english_lemma_is_the_stem() -> None:
    assert reducer("lemma")(["duplicates", "running"]) == reducer("stem")(["duplicates", "running"])


@pytest.mark.covers("T4")
@pytest.mark.parametrize("name", ["stem", "lemma"])
def test_alphabets_and_numbers_are_told_apart(name: str) -> None:
    reduced = dict(zip(WORDS, reducer(name)(WORDS), strict=True))
    for word in ("42", "3", "x", "αβγ", "文字", "łodz", "1990s"):
        assert reduced[word] == word
    assert reduced["usbкабели"].startswith("usbкабел")
    assert reduced["usbкабели"] != "usbкабели"


@pytest.mark.parametrize("name", ["stem", "lemma"])
def test_words_come_out_folded(name: str) -> None:
    for word in reducer(name)([*WORDS, "елка", "самолеты", "пчелы", "ребенок", "идет"]):
        assert "ё" not in word
        assert word == word.lower()
        assert word


@pytest.mark.parametrize("name", ["stem", "lemma"])
def test_nothing_to_reduce(name: str) -> None:
    assert reducer(name)([]) == []


@pytest.mark.parametrize("name", ["stem", "lemma"])
def test_order_and_repeats_do_not_matter(name: str) -> None:
    one = reducer(name)
    whole = one(WORDS)
    assert [one([word])[0] for word in WORDS] == whole
    assert reducer(name)(WORDS[::-1]) == whole[::-1]
    assert one(WORDS + WORDS) == whole + whole


@pytest.mark.parametrize("name", ["stem", "lemma"])
def test_a_word_of_a_million_letters(name: str) -> None:
    began = time.perf_counter()
    (reduced,) = reducer(name)(["а" * 1_000_000 + "ами"])
    assert len(reduced) > 900_000
    assert time.perf_counter() - began < 20


def test_the_plain_stemmer_agrees_with_the_quick_one() -> None:
    assert reduce._stems(pure=True)(WORDS) == reducer("stem")(WORDS)


def test_the_plain_stemmer_is_used_where_there_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    assert reducer("stem")(["договорами", "running"]) == ["договор", "run"]


def test_no_stemmer_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (
        "Stemmer",
        "snowballstemmer",
        "snowballstemmer.english_stemmer",
        "snowballstemmer.russian_stemmer",
    ):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError, match="pip install PyStemmer"):
        reducer("stem")


def test_no_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymorphy3", None)
    with pytest.raises(ConfigError, match=r"pip install 'doublet\[lemmas\]'"):
        reducer("lemma")


def test_unknown_reduction() -> None:
    with pytest.raises(InvalidParameter, match="did you mean 'lemma'"):
        reducer("lema")


@pytest.mark.covers("T4")
@pytest.mark.parametrize("name", ["stem", "lemma"])
def test_forms_of_a_word_get_one_hash_and_keep_their_places(name: str) -> None:
    text = "Договор договора договорами"
    batch = Canon(reduce=name).tokens([text], words=True)
    assert len(set(batch.hashes.tolist())) == 1
    assert [text[t.span.start : t.span.end] for t in batch.tokens(0)] == text.split()


def test_the_memory_of_lemmas_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduce, "_CACHE", 3)
    assert reducer("lemma")(WORDS) == reducer("lemma")(WORDS)
