"""Letters set apart with the gaps between words lost: dedupe signs the words that checks see (T5)."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import doublet
from doublet import kernels
from doublet.jobs.dedupe import long_records, reading
from doublet.signatures import method
from doublet.signatures.shingled import ShingledMethod
from doublet.text.tokens import Canon, Vocabulary, read_words

pytestmark = pytest.mark.covers("T5", "K7")

TEXTS = [
    "Протокол HTTP описывает, как браузер получает страницы с сервера. Метод GET просит данные, метод POST отправляет "
    "их на сервер. Каждый ответ имеет код состояния, и разработчик должен проверить его до того, как читать данные.",
    "The house stood on a hill to the north of the old harbour. The first director ordered a large telescope from "
    "Munich, and the city paid for it out of its own money. When the boxes were opened, the main glass was broken.",
    "Обсерватория стояла на северном холме над старым портом. Первый директор заказал в Мюнхене большой телескоп, "
    "и город заплатил за него из своих денег. Когда ящики открыли, оказалось, что главная линза разбита.",
]


def set_apart(text: str) -> str:
    return " ".join(text.replace(" ", ""))


def mixtures(count: int) -> list[str]:
    """Texts of plain sentences, sentences set apart, alphabets, tables of marks and words that are set apart alone."""
    luck = random.Random(11)
    sentences = [sentence for text in TEXTS[1:] for sentence in text.split(". ")]
    oddities = [
        "a b c d e f g h i j k l m n",
        "1 2 3 4 5 6 7 8 9 0 1 2 3",
        "К О Н Е Ц",
        "soft\xadhyphen",
        "",
        "—",
    ]
    out = []
    for _ in range(count):
        parts = [
            luck.choice((str, str, set_apart))(luck.choice([*sentences, *oddities]))
            for _ in range(luck.randint(0, 6))
        ]
        out.append(luck.choice((". ", "\n", " ")).join(parts))
    return out


@pytest.mark.parametrize("stop_words", [False, True])
@pytest.mark.parametrize("shingle_words", [1, 4])
def test_sets_are_those_of_the_words_that_checks_see(stop_words: bool, shingle_words: int) -> None:
    exact = method("shingles", stop_words=stop_words, shingle_words=shingle_words)
    assert isinstance(exact, ShingledMethod)
    texts = mixtures(120)
    words = Canon(stop_words=stop_words).of(read_words(texts, Vocabulary()))
    expected = kernels.distinct(*kernels.shingle(words.hashes, words.offsets, shingle_words))
    for some in (texts, texts[:1], texts[::-1][:7]):
        values, offsets, counts, _ = exact.sets(some)
        for place, text in enumerate(some):
            number = texts.index(text)
            found = values[int(offsets[place]) : int(offsets[place + 1])]
            wanted = expected[0][int(expected[1][number]) : int(expected[1][number + 1])]
            assert np.array_equal(np.sort(found), np.sort(wanted)), text
            assert counts[place] == len(words.one(number).hashes)


def test_a_copy_is_found() -> None:
    documents = [(str(i), text) for i, text in enumerate(TEXTS)]
    documents += [(f"{i}-apart", set_apart(text)) for i, text in enumerate(TEXTS)]
    result = doublet.dedupe(documents)
    grouped = {(group.keep, member.id) for group in result.groups for member in group.members}
    listed = {(one.a, one.b) for one in result.related or ()}
    assert grouped | listed == {(str(i), f"{i}-apart") for i in range(len(TEXTS))}
    assert ("0", "0-apart") in grouped
    assert result.extra["disguised_documents"] == len(TEXTS)


def test_the_same_from_a_file_of_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [(str(i), text) for i, text in enumerate(mixtures(90))]
    documents += [(f"{i}-apart", set_apart(text)) for i, text in enumerate(TEXTS)]
    path = tmp_path / "corpus.jsonl"
    path.write_text(
        "\n".join(json.dumps({"id": id, "text": text}, ensure_ascii=False) for id, text in documents)
    )
    wanted = doublet.dedupe(documents, pairs=True).to_dict()
    assert doublet.dedupe(path, pairs=True).to_dict() == wanted
    assert doublet.dedupe(path, pairs=True, workers=3).to_dict() == wanted
    monkeypatch.setattr(reading, "LONG_BYTES", 1)
    assert doublet.dedupe(path, pairs=True).to_dict() == wanted


def test_a_long_record_is_read_whole_where_letters_are_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("PIECE_BYTES", 3_000), ("CUT_WITHIN", 1_500)):
        monkeypatch.setattr(long_records, name, value)
    monkeypatch.setattr(reading, "LONG_BYTES", 1_000)
    luck = random.Random(3)
    words = [f"{a}{b}ing" for a in "bdfglmnprst" for b in ("oll", "arn", "end", "ift", "urm")]
    filling = " ".join(luck.choices(words, k=3_000))
    text = f"{filling}. {set_apart(TEXTS[0])}. {filling[::-1]}"
    path = tmp_path / "long.jsonl"
    path.write_text("\n".join(json.dumps({"id": id, "text": t}) for id, t in (("a", text), ("b", TEXTS[0]))))
    wanted = doublet.dedupe([("a", text), ("b", TEXTS[0])], pairs=True).to_dict()
    assert doublet.dedupe(path, pairs=True).to_dict() == wanted
    assert wanted["groups"], "the short one is inside the long one"


@pytest.mark.parametrize("name", ["shingles", "minhash", "simhash"])
def test_libraries_sign_the_same_words(name: str, tmp_path: Path) -> None:
    with doublet.open_library(tmp_path / "library.db") as library:
        library.add([("plain", TEXTS[0]), ("other", TEXTS[1])])
        found = library.check(set_apart(TEXTS[0]), method=name, build=True)
        assert [one.id for one in found.sources] == ["plain"]
    with doublet.open_library(tmp_path / "turned.db") as library:
        library.add([("apart", set_apart(TEXTS[0])), ("other", TEXTS[1])])
        assert [one.id for one in library.check(TEXTS[0], method=name, build=True).sources] == ["apart"]
