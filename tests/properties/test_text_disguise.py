"""Laws of disguise (T5): hidden texts have the words of the plain ones and are reported, honest ones not."""

from __future__ import annotations

import functools
import json
import lzma
import pathlib
import random
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet import kernels
from doublet.text.disguise import find_disguise, find_disguise_in
from doublet.text.tokens import Canon

TO_LATIN = dict(zip("асеорхуАВЕКМНОРСТХУ", "aceopxyABEKMHOPCTXY", strict=True))
TO_CYRILLIC = {latin: cyrillic for cyrillic, latin in TO_LATIN.items()}
# Small letters, then capitals: some have their twin in Greek, some in Cherokee, some in both.
ENGLISH_TO = {
    "Greek": dict(
        zip("aeiknoptuvwxyABEHIKMNOPTXYZ", "αεικηορτυνωχγΑΒΕΗΙΚΜΝΟΡΤΧΥΖ", strict=True),
    ),
    "Cherokee": dict(
        zip(
            "acdeghjklmprstvwyzABCDEGHJKLMPRSTVWYZ",
            "ꭺꮯꭰꭼꮐꮋꭻꮶꮮꮇꮲꭱꮪꭲꮩꮃꭹꮓᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᎩᏃ",
            strict=True,
        )
    ),
}
RUSSIAN_TO = {
    "Greek": dict(zip("акопртухфсАВЕКМНОРТУХГПФС", "ακοπρτγχφϲΑΒΕΚΜΗΟΡΤΥΧΓΠΦϹ", strict=True)),
    "Cherokee": dict(zip("аекмнпрстуАВЕКМНРСТУ", "ꭺꭼꮶꮇꮋոꮲꮯꭲꭹᎪᏴᎬᏦᎷᎻᏢᏟᎢᎩ", strict=True)),
}
FEWER = 1 if kernels.BACKEND == "native" else 20  # the plain kernels are slow: every twentieth real text
INVISIBLE = "\u200b\u200c\u200d\u2060\u00ad\ufeff\u200e"

RUSSIAN = """
сор роса а о с у хор оса рак НАТО МОСКВА Она она Вот Текст документ ёлка подъезд щука жизнь Поиск её страница
который большой Россия экран физика цифра шум Чехов юла яблоко объявление йод
"""
ENGLISH = """
a cop cope ox pace ace HOT MOTH The the text document find zebra quick jumps over lazy dog vexing Copy page
which large Russia screen physics digit noise Yellow bridge knight
"""
russian_words = st.sampled_from(RUSSIAN.split())
english_words = st.sampled_from(ENGLISH.split())


def words_of(text: str) -> list[int]:
    hashes: list[int] = kernels.tokenize([text], None, None, 1)[0].tolist()
    return hashes


def swapped(text: str, twins: dict[str, str], pick: Callable[[], bool]) -> str:
    return "".join(twins[c] if c in twins and pick() else c for c in text)


@pytest.mark.covers("T5")
@given(
    words=st.lists(russian_words, min_size=1, max_size=30), seed=st.integers(0, 2**32), share=st.floats(0, 1)
)
def test_any_look_alikes_in_a_russian_text_change_no_word(words: list[str], seed: int, share: float) -> None:
    text = " ".join([*words, "щука"])  # one word that can only be Russian
    rng = random.Random(seed)
    assert words_of(swapped(text, TO_LATIN, lambda: rng.random() < share)) == words_of(text)


@pytest.mark.covers("T5")
@given(
    words=st.lists(english_words, min_size=1, max_size=30), seed=st.integers(0, 2**32), share=st.floats(0, 1)
)
def test_any_look_alikes_in_an_english_text_change_no_word(words: list[str], seed: int, share: float) -> None:
    text = " ".join([*words, "zigzag"])
    rng = random.Random(seed)
    assert words_of(swapped(text, TO_CYRILLIC, lambda: rng.random() < share)) == words_of(text)


@pytest.mark.covers("T5")
@pytest.mark.parametrize("alphabets", [["Greek"], ["Cherokee"], ["Greek", "Cherokee"]], ids=" and ".join)
@given(
    words=st.lists(st.one_of(english_words, russian_words), min_size=1, max_size=30),
    seed=st.integers(0, 2**32),
    upper=st.booleans(),
)
def test_all_look_alikes_of_a_third_alphabet_change_no_word(
    alphabets: list[str], words: list[str], seed: int, upper: bool
) -> None:
    rng = random.Random(seed)
    for word_list, glue, to in ((ENGLISH, " bridge ", ENGLISH_TO), (RUSSIAN, " подъезд ", RUSSIAN_TO)):
        # Between any two of them a word that shows that letters were swapped.
        text = glue.join(["", *(word for word in words if word in word_list.split()), ""])
        text = text.upper() if upper else text
        tables = [to[name] for name in alphabets]
        hidden = "".join(rng.choice([t[c] for t in tables if c in t] or [c]) for c in text)
        assert words_of(hidden) == words_of(text)


@pytest.mark.covers("T5")
@given(
    words=st.lists(st.sampled_from("το νερο και τα κακα α η ο τι κρασι ΝΕΡΟ ΚΑΙ ατομο".split()), max_size=12)
)
def test_greek_words_near_greek_ones_stay_greek(words: list[str]) -> None:
    text = " λόγος ".join(["The word", *words, "stays"])
    assert words_of(text)[2:-1] == words_of(" λόγος ".join(["", *words, ""]))


@pytest.mark.covers("T5")
@given(word=russian_words, before=russian_words, seed=st.integers(0, 2**32))
def test_letters_set_apart_and_swapped_are_joined_alike(word: str, before: str, seed: int) -> None:
    text = f"щука {before}, {' '.join(word)}."
    rng = random.Random(seed)
    assert words_of(swapped(text, TO_LATIN, lambda: rng.random() < 0.5)) == words_of(text)
    if len(word) >= 4:
        assert words_of(text) == words_of(f"щука {before}, {word}.")


@pytest.mark.covers("T5")
@given(
    words=st.lists(st.one_of(russian_words, english_words), min_size=1, max_size=20),
    extra=st.sampled_from(INVISIBLE + "\u0301\u0323\u0336"),
    seed=st.integers(0, 2**32),
)
def test_characters_put_inside_words_change_no_word(words: list[str], extra: str, seed: int) -> None:
    rng = random.Random(seed)
    hidden = [w[0] + "".join(rng.choice(["", extra]) + c for c in w[1:]) for w in words]
    assert words_of(" ".join(hidden)) == words_of(" ".join(words))


@given(
    text=st.one_of(
        st.text(max_size=200), st.text("aаoоеe i\u200b\u2800\u3000\u0301\u00ad𝐚ᴀ1_А.ɪ", max_size=60)
    )
)
def test_findings_are_in_order_and_inside_the_text(text: str) -> None:
    result = find_disguise(text)
    kinds = [f.kind for f in result.findings]
    assert kinds == [
        k
        for k in ("lookalike", "invisible", "spaced", "marks", "styled", "digits", "blanks", "turned")
        if k in kinds
    ]
    for finding in result.findings:
        assert finding.characters >= max(1, finding.words)
        assert len(finding.spans) >= finding.words
        assert all(a.end <= b.start for a, b in zip(finding.spans, finding.spans[1:], strict=False))
        assert all(0 <= start < end <= len(text) for start, end in finding.spans)


@given(text=st.text(st.characters(max_codepoint=127), max_size=200))
def test_plain_ascii_can_only_have_its_letters_apart_or_digits(text: str) -> None:
    assert {f.kind for f in find_disguise(text).findings} <= {"spaced", "digits"}


# Real texts


def rows(file: pathlib.Path) -> Iterator[dict[str, object]]:
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@functools.cache
def real_texts(shared: pathlib.Path) -> dict[str, list[str]]:
    data = shared / "data"
    news: list[dict[str, dict[str, str]]] = list(rows(data / "tg-news-pairs/pairs.jsonl.xz"))  # type: ignore[arg-type]
    essays: list[dict[str, dict[str, str]]] = list(rows(data / "paraplag-essays/essays.jsonl.xz"))  # type: ignore[arg-type]
    russian = [str(row["text"]) for row in rows(data / "mdn-ru-revisions/docs.jsonl.xz")]
    english = [str(row["text"]) for row in rows(data / "pan13-text-alignment-train/docs.jsonl.xz")]
    for pair in news:
        bucket = russian if pair["lang"] == "ru" else english  # type: ignore[comparison-overlap]
        bucket += [f"{pair[side]['title']}\n{pair[side]['text']}" for side in ("first", "second")]
    russian += [text for essay in essays for text in [str(essay["text"]), *essay["sources"].values()]]
    manuals = []
    for file in sorted((data / "doc-repeats-spbu/docs").glob("*.xz")):
        text = lzma.decompress(file.read_bytes()).decode()
        manuals += [text[i : i + 20_000] for i in range(0, len(text), 20_000)]
    return {"russian": russian, "english": english, "manuals": manuals}


def some(texts: list[str], count: int) -> list[str]:
    """Texts of at least 100 words, spread over the whole set."""
    long = [text for text in texts if len(text.split()) >= 100]
    return long[:: max(1, len(long) // count)]


def share_of_equal_words(plain: list[str], hidden: list[str]) -> float:
    a, b = kernels.tokenize(plain, None, None, 1), kernels.tokenize(hidden, None, None, 1)
    equal = 0
    for i in range(len(plain)):
        one = a[0][int(a[4][i]) : int(a[4][i + 1])]
        other = b[0][int(b[4][i]) : int(b[4][i + 1])]
        equal += int(np.count_nonzero(one == other)) if len(one) == len(other) else 0
    return equal / len(a[0])


def inside_words(text: str, extra: str, step: int = 5) -> str:
    """*extra* after every *step*-th letter of a word (of Latin or Cyrillic letters) that goes on."""
    return re.sub(rf"([A-Za-zА-яЁё]{{{step}}})(?=[A-Za-zА-яЁё])", rf"\1{extra}", text)


@pytest.mark.shared
@pytest.mark.covers("T5")
@pytest.mark.parametrize("language", ["russian", "english"])
@pytest.mark.parametrize("way", ["all", "every second", "a third", "5% of the words"])
def test_swapped_real_texts_have_the_same_words_and_are_reported(
    shared: pathlib.Path, language: str, way: str
) -> None:
    texts = some(real_texts(shared)[language], 200 // FEWER)
    twins = TO_LATIN if language == "russian" else TO_CYRILLIC
    rng = random.Random(1)
    turns = iter(range(10**9))
    pick: dict[str, Callable[[], bool]] = {
        "all": lambda: True,
        "every second": lambda: next(turns) % 2 == 0,
        "a third": lambda: rng.random() < 1 / 3,
    }
    if way in pick:
        hidden = [swapped(text, twins, pick[way]) for text in texts]
    else:

        def change(found: re.Match[str]) -> str:
            return swapped(found[0], twins, pick["all"]) if rng.random() < 0.05 else found[0]

        hidden = [re.sub(r"\w+", change, text) for text in texts]
    equal = share_of_equal_words(texts, hidden)
    batch = Canon().tokens(hidden)
    alarms = sum(find_disguise_in(text, batch, i).alarm for i, text in enumerate(hidden))
    print(f"{language}, {way}: {equal:.6%} of the words equal, alarm on {alarms} of {len(texts)} texts")
    assert equal > 0.99999
    # A text of a hundred words has five of them swapped, and some of these have no letter to swap.
    assert alarms >= (0.85 if way == "5% of the words" else 1) * len(texts)


@pytest.mark.shared
@pytest.mark.covers("T5")
@pytest.mark.parametrize("language", ["russian", "english"])
@pytest.mark.parametrize("alphabets", [["Greek"], ["Cherokee"], ["Greek", "Cherokee"]], ids=" and ".join)
@pytest.mark.parametrize("upper", [False, True], ids=["as they are", "capitals"])
def test_real_texts_in_a_third_alphabet_have_the_same_words_and_are_reported(
    shared: pathlib.Path, language: str, alphabets: list[str], upper: bool
) -> None:
    texts = some(real_texts(shared)[language], 100 // FEWER)
    texts = [text.upper() for text in texts] if upper else texts
    tables = [(RUSSIAN_TO if language == "russian" else ENGLISH_TO)[name] for name in alphabets]
    rng = random.Random(1)
    hidden = ["".join(rng.choice([t[c] for t in tables if c in t] or [c]) for c in text) for text in texts]
    equal = share_of_equal_words(texts, hidden)
    batch = Canon().tokens(hidden)
    alarms = sum(find_disguise_in(text, batch, i).alarm for i, text in enumerate(hidden))
    print(f"{language}, {alphabets}: {equal:.4%} of the words equal, alarm on {alarms} of {len(texts)} texts")
    # One of the English texts is what is left of a binary file: single letters, and nothing to tell them by.
    assert equal > 0.997
    assert alarms >= 0.99 * len(texts)


@pytest.mark.shared
@pytest.mark.covers("T5")
@pytest.mark.parametrize("language", ["russian", "english"])
@pytest.mark.parametrize(
    ("extra", "kind"), [("\u200b", "invisible"), ("\u00ad", "invisible"), ("\u0301", "marks")]
)
def test_characters_inside_the_words_of_real_texts(
    shared: pathlib.Path, language: str, extra: str, kind: str
) -> None:
    texts = some(real_texts(shared)[language], 100 // FEWER)
    hidden = [inside_words(text, extra) for text in texts]
    assert share_of_equal_words(texts, hidden) == 1
    batch = Canon().tokens(hidden)
    found = [find_disguise_in(text, batch, i) for i, text in enumerate(hidden)]
    assert sum(any(f.alarm and f.kind == kind for f in d.findings) for d in found) >= 0.98 * len(texts)
    added = sum(len(b) - len(a) for a, b in zip(texts, hidden, strict=True))
    counted = sum(f.characters for d in found for f in d.findings if f.kind == kind)
    assert counted == pytest.approx(added, rel=0.02)


@pytest.mark.shared
@pytest.mark.covers("T5")
def test_honest_texts_raise_no_alarm(shared: pathlib.Path) -> None:
    """At most 0.3% of them. Look at each one that is printed: it may be a true slip of its author."""
    total = alarms = 0
    for name, all_texts in real_texts(shared).items():
        texts = all_texts[::FEWER]
        batch = Canon().tokens(texts)
        for i, text in enumerate(texts):
            total += 1
            for finding in find_disguise_in(text, batch, i).findings:
                if finding.alarm:
                    alarms += 1
                    print(name, i, finding.kind, [text[s:e] for s, e in finding.spans[:10]])
    print(f"alarm on {alarms} of {total} honest texts: {alarms / total:.3%}")
    assert alarms <= 0.003 * total
