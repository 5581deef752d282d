"""The native search for passages against its plain twin, on made and on generated texts."""

from __future__ import annotations

import random
from dataclasses import asdict, replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublet import kernels
from doublet.kernels import reference as plain
from doublet.kernels.reference.passages import STRONG, SUMMARY, SUMMED
from doublet.matches.passages import PassageOptions
from doublet.matches.stems import read_stems

native = pytest.importorskip("doublet.kernels.native", reason="the native kernels are not built: make setup")
pytestmark = pytest.mark.covers("M15")

LOOSE = PassageOptions(
    gap=40,
    weak_mass=1,
    weak_length=1,
    strong_mass=6,
    strong_length=10,
    strong_longer=10,
    strong_worth=2,
    sentence_worth=4,
    summary_rise=2,
    summary_fall=6,
    summary_left=0.05,
    summary_left_mass=1,
    summary_evidence=0.1,
    summary_share=0.5,
    summary_above=0.1,
    summary_words=2,
    summary_shortest=10,
    summary_times=0.5,
    summary_rest=0.2,
    summary_beside=3,
    summed=1,
)


def agree(texts: list[str], options: PassageOptions, *, threads: int = 1) -> int:
    """Both find the same in all pairs; gives how much."""
    read = read_stems(texts)
    words = read.words
    left, right = (
        np.array(column, np.uint32)
        for column in zip(*((x, y) for x in range(len(texts)) for y in range(len(texts))), strict=True)
    )
    given = (
        *(read.stems, read.marks, words.starts, words.ends, words.offsets, left, right),
        options,
        threads,
    )
    quick, slow = native.passages(*given), plain.passages(*given)
    for x, y in zip(quick, slow, strict=True):
        assert x.dtype == y.dtype
        assert x.tolist() == y.tolist()
    return len(quick[1])


WORDS = st.sampled_from([f"w{i}" for i in range(12)] + ["cat", "cats", "кот", "коты", "a", "1990"])
BREAKS = st.sampled_from([" "] * 8 + [". ", ".\n", "\n", "\n\n", "! W", "; ", "… "])


@st.composite
def texts(draw: st.DrawFn) -> str:
    count = draw(st.integers(0, 90))
    return "".join(draw(WORDS) + draw(BREAKS) for _ in range(count))


@settings(max_examples=60, deadline=None)
@given(st.lists(texts(), min_size=2, max_size=2))
def test_generated_texts(made: list[str]) -> None:
    agree(made, LOOSE)


@settings(max_examples=60, deadline=None)
@given(st.lists(texts(), min_size=2, max_size=2))
def test_summaries_as_the_only_text(made: list[str]) -> None:
    agree(made, replace(LOOSE, strong_mass=1000, summary_alone=0.3, summary_share=0.2))


@pytest.mark.parametrize("twin", [native, plain])
@pytest.mark.parametrize(("sentences", "told"), [(80, True), (200, False)])
def test_a_summary_is_of_one_stretch_of_its_source(twin, sentences: int, told: bool) -> None:
    topics = [[f"t{t}word{w}" for w in range(16)] for t in range(sentences)]
    source = " ".join(" ".join(words).capitalize() + "." for words in topics)
    pairs = [topics[t * sentences // 40][4:6] for t in range(40)]
    text = " ".join(" ".join(map(" ".join, pairs[i::8])).capitalize() + "." for i in range(8))
    read = read_stems([text, source])
    given = (read.stems, read.marks, read.words.starts, read.words.ends, read.words.offsets)
    found = twin.passages(*given, np.array([0], np.uint32), np.array([1], np.uint32), PassageOptions(), 1)
    assert found[-1].tolist() == [SUMMARY] * told


def test_a_summary_of_one_stretch_of_a_long_text() -> None:
    rng = random.Random(4)
    words = ["".join(rng.choices("bcdfgklmnprstv", k=2)) + rng.choice("aeiou") + str(i) for i in range(2400)]
    source = [" ".join(words[i : i + 8]).capitalize() + "." for i in range(0, len(words), 8)]
    for first in (0, 120, 240):
        summary = " ".join(" ".join(one.split()[:2]) + "." for one in source[first : first + 60 : 2])
        read = read_stems([summary, " ".join(source)])
        given = (read.stems, read.marks, read.words.starts, read.words.ends, read.words.offsets)
        pair = (np.array([0], np.uint32), np.array([1], np.uint32), PassageOptions())
        quick, slow = native.passages(*given, *pair), plain.passages(*given, *pair)
        assert [x.tolist() for x in quick] == [x.tolist() for x in slow]
        assert quick[-1].tolist() == [SUMMARY]
        assert (quick[1][0], quick[2][0]) == (0, len(summary.split()))
        assert quick[3][0] == 8 * first


@settings(max_examples=40, deadline=None)
@given(texts(), st.randoms(use_true_random=False))
def test_shuffled_copies(text: str, random) -> None:
    words = text.split(" ")
    random.shuffle(words)
    agree([text, "Own words first. " + " ".join(words)], LOOSE)


def test_real_texts(root) -> None:
    parts = [path.read_text("utf-8") for path in sorted((root / "docs" / "explanation").glob("*.md"))[:3]]
    mixed = " ".join(sentence for part in parts for sentence in part.split(". ")[::3])
    assert agree([parts[0][:6000], parts[1][:6000], mixed[:6000]], PassageOptions(), threads=2) > 3


def test_a_summary_beside_a_passage() -> None:
    """Phrases of every third sentence of a long text, after a passage of it, inside another text."""
    rng = random.Random(4)
    words = ["".join(rng.choices("bcdfgklmnprstv", k=2)) + rng.choice("aeiou") + str(i) for i in range(900)]
    source = [" ".join(rng.sample(words, 14)).capitalize() + "." for _ in range(60)]
    summary = [" ".join(sentence.split()[4:9]).capitalize() + "." for sentence in source[::3]]
    own = [" ".join(f"own{rng.randrange(900)}" for _ in range(12)).capitalize() + "." for _ in range(40)]
    mixed = [*own[:20], *summary, *own[20:30], *(s.replace("1", "2") for s in source[5:9]), *own[30:]]
    read = read_stems([" ".join(mixed), " ".join(source)])
    given = (read.stems, read.marks, read.words.starts, read.words.ends, read.words.offsets)
    pair = (np.array([0], np.uint32), np.array([1], np.uint32), PassageOptions())
    quick, slow = native.passages(*given, *pair), plain.passages(*given, *pair)
    assert [x.tolist() for x in quick] == [x.tolist() for x in slow]
    assert SUMMARY in quick[-1].tolist()
    assert STRONG in quick[-1].tolist()
    # Seen from the source it is the same place, summed up in the other text.
    turned = (np.array([1], np.uint32), np.array([0], np.uint32), PassageOptions(summed=1))
    there, slow = native.passages(*given, *turned), plain.passages(*given, *turned)
    assert [x.tolist() for x in there] == [x.tolist() for x in slow]
    places = [
        [tuple(column[i] for column in columns) for i in np.flatnonzero(found[-1] == kind)]
        for found, kind, columns in (
            (quick, SUMMARY, quick[1:5]),
            (there, SUMMED, (*there[3:5], *there[1:3])),
        )
    ]
    assert places[0] == places[1]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.sampled_from("aбA. \n!?…:;\u00a0\r\u2028。d"), max_size=60), max_size=3))
def test_sentence_marks(made: list[str]) -> None:
    words = kernels.tokenize(made, None, None, 1)
    shortened = np.unique(kernels.tokenize(["dad", "ab"], None, None, 1)[0])
    given = (made, *words[:3], words[4], shortened)
    marks = native.sentence_marks(*given).tolist()
    assert marks == plain.sentence_marks(*given).tolist()
    # However lines end.
    plain_ends = [text.replace("\r", "") for text in made]
    for end in ("\n", "\r\n", "\r", " \t\r\n"):
        others = [text.replace("\n", end) for text in plain_ends]
        words = kernels.tokenize(others, None, None, 1)
        marks_of_others = native.sentence_marks(others, *words[:3], words[4], shortened).tolist()
        assert marks_of_others == plain.sentence_marks(others, *words[:3], words[4], shortened).tolist()
        if end == "\n":
            expected = marks_of_others
        assert marks_of_others == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", " \n", " \t\r\n", "\u00a0\r"])
@pytest.mark.parametrize("side", [native, plain], ids=["native", "plain"])
def test_lines_end_in_many_ways(side, end: str) -> None:
    def marks(text: str) -> list[int]:
        words = kernels.tokenize([text], None, None, 1)
        return side.sentence_marks([text], *words[:3], words[4], np.zeros(0, np.uint64)).tolist()

    lines = ["The keeper writes:", "boats in the ice", "The pilot answers:", "nothing moves today"]
    assert marks(end.join(lines)) == [1, 0, 0, 3, 0, 0, 0, 3, 0, 0, 3, 0, 0]
    assert marks(f"one two{end}three") == [1, 0, 0]  # one line end: the line may go on
    assert marks(f"one two{end}{end}three") == [1, 0, 3]  # two: an empty line
    assert marks(f"one two;{end}three; {end}four") == [1, 0, 3, 3]


@pytest.mark.parametrize("side", [native, plain], ids=["native", "plain"])
def test_wrong_arguments_are_refused(side) -> None:
    read = read_stems(["one two three", "one two"])
    words = read.words
    given = [read.stems, read.marks, words.starts, words.ends, words.offsets]
    pair = [np.array([0], np.uint32), np.array([1], np.uint32)]
    values = PassageOptions()
    side.passages(*given, *pair, values)
    with pytest.raises(ValueError, match="0 to 1,000,000"):
        side.passages(*given, *pair, SimpleNamespace(**asdict(values) | {"cap": float("nan")}))
    with pytest.raises(AttributeError, match="gap"):
        side.passages(*given, *pair, SimpleNamespace())
    with pytest.raises(ValueError, match="no text"):
        side.passages(*given, pair[0], np.array([2], np.uint32), values)
    with pytest.raises(ValueError, match="one length"):
        side.passages(given[0], given[1][:-1], *given[2:], *pair, values)
    with pytest.raises(ValueError, match="one length"):
        side.passages(*given, pair[0], np.zeros(0, np.uint32), values)
    with pytest.raises(ValueError, match="one more offset"):
        side.sentence_marks(
            ["a"], words.hashes, words.starts, words.ends, words.offsets, np.zeros(0, np.uint64)
        )
