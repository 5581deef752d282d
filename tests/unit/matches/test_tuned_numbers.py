"""Numbers that were tuned: what lies well above one and well below it ends differently.

Each case is written with figures of its own, so that halving or doubling the number breaks it.
"""

from __future__ import annotations

import dataclasses
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import doublet
from doublet.index.passage_keys import Hits, PassageKeys
from doublet.matches import copies
from doublet.matches.align import Passage, name_passages, to_fragments
from doublet.matches.compare import settle
from doublet.matches.explain import Beside, most_alike
from doublet.matches.left_out import common_beside, common_runs
from doublet.matches.passages import PassageOptions, SharedPassages, count_runs, find_all, join
from doublet.matches.stems import read_stems
from doublet.model import Document, Measures
from doublet.signatures import method
from doublet.signatures.meaning import Meaning
from doublet.text.tokens import TokenBatch

# Passages of equal words


def batch(words: int, letters: int) -> TokenBatch:
    starts = np.arange(words, dtype=np.uint32) * (letters + 1)
    nothing = np.zeros(words, np.uint8)
    offsets = np.array([0, words], np.uint64)
    return TokenBatch(
        np.arange(words, dtype=np.uint64), starts, starts + letters, nothing, offsets, starts[:0], ()
    )


@pytest.mark.parametrize(("characters", "strength"), [(150, "weak"), (300, "strong")])
def test_short_equal_runs_are_weak(characters: int, strength: str) -> None:
    words = batch(characters // 10, 9)
    passage = Passage(0, characters // 10, 0, characters // 10, characters // 10)
    (fragment,) = to_fragments([passage], words, words)
    assert fragment.strength == strength


@pytest.mark.parametrize(("equal", "kind"), [(70, "edited"), (50, "reworded"), (100, "verbatim")])
def test_few_equal_words_are_called_reworded(equal: int, kind: str) -> None:
    passages = [Passage(0, 100, 0, 100, equal)]
    name_passages(passages)
    assert passages[0].kind == kind


@pytest.mark.parametrize(
    ("text", "words", "letters", "counts"),
    [
        (2_000, 10, 9, False),
        (2_000, 20, 9, True),
        (2_000, 20, 2, False),  # twenty words of few letters
        (2_000, 20, 4, True),
        (100, 7, 9, False),
        (100, 12, 9, True),  # a good part of the text
    ],
)
def test_equal_runs_count_from_some_words_on(text: int, words: int, letters: int, counts: bool) -> None:
    read = batch(text, letters)
    found = count_runs([Passage(20, 20 + words, 30, 30 + words, words)], read, read)
    assert (len(found.passages), len(found.possible)) == (int(counts), int(not counts))


@pytest.mark.parametrize(
    ("words", "changed", "counts"),
    [(20, 0, True), (20, 1, True), (20, 3, False), (25, 3, False), (35, 3, True)],
)
def test_runs_with_changed_words_count_from_more_words_on(words: int, changed: int, counts: bool) -> None:
    read = batch(2_000, 9)
    found = count_runs([Passage(20, 20 + words, 30, 30 + words, words - changed)], read, read)
    assert (len(found.passages), len(found.possible)) == (int(counts), int(not counts))


@pytest.mark.parametrize(("distance", "counts"), [(10, True), (18, False)])
def test_a_short_run_counts_beside_what_counts(distance: int, counts: bool) -> None:
    read, start = batch(2_000, 9), 140 + distance
    runs = [Passage(100, 140, 200, 240, 40), Passage(start, start + 8, start + 100, start + 108, 8)]
    assert len(count_runs(runs, read, read).passages) == 1 + counts


@pytest.mark.parametrize(("shared", "told"), [(65, False), (95, True)])
def test_a_text_that_is_covered_and_not_similar_is_told(shared: int, told: bool) -> None:
    words = [f"слово{n}" for n in range(100)]
    other = [f"иное{n}" for n in range(900)]
    text = " ".join([*words[:shared], *(f"своё{n}" for n in range(100 - shared))])
    found = doublet.compare(text, " ".join([*other, *words[:shared]]), method="shingles", containment=0.0)
    assert not found.similar
    assert ("covered_not_similar" in {note.code for note in found.notes}) is told


# Exact and reworded passages as one list


class Pair:
    """Words of so many characters, of which such a share is equal in some form."""

    options = PassageOptions()
    sizes = (100, 100)  # words: runs of ten and more count

    def __init__(self, letters: int = 7, equal: float = 0.6) -> None:
        self._letters, self._equal = letters, equal

    def length(self, _side: int, start: int, end: int) -> int:
        return self._letters * (end - start)

    def lengths(self, p: Passage) -> tuple[int, int]:
        return self.length(0, p.a_start, p.a_end), self.length(1, p.b_start, p.b_end)

    def equal(self, p: Passage) -> int:
        words = min(p.a_end - p.a_start, p.b_end - p.b_start)
        return words if p.origin == "parts" else int(words * self._equal)

    def sentences(self, start: int, end: int) -> tuple[int, int]:
        return start, end

    def long(self, p: Passage) -> bool:
        return min(self.lengths(p)) >= 220


def joined(exact: list[Passage], reworded: list[Passage], **pair: Any) -> list[tuple[int, int]]:
    """Where the passages are in a."""
    made: Any = Pair(**pair)
    return [(p.a_start, p.a_end) for p in join(exact, reworded, made).passages]


def reworded(*place: int) -> Passage:
    return Passage(*place, 30, "reworded", origin="words", mass=50)


@pytest.mark.parametrize(("equal", "found"), [(98, [(0, 50), (50, 150), (150, 200)]), (94, [(0, 200)])])
def test_only_what_is_equal_but_for_a_word_is_solid(equal: int, found: list[tuple[int, int]]) -> None:
    assert joined([Passage(50, 150, 150, 250, equal)], [reworded(0, 200, 100, 300)]) == found


@pytest.mark.parametrize(("left", "kept"), [(20, False), (35, True)])
def test_what_is_left_beside_a_solid_passage_has_some_words(left: int, kept: bool) -> None:
    end = left + 80
    found = joined(
        [Passage(left, end, 100 + left, 100 + end, 80)], [reworded(0, end, 100, 100 + end)], letters=15
    )
    assert ((0, left) in found) is kept


@pytest.mark.parametrize(("equal", "kept"), [(0.25, False), (0.5, True)])
def test_what_is_left_beside_a_solid_passage_has_equal_words(equal: float, kept: bool) -> None:
    found = joined([Passage(60, 140, 160, 240, 80)], [reworded(0, 140, 100, 240)], equal=equal)
    assert ((0, 60) in found) is kept


@pytest.mark.parametrize(("start", "end", "found"), [(10, 90, (0, 100)), (2, 98, (2, 98))])
def test_an_exact_passage_of_nearly_the_same_place_is_the_same(
    start: int, end: int, found: tuple[int, int]
) -> None:
    exact = Passage(start, end, 100 + start, 100 + end, (end - start) * 8 // 10)
    assert joined([exact], [reworded(0, 100, 100, 200)]) == [found]


def backwards(words: int, count: int, gap: int = 0) -> list[Passage]:
    """Runs that stand in b in the opposite order, without a gap there."""
    return [
        Passage(
            i * (words + gap),
            i * (words + gap) + words,
            100 + (count - 1 - i) * words,
            100 + (count - i) * words,
            words,
        )
        for i in range(count)
    ]


@pytest.mark.parametrize(("size", "origin"), [(60, "parts"), (100, "words")])
def test_only_a_passage_that_is_nearly_all_equal_runs_is_a_moved_one(size: int, origin: str) -> None:
    made: Any = Pair()
    found = join(backwards(12, 5), [reworded(0, size, 100, 100 + size)], made).passages
    assert [p.origin for p in found] == [origin]


@pytest.mark.parametrize(("words", "found"), [(20, (0, 100)), (32, (10, 42))])
def test_runs_from_elsewhere_outweigh_a_guess(words: int, found: tuple[int, int]) -> None:
    exact = Passage(10, 10 + words, 900, 900 + words, words)
    assert joined([exact], [reworded(0, 100, 100, 200)]) == [found]


@pytest.mark.parametrize(
    ("words", "left_out", "held"), [(35, 30, True), (25, 30, False), (35, 18, False), (35, 40, True)]
)
def test_runs_hold_the_borders_where_a_part_of_the_source_was_left_out(
    words: int, left_out: int, held: bool
) -> None:
    middle, there = 10 + words, 110 + words + left_out
    exact = [
        Passage(10, middle, 110, 110 + words, words - 2),
        Passage(middle, middle + words, there, there + words, words - 2),
    ]
    found = joined(exact, [reworded(0, 100, 100, 250)])
    assert found == ([(10, 10 + 2 * words)] if held else [(0, 100)])


@pytest.mark.parametrize(
    ("words", "gap", "together"),
    [(30, 8, True), (50, 18, False), (14, 12, False), (43, 2, True), (62, 2, False)],
    ids=["near", "far", "thin", "short enough", "long blocks"],
)
def test_neighbouring_runs_in_another_order_are_one_passage(words: int, gap: int, together: bool) -> None:
    assert len(joined(backwards(words, 2, gap), [])) == (1 if together else 2)


@pytest.mark.parametrize(("count", "passages"), [(6, 1), (9, 2)])
def test_a_passage_in_another_order_is_a_page_at_most(count: int, passages: int) -> None:
    assert len(joined(backwards(45, count), [])) == passages


def test_where_all_is_equal_nothing_more_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(
        "doublet.matches.passages.find_reworded",
        lambda _texts, pairs, *_, **__: asked.append(len(pairs)) or [[] for _ in pairs],
    )
    words = [f"word{i}" for i in range(400)]
    read = read_stems([" ".join(words), " ".join([*words[:397], "and", "so", "on"]), " ".join(words[:280])])
    find_all(read, [(0, 1)])  # nearly all of both
    find_all(read, [(0, 2)])  # seven tenths of one
    assert asked == [0, 1]


# Reworded copies as wholes


@pytest.mark.parametrize(("told", "places"), [(30, 2), (47, 1)])
def test_where_passages_tell_little_of_a_copy_the_alignment_tells_the_rest(told: int, places: int) -> None:
    words = [f"особенное{i} слово{i}" for i in range(50)]
    text = ". ".join(words)
    read = read_stems([text, text])
    found = SharedPassages([Passage(0, told, 0, told, told)], [])
    meaning = method("meaning")
    assert isinstance(meaning, Meaning)
    settled = settle(found, Measures(0.1, None, True, "meaning", {"aligned": 0.9}), meaning, read)
    assert len(settled.passages) == places


@pytest.mark.parametrize(("told", "counted"), [(44, 2), (46, 1)])
def test_what_is_possible_counts_only_where_the_rest_tells_little_of_a_copy(told: int, counted: int) -> None:
    text = ". ".join(f"особенное{i} слово{i}" for i in range(50))
    read = read_stems([text, text])
    found = SharedPassages([Passage(0, told, 0, told, told)], [Passage(60, 70, 0, 10, 5)])
    meaning = method("meaning")
    assert isinstance(meaning, Meaning)
    settled = settle(found, Measures(0.1, None, True, "meaning", {"aligned": 0.9}), meaning, read)
    assert len(settled.passages) == counted
    assert len(settled.possible) == 2 - counted


def test_a_place_that_lies_on_several_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that says one thing nine times, and another that rewords it once."""
    text = ". ".join(f"особенное{i} слово{i}" for i in range(50))
    read = read_stems([text, text])
    monkeypatch.setattr(
        Meaning, "paths", lambda *_: [(0, 20, 10 * i, 10 * i + 20) for i in range(9)] + [(20, 40, 20, 40)]
    )
    measures = Measures(0.1, None, True, "meaning", {"aligned": 0.9})
    meaning = method("meaning")
    assert isinstance(meaning, Meaning)
    settled = settle(SharedPassages([], []), measures, meaning, read)
    assert [(p.a_start, p.a_end) for p in settled.passages] == [(0, 20), (20, 40)]


class Turned:
    """Vectors with a cosine of so much between the sentences of the two texts."""

    def __init__(self, cosine: float) -> None:
        self._cosine, self._asked = cosine, 0
        self.sentences: list[str] = []

    def embed(self, sentences: Any) -> Any:
        self.sentences += sentences
        self._asked += 1
        angle = 0.0 if self._asked == 1 else np.arccos(self._cosine)
        return np.array([[np.cos(angle), np.sin(angle)]] * len(sentences), np.float32)


@pytest.mark.parametrize(("cosine", "found"), [(0.7, 0), (0.86, 1)])
def test_sentences_are_alike_from_a_likeness_on(cosine: float, found: int) -> None:
    model = Turned(cosine)
    result = doublet.compare(
        "Winter came early to the hills.", "Сады цвели до самого октября.", embedder=model
    )
    assert len(result.possible) == found


def test_the_model_is_asked_about_sentences_of_some_words() -> None:
    model = Turned(0.9)
    doublet.compare(
        "Three words only. Now five words are here.", "Сады цвели до самого октября.", embedder=model
    )
    assert [one for one in model.sentences if one.isascii()] == ["Now five words are here"]


# Which candidates are looked at


def beside(number: int, words: int = 100) -> Beside:
    made: Any = SimpleNamespace(hashes=np.zeros(words, np.uint64))
    return Beside(Document(f"d{number:03}", ""), made, 0.0, 0.0, [Passage(0, 50, 0, 50, 100 - number)])


@pytest.mark.parametrize(("words", "candidates"), [(100, 4), (1_000, 6), (3_000, 10), (50_000, 24)])
def test_rewording_is_looked_for_in_the_most_alike(words: int, candidates: int) -> None:
    some = [beside(number) for number in range(60)]
    assert most_alike(some[::-1], words) == list(range(59, 59 - candidates, -1))


def test_rewording_is_looked_for_in_so_many_words() -> None:
    assert len(most_alike([beside(number, 9_000) for number in range(60)], 50_000)) == 4
    assert len(most_alike([beside(number, 90_000) for number in range(60)], 50_000)) == 1


def test_telling_stems_lead_to_so_many_words() -> None:
    some = [beside(number, 100) for number in range(4)]
    near = [dataclasses.replace(beside(90, 30_000), near=number) for number in range(1, 9)]
    assert most_alike([*some, *near], 100) == [0, 1, 2, 3, 11, 10, 9]


# What many documents share


@pytest.mark.parametrize(("having", "common"), [(15, 0), (30, 1)])
def test_wording_of_one_document_in_fifty_is_common(having: int, common: int) -> None:
    keys = PassageKeys(
        *(np.zeros(1, np.uint64), np.array([0, 1], np.uint64), np.zeros(1, np.uint32)),
        *(np.zeros(1, np.uint64), np.array([40])),
    )
    hits = Hits(np.zeros(having, np.int64), np.arange(having), np.array([having]))
    found = common_runs(keys, hits, 1_000)
    assert len(found.runs) == common
    assert [len(sample) for sample in found.samples] == [8] * common


@pytest.mark.parametrize(("having", "common"), [(80, False), (120, True)])
def test_without_an_index_a_hundred_documents_are_enough(having: int, common: bool) -> None:
    passages = [[Passage(0, 20, 0, 20, 20)]] * having
    assert bool(common_beside(batch(40, 9), passages, 1_000_000)) is common


@pytest.mark.parametrize(
    ("documents", "pairs"), [(100, 1_500), (20_000, 1_500), (100_000, 5_000), (10_000_000, 100_000)]
)
def test_pairs_that_are_verified(documents: int, pairs: int) -> None:
    assert copies.verified_pairs(documents) == pairs


def test_two_partners_of_a_document_are_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    from doublet.index.sampled import SampledKeys

    real = SampledKeys.pairs

    def spy(self: Any, alive: Any, each: Any) -> Any:
        asked.append(each)
        return real(self, alive, each)

    monkeypatch.setattr(SampledKeys, "pairs", spy)
    texts = [("a", "one two three four five six seven"), ("b", "eight nine ten eleven twelve thirteen")]
    doublet.dedupe(texts)
    doublet.dedupe(texts, reworded="all")
    assert asked == [2, None]


@pytest.mark.parametrize(("shingle_words", "looked_for"), [(4, True), (8, True), (9, False)])
def test_runs_that_survive_rewording(shingle_words: int, looked_for: bool) -> None:
    texts = [("a", "one two three four five six seven"), ("b", "eight nine ten eleven twelve thirteen")]
    assert (doublet.dedupe(texts, shingle_words=shingle_words).related is not None) is looked_for


# The same story


def told(*sentences: int) -> str:
    """Sentences of words that are nowhere else."""
    return " ".join(f"Zq{n}aa zq{n}bb zq{n}cc zq{n}dd zq{n}ee." for n in sentences)


def test_a_story_is_in_the_first_four_sentences() -> None:
    assert doublet.same_story(told(1, 2, 3, 4), told(5, 6, 3, 4)).whole > 0.3
    assert doublet.same_story(told(1, 2, 3, 4, 11, 12), told(5, 6, 7, 8, 11, 12)).whole == 0.0


def test_half_of_the_opening_makes_the_same_story_and_a_quarter_does_not() -> None:
    assert doublet.same_story(told(1, 2, 3, 4), told(1, 2, 5, 6)).same
    assert not doublet.same_story(told(1, 2, 3, 4), told(5, 2, 6, 7)).same


def test_a_title_in_the_other_text_counts_as_much_as_half_of_the_opening() -> None:
    assert doublet.same_story(told(1, 2, 3, 4), told(5, 6, 7, 8, 1)).score == pytest.approx(0.25**0.5)
    assert doublet.same_story(told(1, 2, 3, 4), told(1, 5, 6, 7)).same


def test_the_limit_of_a_story() -> None:
    """A quarter of what counts in the openings is enough (0.5), a fifth is not (0.452)."""
    enough = doublet.same_story(told(1, 2, 3, 4), told(5, 2, 3, 6))
    assert enough.score == pytest.approx(0.25**0.5)
    assert enough.same
    near = doublet.same_story(told(1, 2), told(5, 6, 2))
    assert near.score == pytest.approx((6**-0.5 / 2) ** 0.5)
    assert near.threshold - 0.05 < near.score < near.threshold


def test_one_name_that_is_missing_decides_little_and_four_decide() -> None:
    """One rare name that each text lacks leaves three quarters, counted twice; four leave three sevenths."""

    def score(names: int) -> float:
        one, other = (" ".join(f"Z{side}q{n}" for n in range(names)) for side in "ab")
        words = "zqaa zqbb zqcc zqdd zqee zqff zqgg zqhh zqii zqjj"
        found = doublet.same_story(f"They {words} {one}.", f"They {words} {other}.")
        assert found.names == 0.0
        return found.score**2 / ((found.whole + found.titles) / 2.0)

    assert score(1) == pytest.approx((3 / 4) ** 2)
    assert score(4) == pytest.approx((3 / 7) ** 2)


def test_names_that_only_one_text_has_count_once() -> None:
    words = "zqaa zqbb zqcc zqdd zqee zqff zqgg zqhh zqii zqjj"
    found = doublet.same_story(f"They {words} Zaq0 Zaq1 Zaq2 Zaq3.", f"They {words}.")
    assert found.score**2 / ((found.whole + found.titles) / 2.0) == pytest.approx(3 / 7)


def test_sentences_with_other_numbers_speak_against_a_story() -> None:
    def report(numbers: list[int]) -> str:
        return " ".join(f"Zq{n}aa zq{n}bb zq{n}cc zq{n}dd {value}." for n, value in enumerate(numbers))

    same = doublet.same_story(report([73911, 73912]), report([73911, 73912]))
    other = doublet.same_story(report([73911, 73912]), report([84921, 84922]))
    assert (same.numbers, other.numbers) == (1.0, 0.0)
    # Each sentence counts from both sides: four against a doubt of two. The numbers are missing among the names, too.
    assert other.score**2 == pytest.approx((other.whole + other.titles) / 2.0 * (2 / 6) * (30 / 50))


def test_common_numbers_speak_for_a_story() -> None:
    """A number of five digits weighs as much as the rarest word, a round one less, and eight more count as missing."""

    def score(number: int) -> tuple[float, float]:
        found = doublet.same_story(f"Zqaa zqbb {number} zqcc zqdd.", f"Zqee zqff zqgg {number} zqhh.")
        return found.figures, found.score**2

    assert score(73911)[0] == pytest.approx(10 / 18)
    assert score(73911)[1] > 10 / 18  # the words of the openings hold the number itself as well
    weight = (math.log(5001) + math.log(6)) / 2
    assert score(5000)[0] == pytest.approx(weight / (weight + 8))


def test_other_days_halve_what_is_alike() -> None:
    same = doublet.same_story("On Monday zqaa zqbb zqcc.", "On Monday zqaa zqbb zqcc.")
    other = doublet.same_story("On Monday zqaa zqbb zqcc.", "On Friday zqaa zqbb zqcc.")
    left = other.score**2 / ((other.whole + other.titles) / 2.0)
    assert (same.days, other.days) == (True, False)
    assert 0.5**2 * 0.5 < left < 0.5**2  # and Monday and Friday are names


def test_words_of_titles_are_known_by_five_letters() -> None:
    def titles(one: str, other: str) -> float:
        return doublet.same_story(f"{one}.", f"{other}.").titles

    assert titles("zqabcde", "zqabcxy") == 1.0
    assert titles("zqabcde", "zqabxyz") == 0.0
    assert titles("zqab", "zqabcde") == 0.0  # it has four


def test_sentences_of_three_words_find_no_partner() -> None:
    assert doublet.same_story("Zqone zqtwo zqthree.", "Zqone zqtwo zqthree.").sentences == 0.0
    assert doublet.same_story(told(1), told(1)).sentences == 1.0
