"""Stop words: the small words that every text has and that say nothing about which text it is (T4).

Two short lists of our own, Russian and English. They hold function words alone (prepositions, conjunctions,
particles, pronouns, auxiliaries, introductory words) and are short on purpose: a long list eats words that
carry a phrase, and phrases are what is matched. Words stand in folded form (lower case, ё as е) and as the
tokeniser cuts them: "don't" is "don" and "t". After a change raise `STOP_WORDS_VERSION` and say in the
changelog that signatures made with stop words left out change. See docs/explanation/canonical-form.md.
"""

from __future__ import annotations

import functools
import os
import pathlib

from doublet.errors import InvalidParameter, nearest

STOP_WORDS_VERSION = 1

_RUSSIAN = """
а без более бы был была были было быть в вас ваш весь во вот все всего всем всех вы где да даже для до его
ее ей ему если есть еще ж же за затем и из или им ими итак их к как какая какие какой когда конечно которая
которого которое которой которую которые который которых кроме кто ли либо лишь между менее меня мне может
можно мой мы на над надо например нас наш не него нее ней нельзя нет ни ним ними них но ну о об однако он
она они оно от перед по под после потом потому поэтому при про с свое свои своих свой себе себя со так такая
также такие такой там тем теперь то того тоже той только том тот тут ты у уже хотя чего чем через что чтобы
эта эти этим этих это этого этой этом этот эту я
"""

_ENGLISH = """
a about after again all also although am an and any are aren as at be because been before being between both
but by can cannot could couldn d did didn do does doesn doing don during each etc even for from had hadn has
hasn have haven having he her here herself him himself his how however i if in into is isn it its itself
just ll m may me might more most must my myself no nor not of on only or other our ourselves out over re s
same she should shouldn since so some such t than that the their them themselves then there these they this
those though through thus to too under until up us ve very was wasn we were weren what when where whether
which while who whom whose why will with without would wouldn yet you your yours yourself yourselves
"""


@functools.cache
def stop_words(language: str | None = None) -> frozenset[str]:
    """The list of one language ("ru", "en"), or both lists. Raises `InvalidParameter` for any other."""
    lists = {"ru": _RUSSIAN, "en": _ENGLISH}
    if language is None:
        return stop_words("ru") | stop_words("en")
    if language not in lists:
        raise InvalidParameter(
            "no_stop_words",
            nearest=nearest(language, lists),
            lists=list(lists),
            name="language",
            value=language,
        )
    return frozenset(lists[language].split())


def load_stop_words(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The user's own list: UTF-8, one word a line, # begins a comment; sorted, without repeats.

    Words come back in lower case and with ё as е; the tokeniser folds the rest. Raises `InvalidParameter`
    that names the file when it cannot be read, is not UTF-8, or has several words on a line.
    """
    file = pathlib.Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidParameter(
            "stop_words_unreadable", why=error.strerror or error, path=str(file)
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidParameter(
            "stop_words_not_utf8",
            start=error.start,
            path=str(file),
        ) from error
    words = set()
    for number, line in enumerate(text.splitlines(), 1):
        word = line.partition("#")[0].strip()
        if not word:
            continue
        if len(word.split()) > 1:
            raise InvalidParameter(
                "stop_words_line",
                path=str(file),
                line=number,
            )
        words.add(word.lower().replace("ё", "е"))
    return tuple(sorted(words))
