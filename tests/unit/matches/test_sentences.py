"""Passages sentence by sentence: own sentences are cut out, single reworded sentences are found."""

from __future__ import annotations

import random

import numpy as np
import pytest

import doublet
from doublet.kernels.settings import PassageOptions
from doublet.matches import sentences
from doublet.matches.align import Passage
from doublet.matches.own_sentences import _own, _pieces, _without_room
from doublet.matches.passages import SharedPassages, _Pair, _with_sentences
from doublet.matches.places import Place, Places, Sentences, find_places
from doublet.matches.sentences import (
    Linked,
    _Asked,
    _elsewhere,
    _evidence,
    _has_rival,
    _not_told,
    _patchwork,
    _support,
    _supported,
    _windows,
)
from doublet.matches.stems import COMMON, read_stems
from doublet.model import Document

pytestmark = pytest.mark.covers("K2", "M15")

SOURCE = [
    "Обсерватория стояла на северном холме над старым портом.",
    "Её первый директор заказал в Мюнхене рефрактор с линзой в девять дюймов.",
    "Когда ящики открыли, линза оказалась треснувшей, и мастер отказался платить.",
    "Шесть лет астрономы наблюдали кометы в театральную трубу.",
    "После смерти директора прибор продали школе на другом берегу залива.",
    "Школьный сторож нашёл в футляре письма и отнёс их в городской архив.",
]
OWN = [
    "Мне эта история всегда казалась немного придуманной.",
    "Похожие неудачи случались тогда со многими учёными обществами Европы.",
    "Дедушка рассказывал о таких вещах по вечерам за чаем.",
    "Сегодня никто уже не помнит имён тех давних путешественников.",
    "Автору этих строк довелось побывать там прошлой осенью.",
]
FILLER = " ".join(
    f"Слово{i} идёт перед {i + 1}словом, а за ним ещё {i * 7} других предметов{i}." for i in range(30)
)


def between(taken: list[str], own: list[str]) -> tuple[str, list[str]]:
    """Borrowed and own sentences by turns."""
    text = [taken[0]]
    for i, sentence in enumerate(taken[1:]):
        text += [own[i % len(own)], sentence] if i < len(own) else [sentence]
    return " ".join(text), own[: len(taken) - 1]


def coloured(text: str, spans: list[doublet.Span], sentence: str) -> float:
    start = text.index(sentence)
    inside = {i for s in spans for i in range(max(s.start, start), min(s.end, start + len(sentence)))}
    return len(inside) / len(sentence)


def light(sentence: str) -> str:
    """A word is another, two have changed places."""
    words = sentence.rstrip(".").split()
    words[1], words[2] = words[2], words[1]
    return " ".join(["Вот", *words[1:]]) + "."


@pytest.mark.parametrize("reword", [str, light], ids=["as it was", "reworded"])
def test_own_sentences_between_borrowed_ones_are_not_told(reword):
    text, own = between([reword(one) for one in SOURCE], OWN)
    work, source = f"{FILLER} {text}", f"Начало. {' '.join(SOURCE)} Конец."
    compared = doublet.compare(work, source)
    spans = [one.a for one in compared.fragments]
    assert [coloured(work, spans, one) for one in own] == [0.0] * len(own)
    assert all(coloured(work, spans, reword(one)) > 0.8 for one in SOURCE)
    words = sum(len(reword(one).split()) for one in SOURCE)
    assert compared.share == pytest.approx(words / len(work.split()), abs=0.03)

    checked = doublet.check(work, [Document("source", source)])
    spans = [one.a for found in checked.sources for one in found.fragments]
    assert [coloured(work, spans, one) for one in own] == [0.0] * len(own)
    assert checked.share == pytest.approx(compared.share, abs=0.02)


@pytest.mark.parametrize("reword", [str, light], ids=["as it was", "reworded"])
def test_shares_of_both_sides_leave_out_own_sentences(reword):
    text, _ = between([reword(one) for one in SOURCE], OWN)
    work, source = f"{FILLER} {text}", f"Начало. {' '.join(SOURCE)} Конец."
    here, there = doublet.compare(work, source), doublet.compare(source, work)
    words = sum(len(reword(one).split()) for one in SOURCE)
    assert there.share_b == pytest.approx(words / len(work.split()), abs=0.03)
    assert there.share_b == pytest.approx(here.share, abs=0.02)
    assert there.share == pytest.approx(here.share_b, abs=0.02)


REWORDED = {
    "На холме к северу, над портом, когда-то построили обсерваторию.": 0,
    "Директор первым делом сделал заказ на рефрактор из Мюнхена, у которого линза девять дюймов.": 1,
    "Мастер от платы отказался: после открытия ящиков увидели трещину на линзе.": 2,
    "В театральную трубу кометы наблюдались астрономами долгих шесть лет.": 3,
}


def test_reworded_sentences_support_each_other():
    """Each alone is only possible; together they count, and each has its place in the source."""
    source = f"{FILLER} {' '.join(SOURCE)}"
    work = " ".join(f"{own} {one}" for own, one in zip(OWN, REWORDED, strict=False))
    found = doublet.compare(work, source)
    for sentence, number in REWORDED.items():
        start, place = work.index(sentence), source.index(SOURCE[number])
        assert any(
            one.a.start < start + len(sentence)
            and start < one.a.end
            and one.b.start < place + len(SOURCE[number])
            and place < one.b.end
            for one in found.fragments
        ), sentence
    assert all(coloured(work, [one.a for one in found.fragments], one) == 0.0 for one in OWN[:4])


def test_one_sentence_with_a_few_common_words_is_only_possible():
    first = next(iter(REWORDED))
    work = f"{FILLER.replace('Слово', 'Дело').replace('предметов', 'событий')} {first}"
    found = doublet.compare(work, " ".join(SOURCE))
    assert not found.fragments


# The numbers


def place(held: float, *, whole: float = 30.0, at: int = 0) -> Place:
    mass = held * whole
    return Place(at, at + 10, mass, whole, whole, mass)


def columns(held: list[float], *, whole: float = 30.0, close: list[float] | None = None) -> Places:
    """Places of sentences of which the other side holds such shares, and which are as *close* as that, or as told."""
    mass, every = whole * np.array(held), np.full(len(held), whole)
    there = every if close is None else (mass / np.array(close)) ** 2 / whole
    at = np.arange(len(held), dtype=np.uint32) * 10
    return Places(at, at + 10, mass, every, there, mass, np.zeros(len(held)))


def cut(
    *held: float,
    whole: float = 30.0,
    close: list[float] | None = None,
    shown: int = 0,
    words: int = 15,
    spare: bool = False,
) -> list[tuple[int, int]]:
    """What is left of a passage of sentences of so many *words*, of which the other side holds such shares; their
    places are ten apart. So many further own sentences are *shown* by another passage of the text. *spare*: the other
    side has no room for any of them."""
    p = Passage(0, 10 * len(held), 0, 10 * len(held), 50, origin="words")
    here = [((10 * i, 10 * i + 10), place(one, whole=whole, at=10 * i)) for i, one in enumerate(held)]
    passages = [columns(list(held), whole=whole, close=close), columns([1.0] + [0.01] * shown)]
    places = Places(
        *(
            np.concatenate([getattr(one, name) for one in passages])
            for name in ("start", "end", "mass", "whole", "there", "heaviest", "second")
        )
    )
    parts = [slice(0, len(held)), slice(len(held), len(held) + 1 + shown)]
    starts = [np.arange(len(held)) * 10, 1000 + np.arange(1 + shown)]
    sizes = [np.full(len(held), words), np.full(1 + shown, 15)]
    room = [np.full(len(held), spare), np.full(1 + shown, False)]
    own = _own(places, parts, starts, sizes, [0, 0], room)[parts[0]].tolist()
    return [(one.a_start, one.a_end) for one in _pieces(p, here, own)]


@pytest.mark.parametrize(("held", "own"), [(0.15, True), (0.45, False)])
def test_how_little_makes_a_sentence_own(held, own):
    assert cut(1.0, held, 1.0) == ([(0, 10), (20, 30)] if own else [(0, 30)])


def test_in_a_reworded_passage_a_sentence_needs_less():
    assert cut(0.5, 0.2, 0.5) == [(0, 30)]
    assert cut(0.5, 0.05, 0.5) == [(0, 10), (20, 30)]


@pytest.mark.parametrize(("close", "own"), [(0.15, True), (0.25, False)])
def test_in_a_heavily_reworded_passage_own_sentences_are_like_nothing_there(close, own):
    every = [0.4, close, 0.4, close, 0.4]
    assert len(cut(0.5, 0.25, 0.5, 0.25, 0.5, close=every)) == (3 if own else 1)
    assert len(cut(0.5, 0.25, 0.5, 0.25, 0.5, close=every, words=7)) == 1  # too few of them are missing


@pytest.mark.parametrize(("shown", "own"), [(0, False), (1, True)])
def test_who_puts_own_sentences_between_borrowed_ones_does_so_again(shown, own):
    close = [0.9, 0.15, 0.9]
    assert len(cut(0.9, 0.3, 0.9, close=close, shown=shown)) == (2 if own else 1)
    assert len(cut(0.9, 0.3, 0.9, close=[0.9, 0.25, 0.9], shown=shown)) == 1


@pytest.mark.parametrize(("words", "own"), [(6, True), (4, False)])
def test_shorter_ones_are_own_where_two_others_are_shown(words, own):
    assert len(cut(0.6, 0.4, 0.6, close=[0.6, 0.15, 0.6], shown=2, words=words)) == (2 if own else 1)
    assert len(cut(0.6, 0.4, 0.6, close=[0.6, 0.15, 0.6], shown=1, words=words)) == 1


@pytest.mark.parametrize(("held", "own"), [(0.75, False), (0.85, True)])
def test_where_most_is_held_fewer_words_are_enough(held, own):
    """Three words and a half that are not there are own in a copy with changes, and chance in a heavy rewording."""
    assert len(cut(held, 0.01, held, 0.01, held, words=4)) == (3 if own else 1)


@pytest.mark.parametrize("weight", [0.5, 1.0, 2.0])
def test_how_much_all_words_weigh_has_no_say_in_what_is_own(weight):
    """In two short texts every word weighs little."""
    assert len(cut(0.9, 0.01, 0.9, 0.01, 0.9, whole=30.0 * weight, words=4)) == 3
    assert len(cut(0.9, 0.01, 0.9, 0.01, 0.9, whole=30.0 * weight, words=2)) == 1


def test_a_sentence_beside_two_copies_of_a_document_is_one():
    passages = [
        columns([0.9, 0.01, 0.9]),
        columns([0.9, 0.01, 0.9]),
        columns([0.9, 0.4, 0.9], close=[0.9, 0.1, 0.9], whole=24.0),
    ]
    names = ("start", "end", "mass", "whole", "there", "heaviest", "second")
    places = Places(*(np.concatenate([getattr(one, name) for one in passages]) for name in names))
    parts = [slice(3 * i, 3 * i + 3) for i in range(3)]
    alike = [np.array([0, 10, 20])] * 2 + [np.array([50, 60, 70])]
    apart = [np.array([0, 10, 20]), np.array([30, 40, 50]), np.array([60, 70, 80])]
    sizes = [np.full(3, 15), np.full(3, 15), np.full(3, 6)]
    room = [np.zeros(3, np.bool_)] * 3
    assert not _own(places, parts, alike, sizes, [0, 0, 0], room)[7]
    assert _own(places, parts, apart, sizes, [0, 0, 0], room)[7]
    assert not _own(places, parts, apart, sizes, [0, 1, 0], room)[7]  # another text shows them


@pytest.mark.parametrize(("words", "own"), [(8, False), (16, True)])
def test_a_short_sentence_by_itself_may_be_borrowed(words, own):
    """Where nothing of it is left; two of them next to each other, or one more in the text, are own."""
    assert len(cut(1.0, 0.01, 1.0, words=words)) == (2 if own else 1)
    assert len(cut(1.0, 0.01, 0.01, 1.0, words=words)) == 2
    assert len(cut(1.0, 0.01, 1.0, words=words, shown=1)) == 2


@pytest.mark.parametrize(("words", "own"), [(5, False), (14, True)])
def test_a_few_words_are_not_cut_out(words, own):
    assert len(cut(0.6, 0.05, 0.6, words=words)) == (2 if own else 1)


@pytest.mark.parametrize(("count", "own"), [(2, False), (3, True)])
def test_three_short_sentences_for_which_the_other_side_has_no_room_are_own(count, own):
    held, close = [0.5, *[0.05, 0.5] * count], [0.4, *[0.1, 0.4] * count]
    assert len(cut(*held, close=close, words=2, spare=True)) == (count + 1 if own else 1)
    assert len(cut(*held, close=close, words=2)) == 1
    assert len(cut(*held, close=close, words=2, spare=True, shown=2)) == count + 1
    assert (
        len(cut(*held, close=[0.4, *[0.25, 0.4] * count], words=2, spare=True)) == 1
    )  # something is like them


REWORDED_JOURNEY = [
    "Сооружать дорогу начали в мае 1891 года неподалёку от Владивостока.",
    "Делом заведовал глава финансового ведомства Витте, добившийся денег от казны.",
    "Рук недоставало, и к работам привлекли солдат со ссыльными.",
    "Рельсы с мостами везли морем и реками, на это уходили месяцы.",
    "К 1904 году движение открылось по всей линии, исключая байкальский участок, где вагоны переправляли на пароме.",
]
JOURNEY = (
    "Транссибирская магистраль соединяет Москву с Владивостоком. Строительство дороги началось в мае 1891 года близ "
    "Владивостока. Работами руководил министр финансов Сергей Витте, который добился выделения средств из казны. "
    "Рабочих не хватало, поэтому на стройку привлекали солдат и ссыльных. Рельсы и мосты доставляли по рекам и по "
    "морю, что занимало месяцы. К 1904 году поезда пошли по всей линии, кроме участка вокруг Байкала, где вагоны "
    "перевозил паром."
)


def test_short_own_sentences_are_cut_out_where_the_source_has_no_room_for_them():
    """The sentences around them stand side by side in the source."""
    own = [
        "Я бы туда съездил летом.",
        "Об этом мало кто помнит.",
        "Сегодня такое трудно представить.",
        "Мой прадед тоже был железнодорожником.",
    ]
    text, _ = between(REWORDED_JOURNEY, own)
    checked = doublet.check(text, [("source", JOURNEY)])
    for told in (doublet.compare(text, JOURNEY).fragments, checked.sources[0].fragments):
        spans = [fragment.a for fragment in told]
        assert [coloured(text, spans, sentence) for sentence in own] == [0] * len(own)
        assert all(coloured(text, spans, sentence) > 0.9 for sentence in REWORDED_JOURNEY)


def test_where_the_source_has_no_room():
    """Sentences of four words; the known ones of the passage are where the source has these sentences."""
    source = " ".join(f"Слово{i} идёт за словом{i + 1}." for i in range(9))
    texts = read_stems([source])
    sentences_of = Sentences(texts)

    def spare(*known: int | None) -> list[bool]:
        held = np.array([0.0 if one is None else 0.9 for one in known])
        at = np.array([4 * (one or 0) for one in known], np.uint32)
        mass, every = 30 * held, np.full(len(held), 30.0)
        places = Places(at, at + 4, mass, every, every, mass, np.zeros(len(held)))
        here = np.stack([np.arange(len(held)) * 4, np.arange(len(held)) * 4 + 4], axis=1)
        return _without_room(sentences_of, 0, here, places, slice(0, len(held))).tolist()

    assert spare(2, None, 3) == [False, True, False]
    assert spare(2, None, 4) == [False, False, False]  # it may be sentence 3
    assert spare(2, None, None, 4) == [False, True, True, False]
    assert spare(4, None, 2) == [False, False, False]  # in another order there is no between
    assert spare(None, 2, None) == [False, False, False]
    assert spare(None, None) == [False, False]


def test_own_sentences_of_one_document_are_looked_for_beside_the_next():
    """Between the passages of one document alone a short one stays: what it says weighs too little."""
    short = "Для меня это был урок."
    more = [
        "Пароход «Витязь» отошёл от причала ровно в полдень под звуки духового оркестра.",
        "Капитан Лаврентьев велел поднять сигнальные флаги и сбавить ход у маяка.",
        "На третий день в трюме нашли течь, и помпы работали до самого рассвета.",
    ]
    moved = [light(one) for one in SOURCE]
    moved[1] += f" {short}"
    others, _ = between([light(one) for one in more], OWN)
    work = f"{FILLER} {' '.join(moved)} {others}"
    documents = [("first", f"Начало. {' '.join(SOURCE)} Конец."), ("second", " ".join(more))]
    copy = ("copy", documents[0][1])
    for some, told in ((documents[:1], 1.0), (documents, 0.0), ([*documents[:1], copy], 1.0)):
        checked = doublet.check(work, some)
        spans = [one.a for source in checked.sources for one in source.fragments]
        assert all(coloured(work, spans, light(one)) > 0.6 for one in SOURCE)
        assert coloured(work, spans, short) == told, [id for id, _ in some]


def test_a_passage_of_which_nothing_would_be_left_stays():
    assert cut(0.0, 0.0) == [(0, 20)]


NONE = np.empty(0, np.int64), np.empty(0)


def counting(numbers, worth, plain, evidence, sentences_of_text, elsewhere=0.0, slight=False):
    """Which of some sentences of a text count, by their support, and which have less, enough where other documents
    show so much."""
    numbers, worth, plain = np.array(numbers), np.array(worth), np.array(plain)
    support = _support(numbers[plain], worth[plain], evidence, sentences_of_text)
    asked = _Asked(0, 1, 0, numbers, worth, support)
    shown, slight = np.full(len(numbers), elsewhere), np.full(len(numbers), slight)
    fully, less = _supported(asked, np.arange(len(numbers)), plain, slight, shown)
    return fully.tolist(), less.tolist()


def settled(worths: list[tuple[int, float]], sentences_of_text: int) -> tuple[int, int]:
    numbers, worth = zip(*worths, strict=True)
    sure, _ = counting(numbers, worth, [True] * len(numbers), NONE, sentences_of_text)
    return sum(sure), len(sure) - sum(sure)


@pytest.mark.parametrize(("worth", "counted"), [(28.0, 0), (42.0, 1)])
def test_what_one_sentence_must_be_worth(worth, counted):
    assert settled([(50, worth)], 140) == (counted, 1 - counted)


def test_a_longer_text_needs_more():
    assert settled([(5, 40.0)], 20) == (1, 0)
    assert settled([(5, 40.0)], 400) == (0, 1)


@pytest.mark.parametrize(("apart", "counted"), [(15, 3), (30, 0)])
def test_sentences_around_give_support(apart, counted):
    rows = [(10 + apart * i, 20.0) for i in range(5)]
    assert settled(rows, 140)[0] == counted


def test_a_text_of_one_sentence_needs_evidence():
    assert settled([(0, 16.0)], 1) == (0, 1)
    assert settled([(0, 40.0)], 1) == (1, 0)


@pytest.mark.parametrize(
    ("worth", "close", "linked"), [(4.0, 0.5, False), (9.0, 0.5, True), (9.0, 0.2, False)]
)
def test_what_a_sentence_and_its_place_must_have_in_common(monkeypatch, worth, close, linked):
    mass = worth / close
    one = Places(*(np.array([value]) for value in (0, 3, mass, mass / close, mass / close, mass, 0)))
    monkeypatch.setattr(sentences, "find_places", lambda *_, **__: one)
    texts = read_stems(["One two three four.", "Five six seven."])
    found = sentences.link_sentences(texts, [(0, 1)], [[]], Sentences(texts))
    assert bool(found[0].counted or found[0].possible) is linked


def test_a_reworded_sentence_is_found_between_its_neighbours_only():
    """Two common words say nothing by themselves. Between two sentences whose places are known they are enough."""
    hidden = "Стекло в ящике приехало разбитым, и денег мастер не взял."  # SOURCE[2]
    source = f"{FILLER} {' '.join(SOURCE)}"
    one, two, _, four = REWORDED

    def told(*work: str) -> float:
        text = " ".join(work)
        return coloured(text, [found.a for found in doublet.compare(text, source).fragments], hidden)

    assert told(OWN[0], one, two, hidden, four, OWN[1]) == 1.0
    assert told(OWN[0], one, two, four, OWN[1], OWN[2], hidden, OWN[3]) == 0.0


def passage(a: int, b: int, *, equal: int = 4, origin: str = "words") -> Passage:
    """A passage of one sentence of ten words, by the numbers of the two sentences."""
    return Passage(10 * a, 10 * a + 10, 10 * b, 10 * b + 10, equal, "reworded", "weak", origin, 30.0)


def ten_words(count: int) -> str:
    return " ".join(" ".join(f"w{i}x{k}" for k in range(10)).capitalize() + "." for i in range(count))


@pytest.mark.parametrize(
    ("told", "links", "windows"),
    [
        ([(10, 10), (12, 12)], [], {11: [(10, 12)]}),
        ([(10, 10), (12, 16)], [], {11: [(10, 16)]}),  # three sentences there for one here
        ([(10, 10), (12, 20)], [], {}),
        ([(10, 20), (12, 10)], [], {}),  # in another order
        ([(10, 10), (16, 16)], [], {n: [(10, 16)] for n in range(11, 16)}),
        ([(10, 10), (22, 22)], [], {}),  # too far from both
        ([(10, 10)], [], {}),  # a passage alone got its borders before
        ([], [(10, 10)], {9: [(9, 10)], 11: [(10, 11)]}),
        ([(12, 12)], [(10, 10)], {9: [(9, 10)], 11: [(10, 12), (10, 11)]}),
    ],
)
def test_where_a_sentence_is_looked_for_near_its_neighbours(told, links, windows):
    texts = read_stems([ten_words(40), ten_words(40)])
    known = [passage(*one) for one in links]
    numbers = np.array([n for n in range(40) if n not in {a for a, _ in (*told, *links)}])
    some, there, enough = _windows(
        Sentences(texts), (0, 1), [*(passage(*one) for one in told), *known], Linked(known, []), numbers
    )
    found: dict[int, list[tuple[int, int]]] = {}
    for i, (low, high), least in zip(some.tolist(), there.tolist(), enough.tolist(), strict=True):
        found.setdefault(int(numbers[i]), []).append((low // 10, high // 10 - 1))
        assert least == (sentences.BESIDE if links and high - low == 20 else sentences.BETWEEN)
    assert found == windows


@pytest.mark.parametrize(
    ("told", "number", "window", "least"),
    [
        ([(0, 0), (30, 30)], 15, (0, 30), (0.7, 0.8)),  # far from both: nearly as much is asked as everywhere
        ([(0, 0), (30, 8)], 15, (0, 8), (0.45, 0.55)),  # there are few places to look at
        ([(0, 0), (30, 1)], 15, (0, 1), (0.3, 0.3)),
        ([(0, 0), (12, 38)], 6, None, (0, 0)),  # more than three sentences there for each one here
        ([(12, 5)], 15, (5, 17), (0.5, 0.6)),  # nothing is known behind it: as far as three for each one
        ([(17, 12)], 15, (3, 12), (0.45, 0.55)),
        ([(30, 39)], 15, (0, 39), (0.75, 0.85)),
        ([(0, 30), (30, 0)], 15, None, (0, 0)),  # in another order
    ],
)
def test_far_from_its_neighbours_a_sentence_is_looked_for_where_many_around_it_count(
    told, number, window, least
):
    texts = read_stems([ten_words(40), ten_words(40)])
    passages = [passage(*one) for one in told]
    for support, looked_for in ((1.6, False), (2.2, window is not None)):
        known = Linked([], [], np.full(40, support))
        some, there, enough = _windows(Sentences(texts), (0, 1), passages, known, np.array([number]))
        assert bool(len(some)) is looked_for
    if window is not None:
        assert (there[0, 0] // 10, there[0, 1] // 10 - 1) == window
        assert least[0] <= enough[0] <= least[1]


def test_the_support_of_a_sentence_is_what_those_around_it_are_worth():
    support = _support(np.array([10, 30]), np.array([40.0, 20.0]), (np.array([0]), np.array([10.0])), 100)
    needed = sentences.ENOUGH * np.log(100 + sentences.FEW)
    assert support.shape == (100,)
    assert [round(float(support[n] * needed), 6) for n in (0, 10, 20, 30, 31, 50, 51)] == [
        50,
        70,
        70,
        60,
        20,
        20,
        0,
    ]


@pytest.mark.parametrize(
    ("places", "worth", "close", "linked"),
    [
        ([2], 2.0, 0.15, True),
        ([2], 1.2, 0.15, False),
        ([2], 2.0, 0.08, False),
        ([], 3.0, 0.2, True),
        ([], 1.5, 0.2, False),
        ([], 3.0, 0.1, False),
    ],
    ids=lambda value: "beside one" if value == [] else "between two" if value == [2] else None,
)
def test_near_its_neighbours_a_sentence_needs_less(monkeypatch, places, worth, close, linked):
    def answer(*asked, **_):
        rows = sum(len(some) for some in asked[2])
        mass = worth / close
        return Places(
            *(np.full(rows, value) for value in (10, 20, mass, mass / close, mass / close, mass, 0))
        )

    monkeypatch.setattr(sentences, "find_places", answer)
    texts = read_stems([ten_words(2 + len(places)), ten_words(3)])
    known = Linked([passage(0, 0)], [])
    told = [passage(n, n) for n in places]
    (found,) = sentences.link_neighbours(texts, [(0, 1)], [told], [known], Sentences(texts))
    assert [(p.a_start, p.a_end) for p in found.counted] == ([(0, 20)] if linked else [(0, 10)])


def test_reworded_passages_support_the_sentences_around_them_and_copies_do_not():
    texts = read_stems([ten_words(6), ten_words(6)])
    both = [passage(1, 1, equal=4), passage(3, 3, equal=9), passage(4, 4, origin="summary")]
    numbers, worth = _evidence(both, 0, Sentences(texts))
    assert numbers.tolist() == [1]
    assert worth.tolist() == [30.0 * both[0].score]
    assert counting([5], [20.0], [True], NONE, 20)[0] == [False]
    assert counting([5], [20.0], [True], (np.array([2]), np.array([20.0])), 20)[0] == [True]


@pytest.mark.parametrize(("around", "counts"), [(40.0, False), (60.0, False), (75.0, True)])
def test_a_faint_sentence_counts_where_those_around_it_leave_no_doubt(around, counts):
    assert counting([5, 6], [around, 30.0], [True, False], NONE, 20)[0] == [True, counts]
    assert counting([6], [30.0], [False], NONE, 20)[0] == [False]


@pytest.mark.parametrize(
    ("worth", "elsewhere", "enough"),
    [
        (13.0, 1.2, True),
        (9.0, 1.2, False),  # three tenths of what is enough are asked of a document of its own
        (13.0, 0.8, False),  # the other one does not show that the text was reworded
    ],
)
def test_less_is_enough_where_another_document_shows_that_a_text_was_reworded(worth, elsewhere, enough):
    assert counting([6], [worth], [True], NONE, 20, elsewhere) == ([False], [enough])
    assert counting([6], [worth], [True], NONE, 20) == ([False], [False])


@pytest.mark.parametrize(("elsewhere", "counts"), [(1.9, False), (2.0, True)])
def test_slight_likeness_counts_where_other_documents_leave_no_doubt(elsewhere, counts):
    around = np.array([5]), np.array([200.0])
    assert counting([6], [3.0], [False], around, 20, elsewhere, slight=True) == ([False], [counts])
    assert counting([6], [3.0], [False], NONE, 20, elsewhere, slight=True) == ([False], [False]), "no support"


@pytest.mark.parametrize(
    ("worth", "close", "second", "counted"),
    [
        (2.8, 0.20, 1.3, True),
        (2.7, 0.20, 1.2, False),
        (2.8, 0.19, 1.3, False),
        (2.8, 0.20, 1.5, False),  # another place of the document is nearly as good
    ],
)
def test_what_slight_likeness_is(monkeypatch, worth, close, second, counted):
    """Five sentences leave no doubt that the first document was reworded, and the sixth is from the second one."""
    worths = np.array([[30.0] * 5 + [0.1], [0.1] * 5 + [worth]]).ravel()
    closes = np.array([[0.5] * 5 + [0.1], [0.1] * 5 + [close]]).ravel()

    def answer(*asked, **_):
        mass = worths / closes
        at = [np.tile(np.arange(6, dtype=np.uint32) * 10 + shift, 2) for shift in (0, 10)]
        return Places(*at, mass, mass / closes, mass / closes, mass, np.full(12, second))

    monkeypatch.setattr(sentences, "find_places", answer)
    texts = read_stems([ten_words(6)] * 3)
    taken = passage(0, 0, origin="runs")
    monkeypatch.setattr(
        sentences, "_not_told", lambda some, pair, _: (np.arange(6), some.within(pair[0], 0, 60))
    )
    for together in (False, True):
        linked = sentences.link_sentences(
            texts, [(0, 1), (0, 2)], [[], [taken]], Sentences(texts), together=together
        )
        assert [(p.a_start, p.a_end) for p in linked[0].counted] == [(0, 50)]
        assert [p.a_start for p in linked[1].counted] == ([50] if counted and together else [])
        assert linked[1].possible == []


def test_how_much_other_documents_show() -> None:
    """The most that any of them shows, and all of them together."""
    others = [
        _Asked(0, n, 0, np.empty(0, np.int64), np.empty(0), np.array(some))
        for n, some in enumerate(([1.0, 0.2, 0.0], [0.5, 0.7, 0.0]))
    ]
    assert _elsewhere(others, None, 3).tolist() == [1.0, 0.7, 0.0]
    assert _elsewhere(others, np.array([0.0, 3.0, 0.0]), 3).tolist() == [1.0, 3.0, 0.0]
    assert _elsewhere([], None, 3).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("rivals", "faint", "shows"),
    [
        ([0.0, 0.0, 0.0], (), True),  # one and a half of each is not enough, all three together are
        ([7.0, 7.0, 7.0], (), False),  # what stands elsewhere nearly as well says nothing
        ([5.0, 5.0, 5.0], (), True),
        ([0.0, 0.0, 0.0], (1, 2), False),  # nor do faint sentences
    ],
)
def test_a_text_that_was_put_together_from_several_documents(rivals, faint, shows):
    worth = np.diag([12.0, 12.0, 12.0]) + np.roll(np.diag(rivals), 1, axis=1)
    numbers = np.array([4, 8, 12])
    every = [_Asked(0, row + 1, 3 * row, numbers, worth[row], np.full(20, 0.3)) for row in range(3)]
    plain = np.array(
        [worth[row][column] > 0 and column not in faint for row in range(3) for column in range(3)]
    )
    patched = _patchwork(every, plain)
    assert len(patched) == 20
    assert (patched[8] >= 1) is np.bool_(shows)
    for row, one in enumerate(every):
        shown = _elsewhere([o for o in every if o is not one], patched, 20)[numbers[[row]]]
        fully, less = _supported(one, np.array([row]), np.array([True]), np.array([False]), shown)
        assert (fully.tolist(), less.tolist()) == ([False], [shows])


def test_plain_words_weigh_less_beside_several_documents():
    essay = "Кто хочет, тот может сделать всё, что он хочет сделать. Барсук роет нору в глинистом овраге."
    plain = "Тот, кто хочет всё это сделать, тот сделать это может и хочет."
    texts = read_stems([essay, plain, essay.split(". ")[1]])
    ranges = [Sentences(texts).within(0, 0, 99)] * 2
    alone, beside = (
        find_places(texts, [(0, 1), (0, 2)], ranges, [(0, 5), (0, 5)], rare=rare).mass
        for rare in (False, True)
    )
    assert alone[0] > 1.3 * beside[0] > 0, "plain words"
    assert beside[3] > alone[3], "telling ones"


def test_names_of_the_theme_and_numbers_stay_light_beside_several_documents():
    """Whoever writes about a man names him, and the day he died; that is not another's wording."""
    theme = " ".join(f"Кондратюк {word} много." for word in "ел пил спал шил пел мыл нёс вёз".split())
    essay = f"Кондратюк прожил 1897 1942 годы. {theme}"
    texts = read_stems([essay, essay])
    ranges = [np.array([[0, 2], [1, 2]])]  # with the name, and without it
    (with_name, without), (raised, less) = (
        find_places(texts, [(0, 1)], ranges, [(0, 5)], rare=rare).mass for rare in (False, True)
    )
    alone, beside = with_name - without, raised - less
    assert alone < beside < 1.6 * alone, "a rare name that every sentence has"
    rarity = dict(zip(essay.split(), texts.rarity[texts.words.slice(0)].tolist(), strict=True))
    assert rarity["1897"] == rarity["1942"] == COMMON < rarity["Кондратюк"]


def test_a_document_that_passages_were_taken_from_needs_no_further_support():
    not_slight = np.array([False])
    for source in (False, True):
        one = _Asked(0, 1, 0, np.array([6]), np.array([6.0]), np.zeros(20), source)
        for plain in (False, True):
            fully, less = _supported(one, np.array([0]), np.array([plain]), not_slight, np.array([1.2]))
            assert (fully.tolist(), less.tolist()) == ([False], [source])
        _, less = _supported(one, np.array([0]), np.array([True]), not_slight, np.array([0.0]))
        assert not less.any(), "nothing else was reworded"


@pytest.mark.parametrize(
    ("worth", "rival", "times", "same", "has"),
    [
        (10.0, 9.0, 1.0, 0, False),  # the best place of all
        (10.0, 11.0, 1.0, 0, True),
        (10.0, 4.0, sentences.RIVAL, 0, False),
        (10.0, 6.0, sentences.RIVAL, 0, True),
        (10.0, 11.0, 1.0, 10, False),  # a copy of the document says the same
        (10.0, 11.0, 1.0, 9, False),
        (10.0, 11.0, 1.0, 7, True),
    ],
)
def test_a_sentence_that_another_document_has_nearly_as_well(worth, rival, times, same, has):
    words = [f"word{n}" for n in range(10)]
    others = words[:same] + [f"another{n}" for n in range(10 - same)]
    texts = read_stems(["a sentence", " ".join(words), " ".join(others)])
    one = _Asked(0, 1, 0, np.array([3, 5]), np.array([0.0, worth]), np.ones(9))
    other = _Asked(0, 2, 2, np.array([4, 5]), np.array([50.0, rival]), np.ones(9))
    rows = np.zeros(4)
    places = Places(rows.astype(np.uint32), np.full(4, 10, np.uint32), rows, rows, rows, rows, rows)
    assert _has_rival(one, 1, [other], times, places, texts) is has
    places.second[1] = rival
    assert _has_rival(one, 1, [], times, places, texts) is (has or same > 7), "in the document itself"
    places.second[1] = 0.0
    assert not _has_rival(one, 0, [other], times, places, texts), "the other one was not asked about it"


def test_documents_of_a_check_have_a_say_in_each_other_and_pairs_do_not():
    first = "The harbour master counted seventeen grey barrels of salted herring before the autumn storm. "
    second = "A blind carpenter from Riga tuned the cathedral organ with a wooden fork every winter. "
    texts = read_stems([first + second, first.replace("counted", "took"), second.replace("tuned", "mended")])
    apart = sentences.link_sentences(texts, [(0, 1), (0, 2)], [[], []], Sentences(texts))
    alone = [sentences.link_sentences(texts, [pair], [[]], Sentences(texts))[0] for pair in ((0, 1), (0, 2))]
    assert [one.counted for one in apart] == [one.counted for one in alone]


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ([], (10, 20)),
        ([(0, 13)], (13, 20)),
        ([(16, 30)], (10, 16)),
        ([(10, 11), (18, 19)], (11, 18)),
        ([(12, 30)], None),
        ([(12, 14), (15, 16)], None),
        ([(5, 25)], None),
        ([(0, 5), (25, 30)], (10, 20)),
    ],
)
def test_only_what_no_passage_tells_is_looked_for(told, left):
    texts = read_stems([ten_words(4), ten_words(4)])
    for equal, rest in ((20, left), (1, left and (10, 20))):  # copied; reworded, so that its end is a guess
        passages = [Passage(start, end, 0, 10, equal, "reworded", "weak", "words") for start, end in told]
        numbers, parts = _not_told(Sentences(texts), (0, 1), passages)
        assert dict(zip(numbers.tolist(), map(tuple, parts.tolist()), strict=True)).get(1) == rest


def test_a_sentence_that_goes_on_with_a_reworded_passage_is_a_part_of_it():
    """With a copied one it is only possible: who copies has no need to reword the next sentence."""
    texts = read_stems([ten_words(4), ten_words(4)])
    for equal, whole, possible in ((4, (0, 20), []), (9, (0, 10), [(10, 20)])):
        found = SharedPassages([passage(0, 0, equal=equal)], [])
        linked = Linked([passage(1, 1)], [])
        pair = _Pair(texts, 0, 1, PassageOptions())
        pair.equal = lambda p: 4 * (p.a_end - p.a_start) // 10  # type: ignore[method-assign]
        told = _with_sentences(found, linked, pair, symmetric=False)
        assert [(p.a_start, p.a_end) for p in told.passages] == [whole]
        assert [(p.a_start, p.a_end) for p in told.possible] == possible


def test_clean_texts_on_one_theme_share_nothing():
    """Sentences made of the same theme words in other company."""
    rng = random.Random(3)
    theme = [f"тема{i}" for i in range(12)]

    def text(kind: str) -> str:
        return " ".join(
            " ".join(
                [*rng.sample(theme, 3), *(f"{kind}{rng.randrange(2000)}" for _ in range(9))]
            ).capitalize()
            + "."
            for _ in range(80)
        )

    for _ in range(20):
        found = doublet.compare(text("свой"), text("чужой"))
        assert not found.fragments
