"""M11 within a limit of memory: the same counts as those of `CollectionStatistics`, however little they may take."""

from __future__ import annotations

import io
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.errors import MemoryTooSmall
from doublet.signatures import CollectionStatistics, Limit, gather_statistics, method, pivot
from doublet.signatures import counting as module
from doublet.signatures.counting import CountedWords, WordCounter
from doublet.text.tokens import Canon, forget_words

pytestmark = pytest.mark.covers("M11")

METHODS = ("tfidf", "tfridf", "imatch")


def made(documents: int = 400, words: int = 3000) -> list[str]:
    """Documents of made-up words, some rare and some common, in two alphabets."""
    draw = random.Random(7)
    spelled = [
        "".join(draw.choice(alphabet) for _ in range(draw.randint(3, 9)))
        for alphabet in ("абвгдеиоу", "acdelnorst")
        for _ in range(words // 2)
    ]
    return [
        " ".join(spelled[int(len(spelled) * draw.random() ** 2)] for _ in range(draw.randint(0, 120)))
        for _ in range(documents)
    ]


def count(texts: list[str], canon: Canon, memory: int | None, folder: Path, each: int = 20) -> CountedWords:
    counter = WordCounter(canon, memory, str(folder))
    for start in range(0, len(texts), each):
        counter.add(canon.tokens(texts[start : start + each], words=True))
    return counter.finish()


def equal(found: CountedWords, expected: CollectionStatistics) -> None:
    assert found.fingerprint() == expected.fingerprint()
    assert (found.documents, found.words, len(found)) == (expected.documents, expected.words, len(expected))
    assert found.mean_words == expected.mean_words
    assert found.canon == expected.canon
    assert found.fixed == expected.fixed
    words = [*expected.counts(), "никогда"]
    df, cf = found.look_up(words)
    assert (df.tolist(), cf.tolist()) == tuple(column.tolist() for column in expected.look_up(words))
    assert df[-1] == cf[-1] == 0


@pytest.mark.parametrize("memory", [None, 10_000_000, 400_000, 150_000])
@pytest.mark.parametrize("canon", [Canon(), Canon(stop_words=True, min_letters=3, reduce="stem")])
def test_it_works(memory: int | None, canon: Canon, tmp_path: Path) -> None:
    texts = made()
    expected = CollectionStatistics(canon)
    expected.add_texts(texts)
    forget_words()
    equal(count(texts, canon, memory, tmp_path), expected)
    assert list(tmp_path.iterdir()) == []


def test_little_memory_makes_runs(tmp_path: Path) -> None:
    counter = WordCounter(Canon(), 150_000, str(tmp_path))
    texts = made()
    for start in range(0, len(texts), 20):
        counter.add(Canon().tokens(texts[start : start + 20], words=True))
    assert len(counter._runs) > 3
    words = [word for some, _ in counter.spelled() for word in some]
    assert words == sorted(set(words))
    assert len(counter.finish()) == len(words)


def test_empty(tmp_path: Path) -> None:
    for texts in ([], ["", "—"]):
        found = count(texts, Canon(), 1_000_000, tmp_path)
        assert found.fingerprint() == CollectionStatistics(Canon()).fingerprint()
        assert (found.documents, found.words, len(found), found.mean_words) == (0, 0, 0, 0.0)
        assert found.look_up(["маяк"])[0].tolist() == [0]
        assert method("imatch", found).sign("маяк волна берег камень") is None


def test_one_word(tmp_path: Path) -> None:
    expected = CollectionStatistics(Canon())
    expected.add_texts(["маяк"])
    equal(count(["маяк"], Canon(), 1_000_000, tmp_path), expected)


def test_words_of_two_alphabets_that_look_alike_are_two_words(tmp_path: Path) -> None:
    """Their hashes are equal, for a letter without neighbours is read as the other one; their counts are not."""
    canon = Canon(reduce="stem")
    texts = ["Вымели сор из избы", "The cop came", "Сор и снова сор"]
    expected = CollectionStatistics(canon)
    expected.add_texts(texts)
    found = count(texts, canon, 1_000_000, tmp_path)
    equal(found, expected)
    assert found.look_up(["сор", "cop"])[1].tolist() == [3, 1]


def test_letters_beyond_the_first_plane_are_sorted_as_python_sorts_them() -> None:
    texts = ["я𐐨 ﬀ 𝔸bc ꙋꙋꙋ", "zzz 一二三 ééé", "яяя 𐐨𐐨𐐨 zzz"]
    expected = CollectionStatistics(Canon())
    expected.add_texts(texts)
    counter = WordCounter(Canon(), 10_000_000)
    for text in texts:
        counter.add(Canon().tokens([text], words=True))
        forget_words()
    assert counter.finish().fingerprint() == expected.fingerprint()


def test_too_many_words_are_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(MemoryTooSmall, match=r"different words.*MB more \(--memory\)") as caught:
        count(made(), Canon(), 20_000, tmp_path)
    assert caught.value.details["missing_bytes"] > 0
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_error_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", lambda *_, **__: Full())
    with pytest.raises(OSError, match="No space left"):
        count(made(), Canon(), 100_000, tmp_path)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("memory", [100_000_000, 150_000])
def test_the_methods_sign_the_same(name: str, memory: int, tmp_path: Path) -> None:
    texts = made(200)
    settings = {"reduce": "none", "stop_words": False}
    whole = method(name, gather_statistics(name, texts, **settings))
    forget_words()
    within = method(name, gather_statistics(name, texts, within=Limit(memory, str(tmp_path)), **settings))
    assert whole.recipe == within.recipe
    pairs = zip(
        whole.sign_texts([*texts, "чужие слова"]), within.sign_texts([*texts, "чужие слова"]), strict=True
    )
    signed = 0
    for one, other in pairs:
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            signed += 1
            assert one.values.tolist() == other.values.tolist()
            assert one.size == other.size
    assert signed > 50


@pytest.mark.covers("M13")
@pytest.mark.parametrize("sample", [20_000, 150])
@pytest.mark.parametrize("memory", [50_000_000, 700_000])
def test_pivot_words_are_the_same(
    sample: int, memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = made(400, 800)
    expected = gather_statistics("pivot", texts, sample=sample, reduce="none")
    monkeypatch.setattr(pivot, "_AT_ONCE", 500)  # blocks smaller than the sample
    monkeypatch.setattr(pivot, "_SORTED_AT_ONCE", 700)
    monkeypatch.setattr(pivot, "_WORDS_AT_ONCE", 50)
    monkeypatch.setattr(pivot, "_WASTED", 3)
    forget_words()
    limit = Limit(memory, str(tmp_path))
    found = gather_statistics("pivot", reversed(texts), within=limit, sample=sample, reduce="none")
    assert expected is not None
    assert found is not None
    assert found.fingerprint() == expected.fingerprint()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.covers("M13")
def test_pivot_words_that_do_not_fit_are_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(MemoryTooSmall, match="choose from fewer documents"):
        gather_statistics("pivot", made(), within=Limit(300_000, str(tmp_path)), reduce="none")


@given(st.lists(st.text("абвгд ", max_size=40), max_size=12), st.integers(1, 5))
def test_the_same_for_any_texts_and_any_runs(texts: list[str], each: int) -> None:
    expected = CollectionStatistics(Canon())
    expected.add_texts(texts)
    counter = WordCounter(Canon(), 10_000_000)
    for start in range(0, len(texts), each):
        counter.add(Canon().tokens(texts[start : start + each], words=True))
        forget_words()  # the next batch begins with a vocabulary of its own: a run for each
    assert counter.finish().fingerprint() == expected.fingerprint()


def test_words_are_forgotten_only_when_they_take_too_much() -> None:
    forget_words()
    Canon().tokens(["маяк волна"], words=True)
    assert not forget_words(1_000_000)
    assert forget_words()
    assert not forget_words()


def test_blocks_smaller_than_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", 7)
    monkeypatch.setattr(module, "_MERGED", 1)
    monkeypatch.setattr(module, "_LEAST_BLOCK", 2)
    texts = made(60, 300)
    expected = CollectionStatistics(Canon())
    expected.add_texts(texts)
    forget_words()
    equal(count(texts, Canon(), 30_000, tmp_path), expected)
