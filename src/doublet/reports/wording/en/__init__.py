"""English: the tables of its sentences and names, and how it writes numbers."""

from __future__ import annotations

from doublet.reports.wording.en import (
    check,
    class_page,
    commands,
    crawl,
    errors,
    evaluation,
    library,
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
NOUNS, NAMES = names.NOUNS, names.NAMES
HELP: dict[str, str] = {}  #: the commands have it themselves
#: the methods say all of it themselves
METHODS: dict[str, str] = {}
SETTINGS: dict[str, str] = {}  # the settings, too
TITLES: dict[str, str] = {}
MINIMA: dict[str, str] = {}
PARAMETERS: dict[str, str] = {}

SPACE = " "  #: between a number and its noun
MARKS: dict[int, str] = {}  #: what stands for the comma of thousands and the point of decimals
PERCENT = "%"
UNDER_A_TENTH = "under 0.1%"
UNDER_A_SECOND = "under a second"
QUOTES = "'%s'"
SIZES = ("bytes", "kB", "MB", "GB", "TB")
TIMES = ("s", "min", "h")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def plural(number: float) -> int:
    """Which form goes with a number: one, or several."""
    return 0 if number == 1 else 1
