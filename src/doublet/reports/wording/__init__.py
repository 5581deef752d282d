"""Every sentence of Doublet, in one table for each language; everything else in the program is codes with values.

A `Note`, an error or an event says what happened by a code and values; `Wording` makes the sentence, with the plurals,
numbers, percentages and dates of the language. Pages, terminal and service use the same tables (`en`, `ru`). How a
message is added is told in CONTRIBUTING.md, "Add a message"; docs/reference/messages.md lists all of them.

What can stand in a template, besides what `str.format` knows:

    {words:word}                 the number with its noun: "1 word", "2 words", «5 слов»
    {words:word.genitive}        the same in another case, where a language has cases
    {found:is|are}               one of the forms, by the number alone
    {share:percent}              "37.2%"; also number, size, duration, date, list, quoted
    {nearest:?, or %s?|.}        the part before | when there is a value, %s stands for it; else the part after it
    {why}                        a Note inside a note is said in the same language
    {kind:name.fragment}         the name of a kind, from the tables of names
"""

from __future__ import annotations

import functools
import importlib
import re
import string
from collections.abc import Iterable, Mapping
from typing import Any

from doublet.model import LANGUAGES, Note

_NUMBERED = re.compile(r"(.*?)[_ ]?([0-9]+)")


class Wording:
    """The wording of one language: ``wording("check_share", words=3)``, or ``wording.say(note)``."""

    def __init__(self, language: str = "en") -> None:
        if language not in LANGUAGES:
            from doublet.errors import InvalidParameter

            raise InvalidParameter("unknown_language", name="language", value=language, known=list(LANGUAGES))
        self.language = language
        self.tables: Any = importlib.import_module(f"doublet.reports.wording.{language}")
        self._messages: Mapping[str, str] = self.tables.MESSAGES
        self._formatter = _Formatter(self)

    def __call__(self, code: str, /, **values: Any) -> str:
        template = self._messages.get(code)
        if template is None:  # of another version: the code says more than nothing
            told = ", ".join(f"{name} = {self.value(value)}" for name, value in values.items())
            return f"{code} ({told})" if told else code
        try:
            return self._formatter.vformat(template, (), values)
        except (LookupError, ValueError, TypeError, AttributeError):
            return template  # a value is missing: of a report that was changed by hand

    def say(self, note: Note | str | None) -> str:
        """A note in this language; what is only text is given as it is."""
        return "" if note is None else note if isinstance(note, str) else self(note.code, **note.values)

    def capital(self, note: Note | str | None) -> str:
        """`say` with a capital letter at its start, unless it starts with a value: a name is written as it is."""
        text = self.say(note)
        names = (
            [value for value in note.values.values() if isinstance(value, str)]
            if isinstance(note, Note)
            else []
        )
        if any(name and text.startswith(name) for name in names):
            return text
        return text[:1].upper() + text[1:]

    def name(self, kind: str, code: str) -> str:
        """What people call *code* in the list *kind*: ``name("fragment", "verbatim")``. A code may end in a number,
        which its name then has: that of "robots_503" is the one of "robots_#"."""
        names: Mapping[str, str] = self.tables.NAMES[kind]
        if code not in names and (found := _NUMBERED.fullmatch(code)):
            start, number = found.groups()
            return names.get(f"{start}_#" if start else "#", code).replace("#", number)
        return names.get(code, code)

    def method(self, name: str, summary: str) -> str:
        """What a method is good for; *summary* is what it says itself, in English."""
        return str(self.tables.METHODS.get(name, summary))

    def method_title(self, name: str, title: str) -> str:
        """What a method is called; *title* is what it says itself, in English."""
        return str(self.tables.TITLES.get(name, title))

    def method_minimum(self, name: str, minimum: str) -> str:
        """The least that a text must have for a method, likewise."""
        return str(self.tables.MINIMA.get(name, minimum))

    def parameter(self, method: str, name: str, about: str) -> str:
        """What a parameter of a method means, likewise."""
        known: Mapping[str, str] = self.tables.PARAMETERS
        return known.get(f"{method}.{name}") or known.get(name) or about

    def count(self, number: int, noun: str, case: str = "") -> str:
        """ "1 word", "2,400 words", «2 слова», «5 слов»."""
        forms = self.tables.NOUNS.get(f"{noun}.{case}" if case else noun)
        forms = forms if forms is not None else self.tables.NOUNS[noun]
        return f"{self.number(number)}{self.tables.SPACE}{self.form(number, forms)}"

    def form(self, number: int, forms: Iterable[str]) -> str:
        """The form of a word that goes with *number*."""
        some = list(forms)
        return str(some[min(self.tables.plural(number), len(some) - 1)])

    def number(self, number: float, digits: int = 0) -> str:
        """ "2,400" or «2 400»; with *digits* after the point."""
        plain = f"{number:,.{digits}f}"
        return str(plain.translate(self.tables.MARKS))

    def percent(self, share: float) -> str:
        """A share for people: "37.2%", and "100%" and "0%" only when it is all or nothing."""
        value = f"{share * 100:.1f}"
        if value == "100.0" and share < 1:
            value = "99.9"
        if value == "0.0" and share > 0:
            return str(self.tables.UNDER_A_TENTH)
        return f"{value.removesuffix('.0').translate(self.tables.MARKS)}{self.tables.PERCENT}"

    def size(self, number: float) -> str:
        """Bytes for people, in steps of a thousand: "1.3 GB"."""
        units = self.tables.SIZES
        for unit in units:
            if number < 999.5 or unit == units[-1]:
                digits = 0 if unit == units[0] or number >= 99.5 else 1
                return f"{self.number(number, digits)} {unit}"
            number /= 1000
        raise AssertionError("unreachable")

    def duration(self, seconds: float) -> str:
        """ "under a second", "45 s", "3 min 20 s", "2 h 5 min"."""
        second, minute, hour = self.tables.TIMES
        whole = round(seconds)
        if whole < 1:
            return str(self.tables.UNDER_A_SECOND)
        if whole < 60:
            return f"{whole} {second}"
        if whole < 3600:
            return f"{whole // 60} {minute} {whole % 60} {second}"
        return f"{whole // 3600} {hour} {whole % 3600 // 60} {minute}"

    def date(self, time: str) -> str:
        """A time in ISO 8601 (UTC) as people write it: "16 November 2026, 05:50"; other texts as they are."""
        try:
            year, month, day = (int(part) for part in time[:10].split("-"))
            name = self.tables.MONTHS[month - 1]
        except (ValueError, IndexError):
            return time
        return f"{day} {name} {year}" + (f", {time[11:16]}" if len(time) >= 16 else "")

    def listed(self, values: Iterable[Any]) -> str:
        """ "a, b, c"."""
        return ", ".join(self.value(value) for value in values) or "–"

    def value(self, value: Any) -> str:
        """One value as a text, whatever it is."""
        if isinstance(value, Note):
            return self.say(value)
        if isinstance(value, bool) or value is None:
            return self.name("value", str(value).lower())
        if isinstance(value, float):
            return str(value).translate(self.tables.MARKS)
        return self.listed(value) if isinstance(value, list | tuple) else str(value)


class _Formatter(string.Formatter):
    """`str.format` with the words of a language; see the top of this module."""

    def __init__(self, wording: Wording) -> None:
        self._wording = wording

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return value if isinstance(value, Note) else super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        wording = self._wording
        if format_spec.startswith("?"):
            there, _, missing = format_spec[1:].partition("|")
            return there.replace("%s", wording.value(value)) if value else missing
        if not format_spec:
            return wording.value(value)
        if "|" in format_spec:
            return wording.form(value, format_spec.split("|"))
        if format_spec in _WAYS:
            way: str = getattr(wording, _WAYS[format_spec])(value)
            return way
        if format_spec == "quoted":
            return ", ".join(wording.tables.QUOTES.replace("%s", str(one)) for one in _several(value))
        if format_spec.startswith("name."):
            kind = format_spec.removeprefix("name.")
            return ", ".join(wording.name(kind, str(one)) for one in _several(value))
        noun, _, case = format_spec.partition(".")
        if noun in wording.tables.NOUNS:
            return wording.count(value, noun, case)
        if format_spec[-1:] in "fg," and isinstance(value, int | float):
            return str(format(value, format_spec)).translate(wording.tables.MARKS)
        return str(format(value, format_spec))


_WAYS = {
    "percent": "percent",
    "number": "number",
    "size": "size",
    "duration": "duration",
    "date": "date",
    "list": "listed",
}


def _several(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list | tuple) else (value,)


@functools.cache
def wording(language: str = "en") -> Wording:
    """The wording of *language*, made once. Raises `InvalidParameter` for one that there is not."""
    return Wording(language)


def placeholders(template: str) -> set[str]:
    """Names of the values that a template shows."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}
