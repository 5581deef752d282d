"""A summary by selection (E1): the sentences whose words are heaviest in the text, in their order."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass

from doublet.evaluation.changes.protocol import Changed, Pieces, Surroundings
from doublet.evaluation.words import WORD
from doublet.model import Document
from doublet.text.sentences import sentences


@dataclass(frozen=True)
class Summary:
    """So many sentences that they hold about *share* of the words."""

    share: float = 0.3

    @property
    def name(self) -> str:
        return f"summary-{round(self.share * 100)}"

    @property
    def title(self) -> dict[str, str]:
        percent = round(self.share * 100)
        return {"en": f"summary, {percent}% of the sentences", "ru": f"выжимка, {percent}% предложений"}

    def apply(self, document: Document, around: Surroundings, rng: random.Random) -> Changed:
        parts = sentences(document.text)
        lemma = around.language.forms.lemma
        rows = [
            [
                lemma(w.lower())
                for w in WORD.findall(document.text[s.start : s.end])
                if around.language.is_content(w)
            ]
            for s in parts
        ]
        frequency = Counter(word for row in rows for word in row)
        # Words of the theme: those that come again in the text. The draw parts equals, so that seeds differ.
        weight = [
            sum(math.log1p(frequency[w]) for w in row) / math.sqrt(len(row) + 3) + 0.1 * rng.random()
            for row in rows
        ]
        lengths = [len(WORD.findall(document.text[s.start : s.end])) for s in parts]
        room = self.share * sum(lengths)
        chosen: set[int] = set()
        for i in sorted(range(len(parts)), key=lambda i: (-weight[i], i)):
            if chosen and room < lengths[i] / 2:
                continue
            chosen.add(i)
            room -= lengths[i]
            if room <= 0:
                break
        pieces = Pieces()
        for i in sorted(chosen):
            if pieces.length:
                pieces.add(" ")
            pieces.keep(document, *parts[i])
        pieces.count("sentences", len(parts))
        pieces.count("chosen", len(chosen))
        return pieces.build()
