"""Do two texts tell the same story? Another question than whether one was copied from the other (M14).

News of one event share names, numbers and places even when no sentence was copied, and they say what happened first.
So three things decide, by stems, rare ones weighing more: how alike the openings are; whether what one title says is
anywhere in the other text, however that opens; and whether the names and numbers of one opening are in the other text,
which tells serial reports apart (rates, weather, matches). Besides, sentences of one text are matched with those of the
other in any order, to show how much of the rest agrees. With an embedding model of the user
(`signatures.embedding`) sentences are compared by their vectors as well. Explained in docs/explanation/meaning.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import require_number, require_text
from doublet.signatures.background import Rates
from doublet.signatures.embedding import require_embedder, unit_rows
from doublet.text.sentences import sentences
from doublet.text.tokens import Canon

if TYPE_CHECKING:
    from doublet.signatures.embedding import Embedder

U64 = NDArray[np.uint64]
F64 = NDArray[np.float64]

OPENING = 4  #: sentences: the title and three more
#: Halves of the labelled pairs (tune and choose of benchmarks/unseen.py) choose 0.44 on the average, all labelled pairs
#: at hand 0.45; at 0.40 and 0.48 F1 is lower by about .01.
SAME_STORY = 0.45
SENTENCE_WORDS = 4  #: shorter sentences say too little to be matched
ROWS = 1024  #: sentences that are matched at once


@dataclass(frozen=True, slots=True)
class Story:
    """*score* decides; the rest says what it is made of. All are 0 to 1."""

    score: float
    same: bool
    whole: float  #: cosine of the weighted words of the openings
    titles: float  #: share of the weight of each title that the other text has; the mean of both
    names: (
        float | None
    )  #: the same for names and numbers of the openings; the worse of both; None: there are none
    shared: float  #: share of the weight of the words of the shorter opening that the other has too
    sentences: float  #: how well the sentences of one text find a partner in the other
    vectors: float | None = None  #: the same by the embedding model, where there is one
    threshold: float = SAME_STORY  #: of the score

    def to_dict(self) -> dict[str, Any]:
        return {
            "score": self.score,
            "same": self.same,
            "whole": self.whole,
            "titles": self.titles,
            "names": self.names,
            "shared": self.shared,
            "sentences": self.sentences,
            "vectors": self.vectors,
            "threshold": self.threshold,
        }


def same_story(
    text_a: str, text_b: str, *, threshold: float = SAME_STORY, embedder: Embedder | None = None
) -> Story:
    """Compare two texts (put a title in front of its text). A text without content words tells no story: 0."""
    require_text("text_a", text_a)
    require_text("text_b", text_b)
    require_number("threshold", threshold, 0, 1)
    require_embedder(embedder)
    canon = Canon(reduce="stem")
    batch = canon.tokens([text_a, text_b])
    weights = _weights(batch.hashes)
    words = [batch.hashes[batch.slice(side)] for side in (0, 1)]
    starts = [batch.starts[batch.slice(side)] for side in (0, 1)]
    firsts = [_first_words(text, starts[side]) for side, text in enumerate((text_a, text_b))]
    texts = [_sentence_words(firsts[side], words[side]) for side in (0, 1)]
    openings = [_bag(np.concatenate([np.zeros(0, np.uint64), *parts[:OPENING]]), weights) for parts in texts]
    whole, shared = _cosine(*openings), _shared(*openings)
    every = [{word for word in side.tolist() if word in weights} for side in words]
    heads = [_bag(parts[0], weights) if parts else {} for parts in texts]
    titles = (_found(heads[0], every[1]) + _found(heads[1], every[0])) / 2.0 if all(heads) else 0.0
    named = [
        _named(text, starts[side], words[side], firsts[side], openings[side])
        for side, text in enumerate((text_a, text_b))
    ]
    names = min(
        (_found(bag, every[1 - side]) for side, bag in enumerate(named) if bag and all(openings)),
        default=None,
    )
    a, b = ([_bag(part, weights) for part in parts if len(part) >= SENTENCE_WORDS] for parts in texts)
    matched = _partners(a, b)
    score = (whole + titles) / 2.0
    if names is not None:  # where they are others, alike wording says little
        score = float(np.sqrt(score * names))
    vectors = None
    if embedder is not None:
        vectors = _by_vectors(embedder, text_a, text_b)
        score = (score + vectors) / 2.0
    return Story(score, score >= threshold, whole, titles, names, shared, matched, vectors, threshold)


Bag = dict[int, float]


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


def _found(bag: Bag, there: set[int]) -> float:
    """Share of the weight of the words that are in the other text."""
    total = sum(bag.values())
    return sum(weight for word, weight in sorted(bag.items()) if word in there) / total if total else 0.0


def _named(text: str, starts: NDArray[np.uint32], words: U64, firsts: NDArray[np.int64], opening: Bag) -> Bag:
    """The words of an opening that are numbers, or have a capital letter where no sentence begins."""
    opened = set(firsts.tolist())
    out: Bag = {}
    for number, (start, word) in enumerate(zip(starts.tolist(), words.tolist(), strict=True)):
        if word in opening and (text[start].isdigit() or (text[start].isupper() and number not in opened)):
            out[word] = opening[word]
    return out


def _first_words(text: str, starts: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The number of the first word of each sentence."""
    return np.searchsorted(starts, [span.start for span in sentences(text)]).astype(np.int64)


def _sentence_words(firsts: NDArray[np.int64], words: U64) -> list[U64]:
    if not len(firsts):
        return []
    lasts = np.append(firsts[1:], len(words))
    return [
        words[first:last] for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True) if last > first
    ]


def _partners(parts: Sequence[Bag], others: Sequence[Bag]) -> float:
    """Mean of the best likeness of each sentence, weighted by what the sentence says; order makes no difference. Of the
    two texts that one counts whose sentences find better partners."""
    if not parts or not others:
        return 0.0
    best, best_other = np.zeros(len(parts)), np.zeros(len(others))
    there = _holders(others)
    sizes, other_sizes = _sizes(parts), _sizes(others)
    for first in range(0, len(parts), ROWS):
        products = np.zeros((len(parts[first : first + ROWS]), len(others)))
        for word, (rows, weights) in _holders(parts[first : first + ROWS]).items():
            if word in there:
                columns, other_weights = there[word]
                products[rows[:, None], columns] += weights[:, None] * other_weights
        products /= sizes[first : first + ROWS, None] * other_sizes
        best[first : first + ROWS] = products.max(axis=1)
        best_other = np.maximum(best_other, products.max(axis=0))
    return max(_mean(best, parts), _mean(best_other, others))


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
