"""The kernels in plain Python: slow, obvious, and the definition that the native twin must agree with.

Every function has the same name, arguments and results as in the native module; tests/reference compares the two on
hostile input. Sequences of documents are flat arrays with *offsets*: document d is ``values[offsets[d]:offsets[d+1]]``.
Rules of the canonical form are explained in docs/explanation/canonical-form.md.
"""

from __future__ import annotations

import collections
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from doublet.kernels.data import (
    ANCHOR_SHIFT,
    BREAK,
    CYRILLIC,
    DROP,
    FLAG_INVISIBLE,
    FLAG_LOOKALIKE,
    FLAG_MARKS,
    FLAG_NUMBER,
    FLAG_SHORT,
    FLAG_SPACED,
    FLAG_STOP,
    FLAG_STYLED,
    FLAGS_DISGUISE,
    GREEK,
    HIDDEN_WORDS,
    INVISIBLE,
    LATIN,
    LETTER_MASK,
    MARK,
    MASK64,
    MINHASH_PRIME,
    NEAR,
    OTHER,
    SCRIPT_SHIFT,
    SHINGLE_FACTOR,
    SIZE_FACTOR,
    SPACED_RUN,
    SPACED_RUN_AFTER,
    SPECIAL,
    TWIN_PAIRS,
    WORD,
    WORD_FACTOR,
    FoldTable,
    fold_table,
)

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
U8 = NDArray[np.uint8]
OnStep = Callable[[int, int], None] | None  #: told how far a long kernel has come: done, total

_SCRIPTS = (LATIN, CYRILLIC, GREEK)
_COMPOSE = {(0x438, 0x306): 0x439, (0x443, 0x306): 0x45E, (0x456, 0x308): 0x457}  # и+̆ у+̆ і+̈
# Marks that Greek is written with, and its letters that carry one from the start: nobody puts them on a look-alike.
_GREEK_MARKS = frozenset([0x300, 0x301, 0x304, 0x306, 0x308, 0x313, 0x314, 0x342, 0x345])
_GREEK_MARKED = frozenset(
    [0x386, *range(0x388, 0x391), *range(0x3AA, 0x3B1), *range(0x3CA, 0x3CF), *range(0x1F00, 0x2000)]
)
_SHOWING = 3  # letters of a word that shows what its neighbours are: «της», not Δ or «ΔΤ»
_SYMBOL_BLOCKS = 8  # up to U+08FF: Greek, Armenian, Hebrew, Arabic letters, which books name one by one
_TWINS_ALONE = 16  # so many look-alikes and no anchor near by: no alphabet is written so
_BLANKS = frozenset([0x20, 0x09, 0xA0, 0x202F, 0x205F, 0x3000, *range(0x2000, 0x200B)])


def mix(value: int) -> int:
    """Finaliser of 64-bit MurmurHash3; never 0, which open tables keep for "empty"."""
    value ^= value >> 33
    value = value * 0xFF51AFD7ED558CCD & MASK64
    value ^= value >> 33
    value = value * 0xC4CEB9FE1A85EC53 & MASK64
    value ^= value >> 33
    return value or 1


def hash_letters(letters: Sequence[int]) -> int:
    """Polynomial of the letters, the first with power 0, then mixed: running sums over a text give it loop-free."""
    value, power = 0, 1
    for letter in letters:
        value = (value + letter * power) & MASK64
        power = power * WORD_FACTOR & MASK64
    return mix(value)


class _Unit:
    """One letter of a word while it is being folded."""

    __slots__ = ("anchor", "code", "letter", "marked", "place", "script", "styled")

    def __init__(self, letter: int, code: int, entry: int, place: int, styled: bool) -> None:
        self.letter = letter
        self.code = code
        self.place = place
        self.script = entry >> SCRIPT_SHIFT & 15
        self.anchor = entry >> ANCHOR_SHIFT & 15
        self.styled = styled
        self.marked = code in _GREEK_MARKED  # with an accent, as Greek is written


class _Around(NamedTuple):
    """What stands within `NEAR` characters of a word."""

    anchors: int  #: scripts of which anchors are there
    surely: int  #: scripts, Greek or other, of which a word is that is no disguise
    swapped: bool  #: whether words hold look-alikes of other scripts
    alone: int  #: look-alikes of other alphabets in words that hold nothing else
    latin: int  #: in words that hold look-alikes: letters that are Latin, or stand for a Latin one, for sure
    cyrillic: int  #: the same for Cyrillic


class _Scanner:
    """Goes over one text; `words` yields (letters, start, end, flags)."""

    def __init__(self, text: str, table: FoldTable) -> None:
        self.codes = [ord(c) for c in text]
        self.table = table
        self.context = 0  # script of the last word with anchors of one
        self.gap = 0  # the blank between the letters of the last word, if that was set apart

    def collect(self, start: int, stop: int | None = None) -> tuple[list[_Unit], int, int, int]:
        """Units of the word that begins at *start*, its end, where to go on, and the flags for what was dropped."""
        table, codes, n = self.table, self.codes, len(self.codes) if stop is None else stop
        units: list[_Unit] = []
        flags = 0
        at = end = start
        pending = 0
        while at < n:
            code = codes[at]
            entry = int(table.entries[code])
            if entry & WORD:
                flags |= pending
                pending = 0
                self._add(units, code, entry, at)
                at += 1
                end = at
            elif entry & DROP:
                kind = entry & LETTER_MASK
                plain = units[-1].script & (LATIN | CYRILLIC | GREEK) or not units[-1].script
                if kind == BREAK and not plain:
                    break
                if kind == MARK:
                    pair = _COMPOSE.get((units[-1].letter, code))
                    if pair is not None:
                        units[-1].letter = pair
                        units[-1].anchor = units[-1].script = CYRILLIC
                    if units[-1].script == GREEK and code in _GREEK_MARKS:
                        units[-1].marked = True
                    flags |= FLAG_MARKS
                    end = at + 1
                elif kind in (INVISIBLE, BREAK) and plain:
                    pending = FLAG_INVISIBLE
                at += 1
            else:
                break
        return units, end, at, flags

    def _add(self, units: list[_Unit], code: int, entry: int, place: int) -> None:
        if entry & SPECIAL and code in self.table.expansions:
            for letter in self.table.expansions[code]:
                units.append(_Unit(letter, letter, int(self.table.entries[letter]), place, False))
            return
        letter = entry & LETTER_MASK
        if 0x1161 <= code <= 0x1175 and units and 0x1100 <= units[-1].letter <= 0x1112:
            units[-1].letter = 0xAC00 + ((units[-1].letter - 0x1100) * 21 + code - 0x1161) * 28
            return
        if 0x11A8 <= code <= 0x11C2 and units and 0xAC00 <= units[-1].letter <= 0xD7A3:
            if (units[-1].letter - 0xAC00) % 28 == 0:
                units[-1].letter += code - 0x11A7
                return
        units.append(_Unit(letter, code, entry, place, code in self.table.styled))

    def resolve(self, units: list[_Unit], start: int, end: int) -> int:
        """Give look-alike letters back to the script of their word. Returns flags; sets the context."""
        flags = FLAG_STYLED if any(u.styled for u in units) else 0
        anchors = scripts = 0
        for unit in units:
            anchors |= unit.anchor
            scripts |= unit.script
        if anchors & (anchors - 1) == 0:
            return flags | self._resolve_part(units, anchors, scripts, start, end)
        part: list[_Unit] = []
        for unit in units:
            if unit.letter == 0x5F:
                flags |= self._resolve_mixed(part, start, end)
                part = []
            else:
                part.append(unit)
        return flags | self._resolve_mixed(part, start, end)

    def _resolve_part(self, units: list[_Unit], anchors: int, scripts: int, start: int, end: int) -> int:
        if anchors:
            if anchors != OTHER:
                self.context = anchors
            return 0 if scripts == anchors else self._turn(units, anchors)
        if not scripts:
            return 0
        if scripts & (GREEK | OTHER):
            script = self._script_behind(units, scripts, start, end)
            return self._turn(units, script) if script else 0
        script = self._script_without_anchor(units, start, end)
        if scripts == script:
            return 0
        if scripts == LATIN and script == CYRILLIC and any(u.letter == 0x69 for u in units):
            return 0  # і is no Russian letter: «IEEE» in a Russian text is what it looks like
        mixed = scripts & (scripts - 1)
        changed = self._turn(units, script)
        return changed if mixed else 0

    def _resolve_mixed(self, part: list[_Unit], start: int, end: int) -> int:
        anchors = scripts = 0
        for unit in part:
            anchors |= unit.anchor
            scripts |= unit.script
        if anchors & (anchors - 1) == 0:
            return self._resolve_part(part, anchors, scripts, start, end)
        # A script whose anchors are all near look-alikes (к and k) yields to the other; where both are, to the more.
        if anchors == LATIN | CYRILLIC:
            firm = 0
            balance = 0
            for unit in part:
                if unit.anchor:
                    balance += 1 if unit.anchor == CYRILLIC else -1
                    if (unit.code, (LATIN | CYRILLIC) ^ unit.anchor) not in self.table.weak:
                        firm |= unit.anchor
            if not firm and balance:
                firm = CYRILLIC if balance > 0 else LATIN
            if firm in (LATIN, CYRILLIC):
                self.context = firm
                for unit in part:
                    if unit.anchor and unit.anchor != firm:
                        unit.letter = self.table.weak[unit.code, firm]
                        unit.script = unit.anchor = firm
                self._turn(part, firm)
                return FLAG_LOOKALIKE
        # Words of two scripts glued together: a twin takes the script of the nearest anchor on its left.
        flags = 0
        nearest = next(u.anchor for u in part if u.anchor)
        for unit in part:
            if unit.anchor:
                nearest = unit.anchor
            elif unit.script and nearest not in (unit.script, OTHER):
                flags |= self._turn([unit], nearest)
        if nearest != OTHER:
            self.context = nearest
        return flags

    def _turn(self, units: list[_Unit], script: int) -> int:
        """Replace twins of other scripts by their look in *script*; FLAG_LOOKALIKE when a letter changed."""
        if script == OTHER:
            return 0
        flags = 0
        column = _SCRIPTS.index(script)
        for unit in units:
            if unit.anchor or not unit.script or unit.script == script:
                continue
            row = self.table.twins.get(unit.code)
            if row is not None and row[column]:
                if row[column] != unit.letter:
                    unit.letter = row[column]
                    flags = FLAG_LOOKALIKE
                unit.script = script
        return flags

    def _script_without_anchor(self, units: list[_Unit], start: int, end: int) -> int:
        """Which script a word without anchors is written in.

        One or two letters that are twins in both cases («с», «а», «со») are always written in Latin: context-free, so
        that the same words are the same everywhere. Russian words behind capitals («На») are Cyrillic where a Cyrillic
        word is near. All others («Не», "TCP") go with the next word that has anchors, else with the last one; but
        what cannot be Russian ("NOTE", "XIX", whichever of their letters were swapped) is Latin there.
        """
        if len(units) <= 2 and all(u.letter in TWIN_PAIRS or u.letter in TWIN_PAIRS.values() for u in units):
            return LATIN
        if len(units) <= 3 and self._in_cyrillic(units) in HIDDEN_WORDS:
            around = [*self.codes[max(0, start - NEAR) : start], *self.codes[end : end + NEAR]]
            near = any(int(self.table.entries[code]) >> ANCHOR_SHIFT & 15 == CYRILLIC for code in around)
            return CYRILLIC if near else LATIN
        script = self._next_script(end) or self.context
        if script in (0, CYRILLIC) and self._not_cyrillic(units):
            return LATIN
        return script or next((u.script for u in units if u.script in (LATIN, CYRILLIC)), LATIN)

    def _script_behind(self, units: list[_Unit], scripts: int, start: int, end: int) -> int:
        """The script of a word without anchors that holds look-alikes of Greek or other alphabets; 0: leave it.

        A word of such letters alone («ΤΗΕ») is turned near Latin or Cyrillic words, if all its letters have a twin
        there, but not near a word that is surely of its own alphabet. Of Greek and its neighbours in Unicode one or
        two letters (the angle α, «ωτ»), and words with Greek accents, are turned only where others were swapped.
        Without any word to go by, it is turned only among many look-alikes of which none is an anchor.
        """
        pure = scripts in (GREEK, OTHER)
        letters = [u for u in units if u.script]
        block = letters[0].code >> 8
        around = self._look_around(start, end, block)
        if pure and around.surely & scripts:
            return 0
        if pure and (scripts == GREEK or block <= _SYMBOL_BLOCKS) and not around.swapped:
            if len(letters) < _SHOWING or any(u.marked for u in letters):
                return 0
        ahead = self._next_script(end)
        near = (around.anchors | ahead | self.context) & (LATIN | CYRILLIC)
        if around.swapped:
            near |= (LATIN if around.latin else 0) | (CYRILLIC if around.cyrillic else 0)
        if pure and not near and (scripts == GREEK or around.alone < _TWINS_ALONE):
            return 0
        rows = [self.table.twins[u.code] for u in letters]
        first = self._first_script(units, rows, around, ahead or self.context)
        if first == GREEK and not pure:
            return GREEK
        for script in (first, LATIN, CYRILLIC):
            if script not in (LATIN, CYRILLIC) or (near and script != first and not near & script):
                continue
            if all(row[_SCRIPTS.index(script)] for row in rows):
                return script
        return 0 if pure else first

    def _first_script(
        self, units: list[_Unit], rows: list[tuple[int, int, int]], around: _Around, context: int
    ) -> int:
        """As `_script_without_anchor`, so that a word comes out alike with and without its letters swapped.

        Small κ and τ stand for anchors (к, k): such a word does not go with the next one, but with those around that
        were swapped as well.
        """
        if len(units) <= 2 and len(rows) == len(units) and all(row[0] in TWIN_PAIRS.values() for row in rows):
            return LATIN
        if len(units) <= 3 and self._in_cyrillic(units) in HIDDEN_WORDS:
            return CYRILLIC if around.cyrillic or around.anchors & CYRILLIC else LATIN
        script = context
        if around.latin != around.cyrillic and any(map(self._stands_for_anchor, units)):
            script = LATIN if around.latin > around.cyrillic else CYRILLIC
        own = next((u.script for u in units if u.script in (LATIN, CYRILLIC)), 0)
        if script == CYRILLIC and own != CYRILLIC and any(row[0] == 0x69 for row in rows):
            return LATIN  # «ΙΕΕΕ» in a Russian text, as in `_resolve_part`
        if script in (0, CYRILLIC) and self._not_cyrillic(units):
            return LATIN
        return script or own or LATIN

    def _not_cyrillic(self, units: list[_Unit]) -> bool:
        """True for a word with N, Z or v, which look like Greek letters and like none of Cyrillic, or with a capital I,
        of which the Cyrillic twin is no Russian letter (a small i may be meant for the Ukrainian one)."""
        return any(
            u.script == LATIN and not u.anchor and (u.code == 0x49 or not self.table.twins[u.code][1])
            for u in units
        )

    def _stands_for_anchor(self, unit: _Unit) -> bool:
        """True for a small letter of Greek, Coptic or Cherokee that looks like k and к: these are no twins."""
        code = unit.code
        coptic = 0x2C80 <= code <= 0x2CE3 and code & 1
        if not (0x3B1 <= code <= 0x3C9 or 0xAB70 <= code <= 0xABBF or coptic):
            return False
        latin, cyrillic, _ = self.table.twins.get(code, (0, 0, 0))
        return latin != 0 and cyrillic != 0 and latin != 0x69 and latin not in TWIN_PAIRS.values()

    def _look_around(self, start: int, end: int, block: int) -> _Around:
        """*block* is where Unicode has the alphabet of the word: Chinese says nothing about Cherokee."""
        seen = surely = alone = latin = cyrillic = 0
        swapped = False
        for codes in (self.codes[max(0, start - NEAR) : start], self.codes[end : end + NEAR]):
            anchors = scripts = count = in_latin = in_cyrillic = 0
            same_block = False
            for code in [*codes, 0x20]:
                entry = int(self.table.entries[code])
                if entry & WORD:
                    same_block |= code >> 8 == block
                    script, anchor = entry >> SCRIPT_SHIFT & 15, entry >> ANCHOR_SHIFT & 15
                    seen |= anchor
                    anchors |= anchor
                    scripts |= script
                    count += script != 0
                    row = (0, 0, 0)
                    if script in (GREEK, OTHER) and not anchor:
                        row = self.table.twins.get(code, row)
                    in_latin += anchor == LATIN or (row[0] != 0 and row[1] == 0)
                    in_cyrillic += anchor == CYRILLIC or (row[1] != 0 and row[0] == 0)
                elif not entry & DROP:
                    if count >= _SHOWING and scripts & (GREEK | OTHER):
                        if anchors == GREEK or (anchors == OTHER and same_block):
                            surely |= anchors
                        elif anchors in (LATIN, CYRILLIC) or (not anchors and scripts & (scripts - 1)):
                            swapped = True
                    if not anchors and scripts & OTHER and not scripts & (LATIN | CYRILLIC):
                        alone += count
                    if scripts & (GREEK | OTHER) and not anchors & (GREEK | OTHER):
                        latin += in_latin
                        cyrillic += in_cyrillic
                    anchors = scripts = count = in_latin = in_cyrillic = 0
                    same_block = False
        return _Around(seen, surely, swapped or alone >= _TWINS_ALONE, alone, latin, cyrillic)

    def _in_cyrillic(self, units: list[_Unit]) -> str:
        out = []
        for unit in units:
            row = self.table.twins.get(unit.code)
            out.append(chr(row[1]) if row is not None and row[1] else chr(unit.letter))
        return "".join(out)

    def _next_script(self, start: int) -> int:
        """Script of the first word from *start* on with anchors of one script, if it ends within `NEAR` characters."""
        anchors = 0
        for code in [*self.codes[start : start + NEAR], 0x20]:
            entry = int(self.table.entries[code])
            if entry & WORD:
                anchors |= entry >> ANCHOR_SHIFT & 15
            elif not entry & DROP:
                if anchors in _SCRIPTS:
                    return anchors
                anchors = 0
        return 0

    def words(self) -> Iterator[tuple[list[_Unit], int, int, int]]:
        codes, entries = self.codes, self.table.entries
        run: list[tuple[list[_Unit], int, int, int]] = []
        at = 0
        while at < len(codes):
            if not int(entries[codes[at]]) & WORD:
                at += 1
                continue
            start = at
            units, end, at, flags = self.collect(start)
            single = len(units) == 1 and units[0].script != 0
            if run and not (single and self._goes_on(run, start)):
                yield from self._close(run)
                run = []
            flags |= self.resolve(units, start, end)
            if single:
                run.append((units, start, end, flags))
            else:
                if any(u.script for u in units):
                    self.gap = 0
                yield units, start, end, flags
        yield from self._close(run)

    def _goes_on(self, run: list[tuple[list[_Unit], int, int, int]], start: int) -> bool:
        """One blank between the letters of a run, and the same one all along: another blank parts two words."""
        blank = self.codes[start - 1]
        if start != run[-1][2] + 1 or blank not in _BLANKS:
            return False
        if self.gap:
            return blank == self.gap
        return len(run) == 1 or blank == self.codes[run[-1][1] - 1]

    def _close(
        self, run: list[tuple[list[_Unit], int, int, int]]
    ) -> Iterator[tuple[list[_Unit], int, int, int]]:
        """Single letters with one blank between them: from `SPACED_RUN` on they are one word that was set apart.

        After such a word two letters are enough (`SPACED_RUN_AFTER`), up to the next word that is not set apart.
        Letters that belong to two scripts for sure («a w и h») are no word, nor are those of other alphabets.
        """
        if len(run) < (SPACED_RUN_AFTER if self.gap else SPACED_RUN):
            yield from run
            return
        units = []
        flags = FLAG_SPACED
        anchors = 0
        for _, start, end, _ in run:
            more, _, _, dropped = self.collect(start, end)
            units += more
            flags |= dropped
            anchors |= more[0].anchor
        if anchors & (anchors - 1) or anchors == OTHER:
            yield from run
            return
        self.gap = self.codes[run[1][1] - 1]
        flags |= self.resolve(units, run[0][1], run[-1][2])
        yield units, run[0][1], run[-1][2], flags


class WordTable:
    """The vocabulary: every distinct folded word gets an id in order of first sight. Shared between batches."""

    def __init__(self) -> None:
        self._ids: dict[int, int] = {}
        self._words: list[str] = []

    def __len__(self) -> int:
        return len(self._words)

    def words(self, start: int = 0) -> list[str]:
        """The words from id *start* on."""
        return self._words[start:]

    def hashes(self) -> U64:
        return np.fromiter(self._ids, np.uint64, len(self._ids))

    def id_of(self, value: int, letters: Sequence[int]) -> int:
        found = self._ids.get(value)
        if found is None:
            found = self._ids[value] = len(self._words)
            self._words.append("".join(map(chr, letters)))
        return found


def tokenize(
    texts: Sequence[str], stop: U64 | None = None, table: WordTable | None = None, threads: int = 1
) -> tuple[U64, U32, U32, U8, U64, U32]:
    """Words of the texts: hashes, starts, ends, flags, offsets, ids (empty without *table*). *threads* is ignored."""
    fold = fold_table()
    stops = frozenset(stop.tolist()) if stop is not None else frozenset()
    hashes: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    flags: list[int] = []
    ids: list[int] = []
    offsets = [0]
    for text in texts:
        for units, start, end, flag in _Scanner(text, fold).words():
            letters = [u.letter for u in units]
            value = hash_letters(letters)
            if value in stops:
                flag |= FLAG_STOP
            if len(letters) < 3:
                flag |= FLAG_SHORT
            if not any(int(fold.entries[c]) >> SCRIPT_SHIFT & 15 for c in letters):
                flag |= FLAG_NUMBER
            hashes.append(value)
            starts.append(start)
            ends.append(end)
            flags.append(flag)
            if table is not None:
                ids.append(table.id_of(value, letters))
        offsets.append(len(hashes))
    return (
        np.array(hashes, np.uint64),
        np.array(starts, np.uint32),
        np.array(ends, np.uint32),
        np.array(flags, np.uint8),
        np.array(offsets, np.uint64),
        np.array(ids, np.uint32),
    )


def fold_text(text: str) -> tuple[str, U32]:
    """Canonical text (folded words, one blank between) and for each of its characters the place in the original."""
    out: list[str] = []
    places: list[int] = []
    for units, start, _, _ in _Scanner(text, fold_table()).words():
        if out:
            out.append(" ")
            places.append(start)
        for unit in units:
            out.append(chr(unit.letter))
            places.append(unit.place)
    return "".join(out), np.array(places, np.uint32)


def _documents(offsets: U64) -> Iterator[tuple[int, int]]:
    for i in range(len(offsets) - 1):
        yield int(offsets[i]), int(offsets[i + 1])


def shingle(hashes: U64, offsets: U64, size: int) -> tuple[U64, U64]:
    """Rabin–Karp fingerprints of every run of *size* words, in order.

    A shorter document that is not empty has one, of all its words.
    """
    out: list[int] = []
    ends = [0]
    for start, end in _documents(offsets):
        words = [int(h) for h in hashes[start:end]]
        length = min(size, len(words))
        if length:
            for i in range(len(words) - length + 1):
                value = 0
                for word in words[i : i + length]:
                    value = (value * SHINGLE_FACTOR + word) & MASK64
                out.append(mix((value + length * SIZE_FACTOR) & MASK64))
        ends.append(len(out))
    return np.array(out, np.uint64), np.array(ends, np.uint64)


def distinct(values: U64, offsets: U64) -> tuple[U64, U64]:
    """Each value once per document, in order of first sight."""
    out: list[int] = []
    ends = [0]
    for start, end in _documents(offsets):
        out.extend(dict.fromkeys(values[start:end].tolist()))
        ends.append(len(out))
    return np.array(out, np.uint64), np.array(ends, np.uint64)


def shingle_sets(
    texts: Sequence[str], size: int, stop: U64 | None = None, min_letters: int = 1, threads: int = 1
) -> tuple[U64, U64, U32, U32]:
    """Sets of fingerprints straight from the texts: values, offsets, words and disguised words per text.

    Words of *stop* and words of fewer than *min_letters* letters (1 or 3) are left out first.
    """
    hashes, _, _, flags, offsets, _ = tokenize(texts, stop)
    drop = (FLAG_STOP if stop is not None else 0) | (FLAG_SHORT if min_letters > 2 else 0)
    kept = (flags & drop) == 0
    counts = np.array([int(kept[a:b].sum()) for a, b in _documents(offsets)], np.uint32)
    disguised = np.array(
        [int(((flags[a:b] & FLAGS_DISGUISE) != 0).sum()) for a, b in _documents(offsets)], np.uint32
    )
    new_offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.uint64)]).astype(np.uint64)
    values, ends = distinct(*shingle(hashes[kept], new_offsets, size))
    return values, ends, counts, disguised


def count_lines(block: bytes) -> int:
    """Line ends in *block*."""
    return block.count(b"\n")


def json_sets(
    block: bytes,
    id_field: str,
    text_field: str,
    size: int,
    stop: U64 | None = None,
    min_letters: int = 1,
    store: SetStore | None = None,
) -> tuple[U64, U64, U32, U32, bytes, U64, U32, U64, U32, U64]:
    """Sets of the records of JSON lines: as `shingle_sets`, then ids (UTF-8, one piece) and their ends, the lines taken
    and where they begin, the lines left and where they begin.

    The native twin counts the values for *store* as they are made. A line is left to the caller, who reads it with
    care, unless it is plainly good: a valid JSON object whose id is a
    string that is not empty, or a whole number, and whose text is a string. A kernel may leave more lines, but never
    take a bad one.
    """
    import orjson

    ids, texts, lines, starts, left, left_starts = [], [], [], [], [], []
    at = 0
    for number, line in enumerate(block.split(b"\n")):
        start, at = at, at + len(line) + 1
        if number == block.count(b"\n") and not line:
            break
        try:
            record = orjson.loads(line)
            identifier, text = record[id_field], record[text_field]
            good = isinstance(text, str) and type(identifier) in (str, int) and identifier != ""
        except (ValueError, KeyError, TypeError):
            good = False
        if not good:
            left.append(number)
            left_starts.append(start)
            continue
        ids.append(str(identifier).encode())
        texts.append(text)
        lines.append(number)
        starts.append(start)
    ends = np.cumsum([len(i) for i in ids], dtype=np.uint64)
    sets = shingle_sets(texts, size, stop, min_letters)
    taken = np.array(lines, np.uint32), np.array(starts, np.uint64)
    return *sets, b"".join(ids), ends, *taken, np.array(left, np.uint32), np.array(left_starts, np.uint64)


def winnow(values: U64, offsets: U64, window: int) -> tuple[U32, U64]:
    """Winnowing: of every *window* values in a row the smallest, of equals the last; each place once, rising.

    Places count from the beginning of each document. A document shorter than the window has one place. Two
    documents that share a run of *window* values choose the same value of it.
    """
    if window < 1:
        raise ValueError("a window has at least one value")
    places: list[int] = []
    ends = [0]
    for start, end in _documents(offsets):
        part = values[start:end].tolist()
        last = -1
        for first in range(max(1, len(part) - window + 1) if part else 0):
            inside = range(first, min(first + window, len(part)))
            best = min(inside, key=lambda i: (part[i], -i))
            if best != last:
                places.append(best)
                last = best
        ends.append(len(places))
    return np.array(places, np.uint32), np.array(ends, np.uint64)


def pack_bags(words: U32, offsets: U64, numbers: U64) -> tuple[NDArray[np.uint8], U64, U64, U64]:
    """The words of each document as bytes: data, where each document ends, and df and cf of each word.

    *words* are all words of the documents in any order, *numbers* what each of them is called for good. A bag is the
    count of distinct numbers; the numbers rising, as differences, with a low bit for "more than once"; then the
    counts of those. Seven bits a byte, the lowest first, the last byte of a number without the high bit.
    """
    if len(words) and int(words.max()) >= len(numbers):
        raise ValueError("a word has no number")
    data = bytearray()
    ends = [0]
    df, cf = [0] * len(numbers), [0] * len(numbers)
    for start, end in _documents(offsets):
        own: dict[int, int] = {}
        for word in words[start:end].tolist():
            own[word] = own.get(word, 0) + 1
        for word, count in own.items():
            df[word] += 1
            cf[word] += count
        counts = sorted((int(numbers[word]), count) for word, count in own.items())
        values = [len(counts)]
        previous = 0
        for number, count in counts:
            values.append((number - previous) << 1 | (count > 1))
            previous = number
        values += [count for _, count in counts if count > 1]
        for value in values:
            while value > 127:
                data.append(value & 127 | 128)
                value >>= 7
            data.append(value)
        ends.append(len(data))
    return (
        np.frombuffer(bytes(data), np.uint8),
        np.array(ends, np.uint64),
        np.array(df, np.uint64),
        np.array(cf, np.uint64),
    )


def unpack_bags(data: NDArray[np.uint8], offsets: U64) -> tuple[U32, U32, U64]:
    """What `pack_bags` packed: numbers of words (rising), how often each stands, and where each document ends."""
    words: list[int] = []
    counts: list[int] = []
    ends = [0]
    for start, end in _documents(offsets):
        values, value, shift = [], 0, 0
        for byte in data[start:end].tolist():
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                values.append(value)
                value = shift = 0
        size = values[0] if values else -1
        steps = values[1 : size + 1]
        several = sum(step & 1 for step in steps)
        rest = values[size + 1 :]
        if (
            shift
            or size < 0
            or len(steps) != size
            or len(rest) != several
            or any(count < 2 for count in rest)
        ):
            raise ValueError("a bag of words is damaged")
        word = 0
        more = iter(rest)
        for step in steps:
            word += step >> 1
            words.append(word)
            counts.append(next(more) if step & 1 else 1)
        ends.append(len(words))
    if any(value >> 32 for value in (*words, *counts)):
        raise ValueError("a bag of words is damaged")
    return np.array(words, np.uint32), np.array(counts, np.uint32), np.array(ends, np.uint64)


def heaviest(weights: NDArray[np.float64], ranks: U32, offsets: U64, count: int) -> tuple[U64, U64]:
    """Rows of the *count* heaviest words of each document, by rank; and where each document ends.

    Of equal weights the lowest rank is taken; minus infinity is never taken. A document with fewer has none.
    """
    if count < 1:
        raise ValueError("at least one row has to be chosen")
    if len(ranks) != len(weights):
        raise ValueError("every row needs a weight and a rank")
    rows: list[int] = []
    ends = [0]
    for start, end in _documents(offsets):
        known = [row for row in range(start, end) if weights[row] > -np.inf]
        chosen = sorted(known, key=lambda row: (-weights[row], ranks[row]))[:count]
        if len(chosen) == count:
            rows += sorted(chosen, key=lambda row: int(ranks[row]))
        ends.append(len(rows))
    return np.array(rows, np.uint64), np.array(ends, np.uint64)


def minima(values: U64, offsets: U64, factors: U32, terms: U32, threads: int = 1) -> U32:
    """Smallest (a·x + b) mod p for each document and function; p = 2³¹−1, x = value mod p. An empty document has p."""
    out = np.full((len(offsets) - 1, len(factors)), MINHASH_PRIME, np.uint32)
    a = factors.astype(np.uint64)
    b = terms.astype(np.uint64)
    for row, (start, end) in enumerate(_documents(offsets)):
        for value in values[start:end].tolist():
            x = np.uint64(value % MINHASH_PRIME)
            np.minimum(out[row], ((a * x + b) % np.uint64(MINHASH_PRIME)).astype(np.uint32), out=out[row])
    return out


def simhash(values: U64, weights: NDArray[np.float64] | None, offsets: U64) -> U64:
    """Bitwise weighted majority of the values of each document; a tie gives 0. An empty document gives 0."""
    out = []
    for start, end in _documents(offsets):
        sums = [0.0] * 64
        for i in range(start, end):
            value = int(values[i])
            weight = 1.0 if weights is None else float(weights[i])
            for bit in range(64):
                sums[bit] += weight if value >> bit & 1 else -weight
        out.append(sum(1 << bit for bit in range(64) if sums[bit] > 0))
    return np.array(out, np.uint64)


def components(count: int, left: U32, right: U32) -> U32:
    """Smallest member of each node's connected component (union-find)."""
    parent = list(range(count))

    def find(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        x, y = find(a), find(b)
        if x != y:
            parent[max(x, y)] = min(x, y)
    return np.array([find(i) for i in range(count)], np.uint32)


class SetStore:
    """Sets of fingerprints of many documents, and the exact join over them.

    `add` takes batches; `overlaps` counts what given pairs have in common; `clean` walks the documents in an order of
    preference and links every document to the kept ones that cover it; `pairs` lists all pairs. The native twin keeps
    the sets within *memory_bytes* by spilling them to a file in *folder*; here they are plain Python sets.
    """

    def __init__(self, memory_bytes: int = 0, folder: str = "", threads: int = 1) -> None:
        self._sets: list[frozenset[int]] = []

    def __len__(self) -> int:
        return len(self._sets)

    def expect(self, values: int) -> None:
        """About so many values will come. The native twin then lets `json_sets` count them as they are made."""

    def add(self, values: U64, offsets: U64, take: bool = False, counted: bool = False) -> None:
        """With *take* the array belongs to the store from now on: the native twin then does not copy it. *counted*: it
        was made by `json_sets` for this store."""
        for start, end in _documents(offsets):
            self._sets.append(frozenset(values[start:end].tolist()))

    def sizes(self) -> U32:
        return np.array([len(s) for s in self._sets], np.uint32)

    def get(self, document: int) -> U64:
        return np.array(sorted(self._sets[document]), np.uint64)

    def overlaps(self, left: U32, right: U32) -> U32:
        return np.array(
            [len(self._sets[a] & self._sets[b]) for a, b in zip(left.tolist(), right.tolist(), strict=True)],
            np.uint32,
        )

    def _covers(self, keeper: int, other: int, threshold: float, containment: float) -> int:
        """Overlap if *keeper* covers *other*, else 0."""
        a, b = self._sets[keeper], self._sets[other]
        common = len(a & b)
        if not common:
            return 0
        if common / (len(a) + len(b) - common) >= threshold:
            return common
        return common if containment > 0 and len(b) <= len(a) and common / len(b) >= containment else 0

    def clean(
        self, order: U32, threshold: float, containment: float, on_step: OnStep = None
    ) -> tuple[U32, U32, U32]:
        """Links (document, kept one, overlap) of each removed document to all that cover it.

        Documents come in *order* of preference; those it leaves out take no part.

        A document is kept unless one kept before it covers it: resemblance at least *threshold*, or (when *containment*
        is above 0) the document lies inside the kept, not smaller one with at least that containment. A document with
        the same set as one before it goes where that one went, or to it.
        """
        kept: list[int] = []
        first: dict[frozenset[int], int] = {}
        links: dict[int, list[tuple[int, int]]] = {}
        for done, document in enumerate(order.tolist()):
            if on_step is not None and done % 256 == 0:
                on_step(done, len(order))
            leader = first.setdefault(self._sets[document], document) if self._sets[document] else document
            if leader != document:
                links[document] = links[leader] or [(leader, len(self._sets[leader]))]
                continue
            found = [(k, self._covers(k, document, threshold, containment)) for k in kept]
            links[document] = [(k, common) for k, common in found if common]
            if not links[document]:
                kept.append(document)
        if on_step is not None:
            on_step(len(order), len(order))
        return _columns([(d, k, common) for d, hits in links.items() for k, common in hits])

    def pairs(
        self, threshold: float, containment: float, limit: int, on_step: OnStep = None
    ) -> tuple[U32, U32, U32, bool]:
        """All pairs (smaller number first) that resemble or hold each other, at most *limit*; last: was it cut?"""
        out: list[tuple[int, int, int]] = []
        for a in range(len(self._sets)):
            if on_step is not None:
                on_step(a + 1, len(self._sets))
            for b in range(a + 1, len(self._sets)):
                common = self._covers(a, b, threshold, containment) or self._covers(
                    b, a, threshold, containment
                )
                if common:
                    out.append((a, b, common))
        cut = len(out) > limit
        return (*_columns(out[:limit]), cut)

    def contained(self, threshold: float) -> U8:
        """1 for each document of which this share or more lies inside a larger one."""
        out = np.zeros(len(self._sets), np.uint8)
        for number, inner in enumerate(self._sets):
            larger = (outer for outer in self._sets if len(outer) > len(inner))
            if inner and any(len(inner & outer) / len(inner) >= threshold for outer in larger):
                out[number] = 1
        return out

    def minima(self, factors: U32, terms: U32, documents: U32) -> U32:
        """Minima (see there) of the sets of some documents, a row each."""
        chosen = [sorted(self._sets[d]) for d in documents.tolist()]
        offsets = np.cumsum([0, *map(len, chosen)]).astype(np.uint64)
        values = np.array([v for some in chosen for v in some], np.uint64)
        return minima(values, offsets, factors, terms)

    @property
    def spilled(self) -> bool:
        return False

    def close(self) -> None:
        self._sets = []


def _columns(rows: list[tuple[int, int, int]]) -> tuple[U32, U32, U32]:
    table: Any = np.array(sorted(rows), np.uint32).reshape(-1, 3)
    return table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()


def common_runs(a: U64, b: U64, size: int) -> tuple[U32, U32, U32]:
    """Maximal equal runs of at least *size* words, longest first, no word of *a* twice: starts in a and b, lengths.

    All left- and right-maximal runs are found; the longest are taken first (ties: earlier in a, then in b) and later
    ones keep only stretches of *a* that are still free, again of at least *size* words. Of a run of *size* words that
    stands in *b* more than `RUN_CAP` times only the first `RUN_CAP` places are looked at; and of runs from one place of
    *b* that begin inside an earlier one, as in a text that repeats itself, only the first `RUN_CAP`.
    """
    places: dict[tuple[int, ...], list[int]] = {}
    words_a, words_b = a.tolist(), b.tolist()
    for j in range(len(words_b) - size + 1):
        known = places.setdefault(tuple(words_b[j : j + size]), [])
        if len(known) < RUN_CAP:
            known.append(j)
    runs = []
    # Place in b → end in a of its runs so far, and how many began inside one.
    reached: dict[int, tuple[int, int]] = {}
    for i in range(len(words_a) - size + 1):
        for j in places.get(tuple(words_a[i : i + size]), ()):
            if (
                i
                and j
                and words_a[i - 1] == words_b[j - 1]
                and j - 1 in places.get(tuple(words_a[i - 1 : i - 1 + size]), ())
            ):
                continue
            end, again = reached.get(j, (0, 0))
            again = again + 1 if i < end else 0
            if again > RUN_CAP:
                continue
            length = size
            while (
                i + length < len(words_a)
                and j + length < len(words_b)
                and words_a[i + length] == words_b[j + length]
            ):
                length += 1
            reached[j] = (max(end, i + length), again)
            runs.append((-length, i, j))
    taken = [False] * len(words_a)
    out = []
    for length, i, j in sorted(runs):
        at = i
        end = i - length
        while at < end:
            if taken[at]:
                at += 1
                continue
            stop = at
            while stop < end and not taken[stop]:
                stop += 1
            if stop - at >= size:
                taken[at:stop] = [True] * (stop - at)
                out.append((at, j + at - i, stop - at))
            at = stop
    return _columns(out)


RUN_CAP = (
    64  #: places of one run of words that are looked at in the other text: keeps repetitive texts linear
)


def number_words(words: U64) -> tuple[U64, U32]:
    """Each word once, in order of first sight, and for every word its number in that list."""
    known: dict[int, int] = {}
    numbers = [known.setdefault(word, len(known)) for word in words.tolist()]
    return np.array(list(known), np.uint64), np.array(numbers, np.uint32)


def save_memory(on: bool) -> None:
    """Keep no memory for the next piece of work, as long as *on*: what is freed goes back to the system at once. The
    native kernels keep large blocks, since new pages cost more than the work on them; here there is nothing to do."""


def sample_keys(values: U64, offsets: U64, first: int, bits: int) -> tuple[U64, NDArray[np.uint8]]:
    """One in 2 ** *bits* of the fingerprints of documents *first* and on, chosen by their second lowest byte: the
    fingerprint with the number of its document in place of its 24 lowest bits, and that byte."""
    if not 0 <= bits <= 8:
        raise ValueError("a byte has eight bits")
    if first + len(offsets) - 1 > 1 << 24:
        raise ValueError("too many documents")
    keys, chosen = [], []
    for document, (start, end) in enumerate(_documents(offsets), first):
        for value in values[start:end].tolist():
            byte = value >> 8 & 0xFF
            if byte & ((1 << bits) - 1) == 0:
                keys.append(value >> 24 << 24 | document)
                chosen.append(byte)
    return np.array(keys, np.uint64), np.array(chosen, np.uint8)


def pair_keys(keys: U64, documents: int, most: int) -> tuple[U64, NDArray[np.int64]]:
    """Of sorted keys as of `sample_keys`: a code for each two documents of a fingerprint that two to *most* have (the
    numbers of both, 24 bits each, and in four bits how many have it), and how many keys each document has."""
    if most > 15:
        raise ValueError("a code has room for 15 documents")
    mask = (1 << 24) - 1
    counts = [0] * documents
    codes = []
    for _, run in itertools.groupby(keys.tolist(), lambda key: key >> 24):
        holders = [key & mask for key in run]
        for document in holders:
            if document >= documents:
                raise ValueError("a key names a document that is not there")
            counts[document] += 1
        if 2 <= len(holders) <= most:
            codes += [(a << 24 | b) << 4 | len(holders) for a, b in itertools.combinations(holders, 2)]
    return np.array(codes, np.uint64), np.array(counts, np.int64)


def align_texts(
    words: U32,
    offsets: U64,
    gains: NDArray[np.float64],
    masses: NDArray[np.float64],
    left: U32,
    right: U32,
    threads: int = 1,
) -> tuple[NDArray[np.float64], U32, U32, U32, U32, U32]:
    """Local alignment by position of pairs of texts; *left* and *right* are numbers of texts.

    *words* are numbers of words; *gains* and *masses* are by word. An equal word at i and j is a point on the diagonal
    j - i. It adds its gain (at most ln(0.6 * length / count) in either text: what a text repeats weighs little) to the
    best path that reaches it on its own or one of the two next diagonals; a word between that does not agree costs 0.9,
    a step to the next diagonal 2. A path ends where its score is used up or lies 12 below its top, and counts from 12
    on; the best path takes its points first. A word with more than 32 places in b only prolongs paths.

    Gives a row for each pair (share of a covered by paths, of b; share of the mass of the distinct words of a that are
    matched on a path, of b; and what says that both are about the same, 1 where nothing can tell: of the five heaviest
    words, by count and mass, that a text has three times or more, how much the other has as often, and the same of the
    heaviest one; the larger of both texts), and the paths: pair, a_start, a_end, b_start, b_end.
    """
    if len(gains) != len(masses):
        raise ValueError("each word has one gain and one mass")
    if len(words) and int(words.max()) >= len(gains):
        raise ValueError("a word has no gain")
    if len(left) != len(right):
        raise ValueError("a pair has two texts")
    bounds = list(_documents(offsets))
    rows = np.zeros((len(left), 6), np.float64)
    found: list[tuple[int, int, int, int, int]] = []
    weight = masses.tolist()
    for pair, (one, other) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        if one >= len(bounds) or other >= len(bounds):
            raise ValueError("a pair names a text that is not there")
        a, b = (words[start:end].tolist() for start, end in (bounds[one], bounds[other]))
        paths = _paths(a, b, gains.tolist())
        for path in paths:
            found.append((pair, path[0][0], path[-1][0] + 1, path[0][1], path[-1][1] + 1))
        matched = {a[point[0]] for path in paths for point in path}
        some = sum(weight[word] for word in dict.fromkeys(a) if word in matched)
        for side, text in enumerate((a, b)):
            covered = {i for path in paths for i in range(path[0][side], path[-1][side] + 1)}
            total = sum(weight[word] for word in dict.fromkeys(text))
            rows[pair, side] = len(covered) / len(text) if text else 0.0
            rows[pair, 2 + side] = some / total if total > 0 else 0.0
        rows[pair, 4:] = _same_topics(a, b, weight)
    columns = np.array(found, np.uint32).reshape(-1, 5)
    return (rows, *(np.ascontiguousarray(columns[:, c]) for c in range(5)))  # type: ignore[return-value]


def _same_topics(a: list[int], b: list[int], masses: list[float]) -> tuple[float, float]:
    best = best_first = -1.0
    for text, other in ((a, b), (b, a)):
        counts, others = collections.Counter(text), collections.Counter(other)
        words = [word for word, count in counts.items() if count >= 3 and masses[word] > 0]
        words = sorted(words, key=lambda word: -counts[word] * masses[word])[:5]  # of equal ones the earlier
        if words and a and b:
            shares = [min(1.0, others[word] / counts[word]) for word in words]
            weights = [counts[word] * masses[word] for word in words]
            best = max(best, sum(x * y for x, y in zip(weights, shares, strict=True)) / sum(weights))
            best_first = max(best_first, shares[0])
    return (best, best_first) if best >= 0 else (1.0, 1.0)


def _paths(a: list[int], b: list[int], gains: list[float]) -> list[list[tuple[int, int]]]:
    """Points of every path that counts, in the order of the texts; the best path first."""
    places_b: dict[int, list[int]] = {}
    for j, word in enumerate(b):
        places_b.setdefault(word, []).append(j)
    counts_a: dict[int, int] = {}
    for word in a:
        counts_a[word] = counts_a.get(word, 0) + 1
    points: list[tuple[int, int, float, float, int]] = []  # i, j, score, top, number of the point before
    last: dict[int, int] = {}  # newest point of each diagonal
    live: list[int] = []
    for i, word in enumerate(a):
        places = places_b.get(word, [])
        if not places:
            continue
        gain = min(
            gains[word],
            math.log(0.6 * len(b)) - math.log(len(places)),
            math.log(0.6 * len(a)) - math.log(counts_a[word]),
        )
        if gain <= 0:
            continue
        if len(places) > 32:
            alive = []
            for diagonal in live:
                at_i, _, score, top, _ = points[last[diagonal]]
                now = score - 0.9 * (i - at_i - 1)
                if now > 0 and now > top - 12.0:
                    alive.append(diagonal)
            live = alive
            places = [i + d for d in live if 0 <= i + d < len(b) and b[i + d] == word]
        for j in places:
            best, best_top, before = 0.0, 0.0, -1
            for shift in (0, -1, 1, -2, 2):
                number = last.get(j - i + shift, -1)
                if number < 0:
                    continue
                at_i, at_j, score, top, _ = points[number]
                if at_i >= i or at_j >= j:
                    continue
                value = score - 0.9 * (max(i - at_i, j - at_j) - 1) - 2.0 * abs(shift)
                if value > best and value > top - 12.0:
                    best, best_top, before = value, top, number
            if j - i not in live:
                live.append(j - i)
            last[j - i] = len(points)
            points.append((i, j, best + gain, max(best + gain, best_top), before))
    peaks = sorted((p for p in range(len(points)) if points[p][2] >= 12.0), key=lambda p: (-points[p][2], p))
    used: set[int] = set()
    out = []
    for peak in peaks:
        path, at = [], peak
        while at >= 0 and at not in used:
            used.add(at)
            path.append(points[at][:2])
            at = points[at][4]
        base = points[at][2] if at >= 0 else 0.0
        if path and points[peak][2] - base >= 12.0:
            out.append(path[::-1])
    return out


def suffix_array(ids: U32) -> U32:
    """Positions of *ids* in the order of what begins there; where one is the beginning of another it comes first."""
    values = ids.tolist()
    return np.array(sorted(range(len(values)), key=lambda i: values[i:]), np.uint32)


def common_prefixes(ids: U32, order: U32) -> U32:
    """For each position: how many tokens it shares with the one before it in *order* (from `suffix_array`)."""
    values, sorted_ = ids.tolist(), order.tolist()
    out = np.zeros(len(values), np.uint32)
    for one, two in itertools.pairwise(sorted_):
        length = 0
        while max(one, two) + length < len(values) and values[one + length] == values[two + length]:
            length += 1
        out[two] = length
    return out


def exact_groups(
    ids: U32, order: U32, prefixes: U32, min_tokens: int, budget: int, places: U32 | None = None
) -> tuple[U64, U32, U32, bool]:
    """Groups of equal passages of at least *min_tokens* tokens, in which no token stands twice.

    Group g has the passages ``starts[offsets[g]:offsets[g+1]]``, each ``lengths[g]`` tokens long. All maximal repeats
    (equal, and longer neither to the left nor to the right) are taken by falling significance n·m² (ties: longer, then
    earlier); passages of which a token is taken already are left out, and what stays grows to both sides as far as all
    its passages agree. Of repeats that overlap themselves only the shortest are looked at, so that "la la la …" is
    linear. The last value is False when the work reached *budget* steps and the least significant were not looked at.
    Where *ids* are only those tokens of a text that can repeat (see `repeated`), *places* says where they stand in it.
    """
    s, sa, plcp = ids.tolist(), order.tolist(), prefixes.tolist()
    nodes = []
    where = places.tolist() if places is not None else range(len(s))
    for left, right, length in _intervals([plcp[at] for at in sa]):
        found = sa[left:right]
        before = {s[at - 1] if at else None for at in found}
        if length < min_tokens or (len(before) == 1 and None not in before):
            continue
        span, times = where[max(found)] - where[min(found)], right - left
        apart = span >= (times - 1) * length
        edges = [plcp[sa[i]] for i in (left, right) if 0 < i < len(sa)]
        if apart or max(edges, default=0) < min_tokens:
            n = times if apart else min(times, span // length + 1)
            nodes.append((-n * length * length, -length, min(found), left, right, apart))
    used = [False] * len(s)
    starts: list[int] = []
    lengths: list[int] = []
    offsets = [0]
    spent = 0
    for _, negative, _, left, right, apart in sorted(nodes):
        length = -negative
        spent += (right - left) * (2 + length // min_tokens)
        if spent > budget:
            return _groups(offsets, starts, lengths, False)
        kept: list[int] = []
        members = sorted(sa[left:right])
        if not apart:  # "la la la …": whole periods, so that nothing is left between the passages
            step = min(two - one for one, two in itertools.pairwise(members))
            length = min(length, -(-min_tokens // step) * step)
        for at in members:
            if (not kept or at >= kept[-1] + length) and not any(used[at : at + length]):
                kept.append(at)
        if len(kept) < 2:
            continue
        while _agree(s, used, [at + length for at in kept], [*kept[1:], len(s)]):
            length += 1
        while kept[0] and _agree(
            s, used, [at - 1 for at in kept[::-1]], None, [at + length for at in kept[-2::-1]]
        ):
            kept = [at - 1 for at in kept]
            length += 1
        for at in kept:
            used[at : at + length] = [True] * length
        starts += kept
        lengths.append(length)
        offsets.append(len(starts))
    return _groups(offsets, starts, lengths, True)


def _groups(
    offsets: list[int], starts: list[int], lengths: list[int], whole: bool
) -> tuple[U64, U32, U32, bool]:
    return np.array(offsets, np.uint64), np.array(starts, np.uint32), np.array(lengths, np.uint32), whole


def _agree(
    s: list[int], used: list[bool], places: list[int], below: list[int] | None, above: list[int] | None = None
) -> bool:
    """Whether the tokens at *places* are free and equal and stay below / at or above the limits."""
    if below is not None and any(at >= limit for at, limit in zip(places, below, strict=True)):
        return False
    if above is not None and any(at < limit for at, limit in zip(places, above, strict=False)):
        return False
    return not any(used[at] for at in places) and len({s[at] for at in places}) == 1


def _intervals(lcp: list[int]) -> Iterator[tuple[int, int, int]]:
    """All stretches of the order that share a prefix longer than what they share with their neighbours."""
    stack = [(0, 0)]
    for i in range(1, len(lcp) + 1):
        length = lcp[i] if i < len(lcp) else 0
        left = i - 1
        while stack[-1][0] > length:
            found, left = stack.pop()
            yield left, i, found
        if stack[-1][0] < length:
            stack.append((length, left))


CHAIN_WIDTH = 12  #: tokens by which the two places of a chain may drift apart at one step
CHAIN_EVEN = 4  #: tokens by which the copies of a period may differ in length


def self_chains(
    ids: U32,
    parts: U32,
    seed: int,
    nearest: int,
    gap: int,
    join_gap: int,
    min_matched: int,
    join_cost: int = 0,
) -> tuple[U32, U32, U32, U32, U32]:
    """Pairs of nearly equal passages of one text: start and end of the later and of the earlier, tokens matched.

    Each run of *seed* tokens is paired with its *nearest* earlier equals; seeds that follow each other in both places
    over at most *gap* other tokens are one chain, as long as the two places do not run into each other or over the
    border of a part (*parts* numbers the part of each token). Evenly spaced copies are paired with the nearest only.
    Chains that follow each other within *join_gap* tokens
    in both places are given once more as one (0: never). Chains with fewer than *min_matched* tokens are left out.
    Each of two that are joined must have matched at least *join_cost* quarters of the tokens of the gap between them.
    """
    s, part = ids.tolist(), parts.tolist()
    seen: dict[tuple[int, ...], int] = {}
    previous: dict[int, int] = {}
    chains: list[list[int]] = []  # a, a_end, b, b_end, matched
    live: dict[int, int] = {}
    for i in range(len(s) - seed + 1):
        if part[i] != part[i + seed - 1]:
            continue
        gram = tuple(s[i : i + seed])
        if gram in seen:
            previous[i] = seen[gram]
        seen[gram] = i
        far = max(min_matched, seed)
        j = _earlier(previous, i, far)
        before = None if j is None else _earlier(previous, j, far)
        partners = nearest
        if j is not None and before is not None and abs((i - j) - (j - before)) <= CHAIN_EVEN:
            partners = 1  # a period: its nearest copy is enough
        while j is not None and partners:
            _chain(chains, live, part, i, j, seed, gap)
            j, partners = previous.get(j), partners - 1
    chains = [[c[0], c[1], c[2], c[3], c[4]] for c in sorted(chains, key=lambda c: (c[0], c[2], c[1], c[3]))]
    joined = [list(c) for c in chains]
    cell = join_gap + 1
    ends: dict[int, int] = {}  # the last chain whose earlier place ends in this stretch
    for n in range(len(chains) if join_gap else 0):
        a, a_end, b, b_end, matched = joined[n]
        best = least = None
        for y in (b // cell, b // cell - 1):
            number = ends.get(y)
            if number is None:
                continue
            p = joined[number]
            ahead = a - p[1], b - p[3]
            if min(ahead) < 0 or max(ahead) > join_gap or b_end > p[0]:
                continue
            if part[a] != part[p[0]] or part[b] != part[p[2]]:
                continue
            if 4 * min(matched, p[4]) < max(ahead) * join_cost:
                continue
            if least is None or sum(ahead) < least:
                best, least = number, sum(ahead)
        at = n
        if best is not None:
            p = joined[best]
            joined[best] = [p[0], a_end, p[2], b_end, p[4] + matched]
            joined[n][4] = 0
            at = best
        ends[joined[at][3] // cell] = at
    rows = []
    for chain, grown in zip(chains, joined, strict=True):
        if chain[4] >= min_matched:
            rows.append(chain)
        if grown[4] != chain[4] and grown[4] >= min_matched:
            rows.append(grown)
    table: Any = np.array(rows, np.uint32).reshape(-1, 5)
    return tuple(table[:, column].copy() for column in range(5))


def _earlier(previous: dict[int, int], at: int, least: int) -> int | None:
    """The nearest earlier place of the same seed that is far enough for passages not to overlap themselves."""
    found = previous.get(at)
    while found is not None and at - found < least:
        found = previous.get(found)
    return found


def _chain(
    chains: list[list[int]], live: dict[int, int], part: list[int], i: int, j: int, seed: int, gap: int
) -> None:
    """Put the seed at *i* and *j* into a live chain near its diagonal, or begin a new one."""
    bucket = (i - j) // CHAIN_WIDTH + 1
    for near in (bucket, bucket - 1, bucket + 1):
        number = live.get(near)
        if number is None:
            continue
        a, a_end, b, b_end, _ = chains[number]
        if i > a_end + gap or j > b_end + gap:
            continue
        if i + seed <= a_end or j + seed <= b_end:
            if i >= a and j >= b and i + seed <= a_end and j + seed <= b_end:
                return
            continue
        if j + seed > a and a <= i < a_end:
            return  # the chain has met its copy: the next one begins where it ends, not in the middle of a period
        if i < a or j < b or j + seed > a or part[i] != part[a] or part[j] != part[b]:
            continue
        chains[number][4] += min(i + seed - max(i, a_end), j + seed - max(j, b_end))
        chains[number][1], chains[number][3] = i + seed, j + seed
        if near != bucket:
            del live[near]
        live[bucket] = number
        return
    if j + seed <= i:
        live[bucket] = len(chains)
        chains.append([i, i + seed, j, j + seed, seed])
