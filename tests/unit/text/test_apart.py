"""Letters set apart with the gaps between words lost: read as words again, found, and told."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

import doublet
from doublet.model import Document
from doublet.text import apart
from doublet.text.disguise import find_disguise
from doublet.text.tokens import Canon, Vocabulary, read_words

pytestmark = pytest.mark.covers("T5", "T6")

RUSSIAN = (
    "Обсерватория стояла на северном холме над старым портом. Первый директор заказал в Мюнхене большой телескоп, "
    "и город заплатил за него из своих денег. Когда ящики открыли, оказалось, что главная линза разбита. Шесть лет "
    "учёные наблюдали за кометами в театральную трубу, а потом прибор продали школе на другом берегу залива."
)
ENGLISH = (
    "The house stood on a hill to the north of the old harbour. The first director ordered a large telescope from "
    "Munich, and the city paid for it out of its own money. When the boxes were opened, the main glass was broken. For "
    "six years the men of science watched the sky through an old theatre glass, and then they sold it to a school."
)
MIXED = (
    "Протокол HTTP описывает, как браузер получает страницы с сервера. Метод GET просит данные, метод POST отправляет "
    "их на сервер. Каждый ответ имеет код состояния, и разработчик должен проверить его до того, как читать данные."
)


def set_apart(text: str) -> str:
    """All letters with one blank between them, the gaps between words too."""
    return " ".join(text.replace(" ", ""))


@pytest.mark.parametrize("text", [RUSSIAN, ENGLISH, MIXED], ids=["ru", "en", "mixed"])
def test_found_and_told(text):
    disguised = set_apart(text)
    compared = doublet.compare(disguised, f"Начало. {text} The end of it.")
    assert compared.share > 0.9
    assert [one.kind for one in compared.disguise_a.findings if one.alarm] == ["spaced"]
    other = Document("other", "Совсем другой текст о том, как растут деревья в лесу, и о птицах.")
    checked = doublet.check(disguised, [Document("source", text), other])
    assert [one.id for one in checked.sources] == ["source"]
    assert checked.share > 0.9


@pytest.mark.parametrize("text", [RUSSIAN, ENGLISH])
def test_without_punctuation_too(text):
    assert doublet.compare(" ".join(c for c in text if c.isalpha()), text).share > 0.9


@pytest.mark.parametrize("text", [RUSSIAN, ENGLISH, MIXED])
def test_every_word_keeps_its_place(text):
    disguised = set_apart(text)
    batch = read_words([f"Plain words first. {disguised}", "and after", disguised])
    for number, own in enumerate((f"Plain words first. {disguised}", "and after", disguised)):
        part = batch.slice(number)
        places = list(zip(batch.starts[part].tolist(), batch.ends[part].tolist(), strict=True))
        assert all(x < y for x, y in places)
        assert all(x[1] <= y[0] for x, y in pairwise(places))
        spelled = [own[x:y].replace(" ", "").lower().replace("ё", "е") for x, y in places]
        if text is not MIXED:
            assert [one for one in batch.words(number) if len(one) > 1] == [
                one for one in spelled if len(one) > 1
            ]
    assert batch.words(1) == ["and", "after"]
    assert Canon().tokens([disguised]).hashes.tolist() == read_words([disguised]).hashes.tolist()


RANDOM = random.Random(7)
HONEST = {
    "alphabet": " ".join("абвгдежзийклмнопрстуфхцчшщъыьэюя"),
    "latin alphabet": " ".join("abcdefghijklmnopqrstuvwxyz"),
    "keyboard": " ".join("qwertyuiopasdfghjklzxcvbnm"),
    "genes": " ".join(RANDOM.choices("acgt", k=300)),
    "game": "\n".join(" ".join(RANDOM.choices("xo", k=20)) for _ in range(20)),
    "letters of a grid": "\n".join(" ".join(RANDOM.choices("eetaoinshrdlucm", k=15)) for _ in range(15)),
    "formula": "a b c d + x y z = 0, где a b c d и x y z t u v w p q r s суть числа",
    "initials": "А. С. Пушкин, М. Ю. Лермонтов, Л. Н. Толстой, Ф. М. Достоевский, И. С. Тургенев",
    "marks": "н б н н б б н н б н н н б б н н б н н н",
    "heading": "С О Д Е Р Ж А Н И Е",
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_letters_stay_as_they_were(name, monkeypatch):
    text = f"{HONEST[name]}\n{RUSSIAN}"
    read = read_words([text])
    words, findings = read.words(0), find_disguise(text).findings
    monkeypatch.setattr(apart, "_runs", lambda _: [])
    assert words == read_words([text]).words(0)
    assert findings == find_disguise(text).findings


def test_a_heading_of_two_words_is_two_words():
    assert read_words(["С О Д Е Р Ж А Н И Е К Н И Г И"]).words(0) == ["содержание", "книги"]


def test_more_letters_than_anybody_reads_stay_one_word(monkeypatch):
    monkeypatch.setattr(apart, "MOST_LETTERS", 60)
    words = read_words([set_apart(RUSSIAN)]).words(0)
    assert "стояла" in words
    assert max(map(len, words)) > 40


def test_words_that_were_read_together_are_known_by_their_hashes():
    vocabulary = Vocabulary()
    read_words([set_apart(RUSSIAN)], vocabulary)
    assert vocabulary.hashes.values.all()
    again = read_words(vocabulary.words, vocabulary)
    assert vocabulary.hashes.values[again.ids].tolist() == again.hashes.tolist()


def test_a_table_of_digits_beside_it_changes_nothing():
    table = " ".join("0110100110010110" * 20)
    disguised = set_apart(ENGLISH)
    batch = read_words([f"{disguised}\n\n{table}", disguised, table])
    assert batch.words(0) == [*batch.words(1), *table.split()]
    assert batch.words(2) == table.split()
