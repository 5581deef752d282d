"""Stop words: short lists of function words, and the user's own."""

from __future__ import annotations

import pathlib

import pytest

from doublet.errors import InvalidParameter
from doublet.text.stopwords import load_stop_words, stop_words
from doublet.text.tokens import Canon


def test_it_works() -> None:
    assert {"и", "в", "не", "что", "the", "of", "and"} <= stop_words()
    assert not {"дом", "текст", "document", "duplicate"} & stop_words()


@pytest.mark.covers("T4")
@pytest.mark.parametrize("language", ["ru", "en"])
def test_lists_are_short_and_folded(language: str) -> None:
    words = stop_words(language)
    assert 100 <= len(words) <= 160
    for word in words:
        assert word == word.lower().replace("ё", "е")
        short_twin = len(word) <= 2 and not set(word) - set("асеорху")  # such words are written in Latin
        expected = word.translate(str.maketrans("асеорху", "aceopxy")) if short_twin else word
        assert Canon().tokens([word], words=True).words(0) == [expected]


def test_both_lists_together() -> None:
    assert stop_words() == stop_words("ru") | stop_words("en")
    assert not stop_words("ru") & stop_words("en")


def test_unknown_language() -> None:
    with pytest.raises(InvalidParameter, match="stop words for 'de'"):
        stop_words("de")


@pytest.mark.covers("T4")
def test_every_stop_word_is_left_out_in_a_text_of_its_language() -> None:
    for language, frame in (("ru", "дубликат {} текста"), ("en", "duplicate {} texts")):
        for word in sorted(stop_words(language)):
            found = Canon(stop_words=True).tokens([frame.format(word)], words=True).words(0)
            assert len(found) == 2, (word, found)


def test_own_list(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("\ufeffЁлки\n\n  рисунок  # из подписей\n# всё\nрисунок\nFIG\r\n", encoding="utf-8")
    assert load_stop_words(file) == ("fig", "елки", "рисунок")


def test_own_list_is_left_out(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("рисунок\n", encoding="utf-8")
    canon = Canon(extra_stop_words=load_stop_words(file))
    assert canon.tokens(["Рисунок и текст"], words=True).words(0) == ["и", "текст"]


def test_empty_own_list(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "words.txt"
    file.write_bytes(b"")
    assert load_stop_words(file) == ()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("слово".encode("cp1251"), "is not UTF-8"),
        (b"\xff\xfeabc", "is not UTF-8"),
        ("один\nдва слова\n".encode(), "line 2 .* several words"),
    ],
)
def test_bad_own_list_is_named(tmp_path: pathlib.Path, content: bytes, message: str) -> None:
    file = tmp_path / "words.txt"
    file.write_bytes(content)
    with pytest.raises(InvalidParameter, match=message) as caught:
        load_stop_words(file)
    assert str(file) in caught.value.message
    assert caught.value.path == str(file)


def test_missing_own_list_is_named(tmp_path: pathlib.Path) -> None:
    with pytest.raises(InvalidParameter, match=r"absent\.txt cannot be read: No such file"):
        load_stop_words(tmp_path / "absent.txt")
    with pytest.raises(InvalidParameter, match="cannot be read"):
        load_stop_words(tmp_path)
