"""Which words of a tree were changed since an earlier state, and which of these say again what is said elsewhere.

The earlier state is kept as 16 bits a word, in order (`packed_words`). Words are those of the sources, markup included:
a change of markup must not make a page look new. The two states are aligned by runs of words, each old word used at
most once. So text that was moved, inside a file or to another, is unchanged; a copy is changed, because the words it
was copied from are still in use.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet import kernels

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
Flags = NDArray[np.bool_]

BLOCK = 6  #: words of the shortest run by which the two states are aligned
RUN = 3  #: words of the runs by which it is told what is said again
CANDIDATES = 64  #: old places that are tried for one new place
MOST_BYTES = 1 << 30  #: of the words of one file in a baseline


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The words of all files, one after the other. File f has the words ``[offsets[f]:offsets[f+1]]``."""

    words: NDArray[np.uint16]
    offsets: I64

    def __len__(self) -> int:
        return len(self.words)

    def file(self, number: int) -> NDArray[np.uint16]:
        return self.words[self.offsets[number] : self.offsets[number + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A state with the places of its words, in characters of their files."""

    state: State
    starts: I64
    ends: I64


def read_source(texts: Sequence[str], threads: int = 1) -> Source:
    hashes, starts, ends, _, offsets, _ = kernels.tokenize(list(texts), None, None, threads)
    words = (hashes >> np.uint64(48)).astype(np.uint16)
    return Source(State(words, offsets.astype(np.int64)), starts.astype(np.int64), ends.astype(np.int64))


def packed_words(texts: Sequence[str], threads: int = 1) -> list[str]:
    """The words of each text as a baseline keeps them."""
    state = read_source(texts, threads).state
    return [
        base64.b64encode(zlib.compress(state.file(number).astype("<u2").tobytes(), 9)).decode()
        for number in range(len(texts))
    ]


def unpacked_words(packed: Sequence[str]) -> State:
    """The state that `packed_words` wrote. Raises `ValueError` when it is damaged."""
    files = []
    for text in packed:
        stream = zlib.decompressobj()
        try:
            data = stream.decompress(base64.b64decode(text, validate=True), MOST_BYTES)
        except (binascii.Error, zlib.error, TypeError) as error:
            raise ValueError(str(error)) from error
        if not stream.eof or len(data) % 2:
            raise ValueError("the words are cut off")
        files.append(np.frombuffer(data, "<u2").astype(np.uint16))
    offsets = np.cumsum([0, *map(len, files)]).astype(np.int64)
    return State(np.concatenate(files) if files else np.zeros(0, np.uint16), offsets)


def fresh_words(old: State, new: State) -> tuple[Flags, Flags]:
    """For each new word whether it was changed and is part of a run that is said more often than before; and whether
    that run was said several times before already."""
    source = aligned(old, new)
    changed = source < 0
    fresh, known = np.zeros(len(new), bool), np.zeros(len(new), bool)
    if not changed.any():
        return fresh, known
    keys, valid = _runs(new, RUN)
    old_keys, old_valid = _runs(old, RUN)
    before = _times(keys, old_keys[old_valid])
    more = valid & (_times(keys, keys[valid]) > np.maximum(before, 1))
    for step in range(RUN):
        fresh[step:] |= more[: len(more) - step]
        known[step:] |= (more & (before > 1))[: len(more) - step]
    fresh &= changed
    _forgive_rewordings(fresh, source, old, new, old_keys, old_valid)
    return fresh, known


def _runs(state: State, size: int) -> tuple[U64, Flags]:
    """A number for the run of *size* words that begins with each word, and whether it ends in the same file."""
    count = len(state)
    keys = np.zeros(count, np.uint64)
    words = state.words.astype(np.uint64)
    for step in range(size):
        part = words[step:] if step < count else words[:0]
        keys[: len(part)] = keys[: len(part)] * np.uint64(0x9E3779B97F4A7C15) + part + np.uint64(1)
    keys *= np.uint64(0xBF58476D1CE4E5B9)
    ends = np.repeat(state.offsets[1:], np.diff(state.offsets))
    return keys, np.arange(count) + size <= ends


def _times(keys: U64, among: U64) -> I64:
    """How often each key is *among* these."""
    ordered = np.sort(among)
    return np.searchsorted(ordered, keys, "right") - np.searchsorted(ordered, keys, "left")


def aligned(old: State, new: State) -> I64:
    """For each new word the old one that it is, or -1: it was changed. No old word stands for two."""
    source = np.full(len(new), -1, np.int64)
    used = np.zeros(len(old), bool)
    _same_files(old, new, source, used)
    open_places = np.flatnonzero(source < 0)
    if not len(open_places) or used.all():
        return source
    keys, valid = _runs(new, BLOCK)
    old_keys, old_valid = _runs(old, BLOCK)
    places = np.flatnonzero(old_valid & ~used)
    places = places[np.argsort(old_keys[places], kind="stable")]
    ordered = old_keys[places]
    open_places = open_places[valid[open_places]]
    first = np.searchsorted(ordered, keys[open_places], "left")
    last = np.searchsorted(ordered, keys[open_places], "right")
    some = last > first
    old_ends = np.repeat(old.offsets[1:], np.diff(old.offsets))
    new_ends = np.repeat(new.offsets[1:], np.diff(new.offsets))
    reach, after = 0, -1  # new words before *reach* are told; the old word after the last one that was taken
    for at, one, two in zip(
        open_places[some].tolist(), first[some].tolist(), last[some].tolist(), strict=True
    ):
        if at < reach:
            continue
        candidates = places[one : min(two, one + CANDIDATES)].tolist()
        best, length = -1, BLOCK - 1
        for candidate in sorted(candidates, key=lambda place: (place != after, place)):
            most = min(int(old_ends[candidate]) - candidate, int(new_ends[at]) - at)
            found = _equal_words(old.words, new.words, used, source, candidate, at, most)
            if found > length:
                best, length = candidate, found
        if best >= 0:
            source[at : at + length] = np.arange(best, best + length)
            used[best : best + length] = True
            reach, after = at + length, best + length
    _grown(old, new, source, used)
    return source


def _same_files(old: State, new: State, source: I64, used: Flags) -> None:
    """Files that are as they were, whatever their names are now."""
    known: dict[bytes, list[int]] = {}
    for number in range(len(old.offsets) - 1, -1, -1):
        if number < len(old.offsets) - 1:
            known.setdefault(old.file(number).tobytes(), []).append(number)
    for number in range(len(new.offsets) - 1):
        same = known.get(new.file(number).tobytes())
        if same:
            one, two = old.offsets[same[-1]], old.offsets[same[-1] + 1]
            source[new.offsets[number] : new.offsets[number + 1]] = np.arange(one, two)
            used[one:two] = True
            same.pop()


def _equal_words(
    old: NDArray[np.uint16], new: NDArray[np.uint16], used: Flags, source: I64, one: int, two: int, most: int
) -> int:
    """How many words from *one* and *two* on are equal and free on both sides."""
    done, step = 0, 64
    while done < most:
        size = min(step, most - done)
        a, b = slice(one + done, one + done + size), slice(two + done, two + done + size)
        differ = (old[a] != new[b]) | used[a] | (source[b] >= 0)
        if differ.any():
            return done + int(np.argmax(differ))
        done, step = done + size, step * 4
    return done


def _grown(old: State, new: State, source: I64, used: Flags) -> None:
    """Blocks begin with `BLOCK` equal words; what is equal just before a block belongs to it too."""
    starts = np.flatnonzero((source >= 0) & (np.concatenate([[-2], source[:-1]]) != source - 1))
    limits = np.isin(np.arange(len(new) + 1), new.offsets)
    old_limits = np.isin(np.arange(len(old) + 1), old.offsets)
    for start in starts.tolist():
        at, from_ = start, int(source[start])
        while (
            not limits[at]
            and not old_limits[from_]
            and source[at - 1] < 0
            and not used[from_ - 1]
            and new.words[at - 1] == old.words[from_ - 1]
        ):
            at, from_ = at - 1, from_ - 1
            source[at] = from_
            used[from_] = True


def _forgive_rewordings(
    fresh: Flags, source: I64, old: State, new: State, old_keys: U64, old_valid: Flags
) -> None:
    """What took the place of a text that was said several times already is no new repeat: all its copies were changed
    alike."""
    gaps = np.flatnonzero(np.diff(np.concatenate([[False], fresh, [False]]).astype(np.int8)))
    if not len(gaps):
        return
    again = old_valid & (_times(old_keys, old_keys[old_valid]) > 1)
    repeated = np.zeros(len(old), bool)
    for step in range(RUN):
        repeated[step:] |= again[: len(again) - step]
    repeated[source[source >= 0]] = False  # what is still there was not replaced
    changed = np.diff(np.concatenate([[False], source < 0, [False]]).astype(np.int8))
    begins, ends = np.flatnonzero(changed == 1), np.flatnonzero(changed == -1)
    new_limits, old_limits = set(new.offsets.tolist()), old.offsets
    for start, end in zip(begins.tolist(), ends.tolist(), strict=True):
        if not fresh[start:end].any():
            continue
        before = int(source[start - 1]) + 1 if start not in new_limits else -1
        behind = int(source[end]) if end not in new_limits else -1
        if before < 0 and behind < 0:
            continue
        if before < 0:
            before = int(old_limits[np.searchsorted(old_limits, behind, "right") - 1])
        elif behind < 0:
            behind = int(old_limits[np.searchsorted(old_limits, before, "left")])
        gone = behind - before
        if 2 * gone >= end - start and 2 * np.count_nonzero(repeated[before:behind]) >= gone:
            fresh[start:end] = False
