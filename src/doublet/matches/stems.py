"""Texts as the search for reworded passages reads them: words with stems, roots, and where sentences begin."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.kernels.data import FLAG_NUMBER
from doublet.signatures.thesaurus import Thesaurus
from doublet.text.tokens import Canon, TokenBatch, read_words

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
F64 = NDArray[np.float64]

# Chosen on "tune" of "essays in checks" and of essays by hand. Heavily reworded sentences found (made essays ru, en;
# six written essays of "tune") and own ones flagged (made, ru): as it is .943, .933, .740 and .085; halved .934, .920,
# .781 and .085; doubled .956, .945, .760 and .105; where words in general have no say .948, .910, .656 and .118 (half
# and twice before numbers were common and names of the theme light). Where numbers are as rare as they are, the written
# essays have .750, but two of six own sentences of the shared essays are flagged that only tell a name and a day.
COMMON = 1.0  #: rarity of a stop word and of a number: it weighs a little in a sentence
#: after these a full stop does not end a sentence
_SHORTENED = (
    "mr mrs ms dr prof st vs no vol fig gen col sgt capt inc ltd co jr sr etc al rev hon им ул см рис табл стр гл др "
    "проф акад напр тыс млн млрд руб коп кв обл тт гг вв св ср ред изд"
)


@dataclass(frozen=True, slots=True, eq=False)
class StemmedTexts:
    """Words of texts with what the kernels read: their stems and roots, and where sentences begin. Single sentences are
    looked for by their *concepts*: the stems, or one for all that a thesaurus calls synonyms; *rarity* says how rare
    these are in general, `COMMON` or more; numbers tell which fact is meant, not in whose words."""

    words: TokenBatch
    stems: U64
    roots: U64
    marks: NDArray[np.uint8]
    concepts: U64
    rarity: F64
    starts: U32
    ends: U32


def read_stems(texts: Sequence[str], thesaurus: Thesaurus | None = None) -> StemmedTexts:
    """Words, stems and sentences of *texts*, all at once."""
    return stem(texts, read_words(texts), thesaurus)


def stem(texts: Sequence[str], words: TokenBatch, thesaurus: Thesaurus | None = None) -> StemmedTexts:
    """The same of texts whose words `read_words` has read."""
    marks = kernels.sentence_marks(
        list(texts), words.hashes, words.starts, words.ends, words.offsets, _shortened()
    )
    stems = Canon(reduce="stem").of(words).hashes
    concepts = thesaurus.concepts(stems) if thesaurus is not None else stems
    rarity = np.where(words.flags & FLAG_NUMBER, COMMON, np.maximum(words.rarity(), COMMON))
    if thesaurus is not None:  # a concept is as rare as its commonest word
        _, numbers = np.unique(concepts, return_inverse=True)
        least = np.full(len(concepts), np.inf)
        np.minimum.at(least, numbers, rarity)
        rarity = least[numbers]
    return StemmedTexts(words, stems, words.roots(), marks, concepts, rarity, *_places(texts, words))


def _places(texts: Sequence[str], words: TokenBatch) -> tuple[U32, U32]:
    """Starts and ends of words, less the line ends of two characters before them."""
    starts, ends = words.starts, words.ends
    for number, text in enumerate(texts):
        if "\r\n" not in text:
            continue
        if starts is words.starts:
            starts, ends = starts.copy(), ends.copy()
        part = words.slice(number)
        lines = np.array([found.start() for found in re.finditer("\r\n", text)], np.int64)
        for places in (starts, ends):
            places[part] -= np.searchsorted(lines, places[part]).astype(np.uint32)
    return starts, ends


@functools.cache
def _shortened() -> U64:
    return np.unique(kernels.tokenize(_SHORTENED.split(), None, None, 1)[0])
