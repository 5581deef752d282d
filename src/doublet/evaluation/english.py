"""Forms of English words for the changes of the evaluation, by the endings alone: good enough to disguise a text.

No dictionary is needed: what is looked up in the thesaurus decides whether a guess at the lemma was right.
"""

from __future__ import annotations

from collections.abc import Callable

_VOWELS = "aeiou"
_PAIRS = {
    "is": "was", "are": "were", "has": "had", "have": "had", "does": "did", "do": "did", "can": "could",
    "will": "would", "makes": "made", "gets": "got", "goes": "went", "takes": "took", "gives": "gave",
    "becomes": "became", "begins": "began", "writes": "wrote", "keeps": "kept", "finds": "found", "says": "said",
    "sees": "saw", "knows": "knew", "comes": "came", "means": "meant", "runs": "ran", "sends": "sent",
}  # fmt: skip
_OTHERS = {**_PAIRS, **{past: present for present, past in _PAIRS.items() if past not in ("had", "did")}}


class EnglishForms:
    """What a word is, and the same form of another word. *known*: whether the thesaurus has a lemma."""

    full = True

    def __init__(self, known: Callable[[str], bool]) -> None:
        self._known = known

    def lemma(self, word: str) -> str:
        for guess in self._guesses(word):
            if self._known(guess):
                return guess
        return word

    @staticmethod
    def _guesses(word: str) -> list[str]:
        out = [word]
        if word.endswith("ies") and len(word) > 4:
            out.append(word[:-3] + "y")
        if word.endswith("es") and len(word) > 4:
            out.append(word[:-2])
        if word.endswith("s") and not word.endswith("ss") and len(word) > 3:
            out.append(word[:-1])
        for ending in ("ed", "ing"):
            if word.endswith(ending) and len(word) >= len(ending) + 2:
                stem = word[: -len(ending)]
                out += [stem, stem + "e"]
                if len(stem) > 2 and stem[-1] == stem[-2]:
                    out.append(stem[:-1])
                if ending == "ed" and stem.endswith("i"):
                    out.append(stem[:-1] + "y")
        return out

    def form(self, word: str) -> str:
        """The ending stands for the form; empty for short words, which are not to be replaced."""
        if len(word) < 4 or not word.isascii():
            return ""
        for ending in ("ing", "ed", "ly", "s"):
            if word.endswith(ending) and not word.endswith("ss"):
                return f"-{ending}"
        return "-"

    def agree(self, other: str, word: str) -> str | None:
        """*other* (a lemma) with the ending that *word* has over its own lemma."""
        lemma = self.lemma(word)
        if lemma == word:
            return other
        if word.endswith("ing"):
            return _with_vowel_ending(other, "ing")
        if word.endswith("ed"):
            if other.endswith("y") and other[-2:-1] not in _VOWELS:
                return other[:-1] + "ied"
            return _with_vowel_ending(other, "ed")
        return plural(other)

    def other_number_or_tense(self, word: str) -> str | None:
        if word in _OTHERS:
            return _OTHERS[word]
        if len(word) < 4 or not word.isascii():
            return None
        if word.endswith("ed") and len(word) > 5:
            lemma = self.lemma(word)
            return plural(lemma) if lemma != word else None
        if word.endswith("s") and not word.endswith(("ss", "us", "is")):
            lemma = self.lemma(word)
            return lemma if lemma != word else None
        if self._known(word) and not word.endswith(("ing", "ly")):
            return plural(word)
        return None


def plural(word: str) -> str:
    """Also the third person of a verb: the rules are the same."""
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _with_vowel_ending(word: str, ending: str) -> str:
    if word.endswith("e") and not word.endswith(("ee", "oe", "ye")):
        return word[:-1] + ending
    doubles = len(word) == 3 and word[-1] not in "wxy" and word[-1] not in _VOWELS and word[-2] in _VOWELS
    return word + (word[-1] if doubles else "") + ending
