"""Texts as the search for reworded passages reads them: words with stems, roots, and where sentences begin."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.signatures.thesaurus import Thesaurus
from doublet.text.tokens import Canon, TokenBatch, read_words

U64 = NDArray[np.uint64]

#: after these a full stop does not end a sentence
_SHORTENED = (
    "mr mrs ms dr prof st vs no vol fig gen col sgt capt inc ltd co jr sr etc al rev hon им ул см рис табл стр гл др "
    "проф акад напр тыс млн млрд руб коп кв обл тт гг вв св ср ред изд"
)


@dataclass(frozen=True, slots=True, eq=False)
class StemmedTexts:
    """Words of texts with what the kernels read: their stems and roots, and where sentences begin. Single sentences are
    looked for by their *concepts*: the stems, or one for all that a thesaurus calls synonyms."""

    words: TokenBatch
    stems: U64
    roots: U64
    marks: NDArray[np.uint8]
    concepts: U64


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
    return StemmedTexts(words, stems, words.roots(), marks, concepts)


@functools.cache
def _shortened() -> U64:
    return np.unique(kernels.tokenize(_SHORTENED.split(), None, None, 1)[0])
