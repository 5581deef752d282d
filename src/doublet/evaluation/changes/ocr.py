"""The mistakes of text recognition (E1): letters taken for others, lost blanks, words broken at line ends."""

from __future__ import annotations

import random
from dataclasses import dataclass

from doublet.evaluation.changes.protocol import Changed, Pieces, Surroundings
from doublet.evaluation.words import WORD
from doublet.model import Document

#: what is read for what; drawn from shapes that differ by a stroke
MISREAD = {
    "о": "0с", "н": "ип", "и": "нй", "п": "лн", "л": "пд", "ш": "щи", "щ": "ш", "ц": "и", "е": "сё", "с": "е",
    "б": "6в", "в": "8б", "з": "3э", "ь": "ъы", "г": "т", "т": "г", "м": "н", "ж": "х", "а": "я", "ч": "4",
    "l": "1i", "i": "1l", "o": "0c", "e": "c", "c": "e", "n": "u", "u": "n", "h": "b", "b": "h6", "s": "5",
    "g": "9q", "t": "f", "f": "t", "v": "y", "a": "o", "m": "n", "d": "cl", "r": "t",
}  # fmt: skip


@dataclass(frozen=True)
class OcrNoise:
    """A *share* of the words is misread; a quarter as many lose the blank after them or are broken."""

    share: float = 0.1
    name: str = "ocr-noise"

    @property
    def title(self) -> dict[str, str]:
        return {"en": "text recognition noise", "ru": "ошибки распознавания"}

    def apply(self, document: Document, around: Surroundings, rng: random.Random) -> Changed:  # noqa: ARG002
        pieces = Pieces()
        at = 0
        text = document.text
        for match in WORD.finditer(text):
            begin, end = match.span()
            pieces.count("words")
            drawn = rng.random()
            if drawn < self.share:
                places = [i for i in range(begin, end) if text[i].lower() in MISREAD]
                if places:
                    place = rng.choice(places)
                    pieces.keep(document, at, place)
                    pieces.replace(rng.choice(MISREAD[text[place].lower()]), document, place, place + 1)
                    pieces.count("misread")
                    at = place + 1
            elif drawn < self.share * 1.125 and text[end : end + 1] == " ":
                pieces.keep(document, at, end)
                pieces.count("joined")
                at = end + 1
            elif drawn < self.share * 1.25 and end - begin > 5:
                place = begin + (end - begin) // 2
                pieces.keep(document, at, place)
                pieces.add("-\n")
                pieces.count("broken")
                at = place
        pieces.keep(document, at, len(text))
        return pieces.build()
