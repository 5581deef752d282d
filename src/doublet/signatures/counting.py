"""The words of a whole collection, counted within a limit of memory: what the lexical methods know of a collection
that is read once from beginning to end.

`WordCounter` takes batches. While all words fit they are counted by their numbers in the vocabulary of the batches;
when they do not, those met so far are written to an unnamed file as a run, sorted by the alphabet, and the vocabulary
begins anew. In the end the runs are merged. `CountedWords` is what is left: 20 bytes a word, without the spelling, and
equal in every answer, the fingerprint too, to `CollectionStatistics` of the same documents. It does not change.
"""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from operator import itemgetter
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import MemoryTooSmall
from doublet.signatures.statistics import Counts, Seal, WordCounts, count_words, plain_canon
from doublet.text.tokens import Canon, TokenBatch, forget_words

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]

TABLE_BYTES = 20  #: a word of the table for good
SETTLING_BYTES = 44  #: the same while the table is being sorted
VOCABULARY_SHARE = 0.4  #: of the memory of a counter; a run is made of it within the rest
_BLOCK = 1 << 16  # words encoded or written at a time
_MERGED = 1 << 16  # words of all runs together that are in hand at a time while they are merged
_LEAST_BLOCK = 64


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """Words by the alphabet, each once: where its columns begin in the file, and how many words and letters it has."""

    start: int
    words: int
    blob: int

    @property
    def columns(self) -> tuple[int, int, int, int, int]:
        """Keys, df, cf, lengths, spelling."""
        at = self.start
        return at, at + 8 * self.words, at + 16 * self.words, at + 24 * self.words, at + 28 * self.words


class WordCounter:
    """df and cf of words that come in batches. Not safe for several threads.

    Takes about *memory_bytes* at most; None: no limit. Files go to *folder*; a full disk raises `OSError`.
    """

    def __init__(self, canon: Canon, memory_bytes: int | None = None, folder: str | None = None) -> None:
        self.canon = plain_canon(canon)
        self.documents = 0
        self._memory, self._folder = memory_bytes, folder
        self._vocabulary: Sequence[str] = ()
        self._known = 0  # words of the vocabulary whose keys are at hand
        self._keys: U64 = np.zeros(0, np.uint64)
        self._df: I64 = np.zeros(0, np.int64)
        self._cf: I64 = np.zeros(0, np.int64)
        self._file: IO[bytes] | None = None
        self._runs: list[_Run] = []

    def add(self, batch: TokenBatch) -> tuple[WordCounts, U64]:
        """Count the documents of a batch (made with ``words=True``); gives its words as they were counted, and the key
        of each."""
        rows = count_words(batch)
        if batch.vocabulary is not self._vocabulary:
            self.end_run()
            self._vocabulary = batch.vocabulary
        size = len(self._vocabulary)
        if size > len(self._df):
            more = max(size, len(self._df) + len(self._df) // 2) - len(self._df)
            self._keys = np.concatenate([self._keys, np.zeros(more, np.uint64)])
            self._df = np.concatenate([self._df, np.zeros(more, np.int64)])
            self._cf = np.concatenate([self._cf, np.zeros(more, np.int64)])
        if size > self._known:
            self._keys[self._known : size] = keys_of(
                islice(self._vocabulary, self._known, size), size - self._known
            )
            self._known = size
        np.add.at(self._df, rows.ids, 1)
        np.add.at(self._cf, rows.ids, rows.counts)
        keys: U64 = self._keys[rows.ids]
        self.documents += int(np.count_nonzero(np.diff(rows.offsets)))
        if self._memory is not None and forget_words(int(self._memory * VOCABULARY_SHARE)):
            self.end_run()
        return rows, keys

    def finish(self) -> CountedWords:
        """The counts of all words; the counter is empty afterwards. Raises `MemoryTooSmall` when they do not fit."""
        try:
            self.end_run()
            if len(self._runs) > 1:
                self._merge()
            return self._settle()
        finally:
            self.close()

    def spelled(self) -> Iterator[tuple[list[bytes], U64]]:
        """All words in UTF-8 by the alphabet, with their keys, a block at a time. Ask it before `finish`."""
        self.end_run()
        if len(self._runs) > 1:
            self._merge()
        for run in self._runs:
            for words, keys, _, _ in self._blocks(run, _BLOCK):
                yield words, keys

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file, self._runs = None, []

    def end_run(self) -> None:
        """Write the words counted by the vocabulary at hand, sorted, and let go of it."""
        live = np.flatnonzero(self._df)
        if len(live):
            vocabulary = self._vocabulary
            # Code points and UTF-8 have the same order.
            live = np.array(sorted(live.tolist(), key=vocabulary.__getitem__), np.int64)
            spelled = (
                [vocabulary[i].encode("utf-8", "surrogatepass") for i in live[at : at + _BLOCK].tolist()]
                for at in range(0, len(live), _BLOCK)
            )
            columns = [self._keys[live], self._df[live], self._cf[live]]
            self._keys, self._df, self._cf = _nothing()
            lengths = np.zeros(len(live), np.uint32)
            file = self._open()
            start = file.seek(0, 2)
            for column in columns:
                file.write(column.data)
            del columns
            file.seek(4 * len(live), 1)
            done = 0
            for words in spelled:
                lengths[done : done + len(words)] = [len(word) for word in words]
                file.write(b"".join(words))
                done += len(words)
            end = file.tell()
            file.seek(start + 24 * len(live))
            file.write(lengths.data)
            self._runs.append(_Run(start, len(live), end - start - 28 * len(live)))
        self._keys, self._df, self._cf = _nothing()
        self._vocabulary, self._known = (), 0

    def _open(self) -> IO[bytes]:
        if self._file is None:
            if self._memory is None:
                import io

                self._file = io.BytesIO()
            else:
                # Small ones stay in memory.
                self._file = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - closed by `close`
                    max_size=int(self._memory * VOCABULARY_SHARE / 4), dir=self._folder
                )
        assert self._file is not None
        return self._file

    def _merge(self) -> None:
        """One run of all."""
        block = max(_LEAST_BLOCK, min(_BLOCK, _MERGED // len(self._runs)))
        merged = heapq.merge(*(self._rows(run, block) for run in self._runs), key=itemgetter(0))
        names = ("keys", "df", "cf", "lengths", "spelling")
        files = {name: tempfile.TemporaryFile(dir=self._folder) for name in names}  # noqa: SIM115 - closed below
        try:
            words = 0
            some: list[tuple[bytes, int, int, int]] = []
            for row in merged:
                if some and some[-1][0] == row[0]:
                    _, value, df, cf = some[-1]
                    some[-1] = row[0], value, df + row[2], cf + row[3]
                    continue
                if len(some) >= block:
                    words += _put(files, some)
                    some = []
                some.append(row)
            words += _put(files, some)
            assert self._file is not None
            self._file.close()
            self._file = None
            whole = self._open()
            for name in names:
                files[name].seek(0)
                while part := files[name].read(1 << 20):
                    whole.write(part)
            self._runs = [_Run(0, words, files["spelling"].tell())]
        finally:
            for file in files.values():
                file.close()

    def _rows(self, run: _Run, block: int) -> Iterator[tuple[bytes, int, int, int]]:
        for words, keys, df, cf in self._blocks(run, block):
            yield from zip(words, keys.tolist(), df.tolist(), cf.tolist(), strict=True)

    def _blocks(self, run: _Run, block: int) -> Iterator[tuple[list[bytes], U64, I64, I64]]:
        keys, df, cf, lengths, spelling = run.columns
        for at in range(0, run.words, block):
            count = min(block, run.words - at)
            sizes = np.frombuffer(self._read(lengths + 4 * at, 4 * count), np.uint32)
            ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).tolist()
            blob = self._read(spelling, ends[-1])
            spelling += ends[-1]
            yield (
                [blob[a:b] for a, b in pairwise(ends)],
                np.frombuffer(self._read(keys + 8 * at, 8 * count), np.uint64),
                np.frombuffer(self._read(df + 8 * at, 8 * count), np.int64),
                np.frombuffer(self._read(cf + 8 * at, 8 * count), np.int64),
            )

    def _read(self, at: int, size: int) -> bytes:
        assert self._file is not None
        self._file.seek(at)
        return self._file.read(size)

    def _settle(self) -> CountedWords:
        run = self._runs[0] if self._runs else _Run(0, 0, 0)
        if self._memory is not None and run.words * SETTLING_BYTES > self._memory:
            missing = run.words * SETTLING_BYTES - self._memory
            raise MemoryTooSmall(
                "words_over_memory",
                megabytes=-(-missing // 1_000_000),
                words=run.words,
                missing_bytes=missing,
            )
        seal = Seal(self.canon, self.documents, run.words)
        first, df, cf, lengths, spelling = run.columns
        for at, size in ((df, 16 * run.words), (lengths, 4 * run.words), (spelling, run.blob)):
            for start in range(0, size, 1 << 20):
                seal.update(self._read(at + start, min(1 << 20, size - start)))
        keys = self._column(first, run.words, np.dtype(np.uint64))
        order = np.argsort(keys)
        # In place, column by column: at most one of them exists twice.
        counts = self._column(cf, run.words, np.dtype(np.int64))
        total = int(counts.sum())
        every_cf = counts[order].astype(np.uint64)
        counts = self._column(df, run.words, np.dtype(np.int64))
        every_df = counts[order].astype(np.uint32)
        del counts
        keys = keys[order]
        return CountedWords(self.canon, self.documents, total, seal.fingerprint(), keys, every_df, every_cf)

    def _column(self, at: int, words: int, kind: np.dtype[Any]) -> NDArray[Any]:
        out = np.zeros(words, kind)
        for start in range(0, words, _BLOCK):
            count = min(_BLOCK, words - start)
            out[start : start + count] = np.frombuffer(self._read(at + 8 * start, 8 * count), kind)
        return out


def _nothing() -> tuple[U64, I64, I64]:
    return np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0, np.int64)


def _put(files: Mapping[str, IO[bytes]], rows: list[tuple[bytes, int, int, int]]) -> int:
    files["spelling"].write(b"".join(row[0] for row in rows))
    files["lengths"].write(np.array([len(row[0]) for row in rows], np.uint32).data)
    files["keys"].write(np.array([row[1] for row in rows], np.uint64).data)
    files["df"].write(np.array([row[2] for row in rows], np.int64).data)
    files["cf"].write(np.array([row[3] for row in rows], np.int64).data)
    return len(rows)


def keys_of(words: Iterable[str], count: int) -> U64:
    """Numbers that stand for words within this process: the hashes that Python keeps with every string anyway.

    Not the hashes of the kernels, which take the Russian «сор» and the English "cop" for one. The chance that two of
    ten million words have one key is one in 300 thousand; the counts of one would then stand for both.
    """
    return np.fromiter(map(hash, words), np.int64, count).view(np.uint64)


def find_keys(wanted: U64, keys: U64) -> tuple[I64, NDArray[np.bool_]]:
    """Where the *wanted* ones stand among sorted *keys*, and which of them do."""
    if not len(keys):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return at, keys[at] == wanted


class CountedWords(Counts):
    """df and cf of the words of a collection. Never changes; safe to share between threads, not between processes."""

    def __init__(
        self, canon: Canon, documents: int, words: int, fingerprint: str, keys: U64, df: U32, cf: U64
    ) -> None:
        self._canon, self._documents, self._words = canon, documents, words
        self._fingerprint = fingerprint
        self._keys, self._df, self._cf = keys, df, cf

    def __len__(self) -> int:
        """Number of distinct words."""
        return len(self._keys)

    def __repr__(self) -> str:
        return f"CountedWords(documents={self.documents}, words={self.words}, distinct={len(self)})"

    @property
    def words(self) -> int:
        return self._words

    @property
    def size_bytes(self) -> int:
        return len(self._keys) * TABLE_BYTES

    def fingerprint(self) -> str:
        return self._fingerprint

    def copy(self) -> CountedWords:
        return self

    def look_up(self, words: Sequence[str]) -> tuple[I64, I64]:
        df, cf = np.zeros(len(words), np.int64), np.zeros(len(words), np.int64)
        at, known = find_keys(keys_of(words, len(words)), self._keys)
        df[known], cf[known] = self._df[at[known]], self._cf[at[known]]
        return df, cf

    def chosen(self, test: Callable[[I64], NDArray[np.bool_]]) -> U64:
        """Keys of the words whose df passes the *test*, sorted."""
        return self._keys[test(self._df.astype(np.int64))]
