"""Tense and number changed (E1): nouns in the other number, verbs in another tense, with pymorphy3 for Russian."""

from __future__ import annotations

import random
from dataclasses import dataclass

from doublet.evaluation.changes.protocol import Changed, Pieces, Surroundings
from doublet.evaluation.words import WORD, like
from doublet.model import Document


@dataclass(frozen=True)
class Grammar:
    """A *share* of the words that have such a form."""

    share: float = 0.5
    name: str = "tense-number"

    @property
    def title(self) -> dict[str, str]:
        return {"en": "tense and number changed", "ru": "время и число изменены"}

    def apply(self, document: Document, around: Surroundings, rng: random.Random) -> Changed:
        pieces = Pieces()
        at = 0
        for match in WORD.finditer(document.text):
            pieces.count("words")
            if rng.random() >= self.share:
                continue
            other = around.language.forms.other_number_or_tense(match[0].lower())
            if other is None:
                continue
            pieces.count("changed")
            pieces.keep(document, at, match.start())
            pieces.replace(like(other, match[0]), document, *match.span())
            at = match.end()
        pieces.keep(document, at, len(document.text))
        return pieces.build()
