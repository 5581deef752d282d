"""M14: texts whose words were replaced, by their stems in order: docs/explanation/meaning.md.

The signature is the sequence of the stems of a text (of concepts, with a thesaurus), small words included. Candidates
come from keys that survive replaced words: three content words in a row, and pairs of content words near each other.
Two texts are then aligned by position (`kernels.align_texts`): a stem that stands at the same place of both speaks for
a copy the more, the rarer it is, and one that does not agree speaks against it. Measured are the share of each text
that lies inside aligned passages (*aligned*), and that of the weight of its words that stand there unchanged (*kept*).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.model import Measures, Signature
from doublet.signatures.background import BACKGROUND_VERSION, Rates
from doublet.signatures.long_array import LongArray
from doublet.signatures.parameters import WordParameters, parameter
from doublet.signatures.protocol import BaseMethod, Limit, Statistics
from doublet.signatures.shingled import documents
from doublet.signatures.thesaurus import find_thesaurus
from doublet.text.tokens import TokenBatch, forget_words

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
F64 = NDArray[np.float64]

LEAST_WORDS = 8  #: fewer words cannot reach the score from which a path counts
# Where a reworded copy ends and a chance likeness begins. Set on copies with 60 % of the content words replaced, the
# first two on Russian ones, the sum on both languages; run benchmarks/meaning.py before changing them.
ALIGNED, KEPT, TOGETHER = 0.40, 0.20, 0.90
# Pages made from one template share some passages word for word and nothing else; a reworded copy lies on its source
# whole, or has words changed everywhere. Set on revisions of documentation pages.
WHOLE, SPARSE = 0.75, 0.60
# Where the template is most of the page, what tells is the word that the page is about: it stands in one and not in
# the other. In a reworded copy words that are repeated survive here and there, and the two keep unequal parts of their
# words, for a word replaced in many ways is many words. Set on the same revisions and on copies with 60 % of the
# content words replaced in both languages (benchmarks/meaning.py).
NAMED, TOPIC, EVEN = 0.25, 0.65, 0.75
REWORDED, SHARED = "reworded", "shared"  #: what an alignment shows: a reworded copy, or common passages alone
SURE_WORDS = 150  #: below, a reworded copy cannot be told from a chance likeness with certainty

_KEY_WORDS = 3  # content words in a row
_PAIR_WINDOW = 5
_PAIR_SAMPLE = 4  # one in so many pairs is a key
# What `kernels.align_texts` and the way to it take, in bytes: of a word in hand (as a stem, as a number, in the tables
# that number them); and of each thread for a distinct word, for a word of both texts, and for a point of theirs.
_HELD_BYTES, _KNOWN_BYTES, _ALIGNED_BYTES, _POINT_BYTES = 60, 40, 50, 26
# How many points two texts make at most, short of ones made up for it: what frequent words may add, and of all words
# twice as many for each word of the first text as 99.9 % of real pairs have.
_POINTS, _POINTS_OF_WORD = 1 << 20, 24
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, kw_only=True)
class MeaningParameters(WordParameters):
    """Of the methods that see through replaced words."""

    reduce: str = parameter(
        "stem",
        "make the forms of a word equal: by cutting endings (stem) or by a dictionary (lemma)",
        choices=("none", "stem", "lemma"),
    )
    aligned: float = parameter(
        ALIGNED,
        "similar when this share of one text lies inside aligned passages, and",
        above=0,
        high=1,
        signs=False,
    )
    kept: float = parameter(
        KEPT,
        "this share of the weight of its words stands there unchanged",
        low=0,
        high=1,
        signs=False,
    )
    together: float = parameter(
        TOGETHER,
        "and the two shares add up to this",
        low=0,
        high=2,
        signs=False,
    )
    thesaurus: str = parameter(
        "",
        "a MyThes file (.dat) whose synonyms count as one word; auto: those that are installed; empty: none",
    )


class Alignment(NamedTuple):
    """How two texts lie on each other: shares of a and of b inside aligned passages, and of the weight of their words
    that is unchanged there; and whether they are about the same."""

    aligned_a: float
    aligned_b: float
    kept_a: float
    kept_b: float
    topic: float = 1.0  #: of the words that one repeats most, how much the other has as often
    named: float = 1.0  #: the same of the one word that says most

    @property
    def strength(self) -> float:
        """How much of one text was found in the other, words and places together; 0 to 2."""
        return max(self.aligned_a + self.kept_a, self.aligned_b + self.kept_b)

    def kind(self, aligned: float = ALIGNED, kept: float = KEPT, together: float = TOGETHER) -> str:
        """`REWORDED` when one of the texts lies on the other as a copy would, `SHARED` when it only has passages in
        common with it or they are about different things, "" when not even that."""
        even = min(self.kept_a, self.kept_b) >= EVEN * max(self.kept_a, self.kept_b)
        other = self.named < NAMED and self.topic < TOPIC and even
        found = ""
        for lies, stays in ((self.aligned_a, self.kept_a), (self.aligned_b, self.kept_b)):
            if lies >= aligned and stays >= kept and lies + stays >= together:
                if not other and (lies >= WHOLE or stays <= SPARSE * lies):
                    return REWORDED
                found = SHARED
        return found


class Meaning(BaseMethod[MeaningParameters]):
    name = "meaning"
    title = "Meaning: words replaced"
    summary = (
        "Aligns the stems of two texts place by place. Finds a copy in which most words were replaced by synonyms, "
        "parts were moved, words put in or left out; free retelling is beyond it."
    )
    minimum = "eight words"
    shows_fragments = True
    parameters_type = MeaningParameters

    def __init__(self, parameters: MeaningParameters, statistics: Statistics | None = None) -> None:
        super().__init__(parameters, statistics)
        self.thesaurus = find_thesaurus(parameters.thesaurus)
        if self.thesaurus is not None:
            self.recipe = _with(self.recipe, thesaurus=self.thesaurus.fingerprint)
        self._rates = Rates()

    @property
    def key_settings(self) -> tuple[tuple[str, Any], ...]:
        return (("background", BACKGROUND_VERSION),)

    def sequences(self, stems: U64) -> U64:
        """The same stems in their order, or the concepts they stand for."""
        return self.thesaurus.concepts(stems) if self.thesaurus is not None else stems

    def _sign_batch(self, batch: TokenBatch) -> list[Signature | None]:
        words = self.sequences(batch.hashes)
        return [
            Signature(self.recipe, words[start:end].copy(), end - start)
            if end - start >= LEAST_WORDS
            else None
            for start, end in documents(batch.offsets)
        ]

    def _compare(self, a: Signature, b: Signature) -> Measures:
        if np.array_equal(a.values, b.values):  # however often it repeats itself, which makes no path
            return self.judge(Alignment(1.0, 1.0, 1.0, 1.0), len(a.values), len(b.values))
        return self.judge(self.align([a.values, b.values], [(0, 1)])[0], len(a.values), len(b.values))

    def judge(self, found: Alignment, words_a: int, words_b: int) -> Measures:
        like = (found.aligned_a * words_a + found.aligned_b * words_b) / (words_a + words_b)
        limits = self.parameters
        similar = found.kind(limits.aligned, limits.kept, limits.together) == REWORDED
        return Measures(
            like,
            (found.aligned_a, found.aligned_b),
            similar,
            "meaning",
            {
                "aligned": max(found.aligned_a, found.aligned_b),
                "kept": max(found.kept_a, found.kept_b),
                "together": found.strength,
                "topic": found.topic,
                "named": found.named,
            },
        )

    def align(
        self,
        texts: Sequence[U64],
        pairs: Sequence[tuple[int, int]],
        *,
        rates: Rates | None = None,
        threads: int = 1,
    ) -> list[Alignment]:
        """Alignments of *pairs* of *texts* (sequences of stems, as in signatures)."""
        return align(texts, pairs, rates or self._rates, threads=threads)

    def paths(self, a: U64, b: U64) -> list[tuple[int, int, int, int]]:
        """Where two sequences of stems lie on each other, in order of a: half-open ranges in a and in b."""
        words = np.concatenate([a, b])
        distinct, dense = kernels.number_words(words)
        offsets = np.array([0, len(a), len(words)], np.uint64)
        turned = _later(a, b)
        left, right = (np.array([side], np.uint32) for side in ((1, 0) if turned else (0, 1)))
        columns = kernels.align_texts(dense, offsets, *self._rates.of(distinct), left, right)[2:]
        rows = np.stack(columns, axis=1)[:, [2, 3, 0, 1] if turned else [0, 1, 2, 3]]
        return sorted(map(tuple, rows.tolist()))

    def keys_of(self, stems: U64) -> U64:
        return key_values(stems, np.array([0, len(stems)], np.uint64))[0]

    def _keys(self, signature: Signature) -> U64:
        return self.keys_of(signature.values)


class Sequences:
    """Texts added in batches, as sequences of stems; then pairs of them can be aligned.

    Within a limit of memory the sequences beyond it lie in a file, and the pairs are aligned some at a time.
    """

    def __init__(self, meaning: Meaning, within: Limit | None = None) -> None:
        self._meaning, self._within = meaning, within
        share = (
            None if within is None else within.memory_bytes // 3
        )  # a third each: here, at work, words remembered
        self._share = share
        # Of what there is at work: for the words in hand, and for what the threads make of them.
        self._half = share and share // 2
        self._stems = LongArray(np.uint64, share, within and within.folder)
        self._ends: list[NDArray[np.int64]] = [np.zeros(1, np.int64)]

    def add(self, texts: Sequence[str]) -> None:
        words = self._meaning.canon.plain_and_words(texts)[1]
        self._ends.append(words.offsets[1:].astype(np.int64) + len(self._stems))
        self._stems.add(self._meaning.sequences(words.hashes[words.ids]))
        if self._share is not None:
            forget_words(self._share)

    def align(self, left: U32, right: U32, rates: Rates, *, threads: int = 1) -> list[Alignment]:
        """Alignments of the pairs of texts (numbered as they came); which of the two is left makes no difference."""
        bounds = np.concatenate(self._ends)
        lengths = np.diff(bounds)
        out: list[Alignment] = []
        first = 0
        while first < len(left):
            last = self._some(left, right, lengths, first)
            wanted, places = np.unique(
                np.concatenate([left[first:last], right[first:last]]), return_inverse=True
            )
            texts = [self._stems.read(int(bounds[t]), int(bounds[t + 1])) for t in wanted.tolist()]
            half = last - first
            pairs = list(zip(places[:half].tolist(), places[half:].tolist(), strict=True))
            out += align(texts, pairs, rates, threads=threads, memory_bytes=self._half)
            first = last
        return out

    def close(self) -> None:
        self._stems.close()

    def _some(self, left: U32, right: U32, lengths: NDArray[np.int64], first: int) -> int:
        """The end of the pairs from *first* on whose texts can be in hand at once."""
        if self._half is None:
            return len(left)
        most = max(1, self._half // _HELD_BYTES)
        words = np.cumsum(lengths[left[first : first + most]] + lengths[right[first : first + most]])
        return first + max(1, int(np.searchsorted(words, most)))


def align(
    texts: Sequence[U64],
    pairs: Sequence[tuple[int, int]],
    rates: Rates,
    *,
    threads: int = 1,
    memory_bytes: int | None = None,
) -> list[Alignment]:
    """Of two texts the shorter one is walked (of equally long ones the smaller): the order makes no difference.

    Of the *threads* no more are used than *memory_bytes* have room for, but one.
    """
    if not pairs:
        return []
    words = np.concatenate(texts) if len(texts) else np.zeros(0, np.uint64)
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.uint64)
    distinct, dense = kernels.number_words(words)
    gains, masses = rates.of(distinct)
    turned = [_later(texts[a], texts[b]) for a, b in pairs]
    left = np.array([b if turn else a for (a, b), turn in zip(pairs, turned, strict=True)], np.uint32)
    right = np.array([a if turn else b for (a, b), turn in zip(pairs, turned, strict=True)], np.uint32)
    if memory_bytes is not None:
        lengths = np.diff(offsets).astype(np.int64)
        threads = min(threads, _room(lengths, left, right, len(distinct), memory_bytes))
    rows = kernels.align_texts(dense, offsets, gains, masses, left, right, threads)[0].tolist()
    return [
        Alignment(row[1], row[0], row[3], row[2], row[4], row[5]) if turn else Alignment(*row)
        for row, turn in zip(rows, turned, strict=True)
    ]


def _room(lengths: NDArray[np.int64], left: U32, right: U32, distinct: int, memory_bytes: int) -> int:
    """How many threads can align pairs of texts of these lengths at once."""
    n, m = lengths[left], lengths[right]
    points = np.minimum(n.astype(np.float64) * m, _POINTS + _POINTS_OF_WORD * n)
    most = float((_ALIGNED_BYTES * (n + m) + _POINT_BYTES * points).max())
    return max(1, int(memory_bytes / (most + _KNOWN_BYTES * distinct + 1)))


def _later(a: U64, b: U64) -> bool:
    if len(a) != len(b):
        return len(a) > len(b)
    return a.tobytes() > b.tobytes()


def key_values(words: U64, offsets: U64, *, sample: int = 1) -> tuple[U64, U64]:
    """Keys of texts given as sequences of stems, each once a text: values and offsets. *sample*: one in so many."""
    distinct, numbers = kernels.number_words(words)
    content = (Rates().of(distinct)[1] > 0)[numbers]
    ends = np.concatenate([[0], np.cumsum(content)])[offsets.astype(np.int64)]
    chosen = words[content]
    starts = ends.astype(np.uint64)
    runs, run_ends = kernels.shingle(chosen, starts, _KEY_WORDS)
    run_owners = np.repeat(np.arange(len(starts) - 1), np.diff(run_ends).astype(np.int64))
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(ends))
    parts, holders = [runs], [run_owners]
    for step in range(1, _PAIR_WINDOW):
        if len(chosen) <= step:
            break
        same = owners[step:] == owners[:-step]
        a, b = chosen[:-step][same], chosen[step:][same]
        value = (np.minimum(a, b) * _FACTOR) ^ (np.maximum(a, b) >> np.uint64(1))
        value *= _FACTOR
        value ^= value >> np.uint64(29)
        kept = (value % np.uint64(_PAIR_SAMPLE)) == 0
        parts.append(value[kept])
        holders.append(owners[step:][same][kept])
    values, who = np.concatenate(parts), np.concatenate(holders)
    if sample > 1:
        some = (values >> np.uint64(7)) % np.uint64(sample) == 0
        values, who = values[some], who[some]
    order = np.lexsort((values, who))
    values, who = values[order], who[order]
    new = np.ones(len(values), np.bool_)
    new[1:] = (values[1:] != values[:-1]) | (who[1:] != who[:-1])
    values, who = values[new], who[new]
    return values, np.searchsorted(who, np.arange(len(starts))).astype(np.uint64)


def _with(recipe: Any, **more: Any) -> Any:
    from dataclasses import replace

    parameters = {**dict(recipe.parameters), **more}
    return replace(recipe, parameters=tuple(sorted(parameters.items())))
