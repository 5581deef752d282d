"""Every sentence of the pages, in English and Russian: `words_of(request)("check.title")`.

The tables are `en` and `ru`; a test keeps their keys and places for values equal. Names of kinds, states and notes are
those of the reports, so that a page, a report and the terminal use the same words.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from doublet.errors import DoubletError
from doublet.model import Note
from doublet.reports.queue_terminal import message as job_message
from doublet.reports.wording import Wording
from doublet.store.values import JobInfo
from doublet.web.words import en, ru

LANGUAGES = {"en": "English", "ru": "Русский"}
_TABLES: dict[str, dict[str, str]] = {"en": en.TABLE, "ru": ru.TABLE}
_NOUNS: dict[str, dict[str, tuple[str, str, str]]] = {"en": en.NOUNS, "ru": ru.NOUNS}


class Words(Wording):
    """The words of one language, those of reports and messages included."""

    do_not_call_in_templates = True  # a template that names the words means the words

    def __call__(self, key: str, /, **values: Any) -> str:
        found = _TABLES[self.language].get(key)
        if found is None:
            return super().__call__(key, **values)
        return found.format(**values) if values else found

    def has(self, key: str) -> bool:
        return key in _TABLES[self.language]

    def count(self, number: int, noun: str, case: str = "") -> str:
        forms = _NOUNS[self.language].get(noun)
        if forms is None:
            return super().count(number, noun, case)
        return f"{self.number(number)}{self.tables.SPACE}{self.form(number, forms)}"

    def kind(self, kind: str) -> str:
        """Of a fragment."""
        return self.name("fragment", kind)

    def left_out(self, kind: str) -> str:
        return self.name("left_out", kind)

    def disguise(self, kind: str) -> str:
        return self.name("disguise", kind)

    def outcome(self, state: str) -> str:
        """What became of documents."""
        key = f"outcome.{state}"
        return self(key) if self.has(key) else state

    def when(self, at: datetime | None, *, short: bool = False) -> str:
        """ "3 May, 14:05", "3 мая, 14:05"; with the year when it is another one."""
        if at is None:
            return ""
        local = timezone.localtime(at)
        month = self.tables.MONTHS[local.month - 1]
        year = "" if local.year == timezone.localtime().year else f" {local.year}"
        day = f"{local.day} {month}{year}"
        return day if short else f"{day}, {local:%H:%M}"

    def ago(self, at: datetime | None) -> str:
        if at is None:
            return self("time.never")
        seconds = (timezone.now() - at).total_seconds()
        if seconds < 60:
            return self("time.now")
        for unit, length in (("minute", 60), ("hour", 3600), ("day", 86400)):
            if seconds < 60 * length or unit == "day":
                if unit == "hour" and seconds >= 86400:
                    continue
                return self("time.ago", when=self.count(int(seconds // length), unit))
        raise AssertionError("unreachable")

    def stage(self, stage: str) -> str:
        """What a job does at the moment."""
        key = f"stage.{stage}"
        return self(key) if self.has(key) else self.name("stage", stage)

    def problem(self, message: Mapping[str, Any]) -> str:
        """Why something failed, from a note as a value."""
        return self.sentence(Note.from_dict(message)) if message else self("error.500.next")

    def job_message(self, job: JobInfo) -> str:
        """The message of a job, which is a code with values."""
        return job_message(job.message, job.facts, self) if job.message else ""

    def error(self, error: DoubletError) -> str:
        """What happened and what to do."""
        return self.sentence(error.note)

    def sentence(self, note: Note) -> str:
        text = self.capital(note)
        return text + ("" if text.endswith((".", "!", "?", "…")) else ".")


_MADE = {language: Words(language) for language in LANGUAGES}


def words(language: str) -> Words:
    return _MADE.get(language, _MADE["en"])


def words_of(request: HttpRequest) -> Words:
    return words(getattr(request, "language", "en"))


def choose_language(request: HttpRequest) -> str:
    """The user's own choice, then a choice made on this browser, then what the browser asks for, then English."""
    user = getattr(request, "user", None)
    chosen = getattr(user, "language", "") or request.COOKIES.get("language", "")
    if chosen in LANGUAGES:
        return str(chosen)
    return language_of(request.headers.get("Accept-Language", ""))


def language_of(wanted: str) -> str:
    """The best of ours for an Accept-Language header."""
    ranked = []
    for place, part in enumerate(wanted.split(",")[:20]):
        name, _, quality = part.strip().partition(";q=")
        try:
            weight = float(quality or 1)
        except ValueError:
            weight = 0.0
        ranked.append((-weight, place, name.split("-")[0].lower()))
    return next((name for _, _, name in sorted(ranked) if name in LANGUAGES), "en")
