"""M13: pivot words. A few thousand words chosen to cover a collection; a text is the binary vector of those
it uses often.

`PivotWords.choose` picks the words and for each a threshold: a frequency (relative to the most frequent word
of the text) near which few documents lie, so that a small change of a text seldom turns its bit. The
signature holds the bits, 64 to a number; its size is the number of bits that are set. Texts with equal
vectors are similar. How the words are chosen is explained in docs/explanation/methods.md.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from doublet.kernels.data import TEXT_VERSION
from doublet.model import Measures, Signature
from doublet.signatures import encode
from doublet.signatures.mixing import combine, mix
from doublet.signatures.parameters import LexicalParameters, parameter
from doublet.signatures.protocol import BaseMethod
from doublet.signatures.statistics import count_words
from doublet.text.stopwords import STOP_WORDS_VERSION
from doublet.text.tokens import Canon, TokenBatch

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

STEPS = 40  #: thresholds are multiples of 1/40
_FLOORS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)  # least quality of a word, tried from stage to stage
_MAY_LACK = 0.02  # a quality is good enough when its words give this much less than the full cover
_KIND = b"DBLP"
_VERSION = 1
_WHAT = "list of pivot words"


@dataclass(frozen=True, kw_only=True)
class PivotParameters(LexicalParameters):
    """Of pivot words."""

    pivots: int = parameter(3000, "at most so many words are chosen", low=1, high=100_000, signs=False)
    # Eight: fewer take unlike texts for equal, more find less; figures in docs/explanation/methods.md. Chosen on
    # the revisions of Russian documentation pages: measure on other texts before changing it.
    depth: int = parameter(
        8, "words are chosen until so many of them cover every document", low=1, high=1000, signs=False
    )
    neighbourhood: float = parameter(
        0.05,
        "documents within so much of a threshold count against it",
        low=1 / STEPS,
        high=0.25,
        signs=False,
    )
    sample: int = parameter(
        20_000, "documents that the words are chosen from, at most", low=1, high=10_000_000, signs=False
    )
    min_pivots: int = parameter(
        3, "no signature when a text uses fewer pivot words often enough", low=1, high=100_000
    )


class PivotWords:
    """The chosen words by the alphabet, and for each its threshold in steps of 1/40. Does not change."""

    def __init__(
        self, words: Sequence[str], steps: Sequence[int], *, canon: Canon, settings: Mapping[str, Any]
    ) -> None:
        self.words = tuple(words)
        self.steps = np.array(steps, np.int64)
        self.numbers = {word: number for number, word in enumerate(self.words)}
        self._canon = canon
        self._settings = dict(settings)

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"PivotWords({len(self)} words)"

    @property
    def canon(self) -> Canon:
        return self._canon

    @property
    def fixed(self) -> Mapping[str, Any]:
        return {**asdict(self._canon), **self._settings}

    def fingerprint(self) -> str:
        return hashlib.blake2b(self.to_bytes(), digest_size=16).hexdigest()

    @classmethod
    def choose(cls, parameters: PivotParameters, batches: Iterable[TokenBatch]) -> PivotWords:
        """Pick the words from the documents of *batches*; the same for any order of the documents."""
        sample = _Sample(parameters.sample)
        for batch in batches:
            sample.add(batch)
        chosen = _Choice(sample, parameters).run()
        settings = {
            name: getattr(parameters, name) for name in ("pivots", "depth", "neighbourhood", "sample")
        }
        return cls(
            sorted(chosen),
            [chosen[word] for word in sorted(chosen)],
            canon=parameters.canon,
            settings=settings,
        )

    def to_bytes(self) -> bytes:
        header = {
            "canon": asdict(self._canon),
            "settings": self._settings,
            "stop_words_version": STOP_WORDS_VERSION,
            "text_version": TEXT_VERSION,
            "words": self.words,
        }
        spelled = json.dumps(header, sort_keys=True).encode()
        return encode.seal(_KIND, _VERSION, spelled, self.steps.astype("<i8").tobytes())

    @classmethod
    def from_bytes(cls, data: bytes) -> PivotWords:
        """Raises `SignatureDamaged`, `SignatureTooNew`, or `SignatureError` for words of another canonical
        form."""
        header, content = encode.unseal(_KIND, _VERSION, data, what=_WHAT)
        with encode.damage(_WHAT):
            facts = json.loads(header)
            canon = Canon(**{**facts["canon"], "extra_stop_words": tuple(facts["canon"]["extra_stop_words"])})
            encode.require_text_version(
                facts["text_version"], facts["stop_words_version"], canon.stop_words, what=_WHAT
            )
            steps = np.frombuffer(content, "<i8", len(facts["words"])).tolist()
            return cls(facts["words"], steps, canon=canon, settings=facts["settings"])


class Pivot(BaseMethod[PivotParameters]):
    name = "pivot"
    title = "Pivot words"
    summary = (
        "A binary vector of some thousand words that cover the collection: which of them the text uses "
        "often. Fixed size, does not mind word order or rare words; works best on long texts of one "
        "collection."
    )
    minimum = "`min_pivots` pivot words used often enough"
    needs_statistics: ClassVar[bool] = True
    statistics_type: ClassVar[type] = PivotWords
    parameters_type = PivotParameters

    def __init__(self, parameters: PivotParameters, statistics: PivotWords) -> None:
        super().__init__(parameters, statistics)
        self.words = statistics

    @classmethod
    def gather(cls, parameters: Any, batches: Iterable[TokenBatch]) -> PivotWords:
        return PivotWords.choose(parameters, batches)

    def _sign_batch(self, batch: TokenBatch) -> list[Signature | None]:
        rows = count_words(batch)
        table = np.zeros((len(batch), (len(self.words) + 63) // 64), np.uint64)
        number = np.full(len(batch.vocabulary) + 1, -1, np.int64)
        used = np.unique(rows.ids)
        number[used] = [self.words.numbers.get(batch.vocabulary[i], -1) for i in used.tolist()]
        pivot = number[rows.ids]
        reached = np.zeros(len(rows.ids), np.bool_)
        known = pivot >= 0
        # In whole numbers: a frequency exactly at the threshold counts on every machine.
        largest = _largest(rows.counts, rows.offsets)[rows.texts]
        reached[known] = rows.counts[known] * STEPS >= self.words.steps[pivot[known]] * largest[known]
        owners, bits = rows.texts[reached], pivot[reached].astype(np.uint64)
        np.bitwise_or.at(table, (owners, bits >> np.uint64(6)), np.uint64(1) << (bits & np.uint64(63)))
        sizes = np.bincount(owners, minlength=len(batch)).tolist()
        least = self.parameters.min_pivots
        return [
            Signature(self.recipe, table[i].copy(), size) if size >= least else None
            for i, size in enumerate(sizes)
        ]

    def _compare(self, a: Signature, b: Signature) -> Measures:
        common, either = _ones(a.values & b.values), _ones(a.values | b.values)
        return Measures(common / either, None, common == either)

    def _keys(self, signature: Signature) -> U64:
        return combine(signature.values[np.newaxis, :], np.zeros(1, np.uint64))


def _ones(values: U64) -> int:
    return int(np.unpackbits(values.view(np.uint8)).sum())


def _largest(counts: I64, offsets: I64) -> I64:
    """Largest count of each text; 0 for one without words."""
    out = np.zeros(len(offsets) - 1, np.int64)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        out[filled] = np.maximum.reduceat(counts, offsets[filled])
    return out


class _Sample:
    """Documents to choose from: of too many those with the smallest hash of their content, each content
    once."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows: dict[str, int] = {}
        self.documents: dict[
            int, tuple[I64, I64]
        ] = {}  #: hash of the content → rows of its words, their levels

    def add(self, batch: TokenBatch) -> None:
        counted = count_words(batch)
        if not len(counted.ids):
            return
        used, place = np.unique(counted.ids, return_inverse=True)
        known = self.rows
        rows = np.array([known.setdefault(batch.vocabulary[i], len(known)) for i in used.tolist()], np.int64)[
            place
        ]
        levels = counted.counts * STEPS // _largest(counted.counts, counted.offsets)[counted.texts]
        hashes = np.zeros(len(batch.vocabulary), np.uint64)
        hashes[batch.ids] = batch.hashes
        marks = mix(hashes[counted.ids] ^ mix(counted.counts.astype(np.uint64)))
        for start, end in zip(counted.offsets[:-1].tolist(), counted.offsets[1:].tolist(), strict=True):
            if end > start:
                content = int(marks[start:end].sum(dtype=np.uint64))
                self.documents[content] = (rows[start:end], levels[start:end])
        if len(self.documents) > 2 * self.size:
            self.shrink()

    def shrink(self) -> None:
        if len(self.documents) > self.size:
            self.documents = {mark: self.documents[mark] for mark in sorted(self.documents)[: self.size]}


class _Choice:
    """The choice of pivot words: full cover with words of the highest quality that allows it, then without
    the needless.

    Level of a word in a document: its frequency in steps. At threshold t the documents of level t and more
    are covered; those within *near* steps of t are unsure. Quality of (word, t) = share of sure ones among
    the covered and unsure ones.
    """

    def __init__(self, sample: _Sample, parameters: PivotParameters) -> None:
        sample.shrink()
        self.words = list(sample.rows)
        self.parameters = parameters
        documents = [sample.documents[mark] for mark in sorted(sample.documents)]
        self.needed = np.full(
            len(documents), parameters.depth, np.int64
        )  #: words that a document still lacks
        owners = np.repeat(np.arange(len(documents)), [len(rows) for rows, _ in documents])
        rows = np.concatenate([rows for rows, _ in documents]) if documents else np.zeros(0, np.int64)
        levels = np.concatenate([levels for _, levels in documents]) if documents else np.zeros(0, np.int64)
        order = np.lexsort((owners, -levels, rows))
        self.documents = owners[order]  #: of each word in turn, highest level first
        self.starts = np.searchsorted(rows[order], np.arange(len(self.words) + 1))
        table = np.bincount(rows * (STEPS + 1) + levels, minlength=len(self.words) * (STEPS + 1))
        reversed_sums = np.cumsum(table.reshape(-1, STEPS + 1)[:, ::-1], axis=1)
        near = max(1, round(parameters.neighbourhood * STEPS))
        padded = np.pad(reversed_sums[:, ::-1], ((0, 0), (0, near)))
        # Thresholds from near + 1 on: below, a document without the word would be unsure as well.
        self.first = near + 1
        self.covered = padded[:, self.first : STEPS + 1]  #: by word and threshold
        sure = padded[:, self.first + near : STEPS + 1 + near]
        unsure = padded[:, self.first - near : STEPS + 1 - near]
        self.quality = np.where(self.covered > 0, sure / np.maximum(unsure, 1), 0.0)

    def run(self) -> dict[str, int]:
        """Threshold of each chosen word."""
        chosen: dict[int, int] = {}
        floors = list(_FLOORS)
        while floors:
            chosen.clear()
            self.needed[:] = self.parameters.depth
            self._cover(chosen, floors.pop(0))
            if self._lacking() <= _MAY_LACK * self.parameters.depth * len(self.needed):
                break
        for floor in floors:  # the few documents that are hard to cover get worse words
            if not self._lacking():
                break
            self._drop(chosen)
            self._cover(chosen, floor)
        self._drop(chosen)
        return {self.words[word]: column + self.first for word, column in chosen.items()}

    def _lacking(self) -> int:
        return int(np.maximum(self.needed, 0).sum())

    def _cover(self, chosen: dict[int, int], floor: float) -> None:
        """First phase: words of at least this quality, those first that cover most of what still lacks
        words."""
        good = self.quality >= floor
        columns = np.where(good.any(axis=1), good.argmax(axis=1), -1)  # the lowest threshold covers most
        heap = [
            (-int(self.covered[word, columns[word]]), self.words[word], word)
            for word in np.flatnonzero(columns >= 0).tolist()
            if word not in chosen
        ]
        heapq.heapify(heap)
        while heap and len(chosen) < self.parameters.pivots:
            promised, spelling, word = heapq.heappop(heap)
            covered = self._documents(word, int(columns[word]))
            gain = int(np.count_nonzero(self.needed[covered] > 0))
            if not gain:
                continue
            if gain < -promised:  # less than when it was put in: look again in its new place
                heapq.heappush(heap, (-gain, spelling, word))
                continue
            chosen[word] = int(columns[word])
            self.needed[covered] -= 1

    def _drop(self, chosen: dict[int, int]) -> None:
        """Second phase: the same cover with better words: the worst that no document needs go first."""
        for word in sorted(chosen, key=lambda word: (self.quality[word, chosen[word]], self.words[word])):
            covered = self._documents(word, chosen[word])
            if (self.needed[covered] < 0).all():
                self.needed[covered] += 1
                del chosen[word]

    def _documents(self, word: int, column: int) -> I64:
        start = int(self.starts[word])
        return self.documents[start : start + int(self.covered[word, column])]
