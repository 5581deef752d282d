"""Texts → words with places, as arrays: the canonical form (T4) and what the methods read.

`Canon` holds the options and makes a `TokenBatch` of many texts at once. Words keep their place in the original text
through every step (T6). How letters are folded and tricks undone is explained in docs/explanation/canonical-form.md.
"""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.errors import InvalidParameter, require_texts
from doublet.kernels.data import FLAG_SHORT, FLAG_STOP
from doublet.model import Span, Token
from doublet.text import apart
from doublet.text.background import rarity
from doublet.text.reduce import Reducer, reducer, roots
from doublet.text.stopwords import stop_words

Number = TypeVar("Number", bound=np.generic)
#: says something of each of some words, by their spelling and their hashes
Tell = Callable[[Sequence[str], NDArray[np.uint64]], NDArray[Number]]
Facts = dict[Callable[..., Any], Any]
REDUCTIONS = ("none", "stem", "lemma")


@dataclass(frozen=True, slots=True)
class Canon:
    """Options of the canonical form. Frozen and hashable: part of a recipe.

    stop_words: leave out the Russian and English lists; extra_stop_words: the user's own, left out as well.
    min_letters: 1 keeps every word, 3 leaves out shorter ones. reduce: "none", "stem" (Snowball), "lemma" (pymorphy3).
    """

    stop_words: bool = False
    extra_stop_words: tuple[str, ...] = ()
    min_letters: int = 1
    reduce: str = "none"

    def __post_init__(self) -> None:
        if self.min_letters not in (1, 3):
            raise InvalidParameter("min_letters_choices", min_letters=self.min_letters, name="min_letters")
        if self.reduce not in REDUCTIONS:
            raise InvalidParameter("reduce_choices", reduce=self.reduce, reductions=REDUCTIONS, name="reduce")

    @property
    def stop_hashes(self) -> NDArray[np.uint64] | None:
        return _stop_hashes(self.stop_words, self.extra_stop_words)

    @property
    def plain(self) -> bool:
        """True when the fast path from text to shingle sets can be used: no stems, no lemmas."""
        return self.reduce == "none"

    def tokens(
        self,
        texts: Sequence[str],
        *,
        words: bool = False,
        threads: int = 1,
        vocabulary: Vocabulary | None = None,
    ) -> TokenBatch:
        """All texts at once. With *words* the batch knows the spelling of every word (`TokenBatch.words`), numbered by
        *vocabulary* or else by that of this thread; batches of one vocabulary can be joined."""
        if words or not self.plain:
            return self.of(read_words(texts, vocabulary))
        stop = self.stop_hashes
        columns = kernels.tokenize(require_texts(texts), stop, None, threads)
        if apart.has_runs(columns):
            return self.of(read_words(texts, vocabulary))
        drop = (FLAG_STOP if stop is not None else 0) | (FLAG_SHORT if self.min_letters > 1 else 0)
        return _kept(TokenBatch(*columns, ()), (columns[3] & drop) == 0 if drop else None)

    def of(self, batch: TokenBatch) -> TokenBatch:
        """The words of *batch*, which `read_words` made, as this canon has them. The texts are not read again."""
        known = batch.spelling
        if known is None:
            raise InvalidParameter("spelling_not_known", name="batch")
        batch = _kept(batch, self._keeps(batch, known))
        if self.plain:
            return batch
        reduced = known.reduced(self.reduce)
        ids, hashes = reduced.of(batch.ids)
        return replace(batch, hashes=hashes, ids=ids, vocabulary=reduced.words, spelling=None)

    def plain_and_words(
        self, texts: Sequence[str], vocabulary: Vocabulary | None = None
    ) -> tuple[TokenBatch, WordIds]:
        """One walk through the texts for two readers: all words as they stand, and those that this canon keeps, as it
        reduces them."""
        read = read_words(texts, vocabulary)
        known = read.spelling
        assert known is not None
        ids, offsets = read.ids, read.offsets
        if (kept := self._keeps(read, known)) is not None:
            ids, offsets = ids[kept], _offsets_of(kept, offsets)
        if self.reduce == "none":
            return read, WordIds(ids, offsets, known.words, known.hashes.values, known.facts)
        reduced = known.reduced(self.reduce)
        ids = reduced.numbers.values[ids]
        return read, WordIds(ids, offsets, reduced.words, reduced.hashes.values, reduced.facts)

    def _keeps(self, batch: TokenBatch, known: Vocabulary) -> NDArray[np.bool_] | None:
        """Of each word whether this canon keeps it; None: all."""
        kept = None
        if (stop := self.stop_hashes) is not None:
            kept = ~known.among(stop)[batch.ids]
        if self.min_letters > 1:
            long = (batch.flags & FLAG_SHORT) == 0
            kept = long if kept is None else kept & long
        return kept


def read_words(texts: Sequence[str], vocabulary: Vocabulary | None = None) -> TokenBatch:
    """All words of the texts as they stand, with their spelling: `Canon.of` makes every other form of them."""
    known = vocabulary if vocabulary is not None else this_vocabulary()

    def tokenize(some: Sequence[str]) -> apart.Columns:
        columns = kernels.tokenize(require_texts(some), None, known.table, 1)
        known.grow(columns[0], columns[5])
        return columns

    columns = tokenize(texts)
    if apart.has_runs(columns):
        columns = apart.cut_runs(texts, columns, known.words, tokenize)
    return TokenBatch(*columns, known.words, known)


def _kept(batch: TokenBatch, kept: NDArray[np.bool_] | None) -> TokenBatch:
    """The batch with these of its words alone."""
    if kept is None or kept.all():
        return batch
    return replace(
        batch,
        hashes=batch.hashes[kept],
        starts=batch.starts[kept],
        ends=batch.ends[kept],
        flags=batch.flags[kept],
        offsets=_offsets_of(kept, batch.offsets),
        ids=batch.ids[kept] if len(batch.ids) else batch.ids,
    )


def _offsets_of(kept: NDArray[np.bool_], offsets: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Where texts begin when these of their words are kept."""
    before = np.zeros(len(kept) + 1, np.uint64)
    np.cumsum(kept, out=before[1:])
    return before[offsets.astype(np.int64)]


@dataclass(frozen=True, slots=True, eq=False)
class WordIds:
    """Words of many texts by their numbers: text d is ``[offsets[d]:offsets[d+1]]`` of *ids*."""

    ids: NDArray[np.uint32]
    offsets: NDArray[np.uint64]
    vocabulary: Sequence[str]  #: grows with later batches; numbers stay what they are
    hashes: NDArray[np.uint64]  #: of each word of the vocabulary
    facts: Facts  #: what was found out about each word of the vocabulary

    def remember(self, tell: Tell[Number], kind: type[Number]) -> NDArray[Number]:
        """What *tell* says of each word of the vocabulary. It is asked about each word once: the answers are kept with
        the vocabulary. Only while nobody else uses that."""
        found: _Column[Number] = self.facts.setdefault(tell, _Column(kind))
        before, size = len(found.values), len(self.hashes)
        if before < size:
            found.add(tell(self.vocabulary[before:size], self.hashes[before:size]))
        return found.values[:size]


@dataclass(frozen=True, slots=True, eq=False)
class TokenBatch:
    """Words of many texts: text d is ``[offsets[d]:offsets[d+1]]`` of each array."""

    hashes: NDArray[np.uint64]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    flags: NDArray[np.uint8]
    offsets: NDArray[np.uint64]
    ids: NDArray[np.uint32]  #: into *vocabulary*; empty when the batch was made without words
    vocabulary: Sequence[str]  #: grows with later batches; numbers stay what they are
    spelling: Vocabulary | None = None  #: of words as they stand: other forms can be made (`Canon.of`)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @staticmethod
    def joined(batches: Sequence[TokenBatch]) -> TokenBatch:
        """The texts of several batches, one after the other. Raises `InvalidParameter` unless all have one
        vocabulary."""
        first = batches[0]
        if len(batches) == 1:
            return first
        if any(one.vocabulary is not first.vocabulary for one in batches):
            raise InvalidParameter("different_vocabularies", name="batches")
        sizes = np.cumsum([0, *(len(one.hashes) for one in batches)]).tolist()
        offsets = [one.offsets[1:] + np.uint64(size) for one, size in zip(batches, sizes, strict=False)]
        return TokenBatch(
            np.concatenate([one.hashes for one in batches]),
            np.concatenate([one.starts for one in batches]),
            np.concatenate([one.ends for one in batches]),
            np.concatenate([one.flags for one in batches]),
            np.concatenate([first.offsets[:1], *offsets]),
            np.concatenate([one.ids for one in batches]),
            first.vocabulary,
            first.spelling,
        )

    def roots(self) -> NDArray[np.uint64]:
        """Hashes of the roots of the words (`text.reduce`): no word is left out."""
        if self.spelling is None:
            raise InvalidParameter("spelling_not_known", name="batch")
        stems, _ = self.spelling.reduced("stem").of(self.ids)
        return self.spelling.roots().take(stems)

    def rarity(self) -> NDArray[np.float64]:
        """How rare the stems of the words are in general (`text.background`), 0 for stop words: no word is left out."""
        if self.spelling is None:
            raise InvalidParameter("spelling_not_known", name="batch")
        stems, _ = self.spelling.reduced("stem").of(self.ids)
        return self.spelling.rarity().take(stems)

    def slice(self, text: int) -> slice:
        return slice(int(self.offsets[text]), int(self.offsets[text + 1]))

    def one(self, text: int) -> TokenBatch:
        """The words of one text, as a batch of one."""
        part = self.slice(text)
        ids = self.ids[part] if len(self.ids) else self.ids
        offsets = np.array([0, part.stop - part.start], np.uint64)
        return TokenBatch(
            self.hashes[part],
            self.starts[part],
            self.ends[part],
            self.flags[part],
            offsets,
            ids,
            self.vocabulary,
            self.spelling,
        )

    def alone(self, text: int) -> TokenBatch:
        """As `one`, for keeping: it does not hold the words of the other texts."""
        one = self.one(text)
        return replace(
            one,
            hashes=one.hashes.copy(),
            starts=one.starts.copy(),
            ends=one.ends.copy(),
            flags=one.flags.copy(),
            ids=one.ids.copy(),
        )

    def span(self, first: int, last: int) -> Span:
        """Place from the first to the last (inclusive) token, numbered over the whole batch."""
        return Span(int(self.starts[first]), int(self.ends[last]))

    def words(self, text: int) -> list[str]:
        """Canonical words of one text. The batch must have been made with ``words=True``."""
        return [self.vocabulary[i] for i in self.ids[self.slice(text)].tolist()]

    def tokens(self, text: int) -> Iterator[Token]:
        part = self.slice(text)
        for i, word in zip(range(part.start, part.stop), self.words(text), strict=True):
            yield Token(word, Span(int(self.starts[i]), int(self.ends[i])), int(self.flags[i]))


class Vocabulary:
    """Words met so far, numbered as they came, and what they are reduced to: each distinct word is stemmed once, not
    once a text. Used by one thread at a time."""

    def __init__(self) -> None:
        self.table = kernels.WordTable()
        self.words: list[str] = []
        self.hashes: _Column[np.uint64] = _Column(np.uint64)  #: of each of *words*
        self.facts: Facts = {}  #: what `WordIds.remember` keeps
        self._reduced: dict[str, _Reduced] = {}
        self._roots: _Column[np.uint64] = _Column(np.uint64)
        self._rarity: _Column[np.float64] = _Column(np.float64)
        self._among: dict[int, tuple[NDArray[np.uint64], _Column[np.bool_]]] = {}
        self._letters = 0  # of all words

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes, as measured on Russian and English text."""
        one = len(self.words) * _WORD_BYTES + self._letters * _LETTER_BYTES
        return one * max(1, len(self._reduced))

    def grow(self, hashes: NDArray[np.uint64], ids: NDArray[np.uint32]) -> None:
        """Take over the words that the table met, in a batch with these hashes and ids."""
        before = len(self.words)
        new = self.table.words(before)
        if not new:
            return
        added = np.zeros(len(new), np.uint64)
        fresh = ids >= before
        added[ids[fresh] - np.uint32(before)] = hashes[fresh]
        self.hashes.add(added)
        self._letters += sum(map(len, new))
        self.words += new

    def reduced(self, reduce: str) -> _Reduced:
        """The reduced form of every word."""
        found = self._reduced.get(reduce)
        if found is None:
            found = self._reduced[reduce] = _Reduced(reducer(reduce))
        found.follow(self.words)
        return found

    def roots(self) -> NDArray[np.uint64]:
        """Of every stem the hash of its root."""
        new = self.reduced("stem").words[len(self._roots.values) :]
        if new:
            self._roots.add(_word_hashes(roots(new)))
        return self._roots.values

    def rarity(self) -> NDArray[np.float64]:
        """Of every stem how rare it is in general."""
        new = self.reduced("stem").words[len(self._rarity.values) :]
        if new:
            self._rarity.add(rarity(_word_hashes(new)))
        return self._rarity.values

    def among(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Of every word, whether its hash is one of these. What was found out is kept with the array."""
        _, found = self._among.setdefault(id(hashes), (hashes, _Column(np.bool_)))
        if len(found.values) < len(self.words):
            found.add(np.isin(self.hashes.values[len(found.values) :], hashes))
        return found.values


class _Column(Generic[Number]):
    """Numbers that only grow: what is added is copied, and what was there only now and then."""

    def __init__(self, kind: type[Number]) -> None:
        self._room: NDArray[Number] = np.zeros(64, kind)
        self.values: NDArray[Number] = self._room[:0]

    def add(self, new: NDArray[Number]) -> None:
        size = len(self.values) + len(new)
        if size > len(self._room):
            room = np.zeros(max(size, 2 * len(self._room)), self._room.dtype)
            room[: len(self.values)] = self.values
            self._room = room
        self._room[len(self.values) : size] = new
        self.values = self._room[:size]


class _Reduced:
    """What the words of a vocabulary are reduced to."""

    def __init__(self, reduce: Reducer) -> None:
        self.words: list[str] = []  #: reduced, without repeats
        self.numbers: _Column[np.uint32] = _Column(np.uint32)  #: number of a word → that of its reduced form
        self.hashes: _Column[np.uint64] = _Column(np.uint64)  #: of each of *words*
        self.facts: Facts = {}
        self._reduce = reduce
        self._known: dict[str, int] = {}
        self._newest: tuple[weakref.ref[Any], _Both] | None = None

    def of(self, ids: NDArray[np.uint32]) -> _Both:
        """Of words by their numbers the numbers and hashes of their reduced forms. Several steps ask about the same
        words one after the other: what was found for the newest ones is kept, unless there are many."""
        if self._newest is not None and self._newest[0]() is ids:
            return self._newest[1]
        numbers = self.numbers.values.take(ids)
        found = numbers, self.hashes.values.take(numbers)
        self._newest = (weakref.ref(ids), found) if len(ids) <= _FEW_WORDS else None
        return found

    def follow(self, words: list[str]) -> None:
        new = words[len(self.numbers.values) :]
        if not new:
            return
        known, before = self._known, len(self.words)
        mapped = [known.setdefault(word, len(known)) for word in self._reduce(new)]
        added = list(itertools.islice(reversed(known), len(known) - before))[::-1]
        self.words += added
        self.numbers.add(np.array(mapped, np.uint32))
        self.hashes.add(_word_hashes(added))


_Both = tuple[NDArray[np.uint32], NDArray[np.uint64]]
_FEW_WORDS = 1 << 16  # whose reduced forms are kept for the next who asks
VOCABULARY_LIMIT = 2_000_000  #: words a thread remembers before it begins anew; some 300 MB
_WORD_BYTES, _LETTER_BYTES = 150, 6  # of a remembered word, and of each of its letters
_threads = threading.local()  # a vocabulary for each thread: the native table is not shared


def this_vocabulary() -> Vocabulary:
    """The words that this thread remembers."""
    found: Vocabulary | None = getattr(_threads, "vocabulary", None)
    if found is None or len(found.words) > VOCABULARY_LIMIT:
        found = _threads.vocabulary = Vocabulary()
    return found


class WordMemory:
    """The words that a run remembers, for all of its threads, which take turns: so each word is reduced once a run."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._vocabulary = Vocabulary()

    @contextmanager
    def vocabulary(self) -> Iterator[Vocabulary]:
        """For one thread at a time. What was read with it stays what it is."""
        with self._turn:
            if len(self._vocabulary.words) > VOCABULARY_LIMIT:
                self._vocabulary = Vocabulary()
            yield self._vocabulary


def forget_words(over_bytes: int = 0) -> bool:
    """Let go of the words that this thread remembers when they take more than *over_bytes*; True when it did.

    Words are numbered anew afterwards. Costs time alone: they are reduced again when they are met again.
    """
    known: Vocabulary | None = getattr(_threads, "vocabulary", None)
    if known is None or known.size_bytes <= over_bytes:
        return False
    _threads.vocabulary = None
    return True


@functools.lru_cache(maxsize=64)
def _stop_hashes(lists: bool, extra: tuple[str, ...]) -> NDArray[np.uint64] | None:
    words = [*(sorted(stop_words()) if lists else ()), *extra]
    if not words:
        return None
    return np.unique(
        kernels.tokenize(words, None, None, 1)[0]
    )  # each by itself: «а» must not take Latin neighbours


def _word_hashes(words: list[str]) -> NDArray[np.uint64]:
    """Hash of each reduced word. A reduced word need not be one token (a lemma may hold a hyphen): hash it whole."""
    hashes, _, _, _, offsets, _ = kernels.tokenize(words, None, None, 1)
    lengths = np.diff(offsets)
    out = np.zeros(len(words), np.uint64)
    single = lengths == 1
    out[single] = hashes[offsets[:-1][single].astype(np.int64)]
    for i in np.flatnonzero(~single).tolist():
        values, _ = kernels.shingle(
            hashes[int(offsets[i]) : int(offsets[i + 1])], np.array([0, lengths[i]], np.uint64), 999
        )
        out[i] = values[0] if len(values) else 1
    return out
