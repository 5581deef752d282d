"""Passages through rewording: what is found, what is told once, what is left apart, and that nothing explodes."""

from __future__ import annotations

import random
import re
import time
from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import doublet
from doublet import kernels, samples
from doublet.errors import InvalidParameter
from doublet.matches.align import AlignOptions, Passage, name_by_words
from doublet.matches.passages import (
    PassageOptions,
    _covered,
    _free,
    _gaps,
    _longest_free,
    _once,
    find_all,
    find_reworded,
    join,
    taken_one_by_one,
)
from doublet.matches.stems import read_stems
from doublet.model import Span

SOURCE = (
    "The observatory stood on the northern ridge above the fishing village. Its first director ordered a "
    "refracting telescope from Munich in 1889 and waited three winters for the lenses to arrive. When the "
    "crates were opened, two of the seven mirrors turned out to be cracked by frost. The director paid for "
    "replacements out of his own salary and catalogued four hundred variable stars before the war. After his "
    "death the instruments were sold to a university on the mainland, and shepherds kept their flocks inside "
    "the empty dome."
)
REWORDED = (
    "Above the village of fishermen, on the ridge to the north, an observatory was standing. A refracting "
    "telescope was ordered by its first director in Munich in the year 1889; for the arrival of the lenses he "
    "had to wait for three winters. Two mirrors of seven proved cracked from the frost after the crates had "
    "been opened. From his own salary the director bought replacements, and before the war he had four hundred "
    "variable stars in his catalogue. The instruments, after he died, went to a mainland university, and "
    "inside of the empty dome shepherds kept flocks."
)
SOURCE_RU = (
    "Обсерватория стояла на северном гребне над рыбацкой деревней. Первый директор заказал в Мюнхене телескоп "
    "и три зимы ждал, пока привезут линзы. Когда ящики вскрыли, оказалось, что два зеркала из семи треснули от "
    "мороза. Директор оплатил замену из собственного жалованья и до войны описал четыреста переменных звёзд. "
    "После его смерти приборы продали университету на материке, а в пустом куполе пастухи держали овец."
)
REWORDED_RU = (
    "Над деревней рыбаков, на гребне с северной стороны, располагалась обсерватория. Телескоп был заказан "
    "первым её директором в Мюнхене, и прибытия линз пришлось дожидаться три зимы. Из семи зеркал два "
    "оказались треснувшими от морозов, что выяснилось после вскрытия ящиков. Замену директор купил на "
    "собственное жалованье, а четыреста переменных звёзд успел описать ещё до войны. Приборы после смерти "
    "директора купил университет с материка, и пастухи стали держать овец в куполе, который опустел."
)
OWN = (
    "My grandmother never cared for museums. She preferred markets, where a stranger would shout the price of "
    "plums at her and she would shout back. Every Saturday we carried two baskets home along the canal and "
    "argued about soup. "
)
OWN_RU = (
    "Моя бабушка не любила музеев. Ей нравились рынки, где незнакомец кричит тебе цену слив, а ты кричишь в "
    "ответ. Каждую субботу мы несли две корзины домой вдоль канала и спорили о супе. "
)


def found(a: str, b: str, **options: float):
    (both,) = find_all(read_stems([a, b]), [(0, 1)], AlignOptions(), PassageOptions(**options))
    return both


def text_of(text: str, start: int, end: int) -> str:
    words = read_stems([text]).words
    return text[int(words.starts[start]) : int(words.ends[end - 1])]


@pytest.mark.covers("M15", "K2")
@pytest.mark.parametrize(
    ("source", "reworded", "own"),
    [(SOURCE, REWORDED, OWN), (SOURCE_RU, REWORDED_RU, OWN_RU)],
    ids=["en", "ru"],
)
def test_a_reworded_passage_inside_an_own_text(source, reworded, own):
    a = own * 2 + reworded + " " + own[::-1]
    (p,) = found(a, source).passages
    assert p.origin == "words"
    assert p.kind in ("edited", "reworded")
    assert p.strength == "strong"
    inside = text_of(a, p.a_start, p.a_end)
    assert inside.split()[0] == reworded.split()[0]
    assert len(inside.split()) == pytest.approx(len(reworded.split()), abs=4)
    assert text_of(source, p.b_start, p.b_end) == source[:-1]
    assert "both sides" in str(p.reason)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_the_ends_of_lines_make_no_difference(end):
    # Wrapped in short lines, so that one character more for each of them counts.
    wrapped = [re.sub(r"(\S+ \S+) ", r"\1\n", text) for text in (SOURCE, REWORDED)]
    texts = [wrapped[0], OWN.replace(". ", ".\n\n") + wrapped[1], "\n", SOURCE_RU.replace(" ", "\n")]
    others = [text.replace("\n", end) for text in texts]
    plain, read = read_stems(texts), read_stems(others)
    assert read.marks.tolist() == plain.marks.tolist()
    assert (read.starts.tolist(), read.ends.tolist()) == (plain.starts.tolist(), plain.ends.tolist())
    assert plain.starts.tolist() == plain.words.starts.tolist()
    for length in range(100, 700, 9):
        options = {"strong_length": length, "strong_longer": length, "sentence_worth": 0.0}
        assert found(*others[:2], **options) == found(*texts[:2], **options)


@pytest.mark.covers("K2")
def test_compare_tells_it_with_kind_score_and_reason():
    result = doublet.compare(OWN + REWORDED, SOURCE)
    (fragment,) = result.fragments
    assert (OWN + REWORDED)[fragment.a.start :].startswith("Above the village")
    assert 0.4 < fragment.score < 1
    assert str(fragment.reason)
    assert 0.5 < result.share < 0.8
    plain = doublet.compare(OWN + REWORDED, SOURCE, method="shingles")
    assert all(f.kind == "verbatim" or f.words < 12 for f in plain.fragments)
    assert plain.possible == ()


def test_verbatim_passages_keep_their_borders():
    a = OWN + SOURCE + " " + OWN.upper()
    (p,) = found(a, "A heading. " + SOURCE).passages
    assert (p.kind, p.origin, p.score) == ("verbatim", "runs", 1.0)
    assert text_of(a, p.a_start, p.a_end) == SOURCE[:-1]


def test_equal_texts_are_one_passage():
    both = found(SOURCE, SOURCE)
    assert [(p.kind, p.origin) for p in both.passages] == [("verbatim", "runs")]
    assert both.possible == []


def test_texts_of_different_things_share_nothing():
    both = found(OWN * 3, SOURCE)
    assert (both.passages, both.possible) == ([], [])


def test_a_short_reworded_sentence_is_possible_and_not_counted():
    sentence = "Two mirrors of seven proved cracked from the frost after the crates had been opened. "
    source = SOURCE + " " + " ".join(f"Sentence {i} speaks of other matters entirely." for i in range(40))
    both = found(OWN + sentence + OWN[::-1], source)
    assert both.passages == []
    (p,) = both.possible
    assert (p.strength, p.kind) == ("weak", "edited")
    result = doublet.compare(OWN + sentence + OWN[::-1], source)
    assert result.share == 0.0
    assert len(result.possible) == 1
    assert result.possible[0].strength == "weak"


def test_the_same_source_used_twice_is_told_twice():
    a = REWORDED + " " + OWN * 3 + SOURCE
    passages = found(a, SOURCE).passages
    assert len(passages) == 2
    assert passages[0].a_end <= passages[1].a_start


@pytest.mark.parametrize(
    ("a", "b"), [("", ""), ("", SOURCE), (SOURCE, ""), ("one", "one"), ("...", "!?"), ("слово", SOURCE_RU)]
)
def test_nothing_to_find(a, b):
    (rows,) = find_reworded(read_stems([a, b]), [(0, 1)])
    assert rows == []


def test_no_texts_and_no_pairs():
    assert find_reworded(read_stems([]), []) == []
    assert find_all(read_stems([SOURCE]), []) == []


def test_many_pairs_and_threads_give_the_same_as_each_alone():
    texts = [SOURCE, REWORDED, OWN + REWORDED, SOURCE_RU, OWN_RU + REWORDED_RU]
    read = read_stems(texts)
    pairs = [(x, y) for x in range(5) for y in range(5)]
    together = find_reworded(read, pairs, threads=3)
    assert together == [find_reworded(read, [pair])[0] for pair in pairs]
    assert together == [find_reworded(read_stems([texts[x], texts[y]]), [(0, 1)])[0] for x, y in pairs]


@pytest.mark.parametrize(("common", "taken"), [(4, True), (3, False)])
def test_the_next_sentences_are_taken_in_together(common, taken):
    """Of twelve words four are common: too little for a border that moves alone, enough for two sentences."""
    rng = random.Random(1)

    def text(kind: str, last: list[str]) -> str:
        said = [[f"common{s}word{i}" for i in range(12)] for s in range(6)] + [last]
        other = [[f"{kind}{s}word{i}" for i in range(12)] for s in range(20)]
        for one in said:
            rng.shuffle(one)
        return " ".join(" ".join(one).capitalize() + "." for one in [*other[:10], *said, *other[10:]])

    last = [f"last{i}" for i in range(12)]
    a, b = text("own", [*last[:common], *(f"new{i}" for i in range(12 - common))]), text("source", last)
    (p,) = found(a, b).passages
    assert (p.a_end - p.a_start, p.b_end - p.b_start) == ((84, 84) if taken else (72, 72))
    (p,) = found(a, b, next_sentence=0).passages
    assert (p.a_end - p.a_start, p.b_end - p.b_start) == (72, 72)


def test_options_out_of_range():
    with pytest.raises(InvalidParameter, match="gap"):
        PassageOptions(gap=-1)


def test_a_summary_of_a_long_text_is_found():
    rng = random.Random(5)
    letters = "bcdfgklmnprstv"
    topics = [
        [f"{rng.choice(letters)}{a}{rng.choice(letters)}{b}{i}x" for a in "aeiou" for b in "ou"]
        for i in range(24)
    ]
    source = " ".join(
        f"{' '.join(rng.sample(words, 8))} and {' '.join(rng.sample(words, 8))}.".capitalize()
        for words in topics
        for _ in range(4)
    )
    summary = " ".join(f"{' '.join(rng.sample(words, 3))} meanwhile.".capitalize() for words in topics)
    host = " ".join(f"Host{i} walked{i} slowly{i} towards{i} the harbour{i}." for i in range(60))
    (p,) = found(f"{host} {summary} {host}", source).passages
    assert p.origin == "summary"
    assert p.kind == "reworded"
    assert str(p.reason).startswith("sums up")
    result = doublet.compare(f"{host} {summary} {host}", source)
    assert result.share > 0.1
    assert result.share_b == 0.0

    there = doublet.compare(source, f"{host} {summary} {host}")
    (one,), (other,) = result.fragments, there.fragments
    assert (other.a, other.b, other.strength) == (one.b, one.a, one.strength)
    assert other.reason is not None
    assert other.reason.code == "passage_summed"
    assert (there.share, there.share_b) == (result.share_b, result.share)


@pytest.mark.parametrize(("kept", "apart", "told"), [(8, 1, True), (8, 2, False), (5, 1, False)])
def test_a_summary_that_is_the_whole_text(kept, apart, told):
    """Of ten words of each of its sentences so many are in the source, two of a sentence, side by side or apart."""
    topics = [[f"t{t}word{w}" for w in range(16)] for t in range(64)]
    source = " ".join(" ".join(words).capitalize() + "." for words in topics)
    summary = []
    for one in range(8):
        there = [topics[8 * pair + one][place] for pair in range(5) for place in (3, 3 + apart)][:kept]
        summary.append([*there, *(f"o{one}word{w}" for w in range(10 - kept))])
    text = " ".join(" ".join(words).capitalize() + "." for words in summary)
    passages, other = found(text, source).passages, doublet.compare(source, text)
    if told:
        (p,) = passages
        assert (p.origin, p.strength, p.a_start, p.a_end) == ("summary", "strong", 0, 80)
        assert doublet.compare(text, source).share == other.share_b == 1.0
    else:
        assert passages == []
        assert other.share_b == 0.0


#: the plain kernels are not made for speed: they get less
SIZE = 1 if kernels.BACKEND == "native" else 100
TRAPS = {
    "one word, many times": ("word " * (100_000 // SIZE), "word " * (100_000 // SIZE)),
    "one sentence, many times": ("The same sentence stands here again. " * (10_000 // SIZE),) * 2,
    "two sentences in turn": ("First thing said here. Second matter told there. " * (8_000 // SIZE),) * 2,
    "no end of a sentence": (" ".join(f"w{i % 977}" for i in range(60_000 // SIZE)),) * 2,
}


@pytest.mark.parametrize("name", list(TRAPS))
def test_traps_stay_quick(name):
    a, b = TRAPS[name]
    read = read_stems([a, "Something of its own comes first. " + b])
    began = time.process_time()
    find_reworded(read, [(0, 1)])
    assert time.process_time() - began < 5


PHAGES = (
    "Bacteriophages, or phages for short, are viruses that infect bacteria. They are the most numerous biological "
    "entities on Earth: a drop of sea water contains millions of them, and it is thought that they destroy up to a "
    "fifth of all marine bacteria every day. A typical phage has a head filled with genes and a tail. "
)
LIGHT = "Bacteriophages are viruses that infect bacteria, and they are the most numerous biological entities on Earth. "


@pytest.mark.parametrize("around", [0, 3, 30, 300])
@pytest.mark.parametrize("way", ["compare", "check", "shingles"])
def test_a_run_that_is_nearly_equal_counts_whatever_surrounds_it(around, way):
    """Fifteen words in a row but for one; the sentence itself is two there, with much else."""
    own = [f"My own sentence {i} speaks of matters such as thing{i} entirely. " for i in range(2 * around)]
    a = "".join([*own[:around], LIGHT, *own[around:]])
    b = PHAGES + "".join(f"Another chapter {i} is about item{i} alone. " for i in range(around))
    if way == "check":
        fragments = [f for source in doublet.check(a, [("b", b)]).sources for f in source.fragments]
        possible = []
    else:
        result = doublet.compare(a, b, **({"method": "shingles"} if way == "shingles" else {}))
        fragments, possible = result.fragments, result.possible
    (fragment,) = fragments
    assert a[fragment.a.start : fragment.a.end].endswith("biological entities on Earth")
    assert list(possible) == []


def test_what_is_the_same_word_for_word_is_called_so_however_it_was_found():
    """A short sentence that single sentences led to, a passage of reworded ones that was cut to it, a sentence beside
    those that were edited."""
    own = [f"My own sentence {i} speaks of matters such as thing{i} entirely. " for i in range(30)]
    said = SOURCE.split(". ")
    for i in range(len(said)):
        a = "".join([*own[:15], f"{said[i].rstrip('.')}. ", *own[15:]])
        result = doublet.compare(a, SOURCE)
        for fragment in (*result.fragments, *result.possible):
            same = [
                re.findall(r"\w+", t[s.start : s.end].lower())
                for t, s in ((a, fragment.a), (SOURCE, fragment.b))
            ]
            assert (fragment.kind == "verbatim") is (same[0] == same[1])
            if fragment.kind == "verbatim":
                assert fragment.score == 1.0
                assert fragment.reason.code == "passage_row"


@pytest.mark.parametrize("origin", ["words", "runs"])
@pytest.mark.parametrize(("changed", "kind"), [(0, "verbatim"), (2, "edited"), (6, "reworded")])
def test_kinds_by_words(origin, changed, kind):
    a = np.arange(10, dtype=np.uint64)
    b = np.append(a[: 10 - changed], np.arange(50, 50 + changed, dtype=np.uint64))
    p = Passage(0, 10, 0, 10, 10 - changed, "edited", origin=origin)
    name_by_words(p, a, b)
    assert p.kind == (kind if origin == "words" or not changed else "edited")
    moved = Passage(0, 10, 0, 10, 10, "moved")
    name_by_words(moved, a, a)
    assert moved.kind == "moved"


NESTED = (
    "- Должна выводиться наличие статистика Метод проиндексированных библиотек текст виде количества содержащихся "
    "в них на документов, их адресов и После последней @shingle_length библиотеки;",
    "- Должна выводиться статистика для проиндексированных Вечерние в виде количества содержащихся в них "
    "документов, их адресов и даты последней индексации библиотеки;",
)


def test_no_fragment_of_a_reworded_copy_lies_inside_another():
    for a, b in (NESTED, NESTED[::-1]):
        result = doublet.compare(a, b)
        assert result.step == "meaning"
        places = [f.a_words for f in result.fragments]
        assert len(places) == 1
        assert result.share > 0.9


def test_a_possible_place_is_told_once_the_longest_first():
    sentence = "Two mirrors of seven proved cracked from the frost after the crates had been opened. "
    own = [f"My own sentence {i} speaks of matters such as thing{i} entirely. " for i in range(60)]
    both = found("".join([*own[:30], sentence, *own[30:]]), SOURCE)
    places = [(p.a_start, p.a_end) for p in both.possible]
    assert places
    assert not any(x is not y and x[0] <= y[0] and y[1] <= x[1] for x in places for y in places)


def few_sentences(rng, count):
    return " ".join(
        rng.choice([f"Sentence{i} {'says that thing ' * 2}number{i}." for i in range(10)])
        for _ in range(count)
    )


@pytest.mark.parametrize("way", ["check", "compare"])
def test_a_few_sentences_said_over_and_over_stay_quick(way):
    """Thousands of passages: each is laid beside those at its place, not beside all (before: half a minute)."""
    rng = random.Random(3)
    read = read_stems([few_sentences(rng, 20_000 // SIZE) for _ in range(3)])
    began = time.process_time()
    some = find_all(read, [(0, 1), (0, 2)], symmetric=way == "compare", together=way == "check")
    assert time.process_time() - began < 5
    assert all(len(one.passages) > 2_000 // SIZE for one in some)


places = st.lists(
    st.tuples(*[st.integers(0, 40), st.integers(1, 20)] * 2, st.sampled_from(["runs", "words", "summed"])),
    max_size=12,
)


def made(some):
    return [Passage(a, a + long, b, b + far, min(long, far), origin=way) for a, long, b, far, way in some]


@given(places, places)
def test_what_is_told_already_is_what_the_plain_loops_say(some, told):
    """By place, and against every other passage."""
    asked, known = made(some), made(told)
    free = [p for p in asked if not any(_covered(p, other) for other in known)]
    assert _free(asked, known) == free
    once = []
    for p in asked:
        if not any(_covered(p, other) for other in (*known, *once)):
            once.append(p)
    assert _once(asked, known) == once


@given(places, st.integers(0, 60), st.integers(0, 60))
def test_the_longest_stretch_that_no_passage_tells(some, start, end):
    taken = {i for p in made(some) for i in range(p.b_start, p.b_end)}
    free = [i for i in range(start, end) if i not in taken]
    runs = [list(run) for _, run in groupby(free, key=lambda i: i - free.index(i))]
    low, high = _longest_free(start, end, _gaps(made(some), 60))
    longest = max(runs, key=len, default=[])
    assert list(range(low, high)) == longest


def test_long_texts_of_chance_words_stay_quick():
    rng = np.random.default_rng(3)
    words = np.array([f"w{i}" for i in range(30_000)])
    weights = 1 / np.arange(1, 30_001)
    made = []
    for _ in range(2):
        drawn = rng.choice(words, 160_000 // SIZE, p=weights / weights.sum()).tolist()
        made.append(". ".join(" ".join(drawn[i : i + 18]).capitalize() for i in range(0, len(drawn), 18)))
    read = read_stems(made)
    began = time.process_time()
    find_reworded(read, [(0, 1)])
    assert time.process_time() - began < 10


# join


def runs(*place: int, equal: int) -> Passage:
    return Passage(*place, equal)


def words(*place: int, equal: int = 30, strength: str = "strong", origin: str = "words") -> Passage:
    return Passage(*place, equal, "reworded", strength=strength, origin=origin, mass=50)


class FakePair:
    """Words of six characters and a blank."""

    options = PassageOptions()
    sizes = (60, 60)  # words: runs of six and more count

    def length(self, side, start, end):
        return 7 * (end - start)

    def lengths(self, p):
        return 7 * (p.a_end - p.a_start), 7 * (p.b_end - p.b_start)

    def equal(self, p):
        words = min(p.a_end - p.a_start, p.b_end - p.b_start)
        return words if p.origin == "parts" else words * 6 // 10

    def sentences(self, start, end):
        return start, end

    def long(self, p):
        return min(self.lengths(p)) >= 220


def joined(exact, reworded):
    return join(exact, reworded, FakePair())


def places(passages):
    return [(p.a_start, p.a_end, p.b_start, p.b_end) for p in passages]


def test_short_runs_become_part_of_the_reworded_passage():
    both = joined([runs(10, 18, 110, 118, equal=8)], [words(5, 60, 100, 160)])
    assert places(both.passages) == [(5, 60, 100, 160)]


def test_a_run_at_the_edge_moves_the_border():
    both = joined([runs(55, 66, 155, 166, equal=11)], [words(5, 60, 100, 160)])
    assert places(both.passages) == [(5, 66, 100, 166)]


def test_a_solid_run_is_cut_out():
    both = joined([runs(40, 90, 140, 190, equal=50)], [words(0, 150, 100, 250)])
    assert places(both.passages) == [(0, 40, 100, 140), (40, 90, 140, 190), (90, 150, 190, 250)]
    assert [p.kind for p in both.passages][1] == "verbatim"


def test_little_beside_a_solid_run_is_dropped():
    both = joined([runs(10, 90, 110, 190, equal=80)], [words(0, 95, 100, 195)])
    assert places(both.passages) == [(10, 90, 110, 190)]


def test_an_exact_passage_of_the_same_place_stays():
    both = joined([runs(1, 58, 101, 158, equal=50)], [words(0, 60, 100, 160)])
    assert places(both.passages) == [(1, 58, 101, 158)]
    assert both.passages[0].kind == "edited"


def reversed_parts(words: int, count: int = 3, a: int = 0, b: int = 100) -> list[Passage]:
    """Runs of so many words that stand in b in the opposite order, without a gap."""
    return [
        runs(
            *(a + i * words, a + (i + 1) * words, b + (count - 1 - i) * words, b + (count - i) * words),
            equal=words,
        )
        for i in range(count)
    ]


def test_sentences_in_another_order_are_one_passage():
    both = joined(reversed_parts(12), [words(0, 37, 100, 136)])
    (p,) = both.passages
    assert (p.kind, p.origin, p.parts) == ("moved", "parts", 3)
    assert places([p]) == [(0, 37, 100, 136)]
    assert "3 parts that come in another order" in str(p.reason)


def test_sentences_in_another_order_need_no_reworded_passage():
    (p,) = joined(reversed_parts(12), []).passages
    assert (p.kind, p.parts, p.equal, p.score) == ("moved", 3, 36, 1.0)
    assert places([p]) == [(0, 36, 100, 136)]


def test_words_of_the_source_that_two_parts_use_are_equal_once():
    """Two labels of a form end alike: the second run begins inside the first."""
    (p,) = joined([runs(0, 20, 110, 130, equal=20), runs(20, 33, 100, 113, equal=13)], []).passages
    assert places([p]) == [(0, 33, 100, 130)]
    assert (p.kind, p.equal) == ("moved", 30)
    assert p.score < 1


def test_the_weight_of_what_is_left_of_a_passage_is_not_told():
    """A piece beside a solid run was not weighed."""
    first, solid, last = joined([runs(40, 90, 140, 190, equal=50)], [words(0, 150, 100, 250)]).passages
    assert solid.kind == "verbatim"
    for piece in (first, last):
        assert str(piece.reason).endswith("on both sides in some form and order")


def test_what_follows_a_passage_in_another_order_belongs_to_it():
    exact = [*reversed_parts(12), runs(36, 76, 136, 176, equal=40)]  # the last one is solid
    (p,) = joined(exact, [words(0, 36, 100, 136)]).passages
    assert places([p]) == [(0, 76, 100, 176)]
    assert p.parts == 4


@pytest.mark.parametrize(
    "exact",
    [
        [runs(0, 12, 100, 112, equal=12), runs(14, 26, 130, 142, equal=12)],
        [runs(0, 12, 100, 112, equal=12), runs(12, 24, 100, 112, equal=12)],
        [runs(0, 12, 400, 412, equal=12), runs(12, 24, 100, 112, equal=12)],
        [runs(0, 12, 112, 124, equal=12), runs(40, 52, 100, 112, equal=12)],
        reversed_parts(60, 2),
    ],
    ids=["in order", "one place twice", "far in b", "far in a", "long blocks"],
)
def test_what_is_not_one_passage_in_another_order(exact):
    assert places(joined(exact, []).passages) == places(exact)


def test_a_passage_in_another_order_is_at_most_a_page():
    passages = joined(reversed_parts(50, 8), []).passages
    assert [p.parts for p in passages] == [5, 3]
    assert passages[-1].a_end == 400


@pytest.mark.covers("K2", "M15")
@pytest.mark.parametrize(("source", "own"), [(SOURCE, OWN), (SOURCE_RU, OWN_RU)], ids=["en", "ru"])
def test_a_borrowed_passage_with_its_sentences_moved_is_told_once(source, own):
    sentences = source.rstrip(".").split(". ")
    rng = random.Random(2)
    for _ in range(5):
        rng.shuffle(sentences)
        text = own + ". ".join(sentences) + ". " + own[::-1]
        (fragment,) = doublet.compare(text, "Heading 17. " + source + " Footer 18.").fragments
        assert fragment.strength == "strong"
        assert fragment.kind in ("moved", "verbatim", "edited")
        assert len(set(text[fragment.a.start : fragment.a.end].split()) ^ set(source.split())) < 12


@pytest.mark.covers("M15")
@pytest.mark.parametrize("step", [2, 3])
def test_nothing_equal_is_lost_where_sentences_were_left_out(step):
    """Runs hold the borders of the passage around them; those beyond its borders are still told."""
    text = samples.WORK.read_text(encoding="utf-8")
    taken = " ".join(re.split(r"(?<=[.!?]) ", text)[::step])
    alone = doublet.compare(taken, text, method="shingles")
    auto = doublet.compare(taken, text)
    assert auto.share >= alone.share
    for run in alone.fragments:
        assert any(part.a.start < run.a.end and run.a.start < part.a.end for part in auto.fragments), run


def test_a_stray_run_inside_is_not_told_twice():
    both = joined([runs(20, 27, 900, 907, equal=7)], [words(5, 60, 100, 160)])
    assert places(both.passages) == [(5, 60, 100, 160)]


@pytest.mark.covers("K2")
def test_equal_runs_from_elsewhere_are_told_where_they_stand():
    """Of a shuffled text a solid run leaves pieces whose places in the source are a guess: the runs know better."""
    exact = [runs(0, 20, 300, 320, equal=20), runs(40, 90, 140, 190, equal=50)]
    both = joined(exact, [words(0, 150, 100, 250)])
    assert places(both.passages) == [(0, 20, 300, 320), (40, 90, 140, 190), (90, 150, 190, 250)]


def test_weak_finds_are_apart_and_only_where_nothing_counts():
    weak = [
        words(5, 25, 100, 120, strength="weak"),
        words(70, 90, 300, 320, equal=10, strength="weak"),
    ]
    both = joined([runs(8, 24, 103, 119, equal=16)], weak)
    assert places(both.passages) == [(8, 24, 103, 119)]
    assert places(both.possible) == [(70, 90, 300, 320)]


def _numbered(prefix: str, count: int) -> str:
    return " ".join(f"{prefix}{number}" for number in range(count))


PHRASE = "ministry of roads and bridges of the northern province"  # nine words
CLAUSE = "the ministry of roads and bridges of the northern province has moved its archive to the old mill"


@pytest.mark.parametrize("method", ["auto", "shingles"])
def test_a_few_equal_words_are_possible_and_not_counted(method):
    a = f"{_numbered('a', 150)} {PHRASE} {_numbered('b', 150)}"
    b = f"{_numbered('c', 150)} {PHRASE} {_numbered('d', 150)}"
    found = doublet.compare(a, b, method=method)
    assert (found.fragments, found.share) == ((), 0.0)
    assert [one.words for one in found.possible] == [9]
    assert doublet.check(a, [("b", b)]).share == 0.0


def test_a_sentence_of_equal_words_counts_and_is_weak():
    a = f"{_numbered('a', 150)} {CLAUSE} {_numbered('b', 150)}"
    b = f"{_numbered('c', 150)} {CLAUSE} {_numbered('d', 150)}"
    (one,) = doublet.compare(a, b).fragments
    assert (one.words, one.strength) == (18, "weak")


def test_a_few_equal_words_count_in_a_short_text():
    found = doublet.compare(f"{_numbered('a', 30)} {PHRASE}", f"{PHRASE} {_numbered('b', 30)}")
    assert [one.words for one in found.fragments] == [9]


@pytest.mark.parametrize(("between", "counted"), [(10, 2), (40, 1)])
def test_a_few_equal_words_count_beside_what_counts(between, counted):
    def text(own):
        return f"{_numbered(own, 150)} {CLAUSE} {_numbered(own + 'x', between)} {PHRASE} {_numbered(own + 'y', 150)}"

    found = doublet.compare(text("a"), text("b"))
    assert len(found.fragments) == counted
    assert len(found.possible) == 2 - counted


def numbered(letter: str, count: int) -> str:
    """Sentences of nine words, no word twice."""
    lines = (" ".join(f"{letter}{n}word{i}" for i in range(9)) for n in range(count))
    return " ".join(line.capitalize() + "." for line in lines)


@pytest.mark.covers("K2", "K3")
def test_what_the_shorter_text_says_twice_is_told_twice():
    taken = numbered("t", 4)
    result = doublet.compare(f"{taken}\n\n{numbered('a', 9)}\n\n{taken}", f"{numbered('b', 40)} {taken}")
    assert [(one.a_words, one.kind, one.strength) for one in result.fragments] == [
        (Span(0, 36), "verbatim", "strong"),
        (Span(117, 153), "verbatim", "weak"),
    ]
    assert result.share == 72 / 153
    turned = doublet.compare(f"{numbered('b', 40)} {taken}", f"{taken}\n\n{numbered('a', 9)}\n\n{taken}")
    assert [(one.a_words, one.b_words) for one in turned.fragments] == [(Span(360, 396), Span(0, 36))]


@pytest.mark.covers("K2", "K3")
def test_of_what_the_longer_text_says_twice_one_place_is_strong():
    taken = numbered("t", 4)
    long, short = f"{taken}\n\n{numbered('b', 40)}\n\n{taken}", f"{numbered('a', 9)}\n\n{taken}"
    told = [(one.a_words, one.b_words, one.strength) for one in doublet.compare(long, short).fragments]
    assert told == [(Span(0, 36), Span(81, 117), "strong"), (Span(396, 432), Span(81, 117), "weak")]
    (turned,) = doublet.compare(short, long).fragments
    assert (turned.a_words, turned.b_words, turned.strength) == (Span(81, 117), Span(0, 36), "strong")


TWICE = (
    "It was in August 1993 that Ian Murdock, then a student, announced it. The maintainer of a package answers for the"
    " quality of each and reacts to bugs and reports."
)


@pytest.mark.covers("K2", "K3")
@pytest.mark.parametrize("taken", [True, False])
def test_what_was_taken_and_is_said_again_in_other_words_is_possible(taken):
    """The two sentences count by themselves; where the passage was copied as well they say the same thing again."""
    work = f"{numbered('a', 12)} {TWICE} {numbered('b', 12)} {HANDBOOK if taken else ''}"
    found = doublet.compare(work, f"{HANDBOOK} {numbered('c', 30)}")
    assert len(found.fragments) == 1
    told = [work[one.a.start : one.a.end] for one in (found.possible if taken else found.fragments)]
    assert [one for one in told if "Murdock, then" in one]


def test_passages_that_were_found_before_have_their_first_text():
    with pytest.raises(ValueError, match="first text"):
        find_all(read_stems(["a", "b"]), [(0, 1)], exact=[[]], symmetric=True)


HANDBOOK = (
    "Debian is one of the oldest distributions that are still developed. It was announced in August 1993 "
    "by Ian Murdock, who was then a student. The project has no company behind it, and volunteers decide "
    "together what goes into a release. A release is published when it is ready, and not on a fixed date."
    " Each package has a maintainer who answers for its quality and reacts to reports of bugs. Users can "
    "read every report in a public tracker and follow how it was solved."
)
WORK = (
    "Debian is among the oldest distributions that are developed to this day. It was announced by the "
    "student Ian Murdock in August 1993. I learned about it from a poster in the library where I spent "
    "rainy afternoons reading about ships. The project has no company behind it, and volunteers decide "
    "together what goes into a release. A release is published when it is ready, and not on a fixed date."
    " Our cat sleeps on the warm router every single winter evening. For every package there is a "
    "maintainer who is responsible for quality and reacts to bug reports. Anybody may read all reports in"
    " the public tracker and see how they were solved."
)


@pytest.mark.covers("K2")
def test_pieces_between_own_sentences_are_named_by_what_they_are():
    told = doublet.compare(WORK, HANDBOOK).fragments
    assert [one.kind for one in told] == ["edited", "verbatim", "edited"]
    assert [one.score == 1.0 for one in told] == [False, True, False]
    assert "poster" not in "".join(WORK[one.a.start : one.a.end] for one in told)


def test_pieces_of_weak_passages_stay_beside_a_strong_one():
    strong = " ".join(f"word{n}" for n in range(60)).capitalize() + "."
    taken = (
        "Alder brook cedar drift ember frost.",
        "Kestrel larch meadow nettle osprey pebble.",
        "Sable thicket umber violet willow yarrow.",
    )
    far = [" ".join(f"{side}{n}" for n in range(90)).capitalize() + "." for side in ("here", "there")]
    own = "Zeal xenon vapour unity.", "Quilt python orchid nimbus."
    work = f"{strong}\n\n{far[0]}\n\n{taken[0]} {own[0]} {taken[1]} {own[1]} {taken[2]}"
    found = doublet.compare(work, f"{strong}\n\n{far[1]}\n\n{' '.join(taken)}").fragments
    assert [(one.strength, one.kind) for one in found] == [
        ("strong", "verbatim"),
        *[("weak", "verbatim")] * 3,
    ]
    assert [work[one.a.start : one.a.end] for one in found[1:]] == [one.rstrip(".") for one in taken]


@pytest.mark.covers("K2")
def test_a_passage_with_own_sentences_of_either_text_inside_is_not_strong():
    """They are cut out of the first text; with the other one first the passage stays whole."""
    for work, source in ((WORK, HANDBOOK), (f"{numbered('a', 9)} {WORK}", f"{HANDBOOK} {numbered('b', 40)}")):
        (there,) = doublet.compare(source, work).fragments
        assert "poster" in work[there.b.start : there.b.end]
        here = doublet.compare(work, source).fragments
        assert len(here) == 3
        assert {one.strength for one in (there, *here)} == {"weak"}
    texts = read_stems([WORK, HANDBOOK])
    (checked,) = find_all(texts, [(0, 1)], together=True)
    assert [one.strength for one in checked.passages] == ["weak"] * 3


@pytest.mark.parametrize(
    ("words", "equal", "one_by_one"),
    [(25, 25, True), (24, 24, False), (25, 16, True), (25, 14, False)],
)
def test_sentences_that_were_taken_one_by_one_are_no_summary(
    words: int, equal: int, one_by_one: bool
) -> None:
    """A paragraph of a source whose sentences are all over an essay has its words all over it, as a summary would."""
    place = Passage(0, 300, 10, 60, 39, "reworded", "strong", "summed")
    assert not taken_one_by_one(replace(place, equal=40), [place, Passage(100, 150, 10, 60, 50)])
    sentence = Passage(100, 100 + words, 10, 10 + words, equal, origin="words")
    assert taken_one_by_one(place, [place, sentence]) == one_by_one
    elsewhere = Passage(100, 125, 200, 225, 25)
    assert not taken_one_by_one(place, [place, elsewhere])
    assert not taken_one_by_one(sentence, [place, sentence])
