"""Parts of the text in another order (E1): sentences, paragraphs, or words inside sentences."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from doublet.evaluation.changes.protocol import Changed, Pieces, Surroundings
from doublet.evaluation.words import WORD
from doublet.model import Document, Span
from doublet.text.paragraphs import paragraphs
from doublet.text.sentences import sentences

FEWEST_PARAGRAPHS = 3  #: a text of fewer is cut into blocks of sentences
BLOCK = 4  #: sentences in such a block


def shuffled(document: Document, parts: Sequence[Span], rng: random.Random, name: str) -> Changed:
    """The parts in another order; what stands between them (blanks) stays where it is."""
    order = list(range(len(parts)))
    if len(order) > 1:
        while order == sorted(order):
            rng.shuffle(order)
    pieces = Pieces()
    at = 0
    for slot, number in zip(parts, order, strict=True):
        pieces.add(document.text[at : slot.start])
        pieces.keep(document, *parts[number])
        at = slot.end
    pieces.add(document.text[at:])
    pieces.count(name, len(parts))
    pieces.count("moved", sum(i != j for i, j in enumerate(order)))
    return pieces.build()


@dataclass(frozen=True)
class SentencesMoved:
    name: str = "sentences-moved"

    @property
    def title(self) -> dict[str, str]:
        return {"en": "sentences moved", "ru": "предложения переставлены"}

    def apply(self, document: Document, around: Surroundings, rng: random.Random) -> Changed:  # noqa: ARG002
        return shuffled(document, sentences(document.text), rng, "sentences")


@dataclass(frozen=True)
class ParagraphsMoved:
    name: str = "paragraphs-moved"

    @property
    def title(self) -> dict[str, str]:
        return {"en": "paragraphs moved", "ru": "абзацы переставлены"}

    def apply(self, document: Document, around: Surroundings, rng: random.Random) -> Changed:  # noqa: ARG002
        parts = paragraphs(document.text)
        if len(parts) < FEWEST_PARAGRAPHS:
            each = sentences(document.text)
            parts = [
                Span(each[i].start, each[min(i + BLOCK, len(each)) - 1].end)
                for i in range(0, len(each), BLOCK)
            ]
        return shuffled(document, parts, rng, "paragraphs")


@dataclass(frozen=True)
class WordOrder:
    """Within each sentence a *share* of the words change places with one of the next *reach* words.

    The map leads from sentence to sentence."""

    share: float = 0.3
    reach: int = 3
    name: str = "word-order"

    @property
    def title(self) -> dict[str, str]:
        return {"en": "word order changed", "ru": "порядок слов изменён"}

    def apply(self, document: Document, around: Surroundings, rng: random.Random) -> Changed:  # noqa: ARG002
        pieces = Pieces()
        at = 0
        for sentence in sentences(document.text):
            words = [m.span() for m in WORD.finditer(document.text, *sentence)]
            order = list(range(len(words)))
            for i in range(len(order)):
                j = min(len(order) - 1, i + rng.randint(1, self.reach))
                if rng.random() < self.share and j > i:
                    order[i], order[j] = order[j], order[i]
            pieces.add(document.text[at : sentence.start])
            parts: list[str] = []
            reached = sentence.start
            for i, (begin, end) in enumerate(words):
                parts += [document.text[reached:begin], document.text[slice(*words[order[i]])]]
                reached = end
            parts.append(document.text[reached : sentence.end])
            pieces.replace("".join(parts), document, *sentence)
            at = sentence.end
            pieces.count("words", len(order))
            pieces.count("moved", sum(i != j for i, j in enumerate(order)))
        pieces.add(document.text[at:])
        return pieces.build()
