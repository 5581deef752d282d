"""The language of a text for the changes: its words, their forms, a thesaurus, and words drawn from the collection."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from doublet.errors import InvalidParameter
from doublet.evaluation.english import EnglishForms
from doublet.evaluation.russian import RussianForms
from doublet.evaluation.thesaurus import PACKAGES, Thesaurus, find_thesaurus, load_thesaurus
from doublet.model import Note
from doublet.text.stopwords import stop_words

WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
LANGUAGES = ("ru", "en")
_CYRILLIC = re.compile("[а-яё]", re.IGNORECASE)
_LATIN = re.compile("[a-z]", re.IGNORECASE)


class Forms(Protocol):
    """What is known of the forms of words in one language. All words in lower case."""

    @property
    def full(self) -> bool: ...
    def lemma(self, word: str) -> str: ...
    def form(self, word: str) -> str: ...
    def agree(self, other: str, word: str) -> str | None: ...
    def other_number_or_tense(self, word: str) -> str | None: ...


def language_of(text: str) -> str:
    """ "ru" or "en": which letters there are more of."""
    return "ru" if len(_CYRILLIC.findall(text)) > len(_LATIN.findall(text)) else "en"


@dataclass
class Language:
    """Words of one language. *bank*: words of the collection by form, each form's list sorted and without repeats."""

    name: str
    forms: Forms
    thesaurus: Thesaurus | None
    bank: dict[str, list[str]] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def is_content(self, word: str) -> bool:
        """A word that can be replaced: not a small word, not a name, of a part of speech that has many words."""
        low = word.lower()
        return len(low) > 2 and low.replace("ё", "е") not in stop_words() and bool(self.forms.form(low))

    def synonym(self, word: str, rng: random.Random) -> str | None:
        """From the thesaurus, in the form of *word* and with its capitals; None when there is none."""
        if self.thesaurus is None:
            return None
        low = word.lower()
        found = self.thesaurus.synonyms(self.forms.lemma(low))
        for candidate in rng.sample(found, len(found)):
            form = self.forms.agree(candidate, low)
            if form is not None and form != low:
                return like(form, word)
        return None

    def stranger(self, word: str, rng: random.Random) -> str | None:
        """Another word of the collection in the same form; None when there is none."""
        low = word.lower()
        words = self.bank.get(self.forms.form(low), ())
        if len(words) < 2:
            return None
        for _ in range(4):
            candidate = rng.choice(words)
            if candidate != low:
                return like(candidate, word)
        return None

    def any_word(self, rng: random.Random) -> str:
        form = rng.choice(sorted(self.bank)) if self.bank else ""
        return rng.choice(self.bank[form]) if form else "и" if self.name == "ru" else "and"


def like(word: str, model: str) -> str:
    """*word* with the capitals of *model*."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def make_language(
    name: str,
    texts: Iterable[str],
    *,
    thesaurus: Path | None = None,
    part: str = "all",
    use_thesaurus: bool = True,
) -> Language:
    """The language called *name* over a collection. Without a *thesaurus* an installed one is looked for.

    What is missing (thesaurus, pymorphy3) is told in the notes of the language; nothing fails because of it.
    """
    if name not in LANGUAGES:
        raise InvalidParameter("no_language", languages=LANGUAGES, name="language", value=name)
    path = thesaurus or find_thesaurus(name)
    known: Thesaurus | None = load_thesaurus(path).half(part) if path is not None and use_thesaurus else None
    notes = []
    if known is None:
        notes.append(Note("no_thesaurus", name=name, packages=PACKAGES[name]))
    forms: Forms = (
        RussianForms() if name == "ru" else EnglishForms(lambda word: bool(known and known.synonyms(word)))
    )
    if not forms.full:
        notes.append(Note("no_lemmas"))
    language = Language(name, forms, known, notes=tuple(notes))
    bank: dict[str, set[str]] = {}
    for text in texts:
        for low in {match[0].lower() for match in WORD.finditer(text)}:
            if language.is_content(low) and language_of(low) == name:
                bank.setdefault(forms.form(low), set()).add(low)
    language.bank = {form: sorted(words) for form, words in sorted(bank.items())}
    return language
