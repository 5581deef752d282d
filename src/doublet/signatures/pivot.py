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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from doublet.errors import MemoryTooSmall
from doublet.kernels.data import TEXT_VERSION
from doublet.model import Measures, Signature
from doublet.signatures import encode
from doublet.signatures.counting import WordCounter, find_keys
from doublet.signatures.long_array import LongArray
from doublet.signatures.mixing import combine, mix
from doublet.signatures.parameters import LexicalParameters, parameter
from doublet.signatures.protocol import BaseMethod, Limit
from doublet.signatures.statistics import WordCounts, count_words
from doublet.text.stopwords import STOP_WORDS_VERSION
from doublet.text.tokens import Canon, TokenBatch, forget_words

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

STEPS = 40  #: thresholds are multiples of 1/40
_FLOORS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)  # least quality of a word, tried from stage to stage
_MAY_LACK = 0.02  # a quality is good enough when its words give this much less than the full cover
_SAMPLE_SHARE = 0.3  # of the memory, for the documents to choose from, and then for those of each word
_WORD_BYTES = 130  # of a word of these documents: its key, rank, thresholds, and place in a heap
_AT_ONCE, _SORTED_AT_ONCE = 1 << 17, 1 << 19  # words of documents that are looked at, or sorted, at a time
_WORDS_AT_ONCE = 1 << 11  # words whose thresholds are judged at a time
_WASTED = 2_000  # looks at words that cover less than was thought before all of them are counted again
_DOCUMENT_BITS, _LEVEL_BITS = 24, 6
_RANK_BITS = 32
_RANK_MASK, _MOST = (1 << _RANK_BITS) - 1, 1 << 30
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
    def choose(
        cls, parameters: PivotParameters, batches: Iterable[TokenBatch], within: Limit | None = None
    ) -> PivotWords:
        """Pick the words from the documents of *batches*; the same for any order of the documents, and for any limit
        of memory. Raises `MemoryTooSmall`, and `OSError` for a full disk."""
        counter = WordCounter(parameters.canon, within and within.memory_bytes, within and within.folder)
        sample = _Sample(parameters.sample, within)
        choice = _Choice(counter, parameters, within)
        try:
            for batch in batches:
                sample.add(batch, *counter.add(batch))
            choice.prepare(sample)
            chosen = choice.run()
        finally:
            counter.close()
            sample.close()
            choice.close()
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

    @classmethod
    def gather_within(cls, parameters: Any, batches: Iterable[TokenBatch], within: Limit) -> PivotWords:
        return PivotWords.choose(parameters, batches, within)

    @classmethod
    def read_statistics(cls, data: bytes) -> PivotWords:
        return PivotWords.from_bytes(data)

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

    def key_rows(self, signatures: Sequence[Signature]) -> U64 | None:
        values = np.stack([signature.values for signature in signatures])
        return combine(values, np.zeros(len(values), np.uint64))[:, np.newaxis]


def _ones(values: U64) -> int:
    return int(np.unpackbits(values.view(np.uint8)).sum())


def _largest(counts: I64, offsets: I64) -> I64:
    """Largest count of each text; 0 for one without words."""
    out = np.zeros(len(offsets) - 1, np.int64)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        out[filled] = np.maximum.reduceat(counts, offsets[filled])
    return out


def content_hashes(batch: TokenBatch, counted: WordCounts) -> U64:
    """A number for each document that has words, made of these and how often they stand there, in any order."""
    filled = np.flatnonzero(np.diff(counted.offsets))
    if not len(filled):
        return np.zeros(0, np.uint64)
    hashes = np.zeros(len(batch.vocabulary), np.uint64)
    hashes[batch.ids] = batch.hashes
    marks = mix(hashes[counted.ids] ^ mix(counted.counts.astype(np.uint64)))
    return np.add.reduceat(marks, counted.offsets[filled])


class _Sample:
    """Documents to choose from: of too many those with the smallest hash of their content, each content once.

    A document is its words (their keys) and their levels. The level of a word is its frequency in steps, rounded down;
    words of level 0 are left out, for they are below every threshold.
    """

    def __init__(self, size: int, within: Limit | None) -> None:
        self._size = size
        memory, folder = (
            (None, None) if within is None else (int(within.memory_bytes * _SAMPLE_SHARE), within.folder)
        )
        self.keys = LongArray(np.uint64, memory and memory * 8 // 9, folder)
        self.levels = LongArray(np.uint8, memory and memory // 9, folder)
        self.contents: U64 = np.zeros(0, np.uint64)  #: a hash for each document
        self.starts: I64 = np.zeros(0, np.int64)  #: of its words among *keys* and *levels*
        self.lengths: I64 = np.zeros(0, np.int64)
        self._waiting: list[tuple[U64, I64, I64]] = []
        self._documents = 0
        self._largest: int | None = None  # contents from here on are too large

    def add(self, batch: TokenBatch, counted: WordCounts, keys: U64) -> None:
        filled = np.flatnonzero(np.diff(counted.offsets))
        if not len(filled):
            return
        levels = counted.counts * STEPS // _largest(counted.counts, counted.offsets)[counted.texts]
        contents = content_hashes(batch, counted)
        if self._largest is not None:
            small = contents < np.uint64(self._largest)
            filled, contents = filled[small], contents[small]
        taken = np.zeros(len(batch), np.bool_)
        taken[filled] = True
        used = taken[counted.texts] & (levels > 0)
        lengths = np.bincount(counted.texts[used], minlength=len(batch))[filled]
        starts = len(self.keys) + np.cumsum(lengths) - lengths
        self.keys.add(keys[used])
        self.levels.add(levels[used].astype(np.uint8))
        self._waiting.append((contents, starts, lengths))
        self._documents += len(contents)
        if self._documents > 2 * self._size:
            self.shrink()

    def shrink(self) -> None:
        """Leave out what is there twice, and what is too large."""
        every = [(self.contents, self.starts, self.lengths), *self._waiting]
        self._waiting = []
        contents, starts, lengths = (np.concatenate([part[i] for part in every]) for i in range(3))
        _, first = np.unique(contents, return_index=True)
        first = first[: self._size]
        if len(first) == self._size:
            self._largest = int(contents[first[-1]])
        # In the order of the input: they are read from beginning to end.
        first.sort()
        self.contents, self.starts, self.lengths = contents[first], starts[first], lengths[first]
        self._documents = len(first)

    def close(self) -> None:
        self.keys.close()
        self.levels.close()

    def blocks(self) -> Iterator[tuple[U64, NDArray[np.uint8]]]:
        """Key and level of every word of every document, some documents at a time."""
        ends = self.starts + self.lengths
        first = 0
        while first < len(self.starts):
            # Documents that lie close together are read in one piece; what lies between them is left out.
            last = int(np.searchsorted(ends, self.starts[first] + _AT_ONCE))
            last = max(first + 1, min(last, len(self.starts)))
            low, high = int(self.starts[first]), int(ends[last - 1])
            lengths = self.lengths[first:last]
            before = np.cumsum(lengths) - lengths
            places = np.repeat(self.starts[first:last] - low - before, lengths) + np.arange(
                int(lengths.sum())
            )
            yield self.keys.read(low, high)[places], self.levels.read(low, high)[places]
            first = last


class _Choice:
    """The choice of pivot words: full cover with words of the highest quality that allows it, then without
    the needless.

    Level of a word in a document: its frequency in steps. At threshold t the documents of level t and more
    are covered; those within *near* steps of t are unsure. Quality of (word, t) = share of sure ones among
    the covered and unsure ones.
    """

    def __init__(self, counter: WordCounter, parameters: PivotParameters, within: Limit | None) -> None:
        self.parameters = parameters
        self._counter, self._within = counter, within
        self._near = max(1, round(parameters.neighbourhood * STEPS))
        # Thresholds from near + 1 on: below, a document without the word would be unsure as well.
        self.first = self._near + 1
        self._numbers, self._own_levels = self._arrays()  # words of each document in turn
        self.documents, self.levels = self._arrays()  #: of each word in turn, highest level first

    def _arrays(self) -> tuple[LongArray[np.uint32], LongArray[np.uint8]]:
        memory, folder = None, None
        if self._within is not None:
            memory, folder = int(self._within.memory_bytes * _SAMPLE_SHARE), self._within.folder
        return LongArray(np.uint32, memory and memory * 4 // 5, folder), LongArray(
            np.uint8, memory and memory // 5, folder
        )

    def close(self) -> None:
        for array in (self._numbers, self._own_levels, self.documents, self.levels):
            array.close()

    def prepare(self, sample: _Sample) -> None:
        """Turn the documents with their words into words with their documents. The sample is given up."""
        sample.shrink()
        if self._within is not None:  # the vocabulary takes memory that is wanted here
            self._counter.end_run()
            forget_words()
        self.needed = np.full(
            len(sample.contents), self.parameters.depth, np.int64
        )  #: words that a document still lacks
        self.keys = self._distinct(sample)
        for keys, levels in sample.blocks():
            self._numbers.add(np.searchsorted(self.keys, keys).astype(np.uint32))
            self._own_levels.add(levels)
        sample.close()
        self.ranks, self._by_rank = self._alphabet()
        self.starts = self._sort(sample.lengths)
        self._columns, self._covered = self._thresholds()

    def run(self) -> dict[str, int]:
        """Threshold of each chosen word."""
        chosen: dict[int, int] = {}
        floors = list(range(len(_FLOORS)))
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
        spelled = self._spelled(sorted(chosen))
        return {spelled[word]: column + self.first for word, column in chosen.items()}

    def _distinct(self, sample: _Sample) -> U64:
        """Keys of the words of all documents, sorted: the number of a word is its place here."""
        within = self._within
        found: U64 = np.zeros(0, np.uint64)
        waiting: list[U64] = []
        for keys, _ in sample.blocks():
            waiting.append(np.unique(keys))
            if sum(map(len, waiting)) > max(_AT_ONCE, len(found)):
                found, waiting = np.unique(np.concatenate([found, *waiting])), []
        found = np.unique(np.concatenate([found, *waiting]))
        if within is not None and len(found) * _WORD_BYTES > within.memory_bytes // 2:
            missing = 2 * len(found) * _WORD_BYTES - within.memory_bytes
            raise MemoryTooSmall(
                "pivot_words_over_memory",
                megabytes=-(-missing // 1_000_000),
                sample=self.parameters.sample,
                words=len(found),
                missing_bytes=missing,
            )
        return found

    def _alphabet(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Rank of every word by the alphabet, and the words by their ranks."""
        by_rank = np.zeros(len(self.keys), np.uint32)
        done = 0
        for _, keys in self._counter.spelled():
            at, known = find_keys(keys, self.keys)
            numbers = at[known]
            by_rank[done : done + len(numbers)] = numbers
            done += len(numbers)
        ranks = np.zeros(len(self.keys), np.uint32)
        ranks[by_rank] = np.arange(len(by_rank), dtype=np.uint32)
        return ranks, by_rank

    def _spelled(self, words: list[int]) -> dict[int, str]:
        wanted = self.keys[words]
        out: dict[int, str] = {}
        for spelled, keys in self._counter.spelled():
            at, known = find_keys(keys, wanted)
            for place in np.flatnonzero(known).tolist():
                out[words[int(at[place])]] = spelled[place].decode("utf-8", "surrogatepass")
        return out

    def _sort(self, lengths: I64) -> I64:
        """Put the documents of each word in turn, the highest level first. Gives where those of each word begin."""
        numbers, levels = self._numbers, self._own_levels
        ends = np.cumsum(lengths)
        counts = np.zeros(len(self.keys) + 1, np.int64)
        for low in range(0, len(numbers), _AT_ONCE):
            np.add.at(counts, numbers.read(low, min(low + _AT_ONCE, len(numbers))).astype(np.int64) + 1, 1)
        starts = np.cumsum(counts)
        first = 0
        while first < len(self.keys):  # so many words that their documents can be sorted at once
            last = int(np.searchsorted(starts, starts[first] + _SORTED_AT_ONCE, side="right")) - 1
            last = max(last, first + 1)
            packed = np.empty(int(starts[last] - starts[first]), np.uint64)
            done = 0
            for low in range(0, len(numbers), _AT_ONCE):
                high = min(low + _AT_ONCE, len(numbers))
                some = numbers.read(low, high)
                own = np.flatnonzero((some >= first) & (some < last))
                owners = np.searchsorted(ends, low + own, side="right").astype(np.uint64)
                below = (STEPS - levels.read(low, high)[own]).astype(np.uint64)
                value = (some[own] - np.uint32(first)).astype(np.uint64) << np.uint64(
                    _DOCUMENT_BITS + _LEVEL_BITS
                )
                packed[done : done + len(own)] = value | below << np.uint64(_DOCUMENT_BITS) | owners
                done += len(own)
            packed.sort()
            self.documents.add((packed & np.uint64((1 << _DOCUMENT_BITS) - 1)).astype(np.uint32))
            packed >>= np.uint64(_DOCUMENT_BITS)
            packed &= np.uint64((1 << _LEVEL_BITS) - 1)
            self.levels.add(np.uint8(STEPS) - packed.astype(np.uint8))
            first = last
        numbers.close()
        levels.close()
        return starts

    def _thresholds(self) -> tuple[NDArray[np.int8], NDArray[np.uint32]]:
        """For each floor and word the lowest threshold of that quality (as a column; −1: none), for it covers most; and
        how many documents it covers."""
        columns = np.full((len(_FLOORS), len(self.keys)), -1, np.int8)
        covers = np.zeros((len(_FLOORS), len(self.keys)), np.uint32)
        near, first = self._near, self.first
        for low, high in self._ranges(_WORDS_AT_ONCE):
            count = high - low
            lengths = np.diff(self.starts[low : high + 1])
            cells = np.repeat(np.arange(count) * (STEPS + 1), lengths)
            cells += self.levels.read(int(self.starts[low]), int(self.starts[high]))
            table = np.bincount(cells, minlength=count * (STEPS + 1)).reshape(-1, STEPS + 1)
            padded = np.zeros((count, STEPS + 1 + near), np.int64)
            padded[:, : STEPS + 1] = np.cumsum(table[:, ::-1], axis=1)[:, ::-1]
            covered = padded[:, first : STEPS + 1]  # by word and threshold
            sure = padded[:, first + near : STEPS + 1 + near]
            unsure = padded[:, first - near : STEPS + 1 - near]
            quality = np.where(covered > 0, sure / np.maximum(unsure, 1), 0.0)
            for number, floor in enumerate(_FLOORS):
                good = quality >= floor
                column = good.argmax(axis=1)
                some = np.flatnonzero(good.any(axis=1))
                columns[number, low + some] = column[some]
                covers[number, low + some] = covered[some, column[some]]
        return columns, covers

    def _ranges(self, words: int) -> Iterator[tuple[int, int]]:
        """All words in turn, at most so many and not too many documents of them at a time."""
        low = 0
        while low < len(self.keys):
            high = int(np.searchsorted(self.starts, self.starts[low] + _AT_ONCE, side="right")) - 1
            high = min(max(high, low + 1), low + words, len(self.keys))
            yield low, high
            low = high

    def _lacking(self) -> int:
        return int(np.maximum(self.needed, 0).sum())

    def _cover(self, chosen: dict[int, int], floor: int) -> None:
        """First phase: words of at least this quality, those first that cover most of what still lacks
        words."""
        columns, covers = self._columns[floor], self._covered[floor]
        heap = self._heap(chosen, floor)
        wasted = 0
        while heap and len(chosen) < self.parameters.pivots:
            entry = heapq.heappop(heap)
            word = int(self._by_rank[entry & _RANK_MASK])
            covered = self.documents.read(int(self.starts[word]), int(self.starts[word]) + int(covers[word]))
            gain = int(np.count_nonzero(self.needed[covered] > 0))
            promised = _MOST - (entry >> _RANK_BITS)
            if gain == promised:
                chosen[word] = int(columns[word])
                self.needed[covered] -= 1
                continue
            if gain:  # less than when it was put in: look again in its new place
                heapq.heappush(heap, (_MOST - gain) << _RANK_BITS | (entry & _RANK_MASK))
            wasted += 1
            if wasted > _WASTED and 4 * wasted > len(heap):
                heap, wasted = self._heap(chosen, floor), 0

    def _heap(self, chosen: dict[int, int], floor: int) -> list[int]:
        """Words that cover some document which lacks words: most gain first, then by the alphabet. One number each."""
        covers = self._covered[floor]
        parts = []
        for low, high in self._ranges(len(self.keys)):
            start = int(self.starts[low])
            lacking = self.needed[self.documents.read(start, int(self.starts[high]))] > 0
            sums = np.concatenate([[0], np.cumsum(lacking)])
            places = self.starts[low:high] - start
            gains = sums[places + covers[low:high]] - sums[places]
            gains[[word - low for word in chosen if low <= word < high]] = 0
            some = np.flatnonzero(gains)
            parts.append((_MOST - gains[some]) << _RANK_BITS | self.ranks[low + some].astype(np.int64))
        heap: list[int] = np.sort(np.concatenate(parts)).tolist() if parts else []
        return heap

    def _drop(self, chosen: dict[int, int]) -> None:
        """Second phase: the same cover with better words: the worst that no document needs go first."""
        order = sorted(chosen, key=lambda word: (self._quality(word, chosen[word]), int(self.ranks[word])))
        for word in order:
            covered = self._documents(word, chosen[word])
            if (self.needed[covered] < 0).all():
                self.needed[covered] += 1
                del chosen[word]

    def _levels(self, word: int) -> NDArray[np.uint8]:
        return self.levels.read(int(self.starts[word]), int(self.starts[word + 1]))

    def _quality(self, word: int, column: int) -> float:
        levels, threshold = self._levels(word), column + self.first
        sure = int(np.count_nonzero(levels >= threshold + self._near))
        return sure / max(1, int(np.count_nonzero(levels >= threshold - self._near)))

    def _documents(self, word: int, column: int) -> NDArray[np.uint32]:
        start = int(self.starts[word])
        covered = int(np.count_nonzero(self._levels(word) >= column + self.first))
        return self.documents.read(start, start + covered)
