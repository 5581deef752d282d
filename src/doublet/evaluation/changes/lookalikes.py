"""Letters swapped for those of the other alphabet that look the same (E1, T5): «о» becomes the Latin "o" and so on."""

from __future__ import annotations

import random
from dataclasses import dataclass

from doublet.evaluation.changes.protocol import Changed, Pieces, Surroundings
from doublet.model import Document

_CYRILLIC = "аеорсухАВЕКМНОРСТУХ"
_LATIN = "aeopcyxABEKMHOPCTYX"
TWINS = {
    "ru": dict(zip(_CYRILLIC, _LATIN, strict=True)),
    "en": dict(zip(_LATIN, _CYRILLIC, strict=True)),
}


@dataclass(frozen=True)
class LookAlikes:
    """Every letter that has a twin."""

    name: str = "look-alikes"

    @property
    def title(self) -> dict[str, str]:
        return {"en": "look-alike letters", "ru": "похожие буквы другого алфавита"}

    def apply(self, document: Document, around: Surroundings, rng: random.Random) -> Changed:  # noqa: ARG002
        twins = TWINS[around.language.name]
        pieces = Pieces()
        at = 0
        for i, letter in enumerate(document.text):
            twin = twins.get(letter)
            if twin is None:
                continue
            pieces.count("letters")
            pieces.count("swapped")
            pieces.keep(document, at, i)
            pieces.replace(twin, document, i, i + 1)
            at = i + 1
        pieces.keep(document, at, len(document.text))
        return pieces.build()
