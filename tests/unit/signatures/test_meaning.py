"""Meaning, auto and the thesaurus: edges that the contract of all methods does not cover."""

from __future__ import annotations

import pathlib
import random

import numpy as np
import pytest

from doublet import kernels
from doublet.errors import ConfigError
from doublet.model import Measures
from doublet.signatures import Limit, method
from doublet.signatures.auto import explain, settle
from doublet.signatures.background import MOST_GAIN, Rates
from doublet.signatures.meaning import REWORDED, SHARED, Alignment, Sequences, align, key_values
from doublet.signatures.thesaurus import find_thesaurus
from doublet.text.background import RARE_IDF
from doublet.text.tokens import Canon

TEXTS = pathlib.Path(__file__).resolve().parents[2] / "golden" / "texts"
RU, EN = (TEXTS.joinpath(f"{name}.txt").read_text(encoding="utf-8") for name in ("ru", "en"))


def replaced(text: str, share: float, seed: int = 1) -> str:
    """So many of the words become words that are in no dictionary."""
    chance = random.Random(seed)
    words = text.split()
    return " ".join(
        f"слово{i}ок" if chance.random() < share and len(w) > 3 else w for i, w in enumerate(words)
    )


@pytest.mark.covers("M14", "M15")
@pytest.mark.parametrize("text", [RU, EN], ids=["ru", "en"])
def test_a_reworded_copy_is_found(text: str) -> None:
    made = method("auto")
    source, copy = made.sign_texts([text, replaced(text, 0.5)])
    assert source is not None
    assert copy is not None
    found = made.compare(source, copy)
    assert found.similar
    assert found.step == "meaning"
    assert found.details["resemblance"] < 0.5
    assert 0.2 < found.details["kept"] < 0.9
    assert set(made.keys(source).tolist()) & set(made.keys(copy).tolist())


@pytest.mark.covers("M15")
def test_each_step_decides_what_it_can() -> None:
    made = method("auto")
    base = made.sign(RU)
    assert base is not None

    def step(text: str) -> tuple[str, bool]:
        other = made.sign(text)
        assert other is not None
        found = made.compare(base, other)
        return found.step, found.similar

    assert step(RU.upper()) == ("exact", True)
    assert step(RU + " И ещё одно слово.") == ("shingles", True)
    assert step(replaced(RU, 0.5)) == ("meaning", True)
    assert step(EN) == ("meaning", False)
    assert step("гранит") == ("shingles", False)


@pytest.mark.covers("M14")
def test_what_lies_on_the_other_whole_is_reworded_and_what_shares_parts_is_not() -> None:
    assert Alignment(0.95, 0.9, 0.35, 0.3).kind() == REWORDED
    assert (
        Alignment(0.6, 0.5, 0.32, 0.3).kind() == REWORDED
    )  # words changed everywhere, half of it moved away
    assert Alignment(0.55, 0.5, 0.5, 0.45).kind() == SHARED  # some passages word for word, the rest is other
    assert Alignment(0.55, 0.2, 0.3, 0.1).kind() == ""  # together under 0.9
    assert Alignment(0.39, 0.3, 0.9, 0.9).kind() == ""
    assert Alignment(0.40, 0.0, 0.50, 0.0).kind(0.4, 0.2, 0.9) == SHARED  # exactly at the limits


@pytest.mark.covers("M14")
@pytest.mark.parametrize("text", ["ля " * 10, "раз два " * 20, "one two three four " * 8])
def test_a_text_that_repeats_itself_is_like_itself(text: str) -> None:
    meaning = method("meaning")
    one = meaning.sign(text)
    assert one is not None
    found = meaning.compare(one, one)
    assert (found.resemblance, found.containment, found.similar) == (1.0, (1.0, 1.0), True)


def test_pages_of_one_template_about_different_things_are_not_reworded() -> None:
    alike = Alignment(0.95, 0.96, 0.56, 0.55)
    assert alike.kind() == REWORDED
    assert alike._replace(topic=0.1, named=0.0).kind() == SHARED
    assert alike._replace(topic=0.64, named=0.24).kind() == SHARED
    assert alike._replace(topic=0.65, named=0.24).kind() == REWORDED  # exactly at the limits
    assert alike._replace(topic=0.64, named=0.25).kind() == REWORDED
    # A word replaced in many ways is many words: the copy keeps less of its words than the source does.
    assert Alignment(1.0, 1.0, 0.27, 0.44, 0.28, 0.0).kind() == REWORDED


@pytest.mark.covers("M14", "M15")
def test_two_pages_from_one_template() -> None:
    page = (
        "The method {0} gives the {1} of a date by universal time. Call {0} on a date; what {0} gives is a number. "
        "If the date is not valid {0} gives nothing that can be counted. The {1} is counted from {2}. "
        "The example below assigns the {1} part of the current date to a variable, and shows what {0} gave. "
        "See also the other methods of the date object, and the specification that says what {0} does with years."
    )
    a, b = page.format("getUTCHours", "hour", "midnight"), page.format("getUTCMonth", "month", "January")
    auto = method("auto")
    made = dict(zip("ab", auto.sign_texts([a, b]), strict=True))
    assert made["a"] is not None
    assert made["b"] is not None
    found = auto.compare(made["a"], made["b"])
    assert (found.step, found.similar) == ("meaning", False)
    assert found.details["named"] == 0.0
    assert "both follow one template" in str(explain(found, auto.parameters))
    back = auto.compare(made["b"], made["a"])
    assert (back.details, back.similar) == (found.details, found.similar)


def test_a_candidate_far_below_the_best_is_not_the_source() -> None:
    def by_meaning(kept: float) -> Measures:
        return Measures(0.1, (0.1, 0.1), True, "meaning", {"kept": kept})

    found = settle([by_meaning(0.9), by_meaning(0.54), by_meaning(0.53), Measures(0.0, None, False)])
    assert [one.similar for one in found] == [True, True, False, False]
    assert found[2].details["best"] == 0.9
    found = settle(
        [Measures(1.0, (1.0, 1.0), True, "exact"), by_meaning(0.59), Measures(0.5, None, True, "shingles")]
    )
    assert [one.similar for one in found] == [True, False, True]
    assert settle([]) == []


def test_a_short_text_inside_a_long_one() -> None:
    made = method("meaning")
    part = " ".join(RU.split()[20:90])
    one, other = made.sign_texts([replaced(part, 0.3), RU])
    assert one is not None
    assert other is not None
    found = made.compare(one, other)
    assert found.containment is not None
    assert found.containment[0] > 0.8 > found.containment[1]
    assert found.similar


def test_fewer_than_eight_words_are_not_signed() -> None:
    assert method("meaning").sign("one two three four five six seven") is None
    assert method("meaning").sign("one two three four five six seven eight") is not None


@pytest.mark.parametrize("memory", [None, 50_000_000, 100_000, 3])
def test_batches_and_pairs_give_the_same(memory: int | None, tmp_path: pathlib.Path) -> None:
    texts = [RU, replaced(RU, 0.4), EN, replaced(EN, 0.6), " ".join(reversed(RU.split()))]
    made = method("meaning")
    limit = None if memory is None else Limit(memory, str(tmp_path))
    sequences = Sequences(made, limit)  # type: ignore[arg-type]
    sequences.add(texts[:2])
    sequences.add(texts[2:])
    pairs = [(i, j) for i in range(5) for j in range(5)]
    left, right = (np.array([pair[side] for pair in pairs], np.uint32) for side in (0, 1))
    batch = Canon(reduce="stem").tokens(texts)
    words = [batch.hashes[batch.slice(i)] for i in range(5)]
    expected = align(words, pairs, Rates())
    for threads in (1, 2):
        assert sequences.align(left, right, Rates(), threads=threads) == expected
    sequences.close()
    for (i, j), found in zip(pairs, expected, strict=True):
        back = expected[pairs.index((j, i))]
        assert found == (back.aligned_b, back.aligned_a, back.kept_b, back.kept_a, back.topic, back.named)


def test_few_threads_align_long_texts_in_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    used = []
    kernel = kernels.align_texts
    monkeypatch.setattr(kernels, "align_texts", lambda *args: used.append(args[-1]) or kernel(*args))
    short, long = (np.arange(1, count, dtype=np.uint64) for count in (300, 5000))
    for texts in ([short, short], [short, long], [long, long]):
        found = [
            align(texts, [(0, 1)], Rates(), threads=8, memory_bytes=memory)
            for memory in (None, 0, 10_000_000, 100_000_000, 1_000_000_000)
        ]
        assert found == found[:1] * 5
    assert used == [8, 1, 4, 8, 8, 8, 1, 1, 3, 8, 8, 1, 1, 3, 8]


def test_rates() -> None:
    the, rare = (Canon(reduce="stem").tokens([word]).hashes for word in ("the", "квазимодульность"))
    gains, masses = Rates().of(np.concatenate([the, rare]))
    assert gains[0] < 4
    assert masses[0] == 0
    assert (gains[1], masses[1]) == (MOST_GAIN, RARE_IDF)
    # What a collection is full of weighs less in it.
    words = np.repeat(rare, 50_000)
    offsets = np.arange(0, 50_001, 100, dtype=np.uint64)
    gains, masses = Rates(words, offsets).of(rare)
    assert gains[0] < 3
    assert masses[0] < 2
    assert Rates(words[:0], offsets[:1]).of(rare)[0][0] == MOST_GAIN


def test_keys_of_texts_with_few_content_words() -> None:
    none = np.zeros(0, np.uint64)
    assert key_values(none, np.zeros(1, np.uint64))[0].tolist() == []
    batch = Canon(reduce="stem").tokens(["и в на", "маяк", "маяк гранит волна берег"])
    values, offsets = key_values(batch.hashes, batch.offsets)
    assert np.diff(offsets.astype(np.int64)).tolist()[:2] == [0, 1]
    assert len(values) == offsets[-1]


THESAURUS = """UTF-8
маяк|1
(синоним)|огонь|светоч
огонь|1
(синоним)|маяк|пламя
светоч|1
(синоним)|огонь
большой|2
(синоним)|крупный|очень большой
(антоним)|маленький
крупный|1
(синоним)|большой
маленький|1
(антоним)|большой
"""


@pytest.fixture
def thesaurus(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "th_test.dat"
    path.write_text(THESAURUS, encoding="utf-8-sig")  # as Debian's Russian one is
    return str(path)


@pytest.mark.covers("M14")
def test_synonyms_of_each_other_are_one_word(thesaurus: str) -> None:
    plain = Canon(reduce="stem").tokens(["маяк огонь светоч крупный большой маленький пламя"]).hashes
    found = find_thesaurus(thesaurus)
    assert found is not None
    concepts = found.concepts(plain).tolist()
    assert concepts[0] == concepts[1]
    assert concepts[3] == concepts[4]
    assert len(set(concepts)) == 5  # «светоч» is told of «маяк» one way only; antonyms and «пламя» stay apart


def test_a_concept_has_eight_words_at_most(tmp_path: pathlib.Path) -> None:
    """Chains of synonyms drift away from the first meaning."""
    words = "барак ворон город жираф забор камыш магнит носорог парус ракета фонарь щит".split()
    lines = ["UTF-8"]
    for word in words:
        lines += [f"{word}|1", "|".join(["(сущ)", *(other for other in words if other != word)])]
    path = tmp_path / "th_chain.dat"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = find_thesaurus(str(path))
    assert found is not None
    concepts = found.concepts(Canon(reduce="stem").tokens([" ".join(words)]).hashes).tolist()
    assert max(concepts.count(one) for one in concepts) == 8


def test_a_thesaurus_is_part_of_the_recipe(thesaurus: str, tmp_path: pathlib.Path) -> None:
    with_it, without = method("auto", thesaurus=thesaurus), method("auto")
    assert with_it.recipe != without.recipe
    copy = tmp_path / "other_name.dat"
    copy.write_text(THESAURUS, encoding="utf-8")
    assert method("auto", thesaurus=str(copy)).recipe == with_it.recipe  # the content counts, not the place


def test_bad_thesauri(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.dat cannot be read: No such file or directory$"):
        find_thesaurus(str(tmp_path / "none.dat"))
    path = tmp_path / "text.dat"
    path.write_text("UTF-8\njust some text\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="not a thesaurus in the MyThes format"):
        find_thesaurus(str(path))
    path.write_bytes(b"no-such-code\nword|1\n")
    with pytest.raises(ConfigError, match="not a thesaurus"):
        find_thesaurus(str(path))
    assert find_thesaurus("") is None


@pytest.mark.shared
def test_the_thesaurus_of_the_package_reads(shared: pathlib.Path) -> None:
    found = find_thesaurus(str(shared / "data/ru-thesaurus/th_ru_RU_v2.dat.xz"))
    assert found is not None
    assert len(found) > 1_000
