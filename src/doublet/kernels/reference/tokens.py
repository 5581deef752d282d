"""Words of texts: tokenize, shingle_sets, fold_text and the vocabulary; and what stands out among their characters.
Twin of native/tokens.{hpp,cpp}.

Rules of the canonical form are explained in docs/explanation/canonical-form.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

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
    NEAR,
    ODD_BLANKS,
    OTHER,
    SCRIPT_SHIFT,
    SPACED_RUN,
    SPACED_RUN_AFTER,
    SPECIAL,
    TWIN_PAIRS,
    WORD,
    WORD_FACTOR,
    FoldTable,
    fold_table,
)
from doublet.kernels.reference.arguments import U8, U32, U64, check_numbers, checked_texts, documents
from doublet.kernels.reference.shingles import distinct, mix, shingle

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
_SMALL_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzабвгдежзийклмнопрстуфхцчшщъыьэюяё")
_BLANKS = frozenset([0x20, 0x09, 0xA0, 0x202F, 0x205F, 0x3000, *range(0x2000, 0x200B)])


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
        check_numbers(start)
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
    texts = checked_texts(texts)
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
    (text,) = checked_texts([text])
    for units, start, _, _ in _Scanner(text, fold_table()).words():
        if out:
            out.append(" ")
            places.append(start)
        for unit in units:
            out.append(chr(unit.letter))
            places.append(unit.place)
    return "".join(out), np.array(places, np.uint32)


def odd_characters(text: str) -> tuple[U32, U32, U32]:
    """Places of characters that may hide something: those that nobody sees, blanks that no keyboard has, and the digits
    0, 3 and 6 before a small Latin or Russian letter."""
    (text,) = checked_texts([text])
    entries = fold_table().entries
    invisible, blanks, digits = [], [], []
    for place, char in enumerate(text):
        entry = int(entries[ord(char)])
        if entry & DROP and entry & LETTER_MASK in (INVISIBLE, BREAK):
            invisible.append(place)
        if ord(char) in ODD_BLANKS:
            blanks.append(place)
        if char in "036" and text[place + 1 : place + 2] in _SMALL_LETTERS:
            digits.append(place)
    return np.array(invisible, np.uint32), np.array(blanks, np.uint32), np.array(digits, np.uint32)


def apart_runs(starts: U32, ends: U32, flags: U8, offsets: U64, least: int) -> tuple[U32, U32]:
    """First word and end of the runs of words that were set apart, and of single letters, with one character between
    them, of *least* characters and more."""
    check_numbers(least)
    if least >= 1 << 32:
        raise ValueError("no run is so long")
    bounds = documents(offsets, len(starts))
    if not len(starts) == len(ends) == len(flags):
        raise ValueError("starts, ends and flags must be of one length")
    low, high = starts.tolist(), ends.tolist()
    is_apart = [
        bool(flag & FLAG_SPACED) or (end - start) % (1 << 32) == 1
        for start, end, flag in zip(low, high, flags.tolist(), strict=True)
    ]
    found = []
    for first, stop in bounds:
        i = first
        while i < stop:
            begin, i = i, i + 1
            if not is_apart[begin]:
                continue
            while i < stop and is_apart[i] and (low[i] - high[i - 1]) % (1 << 32) == 1:
                i += 1
            if (high[i - 1] - low[begin]) % (1 << 32) >= least:
                found.append((begin, i))
    return np.array([row[0] for row in found], np.uint32), np.array([row[1] for row in found], np.uint32)


def shingle_sets(
    texts: Sequence[str], size: int, stop: U64 | None = None, min_letters: int = 1, threads: int = 1
) -> tuple[U64, U64, U32, U32]:
    """Sets of fingerprints straight from the texts: values, offsets, words and disguised words per text.

    Words of *stop* and words of fewer than *min_letters* letters (1 or 3) are left out first.
    """
    check_numbers(size)
    if size < 1:
        raise ValueError("a shingle has at least one word")
    hashes, _, _, flags, offsets, _ = tokenize(texts, stop)
    bounds = documents(offsets, len(hashes))
    drop = (FLAG_STOP if stop is not None else 0) | (FLAG_SHORT if min_letters > 2 else 0)
    kept = (flags & drop) == 0
    counts = np.array([int(kept[a:b].sum()) for a, b in bounds], np.uint32)
    disguised = np.array([int(((flags[a:b] & FLAGS_DISGUISE) != 0).sum()) for a, b in bounds], np.uint32)
    new_offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.uint64)]).astype(np.uint64)
    values, ends = distinct(*shingle(hashes[kept], new_offsets, size))
    return values, ends, counts, disguised
