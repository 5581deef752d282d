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
        _between(pieces, document, at, slot.start)
        pieces.keep(document, *parts[number])
        at = slot.end
    _between(pieces, document, at, len(document.text))
    pieces.count(name, len(parts))
    pieces.count("moved", sum(i != j for i, j in enumerate(order)))
    return pieces.build()


def _between(pieces: Pieces, document: Document, start: int, end: int) -> None:
    """What stays where it is: text that was not moved comes from the document, blanks come from nowhere."""
    text = document.text[start:end]
    inner = text.strip()
    if not inner:
        pieces.add(text)
        return
    low = start + text.index(inner)
    pieces.add(document.text[start:low])
    pieces.keep(document, low, low + len(inner))
    pieces.add(document.text[low + len(inner) : end])


@dataclass(frozen=True)
class SentencesMoved:
    """A *share* of the sentences change places. Headings and list items (no capital at the beginning or no full
    stop at the end) stay where they are: beside a sentence they would become a part of it, as a person would see."""

    share: float = 1.0

    @property
    def name(self) -> str:
        return "sentences-moved" if self.share == 1.0 else f"sentences-moved-{round(self.share * 100)}"

    @property
    def title(self) -> dict[str, str]:
        if self.share == 1.0:
            return {"en": "sentences moved", "ru": "предложения переставлены"}
        percent = round(self.share * 100)
        return {"en": f"{percent}% of the sentences moved", "ru": f"переставлено {percent}% предложений"}

    def apply(self, document: Document, around: Surroundings, rng: random.Random) -> Changed:  # noqa: ARG002
        parts = sentences(document.text)
        ended = [s for s in parts if _stands_alone(document.text[s.start : s.end])]
        movable = ended if len(ended) > 1 else parts
        if self.share < 1.0 and len(movable) > 2:
            wanted = max(2, round(self.share * len(movable)))
            movable = sorted(rng.sample(movable, wanted))
        return shuffled(document, movable, rng, "sentences")


def _stands_alone(sentence: str) -> bool:
    return sentence.lstrip("«„“\"'([{— ")[:1].isupper() and sentence.rstrip("»”’\"')]}").endswith(
        (".", "!", "?", "…")
    )


@dataclass(frozen=True)
class ParagraphsMoved:
    """A paragraph of fewer than *words* words (a heading, a line) goes with what follows it."""

    words: int = 40
    name: str = "paragraphs-moved"

    @property
    def title(self) -> dict[str, str]:
        return {"en": "paragraphs moved", "ru": "абзацы переставлены"}

    def apply(self, document: Document, around: Surroundings, rng: random.Random) -> Changed:  # noqa: ARG002
        parts = self._joined(document.text, paragraphs(document.text))
        if len(parts) < FEWEST_PARAGRAPHS:
            each = sentences(document.text)
            parts = [
                Span(each[i].start, each[min(i + BLOCK, len(each)) - 1].end)
                for i in range(0, len(each), BLOCK)
            ]
        return shuffled(document, parts, rng, "paragraphs")

    def _joined(self, text: str, parts: Sequence[Span]) -> list[Span]:
        out: list[Span] = []
        start: int | None = None
        for part in parts:
            start = part.start if start is None else start
            if len(WORD.findall(text[start : part.end])) >= self.words:
                out.append(Span(start, part.end))
                start = None
        if start is not None and out:
            out[-1] = Span(out[-1].start, parts[-1].end)
        elif start is not None:
            out.append(Span(start, parts[-1].end))
        return out


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
