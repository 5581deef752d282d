"""Synonyms for a share of the words (E1), from a thesaurus, in the form of the word they replace.

The share is of the content words: small words, numbers and names have no synonyms. Where the thesaurus has no entry, a
word of the same part of speech and form is drawn from the collection, which is harder than a true synonym; the counts
say how many of each. `stretch` gives the change as the source understands it: a synonymiser that runs over one
unbroken share of the text and leaves the rest alone.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from doublet.evaluation.changes.protocol import Changed, Pieces, Surroundings
from doublet.evaluation.words import WORD
from doublet.model import Document


@dataclass(frozen=True)
class Synonyms:
    share: float
    stretch: bool = False  #: all words of an unbroken share of the text, instead of a share of all words

    @property
    def name(self) -> str:
        return f"{'processed' if self.stretch else 'synonyms'}-{round(self.share * 100)}"

    @property
    def title(self) -> dict[str, str]:
        percent = f"{round(self.share * 100)}"
        if self.stretch:
            return {
                "en": f"synonymiser over {percent}% of the text",
                "ru": f"синонимайзер на {percent}% текста",
            }
        return {"en": f"synonyms for {percent}% of the words", "ru": f"синонимы вместо {percent}% слов"}

    def apply(self, document: Document, around: Surroundings, rng: random.Random) -> Changed:
        language = around.language
        words = [m.span() for m in WORD.finditer(document.text)]
        content = [span for span in words if language.is_content(document.text[span[0] : span[1]])]
        if self.stretch:
            length = round(self.share * len(document.text))
            start = rng.randint(0, max(0, len(document.text) - length))
            chosen = {span for span in content if start <= span[0] < start + length}
        else:
            chosen = set(rng.sample(content, round(self.share * len(content))))
        pieces = Pieces()
        pieces.count("words", len(words))
        pieces.count("content", len(content))
        at = 0
        for begin, end in words:
            if (begin, end) not in chosen:
                continue
            word = document.text[begin:end]
            other = language.synonym(word, rng)
            origin = "thesaurus"
            # The source's synonymiser knows only its own base: what is not in it stays.
            if other is None and not (self.stretch and language.thesaurus is not None):
                other, origin = language.stranger(word, rng), "collection"
            if other is None:
                pieces.count("kept")
                continue
            pieces.count("replaced")
            pieces.count(f"from_{origin}")
            pieces.keep(document, at, begin)
            pieces.replace(other, document, begin, end)
            at = end
        pieces.keep(document, at, len(document.text))
        return pieces.build()
