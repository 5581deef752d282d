"""Do two texts tell the same story? Another question than whether one was copied from the other (M14).

News of one event share names, numbers and places even when no sentence was copied, and they say what happened first.
Two things speak for one story. Words do, by stems, rare ones weighing more: how alike the openings are, and whether
what one title says is anywhere in the other text. So do numbers of one text that are in the other, in digits or in
words, exact or rounded and marked as such: a retelling may have few words in common. Three things speak against it and
tell serial reports apart (rates, weather, matches), however alike the titles: names and numbers of the openings that
the other text lacks, sentences that say the same with other numbers, and openings that name other days. Names and
numbers count the more, the more of them there are: a retelling may leave out a name. Sentences of one text are matched
with those of the other in any order. With an embedding model of the user (`signatures.embedding`) sentences are
compared by their vectors as well. Explained in docs/explanation/meaning.md.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import require_number, require_text
from doublet.signatures.background import Rates
from doublet.signatures.embedding import require_embedder, unit_rows
from doublet.text.background import RARE_IDF
from doublet.text.dates import days, disagree
from doublet.text.numbers import Number, Said, numbers
from doublet.text.sentences import sentences
from doublet.text.tokens import Canon

if TYPE_CHECKING:
    from doublet.model import Span
    from doublet.signatures.embedding import Embedder

U64 = NDArray[np.uint64]
F64 = NDArray[np.float64]

# Chosen on tune and choose of benchmarks/unseen.py (56 labelled pairs, 432 made ones, 48 written by hand, of the part
# choose) and on 117 further Russian pairs of the makers of the labelled ones. F1 there is .923, .991, .920 and .844.
# Of ten thresholds that never saw the family they judge (a kind of report, all pairs that share a text) nine were 0.48
# and one 0.54. F1 with these is .923, .991, .898 and .844.
#: Sentences: the title and three more. With two F1 is .882, .959, .889 and .845, with eight .938, .991, .920 and .822;
#: of 90 pairs of several outlets with eight .480 instead of .548.
OPENING = 4
#: At half of it F1 is .811, .898, .857 and .726, at twice .235 at most; at 0.45 .909, .989, .920 and .821, at 0.50
#: .923, .993, .898 and .833.
SAME_STORY = 0.48
#: Weight of names that counts as found besides those that are, three rare words: of few names little is learned. At
#: half of it F1 is .889, .993, .898 and .833, at twice .882, .975, .920 and .825, without it .889, .981, .913 and .843.
NAMES_DOUBT = 30.0
#: The same for numbers, counted in sentences whose words agree. At half of it F1 is .923, .995, .898 and .833, at twice
#: .923, .980, .920 and .836.
NUMBERS_DOUBT = 2.0
#: Weight of numbers that counts as missing besides those that are: one common number proves little. Chosen on these
#: and on tune of several outlets. At half of it F1 is .909, .986, .920 and .829, at twice .923, .981, .898 and .844; of
#: several outlets, choose, .558 and .421 instead of .537.
FIGURES_DOUBT = 8.0
#: What is left of the score where the openings name days that the other text does not. At half of it nothing changes;
#: at 1, where days have no say, F1 is .909, .973, .889 and .847.
OTHER_DAYS = 0.5
#: Letters by which names and words of titles are found in other forms (Новгород, новгородский; Bulgaria, Bulgarian).
#: With 3 F1 is .909, .989, .920 and .817, with 10, which few words have, .923, .991, .898 and .844, and of several
#: outlets, choose, .421 instead of .537.
BEGINNING = 5
# The longest of all labelled, written and made texts has 2,100 of them. Of five pairs of unrelated texts of
# 100,000 characters one was called the same where all of it was read, of 300,000 characters all five.
READ = 3_000  #: content words that are read of a text: a long one has every name somewhere
SENTENCE_WORDS = 4  #: shorter sentences say too little to be matched
ROWS = 1024  #: sentences that are matched at once


@dataclass(frozen=True, slots=True)
class Story:
    """*score* decides; the rest says what it is made of. All are 0 to 1."""

    score: float
    same: bool
    whole: float  #: cosine of the weighted words of the openings
    titles: float  #: share of the weight of each title that the other text has; the mean of both
    #: the same for names and numbers of the openings; the worse of both; None: there are none
    names: float | None
    numbers: (
        float | None
    )  #: share of the numbers that agree where sentences say the same; None: there are none
    figures: float  #: how much the numbers that both texts have speak for one story
    days: (
        bool | None
    )  #: whether a day of one opening is named in the other text; None: not both openings name any
    shared: float  #: share of the weight of the words of the shorter opening that the other has too
    sentences: float  #: how well the sentences of one text find a partner in the other
    vectors: float | None  #: the same by the embedding model, where there is one
    threshold: float  #: of the score

    def to_dict(self) -> dict[str, Any]:
        return {
            "score": self.score,
            "same": self.same,
            "whole": self.whole,
            "titles": self.titles,
            "names": self.names,
            "numbers": self.numbers,
            "figures": self.figures,
            "days": self.days,
            "shared": self.shared,
            "sentences": self.sentences,
            "vectors": self.vectors,
            "threshold": self.threshold,
        }


def same_story(
    text_a: str, text_b: str, *, threshold: float = SAME_STORY, embedder: Embedder | None = None
) -> Story:
    """Compare two texts (put a title in front of its text). A text without content words tells no story: 0. Of a long
    text the beginning is read."""
    require_text("text_a", text_a)
    require_text("text_b", text_b)
    require_number("threshold", threshold, 0, 1)
    require_embedder(embedder)
    batch = Canon(reduce="stem").tokens([text_a, text_b])
    beginnings = [
        _beginning(text, batch.hashes[there], batch.starts[there])
        for text, there in ((text_a, batch.slice(0)), (text_b, batch.slice(1)))
    ]
    texts = [text for text, _, _ in beginnings]
    weights = _weights(np.concatenate([words for _, words, _ in beginnings]))
    sides = [_read(text, words, starts, weights) for text, words, starts in beginnings]
    openings = [side.opening for side in sides]
    whole, shared = _cosine(*openings), _shared(*openings)
    titles = 0.0
    if all(side.title for side in sides):
        titles = sum(_share(side.known(side.title, other)) for side, other in _both(sides)) / 2.0
    capitals = Counter(sides[0].capitals)
    capitals.update(sides[1].capitals)  # with + what is below 0 would be dropped
    # What the other text has of the names and numbers of an opening, and of all numbers; and the whole of each.
    named, common, every = [], [], []
    for side, other in _both(sides):
        some = {word: side.opening[word] for word in side.plain if capitals[word] > 0}
        named.append(side.known(some, other))
        common.append(_figures(side.figures, other.said))
        every.append(_figures(side.numbers, other.said))
    there = [(name[0] + number[0], name[1] + number[1]) for name, number in zip(named, common, strict=True)]
    names = _worse(there, 0.0) if all(openings) else None
    matched, agreed, compared = _partners(*sides)
    figures = max(found / (total + FIGURES_DOUBT) for found, total in every)
    opened = (days(text[: side.opening_end]) for text, side in zip(texts, sides, strict=True))
    other_days = disagree(*opened, *map(days, texts))
    words = (whole + titles) / 2.0
    told = 1.0 - (1.0 - words) * (1.0 - figures)
    # Where names and numbers are others, what is alike says little; of few of them little is learned. Names that both
    # texts lack of each other count once more: a retelling leaves out names or adds some, another event does both.
    sure = (_worse(there, NAMES_DOUBT) or 0.0) * max(
        (name[0] + NAMES_DOUBT) / (name[1] + NAMES_DOUBT) for name in named
    )
    sure *= (agreed + NUMBERS_DOUBT) / (compared + NUMBERS_DOUBT)
    score = float(np.sqrt(told * sure)) * (OTHER_DAYS if other_days else 1.0)
    score = score if all(openings) else 0.0
    vectors = None
    if embedder is not None:
        vectors = _by_vectors(embedder, *texts)
        score = (score + vectors) / 2.0
    return Story(
        score=score,
        same=score >= threshold,
        whole=whole,
        titles=titles,
        names=names,
        numbers=agreed / compared if compared else None,
        figures=figures,
        days=None if other_days is None else not other_days,
        shared=shared,
        sentences=matched,
        vectors=vectors,
        threshold=threshold,
    )


Bag = dict[int, float]


@dataclass(frozen=True, slots=True)
class _Side:
    """What one text says."""

    every: set[int]  #: its content words
    begin: dict[int, str]  #: the first BEGINNING letters of each word; of shorter ones none
    begins: set[str]  #: all of these
    plain: set[int]  #: those of its opening that are not part of a number
    title: Bag
    opening: Bag
    opening_end: int  #: its place in the text
    capitals: Counter[int]  #: of each word, how much oftener it has a capital inside a sentence than none
    said: Said  #: its numbers
    numbers: list[Number]  #: each value once
    figures: list[Number]  #: the same of the opening
    sentences: list[_Sentence]

    def known(self, bag: Bag, other: _Side) -> tuple[float, float]:
        """The weight of the words of *bag* that the other text has, or words that begin alike, and of all."""
        found = sum(
            weight
            for word, weight in sorted(bag.items())
            if word in other.every or self.begin.get(word) in other.begins
        )
        return found, sum(bag.values())


def _beginning(text: str, words: U64, starts: NDArray[np.uint32]) -> tuple[str, U64, NDArray[np.uint32]]:
    """What is read of a text, with its words and where they start."""
    if len(words) <= READ:
        return text, words, starts
    return text[: int(starts[READ])], words[:READ], starts[:READ]


def _both(sides: Sequence[_Side]) -> list[tuple[_Side, _Side]]:
    return [(sides[0], sides[1]), (sides[1], sides[0])]


def _read(text: str, words: U64, starts: NDArray[np.uint32], weights: dict[int, float]) -> _Side:
    spans = sentences(text)
    firsts = np.searchsorted(starts, [span.start for span in spans]).astype(np.int64)
    parts = _sentence_words(firsts, words)
    opening = _bag(np.concatenate([np.zeros(0, np.uint64), *parts[:OPENING]]), weights)
    last = int(firsts[OPENING]) if len(firsts) > OPENING else len(words)
    opening_end = int(starts[last]) if last < len(words) else len(text)
    read = list(numbers(text))
    numeric = _inside(starts, read)
    opened = set(firsts.tolist())
    silent = _inside(starts, [span for span in spans if text[span.start : span.end].isupper()])
    capitals: Counter[int] = Counter()
    begin: dict[int, str] = {}
    for place, (start, word) in enumerate(zip(starts.tolist(), words.tolist(), strict=True)):
        if word not in begin:
            letters = text[start : start + BEGINNING].lower().replace("ё", "е")
            begin[word] = letters if len(letters) == BEGINNING and letters.isalpha() else ""
        if numeric[place] or silent[place]:
            continue
        if text[start].isupper() or text[start].isdigit():
            capitals[word] += place not in opened
        else:
            capitals[word] -= 1
    return _Side(
        every={word for word in words.tolist() if word in weights},
        begin=begin,
        begins=set(begin.values()) - {""},
        plain={word for word in words[:last][~numeric[:last]].tolist() if word in opening},
        title=_bag(parts[0], weights) if parts else {},
        opening=opening,
        opening_end=opening_end,
        capitals=capitals,
        said=Said(read),
        numbers=_once(read),
        figures=_once(number for number in read if number.start < opening_end),
        sentences=_said(text, starts, words, firsts, weights, read, numeric),
    )


def _inside(starts: NDArray[np.uint32], spans: Sequence[Number | Span]) -> NDArray[np.bool_]:
    """Which words begin inside one of the *spans*, which are in order."""
    if not spans:
        return np.zeros(len(starts), np.bool_)
    at = np.searchsorted([span.start for span in spans], starts, side="right") - 1
    ends = np.array([span.end for span in spans])
    return (at >= 0) & (starts < ends[at])


def _rarity(number: str) -> float:
    """What a number weighs: the larger and the less round, the less often two texts have it by chance."""
    digits = "".join(filter(str.isdigit, number))[:9]  # more of them would weigh no more
    plain, rounded = (min(RARE_IDF, math.log1p(int(some or 0))) for some in (digits, digits.rstrip("0")))
    return (plain + rounded) / 2.0


def _weights(words: U64) -> dict[int, float]:
    distinct = np.unique(words)
    _, masses = Rates().of(distinct)
    return {word: mass for word, mass in zip(distinct.tolist(), masses.tolist(), strict=True) if mass > 0}


def _bag(words: U64, weights: dict[int, float]) -> Bag:
    """Weight of each content word: its rarity, and a little more when it is repeated."""
    out: Bag = {}
    distinct, counts = np.unique(words, return_counts=True)
    for word, count in zip(distinct.tolist(), counts.tolist(), strict=True):
        if word in weights:
            out[word] = weights[word] * (1.0 + float(np.log(count)))
    return out


def _cosine(a: Bag, b: Bag) -> float:
    product = sum(weight * b[word] for word, weight in sorted(a.items()) if word in b)
    size = float(np.sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values())))
    return product / size if size else 0.0


def _shared(a: Bag, b: Bag) -> float:
    """Of the text with less weight."""
    common = sum(min(weight, b[word]) for word, weight in sorted(a.items()) if word in b)
    least = min(sum(a.values()), sum(b.values()))
    return min(1.0, common / least) if least else 0.0


def _once(some: Iterable[Number]) -> list[Number]:
    """Each value once, with its mark where it has one."""
    return list({number.value: number for number in sorted(some, key=lambda number: number.mark)}.values())


def _figures(figures: Sequence[Number], there: Said) -> tuple[float, float]:
    """The weight of the numbers that the other text has, and of all. A rounded number weighs less than an exact one."""
    found = total = 0.0
    for number in figures:
        weight = _rarity(number.value)
        total += weight
        agreed = there.agrees(number)
        if agreed is not None:
            found += min(weight, _rarity(agreed))
    return found, total


def _share(weights: tuple[float, float]) -> float:
    found, total = weights
    return found / total if total else 0.0


def _worse(sides: Sequence[tuple[float, float]], doubt: float) -> float | None:
    """The smaller share found, with *doubt* more that counts as found; None where nothing was looked for."""
    return min(((found + doubt) / (total + doubt) for found, total in sides if total + doubt), default=None)


def _sentence_words(firsts: NDArray[np.int64], words: U64) -> list[U64]:
    if not len(firsts):
        return []
    lasts = np.append(firsts[1:], len(words))
    return [
        words[first:last] for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True) if last > first
    ]


@dataclass(frozen=True, slots=True)
class _Sentence:
    bag: Bag  #: without its numbers
    numbers: list[Number]  #: each value once


def _said(
    text: str,
    starts: NDArray[np.uint32],
    words: U64,
    firsts: NDArray[np.int64],
    weights: dict[int, float],
    read: Sequence[Number],
    numeric: NDArray[np.bool_],
) -> list[_Sentence]:
    """The sentences that are long enough to be matched."""
    out = []
    places = [*starts.tolist(), len(text)]
    begins = [number.start for number in read]
    for first, last in itertools.pairwise([*firsts.tolist(), len(words)]):
        if last - first < SENTENCE_WORDS:
            continue
        plain = [
            place for place in range(first, last) if not (numeric[place] or text[places[place]].isdigit())
        ]
        some = read[bisect_left(begins, places[first]) : bisect_left(begins, places[last])]
        out.append(_Sentence(_bag(words[plain], weights), _once(some)))
    return out


def _partners(side: _Side, other: _Side) -> tuple[float, float, float]:
    """How well sentences find a partner, and how many of the numbers of partners agree of how many.

    The first is the mean of the best likeness of each sentence, weighted by what the sentence says; order makes no
    difference. Of the two texts that one counts whose sentences find better partners. Numbers of partners count by how
    alike these are in words.
    """
    parts, others = side.sentences, other.sentences
    if not parts or not others:
        return 0.0, 0.0, 0.0
    best, best_other = np.zeros(len(parts)), np.zeros(len(others))
    partner, partner_other = np.zeros(len(parts), np.int64), np.zeros(len(others), np.int64)
    bags = [part.bag for part in parts]
    there = _holders([other.bag for other in others])
    sizes, other_sizes = _sizes(bags), _sizes([other.bag for other in others])
    for first in range(0, len(parts), ROWS):
        some = bags[first : first + ROWS]
        products = np.zeros((len(some), len(others)))
        for word, (rows, weights) in _holders(some).items():
            if word in there:
                columns, other_weights = there[word]
                products[rows[:, None], columns] += weights[:, None] * other_weights
        products /= sizes[first : first + ROWS, None] * other_sizes
        best[first : first + ROWS] = products.max(axis=1)
        partner[first : first + ROWS] = products.argmax(axis=1)
        better = products.max(axis=0) > best_other
        partner_other[better] = first + products.argmax(axis=0)[better]
        best_other = np.maximum(best_other, products.max(axis=0))
    agreed, compared = np.add(
        _numbers(parts, other, best, partner), _numbers(others, side, best_other, partner_other)
    ).tolist()
    matched = max(_mean(best, bags), _mean(best_other, [other.bag for other in others]))
    return matched, agreed, compared


def _numbers(
    parts: Sequence[_Sentence], other: _Side, best: F64, partner: NDArray[np.int64]
) -> tuple[float, float]:
    """How many of the numbers of sentences the other text has, of how many, by how alike the partners are.

    Only sentences whose partners have numbers, too, are asked; the number may then be anywhere in the other text.
    """
    agreed = compared = 0.0
    for part, likeness, place in zip(parts, best.tolist(), partner.tolist(), strict=True):
        fewer = min(len(part.numbers), len(other.sentences[place].numbers))
        if fewer:
            there = sum(other.said.agrees(number) is not None for number in part.numbers)
            agreed += likeness * min(fewer, there) / fewer
            compared += likeness
    return agreed, compared


def _holders(parts: Sequence[Bag]) -> dict[int, tuple[NDArray[np.int64], F64]]:
    """Of each word the sentences that have it, and its weight in them."""
    lists: dict[int, tuple[list[int], list[float]]] = {}
    for number, part in enumerate(parts):
        for word, weight in part.items():
            numbers, weights = lists.setdefault(word, ([], []))
            numbers.append(number)
            weights.append(weight)
    return {
        word: (np.array(numbers), np.array(weights)) for word, (numbers, weights) in sorted(lists.items())
    }


def _sizes(parts: Sequence[Bag]) -> F64:
    sizes = np.sqrt([sum(w * w for w in part.values()) for part in parts])
    return np.where(sizes > 0, sizes, 1.0)


def _mean(best: F64, parts: Sequence[Bag]) -> float:
    weights = np.array([sum(part.values()) for part in parts])
    total = float(weights.sum())
    # A sentence is as like itself as can be, whatever the last digits say.
    return round(float((best * weights).sum()) / total, 9) if total else 0.0


def _by_vectors(embedder: Embedder, text_a: str, text_b: str) -> float:
    rows = []
    for text in (text_a, text_b):
        said = [text[span.start : span.end] for span in sentences(text)]
        if not said:
            return 0.0
        rows.append(unit_rows(embedder, said))
    likeness = rows[0] @ rows[1].T
    return float(np.clip(max(likeness.max(axis=1).mean(), likeness.max(axis=0).mean()), 0.0, 1.0))
