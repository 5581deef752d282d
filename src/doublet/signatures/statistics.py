"""M11: what is known about a collection: in how many documents each word stands, how often, and how many
documents there are.

`CollectionStatistics` is kept true as documents come and go, without counting the collection again: adding
and then removing a document leaves exactly what was there before. The words must be made the same way for
the collection and for the texts that are weighed by it, so the statistics know their `Canon`.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from doublet.errors import InvalidParameter
from doublet.kernels.data import TEXT_VERSION
from doublet.signatures import encode
from doublet.text.stopwords import STOP_WORDS_VERSION
from doublet.text.tokens import Canon, TokenBatch

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

LEXICAL_CANON = Canon(
    stop_words=True, min_letters=3, reduce="stem"
)  #: how the lexical methods make their words

_KIND = b"DBLC"
_VERSION = 1
_FIRST_ROWS = 1024
_KEPT_EMPTY_ROWS = 4096  # so many words without documents are carried along before the table is packed


class WordCounts(NamedTuple):
    """Words of a batch, counted: one row for each distinct word of each text, by text, then by id."""

    texts: I64  #: number of the text
    ids: I64  #: into the vocabulary of the batch
    counts: I64  #: how often the word stands in the text
    offsets: I64  #: rows of text d are ``[offsets[d]:offsets[d+1]]``


def count_words(batch: TokenBatch) -> WordCounts:
    """Raises `InvalidParameter` for a batch that was made without words."""
    if len(batch.hashes) and not len(batch.ids):
        raise InvalidParameter("words_without_spelling", name="words")
    size = max(1, len(batch.vocabulary))
    texts = np.repeat(np.arange(len(batch), dtype=np.int64), _lengths(batch.offsets))
    pairs, counts = np.unique(texts * size + batch.ids.astype(np.int64), return_counts=True)
    owners, ids = np.divmod(pairs, size)
    offsets = np.searchsorted(owners, np.arange(len(batch) + 1))
    return WordCounts(owners, ids, counts.astype(np.int64), offsets.astype(np.int64))


def _lengths(offsets: NDArray[np.uint64]) -> I64:
    return (offsets[1:] - offsets[:-1]).astype(np.int64)


def idf(df: I64, documents: int) -> F64:
    """−log(df / N), natural; a word of no document counts as one of one document. 0 for an empty
    collection."""
    if not documents:
        return np.zeros(len(df), np.float64)
    return np.log(float(documents) / np.maximum(df, 1).astype(np.float64))


def ridf(df: I64, cf: I64, documents: int) -> F64:
    """Residual IDF: IDF − P_IDF with P_IDF = −log(1 − exp(−cf / N)). 0 for a word of no document."""
    if not documents:
        return np.zeros(len(df), np.float64)
    known = df > 0
    expected = np.where(known, cf, 1).astype(np.float64)
    expected /= -float(documents)
    np.expm1(expected, out=expected)
    np.negative(expected, out=expected)
    np.log(expected, out=expected)
    expected += idf(df, documents)
    expected[~known] = 0.0
    return expected


class WordList(list[str]):
    """Words that are asked for again and again: where they stand in statistics is looked up once. Not to be changed."""

    _found: tuple[dict[str, int], int, I64] | None = None

    def rows_in(self, rows: dict[str, int]) -> I64:
        if self._found is None or self._found[0] is not rows or self._found[1] != len(rows):
            get = rows.get
            self._found = rows, len(rows), np.fromiter((get(word, -1) for word in self), np.int64, len(self))
        return self._found[2]


def plain_canon(canon: Canon) -> Canon:
    """The same with its words sorted as the methods sort them: the order in which a user names them is no matter."""
    return replace(canon, extra_stop_words=tuple(sorted(set(canon.extra_stop_words))))


class Counts(ABC):
    """What the methods that weigh words ask of a collection. Words that it does not know: df and cf 0."""

    _canon: Canon
    _documents: int

    @property
    def canon(self) -> Canon:
        return self._canon

    @property
    def fixed(self) -> Mapping[str, Any]:
        return asdict(self._canon)

    @abstractmethod
    def fingerprint(self) -> str:
        """32 hexadecimal digits: equal for equal content, whatever the order in which the documents came."""

    @property
    def documents(self) -> int:
        """N: documents with at least one word."""
        return self._documents

    @property
    @abstractmethod
    def words(self) -> int:
        """Words of all documents together, every occurrence counted."""

    @property
    def mean_words(self) -> float:
        """Words of a document on average; 0 for an empty collection."""
        return self.words / self.documents if self.documents else 0.0

    @abstractmethod
    def copy(self) -> Counts:
        """As they are now: later changes of one do not touch the other."""

    @abstractmethod
    def look_up(self, words: Sequence[str]) -> tuple[I64, I64]:
        """df and cf of each word; 0 for unknown ones."""


class Seal:
    """The fingerprint of statistics from the bytes that `CollectionStatistics.to_bytes` would have, piece by piece."""

    def __init__(self, canon: Canon, documents: int, words: int) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self._crc = 0
        self.update(encode.head(_KIND, _VERSION, _header(canon, documents, words)))

    def update(self, content: bytes) -> None:
        """df of all words by the alphabet, then cf, lengths of their spelling, spelling."""
        self._hash.update(content)
        self._crc = zlib.crc32(content, self._crc)

    def fingerprint(self) -> str:
        self._hash.update(encode.tail(self._crc))
        return self._hash.hexdigest()


def _header(canon: Canon, documents: int, words: int) -> bytes:
    facts = {
        "canon": asdict(canon),
        "documents": documents,
        "stop_words_version": STOP_WORDS_VERSION,
        "text_version": TEXT_VERSION,
        "words": words,
    }
    return json.dumps(facts, sort_keys=True).encode()


class CollectionStatistics(Counts):
    """df, cf and N of a collection. Words that it does not know: df and cf 0, `idf` as rare as can be,
    `ridf` 0.

    A document without words does not count. Not safe for changes from several threads at once.
    """

    def __init__(self, canon: Canon = LEXICAL_CANON) -> None:
        self._canon = plain_canon(canon)
        self._rows: dict[str, int] = {}
        self._df = np.zeros(_FIRST_ROWS, np.int64)
        self._cf = np.zeros(_FIRST_ROWS, np.int64)
        self._documents = 0
        self._fingerprint: str | None = None

    def __repr__(self) -> str:
        return f"CollectionStatistics(documents={self.documents}, words={self.words}, distinct={len(self)})"

    def __len__(self) -> int:
        """Number of distinct words."""
        return int(np.count_nonzero(self._df[: len(self._rows)]))

    def __contains__(self, word: object) -> bool:
        row = self._rows.get(word) if isinstance(word, str) else None
        return row is not None and bool(self._df[row])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CollectionStatistics):
            return NotImplemented
        return self.fingerprint() == other.fingerprint()

    __hash__ = None  # type: ignore[assignment]  # it changes

    @property
    def words(self) -> int:
        return int(self._cf[: len(self._rows)].sum())

    def add(self, documents: TokenBatch | Sequence[str]) -> None:
        """Count the documents of a batch (made with ``words=True``), or one document given as its list of
        words."""
        words, df, cf, count = _counted(documents)
        rows = self._make_rows(words)
        self._df[rows] += df
        self._cf[rows] += cf
        self._documents += count
        self._fingerprint = None

    def add_texts(self, texts: Sequence[str], *, threads: int = 1) -> None:
        """Count documents given as texts; words are made with `canon`."""
        self.add(self._canon.tokens(texts, words=True, threads=threads))

    def remove(self, documents: TokenBatch | Sequence[str]) -> None:
        """Take documents out again. Raises `InvalidParameter`, changing nothing, when they cannot have been
        added."""
        words, df, cf, count = _counted(documents)
        rows = self._find(words)
        df_left, cf_left = self._df.copy(), self._cf.copy()
        df_left[rows] -= df
        cf_left[rows] -= cf
        left = self._documents - count
        # What is left must be possible: no word in more documents than it stands there or than there are.
        wrong = (df_left < 0) | (cf_left < df_left) | ((df_left == 0) & (cf_left > 0)) | (df_left > left)
        if left < 0 or (rows < 0).any() or wrong.any():
            raise InvalidParameter(
                "never_counted",
                name="documents",
            )
        self._df, self._cf = df_left, cf_left
        self._documents = left
        self._fingerprint = None
        self._pack()

    def remove_texts(self, texts: Sequence[str], *, threads: int = 1) -> None:
        self.remove(self._canon.tokens(texts, words=True, threads=threads))

    def merge(self, other: CollectionStatistics) -> None:
        """Count everything that *other* has counted as well. Raises `InvalidParameter` for words made
        differently."""
        if other.canon != self._canon:
            raise InvalidParameter(
                "statistics_words_differ",
                canon=other.canon,
                canon2=self._canon,
                name="canon",
            )
        words, df, cf = other._content()
        rows = self._make_rows(words)
        self._df[rows] += df
        self._cf[rows] += cf
        self._documents += other.documents
        self._fingerprint = None

    def copy(self) -> CollectionStatistics:
        out = CollectionStatistics(self._canon)
        out._rows = dict(self._rows)
        out._df, out._cf = self._df.copy(), self._cf.copy()
        out._documents = self._documents
        out._fingerprint = self._fingerprint
        return out

    def df(self, words: Sequence[str]) -> I64:
        """In how many documents each word stands; 0 for unknown ones."""
        rows = self._find(words)
        return np.where(rows >= 0, self._df[rows], 0)

    def cf(self, words: Sequence[str]) -> I64:
        """How often each word occurs in the collection; 0 for unknown ones."""
        rows = self._find(words)
        return np.where(rows >= 0, self._cf[rows], 0)

    def look_up(self, words: Sequence[str]) -> tuple[I64, I64]:
        rows = self._find(words)
        known = rows >= 0
        return np.where(known, self._df[rows], 0), np.where(known, self._cf[rows], 0)

    def idf(self, words: Sequence[str]) -> F64:
        """−log(df / N) of each word, natural. An unknown word counts as one of a single document."""
        return idf(self.df(words), self._documents)

    def ridf(self, words: Sequence[str]) -> F64:
        """Residual IDF of each word: how much more unevenly it is spread than chance would. 0 for unknown
        words."""
        rows = self._find(words)
        known = rows >= 0
        return ridf(np.where(known, self._df[rows], 0), np.where(known, self._cf[rows], 0), self._documents)

    def counts(self) -> dict[str, tuple[int, int]]:
        """df and cf of every word, by the alphabet."""
        words, df, cf = self._content()
        return dict(zip(words, zip(df.tolist(), cf.tolist(), strict=True), strict=True))

    def fingerprint(self) -> str:
        if self._fingerprint is None:
            self._fingerprint = hashlib.blake2b(self.to_bytes(), digest_size=16).hexdigest()
        return self._fingerprint

    def to_bytes(self) -> bytes:
        """Equal for equal content. `from_bytes` reads it back."""
        words, df, cf = self._content()
        spelled = [word.encode("utf-8", "surrogatepass") for word in words]
        lengths = np.array([len(word) for word in spelled], "<u4")
        content = [
            df.astype("<i8").tobytes(),
            cf.astype("<i8").tobytes(),
            lengths.tobytes(),
            b"".join(spelled),
        ]
        header = _header(self._canon, self._documents, len(words))
        return encode.seal(_KIND, _VERSION, header, b"".join(content))

    @classmethod
    def from_bytes(cls, data: bytes) -> CollectionStatistics:
        """Raises `SignatureDamaged`, `SignatureTooNew`, or `SignatureError` for words of another canonical
        form."""
        what = "collection statistics"
        header, content = encode.unseal(_KIND, _VERSION, data, what=what)
        with encode.damage(what):
            facts = json.loads(header)
            canon = Canon(**{**facts["canon"], "extra_stop_words": tuple(facts["canon"]["extra_stop_words"])})
            encode.require_text_version(
                facts["text_version"], facts["stop_words_version"], canon.stop_words, what=what
            )
            count = int(facts["words"])
            df = np.frombuffer(content, "<i8", count, 0).astype(np.int64)
            cf = np.frombuffer(content, "<i8", count, 8 * count).astype(np.int64)
            ends = np.cumsum(np.frombuffer(content, "<u4", count, 16 * count), dtype=np.int64).tolist()
            blob = content[20 * count :]
            starts = [0, *ends[:-1]]
            words = [blob[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=False)]
        out = cls(canon)
        rows = out._make_rows(words)
        out._df[rows], out._cf[rows] = df, cf
        out._documents = int(facts["documents"])
        return out

    @classmethod
    def from_counts(
        cls, words: Sequence[str], df: I64, cf: I64, documents: int, canon: Canon = LEXICAL_CANON
    ) -> CollectionStatistics:
        """Statistics that were counted elsewhere: df and cf of each of the (distinct) *words*."""
        out = cls(canon)
        rows = out._make_rows(words)
        out._df[rows], out._cf[rows] = df, cf
        out._documents = documents
        return out

    def _content(self) -> tuple[list[str], I64, I64]:
        """Words by the alphabet with their df and cf, without the words of no document."""
        live = sorted(word for word, row in self._rows.items() if self._df[row])
        rows = self._find(live)
        return live, self._df[rows], self._cf[rows]

    def _find(self, words: Sequence[str]) -> I64:
        if isinstance(words, WordList):
            return words.rows_in(self._rows)
        get = self._rows.get
        return np.fromiter((get(word, -1) for word in words), np.int64, len(words))

    def _make_rows(self, words: Sequence[str]) -> I64:
        known = self._rows
        rows = np.fromiter((known.setdefault(word, len(known)) for word in words), np.int64, len(words))
        if len(known) > len(self._df):
            size = max(2 * len(self._df), len(known))
            self._df = np.concatenate([self._df, np.zeros(size - len(self._df), np.int64)])
            self._cf = np.concatenate([self._cf, np.zeros(size - len(self._cf), np.int64)])
        return rows

    def _pack(self) -> None:
        """Forget the words of no document once they are most of the table."""
        empty = len(self._rows) - len(self)
        if empty > _KEPT_EMPTY_ROWS and 2 * empty > len(self._rows):
            words, df, cf = self._content()
            self._rows = {word: row for row, word in enumerate(words)}
            self._df, self._cf = df.copy(), cf.copy()


def _counted(documents: TokenBatch | Sequence[str]) -> tuple[list[str], I64, I64, int]:
    """Distinct words, df, cf, and the number of documents that have words."""
    if isinstance(documents, TokenBatch):
        rows = count_words(documents)
        ids, place = np.unique(rows.ids, return_inverse=True)
        df = np.bincount(place, minlength=len(ids)).astype(np.int64)
        cf = np.zeros(len(ids), np.int64)
        np.add.at(cf, place, rows.counts)
        words = [documents.vocabulary[i] for i in ids.tolist()]
        return words, df, cf, int(np.count_nonzero(np.diff(rows.offsets)))
    if isinstance(documents, str):
        raise InvalidParameter(
            "document_as_words",
            name="documents",
        )
    counts: dict[str, int] = {}
    for word in documents:
        counts[word] = counts.get(word, 0) + 1
    return (
        list(counts),
        np.ones(len(counts), np.int64),
        np.array(list(counts.values()), np.int64),
        int(bool(counts)),
    )
