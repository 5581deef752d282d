"""Text → what was done to hide it (T5): look-alikes, invisible characters, letters apart, marks, styles, odd blanks,
turned words.

The tokeniser undoes the tricks on every word and flags the word; here the flagged words are looked at once
more, in the characters of the original text, to tell tricks from honest writing, to count the disguised
characters and to say where they are. Folding always happens; only the *alarm* has thresholds. What is honest,
and why the thresholds are what they are, is explained in docs/explanation/canonical-form.md.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.kernels.data import (
    ANCHOR_SHIFT,
    BREAK,
    CYRILLIC,
    DROP,
    FLAG_INVISIBLE,
    FLAG_LOOKALIKE,
    FLAG_MARKS,
    FLAG_NUMBER,
    FLAG_SPACED,
    FLAG_STYLED,
    FLAGS_DISGUISE,
    GREEK,
    INVISIBLE,
    LATIN,
    LETTER_MASK,
    MARK,
    ODD_BLANKS,
    OTHER,
    SCRIPT_SHIFT,
    WORD,
    fold_table,
)
from doublet.model import Disguise, DisguiseFinding, Span
from doublet.text.tokens import Canon, TokenBatch

# Alarm: at least so many different words, and at least this share of the words of the text. Chosen on honest
# texts (figures: docs/explanation/canonical-form.md); tests/properties/test_text_disguise.py runs them again.
LEAST_WORDS = {"lookalike": 3, "invisible": 3, "spaced": 5, "marks": 3, "styled": 3, "digits": 3, "blanks": 3}
LEAST_SHARE = {
    "lookalike": 0.01,
    "invisible": 0.01,
    "spaced": 0.02,
    "marks": 0.01,
    "styled": 0.01,
    "digits": 0.01,
    "blanks": 0.01,
}
# A swapped passage inside a long honest text: so many disguised words among so many in a row.
PASSAGE_WORDS, PASSAGE_DISGUISED = 100, 10
# Words with letters apart written in capitals are headings, unless the text has so many.
SPACED_CAPITALS_SHARE = 0.1
# Soft hyphens are typesetting while no more than this share of their words is cut where no word can be cut.
SOFT_HYPHENS_MISPLACED = 0.25

_SCRIPTS = (LATIN, CYRILLIC, GREEK)
_THREE = LATIN | CYRILLIC | GREEK
_VOWELS = frozenset("аеёиоуыэюяіїєўaeiouyαεηιουω")
_RUSSIAN_VOWELS = frozenset("аеёиоуыэюяАЕЁИОУЫЭЮЯ")
_ROMAN = frozenset("IVXLCDMІХСМ")
# Accents that grammars and dictionaries put on vowels, and on consonants that are sung: Lithuanian m̃, Sanskrit r̥.
_ACCENTS = frozenset(
    map(
        chr,
        [
            *(*range(0x300, 0x305), *range(0x306, 0x30D), 0x30F, 0x311, 0x313, 0x314, 0x323, 0x325),
            *(0x327, 0x328, 0x329, 0x32F, 0x331),
        ],
    )
)
_SUNG = _VOWELS | frozenset("lmnrgлмнр")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff]")
_OLD_MARKS = ((0x0483, 0x0487), (0x2DE0, 0x2DFF), (0xA66F, 0xA67D), (0xA69E, 0xA69F))  # Church Slavonic
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_SELECTORS = frozenset(map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]))
_KEYCAP = "\u20e3"
# Blanks that no keyboard has, between letters. The common blank that does not break (U+00A0) and its narrow form are
# typesetting, and so are thin blanks beside numbers, dashes and single letters.
_ODD_BLANK = re.compile(f"(?<=[^\\W\\d_][^\\W\\d_])[{''.join(map(chr, ODD_BLANKS))}]+(?=[^\\W\\d_]{{2}})")
_OVERRIDDEN = re.compile("\u202e([^\u202c\n]*)")
# A digit alone between small letters of a word of some length; not at its end, where notes stand, and only 0 at its
# beginning («6летний»). Numbers of base 16 are no words.
_DIGITS_FOR_LETTERS = re.compile(
    r"(?=(?:[036]?[А-яЁё]){4})(?:0|[А-ЯЁ][036]?)?[а-яё]+(?:[036][а-яё]+)+[036]?|(?:0|[А-ЯЁ][036])[а-яё]{3,}"
    r"|(?=(?:0?[A-Za-z]){5})(?!(?:0?[a-f])+(?!\w))(?:[A-Z]0?)?[a-z]+(?:0[a-z]+)+0?|[A-Z]0[a-z]{3,}"
)
_INDICES = frozenset(
    chr(code)
    for code in [
        *range(0xAA, 0xBB),
        *range(0x2B0, 0x2E5),
        *range(0x1D2C, 0x1DC0),
        *range(0x2071, 0x209D),
        0x2C7C,
    ]
    if unicodedata.decomposition(chr(code)).startswith(("<super>", "<sub>"))
)
_NUMERALS = frozenset(map(chr, range(0x2160, 0x2180)))
_NEAR = 40  # characters to either side in which a transcription shows itself
_SHORT_MIXED_RUN = 8  # single letters of two alphabets in a row: fewer are a formula
_LABEL_TAIL = 4  # letters after the sign of a quantity: Tмакс
_LONG_CLUSTER = 8  # marks on one letter: more are no letter of any language


def find_disguise(text: str) -> Disguise:
    """What was undone in *text*, by kind, with counts and places. An empty result means: nothing."""
    return find_disguise_in(text, Canon().tokens([text]), 0)


def find_disguise_in(text: str, batch: TokenBatch, index: int) -> Disguise:
    """The same for a text whose words are known: number *index* of *batch*.

    The batch should hold all words (no stop words or short words left out), because shares are of its words.
    """
    words = _Words(text, batch, index)
    if not words.suspicious and not words.digits and not words.odd_blanks:
        return Disguise()
    found = [kind(words) for kind in _KINDS]
    return Disguise(tuple(tally.finding() for tally in found if tally.characters))


def disguised_among(texts: Sequence[str]) -> int:
    """How many of *texts* would raise an alarm. Stops at the first reason for each, and tells no places."""
    batch = Canon().tokens(list(texts))
    count = 0
    for index, text in enumerate(texts):
        words = _Words(text, batch, index, brief=True)
        suspicious = words.suspicious or len(words.odd_blanks) > 0
        count += suspicious and any(kind(words).alarm for kind in _KINDS if words.enough_for(kind))
    return count


class _Words:
    """The words of one text, and what the fold table says about its characters."""

    def __init__(self, text: str, batch: TokenBatch, index: int, *, brief: bool = False) -> None:
        part = batch.slice(index)
        self.brief = brief  # only the alarm is of interest
        self.text = text
        self._places = batch.starts[part], batch.ends[part]
        self.flags = batch.flags[part]
        self.hashes = batch.hashes[part]

    @functools.cached_property
    def starts(self) -> NDArray[np.int64]:
        return self._places[0].astype(np.int64)

    @functools.cached_property
    def ends(self) -> NDArray[np.int64]:
        return self._places[1].astype(np.int64)

    @functools.cached_property
    def lettered(self) -> int:
        return int(np.count_nonzero(self.flags & np.uint8(FLAG_NUMBER) == 0))

    @functools.cached_property
    def _odd(self) -> tuple[NDArray[np.uint32], ...]:
        """Places of characters that nobody sees, of odd blanks, and of digits that may be letters."""
        return kernels.odd_characters(self.text)

    @functools.cached_property
    def has_cjk(self) -> bool:
        return _CJK.search(self.text) is not None

    @functools.cached_property
    def right_to_left(self) -> bool:
        """Whether there are letters that are written from right to left."""
        return _RIGHT_TO_LEFT.search(self.text) is not None

    @functools.cached_property
    def all_flags(self) -> int:
        """The flags that any of the words has."""
        return int(np.bitwise_or.reduce(self.flags))

    @functools.cached_property
    def codes(self) -> NDArray[np.uint32]:
        return np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), np.uint32)

    @functools.cached_property
    def entries(self) -> NDArray[np.uint32]:
        return fold_table().entries[self.codes]

    @functools.cached_property
    def invisible(self) -> NDArray[np.int64]:
        """Places of the characters that nobody sees."""
        return self._odd[0].astype(np.int64)

    @functools.cached_property
    def phonetic(self) -> NDArray[np.int64]:
        """Places of the letters that only transcriptions have."""
        return np.flatnonzero(_phonetic_letters()[np.minimum(self.codes, 0x3FF)])

    @functools.cached_property
    def digits(self) -> list[int]:
        """Numbers of the words that have a digit where a letter belongs, as «с0г0дня»."""
        if not len(self._odd[2]):
            return []
        numbers = np.unique(np.searchsorted(self.starts, self._odd[2], side="right") - 1).tolist()
        return [
            i
            for i in numbers
            if i >= 0 and _DIGITS_FOR_LETTERS.fullmatch(self.text, self.starts[i], self.ends[i])
        ]

    @functools.cached_property
    def odd_blanks(self) -> list[int]:
        """Numbers of the words that follow a blank that nobody types."""
        rare = self._odd[1]
        if not len(rare):
            return []
        full_width_is_honest = "\u3000" in self.text and self.has_cjk
        found = [
            match.end()
            for at in rare.tolist()
            if (match := _ODD_BLANK.match(self.text, at))
            and not (full_width_is_honest and set(match[0]) == {"\u3000"})
        ]
        numbers = np.unique(np.searchsorted(self.starts, found, side="right") - 1)
        return [int(i) for i in numbers if i >= 0]

    @property
    def suspicious(self) -> bool:
        return self.all_flags & FLAGS_DISGUISE != 0 or len(self._odd[0]) > 0

    def enough_for(self, kind: Callable[[_Words], _Tally]) -> bool:
        """False when too few words have the flag of a kind for it to raise an alarm."""
        name, flag = _FLAGGED.get(kind, ("", 0))
        return not name or int(np.count_nonzero(self.flags & np.uint8(flag))) >= LEAST_WORDS[name]

    def flagged(self, flag: int) -> Iterator[tuple[int, str]]:
        """Number and original spelling of each word with *flag*."""
        if not self.all_flags & flag:
            return
        numbers = np.flatnonzero(self.flags & np.uint8(flag))
        places = zip(self.starts[numbers].tolist(), self.ends[numbers].tolist(), strict=True)
        for i, (start, end) in zip(numbers.tolist(), places, strict=True):
            yield i, self.text[start:end]

    def span(self, i: int) -> Span:
        return Span(int(self.starts[i]), int(self.ends[i]))

    def is_transcription(self, i: int) -> bool:
        """True near letters that only transcriptions have, as in [ˈprɛslɪ]: there look-alikes are honest."""
        if not len(self.phonetic):
            return False
        near = np.searchsorted(self.phonetic, [self.starts[i] - _NEAR, self.starts[i] + _NEAR])
        return bool(near[0] < near[1])

    def many(self, kind: str, words: list[int]) -> bool:
        """The alarm rule: enough different words, and enough of the text or of one passage of it."""
        least = LEAST_WORDS[kind]
        if len(words) < least:
            return False
        hashes = self.hashes[words].tolist()
        if len(set(hashes)) < least:
            return False
        if len(words) >= LEAST_SHARE[kind] * self.lettered:
            return True
        for first in range(len(words) - PASSAGE_DISGUISED + 1):
            last = first + PASSAGE_DISGUISED - 1
            near = words[last] - words[first] < PASSAGE_WORDS
            if near and len(set(hashes[first : last + 1])) >= least:
                return True
        return False


@dataclass(slots=True)
class _Tally:
    """A finding while it is being counted. *loose* are places outside of words."""

    kind: str
    spans: list[Span] = field(default_factory=list)
    loose: list[Span] = field(default_factory=list)
    characters: int = 0
    alarm: bool = False

    def add(self, span: Span, characters: int) -> None:
        self.spans.append(span)
        self.characters += characters

    def finding(self) -> DisguiseFinding:
        return DisguiseFinding(
            self.kind, len(self.spans), self.characters, tuple(sorted(self.spans + self.loose)), self.alarm
        )


# Look-alike letters


@dataclass(frozen=True, slots=True)
class _Letter:
    char: str
    script: int
    anchor: int
    twin: tuple[int, ...]  #: folded look in Latin, Cyrillic, Greek (0: none)

    def is_strange_in(self, script: int) -> bool:
        """True when this letter stands for another one in a word of *script*."""
        if self.script == script:
            return False
        other = self.twin[_SCRIPTS.index(script)] if self.twin else 0
        own = int(fold_table().entries[ord(self.char)]) & LETTER_MASK
        return other not in (0, own) or (ord(self.char), script) in fold_table().weak


@functools.lru_cache(maxsize=4096)
def _letter(char: str) -> _Letter | None:
    """What the fold table knows about a letter; None for anything else."""
    table = fold_table()
    entry = int(table.entries[ord(char)])
    script = entry >> SCRIPT_SHIFT & 15
    if not entry & WORD or not script:
        return None
    return _Letter(char, script, entry >> ANCHOR_SHIFT & 15, table.twins.get(ord(char), ()))


def _lookalike(words: _Words) -> _Tally:
    tally = _Tally("lookalike")
    counted: dict[int, int] = {}
    doubtful: dict[int, int] = {}
    for i, word in words.flagged(FLAG_LOOKALIKE):
        count = _count_lookalikes_again if len(word) <= _REMEMBERED else _count_lookalikes
        numbers = count(word)
        if not any(numbers):
            numbers = _count_foreign(word, int(words.hashes[i]))
        if any(numbers) and not words.is_transcription(i):
            (counted if numbers[0] else doubtful)[i] = sum(numbers)
    if words.many("lookalike", list(counted)):
        tally.alarm = True
        if words.brief:
            return tally
        # Labels, and words of twins alone («оса» in Latin), say nothing by themselves, but now they are part of it.
        counted |= doubtful | _turned(words)
    for i in sorted(counted):
        tally.add(words.span(i), counted[i])
    return tally


def _count_lookalikes(word: str) -> tuple[int, int]:
    """Letters of *word* that stand for letters of another script: in parts that nobody writes so, and in parts that
    honest people may have written."""
    sure = doubtful = 0
    if not _is_formula(word):
        for part in word.split("_"):
            number, is_doubtful = _count_in_part([c for c in part if c.isalnum()])
            sure, doubtful = sure + number * (not is_doubtful), doubtful + number * is_doubtful
    return sure, doubtful


def _count_foreign(word: str, value: int) -> tuple[int, int]:
    """The same for a word of look-alikes of other alphabets alone that was turned, as Greek «ΤΗΕ».

    It may be Greek («κατα» in an English text): for sure only when it became a word that every text has.
    """
    letters = [known for known in map(_letter, word) if known is not None]
    if _is_formula(word) or any(letter.anchor or letter.script & (LATIN | CYRILLIC) for letter in letters):
        return 0, 0
    sure = len(letters) > 1 and value in _common_words()
    return (len(letters), 0) if sure else (0, len(letters))


@functools.cache
def _common_words() -> frozenset[int]:
    found = Canon(stop_words=True).stop_hashes
    return frozenset(found.tolist() if found is not None else ())


_REMEMBERED = 64  # letters of a word that comes again
_count_lookalikes_again = functools.lru_cache(maxsize=4096)(_count_lookalikes)


def _count_in_part(chars: list[str]) -> tuple[int, bool]:
    """The number of strange letters, 0 for a word as honest people write it; and whether there is doubt."""
    letters = [known for known in map(_letter, chars) if known is not None]
    script = _script_of(letters)
    if not script:
        return 0, False
    strange = [i for i, letter in enumerate(letters) if letter.is_strange_in(script)]
    accented = [i for i in strange if len(unicodedata.normalize("NFD", letters[i].char)) > 1]
    if len(accented) <= 2:  # «бóльшую»: a stress mark that came as a letter
        strange = [i for i in strange if i not in accented]
    if not strange or _is_honest(chars, letters, strange, script):
        return 0, False
    return len(strange), _is_doubtful(letters, strange, script)


def _script_of(letters: list[_Letter]) -> int:
    """The script that a mixed word belongs to; 0 when it is not mixed, or glued of words of two scripts."""
    scripts = anchors = 0
    for letter in letters:
        scripts |= letter.script
        anchors |= letter.anchor & _THREE
    if scripts & (scripts - 1) == 0:
        return 0
    if anchors == LATIN | CYRILLIC:
        weak = fold_table().weak
        firm = 0
        for letter in letters:
            if letter.anchor and (ord(letter.char), anchors ^ letter.anchor) not in weak:
                firm |= letter.anchor
        anchors = firm
    if anchors in _SCRIPTS:
        return anchors
    if anchors:
        return 0
    return max(_SCRIPTS, key=lambda script: sum(letter.script == script for letter in letters))


def _is_honest(chars: list[str], letters: list[_Letter], strange: list[int], script: int) -> bool:
    """Mixed words that people write: «IPадрес», «МассивX», «ДзенYouTube», «ХIХ», μA, «kВт», «А1C»."""
    greek = sum(letter.script == GREEK for letter in letters)
    if script == GREEK and 0 < greek < 3:
        return True
    last = len(letters) - 1
    capitals = [letter.char.isupper() for letter in letters]
    if all(capitals):
        roman = all(letter.char in _ROMAN for letter in letters)
        return roman or any(c.isdigit() for c in chars) or strange == [last]
    if last < 4 and any(capitals[1:]):
        return True
    if strange[-1] - strange[0] != len(strange) - 1:
        return False
    if all(capitals[i] for i in strange):
        return len(strange) > 1 or strange == [last]
    # One word after the other, the second with a capital letter.
    seam = strange[0] if strange[-1] == last else strange[-1] + 1 if strange[0] == 0 else 0
    return len(strange) > 1 and seam > 0 and capitals[seam] and not capitals[seam - 1]


def _is_doubtful(letters: list[_Letter], strange: list[int], script: int) -> bool:
    """Mixed words that people write, and that a swap of letters gives as well: they raise no alarm by themselves.

    Signs of quantities with a label (Tмакс, Uвх, ηмакс), angles and sides («BАС», «АB»), Greek letters beside others
    (sinα), Latin i for the і of old and of Ukrainian spelling («Россiя»), names glued of two words («Euroсеть»).
    """
    last = len(letters) - 1
    if last < 2 and (last < 1 or any(letter.script != script for letter in letters)):
        return True
    capitals = [letter.char.isupper() for letter in letters]
    if last == 2 and all(capitals):
        return True
    if script == CYRILLIC and all(letters[i].char in "iI" for i in strange):
        return True
    greek = [i for i, letter in enumerate(letters) if letter.script == GREEK]
    if len(greek) == 1 and strange == greek and (last < 5 or greek[0] in (0, last)):
        return True
    first = next((i for i, letter in enumerate(letters) if letter.script == CYRILLIC), 0)
    tail = letters[first:]
    if 1 <= first <= 2 and len(tail) <= _LABEL_TAIL and not any(capitals[first:]):
        return all(letter.script == CYRILLIC for letter in tail)
    return _is_glued(letters, strange, script, capitals)


def _is_glued(letters: list[_Letter], strange: list[int], script: int, capitals: list[bool]) -> bool:
    """One part of the word in one alphabet, the rest in the other, and letters left that a swap would have taken."""
    last = len(letters) - 1
    foreign = [i for i, letter in enumerate(letters) if letter.script != script]
    if foreign[-1] - foreign[0] != len(foreign) - 1 or (foreign[0] != 0 and foreign[-1] != last):
        return False
    if len(foreign) == 1:
        return foreign[0] == 0 and not capitals[0] and capitals[1]
    other = letters[strange[0]].script
    if other not in _SCRIPTS:
        return False
    column = _SCRIPTS.index(other)
    own = [letter for i, letter in enumerate(letters) if i not in foreign]
    return len(foreign) > len(strange) or any(letter.twin and letter.twin[column] for letter in own)


@functools.cache
def _phonetic_letters() -> NDArray[np.bool_]:
    """Which of the first 1024 characters only transcriptions have; not those that look like others."""
    table = fold_table()
    alone = [c for c in range(0x250, 0x2B0) if c not in table.twins and c not in table.styled]
    out = np.zeros(0x400, np.bool_)
    out[[*alone, *map(ord, "ˈˌːθðŋæ")]] = True
    return out


def _turned(words: _Words) -> dict[int, int]:
    """Words of twins alone that were read in the script of their neighbours: number of letters of each."""
    entries = np.append(words.entries, np.uint32(0))
    bounds = np.stack([words.starts, words.ends], axis=1).reshape(-1)
    merged = np.bitwise_or.reduceat(entries, bounds)[::2]
    scripts = merged >> np.uint32(SCRIPT_SHIFT) & np.uint32(15)
    anchors = merged >> np.uint32(ANCHOR_SHIFT) & np.uint32(15)
    known = np.flatnonzero(np.isin(anchors, _SCRIPTS))
    if not len(known):
        return {}
    last = np.searchsorted(known, np.arange(len(anchors)), side="right") - 1
    context = anchors[known[np.maximum(last, 0)]]
    turned = (anchors == 0) & np.isin(scripts, (LATIN, CYRILLIC)) & (context != scripts)
    turned &= np.isin(context, (LATIN, CYRILLIC)) & (words.flags & np.uint8(FLAG_LOOKALIKE) == 0)
    out = {}
    for i in np.flatnonzero(turned).tolist():
        letters = [known for known in map(_letter, words.text[words.starts[i] : words.ends[i]]) if known]
        if scripts[i] == CYRILLIC or not any(letter.char in "iI" for letter in letters):
            out[i] = len(letters)
    return out


# Invisible characters


@functools.cache
def _invisible_runs() -> re.Pattern[str]:
    entries = fold_table().entries
    dropped = np.flatnonzero(entries & np.uint32(DROP))
    codes = dropped[np.isin(entries[dropped] & np.uint32(LETTER_MASK), (INVISIBLE, BREAK))]
    ranges = np.split(
        codes, np.flatnonzero(np.diff(codes) != 1) + 1
    )  # a class of single characters is searched one by one
    return re.compile("[" + "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in ranges) + "]+")


def _invisible(words: _Words) -> _Tally:
    tally = _Tally("invisible")
    runs = _invisible_runs()
    hard: list[int] = []
    soft: list[int] = []
    misplaced: list[int] = []
    known: dict[str, list[re.Match[str]]] = {}
    for i, word in words.flagged(FLAG_INVISIBLE):
        cuts = known.get(word)
        if cuts is None:
            # A digit in a key (1️⃣) has a variation selector of its own.
            cuts = [cut for cut in runs.finditer(word) if word[cut.end() : cut.end() + 1] != _KEYCAP]
            known[word] = cuts
        if not cuts:
            continue
        tally.add(words.span(i), sum(len(cut[0]) for cut in cuts))
        if all(cut[0].strip("\u00ad") == "" for cut in cuts):
            soft.append(i)
            if not _can_be_hyphenated(word):
                misplaced.append(i)
        elif not all(_may_break(word, cut.start(), cut.end()) for cut in cuts):
            hard.append(i)
    if not words.brief:
        _add_loose(words, tally)
    if len(misplaced) > SOFT_HYPHENS_MISPLACED * len(soft):
        hard = sorted(hard + misplaced)
    tally.alarm = words.many("invisible", hard)
    return tally


def _can_be_hyphenated(word: str) -> bool:
    """True when every soft hyphen stands where typesetters put it: between parts that can be spoken."""
    parts = [part for part in word.split("\u00ad") if part]
    for left, right in itertools.pairwise(parts):
        if len(left) < 2 or len(right) < 2 or right[0] in "ьъйЬЪЙ":
            return False
        if not _VOWELS & set(left.lower()) or not _VOWELS & set(right.lower()):
            return False
        # Russian never parts a consonant from the vowel after it (but for a few prefixes).
        if right[0] in _RUSSIAN_VOWELS and left[-1] not in _RUSSIAN_VOWELS and left[-1] not in "ьъйЬЪЙ":
            return False
    return True


def _may_break(word: str, start: int, end: int) -> bool:
    """True for a place where a long name is allowed to break: camel|Case, snake_|case, part|2."""
    before, after = word[start - 1 : start], word[end : end + 1]
    return (
        (before.islower() and after.isupper())
        or "_" in (before, after)
        or before.isdigit() != after.isdigit()
    )


def _add_loose(words: _Words, tally: _Tally) -> None:
    """Invisible characters outside of words. They do no harm and raise no alarm, but they are told."""
    text = words.text
    places = words.invisible
    word = np.searchsorted(words.starts, places, side="right")  # one more than the number of the word before
    places = places[places >= np.append(0, words.ends)[word]]
    if not len(places):
        return
    for run_of_places in np.split(places, np.flatnonzero(np.diff(places) != 1) + 1):
        span = Span(int(run_of_places[0]), int(run_of_places[-1]) + 1)
        run = text[span.start : span.end]
        if (span.start == 0 and run == "\ufeff") or (_DIRECTIONS.issuperset(run) and words.right_to_left):
            continue
        if _SELECTORS.issuperset(run):  # colour for the sign before them: ‼️, ↔️
            continue
        if _needs_joiners(text[span.start - 1 : span.start]) or _needs_joiners(text[span.end : span.end + 1]):
            continue
        tally.loose.append(span)
        tally.characters += len(run)


def _needs_joiners(char: str) -> bool:
    """Emoji, and letters of alphabets in which zero-width characters are part of the spelling."""
    if not char:
        return False
    letter = _letter(char)
    return letter.script == OTHER if letter else unicodedata.category(char) in ("So", "Sk", "Mn", "Mc")


# Letters apart


def _is_formula(word: str) -> bool:
    """True for a few single letters of two alphabets in a row: «x и y в», not a word with its letters apart."""
    if not any(c.isspace() for c in word):
        return False
    letters = [known for known in map(_letter, word) if known]
    return len(letters) < _SHORT_MIXED_RUN and len({letter.script for letter in letters}) > 1


def _spaced(words: _Words) -> _Tally:
    tally = _Tally("spaced")
    total: list[int] = []
    running: list[int] = []
    for i, word in words.flagged(FLAG_SPACED):
        if _is_formula(word):
            continue
        letters = {c for c in word if c.isalpha()}
        tally.add(words.span(i), sum(c.isspace() for c in word))
        total.append(i)
        vowels = {c for c in letters if _base(c) in _VOWELS}
        if vowels and vowels != letters and any(c.islower() for c in letters):
            running.append(i)
    headings_too = words.many("spaced", total) and len(total) >= SPACED_CAPITALS_SHARE * words.lettered
    tally.alarm = headings_too or words.many("spaced", running)
    return tally


def _base(char: str) -> str:
    return unicodedata.normalize("NFD", char.lower())[0]


# Combining marks


def _marks(words: _Words) -> _Tally:
    tally = _Tally("marks")
    counted: dict[int, int] = {}
    for i, word in words.flagged(FLAG_MARKS):
        number = _count_marks(word)
        if number and not words.is_transcription(i):
            counted[i] = number
    if words.many("marks", list(counted)):
        tally.alarm = True
        # Now the marks that could have been honest are part of it; not й and ё taken apart.
        for i, word in words.flagged(FLAG_MARKS):
            number = sum(
                len(marks) for letter, marks in _clusters(word) if not _is_letter_apart(letter + marks)
            )
            if number:
                counted[i] = number
    for i in sorted(counted):
        tally.add(words.span(i), counted[i])
    return tally


def _count_marks(word: str) -> int:
    """Marks that belong to no letter of any language: not й taken apart, not a stress mark, not x̄, not A̅B̅."""
    clusters = list(_clusters(word))
    if len(clusters) < 3 or (len(clusters) < 5 and all(letter.isupper() for letter, _ in clusters)):
        return 0
    stressed = strange = 0
    for letter, marks in clusters:
        known = _letter(letter)
        if not marks or known is None or known.script == OTHER:
            continue
        rest = unicodedata.normalize("NFC", letter + marks)[1:] if len(marks) <= _LONG_CLUSTER else marks
        left = [m for m in rest if not any(a <= ord(m) <= b for a, b in _OLD_MARKS)]
        if len(left) <= 2 and _ACCENTS.issuperset(left) and _base(letter) in _SUNG:
            stressed += len(left) > 0
        else:
            strange += len(left)
    return strange if stressed <= 2 else strange + stressed


def _is_letter_apart(cluster: str) -> bool:
    return len(cluster) == 2 and unicodedata.normalize("NFC", cluster).lower() in ("й", "ё", "ї", "ў")


def _clusters(word: str) -> Iterator[tuple[str, str]]:
    """Each letter with the marks on it."""
    letter, begin = "", 0
    for at, char in enumerate(word):
        entry = int(fold_table().entries[ord(char)])
        if entry & WORD:
            if letter:
                yield letter, _only_marks(word[begin:at])
            letter, begin = char, at + 1
    if letter:
        yield letter, _only_marks(word[begin:])


def _only_marks(chars: Iterable[str]) -> str:
    entries = fold_table().entries
    return "".join(c for c in chars if int(entries[ord(c)]) & (DROP | LETTER_MASK) == DROP | MARK)


# Styled letters


def _styled(words: _Words) -> _Tally:
    tally = _Tally("styled")
    styled = fold_table().styled
    dressed: dict[int, int] = {}
    counted: list[int] = []
    for i, word in words.flagged(FLAG_STYLED):
        if words.flags[i] & FLAG_LOOKALIKE:
            continue  # counted there
        letters = [c for c in word if _letter(c)]
        found = [c for c in letters if ord(c) in styled and not ("\uff00" <= c <= "\uff5e" and words.has_cjk)]
        if not found or _NUMERALS.issuperset(letters) or words.is_transcription(i):
            continue
        dressed[i] = len(found)
        # Single letters, and names like sin, are how formulas come out of a PDF; indices stand beside other letters.
        number = len(found) if _INDICES.issuperset(letters) else sum(c not in _INDICES for c in found)
        if number >= 4 or (len(letters) >= 3 and 0 < number < len(letters)):
            counted.append(i)
    tally.alarm = words.many("styled", counted)
    for i in dressed if tally.alarm else counted:
        tally.add(words.span(i), dressed[i])
    return tally


# Digits for letters


def _digits(words: _Words) -> _Tally:
    """Digits in place of the letters that they look like. The words stay as they are: many honest ones have some."""
    tally = _Tally("digits", alarm=words.many("digits", words.digits))
    for i in words.digits:
        span = words.span(i)
        tally.add(span, sum(map(str.isdigit, words.text[span.start : span.end])))
    return tally


# Odd blanks


def _blanks(words: _Words) -> _Tally:
    """Blanks that look like any other and are another character, which programs that split at blanks do not know."""
    tally = _Tally("blanks", alarm=words.many("blanks", words.odd_blanks))
    for i in words.odd_blanks:
        tally.add(words.span(i), 1)
    return tally


# Words turned round


def _turned_round(words: _Words) -> _Tally:
    """Words written backwards behind a sign that turns them for the reader. Nobody else writes so in a text without
    Arabic or Hebrew letters: it is an alarm at once."""
    tally = _Tally("turned")
    if "\u202e" not in words.text or words.right_to_left:
        return tally
    for run in _OVERRIDDEN.finditer(words.text):
        inside = slice(*np.searchsorted(words.starts, run.span(1)).tolist())
        letters = sum(map(str.isalpha, run[1]))
        if letters > 1:
            tally.spans += [words.span(i) for i in range(inside.start, inside.stop)]
            tally.characters += letters
    tally.alarm = tally.characters > 0
    return tally


_KINDS = (_lookalike, _invisible, _spaced, _marks, _styled, _digits, _blanks, _turned_round)
_FLAGGED: dict[Callable[[_Words], _Tally], tuple[str, int]] = {
    _lookalike: ("lookalike", FLAG_LOOKALIKE),
    _invisible: ("invisible", FLAG_INVISIBLE),
    _spaced: ("spaced", FLAG_SPACED),
    _marks: ("marks", FLAG_MARKS),
    _styled: ("styled", FLAG_STYLED),
}  #: kinds that only look at words with a flag
