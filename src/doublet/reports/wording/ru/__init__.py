"""Russian: the tables of its sentences and names, and how it writes numbers."""

from __future__ import annotations

from doublet.reports.wording.ru import (
    check,
    class_page,
    commands,
    crawl,
    errors,
    evaluation,
    help,
    library,
    methods,
    names,
    notes,
    queue,
    reading,
    repeats,
    service,
    sources,
    spark,
    store,
    terminal,
)

MESSAGES: dict[str, str] = {
    code: sentence
    for part in (
        notes,
        errors,
        reading,
        sources,
        spark,
        crawl,
        store,
        library,
        queue,
        check,
        class_page,
        repeats,
        terminal,
        commands,
        evaluation,
        service,
    )
    for code, sentence in part.MESSAGES.items()
}
NOUNS, NAMES, HELP, METHODS = names.NOUNS, names.NAMES, help.HELP, help.METHODS
SETTINGS = help.SETTINGS
TITLES, MINIMA, PARAMETERS = methods.TITLES, methods.MINIMA, methods.PARAMETERS

SPACE = "\u00a0"  #: between a number and its noun
MARKS: dict[int, str] = {ord(","): "\u00a0", ord("."): ","}
PERCENT = "\u00a0%"
UNDER_A_TENTH = "меньше 0,1\u00a0%"
UNDER_A_SECOND = "меньше секунды"
QUOTES = "«%s»"
SIZES = ("байт", "кБ", "МБ", "ГБ", "ТБ")
TIMES = ("с", "мин", "ч")
MONTHS = (
    *("января", "февраля", "марта", "апреля", "мая", "июня"),
    *("июля", "августа", "сентября", "октября", "ноября", "декабря"),
)


def plural(number: float) -> int:
    """Which form goes with a number: 1 слово, 2 слова, 5 слов; 21 слово; 0,5 слова."""
    if number != int(number):
        return 1
    tens, last = int(abs(number)) % 100, int(abs(number)) % 10
    if 11 <= tens <= 14:
        return 2
    return 0 if last == 1 else 1 if 2 <= last <= 4 else 2
