"""Words left out (E1)."""

from __future__ import annotations

import random
from dataclasses import dataclass

from doublet.evaluation.changes.protocol import Changed, Pieces, Surroundings
from doublet.evaluation.words import WORD
from doublet.model import Document


@dataclass(frozen=True)
class Deletion:
    """A *share* of the words, each drawn by itself, with the blank before it."""

    share: float

    @property
    def name(self) -> str:
        return f"deletion-{round(self.share * 100)}"

    @property
    def title(self) -> dict[str, str]:
        percent = round(self.share * 100)
        return {"en": f"{percent}% of the words left out", "ru": f"{percent}% слов удалено"}

    def apply(self, document: Document, around: Surroundings, rng: random.Random) -> Changed:  # noqa: ARG002
        words = [m.span() for m in WORD.finditer(document.text)]
        chosen = set(rng.sample(words, round(self.share * len(words))))
        pieces = Pieces()
        pieces.count("words", len(words))
        pieces.count("deleted", len(chosen))
        at = 0
        for begin, end in words:
            if (begin, end) in chosen:
                blank = begin > at and document.text[begin - 1] == " "
                pieces.keep(document, at, begin - 1 if blank else begin)
                at = end
        pieces.keep(document, at, len(document.text))
        return pieces.build()
