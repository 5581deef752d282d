"""The native search for the best place of a sentence against its plain twin, on made and on generated texts."""

from __future__ import annotations

import math
from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublet import kernels
from doublet.kernels import reference as plain
from doublet.kernels.reference.passages import SENTENCE, cut_sentences
from doublet.matches.stems import read_stems

native = pytest.importorskip("doublet.kernels.native", reason="the native kernels are not built: make setup")
pytestmark = pytest.mark.covers("M15")

WORDS = st.sampled_from(
    [f"w{i}" for i in range(12)] + "решение решить решают кот коты договор договорной 1990".split()
)
BREAKS = st.sampled_from([" "] * 8 + [". ", ".\n", "\n\n", "! W", "; "])


@st.composite
def texts(draw: st.DrawFn) -> str:
    return "".join(draw(WORDS) + draw(BREAKS) for _ in range(draw(st.integers(1, 90))))


def places(module, made: list[str], *, part: int = 1, threads: int = 1, rare: bool = True):
    """Of all sentences of each text the best place in each of the others, or in the first *part*-th of it."""
    read = read_stems(made)
    sizes = np.diff(read.words.offsets).astype(int).tolist()
    pairs = [(x, y) for x in range(len(made)) for y in range(len(made)) if sizes[x] and sizes[y]]
    rows, firsts = [], [0]
    for x, y in pairs:
        begins = np.flatnonzero(read.marks[read.words.slice(x)] & SENTENCE).tolist()
        cuts = cut_sentences(begins, sizes[x])
        rows += [(first, end, 0, max(1, sizes[y] // part)) for first, end in pairwise(cuts)]
        firsts.append(len(rows))
    borders = [np.array([row[i] for row in rows], np.uint32) for i in range(4)]
    left, right = (np.array([pair[i] for pair in pairs], np.uint32) for i in (0, 1))
    return module.best_places(
        *(read.stems, read.roots, read.rarity if rare else None, read.marks, read.words.offsets, left, right),
        *(np.array(firsts, np.uint64), *borders, threads),
    )


def agree_on_starts(made: list[str]) -> None:
    read = read_stems(made)
    for x, y in zip(
        *(side.sentence_starts(read.marks, read.words.offsets) for side in (native, plain)), strict=True
    ):
        assert x.dtype == y.dtype
        assert x.tolist() == y.tolist()


def agree(made: list[str], **options) -> None:
    for x, y in zip(places(native, made, **options), places(plain, made, **options), strict=True):
        assert x.dtype == y.dtype
        assert x.tolist() == y.tolist()


@settings(max_examples=80, deadline=None)
@given(st.lists(texts(), min_size=2, max_size=3), st.integers(1, 3))
def test_generated_texts(made: list[str], part: int) -> None:
    agree(made, part=part)
    agree(made, part=part, rare=False)
    agree_on_starts(["", *made])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(0, 12), max_size=12),
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=8),
)
def test_parts_of_sentences_that_nothing_tells_of(sizes: list[int], made: list[tuple[int, int]]) -> None:
    ranges = [(start, start + size) for start, size in made]
    borders = np.cumsum([0, *sizes]).astype(np.uint32)
    told = np.array(sorted(ranges), np.uint32).reshape(-1, 2)
    starts, ends = np.ascontiguousarray(told[:, 0]), np.ascontiguousarray(told[:, 1])
    expected = []
    for number, (low, high) in enumerate(pairwise(borders.tolist())):
        free = [all(not start <= word < end for start, end in ranges) for word in range(low, high)]
        runs = [
            (len(list(some)), is_free) for is_free, some in groupby(free)
        ]  # lengths of what is told and of what is not
        longest = max((length for length, is_free in runs if is_free), default=0)
        if 2 * longest > high - low:
            at = next(i for i in range(high - low) if all(free[i : i + longest]))
            expected.append((number, low + at, low + at + longest))
    for kernel in (native, plain):
        numbers, parts = kernel.untold_parts(borders, starts, ends)
        assert (numbers.dtype, parts.dtype, parts.shape) == (np.int64, np.uint32, (len(expected), 2))
        assert [(n, *row) for n, row in zip(numbers.tolist(), parts.tolist(), strict=True)] == expected


def test_real_texts(root) -> None:
    parts = [path.read_text("utf-8") for path in sorted((root / "docs" / "explanation").glob("*.md"))[:2]]
    agree([*parts, " ".join(part[500:3000] for part in parts)], threads=2)


def test_the_place_of_a_reworded_sentence() -> None:
    source = (
        "The bridge was built in spring. Nobody asked who paid for the bridge. "
        "The council decided on Tuesday to close the northern road for repairs. The road is long."
    )
    essay = "On Tuesday a decision to close the road in the north was taken by the council."
    words = read_stems([essay, source]).words.one(1)
    start, end, mass, whole, there, most, second = (column[1] for column in places(kernels, [essay, source]))
    assert source[words.starts[start] : words.ends[end - 1]] == source.split(". ")[2]
    assert 0 < mass <= most <= whole
    assert mass < there
    worth = mass * mass / math.sqrt(whole * there)
    assert 0 < second < worth / 2, "the other sentences have a word or two of it"
    *_, alone = (column[1] for column in places(kernels, [essay, source.split(". ")[2]]))
    assert alone == 0, "there is no other place"
    *_, again = (column[1] for column in places(kernels, [essay, f"{source} {source}"]))
    assert again > worth / 2, "the same sentence once more"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a1": [0]}, "a range must have a word or more, and lie in its text"),
        ({"b1": [9]}, "a range must have a word or more, and lie in its text"),
        ({"left": [7]}, "there is no text of this number"),
        ({"firsts": [0, 2]}, "offsets must end with the number of values"),
        ({"roots": [1]}, "stems, roots and marks must be of one length"),
        ({"rarity": [1.0]}, "stems and rarity must be of one length"),
        ({"rarity": [1.0, 2.0, 1.0, -1.0]}, "rarity must be from 0 to 100"),
        ({"rarity": [1.0, 2.0, 1.0, np.nan]}, "rarity must be from 0 to 100"),
        ({"rarity": [1.0, 2.0, 1.0, 101.0]}, "rarity must be from 0 to 100"),
    ],
)
def test_arguments_that_make_no_sense(change, message) -> None:
    columns = {
        "stems": ([1, 2, 1, 3], np.uint64),
        "roots": ([1, 2, 1, 3], np.uint64),
        "rarity": ([1.0, 2.0, 1.0, 0.0], np.float64),
        "marks": ([1, 0, 1, 0], np.uint8),
        "offsets": ([0, 2, 4], np.uint64),
        "left": ([0], np.uint32),
        "right": ([1], np.uint32),
        "firsts": ([0, 1], np.uint64),
        "a0": ([0], np.uint32),
        "a1": ([2], np.uint32),
        "b0": ([0], np.uint32),
        "b1": ([2], np.uint32),
    }
    given = {name: np.array(change.get(name, values), kind) for name, (values, kind) in columns.items()}
    for module in (native, plain):
        with pytest.raises(ValueError, match=message):
            module.best_places(*given.values())
