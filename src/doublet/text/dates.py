"""The days that a text names: days of a month (16 декабря, July 18th, 12.05.2020) and days of the week.

Russian and English, whatever the case of the letters. A month alone is no day. Linear time.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_MONTHS = (
    "январ[ьяе]|january|jan",
    "феврал[ьяе]|february|feb",
    "марта?|march|mar",
    "апрел[ьяе]|april|apr",
    "ма[йя]|may",
    "июн[ьяе]|june|jun",
    "июл[ьяе]|july|jul",
    "августа?|august|aug",
    "сентябр[ьяе]|september|sept?",
    "октябр[ьяе]|october|oct",
    "ноябр[ьяе]|november|nov",
    "декабр[ьяе]|december|dec",
)
_MONTH = "|".join(f"(?P<m{number}>{names})" for number, names in enumerate(_MONTHS, 1))
_BEFORE = re.compile(rf"(?<![\w.,:-])(\d{{1,2}})(?:-?\w{{2,3}})?[^\S\n]+(?:of[^\S\n]+)?(?:{_MONTH})\b", re.I)
_AFTER = re.compile(rf"\b(?:{_MONTH})\.?[^\S\n]+(\d{{1,2}})(?:st|nd|rd|th)?(?![\w:]|[.,]\d)", re.I)
_DIGITS = re.compile(r"(?<![\w.])(\d{1,2})\.(\d{2})\.\d{4}(?!\w)")
_WEEK = (
    r"понедельник\w*|monday",
    r"вторник\w*|tuesday",
    r"(?:(?<=\bв )|(?<=\bна )|(?<=\bк )|(?<=\bс ))сред[ауые]|wednesday",  # среда is also what is around us
    r"четверг\w*|thursday",
    r"пятниц\w+|friday",
    r"суббот\w+|saturday",
    r"воскресень\w+|sunday",
)
_WEEKDAY = re.compile(r"\b(?:" + "|".join(f"({names})" for names in _WEEK) + r")\b", re.I)


class Days(NamedTuple):
    dates: frozenset[tuple[int, int]]  #: month and day
    weekdays: frozenset[int]  #: Monday is 1


def days(text: str) -> Days:
    dates = set()
    for pattern in (_BEFORE, _AFTER):
        for found in pattern.finditer(text):
            month = next(number for number in range(1, 13) if found[f"m{number}"])
            dates.add((month, int(found[1] if pattern is _BEFORE else found[13])))
    dates.update((int(found[2]), int(found[1])) for found in _DIGITS.finditer(text))
    possible = frozenset((month, day) for month, day in dates if 1 <= month <= 12 and 1 <= day <= 31)
    return Days(possible, frozenset(found.lastindex or 0 for found in _WEEKDAY.finditer(text)))


def disagree(here: Days, there: Days, all_here: Days, all_there: Days) -> bool | None:
    """Of two openings and their whole texts: true where both openings name days of a month, or both days of the week,
    and none of them is anywhere in the other text. None: nothing to hold against each other."""
    kinds = [
        bool(one & all_other or other & all_one)
        for one, other, all_one, all_other in zip(here, there, all_here, all_there, strict=True)
        if one and other
    ]
    return not all(kinds) if kinds else None
