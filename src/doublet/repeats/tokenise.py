"""Files → one sequence of token numbers with places: the first two steps, tokenise and filter.

A token is a word, a word or a sign, a line or a sentence. All files make one sequence; `parts` numbers the stretches
over whose borders no repeat may go: files, and what code or tables that are left out cut apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.kernels.data import FLAG_NUMBER, FLAG_STOP
from doublet.model import Span
from doublet.repeats.ignored import ignored_spans
from doublet.repeats.model import RepeatOptions
from doublet.text.markup import MarkedText
from doublet.text.sentences import sentences
from doublet.text.stopwords import stop_words
from doublet.text.tokens import Canon, TokenBatch

U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
Sizes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
Stretch = tuple[int, int]  #: of tokens
Columns = tuple[Any, U32, Sizes]  #: hashes or numbers, starts, sizes
PIECE = 1 << 17  #: characters of a large file that are tokenised at once
AT_ONCE = 1 << 19  #: characters of a batch, so that little memory is needed on the way
SHARED = 1 << 17  #: characters from which on several threads are worth their start
DANGLING = "a an the and or of и или а но"  #: words after which a sentence must go on
SHORTENED = "i e e g т е"  #: pairs of letters with a full stop behind each, after which a sentence goes on
# Function words that programming languages have too: what is prose and what is code cannot be told by them.
CODE_WORDS = frozenset(
    "after all and any as at be before by can do each for from has have if in into is no not on or other out over "
    "same then this until up when where while with".split()
)
# Chosen by reading manuals that no figure comes from: code has up to .08 of them, pages of prose at least .12.
FUNCTION_WORDS = 0.1  #: of the words of prose that stands between the marks of a listing: others, at least
# Chosen on sixteen manuals that no figure comes from. Keystone's gives 140 groups with .05 and .1, and 266 with .2,
# where docstrings of programs are read as prose; Nova's 408, 408 and 737, the others nearly the same.
COLOURED = 0.1  #: of its words that are marked one by one, at most
SIGNS = 0.03  #: of its characters that are signs (braces, slashes, bars …), at most
_COLOUR = "<span "  #: that marks a word of a program in HTML
_SIGN = re.compile(r"[^\w\s.,;:!?'\"()“”→–-]")
# Chosen on the eight labelled manuals: mean recall .895 with 20 and with 40, .898 with 80, .846 with 0.
PROSE = 40  #: characters of the widest line of a paragraph that is wrapped
# Chosen by reading one manual that no figure comes from: with 6 a quoted word of two parts begins a line of its own
# again, and with 24 an address does not. The figures of the eight labelled manuals do not depend on it.
WORD_SIGNS = 12  #: characters that signs and further parts may add to a word ("apt-get",)
_WORD = re.compile(r"\S+")
NUMBERING = 6  #: tokens of the number of a heading, at most: no manual has deeper ones
_NUMBERED = re.compile(r"\d{1,3}(?:\.\d{1,3})*\.?\s+")
_QUOTES = "\"'“«„‘("
MASK_HASH = np.uint64(0x6E756D626572)  #: stands for every number when numbers are masked


# What `kernels.word_edges` says of the place before a word, as bits.
COLON, SENTENCE, LINE, BLOCK, WRAP = 1, 2, 4, 8, 16


class Edges(NamedTuple):
    """What begins at each token and at the end, and the signs around each token."""

    marks: NDArray[
        np.bool_
    ]  #: whether a sentence, a part of one, a line or an element begins there; so does the end
    kinds: NDArray[np.uint8]  #: which of them, as bits
    signs_before: U32  #: how many signs (braces, slashes, bars …) its file has before its start
    signs_behind: U32  #: and before its end


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
    short: U32 | None = None  #: numbers of pairs of letters that stand for two words inside a sentence
    stop: U32 | None = None  #: numbers of the words that hold sentences together
    _code: tuple[list[Stretch], list[Stretch]] | None = None  #: made when it is first asked for

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

    def edges(self) -> Edges:
        """What begins at each token and at the end. In code that is a line and nothing else."""
        borders, at_start, at_end = kernels.word_edges(
            [marked.masked for marked in self.marked_texts],
            self.starts,
            self.starts + self.sizes,
            self.offsets.astype(np.uint64),
            self.threads,
        )
        kinds = np.append(borders, np.uint8(BLOCK))
        kinds[self.cuts] |= np.uint8(BLOCK)
        listings, prose = self.code()
        for number, marked in enumerate(self.marked_texts):
            if marked.kind == "text":
                self._unwrap(kinds, int(self.offsets[number]), int(self.offsets[number + 1]))
        for one, two in prose:
            self._unwrap(kinds, one, two)
        self._go_on(kinds)
        self._number(kinds)
        marks = (kinds & (COLON | SENTENCE | LINE | BLOCK)) != 0
        for one, two in listings:
            marks[one + 1 : two] = (kinds[one + 1 : two] & (LINE | BLOCK | WRAP)) != 0
        return Edges(marks, kinds, at_start, at_end)

    def _go_on(self, kinds: NDArray[np.uint8]) -> None:
        """No sentence ends behind "e.g." or "i.e.", whatever letter follows."""
        if self.short is None or len(self.ids) < 3:
            return
        for one, two in self.short.reshape(-1, 2).tolist():
            at = np.flatnonzero((self.ids[:-2] == one) & (self.ids[1:-1] == two)) + 2
            kinds[at] &= np.uint8(0xFF ^ SENTENCE)

    def _number(self, kinds: NDArray[np.uint8]) -> None:
        """No sentence ends behind the number of a heading or an item that begins a line ("3.4.1. Purpose")."""
        numbers = np.arange(len(kinds))
        lines = np.maximum.accumulate(np.where(kinds & (LINE | BLOCK), numbers, 0))
        parts = numbers - lines
        ends = (kinds & SENTENCE).astype(np.bool_) & (parts > 0) & (parts <= NUMBERING)
        for at in np.flatnonzero(ends[:-1]).tolist():
            number = int(np.searchsorted(self.offsets, at, side="right")) - 1
            first = int(self.starts[lines[at]])
            said = self.marked_texts[number].masked[first : int(self.starts[at])]
            if said[0].isdigit() and _NUMBERED.fullmatch(said):
                kinds[at] &= np.uint8(0xFF ^ SENTENCE)

    def places(self, spans_of: Callable[[MarkedText], Sequence[Span]], shortest: int = 1) -> list[Stretch]:
        """First token of each of the spans in all files, and the one behind its last; without those of less than
        *shortest* tokens."""
        out: list[Stretch] = []
        for number, marked in enumerate(self.marked_texts):
            spans = spans_of(marked)
            if spans:
                base, stop = int(self.offsets[number]), int(self.offsets[number + 1])
                edges = np.array([edge for span in spans for edge in span], np.uint32)
                places = (base + np.searchsorted(self.starts[base:stop], edges)).reshape(-1, 2)
                out += [(one, two) for one, two in places.tolist() if two - one >= shortest]
        return out

    def code(self) -> tuple[list[Stretch], list[Stretch]]:
        """Listings, and what stands between the marks of one but is prose: a page that is shown as it was typed."""
        if self._code is not None:
            return self._code
        listings: list[Stretch] = []
        prose: list[Stretch] = []
        spans = self.places(lambda marked: marked.code)
        is_stop = np.zeros(int(self.ids.max(initial=0)) + 1 if spans else 0, bool)
        if spans and self.stop is not None:
            is_stop[self.stop[self.stop < len(is_stop)]] = True
        for one, two in spans:
            words = np.count_nonzero(is_stop[self.ids[one:two]])
            typed = (
                words >= FUNCTION_WORDS * (two - one)
                and not self._is_coloured(one, two)
                and self._signs(one, two) <= SIGNS
            )
            (prose if typed else listings).append((one, two))
        self._code = listings, prose
        return self._code

    def code_before(self, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many tokens before each of *tokens* are in listings."""
        listings = np.array([(0, 0), *sorted(set(self.code()[0]))], np.int64)
        sizes = np.diff(listings).reshape(-1)
        at = np.searchsorted(listings[:, 0], tokens, "right") - 1
        open_ = np.minimum(np.asarray(tokens) - listings[at, 0], sizes[at])
        before: NDArray[np.int64] = (np.cumsum(sizes) - sizes)[at] + open_
        return before

    def _is_coloured(self, one: int, two: int) -> bool:
        """Whether words of a stretch are marked one by one, as those of programs are to be shown in colours."""
        text = self.marked_texts[self.file_of(one)].text
        return text.count(_COLOUR, int(self.starts[one]), int(self.starts[two - 1])) >= COLOURED * (two - one)

    def _signs(self, one: int, two: int) -> float:
        """Share of the characters of a stretch that are signs."""
        text = self.marked_texts[self.file_of(one)].masked[int(self.starts[one]) : int(self.ends(two - 1))]
        return len(_SIGN.findall(text)) / max(1, len(text))

    def _unwrap(self, kinds: NDArray[np.uint8], base: int, stop: int) -> None:
        """Makes line ends of a plain text wraps where the next word had no room in a line of its paragraph."""
        lines = base + np.flatnonzero(kinds[base:stop] & (LINE | WRAP | BLOCK))  # the first words of lines
        if len(lines) < 2:
            return
        begin = self.starts[lines].astype(np.int64)
        width = self.ends(np.append(lines[1:], stop) - 1) - begin
        paragraphs = np.union1d([0], np.flatnonzero(kinds[lines] & BLOCK))
        sizes = np.diff(np.append(paragraphs, len(lines)))
        widest = np.repeat(np.maximum.reduceat(width, paragraphs), sizes)[1:]
        proof = np.add.reduceat(
            (kinds[lines] & WRAP != 0).astype(int) - (kinds[lines] & LINE != 0), paragraphs
        )
        widest[np.repeat(proof < 0, sizes)[1:]] = 0
        first = lines[1:]
        wrapped = (kinds[first] & (LINE | BLOCK) == LINE) & (self.ids[first] != 0)
        room = widest - width[:-1]
        wrapped &= (widest >= PROSE) & (self.sizes[first] + WORD_SIGNS >= room)
        masked = self.marked_texts[self.file_of(base)].masked
        for token, free in zip(first[wrapped].tolist(), room[wrapped].tolist(), strict=True):
            gap = masked[int(self.ends(token - 1)) : int(self.starts[token])]
            word = _WORD.match(masked, int(self.starts[token]))
            before = gap[gap.rfind("\n") + 1 :].lstrip()  # no mark of an item
            if not before.strip(_QUOTES) and word and len(before) + len(word[0]) >= free:
                kinds[token] = int(kinds[token]) & ~LINE | WRAP

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
            units = _lines(marked.text) if options.tokens == "line" else sentences(marked.masked)
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
    usual = " ".join(sorted(word for word in stop_words() - CODE_WORDS if len(word) > 1))
    return TokenSequence(
        ids,
        starts,
        sizes,
        np.array(offsets, np.int64),
        marks,
        marked_texts,
        threads,
        dangling=_numbers(table, DANGLING),
        short=_numbers(table, SHORTENED),
        stop=_numbers(table, usual),
    )


def _numbers(table: Any, words: str) -> U32:
    """Numbers of *words*."""
    numbers: U32 = table.number(kernels.tokenize([words])[0])
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
