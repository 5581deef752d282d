"""Files → one sequence of token numbers with places: the first two steps, tokenise and filter.

A token is a word, a word or a sign, a line or a sentence. All files make one sequence; `parts` numbers the stretches
over whose borders no repeat may go: files, and what code or tables that are left out cut apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.kernels.data import FLAG_NUMBER, FLAG_STOP
from doublet.model import Span
from doublet.repeats.ignored import ignored_spans
from doublet.repeats.model import RepeatOptions
from doublet.text.markup import MarkedText
from doublet.text.sentences import sentences
from doublet.text.tokens import Canon, TokenBatch

U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
Sizes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
Columns = tuple[Any, U32, Sizes]  #: hashes or numbers, starts, sizes
PIECE = 1 << 17  #: characters of a large file that are tokenised at once
AT_ONCE = 1 << 19  #: characters of a batch, so that little memory is needed on the way
SHARED = 1 << 17  #: characters from which on several threads are worth their start
DANGLING = "a an the and or of и или а но"  #: words after which a sentence must go on
MASK_HASH = np.uint64(0x6E756D626572)  #: stands for every number when numbers are masked


@dataclass(slots=True, eq=False)
class TokenSequence:
    """The tokens of all files, one after the other. File f has the tokens ``[offsets[f]:offsets[f+1]]``."""

    ids: U32  #: equal tokens have equal numbers, counted in order of first sight
    starts: U32  #: in characters of its file
    sizes: Sizes  #: in characters; one byte each unless a token is longer than 255
    offsets: NDArray[np.int64]
    cuts: NDArray[np.int64]  #: tokens before which a new part begins (never 0)
    marked_texts: Sequence[MarkedText]
    threads: int = 1  #: that may work on it
    dangling: U32 | None = None  #: numbers of the words with which no statement ends

    def __len__(self) -> int:
        return len(self.ids)

    def parts(self) -> U32:
        """The part of each token."""
        marks = np.zeros(len(self.ids), np.uint32)
        marks[self.cuts[self.cuts < len(marks)]] = 1
        return np.cumsum(marks, dtype=np.uint32)

    def ends(self, which: Any) -> NDArray[np.int64]:
        """Where the tokens *which* (numbers or a slice) end, in characters of their files."""
        ends: NDArray[np.int64] = self.starts[which].astype(np.int64) + self.sizes[which]
        return ends

    def edges(self) -> tuple[NDArray[np.bool_], U32, U32]:
        """For each token and for the end whether a sentence, a line or an element begins there; and how many signs
        (braces, slashes, bars …) its file has before its start and before its end."""
        borders, at_start, at_end = kernels.word_edges(
            [marked.masked for marked in self.marked_texts],
            self.starts,
            self.starts + self.sizes,
            self.offsets.astype(np.uint64),
            self.threads,
        )
        marks = np.append(borders != 0, True)
        marks[self.cuts] = True
        return marks, at_start, at_end

    def file_of(self, token: int) -> int:
        return int(np.searchsorted(self.offsets, token, "right")) - 1

    def apart(self) -> tuple[U32, NDArray[np.int64]]:
        """The numbers with one of its own between two parts, and how many of those stand before each token."""
        if not len(self.cuts):
            return self.ids, np.zeros(0, np.int64)
        top = int(self.ids.max()) + 1 if len(self.ids) else 0
        fresh = np.arange(top, top + len(self.cuts), dtype=np.uint32)
        return np.insert(self.ids, self.cuts, fresh), self.cuts + np.arange(len(self.cuts))


def tokenise(marked_texts: Sequence[MarkedText], options: RepeatOptions, threads: int = 1) -> TokenSequence:
    """All files as one sequence, with the filters of *options*; the same for any number of *threads*."""
    reduce = "none" if options.algorithm == "exact" else options.reduce
    canon = Canon(stop_words=options.stop_words, reduce=reduce)
    store = _Store(sum(len(marked.masked) for marked in marked_texts))
    offsets = [0]
    cuts: list[int] = []
    table = kernels.NumberTable()
    words = canon.plain and options.tokens == "word"
    batch = _Batch(canon, options, table, threads)

    def add_batch() -> None:
        if batch.pieces:
            base = store.count
            ids, starts, sizes, ends = batch.columns()
            store.add(ids, starts, sizes)
            offsets.extend((ends + base).tolist())
            cuts.extend(offsets[len(offsets) - len(ends) :])

    for marked in marked_texts:
        holes = _holes(marked, options)
        if words and not holes:
            for piece in _cut(marked.masked):
                if batch.size >= AT_ONCE:
                    add_batch()
                batch.add(*piece)
            batch.end_file()
            continue
        add_batch()
        hashes, starts, sizes = _joined(list(_pieces(marked, canon, options)))
        if options.tokens in ("line", "sentence"):
            units = _lines(marked.masked) if options.tokens == "line" else sentences(marked.masked)
            hashes, starts, sizes = _grouped(hashes, starts, sizes, units)
        base = offsets[-1]
        if holes:
            edges = np.array([span.start for span in holes] + [span.end for span in holes], np.int64)
            middle = starts.astype(np.int64) + sizes // 2
            inside = _inside(middle, holes)
            hashes, starts, sizes = hashes[~inside], starts[~inside], sizes[~inside]
            cuts += (base + np.searchsorted(starts, edges)).tolist()
        store.add(_numbered(hashes, table), starts, sizes)
        offsets.append(store.count)
        cuts.append(offsets[-1])
    add_batch()
    ids, starts, sizes = store.columns()
    marks = np.array(sorted(set(cuts)), np.int64)
    marks = marks[(marks > 0) & (marks < len(ids))]
    return TokenSequence(
        ids, starts, sizes, np.array(offsets, np.int64), marks, marked_texts, threads, _dangling(table)
    )


def _dangling(table: Any) -> U32:
    """Numbers of the words after which a sentence must go on."""
    numbers: U32 = table.number(kernels.tokenize([DANGLING])[0])
    return numbers + np.uint32(1)


class _Batch:
    """Pieces of files that are tokenised together, in several threads."""

    def __init__(self, canon: Canon, options: RepeatOptions, table: Any, threads: int) -> None:
        self._canon, self._mask, self._table, self._threads = canon, options.masks_numbers, table, threads
        self.pieces: list[str] = []
        self.size = 0
        self._shifts: list[int] = []
        self._ends: list[int] = []  # after how many pieces a file ends

    def add(self, piece: str, shift: int) -> None:
        self.pieces.append(piece)
        self._shifts.append(shift)
        self.size += len(piece)

    def end_file(self) -> None:
        self._ends.append(len(self.pieces))

    def columns(self) -> tuple[U32, U32, Sizes, NDArray[np.int64]]:
        """Numbers, places and sizes of all words, and where each file ends in them. The batch is empty afterwards."""
        threads = self._threads if self.size >= SHARED else 1
        stop = self._canon.stop_hashes
        hashes, starts, ends, flags, found, _ = kernels.tokenize(self.pieces, stop, None, threads)
        offsets = found.astype(np.int64)
        if any(self._shifts):
            starts += np.repeat(np.array(self._shifts, np.uint32), np.diff(offsets))
            ends += np.repeat(np.array(self._shifts, np.uint32), np.diff(offsets))
        ids = _numbered(hashes, self._table, (flags & FLAG_NUMBER) != 0 if self._mask else None)
        if stop is not None:
            kept = (flags & FLAG_STOP) == 0
            ids, starts, ends = ids[kept], starts[kept], ends[kept]
            offsets = np.concatenate([[0], np.cumsum(kept)])[offsets]
        edges = offsets[self._ends]
        self.pieces, self._shifts, self._ends, self.size = [], [], [], 0
        return ids, starts, _small(ends - starts), edges


def _numbered(hashes: U64, table: Any, masked: NDArray[np.bool_] | None = None) -> U32:
    """Numbers of tokens in order of first sight, from 1; 0 stands for all numbers when they are *masked*."""
    ids: U32 = table.number(hashes)
    ids += np.uint32(1)
    ids[hashes == MASK_HASH if masked is None else masked] = 0
    return ids


class _Store:
    """Columns of all tokens, filled from the front. Room for many is asked for at once: what stays empty costs nothing,
    and nothing is held twice while the columns grow."""

    def __init__(self, characters: int) -> None:
        self.count = 0
        self._ids = np.empty(characters // 2 + 16, np.uint32)
        self._starts = np.empty(characters // 2 + 16, np.uint32)
        self._sizes: Sizes = np.empty(characters // 2 + 16, np.uint8)

    def add(self, ids: U32, starts: U32, sizes: Sizes) -> None:
        end = self.count + len(ids)
        room, dtype = len(self._ids), np.promote_types(self._sizes.dtype, sizes.dtype)
        if end > room or dtype != self._sizes.dtype:
            room = max(room, end + end // 4)
            self._sizes = self._moved(self._sizes, room, dtype)
        if end > len(self._ids):
            self._ids = self._moved(self._ids, room, self._ids.dtype)
            self._starts = self._moved(self._starts, room, self._starts.dtype)
        self._ids[self.count : end] = ids
        self._starts[self.count : end] = starts
        self._sizes[self.count : end] = sizes
        self.count = end

    def _moved(self, column: Any, room: int, dtype: np.dtype[Any]) -> Any:
        grown = np.empty(room, dtype)
        grown[: self.count] = column[: self.count]
        return grown

    def columns(self) -> tuple[U32, U32, Sizes]:
        return self._ids[: self.count], self._starts[: self.count], self._sizes[: self.count]


def _cut(text: str) -> Iterator[tuple[str, int]]:
    """Pieces that end with a line, and where they begin."""
    if len(text) <= PIECE:
        yield text, 0
        return
    at = 0
    while at < len(text):
        end = len(text)
        if end - at > PIECE:
            end = text.rfind("\n\n", at + PIECE // 2, at + PIECE) + 2
            if end == 1:
                end = (text.rfind("\n", at + PIECE // 2, at + PIECE) + 1) or (
                    text.rfind(" ", at + PIECE // 2, at + PIECE) + 1
                )
            end = end or at + PIECE
        yield text[at:end], at
        at = end


def _pieces(marked: MarkedText, canon: Canon, options: RepeatOptions) -> Iterator[Columns]:
    """Hash and place of every word (and sign) of a file, piece by piece."""
    for piece, at in _cut(marked.masked):
        batch = canon.tokens([piece])
        hashes, starts, ends = batch.hashes, batch.starts, batch.ends
        if options.masks_numbers:
            hashes = np.where(batch.flags & FLAG_NUMBER, MASK_HASH, hashes)
        if options.tokens == "punctuation":
            every = Canon().tokens([piece]) if options.stop_words else batch  # what is left out is no sign
            hashes, starts, ends = _with_signs(piece, every, hashes, starts, ends)
        yield hashes, starts + np.uint32(at), _small(ends - starts)


def _small(sizes: U32) -> Sizes:
    """The same numbers in as few bytes as the largest needs."""
    most = int(sizes.max(initial=0))
    if most < 1 << 8:
        return sizes.astype(np.uint8)
    return sizes.astype(np.uint16) if most < 1 << 16 else sizes


def _joined(columns: list[Columns]) -> Columns:
    """The columns of all rows, one after the other."""
    if not columns:
        return np.zeros(0, np.uint64), np.zeros(0, np.uint32), np.zeros(0, np.uint8)
    if len(columns) == 1:
        return columns[0]
    hashes, starts, sizes = (np.concatenate(part) for part in zip(*columns, strict=True))
    return hashes, starts, sizes


def _with_signs(text: str, every: TokenBatch, hashes: U64, starts: U32, ends: U32) -> tuple[U64, U32, U32]:
    """Words, and every character between *every* two words of the text that is not blank."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    covered = np.zeros(len(codes) + 1, np.int32)
    np.add.at(covered, every.starts.astype(np.int64), 1)
    np.add.at(covered, every.ends.astype(np.int64), -1)
    outside = np.cumsum(covered[:-1]) == 0
    distinct = np.unique(codes)
    blank = distinct[[chr(code).isspace() or code == 0xAD for code in distinct.tolist()]]
    places = np.flatnonzero(outside & ~np.isin(codes, blank)).astype(np.uint32)
    signs = codes[places].astype(np.uint64) | np.uint64(1 << 63)
    all_starts = np.concatenate([starts, places])
    order = np.argsort(all_starts, kind="stable")
    return (
        np.concatenate([hashes, signs])[order],
        all_starts[order],
        np.concatenate([ends, places + np.uint32(1)])[order],
    )


def _lines(text: str) -> list[Span]:
    out = []
    at = 0
    for line in text.split("\n"):
        out.append(Span(at, at + len(line)))
        at += len(line) + 1
    return out


def _grouped(hashes: U64, starts: U32, sizes: Sizes, units: Sequence[Span]) -> Columns:
    """One token for each unit that has words: its words, whatever the blanks and signs between them."""
    edges = np.array([unit.start for unit in units], np.int64)
    bounds = np.append(np.searchsorted(starts, edges), len(starts))
    begin, end = bounds[:-1], bounds[1:]
    full = end > begin
    begin, end = begin[full], end[full]
    if not len(begin):
        return np.zeros(0, np.uint64), np.zeros(0, np.uint32), np.zeros(0, np.uint8)
    longest = int((end - begin).max())
    values, offsets = kernels.shingle(hashes, np.append(begin, end[-1]).astype(np.uint64), max(longest, 1))
    if not (np.diff(offsets) == 1).all():
        raise AssertionError("a unit gives one value")
    return values, starts[begin], _small(starts[end - 1] + sizes[end - 1] - starts[begin])


def _holes(marked: MarkedText, options: RepeatOptions) -> list[Span]:
    spans = [*([] if options.code else marked.code), *([] if options.tables else marked.tables)]
    spans += ignored_spans(marked.text)
    return sorted(span for span in spans if span.end > span.start)


def _inside(places: NDArray[np.int64], spans: Sequence[Span]) -> NDArray[np.bool_]:
    """Which places lie in one of the spans (which may overlap)."""
    starts = np.array([span.start for span in spans], np.int64)
    reach = np.maximum.accumulate(np.array([span.end for span in spans], np.int64))
    at = np.searchsorted(starts, places, "right") - 1
    inside: NDArray[np.bool_] = (at >= 0) & (places < reach[np.maximum(at, 0)])
    return inside
