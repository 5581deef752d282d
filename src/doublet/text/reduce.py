"""Words → stems or lemmas (T4): forms of one word made equal, so that «договора» meets «договор».

A `Reducer` takes distinct canonical words (lower case, ё as е) and gives as many reduced ones, folded the
same way. "stem" cuts endings (Snowball) and is quick; "lemma" looks Russian words up in a dictionary
(pymorphy3), keeps «стали» (стать) apart from «сталью» (сталь), and is some hundred times slower per new word.
English has no dictionary here: its lemma is its stem. Explained in docs/explanation/canonical-form.md.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from doublet.errors import ConfigError, InvalidParameter, nearest

Reducer = Callable[[list[str]], list[str]]

ROOT_LETTERS = (
    5  #: of a stem that stand for its root: решен(ие) and решен(ный) have one, реш(ить) has another
)
_LONGEST = 64  # no dictionary word is longer; a longer run of letters only gets its ending cut
_CACHE = 1_000_000  # word forms whose lemma is remembered: about 150 MB, more than a large corpus needs


def reducer(name: str) -> Reducer:
    """The reducer called *name*: "stem" or "lemma".

    Raises `ConfigError` when the package it needs is not installed, `InvalidParameter` for an unknown name.
    """
    if name == "stem":
        return _stems()
    if name == "lemma":
        return _lemmas()
    raise InvalidParameter(
        "unknown_reduction",
        nearest=nearest(name, ("stem", "lemma")),
        name="reduce",
        value=name,
    )


def roots(stems: list[str]) -> list[str]:
    """The first letters of stems, which derived words share."""
    return [stem[:ROOT_LETTERS] if stem.isalpha() else stem for stem in stems]


def _stemmer(language: str, *, pure: bool = False) -> Any:
    """Snowball stemmer of one language: the C one where it is installed, else the same in plain Python."""
    if not pure:
        try:
            import Stemmer
        except ImportError:
            pass
        else:
            # Its own cache of words costs more than it saves: each word comes here once.
            return Stemmer.Stemmer(language, 0)
    try:
        # Not snowballstemmer.stemmer(): that one silently hands out the C stemmer where there is one.
        module = importlib.import_module(f"snowballstemmer.{language}_stemmer")
    except ImportError as error:
        raise ConfigError(
            "needs_stemmer",
            package="PyStemmer",
        ) from error
    return getattr(module, f"{language.capitalize()}Stemmer")()


def _stems(*, pure: bool = False) -> Reducer:
    english, russian = _stemmer("english", pure=pure), _stemmer("russian", pure=pure)

    def reduce(words: list[str]) -> list[str]:
        # Whole lists go to the stemmers: a call a word would cost more than the stemming. So all go to the stemmer of
        # most of them, and those of the other one take its answer. The Russian one touches Cyrillic words only, so
        # words of other alphabets pass it unchanged; numbers pass both.
        of_others = [i for i, word in enumerate(words) if not word.isascii()]
        most, rest, few = english, russian, of_others
        if 2 * len(of_others) > len(words):
            most, rest, few = russian, english, [i for i, word in enumerate(words) if word.isascii()]
        out: list[str] = most.stemWords(words)
        for i, stem in zip(few, rest.stemWords([words[i] for i in few]), strict=True):
            out[i] = stem
        return out

    return reduce


def _lemmas() -> Reducer:
    try:
        import pymorphy3
    except ImportError as error:
        raise ConfigError(
            "needs_pymorphy",
            package="pymorphy3",
        ) from error
    parse = pymorphy3.MorphAnalyzer(lang="ru").parse
    stems = _stems()
    known: dict[str, str] = {}

    def lemma(word: str) -> str:
        found = known.get(word)
        if found is None:
            if len(known) >= _CACHE:
                known.clear()
            found = known[word] = _choose(parse(word), word)
        return found

    def reduce(words: list[str]) -> list[str]:
        out = list(words)
        rest = []
        for i, word in enumerate(words):
            if word.isascii() or len(word) > _LONGEST or not any("а" <= c <= "я" for c in word):
                rest.append(i)
            else:
                out[i] = lemma(word)
        for i, stem in zip(rest, stems([words[i] for i in rest]), strict=True):
            out[i] = stem
        return out

    return reduce


def _choose(parses: list[Any], word: str) -> str:
    """The dictionary form whose readings weigh most together; of equals the first in the alphabet.

    Not simply the first reading: «мыла» is one form of the verb and three of the noun, each with less.
    """
    weights: dict[str, float] = {}
    for parse in parses:
        form = parse.normal_form.replace("ё", "е")
        weights[form] = weights.get(form, 0.0) + parse.score
    return min(weights, key=lambda form: (-round(weights[form], 6), form)) if weights else word
