"""Foreign words put in (E1): short runs of words of other texts, between the words of this one."""

from __future__ import annotations

import random
from dataclasses import dataclass

from doublet.evaluation.changes.protocol import Changed, Pieces, Surroundings
from doublet.evaluation.words import WORD
from doublet.model import Document

LONGEST_RUN = 4  #: words put in at one place


@dataclass(frozen=True)
class Insertion:
    """So many words are put in as make a *share* of the words that were there."""

    share: float

    @property
    def name(self) -> str:
        return f"insertion-{round(self.share * 100)}"

    @property
    def title(self) -> dict[str, str]:
        percent = round(self.share * 100)
        return {"en": f"{percent}% foreign words put in", "ru": f"{percent}% чужих слов вставлено"}

    def apply(self, document: Document, around: Surroundings, rng: random.Random) -> Changed:
        ends = [m.end() for m in WORD.finditer(document.text)]
        wanted = round(self.share * len(ends))
        runs: dict[int, int] = {}
        while wanted > 0:
            run = min(wanted, rng.randint(1, LONGEST_RUN))
            place = rng.choice(ends)
            runs[place] = runs.get(place, 0) + run
            wanted -= run
        pieces = Pieces()
        pieces.count("words", len(ends))
        at = 0
        for place in sorted(runs):
            pieces.keep(document, at, place)
            pieces.add("".join(f" {word}" for word in self._words(around, runs[place], rng)))
            pieces.count("inserted", runs[place])
            at = place
        pieces.keep(document, at, len(document.text))
        return pieces.build()

    @staticmethod
    def _words(around: Surroundings, number: int, rng: random.Random) -> list[str]:
        """Neighbours in a text of the changer's own, where there is one."""
        if around.own:
            words = WORD.findall(rng.choice(around.own).text)
            if len(words) >= number:
                start = rng.randint(0, len(words) - number)
                return [word.lower() for word in words[start : start + number]]
        return [around.language.any_word(rng) for _ in range(number)]
