"""Forms of Russian words for the changes of the evaluation, by pymorphy3 where it is installed.

Without pymorphy3 words are taken as they stand: a synonym is not inflected, and "the same form" means the same ending.
`RussianForms.full` says which of the two it is.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

_OPEN = frozenset(["NOUN", "ADJF", "ADJS", "COMP", "VERB", "INFN", "PRTF", "PRTS", "GRND", "ADVB"])
_GRAMMEMES = {
    "NOUN": ("number", "case"),
    "ADJF": ("number", "case", "gender"),
    "PRTF": ("number", "case", "gender", "tense", "voice"),
    "ADJS": ("number", "gender"),
    "PRTS": ("number", "gender", "voice"),
    "VERB": ("number", "gender", "person", "tense", "mood"),
    "GRND": ("tense",),
}
_NAMES = frozenset(["Name", "Surn", "Patr", "Geox", "Orgn", "Trad", "Abbr", "Init"])
_ENDING = 3  # letters that stand for the form where there is no dictionary


class RussianForms:
    """What a word is, and the same form of another word."""

    def __init__(self) -> None:
        try:
            self._morph: Any = importlib.import_module("pymorphy3").MorphAnalyzer(lang="ru")
        except ImportError:
            self._morph = None
        # Words come again and again, and inflecting takes a tenth of a millisecond.
        self._parse = functools.lru_cache(maxsize=200_000)(self._best)
        self.agree = functools.lru_cache(maxsize=500_000)(self._agree)

    @property
    def full(self) -> bool:
        return self._morph is not None

    def _best(self, word: str) -> Any:
        if self._morph is None:
            return None
        return self._morph.parse(word)[0]

    def lemma(self, word: str) -> str:
        parsed = self._parse(word)
        return parsed.normal_form if parsed is not None else word

    def form(self, word: str) -> str:
        """A name for the part of speech and the form; empty for words that are not to be replaced."""
        parsed = self._parse(word)
        if parsed is None:
            return f"-{word[-_ENDING:]}" if len(word) > _ENDING + 1 else ""
        tag = parsed.tag
        if tag.POS not in _OPEN or _NAMES & tag.grammemes:
            return ""
        gender = tag.gender if tag.POS == "NOUN" else None
        parts = [tag.POS, *(getattr(tag, name) or "" for name in _GRAMMEMES.get(tag.POS, ())), gender or ""]
        return " ".join(part for part in parts if part)

    def _agree(self, other: str, word: str) -> str | None:
        """*other* (a lemma) in the form of *word*; None when it has none."""
        if self._morph is None:
            return other
        tag = self._parse(word).tag
        group = "VERB" if tag.POS in ("INFN", "GRND", "PRTF", "PRTS") else tag.POS
        for parsed in self._morph.parse(other):
            kind = parsed.tag.POS
            same = (
                kind == tag.POS
                or (group == "VERB" and kind == "INFN")
                or (tag.POS == "ADJS" and kind == "ADJF")
            )
            if not same:
                continue
            wanted = {tag.POS} if kind != tag.POS else set()
            wanted |= {getattr(tag, name) for name in _GRAMMEMES.get(tag.POS, ()) if getattr(tag, name)}
            if tag.POS in ("ADVB", "INFN", "COMP"):
                return str(parsed.word)
            found = parsed.inflect(wanted)
            if found is not None:
                return str(found.word)
        return None

    def other_number_or_tense(self, word: str) -> str | None:
        """A noun or adjective in the other number, a verb in another tense; None where there is no such form."""
        parsed = self._parse(word)
        if parsed is None:
            return None
        tag = parsed.tag
        wanted: list[set[str]] = []
        if tag.POS in ("NOUN", "ADJF", "PRTF") and tag.number and not _NAMES & tag.grammemes:
            wanted = [{"plur" if tag.number == "sing" else "sing"}]
        elif tag.POS == "VERB" and tag.tense == "past":
            wanted = [{"pres", "3per", tag.number}, {"futr", "3per", tag.number}]
        elif tag.POS == "VERB" and tag.tense in ("pres", "futr"):
            wanted = [{"past", tag.number, *(() if tag.number == "plur" else ("masc",))}]
        for grammemes in wanted:
            found = parsed.inflect(grammemes)
            if found is not None and found.word != word:
                return str(found.word)
        return None
