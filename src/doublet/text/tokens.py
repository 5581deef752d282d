"""Texts → words with places, as arrays: the canonical form (T4) and what the methods read.

`Canon` holds the options and makes a `TokenBatch` of many texts at once. Words keep their place in the original text
through every step (T6). How letters are folded and tricks undone is explained in docs/explanation/canonical-form.md.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.errors import InvalidParameter, require_texts
from doublet.kernels.data import FLAG_SHORT, FLAG_STOP
from doublet.model import Span, Token
from doublet.text.reduce import Reducer, reducer
from doublet.text.stopwords import stop_words

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
            raise InvalidParameter(
                f"min_letters is {self.min_letters}: it can be 1 (keep all) or 3", name="min_letters"
            )
        if self.reduce not in REDUCTIONS:
            raise InvalidParameter(
                f"reduce is {self.reduce!r}: it can be one of {', '.join(REDUCTIONS)}", name="reduce"
            )

    @property
    def stop_hashes(self) -> NDArray[np.uint64] | None:
        return _stop_hashes(self.stop_words, self.extra_stop_words)

    @property
    def plain(self) -> bool:
        """True when the fast path from text to shingle sets can be used: no stems, no lemmas."""
        return self.reduce == "none"

    def tokens(self, texts: Sequence[str], *, words: bool = False, threads: int = 1) -> TokenBatch:
        """All texts at once. With *words* the batch knows the spelling of every word (`TokenBatch.words`)."""
        stop = self.stop_hashes
        spelt: Sequence[str] = ()
        if words or not self.plain:
            known = _vocabulary(self.reduce)
            hashes, starts, ends, flags, offsets, ids = kernels.tokenize(
                require_texts(texts), stop, known.table, 1
            )
            spelt = known.words
            hashes, ids = known.reduced(hashes, ids)
        else:
            hashes, starts, ends, flags, offsets, ids = kernels.tokenize(
                require_texts(texts), stop, None, threads
            )
        drop = (FLAG_STOP if stop is not None else 0) | (FLAG_SHORT if self.min_letters > 1 else 0)
        if drop:
            kept = (flags & drop) == 0
            before = np.concatenate([[0], np.cumsum(kept, dtype=np.uint64)]).astype(np.uint64)
            offsets = before[offsets.astype(np.int64)]
            hashes, starts, ends, flags = hashes[kept], starts[kept], ends[kept], flags[kept]
            ids = ids[kept] if len(ids) else ids
        return TokenBatch(hashes, starts, ends, flags, offsets, ids, spelt)

    def plain_and_words(self, texts: Sequence[str]) -> tuple[TokenBatch, WordIds]:
        """One walk through the texts for two readers: all words as ``Canon().tokens`` gives them, and those that
        this canon keeps, as it reduces them."""
        stop = self.stop_hashes
        known = _vocabulary(self.reduce)
        hashes, starts, ends, flags, offsets, ids = kernels.tokenize(
            require_texts(texts), stop, known.table, 1
        )
        _, reduced = known.reduced(hashes, ids)
        nothing = np.zeros(0, np.uint32)
        plain = TokenBatch(hashes, starts, ends, flags & np.uint8(0xFF ^ FLAG_STOP), offsets, nothing, ())
        drop = (FLAG_STOP if stop is not None else 0) | (FLAG_SHORT if self.min_letters > 1 else 0)
        if drop:
            kept = (flags & drop) == 0
            before = np.concatenate([[0], np.cumsum(kept, dtype=np.uint64)]).astype(np.uint64)
            offsets, reduced = before[offsets.astype(np.int64)], reduced[kept]
        return plain, WordIds(reduced, offsets, known.words, known.hashes())


@dataclass(frozen=True, slots=True, eq=False)
class WordIds:
    """Words of many texts by their numbers: text d is ``[offsets[d]:offsets[d+1]]`` of *ids*."""

    ids: NDArray[np.uint32]
    offsets: NDArray[np.uint64]
    vocabulary: Sequence[str]  #: grows with later batches; numbers stay what they are
    hashes: NDArray[np.uint64]  #: of each word of the vocabulary


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

    def __len__(self) -> int:
        return len(self.offsets) - 1

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


class _Vocabulary:
    """Words met so far and what they are reduced to: each distinct word is stemmed once, not once a text."""

    def __init__(self, reduce: str) -> None:
        self.table = kernels.WordTable()
        self.words: list[str] = []  # reduced, without repeats
        self._reduce: Reducer | None = None if reduce == "none" else reducer(reduce)
        self._numbers: dict[str, int] = {}
        self._mapping = np.zeros(0, np.uint32)  # number of a word in the table → number of its reduced form
        self._hashes = np.zeros(0, np.uint64)
        self._letters = 0  # of all words in the table

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes, as measured on Russian and English text."""
        return len(self._mapping) * _WORD_BYTES + self._letters * _LETTER_BYTES

    def reduced(
        self, hashes: NDArray[np.uint64], ids: NDArray[np.uint32]
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """Hashes and numbers of the reduced words."""
        new = self.table.words(len(self._mapping))
        self._letters += sum(map(len, new))
        if self._reduce is None:
            self.words += new
            self._mapping = np.arange(len(self.words), dtype=np.uint32)
            return hashes, ids
        if new:
            numbers, before = self._numbers, len(self.words)
            mapped = [numbers.setdefault(word, len(numbers)) for word in self._reduce(new)]
            self.words += list(itertools.islice(numbers, before, None))
            self._mapping = np.concatenate([self._mapping, np.array(mapped, np.uint32)])
            self._hashes = np.concatenate([self._hashes, _word_hashes(self.words[before:])])
        ids = self._mapping[ids]
        return self._hashes[ids], ids

    def hashes(self) -> NDArray[np.uint64]:
        """Hash of each of *words*."""
        return self.table.hashes() if self._reduce is None else self._hashes


VOCABULARY_LIMIT = 2_000_000  #: words a thread remembers before it begins anew; some 300 MB
_WORD_BYTES, _LETTER_BYTES = 150, 6  # of a remembered word, and of each of its letters
_threads = threading.local()  # a vocabulary for each thread: the native table is not shared


def _vocabulary(reduce: str) -> _Vocabulary:
    known: dict[str, _Vocabulary] = _threads.__dict__.setdefault("vocabularies", {})
    found = known.get(reduce)
    if found is None or len(found.table) > VOCABULARY_LIMIT:
        found = known[reduce] = _Vocabulary(reduce)
    return found


def forget_words(over_bytes: int = 0) -> bool:
    """Let go of the words that this thread remembers when they take more than *over_bytes*; True when it did.

    Words are numbered anew afterwards. Costs time alone: they are reduced again when they are met again.
    """
    known: dict[str, _Vocabulary] = _threads.__dict__.setdefault("vocabularies", {})
    if sum(one.size_bytes for one in known.values()) <= over_bytes:
        return False
    known.clear()
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
